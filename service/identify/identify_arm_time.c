/* tandem identify --model arm_time: how long moves take by what was commanded of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "identification/travel/profile_judge.h"
#include "identification/travel/profile_time.h"
#include "service/cli/json_file.h"
#include "service/identify/current_parameters.h"
#include "service/identify/estimate_page.h"
#include "service/identify/identify.h"
#include "twin/report/fit_report.h"

/* Reading is most of the work. */
static const double READING_SHARE = 0.9;
/* No move at all. */
static const double NO_MOVE = 1e-6;

/* Columns of numbers. Speeds and accelerations that a table does not have are those that a
 * controller takes by itself. */
enum column { LAP, ROTATION, DISPLACEMENT, V_RAD, A_RAD, V_M, A_M, COLUMNS };
static const struct {
    const char *role;
    double usual; /* NaN: rows without it are skipped */
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
    const struct identify_request *request;
    const struct csv *csv; /* the table at hand */
    int at[COLUMNS];       /* -1: it is not there */
    int op, status;
    struct profile_move *moves;
    size_t count, room, skipped;
};

static enum status find_column(const struct loader *loader, const char *role, bool needed,
                               int *column, struct err *err)
{
    const char *named = identify_column(loader->request, role);
    const char *name = named ? named : role;
    size_t ignored = 0;
    *column = csv_find(loader->csv, name);
    return *column >= 0 || !(needed || named) ? STATUS_OK
                                              : csv_require(loader->csv, name, &ignored, err);
}

static enum status take_header(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    const bool real = strcmp(loader->request->side, "real") == 0;
    enum status st = STATUS_OK;
    loader->csv = csv;
    for (enum column c = ROTATION; c < COLUMNS && st == STATUS_OK; c++) {
        st = find_column(loader, columns[c].role, c == ROTATION, &loader->at[c], err);
    }
    loader->op = csv_find(csv, "op");
    loader->status = csv_find(csv, real ? "real_status" : "virtual_status");
    loader->at[LAP] = csv_find(csv, real ? "real_lap_s" : "virtual_lap_s");
    return st == STATUS_OK && loader->at[LAP] < 0
               ? find_column(loader, columns[LAP].role, true, &loader->at[LAP], err)
               : st;
}

/* A row's numbers; NaN where a cell is empty that has nothing usual in its place. */
static enum status read_numbers(const struct loader *loader, double value[COLUMNS],
                                struct err *err)
{
    enum status st = STATUS_OK;
    for (size_t c = 0; c < COLUMNS && st == STATUS_OK; c++) {
        const int at = loader->at[c];
        value[c] = columns[c].usual;
        if (at >= 0 && *csv_text(loader->csv, (size_t)at) != '\0') {
            st = csv_number(loader->csv, (size_t)at, &value[c], err);
        }
    }
    return st;
}

/* By its operation where that is told, else by whether the tool was moved. */
static bool make_move(const struct loader *loader, const double value[COLUMNS],
                      struct profile_move *move)
{
    const char *op = loader->op >= 0 ? csv_text(loader->csv, (size_t)loader->op) : NULL;
    const double turn = fabs(value[ROTATION]);
    const double way = fabs(value[DISPLACEMENT]);
    const bool line = op ? strcmp(op, "movel") == 0 || strcmp(op, "movec") == 0 : way > NO_MOVE;
    const bool ended = loader->status < 0 ||
                       strcmp(csv_text(loader->csv, (size_t)loader->status), "done") == 0;
    if (!ended || isnan(value[LAP]) || (op && !line && strcmp(op, "movej") != 0) ||
        !(turn > NO_MOVE || (line && way > NO_MOVE))) {
        return false;
    }
    *move = (struct profile_move){line ? PROFILE_LINES : PROFILE_JOINTS,
                                  turn > NO_MOVE ? value[V_RAD] / turn : HUGE_VAL,
                                  turn > NO_MOVE ? value[A_RAD] / turn : HUGE_VAL, value[LAP]};
    if (line && way > NO_MOVE) {
        move->speed = fmin(move->speed, value[V_M] / way);
        move->acceleration = fmin(move->acceleration, value[A_M] / way);
    }
    return true;
}

static enum status take_row(void *context, const struct csv *csv, struct err *err)
{
    struct loader *loader = context;
    double value[COLUMNS];
    struct profile_move move;
    const enum status st = read_numbers(loader, value, err);
    if (st != STATUS_OK || !make_move(loader, value, &move)) {
        loader->skipped += st == STATUS_OK;
        return st;
    }
    if (loader->count == loader->room) {
        const size_t room = loader->room ? 2 * loader->room : 1024;
        struct profile_move *more = room <= SIZE_MAX / 2 / sizeof *more
                                        ? realloc(loader->moves, room * sizeof *more)
                                        : NULL;
        if (!more) {
            return err_set(err, STATUS_E_NOMEM, csv->name, csv->line, 0,
                           "no memory for more than %zu moves", loader->count);
        }
        loader->moves = more;
        loader->room = room;
    }
    loader->moves[loader->count++] = move;
    return STATUS_OK;
}

static bool tell_reading(void *context, uint64_t done, uint64_t total)
{
    return identify_go_on(((const struct loader *)context)->request, READING_SHARE, done,
                          total);
}

/* Everything there is to tell. */
struct result {
    struct profile_fit fit;
    size_t skipped;
    bool is_held_out, is_compared;
    struct profile_held_out held;
    struct current_values current;
    struct current_comparison comparison;
};

static void write_members(const void *what, struct json_writer *w)
{
#define HELD(field) JSON_MEMBER(struct profile_held_out, field)
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
    current_report(w, &result->fit.estimate, &result->current,
                   result->is_compared ? &result->comparison : NULL);
}

static void print_report(const struct result *result, FILE *out)
{
    static const char *const words[PROFILE_TERMS] = {
        "delay of every move", "to the speed commanded", "to the acceleration commanded"};
    const struct profile_fit *fit = &result->fit;
    const struct profile_held_out *held = &result->held;
    (void)fprintf(out, "times of %zu moves as commanded, method %s: %s\n", fit->n,
                  travel_method_name(fit->method),
                  estimate_verdict_name(fit->estimate.verdict));
    estimate_page_verdict(out, &fit->estimate);
    if (result->skipped > 0) {
        (void)fprintf(out, "%zu more are no moves that ended well, and were skipped\n",
                      result->skipped);
    }
    estimate_page_head(out);
    for (size_t i = 0; i < PROFILE_P; i++) {
        if (fit->law[i / PROFILE_TERMS].n > 0) {
            estimate_page_parameter(out, &fit->estimate, i, words[i % PROFILE_TERMS]);
        }
    }
    if (result->is_compared) {
        estimate_page_current(out, &fit->estimate, &result->current, &result->comparison);
    }
    (void)fputc('\n', out);
    estimate_page_rank(out, &fit->estimate, "");
    if (fit->n > 0) {
        (void)fprintf(out, "residuals: rmse %.4g s, sd %.4g s, R2 %.4f, %zu beyond 4 sd\n",
                      fit->rmse_s, fit->residual_s_sd, fit->r2, fit->outliers);
    }
    if (result->is_held_out) {
        (void)fprintf(out,
                      "held out:  rmse %.4g s, median error %.4g s, mean %+.4g s on %zu moves, "
                      "%zu not predictable\n",
                      held->rmse_s, held->median_s, held->mean_s, held->n, held->unpredicted);
    }
}

static enum status load_table(struct loader *loader, const struct csv_source *input,
                              struct err *err)
{
    const struct csv_lines lines = {take_header, take_row, tell_reading, loader};
    return csv_file_read(input, &lines, NULL, err);
}

static enum status set_fit_error(enum status st, struct err *err)
{
    return st == STATUS_OK
               ? st
               : err_set(err, st, "identify", 0, 0, "the fit failed: %s", status_name(st));
}

static enum travel_method method_of(const struct identify_request *request)
{
    return request->method
               ? (enum travel_method)names_value(&travel_method_names, request->method)
               : TRAVEL_AUTO;
}

/* All files together, then each alone to see whether the whole stands for it. */
static enum status fit_files(struct loader *loader, struct result *result, struct err *err)
{
    const struct identify_request *request = loader->request;
    enum status st = STATUS_OK;
    for (size_t i = 0; i < request->file_count && st == STATUS_OK; i++) {
        st = load_table(loader, &request->files[i], err);
    }
    if (st != STATUS_OK) {
        return st;
    }
    st = profile_time_fit(loader->moves, loader->count, method_of(request), &result->fit);
    result->skipped = loader->skipped;
    for (size_t i = 0; st == STATUS_OK && request->file_count > 1 && i < request->file_count;
         i++) {
        struct profile_fit part;
        loader->count = 0;
        st = load_table(loader, &request->files[i], err);
        st = st == STATUS_OK
                 ? profile_time_fit(loader->moves, loader->count, method_of(request), &part)
                 : st;
        if (st == STATUS_OK) {
            profile_check_part(&result->fit, identify_base_name(request->files[i].path), &part);
        }
    }
    return set_fit_error(st, err);
}

static enum status hold_out(struct loader *loader, struct result *result, struct err *err)
{
    const struct identify_request *request = loader->request;
    if (request->validate_count == 0) {
        return STATUS_OK;
    }
    loader->count = 0;
    enum status st = load_table(loader, &request->validate[0], err);
    if (st == STATUS_OK) {
        result->is_held_out = true;
        st = set_fit_error(
            profile_hold_out(&result->fit, loader->moves, loader->count, &result->held), err);
    }
    if (st != STATUS_OK) {
        identify_blame_held_out(request, err);
    }
    return st;
}

/* What --current can name. */
static struct current_form name_current(struct profile_fit *names)
{
    profile_fit_start(names);
    return (struct current_form){"arm_time", &names->estimate, false};
}

enum status identify_arm_time_check(const struct model_row *row,
                                    const struct identify_request *request, struct err *err)
{
    struct profile_fit names;
    const struct current_form form = name_current(&names);
    if (request->validate_count > 1) {
        return err_set(err, STATUS_E_ARG, "validate", 0, 0,
                       "more than one --validate is not for %s", row->name);
    }
    return method_of(request) < TRAVEL_METHOD_COUNT
               ? current_parameters_check(request->current, &form, err)
               : err_set(err, STATUS_E_ARG, "method", 0, 0,
                         "unknown method '%s', ols, huber, tukey and auto are known",
                         request->method);
}

enum status identify_arm_time(const struct model_row *row,
                              const struct identify_request *request, FILE *out,
                              struct err *err)
{
    struct loader loader = {.request = request};
    struct result result = {.is_compared = request->current != NULL};
    enum status st = STATUS_OK;
    if (result.is_compared) {
        const struct current_form form = name_current(&result.fit);
        st = current_parameters_read(request->current, &form, &result.current, err);
    }
    st = st == STATUS_OK ? fit_files(&loader, &result, err) : st;
    struct estimate *e = &result.fit.estimate;
    if (st == STATUS_OK && identify_doubts(request)) {
        profile_judge_units(&result.fit);
    }
    st = st == STATUS_OK ? hold_out(&loader, &result, err) : st;
    if (st == STATUS_OK && result.is_compared) {
        current_compare(e, &result.current, &result.comparison);
        current_judge(e, row->name, e, &result.current, &result.comparison);
    }
    if (st == STATUS_OK) {
        estimate_advise_worst(e);
        if (request->json) {
            json_file_print(out, write_members, &result);
        } else {
            print_report(&result, out);
        }
        identify_tell(request, e, result.comparison.contradicts);
    }
    free(loader.moves);
    return st;
}
