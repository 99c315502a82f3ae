#include "twin/sim/experiment/trial.h"

#include <math.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "twin/sim/robot/robot.h"

/* Longest integration step of the plant. */
static const double PLANT_STEP_S = 0.005;
/* Share of the duration from which the disturbance is evaluated, because the observer must
 * settle first. */
static const double SETTLED_RATIO = 0.2;

struct body {
    double nu[MODEL_AXES_MAX], pose[MODEL_AXES_MAX];
};

struct stage {
    const struct trial_params *p;
    size_t axes;
    int64_t step_us; /* of the input's grid */
    int64_t now_us;
    struct random_source random;
    struct body reference, plant;
    struct body coming; /* the reference, one control period ahead */
    struct follower follower;
    struct follower_output output;
    struct shadow shadow;
    struct trial_sample *flight;
    size_t first, in_flight;
    int64_t next_sample_us;
    uint64_t periods, saturated;
    double unmatched[MODEL_AXES_MAX];
    double product[MODEL_AXES_MAX], square[MODEL_AXES_MAX]; /* of estimated and true force */
};

static bool is_multiple(double of, double unit)
{
    const double ratio = of / unit;
    return ratio > 0.5 && fabs(ratio - round(ratio)) < 1e-6 * ratio;
}

enum status trial_check(const struct trial_params *p, struct err *err)
{
    const double h = p->follower.period_s;
    const double step = p->input.step_s;
    if (!is_multiple(h, step)) {
        return err_set(err, STATUS_E_RANGE, FAULT_INCONSISTENT, "period_s",
                       "%g is not a multiple of the input's step of %g s", h, step);
    }
    if (!is_multiple(p->record_s, h) || !(p->duration_s >= p->record_s)) {
        return err_set(err, STATUS_E_RANGE, FAULT_INCONSISTENT, "record_s",
                       "%g must be a multiple of the control period of %g s, up to the "
                       "duration",
                       p->record_s, h);
    }
    if (p->source == TRIAL_SHADOW && !is_multiple(p->sample_s, step)) {
        return err_set(err, STATUS_E_RANGE, FAULT_INCONSISTENT, "sample_s",
                       "%g is not a multiple of the input's step of %g s", p->sample_s, step);
    }
    if (p->source == TRIAL_SHADOW &&
        !(p->latency_s >= 0.0 && p->latency_s / p->sample_s < TRIAL_IN_FLIGHT_MAX - 1)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "latency_s",
                       "%g is not possible: 0 and above, less than %d samples", p->latency_s,
                       TRIAL_IN_FLIGHT_MAX - 1);
    }
    if ((fabs(p->inertial_n[0]) > 0.0 || fabs(p->inertial_n[1]) > 0.0) &&
        p->model->axis_count != 3) {
        return err_set(err, STATUS_E_RANGE, FAULT_NOT_APPLICABLE, "force_n",
                       "only a robot in the plane can be pushed by it");
    }
    if (model_unphysical(p->model, p->reference) >= 0 ||
        model_unphysical(p->model, p->plant) >= 0) {
        return err_set(err, STATUS_E_RANGE, FAULT_UNPHYSICAL, "parameters",
                       "no real robot has these: the spread is too large for them");
    }
    return follower_check(&p->follower, err);
}

static const double *input_at(const struct trial_params *p, const double *rows, int64_t t_us,
                              int64_t step_us)
{
    size_t k = (size_t)(t_us / step_us);
    k = k < p->input.n ? k : p->input.n - 1;
    return rows + k * p->model->axis_count;
}

/* Advances the reference by one control period, on the input's grid. */
static void move_reference(struct stage *s, int64_t period_us)
{
    const struct trial_params *p = s->p;
    s->reference = s->coming;
    for (int64_t t = 0; t < period_us; t += s->step_us) {
        const double *tau = input_at(p, p->input.reference, s->now_us + t, s->step_us);
        model_step(p->model, p->reference, s->coming.nu, s->coming.pose, tau, NULL,
                   p->input.step_s);
    }
}

static void move_plant(struct stage *s)
{
    const struct trial_params *p = s->p;
    const double h = p->follower.period_s;
    const bool pushed = fabs(p->inertial_n[0]) > 0.0 || fabs(p->inertial_n[1]) > 0.0;
    const double steps = fmax(ceil(h / PLANT_STEP_S - 1e-9), 1.0);
    for (double k = 0.0; k < steps; k += 1.0) {
        model_step(p->model, p->plant, s->plant.nu, s->plant.pose, s->output.tau,
                   pushed ? p->inertial_n : NULL, h / steps);
    }
}

/* Sends a sample of the real robot, and delivers those that have arrived. */
static void pass_telemetry(struct stage *s)
{
    const struct trial_params *p = s->p;
    if (s->now_us >= s->next_sample_us) {
        struct trial_sample *sample =
            &s->flight[(s->first + s->in_flight++) % TRIAL_IN_FLIGHT_MAX];
        sample->t_us = s->now_us;
        for (size_t i = 0; i < s->axes; i++) {
            sample->nu[i] = s->reference.nu[i] + p->noise_sd[i] * random_normal(&s->random);
        }
        memcpy(sample->tau, input_at(p, p->input.reference, s->now_us, s->step_us),
               s->axes * sizeof sample->tau[0]);
        s->next_sample_us += lab_us(p->sample_s);
    }
    while (s->in_flight > 0 && s->flight[s->first].t_us + lab_us(p->latency_s) <= s->now_us) {
        const struct trial_sample *sample = &s->flight[s->first];
        (void)shadow_sample(&s->shadow, &p->shadow, sample->t_us, s->now_us, sample->nu,
                            sample->tau, NULL);
        s->first = (s->first + 1) % TRIAL_IN_FLIGHT_MAX;
        s->in_flight--;
    }
}

static void control_plant(struct stage *s)
{
    const struct trial_params *p = s->p;
    struct follower_target target = {{0}, {0}, {0}};
    if (p->source == TRIAL_SHADOW) {
        pass_telemetry(s);
        (void)shadow_target(&s->shadow, &p->shadow, s->now_us, p->follower.period_s, &target);
    } else {
        memcpy(target.nu, s->reference.nu, sizeof target.nu);
        memcpy(target.pose, s->reference.pose, sizeof target.pose);
        for (size_t i = 0; i < s->axes; i++) {
            target.nu_dot[i] = (s->coming.nu[i] - s->reference.nu[i]) / p->follower.period_s;
        }
    }
    (void)follower_step(&s->follower, &p->follower, &target, s->plant.nu, s->plant.pose,
                        &s->output);
    s->saturated += s->output.saturated ? 1 : 0;
    for (size_t i = 0; i < s->axes; i++) {
        s->unmatched[i] += s->output.unmatched[i] * s->output.unmatched[i];
    }
}

static void drive_plant(struct stage *s)
{
    const struct trial_params *p = s->p;
    const double *rows = p->drive == TRIAL_COMMANDS ? p->input.plant : p->input.reference;
    s->periods++;
    if (p->drive == TRIAL_FOLLOW) {
        control_plant(s);
        return;
    }
    memcpy(s->output.tau, input_at(p, rows, s->now_us, s->step_us),
           s->axes * sizeof s->output.tau[0]);
}

static void record_point(struct stage *s, struct trial_point *point,
                         struct trial_result *result)
{
    const struct trial_params *p = s->p;
    point->t_s = lab_s(s->now_us);
    point->states = 2 * s->axes;
    point->output = s->output;
    for (size_t i = 0; i < s->axes; i++) {
        const double noise =
            p->against_measured ? p->noise_sd[i] * random_normal(&s->random) : 0.0;
        point->reference[i] = s->reference.nu[i] + noise;
        point->actual[i] = s->plant.nu[i];
        point->reference[s->axes + i] = s->reference.pose[i];
        point->actual[s->axes + i] = s->plant.pose[i];
    }
    for (size_t i = 0; i < point->states; i++) {
        tracking_add(&result->state[i], point->reference[i], point->actual[i]);
        result->diverged = result->diverged || !isfinite(point->actual[i]);
    }
    if (s->axes == 3 && point->t_s >= SETTLED_RATIO * p->duration_s) {
        const double c = cos(s->plant.pose[2]);
        const double q = sin(s->plant.pose[2]);
        const double there[3] = {c * p->inertial_n[0] + q * p->inertial_n[1],
                                 c * p->inertial_n[1] - q * p->inertial_n[0], 0.0};
        for (size_t i = 0; i < 3; i++) {
            s->product[i] += there[i] * s->output.disturbance[i];
            s->square[i] += there[i] * there[i];
        }
    }
}

void trial_run(const struct trial_params *p, struct trial_sample *flight,
               void (*point)(void *context, const struct trial_point *point), void *context,
               struct trial_result *result)
{
    struct stage s = {.p = p,
                      .axes = p->model->axis_count,
                      .step_us = lab_us(p->input.step_s),
                      .random = {.state = p->seed},
                      .flight = flight};
    const int64_t period_us = lab_us(p->follower.period_s);
    const int64_t record_us = lab_us(p->record_s);
    const int64_t end_us = lab_us(p->duration_s);
    *result = (struct trial_result){0};
    memcpy(s.plant.nu, p->start, sizeof p->start);

    for (; s.now_us < end_us && !result->diverged; s.now_us += period_us) {
        struct trial_point here = {0};
        move_reference(&s, period_us);
        drive_plant(&s);
        if (s.now_us % record_us == 0) {
            record_point(&s, &here, result);
            if (point) {
                point(context, &here);
            }
        }
        move_plant(&s);
    }
    for (size_t i = 0; i < s.axes && s.periods > 0; i++) {
        result->unmatched_rms[i] = sqrt(s.unmatched[i] / (double)s.periods);
        result->found_ratio[i] = s.square[i] > 0.0 ? s.product[i] / s.square[i] : nan("");
    }
    result->saturated_ratio = s.periods > 0 ? (double)s.saturated / (double)s.periods : 0.0;
}
