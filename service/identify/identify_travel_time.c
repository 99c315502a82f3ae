/* service/identify/identify_travel_time.c - tandem identify --model travel_time: durations of
 * moves. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "identification/travel/travel_held_out.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_time.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "service/identify/move_list.h"
#include "twin/report/fit_report.h"

/* "displacement_m=-" in --columns: the table has no such column. */
static const char NONE[] = "-";
static const double M_PER_MM = 1e-3;

struct loader {
    struct move_list list; /* first member: callbacks get this pointer */
    /* in the current table; lap1, lap2 and state are those of a smart logger */
    struct csv_quantity rotation, displacement, lap, lap1, lap2, state;
    enum travel_motion motion; /* kind of motion by the columns so far */
    bool has_motion;           /* a file was read */
    int op, status;            /* operation and final status on this side, in our own entries */
    const struct csv *csv;     /* the current table */
};

static const char *find_given(const struct loader *loader, const char *role)
{
    return column_map_find(&loader->list.request->columns, role);
}

/* Finds a role's column by the name in --columns (which must exist), else by the role's own
 * name and unit. */
static enum status find_role(const struct loader *loader, const char *role, double factor,
                             struct csv_quantity *quantity, struct err *err)
{
    const char *name = find_given(loader, role);
    *quantity = (struct csv_quantity){-1, factor};
    if (name && strcmp(name, NONE) == 0) {
        return STATUS_OK;
    }
    if (name) {
        return csv_quantity_find(loader->csv, name, unit_of_name(role), factor, quantity, err);
    }
    quantity->column = csv_find(loader->csv, role);
    return STATUS_OK;
}

/* Finds a quantity in either of two units; the column is -1 when the table has neither. */
static enum status find_either(const struct loader *loader, const char *si, const char *other,
                               double factor, struct csv_quantity *quantity, struct err *err)
{
    struct csv_quantity in_si = {-1, 1.0};
    struct csv_quantity in_other = {-1, factor};
    enum status st = find_role(loader, si, 1.0, &in_si, err);
    st = st == STATUS_OK ? find_role(loader, other, factor, &in_other, err) : st;
    if (st != STATUS_OK) {
        return st;
    }
    const bool use_other =
        in_other.column >= 0 &&
        (in_si.column < 0 || (find_given(loader, other) && !find_given(loader, si)));
    *quantity = use_other ? in_other : in_si;
    return STATUS_OK;
}

static enum status find_lap(struct loader *loader, struct err *err)
{
    const bool real = strcmp(loader->list.request->side, "real") == 0;
    struct csv_quantity sided = {-1, 1.0};
    const struct {
        const char *role;
        struct csv_quantity *quantity;
    } roles[] = {{"lap_s", &loader->lap},
                 {real ? "real_lap_s" : "virtual_lap_s", &sided},
                 {"lap1_s", &loader->lap1},
                 {"lap2_s", &loader->lap2},
                 {"state", &loader->state}};
    for (size_t i = 0; i < COUNT(roles); i++) {
        const enum status st = find_role(loader, roles[i].role, 1.0, roles[i].quantity, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    const bool ours = loader->lap.column < 0;
    loader->lap = ours ? sided : loader->lap;
    loader->op = ours ? csv_find(loader->csv, "op") : -1;
    loader->status = ours ? csv_find(loader->csv, real ? "real_status" : "virtual_status") : -1;
    const bool pair =
        loader->lap1.column >= 0 && loader->lap2.column >= 0 && loader->state.column >= 0;
    size_t ignored = 0;
    return loader->lap.column >= 0 || pair ? STATUS_OK
                                           : csv_require(loader->csv, "lap_s", &ignored, err);
}

/* The table may lack a quantity if "-" says so, or if the other one was named explicitly. A
 * misspelt column must not turn a robot into a joint. */
static bool may_lack(const struct loader *loader, const char *si, const char *other_si,
                     const char *other_unit)
{
    const char *name = find_given(loader, si);
    return (name && strcmp(name, NONE) == 0) || find_given(loader, other_si) ||
           find_given(loader, other_unit);
}

/* A table without one of the two quantities is that of a joint or a slide; all files must
 * agree. */
static enum status find_motion(struct loader *loader, struct err *err)
{
    const bool turns = loader->rotation.column >= 0;
    const bool drives = loader->displacement.column >= 0;
    const enum travel_motion motion = turns && drives ? TRAVEL_TURNS_AND_DRIVES
                                      : turns         ? TRAVEL_TURNS
                                                      : TRAVEL_DRIVES;
    size_t ignored = 0;
    if (!turns &&
        !(drives && may_lack(loader, "rotation_rad", "displacement_m", "displacement_mm"))) {
        return csv_require(loader->csv, "rotation_rad", &ignored, err);
    }
    if (!drives && !may_lack(loader, "displacement_m", "rotation_rad", "rotation_deg")) {
        return csv_require(loader->csv, "displacement_m", &ignored, err);
    }
    if (loader->has_motion && motion != loader->motion) {
        return err_set_at(
            err, STATUS_E_PARSE, FAULT_INCONSISTENT, loader->csv->name, loader->csv->line, 0,
            "all files must have a rotation, a displacement, or both, as the first");
    }
    loader->motion = motion;
    loader->has_motion = true;
    return STATUS_OK;
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    loader->csv = csv;
    enum status st = find_lap(loader, err);
    st = st == STATUS_OK ? find_either(loader, "rotation_rad", "rotation_deg", RAD_PER_DEG,
                                       &loader->rotation, err)
                         : st;
    st = st == STATUS_OK ? find_either(loader, "displacement_m", "displacement_mm", M_PER_MM,
                                       &loader->displacement, err)
                         : st;
    return st == STATUS_OK ? find_motion(loader, err) : st;
}

/* Returns this side's lap in this row; the column is -1 when the move has none. AHEAD: the
 * virtual robot answered first; SYNC: the laps are nearly equal. */
static struct csv_quantity choose_lap(const struct loader *loader)
{
    if (loader->lap.column >= 0) {
        return loader->lap;
    }
    const char *state = csv_text(loader->csv, (size_t)loader->state.column);
    const bool real = strcmp(loader->list.request->side, "real") == 0;
    if (strcmp(state, "AHEAD") == 0) {
        return real ? loader->lap2 : loader->lap1;
    }
    if (strcmp(state, "BEHIND") == 0 || strcmp(state, "SYNC") == 0) {
        return real ? loader->lap1 : loader->lap2;
    }
    return (struct csv_quantity){-1, 1.0};
}

static bool is_empty(const struct csv *csv, int column)
{
    return column >= 0 && *csv_text(csv, (size_t)column) == '\0';
}

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    const struct csv_quantity lap = choose_lap(loader);
    const bool other =
        (loader->op >= 0 && strcmp(csv_text(csv, (size_t)loader->op), "go") != 0) ||
        (loader->status >= 0 && strcmp(csv_text(csv, (size_t)loader->status), "done") != 0);
    struct travel_move move = {.lap_s = 0.0};

    if (other || lap.column < 0 || is_empty(csv, lap.column) ||
        is_empty(csv, loader->rotation.column) || is_empty(csv, loader->displacement.column)) {
        loader->list.skipped++;
        return STATUS_OK;
    }
    enum status st = csv_quantity_read(csv, lap, &move.lap_s, err);
    st = st == STATUS_OK ? csv_quantity_read(csv, loader->rotation, &move.rotation_rad, err)
                         : st;
    st = st == STATUS_OK
             ? csv_quantity_read(csv, loader->displacement, &move.displacement_m, err)
             : st;
    return st == STATUS_OK ? move_list_add(&loader->list, &move, csv, err) : st;
}

/* The whole result. */
struct result {
    struct identify_head head;
    struct loader loader;
    struct travel_fit fit;
    size_t skipped;
    struct travel_held_out held;
    bool is_held_out;
    struct reference_check reference;
};

#define HELD(field) JSON_MEMBER(struct travel_held_out, field)
static const struct json_member held_members[] = {HELD(n),  HELD(unpredicted), HELD(rmse_s),
                                                  HELD(r2), HELD(median_s),    HELD(mean_s)};

static void write_members(const void *what, struct json_writer *w)
{
    const struct result *result = what;
    travel_report_members(w, &result->fit);
    json_write_int(w, "skipped", (int64_t)result->skipped);
    if (result->is_held_out) {
        json_write_object(w, "validation");
        json_write_members(w, held_members, COUNT(held_members), &result->held);
        json_write_close(w);
    }
    parameters_in_use_write(w, &result->fit.estimate, &result->reference);
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

/* Prints the law of accelerating robots if the moves show it. */
static void print_accelerating(const struct travel_accelerating *law, FILE *out)
{
    const double none = (double)NAN;
    const struct {
        const char *name, *words;
        double value, se;
    } rows[] = {
        {"t0_s", "delay of every move", law->t0_s, law->t0_se_s},
        {"angular_speed_radps", "while it turns", law->speed[0], law->speed_se[0]},
        {"linear_speed_mps", "while it drives", law->speed[1], law->speed_se[1]},
        {"angular_acceleration_radps2", "", law->acceleration[0], law->acceleration_se[0]},
        {"linear_acceleration_mps2", "", law->acceleration[1], law->acceleration_se[1]},
    };
    if (!law->known) {
        return;
    }
    (void)fprintf(out, "\nwith accelerations, which leaves %.2g s\n", law->residual_s_sd);
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (isfinite(rows[i].value)) {
            estimate_page_row(out, "", rows[i].name, rows[i].value, rows[i].se, none, none,
                              rows[i].words);
        }
    }
}

static const char *motion_text(enum travel_motion motion)
{
    return motion == TRAVEL_TURNS    ? " that only turn"
           : motion == TRAVEL_DRIVES ? " that only drive"
                                     : "";
}

static void print_page(const void *what, FILE *out)
{
    const struct result *result = what;
    const struct travel_fit *fit = &result->fit;
    const struct travel_held_out *held = &result->held;
    const struct move_residuals left = {fit->n, fit->outliers, fit->rmse_s, fit->residual_s_sd,
                                        fit->r2};
    const size_t files = result->loader.list.request->file_count;
    (void)fprintf(out, "travel times of %zu moves%s from %zu file%s, method %s: %s\n", fit->n,
                  motion_text(fit->motion), files, files == 1 ? "" : "s",
                  travel_method_name(fit->method),
                  estimate_verdict_name(fit->estimate.verdict));
    move_list_print_verdict(out, &fit->estimate, result->skipped);
    print_terms(fit, out);
    print_accelerating(&fit->accelerating, out);
    parameters_in_use_print(out, &fit->estimate, &result->reference);
    move_list_print_residuals(out, &fit->estimate, &left);
    if (result->is_held_out && held->n == 0) {
        (void)fprintf(out, "held out:  no move that can be predicted, of %zu\n",
                      held->unpredicted);
    } else if (result->is_held_out) {
        (void)fprintf(
            out,
            "held out:  rmse %.4g s, R2 %.4f, median error %.4g s, mean %+.4g s on %zu moves, "
            "%zu not predictable\n",
            held->rmse_s, held->r2, held->median_s, held->mean_s, held->n, held->unpredicted);
    }
}

/* Fits all files together, then each alone, to see whether the common fit holds for each. */
static enum status fit_files(const struct loader *loader, struct travel_fit *whole,
                             struct err *err)
{
    const struct move_list *list = &loader->list;
    const struct identify_request *request = list->request;
    const struct travel_move *moves = list->moves;
    const enum travel_method method = move_list_method(request);
    enum status st =
        travel_time_fit_motion(moves, list->own_count, loader->motion, method, whole);
    for (size_t i = 0; st == STATUS_OK && request->file_count > 1 && i < request->file_count;
         i++) {
        struct travel_fit part;
        st = travel_time_fit_motion(moves + list->starts[i],
                                    list->starts[i + 1] - list->starts[i], loader->motion,
                                    method, &part);
        if (st == STATUS_OK) {
            travel_time_check_part(whole, identify_base_name(request->files[i].path), &part);
        }
    }
    return move_list_fitted(st, err);
}

/* Names that --reference accepts. */
static struct parameters_in_use_form name_references(struct travel_fit *names)
{
    travel_fit_start(names, TRAVEL_TURNS_AND_DRIVES);
    return (struct parameters_in_use_form){"travel_time", {&names->estimate}, false};
}

static enum status check_request(const struct model_row *row,
                                 const struct identify_request *request, struct err *err)
{
    struct travel_fit names;
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
                               .each = sizeof(struct travel_move),
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
    const struct move_list *list = &result->loader.list;
    const enum status st = fit_files(&result->loader, &result->fit, err);
    if (st == STATUS_OK && result->head.doubts) {
        travel_judge_units(&result->fit, list->moves, list->own_count);
    }
    return st;
}

static enum status judge_fit(void *what, struct err *err)
{
    struct result *result = what;
    const struct move_list *list = &result->loader.list;
    enum status st = STATUS_OK;
    if (result->is_held_out) {
        const struct travel_move *moves = list->moves;
        st = travel_hold_out(&result->fit, moves + list->own_count,
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

const struct identify_method identify_travel_time = {.bytes = sizeof(struct result),
                                                     .check = check_request,
                                                     .read = read_request,
                                                     .fit = fit_data,
                                                     .judge = judge_fit,
                                                     .write = write_members,
                                                     .print = print_page,
                                                     .release = release_result};
