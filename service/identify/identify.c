#include "service/identify/identify.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/known_numbers.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify_between.h"
#include "service/tool/document_page.h"
#include "service/tool/json_file.h"
#include "service/tool/version.h"
#include "twin/report/fit_report.h"

/* Rough ratio of the work that is done while recordings are fitted one by one. */
static const double SINGLE_SHARE = 0.9;

static const struct identify_method *const methods[MODEL_DATA_COUNT] = {
    [MODEL_OF_MOTION] = &identify_dynamics,       [MODEL_OF_MOVES] = &identify_travel_time,
    [MODEL_OF_COMMANDS] = &identify_arm_time,     [MODEL_OF_WHEELS] = &identify_odometry,
    [MODEL_OF_JOINTS] = &identify_arm_friction,   [MODEL_OF_POSES] = &identify_arm_kinematics,
    [MODEL_OF_SERVOS] = &identify_position_servo,
};

/* Refuses options that do not apply to this kind of model. */
static enum status refuse_others(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    for (size_t i = 0; i < identify_option_count; i++) {
        const struct identify_option *option = &identify_options[i];
        if (!(option->data >> row->data & 1U) && identify_option_given(option, request)) {
            const bool plans = option->at == offsetof(struct identify_request, next.path);
            return err_set(err, STATUS_E_ARG, FAULT_NOT_APPLICABLE,
                           option->query ? option->query : option->argument.name,
                           "--%s is not for %s%s", option->argument.name, row->name,
                           plans ? ", but for models of motion only; for moves: tandem drive "
                                   "--plan"
                                 : "");
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
    st = st == STATUS_OK && request->write
             ? model_fragment_check(identify_fragment_format(request), row->name,
                                    request->fragment.joint, err)
             : st;
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

static struct estimate *find_verdict(const struct identify_head *head)
{
    return head->judged ? head->judged : head->known.part[0];
}

static void judge_between(struct identify_head *head)
{
    const unsigned contradicts = 1U << IDENTIFY_CONTRADICTS;
    identify_between_judge(head->between, find_verdict(head));
    identify_report_outcome(&head->caller, find_verdict(head),
                            head->caller.outcome && (*head->caller.outcome & contradicts));
}

static void list_numbers(const struct identify_method *method, const struct identify_head *head,
                         struct fitted_numbers *numbers)
{
    numbers->count = 0;
    for (size_t k = 0; k < PARAMETERS_IN_USE_PARTS_MAX && head->known.part[k]; k++) {
        fitted_numbers_add_estimate(numbers, head->known.part[k]);
    }
    if (method->derive) {
        method->derive(head, numbers);
    }
}

/* Asks whether to continue, without moving the progress. */
static bool go_on_single(void *context, const char *stage, double share)
{
    const struct identify_caller *caller = context;
    (void)stage;
    (void)share;
    return caller->go_on(caller->context, "each recording", SINGLE_SHARE);
}

/* Returns the file's name without folders, or with them if another file has the same. */
static const char *name_recording(const struct identify_request *request, size_t at)
{
    const char *path = request->files[at].path;
    const char *name = identify_base_name(path);
    for (size_t i = 0; i < request->file_count; i++) {
        if (i != at && strcmp(identify_base_name(request->files[i].path), name) == 0) {
            return path;
        }
    }
    return name;
}

/* Fits the next recording by itself. One that cannot be fitted does not count. */
static enum status fit_single(const struct identify_method *method, const struct model_row *row,
                              const struct identify_request *request,
                              struct identify_between *between)
{
    struct identify_caller caller = request->caller;
    struct identify_request single = *request;
    struct identify_recording *recording = &between->recording[between->count];
    struct fitted_numbers numbers;
    struct identify_head *head = calloc(1, method->bytes);
    struct err err = {0};
    if (!head) {
        return STATUS_E_NOMEM;
    }
    single.files = &request->files[between->count];
    single.file_count = 1;
    single.validate_count = 0;
    single.reference = single.plot = single.next.path = NULL;
    single.caller = (struct identify_caller){.go_on = caller.go_on ? go_on_single : NULL,
                                             .context = &caller};
    recording->name = name_recording(request, between->count);
    const enum status st = identify_find(method, row, &single, head, &err);
    if (st == STATUS_OK) {
        const bool varies = !method->describe ||
                            method->describe(head, recording->range, sizeof recording->range);
        list_numbers(method, head, &numbers);
        /* The values of a FAIL must not be used. */
        const bool counts = varies && find_verdict(head)->verdict != ESTIMATE_FAIL;
        identify_between_add(between, find_verdict(head), counts ? &numbers : NULL);
    }
    if (method->release) {
        method->release(head);
    }
    free(head);
    between->count++;
    return st == STATUS_E_STALE || st == STATUS_E_NOMEM ? st : STATUS_OK;
}

/* Fits each recording by itself and compares; *between is to be freed. */
static enum status compare_recordings(const struct identify_method *method,
                                      const struct model_row *row,
                                      const struct identify_request *request,
                                      struct identify_between **between, struct err *err)
{
    struct identify_between *found = calloc(1, sizeof *found);
    enum status st = found ? STATUS_OK : STATUS_E_NOMEM;
    for (size_t i = 0; i < request->file_count && st == STATUS_OK; i++) {
        st = fit_single(method, row, request, found);
    }
    if (st != STATUS_OK) {
        free(found);
        return st == STATUS_E_STALE ? identify_give_up(err)
                                    : err_no_memory(err, "identify", "no memory");
    }
    found->worst = numbers_between_find(found->number, found->number_count);
    *between = found;
    return STATUS_OK;
}

enum status identify_find(const struct identify_method *method, const struct model_row *row,
                          const struct identify_request *request, void *result, struct err *err)
{
    struct identify_head *head = result;
    *head = (struct identify_head){.row = row,
                                   .caller = request->caller,
                                   .doubts = identify_doubts(request),
                                   .curves = request->curves};
    enum status st = read_request(method, request, head, err);
    st = st == STATUS_OK ? method->fit(result, err) : st;
    if (st == STATUS_OK && identify_between_asked(request)) {
        st = compare_recordings(method, row, request, &head->between, err);
    }
    if (st == STATUS_OK && head->is_held_out && method->hold_out) {
        st = method->hold_out(result, err);
        identify_blame_held_out(request, st, err);
    }
    st = st != STATUS_OK ? st : method->judge ? method->judge(result, err) : conclude_fit(head);
    if (st == STATUS_OK && head->between) {
        judge_between(head);
    }
    return st;
}

struct found {
    const struct identify_method *method;
    const struct identify_head *head; /* of the result */
};

/* Writes files with their sizes and hashes. */
static void write_files(struct json_writer *w, const char *key,
                        const struct identify_files *files)
{
    JSON_LIST(w, key, size_t i = 0; i < files->count; i++) {
        char hash[17];
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, files->file[i].mark.hash);
        JSON_WRITE_OBJECT(w, NULL, JSON("name", files->file[i].name),
                          JSON("bytes", files->file[i].mark.bytes), JSON("fnv1a", hash));
    }
}

static void write_document(const void *what, struct json_writer *w)
{
    const struct found *found = what;
    found->method->write(found->head, w);
    if (found->head->between) {
        identify_between_write(w, found->head->between);
    }
    if (found->head->files.count > 0) {
        JSON_OPEN(w, "provenance", JSON("version", TANDEM_VERSION));
        if (found->method->write_options) {
            found->method->write_options(found->head, w);
        }
        write_files(w, "files", &found->head->files);
        write_files(w, "held_out", &found->head->held_out_files);
        json_write_close(w);
    }
}

/* Writes the members of a document that answer what was asked for: values derived from the
 * parameters, comparisons with held-out recordings, parameters in use, and between recordings.
 */
static void write_answers(const void *what, struct json_writer *w)
{
    static const char *const answers[] = {"derived", "validation", "held_out", "comparison",
                                          "between", "recordings", "next"};
    static const char *const details[] = {"one_step",      "residuals", "parts",
                                          "effort_shapes", "asks_for",  "data"};
    json_t *document = json_file_document(write_document, what);
    for (size_t i = 0; i < COUNT(details); i++) {
        (void)json_object_del(json_object_get(document, "held_out"), details[i]);
    }
    for (size_t i = 0; i < COUNT(answers); i++) {
        char *text = json_dumps(json_object_get(document, answers[i]), JSON_COMPACT);
        if (text) {
            json_write_raw(w, answers[i], text, strlen(text));
        }
        free(text);
    }
    json_decref(document);
}

/* Prints the page; values that the data do not determine are named so. */
static enum status print_page(const struct identify_method *method, const void *result,
                              bool details, FILE *out, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    enum status st = STATUS_OK;
    FILE *page = open_memstream(&text, &bytes);
    if (page) {
        method->print(result, page);
        if (details) {
            estimate_page_details(page, find_verdict(result));
        }
        st = document_page_print(page, details ? write_document : write_answers,
                                 &(struct found){method, result});
        (void)fputs(details ? "" : "\n--details prints the rest\n", page);
    }
    const bool closed = page && fclose(page) == 0 && st == STATUS_OK;
    const size_t room = 3 * bytes + 1; /* the words are longer than what they replace */
    char *larger = closed ? realloc(text, room) : NULL;
    const bool printed = larger != NULL;
    if (printed) {
        known_numbers_replace(larger, room);
        (void)fputs(larger, out);
    }
    free(printed ? larger : text);
    return printed ? STATUS_OK : err_no_memory(err, "identify", "no memory");
}

/* Writes the fragment instead of the result. A FAIL writes nothing. */
static enum status write_fragment(const struct identify_method *method,
                                  const struct identify_request *request, void *result,
                                  FILE *out, struct err *err)
{
    const struct identify_head *head = result;
    const struct estimate *e = find_verdict(head);
    const char *reason =
        e->verdict != ESTIMATE_PASS && e->reason_count > 0 ? e->reasons[0] : NULL;
    struct fitted_numbers numbers;
    if (e->verdict == ESTIMATE_FAIL) {
        return err_set(err, STATUS_E_MATH, FAULT_FIT_FAILED, "write",
                       "nothing is written: the verdict is FAIL (%s)", reason ? reason : "-");
    }
    list_numbers(method, head, &numbers);
    const struct model_fragment fragment = {.model = head->row->name,
                                            .verdict = e->verdict,
                                            .reason = reason,
                                            .numbers = &numbers,
                                            .options = request->fragment};
    model_fragment_write(&fragment, identify_fragment_format(request), json_file_flush, out);
    return STATUS_OK;
}

static enum status run_method(const struct identify_method *method, const struct model_row *row,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    void *result = calloc(1, method->bytes);
    if (!result) {
        return err_no_memory(err, "identify", "no memory");
    }
    const struct identify_head *head = result;
    struct err plan_err = {0};
    enum status st = identify_find(method, row, request, result, err);
    /* A plan that fails leaves the fit, which is written before the error. */
    const enum status planned =
        st == STATUS_OK && method->plan ? method->plan(result, &plan_err) : STATUS_OK;
    if (planned == STATUS_E_STALE) {
        st = identify_give_up(err);
    } else if (st == STATUS_OK && request->write) {
        st = write_fragment(method, request, result, out, err);
    } else if (st == STATUS_OK && request->json) {
        json_file_print(out, write_document, &(struct found){method, result});
    } else if (st == STATUS_OK) {
        st = print_page(method, result, request->details, out, err);
    }
    if (st == STATUS_OK && planned != STATUS_OK) {
        (void)fflush(out);
        *err = plan_err;
        st = planned;
    }
    if (method->release) {
        method->release(result);
    }
    free(head->between);
    free(result);
    return st;
}

/* The comparison alone, with a verdict of its own. */
struct repeat {
    const char *model;
    const struct identify_between *between;
    struct estimate estimate;
};

static void write_repeat(const void *what, struct json_writer *w)
{
    const struct repeat *repeat = what;
    json_write_text(w, "model", repeat->model);
    estimate_report_verdict(w, &repeat->estimate);
    identify_between_write(w, repeat->between);
}

static enum status run_repeat(const struct identify_method *method, const struct model_row *row,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    struct identify_between *between = NULL;
    struct repeat repeat = {.model = row->name};
    if (!identify_between_asked(request)) {
        return err_set(err, STATUS_E_ARG, FAULT_TOO_FEW, "repeat",
                       "--repeat compares %d to %d files of recordings, not standard input",
                       (int)BETWEEN_MIN, (int)BETWEEN_MAX);
    }
    enum status st = compare_recordings(method, row, request, &between, err);
    if (st != STATUS_OK) {
        return st;
    }
    estimate_start(&repeat.estimate, 0);
    identify_between_judge(between, &repeat.estimate);
    estimate_advise_worst(&repeat.estimate);
    identify_report_outcome(&request->caller, &repeat.estimate, false);
    repeat.between = between;
    if (request->json) {
        json_file_print(out, write_repeat, &repeat);
    } else {
        (void)fprintf(out, "%s of %zu recordings, each by itself", row->name, between->count);
        estimate_page_verdict(out, &repeat.estimate);
        estimate_page_details(out, &repeat.estimate);
        st = document_page_print(out, write_repeat, &repeat);
    }
    free(between);
    return st == STATUS_OK ? st : err_no_memory(err, "identify", "no memory");
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
    return request->repeat ? run_repeat(methods[row->data], row, request, out, err)
                           : run_method(methods[row->data], row, request, out, err);
}
