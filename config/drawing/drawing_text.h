/* config/drawing/drawing_text.h - turns labels of draw.io into plain text. */
#ifndef CONFIG_DRAWING_DRAWING_TEXT_H
#define CONFIG_DRAWING_DRAWING_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "config/drawing/drawing_memory.h"

/* The value of a cell as plain text. Lines end in one '\n' each; none is empty or has blanks at
 * its ends or in a row. Signs become those of the expression language ("<=" for ≤, "-" for −,
 * "+" for ⁺). html: the value is markup; line ends and subscripts ("_") survive.
 */
const char *drawing_plain(struct drawing_memory *m, const char *value, bool html);

/* text without its line ends, cut to `characters`; 0: the whole text. */
const char *drawing_line(struct drawing_memory *m, const char *text, size_t characters);

/* text[bytes] without blanks and line ends at both ends: returns its start and sets *bytes. */
const char *drawing_strip(const char *text, size_t *bytes);

/* State names consist of letters of any script, digits and _; inside also . and -. */
bool drawing_is_state_name(const char *text, size_t bytes);

/* Write text[bytes] as XML, within quotes, too. */
void drawing_write_escaped(FILE *out, const char *text, size_t bytes);

#endif
