/* identification/dynamics/dynamics_sensitivity.h - sensitivity of a fit to its filter window.
 *
 * Every linear method sees the recording through a window: that of the weak form, or the
 * polynomial of the derivatives. If the model is right, half and double the window give the
 * same estimates within their errors. A delay, wrong units or a missing force make estimates
 * move (docs/model/identification_theory.md, "Checks"). Cold path: allocates through GSL.
 */
#ifndef IDENTIFICATION_DYNAMICS_DYNAMICS_SENSITIVITY_H
#define IDENTIFICATION_DYNAMICS_DYNAMICS_SENSITIVITY_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/dynamics/dynamics_linear.h"

enum { SENSITIVITY_HALF, SENSITIVITY_DOUBLE, SENSITIVITY_COUNT };

struct dynamics_sensitivity {
    bool known;                  /* false: nothing below is valid */
    enum dynamics_method method; /* method of these fits: weak, weak_iv or ols_sg */
    size_t n;        /* number of samples used: the first ones of a long recording */
    double window_s; /* whole window of the fit itself */
    double other_s[SENSITIVITY_COUNT];
    /* Estimate with the other window minus that with the fit's own, in standard errors of
     * the latter. NaN: one of them is not known. */
    double shift[SENSITIVITY_COUNT][DYNAMICS_P_MAX];
    /* The shift exceeds 1.5 times the wider half width of both 95 % intervals, and 2 % of
     * the fit's value, with either window. */
    bool moved[DYNAMICS_P_MAX];
};

/* Fits with half and double the window of the method, or of weak_iv if the method simulates;
 * other options are equal. Linear methods know no delay, and a short window is more sensitive
 * to it, so efforts are delayed by delay_s first (0 or NaN: not). known is false for
 * ols_central, which has no window, and if options->go_on returns false; it is called before
 * each of the three fits with their method.
 *
 * Returns STATUS_OK, STATUS_E_NOMEM or as dynamics_linear_fit() does; *out is written only
 * on STATUS_OK. */
MUST_USE enum status dynamics_sensitivity_run(const struct model *model,
                                              const struct data_set *set,
                                              enum dynamics_method method,
                                              const struct dynamics_options *options,
                                              double delay_s, struct dynamics_sensitivity *out);

/* Adds the result for identifiable parameters to the verdict of a fit by the same method;
 * methods that simulate have no window. */
void dynamics_sensitivity_judge(struct dynamics_fit *fit, const struct model *model,
                                const struct dynamics_sensitivity *sensitivity);

#endif
