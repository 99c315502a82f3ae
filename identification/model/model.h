/* identification/model/model.h - one row of the table of models
 * (identification/model/models.h).
 *
 * A row is all that the program knows about a model. `tandem identify` and its help, the lab
 * file, the HTTP API, the dashboard and the self test use it.
 * identification/data/linear_model.h defines models of motion and their functions. Pure.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_H
#define IDENTIFICATION_MODEL_MODEL_H

#include <stddef.h>

#include "identification/data/linear_model.h"
#include "identification/model/allocation.h"

/* Kind of the recorded data, which also decides the kind of the fit. */
enum model_data {
    MODEL_OF_MOTION,   /* efforts and velocities over time, or telemetry */
    MODEL_OF_MOVES,    /* moves and how long they took */
    MODEL_OF_COMMANDS, /* moves, what was commanded of them, and how long they took */
    MODEL_OF_WHEELS,   /* wheel angles and poses over time */
    MODEL_OF_JOINTS,   /* angles, speeds and currents of an arm's joints over time */
    MODEL_OF_POSES,    /* an arm's joint angles and where its tool is then */
    MODEL_OF_SERVOS,   /* commanded and measured positions over time */
    MODEL_DATA_COUNT
};

/* Parameters and drive of a simulated robot in the self test. Its efforts are steps of
 * random size and length; one step in seven is zero. */
struct model_trial {
    double theta[MODEL_PARAMETERS_MAX];
    double delay_s;
    double dt_s;
    size_t samples;
    double noise_sd[MODEL_AXES_MAX];
    double effort_min[MODEL_AXES_MAX], effort_max[MODEL_AXES_MAX];
    double hold_s_min, hold_s_max; /* length of one step, s */
    double loss_ratio;             /* ratio of missing rows */
};

struct model_row {
    const char *name;
    const char *words; /* result of the fit, in one line */
    const char *help;  /* section of `tandem identify --help` */
    enum model_data data;
    /* Default names of the columns, unless --columns sets others; ends with NULL. For
     * motion: time, an effort per axis, a velocity per axis, and a pose per axis. Poses are
     * read if the model needs them, or to derive a missing velocity. */
    const char *const *roles;

    /* The following members are for models of motion only; that of a servo has a model for
     * filters, parameter sets and simulators. */
    const struct model *model;
    /* Models of the same form, from which the data choose; NULL: only one. */
    const struct model_variant *variants;
    size_t variant_count;
    /* name of the constant in a model file by which the variants differ; NULL: the
                    variants are ordered or tuned (identification/dynamics/model_choice.h) */
    const char *variant;
    struct model_limits limits;
    /* Named robots of this model. Writes their parameters and actuators (axes, actuators,
     * effect, lo, hi); returns false for an unknown name. NULL: no named robots. */
    bool (*robot)(const char *name, double *theta, struct allocation *actuators);
    const char *robots; /* names of these robots as text */
    struct model_trial trial;
};

#endif
