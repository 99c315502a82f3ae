/* base/text/edit_distance.h - what somebody may have meant who wrote a name that there is not. Pure.
 */
#ifndef BASE_TEXT_EDIT_DISTANCE_H
#define BASE_TEXT_EDIT_DISTANCE_H

#include <stddef.h>

enum {
    EDIT_TEXT_MAX = 40, /* longer texts are as far apart as they are long */
    EDIT_GUESS_MAX = EDIT_TEXT_MAX + 24
};

/* Edits (insert, delete, change, swap of neighbours) that make one text of the other (Damerau;
 * no part of the text is edited twice). */
size_t edit_distance(const char *a, const char *b);

/* How far text is from a name (in small letters) that it is likely to mean: few edits away,
 * whatever its capitals, or its beginning. SIZE_MAX: it does not look like it. */
size_t edit_likeness(const char *text, const char *name);

/* The likeliest of names that are tried one after the other; all zero: none was tried. */
struct edit_guess {
    const char *name; /* borrowed; NULL: none is like it */
    size_t distance;
};

/* name: NULL is allowed, and no name. */
void edit_guess_try(struct edit_guess *guess, const char *text, const char *name);

/* " (did you mean NAME?)" into out, or "" when none is like it. Returns out. */
const char *edit_guess_text(const struct edit_guess *guess, char out[EDIT_GUESS_MAX]);

#endif
