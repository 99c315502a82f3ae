/* service/sim/experiment/arm_study.h - what a virtual arm shows of a real one that is heard late,
 * by each way to show it, and what came of it. */
#ifndef SERVICE_SIM_EXPERIMENT_ARM_STUDY_H
#define SERVICE_SIM_EXPERIMENT_ARM_STUDY_H

#include "service/sim/experiment/arm_file.h"
#include "service/sim/experiment/experiment_output.h"

/* Of the first line of telemetry, for tables and picture. */
struct arm_point {
    struct arm_row row;
    double shown_rad[ARM_SHOWN_COUNT][ARM_JOINTS];
    double tool_gap_m[ARM_SHOWN_COUNT];
};

struct arm_study {
    const struct arm_file *file;
    double duration_s;
    struct arm_errors shown[ARM_CASES_MAX][ARM_SHOWN_COUNT]; /* of file->case_count lines */
    struct arm_commands commands;
    struct arm_errors commanded[ARM_CASES_MAX]; /* of file->off_count */
    struct arm_point *points;                   /* [point_count] */
    size_t point_count;
};

/* Run all. STATUS_E_IO, STATUS_E_PARSE and such of the recording, STATUS_E_RANGE for a move
 * that is refused, STATUS_E_EMPTY when nothing moves, STATUS_E_NOMEM, with err filled. On
 * STATUS_OK the caller ends with arm_study_free(). */
MUST_USE enum status arm_study_run(const struct arm_file *file, struct arm_study *out,
                                   struct err *err);

void arm_study_free(struct arm_study *study);

/* A struct arm_study as page, JSON, CSV, picture. The tables: telemetry.csv, commands.csv, and
 * run.csv with the first line of telemetry over time, which the picture shows, too. */
extern const struct experiment_output arm_output;

#endif
