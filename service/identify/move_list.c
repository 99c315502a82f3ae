#include "service/identify/move_list.h"

#include <stdlib.h>
#include <string.h>

#include "service/identify/estimate_page.h"
#include "service/tool/array.h"

/* Ratio of the total work that reading takes. */
static const double READING_SHARE = 0.9;

bool move_list_report(void *context, uint64_t done, uint64_t total)
{
    return identify_go_on(&((const struct move_list *)context)->request->caller, READING_SHARE,
                          done, total);
}

static enum status read_table(struct move_list *list, const struct csv_source *input,
                              struct err *err)
{
    const struct csv_lines lines = {list->form->read_header, list->form->read_row,
                                    move_list_report, list};
    if (list->form->read_journal && (list->request->journal || identify_is_journal(input))) {
        return list->form->read_journal(list, input, err);
    }
    return csv_file_read(input, &lines, NULL, err);
}

enum status move_list_load(const struct identify_request *request, bool held_out, void *what,
                           struct err *err)
{
    struct move_list *list = what;
    enum status st = STATUS_OK;
    if (held_out) {
        const size_t skipped = list->skipped;
        const size_t motions = list->motions;
        st = read_table(list, &request->validate[0], err);
        list->skipped = skipped;
        list->motions = motions;
        return st;
    }
    list->request = request;
    list->starts = calloc(request->file_count + 1, sizeof *list->starts);
    if (!list->starts) {
        return err_no_memory(err, "identify", "no memory");
    }
    for (size_t i = 0; i < request->file_count && st == STATUS_OK; i++) {
        st = read_table(list, &request->files[i], err);
        list->starts[i + 1] = list->count;
    }
    list->own_count = list->count;
    return st;
}

enum status move_list_add(struct move_list *list, const void *move, const char *name,
                          unsigned line, struct err *err)
{
    return array_append(&list->moves, &list->count, &list->room, move, list->form->each)
               ? STATUS_OK
               : err_set_at(err, STATUS_E_NOMEM, FAULT_NO_MEMORY, name, line, 0,
                            "no memory for more than %zu moves", list->count);
}

void move_list_free(void *what)
{
    struct move_list *list = what;
    free(list->moves);
    free(list->starts);
}

/* The requested method; TRAVEL_METHOD_COUNT: there is no such method. */
static enum travel_method choose_method(const struct identify_request *request)
{
    return request->method
               ? (enum travel_method)names_value(&travel_method_names, request->method)
               : TRAVEL_AUTO;
}

enum status move_list_check(const struct model_row *row, const struct identify_request *request,
                            struct err *err)
{
    if (request->validate_count > 1) {
        return err_set(err, STATUS_E_ARG, FAULT_NOT_APPLICABLE, "validate",
                       "more than one --validate is not for %s", row->name);
    }
    return choose_method(request) < TRAVEL_METHOD_COUNT
               ? STATUS_OK
               : err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_VALUE, "method",
                         "unknown method '%s', ols, huber, tukey and auto are known",
                         request->method);
}

enum status move_list_fit(void *what, struct err *err)
{
    struct move_list *list = what;
    const struct identify_request *request = list->request;
    const size_t files = request->file_count > 1 ? request->file_count : 0;
    const enum travel_method method = choose_method(request);
    enum status st = list->form->fit(list, 0, list->own_count, method, NULL);
    for (size_t i = 0; st == STATUS_OK && i < files; i++) {
        st = list->form->fit(list, list->starts[i], list->starts[i + 1] - list->starts[i],
                             method, identify_base_name(request->files[i].path));
    }
    if (st == STATUS_OK && list->head.doubts) {
        list->form->judge_units(list);
    }
    return identify_fail(st, "identify", "fit", err);
}

enum status move_list_hold_out(void *what, struct err *err)
{
    struct move_list *list = what;
    const char *held_out = (const char *)list->moves + list->form->each * list->own_count;
    return identify_fail(list->form->hold_out(list, held_out, list->count - list->own_count),
                         "identify", "fit", err);
}

void move_list_print_verdict(FILE *out, const struct move_list *list)
{
    estimate_page_verdict(out, list->head.known.part[0]);
    if (list->skipped > 0) {
        (void)fprintf(out, "%zu more are no moves that ended well, and were skipped\n",
                      list->skipped);
    }
    if (list->stamps) {
        (void)fprintf(out, "times: %zu by the robot's stamps of start and end, %zu laps\n",
                      list->motions, list->own_count - list->motions);
    }
}

void move_list_write(struct json_writer *w, const struct move_list *list)
{
    JSON_WRITE(w, JSON("skipped", list->skipped), JSON("motions", list->motions),
               JSON("laps", list->own_count - list->motions));
    if (list->head.is_held_out) {
        JSON_WRITE_OBJECT(
            w, "validation",
            JSON_OF(&list->held, n, unpredicted, rmse_s, r2, median_s, mean_s, p, law_p));
    }
    parameters_in_use_write(w, list->head.known.part[0], &list->head.reference[0]);
}
