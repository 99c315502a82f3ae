/* tandem selftest - injects known parameters, and sees whether identification finds them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/csv_file.h"
#include "service/cli/json_file.h"
#include "service/cli/progress.h"
#include "service/cli/stop_signal.h"
#include "service/cli/version.h"
#include "service/identify/selftest.h"

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
