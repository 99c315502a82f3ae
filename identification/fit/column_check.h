/* identification/fit/column_check.h - what the columns of a recording say before a model
 * is fitted.
 *
 * Columns that contradict each other are reported alone: any fit of them is wrong, and its
 * other reasons would only follow from that (docs/model/identification.md, "Columns"). Cold
 * path: allocates through GSL.
 */
#ifndef IDENTIFICATION_FIT_COLUMN_CHECK_H
#define IDENTIFICATION_FIT_COLUMN_CHECK_H

#include "identification/data/channel_match.h"
#include "identification/data/command_levels.h"
#include "identification/fit/dynamics_fit.h"

struct column_check {
    /* Values of the efforts; for a model that sticks, of those under which it moves. */
    struct command_levels levels[MODEL_AXES_MAX];
    struct channel_match match;
    bool matched; /* match is valid */
};

/* Checks the columns of a set whose efforts are still as recorded. Returns STATUS_OK or
 * STATUS_E_NOMEM. */
MUST_USE enum status column_check_run(const struct model *model, const struct data_set *set,
                                      struct column_check *check);

/* Returns whether the columns contradict each other, or cannot determine the model at all. If
 * so, *fit has no values, FAIL, and the reason. */
bool column_check_refuse(const struct column_check *check, const struct model *model,
                         const struct data_set *set, const struct data_summary *summary,
                         struct dynamics_fit *fit);

/* Reports rows that repeat earlier ones: a note if they are few. */
void copied_rows_judge(struct estimate *e, const struct copied_rows *copied, size_t rows);

/* A column of values that are `stride` apart; sd: of their noise, 0: they were chosen. */
struct copied_values {
    const double *x;
    size_t stride;
    double sd;
};
enum { COPIED_VALUES_MAX = 3 };

/* Finds and reports them in up to COPIED_VALUES_MAX columns of n values. STATUS_E_NOMEM. */
MUST_USE enum status copied_values_judge(struct estimate *e, const struct copied_values *values,
                                         size_t count, size_t n);

/* Adds reasons and notes about columns that can be fitted. Call it after all other
 * judgements. */
void column_check_judge(const struct column_check *check, const struct model *model,
                        const struct data_summary *summary, struct dynamics_fit *fit);

#endif
