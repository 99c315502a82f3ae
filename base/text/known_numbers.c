#include "base/text/known_numbers.h"

#include <stdbool.h>
#include <string.h>

/* A number stands between blanks, brackets and the like. */
static bool is_border(char c)
{
    return c == '\0' || strchr(" \t\n[](),;:=%|+", c);
}

/* Numbers as printf() writes them, and the words for them; a unit goes with what is not known.
 */
static const struct words {
    const char *number, *words;
    bool unit;
} table[] = {{"nan", "not known", true},
             {"-nan", "not known", true},
             {"inf", "infinite", false},
             {"-inf", "-infinite", false}};

/* Returns the length of such a number with its unit; 0: this is another text. */
static size_t match_number(const char *at, char before, const struct words *row)
{
    const size_t n = strlen(row->number);
    if (!is_border(before) || strncmp(at, row->number, n) != 0 || !is_border(at[n])) {
        return 0;
    }
    const bool unit = row->unit && at[n] == ' ' && (at[n + 1] == 's' || at[n + 1] == '%') &&
                      is_border(at[n + 2]);
    return unit ? n + 2 : n;
}

/* Replaces found bytes at this place; returns the length of the words. */
static size_t replace_number(char *at, size_t found, const char *words, size_t size)
{
    const size_t wanted = strlen(words);
    const size_t after = strlen(at + found);
    const size_t room = size - 1;
    const size_t used = room < wanted ? room : wanted;
    const size_t rest = after < room - used ? after : room - used;
    memmove(at + used, at + found, rest);
    memcpy(at, words, used);
    at[used + rest] = '\0';
    return used;
}

void known_numbers_replace(char *text, size_t size)
{
    char before = '\0';
    for (char *at = text; *at; before = at[-1]) {
        size_t next = 1;
        for (size_t i = 0; i < sizeof table / sizeof table[0]; i++) {
            const size_t found = match_number(at, before, &table[i]);
            if (found > 0) {
                next = replace_number(at, found, table[i].words, size - (size_t)(at - text));
                break;
            }
        }
        at += next;
    }
}
