#include "service/identify/dynamics_rows.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "service/cli/csv_product.h"

/* Reading is the first tenth of the work. */
static const double READING_SHARE = 0.1;

/* Rows of all inputs of one purpose: time, velocities, efforts, poses. */
struct rows_in {
    const struct model_row *row;
    bool chosen;                                      /* absent is known */
    struct csv_product column[IDENTIFY_CHANNELS_MAX]; /* in the input at hand */
    double sign[IDENTIFY_CHANNELS_MAX]; /* of a journal's field: -1, turned by a minus */
    struct identify_rows rows;
    struct data_raw raw;
};

/* 0 is time, then come velocities, efforts and poses, an axis each. */
enum quantity { TIME, VELOCITY, EFFORT, POSE };

static enum quantity quantity_of(const struct model_row *row, size_t channel)
{
    const size_t block = channel == 0 ? 0 : (channel - 1) / row->model->axis_count;
    return channel == 0 ? TIME : block == 0 ? VELOCITY : block == 1 ? EFFORT : POSE;
}

static bool has_pose(const struct model_row *row)
{
    return row->roles[1 + 2 * row->model->axis_count] != NULL;
}

/* Role and usual name of a channel. */
static const char *role_of(const struct model_row *row, size_t channel)
{
    static const size_t blocks[] = {[VELOCITY] = 1, [EFFORT] = 0, [POSE] = 2};
    const size_t axes = row->model->axis_count;
    const enum quantity quantity = quantity_of(row, channel);
    return row
        ->roles[quantity == TIME ? 0 : 1 + blocks[quantity] * axes + (channel - 1) % axes];
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

static const char *name_of(const struct rows_in *in, const struct csv *csv, size_t channel)
{
    const char *role = role_of(in->row, channel);
    const char *given = identify_column(in->rows.request, role);
    return given ? given : csv_find(csv, role) >= 0 ? role : usual_name(in->row, channel);
}

/* Whether a header or the request has something for a channel. */
static bool is_offered(const struct rows_in *in, const struct csv *csv, size_t channel)
{
    return identify_column(in->rows.request, role_of(in->row, channel)) ||
           csv_find(csv, name_of(in, csv, channel)) >= 0;
}

/* The first input says which velocities there are, and so which poses are needed. One that
 * was asked for by name is read in any case: it tells what else the efforts depend on. */
static void choose_channels(struct rows_in *in, const struct csv *csv)
{
    const size_t axes = in->row->model->axis_count;
    for (size_t a = 0; has_pose(in->row) && a < axes; a++) {
        const size_t velocity = 1 + a;
        const size_t pose = 1 + 2 * axes + a;
        in->rows.absent[velocity] = !is_offered(in, csv, velocity) && is_offered(in, csv, pose);
        in->rows.absent[pose] = !in->row->model->needs_pose && !in->rows.absent[velocity] &&
                                !identify_column(in->rows.request, role_of(in->row, pose));
    }
    in->chosen = true;
}

static enum status take_header(void *context, const struct csv *csv, struct err *err)
{
    struct rows_in *in = context;
    if (!in->chosen) {
        choose_channels(in, csv);
    }
    for (size_t c = 0; c < in->rows.channels; c++) {
        const enum status st = in->rows.absent[c] ? STATUS_OK
                                                  : csv_product_find(csv, name_of(in, csv, c),
                                                                     &in->column[c], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return STATUS_OK;
}

static enum status take_row(void *context, const struct csv *csv, struct err *err)
{
    struct rows_in *in = context;
    enum status st = identify_rows_expect(&in->rows, csv->name, csv->line, err);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t c = 0; c < in->rows.channels; c++) {
        st = in->rows.absent[c] ? STATUS_OK
                                : csv_product_value(csv, &in->column[c],
                                                    &in->rows.values[c][in->rows.count], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    in->rows.count++;
    return STATUS_OK;
}

static enum status read_tables(struct rows_in *in, const struct dynamics_source *source,
                               struct err *err)
{
    const struct identify_lines lines = {take_header, take_row, in};
    in->raw.part_count = source->count;
    return identify_rows_read(&in->rows, &lines, source->inputs, source->count,
                              in->raw.part_start, source->files, err);
}

static enum status take_sample(void *context, const double *row, bool new_part, struct err *err)
{
    struct rows_in *in = context;
    const enum status st = identify_rows_expect(&in->rows, "journal", 0, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (new_part && in->raw.part_count == DATA_RUNS_MAX) {
        return err_set(err, STATUS_E_FULL, "journal", 0, 0,
                       "the robot started anew more than %d times, cut the journal into pieces",
                       (int)DATA_RUNS_MAX);
    }
    if (new_part) {
        in->raw.part_start[in->raw.part_count++] = in->rows.count;
    }
    for (size_t c = 0; c < in->rows.channels; c++) {
        in->rows.values[c][in->rows.count] = c > 0 && in->sign[c] < 0.0 ? 0.0 - row[c] : row[c];
    }
    in->rows.count++;
    return STATUS_OK;
}

/* Where a channel is in telemetry: as --columns says, else in the order of the axes. */
static enum status find_field(const struct rows_in *in, size_t channel,
                              struct journal_field *field, double *sign, struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    const char *role = role_of(in->row, channel);
    const char *given = identify_column(in->rows.request, role);
    const bool turned = given && given[0] == '-';
    *sign = turned ? -1.0 : 1.0;
    *field = (struct journal_field){.axis = false};
    if (given && !journal_field_from_name(given + (turned ? 1 : 0), field)) {
        return err_set(err, STATUS_E_ARG, "identify", 0, 0,
                       "--columns %s=%s: a journal has nu[0] ..., tau[0] ... and pose[0] ...",
                       role, given);
    }
    if (!given) {
        const enum quantity quantity = quantity_of(in->row, channel);
        field->vector = quantity == VELOCITY ? JOURNAL_NU
                        : quantity == EFFORT ? JOURNAL_TAU
                                             : JOURNAL_POSE;
        field->index = (channel - 1) % axes;
        field->axis = quantity != POSE;
    }
    return STATUS_OK;
}

static enum status read_marked_journals(struct rows_in *in,
                                        const struct dynamics_source *source,
                                        const struct dynamics_journal *wanted, struct err *err)
{
    struct journal_mark marks[IDENTIFY_FILES_MAX];
    const char *paths[IDENTIFY_FILES_MAX];
    const struct identify_input *first = &source->inputs[0];
    for (size_t i = 0; i < source->count; i++) {
        paths[i] = source->inputs[i].path;
        if (source->inputs[i].text && source->count > 1) {
            return err_set(err, STATUS_E_ARG, "identify", 0, 0,
                           "one journal at a time was expected");
        }
    }
    in->raw.part_count = 1;
    const enum status st =
        first->text
            ? dynamics_journal_read_text(wanted, first->path, first->text, first->bytes, marks,
                                         source->journal, err)
            : dynamics_journal_read(wanted, paths, source->count, marks, source->journal, err);
    for (size_t i = 0; i < source->count && st == STATUS_OK; i++) {
        source->files[i].name = identify_base_name(paths[i]);
        source->files[i].mark = (struct csv_file_mark){marks[i].bytes, marks[i].hash};
    }
    *source->is_journal = true;
    return st;
}

/* Numbers that lie on no axis of the model: of a sample now and then they are missing, of many
 * they mean something else. Fields that were asked for by name do not care. */
static enum status refuse_misfit(const struct rows_in *in,
                                 const struct dynamics_journal_card *card,
                                 const struct journal_field *fields, const char *side,
                                 struct err *err)
{
    static const double RATIO_MAX = 0.1;
    static const char *const vectors[] = {[JOURNAL_NU] = "nu", [JOURNAL_TAU] = "tau"};
    const struct model *model = in->row->model;
    for (size_t c = 1; c < in->rows.channels; c++) {
        const enum journal_vector v = fields[c - 1].vector;
        if (!fields[c - 1].axis ||
            (double)card->unfit[v] <= RATIO_MAX * (double)card->samples) {
            continue;
        }
        if (fabs(card->unfit_sideways[v]) > 0.0) {
            return err_set(err, STATUS_E_PARSE, "journal", 0, 0,
                           "%s[1] of %s's %s side is %.3g, but %s does not move sideways; "
                           "name its columns: %s=%s[0]",
                           vectors[v], card->pair, side, card->unfit_sideways[v], model->name,
                           role_of(in->row, c), vectors[v]);
        }
        return err_set(err, STATUS_E_PARSE, "journal", 0, 0,
                       "%s of %s's %s side has %zu numbers, %s has %zu ax%s%s; name its "
                       "columns: %s=%s[0]",
                       vectors[v], card->pair, side, card->unfit_count[v], model->name,
                       model->axis_count, model->axis_count == 1 ? "is" : "es",
                       model->planar ? " (3 are taken as ahead, sideways, turn)" : "",
                       role_of(in->row, c), vectors[v]);
    }
    return STATUS_OK;
}

/* Leave out what the model can do without: a velocity where there is a pose, a pose otherwise.
 * What no sample has and the model needs is an error. */
static enum status leave_out(struct rows_in *in, const struct dynamics_journal_card *card,
                             const char *side, const struct journal_field *fields,
                             struct err *err)
{
    static const char *const vectors[] = {
        [JOURNAL_NU] = "nu", [JOURNAL_TAU] = "tau", [JOURNAL_POSE] = "pose"};
    const size_t axes = in->row->model->axis_count;
    const enum status st = refuse_misfit(in, card, fields, side, err);
    if (st != STATUS_OK) {
        return st;
    }
    for (size_t a = 0; has_pose(in->row) && a < axes; a++) {
        const size_t velocity = 1 + a;
        const size_t pose = 1 + 2 * axes + a;
        const bool moves = card->seen >> (velocity - 1) & 1U;
        in->rows.absent[velocity] = !moves && (card->seen >> (pose - 1) & 1U);
        in->rows.absent[pose] = moves && !in->row->model->needs_pose;
    }
    for (size_t c = 1; c < in->rows.channels; c++) {
        if (in->rows.absent[c]) {
            free(in->rows.values[c]);
            in->rows.values[c] = NULL;
        } else if (!(card->seen >> (c - 1) & 1U)) {
            return err_set(err, STATUS_E_EMPTY, "journal", 0, 0,
                           "no sample of %s's %s side has %s[%zu]", card->pair, side,
                           vectors[fields[c - 1].vector], fields[c - 1].index);
        }
    }
    return STATUS_OK;
}

static bool go_on(void *context, uint64_t done, uint64_t total)
{
    const struct rows_in *in = context;
    return identify_rows_go_on(&in->rows, done, total);
}

static enum status read_journals(struct rows_in *in, const struct dynamics_source *source,
                                 struct err *err)
{
    struct journal_field fields[IDENTIFY_CHANNELS_MAX];
    const struct dynamics_journal wanted = {
        .pair = in->rows.request->pair,
        .side = strcmp(in->rows.request->side, "virtual") == 0 ? SIDE_VIRTUAL : SIDE_REAL,
        .model = in->row->model,
        .field_count = in->rows.channels - 1,
        .fields = fields,
        .take = take_sample,
        .go_on = in->rows.request->go_on ? go_on : NULL,
        .context = in};
    for (size_t c = 1; c < in->rows.channels; c++) {
        const enum status st = find_field(in, c, &fields[c - 1], &in->sign[c], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    const enum status st = read_marked_journals(in, source, &wanted, err);
    return st == STATUS_OK ? leave_out(in, source->journal, in->rows.request->side, fields, err)
                           : st;
}

/* What an input is: a journal's lines are objects. */
static bool is_journal(const struct identify_request *request,
                       const struct identify_input *input)
{
    struct stat kind;
    char head[64] = "";
    if (request->journal || request->pair) {
        return true;
    }
    if (input->text) {
        const size_t n = input->bytes < sizeof head - 1 ? input->bytes : sizeof head - 1;
        memcpy(head, input->text, n);
    } else if (strcmp(input->path, "-") != 0 && stat(input->path, &kind) == 0 &&
               S_ISREG(kind.st_mode)) {
        FILE *in = fopen(input->path, "rb");
        const size_t n = in ? fread(head, 1, sizeof head - 1, in) : 0;
        head[n] = '\0';
        if (in) {
            (void)fclose(in);
        }
    }
    return head[strspn(head, " \t\r\n")] == '{';
}

static enum status read_inputs(struct rows_in *in, const struct dynamics_source *source,
                               struct err *err)
{
    const size_t axes = in->row->model->axis_count;
    in->rows.channels = 1 + (has_pose(in->row) ? 3 : 2) * axes;
    const bool journal = is_journal(in->rows.request, &source->inputs[0]);
    for (size_t i = 1; i < source->count; i++) {
        if (is_journal(in->rows.request, &source->inputs[i]) != journal) {
            return err_set(err, STATUS_E_ARG, source->inputs[i].path, 0, 0,
                           "tables and journals cannot be read together");
        }
    }
    const enum status st =
        journal ? read_journals(in, source, err) : read_tables(in, source, err);
    if (st != STATUS_OK) {
        return st;
    }
    in->raw.part_start[in->raw.part_count] = in->rows.count;
    in->raw.axes = axes;
    in->raw.n = in->rows.count;
    in->raw.t_s = in->rows.values[0];
    for (size_t a = 0; a < axes; a++) {
        in->raw.nu[a] = in->rows.values[1 + a];
        in->raw.tau[a] = in->rows.values[1 + axes + a];
        in->raw.pose[a] = has_pose(in->row) ? in->rows.values[1 + 2 * axes + a] : NULL;
    }
    return STATUS_OK;
}

/* The rows are given back before the fit begins. */
enum status dynamics_rows_load(const struct model_row *row,
                               const struct identify_request *request,
                               const struct dynamics_source *source, struct data_table *table,
                               struct err *err)
{
    struct rows_in *in = calloc(1, sizeof *in);
    if (!in) {
        return err_set(err, STATUS_E_NOMEM, "data", 0, 0, "no memory");
    }
    in->row = row;
    in->rows.request = request;
    in->rows.share = READING_SHARE;
    enum status st = read_inputs(in, source, err);
    if (st == STATUS_OK) {
        st = data_table_make(&in->raw, table, source->card, err);
    }
    identify_rows_free(&in->rows);
    free(in);
    return st;
}
