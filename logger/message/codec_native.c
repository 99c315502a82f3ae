#include "logger/message/codec_native.h"

#include <stdio.h>
#include <string.h>

#include "base/hash.h"
#include "logger/message/payload.h"

/* ---- command ---- */

static bool check_op(struct json_scan *s, struct event *e)
{
    return e->command.op[0] != '\0' || json_scan_fail(s, "\"op\" must not be empty");
}

/* clang-format off */
static const struct payload_member command_members[] = {
    {.name = "id", .type = PAYLOAD_ID, PAYLOAD_IN(command.id),
        .expected = "an \"id\" of at most 47 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(command.source_us)},
    {.name = "op", .required = true, .type = PAYLOAD_WORD, PAYLOAD_IN(command.op),
        .expected = "an \"op\" of at most 15 bytes was expected"},
    {.name = "rotation_rad", .type = PAYLOAD_REAL, PAYLOAD_IN(command.rotation_rad)},
    {.name = "displacement_m", .type = PAYLOAD_REAL, PAYLOAD_IN(command.displacement_m)},
};
/* clang-format on */

static const struct payload_kind command_kind = {"command", EVENT_COMMAND,
                                                 PAYLOAD_PART(command, command_members),
                                                 "\"op\" is missing", check_op};

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
    {.name = "t_start", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_start_us)},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(reply.source_us)},
    {.name = "sim_t", .type = PAYLOAD_SIM, PAYLOAD_TOLD(reply.sim_us, reply.has_sim)},
    {.name = "status", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(reply.status), .names = &reply_status_names,
     .expected = "a \"status\" out of done data blocked halted ignored error was expected"},
    {.name = "values", .type = PAYLOAD_OTHER, .scan = scan_values},
};
/* clang-format on */

static const struct payload_kind reply_kind = {
    "reply", EVENT_REPLY, PAYLOAD_PART(reply, reply_members), "\"status\" is missing", NULL};

/* ---- telemetry, connection, echo ---- */

/* clang-format off */
static const struct payload_member telemetry_members[] = {
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(telemetry.source_us)},
    {.name = "sim_t", .type = PAYLOAD_SIM, PAYLOAD_TOLD(telemetry.sim_us, telemetry.has_sim)},
    {.name = "seq", .type = PAYLOAD_WHOLE, PAYLOAD_IN(telemetry.seq), .max = 9e15, .absent = -1.0,
     .expected = "a \"seq\" of 0 or more was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(telemetry.boot),
     .expected = "a \"boot\" of at most 23 bytes was expected"},
    {.name = "nu", .type = PAYLOAD_AXES, PAYLOAD_TOLD(telemetry.nu, telemetry.nu_count)},
    {.name = "tau", .type = PAYLOAD_AXES, PAYLOAD_TOLD(telemetry.tau, telemetry.tau_count)},
    {.name = "pose", .type = PAYLOAD_AXES, PAYLOAD_TOLD(telemetry.pose, telemetry.pose_count)},
};

static const struct payload_member connection_members[] = {
    {.name = "state", .required = true, .type = PAYLOAD_NAME, PAYLOAD_IN(connection.online),
        .names = &connection_state_names,
     .expected = "a \"state\" of online or offline was expected"},
    {.name = "boot", .type = PAYLOAD_WORD, PAYLOAD_IN(connection.boot),
     .expected = "a \"boot\" of at most 23 bytes was expected"},
    {.name = "t", .type = PAYLOAD_STAMP, PAYLOAD_IN(connection.source_us)},
};

static const struct payload_member echo_members[] = {
    {.name = "probe", .required = true, .type = PAYLOAD_WHOLE, PAYLOAD_IN(echo.probe), .max = 9e15,
     .expected = "a \"probe\" of 0 or more was expected"},
    {.name = "sent", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.sent_us)},
    {.name = "t_received", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_received_us)},
    {.name = "t", .required = true, .type = PAYLOAD_STAMP, PAYLOAD_IN(echo.source_us)},
};
/* clang-format on */

static bool check_echo(struct json_scan *s, struct event *e)
{
    return (e->echo.sent_us != LAB_TIME_NONE && e->echo.source_received_us != LAB_TIME_NONE &&
            e->echo.source_us != LAB_TIME_NONE) ||
           json_scan_fail(s, "\"sent\", \"t_received\" and \"t\" must be numbers");
}

static const struct payload_kind telemetry_kind = {
    "telemetry", EVENT_TELEMETRY, PAYLOAD_PART(telemetry, telemetry_members), "", NULL};
static const struct payload_kind connection_kind = {
    "connection", EVENT_CONNECTION, PAYLOAD_PART(connection, connection_members),
    "\"state\" is missing", NULL};
static const struct payload_kind echo_kind = {
    "echo", EVENT_ECHO, PAYLOAD_PART(echo, echo_members),
    "\"probe\", \"sent\", \"t_received\" and \"t\" were expected", check_echo};

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

static const struct payload_kind ack_kind = {"ack", EVENT_ACK, PAYLOAD_PART(ack, ack_members),
                                             "\"version\" is missing", NULL};

/* ---- topics ---- */

static const struct topic_row {
    const char *rest; /* after the prefix and the pair's id */
    enum side side;
    const struct payload_kind *kind;
} topic_rows[] = {
    {"command", SIDE_COUNT, &command_kind},
    {"real/reply", SIDE_REAL, &reply_kind},
    {"virtual/reply", SIDE_VIRTUAL, &reply_kind},
    {"real/telemetry", SIDE_REAL, &telemetry_kind},
    {"virtual/telemetry", SIDE_VIRTUAL, &telemetry_kind},
    {"real/connection", SIDE_REAL, &connection_kind},
    {"virtual/connection", SIDE_VIRTUAL, &connection_kind},
    {"virtual/parameters/ack", SIDE_VIRTUAL, &ack_kind},
    {"real/echo", SIDE_REAL, &echo_kind},
    {"virtual/echo", SIDE_VIRTUAL, &echo_kind},
};

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
    if (!row || (message->payload_bytes == 0 && row->kind == &connection_kind)) {
        return 0;
    }
    return payload_decode(row->kind, row->side, message, &e, emit, context);
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

void native_write(struct json_writer *w, enum event_kind kind, const void *part)
{
    static const struct payload_kind *const rows[EVENT_KIND_COUNT] = {
        [EVENT_COMMAND] = &command_kind,       [EVENT_REPLY] = &reply_kind,
        [EVENT_TELEMETRY] = &telemetry_kind,   [EVENT_ECHO] = &echo_kind,
        [EVENT_CONNECTION] = &connection_kind,
    };
    const struct event_reply *reply = kind == EVENT_REPLY ? part : NULL;
    json_write_object(w, NULL);
    payload_write(w, rows[kind], part);
    if (reply && reply->value_count > 0) {
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

void native_write_probe(struct json_writer *w, int64_t probe, int64_t sent_us)
{
    json_write_object(w, NULL);
    json_write_int(w, "probe", probe);
    json_write_seconds(w, "sent", sent_us);
    json_write_close(w);
}
