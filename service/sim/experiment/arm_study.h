/* service/sim/experiment/arm_study.h - studies how well a virtual arm shows a real one with
 * delayed telemetry, for each method of showing it. */
#ifndef SERVICE_SIM_EXPERIMENT_ARM_STUDY_H
#define SERVICE_SIM_EXPERIMENT_ARM_STUDY_H

#include "service/sim/experiment/arm_file.h"
#include "service/sim/experiment/experiment_output.h"

/* A point of the first telemetry case, for tables and plots. */
struct arm_point {
    struct arm_row row;
    double shown_rad[ARM_SHOWN_COUNT][ARM_JOINTS];
    double tool_gap_m[ARM_SHOWN_COUNT];
};

struct arm_study {
    const struct arm_file *file;
    double duration_s;
    /* [case][method], file->case_count cases */
    struct arm_errors shown[ARM_CASES_MAX][ARM_SHOWN_COUNT];
    struct arm_commands commands;
    struct arm_errors commanded[ARM_CASES_MAX]; /* file->off_count cases */
    struct arm_point *points;                   /* [point_count] */
    size_t point_count;
};

/* Run all cases. STATUS_E_IO, STATUS_E_PARSE and such for the recording, STATUS_E_RANGE for a
 * move that is refused, STATUS_E_EMPTY when nothing moves, STATUS_E_NOMEM, with err filled. On
 * STATUS_OK the caller ends with arm_study_free(). */
MUST_USE enum status arm_study_run(const struct arm_file *file, struct arm_study *out,
                                   struct err *err);

void arm_study_free(struct arm_study *study);

/* Output of a struct arm_study as page, JSON, CSV, plot. The tables are telemetry.csv,
 * commands.csv, and run.csv with the first telemetry case over time, which the plot also
 * shows. */
extern const struct experiment_output arm_output;

#endif
