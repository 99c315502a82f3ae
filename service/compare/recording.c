#include "service/compare/recording.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/compare/recorded_rows.h"
#include "service/replay/replay_moves.h"
#include "service/replay/replay_read.h"
#include "service/replay/spool.h"

ENUM_NAMES(compared_time, TIME_COUNT, COMPARED_TIMES(NAMES_TEXT));

struct recording {
    struct document *document; /* NULL: the rest is used */
    const struct lab_file *file;
    struct spool *spool; /* a list for each pair */
    struct replay *replay;
    bool *has_commands; /* [pairs] */
    enum status status; /* the first failure of the spool */
    struct err err;
};

/* ---- rows ---------------------------------------------------------------------------------
 */

size_t recorded_row_bytes(enum recorded_kind kind)
{
    static const size_t bytes[] = {[RECORDED_COMMAND] = sizeof(struct recorded_command),
                                   [RECORDED_ALARM] = sizeof(struct recorded_alarm),
                                   [RECORDED_CHANGE] = sizeof(struct recorded_change),
                                   [RECORDED_STATE] = sizeof(struct recorded_state)};
    return offsetof(struct recorded_row, command) + bytes[kind];
}

static enum status append_item(void **items, size_t *count, size_t *room, const void *item,
                               size_t bytes)
{
    if (*count == *room) {
        const size_t more = *room > 0 ? *room * 2 : 64;
        void *grown = realloc(*items, more * bytes);
        if (!grown) {
            return STATUS_E_NOMEM;
        }
        *items = grown;
        *room = more;
    }
    memcpy((char *)*items + (*count)++ * bytes, item, bytes);
    return STATUS_OK;
}

enum status recorded_pair_add(struct recorded_pair *pair, const struct recorded_row *row)
{
    switch (row->kind) {
    case RECORDED_COMMAND:
        return append_item((void **)&pair->commands, &pair->count, &pair->room, &row->command,
                           sizeof row->command);
    case RECORDED_ALARM:
        return append_item((void **)&pair->alarms, &pair->alarm_count, &pair->alarm_room,
                           &row->alarm, sizeof row->alarm);
    case RECORDED_CHANGE:
        return append_item((void **)&pair->changes, &pair->change_count, &pair->change_room,
                           &row->change, sizeof row->change);
    case RECORDED_STATE:
        pair->state = row->state;
        break;
    }
    return STATUS_OK;
}

void recorded_pair_free(struct recorded_pair *pair)
{
    free(pair->commands);
    free(pair->alarms);
    free(pair->changes);
    *pair = (struct recorded_pair){0};
}

/* ---- a replay -----------------------------------------------------------------------------
 */

static double seconds_of(int64_t us)
{
    return us == LAB_TIME_NONE ? (double)NAN : lab_s(us);
}

static struct recorded_command copy_entry(const struct entry *e)
{
    struct recorded_command c = {
        .t_us = e->t_us,
        .n = e->n,
        .rotation_rad = e->rotation_rad,
        .displacement_m = e->displacement_m,
        .time_s = {[TIME_LAG] = seconds_of(e->lag_us),
                   [TIME_ABS_LAG] = fabs(seconds_of(e->lag_us)),
                   [TIME_REAL_LAP] = seconds_of(e->lap_us[SIDE_REAL]),
                   [TIME_VIRTUAL_LAP] = seconds_of(e->lap_us[SIDE_VIRTUAL])},
        .verdict = e->verdict,
        .consistency = e->consistency,
        .timed_out = {[SIDE_REAL] = e->timed_out[SIDE_REAL],
                      [SIDE_VIRTUAL] = e->timed_out[SIDE_VIRTUAL]}};
    memcpy(c.id, e->id, sizeof c.id);
    memcpy(c.op, e->op, sizeof c.op);
    return c;
}

static struct recorded_alarm copy_alarm(const struct alarm *a)
{
    struct recorded_alarm copy = {.t_us = a->t_us, .type = a->type};
    memcpy(copy.id, a->id, sizeof copy.id);
    return copy;
}

static void spool_record(struct recording *r, size_t pair, const struct recorded_row *row)
{
    const struct spool_row stored = {.lag_s = (double)NAN,
                                     .json = (const char *)row,
                                     .json_bytes = recorded_row_bytes(row->kind)};
    if (r->status == STATUS_OK) {
        r->status = spool_add(r->spool, pair, &stored, &r->err);
    }
}

static void spool_effect(void *context, const struct effect *effect)
{
    struct recording *r = context;
    struct recorded_row row;
    if (effect->pair >= r->file->pair_count) {
        return; /* a team's */
    }
    if (effect->kind == EFFECT_ENTRY) {
        row.kind = RECORDED_COMMAND;
        row.command = copy_entry(effect->entry);
        r->has_commands[effect->pair] = true;
    } else if (effect->kind == EFFECT_ALARM) {
        row.kind = RECORDED_ALARM;
        row.alarm = copy_alarm(effect->alarm);
    } else if (effect->kind == EFFECT_CHANGE) {
        row.kind = RECORDED_CHANGE;
        row.change = (struct recorded_change){effect->change->t_us, effect->change->n};
    } else {
        return;
    }
    spool_record(r, effect->pair, &row);
}

static void copy_fit(const struct pair_fits *fits, enum side side, struct recorded_fit *out)
{
    const struct estimate *e =
        fits->commanded ? &fits->profile[side].estimate : &fits->fit[side].estimate;
    out->n = fits->commanded ? fits->profile[side].n : fits->fit[side].n;
    out->terms = e->p < RECORDED_TERMS_MAX ? e->p : RECORDED_TERMS_MAX;
    for (size_t i = 0; i < out->terms; i++) {
        memcpy(out->name[i], e->name[i], sizeof out->name[i]);
        out->value[i] = e->value[i];
        out->se[i] = e->se[i];
    }
}

static void spool_states(struct recording *r)
{
    for (size_t i = 0; i < r->file->pair_count; i++) {
        const struct pair *pair = lab_pair(r->replay->lab, i);
        struct recorded_row row = {.kind = RECORDED_STATE};
        row.state = (struct recorded_state){0};
        struct pair_fits fits;
        pair_fit_window(pair, &r->file->pairs[i], &fits);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            if (fits.known[s]) {
                copy_fit(&fits, s, &row.state.fit[s]);
            }
        }
        memcpy(row.state.alarms, pair->counts.alarm, sizeof row.state.alarms);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            (void)snprintf(row.state.version[s], EVENT_VERSION_MAX, "%s",
                           pair_version_at(pair, &r->file->pairs[i], s, pair->last_entry_us));
        }
        spool_record(r, i, &row);
    }
}

static enum status read_table(struct recording *r, const char *path)
{
    struct replay_moves moves = {.source = {.path = path}, .pair = ""};
    struct err err = {0};
    const enum status status = replay_moves(r->replay, r->file, &moves, &err);
    replay_end(r->replay);
    return status == STATUS_OK ? status
                               : err_set(&r->err, status, err.fault, path, "%u:%u: %s",
                                         err.line, err.column, err.text);
}

static enum status read_journals(struct recording *r, const char *path)
{
    struct journal_reader *reader = NULL;
    enum status status = journal_reader_open_files(&path, 1, &reader, &r->err);
    if (status == STATUS_OK) {
        const bool whole = replay_read(r->replay, reader, NULL, 0.0);
        status = replay_judge(r->replay, path, &r->err);
        if (status == STATUS_OK && !(replay_report_left_out(r->replay, false) && whole)) {
            status = err_set(&r->err, STATUS_E_IO, FAULT_FILE_UNREADABLE, path,
                             "not all of it could be read");
        }
    }
    journal_reader_close(reader);
    return status;
}

static bool is_table(const char *path)
{
    const size_t n = strlen(path);
    return n > 4 && strcmp(path + n - 4, ".csv") == 0;
}

/* Runs the file through the lab, whose memory is then freed. */
static enum status run_replay(struct recording *r, const char *path)
{
    const struct effects effects = {spool_effect, r};
    enum status status = STATUS_OK;
    r->has_commands = calloc(r->file->pair_count + 1, sizeof *r->has_commands);
    if (!r->has_commands ||
        spool_create(r->file->pair_count, SPOOL_BYTES, &r->spool) != STATUS_OK ||
        replay_create(r->file, &effects, &r->replay) != STATUS_OK) {
        return err_no_memory(&r->err, path, "out of memory");
    }
    status = is_table(path) ? read_table(r, path) : read_journals(r, path);
    if (status == STATUS_OK) {
        spool_states(r);
    }
    replay_destroy(r->replay);
    r->replay = NULL;
    return status == STATUS_OK ? r->status : status;
}

/* ---- the recording ------------------------------------------------------------------------
 */

enum status recording_open(const char *path, const struct lab_file *file,
                           struct recording **out, struct err *err)
{
    struct recording *r = calloc(1, sizeof *r);
    if (!r) {
        return err_no_memory(err, path, "out of memory");
    }
    r->file = file;
    const enum status status =
        file ? run_replay(r, path) : document_open(path, &r->document, &r->err);
    if (status != STATUS_OK) {
        *err = r->err;
        recording_close(r);
        return status;
    }
    *out = r;
    return STATUS_OK;
}

void recording_close(struct recording *recording)
{
    if (recording) {
        document_close(recording->document);
        replay_destroy(recording->replay);
        spool_destroy(recording->spool);
        free(recording->has_commands);
        free(recording);
    }
}

size_t recording_pair_count(const struct recording *recording)
{
    return recording->document ? document_pair_count(recording->document)
                               : recording->file->pair_count;
}

const char *recording_pair_id(const struct recording *recording, size_t i)
{
    return recording->document ? document_pair_id(recording->document, i)
                               : recording->file->pairs[i].id;
}

size_t recording_find_pair(const struct recording *recording, const char *id)
{
    size_t i = 0;
    while (i < recording_pair_count(recording) &&
           strcmp(recording_pair_id(recording, i), id) != 0) {
        i++;
    }
    return i;
}

bool recording_has_commands(const struct recording *recording, size_t i)
{
    return recording->document ? document_has_commands(recording->document, i)
                               : recording->has_commands[i];
}

struct loading {
    struct recorded_pair *pair;
    enum status status;
};

static bool add_spooled(void *context, const struct spool_row *stored)
{
    struct loading *loading = context;
    struct recorded_row row;
    memcpy(&row, stored->json, stored->json_bytes);
    loading->status = recorded_pair_add(loading->pair, &row);
    return loading->status == STATUS_OK;
}

enum status recording_load(struct recording *recording, size_t i, struct recorded_pair *out,
                           struct err *err)
{
    struct loading loading = {out, STATUS_OK};
    *out = (struct recorded_pair){0};
    enum status status = recording->document
                             ? document_load(recording->document, i, out, err)
                             : spool_each(recording->spool, i, 0, add_spooled, &loading, err);
    status = status == STATUS_OK ? loading.status : status;
    if (status != STATUS_OK) {
        recorded_pair_free(out);
        return status == STATUS_E_NOMEM ? err_no_memory(err, "compare", "out of memory")
                                        : status;
    }
    return STATUS_OK;
}
