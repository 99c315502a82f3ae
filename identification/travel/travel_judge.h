/* identification/travel/travel_judge.h - what a travel-time fit is worth, in words.
 *
 * The second half of travel_time.c: verdict, reasons, and the moves that are missing
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

/* What the judge needs beside the fit. */
struct travel_evidence {
    const double *x;                /* [fit->n x TRAVEL_P] design by rows; NULL when n is 0 */
    const struct robust_ls_fit *ls; /* NULL when n is 0 */
    double r2_weighted;             /* of the moves by their weights; NaN when undefined */
    bool gaussian;                  /* the residuals of plain least squares look it */
    double shape;                   /* the statistic that says so */
    /* Of OLS: moves that stray from a fit to which the others keep far closer, and how close.
     */
    size_t wild_count;
    double closer_s;
    struct travel_law law;
    /* Of AUTO that left plain least squares: what that makes of 1/w and 1/v; else NaN. */
    double plain[TRAVEL_P], plain_se[TRAVEL_P];
};

/* Fill verdict, reasons and advice of an otherwise complete fit. */
void travel_judge(struct travel_fit *fit, const struct travel_evidence *evidence);

/* Numbers that look like another unit's: a reason for each. moves as they were fitted. */
void travel_judge_units(struct travel_fit *fit, const struct travel_move *moves, size_t n);

/* Advice where a speed has a sign that no robot has. */
void travel_advise_column(struct estimate *e, enum travel_term term);

extern const char *const travel_inverse_names[TRAVEL_P], *const travel_inverse_units[TRAVEL_P];

#endif
