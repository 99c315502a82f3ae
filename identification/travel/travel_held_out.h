/* identification/travel/travel_held_out.h - a fit of travel times held against other moves:
 * those of another day, and those of a part of its own (docs/model/travel_time.md, section 3).
 * Cold path: allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_HELD_OUT_H
#define IDENTIFICATION_TRAVEL_TRAVEL_HELD_OUT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/fit/estimate.h"
#include "identification/travel/travel_fit.h"

/* How well a fit predicts moves that it has not seen; NaN without any. */
struct travel_held_out {
    size_t n, unpredicted; /* usable and predicted; the others */
    double rmse_s, r2, median_s, mean_s;
};

/* Laps [n] beside what was foretold of them [n], NaN where that was not possible; writes over
 * the laps. */
void travel_held_out_score(double *lap_s, const double *predicted_s, size_t n,
                           struct travel_held_out *held);

/* Residuals larger than those of the fit's own moves allow, or off in the mean: a reason in *e,
 * of a fit of n moves with such a standard deviation. False: too few to tell, and a note. */
bool travel_held_out_judge(struct estimate *e, size_t n, double residual_s_sd,
                           const struct travel_held_out *held);

/* Predict, and judge: residuals larger than the fit's own allow, off in the mean, or speeds
 * that are others lower the verdict of *fit. Returns STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH
 * with both untouched. */
MUST_USE enum status travel_hold_out(struct travel_fit *fit, const struct travel_move *moves,
                                     size_t n, struct travel_held_out *held);

/* A pooled fit must also hold for each of its parts (a file, a robot, a day): compare `whole`
 * with `part`, the fit of one part called `name`, and add a reason to `whole` when the part
 * alone gives a speed of unphysical sign, or another one. Parts with too few moves to tell are
 * passed over. */
void travel_time_check_part(struct travel_fit *whole, const char *name,
                            const struct travel_fit *part);

#endif
