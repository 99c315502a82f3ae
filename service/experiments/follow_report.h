/* service/experiments/follow_report.h - what an experiment showed, as page, JSON, CSV, picture.
 *
 * The JSON: docs/model/following.md, section 5. The tables: states.csv, and run.csv with the
 * first run over time, which the picture shows, too.
 */
#ifndef SERVICE_EXPERIMENTS_FOLLOW_REPORT_H
#define SERVICE_EXPERIMENTS_FOLLOW_REPORT_H

#include "service/experiments/experiment_output.h"
#include "service/experiments/follow_study.h"

/* Of a struct follow_study. */
extern const struct experiment_output follow_output;

/* Its picture. */
gnuplot_script follow_plot_write;

#endif
