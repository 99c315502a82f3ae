/* config/drawing/drawing_text.h - labels as a person reads them.
 */
#ifndef CONFIG_DRAWING_DRAWING_TEXT_H
#define CONFIG_DRAWING_DRAWING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/drawing/drawing_memory.h"

/* The value of a cell as plain text: lines end in one '\n' each, none is empty, no blanks at
 * their ends or in a row; signs as the language of expressions has them ("<=" for ≤, "-" for −,
 * "+" for ⁺). html: the value is markup, of which line ends and what is set low ("_") remain.
 */
const char *drawing_plain(struct drawing_memory *m, const char *value, bool html);

/* text without its line ends, cut to so many characters; 0: all of it. */
const char *drawing_line(struct drawing_memory *m, const char *text, size_t characters);

/* text[bytes] without blanks and line ends at its ends: where it begins, and its bytes. */
const char *drawing_strip(const char *text, size_t *bytes);

/* A state may be called so: letters of any script, digits, _ and, within, . and -. */
bool drawing_is_state_name(const char *text, size_t bytes);

#endif
