/* identification/fit/reference.h - an estimate held against the values in use.
 *
 * Errors count as wide as the printed intervals are, were these of a normal error: a value
 * outside its interval is contradicted, and all that are given are tested together
 * (docs/model/identification.md, "Comparison"). Pure.
 */
#ifndef IDENTIFICATION_FIT_REFERENCE_H
#define IDENTIFICATION_FIT_REFERENCE_H

#include <stdbool.h>

#include "identification/fit/estimate.h"

/* The values in use, in the order of the estimate. */
struct reference_values {
    double value[ESTIMATE_P_MAX]; /* NaN: not given */
    double se[ESTIMATE_P_MAX];    /* 0: taken for exact */
    double delay_s;               /* of models that have one beside their parameters; NaN */
};

struct reference_comparison {
    /* (fit - current) / sqrt(se^2 + se_current^2); NaN: one of them is not known. The recording
     * contradicts a value beyond as many errors as the fit's printed interval reaches: one
     * without an error of its own, when it lies outside that. */
    double z[ESTIMATE_P_MAX];
    bool contradicted[ESTIMATE_P_MAX];
    /* All that was given together: chi squared where it holds, with errors as wide; NaN. */
    double statistic, df, p;
    bool contradicts; /* p below 5 % */
};

/* The values in use, if somebody told them, beside what was found. */
struct reference_check {
    bool given; /* the other two are valid */
    struct reference_values values;
    struct reference_comparison comparison;
};

/* An empty set: nothing given. */
void reference_start(struct reference_values *reference);

/* delay_s takes no part. */
void reference_compare(const struct estimate *estimate,
                       const struct reference_values *reference,
                       struct reference_comparison *out);

/* Parts of a fit that were compared each by itself, as the joints of an arm: all of them
 * together, and the one furthest off among so many; p is twice that of the one that says more.
 * statistic and df are of all together, z and contradicted of nothing. */
void reference_combine(const struct reference_check *parts, size_t count,
                       struct reference_comparison *out);

/* Say in *told, if the recording contradicts what is in use for `model`, the furthest off
 * first, as many as there is room for: a note, for the fit is none the worse. *estimate, which
 * may be *told, is what was compared. */
void reference_judge(struct estimate *judged, const char *model,
                     const struct estimate *estimate, const struct reference_values *reference,
                     const struct reference_comparison *comparison);

#endif
