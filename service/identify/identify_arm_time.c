/* service/identify/identify_arm_time.c - tandem identify --model arm_time: durations of
 * commanded arm moves. */
#include <math.h>
#include <string.h>

#include "identification/travel/profile_judge.h"
#include "identification/travel/profile_time.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/move_list.h"
#include "twin/report/fit_report.h"

/* m or rad: less is no move. */
static const double NO_MOVE = 1e-6;

/* Columns of numbers. A controller's defaults replace missing speeds and accelerations. */
enum column { LAP, ROTATION, DISPLACEMENT, V_RAD, A_RAD, V_M, A_M, COLUMNS };
static const struct {
    const char *role;
    double usual; /* default; NaN: rows without the value are skipped */
} columns[COLUMNS] = {
    [LAP] = {"lap_s", (double)NAN},
    [ROTATION] = {"rotation_rad", 0.0},
    [DISPLACEMENT] = {"displacement_m", 0.0},
    [V_RAD] = {"v_radps", 1.05},
    [A_RAD] = {"a_radps2", 1.4},
    [V_M] = {"v_mps", 0.25},
    [A_M] = {"a_mps2", 1.2},
};

struct loader {
    struct move_list list; /* first member: callbacks get this pointer */
    const struct csv *csv; /* the current table */
    struct csv_quantity at[COLUMNS];
    int op, status;
};

static enum status find_column(const struct loader *loader, const char *role, bool needed,
                               struct csv_quantity *column, struct err *err)
{
    const char *named = column_map_find(&loader->list.request->columns, role);
    if (named || needed) {
        return csv_quantity_find(loader->csv, named ? named : role, unit_of_name(role), 1.0,
                                 column, err);
    }
    *column = (struct csv_quantity){csv_find(loader->csv, role), 1.0};
    return STATUS_OK;
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    const bool real = strcmp(loader->list.request->side, "real") == 0;
    enum status st = STATUS_OK;
    loader->csv = csv;
    for (enum column c = ROTATION; c < COLUMNS && st == STATUS_OK; c++) {
        st = find_column(loader, columns[c].role, c == ROTATION, &loader->at[c], err);
    }
    loader->op = csv_find(csv, "op");
    loader->status = csv_find(csv, real ? "real_status" : "virtual_status");
    loader->at[LAP] =
        (struct csv_quantity){csv_find(csv, real ? "real_lap_s" : "virtual_lap_s"), 1.0};
    return st == STATUS_OK && loader->at[LAP].column < 0
               ? find_column(loader, columns[LAP].role, true, &loader->at[LAP], err)
               : st;
}

/* Reads a row's numbers; NaN for an empty cell without a default. */
static enum status read_numbers(const struct loader *loader, double value[COLUMNS],
                                struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t c = 0; c < COLUMNS && st == STATUS_OK; c++) {
        value[c] = columns[c].usual;
        st = csv_quantity_read(loader->csv, loader->at[c], &value[c], err);
    }
    return st;
}

/* Classifies by the operation if given, else by whether the tool moved. */
static bool make_move(const struct loader *loader, const double value[COLUMNS],
                      struct profile_move *move)
{
    const char *op = loader->op >= 0 ? csv_text(loader->csv, (size_t)loader->op) : NULL;
    const double turn = fabs(value[ROTATION]);
    const double distance = fabs(value[DISPLACEMENT]);
    const bool line =
        op ? strcmp(op, "movel") == 0 || strcmp(op, "movec") == 0 : distance > NO_MOVE;
    const bool ended = loader->status < 0 ||
                       strcmp(csv_text(loader->csv, (size_t)loader->status), "done") == 0;
    if (!ended || isnan(value[LAP]) || (op && !line && strcmp(op, "movej") != 0) ||
        !(turn > NO_MOVE || (line && distance > NO_MOVE))) {
        return false;
    }
    *move = (struct profile_move){line ? PROFILE_LINES : PROFILE_JOINTS,
                                  turn > NO_MOVE ? value[V_RAD] / turn : HUGE_VAL,
                                  turn > NO_MOVE ? value[A_RAD] / turn : HUGE_VAL, value[LAP]};
    if (line && distance > NO_MOVE) {
        move->speed = fmin(move->speed, value[V_M] / distance);
        move->acceleration = fmin(move->acceleration, value[A_M] / distance);
    }
    return true;
}

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    double value[COLUMNS];
    struct profile_move move;
    const enum status st = read_numbers(loader, value, err);
    if (st != STATUS_OK || !make_move(loader, value, &move)) {
        loader->list.skipped += st == STATUS_OK;
        return st;
    }
    return move_list_add(&loader->list, &move, csv, err);
}

/* The whole result. */
struct result {
    struct identify_head head;
    struct loader loader;
    struct profile_fit fit;
    size_t skipped;
    bool is_held_out;
    struct travel_held_out held;
    struct reference_check reference;
};

static void write_members(const void *what, struct json_writer *w)
{
#define HELD(field) JSON_MEMBER(struct travel_held_out, field)
    static const struct json_member held[] = {HELD(n), HELD(unpredicted), HELD(rmse_s),
                                              HELD(median_s), HELD(mean_s)};
    const struct result *result = what;
    profile_report_members(w, &result->fit);
    json_write_int(w, "skipped", (int64_t)result->skipped);
    if (result->is_held_out) {
        json_write_object(w, "validation");
        json_write_members(w, held, COUNT(held), &result->held);
        json_write_close(w);
    }
    parameters_in_use_write(w, &result->fit.estimate, &result->reference);
}

static void print_page(const void *what, FILE *out)
{
    static const char *const words[PROFILE_TERMS] = {
        "delay of every move", "to the speed commanded", "to the acceleration commanded"};
    const struct result *result = what;
    const struct profile_fit *fit = &result->fit;
    const struct travel_held_out *held = &result->held;
    const struct move_residuals left = {fit->n, fit->outliers, fit->rmse_s, fit->residual_s_sd,
                                        fit->r2};
    (void)fprintf(out, "times of %zu moves as commanded, method %s: %s\n", fit->n,
                  travel_method_name(fit->method),
                  estimate_verdict_name(fit->estimate.verdict));
    move_list_print_verdict(out, &fit->estimate, result->skipped);
    estimate_page_head(out);
    for (size_t i = 0; i < PROFILE_P; i++) {
        if (fit->law[i / PROFILE_TERMS].n > 0) {
            estimate_page_parameter(out, &fit->estimate, i, words[i % PROFILE_TERMS]);
        }
    }
    parameters_in_use_print(out, &fit->estimate, &result->reference);
    move_list_print_residuals(out, &fit->estimate, &left);
    if (result->is_held_out) {
        (void)fprintf(out,
                      "held out:  rmse %.4g s, median error %.4g s, mean %+.4g s on %zu moves, "
                      "%zu not predictable\n",
                      held->rmse_s, held->median_s, held->mean_s, held->n, held->unpredicted);
    }
}

/* Fits all files together, then each alone, to see whether the common fit holds for each. */
static enum status fit_files(const struct move_list *list, struct profile_fit *whole,
                             struct err *err)
{
    const struct identify_request *request = list->request;
    const struct profile_move *moves = list->moves;
    const enum travel_method method = move_list_method(request);
    enum status st = profile_time_fit(moves, list->own_count, method, whole);
    for (size_t i = 0; st == STATUS_OK && request->file_count > 1 && i < request->file_count;
         i++) {
        struct profile_fit part;
        st = profile_time_fit(moves + list->starts[i], list->starts[i + 1] - list->starts[i],
                              method, &part);
        if (st == STATUS_OK) {
            profile_check_part(whole, identify_base_name(request->files[i].path), &part);
        }
    }
    return move_list_fitted(st, err);
}

/* Names that --reference accepts. */
static struct parameters_in_use_form name_references(struct profile_fit *names)
{
    profile_fit_start(names);
    return (struct parameters_in_use_form){"arm_time", {&names->estimate}, false};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct profile_fit names;
    const struct parameters_in_use_form known = name_references(&names);
    return move_list_check(row, request, &known, err);
}

static enum status read_request(const struct identify_request *request, void *what,
                                struct err *err)
{
    struct result *result = what;
    struct move_list *list = &result->loader.list;
    const struct parameters_in_use_form known = name_references(&result->fit);
    *list = (struct move_list){.request = request,
                               .each = sizeof(struct profile_move),
                               .read_header = read_header,
                               .read_row = read_row};
    enum status st =
        parameters_in_use_read(request->reference, &known, &result->reference, err);
    st = st == STATUS_OK ? move_list_read(list, err) : st;
    result->skipped = list->skipped;
    if (st == STATUS_OK && request->validate_count > 0) {
        result->is_held_out = true;
        st = move_list_read_held_out(list, err);
        identify_blame_held_out(request, st, err);
    }
    return st;
}

static enum status fit_data(void *what, struct err *err)
{
    struct result *result = what;

    const enum status st = fit_files(&result->loader.list, &result->fit, err);
    if (st == STATUS_OK && result->head.doubts) {
        profile_judge_units(&result->fit);
    }
    return st;
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    const struct move_list *list = &result->loader.list;
    enum status st = STATUS_OK;
    if (result->is_held_out) {
        const struct profile_move *moves = list->moves;
        st = profile_hold_out(&result->fit, moves + list->own_count,
                              list->count - list->own_count, &result->held);
        st = move_list_fitted(st, err);
        identify_blame_held_out(list->request, st, err);
    }
    if (st == STATUS_OK) {
        identify_conclude(&result->head, &result->fit.estimate, &result->reference);
    }
    return st;
}

static void release_result(void *what)
{
    move_list_free(&((struct result *)what)->loader.list);
}

const struct identify_method identify_arm_time = {.bytes = sizeof(struct result),
                                                  .check = check_request,
                                                  .read = read_request,
                                                  .fit = fit_data,
                                                  .judge = judge_fit,
                                                  .write = write_members,
                                                  .print = print_page,
                                                  .release = release_result};
