/* config/drawing/drawing.h - machines that somebody drew with draw.io: read, and shown as they
 * were drawn (docs/model/drawings.md).
 *
 * A page is a machine. Files come from strangers: their size, what they unpack to, the number
 * of pages and cells, depth, memory and time are bounded, and whatever is beyond is told.
 */
#ifndef CONFIG_DRAWING_DRAWING_H
#define CONFIG_DRAWING_DRAWING_H

#include <stdio.h>

#include "twin/machine/machine.h"

struct drawing;

/* Is it, by its first bytes, a drawing rather than YAML? */
bool drawing_is_one(const char *data, size_t bytes);

/* Unpack a file: XML, a PNG or SVG with the diagram inside, or a bare model. *out, to be freed
 * with drawing_free(), is written on STATUS_OK only; else err has a text. Allocates. */
MUST_USE enum status drawing_open(const char *data, size_t bytes, struct drawing **out,
                                  struct err *err);

/* NULL is allowed. */
void drawing_free(struct drawing *drawing);

size_t drawing_page_count(const struct drawing *drawing); /* at least 1 */

/* Read a page into a draft, which afterwards stands by itself. Whatever is wrong is told in its
 * diagnostics. Once for each page.
 *
 *   words   in  a label that is no expression is a truth input of its words
 */
void drawing_read_page(struct drawing *drawing, size_t page, bool words,
                       struct machine_draft *draft);

/* The page that was read, as SVG: states have the ids MACHINE.STATE, arrows the numbers of
 * their arcs. lit: a state that is to be lit, or NULL. */
void drawing_write_svg(const struct drawing *drawing, size_t page, const char *lit, FILE *out);

/* Machines that were built, each as a page of a file of draw.io. Of drawings the layout is not
 * kept. */
void drawing_write_file(const struct machine *const *machines, size_t count, FILE *out);

#endif
