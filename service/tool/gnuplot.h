/* service/tool/gnuplot.h - pictures drawn by gnuplot, which gets numbers and quoted text through
 * a pipe and no command line.
 */
#ifndef SERVICE_TOOL_GNUPLOT_H
#define SERVICE_TOOL_GNUPLOT_H

#include <stdio.h>

#include "base/errors/err.h"

/* Write the script up to its last panel; the picture is what gnuplot's terminal then puts out.
 */
typedef void gnuplot_script(FILE *to, const void *what);

/* A text between quotes, in which nothing has a meaning of its own. */
void gnuplot_quoted(FILE *to, const char *text);

/* The same of a name with its unit: "u_mps" is "u, m/s". */
void gnuplot_label(FILE *to, const char *name);

/* The picture's size in pixels: the first that a script writes. */
void gnuplot_start(FILE *to, size_t width, size_t height);

/* Behind the data: the title above all panels, and how these look. tics: more about their
 * labels, or "". */
void gnuplot_panels(FILE *to, const char *title, const char *tics);

/* 1, 2 or 5 times a power of ten: the largest up to most > 0. */
double gnuplot_tic(double most);

/* The name of the next panel's y axis, always as far left of it: width_share of its own width.
 */
void gnuplot_side(FILE *to, const char *name, double width_share);

/* Where the next panel stands, in shares of the picture from its left and its top. */
void gnuplot_place(FILE *to, double left, double right, double top, double bottom);

/* A file's name whose ending promises another kind of picture than gnuplot is told to draw:
 * STATUS_E_ARG, err->where "plot". */
MUST_USE enum status gnuplot_check_path(const char *path, struct err *err);

/* Draw to a file, which is written anew. STATUS_E_IO: gnuplot is not there or failed, or the
 * file cannot be written; a file that was begun is removed then. */
MUST_USE enum status gnuplot_draw(gnuplot_script *write, const void *what, const char *path,
                                  struct err *err);

#endif
