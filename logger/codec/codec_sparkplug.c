/* logger/codec/codec_sparkplug.c - the codec of robots that speak Sparkplug B
 * (docs/robots/sparkplug.md).
 *
 * Each robot is a device of an edge node, or a node. Both robots of a pair may belong to one
 * node. The codec receives all messages of a node, because they share one sequence count. If
 * messages were lost or the birth is unknown, it requests a new birth: "Node Control/Rebirth".
 */
#include <stdio.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/codec/sparkplug_rows.h"

/* Births are long, and several hosts may request them, so requests are limited. */
static const int64_t ASK_AGAIN_US = 5000000;

struct sparkplug_state {
    struct sparkplug_node node[SIDE_COUNT]; /* two robots of one node share the first entry */
    struct sparkplug_device device[SIDE_COUNT];
};

/* ---- who is who ---- */

struct address {
    struct sparkplug_text group, node, device; /* device.bytes 0: the node itself */
};

/* Parses "group/node/device" or "group/node"; false if it is neither. */
static bool read_address(const char *text, struct address *address)
{
    struct sparkplug_text part[3] = {{text, 0}, {text, 0}, {"", 0}};
    size_t count = 0;
    for (const char *at = text; at; count++) {
        const char *slash = strchr(at, '/');
        const size_t bytes = slash ? (size_t)(slash - at) : strlen(at);
        if (count == 3 || bytes == 0) {
            return false;
        }
        part[count] = (struct sparkplug_text){at, bytes};
        at = slash ? slash + 1 : NULL;
    }
    *address = (struct address){part[0], part[1], part[2]};
    return count >= 2 && !strpbrk(text, "+#");
}

static const char *check_addresses(const struct codec_options *options, const char **key)
{
    struct address address;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        *key = s == SIDE_REAL ? "real.name" : "virtual.name";
        if (!read_address(options->address[s], &address)) {
            return "group/node/device was expected, or group/node, as in "
                   "spBv1.0/GROUP/DDATA/NODE/DEVICE";
        }
    }
    return strcmp(options->address[SIDE_REAL], options->address[SIDE_VIRTUAL]) == 0
               ? "another one than the real robot's was expected"
               : NULL;
}

static void write_topic(char topic[MESSAGE_TOPIC_MAX], const struct address *to,
                        const char *kind, const char *rest)
{
    (void)snprintf(topic, MESSAGE_TOPIC_MAX, "spBv1.0/%.*s/%s/%.*s%s", (int)to->group.bytes,
                   to->group.at, kind, (int)to->node.bytes, to->node.at, rest);
}

/* Topics per robot: all of its node, the rebirth request, and its commands. */
static bool place_sparkplug(const struct codec_options *options, size_t k,
                            struct codec_place *place)
{
    enum { EACH = 3 };
    struct address address;
    const enum side side = (enum side)(k / EACH);
    if (side >= SIDE_COUNT || !read_address(options->address[side], &address)) {
        return false;
    }
    *place = (struct codec_place){.qos = 1, .side = side, .from_robot = k % EACH == 0};
    place->silent = !place->from_robot;
    if (k % EACH == 0) {
        write_topic(place->filter, &address, "+", "/#");
    } else if (k % EACH == 1) {
        write_topic(place->filter, &address, "NCMD", "");
    } else {
        write_topic(place->filter, &address, "DCMD", "/#");
    }
    return true;
}

/* ---- a message being received ---- */

struct reception {
    const struct codec_pair *pair;
    const struct message *message;
    const struct codec_sink *sink;
    const struct sparkplug_topic *topic;
    const struct address *address; /* any of its robots: names the node */
    struct sparkplug_node *node;
    size_t count;
    enum side side[SIDE_COUNT]; /* [count] owners of the places */
    struct sparkplug_place places[SIDE_COUNT];
};

static enum side side_of(const struct reception *h, size_t place)
{
    return h->side[place < h->count ? place : 0];
}

static void emit_note(const struct reception *h, enum side side, enum note_kind kind,
                      int64_t count, const char *detail)
{
    struct event e;
    codec_begin_event(&e, h->pair, h->message, EVENT_NOTE, side);
    e.note.kind = kind;
    e.note.count = count;
    (void)snprintf(e.note.detail, sizeof e.note.detail, "%s", detail);
    codec_emit(h->pair, &e, h->sink);
}

static void ask_birth(const struct reception *h, const char *why)
{
    static const struct sparkplug_value yes = {.kind = SPARKPLUG_TRUTH, .whole = 1};
    const int64_t now_us = h->message->t_us;
    const struct codec_sink *sink = h->sink;
    struct sparkplug_node *node = h->node;
    char topic[MESSAGE_TOPIC_MAX];
    if (node->asked && now_us >= node->asked_us && now_us - node->asked_us < ASK_AGAIN_US) {
        return;
    }
    node->asked = true;
    node->asked_us = now_us;
    emit_note(h, h->side[0], NOTE_REBIRTH, 0, why);
    if (sink->send) {
        struct sparkplug_writer w;
        write_topic(topic, h->address, "NCMD", "");
        sparkplug_begin(&w, sink->room, sink->room_bytes, now_us);
        sparkplug_append(&w, "Node Control/Rebirth", &yes);
        sink->send(sink->send_context, h->pair->id, topic, w.out, w.failed ? 0 : w.used);
    }
}

static void emit_connection(const struct reception *h, const struct sparkplug_event *event)
{
    struct event e;
    codec_begin_event(&e, h->pair, h->message, EVENT_CONNECTION, side_of(h, event->place));
    e.connection.online = event->what == SPARKPLUG_ONLINE;
    /* A node's death bears the stamp of its connect, so it is not used. */
    if (h->topic->kind != SPARKPLUG_NDEATH && event->stamp_ms >= 0) {
        e.connection.source_us = event->stamp_ms * 1000;
    }
    if (!e.connection.online) {
        (void)snprintf(e.connection.reason, sizeof e.connection.reason, "%s",
                       sparkplug_kind_name(h->topic->kind));
    }
    codec_emit(h->pair, &e, h->sink);
}

/* In link mode Tandem itself sends a pair's commands, so commands seen on the topic are
 * dropped. */
static void emit_values(const struct reception *h, const struct sparkplug_event *event)
{
    const enum sparkplug_kind kind = h->topic->kind;
    const struct sparkplug_received received = {.message = h->message,
                                                .kind = kind,
                                                .side = side_of(h, event->place),
                                                .stamp_ms = event->stamp_ms,
                                                .metrics = event->metrics,
                                                .device = h->places[event->place].device};
    if (!h->pair->repeated || (kind != SPARKPLUG_NCMD && kind != SPARKPLUG_DCMD)) {
        sparkplug_emit_rows(h->pair, &received, h->sink);
    }
}

static void emit_event(void *context, const struct sparkplug_event *event)
{
    const struct reception *h = context;
    const enum side side = side_of(h, event->place);
    switch (event->what) {
    case SPARKPLUG_MALFORMED:
        codec_malformed(h->pair, h->message, side, sparkplug_kind_name(h->topic->kind), h->sink,
                        FAULT_BAD_FORMAT, "%s", event->fault);
        break;
    case SPARKPLUG_UNBORN:
        ask_birth(h, "data before a birth");
        break;
    case SPARKPLUG_STALE:
        emit_note(h, side, NOTE_STALE, (int64_t)event->bd_seq, "NDEATH of another bdSeq");
        break;
    case SPARKPLUG_MISSING:
        for (size_t k = 0; k < h->count; k++) {
            emit_note(h, h->side[k], NOTE_MISSING, (int64_t)event->count, "");
        }
        ask_birth(h, "messages are missing");
        break;
    case SPARKPLUG_ONLINE:
    case SPARKPLUG_OFFLINE:
        emit_connection(h, event);
        break;
    case SPARKPLUG_UNKNOWN:
        codec_malformed(h->pair, h->message, side, "metric", h->sink, FAULT_UNKNOWN_NAME,
                        "alias %llu was not in a birth message",
                        (unsigned long long)event->alias);
        ask_birth(h, "an alias that no birth declared");
        break;
    case SPARKPLUG_TOO_MANY:
        codec_malformed(h->pair, h->message, side, "metric", h->sink, FAULT_TOO_MANY,
                        "%d metrics at most were expected, %zu more are passed over",
                        SPARKPLUG_METRICS_MAX, event->count);
        break;
    case SPARKPLUG_VALUES:
        emit_values(h, event);
    }
}

static bool is_mine(const struct codec_options *options, enum side side,
                    const struct sparkplug_topic *topic, struct address *address)
{
    return read_address(options->address[side], address) &&
           sparkplug_text_same(address->group, topic->group) &&
           sparkplug_text_same(address->node, topic->node);
}

static bool receive_sparkplug(const struct codec_pair *pair, const struct message *message,
                              const struct codec_sink *sink)
{
    struct sparkplug_topic topic;
    struct address address[SIDE_COUNT];
    struct sparkplug_state *state = pair->state;
    struct reception h = {.pair = pair, .message = message, .sink = sink, .topic = &topic};
    if (!state || !sparkplug_topic_read(message->topic, &topic)) {
        return false;
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        if (is_mine(pair->options, s, &topic, &address[s])) {
            h.places[h.count] = (struct sparkplug_place){address[s].device, &state->device[s]};
            h.side[h.count++] = s;
        }
    }
    if (h.count == 0) {
        return false;
    }
    h.address = &address[h.side[0]];
    h.node = &state->node[h.side[0]];
    if (message->retained) { /* Sparkplug nodes do not retain messages, so this one is old */
        return true;
    }
    if (message->payload_bytes > message->stored_bytes) {
        codec_malformed(pair, message, h.side[0], sparkplug_kind_name(topic.kind), sink,
                        FAULT_TOO_LONG, "a payload of at most %d bytes was expected",
                        MESSAGE_PAYLOAD_MAX);
        return true;
    }
    if (message->dup &&
        sparkplug_repeats(h.node, topic.kind, message->payload, message->stored_bytes)) {
        return true;
    }
    sparkplug_decode(h.node, h.places, h.count, &topic, message->payload, message->stored_bytes,
                     emit_event, &h);
    return true;
}

static bool encode_sparkplug(const struct codec_out *out, struct codec_message *message)
{
    const struct mapping *mapping = out->to->options->mapping;
    return mapping && mapping_encode(mapping, out, message) == MAPPING_DECODED &&
           sparkplug_encode(message, out->t_us);
}

const struct codec codec_sparkplug = {
    .name = "sparkplug",
    .help = "Sparkplug B: births, aliases, deaths (docs/robots/sparkplug.md)",
    .receive = receive_sparkplug,
    .state_bytes = sizeof(struct sparkplug_state),
    .place = place_sparkplug,
    .check = check_addresses,
    .encode = encode_sparkplug,
};
