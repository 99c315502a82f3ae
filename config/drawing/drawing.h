/* config/drawing/drawing.h - reads machines drawn with draw.io and shows them as they were
 * drawn (docs/model/drawings.md).
 *
 * A page is a machine. Files come from strangers, so everything has a maximum: the size, what
 * they unpack to, pages, cells, depth, memory and time. Whatever exceeds a maximum is reported.
 */
#ifndef CONFIG_DRAWING_DRAWING_H
#define CONFIG_DRAWING_DRAWING_H

#include <stdio.h>

#include "twin/machine/machine.h"

struct drawing;

/* Its first bytes decide whether a text is a drawing or YAML. */
bool drawing_is_one(const char *data, size_t bytes);

/* Unpack a file: XML, a PNG or SVG with the diagram inside, or a bare model. *out, to be freed
 * with drawing_free(), is written on STATUS_OK only; else err has a text. Allocates. */
MUST_USE enum status drawing_open(const char *data, size_t bytes, struct drawing **out,
                                  struct err *err);

/* NULL is allowed. */
void drawing_free(struct drawing *drawing);

size_t drawing_page_count(const struct drawing *drawing); /* at least 1 */

/* Read a page into a draft, which stays valid without the drawing. Faults are added to the
 * draft's diagnostics. Call it once for each page.
 *
 *   words   in  a label that is no expression becomes a truth input named by its words
 */
void drawing_read_page(struct drawing *drawing, size_t page, bool words,
                       struct machine_draft *draft);

/* Write the page that was read as SVG. States have the ids MACHINE.STATE, arrows the numbers of
 * their arcs. lit: the state that is highlighted, or NULL. */
void drawing_write_svg(const struct drawing *drawing, size_t page, const char *lit, FILE *out);

/* Write machines as one draw.io file, each on a page. The layout of a drawing is not kept. */
void drawing_write_file(const struct machine *const *machines, size_t count, FILE *out);

#endif
