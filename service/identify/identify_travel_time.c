/* service/identify/identify_travel_time.c - tandem identify --model travel_time: durations of
 * moves. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/fit/column_check.h"
#include "identification/travel/travel_held_out.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_time.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/identify_curves.h"
#include "service/identify/move_list.h"
#include "service/identify/travel_journal.h"
#include "twin/report/fit_report.h"

/* "displacement_m=-" in --columns: the table has no such column. */
static const char NONE[] = "-";
static const double M_PER_MM = 1e-3;

/* The whole result, with the columns of the table that is being read. */
struct result {
    struct move_list list;
    struct travel_fit fit;
    /* in the current table; lap1, lap2 and state are those of a smart logger */
    struct csv_quantity rotation, displacement, lap, lap1, lap2, state;
    enum travel_motion motion; /* kind of motion by the columns so far */
    bool has_motion;           /* a file was read */
    int pair;                  /* column of the pairs; -1: none */
    int stamped;               /* column of motions in our own entries; -1: none */
    int op, status;            /* operation and final status on this side, in our own entries */
    const struct csv *csv;     /* the current table */
};

static const char *find_given(const struct result *result, const char *role)
{
    return column_map_find(&result->list.request->columns, role);
}

/* Finds a role's column by the name in --columns (which must exist), else by the role's own
 * name and unit. */
static enum status find_role(const struct result *result, const char *role, double factor,
                             struct csv_quantity *quantity, struct err *err)
{
    const char *name = find_given(result, role);
    *quantity = (struct csv_quantity){-1, factor};
    if (name && strcmp(name, NONE) == 0) {
        return STATUS_OK;
    }
    if (name) {
        return csv_quantity_find(result->csv, name, unit_of_name(role), factor, quantity, err);
    }
    quantity->column = csv_find(result->csv, role);
    return STATUS_OK;
}

/* Finds a quantity in either of two units; the column is -1 when the table has neither. */
static enum status find_either(const struct result *result, const char *si, const char *other,
                               double factor, struct csv_quantity *quantity, struct err *err)
{
    struct csv_quantity in_si = {-1, 1.0};
    struct csv_quantity in_other = {-1, factor};
    enum status st = find_role(result, si, 1.0, &in_si, err);
    st = st == STATUS_OK ? find_role(result, other, factor, &in_other, err) : st;
    if (st != STATUS_OK) {
        return st;
    }
    const bool use_other =
        in_other.column >= 0 &&
        (in_si.column < 0 || (find_given(result, other) && !find_given(result, si)));
    *quantity = use_other ? in_other : in_si;
    return STATUS_OK;
}

static enum status find_lap(struct result *result, struct err *err)
{
    const bool real = strcmp(result->list.request->side, "real") == 0;
    struct csv_quantity sided = {-1, 1.0};
    const struct {
        const char *role;
        struct csv_quantity *quantity;
    } roles[] = {{"lap_s", &result->lap},
                 {real ? "real_lap_s" : "virtual_lap_s", &sided},
                 {"lap1_s", &result->lap1},
                 {"lap2_s", &result->lap2},
                 {"state", &result->state}};
    for (size_t i = 0; i < COUNT(roles); i++) {
        const enum status st = find_role(result, roles[i].role, 1.0, roles[i].quantity, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    const bool ours = result->lap.column < 0;
    result->lap = ours ? sided : result->lap;
    result->op = ours ? csv_find(result->csv, "op") : -1;
    result->status = ours ? csv_find(result->csv, real ? "real_status" : "virtual_status") : -1;
    result->stamped = ours && !find_given(result, roles[1].role)
                          ? csv_find(result->csv, real ? "real_motion_s" : "virtual_motion_s")
                          : -1;
    result->list.stamps = result->list.stamps || result->stamped >= 0;
    const bool pair =
        result->lap1.column >= 0 && result->lap2.column >= 0 && result->state.column >= 0;
    size_t ignored = 0;
    return result->lap.column >= 0 || pair ? STATUS_OK
                                           : csv_require(result->csv, "lap_s", &ignored, err);
}

/* The table may lack a quantity if "-" says so, or if the other one was named explicitly. A
 * misspelt column must not turn a robot into a joint. */
static bool may_lack(const struct result *result, const char *si, const char *other_si,
                     const char *other_unit)
{
    const char *name = find_given(result, si);
    return (name && strcmp(name, NONE) == 0) || find_given(result, other_si) ||
           find_given(result, other_unit);
}

/* A table without one of the two quantities is that of a joint or a slide; all files must
 * agree. */
static enum status find_motion(struct result *result, struct err *err)
{
    const bool turns = result->rotation.column >= 0;
    const bool drives = result->displacement.column >= 0;
    const enum travel_motion motion = turns && drives ? TRAVEL_TURNS_AND_DRIVES
                                      : turns         ? TRAVEL_TURNS
                                                      : TRAVEL_DRIVES;
    size_t ignored = 0;
    if (!turns &&
        !(drives && may_lack(result, "rotation_rad", "displacement_m", "displacement_mm"))) {
        return csv_require(result->csv, "rotation_rad", &ignored, err);
    }
    if (!drives && !may_lack(result, "displacement_m", "rotation_rad", "rotation_deg")) {
        return csv_require(result->csv, "displacement_m", &ignored, err);
    }
    if (result->has_motion && motion != result->motion) {
        return err_set_at(
            err, STATUS_E_PARSE, FAULT_INCONSISTENT, result->csv->name, result->csv->line, 0,
            "all files must have a rotation, a displacement, or both, as the first");
    }
    result->motion = motion;
    result->has_motion = true;
    return STATUS_OK;
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct result *result = context;
    size_t ignored = 0;
    result->csv = csv;
    result->pair = result->list.request->pair ? csv_find(csv, "pair") : -1;
    if (result->list.request->pair && result->pair < 0) {
        return csv_require(csv, "pair", &ignored, err);
    }
    enum status st = find_lap(result, err);
    st = st == STATUS_OK ? find_either(result, "rotation_rad", "rotation_deg", RAD_PER_DEG,
                                       &result->rotation, err)
                         : st;
    st = st == STATUS_OK ? find_either(result, "displacement_m", "displacement_mm", M_PER_MM,
                                       &result->displacement, err)
                         : st;
    return st == STATUS_OK ? find_motion(result, err) : st;
}

static bool is_empty(const struct csv *csv, int column)
{
    return column >= 0 && *csv_text(csv, (size_t)column) == '\0';
}

/* Returns this side's time in this row; the column is -1 when the move has none. A motion by
 * the robot's own stamps precedes the lap, as in replay. AHEAD: the virtual robot answered
 * first; SYNC: the laps are nearly equal. */
static struct csv_quantity choose_lap(const struct result *result)
{
    if (result->stamped >= 0 && !is_empty(result->csv, result->stamped)) {
        return (struct csv_quantity){result->stamped, 1.0};
    }
    if (result->lap.column >= 0) {
        return result->lap;
    }
    const char *state = csv_text(result->csv, (size_t)result->state.column);
    const bool real = strcmp(result->list.request->side, "real") == 0;
    if (strcmp(state, "AHEAD") == 0) {
        return real ? result->lap2 : result->lap1;
    }
    if (strcmp(state, "BEHIND") == 0 || strcmp(state, "SYNC") == 0) {
        return real ? result->lap1 : result->lap2;
    }
    return (struct csv_quantity){-1, 1.0};
}

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct result *result = context;
    const struct csv_quantity lap = choose_lap(result);
    const bool other =
        (result->op >= 0 && strcmp(csv_text(csv, (size_t)result->op), "go") != 0) ||
        (result->status >= 0 && strcmp(csv_text(csv, (size_t)result->status), "done") != 0);
    struct travel_move move = {.lap_s = 0.0};

    if (result->pair >= 0 &&
        strcmp(csv_text(csv, (size_t)result->pair), result->list.request->pair) != 0) {
        return STATUS_OK;
    }
    if (other || lap.column < 0 || is_empty(csv, lap.column) ||
        is_empty(csv, result->rotation.column) || is_empty(csv, result->displacement.column)) {
        result->list.skipped++;
        return STATUS_OK;
    }
    enum status st = csv_quantity_read(csv, lap, &move.lap_s, err);
    st = st == STATUS_OK ? csv_quantity_read(csv, result->rotation, &move.rotation_rad, err)
                         : st;
    st = st == STATUS_OK
             ? csv_quantity_read(csv, result->displacement, &move.displacement_m, err)
             : st;
    result->list.motions += st == STATUS_OK && lap.column == result->stamped;
    return st == STATUS_OK ? move_list_add(&result->list, &move, csv->name, csv->line, err)
                           : st;
}

/* Writes moves from .. from + n - 1 as columns; nothing if there is no memory. */
static void write_curve(struct json_writer *w, const struct result *result, const char *part,
                        size_t from, size_t n)
{
    const struct travel_move *moves = (const struct travel_move *)result->list.moves + from;
    double *column = calloc(4 * n + 1, sizeof *column);
    for (size_t i = 0; column && i < n; i++) {
        column[i] = moves[i].rotation_rad;
        column[n + i] = moves[i].displacement_m;
        column[2 * n + i] = moves[i].lap_s;
        column[3 * n + i] =
            moves[i].lap_s -
            travel_time_predict(&result->fit, moves[i].rotation_rad, moves[i].displacement_m);
    }
    const size_t runs[] = {0, n};
    const struct csv_source *file =
        from == 0 ? result->list.request->files : result->list.request->validate;
    const struct curve_set set = {.part = part,
                                  .name = identify_base_name(file->path),
                                  .n = n,
                                  .run_count = 1,
                                  .run_start = runs,
                                  .column_count = 3,
                                  .column = {{"rotation_rad", "turn", column, NULL},
                                             {"displacement_m", "drive", column + n, NULL},
                                             {"lap_s", "lap", column + 2 * n, column + 3 * n}}};
    if (column && n > 0) {
        identify_curves_write(w, &set);
    }
    free(column);
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    const size_t own = result->list.own_count;
    travel_report_members(w, &result->fit);
    move_list_write(w, &result->list);
    if (result->list.head.curves) {
        json_write_array(w, "curves");
        write_curve(w, result, "recording", 0, own);
        if (result->list.head.is_held_out) {
            write_curve(w, result, "held_out", own, result->list.count - own);
        }
        json_write_close(w);
    }
}

static void print_terms(const struct travel_fit *fit, FILE *out)
{
    static const char *const words[TRAVEL_P] = {"delay of every move", "extra when it turns",
                                                "extra when it drives", "while it turns",
                                                "while it drives"};
    static const char *const inverses[TRAVEL_P] = {
        [TRAVEL_INV_W] = "its inverse, s/rad", [TRAVEL_INV_V] = "its inverse, s/m"};
    estimate_page_head(out);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (!travel_motion_has(fit->motion, j)) {
            continue;
        }
        estimate_page_parameter(out, &fit->estimate, j, words[j]);
        if (inverses[j] && fit->estimate.identifiable[j]) {
            const bool few = fit->freedom < ESTIMATE_FREEDOM_MIN;
            estimate_page_row(out, "", inverses[j], fit->beta[j], fit->beta_se[j],
                              few ? (double)NAN : fit->beta_lo[j],
                              few ? (double)NAN : fit->beta_hi[j], "");
        }
    }
}

static const char *motion_text(enum travel_motion motion)
{
    return motion == TRAVEL_TURNS    ? " that only turn"
           : motion == TRAVEL_DRIVES ? " that only drive"
                                     : "";
}

static bool describe_moves(const void *what, char *text, size_t bytes)
{
    const struct result *result = what;
    const struct travel_move *moves = result->list.moves;
    double turns[2] = {HUGE_VAL, 0.0};
    double drives[2] = {HUGE_VAL, 0.0};
    for (size_t i = 0; i < result->list.own_count; i++) {
        turns[0] = fmin(turns[0], fabs(moves[i].rotation_rad));
        turns[1] = fmax(turns[1], fabs(moves[i].rotation_rad));
        drives[0] = fmin(drives[0], fabs(moves[i].displacement_m));
        drives[1] = fmax(drives[1], fabs(moves[i].displacement_m));
    }
    (void)snprintf(text, bytes,
                   "%zu moves, turns of %.3g .. %.3g rad, drives of %.3g .. %.3g m",
                   result->list.own_count, turns[0], turns[1], drives[0], drives[1]);
    return true;
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct travel_fit *fit = &result->fit;
    const size_t files = result->list.request->file_count;
    (void)fprintf(out, "travel times of %zu moves%s from %zu file%s, method %s", fit->n,
                  motion_text(fit->motion), files, files == 1 ? "" : "s",
                  travel_method_name(fit->method));
    move_list_print_verdict(out, &result->list);
    print_terms(fit, out);
    estimate_page_rank(out, &fit->estimate);
}

static enum status add_move(void *context, const struct travel_move *move, struct err *err)
{
    return move_list_add(context, move, "journal", 0, err);
}

static enum status read_journal(struct move_list *list, const struct csv_source *input,
                                struct err *err)
{
    struct result *result = (struct result *)list;
    struct travel_journal journal = {
        .pair = list->request->pair,
        .side = strcmp(list->request->side, "real") == 0 ? SIDE_REAL : SIDE_VIRTUAL,
        .add = add_move,
        .go_on = move_list_report,
        .context = list};
    const enum status st = travel_journal_read(&journal, input, err);
    result->motion = result->has_motion ? result->motion : TRAVEL_TURNS_AND_DRIVES;
    result->has_motion = true;
    list->motions += journal.motions;
    list->stamps = true;
    list->skipped += journal.skipped;
    return st;
}

static enum status fit_range(struct move_list *list, size_t from, size_t n,
                             enum travel_method method, const char *name)
{
    struct result *result = (struct result *)list;
    const struct travel_move *moves = list->moves;
    struct travel_fit part;
    const enum status st =
        travel_time_fit(moves + from, n, result->motion, method, name ? &part : &result->fit);
    if (st == STATUS_OK && name) {
        travel_time_check_part(&result->fit, name, &part);
    }
    if (st != STATUS_OK || name || n == 0) {
        return st;
    }
    enum { EACH = sizeof *moves / sizeof(double) };
    const struct copied_values values[] = {{&moves->lap_s, EACH, result->fit.residual_s_sd},
                                           {&moves->rotation_rad, EACH, 0.0},
                                           {&moves->displacement_m, EACH, 0.0}};
    return copied_values_judge(&result->fit.estimate, values, COUNT(values), n);
}

static void judge_units(struct move_list *list)
{
    travel_judge_units(&((struct result *)list)->fit, list->moves, list->own_count);
}

static enum status hold_out(struct move_list *list, const void *moves, size_t n)
{
    return travel_hold_out(&((struct result *)list)->fit, moves, n, &list->held);
}

static struct parameters_in_use_form name_parameters(void *what)
{
    static const struct move_form form = {sizeof(struct travel_move),
                                          read_header,
                                          read_row,
                                          read_journal,
                                          fit_range,
                                          judge_units,
                                          hold_out};
    struct result *result = what;
    result->list.form = &form;
    travel_fit_start(&result->fit, TRAVEL_TURNS_AND_DRIVES);
    return (struct parameters_in_use_form){"travel_time", {&result->fit.estimate}, false};
}

const struct identify_method identify_travel_time = {.bytes = sizeof(struct result),
                                                     .name = name_parameters,
                                                     .check = move_list_check,
                                                     .describe = describe_moves,
                                                     .load = move_list_load,
                                                     .fit = move_list_fit,
                                                     .hold_out = move_list_hold_out,
                                                     .write = write_members,
                                                     .print = print_page,
                                                     .release = move_list_free};
