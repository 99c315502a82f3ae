/* service/sim/experiment/arm_file.h - reads an arm experiment from YAML: how well a virtual arm
 * shows a real one with delayed telemetry. docs/model/following.md.
 */
#ifndef SERVICE_SIM_EXPERIMENT_ARM_FILE_H
#define SERVICE_SIM_EXPERIMENT_ARM_FILE_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"
#include "twin/sim/experiment/arm_shadow.h"

enum { ARM_CASES_MAX = 16, ARM_MOVES_MAX = 64, ARM_NAME_MAX = 64, ARM_TEXT_MAX = 256 };

struct arm_file {
    char name[ARM_NAME_MAX];
    char purpose[ARM_TEXT_MAX];
    struct arm_geometry arm;
    /* parameters of model arm6: the known lag, and the simulated arm's */
    double theta[MODEL_PARAMETERS_MAX];
    char recording_path[LAB_PATH_MAX]; /* "": a simulated arm makes the moves */
    size_t move_count;
    /* [move][joint] targets; the first one is the start */
    double moves[ARM_MOVES_MAX][ARM_JOINTS];
    double rest_s;          /* s, between moves */
    struct arm_rates rates; /* rates of commands */
    size_t case_count;
    struct arm_telemetry telemetry[ARM_CASES_MAX];
    size_t off_count;
    double off_s[ARM_CASES_MAX]; /* s, lead of known commands */
};

/* Fills a struct arm_file; its path is relative to its folder. */
extern const struct option_file arm_file;

#endif
