#include "service/replay/replay_moves.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "logger/message/json_write.h"

enum { MOVES_MAX = 4000000, PAUSE_US = 1000000, GO_ON_EVERY = 256 };

struct move {
    int64_t t_us, lap_us[SIDE_COUNT]; /* LAB_TIME_NONE: no reply */
    double rotation_rad, displacement_m;
    uint32_t pair;
    enum reply_status status[SIDE_COUNT];
    char op[EVENT_OP_MAX], id[EVENT_ID_MAX];
};

/* One message of a move: its command, or the reply of a side. */
struct part {
    int64_t t_us;
    uint32_t move;
    uint8_t what; /* 0: the command; 1 + side */
};

enum column {
    COLUMN_T,
    COLUMN_PAIR,
    COLUMN_OP,
    COLUMN_ID,
    COLUMN_ROTATION,
    COLUMN_DISPLACEMENT,
    COLUMN_LAP, /* of the real robot, then of the virtual one */
    COLUMN_LAP_VIRTUAL,
    COLUMN_STATUS, /* the same */
    COLUMN_STATUS_VIRTUAL,
    COLUMN_LAP1, /* of the robot that answered first */
    COLUMN_LAP2,
    COLUMN_STATE,
    COLUMN_COUNT
};

/* Names that a column may have, and the unit of each. */
static const struct role {
    enum column column;
    const char *name;
    double factor;
} roles[] = {{COLUMN_T, "t", 1.0},
             {COLUMN_T, "t_s", 1.0},
             {COLUMN_T, "T", 1.0},
             {COLUMN_T, "T_s", 1.0},
             {COLUMN_PAIR, "pair", 1.0},
             {COLUMN_OP, "op", 1.0},
             {COLUMN_ID, "id", 1.0},
             {COLUMN_ROTATION, "rotation_rad", 1.0},
             {COLUMN_ROTATION, "rotation_deg", RAD_PER_DEG},
             {COLUMN_DISPLACEMENT, "displacement_m", 1.0},
             {COLUMN_DISPLACEMENT, "displacement_mm", 1e-3},
             {COLUMN_LAP, "real_lap_s", 1.0},
             {COLUMN_LAP_VIRTUAL, "virtual_lap_s", 1.0},
             {COLUMN_STATUS, "real_status", 1.0},
             {COLUMN_STATUS_VIRTUAL, "virtual_status", 1.0},
             {COLUMN_LAP1, "lap1_s", 1.0},
             {COLUMN_LAP2, "lap2_s", 1.0},
             {COLUMN_STATE, "state", 1.0}};

struct move_table {
    const struct replay_moves *wanted;
    struct replay *replay;
    const struct lab_file *file;
    struct csv_quantity at[COLUMN_COUNT]; /* column -1: absent */
    long fixed_pair;                      /* pair of all moves; -1: each row names its own */
    int64_t next_us;                      /* next time, if the table has none */
    struct move *moves;
    size_t count, room;
    const struct csv *csv; /* set while reading */
};

/* ---- the header ---- */

static bool has_column(const struct move_table *t, enum column column)
{
    return t->at[column].column >= 0;
}

/* Finds a column by the first name that the caller gave, or else by one that the table has. */
static enum status find_column(struct move_table *t, enum column column, struct err *err)
{
    struct csv_quantity *at = &t->at[column];
    *at = (struct csv_quantity){-1, 1.0};
    for (size_t i = 0; i < COUNT(roles); i++) {
        const char *given = roles[i].column == column
                                ? column_map_find(&t->wanted->columns, roles[i].name)
                                : NULL;
        if (given) {
            return csv_quantity_find(t->csv, given, unit_of_name(roles[i].name),
                                     roles[i].factor, at, err);
        }
    }
    for (size_t i = 0; i < COUNT(roles) && at->column < 0; i++) {
        if (roles[i].column == column) {
            *at = (struct csv_quantity){csv_find(t->csv, roles[i].name), roles[i].factor};
        }
    }
    return STATUS_OK;
}

static enum status read_header(void *context, const struct csv *csv, struct err *err)
{
    struct move_table *t = context;
    size_t ignored = 0;
    enum status st = STATUS_OK;
    t->csv = csv;
    for (enum column c = 0; c < COLUMN_COUNT && st == STATUS_OK; c++) {
        st = find_column(t, c, err);
    }
    if (st != STATUS_OK) {
        return st;
    }
    if (!has_column(t, COLUMN_ROTATION) && !has_column(t, COLUMN_DISPLACEMENT)) {
        return csv_require(csv, "rotation_rad", &ignored, err);
    }
    if (t->fixed_pair < 0 && !has_column(t, COLUMN_PAIR)) {
        return err_set(err, STATUS_E_ARG, FAULT_MISSING_COLUMN, "pair",
                       "the table has no column 'pair': give the pair of its moves");
    }
    if (has_column(t, COLUMN_LAP) || has_column(t, COLUMN_LAP_VIRTUAL)) {
        t->at[COLUMN_STATE].column = -1;
    } else if (has_column(t, COLUMN_LAP1) && has_column(t, COLUMN_LAP2) &&
               has_column(t, COLUMN_STATE)) {
        t->at[COLUMN_LAP] = t->at[COLUMN_LAP1];
        t->at[COLUMN_LAP_VIRTUAL] = t->at[COLUMN_LAP2];
    } else {
        return csv_require(csv, "real_lap_s", &ignored, err);
    }
    return STATUS_OK;
}

/* ---- rows ---- */

/* Converts seconds of the current row to microseconds; LAB_TIME_NONE when empty. */
static enum status read_seconds(const struct csv *csv, struct csv_quantity quantity,
                                bool may_be_negative, int64_t *us, struct err *err)
{
    double s = (double)NAN;
    *us = LAB_TIME_NONE;
    const enum status st = csv_quantity_read(csv, quantity, &s, err);
    if (st != STATUS_OK || isnan(s)) {
        return st;
    }
    if (!(fabs(s) < 1e11) || (s < 0.0 && !may_be_negative)) {
        return csv_error(csv, (size_t)quantity.column, err, FAULT_TIME_EXPECTED,
                         "a time in seconds was expected");
    }
    *us = (int64_t)llround(s * 1e6);
    return STATUS_OK;
}

/* The text of the current row; "": no such column. */
static const char *text_at(const struct move_table *t, enum column column)
{
    return has_column(t, column) ? csv_text(t->csv, (size_t)t->at[column].column) : "";
}

static enum status read_pair(const struct move_table *t, struct move *move, struct err *err)
{
    if (t->fixed_pair >= 0) {
        move->pair = (uint32_t)t->fixed_pair;
        return STATUS_OK;
    }
    const char *id = text_at(t, COLUMN_PAIR);
    for (size_t i = 0; i < t->file->pair_count; i++) {
        if (strcmp(t->file->pairs[i].id, id) == 0) {
            move->pair = (uint32_t)i;
            return STATUS_OK;
        }
    }
    return csv_error(t->csv, (size_t)t->at[COLUMN_PAIR].column, err, FAULT_UNKNOWN_NAME,
                     "a pair of this lab was expected; give the pair of its moves");
}

static enum status read_status(const struct move_table *t, enum column column,
                               enum reply_status *status, struct err *err)
{
    const char *text = text_at(t, column);
    const size_t value = text[0] ? names_value(&reply_status_names, text) : REPLY_DONE;
    if (value < REPLY_STATUS_COUNT) {
        *status = (enum reply_status)value;
        return STATUS_OK;
    }
    return csv_error(
        t->csv, (size_t)t->at[column].column, err, FAULT_UNKNOWN_VALUE,
        "the status of a reply was expected: done, data, blocked, halted, ignored, error");
}

/* In a smart logger's table lap1 belongs to the robot that answered first. */
static void order_laps(const struct move_table *t, struct move *move)
{
    if (strcmp(text_at(t, COLUMN_STATE), verdict_name(VERDICT_AHEAD)) == 0) {
        const int64_t first_us = move->lap_us[SIDE_REAL];
        move->lap_us[SIDE_REAL] = move->lap_us[SIDE_VIRTUAL];
        move->lap_us[SIDE_VIRTUAL] = first_us;
    }
}

static void read_names(const struct move_table *t, struct move *move)
{
    const char *op = text_at(t, COLUMN_OP);
    const char *id = text_at(t, COLUMN_ID);
    (void)snprintf(move->op, sizeof move->op, "%s", op[0] ? op : "go");
    if (id[0]) {
        (void)snprintf(move->id, sizeof move->id, "%s", id);
    } else {
        (void)snprintf(move->id, sizeof move->id, "row%zu", t->count + 1);
    }
}

static enum status add_move(struct move_table *t, const struct move *move, struct err *err)
{
    if (t->count == t->room) {
        const size_t room = t->room ? 2 * t->room : 1024;
        struct move *more = room <= MOVES_MAX ? realloc(t->moves, room * sizeof *more) : NULL;
        if (!more) {
            return err_set_at(err, STATUS_E_NOMEM, FAULT_NO_MEMORY, t->csv->name, t->csv->line,
                              0, "no memory for more than %zu moves", t->count);
        }
        t->moves = more;
        t->room = room;
    }
    t->moves[t->count++] = *move;
    return STATUS_OK;
}

static enum status read_row(void *context, const struct csv *csv, struct err *err)
{
    struct move_table *t = context;
    const struct csv_quantity *at = t->at;
    struct move move = {.pair = 0};
    enum status st = read_pair(t, &move, err);
    st = st == STATUS_OK ? read_seconds(csv, at[COLUMN_T], true, &move.t_us, err) : st;
    st = st == STATUS_OK ? csv_quantity_read(csv, at[COLUMN_ROTATION], &move.rotation_rad, err)
                         : st;
    st = st == STATUS_OK
             ? csv_quantity_read(csv, at[COLUMN_DISPLACEMENT], &move.displacement_m, err)
             : st;
    int64_t longest_us = 0;
    for (int side = 0; side < SIDE_COUNT && st == STATUS_OK; side++) {
        st = read_seconds(csv, at[COLUMN_LAP + side], false, &move.lap_us[side], err);
        st = st == STATUS_OK
                 ? read_status(t, (enum column)(COLUMN_STATUS + side), &move.status[side], err)
                 : st;
        longest_us = st == STATUS_OK && move.lap_us[side] != LAB_TIME_NONE &&
                             move.lap_us[side] > longest_us
                         ? move.lap_us[side]
                         : longest_us;
    }
    if (st != STATUS_OK) {
        return st;
    }
    order_laps(t, &move);
    read_names(t, &move);
    move.t_us = move.t_us == LAB_TIME_NONE ? t->next_us : move.t_us;
    t->next_us = move.t_us + longest_us + PAUSE_US;
    return add_move(t, &move, err);
}

/* ---- messages ---- */

static int compare_parts(const void *one, const void *other)
{
    const struct part *a = one;
    const struct part *b = other;
    if (a->t_us != b->t_us) {
        return a->t_us < b->t_us ? -1 : 1;
    }
    if (a->move != b->move) {
        return a->move < b->move ? -1 : 1;
    }
    return (a->what > b->what) - (a->what < b->what);
}

static size_t split_moves(const struct move_table *t, struct part *parts)
{
    size_t n = 0;
    for (size_t i = 0; i < t->count; i++) {
        const struct move *move = &t->moves[i];
        parts[n++] = (struct part){move->t_us, (uint32_t)i, 0};
        for (int side = 0; side < SIDE_COUNT; side++) {
            if (move->lap_us[side] != LAB_TIME_NONE) {
                parts[n++] = (struct part){move->t_us + move->lap_us[side], (uint32_t)i,
                                           (uint8_t)(1 + side)};
            }
        }
    }
    qsort(parts, n, sizeof parts[0], compare_parts);
    return n;
}

static void feed_part(const struct move_table *t, const struct part *part,
                      struct replay *replay)
{
    const struct move *move = &t->moves[part->move];
    struct message message = {.t_us = part->t_us, .qos = 1};
    char payload[512];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON("id", move->id));
    const char *pair = t->file->pairs[move->pair].id;
    if (part->what == 0) {
        JSON_WRITE(&w, JSON("op", move->op), JSON("rotation_rad", move->rotation_rad),
                   JSON("displacement_m", move->displacement_m));
        (void)snprintf(message.topic, sizeof message.topic, "%s/%s/command", replay->prefix,
                       pair);
    } else {
        const enum side side = (enum side)(part->what - 1);
        json_write_text(&w, "status", reply_status_name(move->status[side]));
        (void)snprintf(message.topic, sizeof message.topic, "%s/%s/%s/reply", replay->prefix,
                       pair, side_name(side));
    }
    json_write_close(&w);
    (void)json_write_end(&w);
    message.payload = payload;
    message.stored_bytes = w.used;
    message.payload_bytes = w.used;
    replay->counts.lines++;
    replay_message(replay, &message);
}

static enum status feed_all(const struct move_table *t, struct replay *replay, struct err *err)
{
    const struct replay_moves *wanted = t->wanted;
    struct part *parts = calloc((1 + SIDE_COUNT) * t->count + 1, sizeof *parts);
    if (!parts) {
        return err_no_memory(err, wanted->source.path, "no memory for %zu moves", t->count);
    }
    const size_t n = split_moves(t, parts);
    enum status st = STATUS_OK;
    for (size_t i = 0; i < n && st == STATUS_OK; i++) {
        const double share = 0.3 + 0.6 * (double)i / (double)n;
        if (i % GO_ON_EVERY == 0 && !replay_may_go_on(replay, "replaying", share)) {
            st =
                err_set(err, STATUS_E_STALE, FAULT_CANCELLED, wanted->source.path, "cancelled");
            break;
        }
        st = replay_pause(replay, parts[i].t_us, share, err);
        if (st == STATUS_OK) {
            feed_part(t, &parts[i], replay);
        }
    }
    free(parts);
    return st;
}

/* ---- the whole table ----------------------------------------------------------------- */

static bool go_on_reading(void *context, uint64_t done, uint64_t total)
{
    const struct move_table *t = context;
    return replay_may_go_on(t->replay, "reading",
                            total > 0 ? 0.3 * (double)done / (double)total : 0.0);
}

static enum status choose_pair(struct move_table *t, struct replay *replay, struct err *err)
{
    const char *pair = t->wanted->pair;
    t->fixed_pair = pair[0] ? lab_find(replay->lab, pair) : -1;
    if (pair[0] && t->fixed_pair < 0) {
        return err_set(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, "pair",
                       "the lab has no pair '%s'", pair);
    }
    if (!pair[0] && t->file->pair_count == 1) {
        t->fixed_pair = 0;
    }
    return STATUS_OK;
}

bool replay_moves_is_table(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

enum status replay_moves(struct replay *replay, const struct lab_file *file,
                         struct replay_moves *moves, struct err *err)
{
    struct move_table *t = calloc(1, sizeof *t);
    if (!t) {
        return err_no_memory(err, moves->source.path, "no memory");
    }
    const struct csv_lines lines = {read_header, read_row, go_on_reading, t};
    const char *names[COUNT(roles) + 1] = {NULL};
    for (size_t i = 0; i < COUNT(roles); i++) {
        names[i] = roles[i].name;
    }
    t->wanted = moves;
    t->replay = replay;
    t->file = file;
    t->next_us = PAUSE_US;
    enum status st = column_map_check(&moves->columns, names, "a table of moves", err);
    st = st == STATUS_OK ? choose_pair(t, replay, err) : st;
    if (st == STATUS_OK) {
        st = csv_file_read(&moves->source, &lines, NULL, err);
    }
    if (st == STATUS_OK) {
        st = feed_all(t, replay, err);
    }
    free(t->moves);
    free(t);
    return st;
}
