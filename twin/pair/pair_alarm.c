#include <stdarg.h>
#include <stdio.h>

#include "twin/pair/pair_run.h"

/* A burst of this many alarms of one type is recorded in full; after it one per second. A flood
 * then costs counters only, and each recorded alarm says how many were left out. */
static const double ALARM_BURST = 20.0;
static const double ALARM_RATE_HZ = 1.0;

static bool may_record(struct pair *pair, enum alarm_type type, int64_t t_us)
{
    const bool first = pair->counts.alarm[type] == 1;
    double tokens = first ? ALARM_BURST
                          : pair->alarm_rate[type].tokens +
                                ALARM_RATE_HZ * lab_s(t_us - pair->alarm_rate[type].t_us);
    tokens = tokens < ALARM_BURST ? tokens : ALARM_BURST;
    const bool may = tokens >= 1.0;
    pair->alarm_rate[type].tokens = may ? tokens - 1.0 : tokens;
    pair->alarm_rate[type].t_us = t_us;
    return may;
}

void pair_alarm(const struct pair_run *run, enum alarm_type type, enum side side,
                const char *id, const char *format, ...)
{
    struct pair *pair = run->pair;
    pair->counts.alarm[type]++;
    if (!may_record(pair, type, run->t_us)) {
        pair->alarm_rate[type].suppressed++;
        return;
    }
    pair->counts.alarms++;
    struct alarm alarm = {.pair = pair->index,
                          .n = pair->counts.alarms,
                          .t_us = run->t_us,
                          .type = type,
                          .side = side,
                          .suppressed = pair->alarm_rate[type].suppressed};
    pair->alarm_rate[type].suppressed = 0;
    (void)snprintf(alarm.id, sizeof alarm.id, "%s", id);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(alarm.detail, sizeof alarm.detail, format, args);
    va_end(args);
    const struct effect effect = {.kind = EFFECT_ALARM,
                                  .pair = pair->index,
                                  .t_us = run->t_us,
                                  .side = side,
                                  .alarm = &alarm};
    run->fx->emit(run->fx->context, &effect);
}

void pair_emit(const struct pair_run *run, enum effect_kind kind, enum side side)
{
    const struct effect effect = {
        .kind = kind, .pair = run->pair->index, .t_us = run->t_us, .side = side};
    run->fx->emit(run->fx->context, &effect);
}

void pair_emit_payload(const struct pair_run *run, enum effect_kind kind, enum side side,
                       const char *text, size_t bytes)
{
    const struct effect effect = {.kind = kind,
                                  .pair = run->pair->index,
                                  .t_us = run->t_us,
                                  .side = side,
                                  .payload = {text, bytes}};
    run->fx->emit(run->fx->context, &effect);
}
