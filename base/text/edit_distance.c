#include "base/text/edit_distance.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static size_t smaller_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t edit_distance(const char *a, const char *b)
{
    size_t rows[3][EDIT_TEXT_MAX + 1];
    const size_t n = strlen(a);
    const size_t m = strlen(b);
    if (n > EDIT_TEXT_MAX || m > EDIT_TEXT_MAX) {
        return n > m ? n : m;
    }
    size_t *before = rows[0];
    size_t *last = rows[1];
    size_t *row = rows[2];
    for (size_t k = 0; k <= m; k++) {
        before[k] = k;
        last[k] = k;
    }
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            const size_t change = a[i - 1] == b[k - 1] ? 0 : 1;
            row[k] = smaller_of(smaller_of(last[k] + 1, row[k - 1] + 1), last[k - 1] + change);
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1]) {
                row[k] = smaller_of(row[k], before[k - 2] + 1);
            }
        }
        size_t *const oldest = before;
        before = last;
        last = row;
        row = oldest;
    }
    return last[m];
}

/* Limit of edits up to which another text is likely to mean this name. */
static size_t edits_allowed(const char *name)
{
    const size_t n = strlen(name);
    return n < 6 ? 1 : n < 12 ? 2 : 3;
}

size_t edit_likeness(const char *text, const char *name)
{
    char small[EDIT_TEXT_MAX + 1];
    const size_t n = strlen(text);
    if (n >= sizeof small) {
        return SIZE_MAX;
    }
    for (size_t i = 0; i <= n; i++) {
        small[i] = text[i] >= 'A' && text[i] <= 'Z' ? (char)(text[i] - 'A' + 'a') : text[i];
    }
    const size_t limit = edits_allowed(name);
    const size_t distance = edit_distance(small, name);
    if (distance <= limit) {
        return distance;
    }
    return n >= 3 && strncmp(small, name, n) == 0 ? limit : SIZE_MAX;
}

void edit_guess_try(struct edit_guess *guess, const char *text, const char *name)
{
    const size_t distance = name ? edit_likeness(text, name) : SIZE_MAX;
    if (distance != SIZE_MAX && (!guess->name || distance < guess->distance)) {
        *guess = (struct edit_guess){name, distance};
    }
}

const char *edit_guess_text(const struct edit_guess *guess, char out[EDIT_GUESS_MAX])
{
    (void)snprintf(out, EDIT_GUESS_MAX, "%s%.*s%s", guess->name ? " (did you mean " : "",
                   EDIT_TEXT_MAX, guess->name ? guess->name : "", guess->name ? "?)" : "");
    return out;
}
