/* identification/simulation/stability.h - test whether the parts of a recording agree.
 *
 *     theta_b = theta + G_b^-1 v_b,   Q = sum v_b' G_b^-1 v_b - v' G^-1 v
 *                                             (docs/model/identification.md, section 6)
 *
 * The parameters of a right model are the same in both halves of a recording, for small and
 * large efforts, forwards and backwards. One pass of the filter of prediction_error gives the
 * information G_b and the score v_b of each part b. Without forces, that filter is the
 * simulation of output_error. Pure: no I/O, no clock. Cold path: allocates through GSL while it
 * runs.
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
#include "identification/simulation/gain_scan.h"

/* Ways to cut a recording. */
enum stability_cut {
    STABILITY_HALVES, /* of the time */
    STABILITY_THIRDS,
    STABILITY_RECORDINGS, /* if there are several */
    /* of an effort: up to a third of its largest value, to two thirds, beyond */
    STABILITY_LEVEL,
    STABILITY_DIRECTION, /* of an effort: negative, positive */
    STABILITY_CUTS
};

/* If there are more recordings, neighbours are merged. */
enum {
    STABILITY_PARTS_MAX = 16,
    STABILITY_TERMS_MAX = 4,
    STABILITY_TESTS_MAX = 3 + 2 * MODEL_AXES_MAX
};

/* Estimates from one part, for each entry of the fit; NaN if the fit has no error. */
struct stability_part {
    double value[DYNAMICS_P_MAX], se[DYNAMICS_P_MAX];
    double freedom; /* degrees of freedom of se; HUGE_VAL: se is known */
};

/* Spread between parts beyond their errors; zero if these explain it. */
struct stability_between {
    double sd;
    double mean_variance; /* variance that it adds to the mean of all parts */
};

struct stability_test {
    enum stability_cut cut;
    size_t axis;          /* axis of the effort, for LEVEL and DIRECTION */
    size_t parts;         /* 2 .. STABILITY_PARTS_MAX */
    double statistic, df; /* chi squared if the parts agree */
    double p;             /* probability of this statistic or a larger one, if they agree */
    /* entry of the fit that differs most, in errors; those that matter come first */
    size_t entry;
    /* estimates of that entry, part by part */
    double value[STABILITY_PARTS_MAX], se[STABILITY_PARTS_MAX];
};

/* Efforts, as shares of the largest, at which the effect of an effort is reported. */
enum { STABILITY_WORTHS = 4 };
extern const double stability_worth_at[STABILITY_WORTHS]; /* -1, -1/3, 1/3, 1 */

/* Test whether an axis responds in proportion to its effort. It estimates what terms with
 * |s| s, sign(s) and |s| explain in addition to the unknowns and constant efforts. s is the
 * effort as a share of the largest. */
struct stability_shape {
    double statistic, df, p; /* chi squared if it does; NaN: not testable */
    double
        /* relative effect of one unit of such an effort; NaN if none was given */
        worth[STABILITY_WORTHS];
};

struct stability {
    bool tested; /* false: the model could not be simulated, or too little is known */
    size_t count;
    struct stability_test tests[STABILITY_TESTS_MAX];
    /* from halves or thirds, whichever is larger */
    struct stability_between in_time[DYNAMICS_P_MAX];
    struct stability_between recordings[DYNAMICS_P_MAX];
    size_t recording_count; /* number of recordings compared; 0: only one, or too few data */
    /* Parameters that the whole recording would prefer, minus those of the fit, with their
     * errors; for a recording that was not fitted. NaN: not determined. */
    double moved[FREE_PARAMETERS_MAX], moved_se[FREE_PARAMETERS_MAX];
    double moved_statistic, moved_df, moved_p; /* relative to the errors of both */
    /* Constant additional efforts that would explain the residuals, and their probability by
     * chance. NaN: they were fitted, or are not determined. */
    double constant[MODEL_AXES_MAX], constant_se[MODEL_AXES_MAX];
    double constant_statistic, constant_df, constant_p;
    /* The same for the terms of the extended model, and the shifts of the model's own
     * parameters with them. model NULL: none, or not determined. */
    struct stability_term {
        const struct model *model;
        size_t count, entry[STABILITY_TERMS_MAX]; /* its additional parameters */
        double value[STABILITY_TERMS_MAX], se[STABILITY_TERMS_MAX];
        double shift[DYNAMICS_P_MAX];
        double statistic, df, p;
    } term;
    struct stability_shape shape[MODEL_AXES_MAX];
    struct gain_episode episode[MODEL_AXES_MAX]; /* of each effort */
    /* Expected mean square of the whitened innovations (1 in the fit), given the errors of
     * the parameters. */
    double expected_ratio;
};

ENUM_NAMES_DECLARED(stability_cut); /* "halves" … */

/* Adds the test of a cut. Each entry is tested by Welch's test; the smallest p is multiplied
 * by the number of entries. No test is added if no entry is known in two parts. Also records
 * the spread between parts. */
void stability_compare(const struct dynamics_fit *fit, enum stability_cut cut, size_t axis,
                       const struct stability_part *parts, size_t count,
                       struct stability *stability);

/* Returns which of STABILITY_PARTS_MAX recordings a run belongs to. */
size_t stability_recording(const struct data_set *set, size_t run);

/* Runs all tests. velocity_sd: noise per axis for a fit that has none of its own; NULL: that
 * of the fit. Sets longer than 20 000 samples are examined in 16 pieces. Returns STATUS_OK,
 * STATUS_E_NOMEM; *stability is written only on STATUS_OK. */
MUST_USE enum status stability_find(const struct model *model, const struct dynamics_fit *fit,
                                    const double *velocity_sd, const struct data_set *set,
                                    struct stability *stability);

#endif
