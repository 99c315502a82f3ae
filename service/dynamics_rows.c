#include "service/dynamics_rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logger/csv.h"

enum { CHANNELS_MAX = 1 + 2 * MODEL_AXES_MAX, ROWS_MAX = 20000000 };

/* Rows of all inputs of one purpose: time, velocities, efforts. */
struct rows_in {
    const struct identify_kind *kind;
    const struct identify_request *request;
    size_t channels;
    size_t column[CHANNELS_MAX]; /* in the input at hand */
    double sign[CHANNELS_MAX];   /* -1: turned by a minus before the column's name */
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
        const bool turned = given && given[0] == '-';
        const char *name = turned                     ? given + 1
                           : given                    ? given
                           : csv_find(csv, role) >= 0 ? role
                                                      : usual;
        in->sign[c] = turned ? -1.0 : 1.0;
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
        *value *= in->sign[c];
    }
    in->count++;
    return STATUS_OK;
}

/* Reading is the first tenth of the work. */
static bool go_on(void *context, uint64_t done, uint64_t total)
{
    const struct rows_in *in = context;
    const struct identify_request *request = in->request;
    const double share = total > 0 ? (double)done / (double)total : 0.0;
    return request->go_on(request->context, "reading", 0.1 * share);
}

static enum status read_input(struct rows_in *in, const struct identify_input *input,
                              struct identify_file *file, struct err *err)
{
    struct csv_source source = {
        .path = input->path, .text = input->text, .bytes = input->bytes};
    if (in->request->go_on) {
        source.go_on = go_on;
        source.context = in;
    }
    csv_start(&in->csv, input->path, take_header, take_row, in);
    file->name = identify_base_name(input->path);
    return csv_file_read_marked(&source, &in->csv, &file->mark, err);
}

static enum status read_inputs(struct rows_in *in, const struct dynamics_source *source,
                               struct err *err)
{
    const size_t axes = in->kind->model->axis_count;
    in->channels = 1 + 2 * axes;
    for (size_t i = 0; i < source->count; i++) {
        in->raw.part_start[i] = in->count;
        const enum status st = read_input(in, &source->inputs[i], &source->files[i], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    in->raw.part_start[source->count] = in->count;
    in->raw.part_count = source->count;
    in->raw.axes = axes;
    in->raw.n = in->count;
    in->raw.t_s = in->values[0];
    for (size_t a = 0; a < axes; a++) {
        in->raw.nu[a] = in->values[1 + a];
        in->raw.tau[a] = in->values[1 + axes + a];
    }
    return STATUS_OK;
}

/* The rows are given back before the fit begins. */
enum status dynamics_rows_load(const struct identify_kind *kind,
                               const struct identify_request *request,
                               const struct dynamics_source *source, struct data_table *table,
                               struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_set(err, STATUS_E_NOMEM, "data", 0, 0, "no memory");
    }
    in->kind = kind;
    in->request = request;
    enum status st = read_inputs(in, source, err);
    if (st == STATUS_OK) {
        st = data_table_make(&in->raw, table, source->card, err);
    }
    for (size_t c = 0; c < CHANNELS_MAX; c++) {
        free(in->values[c]);
    }
    free(in);
    return st;
}
