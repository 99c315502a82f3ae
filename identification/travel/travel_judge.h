/* identification/travel/travel_judge.h - what a travel-time fit is worth, in words.
 *
 * The second half of travel_time.c: verdict, reasons, and the moves that are missing
 * (docs/model/travel_time.md, section 3). Pure.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H
#define IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/status.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"

/* What the judge needs beside the fit. */
struct travel_evidence {
    const double *x;                /* [fit->n x TRAVEL_P] design by rows; NULL when n is 0 */
    const struct robust_ls_fit *ls; /* NULL when n is 0 */
    double r2_weighted;             /* of the moves by their weights; NaN when undefined */
    bool gaussian;                  /* the residuals of plain least squares look it */
    double shape;                   /* the statistic that says so */
    /* Of OLS: moves that stray from a fit to which the others keep far closer, and how close.
     */
    size_t astray;
    double closer_s;
};

/* Fill verdict, reasons and advice of an otherwise complete fit. */
void travel_judge(struct travel_fit *fit, const struct travel_evidence *evidence);

/* A pooled fit must also hold for each of its parts (a file, a robot, a day): compare `whole`
 * with `part`, the fit of one part called `name`, and add a reason to `whole`, lowering its
 * verdict, when the part alone gives a speed of unphysical sign. Parts with too few moves to
 * tell are passed over. */
void travel_time_check_part(struct travel_fit *whole, const char *name,
                            const struct travel_fit *part);

#endif
