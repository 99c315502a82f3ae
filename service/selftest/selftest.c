/* service/selftest/selftest.c - tandem selftest: simulates known parameters, and checks whether
 * identification finds them. */
#include "service/selftest/selftest.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/text/text.h"
#include "service/identify/identify_dynamics.h"
#include "service/selftest/selftest_recording.h"
#include "service/selftest/selftest_scenarios.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_file.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/progress.h"
#include "service/tool/stop_signal.h"
#include "service/tool/version.h"

/* Probability of a false alarm in the test of one model, divided among its parameters. */
static const double ERROR_RATIO = 1e-3;
/* Estimates that scatter by more than this many of their standard errors are wrong, even if the
 * intervals have their coverage. */
static const double SCATTER_RATIO = 3.0;
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
        return err_no_memory(err, "selftest", "no memory");
    }
    const enum status st = identify_find(&identify_dynamics, row, &request, found, err);
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
    }
    identify_result_free(found);
    free(found);
    return st;
}

enum status selftest_run(const struct model_row *row, uint64_t seed,
                         struct selftest_result *result, struct err *err)
{
    struct random_source draws = selftest_draws(seed, result->runs);
    struct csv_source input = {.path = "selftest"};
    char *text = NULL;
    enum status st =
        selftest_record(row, NULL, result->runs % 2 != 0, &draws, &text, &input.bytes, err);
    input.text = text;
    st = st == STATUS_OK ? identify_text(row, &input, result, err) : st;
    free(text);
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

/* Returns the least number of covered runs that chance gives with probability 1 -
 * error_ratio. */
static size_t least_hits(size_t runs, double error_ratio)
{
    unsigned hits = 0;
    while (hits < runs && gsl_cdf_binomial_P(hits, 0.95, (unsigned)runs) < error_ratio) {
        hits++;
    }
    return hits;
}

/* Returns the largest plausible scatter of n estimates, in their standard errors. */
static double scatter_limit(double n, double error_ratio)
{
    return fmax(SCATTER_RATIO, sqrt(gsl_cdf_chisq_Qinv(error_ratio, n - 1.0) / (n - 1.0)));
}

void selftest_judge(struct selftest_result *result)
{
    /* Each parameter has two tests: bias (two-sided) and coverage. The scatter test adds
     * almost no false alarms, because three standard errors are far beyond chance from four
     * runs on. */
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
        /* The comparisons are written so that NaN fails. */
        p->well = fabs(p->bias_z) <= p->bias_z_max && p->covered >= p->covered_min &&
                  p->sd <= p->scatter_ratio_max * p->se;
        result->well = result->well && p->well;
    }
}

/* --- the command -------------------------------------------------------------------------- */

struct selftest_options {
    const char *model, *scenario;
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

static void write_verdicts(struct json_writer *w, const size_t *verdicts)
{
    JSON_MAP(w, "verdicts", int verdict = ESTIMATE_PASS; verdict <= ESTIMATE_FAIL; verdict++) {
        json_write_int(w, estimate_verdict_name((enum estimate_verdict)verdict),
                       (int64_t)verdicts[verdict]);
    }
}

static void write_result(struct json_writer *w, const struct model_row *row,
                         const struct selftest_result *result)
{
    const struct model_trial *c = &row->trial;
    JSON_OPEN(w, NULL, JSON("model", row->name), JSON("runs", result->runs),
              JSON("duration_s", (double)c->samples * c->dt_s), JSON("rate_hz", 1.0 / c->dt_s),
              JSON("loss_ratio", c->loss_ratio), JSON("well", result->well));
    write_verdicts(w, result->verdicts);
    JSON_LIST(w, "parameters", size_t i = 0; i < result->count; i++) {
        JSON_WRITE_OBJECT(w, NULL,
                          JSON_OF(&result->parameter[i], name, truth, known, mean, bias_z,
                                  bias_z_max, sd, se, scatter_ratio_max, covered, covered_min,
                                  well));
    }
    json_write_close(w);
}

/* Cases of models or scenarios, one after another; well: no deviation beyond chance. */
struct cases {
    const struct selftest_options *options;
    struct json_writer *w;
    size_t count;
    bool well, failed; /* failed: a case could not run */
};

static bool is_asked(const char *asked, const char *name)
{
    return !asked || strcmp(asked, name) == 0;
}

/* One more run of a model or of a scenario. */
struct runner {
    const struct model_row *row; /* NULL: the scenario */
    const struct selftest_scenario *scenario;
    struct selftest_result result;
    struct selftest_scenario_result scenario_result;
};

/* Does all runs of one case; false with a message when they fail. */
static bool run_case(struct cases *cases, struct runner *r)
{
    const struct selftest_options *options = cases->options;
    struct progress progress;
    struct err err = {0};
    enum status st = STATUS_OK;
    cases->count++;
    progress_start(&progress, r->row ? r->row->name : r->scenario->name);
    for (int run = 0; run < options->runs && st == STATUS_OK; run++) {
        st = r->row ? selftest_run(r->row, (uint64_t)options->seed, &r->result, &err)
                    : selftest_scenario_run(r->scenario, (uint64_t)options->seed,
                                            &r->scenario_result, &err);
        if (st == STATUS_OK && stop_signal_raised()) {
            st = err_set(&err, STATUS_E_STALE, FAULT_CANCELLED, "selftest",
                         "cancelled after %d of %d runs", run + 1, options->runs);
        }
        progress_step(&progress, (uint64_t)run + 1, (uint64_t)options->runs);
    }
    progress_end(&progress);
    cases->failed = st != STATUS_OK;
    if (cases->failed) {
        csv_file_complain(&err);
    }
    return !cases->failed;
}

static void run_models(struct cases *cases)
{
    for (size_t i = 0; model_row_at(i) && !cases->failed; i++) {
        struct runner r = {.row = model_row_at(i)};
        if (r.row->data != MODEL_OF_MOTION || !is_asked(cases->options->model, r.row->name)) {
            continue;
        }
        selftest_start(r.row, &r.result);
        if (!run_case(cases, &r)) {
            return;
        }
        selftest_judge(&r.result);
        cases->well = cases->well && r.result.well;
        if (cases->options->json) {
            write_result(cases->w, r.row, &r.result);
        } else {
            print_result(r.row, &r.result);
        }
    }
}

static void print_scenario(const struct selftest_scenario *scenario,
                           const struct selftest_scenario_result *result)
{
    char held[32] = "";
    char named[64] = "";
    const size_t judged = selftest_scenario_judged(scenario, result);
    size_t least = judged;
    size_t most = 0;
    const size_t noticed = selftest_scenario_noticed(scenario, result);
    for (size_t i = scenario->judged_from; i < result->count; i++) {
        least = result->covered[i] < least ? result->covered[i] : least;
        most = result->covered[i] > most ? result->covered[i] : most;
    }
    if (judged > 0 && result->count > 0) {
        (void)snprintf(held, sizeof held, "%.1f..%.1f %%",
                       100.0 * (double)least / (double)judged,
                       100.0 * (double)most / (double)judged);
    }
    if (scenario->code && noticed > 0) {
        (void)snprintf(named, sizeof named, "  %.0f %% %s",
                       100.0 * (double)result->named / (double)noticed, scenario->code);
    }
    (void)printf("  %-12s %-16s %-6s %6zu %8zu %6zu %7zu  %5zu (%zu) %15s%s%s\n",
                 scenario->model, scenario->name, selftest_claim_name(scenario->claim),
                 result->verdicts[ESTIMATE_PASS], result->verdicts[ESTIMATE_MARGINAL],
                 result->verdicts[ESTIMATE_FAIL], result->refused, result->wrong,
                 result->wrong_most, held, named, result->well ? "" : "  OUTSIDE");
}

static void write_scenario(struct json_writer *w, const struct selftest_scenario *scenario,
                           const struct selftest_scenario_result *result)
{
    const struct model_row *row = model_row_find(scenario->model);
    JSON_OPEN(w, NULL, JSON("scenario", scenario->name), JSON("model", row->name),
              JSON("claim", selftest_claim_name(scenario->claim)),
              JSON("words", scenario->words), JSON("runs", result->runs));
    write_verdicts(w, result->verdicts);
    JSON_WRITE(w, JSON("refused", result->refused), JSON("wrong", result->wrong),
               JSON("wrong_most", result->wrong_most),
               JSON("code", scenario->code ? scenario->code : ""), JSON("named", result->named),
               JSON("warned", result->warned),
               JSON("judged", selftest_scenario_judged(scenario, result)),
               JSON("judged_from", scenario->judged_from));
    JSON_LIST(w, "covered", size_t i = 0; i < result->count; i++) {
        json_write_int(w, NULL, (int64_t)result->covered[i]);
    }
    json_write_bool(w, "well", result->well);
    json_write_close(w);
}

static void run_scenarios(struct cases *cases, const char *asked)
{
    const struct selftest_options *options = cases->options;
    bool headed = options->json;
    for (size_t i = 0; i < selftest_scenario_count && !cases->failed; i++) {
        const struct selftest_scenario *scenario = &selftest_scenarios[i];
        struct runner r = {.scenario = scenario};
        if (!is_asked(options->model, scenario->model) || !is_asked(asked, scenario->name)) {
            continue;
        }
        if (!headed) {
            (void)printf("  %-12s %-16s %-6s %6s %8s %6s %7s %10s %15s  %s\n", "model",
                         "scenario", "is", "PASS", "MARGINAL", "FAIL", "refused", "mis (most)",
                         "held", "named");
            headed = true;
        }
        if (!run_case(cases, &r)) {
            return;
        }
        selftest_scenario_judge(scenario, &r.scenario_result);
        cases->well = cases->well && r.scenario_result.well;
        if (options->json) {
            write_scenario(cases->w, scenario, &r.scenario_result);
        } else {
            print_scenario(scenario, &r.scenario_result);
        }
    }
}

static int complain_none(const struct selftest_options *options)
{
    char guess[EDIT_GUESS_MAX];
    const bool known = !options->model || model_row_find(options->model);
    (void)fprintf(stderr, "tandem: selftest: no model '%s'%s",
                  options->model ? options->model : "any",
                  known ? "" : model_row_guess(options->model, guess));
    if (options->scenario) {
        (void)fprintf(stderr, " with a world '%s'", options->scenario);
    }
    (void)fputs(", 'tandem selftest --help' lists them\n", stderr);
    return EXIT_USAGE;
}

static int run_cases(const struct selftest_options *options)
{
    char text[1024];
    struct json_writer w;
    struct cases cases = {.options = options, .w = &w, .well = true};
    const bool all = !options->scenario || strcmp(options->scenario, "all") == 0;
    const bool none = options->scenario && strcmp(options->scenario, "none") == 0;
    json_write_start(&w, text, sizeof text, json_file_flush, stdout);
    if (options->json) {
        JSON_OPEN(&w, NULL, JSON("version", TANDEM_VERSION), JSON_WHOLE("seed", options->seed));
        json_write_array(&w, "models");
    }
    if (all || none) {
        run_models(&cases);
    }
    if (options->json) {
        json_write_close(&w);
        json_write_array(&w, "scenarios");
    }
    if (!none && !cases.failed) {
        run_scenarios(&cases, all ? NULL : options->scenario);
    }
    if (cases.failed) {
        return EXIT_FAILED;
    }
    if (cases.count == 0) {
        return complain_none(options);
    }
    if (options->json) {
        json_write_close(&w);
        json_write_bool(&w, "well", cases.well);
        json_write_close(&w);
        (void)json_write_end(&w);
        (void)putchar('\n');
    } else {
        (void)puts(cases.well ? "every estimate is where chance allows it"
                              : "an estimate is where chance does not allow it: see OUTSIDE");
    }
    return cases.well ? EXIT_FINE : EXIT_FAILED;
}

/* A model from a file is tested with the robot in that file. */
static bool load_model(const char **model)
{
    if (!model_argument_load("selftest", model)) {
        return false;
    }
    const struct model_row *row = model_row_find(*model);
    if (row && row->data == MODEL_OF_MOTION && row->trial.samples == 0) {
        return complain("selftest: the file of %s has no robot to test it with: trial, with "
                        "parameters, efforts and noise_sd",
                        *model);
    }
    return true;
}

int command_selftest(int argc, char **argv)
{
    struct selftest_options options = {.runs = 20, .seed = 1};
    char description[16384] =
        "  Records simulated robots with known parameters, noise, a delay and lost rows, as\n"
        "  tables and as journals, and identifies them as `tandem identify` does. It checks\n"
        "  the bias of every estimate, and how often its 95 % interval holds the truth,\n"
        "  against limits that pure chance exceeds in 1 of 1000 self tests. Then it does the\n"
        "  same in scenarios: where the model is right, where it is wrong (PASS is then a\n"
        "  failure), and where only the intervals must hold.\n  Models:";
    for (size_t i = 0; model_at(i); i++) {
        text_append(description, sizeof description, "%s%s%s", i % 4 == 0 ? "\n    " : " ",
                    model_at(i)->name,
                    model_at(i + 1) ? "," : "\n  Scenarios, also of travel times and arms:\n");
    }
    for (size_t i = 0; i < selftest_scenario_count; i++) {
        const struct selftest_scenario *w = &selftest_scenarios[i];
        text_append(description, sizeof description, "    %-12s %-16s %-5s  %s\n", w->model,
                    w->name, selftest_claim_name(w->claim), w->words);
    }
    /* clang-format off */
    const struct argument rows[] = {
        {"model", 'm', ARGUMENT_TEXT, &options.model, 0, 0, "NAME", "test this one only"},
        {"scenario", 0, ARGUMENT_TEXT, &options.scenario, 0, 0, "NAME",
         "this scenario only; all: all of them and the models; none: the models only (all)"},
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
        .exit_status = "an estimate, an interval or a verdict is not where chance allows it",
        ARGUMENT_ROWS(rows),
        .words = &(const struct argument_words){"model", model_argument_name},
        .word_count = 1};
    const int code = arguments_parse(&arguments, argc, argv);
    if (code != ARGUMENTS_PARSED) {
        return code;
    }
    if (options.model && !load_model(&options.model)) {
        return EXIT_USAGE;
    }
    stop_signal_install();
    return run_cases(&options);
}
