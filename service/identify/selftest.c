#include "service/identify/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/constants.h"
#include "base/random.h"
#include "logger/message/codec_native.h"
#include "logger/message/message.h"
#include "service/identify/identify_dynamics.h"

enum { FINE = 20 }; /* steps of the simulated robot between two rows */

/* Of the test of one model; shared by what is tested of its parameters. */
static const double ERROR_RATIO = 1e-3;
/* Estimates that scatter by more of their standard errors than this bear wrong ones, though an
 * interval may hold the truth as often as it should. */
static const double SCATTER_RATIO = 3.0;
/* Any time will do. */
static const int64_t START_US = INT64_C(1700000000000000);

/* What the robot did: rows of time, efforts, velocities, pose. */
struct recording {
    const struct model_row *row;
    const struct model_trial *c;
    double *tau[MODEL_AXES_MAX], *nu[MODEL_AXES_MAX], *pose[MODEL_AXES_MAX]; /* [samples] */
    struct random_source noise;
};

static double draw_normal(struct random_source *n)
{
    const double radius = sqrt(2.0 * random_exponential(n, 1.0));
    return radius * cos(random_between(n, 0.0, 2.0 * PI));
}

static void draw_efforts(struct recording *r)
{
    const struct model_trial *c = r->c;
    for (size_t a = 0; a < r->row->model->axis_count; a++) {
        double until_s = 0.0;
        double held = 0.0;
        for (size_t k = 0; k < c->samples; k++) {
            if ((double)k * c->dt_s >= until_s) {
                held = random_between(&r->noise, c->effort_min[a], c->effort_max[a]);
                held = random_between(&r->noise, 0.0, 7.0) < 1.0 ? 0.0 : held;
                until_s += random_between(&r->noise, c->hold_s_min, c->hold_s_max);
            }
            r->tau[a][k] = held;
        }
    }
}

/* From rest, each effort late by the delay; then the noise of the measurement. */
static void drive_robot(struct recording *r)
{
    const struct model_trial *c = r->c;
    const struct model *model = r->row->model;
    double nu[MODEL_AXES_MAX] = {0.0};
    double pose[MODEL_AXES_MAX] = {0.0};
    for (size_t k = 0; k < c->samples; k++) {
        for (size_t a = 0; a < model->axis_count; a++) {
            r->nu[a][k] = nu[a] + c->noise_sd[a] * draw_normal(&r->noise);
            r->pose[a][k] = pose[a];
        }
        for (size_t f = 0; f < FINE; f++) {
            const double late_s = c->dt_s * ((double)k + ((double)f + 0.5) / FINE) - c->delay_s;
            double tau[MODEL_AXES_MAX] = {0.0};
            for (size_t a = 0; a < model->axis_count && late_s >= 0.0; a++) {
                tau[a] = r->tau[a][(size_t)(late_s / c->dt_s)];
            }
            model_step(model, c->theta, nu, pose, tau, NULL, c->dt_s / FINE);
        }
    }
}

static bool is_lost(struct recording *r)
{
    return random_between(&r->noise, 0.0, 1.0) < r->c->loss_ratio;
}

static void write_table(struct recording *r, FILE *to)
{
    const size_t axes = r->row->model->axis_count;
    const char *const *poses = &r->row->roles[1 + 2 * axes];
    (void)fputs("t", to);
    for (size_t a = 0; a < axes; a++) {
        (void)fprintf(to, ",%s,%s", r->row->roles[1 + a], r->row->roles[1 + axes + a]);
        if (poses[0]) {
            (void)fprintf(to, ",%s", poses[a]);
        }
    }
    (void)fputc('\n', to);
    for (size_t k = 0; k < r->c->samples; k++) {
        if (is_lost(r)) {
            continue;
        }
        (void)fprintf(to, "%.6f", r->c->dt_s * (double)k);
        for (size_t a = 0; a < axes; a++) {
            (void)fprintf(to, ",%.9g,%.9g", r->tau[a][k], r->nu[a][k]);
            if (poses[0]) {
                (void)fprintf(to, ",%.9g", r->pose[a][k]);
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
        .t_us = t_us, .payload = payload, .kept_bytes = w.used, .payload_bytes = w.used};
    (void)snprintf(message.topic, sizeof message.topic, "tandem/v1/selftest/real/telemetry");
    (void)fwrite(line, 1, message_format(&message, line, sizeof line), to);
}

/* Arrivals are late by some milliseconds; the robot's stamps are not. */
static void write_journal(struct recording *r, FILE *to)
{
    const size_t axes = r->row->model->axis_count;
    for (size_t k = 0; k < r->c->samples; k++) {
        if (is_lost(r)) {
            continue;
        }
        struct event_telemetry m = {.source_us =
                                        START_US + llround(1e6 * r->c->dt_s * (double)k),
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
        write_message(&m, m.source_us + llround(1e6 * random_exponential(&r->noise, 0.005)),
                      to);
    }
}

static void add_estimate(struct selftest_result *result, size_t i, double value, double se,
                         double lo, double hi)
{
    struct selftest_parameter *p = &result->parameter[i];
    if (!isfinite(value) || !isfinite(se)) {
        return;
    }
    p->known++;
    const double step = value - p->mean;
    p->mean += step / (double)p->known;
    result->square_sum[i] += step * (value - p->mean);
    p->se += (se - p->se) / (double)p->known;
    p->covered += lo <= p->truth && p->truth <= hi ? 1 : 0;
}

static enum status identify_text(const struct model_row *row, const struct csv_source *input,
                                 struct selftest_result *result, struct err *err)
{
    struct identify_request request = identify_request_defaults();
    struct identify_result *found = calloc(1, sizeof *found);
    request.files = input;
    request.file_count = 1;
    if (!found) {
        return err_set(err, STATUS_E_NOMEM, "selftest", 0, 0, "no memory");
    }
    const enum status st = identify_dynamics_fit(row, &request, found, err);
    if (st == STATUS_OK) {
        const struct dynamics_fit *fit = &found->fit;
        for (size_t i = 0; i < fit->estimate.p; i++) {
            add_estimate(result, i, fit->estimate.value[i],
                         sqrt(fit->estimate.covariance[i][i]), fit->estimate.lo[i],
                         fit->estimate.hi[i]);
        }
        struct dynamics_derived delay;
        dynamics_derive_delay(fit, &delay);
        add_estimate(result, fit->estimate.p, delay.value, delay.se, delay.lo, delay.hi);
        result->verdicts[fit->estimate.verdict]++;
        result->runs++;
        identify_result_free(found);
    }
    free(found);
    return st;
}

static enum status record_and_identify(struct recording *r, struct selftest_result *result,
                                       struct err *err)
{
    char *text = NULL;
    struct csv_source input = {.path = "selftest"};
    FILE *to = open_memstream(&text, &input.bytes);
    if (!to) {
        return err_set(err, STATUS_E_NOMEM, "selftest", 0, 0, "no memory");
    }
    draw_efforts(r);
    drive_robot(r);
    if (result->runs % 2 == 0) {
        write_table(r, to);
    } else {
        write_journal(r, to);
    }
    if (fclose(to) != 0) {
        free(text);
        return err_set(err, STATUS_E_NOMEM, "selftest", 0, 0, "no memory");
    }
    input.text = text;
    const enum status st = identify_text(r->row, &input, result, err);
    free(text);
    return st;
}

enum status selftest_run(const struct model_row *row, uint64_t seed,
                         struct selftest_result *result, struct err *err)
{
    const struct model_trial *c = &row->trial;
    const size_t axes = row->model->axis_count;
    double *memory = calloc(3 * axes * c->samples, sizeof *memory);
    struct recording r = {.row = row, .c = c};
    if (!memory) {
        return err_set(err, STATUS_E_NOMEM, "selftest", 0, 0, "no memory");
    }
    /* Neighbouring states of the generator are far apart in what they give. */
    r.noise.state = seed + UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)(1000003 * result->runs);
    for (size_t a = 0; a < axes; a++) {
        r.tau[a] = memory + 3 * a * c->samples;
        r.nu[a] = r.tau[a] + c->samples;
        r.pose[a] = r.nu[a] + c->samples;
    }
    const enum status st = record_and_identify(&r, result, err);
    free(memory);
    return st;
}

void selftest_start(const struct model_row *row, struct selftest_result *result)
{
    const struct model *model = row->model;
    memset(result, 0, sizeof *result);
    result->count = model->parameter_count + 1;
    for (size_t i = 0; i < result->count; i++) {
        struct selftest_parameter *p = &result->parameter[i];
        const bool is_delay = i == model->parameter_count;
        (void)snprintf(p->name, sizeof p->name, "%s",
                       is_delay ? "delay_s" : model->parameters[i].name);
        p->truth = is_delay ? row->trial.delay_s : row->trial.theta[i];
    }
}

/* The least number of hits that chance gives, but for the share of errors. */
static size_t least_hits(size_t runs, double error_ratio)
{
    unsigned hits = 0;
    while (hits < runs && gsl_cdf_binomial_P(hits, 0.95, (unsigned)runs) < error_ratio) {
        hits++;
    }
    return hits;
}

/* The scatter of n estimates, in their standard errors, beyond which these are wrong. */
static double scatter_limit(double n, double error_ratio)
{
    return fmax(SCATTER_RATIO, sqrt(gsl_cdf_chisq_Qinv(error_ratio, n - 1.0) / (n - 1.0)));
}

void selftest_judge(struct selftest_result *result)
{
    /* Bias both ways and coverage of every parameter; scatter adds next to nothing, for three
     * standard errors are far beyond chance from four runs on. */
    const double share = ERROR_RATIO / (2.0 * (double)result->count);
    result->well = result->verdicts[ESTIMATE_FAIL] == 0;
    for (size_t i = 0; i < result->count; i++) {
        struct selftest_parameter *p = &result->parameter[i];
        const double n = (double)p->known;
        p->sd = p->known > 1 ? sqrt(result->square_sum[i] / (n - 1.0)) : (double)NAN;
        p->bias_z = (p->mean - p->truth) / (p->sd / sqrt(n));
        p->bias_z_max = p->known > 1 ? gsl_cdf_tdist_Qinv(0.5 * share, n - 1.0) : 0.0;
        p->covered_min = least_hits(result->runs, share);
        p->scatter_ratio_max = p->known > 1 ? scatter_limit(n, share) : 0.0;
        /* Written so that NaN fails. */
        p->well = fabs(p->bias_z) <= p->bias_z_max && p->covered >= p->covered_min &&
                  p->sd <= p->scatter_ratio_max * p->se;
        result->well = result->well && p->well;
    }
}
