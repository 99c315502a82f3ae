/* tests/support/lab_script.h - a lab with one or more pairs, driven step by step; it records
 * the effects. */
#ifndef TESTS_SUPPORT_LAB_SCRIPT_H
#define TESTS_SUPPORT_LAB_SCRIPT_H

#include "tests/support/check.h"

#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "logger/message/json_write.h"
#include "logger/message/record_json.h"
#include "twin/lab.h"

enum { SCRIPT_STORED_MAX = 256, SCRIPT_PAYLOAD_MAX = 1024 };

struct script_effect {
    enum effect_kind kind;
    uint32_t pair;
    int64_t t_us;
    enum side side;
    struct entry entry;
    struct alarm alarm;
    int64_t probe;
    char payload[SCRIPT_PAYLOAD_MAX];
};

struct script {
    struct pair_params params[4];
    struct lab_params lab_params;
    struct lab *lab;
    size_t count; /* effects since the last clear; those beyond SCRIPT_STORED_MAX are counted
                     only */
    struct script_effect effect[SCRIPT_STORED_MAX];
    struct effects fx;
};

static inline void script_emit(void *context, const struct effect *effect)
{
    struct script *s = context;
    if (s->count++ >= SCRIPT_STORED_MAX) {
        return;
    }
    struct script_effect *retained = &s->effect[s->count - 1];
    memset(retained, 0, sizeof *retained);
    retained->kind = effect->kind;
    retained->pair = effect->pair;
    retained->t_us = effect->t_us;
    retained->side = effect->side;
    if (effect->kind == EFFECT_ENTRY) {
        retained->entry = *effect->entry;
    } else if (effect->kind == EFFECT_ALARM) {
        retained->alarm = *effect->alarm;
    } else if (effect->kind == EFFECT_PROBE) {
        retained->probe = effect->probe;
    } else if (effect->kind == EFFECT_COMMAND || effect->kind == EFFECT_REPLY ||
               effect->kind == EFFECT_NOTICE || effect->kind == EFFECT_POSE ||
               effect->kind == EFFECT_PARAMETERS || effect->kind == EFFECT_ETA ||
               effect->kind == EFFECT_MISSION) {
        (void)snprintf(retained->payload, sizeof retained->payload, "%.*s",
                       (int)effect->payload.bytes, effect->payload.text);
    }
}

/* Defaults for `pairs` pairs r1, r2 …; change s->params, then script_open(). */
static inline void script_init(struct script *s, size_t pairs)
{
    memset(s, 0, sizeof *s);
    for (size_t i = 0; i < pairs; i++) {
        char id[32];
        (void)snprintf(id, sizeof id, "r%zu", i + 1);
        lab_pair_defaults(&s->params[i], id);
        s->params[i].timeout_us = 10000000;
    }
    s->lab_params = (struct lab_params){.pair_count = pairs, .pairs = s->params};
    s->fx = (struct effects){script_emit, s};
}

static inline void script_open(struct script *s)
{
    s->lab =
        lab_init(aligned_alloc(64, (lab_bytes(&s->lab_params) + 63) / 64 * 64), &s->lab_params);
}

static inline void script_close(struct script *s)
{
    free(s->lab);
    s->lab = NULL;
}

static inline struct event script_event(const char *pair, int64_t t_us, enum event_kind kind,
                                        enum side side)
{
    struct event e = {.t_us = t_us, .kind = kind, .side = side};
    (void)snprintf(e.pair, sizeof e.pair, "%s", pair);
    return e;
}

static inline void script_command_op(struct script *s, const char *pair, int64_t t_us,
                                     const char *id, const char *op)
{
    static char raw[128];
    struct event e = script_event(pair, t_us, EVENT_COMMAND, SIDE_COUNT);
    (void)snprintf(e.command.id, sizeof e.command.id, "%s", id);
    (void)snprintf(e.command.op, sizeof e.command.op, "%s", op);
    e.command.rotation_rad = 1.57;
    e.command.displacement_m = 0.6;
    e.command.source_us = LAB_TIME_NONE;
    (void)snprintf(raw, sizeof raw, "{\"id\":\"%s\",\"op\":\"%s\"}", id, op);
    e.command.raw = raw;
    e.command.raw_bytes = strlen(raw);
    e.hash = hash_bytes(hash_text(pair), &t_us, sizeof t_us) ^ hash_text(id);
    lab_step(s->lab, &e, &s->fx);
}

static inline void script_command(struct script *s, const char *pair, int64_t t_us,
                                  const char *id)
{
    script_command_op(s, pair, t_us, id, "go");
}

static inline struct event script_reply_event(const char *pair, int64_t t_us, enum side side,
                                              const char *id, enum reply_status status)
{
    static char raw[128];
    struct event e = script_event(pair, t_us, EVENT_REPLY, side);
    (void)snprintf(e.reply.id, sizeof e.reply.id, "%s", id);
    e.reply.status = status;
    e.reply.source_us = LAB_TIME_NONE;
    e.reply.source_start_us = LAB_TIME_NONE;
    (void)snprintf(raw, sizeof raw, "{\"id\":\"%s\",\"status\":\"%s\",\"who\":\"%s\"}", id,
                   reply_status_name(status), side_name(side));
    e.reply.raw = raw;
    e.reply.raw_bytes = strlen(raw);
    e.hash = hash_bytes(hash_text(raw), &t_us, sizeof t_us);
    return e;
}

static inline void script_reply(struct script *s, const char *pair, int64_t t_us,
                                enum side side, const char *id, enum reply_status status)
{
    const struct event e = script_reply_event(pair, t_us, side, id, status);
    lab_step(s->lab, &e, &s->fx);
}

static inline void script_tick(struct script *s, int64_t t_us)
{
    const struct event e = script_event("", t_us, EVENT_TICK, SIDE_COUNT);
    lab_step(s->lab, &e, &s->fx);
}

/* The k-th effect of a kind since the last clear; NULL when there are fewer. */
static inline const struct script_effect *script_find(const struct script *s,
                                                      enum effect_kind kind, size_t k)
{
    for (size_t i = 0; i < s->count && i < SCRIPT_STORED_MAX; i++) {
        if (s->effect[i].kind == kind && k-- == 0) {
            return &s->effect[i];
        }
    }
    return NULL;
}

/* The code of the n-th alarm; "": there is none. */
static inline const char *script_alarm(const struct script *s, size_t n)
{
    const struct script_effect *e = script_find(s, EFFECT_ALARM, n);
    return e ? e->alarm.code : "";
}

static inline size_t script_count(const struct script *s, enum effect_kind kind)
{
    size_t n = 0;
    while (script_find(s, kind, n)) {
        n++;
    }
    return n;
}

static inline void script_clear(struct script *s)
{
    s->count = 0;
}

#endif
