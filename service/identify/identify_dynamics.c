#include "service/identify/identify_dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/dynamics/model_choice.h"
#include "identification/dynamics/unmodelled_term.h"
#include "service/identify/estimate_page.h"
#include "service/tool/gnuplot.h"
#include "twin/report/fit_report.h"

/* shares of the integration steps that are spent by the end of each stage; the checks get the
 * rest */
static const double STEPS_OF_INTERPOLATION = 0.2;
static const double STEPS_OF_VARIANT = 0.3;
static const double STEPS_OF_FIT = 0.6;
static const double STEPS_OF_CAUSE = 0.8;

/* ratio by which another variant must reduce the residual to be chosen */
static const double WORTH_RATIO = 1.02;

/* A fit fails for lack of memory, or because squares of huge numbers overflow. */
static enum status explain_failure(const struct identify_result *result, enum status st,
                                   struct err *err)
{
    const struct model *model = result->kind->model;
    const char *name = "";
    double most = 0.0;
    if (st == STATUS_E_STALE) {
        return identify_give_up(err);
    }
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *both[] = {&result->own.summary.nu[a],
                                             &result->own.summary.tau[a]};
        for (size_t k = 0; k < COUNT(both); k++) {
            const double size = fmax(fabs(both[k]->min), fabs(both[k]->max));
            if (size > most) {
                most = size;
                name = k == 0 ? model->axes[a].velocity : model->axes[a].effort;
            }
        }
    }
    if (st == STATUS_E_MATH && most > 1e9) {
        return err_set(err, st, FAULT_OUT_OF_RANGE, "data",
                       "%s reaches %.3g, which cannot be computed with", name, most);
    }
    return err_set(err, st, FAULT_FIT_FAILED, "data", "the fit failed: %s", status_name(st));
}

/* The number of iterations is unknown, so the progress approaches the end of its part. There
 * may be two searches, because auto and pem continue from output_error. */
static double share_of(enum dynamics_method stage, size_t iteration)
{
    const double begun = stage == DYNAMICS_PEM ? 0.5 : 0.15;
    return begun + 0.35 * (double)iteration / ((double)iteration + 8.0);
}

static bool search_on(void *context, enum dynamics_method stage, size_t iteration)
{
    const struct identify_caller *caller = context;
    return caller->go_on(caller->context, dynamics_method_name(stage),
                         share_of(stage, iteration));
}

static bool start_on(void *context, enum dynamics_method stage, size_t iteration)
{
    (void)stage;
    (void)iteration;
    return identify_ask_on(context, "starting", 0.1, NULL) == STATUS_OK;
}

/* Raises the limit of steps to a share of the whole, so that each stage leaves some to the
 * next. */
static void allow_steps(struct identify_result *result, double share)
{
    const struct step_budget whole = dynamics_options_budget(&result->own.table.set);
    result->steps.limit = (uint64_t)(share * (double)whole.limit);
    result->options.budget = &result->steps;
}

/* Chooses the input interpolation between rows; held-out rows use the same. */
static enum status choose_interpolation(struct identify_result *result, struct err *err)
{
    struct dynamics_options options = result->options;
    options.go_on = options.go_on ? start_on : NULL;
    enum status st = input_interpolation_choose(result->kind->model, &result->own.table,
                                                &options, result->asked_hold, &result->hold);
    if (st == STATUS_E_STALE) {
        return identify_give_up(err);
    }
    if (st == STATUS_OK && result->head.is_held_out) {
        struct interpolation_choice same;
        st = input_interpolation_choose(result->kind->model, &result->held_out.table,
                                        &result->options, result->hold.hold, &same);
    }
    return st == STATUS_OK ? st : explain_failure(result, st, err);
}

/* Variants without an order are tuned by simulation, once chosen. Ordered variants have a
 * turn-over velocity and need no tuning. */
static enum status tune_variant(struct identify_result *result)
{
    const bool simulates =
        names_value(&dynamics_method_names, result->asked) >= (size_t)DYNAMICS_OUTPUT_ERROR;
    if (result->turn_over_velocity > 0.0 || result->chosen.variant) {
        return STATUS_OK;
    }
    result->tuned = *result->chosen.model;
    result->chosen.model = &result->tuned;
    return simulates ? model_tune(&result->own.table.set, &result->options, &result->tuned)
                     : STATUS_OK;
}

/* Makes the variant that fits the recording best the model of this kind. */
static enum status choose_variant(struct identify_result *result, struct err *err)
{
    const struct model_row *row = result->kind;
    size_t at = 0;
    if (!row->variants) {
        return STATUS_OK;
    }
    enum status st = model_choose(row->variants, row->variant_count, &result->own.table.set,
                                  &result->options, &at);
    if (st != STATUS_OK) {
        return explain_failure(result, st, err);
    }
    result->chosen = *row;
    result->chosen.model = row->variants[at].model;
    result->turn_over_velocity = row->variants[at].velocity;
    result->kind = &result->chosen;
    result->variants.chosen = at;
    st = tune_variant(result);
    return st == STATUS_OK ? st : explain_failure(result, st, err);
}

static enum status fit_model(const struct identify_result *result, const struct model *model,
                             struct dynamics_fit *fit)
{
    const size_t method = names_value(&dynamics_method_names, result->asked);
    const struct data_set *set = &result->own.table.set;
    return method == DYNAMICS_METHOD_COUNT
               ? dynamics_estimate_auto(model, set, &result->options, fit)
               : dynamics_estimate(model, set, (enum dynamics_method)method, &result->options,
                                   fit);
}

/* Tries narrower variants in turn when auto did not simulate the chosen one. A joint with
 * perfect stiction can only be simulated by the narrowest variant, because the others creep. If
 * none can be simulated, the regression result stays. */
static enum status simulate_narrowest(struct identify_result *result)
{
    const struct model_variant *variants = result->kind->variants;
    for (size_t k = 0;
         result->fit.method == DYNAMICS_WEAK && result->fit.stop <= DYNAMICS_STOP_DIVERGED &&
         variants && variants[k].model != result->kind->model;
         k++) {
        struct dynamics_fit fit;
        const enum status st = fit_model(result, variants[k].model, &fit);
        if (st != STATUS_OK) {
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
        if (fit.method >= DYNAMICS_OUTPUT_ERROR || fit.stop == DYNAMICS_STOP_CANCELLED) {
            result->fit = fit;
            result->chosen.model = variants[k].model;
            result->turn_over_velocity = variants[k].velocity;
        }
    }
    return STATUS_OK;
}

/* Noise hides narrow variants from a regression, not from a simulation. So the next narrower
 * variant is tried while the residual is not white. */
static enum status narrow_variant(struct identify_result *result)
{
    const struct model_variant *variants = result->kind->variants;
    size_t at = 0;
    while (variants && at < result->kind->variant_count &&
           variants[at].model != result->kind->model) {
        at++;
    }
    at = at < result->kind->variant_count ? at : 0; /* a tuned variant is not in the list */
    while (at > 0 && variants[at].velocity > 0.0 &&
           result->fit.method >= DYNAMICS_OUTPUT_ERROR &&
           (result->fit.estimate.verdict != ESTIMATE_PASS ||
            estimate_has_reason(&result->fit.estimate, REASON_AUTOCORRELATED))) {
        struct dynamics_fit fit;
        const enum status st = fit_model(result, variants[--at].model, &fit);
        if (st != STATUS_OK || fit.stop == DYNAMICS_STOP_CANCELLED) {
            result->fit = st == STATUS_OK ? fit : result->fit;
            return st == STATUS_E_MATH ? STATUS_OK : st;
        }
        if (fit.method < DYNAMICS_OUTPUT_ERROR ||
            !(fit.residual_sd[0] * WORTH_RATIO < result->fit.residual_sd[0])) {
            return STATUS_OK;
        }
        result->fit = fit;
        result->chosen.model = variants[at].model;
        result->turn_over_velocity = variants[at].velocity;
    }
    return STATUS_OK;
}

/* Returns values of a constant in a model's file; none for models whose variants have an
 * order. */
static struct variant_list list_values(const struct model_row *row)
{
    const bool has = row->variant && !(row->variants[0].velocity > 0.0);
    return (struct variant_list){row->variant, row->variants, has ? row->variant_count : 0};
}

static enum status select_variant(struct identify_result *result)
{
    const struct variant_list list = list_values(result->kind);
    const enum status st = variant_choice_select(
        &list, &result->own.table.set, &result->options, &result->fit, &result->variants);
    result->chosen.model = list.variants[result->variants.chosen].model;
    return st;
}

static enum status fit_data(struct identify_result *result, struct err *err)
{
    enum status st = identify_ask_on(&result->head.caller, "starting", 0.1, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = fit_model(result, result->kind->model, &result->fit);
    if (st == STATUS_OK && strcmp(result->asked, "auto") == 0 &&
        result->turn_over_velocity > 0.0) {
        st = simulate_narrowest(result);
    }
    const bool more = st == STATUS_OK && result->fit.stop != DYNAMICS_STOP_CANCELLED &&
                      result->fit.stop != DYNAMICS_STOP_STILL;
    if (more && list_values(result->kind).count > 0) {
        st = select_variant(result);
    } else if (more) {
        st = narrow_variant(result);
    }
    if (st == STATUS_OK && result->fit.stop == DYNAMICS_STOP_CANCELLED) {
        return identify_give_up(err);
    }
    return st == STATUS_OK ? st : explain_failure(result, st, err);
}

/* Finds a lag or a drift. With a lag, the model is fitted again, and a drift is sought again.
 */
static enum status find_cause(struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    const struct data_set *set = &result->own.table.set;
    enum status st =
        dynamics_estimate_cause(model, set, &result->options, &result->fit, &result->cause);
    if (st == STATUS_OK && result->cause.effect == EFFORT_LAG) {
        result->lag = result->cause.lag;
        st = effort_lag_apply(&result->own.table, &result->lag);
        if (st == STATUS_OK && result->head.is_held_out) {
            st = effort_lag_apply(&result->held_out.table, &result->lag);
        }
        if (st == STATUS_OK) {
            st = fit_data(result, err);
            if (st != STATUS_OK) {
                return st;
            }
            effort_lag_widen(model, set, &result->lag, &result->fit);
            st = dynamics_estimate_cause(model, set, &result->options, &result->fit,
                                         &result->cause);
        }
    }
    return st == STATUS_OK ? st : explain_failure(result, st, err);
}

/* Efforts that change between rows get their times, and the model is fitted again, so that
 * later tests do not see them. */
static enum status fit_phases(struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    const struct dynamics_fit before = result->fit;
    struct input_phases ignored;
    enum status st = dynamics_estimate_phases(model, &result->options, &before, true,
                                              &result->own.table, &result->phases);
    if (st == STATUS_OK && result->head.is_held_out) {
        st = dynamics_estimate_phases(model, &result->options, &before, false,
                                      &result->held_out.table, &ignored);
    }
    if (st != STATUS_OK) {
        return explain_failure(result, st, err);
    }
    if (result->phases.within_row) {
        st = fit_data(result, err);
    }
    if (st == STATUS_OK && result->phases.within_row) {
        input_phases_widen(&result->phases, result->kind->model, &result->own.table.set,
                           &result->fit);
    }
    return st;
}

struct filter {
    const struct identify_caller *caller;
    bool ended; /* the caller cancelled */
};

static bool filter_on(void *context, enum dynamics_method stage, size_t which)
{
    struct filter *filter = context;
    const struct identify_caller *caller = filter->caller;
    (void)stage;
    filter->ended = !caller->go_on(caller->context, "other windows",
                                   0.85 + 0.05 * (double)which / ((double)which + 4.0));
    return !filter->ended;
}

/* Checks the recording again: simulated, and through other windows. */
static enum status check_own(struct identify_result *result, struct err *err)
{
    const struct identify_caller *caller = &result->head.caller;
    const struct model *model = result->kind->model;
    const struct data_set *set = &result->own.table.set;
    struct dynamics_options options = result->options;
    struct filter filter = {.caller = caller};
    if (caller->go_on) {
        options.go_on = filter_on;
        options.context = &filter;
    }
    enum status st = dynamics_sensitivity_run(model, set, result->fit.method, &options,
                                              result->fit.delay_s, &result->sensitivity);
    if (filter.ended) {
        return identify_give_up(err);
    }
    if (st == STATUS_OK) {
        st = identify_ask_on(caller, "checking", 0.9, err);
        if (st != STATUS_OK) {
            return st;
        }
        st = dynamics_check_run(model, &result->fit, set, &result->own.check);
    }
    return st == STATUS_OK ? st : explain_failure(result, st, err);
}

static enum status check_held_out(struct identify_result *result, struct err *err)
{
    const enum status st =
        dynamics_check_held_out(result->kind->model, &result->fit, &result->held_out.table.set,
                                &result->held_out.check);
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, "data", "%s", status_name(st));
}

/* Compares with the parameters in use after the standard errors have their final values. */
static enum status compare_reference(struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    const enum status st =
        dynamics_compare(model, &result->fit, &result->own.table.set,
                         &result->head.reference[0].values, &result->comparison);
    if (st != STATUS_OK) {
        return explain_failure(result, st, err);
    }
    dynamics_compare_judge(&result->fit, model, &result->head.reference[0].values,
                           &result->comparison);
    return st;
}

static enum status judge_fit(struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    struct unmodelled_term missing;
    if (result->fit.stop == DYNAMICS_STOP_STILL) {
        return STATUS_OK; /* there is nothing to simulate or to compare */
    }
    allow_steps(result, 1.0);
    enum status st = check_own(result, err);
    if (st == STATUS_OK && result->head.is_held_out) {
        st = check_held_out(result, err);
    }
    if (st == STATUS_OK && model->sticks) {
        unmodelled_term_find(model, &result->fit, &result->own.table.set, &missing);
        st = unmodelled_term_try(model, &result->fit, &result->own.table.set, &result->options,
                                 &missing);
    }
    if (st == STATUS_OK) {
        dynamics_sensitivity_judge(&result->fit, model, &result->sensitivity);
        if (model->sticks) {
            unmodelled_term_judge(&result->fit, model, &missing);
        }
        if (result->variants.count > 0) {
            const struct variant_list list = list_values(result->kind);
            variant_choice_judge(&list, &result->variants, &result->fit);
        }
        input_interpolation_report(&result->fit, &result->hold);
        effort_cause_judge(model, &result->cause, &result->lag, &result->fit);
        input_phases_judge(&result->phases, &result->fit);
        dynamics_check_judge(&result->fit, model, &result->own.summary,
                             result->head.doubts ? &result->kind->limits : NULL,
                             &result->own.check,
                             result->head.is_held_out ? &result->held_out.check : NULL);
        column_check_judge(&result->columns, model, &result->own.summary, &result->fit);
        dynamics_note_tried(&result->fit, model, &result->own.check, result->head.is_held_out);
    }
    return st == STATUS_OK && result->head.reference[0].given ? compare_reference(result, err)
                                                              : st;
}

/* Parameters, constant efforts, the delay. */
static struct parameters_in_use_form name_parameters(void *what)
{
    struct identify_result *result = what;
    const struct model *model = result->head.row->model;
    dynamics_fit_start(&result->fit, model, DYNAMICS_WEAK_IV, true);
    return (struct parameters_in_use_form){model->name, {&result->fit.estimate}, true};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    const char *method = request->method ? request->method : "auto";
    if (names_value(&dynamics_method_names, method) == DYNAMICS_METHOD_COUNT &&
        strcmp(method, "auto") != 0) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "method",
                       "unknown method '%s', auto, output_error, pem, weak_iv, weak, "
                       "ols_central and ols_sg are known",
                       method);
    }
    if (row->model->varying_inertia && strncmp(method, "weak", 4) == 0) {
        return err_set(err, STATUS_E_ARG, FAULT_METHOD_UNSUITED, "method",
                       "%s: weak forms need a constant inertia, that of %s depends on the "
                       "motion or the pose: use output_error or ols_central",
                       method, row->name);
    }
    if (request->hold &&
        names_value(&input_interpolation_names, request->hold) == INPUT_INTERPOLATION_COUNT) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "hold",
                       "hold is '%s', it must be zoh, linear or auto", request->hold);
    }
    const enum status st = request->plot ? gnuplot_check_path(request->plot, err) : STATUS_OK;
    return st == STATUS_OK ? identify_next_check(row, request, err) : st;
}

static struct dynamics_options read_options(const struct identify_request *request,
                                            struct identify_result *result)
{
    struct dynamics_options options = dynamics_options_for(result->kind->model);
    options.biases = request->biases;
    options.ridge = request->ridge;
    options.robust = request->robust;
    if (request->delay_max_s >= 0.0) {
        options.delay_max_s = request->delay_max_s;
    }
    if (request->caller.go_on) {
        options.go_on = search_on;
        options.context = &result->head.caller;
    }
    return options;
}

static enum status load_recording(const struct identify_request *request, bool held_out,
                                  void *what, struct err *err)
{
    struct identify_result *result = what;
    if (held_out) {
        result->held_out.files = &result->head.held_out_files;
        return dynamics_rows_load(result->kind, request, request->validate,
                                  request->validate_count, &result->held_out, err);
    }
    result->kind = result->head.row;
    result->asked = request->method ? request->method : "auto";
    result->asked_hold = (enum input_interpolation)names_value(
        &input_interpolation_names, request->hold ? request->hold : "auto");
    result->plot = request->plot;
    result->next_options = request->next;
    result->own.files = &result->head.files;
    result->options = read_options(request, result);
    return dynamics_rows_load(result->kind, request, request->files, request->file_count,
                              &result->own, err);
}

/* Checks the columns. If they contradict each other, nothing is compared with the fit. */
static enum status check_columns(struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    const struct data_set *set = &result->own.table.set;
    const enum status st = column_check_run(model, set, &result->columns);
    if (st != STATUS_OK) {
        return explain_failure(result, st, err);
    }
    result->refused =
        column_check_refuse(&result->columns, model, set, &result->own.summary, &result->fit);
    if (result->refused) {
        result->own.check =
            (struct dynamics_check){.effort_r2 = (double)NAN, .motion_s = (double)NAN};
        result->head.is_held_out = result->head.reference[0].given = false;
    }
    return st;
}

static enum status fit_recording(void *what, struct err *err)
{
    struct identify_result *result = what;
    enum status st = check_columns(result, err);
    if (st != STATUS_OK || result->refused) {
        return st;
    }
    allow_steps(result, STEPS_OF_INTERPOLATION);
    st = choose_interpolation(result, err);
    allow_steps(result, STEPS_OF_VARIANT);
    st = st == STATUS_OK ? choose_variant(result, err) : st;
    allow_steps(result, STEPS_OF_FIT);
    st = st == STATUS_OK ? fit_data(result, err) : st;
    allow_steps(result, STEPS_OF_CAUSE);
    if (st != STATUS_OK || result->fit.stop == DYNAMICS_STOP_STILL) {
        return st;
    }
    st = fit_phases(result, err);
    return st == STATUS_OK && !result->kind->model->channels ? find_cause(result, err) : st;
}

static enum status judge_recording(void *what, struct err *err)
{
    struct identify_result *result = what;
    const enum status st = result->refused ? STATUS_OK : judge_fit(result, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (isfinite(result->fit.delay_s)) {
        result->fit.delay_s += result->lag.delay_s; /* the efforts already had it */
    }
    result->options.go_on = NULL;
    result->options.context = NULL;
    result->options.budget = NULL;
    /* Report options as chosen from the recording. */
    result->options = dynamics_options_chosen(&result->own.table.set, &result->options);
    identify_report_outcome(&result->head.caller, &result->fit.estimate,
                            result->comparison.values.contradicts);
    return result->plot && !result->refused ? identify_dynamics_plot(result, result->plot, err)
                                            : st;
}

static void add_derived(struct fitted_numbers *numbers, const char *name, const char *end,
                        const struct dynamics_derived *derived)
{
    struct fitted_number number = {.value = derived->value,
                                   .se = derived->se,
                                   .lo = derived->lo,
                                   .hi = derived->hi,
                                   .known = isfinite(derived->value) && derived->se > 0.0,
                                   .derived = true};
    (void)snprintf(number.name, sizeof number.name, "%s%s", name, end);
    if (isfinite(derived->value)) {
        fitted_numbers_add(numbers, &number);
    }
}

static void derive_numbers(const void *what, struct fitted_numbers *numbers)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    struct dynamics_derived derived;
    for (size_t i = 0; i < model->derived_count; i++) {
        dynamics_derive(&result->fit, model, i, &derived);
        add_derived(numbers, model->derived[i].name, "", &derived);
        if (dynamics_derive_with_delay(&result->fit, model, i, &derived)) {
            add_derived(numbers, model->derived[i].name, "_with_delay", &derived);
        }
    }
    dynamics_derive_delay(&result->fit, &derived);
    add_derived(numbers, "delay_s", "", &derived);
}

static bool describe_efforts(const void *what, char *text, size_t bytes)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    bool varies = true;
    text[0] = '\0';
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *effort = &result->own.summary.tau[a];
        text_append(text, bytes, "%s%s %.4g .. %.4g", a > 0 ? ", " : "", model->axes[a].effort,
                    effort->min, effort->max);
        /* An axis without an effort has no level. */
        varies = varies && result->columns.levels[a].levels != 1;
    }
    return varies;
}

void identify_result_free(void *what)
{
    struct identify_result *result = what;
    data_table_free(&result->own.table);
    data_table_free(&result->held_out.table);
}

/* ---- for people ---- */

/* Some models treat joints and slides alike, so the page says which units hold. */
static void print_units(const struct model *model, FILE *out)
{
    if (model->sticks) {
        (void)fputs(
            "  units: of effort by motion, as recorded: N m and rad give kg m^2, N m s, "
            "N m;\n  N and m give kg, N s/m, N; volts or amperes stand for the effort\n",
            out);
    }
}

static void print_page(const void *what, FILE *out)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    (void)fprintf(out, "%s by %s", model->name, dynamics_method_name(result->fit.method));
    estimate_page_print(out, &result->fit.estimate);
    print_units(model, out);
}

/* ---- JSON ---- */

static void write_summary(struct json_writer *w, const struct model *model,
                          const struct identify_data *data)
{
    json_write_object(w, "data");
    dynamics_report_summary(w, model, &data->summary);
    JSON_BLOCK(w, "journal", data->is_journal) {
        JSON_WRITE(w,
                   JSON_OF(&data->journal, pair, lines, unreadable, malformed, samples, others,
                           restarts, sequence_gaps, lost, repeated, controlled),
                   JSON_COUNTS("stamped", &journal_stamp_names, data->journal.stamped));
    }
    json_write_close(w);
}

static void write_held_out(struct json_writer *w, const struct model *model,
                           const struct estimate *estimate, const struct identify_data *data)
{
    JSON_BLOCK(w, "held_out", data->files != NULL) {
        dynamics_report_check(w, model, estimate, &data->check);
        dynamics_report_asks(w, estimate, &data->check.stability);
        write_summary(w, model, data);
    }
}

static void write_options(const void *what, struct json_writer *w)
{
    const struct identify_result *result = what;
    JSON_OPEN(w, "options", JSON("method", result->asked),
              JSON("hold", names_text(&input_interpolation_names, result->hold.hold)),
              JSON("turn_over_velocity",
                   result->turn_over_velocity > 0.0 ? result->turn_over_velocity : (double)NAN),
              JSON("variant", result->variants.count > 0 ? result->kind->variant : NULL),
              JSON("variant_value",
                   result->variants.count > 0 ? result->kind->model->width : (double)NAN),
              JSON("half_track_m", result->tuned.name ? result->tuned.width : (double)NAN));
    dynamics_report_options(w, &result->options);
    json_write_close(w);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct identify_result *result = what;
    const struct model *model = result->kind->model;
    dynamics_report_fit(w, model, &result->fit);
    json_write_object(w, "fit");
    dynamics_report_check(w, model, &result->fit.estimate, &result->own.check);
    json_write_close(w);
    write_held_out(w, model, &result->fit.estimate, &result->held_out);
    dynamics_report_sensitivity(w, &result->fit.estimate, &result->sensitivity);
    dynamics_report_comparison(w, model, &result->fit.estimate,
                               &result->head.reference[0].values,
                               result->head.reference[0].given ? &result->comparison : NULL);
    write_summary(w, model, &result->own);
    if (result->head.curves && !result->refused && result->fit.stop != DYNAMICS_STOP_STILL) {
        identify_dynamics_curves(w, result);
    }
    identify_next_write(w, result);
}

static enum status plan_next(void *what, struct err *err)
{
    return identify_next_make(what, err);
}

const struct identify_method identify_dynamics = {.bytes = sizeof(struct identify_result),
                                                  .name = name_parameters,
                                                  .check = check_request,
                                                  .derive = derive_numbers,
                                                  .describe = describe_efforts,
                                                  .load = load_recording,
                                                  .fit = fit_recording,
                                                  .judge = judge_recording,
                                                  .plan = plan_next,
                                                  .write = write_members,
                                                  .write_options = write_options,
                                                  .print = print_page,
                                                  .release = identify_result_free};
