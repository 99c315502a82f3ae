#include "base/edit_distance.h"

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

size_t edit_distance_near(const char *name)
{
    const size_t n = strlen(name);
    return n < 6 ? 1 : n < 12 ? 2 : 3;
}
