/* identification/fit/estimate.h - what every fit returns: parameters, how sure they are, and what
 * they are worth.
 *
 * Travel times, dynamics and odometry embed it and fill it by rules of their own; whoever
 * prints a fit needs to know this one form. Plain data: it is part of checkpoints.
 */
#ifndef IDENTIFICATION_FIT_ESTIMATE_H
#define IDENTIFICATION_FIT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/text/names.h"
#include "base/errors/status.h"

enum {
    ESTIMATE_P_MAX = 26, /* parameters, constant efforts, and a delay behind them; an arm's links */
    ESTIMATE_NAME_MAX = 64,
    ESTIMATE_SYMBOL_MAX = 12,
    ESTIMATE_NULLS_MAX = 4,
    ESTIMATE_COMBINATIONS_MAX = 8,
    ESTIMATE_TEXT_MAX = 200,
    ESTIMATE_TEXTS_MAX = 16,
    /* Degrees of freedom below which no interval is given: too few to tell the errors by. */
    ESTIMATE_FREEDOM_MIN = 5
};

enum estimate_verdict { ESTIMATE_PASS, ESTIMATE_MARGINAL, ESTIMATE_FAIL, ESTIMATE_VERDICTS };

/* What data determine where they do not determine its parameters one by one. */
struct estimate_combination {
    char name[ESTIMATE_TEXT_MAX]; /* "hull_kg + 2 load_kg", "t0_s + 1.57 / angular_speed_radps"
                                   */
    double value, se;             /* in the unit of the first one; NaN: not known */
};

/* NaN is what is not known. */
struct estimate {
    size_t p;
    char name[ESTIMATE_P_MAX][ESTIMATE_NAME_MAX];     /* "surge_mass_kg" */
    char symbol[ESTIMATE_P_MAX][ESTIMATE_SYMBOL_MAX]; /* "d1", for narrow columns */
    double value[ESTIMATE_P_MAX];                  /* NaN when it is part of a null direction */
    double se[ESTIMATE_P_MAX];                     /* that lo and hi rest on */
    double se_white[ESTIMATE_P_MAX];               /* residuals taken for independent */
    double lo[ESTIMATE_P_MAX], hi[ESTIMATE_P_MAX]; /* 95 %; NaN: too few data for one */
    double covariance[ESTIMATE_P_MAX][ESTIMATE_P_MAX]; /* se^2 on its diagonal */
    bool identifiable[ESTIMATE_P_MAX]; /* determined, and known well enough to be of use */
    size_t rank;
    double condition; /* of the columns scaled to unit length; inf when the rank is short */
    size_t null_count;
    char nulls[ESTIMATE_NULLS_MAX][ESTIMATE_TEXT_MAX]; /* "a, b in the ratio 1 : -0.5" */
    size_t combination_count;
    struct estimate_combination combinations[ESTIMATE_COMBINATIONS_MAX];
    enum estimate_verdict verdict;
    size_t reason_count;
    char reasons[ESTIMATE_TEXTS_MAX][ESTIMATE_TEXT_MAX];       /* the worst first */
    enum estimate_verdict reason_verdicts[ESTIMATE_TEXTS_MAX]; /* at best, with each of them */
    size_t advice_count;
    char advice[ESTIMATE_TEXTS_MAX][ESTIMATE_TEXT_MAX]; /* "run a zig-zag at two speeds" */
};

extern const struct names estimate_verdict_names;
const char *estimate_verdict_name(enum estimate_verdict verdict); /* "PASS" … */

/* p parameters, <= ESTIMATE_P_MAX, of which nothing is known; PASS until a reason says
 * otherwise. Their names are given by estimate_name(). */
void estimate_start(struct estimate *estimate, size_t p);
void estimate_name(struct estimate *estimate, size_t i, const char *name, const char *symbol);

/* Standard errors from an estimate to the ends of its 95 % interval: Student's, by what is left
 * of the data to tell the errors by, INFINITY of errors that are known. NaN below
 * ESTIMATE_FREEDOM_MIN. */
double estimate_reach(double freedom);

/* A value and its error, with its interval. */
void estimate_set(struct estimate *estimate, size_t i, double value, double se, double freedom);

/* Add a reason or advice, cut to its length; dropped when the list says so already. A reason
 * lowers the verdict to what is possible with it. It goes after those that are as bad, and out
 * of a full list goes the last one, so that what makes the verdict is always told; advice is
 * dropped when its list is full. */
void estimate_reason(struct estimate *estimate, enum estimate_verdict at_best,
                     const char *format, ...) PRINTF_LIKE(3, 4);
/* The same at the head of the list, for what explains the others. */
void estimate_reason_first(struct estimate *estimate, enum estimate_verdict at_best,
                           const char *format, ...) PRINTF_LIKE(3, 4);
void estimate_advise(struct estimate *estimate, const char *format, ...) PRINTF_LIKE(2, 3);

/* After all that judge: nobody is told MARGINAL or FAIL without advice; where none was given,
 * the worst reason's. */
void estimate_advise_worst(struct estimate *estimate);

/* Of the errors of two parameters; NaN when one is not known. */
double estimate_correlation(const struct estimate *estimate, size_t i, size_t j);

#endif
