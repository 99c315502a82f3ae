/* identification/dynamics/dynamics_sensitivity.h - how much a fit leans on the window of its
 * filter.
 *
 * Every linear method looks at the recording through a window: that of the weak form, or the
 * polynomial of derivatives. Where the model is right the estimates are the same through half
 * and double of it, within their errors; a delay, wrong units or a force that the model lacks
 * show in estimates that move (docs/model/identification_theory.md, "Checks"). Cold path:
 * allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_SENSITIVITY_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/dynamics/dynamics_linear.h"

enum { SENSITIVITY_HALF, SENSITIVITY_DOUBLE, SENSITIVITY_COUNT };

struct dynamics_sensitivity {
    bool known;                  /* else nothing below is valid */
    enum dynamics_method method; /* of these fits: weak, weak_iv or ols_sg */
    size_t n;                    /* samples that took part: the first of a long recording */
    double window_s;             /* the whole window of the fit itself */
    double other_s[SENSITIVITY_COUNT];
    /* Estimate through the other window less that through the fit's own, in standard errors of
     * the latter. NaN: one of them is not known. */
    double shift[SENSITIVITY_COUNT][DYNAMICS_P_MAX];
    /* By more than one and a half times what the wider of both 95 % intervals reaches, and more
     * than 2 % of the fit's own value, one way or the other. */
    bool moved[DYNAMICS_P_MAX];
};

/* Fit through half and double the window of the method itself, or of weak_iv where the method
 * simulates, with the same options otherwise. Linear methods know no delay, and a short window
 * feels it more than a long one: efforts are taken delay_s later before (0 or NaN: as they
 * are). Not known for ols_central, which has no window,
 * and where options->go_on, asked before each of the three fits with the method of these, says
 * no.
 *
 * Returns STATUS_OK, STATUS_E_NOMEM or as dynamics_linear_fit() does; *out is written only on
 * STATUS_OK. */
MUST_USE enum status dynamics_sensitivity_run(const struct model *model,
                                              const struct data_set *set,
                                              enum dynamics_method method,
                                              const struct dynamics_options *options,
                                              double delay_s, struct dynamics_sensitivity *out);

/* Add to the verdict of a fit by the same method what it says of parameters that are
 * identifiable; methods that simulate have no window. */
void dynamics_sensitivity_judge(struct dynamics_fit *fit, const struct model *model,
                                const struct dynamics_sensitivity *sensitivity);

#endif
