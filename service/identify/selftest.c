/* tandem selftest - injects known parameters, and sees whether identification finds them. */
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
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/csv_file.h"
#include "service/cli/json_file.h"
#include "service/cli/progress.h"
#include "service/cli/stop_signal.h"
#include "service/cli/version.h"
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

/* --- the command -------------------------------------------------------------------------- */

struct selftest_options {
    const char *model;
    int runs, seed;
    bool json;
};

static void print_result(const struct model_row *row, const struct selftest_result *result)
{
    const struct model_trial *c = &row->trial;
    (void)printf("%s: %zu recordings of %.4g s at %.4g Hz, %.1f %% of the rows lost; every "
                 "other one a journal\n",
                 row->name, result->runs, (double)c->samples * c->dt_s, 1.0 / c->dt_s,
                 100.0 * c->loss_ratio);
    (void)printf("  %-24s %10s %10s %9s %13s %9s %9s %14s\n", "parameter", "truth", "mean",
                 "bias", "bias z (most)", "scatter", "claimed", "held (least)");
    for (size_t i = 0; i < result->count; i++) {
        const struct selftest_parameter *p = &result->parameter[i];
        (void)printf("  %-24s %10.5g %10.5g %7.2f %% %+6.2f (%4.2f) %9.3g %9.3g %7zu (%zu)%s\n",
                     p->name, p->truth, p->mean, 100.0 * (p->mean / p->truth - 1.0), p->bias_z,
                     p->bias_z_max, p->sd, p->se, p->covered, p->covered_min,
                     p->well ? "" : "  OUTSIDE");
    }
    (void)fputs("  verdicts:", stdout);
    for (int verdict = ESTIMATE_PASS; verdict <= ESTIMATE_FAIL; verdict++) {
        (void)printf(" %zu %s", result->verdicts[verdict],
                     estimate_verdict_name((enum estimate_verdict)verdict));
    }
    (void)puts(result->verdicts[ESTIMATE_FAIL] > 0 ? "  OUTSIDE: none may be" : "");
}

#define PARAMETER(field) JSON_MEMBER(struct selftest_parameter, field)
static const struct json_member parameter_members[] = {
    PARAMETER(name),    PARAMETER(truth),       PARAMETER(known),
    PARAMETER(mean),    PARAMETER(bias_z),      PARAMETER(bias_z_max),
    PARAMETER(sd),      PARAMETER(se),          PARAMETER(scatter_ratio_max),
    PARAMETER(covered), PARAMETER(covered_min), PARAMETER(well)};

static void write_result(struct json_writer *w, const struct model_row *row,
                         const struct selftest_result *result)
{
    const struct model_trial *c = &row->trial;
    json_write_object(w, NULL);
    json_write_text(w, "model", row->name);
    json_write_int(w, "runs", (int64_t)result->runs);
    json_write_real(w, "duration_s", (double)c->samples * c->dt_s);
    json_write_real(w, "rate_hz", 1.0 / c->dt_s);
    json_write_real(w, "loss_ratio", c->loss_ratio);
    json_write_bool(w, "well", result->well);
    json_write_object(w, "verdicts");
    for (int verdict = ESTIMATE_PASS; verdict <= ESTIMATE_FAIL; verdict++) {
        json_write_int(w, estimate_verdict_name((enum estimate_verdict)verdict),
                       (int64_t)result->verdicts[verdict]);
    }
    json_write_close(w);
    json_write_array(w, "parameters");
    for (size_t i = 0; i < result->count; i++) {
        json_write_object(w, NULL);
        json_write_members(w, parameter_members, COUNT(parameter_members),
                           &result->parameter[i]);
        json_write_close(w);
    }
    json_write_close(w);
    json_write_close(w);
}

/* All runs of one case; false with a message when they could not be done. */
static bool run_case(const struct model_row *row, const struct selftest_options *options,
                     struct selftest_result *result)
{
    struct progress progress;
    struct err err = {0};
    selftest_start(row, result);
    progress_start(&progress, row->name);
    for (int run = 0; run < options->runs; run++) {
        enum status st = selftest_run(row, (uint64_t)options->seed, result, &err);
        if (st == STATUS_OK && stop_signal_raised()) {
            st = err_set(&err, STATUS_E_STALE, "selftest", 0, 0,
                         "cancelled after %d of %d runs", run + 1, options->runs);
        }
        if (st != STATUS_OK) {
            progress_end(&progress);
            csv_file_complain(&err);
            return false;
        }
        progress_step(&progress, (uint64_t)run + 1, (uint64_t)options->runs);
    }
    progress_end(&progress);
    selftest_judge(result);
    return true;
}

static int run_cases(const struct selftest_options *options)
{
    char text[1024];
    struct json_writer w;
    bool well = true;
    bool any = false;
    json_write_start(&w, text, sizeof text, json_file_flush, stdout);
    if (options->json) {
        json_write_object(&w, NULL);
        json_write_text(&w, "version", TANDEM_VERSION);
        json_write_int(&w, "seed", options->seed);
        json_write_array(&w, "models");
    }
    for (size_t i = 0; i < model_row_count; i++) {
        const struct model_row *row = model_rows[i];
        struct selftest_result result;
        if (!row->model || (options->model && strcmp(options->model, row->name) != 0)) {
            continue;
        }
        any = true;
        if (!run_case(row, options, &result)) {
            return EXIT_FAILED;
        }
        well = well && result.well;
        if (options->json) {
            write_result(&w, row, &result);
        } else {
            print_result(row, &result);
        }
    }
    if (!any) {
        (void)fprintf(stderr,
                      "tandem: selftest: no model '%s', 'tandem selftest --help' lists "
                      "them\n",
                      options->model);
        return EXIT_USAGE;
    }
    if (options->json) {
        json_write_close(&w);
        json_write_bool(&w, "well", well);
        json_write_close(&w);
        (void)json_write_end(&w);
        (void)putchar('\n');
    } else {
        (void)puts(well ? "every estimate is where chance allows it"
                        : "an estimate is where chance does not allow it: see OUTSIDE");
    }
    return fflush(stdout) == 0 && well ? EXIT_FINE : EXIT_FAILED;
}

int command_selftest(int argc, char **argv)
{
    struct selftest_options options = {.runs = 20, .seed = 1};
    char description[1024] = "  Records simulated robots of known parameters, with noise, a "
                             "delay and lost rows, as\n"
                             "  tables and as journals, identifies them as `tandem identify` "
                             "does, and compares: the\n"
                             "  bias of every estimate, and how often its 95 % interval holds "
                             "the truth, against what\n"
                             "  chance allows in 999 of 1000 self tests. Models:";
    for (size_t i = 0; model_at(i); i++) {
        const size_t used = strlen(description);
        (void)snprintf(description + used, sizeof description - used, " %s%s",
                       model_at(i)->name, model_at(i + 1) ? "," : ".\n");
    }
    /* clang-format off */
    const struct argument rows[] = {
        {"model", 'm', ARGUMENT_TEXT, &options.model, 0, 0, "NAME", "test this one only"},
        {"runs", 0, ARGUMENT_INTEGER, &options.runs, 2, 100000, "N", "recordings of each (20)"},
        {"seed", 0, ARGUMENT_INTEGER, &options.seed, 0, 1e9, "N",
         "of the draws (1); the same seed gives the same bytes"},
        {"json", 0, ARGUMENT_FLAG, &options.json, 0, 0, NULL, "print one JSON document and nothing else"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "selftest",
        .operands = "",
        .description = description,
        .exit_status = "an estimate or an interval is not where chance allows it",
        .rows = rows,
        .row_count = COUNT(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    if (code != ARGUMENTS_TAKEN) {
        return code;
    }
    stop_signal_install();
    return run_cases(&options);
}
