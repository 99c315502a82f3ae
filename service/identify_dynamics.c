#include "service/identify_dynamics.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "identification/dynamics_estimate.h"
#include "logger/csv.h"
#include "service/commands.h"

enum { CHANNELS_MAX = 1 + 2 * MODEL_AXES_MAX, ROWS_MAX = 20000000 };

/* Rows of all files of one purpose: time, velocities, efforts. */
struct rows_in {
    const struct identify_kind *kind;
    const struct identify_request *request;
    size_t channels;
    size_t column[CHANNELS_MAX]; /* in the file at hand */
    double *values[CHANNELS_MAX];
    size_t count, room;
    struct data_raw raw;
    struct csv csv;
};

/* Role and usual name of a channel: 0 is time, then velocities, then efforts. */
static const char *role_of(const struct identify_kind *kind, size_t channel)
{
    const size_t axes = kind->model->axis_count;
    if (channel == 0) {
        return "t";
    }
    return channel <= axes ? kind->velocity_roles[channel - 1]
                           : kind->effort_roles[channel - 1 - axes];
}

static const char *usual_name(const struct identify_kind *kind, size_t channel)
{
    const size_t axes = kind->model->axis_count;
    if (channel == 0) {
        return "t_s";
    }
    return channel <= axes ? kind->model->axes[channel - 1].velocity
                           : kind->model->axes[channel - 1 - axes].effort;
}

static enum status take_header(void *context, const struct csv *csv, struct err *err)
{
    struct rows_in *in = context;
    for (size_t c = 0; c < in->channels; c++) {
        const char *role = role_of(in->kind, c);
        const char *given = identify_column(in->request, role);
        const char *usual = usual_name(in->kind, c);
        const char *name = given ? given : csv_find(csv, role) >= 0 ? role : usual;
        const enum status st = csv_require(csv, name, &in->column[c], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return STATUS_OK;
}

static bool make_room(struct rows_in *in)
{
    const size_t room = in->room ? 2 * in->room : 4096;
    for (size_t c = 0; c < in->channels; c++) {
        double *more = realloc(in->values[c], room * sizeof *more);
        if (!more) {
            return false;
        }
        in->values[c] = more;
    }
    in->room = room;
    return true;
}

/* What a logger writes when it has no value. */
static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "nan", "NaN", "NAN", "null", "NA", "inf", "-inf"};
    if (text[0] != '\0' && strchr("0123456789.", text[0] == '-' ? text[1] : text[0])) {
        return false;
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

static enum status take_row(void *context, const struct csv *csv, struct err *err)
{
    struct rows_in *in = context;
    if (in->count == ROWS_MAX) {
        return err_set(err, STATUS_E_FULL, csv->name, csv->line, 0,
                       "more than %d rows, cut the recording into pieces", (int)ROWS_MAX);
    }
    if (in->count == in->room && !make_room(in)) {
        return err_set(err, STATUS_E_NOMEM, csv->name, csv->line, 0,
                       "no memory for more than %zu rows", in->count);
    }
    for (size_t c = 0; c < in->channels; c++) {
        double *value = &in->values[c][in->count];
        if (is_missing(csv_text(csv, in->column[c]))) {
            *value = (double)NAN;
            continue;
        }
        const enum status st = csv_number(csv, in->column[c], value, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    in->count++;
    return STATUS_OK;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static enum status read_files(struct rows_in *in, const char *const *paths, size_t count,
                              struct identify_file *files, struct err *err)
{
    const size_t axes = in->kind->model->axis_count;
    in->channels = 1 + 2 * axes;
    for (size_t i = 0; i < count; i++) {
        in->raw.part_start[i] = in->count;
        csv_start(&in->csv, paths[i], take_header, take_row, in);
        files[i].name = base_name(paths[i]);
        const enum status st = csv_file_read_marked(paths[i], &in->csv, &files[i].mark, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    in->raw.part_start[count] = in->count;
    in->raw.part_count = count;
    in->raw.axes = axes;
    in->raw.n = in->count;
    in->raw.t_s = in->values[0];
    for (size_t a = 0; a < axes; a++) {
        in->raw.nu[a] = in->values[1 + a];
        in->raw.tau[a] = in->values[1 + axes + a];
    }
    return STATUS_OK;
}

/* What is read for a fit, or held out of it. */
struct source {
    const char *const *paths;
    size_t count;
    struct identify_file *files; /* [count] out */
    struct data_card *card;      /* out */
};

/* The table of some files; the rows are given back before the fit begins. */
static enum status load(const struct identify_kind *kind,
                        const struct identify_request *request, const struct source *source,
                        struct data_table *table, struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_set(err, STATUS_E_NOMEM, "data", 0, 0, "no memory");
    }
    in->kind = kind;
    in->request = request;
    enum status st = read_files(in, source->paths, source->count, source->files, err);
    if (st == STATUS_OK) {
        st = data_table_make(&in->raw, table, source->card, err);
    }
    for (size_t c = 0; c < CHANNELS_MAX; c++) {
        free(in->values[c]);
    }
    free(in);
    return st;
}

static enum status hold_out(const struct identify_request *request,
                            struct identify_result *result, struct err *err)
{
    struct data_table table;
    const struct source source = {request->validate, request->validate_count,
                                  result->held_out_files, &result->held_out_card};
    enum status st = load(result->kind, request, &source, &table, err);
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

/* method: DYNAMICS_METHOD_COUNT leaves the choice to the data. */
static enum status fit_and_check(const struct identify_request *request,
                                 enum dynamics_method method, const struct data_set *set,
                                 struct identify_result *result, struct err *err)
{
    const struct model *model = result->kind->model;
    struct dynamics_options options = dynamics_options_defaults();
    options.biases = request->biases;
    enum status st = method == DYNAMICS_METHOD_COUNT
                         ? dynamics_estimate_auto(model, set, &options, &result->fit)
                         : dynamics_estimate(model, set, method, &options, &result->fit);
    st = st == STATUS_OK ? dynamics_check_run(model, &result->fit, set, &result->own) : st;
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

static int run(const struct identify_request *request, enum dynamics_method method,
               struct identify_result *result)
{
    const char *paths[IDENTIFY_FILES_MAX];
    struct data_table table;
    struct err err = {0};
    for (size_t i = 0; i < request->file_count; i++) {
        paths[i] = request->files[i];
    }
    result->file_count = request->file_count;
    const struct source source = {paths, request->file_count, result->files, &result->card};
    enum status st = load(result->kind, request, &source, &table, &err);
    if (st == STATUS_OK) {
        st = fit_and_check(request, method, &table.set, result, &err);
        data_table_free(&table);
    }
    if (st != STATUS_OK) {
        csv_file_complain(&err);
        return EXIT_FAILED;
    }
    if (request->json) {
        dynamics_page_json(result);
    } else {
        dynamics_page_print(result);
    }
    return fflush(stdout) == 0 ? EXIT_FINE : EXIT_FAILED;
}

int identify_dynamics(const struct identify_kind *kind, const struct identify_request *request)
{
    enum dynamics_method method = DYNAMICS_METHOD_COUNT;
    const char *name = request->method ? request->method : "auto";
    if (strcmp(name, "auto") != 0 && !dynamics_method_from_name(name, &method)) {
        (void)fprintf(
            stderr,
            "tandem: identify: unknown method '%s', auto, output_error, pem, weak_iv, "
            "weak, ols_central and ols_sg are known\n",
            name);
        return EXIT_USAGE;
    }
    if (request->file_count > IDENTIFY_FILES_MAX) {
        (void)fprintf(stderr, "tandem: identify: %zu files, %d are the limit\n",
                      request->file_count, (int)IDENTIFY_FILES_MAX);
        return EXIT_USAGE;
    }
    struct identify_result *result = calloc(1, sizeof *result);
    if (!result) {
        (void)fputs("tandem: identify: no memory\n", stderr);
        return EXIT_FAILED;
    }
    result->kind = kind;
    const int code = run(request, method, result);
    free(result);
    return code;
}
