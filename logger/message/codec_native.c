#include "logger/message/codec_native.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "base/status.h"
#include "logger/message/payload.h"

/* ---- command ---- */

static bool scan_op(struct json_scan *s, struct event *e)
{
    return payload_scan_word(s, e->command.op, sizeof e->command.op,
                             "an \"op\" of at most 15 bytes was expected") &&
           (e->command.op[0] != '\0' || json_scan_fail(s, "\"op\" must not be empty"));
}

/* clang-format off */
static const struct payload_member command_members[] = {
    {.name = "id", .type = PAYLOAD_ID, PAYLOAD_IN(command.id),
        .expected = "an \"id\" of at most 47 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(command.source_us)},
    {.name = "op", .required = true, .type = PAYLOAD_OTHER, .scan = scan_op},
    {.name = "rotation_rad", .type = PAYLOAD_REAL, PAYLOAD_IN(command.rotation_rad)},
    {.name = "displacement_m", .type = PAYLOAD_REAL, PAYLOAD_IN(command.displacement_m)},
};
/* clang-format on */

static bool scan_command(struct json_scan *s, struct event *e)
{
    e->command = (struct event_command){.source_us = LAB_TIME_NONE};
    return payload_scan(s, e, command_members, COUNT(command_members), "\"op\" is missing");
}

/* ---- reply ---- */

static bool add_value(struct json_scan *s, struct event_reply *r, const char *name,
                      enum json_kind kind)
{
    const char *from = NULL;
    size_t bytes = 0;
    if (r->value_count == EVENT_VALUES_MAX) {
        r->values_left_out++;
        return json_scan_skip(s, NULL, NULL);
    }
    struct event_value *v = &r->values[r->value_count++];
    *v = (struct event_value){.is_number = kind == JSON_KIND_NUMBER};
    (void)snprintf(v->name, sizeof v->name, "%s", name);
    if (v->is_number) {
        return json_scan_number(s, &v->number);
    }
    if (!json_scan_skip(s, &from, &bytes)) {
        return false;
    }
    v->text_hash = hash_bytes(HASH_START, from, bytes);
    return true;
}

/* Flatten one value of a reply into scalars named by their place: "pose.x", "ranges[2]". Two
 * levels are looked into; what is deeper is compared as text. */
static bool scan_value(struct json_scan *s, struct event_reply *r, const char *name, int level)
{
    char inner[2 * EVENT_NAME_MAX];
    char part[EVENT_NAME_MAX];
    struct json_text key;
    const enum json_kind kind = json_scan_peek(s);
    if (level == 0 || (kind != JSON_KIND_OBJECT && kind != JSON_KIND_ARRAY)) {
        return add_value(s, r, name, kind);
    }
    if (!json_scan_enter(s, kind)) {
        return false;
    }
    if (kind == JSON_KIND_ARRAY) {
        for (unsigned k = 0; json_scan_next_item(s); k++) {
            (void)snprintf(inner, sizeof inner, "%s[%u]", name, k);
            if (!scan_value(s, r, inner, level - 1)) {
                return false;
            }
        }
        return !s->error;
    }
    while (json_scan_next_member(s, &key)) {
        (void)json_text_copy(&key, part, sizeof part, false);
        (void)snprintf(inner, sizeof inner, "%s%s%s", name, name[0] ? "." : "", part);
        if (!scan_value(s, r, inner, level - 1)) {
            return false;
        }
    }
    return !s->error;
}

static bool scan_values(struct json_scan *s, struct event *e)
{
    return scan_value(s, &e->reply, "", 3);
}

/* clang-format off */
static const struct payload_member reply_members[] = {
    {.name = "id", .type = PAYLOAD_ID, PAYLOAD_IN(reply.id), .expected = "an \"id\" of at most 47 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_us)},
    {.name = "t_start", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_start_us)},
    {.name = "status", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(reply.status), .names = &reply_status_names,
     .expected = "a \"status\" out of done data blocked halted ignored error was expected"},
    {.name = "values", .type = PAYLOAD_OTHER, .scan = scan_values},
    {.name = "sim_t", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.sim_us)},
};
/* clang-format on */

static bool scan_reply(struct json_scan *s, struct event *e)
{
    e->reply.id[0] = '\0';
    e->reply.status = REPLY_STATUS_COUNT;
    e->reply.source_us = LAB_TIME_NONE;
    e->reply.source_start_us = LAB_TIME_NONE;
    e->reply.sim_us = LAB_TIME_NONE;
    e->reply.value_count = 0;
    e->reply.values_left_out = 0;
    const bool whole =
        payload_scan(s, e, reply_members, COUNT(reply_members), "\"status\" is missing");
    e->reply.has_sim = e->reply.sim_us != LAB_TIME_NONE;
    return whole;
}

/* ---- telemetry ---- */

static bool scan_nu(struct json_scan *s, struct event *e)
{
    return payload_scan_axes(s, e->telemetry.nu, &e->telemetry.nu_count);
}

static bool scan_tau(struct json_scan *s, struct event *e)
{
    return payload_scan_axes(s, e->telemetry.tau, &e->telemetry.tau_count);
}

static bool scan_pose(struct json_scan *s, struct event *e)
{
    return payload_scan_axes(s, e->telemetry.pose, &e->telemetry.pose_count);
}

/* clang-format off */
static const struct payload_member telemetry_members[] = {
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(telemetry.source_us)},
    {.name = "seq", .type = PAYLOAD_WHOLE, PAYLOAD_IN(telemetry.seq), .max = 9e15,
     .expected = "a \"seq\" of 0 or more was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(telemetry.boot),
     .expected = "a \"boot\" of at most 23 bytes was expected"},
    {.name = "nu", .type = PAYLOAD_OTHER, .scan = scan_nu},
    {.name = "tau", .type = PAYLOAD_OTHER, .scan = scan_tau},
    {.name = "pose", .type = PAYLOAD_OTHER, .scan = scan_pose},
    {.name = "sim_t", .type = PAYLOAD_STAMP, PAYLOAD_IN(telemetry.sim_us)},
};
/* clang-format on */

static bool scan_telemetry(struct json_scan *s, struct event *e)
{
    e->telemetry.source_us = LAB_TIME_NONE;
    e->telemetry.sim_us = LAB_TIME_NONE;
    e->telemetry.seq = -1;
    e->telemetry.boot[0] = '\0';
    e->telemetry.nu_count = 0;
    e->telemetry.tau_count = 0;
    e->telemetry.pose_count = 0;
    const bool whole = payload_scan(s, e, telemetry_members, COUNT(telemetry_members), "");
    e->telemetry.has_sim = e->telemetry.sim_us != LAB_TIME_NONE;
    return whole;
}

/* ---- connection ---- */

/* clang-format off */
static const struct payload_member connection_members[] = {
    {.name = "state", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(connection.online),
        .names = &connection_state_names,
     .expected = "a \"state\" of online or offline was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(connection.boot),
     .expected = "a \"boot\" of at most 23 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(connection.source_us)},
};
/* clang-format on */

static bool scan_connection(struct json_scan *s, struct event *e)
{
    e->connection = (struct event_connection){.source_us = LAB_TIME_NONE};
    return payload_scan(s, e, connection_members, COUNT(connection_members),
                        "\"state\" is missing");
}

/* ---- echo ---- */

/* clang-format off */
static const struct payload_member echo_members[] = {
    {.name = "probe", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(echo.probe), .max = 9e15,
     .expected = "a \"probe\" of 0 or more was expected"},
    {.name = "sent", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.sent_us)},
    {.name = "t_received", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_received_us)},
    {.name = "t", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_us)},
};
/* clang-format on */

static bool scan_echo(struct json_scan *s, struct event *e)
{
    e->echo = (struct event_echo){0, LAB_TIME_NONE, LAB_TIME_NONE, LAB_TIME_NONE};
    return payload_scan(s, e, echo_members, COUNT(echo_members),
                        "\"probe\", \"sent\", \"t_received\" and \"t\" were expected") &&
           ((e->echo.sent_us != LAB_TIME_NONE && e->echo.source_received_us != LAB_TIME_NONE &&
             e->echo.source_us != LAB_TIME_NONE) ||
            json_scan_fail(s, "\"sent\", \"t_received\" and \"t\" must be numbers"));
}

/* ---- ack ---- */

/* "applied" is a list of names; they are counted. */
static bool scan_applied(struct json_scan *s, struct event *e)
{
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (!json_scan_skip(s, NULL, NULL)) {
            return false;
        }
        e->ack.applied++;
    }
    return !s->error;
}

/* One refused parameter: {"name", "reason"}. The first one's words are kept. */
static bool scan_refusal(struct json_scan *s, struct event_ack *ack)
{
    char name[32] = "?";
    char reason[64] = "?";
    struct json_text key;
    if (!json_scan_enter(s, JSON_KIND_OBJECT)) {
        return false;
    }
    while (json_scan_next_member(s, &key)) {
        struct json_text text;
        const bool is_name = json_text_is(&key, "name");
        if (!is_name && !json_text_is(&key, "reason")) {
            if (!json_scan_skip(s, NULL, NULL)) {
                return false;
            }
        } else if (!json_scan_text(s, &text)) {
            return false;
        } else {
            (void)json_text_copy(&text, is_name ? name : reason,
                                 is_name ? sizeof name : sizeof reason, false);
        }
    }
    if (ack->refused++ == 0) {
        (void)snprintf(ack->reason, sizeof ack->reason, "%s: %s", name, reason);
    }
    return !s->error;
}

static bool scan_refused(struct json_scan *s, struct event *e)
{
    if (!json_scan_enter(s, JSON_KIND_ARRAY)) {
        return false;
    }
    while (json_scan_next_item(s)) {
        if (!scan_refusal(s, &e->ack)) {
            return false;
        }
    }
    return !s->error;
}

/* clang-format off */
static const struct payload_member ack_members[] = {
    {.name = "version", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(ack.version), .max = UINT32_MAX,
     .expected = "a \"version\" of 0 or more was expected"},
    {.name = "applied", .type = PAYLOAD_OTHER, .scan = scan_applied},
    {.name = "refused", .type = PAYLOAD_OTHER, .scan = scan_refused},
};
/* clang-format on */

static bool scan_ack(struct json_scan *s, struct event *e)
{
    e->ack = (struct event_ack){0};
    return payload_scan(s, e, ack_members, COUNT(ack_members), "\"version\" is missing");
}

/* ---- topics ---- */

struct topic_row {
    const char *rest; /* after the prefix and the pair's id */
    struct payload_kind kind;
};

/* clang-format off */
static const struct topic_row topic_rows[] = {
    {"command",                {"command",    EVENT_COMMAND,    SIDE_COUNT,   scan_command}},
    {"real/reply",             {"reply",      EVENT_REPLY,      SIDE_REAL,    scan_reply}},
    {"virtual/reply",          {"reply",      EVENT_REPLY,      SIDE_VIRTUAL, scan_reply}},
    {"real/telemetry",         {"telemetry",  EVENT_TELEMETRY,  SIDE_REAL,    scan_telemetry}},
    {"virtual/telemetry",      {"telemetry",  EVENT_TELEMETRY,  SIDE_VIRTUAL, scan_telemetry}},
    {"real/connection",        {"connection", EVENT_CONNECTION, SIDE_REAL,    scan_connection}},
    {"virtual/connection",     {"connection", EVENT_CONNECTION, SIDE_VIRTUAL, scan_connection}},
    {"virtual/parameters/ack", {"ack",        EVENT_ACK,        SIDE_VIRTUAL, scan_ack}},
    {"real/echo",              {"echo",       EVENT_ECHO,       SIDE_REAL,    scan_echo}},
    {"virtual/echo",           {"echo",       EVENT_ECHO,       SIDE_VIRTUAL, scan_echo}},
};
/* clang-format on */

/* The row of "<prefix>/<pair>/<rest>" and the pair's id; NULL when it is another topic. */
static const struct topic_row *find_row(const char *prefix, const char *topic,
                                        char pair[EVENT_PAIR_MAX])
{
    const size_t n = strlen(prefix);
    if (strncmp(topic, prefix, n) != 0 || topic[n] != '/') {
        return NULL;
    }
    const char *id = topic + n + 1;
    const char *slash = strchr(id, '/');
    if (!slash || slash == id || slash - id >= EVENT_PAIR_MAX) {
        return NULL;
    }
    memcpy(pair, id, (size_t)(slash - id));
    pair[slash - id] = '\0';
    for (size_t i = 0; i < COUNT(topic_rows); i++) {
        if (strcmp(slash + 1, topic_rows[i].rest) == 0) {
            return &topic_rows[i];
        }
    }
    return NULL;
}

static size_t decode_native(const char *prefix, const struct message *message, event_emit *emit,
                            void *context)
{
    struct event e;
    const struct topic_row *row = find_row(prefix, message->topic, e.pair);
    /* An empty retained message takes the old one back: nothing happened. */
    if (!row || (message->payload_bytes == 0 && row->kind.kind == EVENT_CONNECTION)) {
        return 0;
    }
    return payload_decode(&row->kind, message, &e, emit, context);
}

static bool is_native_sample(const char *prefix, const char *topic)
{
    static const char end[] = "/telemetry";
    const size_t bytes = strlen(topic);
    (void)prefix;
    return bytes >= sizeof end && strcmp(topic + bytes - (sizeof end - 1), end) == 0;
}

/* Payloads are native as they are. */
static bool encode_native(const struct codec_out *out, struct codec_message *message)
{
    static const struct {
        const char *rest;
        bool of_side;
    } rows[CODEC_KIND_COUNT] = {
        [CODEC_COMMAND] = {"command", true},       [CODEC_REPLY] = {"reply", false},
        [CODEC_PARAMETERS] = {"parameters", true}, [CODEC_CONTROL] = {"control", true},
        [CODEC_PROBE] = {"probe", true},
    };
    const bool of_side = rows[out->kind].of_side && out->side < SIDE_COUNT;
    const int n =
        snprintf(message->topic, sizeof message->topic, "%s/%s%s%s", out->pair,
                 of_side ? side_name(out->side) : "", of_side ? "/" : "", rows[out->kind].rest);
    message->payload = out->payload;
    message->bytes = out->bytes;
    return n > 0 && (size_t)n < sizeof message->topic;
}

const struct codec codec_native = {
    .name = "native",
    .help = "JSON on topics of Tandem's own (docs/protocol.md)",
    .topics = {{"+/command", 1},
               {"+/+/reply", 1},
               {"+/+/telemetry", 0},
               {"+/+/connection", 1},
               {"+/+/echo", 1},
               {"+/+/parameters/ack", 1}},
    .decode = decode_native,
    .is_sample = is_native_sample,
    .encode = encode_native,
};

/* ---- payloads out ---- */

void native_write_command(struct json_writer *w, const struct event_command *command)
{
    json_write_object(w, NULL);
    if (command->id[0]) {
        json_write_text(w, "id", command->id);
    }
    if (command->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", command->source_us);
    }
    json_write_text(w, "op", command->op);
    json_write_real(w, "rotation_rad", command->rotation_rad);
    json_write_real(w, "displacement_m", command->displacement_m);
    json_write_close(w);
}

void native_write_reply(struct json_writer *w, const struct event_reply *reply)
{
    json_write_object(w, NULL);
    if (reply->id[0]) {
        json_write_text(w, "id", reply->id);
    }
    if (reply->source_start_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t_start", reply->source_start_us);
    }
    if (reply->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", reply->source_us);
    }
    if (reply->has_sim) {
        json_write_seconds(w, "sim_t", reply->sim_us);
    }
    json_write_text(w, "status", reply_status_name(reply->status));
    if (reply->value_count > 0) {
        json_write_object(w, "values");
        for (size_t i = 0; i < reply->value_count; i++) {
            if (reply->values[i].is_number) {
                json_write_real(w, reply->values[i].name, reply->values[i].number);
            }
        }
        json_write_close(w);
    }
    json_write_close(w);
}

void native_write_telemetry(struct json_writer *w, const struct event_telemetry *telemetry)
{
    json_write_object(w, NULL);
    if (telemetry->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", telemetry->source_us);
    }
    if (telemetry->has_sim) {
        json_write_seconds(w, "sim_t", telemetry->sim_us);
    }
    if (telemetry->seq >= 0) {
        json_write_int(w, "seq", telemetry->seq);
    }
    if (telemetry->boot[0]) {
        json_write_text(w, "boot", telemetry->boot);
    }
    json_write_axes(w, "nu", telemetry->nu, telemetry->nu_count);
    json_write_axes(w, "tau", telemetry->tau, telemetry->tau_count);
    json_write_axes(w, "pose", telemetry->pose, telemetry->pose_count);
    json_write_close(w);
}

void native_write_connection(struct json_writer *w, const struct event_connection *connection)
{
    json_write_object(w, NULL);
    json_write_text(w, "state", names_text(&connection_state_names, connection->online));
    if (connection->boot[0]) {
        json_write_text(w, "boot", connection->boot);
    }
    if (connection->source_us != LAB_TIME_NONE) {
        json_write_seconds(w, "t", connection->source_us);
    }
    json_write_close(w);
}

void native_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us)
{
    json_write_object(w, NULL);
    json_write_int(w, "probe", probe);
    json_write_seconds(w, "sent", sent_us);
    json_write_close(w);
}

void native_write_echo(struct json_writer *w, const struct event_echo *echo)
{
    json_write_object(w, NULL);
    json_write_int(w, "probe", echo->probe);
    json_write_seconds(w, "sent", echo->sent_us);
    json_write_seconds(w, "t_received", echo->source_received_us);
    json_write_seconds(w, "t", echo->source_us);
    json_write_close(w);
}
