#include "service/replay/replay_run.h"

#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "service/list/colour.h"
#include "service/replay/replay_read.h"
#include "service/replay/rows.h"
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
    const enum status status = spool_create(STORE_KIND_COUNT * count_names(run), &run->spool);
    return status == STATUS_OK
               ? STATUS_OK
               : err_set(&run->err, status, FAULT_NO_MEMORY, "replay", "out of memory");
}

void replay_close_spool(struct replay_run *run)
{
    spool_destroy(run->spool);
}

static void spool_row(struct replay_run *run, const struct store_row *row, size_t index)
{
    const struct spool_row stored_row = {row->t_us, row->lag_s, row->json, row->json_bytes};
    if (run->spool_status == STATUS_OK) {
        run->spool_status =
            spool_add(run->spool, list_of(run, row->kind, index), &stored_row, &run->err);
    }
}

static const char *show_lap(int64_t us, char text[16])
{
    if (us == LAB_TIME_NONE) {
        return "-";
    }
    (void)snprintf(text, 16, "%.3f", lab_s(us));
    return text;
}

static void print_entry(const struct entry *e, const char *pair, bool colour)
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
    (void)printf("%.23sZ %-8s %-10s %-6s %7.2f rad %7.3f m %9s %9s %9s  %s%s%s%s%s\n", time,
                 pair, utf8_tame(id), utf8_tame(op), e->rotation_rad, e->displacement_m,
                 show_lap(e->lap_us[SIDE_REAL], real),
                 show_lap(e->lap_us[SIDE_VIRTUAL], virtual), show_lap(e->lag_us, lag),
                 colour ? colour_of_verdict(e->verdict) : "", verdict_name(e->verdict),
                 colour ? COLOUR_PLAIN : "", judged,
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

static void print_effect(const struct effect *effect, const char *pair, bool colour)
{
    if (effect->kind == EFFECT_ENTRY) {
        print_entry(effect->entry, pair, colour);
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

bool replay_keeps_pair(const struct replay_run *run, const char *name)
{
    return !run->options.pair || strcmp(run->options.pair, name) == 0;
}

/* A choice of verdicts leaves out alarms, and counts them. */
static bool is_selected(struct replay_run *run, const struct effect *effect, const char *pair)
{
    const struct query *only = run->options.only;
    const struct entry *e = effect->kind == EFFECT_ENTRY ? effect->entry : NULL;
    const int64_t t_us = e ? e->t_us : effect->t_us;
    if (!only) {
        return replay_keeps_pair(run, pair);
    }
    if (t_us < only->since_us || t_us >= only->until_us || !replay_keeps_pair(run, pair)) {
        return false;
    }
    if (only->verdicts != 0 && effect->kind == EFFECT_ALARM) {
        run->alarms_left_out++;
        return false;
    }
    return only->verdicts == 0 || !e || only->verdicts >> e->verdict & 1U ||
           (only->verdicts >> ENTRY_FILTER_INCONSISTENT & 1U && e->consistency == INCONSISTENT);
}

void replay_write_effect(void *context, const struct effect *effect)
{
    struct replay_run *run = context;
    const struct lab_params params = lab_file_params(run->file);
    const char *pair = lab_name(&params, effect->pair);
    if (!is_selected(run, effect, pair)) {
        return;
    }
    if (run->spool) {
        spool_effect(run, effect, pair);
    } else {
        print_effect(effect, pair, run->options.colour);
    }
}

enum status replay_run_files(struct replay_run *run, const char *const *paths, size_t count)
{
    const struct effects effects = {replay_write_effect, run};
    enum status status = replay_open_spool(run);
    if (status == STATUS_OK && replay_create(run->file, &effects, &run->replay) != STATUS_OK) {
        status = err_no_memory(&run->err, "replay", "out of memory");
    }
    if (status == STATUS_OK) {
        const struct replay_input input = {.paths = paths, .count = count};
        status = replay_read_files(run->replay, run->file, &input, &run->err);
    }
    return status == STATUS_OK ? run->spool_status : status;
}

void replay_run_free(struct replay_run *run)
{
    replay_close_spool(run);
    replay_destroy(run->replay);
}

/* ---- records in the order of names ---- */

enum status replay_each(struct replay_run *run, enum store_kind kind, spool_row_fn *row,
                        void *context)
{
    const struct lab_params params = lab_file_params(run->file);
    const size_t count = count_names(run);
    struct name_at *names = calloc(count, sizeof *names);
    if (!names) {
        return err_no_memory(&run->err, "replay", "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        names[i] = (struct name_at){lab_name(&params, (uint32_t)i), i};
    }
    qsort(names, count, sizeof *names, names_by_name);
    for (size_t i = 0; i < count; i++) {
        spool_each(run->spool, list_of(run, kind, names[i].at), 0, row, context);
    }
    free(names);
    return STATUS_OK;
}

void replay_each_of(struct replay_run *run, enum store_kind kind, size_t index, uint64_t newest,
                    spool_row_fn *row, void *context)
{
    spool_each(run->spool, list_of(run, kind, index), newest, row, context);
}

uint64_t replay_count_of(const struct replay_run *run, enum store_kind kind, size_t index)
{
    return spool_count(run->spool, list_of(run, kind, index));
}
