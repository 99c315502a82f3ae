#include "identification/data/linear_model.h"

#include <math.h>
#include <string.h>

int model_parameter_find(const struct model *model, const char *name)
{
    for (size_t i = 0; i < model->parameter_count; i++) {
        if (strcmp(model->parameters[i].name, name) == 0 ||
            strcmp(model->parameters[i].symbol, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int model_unphysical(const struct model *model, const double *theta)
{
    for (size_t i = 0; i < model->parameter_count; i++) {
        const enum model_sign sign = model->parameters[i].sign;
        const bool fits = sign == MODEL_ANY || theta[i] > 0.0 ||
                          (sign == MODEL_NOT_NEGATIVE && theta[i] >= 0.0);
        if (!isfinite(theta[i]) || !fits) {
            return (int)i;
        }
    }
    return -1;
}

void model_forward(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *tau, double *nu_dot)
{
    double resisted[MODEL_AXES_MAX];
    model->bias_force(model, theta, pose, nu, resisted);
    for (size_t i = 0; i < model->axis_count; i++) {
        nu_dot[i] = (tau[i] - resisted[i]) / theta[i];
    }
}

void model_inverse(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *nu_dot, double *tau)
{
    double resisted[MODEL_AXES_MAX];
    model->bias_force(model, theta, pose, nu, resisted);
    for (size_t i = 0; i < model->axis_count; i++) {
        tau[i] = theta[i] * nu_dot[i] + resisted[i];
    }
}

void model_load_rows(const struct model *model, const double *size, double *phi)
{
    for (size_t i = 0; i < model->axis_count && model->by_effort; i++) {
        phi[i * model->parameter_count + model->by_effort] *= fabs(size[i]);
    }
}

void model_regressor(const struct model *model, const double *pose, const double *nu,
                     const double *nu_dot, const double *tau, double *phi)
{
    if (model->rows_under) {
        model->rows_under(model, pose, nu, nu_dot, tau, phi);
        return;
    }
    model->rows(model, pose, nu, nu_dot, phi);
    model_load_rows(model, tau, phi);
}

void model_known(const struct model *model, const double *pose, const double *nu,
                 const double *nu_dot, const double *tau, double *known)
{
    double driven[MODEL_AXES_MAX];
    if (!model->known) {
        memcpy(known, tau, model->axis_count * sizeof *known);
        return;
    }
    model->known(model, pose, nu, nu_dot, tau, known, driven);
    for (size_t i = 0; i < model->axis_count; i++) {
        known[i] += driven[i];
    }
}

void model_accelerate(const struct model *model, const double *theta, const double *pose,
                      const double *nu, const double *tau, const double *force, double *nu_dot)
{
    const size_t n = model->axis_count;
    double inverse[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double all[MODEL_AXES_MAX];
    if (!model->rows_under) {
        for (size_t i = 0; i < n; i++) {
            all[i] = tau[i] + force[i];
        }
        model->forward(model, theta, pose, nu, all, nu_dot);
        return;
    }
    model->forward(model, theta, pose, nu, tau, nu_dot);
    model_mobility(model, theta, pose, nu, inverse);
    for (size_t i = 0; i < n * n; i++) {
        nu_dot[i / n] += inverse[i] * force[i % n];
    }
}

void model_demand(const struct model *model, const double *theta, const double *pose,
                  const double *nu, const double *nu_dot, const double *tau, double *demand)
{
    const size_t p = model->parameter_count;
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double known[MODEL_AXES_MAX];
    if (!model->rows_under) {
        model->inverse(model, theta, pose, nu, nu_dot, demand);
        return;
    }
    model_regressor(model, pose, nu, nu_dot, tau, phi);
    model_known(model, pose, nu, nu_dot, tau, known);
    for (size_t i = 0; i < model->axis_count; i++) {
        demand[i] = -known[i];
        for (size_t k = 0; k < p; k++) {
            demand[i] += phi[i * p + k] * theta[k];
        }
    }
}

void model_force(const struct model *model, const double *theta, const double *pose,
                 const double *nu, const double *tau, double *force)
{
    static const double rest[MODEL_AXES_MAX];
    const size_t p = model->parameter_count;
    double phi[MODEL_AXES_MAX * MODEL_PARAMETERS_MAX];
    double still[MODEL_AXES_MAX];
    if (!model->rows_under) {
        memcpy(force, tau, model->axis_count * sizeof *force);
        return;
    }
    model_regressor(model, pose, nu, rest, tau, phi);
    model->known(model, pose, nu, rest, tau, still, force);
    for (size_t i = 0; i < model->axis_count * p; i++) {
        force[i / p] -= model->pattern[i] & MODEL_ENTRY_EFFORT ? phi[i] * theta[i % p] : 0.0;
    }
}

double model_force_alone(const struct model *model, const double *theta, size_t axis,
                         double tau)
{
    static const double still[MODEL_AXES_MAX];
    double efforts[MODEL_AXES_MAX] = {0.0};
    double force[MODEL_AXES_MAX];
    efforts[axis] = tau;
    model_force(model, theta, still, still, efforts, force);
    return force[axis];
}

const char *model_force_name(const struct model *model, size_t axis)
{
    return model->generalised_forces ? model->generalised_forces[axis].name
                                     : model->axes[axis].effort;
}

const char *model_force_words(const struct model *model, size_t axis)
{
    return model->generalised_forces ? model->generalised_forces[axis].words
                                     : model->axes[axis].effort_words;
}

/* nu_dot is affine in the efforts as long as their size does not change. */
void model_mobility(const struct model *model, const double *theta, const double *pose,
                    const double *nu, double *inverse)
{
    const size_t n = model->axis_count;
    double tau[MODEL_AXES_MAX] = {0.0};
    double rest[MODEL_AXES_MAX];
    double moved[MODEL_AXES_MAX];
    if (model->mobility) {
        model->mobility(model, theta, pose, nu, inverse);
        return;
    }
    if (model->hold) { /* parameters begin with the inertias */
        memset(inverse, 0, n * n * sizeof *inverse);
        for (size_t j = 0; j < n; j++) {
            inverse[j * n + j] = 1.0 / theta[j];
        }
        return;
    }
    for (size_t j = 0; j < n; j++) {
        tau[j] = -1.0;
    }
    model->forward(model, theta, pose, nu, tau, rest);
    for (size_t j = 0; j < n; j++) {
        tau[j] = 1.0;
        model->forward(model, theta, pose, nu, tau, moved);
        tau[j] = -1.0;
        for (size_t i = 0; i < n; i++) {
            inverse[i * n + j] = 0.5 * (moved[i] - rest[i]);
        }
    }
}

void model_hold_back(const struct model *model, const double *theta, const double *nu,
                     const double *tau, double *phi, double *mobility)
{
    const size_t n = model->axis_count;
    double passes[MODEL_AXES_MAX * MODEL_AXES_MAX];
    double free[MODEL_AXES_MAX * MODEL_AXES_MAX];
    if (!model->hold) {
        return;
    }
    memcpy(free, mobility, n * n * sizeof *free);
    model->hold(model, theta, nu, tau, phi, passes);
    for (size_t i = 0; i < n * n; i++) {
        mobility[i] = 0.0;
        for (size_t k = 0; k < n; k++) {
            mobility[i] += passes[i / n * n + k] * free[k * n + i % n];
        }
    }
}

double model_derive(const struct model *model, size_t i, const double *theta, double *gradient)
{
    const struct model_derived *derived = &model->derived[i];
    if (model->derive) {
        return model->derive(model, i, theta, gradient);
    }
    const double under = theta[derived->under];
    const double over = derived->over == MODEL_ONE ? 1.0 : theta[derived->over];
    memset(gradient, 0, model->parameter_count * sizeof gradient[0]);
    gradient[derived->under] = -over / (under * under);
    if (derived->over != MODEL_ONE) {
        gradient[derived->over] = 1.0 / under;
    }
    return over / under;
}

enum model_axes_match model_axes_map(const struct model *model, const double *values,
                                     size_t count, double *axes)
{
    enum { AHEAD, SIDEWAYS, PLANAR_COUNT = 3 };
    const size_t n = model->axis_count;
    if (count == n) {
        memcpy(axes, values, n * sizeof *axes);
        return MODEL_AXES_FIT;
    }
    if (count != PLANAR_COUNT || !model->planar) {
        return MODEL_AXES_OTHER_COUNT;
    }
    /* Noise and occasional slip are less. A velocity in world axes exceeds it by far. */
    if (!(fabs(values[SIDEWAYS]) <= 0.05 + 0.1 * fabs(values[AHEAD]))) {
        return MODEL_AXES_SIDEWAYS;
    }
    for (size_t i = 0; i < n; i++) {
        axes[i] = values[model->planar[i]];
    }
    return MODEL_AXES_FIT;
}

size_t model_pose_count(const struct model *model)
{
    return model->axis_count + (model->heading ? 1 : 0);
}

/* Velocity and pose as one state; only the velocity if no pose is requested. */
struct state {
    double nu[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
};

struct mover {
    const struct model *model;
    const double *theta, *tau, *force, *inertial_n; /* force and inertial_n may be NULL */
    size_t n;
    size_t poses; /* number of pose entries; 0: no pose */
};

static void derive_rates(const struct mover *m, const struct state *s, struct state *rate)
{
    double force[MODEL_AXES_MAX] = {0.0};
    const double *pose = m->poses > 0 ? s->pose : NULL;
    const bool inertial = m->inertial_n && m->poses > 2;
    if (m->force) {
        memcpy(force, m->force, m->n * sizeof force[0]);
    }
    if (inertial) {
        const double c = cos(s->pose[2]);
        const double q = sin(s->pose[2]);
        force[0] += c * m->inertial_n[0] + q * m->inertial_n[1];
        force[1] += c * m->inertial_n[1] - q * m->inertial_n[0];
    }
    if (m->force || inertial) {
        model_accelerate(m->model, m->theta, pose, s->nu, m->tau, force, rate->nu);
    } else {
        m->model->forward(m->model, m->theta, pose, s->nu, m->tau, rate->nu);
    }
    if (m->poses > 0) {
        m->model->kinematics(m->model, s->pose, s->nu, rate->pose);
    }
}

/* Computes to = from + h rate. */
static void advance_state(const struct mover *m, const struct state *from,
                          const struct state *rate, double h_s, struct state *to)
{
    for (size_t i = 0; i < m->n; i++) {
        to->nu[i] = from->nu[i] + h_s * rate->nu[i];
    }
    for (size_t i = 0; i < m->poses; i++) {
        to->pose[i] = from->pose[i] + h_s * rate->pose[i];
    }
}

static void step_exactly(const struct mover *m, double *nu, double *pose, double h_s)
{
    double gain[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    for (size_t i = 0; i < m->n; i++) {
        tau[i] = m->tau[i] + (m->force ? m->force[i] : 0.0);
    }
    m->model->exact_step(m->model, m->theta, tau, NULL, h_s, nu, gain);
    for (size_t i = 0; i < m->n && pose; i++) {
        pose[i] += gain[i];
    }
}

static void apply_step(const struct mover *m, double *nu, double *pose, double h_s)
{
    static const double ahead[] = {0.5, 0.5, 1.0}; /* shares of the step of stages 2 to 4 */
    const size_t n = m->n;
    const size_t poses = m->poses;
    struct state begin;
    struct state at;
    struct state k[4];

    if (m->model->exact_step) {
        step_exactly(m, nu, pose, h_s);
        return;
    }
    memcpy(begin.nu, nu, n * sizeof nu[0]);
    if (pose) {
        memcpy(begin.pose, pose, poses * sizeof pose[0]);
    }
    derive_rates(m, &begin, &k[0]);
    for (size_t s = 0; s < COUNT(ahead); s++) {
        advance_state(m, &begin, &k[s], ahead[s] * h_s, &at);
        derive_rates(m, &at, &k[s + 1]);
    }
    for (size_t i = 0; i < n; i++) {
        nu[i] += h_s / 6.0 * (k[0].nu[i] + 2.0 * k[1].nu[i] + 2.0 * k[2].nu[i] + k[3].nu[i]);
    }
    for (size_t i = 0; i < poses; i++) {
        pose[i] +=
            h_s / 6.0 * (k[0].pose[i] + 2.0 * k[1].pose[i] + 2.0 * k[2].pose[i] + k[3].pose[i]);
    }
}

void model_step_pushed(const struct model *model, const double *theta, double *nu, double *pose,
                       const double *tau, const double *force, double h_s)
{
    const size_t poses = pose ? model_pose_count(model) : 0;
    apply_step(&(struct mover){model, theta, tau, force, NULL, model->axis_count, poses}, nu,
               pose, h_s);
}

void model_step(const struct model *model, const double *theta, double *nu, double *pose,
                const double *tau, const double *inertial_n, double h_s)
{
    const size_t poses = pose ? model_pose_count(model) : 0;
    apply_step(&(struct mover){model, theta, tau, NULL, inertial_n, model->axis_count, poses},
               nu, pose, h_s);
}
