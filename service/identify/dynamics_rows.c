#include "service/identify/dynamics_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Ratio of the total work that reading takes. */
static const double READING_SHARE = 0.1;

enum { CHANNELS_MAX = 1 + 3 * MODEL_AXES_MAX, ROWS_MAX = 20000000, NAMES = 3 };

/* Rows of all inputs for one purpose: time, velocities, efforts, poses. */
struct rows_in {
    const struct model_row *row;
    const struct identify_request *request;
    bool chosen; /* known: which channels are absent */
    /* the model does not need this pose: it is only compared with the velocity */
    bool compared[MODEL_AXES_MAX];
    /* for a journal's field: -1 when turned by a minus */
    double sign[CHANNELS_MAX];
    const char *names[CHANNELS_MAX][NAMES]; /* role and usual name */
    struct table table;
    struct data_raw raw;
};

/* Channel 0 is time; then come velocities, efforts and poses, one per axis. */
enum quantity { TIME, VELOCITY, EFFORT, POSE };

/* The names of the vectors in telemetry. */
static const char *const vectors[] = {
    [JOURNAL_NU] = "nu", [JOURNAL_TAU] = "tau", [JOURNAL_POSE] = "pose"};

static enum quantity quantity_of(const struct model_row *row, size_t channel)
{
    const size_t block = channel == 0 ? 0 : (channel - 1) / row->model->axis_count;
    return channel == 0 ? TIME : (enum quantity)(VELOCITY + block);
}

static bool has_pose(const struct model_row *row)
{
    return row->roles[1 + 2 * row->model->axis_count] != NULL;
}

/* Returns role and usual name of a channel. */
static const char *role_of(const struct model_row *row, size_t channel)
{
    static const size_t blocks[] = {[VELOCITY] = 1, [EFFORT] = 0, [POSE] = 2};
    const size_t axes = row->model->axis_count;
    const size_t block = blocks[quantity_of(row, channel)];
    return row->roles[channel == 0 ? 0 : 1 + block * axes + (channel - 1) % axes];
}

static const char *usual_name(const struct model_row *row, size_t channel)
{
    const size_t axis = (channel - 1) % row->model->axis_count;
    switch (quantity_of(row, channel)) {
    case VELOCITY:
        return row->model->axes[axis].velocity;
    case EFFORT:
        return row->model->axes[axis].effort;
    case POSE:
        return row->model->axes[axis].pose;
    case TIME:
    default:
        return "t_s";
    }
}

/* The first input decides which velocities exist, and thus which poses are needed. A pose
 * requested by name is always used, because efforts may depend on it. */
static enum status choose_channels(void *context, const struct csv *csv, struct err *err)
{
    struct rows_in *in = context;
    (void)err;
    const size_t axes = in->row->model->axis_count;
    for (size_t a = 0; !in->chosen && has_pose(in->row) && a < axes; a++) {
        const size_t velocity = 1 + a;
        const size_t pose = 1 + 2 * axes + a;
        in->table.channel[velocity].absent =
            !table_offers(&in->table, csv, velocity) && table_offers(&in->table, csv, pose);
        in->compared[a] = !in->row->model->needs_pose && !in->table.channel[velocity].absent &&
                          !in->table.channel[pose].given;
        in->table.channel[pose].absent =
            in->compared[a] && !table_offers(&in->table, csv, pose);
    }
    in->chosen = true;
    return STATUS_OK;
}

static bool report_reading(void *context, uint64_t done, uint64_t total)
{
    const struct rows_in *in = context;
    return identify_go_on(&in->request->caller, READING_SHARE, done, total);
}

static enum status add_sample(void *context, const double *row, bool new_part, struct err *err)
{
    struct rows_in *in = context;
    const enum status st = table_expect(&in->table, "journal", 0, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (new_part && in->raw.part_count == DATA_RUNS_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, "journal",
                       "the robot restarted more than %d times: cut the journal into pieces",
                       (int)DATA_RUNS_MAX);
    }
    if (new_part) {
        in->raw.part_start[in->raw.part_count++] = in->table.count;
    }
    for (size_t c = 0; c < in->table.channels; c++) {
        in->table.channel[c].values[in->table.count] =
            c > 0 && in->sign[c] < 0.0 ? 0.0 - row[c] : row[c];
    }
    in->table.count++;
    return STATUS_OK;
}

/* Finds a channel in telemetry: by --columns, else by the order of axes. */
static enum status find_field(const struct rows_in *in, size_t channel,
                              struct journal_field *field, double *sign, struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    const char *role = role_of(in->row, channel);
    const char *given = in->table.channel[channel].given;
    const bool turned = given && given[0] == '-';
    *sign = turned ? -1.0 : 1.0;
    *field = (struct journal_field){.axis = false};
    if (given && !journal_field_from_name(given + (turned ? 1 : 0), field)) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "identify",
                       "--columns %s=%s: a journal has nu[0] ..., tau[0] ... and pose[0] ...",
                       role, given);
    }
    if (!given) {
        const enum quantity quantity = quantity_of(in->row, channel);
        field->vector = (enum journal_vector)(quantity - VELOCITY);
        field->index = (channel - 1) % axes;
        field->axis = quantity != POSE;
    }
    return STATUS_OK;
}

/* Reports numbers that lie on no axis of the model. A few samples may miss them, but in many
 * samples they mean something else. Fields requested by name are exempt. */
static enum status refuse_misfit(const struct rows_in *in,
                                 const struct dynamics_journal_summary *summary,
                                 const struct journal_field *fields, const char *side,
                                 struct err *err)
{
    static const double RATIO_MAX = 0.1;
    const struct model *model = in->row->model;
    for (size_t c = 1; c < in->table.channels; c++) {
        const enum journal_vector v = fields[c - 1].vector;
        if (!fields[c - 1].axis ||
            (double)summary->unfit[v] <= RATIO_MAX * (double)summary->samples) {
            continue;
        }
        if (fabs(summary->unfit_sideways[v]) > 0.0) {
            return err_set(err, STATUS_E_PARSE, FAULT_INCONSISTENT, "journal",
                           "%s[1] of %s's %s side is %.3g, but %s does not move sideways; "
                           "name its columns: %s=%s[0]",
                           vectors[v], summary->pair, side, summary->unfit_sideways[v],
                           model->name, role_of(in->row, c), vectors[v]);
        }
        return err_set(err, STATUS_E_PARSE, FAULT_INCONSISTENT, "journal",
                       "%s of %s's %s side has %zu numbers, %s has %zu ax%s%s; name its "
                       "columns: %s=%s[0]",
                       vectors[v], summary->pair, side, summary->unfit_count[v], model->name,
                       model->axis_count, model->axis_count == 1 ? "is" : "es",
                       model->planar ? " (3 are read as ahead, sideways, turn)" : "",
                       role_of(in->row, c), vectors[v]);
    }
    return STATUS_OK;
}

/* Drops channels that the model can do without: a velocity if its pose exists, otherwise the
 * pose. A channel that the model needs and no sample has is an error. */
static enum status leave_out(struct rows_in *in, const struct dynamics_journal_summary *summary,
                             const char *side, const struct journal_field *fields,
                             struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    const enum status st = refuse_misfit(in, summary, fields, side, err);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t a = 0; has_pose(in->row) && a < axes; a++) {
        const size_t velocity = 1 + a;
        const size_t pose = 1 + 2 * axes + a;
        const bool moves = summary->seen >> (velocity - 1) & 1U;
        in->table.channel[velocity].absent = !moves && (summary->seen >> (pose - 1) & 1U);
        in->compared[a] = moves && !in->row->model->needs_pose;
        in->table.channel[pose].absent = in->compared[a] && !(summary->seen >> (pose - 1) & 1U);
    }
    for (size_t c = 1; c < in->table.channels; c++) {
        if (in->table.channel[c].absent) {
            free(in->table.channel[c].values);
            in->table.channel[c].values = NULL;
        } else if (!(summary->seen >> (c - 1) & 1U)) {
            return err_set(err, STATUS_E_EMPTY, FAULT_MISSING_COLUMN, "journal",
                           "no sample of %s's %s side has %s[%zu]", summary->pair, side,
                           vectors[fields[c - 1].vector], fields[c - 1].index);
        }
    }
    return STATUS_OK;
}

static enum status read_journals(struct rows_in *in, const struct csv_source *inputs,
                                 size_t count, struct identify_data *data, struct err *err)
{
    struct journal_field fields[CHANNELS_MAX];
    struct file_mark marks[IDENTIFY_FILES_MAX];
    const struct dynamics_journal wanted = {
        .pair = in->request->pair,
        .side = strcmp(in->request->side, "virtual") == 0 ? SIDE_VIRTUAL : SIDE_REAL,
        .model = in->row->model,
        .field_count = in->table.channels - 1,
        .fields = fields,
        .add_row = add_sample,
        .go_on = report_reading,
        .context = in};
    for (size_t c = 1; c < in->table.channels; c++) {
        const enum status st = find_field(in, c, &fields[c - 1], &in->sign[c], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    in->raw.part_count = 1;
    const enum status st =
        dynamics_journal_read(&wanted, inputs, count, marks, &data->journal, err);
    for (size_t i = 0; i < count && st == STATUS_OK; i++) {
        data->files->file[i] =
            (struct identify_file){identify_base_name(inputs[i].path), marks[i]};
    }
    data->files->count = count;
    data->is_journal = true;
    return st == STATUS_OK ? leave_out(in, &data->journal, in->request->side, fields, err) : st;
}

static enum status read_tables(struct rows_in *in, const struct csv_source *inputs,
                               size_t count, struct identify_data *data, struct err *err)
{
    in->raw.part_count = count;
    return identify_read_tables(&in->table, inputs, count, in->raw.part_start, data->files,
                                err);
}

/* The source of the rows; later stages only see columns. */
enum rows_source { TABLES, JOURNALS };
static enum status (*const readers[])(struct rows_in *, const struct csv_source *, size_t,
                                      struct identify_data *, struct err *) = {
    [TABLES] = read_tables, [JOURNALS] = read_journals};

static enum rows_source source_of(const struct identify_request *request,
                                  const struct csv_source *input)
{
    return request->journal || request->pair || identify_is_journal(input) ? JOURNALS : TABLES;
}

static void name_channels(struct rows_in *in)
{
    struct table *table = &in->table;
    table->channels = 1 + (has_pose(in->row) ? 3 : 2) * in->row->model->axis_count;
    table->rows_max = ROWS_MAX;
    table->on_header = choose_channels;
    table->go_on = report_reading;
    table->context = in;
    for (size_t c = 0; c < table->channels; c++) {
        in->names[c][0] = role_of(in->row, c);
        in->names[c][1] = usual_name(in->row, c);
        table->channel[c].names = in->names[c];
        table->channel[c].given = column_map_find(&in->request->columns, in->names[c][0]);
    }
}

static enum status read_inputs(struct rows_in *in, const struct csv_source *inputs,
                               size_t count, struct identify_data *data, struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    name_channels(in);
    const enum rows_source source = source_of(in->request, &inputs[0]);
    for (size_t i = 1; i < count; i++) {
        if (source_of(in->request, &inputs[i]) != source) {
            return err_set(err, STATUS_E_ARG, FAULT_CONFLICTING_KEYS, inputs[i].path,
                           "tables and journals cannot be read together");
        }
    }
    const enum status st = readers[source](in, inputs, count, data, err);
    if (st != STATUS_OK) {
        return st;
    }
    in->raw.part_start[in->raw.part_count] = in->table.count;
    in->raw.axes = axes;
    in->raw.n = in->table.count;
    in->raw.t_s = in->table.channel[0].values;
    for (size_t a = 0; a < axes; a++) {
        in->raw.nu[a] = in->table.channel[1 + a].values;
        in->raw.tau[a] = in->table.channel[1 + axes + a].values;
        const struct table_channel *pose = &in->table.channel[1 + 2 * axes + a];
        const double **to = in->compared[a] ? in->raw.position : in->raw.pose;
        if (has_pose(in->row)) {
            to[a] = pose->values;
            in->raw.pose_scale[a] = source == TABLES ? fabs(pose->from.scale) : 1.0;
        }
    }
    return STATUS_OK;
}

static const char *column_name(const struct rows_in *in, size_t channel)
{
    const char *given = in->table.channel[channel].given;
    return given ? given : in->names[channel][1];
}

static bool share_rows(const struct rows_in *in, size_t one, size_t other)
{
    const double *x = in->table.channel[one].values;
    const double *y = in->table.channel[other].values;
    bool share = !x || !y;
    for (size_t k = 0; k < in->table.count && !share; k++) {
        share = isfinite(x[k]) && isfinite(y[k]);
    }
    return share;
}

/* Names measured columns that no row has both of. */
static enum status explain_empty(const struct rows_in *in, enum status st, struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    for (size_t c = 2; c < in->table.channels; c++) {
        for (size_t before = 1; before < c; before++) {
            const bool measured = quantity_of(in->row, before) != EFFORT &&
                                  quantity_of(in->row, c) != EFFORT &&
                                  !(c > 2 * axes && in->compared[c - 2 * axes - 1]);
            if (measured && !share_rows(in, before, c)) {
                *err = (struct err){0}; /* the first error would stay */
                return err_set(err, st, FAULT_INCONSISTENT, "data",
                               "no row has both %s and %s: fill each column forward first "
                               "(pandas: ffill)",
                               column_name(in, before), column_name(in, c));
            }
        }
    }
    return st;
}

/* The rows are freed before the fit begins, to save memory. */
enum status dynamics_rows_load(const struct model_row *row,
                               const struct identify_request *request,
                               const struct csv_source *inputs, size_t count,
                               struct identify_data *data, struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_no_memory(err, "data", "no memory");
    }
    in->row = row;
    in->request = request;
    enum status st = read_inputs(in, inputs, count, data, err);
    if (st == STATUS_OK) {
        st = data_table_make(&in->raw, &data->table, &data->summary, err);
        st = st == STATUS_E_EMPTY ? explain_empty(in, st, err) : st;
    }
    table_free(&in->table);
    free(in);
    return st;
}
