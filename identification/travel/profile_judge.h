/* identification/travel/profile_judge.h - what a fit of commanded moves is worth, in words.
 *
 * The second half of profile_time.c: verdict, reasons, and the moves that are missing
 * (docs/model/arm_pair.md, section 3). Allocates through GSL while it runs.
 */
#ifndef IDENTIFICATION_TRAVEL_PROFILE_JUDGE_H
#define IDENTIFICATION_TRAVEL_PROFILE_JUDGE_H

#include "identification/travel/profile_fit.h"
#include "identification/travel/travel_held_out.h"

/* Fill verdict, reasons and advice of an otherwise complete fit; moves [n] as they were given,
 * in the order in which they were made. STATUS_OK, STATUS_E_NOMEM, STATUS_E_MATH. */
MUST_USE enum status profile_judge(const struct profile_move *moves, size_t n,
                                   struct profile_fit *fit);

/* Numbers that look like another unit's: a reason for each. */
void profile_judge_units(struct profile_fit *fit);

/* A part of the moves, fitted alone: a reason in *whole where it is of another robot. */
void profile_check_part(struct profile_fit *whole, const char *name,
                        const struct profile_fit *part);

/* Held against other moves [n]: how far off it is there, and a reason where that is more than
 * its own moves allow. */
MUST_USE enum status profile_hold_out(struct profile_fit *fit, const struct profile_move *moves,
                                      size_t n, struct travel_held_out *held);

#endif
