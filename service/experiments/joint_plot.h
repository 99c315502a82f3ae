/* service/experiments/joint_plot.h - the first lag of a study of position controllers as a
 * picture.
 */
#ifndef SERVICE_EXPERIMENTS_JOINT_PLOT_H
#define SERVICE_EXPERIMENTS_JOINT_PLOT_H

#include "service/experiments/joint_study.h"

/* Draw to an SVG file, which is written anew. Errors of gnuplot_draw(). */
MUST_USE enum status joint_plot_draw(const struct joint_study *study, const char *path,
                                     struct err *err);

#endif
