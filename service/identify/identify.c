#include "service/identify/identify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/tool/json_file.h"
#include "service/tool/known_numbers.h"

static const struct identify_method *const methods[MODEL_DATA_COUNT] = {
    [MODEL_OF_MOTION] = &identify_dynamics,     [MODEL_OF_MOVES] = &identify_travel_time,
    [MODEL_OF_COMMANDS] = &identify_arm_time,   [MODEL_OF_WHEELS] = &identify_odometry,
    [MODEL_OF_JOINTS] = &identify_arm_friction, [MODEL_OF_POSES] = &identify_arm_kinematics,
};

/* Refuses options that do not apply to this kind of model. */
static enum status refuse_others(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    for (size_t i = 0; i < identify_option_count; i++) {
        const struct identify_option *option = &identify_options[i];
        if (!(option->data >> row->data & 1U) && identify_option_given(option, request)) {
            return err_set(err, STATUS_E_ARG, FAULT_NOT_APPLICABLE,
                           option->query ? option->query : option->argument.name,
                           "--%s is not for %s", option->argument.name, row->name);
        }
    }
    return STATUS_OK;
}

static enum status check_reference(const struct identify_method *method,
                                   const struct model_row *row,
                                   const struct identify_request *request, struct err *err)
{
    struct identify_head *head = request->reference ? calloc(1, method->bytes) : NULL;
    if (!head) {
        return request->reference ? err_no_memory(err, "identify", "no memory") : STATUS_OK;
    }
    head->row = row;
    const struct parameters_in_use_form known = method->name(head);
    const enum status st = parameters_in_use_check(request->reference, &known, err);
    free(head);
    return st;
}

enum status identify_check(const struct model_row *row, const struct identify_request *request,
                           struct err *err)
{
    if (strcmp(request->side, "real") != 0 && strcmp(request->side, "virtual") != 0) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "side",
                       "unknown side '%s', real and virtual are known", request->side);
    }
    if (identify_doubts(request) && request->plausible &&
        strcmp(request->plausible, "on") != 0) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "plausible",
                       "plausible is '%s', it must be on or off", request->plausible);
    }
    unsigned fail_if = 0;
    const struct identify_method *method = methods[row->data];
    enum status st = refuse_others(row, request, err);
    st = st == STATUS_OK ? identify_fail_if(request, &fail_if, err) : st;
    st = st == STATUS_OK ? column_map_check(&request->columns, row->roles, row->name, err) : st;
    st = st == STATUS_OK && method->check ? method->check(row, request, err) : st;
    return st == STATUS_OK ? check_reference(method, row, request, err) : st;
}

/* Refuses journals for a model that reads tables only. */
static enum status refuse_journal(const struct model_row *row, const char *path,
                                  struct err *err)
{
    char models[64] = "";
    for (size_t i = 0; model_row_at(i); i++) {
        if (model_row_at(i)->data == MODEL_OF_MOTION) {
            names_append_new(models, sizeof models, model_row_at(i)->name);
        }
    }
    return err_set(
        err, STATUS_E_PARSE, FAULT_WRONG_FILE, path,
        "is a journal: a line of JSON for each message. %s reads a table (CSV); "
        "travel_time reads the moves of a journal, and models of motion (%s) read its "
        "telemetry",
        row->name, models);
}

static enum status load_recordings(const struct identify_method *method,
                                   const struct identify_request *request, bool held_out,
                                   struct identify_head *head, struct err *err)
{
    return method->form ? table_rows_load(request, method->form, held_out, head, err)
                        : method->load(request, held_out, head, err);
}

/* Reads everything: values in use, recordings to be fitted, and held-out ones. */
static enum status read_request(const struct identify_method *method,
                                const struct identify_request *request,
                                struct identify_head *head, struct err *err)
{
    head->known = method->name(head);
    enum status st =
        parameters_in_use_read(request->reference, &head->known, head->reference, err);
    st = st == STATUS_OK ? load_recordings(method, request, false, head, err) : st;
    head->is_held_out = request->validate_count > 0;
    if (st == STATUS_OK && head->is_held_out) {
        st = load_recordings(method, request, true, head, err);
        identify_blame_held_out(request, st, err);
    }
    return st == STATUS_OK && method->form ? identify_ask_on(&head->caller, "fitting", 0.8, err)
                                           : st;
}

/* Compares with the values in use, adds advice, reports the outcome. */
static enum status conclude_fit(struct identify_head *head)
{
    struct estimate *e = head->known.part[0];
    parameters_in_use_judge(&head->reference[0], head->row->name, e);
    estimate_advise_worst(e);
    identify_report_outcome(&head->caller, e, head->reference[0].comparison.contradicts);
    return STATUS_OK;
}

enum status identify_find(const struct identify_method *method, const struct model_row *row,
                          const struct identify_request *request, void *result, struct err *err)
{
    struct identify_head *head = result;
    *head = (struct identify_head){
        .row = row, .caller = request->caller, .doubts = identify_doubts(request)};
    enum status st = read_request(method, request, head, err);
    st = st == STATUS_OK ? method->fit(result, err) : st;
    if (st == STATUS_OK && head->is_held_out && method->hold_out) {
        st = method->hold_out(result, err);
        identify_blame_held_out(request, st, err);
    }
    return st != STATUS_OK ? st
           : method->judge ? method->judge(result, err)
                           : conclude_fit(head);
}

struct found {
    const struct identify_method *method;
    const struct identify_head *head; /* of the result */
};

static void write_document(const void *what, struct json_writer *w)
{
    const struct found *found = what;
    found->method->write(found->head, w);
    if (found->head->files.count > 0) {
        identify_open_provenance(w);
        if (found->method->write_options) {
            found->method->write_options(found->head, w);
        }
        identify_close_provenance(w, &found->head->files, &found->head->held_out_files);
    }
}

/* Prints the page; values that the data do not determine are named so. */
static enum status print_page(const struct identify_method *method, const void *result,
                              FILE *out, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *page = open_memstream(&text, &bytes);
    if (page) {
        method->print(result, page);
        identify_files_print(page, "file: ", &((const struct identify_head *)result)->files);
    }
    const bool printed = page && fclose(page) == 0;
    if (printed) {
        known_numbers_print(text, out);
    }
    free(text);
    return printed ? STATUS_OK : err_no_memory(err, "identify", "no memory");
}

static enum status run_method(const struct identify_method *method, const struct model_row *row,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    void *result = calloc(1, method->bytes);
    if (!result) {
        return err_no_memory(err, "identify", "no memory");
    }
    enum status st = identify_find(method, row, request, result, err);
    if (st == STATUS_OK && request->json) {
        json_file_print(out, write_document, &(struct found){method, result});
    } else if (st == STATUS_OK) {
        st = print_page(method, result, out, err);
    }
    if (method->release) {
        method->release(result);
    }
    free(result);
    return st;
}

enum status identify_run(const struct model_row *row, const struct identify_request *request,
                         FILE *out, struct err *err)
{
    if (row->data != MODEL_OF_MOVES && row->data != MODEL_OF_COMMANDS &&
        request->file_count > IDENTIFY_FILES_MAX) {
        return err_set(err, STATUS_E_ARG, FAULT_TOO_MANY, "identify",
                       "%zu files, %d are the limit", request->file_count,
                       (int)IDENTIFY_FILES_MAX);
    }
    const bool reads_journals = row->data == MODEL_OF_MOTION || row->data == MODEL_OF_MOVES;
    for (size_t i = 0; !reads_journals && i < request->file_count; i++) {
        if (identify_is_journal(&request->files[i])) {
            return refuse_journal(row, request->files[i].path, err);
        }
    }
    return run_method(methods[row->data], row, request, out, err);
}
