/* twin/page/html_text.h - tables and texts of an HTML page, passed on in pieces. Texts are
 * escaped, and control characters replaced: names come from the network. Pure.
 */
#ifndef TWIN_PAGE_HTML_TEXT_H
#define TWIN_PAGE_HTML_TEXT_H

#include "twin/report/svg_text.h"

/* Writes a piece of a page, with a text (const char *) in the place of each "@". */
void html_fill(const struct svg_text *h, const char *page, ...);
/* Writes <tag>text</tag>. */
void html_element(const struct svg_text *h, const char *tag, const char *text);
void html_text(const struct svg_text *h, const char *text);

/* Opens a table; columns: "term|estimate|<detail"; "<" marks those of texts. */
void html_table(const struct svg_text *h, const char *caption, const char *columns);
void html_table_end(const struct svg_text *h);

/* Writes a row, one cell for each letter of kinds: 'h' a heading (const char *), 't' a text
 * (const char *), 'n' a number (double, NaN is a dash), 'u' a count (uint64_t), 'i' an interval
 * (two doubles; an unknown end is open). */
void html_row(const struct svg_text *h, const char *kinds, ...);

/* Writes cells only. */
void html_cell_number(const struct svg_text *h, double value);

#endif
