/* identification/dynamics/variant_choice.h - choice among the values of a model's constant.
 *
 * A model may have several values for one of its constants (docs/model/model_files.md, section
 * 6). All are fitted by the same method and compared by their residuals. The width of friction
 * that turns over has its own rules (model_choice.h).
 */
#ifndef IDENTIFICATION_DYNAMICS_VARIANT_CHOICE_H
#define IDENTIFICATION_DYNAMICS_VARIANT_CHOICE_H

#include "base/errors/status.h"
#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_options.h"
#include "identification/fit/dynamics_fit.h"

enum { VARIANT_CHOICE_MAX = 16 };

/* Models that differ by one constant, with its name; their width is its value. */
struct variant_list {
    const char *name;
    const struct model_variant *variants;
    size_t count; /* number of models, 2 .. VARIANT_CHOICE_MAX */
};

struct variant_choice {
    size_t count;  /* number of fits; 0: no choice was necessary */
    size_t chosen; /* index in the list */
    /* Among equally good variants, `other` moves entry `moved` of the fit furthest: to
     * `value`, by `reach` half widths of its interval. other == chosen: none is equally
     * good. */
    size_t other, moved;
    double value, reach;
};

/* *fit is a fit of the variant choice->chosen. It is replaced by the fit of the variant with
 * the smallest residuals, by the same method. Returns STATUS_OK, also if cancelled, with
 * fit->stop and the choice so far; otherwise as dynamics_estimate(). */
MUST_USE enum status variant_choice_select(const struct variant_list *list,
                                           const struct data_set *set,
                                           const struct dynamics_options *options,
                                           struct dynamics_fit *fit,
                                           struct variant_choice *choice);

/* Reports the choice. Doubts it if another variant fits equally well and makes a difference. */
void variant_choice_judge(const struct variant_list *list, const struct variant_choice *choice,
                          struct dynamics_fit *fit);

#endif
