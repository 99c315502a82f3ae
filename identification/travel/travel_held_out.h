/* identification/travel/travel_held_out.h - comparison of a fit of travel times with other
 * moves: those of another day, or of a part of its own (docs/model/travel_time.md, section 3).
 * Cold path: allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_HELD_OUT_H
#define IDENTIFICATION_TRAVEL_TRAVEL_HELD_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/fit/estimate.h"
#include "identification/travel/travel_fit.h"

/* Quality of the predictions for moves that the fit has not seen; NaN without any. */
struct travel_held_out {
    size_t n, unpredicted; /* usable and predicted moves; the others */
    double rmse_s, r2, median_s, mean_s;
    /* Probabilities by chance, NaN if not tested: of such residuals, and of their part that
     * other values of the law's terms would explain. */
    double p, law_p;
};

/* Returns the lap of moves[i] that the fit predicts, NaN without one, and the measured lap. */
typedef double travel_lap_predict(const void *fit, const void *moves, size_t i, double *lap_s);

/* Compares n laps with their predictions. STATUS_E_NOMEM. */
MUST_USE enum status travel_held_out_score(travel_lap_predict *predict, const void *fit,
                                           const void *moves, size_t n,
                                           struct travel_held_out *held);

/* Adds a reason to *whole: the part called `name` gives another entry i. */
void travel_report_part(struct estimate *whole, const char *name, const struct estimate *part,
                        size_t i);

/* Adds a reason to *e if the residuals are larger than those of the fit's own moves allow,
 * or biased. n and residual_s_sd belong to the fit. Returns false, with a note, if there are
 * too few moves. */
bool travel_held_out_judge(struct estimate *e, size_t n, double residual_s_sd,
                           const struct travel_held_out *held);

/* The F test of held-out moves. Residuals have the variance of the fit's own and of its errors
 * (docs/model/travel_time.md, section 3). */
struct travel_f_test {
    size_t n;          /* moves that were tested */
    double ratio;      /* mean square of the residuals to that which is expected */
    double p;          /* probability of such a ratio or a larger one by chance */
    double law_ratio;  /* the same for the part that other values of the terms explain */
    double law_p;      /* the robot is another one */
    double law_p_open; /* the same if effects exist that the fit did not find */
    double off_sd;     /* root mean square of that part, in sd of the fit's residuals */
};

/* Tests n moves. theirs: their own fit, whose few outliers are late replies and do not count.
 * Returns STATUS_OK, STATUS_E_NOMEM. test->n is 0 without moves that can be tested. */
MUST_USE enum status travel_f_test(const struct travel_fit *fit,
                                   const struct travel_fit *theirs,
                                   const struct travel_move *moves, size_t n,
                                   struct travel_f_test *test);

/* Returns the best verdict that the test allows. */
enum estimate_verdict travel_f_test_verdict(const struct travel_f_test *test);

/* Predicts and judges by this test, which may lower the verdict of *fit. Returns STATUS_OK,
 * STATUS_E_NOMEM, STATUS_E_MATH, the last two with both unchanged. */
MUST_USE enum status travel_hold_out(struct travel_fit *fit, const struct travel_move *moves,
                                     size_t n, struct travel_held_out *held);

/* Compares a pooled fit `whole` with the fit of one of its parts (a file, a robot, a day)
 * called `name`. Adds a reason to `whole` if the part alone gives a speed of unphysical
 * sign, or a different one. Parts with too few moves are ignored. */
void travel_time_check_part(struct travel_fit *whole, const char *name,
                            const struct travel_fit *part);

#endif
