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
    model->resist(model, theta, pose, nu, resisted);
    for (size_t i = 0; i < model->axis_count; i++) {
        nu_dot[i] = (tau[i] - resisted[i]) / theta[i];
    }
}

void model_inverse(const struct model *model, const double *theta, const double *pose,
                   const double *nu, const double *nu_dot, double *tau)
{
    double resisted[MODEL_AXES_MAX];
    model->resist(model, theta, pose, nu, resisted);
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

/* nu_dot is affine in efforts of one size. */
void model_mobility(const struct model *model, const double *theta, const double *pose,
                    const double *nu, double *inverse)
{
    const size_t n = model->axis_count;
    double tau[MODEL_AXES_MAX] = {0.0};
    double rest[MODEL_AXES_MAX];
    double moved[MODEL_AXES_MAX];
    if (model->hold) { /* its parameters begin with the inertias */
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

/* What counts as no motion sideways beside a speed ahead of so much: noise, and a slip now and
 * then; a velocity in the world's axes is far beyond. */
static double sideways_max(double ahead)
{
    return 0.05 + 0.1 * fabs(ahead);
}

enum model_axes_match model_axes_take(const struct model *model, const double *values,
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
    if (!(fabs(values[SIDEWAYS]) <= sideways_max(values[AHEAD]))) {
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

/* Velocity and pose as one state; the velocity alone where nobody asks for the pose. */
struct state {
    double nu[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
};

struct mover {
    const struct model *model;
    const double *theta, *tau, *inertial_n;
    size_t n;
    size_t poses; /* 0: nobody asks for the pose */
};

static void derive_rates(const struct mover *m, const struct state *s, struct state *rate)
{
    double effort[MODEL_AXES_MAX];
    const double *pose = m->poses > 0 ? s->pose : NULL;
    memcpy(effort, m->tau, m->n * sizeof effort[0]);
    if (m->inertial_n && m->poses > 2) {
        const double c = cos(s->pose[2]);
        const double q = sin(s->pose[2]);
        effort[0] += c * m->inertial_n[0] + q * m->inertial_n[1];
        effort[1] += c * m->inertial_n[1] - q * m->inertial_n[0];
    }
    m->model->forward(m->model, m->theta, pose, s->nu, effort, rate->nu);
    if (m->poses > 0) {
        m->model->kinematics(m->model, s->pose, s->nu, rate->pose);
    }
}

/* to = from + h rate */
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

static void glide_on(const struct model *model, const double *theta, double *nu, double *pose,
                     const double *tau, double h_s)
{
    double gain[MODEL_AXES_MAX];
    model->glide(model, theta, tau, NULL, h_s, nu, gain);
    for (size_t i = 0; i < model->axis_count && pose; i++) {
        pose[i] += gain[i];
    }
}

void model_step(const struct model *model, const double *theta, double *nu, double *pose,
                const double *tau, const double *inertial_n, double h_s)
{
    const size_t n = model->axis_count;
    const size_t poses = pose ? model_pose_count(model) : 0;
    const struct mover m = {model, theta, tau, inertial_n, n, poses};
    struct state begin;
    struct state at;
    struct state k1;
    struct state k2;
    struct state k3;
    struct state k4;

    if (model->glide) {
        glide_on(model, theta, nu, pose, tau, h_s);
        return;
    }
    memcpy(begin.nu, nu, n * sizeof nu[0]);
    if (pose) {
        memcpy(begin.pose, pose, poses * sizeof pose[0]);
    }
    derive_rates(&m, &begin, &k1);
    advance_state(&m, &begin, &k1, 0.5 * h_s, &at);
    derive_rates(&m, &at, &k2);
    advance_state(&m, &begin, &k2, 0.5 * h_s, &at);
    derive_rates(&m, &at, &k3);
    advance_state(&m, &begin, &k3, h_s, &at);
    derive_rates(&m, &at, &k4);
    for (size_t i = 0; i < n; i++) {
        nu[i] += h_s / 6.0 * (k1.nu[i] + 2.0 * k2.nu[i] + 2.0 * k3.nu[i] + k4.nu[i]);
    }
    for (size_t i = 0; i < poses; i++) {
        pose[i] += h_s / 6.0 * (k1.pose[i] + 2.0 * k2.pose[i] + 2.0 * k3.pose[i] + k4.pose[i]);
    }
}
