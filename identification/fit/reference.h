/* identification/fit/reference.h - comparison of an estimate with the values in use.
 *
 * Errors are as wide as the printed intervals, as if these belonged to a normal distribution. A
 * value outside its interval is contradicted. All given values are also tested together
 * (docs/model/identification.md, "Comparison"). Pure.
 */
#ifndef IDENTIFICATION_FIT_REFERENCE_H
#define IDENTIFICATION_FIT_REFERENCE_H

#include <stdbool.h>

#include "identification/fit/estimate.h"

/* Values in use, in the order of the estimate. */
struct reference_values {
    double value[ESTIMATE_P_MAX];  /* NaN: not given */
    double se[ESTIMATE_P_MAX];     /* 0: exact */
    double delay_s;                /* for models with a delay; NaN: not given */
    double delay_lo_s, delay_hi_s; /* its interval; NaN: not given */
};

struct reference_comparison {
    /* (fit - value in use) / sqrt(se^2 + se_in_use^2); NaN: one of them is unknown. A value
     * is contradicted if z exceeds the reach of the fit's printed interval. A value without
     * an error of its own is then outside that interval. */
    double z[ESTIMATE_P_MAX];
    bool contradicted[ESTIMATE_P_MAX];
    /* Joint test of all given values: chi squared if they are right; NaN: none. */
    double statistic, df, p;
    bool contradicts; /* p is below 5 % */
};

/* The values in use, if given, and their comparison with the fit. */
struct reference_check {
    bool given; /* the other two members are valid */
    struct reference_values values;
    struct reference_comparison comparison;
};

/* Sets all values to not given. */
void reference_start(struct reference_values *reference);

/* Compares; delay_s is ignored. */
void reference_compare(const struct estimate *estimate,
                       const struct reference_values *reference,
                       struct reference_comparison *out);

/* Combines comparisons of parts of a fit, such as the joints of an arm. It tests all of them
 * together, and the largest difference among them; p is twice the smaller of both. statistic
 * and df belong to the joint test, z and contradicted are unused. */
void reference_combine(const struct reference_check *parts, size_t count,
                       struct reference_comparison *out);

/* Adds a note to *judged if the recording contradicts the values in use for `model`, with
 * the largest differences first. The verdict does not change. *estimate, which may be
 * *judged, is the one that was compared. */
void reference_judge(struct estimate *judged, const char *model,
                     const struct estimate *estimate, const struct reference_values *reference,
                     const struct reference_comparison *comparison);

#endif
