/* service/sim/experiment/joint_study.h - runs the position controllers of a joint with each lag
 * and collects results. */
#ifndef SERVICE_SIM_EXPERIMENT_JOINT_STUDY_H
#define SERVICE_SIM_EXPERIMENT_JOINT_STUDY_H

#include "service/sim/experiment/experiment_file.h"
#include "service/sim/experiment/experiment_output.h"

struct joint_study {
    const struct joint_file *file;
    struct joint_trial_result result[JOINT_LAGS_MAX]
                                    [POSITION_KIND_COUNT]; /* lags that it ran with */
    size_t point_count, point_room;   /* points of each controller with the first lag */
    struct joint_trial_point *points; /* [POSITION_KIND_COUNT][point_room] */
};

/* Run all; file was read by option_file_load(). STATUS_E_NOMEM with err filled. On STATUS_OK
 * the caller ends with joint_study_free(). */
MUST_USE enum status joint_study_run(const struct joint_file *file, struct joint_study *out,
                                     struct err *err);

void joint_study_free(struct joint_study *study);

/* Output of a struct joint_study as page, JSON, CSV, plot. The tables are controllers.csv, and
 * run.csv with the first lag over time, which the plot also shows. docs/model/servo.md.
 */
extern const struct experiment_output joint_output;

#endif
