/* service/experiments/experiment_file.h - a model-following experiment, from YAML.
 *
 * docs/model/following.md section 5. All faults of the file are reported at once, with line and
 * column.
 */
#ifndef SERVICE_EXPERIMENTS_EXPERIMENT_FILE_H
#define SERVICE_EXPERIMENTS_EXPERIMENT_FILE_H

#include "config/lab_file.h"
#include "config/option_file.h"
#include "twin/experiments/trial.h"

enum { EXPERIMENT_NAME_MAX = 64, EXPERIMENT_TEXT_MAX = 256, EXPERIMENT_RUNS_MAX = 10000 };

enum experiment_sticks {
    EXPERIMENT_EFFORTS,    /* columns named as the model's efforts */
    EXPERIMENT_LEFT_RIGHT, /* left, right: -1 .. 1, thrust of each side */
    EXPERIMENT_SURGE_YAW   /* surge, yaw: left = surge - yaw, right = surge + yaw */
};

enum experiment_actuators {
    EXPERIMENT_FULL,     /* an effort on every axis, without limits */
    EXPERIMENT_THRUSTERS /* those of the plant's vessel */
};

struct experiment_robot {
    char vessel[EXPERIMENT_NAME_MAX];
    double theta[MODEL_PARAMETERS_MAX];
    double standard_error[MODEL_PARAMETERS_MAX]; /* 0: none given */
    bool spread; /* the true parameters are drawn around theta, which is all that is known */
};

struct experiment_paper { /* NaN: not published */
    double rmse[TRIAL_STATES_MAX], mae[TRIAL_STATES_MAX], r2[TRIAL_STATES_MAX];
};

struct experiment_file {
    char name[EXPERIMENT_NAME_MAX];
    char purpose[EXPERIMENT_TEXT_MAX];
    const struct model *model;
    struct experiment_robot reference, plant;
    uint32_t runs;
    uint64_t seed;
    char draws_path[LAB_PATH_MAX]; /* "": own draws */
    char input_path[LAB_PATH_MAX];
    enum experiment_sticks sticks;
    double lag_s;
    enum experiment_actuators actuators;
    struct experiment_paper paper;
    struct trial_params trial; /* what does not change from run to run; input is not filled */
};

/* Fills a struct experiment_file; paths in it count from its folder. */
extern const struct option_file experiment_file;

/* "u", "psi": the name of state i (velocities, then pose) without its unit, cut to its length.
 */
void experiment_state_name(const struct model *model, size_t i, char *name, size_t bytes);

#endif
