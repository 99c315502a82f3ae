#include "service/selftest/selftest_recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/travel/profile_fit.h"
#include "logger/message/codec_native.h"
#include "logger/message/message.h"

enum {
    FINE = 20, /* simulation steps between two rows */
    /* the same for models with stiction, which may stick or slip between rows */
    FINE_STICKS = 100,
    FINE_MORE = 200, /* the same if efforts change between rows, or if the motion is short */
    MOVES = 40,
    BLOCK_MOVES = 5 /* moves on one floor, then on the other */
};

static const double MOVES_NOISE_S = 0.03;
static const double CREEP_M = 0.15; /* length by which a slow approach falls to 1/e */
/* ratio of the recording at which the only step comes */
static const double STEP_AT = 0.1;
static const double STEP_SIZE = 0.7; /* ratio of the largest effort */
static const double GUST_S = 1.0;    /* s, correlation time of a force */
static const struct selftest_scenario as_model;

static const double moves_truth[TRAVEL_P] = {0.2, 0.1, 0.15, 1.2, 0.5};

static const double arm_truth[PROFILE_P] = {0.06, 0.91, 0.85, 0.09, 1.04, 1.2};
enum { ARM_MOVES = 120 };
static const double ARM_NOISE_S = 0.005;

/* any time will do */
static const int64_t START_US = INT64_C(1700000000000000);

/* The robot's motion: rows of time, efforts, velocities, pose. */
struct recording {
    const struct model_row *row;
    struct model_trial trial;
    const struct selftest_scenario *scenario;
    double *t_s;
    double *acts_s; /* [samples] when the efforts of a row act, without the delay */
    double *tau[MODEL_AXES_MAX], *nu[MODEL_AXES_MAX], *pose[MODEL_AXES_MAX]; /* [samples] */
    struct random_source *noise;
};

static double largest_effort(const struct recording *r, size_t axis)
{
    return fmax(fabs(r->trial.effort_min[axis]), fabs(r->trial.effort_max[axis]));
}

static void draw_efforts(struct recording *r)
{
    const struct model_trial *c = &r->trial;
    for (size_t k = 0; k < c->samples && r->scenario->swings > 0.0; k++) {
        r->tau[0][k] =
            (double)k < STEP_AT * (double)c->samples ? 0.0 : STEP_SIZE * largest_effort(r, 0);
    }
    for (size_t a = 0; a < r->row->model->axis_count && !(r->scenario->swings > 0.0); a++) {
        double until_s = 0.0;
        double held = 0.0;
        for (size_t k = 0; k < c->samples; k++) {
            if ((double)k * c->dt_s >= until_s) {
                held = random_between(r->noise, c->effort_min[a], c->effort_max[a]);
                held = random_between(r->noise, 0.0, 7.0) < 1.0 ? 0.0 : held;
                held = r->scenario->constant ? c->effort_max[a]
                       : r->scenario->one_size
                           ? round(1.49 * held / largest_effort(r, a)) * largest_effort(r, a)
                           : held;
                until_s += random_between(r->noise, c->hold_s_min, c->hold_s_max);
            }
            r->tau[a][k] = held;
        }
    }
}

static void draw_stamps(struct recording *r)
{
    for (size_t k = 0; k < r->trial.samples; k++) {
        const double off =
            r->scenario->jitter > 0.0 && k > 0
                ? r->scenario->jitter * M_SQRT1_2 * selftest_draw_normal(r->noise)
                : 0.0;
        r->t_s[k] = r->trial.dt_s * ((double)k + fmax(fmin(off, 0.45), -0.45));
    }
}

static bool changes_effort(const struct recording *r, size_t k)
{
    bool changes = false;
    for (size_t a = 0; a < r->row->model->axis_count && k > 0; a++) {
        changes = changes || fabs(r->tau[a][k] - r->tau[a][k - 1]) > 0.0;
    }
    return changes;
}

static void draw_delays(struct recording *r)
{
    const struct selftest_scenario *w = r->scenario;
    double off_s = 0.0;
    for (size_t k = 0; k < r->trial.samples; k++) {
        if (changes_effort(r, k)) {
            off_s =
                -w->early * (r->t_s[k] - r->t_s[k - 1]) * random_between(r->noise, 0.0, 1.0) +
                w->scatter_s * random_between(r->noise, 0.0, 1.0) +
                w->clock_s * (double)k / (double)r->trial.samples;
        }
        r->acts_s[k] = r->t_s[k] + off_s;
    }
}

/* Returns the effect of efforts, or of the speeds of moves, as a ratio at this part of the
 * recording. */
static double worth_of(const struct selftest_scenario *w, double share)
{
    const double dip_share = w->dip_share > 0.0 ? w->dip_share : 0.2;
    return (1.0 + w->off) * (1.0 + w->trend * share) * (share >= 0.5 ? 1.0 + w->at_half : 1.0) *
           (1.0 + w->warm * (1.0 - exp(-3.0 * share))) *
           (fabs(share - 0.5) < 0.5 * dip_share ? 1.0 + w->dips : 1.0) *
           (1.0 + w->sways * sin(12.0 * PI * share));
}

/* Simulates a second-order robot with the natural frequency of the channel's lag. */
static void swing_channel(const struct recording *r, double tau, double h_s, double *nu,
                          double *rate)
{
    const double *theta = r->trial.theta; /* a y' + b y = c */
    const double omega = theta[1] / theta[0];
    *rate += h_s * omega * (omega * (tau / theta[1] - *nu) - 2.0 * r->scenario->swings * *rate);
    *nu += h_s * *rate;
}

/* Returns the effect of an effort in this scenario. */
static double effect_of(const struct recording *r, size_t axis, double tau, double share)
{
    const struct selftest_scenario *w = r->scenario;
    const double largest = largest_effort(r, axis);
    const double most = w->clip > 0.0 ? w->clip * largest : HUGE_VAL;
    const double felt = copysign(fmax(fabs(tau) - w->dead * largest, 0.0), tau);
    return worth_of(w, share) * (tau < 0.0 ? 1.0 + w->backed : 1.0) *
           fmax(fmin(felt, most), -most);
}

/* Updates the forces after a while: an autoregressive process with time constant GUST_S. */
static void pass_gusts(const struct recording *r, struct random_source *draws, double h_s,
                       double *force)
{
    const double remaining = exp(-h_s / GUST_S);
    for (size_t a = 0; a < r->row->model->axis_count && r->scenario->gusts > 0.0; a++) {
        force[a] = remaining * force[a] + sqrt(1.0 - remaining * remaining) *
                                              r->scenario->gusts * largest_effort(r, a) *
                                              selftest_draw_normal(draws);
    }
}

/* Applies Coulomb's law as an impulse: within a step friction takes away at most the whole
 * motion, and never reverses it. */
static void stick_joint(const struct recording *r, const double *tau, double h_s, double *nu,
                        double *pose)
{
    const struct model *model = r->row->model;
    const double ratio = nu[0] / r->scenario->falls;
    const double dry = r->trial.theta[JOINT_COULOMB] *
                       (1.0 + r->scenario->at_rest * exp(-ratio * ratio)) *
                       (1.0 + r->scenario->by_place * sin(pose[0]));
    double theta[MODEL_PARAMETERS_MAX];
    double rate = 0.0;
    memcpy(theta, r->trial.theta, sizeof theta);
    theta[JOINT_COULOMB] = 0.0;
    model->forward(model, theta, pose, nu, tau, &rate);
    const double freely = nu[0] + h_s * rate;
    nu[0] = copysign(fmax(fabs(freely) - h_s * dry / theta[JOINT_INERTIA], 0.0), freely);
    pose[0] += h_s * nu[0];
}

/* Lets an effort act through a limit of rate and a lag. */
static void filter_effort(const struct recording *r, double h_s, size_t axis, double tau,
                          double limited[MODEL_AXES_MAX], double acting[MODEL_AXES_MAX])
{
    const struct selftest_scenario *w = r->scenario;
    const double most = w->rate * largest_effort(r, axis) * h_s;
    limited[axis] +=
        w->rate > 0.0 ? fmin(fmax(tau - limited[axis], -most), most) : tau - limited[axis];
    acting[axis] +=
        (limited[axis] - acting[axis]) * (w->lag_s > 0.0 ? 1.0 - exp(-h_s / w->lag_s) : 1.0);
}

/* Draws the noise of one measurement. */
static double draw_noise(const struct recording *r, size_t axis, double velocity,
                         double *before)
{
    const struct selftest_scenario *w = r->scenario;
    const double quiet = w->memory > 0.0 ? 0.25 : 1.0;
    const double sd = quiet * r->trial.noise_sd[axis] + w->grows * fabs(velocity);
    *before = w->memory * *before +
              sqrt(1.0 - w->memory * w->memory) * sd * selftest_draw_normal(r->noise);
    return *before;
}

/* Lets the measurements follow. */
static void pass_sensors(const struct recording *r, double h_s, const double *nu,
                         const double *pose, double seen[2][MODEL_AXES_MAX])
{
    const double lag_s = r->scenario->sensor_s;
    const double share = lag_s > 0.0 ? 1.0 - exp(-h_s / lag_s) : 1.0;
    for (size_t a = 0; a < r->row->model->axis_count; a++) {
        seen[0][a] += share * (nu[a] - seen[0][a]);
        seen[1][a] += share * (pose[a] - seen[1][a]);
    }
}

/* Simulates from rest, with each effort delayed, and adds the measurement noise. */
static void drive_robot(struct recording *r)
{
    const struct model_trial *c = &r->trial;
    const struct model *model = r->row->model;
    const size_t fine =
        r->scenario->jitter > 0.0 || r->scenario->quick > 0.0 || r->scenario->falls > 0.0
            ? FINE_MORE
        : model->sticks ? FINE_STICKS
                        : FINE;
    double nu[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX] = {0.0};
    double force[MODEL_AXES_MAX] = {0.0};
    double limited[MODEL_AXES_MAX] = {0.0};
    double acting[MODEL_AXES_MAX] = {0.0};
    double noise[MODEL_AXES_MAX] = {0.0};
    double seen[2][MODEL_AXES_MAX] = {{0.0}}; /* velocities and positions behind a lag */
    double theta[MODEL_PARAMETERS_MAX];
    struct random_source gusts = {.state = ~r->noise->state};
    double rate = 0.0;
    size_t held = 0;
    pass_gusts(r, &gusts, HUGE_VAL, force);
    for (size_t k = 0; k < c->samples; k++) {
        const double h_s =
            (k + 1 < c->samples ? r->t_s[k + 1] - r->t_s[k] : c->dt_s) / (double)fine;
        const double share = (double)k / (double)c->samples;
        for (size_t a = 0; a < model->axis_count; a++) {
            r->nu[a][k] = seen[0][a] + draw_noise(r, a, nu[a], &noise[a]);
            r->pose[a][k] = seen[1][a];
        }
        memcpy(theta, c->theta, sizeof theta);
        theta[1] *= 1.0 + r->scenario->warms * (share - 0.5);
        for (size_t f = 0; f < fine; f++) {
            const double late_s = r->t_s[k] + ((double)f + 0.5) * h_s - c->delay_s;
            double tau[MODEL_AXES_MAX] = {0.0};
            while (held + 1 < c->samples && r->acts_s[held + 1] <= late_s) {
                held++;
            }
            pass_gusts(r, &gusts, h_s, force);
            for (size_t a = 0; a < model->axis_count; a++) {
                tau[a] = late_s >= 0.0 ? effect_of(r, a, r->tau[a][held], share) : 0.0;
                filter_effort(r, h_s, a, tau[a], limited, acting);
                tau[a] =
                    force[a] + acting[a] * (1.0 + r->scenario->ripple * sin(7.0 * pose[a]));
            }
            if (r->scenario->swings > 0.0) {
                swing_channel(r, tau[0], h_s, nu, &rate);
            } else if (r->scenario->falls > 0.0) {
                stick_joint(r, tau, h_s, nu, pose);
            } else {
                model_step(model, theta, nu, pose, tau, NULL, h_s);
            }
            pass_sensors(r, h_s, nu, pose, seen);
        }
    }
}

static bool is_lost(struct recording *r)
{
    return random_between(r->noise, 0.0, 1.0) < r->trial.loss_ratio;
}

static double factor_of(const struct recording *r, size_t column)
{
    return r->scenario->factor[column] > 0.0 ? r->scenario->factor[column] : 1.0;
}

/* Returns the velocity of an axis as it is recorded in row k. */
static double recorded_velocity(const struct recording *r, size_t axis, size_t k)
{
    const struct selftest_scenario *w = r->scenario;
    const size_t row = w->stale > 0 ? k - k % w->stale : k;
    const size_t from = w->exchanged ? 1 - axis : axis;
    const double half = 0.5 * w->track_m * (axis == 0 ? -1.0 : 1.0);
    const double value =
        w->track_m > 0.0 ? r->nu[0][row] + half * r->nu[1][row] : r->nu[from][row];
    return factor_of(r, 2) * (w->reversed ? -value : value);
}

/* Writes a row of commands alone, which hold from there on, and one of velocities alone. Both
 * logs have their own times. */
static void write_rows_apart(const struct recording *r, size_t k, FILE *to)
{
    const size_t axes = r->row->model->axis_count;
    for (int commands = 1; commands >= 0; commands--) {
        (void)fprintf(to, "%.6f", r->t_s[k] - (commands ? 0.3 * r->trial.dt_s : 0.0));
        for (size_t a = 0; a < axes; a++) {
            (void)fprintf(to, commands ? ",%.9g," : ",,%.9g",
                          commands ? r->tau[a][k] : r->nu[a][k]);
        }
        (void)fputc('\n', to);
    }
}

static void write_table(struct recording *r, FILE *to)
{
    const size_t axes = r->row->model->axis_count;
    const char *const *poses = &r->row->roles[1 + 2 * axes];
    const double position = r->scenario->scaled > 0.0 ? r->scenario->scaled : 1.0;
    (void)fputs("t", to);
    for (size_t a = 0; a < axes; a++) {
        (void)fprintf(to, ",%s,%s", r->row->roles[1 + a], r->row->roles[1 + axes + a]);
        if (poses[0]) {
            (void)fprintf(to, ",%s", poses[a]);
        }
    }
    (void)fputc('\n', to);
    for (size_t k = 0; k < r->trial.samples; k++) {
        if (is_lost(r)) {
            continue;
        }
        if (r->scenario->rows_apart) {
            write_rows_apart(r, k, to);
            continue;
        }
        (void)fprintf(to, "%.6f",
                      r->scenario->counted ? (double)k : factor_of(r, 0) * r->t_s[k]);
        for (size_t a = 0; a < axes; a++) {
            (void)fprintf(to, ",%.9g,%.9g", factor_of(r, 1) * r->tau[a][k],
                          recorded_velocity(r, a, k));
            if (poses[0]) {
                (void)fprintf(to, ",%.9g", position * r->pose[a][k]);
            }
        }
        (void)fputc('\n', to);
    }
}

static void write_message(const struct event_telemetry *m, int64_t t_us, FILE *to)
{
    char payload[1024];
    char line[4096];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    native_write(&w, EVENT_TELEMETRY, m);
    struct message message = {
        .t_us = t_us, .payload = payload, .stored_bytes = w.used, .payload_bytes = w.used};
    (void)snprintf(message.topic, sizeof message.topic, "tandem/v1/selftest/real/telemetry");
    (void)fwrite(line, 1, message_format(&message, line, sizeof line), to);
}

/* Arrivals are late by some milliseconds; the robot's stamps are not. */
static void write_journal(struct recording *r, FILE *to)
{
    const size_t axes = r->row->model->axis_count;
    for (size_t k = 0; k < r->trial.samples; k++) {
        if (is_lost(r)) {
            continue;
        }
        struct event_telemetry m = {.source_us =
                                        START_US + llround(1e6 * r->trial.dt_s * (double)k),
                                    .seq = (int64_t)k,
                                    .boot = "selftest",
                                    .nu_count = axes,
                                    .tau_count = axes,
                                    .pose_count = axes};
        for (size_t a = 0; a < axes; a++) {
            m.nu[a] = r->nu[a][k];
            m.tau[a] = r->tau[a][k];
            m.pose[a] = r->pose[a][k];
        }
        write_message(&m, m.source_us + llround(1e6 * random_exponential(r->noise, 0.005)), to);
    }
}

/* Returns the duration of a move; a robot that accelerates moves from rest to rest. */
static double time_of(const struct selftest_scenario *w, double distance, double pace, size_t k)
{
    const double speed = 1.0 / pace;
    const double a = k == 0 ? 4.0 * w->accelerates : w->accelerates;
    return !(w->accelerates > 0.0)        ? distance * pace
           : distance > speed * speed / a ? distance / speed + speed / a
                                          : 2.0 * sqrt(distance / a);
}

/* Returns whether move i is that of the other robot. */
static bool is_other(const struct recording *r, size_t i)
{
    const enum selftest_mix mix = r->scenario->mix;
    return fabs(r->scenario->mixed) > 0.0 &&
           (mix == MIX_NEGATIVE ? i % 2 == 1
            : mix == MIX_BLOCKS ? i / BLOCK_MOVES % 2 == 0
                                : random_between(r->noise, 0.0, 1.0) < 0.5);
}

/* Returns the lap of move i, after those of its robot. Robots turn both ways: the negative
 * turns are the odd moves. */
static double draw_lap(const struct recording *r, const double distance[2], size_t i, double n)
{
    const struct selftest_scenario *w = r->scenario;
    const double *truth = moves_truth;
    const bool other = is_other(r, i);
    double lap_s = truth[TRAVEL_T0] + MOVES_NOISE_S * selftest_draw_normal(r->noise);
    for (size_t k = 0; k < 2; k++) {
        const bool differs = other && (w->mixed_sizes == 0 || w->mixed_sizes == k + 1);
        const double worth =
            worth_of(w, (double)i / (n - 1.0)) * (differs ? 1.0 + w->mixed : 1.0);
        const double spread = fmax(1.0 + w->varies * selftest_draw_normal(r->noise), 0.3);
        const double pace = spread / worth / truth[TRAVEL_INV_W + k];
        /* A robot that starts from rest has no separate start time. */
        const double start_s = w->accelerates > 0.0 ? 0.0 : truth[TRAVEL_TA + k];
        lap_s += distance[k] > 0.0 ? start_s + time_of(w, distance[k], pace, k) : 0.0;
    }
    if (w->slowed > 0.0 && random_between(r->noise, 0.0, 1.0) < w->slowed) {
        lap_s += 0.5 * distance[1] / truth[TRAVEL_INV_V];
    }
    if (w->stops > 0.0 &&
        random_between(r->noise, 0.0, 1.0) < 1.0 - exp(-w->stops * distance[1])) {
        lap_s += random_exponential(r->noise, w->stop_s);
    }
    lap_s += distance[1] > 0.0 ? w->creep_s * exp(-distance[1] / CREEP_M) : 0.0;
    lap_s += w->queue_s > 0.0 ? random_exponential(r->noise, w->queue_s) : 0.0;
    if (random_between(r->noise, 0.0, 1.0) < w->late) {
        lap_s += random_between(r->noise, 0.5, 3.0);
    }
    return !(w->step_s > 0.0) ? lap_s
           : w->steps_up      ? w->step_s * ceil(lap_s / w->step_s)
                              : w->step_s * fmax(round(lap_s / w->step_s), 1.0);
}

/* A third of the moves only turn, a third only drive, a third do both. */
static void write_moves(const struct selftest_scenario *w, struct random_source *draws,
                        FILE *to)
{
    const struct recording *r = &(const struct recording){.scenario = w, .noise = draws};
    const size_t n = w->samples > 0 ? w->samples : MOVES;
    double last_s = 0.0;
    (void)fputs("rotation_rad,displacement_m,lap_s\n", to);
    for (size_t i = 0; i < n; i++) {
        const double sort = random_between(r->noise, 0.0, 3.0);
        const double rotation = random_between(r->noise, 0.1, 3.1);
        const double displacement = random_between(r->noise, 0.05, 1.2);
        const double distance[] = {sort >= 1.0 ? rotation : 0.0,
                                   sort < 2.0 ? displacement : 0.0};
        double lap_s = draw_lap(r, distance, i, (double)n);
        const bool waits =
            w->overlaps > 0.0 &&
            (!(w->waiting > 0.0) || random_between(r->noise, 0.0, 1.0) < w->waiting);
        lap_s += waits ? random_between(r->noise, 0.0, w->overlaps * last_s) : 0.0;
        lap_s += w->every_s > 0.0 ? fmax(last_s - w->every_s, 0.0) : 0.0;
        last_s = lap_s;
        double column[] = {i % 2 == 0 ? distance[0] : -distance[0], distance[1]};
        column[0] +=
            w->measured_rad > 0.0 ? w->measured_rad * selftest_draw_normal(r->noise) : 0.0;
        column[1] += w->measured_m > 0.0 ? w->measured_m * selftest_draw_normal(r->noise) : 0.0;
        (void)fprintf(to, "%.6g,%.6g,%.6g\n", factor_of(r, 0) * column[w->exchanged ? 1 : 0],
                      factor_of(r, 1) * column[w->exchanged ? 0 : 1], factor_of(r, 2) * lap_s);
    }
}

/* Moves of joints and of lines alternate; every third one is short. */
static void write_arm_moves(const struct selftest_scenario *w, struct random_source *draws,
                            FILE *to)
{
    const struct recording *r = &(const struct recording){.scenario = w, .noise = draws};
    (void)fputs("rotation_rad,displacement_m,v_radps,a_radps2,v_mps,a_mps2,lap_s\n", to);
    for (size_t i = 0; i < ARM_MOVES; i++) {
        const size_t line = i % 2;
        const double *truth = arm_truth + line * PROFILE_TERMS;
        const double v = (line ? 0.25 : 1.05) * random_between(r->noise, 0.8, 1.2);
        const double a = line ? 1.2 : 1.4;
        const double full = v * v * truth[PROFILE_SPEED] * truth[PROFILE_SPEED] /
                            (a * truth[PROFILE_ACCELERATION]);
        const double size = full * (i % 3 == 0 ? random_between(r->noise, 0.1, 1.0)
                                               : random_between(r->noise, 1.2, 4.0));
        const bool other = fabs(w->mixed) > 0.0 && random_between(r->noise, 0.0, 1.0) < 0.5;
        const double worth =
            worth_of(w, (double)i / (ARM_MOVES - 1.0)) * (other ? 1.0 + w->mixed : 1.0);
        const double top = worth * truth[PROFILE_SPEED] * v;
        const double ramp = worth * worth * truth[PROFILE_ACCELERATION] * a;
        double lap_s = truth[PROFILE_T0] + ARM_NOISE_S * selftest_draw_normal(r->noise) +
                       profile_duration_s(top / size, ramp / size);
        if (random_between(r->noise, 0.0, 1.0) < w->late) {
            lap_s += random_between(r->noise, 0.5, 3.0);
        }
        (void)fprintf(to, "%.6g,%.6g,%.6g,%.6g,%.6g,%.6g,%.6g\n",
                      line ? 0.0 : factor_of(r, 0) * size, line ? factor_of(r, 1) * size : 0.0,
                      line ? 1.05 : v, 1.4, line ? v : 0.25, 1.2, factor_of(r, 2) * lap_s);
    }
}

static double find_moves_truth(size_t i, const char **name)
{
    *name = i < TRAVEL_P ? travel_term_name((enum travel_term)i) : NULL;
    return *name ? moves_truth[i] : 0.0;
}

static double find_arm_truth(size_t i, const char **name)
{
    *name = i < PROFILE_P ? profile_term_name((enum profile_term)i) : NULL;
    return *name ? arm_truth[i] : 0.0;
}

static const struct {
    selftest_write *write;
    selftest_truth *truth;
} robots[] = {[MODEL_OF_MOVES] = {write_moves, find_moves_truth},
              [MODEL_OF_COMMANDS] = {write_arm_moves, find_arm_truth},
              [MODEL_OF_JOINTS] = {selftest_write_joints, selftest_joints_truth},
              [MODEL_OF_WHEELS] = {selftest_write_wheels, selftest_wheels_truth},
              [MODEL_OF_POSES] = {selftest_write_poses, selftest_poses_truth},
              [MODEL_OF_SERVOS] = {selftest_write_servo, selftest_servo_truth}};

selftest_truth *selftest_robot_truth(enum model_data data)
{
    return robots[data].truth;
}

struct random_source selftest_draws(uint64_t seed, size_t run)
{
    return (struct random_source){.state = seed + UINT64_C(0x9E3779B97F4A7C15) *
                                                      (uint64_t)(1000003 * run)};
}

static void bend_trial(struct recording *r)
{
    const struct model *model = r->row->model;
    const struct selftest_scenario *w = r->scenario;
    r->trial.samples = w->samples > 0 ? w->samples : r->trial.samples;
    r->trial.loss_ratio = w->name ? w->lost : r->trial.loss_ratio;
    r->trial.theta[0] *= w->quick > 0.0 ? w->quick : 1.0;
    for (size_t a = 0; a < model->axis_count; a++) {
        r->trial.effort_min[a] *= w->gentle > 0.0 ? w->gentle : 1.0;
        r->trial.effort_max[a] *= w->gentle > 0.0 ? w->gentle : 1.0;
    }
    for (size_t k = 0; k < COUNT(w->dragged) && w->dragged[k]; k++) {
        const int i = model_parameter_find(model, w->dragged[k]);
        r->trial.theta[i < 0 ? 0 : i] *= 1.0 + w->drag;
    }
}

static bool move_robot(struct recording *r)
{
    const size_t n = r->trial.samples;
    double *memory = calloc((2 + 3 * r->row->model->axis_count) * n, sizeof *memory);
    if (!memory) {
        return false;
    }
    r->t_s = memory;
    r->acts_s = memory + n;
    for (size_t a = 0; a < r->row->model->axis_count; a++) {
        r->tau[a] = memory + (2 + 3 * a) * n;
        r->nu[a] = r->tau[a] + n;
        r->pose[a] = r->nu[a] + n;
    }
    draw_stamps(r);
    draw_efforts(r);
    draw_delays(r);
    drive_robot(r);
    return true;
}

enum status selftest_record(const struct model_row *row,
                            const struct selftest_scenario *scenario, bool journal,
                            struct random_source *draws, char **text, size_t *bytes,
                            struct err *err)
{
    const struct model_row *robot =
        scenario && scenario->robot ? model_row_find(scenario->robot) : row;
    struct recording r = {.row = robot,
                          .trial = robot->trial,
                          .scenario = scenario ? scenario : &as_model,
                          .noise = draws};
    FILE *to = open_memstream(text, bytes);
    bool fine = to != NULL;
    const bool moves = robot->data == MODEL_OF_MOTION;
    if (fine && moves) {
        bend_trial(&r);
        fine = move_robot(&r);
    }
    if (fine && moves) {
        (journal ? write_journal : write_table)(&r, to);
    } else if (fine) {
        robots[robot->data].write(r.scenario, draws, to);
    }
    free(r.t_s);
    fine = (!to || fclose(to) == 0) && fine;
    return fine ? STATUS_OK : err_no_memory(err, "selftest", "no memory");
}
