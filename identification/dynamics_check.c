#include "identification/dynamics_check.h"

#include <math.h>
#include <string.h>

/* Shares of rows or samples from which on a fault of the recording is worth a word. */
static const double INCOMPLETE_RATIO = 0.1;
static const double SATURATED_RATIO = 0.9;
static const double JITTER_RATIO = 0.2;
/* A channel has to stand out of its noise. */
static const double SIGNAL_RATIO = 5.0;
/* Variance explained by simulation: below the first a fit is poor, below the second useless. */
static const double R2_MARGINAL = 0.7;
static const double R2_FAIL = 0.2;

static enum status score(const struct model *model, const struct dynamics_fit *fit,
                         const struct data_set *set, double *const *nu,
                         struct dynamics_check *check)
{
    enum status st = STATUS_OK;
    check->simulated = simulation_run(model, fit->theta, fit->bias_count, set, false, nu);
    for (size_t a = 0; a < set->axes && check->simulated && st == STATUS_OK; a++) {
        check->run[a] = simulation_compare(set, a, nu[a]);
        st = simulation_residuals(set, a, nu[a], &check->residual[a]);
    }
    check->simulated =
        check->simulated && simulation_one_step(model, fit->theta, fit->bias_count, set, nu);
    for (size_t a = 0; a < set->axes && check->simulated; a++) {
        check->one_step[a] = simulation_compare(set, a, nu[a]);
    }
    return st;
}

enum status dynamics_check_run(const struct model *model, const struct dynamics_fit *fit,
                               const struct data_set *set, struct dynamics_check *check)
{
    struct dynamics_check out;
    double *nu[MODEL_AXES_MAX] = {NULL};
    memset(&out, 0, sizeof out);
    for (size_t i = 0; i < fit->p; i++) {
        if (!isfinite(fit->theta[i])) {
            *check = out;
            return STATUS_OK;
        }
    }
    gsl_vector *memory = gsl_vector_alloc(set->axes * set->n);
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t a = 0; a < set->axes; a++) {
        nu[a] = memory->data + a * set->n;
    }
    const enum status st = score(model, fit, set, nu, &out);
    gsl_vector_free(memory);
    if (st == STATUS_OK) {
        *check = out;
    }
    return st;
}

static void judge_channel(struct dynamics_fit *fit, const struct model_axis *axis,
                          const struct data_channel *nu, const struct data_channel *tau,
                          double limit)
{
    const double most = fmax(fabs(nu->min), fabs(nu->max));
    if (limit > 0.0 && most > limit) {
        dynamics_reason(fit, DYNAMICS_FAIL,
                        "%s reaches %.4g, which no such robot does: is it in another unit "
                        "(deg/s, mm/s, knots)?",
                        axis->velocity, most);
    }
    if (nu->sd > 0.0 && nu->signal_ratio < SIGNAL_RATIO) {
        dynamics_reason(fit, DYNAMICS_MARGINAL, "%s moves only %.1f times its noise of %.3g",
                        axis->velocity, nu->signal_ratio, nu->noise_sd);
        dynamics_advise(fit, "move with more of %s, or measure it with less noise",
                        axis->velocity);
    }
    if (tau->saturation_ratio > SATURATED_RATIO) {
        dynamics_reason(fit, DYNAMICS_MARGINAL, "%s stands at its limits %.0f %% of the time",
                        axis->effort, 100.0 * tau->saturation_ratio);
        dynamics_advise(fit, "drive below the limits of %s as well", axis->effort);
    }
}

static void judge_card(struct dynamics_fit *fit, const struct model *model,
                       const struct data_card *card, const struct dynamics_limits *limits)
{
    const size_t refused = card->incomplete + card->back_rows + card->short_rows;
    if ((double)refused > INCOMPLETE_RATIO * (double)card->rows) {
        dynamics_reason(fit, DYNAMICS_MARGINAL, "%zu of %zu rows could not be used", refused,
                        card->rows);
    }
    if (card->jitter_ratio > JITTER_RATIO) {
        dynamics_reason(fit, DYNAMICS_MARGINAL, "sampling is uneven: periods differ by %.0f %%",
                        100.0 * card->jitter_ratio);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        judge_channel(fit, &model->axes[a], &card->nu[a], &card->tau[a], limits->nu_max[a]);
    }
}

static void judge_scores(struct dynamics_fit *fit, const struct model *model, const char *what,
                         const struct dynamics_check *check, const struct data_card *card)
{
    for (size_t a = 0; a < model->axis_count && check->simulated; a++) {
        const double r2 = check->run[a].r2;
        /* An axis that hardly moves cannot be explained, nor need it be. */
        if (!(card->nu[a].signal_ratio >= SIGNAL_RATIO) && card->nu[a].noise_sd > 0.0) {
            continue;
        }
        if (r2 < R2_MARGINAL) {
            dynamics_reason(fit, r2 < R2_FAIL ? DYNAMICS_FAIL : DYNAMICS_MARGINAL,
                            "simulated over %s, the model explains %.0f %% of the variance of "
                            "%s",
                            what, fmax(0.0, 100.0 * r2), model->axes[a].velocity);
            dynamics_advise(fit,
                            "%s: look for a delay, for efforts that are commanded and not "
                            "measured, or for forces from outside (current, wind, slope)",
                            model->axes[a].velocity);
        }
    }
}

void dynamics_check_judge(struct dynamics_fit *fit, const struct model *model,
                          const struct data_card *card, const struct dynamics_limits *limits,
                          const struct dynamics_check *own,
                          const struct dynamics_check *held_out)
{
    judge_card(fit, model, card, limits);
    if (!own->simulated) {
        dynamics_reason(fit, DYNAMICS_FAIL, "the model cannot be simulated with these values");
    }
    judge_scores(fit, model, "the recording", own, card);
    if (held_out) {
        judge_scores(fit, model, "held-out data", held_out, card);
    }
}
