/* base/text/edit_distance.h - suggestions ("did you mean ...?") for a name that does not exist.
 * Pure.
 */
#ifndef BASE_TEXT_EDIT_DISTANCE_H
#define BASE_TEXT_EDIT_DISTANCE_H

#include <stddef.h>

enum {
    EDIT_TEXT_MAX = 40, /* bytes; two longer texts have the longer one's length as distance */
    EDIT_GUESS_MAX = EDIT_TEXT_MAX + 24
};

/* Counts the edits (insert, delete, replace, swap of neighbours) that turn one text into the
 * other (Damerau distance; no part of the text is edited twice). */
size_t edit_distance(const char *a, const char *b);

/* Returns the distance of text from a name in small letters that it may mean. Capitals are
 * ignored, and the beginning of a name counts as like it. SIZE_MAX: text is not like the
 * name. */
size_t edit_likeness(const char *text, const char *name);

/* The likeliest of several names, which are tried one after the other. All zero: no name
 * tried. */
struct edit_guess {
    const char *name; /* borrowed; NULL: none is like it */
    size_t distance;
};

/* Compares one more name; NULL is allowed and ignored. */
void edit_guess_try(struct edit_guess *guess, const char *text, const char *name);

/* Writes " (did you mean NAME?)" to out, or "" if no name was like the text. Returns out. */
const char *edit_guess_text(const struct edit_guess *guess, char out[EDIT_GUESS_MAX]);

#endif
