#include "twin/following/shadow.h"

#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "base/numbers/number.h"

/* Longest step of the model when it predicts. */
static const double STEP_S_MAX = 0.02;
/* Time constant of the filter for differences. */
static const double DIFFERENCE_S = 0.3;
/* Alpha-beta: sd of the acceleration's change over the sd of a sample, per second squared. */
static const double MANOEUVRE_PER_S2 = 7.0;

void shadow_params_default(struct shadow_params *p)
{
    *p = (struct shadow_params){.method = SHADOW_MODEL,
                                .drift_per_s = 0.2,
                                .latency_s_max = 1.0,
                                .stale_s = 0.5,
                                .hold_s = 0.5,
                                .ramp_s = 2.0,
                                .blend_s = 0.5};
}

static bool is_by_model(const struct shadow_params *p)
{
    return (p->method == SHADOW_MODEL || p->method == SHADOW_EFFORTS ||
            p->method == SHADOW_RAMP) &&
           !p->unknown;
}

/* Computes the effort at after_s after the last sample: the reported one or, with a ramp, its
 * continuation without crossing zero, because a braking robot comes to rest. */
static void carry_effort(const struct shadow *s, const struct shadow_params *p, double after_s,
                         double *tau)
{
    memcpy(tau, s->tau, p->axes * sizeof tau[0]);
    for (size_t i = 0; i < p->axes && p->method == SHADOW_RAMP; i++) {
        tau[i] += s->tau_dot[i] * after_s;
        tau[i] = tau[i] * s->tau[i] < 0.0 ? 0.0 : tau[i];
    }
}

static size_t count_poses(const struct shadow_params *p)
{
    return p->model ? model_pose_count(p->model) : p->axes;
}

/* Advances the pose by dt_s at constant velocity. */
static void drift_pose(const struct shadow_params *p, const double *nu, double *pose,
                       double dt_s)
{
    double middle[MODEL_AXES_MAX] = {0};
    double rate[MODEL_AXES_MAX] = {0};
    p->model->kinematics(p->model, pose, nu, rate);
    for (size_t i = 0; i < count_poses(p); i++) {
        middle[i] = pose[i] + 0.5 * dt_s * rate[i];
    }
    p->model->kinematics(p->model, middle, nu, rate);
    for (size_t i = 0; i < count_poses(p); i++) {
        pose[i] += dt_s * rate[i];
    }
}

/* Advances by one step that begins at_s after the last sample. */
static void step_model(const struct shadow *s, const struct shadow_params *p, double at_s,
                       double h_s, double *nu, double *pose)
{
    double tau[MODEL_AXES_MAX];
    double rate[MODEL_AXES_MAX];
    double gain[MODEL_AXES_MAX];
    if (p->method != SHADOW_RAMP || !p->model->exact_step) {
        carry_effort(s, p, at_s + 0.5 * h_s, tau);
        model_step(p->model, p->theta, nu, pose, tau, NULL, h_s);
        return;
    }
    carry_effort(s, p, at_s + h_s, rate);
    carry_effort(s, p, at_s, tau);
    for (size_t i = 0; i < p->axes; i++) {
        rate[i] = (rate[i] - tau[i]) / h_s;
    }
    p->model->exact_step(p->model, p->theta, tau, rate, h_s, nu, gain);
    for (size_t i = 0; i < p->axes; i++) {
        pose[i] += gain[i];
    }
}

/* Advances nu and pose from from_s after the last sample by dt_s: with the model under the last
 * reported efforts, else at this velocity. False, and both unchanged, if the result is not
 * finite. */
static bool run_model(const struct shadow *s, const struct shadow_params *p, double *nu,
                      double *pose, double from_s, double dt_s)
{
    const double steps = fmax(ceil(dt_s / STEP_S_MAX), 1.0);
    const size_t n = p->axes;
    const size_t poses = count_poses(p);
    double later[MODEL_AXES_MAX];
    double place[MODEL_AXES_MAX];
    if (!(dt_s > 0.0) || !p->model) {
        return true;
    }
    memcpy(later, nu, sizeof later);
    memcpy(place, pose, sizeof place);
    if (is_by_model(p)) {
        for (double k = 0.0; k < steps; k += 1.0) {
            step_model(s, p, from_s + k * dt_s / steps, dt_s / steps, later, place);
        }
    } else {
        drift_pose(p, nu, place, dt_s);
    }
    if (!number_all_finite(later, n) || !number_all_finite(place, poses)) {
        return false;
    }
    memcpy(nu, later, n * sizeof nu[0]);
    memcpy(pose, place, poses * sizeof pose[0]);
    return true;
}

/* Updates the variance before the sample and returns the Kalman gain. */
static double next_gain(struct shadow *s, const struct shadow_params *p, double dt_s)
{
    const double before = s->variance + p->drift_per_s * dt_s;
    const double g = before / (before + 1.0);
    s->variance = (1.0 - g) * before;
    return g;
}

/* Computes the steady-state gains of the alpha-beta filter for this sample time. */
static void alpha_beta(double dt_s, double *alpha, double *beta)
{
    const double lambda = MANOEUVRE_PER_S2 * dt_s * dt_s;
    const double r = (4.0 + lambda - sqrt(8.0 * lambda + lambda * lambda)) / 4.0;
    *alpha = 1.0 - r * r;
    *beta = 2.0 * (2.0 - *alpha) - 4.0 * sqrt(1.0 - *alpha);
}

static void start_estimate(struct shadow *s, const struct shadow_params *p, const double *nu)
{
    memcpy(s->nu, nu, p->axes * sizeof nu[0]);
    memset(s->nu_dot, 0, sizeof s->nu_dot);
    s->variance = 1.0;
}

/* Advances the estimate to the sample's time and corrects it. */
static void correct_estimate(struct shadow *s, const struct shadow_params *p, double dt_s,
                             const double *nu)
{
    double g = 0.0;
    double alpha = 0.0;
    double beta = 0.0;
    if (!run_model(s, p, s->nu, s->pose, 0.0, dt_s)) {
        s->resets++;
        start_estimate(s, p, nu);
        return;
    }
    switch (p->unknown ? SHADOW_RAW : p->method) {
    case SHADOW_MODEL:
    case SHADOW_RAMP:
        g = next_gain(s, p, dt_s);
        for (size_t i = 0; i < p->axes; i++) {
            s->nu[i] += g * (nu[i] - s->nu[i]);
        }
        break;
    case SHADOW_EFFORTS:
        break;
    case SHADOW_DIFFERENCE:
        g = dt_s / (DIFFERENCE_S + dt_s);
        for (size_t i = 0; i < p->axes; i++) {
            s->nu_dot[i] += g * ((nu[i] - s->raw[i]) / dt_s - s->nu_dot[i]);
            s->nu[i] = nu[i];
        }
        break;
    case SHADOW_ALPHA_BETA:
        alpha_beta(dt_s, &alpha, &beta);
        for (size_t i = 0; i < p->axes; i++) {
            const double before = s->nu[i] + dt_s * s->nu_dot[i];
            s->nu[i] = before + alpha * (nu[i] - before);
            s->nu_dot[i] += beta / dt_s * (nu[i] - before);
        }
        break;
    case SHADOW_RAW:
    case SHADOW_METHOD_COUNT:
        memcpy(s->nu, nu, p->axes * sizeof nu[0]);
        break;
    }
}

/* Steps of the effort are not ramps: of the last two rates the smaller one is used if both have
 * the same sign. dt_s: since the last sample; 0: unknown. */
static void rate_efforts(struct shadow *s, const struct shadow_params *p, double dt_s,
                         const double *tau)
{
    for (size_t i = 0; i < p->axes; i++) {
        const double rate = dt_s > 0.0 ? (tau[i] - s->tau[i]) / dt_s : 0.0;
        const double least = copysign(fmin(fabs(rate), fabs(s->tau_was[i])), rate);
        const bool at_rest = !(fabs(tau[i]) > 0.0); /* what follows is unknown */
        s->tau_dot[i] = at_rest || rate * s->tau_was[i] <= 0.0 ? 0.0 : least;
        s->tau_was[i] = rate;
    }
}

static void enter_state(struct shadow *s, enum shadow_state state, int64_t now_us)
{
    s->state = state;
    s->since_us = now_us;
    memcpy(s->from, s->target, sizeof s->from);
}

void shadow_restart(struct shadow *s)
{
    s->restart = true;
}

enum shadow_gate shadow_sample(struct shadow *s, const struct shadow_params *p, int64_t t_us,
                               int64_t arrival_us, const double *nu, const double *tau,
                               const double *pose)
{
    const int64_t oldest = arrival_us - lab_us(p->latency_s_max);
    const int64_t at = t_us > arrival_us ? arrival_us : t_us < oldest ? oldest : t_us;
    /* After a pause the estimate is worthless. */
    const bool fresh = s->state != SHADOW_TRACKING || s->restart ||
                       lab_s(arrival_us - s->arrived_us) > p->stale_s;
    enum shadow_gate gate = at == t_us ? SHADOW_ACCEPTED : SHADOW_CLAMPED;

    if (!number_all_finite(nu, p->axes) || !number_all_finite(tau, p->axes) ||
        (pose && !number_all_finite(pose, count_poses(p)))) {
        gate = SHADOW_NOT_FINITE;
    } else if (s->count[SHADOW_ACCEPTED] && at <= s->at_us) {
        gate = at == s->at_us ? SHADOW_DUPLICATE : SHADOW_OLD;
    }
    s->count[gate]++;
    if (gate != SHADOW_ACCEPTED && gate != SHADOW_CLAMPED) {
        return gate;
    }
    s->count[SHADOW_ACCEPTED] += gate == SHADOW_CLAMPED;
    if (fresh) {
        start_estimate(s, p, nu);
    } else {
        correct_estimate(s, p, lab_s(at - s->at_us), nu);
    }
    rate_efforts(s, p, fresh ? 0.0 : lab_s(at - s->at_us), tau);
    memcpy(s->raw, nu, p->axes * sizeof nu[0]);
    memcpy(s->tau, tau, p->axes * sizeof tau[0]);
    if (pose) {
        memcpy(s->pose, pose, count_poses(p) * sizeof pose[0]);
    }
    memcpy(s->ahead, s->nu, sizeof s->ahead);
    memcpy(s->ahead_pose, s->pose, sizeof s->ahead_pose);
    s->ahead_us = at;
    s->at_us = at;
    s->arrived_us = arrival_us;
    s->latency_s = lab_s(arrival_us - at);
    s->restart = false;
    if (fresh) {
        for (size_t i = 0; i < p->axes; i++) {
            s->offset[i] = s->target[i] - s->nu[i];
        }
        enter_state(s, SHADOW_TRACKING, arrival_us);
    }
    return gate;
}

void shadow_set_rate(struct shadow *s, const struct shadow_params *p, const double *tau_dot)
{
    for (size_t i = 0; i < p->axes && number_all_finite(tau_dot, p->axes); i++) {
        /* An effort that came to zero at this rate has braked the robot, which now rests. */
        const bool braked = !(fabs(s->tau[i]) > 0.0) && tau_dot[i] * s->tau_was[i] > 0.0;
        s->tau_dot[i] = braked ? 0.0 : tau_dot[i];
    }
}

/* Sets HOLDING, STOPPING or STOPPED by the time since the last sample. */
static void age_target(struct shadow *s, const struct shadow_params *p, int64_t now_us)
{
    const double silent = lab_s(now_us - s->arrived_us);
    if (s->state == SHADOW_TRACKING && silent > p->stale_s) {
        enter_state(s, SHADOW_HOLDING, now_us);
    }
    if (s->state == SHADOW_HOLDING && silent > p->stale_s + p->hold_s) {
        enter_state(s, SHADOW_STOPPING, now_us);
    }
    if (s->state == SHADOW_STOPPING && lab_s(now_us - s->since_us) >= p->ramp_s) {
        enter_state(s, SHADOW_STOPPED, now_us);
    }
}

/* Predicts the estimate to now. */
static void run_ahead(struct shadow *s, const struct shadow_params *p, int64_t now_us)
{
    if (!run_model(s, p, s->ahead, s->ahead_pose, lab_s(s->ahead_us - s->at_us),
                   lab_s(now_us - s->ahead_us))) {
        s->resets++;
        memcpy(s->nu, s->raw, sizeof s->nu);
        memcpy(s->ahead, s->raw, sizeof s->ahead);
        memcpy(s->ahead_pose, s->pose, sizeof s->ahead_pose);
    }
    s->ahead_us = now_us > s->ahead_us ? now_us : s->ahead_us;
}

/* Predicts the target, and its mean rate over the coming period. */
static void look_ahead(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                       double period_s, struct follower_target *target)
{
    double next[MODEL_AXES_MAX];
    double pose[MODEL_AXES_MAX];
    run_ahead(s, p, now_us);
    memcpy(next, s->ahead, sizeof next);
    memcpy(pose, s->ahead_pose, sizeof pose);
    memcpy(target->pose, s->ahead_pose, sizeof target->pose);
    if (is_by_model(p)) {
        const bool well = run_model(s, p, next, pose, lab_s(now_us - s->at_us), period_s);
        for (size_t i = 0; i < p->axes; i++) {
            target->nu[i] = s->ahead[i];
            target->nu_dot[i] = well ? (next[i] - s->ahead[i]) / period_s : 0.0;
        }
        return;
    }
    for (size_t i = 0; i < p->axes; i++) {
        const double old_s = p->method == SHADOW_ALPHA_BETA ? lab_s(now_us - s->at_us) : 0.0;
        target->nu[i] = s->nu[i] + old_s * s->nu_dot[i];
        target->nu_dot[i] = p->method == SHADOW_RAW ? 0.0 : s->nu_dot[i];
    }
}

/* Eq. 8: blends out the jump at resumption. */
static void fade_jump(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                      struct follower_target *target)
{
    const double dt_s = lab_s(now_us - s->target_us);
    const double decay = p->blend_s > 0.0 ? exp(-dt_s / p->blend_s) : 0.0;
    for (size_t i = 0; i < p->axes; i++) {
        s->offset[i] *= decay;
        target->nu[i] += s->offset[i];
        if (p->blend_s > 0.0) {
            target->nu_dot[i] -= s->offset[i] / p->blend_s;
        }
    }
}

void shadow_pose(const struct shadow *s, const struct shadow_params *p, int64_t t_us,
                 double pose[MODEL_AXES_MAX])
{
    double nu[MODEL_AXES_MAX];
    memcpy(nu, s->nu, sizeof nu);
    memcpy(pose, s->pose, sizeof s->pose);
    (void)run_model(s, p, nu, pose, 0.0, fmin(lab_s(t_us - s->at_us), p->latency_s_max));
}

/* During silence the position advances at the held velocity. */
static void hold_course(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                        struct follower_target *target)
{
    if (p->model && now_us > s->ahead_us) {
        drift_pose(p, target->nu, s->ahead_pose, lab_s(now_us - s->ahead_us));
    }
    s->ahead_us = now_us > s->ahead_us ? now_us : s->ahead_us;
    memcpy(target->pose, s->ahead_pose, sizeof target->pose);
}

bool shadow_target(struct shadow *s, const struct shadow_params *p, int64_t now_us,
                   double period_s, struct follower_target *target)
{
    *target = (struct follower_target){0};
    memcpy(target->pose, s->pose, sizeof target->pose);
    age_target(s, p, now_us);
    switch (s->state) {
    case SHADOW_TRACKING:
        look_ahead(s, p, now_us, period_s, target);
        fade_jump(s, p, now_us, target);
        break;
    case SHADOW_HOLDING:
        memcpy(target->nu, s->from, sizeof target->nu);
        hold_course(s, p, now_us, target);
        break;
    case SHADOW_STOPPING:
        for (size_t i = 0; i < p->axes; i++) {
            target->nu[i] =
                s->from[i] * fmax(1.0 - lab_s(now_us - s->since_us) / p->ramp_s, 0.0);
            target->nu_dot[i] = -s->from[i] / p->ramp_s;
        }
        hold_course(s, p, now_us, target);
        break;
    case SHADOW_STOPPED:
        hold_course(s, p, now_us, target);
        break;
    case SHADOW_IDLE:
        break;
    }
    memcpy(s->target, target->nu, sizeof s->target);
    s->target_us = now_us;
    return s->state != SHADOW_IDLE;
}

ENUM_NAMES(shadow_method, SHADOW_METHOD_COUNT, "model", "efforts", "raw", "difference",
           "alpha_beta", "ramp");

ENUM_NAMES(shadow_gate, SHADOW_GATE_COUNT, "accepted", "duplicate", "old", "not_finite",
           "clamped");
