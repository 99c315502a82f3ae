#include "service/replay/replay_run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "service/replay/pair_states.h"
#include "service/replay/rows.h"
#include "service/tool/json_file.h"
#include "twin/report/team_live_report.h"
#include "twin/team/live/team_live_bars.h"
#include "twin/team/step/team_bars.h"

/* Owners of record lists: pairs, then teams. */
static size_t count_names(const struct replay_run *run)
{
    const struct lab_params params = lab_file_params(run->file);
    return params.pair_count + params.team_count;
}

static size_t list_of(const struct replay_run *run, enum store_kind kind, size_t index)
{
    return (size_t)kind * count_names(run) + index;
}

enum status replay_open_spool(struct replay_run *run)
{
    enum status status =
        spool_create(STORE_KIND_COUNT * count_names(run), SPOOL_BYTES, &run->spool);
    if (status == STATUS_OK && run->threads) {
        status = spool_queue_create(run->threads, run->spool, &run->queue);
    }
    return status == STATUS_OK
               ? STATUS_OK
               : err_set(&run->err, status, FAULT_NO_MEMORY, "replay", "out of memory");
}

void replay_close_spool(struct replay_run *run)
{
    spool_queue_destroy(run->queue);
    spool_destroy(run->spool);
}

static void spool_row(struct replay_run *run, const struct store_row *row, size_t index)
{
    const struct spool_row stored_row = {row->t_us, row->lag_s, row->json, row->json_bytes};
    const size_t list = list_of(run, row->kind, index);
    if (run->queue) {
        spool_queue_row(run->queue, list, &stored_row);
    } else if (run->spool_status == STATUS_OK) {
        run->spool_status = spool_add(run->spool, list, &stored_row, &run->err);
    }
}

enum status replay_end_spool(struct replay_run *run)
{
    return run->queue ? spool_queue_end(run->queue, &run->err) : run->spool_status;
}

static const char *show_lap(int64_t us, char text[16])
{
    if (us == LAB_TIME_NONE) {
        return "-";
    }
    (void)snprintf(text, 16, "%.3f", lab_s(us));
    return text;
}

static void print_entry(const struct entry *e, const char *pair)
{
    char real[16];
    char virtual[16];
    char lag[16];
    char judged[48] = "";
    char time[28];
    char id[EVENT_ID_MAX];
    char op[EVENT_OP_MAX];
    (void)snprintf(id, sizeof id, "%s", e->id[0] ? e->id : "-");
    (void)snprintf(op, sizeof op, "%s", e->op);
    message_format_time(e->t_us, time);
    if (e->judged_lag_us != LAB_TIME_NONE) {
        (void)snprintf(judged, sizeof judged, " (judged %+.3f, network %+.3f)",
                       lab_s(e->judged_lag_us), lab_s(e->lag_us - e->judged_lag_us));
    }
    (void)printf("%.23sZ %-8s %-10s %-6s %7.2f rad %7.3f m %9s %9s %9s  %s%s%s\n", time, pair,
                 utf8_tame(id), utf8_tame(op), e->rotation_rad, e->displacement_m,
                 show_lap(e->lap_us[SIDE_REAL], real),
                 show_lap(e->lap_us[SIDE_VIRTUAL], virtual), show_lap(e->lag_us, lag),
                 verdict_name(e->verdict), judged,
                 e->consistency == INCONSISTENT ? ", inconsistent" : "");
}

static void print_alarm(const struct alarm *a, const char *pair)
{
    char time[28];
    char id[EVENT_ID_MAX];
    char detail[ALARM_DETAIL_MAX];
    (void)snprintf(id, sizeof id, "%s", a->id[0] ? a->id : "-");
    (void)snprintf(detail, sizeof detail, "%s", a->detail);
    message_format_time(a->t_us, time);
    (void)printf("%.23sZ %-8s %-10s alarm %s%s%s: %s\n", time, pair, utf8_tame(id),
                 alarm_type_name(a->type), a->side < SIDE_COUNT ? ", " : "", side_name(a->side),
                 utf8_tame(detail));
}

static void print_effect(const struct effect *effect, const char *pair)
{
    if (effect->kind == EFFECT_ENTRY) {
        print_entry(effect->entry, pair);
    } else if (effect->kind == EFFECT_ALARM) {
        print_alarm(effect->alarm, pair);
    }
}

/* The bars that a team's effect ends, numbered as in the daemon. */
struct bars_ended {
    struct replay_run *run;
    size_t team;
    uint64_t n;
};

static void spool_bar(void *context, const struct bar *bar)
{
    struct bars_ended *ended = context;
    const struct lab *lab = ended->run->replay->lab;
    const struct team_params *p = lab_team_params(lab, ended->team);
    struct record_row r;
    struct bar predicted = *bar;
    team_live_predict_bar(lab_team(lab, ended->team), p, &predicted);
    row_of_bar(&r, &predicted, p->name, ended->n++);
    spool_row(ended->run, &r.row, ended->run->file->pair_count + ended->team);
}

static void spool_effect(struct replay_run *run, const struct effect *effect, const char *pair)
{
    struct record_row r;
    if (effect->kind == EFFECT_ENTRY && run->queue) {
        spool_queue_entry(run->queue, list_of(run, STORE_ENTRIES, effect->pair), effect->entry,
                          pair);
        return;
    }
    if (effect->kind == EFFECT_ENTRY) {
        row_of_entry(&r, effect->entry, pair);
    } else if (effect->kind == EFFECT_ALARM) {
        row_of_alarm(&r, effect->alarm, pair);
    } else if (effect->kind == EFFECT_CHANGE) {
        struct large_row change;
        row_of_change(&change, effect->change, pair);
        spool_row(run, &change.row, effect->pair);
        return;
    } else if (effect->kind == EFFECT_LOG) {
        row_of_event(&r, effect->event, effect->n, pair);
    } else if (effect->kind == EFFECT_TEAM) {
        const size_t team = effect->pair - run->file->pair_count;
        struct bars_ended ended = {run, team, effect->team.n * TEAM_ROBOTS_MAX};
        team_bars_ended(lab_team_params(run->replay->lab, team), effect->team.effect, spool_bar,
                        &ended);
        return;
    } else {
        return;
    }
    spool_row(run, &r.row, effect->pair);
}

void replay_write_effect(void *context, const struct effect *effect)
{
    struct replay_run *run = context;
    const struct lab_params params = lab_file_params(run->file);
    const char *pair = lab_name(&params, effect->pair);
    if (run->spool) {
        spool_effect(run, effect, pair);
    } else {
        print_effect(effect, pair);
    }
}

/* ---- records in the order of names ---- */

struct named {
    const char *name;
    size_t index;
};

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const struct named *)a)->name, ((const struct named *)b)->name);
}

enum status replay_each(struct replay_run *run, enum store_kind kind, spool_row_fn *row,
                        void *context)
{
    const struct lab_params params = lab_file_params(run->file);
    const size_t count = count_names(run);
    struct named *names = calloc(count, sizeof *names);
    enum status status = STATUS_OK;
    if (!names) {
        return err_no_memory(&run->err, "replay", "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = (struct named){lab_name(&params, (uint32_t)i), i};
    }
    qsort(names, count, sizeof *names, compare_names);
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = spool_each(run->spool, list_of(run, kind, names[i].index), 0, row, context,
                            &run->err);
    }
    free(names);
    return status;
}

enum status replay_each_of_pair(struct replay_run *run, enum store_kind kind, size_t pair,
                                spool_row_fn *row, void *context)
{
    return spool_each(run->spool, list_of(run, kind, pair), 0, row, context, &run->err);
}

uint64_t replay_count_of_pair(const struct replay_run *run, enum store_kind kind, size_t pair)
{
    return spool_count(run->spool, list_of(run, kind, pair));
}

/* ---- the document: records ---- */

static bool write_row(void *context, const struct spool_row *row)
{
    json_write_raw(context, NULL, row->json, row->json_bytes);
    return true;
}

/* max: 0 writes all. */
static enum status write_records(struct replay_run *run, struct json_writer *w, const char *key,
                                 enum store_kind kind, size_t index, size_t max)
{
    json_write_array(w, key);
    const enum status status =
        spool_each(run->spool, list_of(run, kind, index), max, write_row, w, &run->err);
    json_write_close(w);
    return status;
}

/* ---- lag over time ------------------------------------------------------------------------
 */

struct lag_point {
    int64_t t_us;
    double lag_s;
};

/* The current interval: one of `stretches` over `total` entries. */
struct lag_stretches {
    struct json_writer *w;
    size_t total, stretches;
    size_t seen, stretch;
    bool has;
    struct lag_point least, greatest;
};

static void write_point(struct json_writer *w, const struct lag_point *point)
{
    json_write_array(w, NULL);
    JSON_WRITE(w, JSON_SECONDS(NULL, point->t_us), JSON(NULL, point->lag_s));
    json_write_close(w);
}

static void end_stretch(struct lag_stretches *s)
{
    if (s->has) {
        const bool falls = s->greatest.t_us < s->least.t_us;
        write_point(s->w, falls ? &s->greatest : &s->least);
        if (s->least.t_us != s->greatest.t_us) {
            write_point(s->w, falls ? &s->least : &s->greatest);
        }
    }
    s->has = false;
}

static bool add_lag(void *context, const struct spool_row *row)
{
    struct lag_stretches *s = context;
    const size_t stretch = s->seen * s->stretches / s->total;
    if (stretch != s->stretch) {
        end_stretch(s);
        s->stretch = stretch;
    }
    s->seen++;
    if (isfinite(row->lag_s)) {
        const struct lag_point point = {row->t_us, row->lag_s};
        s->least = !s->has || point.lag_s < s->least.lag_s ? point : s->least;
        s->greatest = !s->has || point.lag_s > s->greatest.lag_s ? point : s->greatest;
        s->has = true;
    }
    return true;
}

static enum status write_lag(struct replay_run *run, struct json_writer *w, size_t index,
                             size_t points_max)
{
    const size_t list = list_of(run, STORE_ENTRIES, index);
    struct lag_stretches series = {
        .w = w, .total = spool_count(run->spool, list), .stretches = points_max / 2};
    json_write_array(w, "lag");
    const enum status status = spool_each(run->spool, list, 0, add_lag, &series, &run->err);
    end_stretch(&series);
    json_write_close(w);
    return status;
}

/* ---- the document -------------------------------------------------------------------------
 */

/* each: counts of one pair; all zero for the total. */
static enum status write_pair(struct replay_run *run, struct json_writer *w, size_t i,
                              const struct pair_state *state, const struct replay_extract *each)
{
    const struct pair_params *p = &run->file->pairs[i];
    json_write_object(w, p->id);
    enum status status = write_records(run, w, "entries", STORE_ENTRIES, i, each->entries_max);
    if (status == STATUS_OK) {
        status = write_records(run, w, "alarms", STORE_ALARMS, i, each->alarms_max);
    }
    if (status == STATUS_OK && p->record == PAIR_ALL && each->entries_max == 0) {
        status = write_records(run, w, "log", STORE_LOG, i, 0);
    }
    json_write_raw(w, NULL, state->parameters, state->parameters_bytes);
    if (status == STATUS_OK) {
        status = write_records(run, w, "changes", STORE_CHANGES, i, each->changes_max);
    }
    json_write_raw(w, NULL, state->rest, state->rest_bytes);
    if (status == STATUS_OK && each->lag_points_max > 0) {
        status = write_lag(run, w, i, each->lag_points_max);
    }
    json_write_close(w);
    return status;
}

/* Chooses the pairs in the document and returns their number. */
static size_t choose_pairs(const struct replay_run *run, bool all, uint32_t *pairs)
{
    size_t count = 0;
    for (size_t i = 0; i < run->file->pair_count; i++) {
        const bool has_state = lab_pair(run->replay->lab, i)->version > 0;
        if (all || has_state) {
            pairs[count++] = (uint32_t)i;
        }
    }
    return count;
}

static size_t share_of(size_t max, size_t pairs)
{
    return pairs > 0 && max > pairs ? max / pairs : 1;
}

static enum status write_each(struct replay_run *run, struct json_writer *w,
                              const uint32_t *pairs, size_t count,
                              const struct replay_extract *each)
{
    struct pair_states *states = NULL;
    struct pair_state state;
    enum status status =
        pair_states_create(run->replay->lab, run->file, pairs, count, run->threads, &states);
    for (size_t k = 0; k < count && status == STATUS_OK; k++) {
        status = pair_states_next(states, &state);
        status = status == STATUS_OK ? write_pair(run, w, pairs[k], &state, each) : status;
    }
    pair_states_destroy(states);
    return status == STATUS_E_NOMEM
               ? err_set(&run->err, status, FAULT_NO_MEMORY, "replay", "out of memory")
               : status;
}

static enum status write_pairs(struct replay_run *run, struct json_writer *w,
                               const struct replay_extract *extract)
{
    struct replay_extract each = {0};
    uint32_t *pairs = calloc(run->file->pair_count, sizeof *pairs);
    if (!pairs) {
        return err_no_memory(&run->err, "replay", "out of memory");
    }
    const size_t count = choose_pairs(run, !extract, pairs);
    if (extract) {
        each = (struct replay_extract){.entries_max = share_of(extract->entries_max, count),
                                       .alarms_max = share_of(extract->alarms_max, count),
                                       .changes_max = share_of(extract->changes_max, count),
                                       .lag_points_max =
                                           1 + share_of(extract->lag_points_max, count)};
    }
    const enum status status = write_each(run, w, pairs, count, &each);
    free(pairs);
    return status;
}

/* Writes each team's final state, its alarms and its bars (no bars in an extract). */
static enum status write_teams(struct replay_run *run, struct json_writer *w,
                               const struct replay_extract *extract)
{
    const struct lab *lab = run->replay->lab;
    enum status status = STATUS_OK;
    json_write_object(w, "teams");
    for (size_t i = 0; i < lab_team_count(lab) && status == STATUS_OK; i++) {
        const struct team_params *p = lab_team_params(lab, i);
        const size_t index = run->file->pair_count + i;
        json_write_object(w, p->name);
        team_live_report(w, "end", lab_team(lab, i), p, lab_time(lab));
        status = write_records(run, w, "alarms", STORE_ALARMS, index,
                               extract ? extract->alarms_max : 0);
        if (status == STATUS_OK && !extract) {
            status = write_records(run, w, "bars", STORE_BARS, index, 0);
        }
        json_write_close(w);
    }
    json_write_close(w);
    return status;
}

static void write_journal_counts(struct json_writer *w, const struct replay *replay)
{
    const struct replay_counts *c = &replay->counts;
    const struct lab_counts *l = lab_counts(replay->lab);
    JSON_WRITE_OBJECT(w, "journal", JSON("lines", c->lines), JSON("events", c->events),
                      JSON("malformed", c->malformed), JSON("other", c->other),
                      JSON("torn", c->torn), JSON("overlong", c->overlong),
                      JSON("ahead", c->ahead), JSON("unknown_pair", l->unknown_pair),
                      JSON("redelivered", l->redelivered), JSON("ambiguous", l->ambiguous),
                      JSON("forgotten_early", l->forgotten_early),
                      JSON("retained", l->retained), JSON("out_of_order", l->out_of_order));
}

enum status replay_document(struct replay_run *run, const struct replay_extract *extract,
                            FILE *out)
{
    char buffer[65536];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, out);
    json_write_object(&w, NULL);
    json_write_object(&w, "pairs");
    enum status status = write_pairs(run, &w, extract);
    json_write_close(&w);
    if (status == STATUS_OK && lab_team_count(run->replay->lab) > 0) {
        status = write_teams(run, &w, extract);
    }
    write_journal_counts(&w, run->replay);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', out);
    return status;
}
