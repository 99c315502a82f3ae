#include "service/tool/known_numbers.h"

#include <stdbool.h>
#include <string.h>

/* A number stands between blanks, brackets and the like. */
static bool is_border(char c)
{
    return c == '\0' || strchr(" \t\n[](),;:=%|+", c);
}

void known_numbers_print(const char *page, FILE *out)
{
    char before = '\0';
    for (const char *at = page; *at;) {
        const size_t sign = at[0] == '-' ? 1 : 0;
        if (is_border(before) && strncmp(at + sign, "nan", 3) == 0 && is_border(at[sign + 3])) {
            (void)fputs("not known", out);
            at += sign + 3;
            at += at[0] == ' ' && at[1] == 's' && is_border(at[2]) ? 2 : 0; /* its unit */
            before = 'n';
        } else {
            before = *at++;
            (void)fputc(before, out);
        }
    }
}
