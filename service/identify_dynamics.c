#include "service/identify_dynamics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identification/dynamics_estimate.h"

static enum status hold_out(const struct identify_request *request,
                            struct identify_result *result, struct err *err)
{
    struct data_table table;
    const struct dynamics_source source = {request->validate, request->validate_count,
                                           result->held_out_files, &result->held_out_card};
    enum status st = dynamics_rows_load(result->kind, request, &source, &table, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = dynamics_check_run(result->kind->model, &result->fit, &table.set, &result->held_out);
    data_table_free(&table);
    result->is_held_out = true;
    result->held_out_count = request->validate_count;
    return st == STATUS_OK ? st : err_set(err, st, "data", 0, 0, "%s", status_name(st));
}

/* A fit fails for want of memory, or because of numbers so large that their squares overflow.
 */
static enum status explain(const struct identify_result *result, enum status st,
                           struct err *err)
{
    const struct model *model = result->kind->model;
    const char *name = "";
    double most = 0.0;
    for (size_t a = 0; a < model->axis_count; a++) {
        const struct data_channel *both[] = {&result->card.nu[a], &result->card.tau[a]};
        for (size_t k = 0; k < COUNT(both); k++) {
            const double size = fmax(fabs(both[k]->min), fabs(both[k]->max));
            if (size > most) {
                most = size;
                name = k == 0 ? model->axes[a].velocity : model->axes[a].effort;
            }
        }
    }
    if (st == STATUS_E_MATH && most > 1e9) {
        return err_set(err, st, "data", 0, 0, "%s reaches %.3g, which cannot be computed with",
                       name, most);
    }
    return err_set(err, st, "data", 0, 0, "the fit failed: %s", status_name(st));
}

/* How many iterations a search needs nobody knows: it comes ever closer to the end of its part.
 * There may be two, as auto and pem go on from output_error. */
static double share_of(enum dynamics_method stage, size_t iteration)
{
    const double begun = stage == DYNAMICS_PEM ? 0.5 : 0.15;
    return begun + 0.35 * (double)iteration / ((double)iteration + 8.0);
}

struct search {
    const struct identify_request *request;
};

static bool search_on(void *context, enum dynamics_method stage, size_t iteration)
{
    const struct identify_request *request = ((const struct search *)context)->request;
    return request->go_on(request->context, dynamics_method_name(stage),
                          share_of(stage, iteration));
}

static enum status give_up(struct err *err)
{
    return err_set(err, STATUS_E_STALE, "identify", 0, 0, "cancelled");
}

static enum status ask(const struct identify_request *request, const char *stage, double share,
                       struct err *err)
{
    return !request->go_on || request->go_on(request->context, stage, share) ? STATUS_OK
                                                                             : give_up(err);
}

/* method: DYNAMICS_METHOD_COUNT leaves the choice to the data. */
static enum status fit(const struct identify_request *request, enum dynamics_method method,
                       const struct data_set *set, struct identify_result *result,
                       struct err *err)
{
    const struct model *model = result->kind->model;
    struct dynamics_options options = dynamics_options_defaults();
    struct search search = {request};
    options.biases = request->biases;
    if (request->go_on) {
        options.go_on = search_on;
        options.context = &search;
    }
    enum status st = ask(request, "starting", 0.1, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = method == DYNAMICS_METHOD_COUNT
             ? dynamics_estimate_auto(model, set, &options, &result->fit)
             : dynamics_estimate(model, set, method, &options, &result->fit);
    if (st == STATUS_OK && result->fit.stop == DYNAMICS_STOP_CANCELLED) {
        return give_up(err);
    }
    return st == STATUS_OK ? st : explain(result, st, err);
}

static enum status check(const struct identify_request *request, const struct data_set *set,
                         struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    enum status st = ask(request, "checking", 0.9, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = dynamics_check_run(model, &result->fit, set, &result->own);
    if (st != STATUS_OK) {
        return explain(result, st, err);
    }
    if (request->validate_count > 0) {
        st = hold_out(request, result, err);
    }
    if (st == STATUS_OK) {
        dynamics_check_judge(&result->fit, model, &result->card, &result->kind->limits,
                             &result->own, result->is_held_out ? &result->held_out : NULL);
    }
    return st;
}

static enum status take_method(const struct identify_request *request,
                               enum dynamics_method *method, struct err *err)
{
    const char *name = request->method ? request->method : "auto";
    *method = DYNAMICS_METHOD_COUNT;
    if (strcmp(name, "auto") == 0 || dynamics_method_from_name(name, method)) {
        return STATUS_OK;
    }
    return err_set(err, STATUS_E_ARG, "identify", 0, 0,
                   "unknown method '%s', auto, output_error, pem, weak_iv, weak, ols_central "
                   "and ols_sg are known",
                   name);
}

enum status identify_dynamics_fit(const struct identify_kind *kind,
                                  const struct identify_request *request,
                                  struct identify_result *result, struct err *err)
{
    enum dynamics_method method = DYNAMICS_METHOD_COUNT;
    struct data_table table;
    enum status st = take_method(request, &method, err);
    if (st == STATUS_OK && request->file_count > IDENTIFY_FILES_MAX) {
        st = err_set(err, STATUS_E_ARG, "identify", 0, 0, "%zu files, %d are the limit",
                     request->file_count, (int)IDENTIFY_FILES_MAX);
    }
    if (st != STATUS_OK) {
        return st;
    }
    *result = (struct identify_result){.kind = kind, .file_count = request->file_count};
    const struct dynamics_source source = {request->files, request->file_count, result->files,
                                           &result->card};
    st = dynamics_rows_load(kind, request, &source, &table, err);
    if (st != STATUS_OK) {
        return st;
    }
    st = fit(request, method, &table.set, result, err);
    if (st == STATUS_OK) {
        st = check(request, &table.set, result, err);
    }
    data_table_free(&table);
    return st;
}

enum status identify_dynamics(const struct identify_model *model,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    struct identify_result *result = calloc(1, sizeof *result);
    if (!result) {
        return err_set(err, STATUS_E_NOMEM, "identify", 0, 0, "no memory");
    }
    const enum status st = identify_dynamics_fit(model->kind, request, result, err);
    if (st == STATUS_OK && request->json) {
        dynamics_page_json(result, out);
    } else if (st == STATUS_OK) {
        dynamics_page_print(result, out);
    }
    free(result);
    return st;
}
