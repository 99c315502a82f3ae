/* twin/report/svg_text.h - text of SVG pictures and HTML pages, passed on in pieces. Pure. */
#ifndef TWIN_REPORT_SVG_TEXT_H
#define TWIN_REPORT_SVG_TEXT_H

#include "base/errors/status.h"
#include "logger/message/json_write.h"

/* Seen on light and on dark, also by colour-blind people (Paul Tol, "bright"). */
#define SVG_BLUE "#4477aa"
#define SVG_RED  "#d0304a"

struct svg_text {
    json_write_flush *output;
    void *context;
};

/* At most 2 kB at a time. */
void svg_printf(const struct svg_text *svg, const char *format, ...) PRINTF_LIKE(2, 3);

/* Writes names with XML's entities; names are user input. Returns out, which has room for six
 * times the bytes of name. */
const char *svg_escape(const char *name, char *out);

/* Outputs a text of any length in the same way. */
void svg_print_escaped(const struct svg_text *svg, const char *text);

#endif
