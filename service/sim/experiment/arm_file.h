/* service/sim/experiment/arm_file.h - an experiment with an arm, from YAML: what a virtual arm
 * shows of a real one that is heard late. docs/model/following.md.
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
    double theta[MODEL_PARAMETERS_MAX]; /* of model arm6: lag known, and of a simulated arm */
    char recording_path[LAB_PATH_MAX];  /* "": a simulated arm does the moves */
    size_t move_count;
    double moves[ARM_MOVES_MAX][ARM_JOINTS]; /* from the first on */
    double rest_s;                           /* between them */
    struct arm_rates rates;                  /* of commands */
    size_t case_count;
    struct arm_telemetry telemetry[ARM_CASES_MAX];
    size_t off_count;
    double off_s[ARM_CASES_MAX]; /* how much too early known commands begin */
};

/* Fills a struct arm_file; its path counts from its folder. */
extern const struct option_file arm_file;

#endif
