#include "base/text/names.h"

#include <string.h>

#include "base/text/text.h"

const char *names_text(const struct names *names, size_t value)
{
    return value < names->count && names->text[value] ? names->text[value] : "unknown";
}

size_t names_value(const struct names *names, const char *name)
{
    size_t value = 0;
    while (value < names->count &&
           (!names->text[value] || strcmp(names->text[value], name) != 0)) {
        value++;
    }
    return value;
}

void names_append(char *list, size_t size, const char *name)
{
    text_append(list, size, "%s%s", list[0] ? ", " : "", name);
}

void names_list(const struct names *names, char *list, size_t size)
{
    list[0] = '\0';
    for (size_t k = 0; k < names->count; k++) {
        names_append(list, size, names_text(names, k));
    }
}

void names_append_new(char *list, size_t size, const char *name)
{
    const size_t n = strlen(name);
    for (const char *at = list; *at;) {
        const size_t one = strcspn(at, ",");
        if (one == n && strncmp(at, name, n) == 0) {
            return;
        }
        at += one + strspn(at + one, ", ");
    }
    if (strlen(list) + n + sizeof ", " <= size) {
        names_append(list, size, name);
    }
}

int names_by_name(const void *a, const void *b)
{
    const struct name_at *x = a;
    const struct name_at *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}
