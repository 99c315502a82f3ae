/* identification/simulation/stability_parts.h - what the two sources of stability.h share: sums
 * over parts of a recording, and estimates from them.
 */
#ifndef IDENTIFICATION_SIMULATION_STABILITY_PARTS_H
#define IDENTIFICATION_SIMULATION_STABILITY_PARTS_H

#include "identification/numeric/svd.h"
#include "identification/simulation/stability.h"

/* The last one is the effort itself: it belongs to the scan of the gain. */
enum shape { SHAPE_SQUARE, SHAPE_SIGN, SHAPE_SIZE, SHAPES, SHAPE_SAME = SHAPES, ADDED };

enum {
    SIXTHS = 6, /* of the time: two make a third, three a half */
    LEVELS = 3,
    RECORDINGS = SIXTHS + (LEVELS + 2) * MODEL_AXES_MAX,
    WIDE = RECORDINGS + STABILITY_PARTS_MAX, /* all of it, with constant efforts */
    SHAPED,                                  /* with one axis' shapes in addition */
    BINS_MAX = SHAPED + MODEL_AXES_MAX,
    COLUMNS_MAX = FREE_PARAMETERS_MAX + SHAPES,
    PIECES = 16,
    LONG = 20000, /* number of samples above which pieces are examined */
    PIECE_SAMPLES = 1250
};

/* Sums over a part of the recording. */
struct part_sums {
    double g[COLUMNS_MAX * COLUMNS_MAX];
    double v[COLUMNS_MAX];
    double squares, rows;
    double m[FREE_PARAMETERS_MAX * FREE_PARAMETERS_MAX]; /* g weighted by squared innovations */
};

struct stability_work {
    const struct data_set *set; /* present piece of the set */
    size_t first;               /* its first sample in the whole set */
    const struct data_set *whole;
    size_t run; /* present run of the whole set */
    size_t axes;
    size_t count; /* number of unknowns with an error in the fit */
    size_t wide;  /* with the constant efforts that were not fitted, at the end */
    size_t index[FREE_PARAMETERS_MAX];  /* their indices in the fit */
    size_t column[FREE_PARAMETERS_MAX]; /* their columns in the filter */
    size_t shaped; /* filter column with the first shape of the first axis */
    double largest[MODEL_AXES_MAX];
    double least[MODEL_AXES_MAX], most[MODEL_AXES_MAX]; /* effort over the largest */
    double before[MODEL_AXES_MAX], products[MODEL_AXES_MAX], squares[MODEL_AXES_MAX];
    struct part_sums *bins; /* [BINS_MAX] */
    struct gain_scan scan[MODEL_AXES_MAX];
};

/* One step from the fit to a part's own values. */
struct part_estimate {
    struct svd svd; /* its inverse is the covariance */
    double step[COLUMNS_MAX], explained, noise;
};

/* The shapes [ADDED] of an effort that is this share of its largest. */
void stability_find_shapes(double share, double *shape);

/* Computes the step of a part, and its covariance for this variance of the innovations.
 * Returns false if numbers are not finite. */
bool stability_solve_part(const struct part_sums *part, size_t n, double noise, struct svd *svd,
                          double *step, double *explained);

/* Number of consecutive innovations that carry the information of one independent
 * innovation. */
double stability_innovations_as_one(const struct stability_work *work);

/* Standard deviation of entry i of n, but for the noise. */
double stability_part_sd(const struct part_estimate *part, size_t n, size_t i);

/* Score test: what the columns after the first `less` explain in addition to these. */
struct added_columns {
    double statistic, df, p;
    struct part_estimate all; /* estimate of all `more` columns */
};

/* False: too few rows, or nothing that the first columns do not explain. */
bool stability_test_added(const struct stability_work *work, const struct part_sums *sums,
                          size_t less, size_t more, struct added_columns *out);

/* Constant efforts that the fit does not have. */
void stability_find_constant(const struct stability_work *work, struct stability *out);

/* Shapes of an axis' effort, beyond constant efforts. */
void stability_find_shape(const struct model *model, const double *theta,
                          const struct stability_work *work, size_t axis,
                          struct stability_shape *out);

#endif
