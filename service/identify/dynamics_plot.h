/* service/identify/dynamics_plot.h - measured against simulated velocities as a picture, drawn
 * by gnuplot, which gets numbers and quoted text through a pipe and no command line.
 */
#ifndef SERVICE_IDENTIFY_DYNAMICS_PLOT_H
#define SERVICE_IDENTIFY_DYNAMICS_PLOT_H

#include "base/err.h"
#include "identification/data/data_set.h"
#include "identification/data/linear_model.h"

enum { DYNAMICS_PLOT_PARTS_MAX = 2 };

/* A column of the picture. */
struct dynamics_plot_part {
    const char *title;          /* "recording", "held out" */
    const struct data_set *set; /* measured */
    double *const *residual;    /* [axes][set->n]: measured - simulated; NaN: none there */
};

struct dynamics_plot {
    const struct model *model; /* a row per axis: velocities, and below them what is left */
    const char *title;         /* any text */
    size_t part_count;         /* 1 .. DYNAMICS_PLOT_PARTS_MAX */
    struct dynamics_plot_part part[DYNAMICS_PLOT_PARTS_MAX];
};

/* Draw to an SVG file, which is written anew. STATUS_E_IO: gnuplot is not there or failed, or
 * the file cannot be written; a file that was begun is removed then. */
MUST_USE enum status dynamics_plot_draw(const struct dynamics_plot *plot, const char *path,
                                        struct err *err);

#endif
