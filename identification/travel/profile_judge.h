/* identification/travel/profile_judge.h - verdict on a fit of commanded moves.
 *
 * The second half of profile_time.c: verdict, reasons, and advice for missing moves
 * (docs/model/arm_pair.md, section 3). Allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_JUDGE_H
#define IDENTIFICATION_TRAVEL_PROFILE_JUDGE_H

#include "identification/travel/profile_fit.h"
#include "identification/travel/travel_held_out.h"

/* Fills verdict, reasons and advice of an otherwise complete fit. moves [n] are those given,
 * in the order in which they were made. Returns STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status profile_judge(const struct profile_move *moves, size_t n,
                                   struct profile_fit *fit);

/* Adds a reason for each number that seems to have another unit. */
void profile_judge_units(struct profile_fit *fit);

/* Compares with a part of the moves that was fitted alone. Adds a reason to *whole if the
 * part seems to be from another robot. */
void profile_check_part(struct profile_fit *whole, const char *name,
                        const struct profile_fit *part);

/* Compares the fit with other moves [n]: fills *held, and adds a reason if the residuals are
 * larger than those of its own moves allow. */
MUST_USE enum status profile_hold_out(struct profile_fit *fit, const struct profile_move *moves,
                                      size_t n, struct travel_held_out *held);

#endif
