/* service/identify/identify_variants.h - which value of a constant a recording asks for.
 *
 * A model from a file may give several values for one of its constants (docs/model/
 * model_files.md, section 6). All of them are fitted by the same method and held against each
 * other by what they leave. Those of friction that turns over have an order, and rules of their
 * own (identification/dynamics/model_choice.h).
 */
#ifndef SERVICE_IDENTIFY_IDENTIFY_VARIANTS_H
#define SERVICE_IDENTIFY_IDENTIFY_VARIANTS_H

#include "identification/dynamics/model_choice.h"
#include "identification/dynamics_fit.h"
#include "twin/models/models.h"

struct identify_variants {
    size_t count;  /* 0: there was nothing to choose so */
    size_t chosen; /* of the row's variants */
    /* What fits alike moves this parameter furthest: by so many half widths of its interval. */
    size_t other, moved; /* other is chosen: nothing fits alike */
    double value, reach;
};

/* Has this row values that are chosen so? */
bool identify_has_variants(const struct model_row *row);

/* *fit, of variant *chosen by some method, becomes the fit of the one that leaves least by that
 * method. STATUS_OK, with fit->stop where it was cancelled; as dynamics_estimate(). */
MUST_USE enum status identify_variants_settle(const struct model_row *row,
                                              const struct data_set *set,
                                              const struct dynamics_options *options,
                                              size_t chosen, struct dynamics_fit *fit,
                                              struct identify_variants *variants);

/* Say which one it is, and doubt it where another one fits alike and makes a difference. */
void identify_variants_judge(const struct model_row *row,
                             const struct identify_variants *variants,
                             struct dynamics_fit *fit);

#endif
