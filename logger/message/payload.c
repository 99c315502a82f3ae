#include "logger/message/payload.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/number.h"

/* ---- members ---- */

static bool scan_word(struct json_scan *s, char *out, size_t size, const char *expected)
{
    struct json_text text;
    if (!json_scan_text(s, &text)) {
        return false;
    }
    const size_t n = json_text_copy(&text, out, size, false);
    if (n < size && strlen(out) < n) {
        return json_scan_fail(s, FAULT_BAD_ENCODING, "a text without \\u0000 was expected");
    }
    return n < size || json_scan_fail(s, FAULT_TOO_LONG, expected);
}

/* In foreign protocols an id may be a number. Its plain form is the id, for some encoders write
 * 1.0 in reply to 1. */
static bool scan_id(struct json_scan *s, char *out, size_t size, const char *expected)
{
    const char *from = NULL;
    size_t bytes = 0;
    const enum json_kind kind = json_scan_peek(s);
    if (kind == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (kind != JSON_KIND_NUMBER) {
        return scan_word(s, out, size, expected);
    }
    if (!json_scan_skip(s, &from, &bytes)) {
        return false;
    }
    return number_write_plain(from, bytes, out, size) < size ||
           json_scan_fail(s, FAULT_TOO_LONG, expected);
}

/* Parses a whole number within +-limit and marks it as seen in *once. */
static bool scan_count_of(struct json_scan *s, double from, double limit, bool *once,
                          int64_t *value)
{
    double number = 0.0;
    if (*once) {
        return json_scan_fail(s, FAULT_DUPLICATE_NAME, "each member may be given once only");
    }
    *once = true;
    if (!json_scan_number(s, &number)) {
        return false;
    }
    if (!(number >= from && number <= limit && !(number > floor(number)))) {
        return json_scan_fail(s, FAULT_TIME_EXPECTED,
                              "whole \"sec\", and \"nanosec\" of 0 to 999999999 were "
                              "expected");
    }
    *value = (int64_t)number;
    return true;
}

/* Parses a stamp in the form of ROS 2: {"sec", "nanosec"}. */
static bool scan_ros_stamp(struct json_scan *s, int64_t *us)
{
    struct json_text key;
    int64_t sec = 0;
    int64_t nanosec = 0;
    bool has_sec = false, has_nanosec = false;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        const bool fine =
            json_text_is(&key, "sec")
                ? scan_count_of(s, -LAB_TIME_S_LIMIT, LAB_TIME_S_LIMIT, &has_sec, &sec)
            : json_text_is(&key, "nanosec")
                ? scan_count_of(s, 0.0, 999999999.0, &has_nanosec, &nanosec)
                : json_scan_skip(s, NULL, NULL);
        if (!fine) {
            return false;
        }
    }
    *us = sec * 1000000 + (nanosec + 500) / 1000;
    return !s->error &&
           ((has_sec && has_nanosec) ||
            json_scan_fail(s, FAULT_TIME_EXPECTED, "\"sec\" and \"nanosec\" were expected"));
}

/* Parses a robot's stamp: seconds as a number, {"sec", "nanosec"}, or null for none. */
static bool scan_stamp(struct json_scan *s, int64_t *us)
{
    double seconds = 0.0;
    const enum json_kind kind = json_scan_peek(s);
    if (kind == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (kind == JSON_KIND_OBJECT) {
        return scan_ros_stamp(s, us);
    }
    if (kind == JSON_KIND_TEXT) {
        return json_scan_fail(s, FAULT_TIME_EXPECTED,
                              "a number, or {\"sec\", \"nanosec\"}, was expected");
    }
    if (!json_scan_number(s, &seconds)) {
        return false;
    }
    *us = lab_us(seconds);
    return *us != LAB_TIME_NONE ||
           json_scan_fail(s, FAULT_OUT_OF_RANGE,
                          "a time in seconds within +-1e11 was expected");
}

/* Stores a whole number in a member of this size. */
static void set_whole(void *to, size_t size, int64_t value)
{
    if (size == sizeof(int64_t)) {
        memcpy(to, &value, size);
    } else if (size == sizeof(uint32_t)) {
        const uint32_t word = (uint32_t)value;
        memcpy(to, &word, size);
    } else {
        *(int8_t *)to = (int8_t)value;
    }
}

static bool scan_real(struct json_scan *s, const struct payload_member *m, double *value)
{
    return json_scan_number(s, value) &&
           (!m->expected || (*value >= m->min && *value <= m->max) ||
            json_scan_fail(s, FAULT_OUT_OF_RANGE, m->expected));
}

static bool scan_name(struct json_scan *s, const struct payload_member *m, size_t *value)
{
    char word[16];
    if (!scan_word(s, word, sizeof word, m->expected)) {
        return false;
    }
    *value = names_value(m->names, word);
    return *value < m->names->count || json_scan_fail(s, FAULT_UNKNOWN_VALUE, m->expected);
}

static bool scan_axes(struct json_scan *s, const char *name, double axes[EVENT_AXES_MAX],
                      size_t *count)
{
    *count = 0;
    (void)json_scan_enter(s, JSON_KIND_ARRAY);
    while (json_scan_next_item(s)) {
        if (*count == EVENT_AXES_MAX) {
            return json_scan_fail(s, FAULT_TOO_MANY, "at most 6 numbers were expected");
        }
        const char *at = s->at;
        if (!json_scan_number(s, &axes[*count])) {
            return false;
        }
        const char *expected = event_number_fault(name, axes[*count]);
        if (expected) {
            s->at = at;
            return json_scan_fail(s, FAULT_OUT_OF_RANGE, expected);
        }
        (*count)++;
    }
    return !s->error;
}

static bool scan_member(struct json_scan *s, struct event *e, const struct payload_member *m)
{
    void *to = (char *)e + m->at;
    void *mark = (char *)e + m->flag_at;
    double number = 0.0;
    size_t value = 0;
    bool flag = false;
    switch (m->type) {
    case PAYLOAD_WORD:
        return scan_word(s, to, m->size, m->expected);
    case PAYLOAD_ID:
        return scan_id(s, to, m->size, m->expected);
    case PAYLOAD_STAMP:
        return scan_stamp(s, to);
    case PAYLOAD_SIM:
        if (!scan_stamp(s, to)) {
            return false;
        }
        *(bool *)mark = *(int64_t *)to != LAB_TIME_NONE;
        return true;
    case PAYLOAD_REAL:
        return scan_real(s, m, to);
    case PAYLOAD_WHOLE:
        if (!scan_real(s, m, &number)) {
            return false;
        }
        set_whole(to, m->size, (int64_t)number);
        return true;
    case PAYLOAD_NAME:
        if (!scan_name(s, m, &value)) {
            return false;
        }
        set_whole(to, m->size, (int64_t)value);
        return true;
    case PAYLOAD_FLAG:
        if (!json_scan_bool(s, &flag)) {
            return false;
        }
        set_whole(to, m->size, flag);
        return true;
    case PAYLOAD_AXES:
        return scan_axes(s, m->name, to, mark);
    case PAYLOAD_OTHER:
        break;
    }
    return m->scan(s, e);
}

void payload_clear(struct event *e, const struct payload_kind *kind)
{
    static const int64_t none_us = LAB_TIME_NONE;
    memset(&e->command, 0, kind->bytes); /* all parts begin at this address */
    for (size_t k = 0; k < kind->count; k++) {
        const struct payload_member *m = &kind->members[k];
        if (m->type == PAYLOAD_STAMP || m->type == PAYLOAD_SIM) {
            memcpy((char *)e + m->at, &none_us, sizeof none_us);
        } else if (m->absent < 0.0 && m->type == PAYLOAD_REAL) {
            memcpy((char *)e + m->at, &m->absent, sizeof m->absent);
        } else if (m->absent < 0.0) {
            set_whole((char *)e + m->at, m->size, (int64_t)m->absent);
        }
    }
}

/* k: the row in the table; SIZE_MAX: not in the table. */
static void record_member(struct payload_seen *seen, size_t k, const struct json_text *key)
{
    if (k != SIZE_MAX) {
        seen->members |= 1U << k;
    } else if (seen->stray_count++ < PAYLOAD_STRAYS_MAX) {
        seen->stray[seen->stray_count - 1] = *key;
    }
}

/* Parses one object. False if it is malformed; the scanner then has the place and what would be
 * right. */
static bool scan_object(struct json_scan *s, struct event *e, const struct payload_kind *kind)
{
    const struct payload_member *members = kind->members;
    struct payload_seen seen;
    struct json_text key;
    size_t k = kind->count;
    seen.members = 0;
    seen.stray_count = 0;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_row(s, members, sizeof *members, kind->count, &k, &key)) {
        if (k < kind->count && seen.members & (1U << k)) {
            return json_scan_fail(s, FAULT_DUPLICATE_NAME,
                                  "each member may be given once only");
        }
        record_member(&seen, k < kind->count ? k : SIZE_MAX, &key);
        if (!(k < kind->count ? scan_member(s, e, &members[k])
                              : json_scan_skip(s, NULL, NULL))) {
            return false;
        }
    }
    for (k = 0; kind->missing && k < kind->count; k++) {
        if (members[k].required && !(seen.members & (1U << k))) {
            return json_scan_fail(s, FAULT_MISSING_KEY, kind->missing);
        }
    }
    return !s->error && (!kind->check || kind->check(s, e, &seen));
}

static bool scan_part(struct json_scan *s, struct event *e, const struct payload_kind *kind)
{
    payload_clear(e, kind);
    return scan_object(s, e, kind);
}

bool payload_scan_more(struct json_scan *s, struct event *e, const struct payload_kind *kind)
{
    struct json_scan again;
    json_scan_start(&again, s->begin, (size_t)(s->end - s->begin), s->depth_max);
    if (scan_object(&again, e, kind)) {
        return true;
    }
    s->at = again.at;
    return json_scan_fail(s, again.fault, again.error);
}

/* ---- messages ---- */

void payload_begin(struct event *e, const struct message *m, enum event_kind kind,
                   enum side side)
{
    e->t_us = m->t_us;
    e->kind = kind;
    e->side = side;
    e->dup = m->dup;
    e->packet_id = m->packet_id;
    e->ambiguous = false;
    e->retained = m->retained;
    e->hash = 0;
}

static void emit_malformed(const struct payload_kind *kind, const struct message *m,
                           size_t column, enum fault fault, const char *expected,
                           struct event *e, event_emit *emit, void *context)
{
    char place[32] = "";
    char id[EVENT_ID_MAX] = "";
    const char *known = kind->kind == EVENT_COMMAND   ? e->command.id
                        : kind->kind == EVENT_REPLY   ? e->reply.id
                        : kind->kind == EVENT_TEAM    ? e->team.id
                        : kind->kind == EVENT_MISSION ? e->mission.id
                                                      : NULL;
    if (known) {
        memcpy(id, known, sizeof id);
    }
    payload_begin(e, m, EVENT_MALFORMED, e->side);
    memcpy(e->malformed.id, id, sizeof id);
    e->malformed.fault = fault;
    if (column > 0) {
        (void)snprintf(place, sizeof place, ", column %zu", column);
    }
    (void)snprintf(e->malformed.what, sizeof e->malformed.what, "%s", kind->what);
    (void)snprintf(e->malformed.detail, sizeof e->malformed.detail, "%s%s: %s", kind->what,
                   place, expected);
    emit(context, e);
}

/* Samples before a malformed one are valid; the fault is reported after them. */
static size_t decode_batch(struct json_scan *s, const struct payload_kind *kind,
                           struct event *e, event_emit *emit, void *context)
{
    size_t count = 0;
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return 0;
    }
    while (json_scan_next_item(s)) {
        if (count == PAYLOAD_BATCH_MAX) {
            (void)json_scan_fail(s, FAULT_TOO_MANY, "at most 256 samples were expected");
            break;
        }
        if (!scan_part(s, e, kind)) {
            break;
        }
        emit(context, e);
        count++;
    }
    (void)json_scan_finish(s);
    return count;
}

/* Commands and replies keep their payload, because it is sent on unchanged. */
static void attach_payload(struct event *e, const struct message *m)
{
    e->hash = message_hash(m);
    if (e->kind == EVENT_COMMAND) {
        e->command.raw = m->payload;
        e->command.raw_bytes = m->stored_bytes;
    } else {
        e->reply.raw = m->payload;
        e->reply.raw_bytes = m->stored_bytes;
    }
}

bool payload_topic_pair(const char *prefix, const char *topic, const char *slash,
                        struct event *e)
{
    const size_t n = strlen(prefix);
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return false;
    }
    const char *id = topic + n + 1;
    if (slash <= id || slash - id >= EVENT_PAIR_MAX || memchr(id, '/', (size_t)(slash - id))) {
        return false;
    }
    memcpy(e->pair, id, (size_t)(slash - id));
    return true;
}

size_t payload_decode(const struct payload_kind *kind, enum side side, const struct message *m,
                      struct event *e, event_emit *emit, void *context)
{
    struct json_scan s;
    size_t count = 0;
    payload_begin(e, m, kind->kind, side);
    if (!kind->members) {
        emit(context, e);
        return 1;
    }
    if (m->payload_bytes > m->stored_bytes) {
        payload_clear(e, kind);
        emit_malformed(kind, m, 0, FAULT_TOO_LONG,
                       "a payload of at most 65536 bytes was expected", e, emit, context);
        return 1;
    }
    const bool delivered = kind->kind == EVENT_COMMAND || kind->kind == EVENT_REPLY;
    json_scan_start(&s, m->payload, m->stored_bytes, PAYLOAD_DEPTH_MAX);
    if (kind->kind == EVENT_TELEMETRY && json_scan_peek(&s) == JSON_KIND_ARRAY) {
        count = decode_batch(&s, kind, e, emit, context);
    } else if (scan_part(&s, e, kind) && json_scan_finish(&s)) {
        if (delivered) {
            attach_payload(e, m);
        }
        emit(context, e);
        count = 1;
    }
    if (s.error) {
        char why[128];
        emit_malformed(kind, m, json_scan_column(&s), s.fault,
                       json_scan_explain(&s, why, sizeof why), e, emit, context);
        count++;
    }
    return count;
}

/* ---- outgoing payloads ---- */

static size_t name_value(const char *from, size_t size)
{
    uint32_t word = (uint8_t)*from;
    if (size == sizeof word) {
        memcpy(&word, from, size);
    }
    return word;
}

void payload_write(struct json_writer *w, const struct payload_kind *kind, const void *part)
{
    for (size_t k = 0; k < kind->count; k++) {
        const struct payload_member *m = &kind->members[k];
        const char *base = (const char *)part - offsetof(struct event, command);
        const char *from = base + m->at;
        int64_t whole = 0;
        if (m->size == sizeof whole) {
            memcpy(&whole, from, sizeof whole);
        }
        if (m->type == PAYLOAD_WORD || m->type == PAYLOAD_ID) {
            if (m->required || from[0]) {
                json_write_text(w, m->name, from);
            }
        } else if (m->type == PAYLOAD_STAMP || m->type == PAYLOAD_SIM) {
            if (m->type == PAYLOAD_SIM ? base[m->flag_at]
                                       : m->required || whole != LAB_TIME_NONE) {
                json_write_seconds(w, m->name, whole);
            }
        } else if (m->type == PAYLOAD_REAL) {
            json_write_real(w, m->name, *(const double *)(const void *)from);
        } else if (m->type == PAYLOAD_WHOLE) {
            if (m->required || whole >= 0) {
                json_write_int(w, m->name, whole);
            }
        } else if (m->type == PAYLOAD_NAME) {
            json_write_text(w, m->name, names_text(m->names, name_value(from, m->size)));
        } else if (m->type == PAYLOAD_AXES) {
            json_write_axes(w, m->name, (const double *)(const void *)from,
                            *(const size_t *)(const void *)(base + m->flag_at));
        }
    }
}
