#include "base/names.h"

#include <string.h>

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
