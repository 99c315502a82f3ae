/* logger/codec/codec_vda5050.c - the codec of VDA 5050: vehicles under a master control,
 * versions 1.1 to 3.0.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "logger/codec/vda5050_parts.h"

/* ---- options ---- */

/* clang-format off */
#define AT(m) offsetof(struct vda_options, m), sizeof(((struct vda_options *)0)->m)
static const struct codec_option option_rows[] = {
    {"interface", CODEC_TEXT, "uagv", "", 1.0, 0.0, AT(interface),
     "vda5050: the first level of its vehicles' topics."},
    {"mirror", CODEC_FLAG, "false", "", 0.0, 0.0, AT(mirror),
     "vda5050: the twin gets a copy of the real vehicle's orders; otherwise its master gives it the same."},
    {"turns", CODEC_CHOICE, "on_spot", "none|on_spot", 0.0, 0.0, AT(turns),
     "vda5050: whether a vehicle turns on the spot at the beginning of an edge."},
    {"velocity_frame", CODEC_CHOICE, "vehicle", "vehicle|world|speed", 0.0, 0.0, AT(velocity_frame),
     "vda5050: frame of the velocities: the vehicle's own, that of the map, or a speed alone."},
};
/* clang-format on */

const struct vda_options *vda_options(const struct codec_options *options)
{
    return (const void *)&options->own[codec_own_at(&codec_vda5050)];
}

/* ---- topics ---- */

/* Returns the kind in "<interface>/<level>/<manufacturer>/<serial>/<kind>", or NULL if the
 * topic is not this vehicle's. */
static const char *find_kind(const struct codec_options *options, enum side side,
                             const char *topic, const char **level)
{
    const char *interface = vda_options(options)->interface;
    const size_t n = strlen(interface);
    const char *address = options->address[side];
    const size_t bytes = strlen(address);
    if (bytes == 0 || strncmp(topic, interface, n) != 0 || topic[n] != '/') {
        return NULL;
    }
    *level = topic + n + 1;
    const char *slash = strchr(*level, '/');
    if (!slash || strncmp(slash + 1, address, bytes) != 0 || slash[1 + bytes] != '/') {
        return NULL;
    }
    const char *kind = slash + bytes + 2;
    return strchr(kind, '/') ? NULL : kind;
}

static const struct {
    const char *kind;
    bool from_robot, silent;
} topics[] = {
    {"state", true, false},      {"visualization", true, false},
    {"connection", true, false}, {"factsheet", true, true},
    {"order", false, false},     {"instantActions", false, false},
    {"responses", false, true},  {"zoneSet", false, true},
};

static bool is_from_vehicle(const char *kind)
{
    bool from = false;
    for (size_t i = 0; i < COUNT(topics); i++) {
        from = from || (topics[i].from_robot && strcmp(topics[i].kind, kind) == 0);
    }
    return from;
}

static bool place_vda(const struct codec_options *options, size_t k, struct codec_place *place)
{
    if (k >= COUNT(topics) * SIDE_COUNT) {
        return false;
    }
    const enum side side = (enum side)(k / COUNT(topics));
    const size_t row = k % COUNT(topics);
    *place = (struct codec_place){.qos = 1,
                                  .side = side,
                                  .from_robot = topics[row].from_robot,
                                  .silent = topics[row].silent};
    const int n =
        snprintf(place->filter, sizeof place->filter, "%s/+/%s/%s",
                 vda_options(options)->interface, options->address[side], topics[row].kind);
    place->silent = place->silent || n < 0 || (size_t)n >= sizeof place->filter;
    return true;
}

static bool is_visualization(const struct codec_options *options, const char *topic)
{
    const char *level = NULL;
    bool is = false;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT && !is; s++) {
        const char *kind = find_kind(options, s, topic, &level);
        is = kind && strcmp(kind, "visualization") == 0;
    }
    return is;
}

static const char *check_vda(const struct codec_options *options, const char **key)
{
    static const char *const keys[SIDE_COUNT] = {"real.name", "virtual.name"};
    const char *interface = vda_options(options)->interface;
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const char *address = options->address[s];
        const char *slash = strchr(address, '/');
        *key = keys[s];
        if (!slash || slash == address || !slash[1] || strchr(slash + 1, '/') ||
            strpbrk(address, "+#$")) {
            return "manufacturer/serial number of the vehicle were expected, as in acme/amr-01";
        }
    }
    if (strcmp(options->address[SIDE_REAL], options->address[SIDE_VIRTUAL]) == 0) {
        return "is the real vehicle's; its twin has a serial number of its own";
    }
    *key = "interface";
    return interface[0] == '\0' || strpbrk(interface, "+#") || interface[0] == '$' ||
                   interface[0] == '/'
               ? "the first level of the vehicles' topics was expected, as in uagv"
               : NULL;
}

/* ---- a message ---- */

void vda_begin_vehicle(struct vda_vehicle *v)
{
    if (v->begun) {
        return;
    }
    *v = (struct vda_vehicle){.begun = true,
                              .update = -1,
                              .origin = -1,
                              .last = -1,
                              .departed_us = LAB_TIME_NONE,
                              .stopped_us = LAB_TIME_NONE,
                              .x_m = nan(""),
                              .y_m = nan(""),
                              .theta_rad = nan("")};
}

struct connection {
    struct json_text state, timestamp, version;
};

/* A last will bears the stamp of the connect, so its arrival time is used instead. */
static void receive_connection(const struct vda_run *run, struct json_scan *s)
{
    static const struct vda_member members[] = {
        {"connectionState", VDA_TEXT, offsetof(struct connection, state)},
        {"timestamp", VDA_TEXT, offsetof(struct connection, timestamp)},
        {"version", VDA_TEXT, offsetof(struct connection, version)},
    };
    static const char *const gone[] = {"OFFLINE", "CONNECTIONBROKEN", "CONNECTION_BROKEN",
                                       "HIBERNATING"};
    struct connection c;
    struct event e;
    bool known = false;
    if (!vda_read(run, s, members, COUNT(members), &c)) {
        return;
    }
    vda_update_version(run->v, &c.version);
    const bool online = c.state.at && json_text_is(&c.state, "ONLINE");
    for (size_t i = 0; c.state.at && i < COUNT(gone); i++) {
        known = known || json_text_is(&c.state, gone[i]);
    }
    if (!online && !known) {
        (void)vda_fail(run, FAULT_UNKNOWN_VALUE,
                       "connectionState: 'ONLINE', 'OFFLINE', 'CONNECTIONBROKEN' or "
                       "'HIBERNATING' was expected");
        return;
    }
    if (!online && run->message->retained) {
        return; /* retained, from an earlier time */
    }
    codec_begin_event(&e, run->pair, run->message, EVENT_CONNECTION, run->side);
    e.connection.online = online;
    if (online) { /* the header ids start again */
        run->v->state.known = false;
        run->v->visualization.known = false;
        run->v->epoch++;
        vda_copy(&c.timestamp, e.connection.boot, sizeof e.connection.boot);
    } else {
        vda_copy(&c.state, e.connection.reason, sizeof e.connection.reason);
    }
    codec_emit(run->pair, &e, run->sink);
}

static void receive_message(const struct vda_run *run)
{
    static const struct {
        const char *kind;
        void (*receive)(const struct vda_run *run, struct json_scan *s);
    } rows[] = {{"state", vda_receive_state},
                {"visualization", vda_receive_visualization},
                {"connection", receive_connection},
                {"order", vda_receive_order},
                {"instantActions", vda_receive_instant_actions}};
    const struct message *m = run->message;
    struct json_scan s;
    struct json_scan whole;
    size_t row = 0;
    while (row < COUNT(rows) && strcmp(run->kind, rows[row].kind) != 0) {
        row++;
    }
    /* An empty retained message only deletes the previous one: nothing happened. */
    if (row == COUNT(rows) || m->payload_bytes == 0) {
        return;
    }
    if (m->payload_bytes > m->stored_bytes) {
        (void)vda_fail(run, FAULT_TOO_LONG, "a payload of at most 65536 bytes was expected");
        return;
    }
    json_scan_start(&s, m->payload, m->stored_bytes, VDA_DEPTH_MAX);
    whole = s;
    if (!json_scan_skip(&whole, NULL, NULL) || !json_scan_finish(&whole)) {
        char why[128];
        (void)vda_fail(run, whole.fault, "column %u: %s", (unsigned)json_scan_column(&whole),
                       json_scan_explain(&whole, why, sizeof why));
        return;
    }
    rows[row].receive(run, &s);
}

static bool receive_vda(const struct codec_pair *pair, const struct message *message,
                        const struct codec_sink *sink)
{
    struct vda_memory *memory = pair->state;
    bool received = false;
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        const char *level = NULL;
        const char *kind = find_kind(pair->options, side, message->topic, &level);
        if (!kind) {
            continue;
        }
        struct vda_vehicle *v = &memory->vehicle[side];
        vda_begin_vehicle(v);
        if (!v->level[0] || is_from_vehicle(kind)) {
            (void)snprintf(v->level, sizeof v->level, "%.*s", (int)strcspn(level, "/"), level);
        }
        const struct vda_run run = {pair, message, sink, memory, v, side, kind};
        receive_message(&run);
        received = true;
    }
    return received;
}

const struct codec codec_vda5050 = {
    .name = "vda5050",
    .help = "vehicles under a master of VDA 5050, 1.1 to 3.0 (docs/robots/vda5050.md)",
    .options = option_rows,
    .option_count = COUNT(option_rows),
    .option_bytes = sizeof(struct vda_options),
    .receive = receive_vda,
    .state_bytes = sizeof(struct vda_memory),
    .place = place_vda,
    .streams = is_visualization,
    .check = check_vda,
    .encode = vda_encode,
};
