#include "logger/codec/sparkplug_rows.h"

#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/message/json_scan.h"
#include "logger/message/json_write.h"

enum { TEXT_MAX = 8192 };

/* The objects of a message as a row sees it. */
enum object { OBJECT_METRICS, OBJECT_STAMPS, OBJECT_HELD, OBJECT_COUNT };
static const char *const objects[OBJECT_COUNT] = {"metrics", "stamps", "held"};

/* A row applied to a message. */
struct reading {
    const struct mapping_row *row;
    const struct sparkplug_received *received;
    struct json_writer w;
};

/* Returns the first member that a row asks of one object of the message; `next` links the
 * others. 0: none. */
static uint16_t first_asked(const struct mapping_row *row, const char *object)
{
    uint16_t k = row->node_count > 0 ? row->nodes[0].first : 0;
    while (k > 0 && strcmp(row->nodes[k].token, object) != 0) {
        k = row->nodes[k].next;
    }
    return k > 0 ? row->nodes[k].first : 0;
}

static struct sparkplug_text name_of(const struct mapping_node *node)
{
    return (struct sparkplug_text){node->token, node->bytes};
}

static bool is_needed(const struct mapping_row *row, const struct mapping_node *node)
{
    bool needed = false;
    for (size_t k = 0; k < row->source_count; k++) {
        needed = needed || ((node->leaves >> k & 1U) && !row->sources[k].optional);
    }
    return needed;
}

/* Does the message have all that the row requires, and at least one metric that it names? */
static bool is_for_row(const struct reading *r)
{
    const struct mapping_row *row = r->row;
    bool named = false;
    bool any = false;
    for (enum object i = OBJECT_METRICS; i < OBJECT_COUNT; i++) {
        for (uint16_t k = first_asked(row, objects[i]); k > 0; k = row->nodes[k].next) {
            const bool here =
                sparkplug_find(r->received->metrics, name_of(&row->nodes[k])) != NULL;
            if (i == OBJECT_METRICS && !here && is_needed(row, &row->nodes[k])) {
                return false;
            }
            named = true;
            any = any || here;
        }
    }
    return any || !named;
}

static void write_value(struct json_writer *w, const char *key,
                        const struct sparkplug_value *value)
{
    switch (value->kind) {
    case SPARKPLUG_REAL:
        json_write_real(w, key, value->real);
        break;
    case SPARKPLUG_WHOLE:
        json_write_int(w, key, value->whole);
        break;
    case SPARKPLUG_TRUTH:
        json_write_bool(w, key, value->whole != 0);
        break;
    case SPARKPLUG_TEXT:
        json_write_bytes(w, key, value->text.at, value->text.bytes, false);
        break;
    case SPARKPLUG_NULL:
        json_write_null(w, key);
        break;
    case SPARKPLUG_NONE: /* the row then reports that there is no such member */
        break;
    }
}

/* Writes what a row asks of one object of the message. */
static void write_object(struct reading *r, enum object object)
{
    const struct mapping_row *row = r->row;
    JSON_MAP(&r->w, objects[object], uint16_t k = first_asked(row, objects[object]); k > 0;
             k = row->nodes[k].next) {
        const struct sparkplug_text name = name_of(&row->nodes[k]);
        const struct sparkplug_metric *m = sparkplug_find(r->received->metrics, name);
        struct sparkplug_value value = {.kind = SPARKPLUG_NONE};
        if (object == OBJECT_STAMPS) {
            value.whole = m ? m->stamp_ms : r->received->stamp_ms;
            value.kind = value.whole >= 0 ? SPARKPLUG_WHOLE : SPARKPLUG_NONE;
        } else if (m) {
            value = m->value;
        } else if (object == OBJECT_HELD) {
            value = sparkplug_held(r->received->device, name);
        }
        write_value(&r->w, row->nodes[k].token, &value);
    }
}

/* Writes the message as JSON; false if it is too long. */
static bool write_message(struct reading *r, char text[TEXT_MAX])
{
    json_write_start(&r->w, text, TEXT_MAX, NULL, NULL);
    JSON_OPEN(
        &r->w, NULL, JSON("kind", sparkplug_kind_name(r->received->kind)),
        JSON_IF(r->received->stamp_ms >= 0, JSON_WHOLE("timestamp", r->received->stamp_ms)));
    for (enum object object = OBJECT_METRICS; object < OBJECT_COUNT; object++) {
        write_object(r, object);
    }
    json_write_close(&r->w);
    return json_write_end(&r->w);
}

/* Routes commands: each robot gets its own. */
struct emit_target {
    const struct sparkplug_received *received;
    const struct codec_sink *sink;
};

static void emit_sided(void *context, const struct event *event)
{
    const struct emit_target *t = context;
    struct event sided = *event;
    sided.side = event->side < SIDE_COUNT ? event->side : t->received->side;
    t->sink->emit(t->sink->context, &sided);
}

static void emit_row(const struct codec_pair *pair, struct reading *r,
                     const struct codec_sink *sink)
{
    struct mapping_text level[MAPPING_LEVELS_MAX];
    const struct mapping one = {.rows = r->row, .row_count = 1};
    struct emit_target emit_target = {r->received, sink};
    struct message message = *r->received->message;
    char text[TEXT_MAX];
    if (r->row->format != MAPPING_SPARKPLUG ||
        !mapping_topic_fits(r->row->levels, r->row->level_count, message.topic, level) ||
        !is_for_row(r)) {
        return;
    }
    if (!write_message(r, text)) {
        codec_malformed(pair, &message, r->received->side, event_kind_name(r->row->kind), sink,
                        FAULT_TOO_LONG, "metrics of at most %d bytes were expected", TEXT_MAX);
        return;
    }
    message.payload = text;
    message.stored_bytes = message.payload_bytes = r->w.used;
    const struct mapping_receiver to = {.pair = pair->id, .republished = pair->repeated};
    (void)mapping_decode(&one, &to, &message, emit_sided, &emit_target);
}

void sparkplug_emit_rows(const struct codec_pair *pair,
                         const struct sparkplug_received *received,
                         const struct codec_sink *sink)
{
    const struct mapping *mapping = pair->options->mapping;
    for (size_t k = 0; mapping && k < mapping->row_count; k++) {
        struct reading r = {.row = &mapping->rows[k], .received = received};
        emit_row(pair, &r, sink);
    }
}

/* ---- outgoing messages ---- */

static bool append_member(struct json_scan *s, const struct json_text *key,
                          struct sparkplug_writer *w)
{
    char name[128];
    char text[512];
    struct json_text value;
    struct sparkplug_value sent = {.kind = SPARKPLUG_NULL};
    const enum json_kind kind = json_scan_peek(s);
    bool truth = false;
    if (json_text_copy(key, name, sizeof name, false) == sizeof name) {
        return false;
    }
    if (kind == JSON_KIND_NUMBER && json_scan_number(s, &sent.real)) {
        sent.kind = SPARKPLUG_REAL;
    } else if ((kind == JSON_KIND_TRUE || kind == JSON_KIND_FALSE) &&
               json_scan_bool(s, &truth)) {
        sent.kind = SPARKPLUG_TRUTH;
        sent.whole = truth;
    } else if (kind == JSON_KIND_TEXT && json_scan_text(s, &value)) {
        sent.kind = SPARKPLUG_TEXT;
        sent.text.at = text;
        sent.text.bytes = json_text_copy(&value, text, sizeof text, false);
    }
    if (sent.kind == SPARKPLUG_NULL || sent.text.bytes == sizeof text) {
        return false;
    }
    sparkplug_append(w, name, &sent);
    return !w->failed;
}

bool sparkplug_encode(struct codec_message *message, int64_t t_us)
{
    struct json_scan s;
    struct json_text key;
    struct sparkplug_writer w;
    char out[sizeof message->room];
    bool fine = true;
    sparkplug_begin(&w, out, sizeof out, t_us);
    json_scan_start(&s, message->payload, message->bytes, JSON_SCAN_DEPTH_MAX);
    if (!json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return false;
    }
    while (fine && json_scan_next_member(&s, &key)) {
        fine = append_member(&s, &key, &w);
    }
    if (!fine || !json_scan_finish(&s)) {
        return false;
    }
    memcpy(message->room, out, w.used);
    message->payload = message->room;
    message->bytes = w.used;
    return true;
}
