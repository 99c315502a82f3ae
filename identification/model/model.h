/* identification/model/model.h - a row of the table of models (identification/model/models.h).
 *
 * It is all that anybody knows of a model: `tandem identify` and its help, the lab file, the
 * HTTP API, the dashboard and the self test go by it. What a model of motion is, and what can
 * be done with any of them: identification/data/linear_model.h. Pure.
 */
#ifndef IDENTIFICATION_MODEL_MODEL_H
#define IDENTIFICATION_MODEL_MODEL_H

#include <stddef.h>

#include "identification/data/linear_model.h"
#include "identification/model/allocation.h"

/* What a model is fitted to, and so how. */
enum model_data {
    MODEL_OF_MOTION,   /* efforts and velocities over time, or telemetry */
    MODEL_OF_MOVES,    /* moves and how long they took */
    MODEL_OF_COMMANDS, /* moves, what was commanded of them, and how long they took */
    MODEL_OF_WHEELS,   /* wheel angles and poses over time */
    MODEL_OF_JOINTS,   /* angles, speeds and currents of an arm's joints over time */
    MODEL_OF_POSES,    /* an arm's joint angles and where its tool is then */
    MODEL_DATA_COUNT
};

/* A robot of the self test and how it is driven. Efforts are steps of random size and length,
 * one of seven is zero. */
struct model_trial {
    double theta[MODEL_PARAMETERS_MAX];
    double delay_s;
    double dt_s;
    size_t samples;
    double noise_sd[MODEL_AXES_MAX];
    double effort_min[MODEL_AXES_MAX], effort_max[MODEL_AXES_MAX];
    double hold_s_min, hold_s_max; /* of one step */
    double loss_ratio;             /* of rows that are missing */
};

struct model_row {
    const char *name;
    const char *words; /* what is found, in a line */
    const char *help;  /* its part of `tandem identify --help` */
    enum model_data data;
    /* What its columns are called unless --columns says otherwise; ends with NULL. Of motion:
     * time, an effort an axis, a velocity an axis, and a pose an axis where poses are read:
     * where the model needs them, and where a velocity is missing, which is then derived. */
    const char *const *roles;

    /* Of motion only. */
    const struct model *model;
    /* Models of the same form to choose from by the data; NULL: there is but one. */
    const struct model_variant *variants;
    size_t variant_count;
    const char *variant; /* the constant of a file that they differ by; NULL: they have an
                          * order, or are tuned (identification/dynamics/model_choice.h) */
    struct model_limits limits;
    /* Robots of this model that are known by name: their parameters and what pushes them (axes,
     * actuators, effect, lo, hi), out; false when there is none of this name. NULL: none are.
     */
    bool (*robot)(const char *name, double *theta, struct allocation *actuators);
    const char *robots; /* their names, in words */
    struct model_trial trial;
};

#endif
