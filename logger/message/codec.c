#include "logger/message/codec.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "logger/message/codec_scan.h"
#include "logger/message/json_scan.h"

struct topic_row {
    const char *rest; /* after the prefix and the pair's id */
    const char *what;
    enum event_kind kind;
    enum side side;
    bool (*scan)(struct json_scan *s, struct event *e);
};

/* clang-format off */
static const struct topic_row topic_rows[] = {
    {"command",            "command",    EVENT_COMMAND,    SIDE_COUNT,   codec_scan_command},
    {"real/reply",         "reply",      EVENT_REPLY,      SIDE_REAL,    codec_scan_reply},
    {"virtual/reply",      "reply",      EVENT_REPLY,      SIDE_VIRTUAL, codec_scan_reply},
    {"real/telemetry",     "telemetry",  EVENT_TELEMETRY,  SIDE_REAL,    codec_scan_telemetry},
    {"virtual/telemetry",  "telemetry",  EVENT_TELEMETRY,  SIDE_VIRTUAL, codec_scan_telemetry},
    {"real/connection",    "connection", EVENT_CONNECTION, SIDE_REAL,    codec_scan_connection},
    {"virtual/connection", "connection", EVENT_CONNECTION, SIDE_VIRTUAL, codec_scan_connection},
    {"virtual/parameters/ack", "ack",    EVENT_ACK,        SIDE_VIRTUAL, codec_scan_ack},
    {"real/echo",          "echo",       EVENT_ECHO,       SIDE_REAL,    codec_scan_echo},
    {"virtual/echo",       "echo",       EVENT_ECHO,       SIDE_VIRTUAL, codec_scan_echo},
};
/* clang-format on */

/* Split "<prefix>/<pair>/<rest>"; false when it is another topic. */
static bool split_topic(const char *prefix, const char *topic, char *pair, const char **rest)
{
    const size_t n = strlen(prefix);
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return false;
    }
    const char *id = topic + n + 1;
    const char *slash = strchr(id, '/');
    if (!slash || slash == id || slash - id >= EVENT_PAIR_MAX) {
        return false;
    }
    memcpy(pair, id, (size_t)(slash - id));
    pair[slash - id] = '\0';
    *rest = slash + 1;
    return true;
}

static void begin_event(struct event *e, const struct message *m, enum event_kind kind,
                        enum side side)
{
    e->t_us = m->t_us;
    e->kind = kind;
    e->side = side;
    e->dup = m->dup;
    e->retained = m->retained;
    e->hash = 0;
}

static void emit_malformed(struct event *e, const struct message *m,
                           const struct topic_row *row, size_t column,
                           const char *what_would_be_right, codec_emit *emit, void *context)
{
    begin_event(e, m, EVENT_MALFORMED, row->side);
    (void)snprintf(e->malformed.what, sizeof e->malformed.what, "%s", row->what);
    if (column > 0) {
        (void)snprintf(e->malformed.detail, sizeof e->malformed.detail, "%s, column %zu: %s",
                       row->what, column, what_would_be_right);
    } else {
        (void)snprintf(e->malformed.detail, sizeof e->malformed.detail, "%s: %s", row->what,
                       what_would_be_right);
    }
    emit(context, e);
}

static size_t decode_batch(struct json_scan *s, struct event *e, const struct topic_row *row,
                           codec_emit *emit, void *context)
{
    size_t count = 0;
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return 0;
    }
    /* Samples before a faulty one are good; the fault is reported after them. */
    while (json_scan_next_item(s)) {
        if (count == CODEC_BATCH_MAX) {
            (void)json_scan_fail(s, "at most 256 samples were expected");
            break;
        }
        if (!row->scan(s, e)) {
            break;
        }
        emit(context, e);
        count++;
    }
    return count;
}

static size_t decode_payload(const struct topic_row *row, const struct message *m,
                             struct event *e, codec_emit *emit, void *context)
{
    struct json_scan s;
    size_t count = 0;
    if (m->payload_bytes > m->kept_bytes) {
        emit_malformed(e, m, row, 0, "a payload of at most 65536 bytes was expected", emit,
                       context);
        return 1;
    }
    begin_event(e, m, row->kind, row->side);
    json_scan_start(&s, m->payload, m->kept_bytes, CODEC_DEPTH_MAX);
    if (row->kind == EVENT_TELEMETRY && json_scan_peek(&s) == JSON_KIND_ARRAY) {
        count = decode_batch(&s, e, row, emit, context);
        (void)json_scan_finish(&s);
    } else if (row->scan(&s, e) && json_scan_finish(&s)) {
        if (row->kind == EVENT_COMMAND || row->kind == EVENT_REPLY) {
            e->hash = hash_bytes(hash_text(m->topic), m->payload, m->kept_bytes);
        }
        if (row->kind == EVENT_COMMAND) {
            e->command.raw = m->payload;
            e->command.raw_bytes = m->kept_bytes;
        } else if (row->kind == EVENT_REPLY) {
            e->reply.raw = m->payload;
            e->reply.raw_bytes = m->kept_bytes;
        }
        emit(context, e);
        count = 1;
    }
    if (s.error) {
        emit_malformed(e, m, row, json_scan_column(&s), s.error, emit, context);
        count++;
    }
    return count;
}

static size_t decode_lab(const char *rest, const struct message *m, struct event *e,
                         codec_emit *emit, void *context)
{
    const bool start = strcmp(rest, "start") == 0;
    if (strcmp(rest, "away") == 0) {
        static const struct topic_row row = {"away", "away", EVENT_AWAY, SIDE_COUNT,
                                             codec_scan_away};
        return decode_payload(&row, m, e, emit, context);
    }
    if (strcmp(rest, "request") == 0) {
        static const struct topic_row row = {"request", "request", EVENT_REQUEST, SIDE_COUNT,
                                             codec_scan_request};
        return decode_payload(&row, m, e, emit, context);
    }
    if (strcmp(rest, "fit") == 0) {
        static const struct topic_row row = {"fit", "fit", EVENT_FIT, SIDE_COUNT,
                                             codec_scan_fit};
        return decode_payload(&row, m, e, emit, context);
    }
    if (!start && strcmp(rest, "stop") != 0) {
        return 0;
    }
    begin_event(e, m, start ? EVENT_START : EVENT_STOP, SIDE_COUNT);
    emit(context, e);
    return 1;
}

static const struct topic_row *find_row(const char *rest)
{
    for (size_t i = 0; i < COUNT(topic_rows); i++) {
        if (strcmp(rest, topic_rows[i].rest) == 0) {
            return &topic_rows[i];
        }
    }
    return NULL;
}

static bool look_native(const char *prefix, const char *topic, struct codec_subject *subject)
{
    const char *rest = NULL;
    const struct topic_row *row =
        split_topic(prefix, topic, subject->pair, &rest) ? find_row(rest) : NULL;
    if (!row) {
        return false;
    }
    subject->kind = row->kind;
    subject->side = row->side;
    return true;
}

static size_t decode_native(const char *prefix, const struct message *message, codec_emit *emit,
                            void *context)
{
    struct event e;
    const char *rest = NULL;
    if (!split_topic(prefix, message->topic, e.pair, &rest)) {
        return 0;
    }
    if (strcmp(e.pair, "$lab") == 0) {
        return decode_lab(rest, message, &e, emit, context);
    }
    const struct topic_row *row = find_row(rest);
    /* An empty retained message takes the old one back: nothing happened. */
    if (!row || (message->payload_bytes == 0 && row->kind == EVENT_CONNECTION)) {
        return 0;
    }
    return decode_payload(row, message, &e, emit, context);
}

const struct codec codecs[] = {
    {"native", look_native, decode_native},
};
const size_t codec_count = COUNT(codecs);

const struct codec *codec_find(const char *name)
{
    for (size_t i = 0; i < codec_count; i++) {
        if (strcmp(codecs[i].name, name) == 0) {
            return &codecs[i];
        }
    }
    return NULL;
}

size_t codec_topics(const char *prefix, char *out, size_t size)
{
    static const char *const filters[] = {"+/command",      "+/+/reply", "+/+/telemetry",
                                          "+/+/connection", "+/+/echo",  "+/+/parameters/ack"};
    size_t used = 0;
    size_t count = 0;
    for (; count < COUNT(filters); count++) {
        const int n = snprintf(out + used, size - used, "%s/%s", prefix, filters[count]);
        if (n < 0 || (size_t)n >= size - used) {
            break;
        }
        used += (size_t)n + 1;
    }
    return count;
}
