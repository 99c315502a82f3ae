/* service/identify/identify_arm_time.c - tandem identify --model arm_time: durations of
 * commanded arm moves. */
#include <math.h>
#include <string.h>

#include "identification/fit/column_check.h"
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

/* The whole result, with the columns of the table that is being read. */
struct result {
    struct move_list list;
    struct profile_fit fit;
    const struct csv *csv; /* the current table */
    struct csv_quantity at[COLUMNS];
    int op, status;
    int stamped; /* column of motions by the robot's own stamps; -1: none */
};

static enum status find_column(const struct result *result, const char *role, bool needed,
                               struct csv_quantity *column, struct err *err)
{
    const char *named = column_map_find(&result->list.request->columns, role);
    if (named || needed) {
        return csv_quantity_find(result->csv, named ? named : role, unit_of_name(role), 1.0,
                                 column, err);
    }
    *column = (struct csv_quantity){csv_find(result->csv, role), 1.0};
    return STATUS_OK;
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct result *result = context;
    const bool real = strcmp(result->list.request->side, "real") == 0;
    enum status st = STATUS_OK;
    result->csv = csv;
    for (enum column c = ROTATION; c < COLUMNS && st == STATUS_OK; c++) {
        st = find_column(result, columns[c].role, c == ROTATION, &result->at[c], err);
    }
    result->op = csv_find(csv, "op");
    result->status = csv_find(csv, real ? "real_status" : "virtual_status");
    result->at[LAP] =
        (struct csv_quantity){csv_find(csv, real ? "real_lap_s" : "virtual_lap_s"), 1.0};
    result->stamped = result->at[LAP].column >= 0
                          ? csv_find(csv, real ? "real_motion_s" : "virtual_motion_s")
                          : -1;
    result->list.stamps = result->list.stamps || result->stamped >= 0;
    return st == STATUS_OK && result->at[LAP].column < 0
               ? find_column(result, columns[LAP].role, true, &result->at[LAP], err)
               : st;
}

static bool has_motion(const struct result *result)
{
    return result->stamped >= 0 && *csv_text(result->csv, (size_t)result->stamped) != '\0';
}

/* Reads a row's numbers; NaN for an empty cell without a default. */
static enum status read_numbers(const struct result *result, double value[COLUMNS],
                                struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t c = 0; c < COLUMNS && st == STATUS_OK; c++) {
        value[c] = columns[c].usual;
        st = csv_quantity_read(result->csv,
                               c == LAP && has_motion(result)
                                   ? (struct csv_quantity){result->stamped, 1.0}
                                   : result->at[c],
                               &value[c], err);
    }
    return st;
}

/* Classifies by the operation if given, else by whether the tool moved. */
static bool make_move(const struct result *result, const double value[COLUMNS],
                      struct profile_move *move)
{
    const char *op = result->op >= 0 ? csv_text(result->csv, (size_t)result->op) : NULL;
    const double turn = fabs(value[ROTATION]);
    const double distance = fabs(value[DISPLACEMENT]);
    const bool line =
        op ? strcmp(op, "movel") == 0 || strcmp(op, "movec") == 0 : distance > NO_MOVE;
    const bool ended = result->status < 0 ||
                       strcmp(csv_text(result->csv, (size_t)result->status), "done") == 0;
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
    struct result *result = context;
    double value[COLUMNS];
    struct profile_move move;
    const enum status st = read_numbers(result, value, err);
    if (st != STATUS_OK || !make_move(result, value, &move)) {
        result->list.skipped += st == STATUS_OK;
        return st;
    }
    result->list.motions += has_motion(result);
    return move_list_add(&result->list, &move, csv->name, csv->line, err);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    profile_report_members(w, &result->fit);
    move_list_write(w, &result->list);
}

static void print_page(const void *what, FILE *out)
{
    static const char *const words[PROFILE_TERMS] = {
        "delay of every move", "to the speed commanded", "to the acceleration commanded"};
    const struct result *result = what;
    const struct profile_fit *fit = &result->fit;
    (void)fprintf(out, "times of %zu moves as commanded, method %s", fit->n,
                  travel_method_name(fit->method));
    move_list_print_verdict(out, &result->list);
    estimate_page_head(out);
    for (size_t i = 0; i < PROFILE_P; i++) {
        if (fit->law[i / PROFILE_TERMS].n > 0) {
            estimate_page_parameter(out, &fit->estimate, i, words[i % PROFILE_TERMS]);
        }
    }
    estimate_page_rank(out, &fit->estimate);
}

static enum status fit_range(struct move_list *list, size_t from, size_t n,
                             enum travel_method method, const char *name)
{
    struct result *result = (struct result *)list;
    const struct profile_move *moves = list->moves;
    struct profile_fit part;
    const enum status st =
        profile_time_fit(moves + from, n, method, name ? &part : &result->fit);
    if (st == STATUS_OK && name) {
        profile_check_part(&result->fit, name, &part);
    }
    if (st != STATUS_OK || name || n == 0) {
        return st;
    }
    enum { EACH = sizeof *moves / sizeof(double) };
    const double sd = fmin(result->fit.law[PROFILE_JOINTS].residual_s_sd,
                           result->fit.law[PROFILE_LINES].residual_s_sd);
    const struct copied_values values[] = {{&moves->lap_s, EACH, sd},
                                           {&moves->speed, EACH, 0.0},
                                           {&moves->acceleration, EACH, 0.0}};
    return copied_values_judge(&result->fit.estimate, values, COUNT(values), n);
}

static void judge_units(struct move_list *list)
{
    profile_judge_units(&((struct result *)list)->fit);
}

static enum status hold_out(struct move_list *list, const void *moves, size_t n)
{
    return profile_hold_out(&((struct result *)list)->fit, moves, n, &list->held);
}

static struct parameters_in_use_form name_parameters(void *what)
{
    static const struct move_form form = {sizeof(struct profile_move),
                                          read_header,
                                          read_row,
                                          NULL,
                                          fit_range,
                                          judge_units,
                                          hold_out};
    struct result *result = what;
    result->list.form = &form;
    profile_fit_start(&result->fit);
    return (struct parameters_in_use_form){"arm_time", {&result->fit.estimate}, false};
}

const struct identify_method identify_arm_time = {.bytes = sizeof(struct result),
                                                  .name = name_parameters,
                                                  .check = move_list_check,
                                                  .load = move_list_load,
                                                  .fit = move_list_fit,
                                                  .hold_out = move_list_hold_out,
                                                  .write = write_members,
                                                  .print = print_page,
                                                  .release = move_list_free};
