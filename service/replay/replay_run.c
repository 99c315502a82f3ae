#include "service/replay/replay_run.h"

#include <stdio.h>

#include "service/replay/rows.h"

enum { SPOOL_BATCH = 20000 };

static void spool_row(struct replay_run *run, const struct store_row *row)
{
    if (run->spool_status == STATUS_OK && run->batched == 0) {
        run->spool_status = store_begin(run->spool, &run->err);
    }
    if (run->spool_status == STATUS_OK) {
        run->spool_status = store_add(run->spool, row, NULL, &run->err);
    }
    if (run->spool_status == STATUS_OK && ++run->batched == SPOOL_BATCH) {
        run->batched = 0;
        run->spool_status = store_commit(run->spool, &run->err);
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

static void print_entry(const struct entry *e, const char *pair)
{
    char real[16];
    char virtual[16];
    char lag[16];
    char time[28];
    message_format_time(e->t_us, time);
    (void)printf("%.23sZ %-8s %-10s %-6s %7.2f rad %7.3f m %9s %9s %9s  %s\n", time, pair,
                 e->id[0] ? e->id : "-", e->op, e->rotation_rad, e->displacement_m,
                 show_lap(e->lap_us[SIDE_REAL], real),
                 show_lap(e->lap_us[SIDE_VIRTUAL], virtual), show_lap(e->lag_us, lag),
                 verdict_name(e->verdict));
}

static void print_alarm(const struct alarm *a, const char *pair)
{
    char time[28];
    message_format_time(a->t_us, time);
    (void)printf("%.23sZ %-8s %-10s alarm %s%s%s: %s\n", time, pair, a->id[0] ? a->id : "-",
                 alarm_type_name(a->type), a->side < SIDE_COUNT ? ", " : "", side_name(a->side),
                 a->detail);
}

static void print_effect(const struct effect *effect, const char *pair)
{
    if (effect->kind == EFFECT_ENTRY) {
        print_entry(effect->entry, pair);
    } else if (effect->kind == EFFECT_ALARM) {
        print_alarm(effect->alarm, pair);
    }
}

static void spool_effect(struct replay_run *run, const struct effect *effect, const char *pair)
{
    struct record_row r;
    if (effect->kind == EFFECT_ENTRY) {
        row_of_entry(&r, effect->entry, pair);
    } else if (effect->kind == EFFECT_ALARM) {
        row_of_alarm(&r, effect->alarm, pair);
    } else if (effect->kind == EFFECT_CHANGE) {
        struct change_row change;
        row_of_change(&change, effect->change, pair);
        spool_row(run, &change.row);
        return;
    } else if (effect->kind == EFFECT_LOG) {
        row_of_event(&r, effect->event, effect->n, pair);
    } else {
        return;
    }
    spool_row(run, &r.row);
}

void replay_take_effect(void *context, const struct effect *effect)
{
    struct replay_run *run = context;
    const char *pair = run->file->pairs[effect->pair].id;
    if (run->spool) {
        spool_effect(run, effect, pair);
    } else {
        print_effect(effect, pair);
    }
}

enum status replay_end_spool(struct replay_run *run)
{
    if (run->spool && run->spool_status == STATUS_OK && run->batched > 0) {
        run->spool_status = store_commit(run->spool, &run->err);
    }
    return run->spool_status;
}
