/* service/sim/experiment/experiment_file.h - reads experiments from YAML: model following,
 * position controllers of a joint, and any other by its kind.
 *
 * docs/model/following.md. All faults of the file are reported at once, with line and column.
 */
#ifndef SERVICE_SIM_EXPERIMENT_EXPERIMENT_FILE_H
#define SERVICE_SIM_EXPERIMENT_EXPERIMENT_FILE_H

#include "config/labfile/lab_file.h"
#include "config/options/option_file.h"
#include "service/sim/experiment/arm_file.h"
#include "twin/sim/experiment/joint_trial.h"
#include "twin/sim/experiment/trial.h"

enum { EXPERIMENT_NAME_MAX = 64, EXPERIMENT_TEXT_MAX = 256, EXPERIMENT_RUNS_MAX = 10000 };

enum experiment_sticks {
    EXPERIMENT_EFFORTS,    /* columns named as the model's efforts */
    EXPERIMENT_LEFT_RIGHT, /* left, right: -1 .. 1, thrust of each side */
    EXPERIMENT_SURGE_YAW   /* surge, yaw: left = surge - yaw, right = surge + yaw */
};

enum experiment_actuators {
    EXPERIMENT_FULL,     /* an effort on every axis, without limits */
    EXPERIMENT_THRUSTERS /* the thrusters of the plant's vessel */
};

struct experiment_robot {
    char vessel[EXPERIMENT_NAME_MAX];
    double theta[MODEL_PARAMETERS_MAX];
    double standard_error[MODEL_PARAMETERS_MAX]; /* 0: none given */
    bool spread; /* true parameters are drawn around theta, and only theta is known */
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
    char draws_path[LAB_PATH_MAX]; /* "": random draws */
    char input_path[LAB_PATH_MAX];
    enum experiment_sticks sticks;
    double lag_s;
    enum experiment_actuators actuators;
    struct experiment_paper paper;
    struct trial_params trial; /* settings common to all runs; input is not filled */
};

/* Fills a struct experiment_file; its paths are relative to its folder. */
extern const struct option_file experiment_file;

/* The name of state i (velocities, then pose) without its unit, such as "u" or "psi", cut to
 * bytes.
 */
void experiment_state_name(const struct model *model, size_t i, char *name, size_t bytes);

/* An experiment with the position controllers of a joint: docs/model/servo.md. */
enum { JOINT_LAGS_MAX = 16, JOINT_NAME_MAX = 64, JOINT_TEXT_MAX = 256 };

struct joint_file {
    char name[JOINT_NAME_MAX];
    char purpose[JOINT_TEXT_MAX];
    size_t lag_count;
    double lag_s[JOINT_LAGS_MAX];
    double slow_rad[JOINT_LAGS_MAX]; /* window of the state machine for each lag */
    bool runs[POSITION_KIND_COUNT];
    struct joint_indices paper[POSITION_KIND_COUNT]; /* NaN: not published */
    struct joint_trial_params trial; /* lag, window and kind are those of the first run */
};

/* Fills a struct joint_file. */
extern const struct option_file joint_file;

/* Set up the run with lag number i under a controller. */
void joint_file_trial(const struct joint_file *file, size_t i, enum position_kind kind,
                      struct joint_trial_params *out);

enum experiment_kind {
    EXPERIMENT_FOLLOW,
    EXPERIMENT_JOINT,
    EXPERIMENT_ARM, /* service/sim/experiment/arm_file.h */
    EXPERIMENT_KIND_COUNT
};

ENUM_NAMES_DECLARED(experiment_kind); /* "follow" … */

/* An experiment of any kind, by the file's own key `kind`. */
struct any_experiment {
    enum experiment_kind kind;
    union {
        struct experiment_file follow;
        struct joint_file of_joint;
        struct arm_file of_arm;
    };
};

extern const struct option_file any_experiment_file;

#endif
