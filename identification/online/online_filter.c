#include "identification/online/online_filter.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "identification/data/data_thresholds.def"
#include "identification/online/online_kalman.h"
#include "identification/online/online_thresholds.def"

/* Contribution of a sample to the test of the parameters at their reference. */
struct online_evidence {
    double score[DYNAMICS_P_MAX], information[DYNAMICS_P_MAX];
};

/* Adds the evidence of axis i, with the innovation e and its total variance. Call it before
 * the filter uses the sample. */
static void weigh_axis(const struct online_filter *f, size_t i, double e, double variance,
                       struct online_evidence *out)
{
    double apart = e + f->offset[i];
    const double most = sqrt(SQUARE_MAX * variance);
    apart = fmin(fmax(apart, -most), most);
    for (size_t j = 0; j < f->p; j++) {
        const double y = f->sensitivity[i][j] / variance;
        out->score[j] += y * apart;
        out->information[j] += y * f->sensitivity[i][j];
    }
}

static double change_that_matters(const struct online_filter *f, const struct online_params *p,
                                  size_t j)
{
    return p->drift_ratio * fmax(fabs(f->reference[j]), 1e-3 * f->scale[j]);
}

static bool is_known(const struct online_filter *f, const struct online_params *p, size_t j,
                     double se)
{
    return se <= KNOWN_RATIO * change_that_matters(f, p, j);
}

/* A reference that is only a guess follows the filter. If the filter knows a parameter much
 * better by now and agrees, its value becomes the reference. */
static void renew_reference(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double se = online_filter_se(f, j);
        const double change = f->theta[j] - f->reference[j];
        const double sum = fmax(f->sum[j][0], f->sum[j][1]);
        const bool better = se < RENEW_RATIO * f->reference_se[j] &&
                            fabs(change) < 3.0 * f->reference_se[j] && sum < 0.2 * SUM_MAX;
        if (is_known(f, p, j, f->reference_se[j]) && !better) {
            continue;
        }
        /* Soon after the start the filter underestimates its errors. */
        const double owned_se =
            f->learnt_s < SETTLE_RATIO * p->excitation_s ? f->reference_se[j] : se;
        for (size_t i = 0; i < f->n; i++) {
            f->offset[i] -= f->sensitivity[i][j] * change;
        }
        f->reference[j] = f->theta[j];
        f->reference_se[j] = owned_se;
    }
}

/* Drift test (docs/model/online.md): Page's cumulative sum. For each parameter and
 * direction, it adds the log likelihood ratio of "changed by the amount that matters" to
 * "unchanged", and restarts at zero whenever the sum is negative. The sum stays near zero
 * without a change and rises from the moment of a change, which also dates it. A sum beyond
 * its limit is only a suspicion, because parameters have similar effects. The filter then
 * lets all parameters move freely for a while, and their result confirms the change or not.
 * Reference: Page, Biometrika 41, 1954. */

/* Updates the sums for each parameter and direction. Returns whether one exceeds its limit. */
static bool suspect_change(struct online_filter *f, const struct online_params *p,
                           const struct online_evidence *evidence)
{
    double most = SUM_MAX;
    bool found = false;
    for (size_t j = 0; j < f->p; j++) {
        const double change = change_that_matters(f, p, j);
        const bool tells = f->excited[j] && is_known(f, p, j, f->reference_se[j]);
        for (int sign = 0; sign < 2 && tells; sign++) {
            double *sum = &f->sum[j][sign];
            if (*sum <= 0.0) {
                f->since_us[j][sign] = f->lab_us;
            }
            *sum += (sign == 0 ? change : -change) * evidence->score[j] -
                    0.5 * change * change * evidence->information[j];
            *sum = *sum > 0.0 ? *sum : 0.0;
            if (*sum > most) {
                most = *sum;
                found = true;
                f->suspect = (uint8_t)j;
                f->suspect_us = f->since_us[j][sign];
            }
        }
    }
    return found;
}

/* Lets the parameters move freely. */
static void open_up(struct online_filter *f, const struct online_params *p)
{
    for (size_t j = 0; j < f->p; j++) {
        const double sd = OPEN_RATIO * change_that_matters(f, p, j);
        double *variance = &f->covariance[f->n + j][f->n + j];
        *variance += sd * sd;
    }
    f->opened = true;
    f->opened_s = 0.0;
    f->opened_used = 0;
    f->opened_outliers = 0;
    f->openings++;
}

static bool is_settled(const struct online_filter *f, const struct online_params *p)
{
    const double look_s = f->opened_s / p->excitation_s;
    return look_s > LOOK_RATIO_MAX ||
           (look_s > LOOK_RATIO_MIN &&
            is_known(f, p, f->suspect, online_filter_se(f, f->suspect)));
}

/* Distance of entry j from its reference in standard errors. */
static double distance_in_errors(const struct online_filter *f, size_t j)
{
    return fabs(f->theta[j] - f->reference[j]) /
           hypot(online_filter_se(f, j), f->reference_se[j]);
}

/* Finds the parameter furthest from its reference; false if none is far enough. */
static bool confirm_change(const struct online_filter *f, const struct online_params *p,
                           struct online_drift *drift)
{
    double most = DRIFT_Z;
    bool found = false;
    /* Many outliers mean that the model is wrong, not a parameter. */
    if (f->opened_outliers > OUTLIER_SHARE_MAX * f->opened_used) {
        return false;
    }
    for (size_t j = 0; j < f->p; j++) {
        const double z = distance_in_errors(f, j);
        const double change = f->theta[j] - f->reference[j];
        if (is_known(f, p, j, f->reference_se[j]) && z >= most &&
            fabs(change) >= 0.5 * change_that_matters(f, p, j)) {
            most = z;
            found = true;
            *drift = (struct online_drift){.parameter = j,
                                           .since_us = f->suspect_us,
                                           .found_us = f->lab_us,
                                           .before = f->reference[j],
                                           .after = f->theta[j],
                                           .before_se = f->reference_se[j],
                                           .after_se = online_filter_se(f, j),
                                           .change_ratio = change / f->reference[j],
                                           .z = z};
        }
    }
    return found;
}

/* Combines unchanged parameters with their reference. */
static void close_up(struct online_filter *f)
{
    bool all[DYNAMICS_P_MAX];
    double gain[ONLINE_STATES_MAX];
    memset(all, true, sizeof all);
    for (size_t j = 0; j < f->p; j++) {
        const size_t c = f->n + j;
        if (distance_in_errors(f, j) < SAME_Z) {
            const double variance =
                f->covariance[c][c] + f->reference_se[j] * f->reference_se[j];
            online_kalman_absorb(f, c, f->reference[j] - f->theta[j], variance, all, gain);
        }
    }
    f->opened = false;
}

/* Updates the drift test after a sample, h_s after the previous one. Returns true if a
 * change is certain; then *drift is set and the reference moves. */
static bool watch_drift(struct online_filter *f, const struct online_params *p,
                        const struct online_evidence *evidence, double h_s,
                        struct online_drift *drift)
{
    double se[DYNAMICS_P_MAX];
    if (!f->opened) {
        renew_reference(f, p);
        if (suspect_change(f, p, evidence)) {
            open_up(f, p);
        }
        return false;
    }
    f->opened_s += h_s;
    f->opened_used++;
    if (!is_settled(f, p)) {
        return false;
    }
    const bool found = confirm_change(f, p, drift);
    close_up(f);
    memset(f->sum, 0, sizeof f->sum);
    if (found) {
        f->drifts++;
        f->last = *drift;
        for (size_t j = 0; j < f->p; j++) {
            se[j] = online_filter_se(f, j);
        }
        online_filter_refer(f, f->theta, se);
    }
    return found;
}

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

/* Sets the velocities to the measured ones and clears their sensitivities. */
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

/* Stores the effort that acts from this sample on. */
static void hold_sample(struct online_filter *f, const struct online_sample *s)
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

/* Returns whether a velocity repeats its largest or smallest value exactly. */
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

/* Are there too many outliers for the assumed noise? A few are faults of the sensor. */
static bool is_gate_narrow(const struct online_filter *f)
{
    const double outliers = (double)f->gate[ONLINE_OUTLIER];
    const double all = outliers + (double)(f->gate[ONLINE_USED] + f->gate[ONLINE_NOT_EXCITED]);
    return outliers >= OUTLIERS_MAX && outliers > OUTLIER_SHARE_MAX * all;
}

static bool is_outlier(struct online_filter *f, const struct online_params *p, const double *nu)
{
    const bool widens = p->adapt && is_gate_narrow(f);
    bool outside = false;
    for (size_t i = 0; i < f->n; i++) {
        const double e = nu[i] - f->nu[i];
        const double variance = f->covariance[i][i] + f->noise_var[i];
        if (!(e * e <= p->gate_sd * p->gate_sd * variance)) {
            outside = true;
            if (widens) {
                online_kalman_widen(f, i);
            }
        }
    }
    return outside;
}

/* Updates which parameters the motion of the last excitation_s determines by itself. */
static bool update_excitation(struct online_filter *f, const struct online_params *p,
                              const struct online_evidence *evidence, double h_s)
{
    const double decay = exp(-h_s / p->excitation_s);
    bool any = false;
    for (size_t j = 0; j < f->p; j++) {
        f->information[j] = decay * f->information[j] + evidence->information[j];
        const double wanted = p->excitation_ratio * f->scale[j];
        f->excited[j] = f->information[j] * wanted * wanted >= 1.0;
        any = any || f->excited[j];
    }
    return any;
}

/* Combines prediction and sample. */
static enum online_gate update_filter(struct online_filter *f, const struct model *model,
                                      const struct online_params *p,
                                      const struct online_sample *s, bool *drifted,
                                      struct online_drift *drift)
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
        weigh_axis(f, i, e, variance, &evidence);
        online_kalman_learn(f, i, e, variance);
        online_kalman_adapt(f, p, i, e, variance, h_s);
    }
    online_kalman_hold(f, model);
    const bool excited = update_excitation(f, p, &evidence, h_s);
    f->lab_us = s->lab_us;
    *drifted = watch_drift(f, p, &evidence, h_s, drift);
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
        gate = update_filter(f, model, p, s, drifted, drift);
    } else {
        place_state(f, s);
    }
    hold_sample(f, s);
    if (stuck) {
        f->placed = false;
    }
    if (ran_away(f)) {
        f->running = false;
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
