/* service/experiments/follow_plot.h - the first run of a study as a picture: velocities and
 * poses of the reference and of the simulated robot, what is left between them, the efforts.
 */
#ifndef SERVICE_EXPERIMENTS_FOLLOW_PLOT_H
#define SERVICE_EXPERIMENTS_FOLLOW_PLOT_H

#include "service/experiments/follow_study.h"

/* Draw to an SVG file, which is written anew. Errors of gnuplot_draw(). */
MUST_USE enum status follow_plot_draw(const struct follow_study *study, const char *path,
                                      struct err *err);

#endif
