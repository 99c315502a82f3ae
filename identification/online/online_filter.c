#include "identification/online/online_filter.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/online/online_drift.h"
#include "identification/online/online_kalman.h"

enum { OUTLIERS_MAX = 10 /* in a row: then it is the prediction that is off */ };

/* A velocity this many times beyond the fastest measured one, and one, has run away. */
static const double RUN_AWAY_RATIO = 1e3;

void online_filter_reset(struct online_filter *f, const struct model *model,
                         const struct online_params *p)
{
    memset(f, 0, sizeof *f);
    f->n = (uint8_t)model->axis_count;
    f->poses = (uint8_t)model_pose_count(model);
    f->p = (uint8_t)(model->parameter_count + (p->biases ? model->axis_count : 0));
}

void online_filter_cut(struct online_filter *f)
{
    f->placed = false;
    memset(f->offset, 0, sizeof f->offset);
    memset(f->sensitivity, 0, sizeof f->sensitivity);
}

void online_filter_pass_over(struct online_filter *f, enum online_gate gate)
{
    f->gate[gate]++;
}

void online_filter_hold(struct online_filter *f, const double *tau)
{
    memcpy(f->tau, tau, f->n * sizeof *tau);
}

bool online_filter_consistent(const struct online_filter *f)
{
    const double seen = (double)(f->gate[ONLINE_USED] + f->gate[ONLINE_NOT_EXCITED]);
    return f->running && seen >= ONLINE_JUDGE_SAMPLES && online_kalman_consistent(f);
}

/* ---- start --------------------------------------------------------------------------------
 */

bool online_filter_start(struct online_filter *f, const struct model *model,
                         const struct online_start *start)
{
    bool well = model_unphysical(model, start->theta) < 0;
    for (size_t j = 0; j < f->p; j++) {
        well =
            well && isfinite(start->theta[j]) && start->se[j] > 0.0 && isfinite(start->se[j]);
    }
    for (size_t i = 0; i < f->n; i++) {
        well = well && start->noise_sd[i] > 0.0 && start->walk_sd[i] > 0.0;
    }
    if (!well) {
        return false;
    }
    memset(f->covariance, 0, sizeof f->covariance);
    memset(f->information, 0, sizeof f->information);
    for (size_t j = 0; j < f->p; j++) {
        f->theta[j] = start->theta[j];
        f->scale[j] = fmax(fabs(start->theta[j]), start->se[j]);
        f->covariance[f->n + j][f->n + j] = start->se[j] * start->se[j];
    }
    for (size_t i = 0; i < f->n; i++) {
        f->noise_var[i] = f->noise_var_start[i] = start->noise_sd[i] * start->noise_sd[i];
        f->walk_var[i] = f->walk_var_start[i] = start->walk_sd[i] * start->walk_sd[i];
        f->nis[i] = 1.0;
        f->correlation[i] = 0.0;
        f->whitened[i] = 0.0;
    }
    f->running = true;
    f->learnt_s = 0.0;
    f->starts++;
    online_filter_refer(f, start->theta, start->se);
    online_filter_cut(f);
    return true;
}

/* ---- the step -----------------------------------------------------------------------------
 */

/* Velocities as measured; what the parameters did to them is past. */
static void place_state(struct online_filter *f, const struct online_sample *s)
{
    const size_t all = f->n + (size_t)f->p;
    for (size_t i = 0; i < f->n; i++) {
        f->nu[i] = s->nu[i];
        f->whitened[i] = 0.0;
        for (size_t c = 0; c < all; c++) {
            f->covariance[i][c] = 0.0;
            f->covariance[c][i] = 0.0;
        }
        f->covariance[i][i] = f->noise_var[i];
    }
    memset(f->offset, 0, sizeof f->offset);
    memset(f->sensitivity, 0, sizeof f->sensitivity);
}

/* What acts from this sample on. */
static void keep_sample(struct online_filter *f, const struct online_sample *s)
{
    f->t_us = s->t_us;
    f->lab_us = s->lab_us;
    f->placed = s->tau_count == f->n;
    memcpy(f->tau, s->tau, f->n * sizeof f->tau[0]);
    if (s->pose_count >= f->poses) {
        memcpy(f->pose, s->pose, f->poses * sizeof f->pose[0]);
    }
}

static bool is_complete(const struct online_filter *f, const struct model *model,
                        const struct online_sample *s)
{
    bool well = s->nu_count == f->n && (!model->needs_pose || s->pose_count >= f->poses);
    for (size_t i = 0; well && i < f->n; i++) {
        well = isfinite(s->nu[i]) && (s->tau_count != f->n || isfinite(s->tau[i]));
    }
    for (size_t i = 0; well && i < s->pose_count; i++) {
        well = isfinite(s->pose[i]);
    }
    return well;
}

/* Does a velocity repeat its largest or smallest value to the last bit? */
static bool is_stuck(struct online_filter *f, const struct online_sample *s)
{
    bool stuck = false;
    for (size_t i = 0; i < f->n; i++) {
        const double x = s->nu[i];
        const bool repeats = x <= f->measured[i] && x >= f->measured[i] && fabs(x) > 0.0;
        const bool at_end = x <= f->low[i] || x >= f->high[i];
        stuck = stuck || (repeats && at_end && f->low[i] < f->high[i]);
        f->measured[i] = x;
        f->low[i] = fmin(f->low[i], x);
        f->high[i] = fmax(f->high[i], x);
    }
    return stuck;
}

static bool ran_away(const struct online_filter *f)
{
    for (size_t i = 0; i < f->n; i++) {
        const double most = fmax(f->high[i], -f->low[i]);
        if (!(fabs(f->nu[i]) <= RUN_AWAY_RATIO * (1.0 + most))) {
            return true;
        }
    }
    for (size_t c = 0; c < f->n + (size_t)f->p; c++) {
        if (!(f->covariance[c][c] >= 0.0) || !isfinite(f->covariance[c][c])) {
            return true;
        }
    }
    return false;
}

static bool is_outlier(const struct online_filter *f, const struct online_params *p,
                       const double *nu)
{
    for (size_t i = 0; i < f->n; i++) {
        const double e = nu[i] - f->nu[i];
        const double variance = f->covariance[i][i] + f->noise_var[i];
        if (!(e * e <= p->gate_sd * p->gate_sd * variance)) {
            return true;
        }
    }
    return false;
}

/* Which parameters the last excitation_s would tell by themselves. */
static bool note_excitation(struct online_filter *f, const struct online_params *p,
                            const struct online_evidence *evidence, double h_s)
{
    const double kept = exp(-h_s / p->excitation_s);
    bool any = false;
    for (size_t j = 0; j < f->p; j++) {
        f->information[j] = kept * f->information[j] + evidence->information[j];
        const double wanted = p->excitation_ratio * f->scale[j];
        f->excited[j] = f->information[j] * wanted * wanted >= 1.0;
        f->excited_s[j] += f->excited[j] ? h_s : 0.0;
        any = any || f->excited[j];
    }
    return any;
}

/* Prediction and sample brought together. */
static enum online_gate take_in(struct online_filter *f, const struct model *model,
                                const struct online_params *p, const struct online_sample *s,
                                bool *drifted, struct online_drift *drift)
{
    const double h_s = (double)(s->t_us - f->t_us) * 1e-6;
    struct online_evidence evidence = {0};
    online_kalman_predict(f, model, p, h_s);
    if (is_outlier(f, p, s->nu)) {
        f->opened_outliers++;
        if (++f->outliers_in_a_row >= OUTLIERS_MAX) {
            place_state(f, s);
            f->outliers_in_a_row = 0;
        }
        return ONLINE_OUTLIER;
    }
    f->outliers_in_a_row = 0;
    for (size_t i = 0; i < f->n; i++) {
        const double e = s->nu[i] - f->nu[i];
        const double variance = f->covariance[i][i] + f->noise_var[i];
        online_drift_weigh(f, i, e, variance, &evidence);
        online_kalman_learn(f, i, e, variance);
        online_kalman_adapt(f, p, i, e, variance, h_s);
    }
    online_kalman_hold(f, model);
    const bool excited = note_excitation(f, p, &evidence, h_s);
    f->lab_us = s->lab_us;
    *drifted = online_drift_watch(f, p, &evidence, h_s, drift);
    f->learnt_s += excited ? h_s : 0.0;
    return excited ? ONLINE_USED : ONLINE_NOT_EXCITED;
}

static enum online_gate judge_sample(struct online_filter *f, const struct model *model,
                                     const struct online_params *p,
                                     const struct online_sample *s, bool *drifted,
                                     struct online_drift *drift)
{
    if (!is_complete(f, model, s)) {
        return ONLINE_INCOMPLETE;
    }
    if (!f->running) {
        return ONLINE_WAITING;
    }
    if (f->placed && s->t_us <= f->t_us) {
        return s->t_us == f->t_us ? ONLINE_DUPLICATE : ONLINE_OUT_OF_ORDER;
    }
    const bool stuck = is_stuck(f, s);
    const bool follows = f->placed && (double)(s->t_us - f->t_us) * 1e-6 <= p->gap_s && !stuck;
    enum online_gate gate = stuck ? ONLINE_SATURATED : ONLINE_GAP;
    if (follows) {
        gate = take_in(f, model, p, s, drifted, drift);
    } else {
        place_state(f, s);
    }
    keep_sample(f, s);
    if (stuck) {
        f->placed = false;
    }
    if (ran_away(f)) {
        f->running = false;
        f->run_aways++;
        *drifted = false;
    }
    return s->tau_count == f->n ? gate : ONLINE_NO_EFFORT;
}

enum online_gate online_filter_step(struct online_filter *f, const struct model *model,
                                    const struct online_params *p,
                                    const struct online_sample *sample, bool *drifted,
                                    struct online_drift *drift)
{
    assert(f->n == model->axis_count);
    *drifted = false;
    const enum online_gate gate = judge_sample(f, model, p, sample, drifted, drift);
    f->gate[gate]++;
    return gate;
}
