/* identification/simulation/stability.h - whether the parts of a recording agree about the
 * parameters.
 *
 *     theta_b = theta + G_b^-1 v_b,   Q = sum v_b' G_b^-1 v_b - v' G^-1 v    (docs/model/
 *                                                                  identification.md, section
 * 6)
 *
 * A model that fits has the same parameters in both halves of a recording, at small efforts and
 * at large ones, forwards and backwards. One pass of the filter of prediction_error gives the
 * information G_b and the score v_b of each part; without forces it is the simulation of
 * output_error. Pure: no I/O, no clock. Cold path: allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_SIMULATION_STABILITY_H
#define IDENTIFICATION_SIMULATION_STABILITY_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "base/text/names.h"
#include "identification/data/data_set.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/simulation/free_parameters.h"

/* Along what a recording is cut. */
enum stability_cut {
    STABILITY_HALVES, /* of the time */
    STABILITY_THIRDS,
    STABILITY_RECORDINGS, /* where there are several */
    STABILITY_LEVEL,     /* of an effort: up to a third of its largest, to two thirds, beyond */
    STABILITY_DIRECTION, /* of an effort: below zero, above */
    STABILITY_CUTS
};

/* Recordings beyond so many are taken together, neighbours first. */
enum {
    STABILITY_PARTS_MAX = 16,
    STABILITY_TERMS_MAX = 4,
    STABILITY_TESTS_MAX = 3 + 2 * MODEL_AXES_MAX
};

/* What a part has for each entry of the fit; NaN where the fit has no error. */
struct stability_part {
    double value[DYNAMICS_P_MAX], se[DYNAMICS_P_MAX];
    double freedom; /* of se; HUGE_VAL: it is known */
};

/* From part to part beyond what their errors explain; zero where they explain it. */
struct stability_between {
    double sd;
    double mean_variance; /* that it adds to an estimate from all parts */
};

struct stability_test {
    enum stability_cut cut;
    size_t axis;          /* whose effort, for LEVEL and DIRECTION */
    size_t parts;         /* 2 .. STABILITY_PARTS_MAX */
    double statistic, df; /* chi squared when the parts agree */
    double p;             /* chance of as much or more then */
    size_t entry; /* of the fit, that differs most against its errors; before all by a share
                     that matters */
    double value[STABILITY_PARTS_MAX], se[STABILITY_PARTS_MAX]; /* of it, part by part */
};

/* An entry that differs by less than this share of its value moves no robot that one could see.
 */
extern const double stability_matters;

/* Efforts as shares of the largest at which it is told what they are worth. */
enum { STABILITY_WORTHS = 4 };
extern const double stability_worth_at[STABILITY_WORTHS]; /* -1, -1/3, 1/3, 1 */

/* Whether an axis answers in proportion to its effort: what a part that goes with |s| s, one
 * with sign(s) and one with |s| would explain beyond the unknowns and constant efforts, s being
 * the share of the largest effort. */
struct stability_shape {
    double statistic, df, p; /* chi squared when it does; NaN: it cannot be told */
    double
        worth[STABILITY_WORTHS]; /* of one unit of such an effort; NaN where none was given */
};

struct stability {
    bool tested; /* else the model could not be simulated, or too little is known of it */
    size_t count;
    struct stability_test tests[STABILITY_TESTS_MAX];
    struct stability_between in_time[DYNAMICS_P_MAX]; /* halves or thirds, whichever more */
    struct stability_between recordings[DYNAMICS_P_MAX];
    size_t recording_count; /* that were compared; 0: there was one, or too little of them */
    /* All of the recording: the fit's parameters moved to where it would have them, and the
     * errors of that; for a recording that was not fitted. NaN where it does not tell. */
    double moved[FREE_PARAMETERS_MAX], moved_se[FREE_PARAMETERS_MAX];
    double moved_statistic, moved_df, moved_p; /* against both errors, the fit's and its own */
    /* Efforts beside those given, the same throughout, that would explain what the fit leaves,
     * and how likely it leaves so much by chance; NaN: they were fitted, or it does not tell.
     */
    double constant[MODEL_AXES_MAX], constant_se[MODEL_AXES_MAX];
    double constant_statistic, constant_df, constant_p;
    /* The same of what a richer form of the model has and this one has not, and what the
     * model's own parameters would move by with it; no model: there is none, or it does not
     * tell. */
    struct stability_term {
        const struct model *model;
        size_t count, entry[STABILITY_TERMS_MAX]; /* its parameters there */
        double value[STABILITY_TERMS_MAX], se[STABILITY_TERMS_MAX];
        double shift[DYNAMICS_P_MAX];
        double statistic, df, p;
    } term;
    struct stability_shape shape[MODEL_AXES_MAX];
    /* What the mean square of the whitened innovations, 1 as fitted, is expected to be here,
     * with the errors of the parameters. */
    double expected_ratio;
};

extern const struct names stability_cut_names;
const char *stability_cut_name(enum stability_cut cut); /* "halves" … */

/* Add the test of a cut, entry by entry by Welch's test and by the least chance of them times
 * their number, unless fewer than two parts know the same entry; and what is between parts. */
void stability_compare(const struct dynamics_fit *fit, enum stability_cut cut, size_t axis,
                       const struct stability_part *parts, size_t count,
                       struct stability *stability);

/* Which of STABILITY_PARTS_MAX recordings a run is of. */
size_t stability_recording(const struct data_set *set, size_t run);

/* noise: of a fit that has none of its own, per axis; NULL: the fit's. Sets longer than 20 000
 * samples are looked at in 16 pieces. Returns STATUS_OK, STATUS_E_NOMEM; *stability is written
 * on STATUS_OK only. */
MUST_USE enum status stability_find(const struct model *model, const struct dynamics_fit *fit,
                                    const double *velocity_sd, const struct data_set *set,
                                    struct stability *stability);

#endif
