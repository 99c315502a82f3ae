/* logger/codec/vda5050_send.c - outgoing messages to vehicles: copies of orders, and Tandem's
 * own orders.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/codec/vda5050_parts.h"
#include "logger/message/codec_native.h"
#include "logger/message/json_write.h"

/* ---- versions ---- */

enum { VERSION_2_1 = 201, VERSION_3_0 = 300 };

void vda_update_version(struct vda_vehicle *v, const struct json_text *version)
{
    if (version->at && version->bytes > 0) {
        vda_copy(version, v->version, sizeof v->version);
    }
}

/* A vehicle that has not reported its version has that of its twin, or that of its topics. */
static const char *find_version(const struct codec_pair *pair, enum side side)
{
    const struct vda_memory *memory = pair->state;
    const struct vda_vehicle *v = &memory->vehicle[side];
    const struct vda_vehicle *twin = &memory->vehicle[SIDE_COUNT - 1 - side];
    return v->version[0]           ? v->version
           : twin->version[0]      ? twin->version
           : strchr(v->level, '3') ? "3.0.0"
           : strchr(v->level, '1') ? "1.1.0"
                                   : "2.0.0";
}

/* Reads at most two digits. */
static int parse_number(const char **text)
{
    int number = 0;
    for (int k = 0; k < 2 && **text >= '0' && **text <= '9'; k++) {
        number = 10 * number + (*(*text)++ - '0');
    }
    return number;
}

/* Returns 201 for "2.1.0", or "V2.1". */
static int parse_version(const char *text)
{
    text += strcspn(text, "0123456789");
    const int major = parse_number(&text);
    text += *text == '.';
    return 100 * major + parse_number(&text);
}

bool vda_write_topic(const struct codec_pair *pair, enum side side, const char *kind,
                     char topic[MESSAGE_TOPIC_MAX])
{
    const struct vda_memory *memory = pair->state;
    const char *own = memory->vehicle[side].level;
    const char *twin = memory->vehicle[SIDE_COUNT - 1 - side].level;
    const int n =
        snprintf(topic, MESSAGE_TOPIC_MAX, "%s/%s/%s/%s", vda_options(pair->options)->interface,
                 own[0]    ? own
                 : twin[0] ? twin
                           : "v2",
                 pair->options->address[side], kind);
    return n > 0 && n < MESSAGE_TOPIC_MAX;
}

/* ---- headers ---- */

void vda_write_stamp(struct json_writer *w, const char *key, int64_t t_us)
{
    char t[28];
    message_format_time(t_us, t);
    t[23] = 'Z'; /* cut to milliseconds */
    t[24] = '\0';
    json_write_text(w, key, t);
}

void vda_write_header(struct json_writer *w, const struct codec_pair *pair, enum side side,
                      int64_t t_us, int64_t *header)
{
    const char *address = pair->options->address[side];
    const char *slash = strchr(address, '/');
    char manufacturer[CODEC_ADDRESS_MAX];
    json_write_int(w, "headerId", (*header)++);
    vda_write_stamp(w, "timestamp", t_us);
    json_write_text(w, "version", find_version(pair, side));
    (void)snprintf(manufacturer, sizeof manufacturer, "%.*s", (int)(slash - address), address);
    JSON_WRITE(w, JSON("manufacturer", manufacturer), JSON("serialNumber", slash + 1));
}

/* ---- copies for the twin ---- */

static void write_member(struct json_writer *w, const struct json_text *key, const char *value,
                         size_t bytes)
{
    char name[64];
    if (json_text_copy(key, name, sizeof name, false) < sizeof name) {
        json_write_raw(w, name, value, bytes);
    } else {
        w->overflow = true;
    }
}

static bool is_one_of(const struct json_text *key, const char *const *names, size_t count)
{
    bool is = false;
    for (size_t i = 0; i < count; i++) {
        is = is || json_text_is(key, names[i]);
    }
    return is;
}

/* Version 2.1 calls the list `actions`. Vehicles of 2.0 expect that name, too, as its schema
 * has it, or the older one, as others read its text; so they get both. */
static const char *const list_names[] = {"actions", "instantActions"};

static size_t count_lists(int version)
{
    return version < VERSION_2_1 ? 2 : 1;
}

/* Copies the members of an object except those of these names. */
static void copy_members(struct json_writer *w, struct json_scan *s, const char *const *names,
                         size_t count)
{
    struct json_text key;
    (void)json_scan_enter(s, JSON_KIND_OBJECT);
    while (json_scan_next_member(s, &key)) {
        const char *value = NULL;
        size_t bytes = 0;
        if (json_scan_skip(s, &value, &bytes) && !is_one_of(&key, names, count)) {
            write_member(w, &key, value, bytes);
        }
    }
}

/* Since version 3.0 an instant action blocks nothing. */
static void copy_actions(struct json_writer *w, const char *name, struct json_scan list,
                         int version)
{
    static const char *const blocking[] = {"blockingType"};
    JSON_LIST(w, name, bool any = vda_enter(&list); any && vda_next(&list);) {
        json_write_object(w, NULL);
        copy_members(w, &list, blocking, version >= VERSION_3_0);
        if (version >= VERSION_3_0) {
            json_write_text(w, "blockingType", "NONE");
        }
        json_write_close(w);
    }
}

static void watch_version(const struct vda_run *run)
{
    struct vda_vehicle *v = run->v;
    const int own = parse_version(find_version(run->pair, SIDE_REAL));
    const int twin = parse_version(find_version(run->pair, SIDE_VIRTUAL));
    if (own / 100 != twin / 100 && !v->another_version) {
        v->another_version = true;
        vda_contradict(run, "", "its twin has another version: orders are not converted");
    }
}

void vda_mirror(const struct vda_run *run, const char *kind, struct json_scan actions,
                int64_t *header)
{
    static const char *const own[] = {"headerId",      "timestamp",    "version",
                                      "manufacturer",  "serialNumber", "actions",
                                      "instantActions"};
    const struct codec_sink *sink = run->sink;
    const int version = parse_version(find_version(run->pair, SIDE_VIRTUAL));
    char topic[MESSAGE_TOPIC_MAX];
    struct json_scan s;
    struct json_writer w;
    int64_t number = (*header)++; /* counts in replays, too, where nothing is sent */
    watch_version(run);
    if (!sink->send || !vda_write_topic(run->pair, SIDE_VIRTUAL, kind, topic)) {
        return;
    }
    json_scan_start(&s, run->message->payload, run->message->stored_bytes, VDA_DEPTH_MAX);
    json_write_start(&w, sink->room, sink->room_bytes, NULL, NULL);
    json_write_object(&w, NULL);
    vda_write_header(&w, run->pair, SIDE_VIRTUAL, run->message->t_us, &number);
    copy_members(&w, &s, own, COUNT(own) - (actions.begin ? 0 : COUNT(list_names)));
    for (size_t i = 0; actions.begin && i < count_lists(version); i++) {
        copy_actions(&w, list_names[i], actions, version);
    }
    json_write_close(&w);
    if (json_write_end(&w) && !s.error) {
        sink->send(sink->send_context, run->pair->id, topic, sink->room, w.used);
    }
}

/* ---- link mode: orders of one leg ---- */

/* Tandem's command to one vehicle, while it is encoded. */
struct given {
    const struct codec_out *out;
    struct vda_memory *memory;
    struct vda_vehicle *v;
    struct event_command command;
    char name[VDA_NAME_MAX + 24]; /* "<id>@<number>", name of the order or action */
};

static void copy_command(void *context, const struct event *event)
{
    struct given *g = context;
    if (event->kind == EVENT_COMMAND) {
        g->command = event->command;
    }
}

static void write_action(const struct given *g, struct json_writer *w, const char *type,
                         const char *blocking)
{
    JSON_OPEN(w, NULL, JSON("actionId", g->name), JSON("actionType", type),
              JSON("blockingType", blocking));
    json_write_array(w, "actionParameters");
    json_write_close(w);
    json_write_close(w);
}

static void write_node(const struct given *g, struct json_writer *w, const char *name,
                       int64_t at, const double pose[3], const char *action)
{
    JSON_OPEN(w, NULL, JSON("nodeId", name), JSON("sequenceId", at),
              JSON_BOOL("released", true),
              JSON_OBJECT("nodePosition", JSON("x", pose[0]), JSON("y", pose[1]),
                          JSON("theta", pose[2]), JSON("mapId", g->v->map)));
    json_write_array(w, "actions");
    if (action) {
        write_action(g, w, action, "HARD");
    }
    json_write_close(w);
    json_write_close(w);
}

static void write_edge(struct json_writer *w, const char *from, const char *to, double length_m)
{
    JSON_OPEN(w, NULL, JSON("edgeId", to), JSON_WHOLE("sequenceId", 1),
              JSON_BOOL("released", true), JSON("startNodeId", from), JSON("endNodeId", to),
              JSON("length", length_m));
    json_write_array(w, "actions");
    json_write_close(w);
    json_write_close(w);
}

/* Writes an order from the present pose to the target of the command. Other operations become
 * an action at the present pose. */
static void write_order(const struct given *g, struct json_writer *w)
{
    const struct vda_vehicle *v = g->v;
    const struct event_command *c = &g->command;
    const bool go = strcmp(c->op, "go") == 0;
    const double heading = v->theta_rad + c->rotation_rad;
    const double round_rad = 2.0 * acos(-1.0); /* headings are -pi to pi */
    const double here[3] = {v->x_m, v->y_m, remainder(v->theta_rad, round_rad)};
    const double there[3] = {v->x_m + c->displacement_m * cos(heading),
                             v->y_m + c->displacement_m * sin(heading),
                             remainder(heading, round_rad)};
    const char *from = v->node_name[0] ? v->node_name : "here";
    JSON_WRITE(w, JSON("orderId", g->name), JSON_WHOLE("orderUpdateId", 0));
    json_write_array(w, "nodes");
    write_node(g, w, from, 0, here, go ? NULL : c->op);
    if (go) {
        write_node(g, w, g->name, 2, there, NULL);
    }
    json_write_close(w);
    json_write_array(w, "edges");
    if (go) {
        write_edge(w, from, g->name, fabs(c->displacement_m));
    }
    json_write_close(w);
}

/* An instant action never waits for others: 3.0 allows nothing else. */
static void write_cancel(const struct given *g, struct json_writer *w)
{
    const int version = parse_version(find_version(g->out->to, g->out->side));
    for (size_t i = 0; i < count_lists(version); i++) {
        json_write_array(w, list_names[i]);
        write_action(g, w, "cancelOrder", "NONE");
        json_write_close(w);
    }
}

/* Records the leg, so that the vehicle's answer finds its command. */
static void expect_answer(const struct given *g, bool halt)
{
    if (!vda_find_opened(g->memory, g->command.id)) {
        (void)vda_add_opened(g->memory, g->command.id);
    } else { /* L1 has started its ids again */
        *vda_find_opened(g->memory, g->command.id) =
            (struct vda_opened){.id = hash_text(g->command.id)};
    }
    if (halt) {
        struct vda_action *a = vda_add_action(g->v, hash_text(g->name));
        memcpy(a->id, g->command.id, sizeof a->id);
        a->instant = true;
        (void)snprintf(a->op, sizeof a->op, "cancelOrder");
    }
}

bool vda_encode(const struct codec_out *out, struct codec_message *message)
{
    struct given g = {.out = out, .memory = out->to ? out->to->state : NULL};
    const struct message m = {.topic = "x/r/command",
                              .payload = out->payload,
                              .stored_bytes = out->bytes,
                              .payload_bytes = out->bytes};
    struct json_writer w;
    if (out->side >= SIDE_COUNT || !g.memory) {
        return false;
    }
    if (out->kind != CODEC_COMMAND) {
        return out->kind == CODEC_ANSWER && vda_encode_answer(out, message);
    }
    g.v = &g.memory->vehicle[out->side];
    vda_begin_vehicle(g.v); /* a halt may come before its first message */
    (void)codec_native.decode("x", &m, copy_command, &g);
    const bool halt = strcmp(g.command.op, "halt") == 0;
    if (g.command.op[0] == '\0' || (!halt && !isfinite(g.v->theta_rad))) {
        return false; /* the present pose is unknown */
    }
    (void)snprintf(g.name, sizeof g.name, "%s@%llu", g.command.id,
                   (unsigned long long)++g.memory->orders);
    expect_answer(&g, halt);
    json_write_start(&w, message->room, sizeof message->room, NULL, NULL);
    json_write_object(&w, NULL);
    vda_write_header(&w, out->to, out->side, out->t_us,
                     halt ? &g.v->sent_actions : &g.v->sent_orders);
    if (halt) {
        write_cancel(&g, &w);
    } else {
        write_order(&g, &w);
    }
    json_write_close(&w);
    message->payload = message->room;
    message->bytes = w.used;
    return json_write_end(&w) &&
           vda_write_topic(out->to, out->side, halt ? "instantActions" : "order",
                           message->topic);
}
