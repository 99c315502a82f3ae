#include "twin/following/follower.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/number.h"
#include "twin/following/following_thresholds.def"

/* Can it only be driven along its heading, like a wheeled robot? */
static bool is_steered(const struct model *model)
{
    return model->heading && model->planar && model->planar[0] == 0;
}

bool follower_is_angle(const struct model *model, size_t i)
{
    const char *name = i < model->axis_count ? model->axes[i].pose : model->heading;
    const size_t n = strlen(name);
    return !model->joints && n > 4 && strcmp(name + n - 4, "_rad") == 0;
}

double follower_pose_step(const struct model *model, size_t i, double from, double to)
{
    return follower_is_angle(model, i) ? remainder(to - from, 2.0 * PI) : to - from;
}

void follower_gains_complete(struct follower_params *p)
{
    const double k = p->gains.bandwidth_radps[0];
    const bool held = is_steered(p->model) || p->model->joints;
    if (p->gains.pose_per_s2 < 0.0) {
        p->gains.pose_per_s2 = held && !p->allocation.underactuated ? 0.25 * k * k : 0.0;
    }
}

enum status follower_check(const struct follower_params *p, struct err *err)
{
    const struct follower_gains *g = &p->gains;
    const double fastest = FASTEST_RATIO / p->period_s;
    if (!(p->period_s > 0.0) || !isfinite(p->period_s)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "period_s", "must be above 0");
    }
    for (size_t i = 0; i < p->model->axis_count; i++) {
        if (!(g->bandwidth_radps[i] > 0.0 && g->bandwidth_radps[i] <= fastest)) {
            return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "bandwidth_radps",
                           "%g is not possible with a control period of %g s: above 0, up to "
                           "%.3g",
                           g->bandwidth_radps[i], p->period_s, fastest);
        }
    }
    if (!(g->observer_radps > 0.0 && g->observer_radps <= fastest)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "observer_radps",
                       "%g is not possible with a control period of %g s: above 0, up to %.3g",
                       g->observer_radps, p->period_s, fastest);
    }
    if (!(g->pose_per_s2 >= 0.0) || !(g->blend_s >= 0.0)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "gains",
                       "pose_per_s2 and blend_s must not be below 0");
    }
    if (g->pose_per_s2 > 0.0 && p->allocation.underactuated) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "pose_per_s2",
                       "must be 0: the robot cannot be pushed along every axis, and pose "
                       "feedback would turn an error across its path into one along it");
    }
    if (!(g->slow_mps >= 0.0)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "slow_mps",
                       "must not be below 0");
    }
    for (size_t i = 0; i < p->model->axis_count && is_steered(p->model); i++) {
        const double most = g->bandwidth_radps[i] * g->bandwidth_radps[i];
        if (g->pose_per_s2 > most) {
            return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "pose_per_s2",
                           "%g would make a robot on wheels swing: up to the bandwidth's "
                           "square, %.3g",
                           g->pose_per_s2, most);
        }
    }
    const int unphysical = model_unphysical(p->model, p->theta);
    if (unphysical >= 0) {
        return err_set(err, STATUS_E_RANGE, FAULT_UNPHYSICAL,
                       p->model->parameters[unphysical].name,
                       "%g is not possible for a real robot: identify the simulated one first",
                       p->theta[unphysical]);
    }
    return STATUS_OK;
}

/* Eq. 2a: steering for a robot that cannot be pushed sideways. It heads towards the path, at an
 * angle that grows with the distance and stays below a right angle. */
static void steer_back(const struct follower_params *p, const struct follower_target *target,
                       const double *pose, double *error)
{
    const double off_rad = remainder(target->pose[2] - pose[2], 2.0 * PI);
    const double offset_m =
        cos(pose[2]) * (target->pose[1] - pose[1]) - sin(pose[2]) * (target->pose[0] - pose[0]);
    for (size_t i = 0; i < p->model->axis_count; i++) {
        const double k = p->gains.bandwidth_radps[i];
        const double speed = target->nu[0];
        const double slow = p->gains.slow_mps;
        const double moving = speed * speed + slow * slow;
        if (p->model->planar[i] == 0) {
            error[i] += k / p->gains.pose_per_s2 * speed * (cos(off_rad) - 1.0);
        } else if (moving > 0.0) {
            const double per_m = 0.25 * p->gains.pose_per_s2 / k * speed / moving;
            error[i] += atan(per_m * offset_m);
        }
    }
}

/* Last term of eq. 2: the pose error along the body axes, J(pose)^T error. */
static void pose_error(const struct follower_params *p, const struct follower_target *target,
                       const double *pose, double *error)
{
    const struct model *model = p->model;
    for (size_t j = 0; j < model->axis_count; j++) {
        double unit[MODEL_AXES_MAX] = {0};
        double rate[MODEL_AXES_MAX] = {0};
        unit[j] = 1.0;
        model->kinematics(model, pose, unit, rate);
        error[j] = 0.0;
        for (size_t i = 0; i < model_pose_count(model); i++) {
            error[j] += rate[i] * follower_pose_step(model, i, pose[i], target->pose[i]);
        }
    }
    if (is_steered(model)) {
        steer_back(p, target, pose, error);
    }
}

/* Computes the change of nu over a period h under this effort: exactly if there is a closed
 * form, else with one midpoint step. */
static void find_gain(const struct follower_params *p, const double *pose, const double *nu,
                      const double *driven, double h, double *gain)
{
    const struct model *model = p->model;
    double after[MODEL_AXES_MAX];
    double unused[MODEL_AXES_MAX];
    if (model->exact_step) {
        memcpy(after, nu, model->axis_count * sizeof after[0]);
        model->exact_step(model, p->theta, driven, NULL, h, after, unused);
        for (size_t i = 0; i < model->axis_count; i++) {
            gain[i] = after[i] - nu[i];
        }
        return;
    }
    model->forward(model, p->theta, pose, nu, driven, gain);
    for (size_t i = 0; i < model->axis_count; i++) {
        after[i] = nu[i] + 0.5 * h * gain[i];
    }
    model->forward(model, p->theta, pose, after, driven, gain);
    for (size_t i = 0; i < model->axis_count; i++) {
        gain[i] *= h;
    }
}

/* Computes the effort that gives nu this mean rate over a period h from now. Of several
 * solutions the one closest to the last effort is used. */
static void find_effort(const struct follower *f, const struct follower_params *p,
                        const double *pose, const double *at, const double *rate, double h,
                        double *effort)
{
    const struct model *model = p->model;
    double gain[MODEL_AXES_MAX];
    memcpy(effort, f->tau, model->axis_count * sizeof *effort);
    if (!model->inverse_step) {
        model->inverse(model, p->theta, pose, at, rate, effort);
        return;
    }
    for (size_t i = 0; i < model->axis_count; i++) {
        gain[i] = h * rate[i];
    }
    model->inverse_step(model, p->theta, at, gain, h, effort);
}

/* Eq. 4: advances the observer by one period, with the exact discrete equivalents of its
 * continuous poles. */
static void observe_force(struct follower *f, const struct follower_params *p,
                          const double *pose, const double *nu)
{
    const struct model *model = p->model;
    const size_t n = model->axis_count;
    const double h = p->period_s;
    const double z = exp(-p->gains.observer_radps * h);
    const double l_nu = 1.0 - z * z;
    const double l_d = (1.0 - z) * (1.0 - z) / h;
    double driven[MODEL_AXES_MAX] = {0};
    double gain[MODEL_AXES_MAX];
    double zero[MODEL_AXES_MAX] = {0};
    double step[MODEL_AXES_MAX];
    double effort[MODEL_AXES_MAX];
    double still[MODEL_AXES_MAX];

    for (size_t i = 0; i < n; i++) {
        driven[i] = f->tau[i] + f->d_hat[i];
    }
    find_gain(p, pose, f->nu, driven, h, gain);
    for (size_t i = 0; i < n; i++) {
        const double miss = nu[i] - (f->nu_hat[i] + gain[i]);
        f->nu_hat[i] += gain[i] + l_nu * miss;
        step[i] = l_d * miss;
    }
    find_effort(f, p, pose, nu, step, h, effort); /* M step + terms that do not depend on it */
    find_effort(f, p, pose, nu, zero, h, still);
    for (size_t i = 0; i < n; i++) {
        f->d_hat[i] += effort[i] - still[i];
    }
}

/* Eq. 1 - 3: computes the effort of the control law. */
static void apply_law(const struct follower *f, const struct follower_params *p,
                      const struct follower_target *target, const double *nu,
                      const double *pose, const double *error, double *wanted)
{
    const struct model *model = p->model;
    const size_t n = model->axis_count;
    const double h = p->period_s;
    double gamma[MODEL_AXES_MAX];
    double middle[MODEL_AXES_MAX];
    double off[MODEL_AXES_MAX] = {0};

    if (p->gains.pose_per_s2 > 0.0) {
        pose_error(p, target, pose, off);
    }
    for (size_t i = 0; i < n; i++) {
        const double k = p->gains.bandwidth_radps[i];
        /* After a period the error is then e exp(-K h), not e (1 - K h). */
        gamma[i] = target->nu_dot[i] - expm1(-k * h) / h * error[i] +
                   0.25 * k * k * f->integral[i] + p->gains.pose_per_s2 * off[i];
        middle[i] = nu[i] + (model->inverse_step ? 0.0 : 0.5 * h * gamma[i]);
    }
    find_effort(f, p, pose, middle, gamma, h, wanted);
    for (size_t i = 0; i < n; i++) {
        wanted[i] -= p->gains.rejection == FOLLOWER_OBSERVER ? f->d_hat[i] : 0.0;
    }
}

/* A jump due to a change of law, parameters or reference is blended out. */
static void blend_effort(struct follower *f, const struct follower_params *p, double *wanted)
{
    const size_t n = p->model->axis_count;
    const double decay = p->gains.blend_s > 0.0 ? exp(-p->period_s / p->gains.blend_s) : 0.0;
    for (size_t i = 0; i < n; i++) {
        if (f->smooth && p->allocation.reaches[i]) {
            f->offset[i] = f->tau[i] - wanted[i];
        }
        f->offset[i] *= decay;
        wanted[i] += f->offset[i];
    }
    f->smooth = false;
}

/* Does not integrate into a limit, nor on an axis without actuation. */
static void integrate_error(struct follower *f, const struct follower_params *p,
                            const struct follower_output *out)
{
    for (size_t i = 0; i < p->model->axis_count; i++) {
        const double cut = fabs(out->unmatched[i]) > 1e-9 * (1.0 + fabs(out->wanted[i]))
                               ? out->unmatched[i]
                               : 0.0;
        if (p->gains.rejection == FOLLOWER_INTEGRAL && p->allocation.reaches[i] &&
            cut * out->error[i] <= 0.0) {
            f->integral[i] += p->period_s * out->error[i];
        }
    }
}

/* Without valid numbers the effort is held and the observer waits. */
static bool hold_effort(const struct follower *f, const struct follower_params *p,
                        struct follower_output *out)
{
    *out = (struct follower_output){0};
    memcpy(out->wanted, f->tau, sizeof out->wanted);
    memcpy(out->disturbance, f->d_hat, sizeof out->disturbance);
    out->saturated = allocation_share(&p->allocation, f->tau, out->force, out->tau);
    return false;
}

/* Restarts from the last effort, without other knowledge. */
static void restart_follower(struct follower *f)
{
    struct follower next = {.smooth = true};
    memcpy(next.tau, f->tau, sizeof next.tau);
    *f = next;
}

void follower_smooth(struct follower *f)
{
    f->smooth = f->running;
}

bool follower_step(struct follower *f, const struct follower_params *p,
                   const struct follower_target *target, const double *nu, const double *pose,
                   struct follower_output *out)
{
    const size_t n = p->model->axis_count;
    const size_t poses = model_pose_count(p->model);
    const bool sees_pose = p->model->needs_pose || p->gains.pose_per_s2 > 0.0;
    struct follower next = *f;

    if (!number_all_finite(nu, n) || !number_all_finite(target->nu, n) ||
        !number_all_finite(target->nu_dot, n) ||
        (sees_pose && !number_all_finite(pose, poses)) ||
        (p->gains.pose_per_s2 > 0.0 && !number_all_finite(target->pose, poses))) {
        return hold_effort(f, p, out);
    }
    if (f->running) {
        observe_force(&next, p, pose, nu);
    } else {
        memcpy(next.nu_hat, nu, n * sizeof nu[0]);
    }
    *out = (struct follower_output){0};
    for (size_t i = 0; i < n; i++) {
        out->error[i] = target->nu[i] - nu[i];
    }
    apply_law(&next, p, target, nu, pose, out->error, out->wanted);
    blend_effort(&next, p, out->wanted);
    if (!number_all_finite(out->wanted, n) || !number_all_finite(next.d_hat, n)) {
        (void)hold_effort(f, p, out);
        restart_follower(f);
        return false;
    }
    out->saturated = allocation_share(&p->allocation, out->wanted, out->force, out->tau);
    for (size_t i = 0; i < n; i++) {
        out->unmatched[i] = out->wanted[i] - out->tau[i];
        out->disturbance[i] = next.d_hat[i];
        next.tau[i] = out->tau[i];
        next.nu[i] = nu[i];
    }
    integrate_error(&next, p, out);
    next.running = true;
    *f = next;
    return true;
}
