/* identification/travel/travel_judge.h - verdict on a fit of travel times.
 *
 * The second half of travel_time.c: verdict, reasons, and advice for missing moves
 * (docs/model/travel_time.md, section 3). Pure.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H
#define IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"
#include "identification/travel/travel_law.h"

/* Evidence for the verdict that is not in the fit. */
struct travel_evidence {
    const double *x;                /* [fit->n x TRAVEL_P] design by rows; NULL when n is 0 */
    const struct robust_ls_fit *ls; /* NULL when n is 0 */
    double r2_weighted;             /* of the weighted moves; NaN if undefined */
    bool gaussian;                  /* residuals of plain least squares look Gaussian */
    double shape;                   /* statistic of that test */
    /* OLS: number of moves far from a robust fit to which the others are much closer, and
     * the scale of that fit. */
    size_t wild_count;
    double closer_s;
    struct travel_law law;
    /* AUTO with a robust result: 1/w and 1/v by plain least squares; otherwise NaN. */
    double plain[TRAVEL_P], plain_se[TRAVEL_P];
};

/* Fills verdict, reasons and advice of an otherwise complete fit. */
void travel_judge(struct travel_fit *fit, const struct travel_evidence *evidence);

/* Adds a reason for each number that seems to have another unit. moves: those that were
 * fitted. */
void travel_judge_units(struct travel_fit *fit, const struct travel_move *moves, size_t n);

/* Adds advice for a speed with an unphysical sign. */
void travel_advise_column(struct estimate *e, enum travel_term term);

extern const char *const travel_inverse_names[TRAVEL_P], *const travel_inverse_units[TRAVEL_P];

#endif
