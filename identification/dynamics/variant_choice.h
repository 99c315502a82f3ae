/* identification/dynamics/variant_choice.h - which value of a constant a recording asks for.
 *
 * A model may have several values for one of its constants (docs/model/model_files.md, section
 * 6). All of them are fitted by the same method and held against each other by what they leave.
 * Those of friction that turns over have an order, and rules of their own (model_choice.h).
 */
#ifndef IDENTIFICATION_DYNAMICS_VARIANT_CHOICE_H
#define IDENTIFICATION_DYNAMICS_VARIANT_CHOICE_H

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_options.h"
#include "identification/fit/dynamics_fit.h"

enum { VARIANT_CHOICE_MAX = 16 };

/* Models that differ by one constant, whose name and values (their width) people know. */
struct variant_list {
    const char *name;
    const struct model_variant *variants;
    size_t count; /* 2 .. VARIANT_CHOICE_MAX */
};

struct variant_choice {
    size_t count;  /* 0: there was nothing to choose */
    size_t chosen; /* of the list */
    /* What fits alike moves this entry of the fit furthest: to that value, by so many half
     * widths of its interval. other is chosen: nothing fits alike. */
    size_t other, moved;
    double value, reach;
};

/* *fit, of the variant choice->chosen by some method, becomes the fit of the one that leaves
 * least by that method. STATUS_OK, with fit->stop where it was cancelled, choice as it was
 * then; as dynamics_estimate(). */
MUST_USE enum status variant_choice_select(const struct variant_list *list,
                                           const struct data_set *set,
                                           const struct dynamics_options *options,
                                           struct dynamics_fit *fit,
                                           struct variant_choice *choice);

/* Say which one it is, and doubt it where another one fits alike and makes a difference. */
void variant_choice_judge(const struct variant_list *list, const struct variant_choice *choice,
                          struct dynamics_fit *fit);

#endif
