/* service/tool/gnuplot.h - plots with gnuplot, which gets numbers and quoted text through a
 * pipe and no command line.
 */
#ifndef SERVICE_TOOL_GNUPLOT_H
#define SERVICE_TOOL_GNUPLOT_H

#include <stdio.h>

#include "base/errors/err.h"

/* Writes the script up to its last panel; the plot is what gnuplot's terminal then writes. */
typedef void gnuplot_script(FILE *to, const void *what);

/* Write a text in quotes, without special characters. */
void gnuplot_quoted(FILE *to, const char *text);

/* The same for a name with its unit: "u_mps" becomes "u, m/s". */
void gnuplot_label(FILE *to, const char *name);

/* Write the plot's size in pixels, the first line of a script. */
void gnuplot_start(FILE *to, size_t width, size_t height);

/* Write the data: a CSV table with a header line, as $run. */
void gnuplot_table(FILE *to, void (*write)(const void *what, FILE *out), const void *what);

/* Write settings after the data: the title above all panels, and their style. tics: more
 * options of tic labels, or "". */
void gnuplot_panels(FILE *to, const char *title, const char *tics);

/* The largest of 1, 2 or 5 times a power of ten up to most > 0. */
double gnuplot_tic(double most);

/* Write the name of the next panel's y axis at a fixed distance: width_share of its width. */
void gnuplot_side(FILE *to, const char *name, double width_share);

/* Place the next panel, in ratios of the plot from its left and its top. */
void gnuplot_place(FILE *to, double left, double right, double top, double bottom);

/* Refuse a file name whose suffix belongs to another format than gnuplot will draw:
 * STATUS_E_ARG, err->where "plot". */
MUST_USE enum status gnuplot_check_path(const char *path, struct err *err);

/* Plot to a file, which is overwritten. STATUS_E_IO: gnuplot is missing or failed, or the file
 * cannot be written; an incomplete file is removed. */
MUST_USE enum status gnuplot_draw(gnuplot_script *write, const void *what, const char *path,
                                  struct err *err);

#endif
