/* service/experiments/joint_report.h - how position controllers did, as page, JSON, CSV,
 * picture.
 *
 * The tables: controllers.csv, and run.csv with the first lag over time, which the picture
 * shows, too. docs/model/servo.md, section 7.
 */
#ifndef SERVICE_EXPERIMENTS_JOINT_REPORT_H
#define SERVICE_EXPERIMENTS_JOINT_REPORT_H

#include "service/experiments/experiment_output.h"
#include "service/experiments/joint_study.h"

/* Of a struct joint_study. */
extern const struct experiment_output joint_output;

/* Its picture. */
gnuplot_script joint_plot_write;

#endif
