/* base/edit_distance.h - what somebody may have meant who wrote a name that there is not. Pure.
 */
#ifndef BASE_EDIT_DISTANCE_H
#define BASE_EDIT_DISTANCE_H

#include <stddef.h>

enum { EDIT_TEXT_MAX = 40 }; /* longer texts are as far apart as they are long */

/* Edits (insert, delete, change, swap of neighbours) that make one text of the other (Damerau;
 * no part of the text is edited twice). */
size_t edit_distance(const char *a, const char *b);

/* Up to so many edits from it another text is likely to mean this name. */
size_t edit_distance_near(const char *name);

#endif
