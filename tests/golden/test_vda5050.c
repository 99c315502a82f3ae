/* Recorded VDA 5050: what each message is to the lab, against the events that an independent
 * reading of the same recording made (tests/golden/vda5050; the recordings are those of
 * tests/golden/replay/vda5050_*), byte for byte; and what goes out. */
#include "tests/support/vda5050_rig.h"

#include <stdarg.h>

#include "base/numbers/hash.h"
#include "logger/codec/vda5050_parts.h"
#include "logger/message/json_scan.h"

static void append_line(struct rig *r, const char *format, ...) PRINTF_LIKE(2, 3);

static void append_line(struct rig *r, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(r->text + r->used, sizeof r->text - r->used, format, args);
    va_end(args);
    CU_ASSERT_FATAL(n >= 0 && (size_t)n < sizeof r->text - r->used);
    r->used += (size_t)n;
}

/* Prints like Python: at most six digits after the decimal point. */
static void publish_real(struct rig *r, const char *before, double value)
{
    char text[64];
    size_t n = (size_t)snprintf(text, sizeof text, "%.6f", value);
    while (text[n - 1] == '0' && text[n - 2] != '.') {
        n--;
    }
    append_line(r, "%s%.*s", before, (int)n, text);
}

static void publish_stamp(struct rig *r, const char *before, int64_t us)
{
    if (us == LAB_TIME_NONE) {
        append_line(r, "%snull", before);
        return;
    }
    char text[64];
    size_t n = (size_t)snprintf(text, sizeof text, "%lld.%06lld", (long long)(us / 1000000),
                                (long long)(us % 1000000));
    while (text[n - 1] == '0' && text[n - 2] != '.') {
        n--;
    }
    append_line(r, "%s%.*s", before, (int)n, text);
}

static void publish_reply(struct rig *r, const struct event_reply *p)
{
    append_line(r, ", \"id\": \"%s\", \"status\": \"%s\"", p->id, reply_status_name(p->status));
    publish_stamp(r, ", \"t_source\": ", p->source_us);
    if (p->detail[0]) {
        append_line(r, ", \"%s\": \"%s\"", p->status == REPLY_DONE ? "node" : "detail",
                    p->detail);
    }
    if (p->source_start_us != LAB_TIME_NONE) {
        publish_stamp(r, ", \"t_start\": ", p->source_start_us);
    }
    if (p->paused_us > 0) {
        publish_real(r, ", \"paused_s\": ", lab_s(p->paused_us));
    }
    append_line(r, "%s", p->bounded ? ", \"bounded\": true" : "");
}

/* "nodeId n0, topic order" as an object again. */
static void publish_about(struct rig *r, const char *about)
{
    append_line(r, ", \"about\": {");
    for (const char *at = about; *at;) {
        const size_t bytes = strcspn(at, ",");
        const char *blank = strchr(at, ' ');
        append_line(r, "%s\"%.*s\": \"%.*s\"", at > about ? ", " : "", (int)(blank - at), at,
                    (int)(bytes - (size_t)(blank - at) - 1), blank + 1);
        at += bytes;
        at += *at ? 2 : 0;
    }
    append_line(r, "}");
}

static void handle_event(void *context, const struct event *e)
{
    static const char *const names[EVENT_KIND_COUNT] = {[EVENT_COMMAND] = "command",
                                                        [EVENT_REPLY] = "reply",
                                                        [EVENT_CONNECTION] = "connection",
                                                        [EVENT_FAULT] = "alarm"};
    struct rig *r = context;
    r->last = *e;
    r->events++;
    if (e->kind == EVENT_NOTE &&
        e->note.kind == NOTE_CONTRADICTION) { /* of ours, not of the independent reading */
        r->contradictions++;
        return;
    }
    if (e->kind == EVENT_TELEMETRY) {
        return;
    }
    publish_stamp(r, "{\"t\": ", e->t_us);
    append_line(r, ", \"event\": \"%s\"",
                e->kind == EVENT_NOTE ? note_kind_name(e->note.kind) : names[e->kind]);
    if (e->side < SIDE_COUNT) {
        append_line(r, ", \"side\": \"%s\"", side_name(e->side));
    }
    if (e->kind == EVENT_CONNECTION) {
        append_line(r, ", \"state\": \"%s\"", e->connection.online ? "online" : "offline");
        append_line(r, e->connection.boot[0] ? ", \"boot\": \"%s\"" : "%s", e->connection.boot);
    } else if (e->kind == EVENT_COMMAND) {
        append_line(r, ", \"id\": \"%s\", \"op\": \"%s\"", e->command.id, e->command.op);
        publish_real(r, ", \"rotation_rad\": ", e->command.rotation_rad);
        publish_real(r, ", \"displacement_m\": ", e->command.displacement_m);
    } else if (e->kind == EVENT_REPLY) {
        publish_reply(r, &e->reply);
        CHECK_INT(e->reply.id, e->reply.uncalibrated,
                  e->reply.source_start_us == LAB_TIME_NONE && !strchr(e->reply.id, '#'));
    } else if (e->kind == EVENT_FAULT) {
        append_line(r, ", \"type\": \"%s\", \"level\": \"%s\", \"detail\": \"%s\"",
                    fault_kind_name(e->fault.kind), e->fault.level, e->fault.detail);
        publish_about(r, e->fault.about);
    } else if (e->note.kind == NOTE_ACCEPTED) {
        append_line(r, ", \"order\": \"%s\"", e->note.id);
        publish_stamp(r, ", \"t_source\": ", e->note.source_us);
    } else if (e->note.kind == NOTE_INSTANT) {
        append_line(r, ", \"op\": \"%s\", \"status\": \"%s\"", e->note.detail, e->note.status);
        publish_stamp(r, ", \"t_source\": ", e->note.source_us);
    } else {
        append_line(r, ", \"n\": %lld", (long long)e->note.count);
    }
    append_line(r, "}\n");
}

static size_t decode_message(struct rig *r, const char *topic, const char *payload,
                             int64_t t_us)
{
    struct message m = {.t_us = t_us,
                        .payload = payload,
                        .stored_bytes = strlen(payload),
                        .payload_bytes = strlen(payload)};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    r->used = 0;
    r->text[0] = '\0';
    return codec_decode(&r->set, "tandem/v1", &m, handle_event, r);
}

static char *read_whole(const char *path)
{
    FILE *f = fopen(path, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    char *text = calloc(1, 1 << 20);
    CU_ASSERT_FATAL(fread(text, 1, (1 << 20) - 1, f) > 0);
    (void)fclose(f);
    return text;
}

static void test_recordings(void)
{
    static const struct {
        const char *name, *yaml;
        size_t lines, contradictions;
    } rows[] = {
        {"trace",
         "pairs: {agv: {codec: vda5050, real: acme/real-01, virtual: acme/virtual-01}}", 71, 2},
        {"live",
         "pairs: {agv: {codec: vda5050, real: acme/amr-real, virtual: acme/amr-virtual}}", 80,
         2},
    };
    static struct rig r;
    static char scratch[MESSAGE_PAYLOAD_MAX + 1];
    for (size_t i = 0; i < COUNT(rows); i++) {
        char path[256];
        size_t lines = 0;
        start_rig(&r, rows[i].yaml);
        (void)snprintf(path, sizeof path,
                       TANDEM_SOURCE_DIR "/tests/golden/replay/vda5050_%s/input.jsonl",
                       rows[i].name);
        char *input = read_whole(path);
        for (char *line = strtok(input, "\n"); line; line = strtok(NULL, "\n")) {
            struct message m;
            struct err err;
            CU_ASSERT_EQUAL_FATAL(message_parse(line, strlen(line), scratch, &m, &err),
                                  STATUS_OK);
            (void)codec_decode(&r.set, "tandem/v1", &m, handle_event, &r);
        }
        (void)snprintf(path, sizeof path,
                       TANDEM_SOURCE_DIR "/tests/golden/vda5050/%s_events.jsonl", rows[i].name);
        char *want = read_whole(path);
        for (const char *c = want; *c; c++) {
            lines += *c == '\n';
        }
        CHECK_INT(rows[i].name, lines, rows[i].lines);
        CHECK_TEXT(rows[i].name, r.text, want);
        CHECK_INT("these vehicles turn in no time", r.contradictions, rows[i].contradictions);
        free(input);
        free(want);
        end_rig(&r);
    }
}

/* ---- orders that go out ---- */

static const char order[] =
    "{\"headerId\":7,\"timestamp\":\"2026-11-20T04:44:42.970Z\",\"version\":\"2.0.0\","
    "\"manufacturer\":\"acme\","
    "\"serialNumber\":\"a\",\"orderId\":\"o1\",\"orderUpdateId\":%d,\"nodes\":["
    "{\"nodeId\":\"n0\",\"sequenceId\":0,\"released\":true,\"actions\":[]},"
    "{\"nodeId\":\"n1\",\"sequenceId\":2,\"released\":true,\"actions\":[]}],"
    "\"edges\":[{\"edgeId\":\"e\",\"sequenceId\":1,\"released\":true,\"length\":2.5,"
    "\"actions\":[]}]}";

static const char state[] = "{\"headerId\":%d,\"timestamp\":\"2026-11-20T04:44:%06.3fZ\","
                            "\"version\":\"2.1.0\",\"orderId\":\"%s\",\"orderUpdateId\":0,"
                            "\"lastNodeId\":\"%s\",\"lastNodeSequenceId\":%d,\"driving\":%s,"
                            "\"nodeStates\":[%s],\"edgeStates\":[],"
                            "\"actionStates\":[%s],\"errors\":[],\"operatingMode\":"
                            "\"AUTOMATIC\",\"safetyState\":{\"eStop\":\"%s\"},"
                            "\"agvPosition\":{\"x\":1,\"y\":2,\"theta\":0.5,\"mapId\":\"lab\","
                            "\"positionInitialized\":true}}";

/* The twin gets each order once, with its own name and numbers. */
static void test_mirror(void)
{
    static struct rig r;
    char text[2048];
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, mirror: true, "
                  "interface: fleet/x}}");
    for (int update = 0; update < 2; update++) {
        (void)snprintf(text, sizeof text, order, update);
        CHECK_INT("heard", decode_message(&r, "fleet/x/v2/acme/a/order", text, 1), 1);
        CHECK_INT("sent once", r.sent_count, update + 1);
        (void)decode_message(&r, "fleet/x/v2/acme/a/order", text, 2); /* sent again */
        CHECK_INT("not twice", r.sent_count, update + 1);
    }
    CHECK("to the twin",
          strncmp(r.sent,
                  "p fleet/x/v2/acme/b/order "
                  "{\"headerId\":1,\"timestamp\":\"1970-01-01T00:00:00.000Z\","
                  "\"version\":\"2.0.0\",\"manufacturer\":\"acme\",\"serialNumber\":\"b\",",
                  138) == 0);
    CHECK(
        "its other members",
        strstr(r.sent, "\"orderId\":\"o1\",\"orderUpdateId\":1,\"nodes\":[{\"nodeId\":\"n0\""));
    CHECK("one name", !strstr(r.sent, "\"serialNumber\":\"a\""));
    (void)decode_message(&r, "fleet/x/v2/acme/b/order", strchr(r.sent, '{'), 3);
    CHECK_INT("the twin's own is not sent on", r.sent_count, 2);
    static const char cancel[] =
        "{\"headerId\":1,\"actions\":[{\"actionId\":\"k\",\"actionType\":\"cancelOrder\"}]}";
    (void)decode_message(&r, "fleet/x/v2/acme/a/instantActions", cancel, 4);
    (void)decode_message(&r, "fleet/x/v2/acme/a/instantActions", cancel, 5);
    CHECK_INT("an instant action, once", r.sent_count, 3);
    CHECK("to the twin",
          strncmp(r.sent, "p fleet/x/v2/acme/b/instantActions {\"headerId\":0,", 49) == 0);
    end_rig(&r);
}

struct outgoing {
    char topic[MESSAGE_TOPIC_MAX], payload[4096];
    size_t count;
};

static void handle_effect(void *context, const struct effect *effect)
{
    struct outgoing *o = context;
    if (effect->kind == EFFECT_COMMAND && effect->side == SIDE_REAL) {
        CU_ASSERT_PTR_NOT_NULL_FATAL(effect->message);
        (void)snprintf(o->topic, sizeof o->topic, "%s", effect->message->topic);
        (void)snprintf(o->payload, sizeof o->payload, "%.*s", (int)effect->message->bytes,
                       effect->message->payload);
        o->count++;
    }
}

static void step_lab(void *context, const struct event *event)
{
    struct rig *r = ((void **)context)[0];
    const struct effects fx = {handle_effect, ((void **)context)[1]};
    r->last = *event;
    lab_step(r->lab, event, &fx);
}

/* Link mode: a native command is an order of one edge, and its end the command's reply. */
static void test_link(void)
{
    static struct rig r;
    static struct outgoing out;
    char text[2048];
    void *both[] = {&r, &out};
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, mode: link, "
                  "virtual_expected: never}}");
    struct message m = {.t_us = 1000000, .payload = text};
#define RECEIVE(name)                                                                          \
    (m.t_us += 100000, m.stored_bytes = m.payload_bytes = strlen(text),                        \
     (void)snprintf(m.topic, sizeof m.topic, "%s", name),                                      \
     codec_decode(&r.set, "tandem/v1", &m, step_lab, both))
    (void)snprintf(text, sizeof text, state, 0, 1.0, "", "dock", 4, "false", "", "", "NONE");
    CHECK_INT("state", RECEIVE("uagv/v2/acme/a/state"), 1);
    (void)snprintf(text, sizeof text,
                   "{\"id\":\"c7\",\"op\":\"go\",\"rotation_rad\":0.5,\"displacement_m\":2}");
    CHECK_INT("command", RECEIVE("tandem/v1/p/command"), 1);
    CHECK_INT("sent", out.count, 1);
    CHECK_TEXT("where", out.topic, "uagv/v2/acme/a/order");
    CHECK("an order of its own",
          strstr(out.payload, "\"orderId\":\"c7@1\",\"orderUpdateId\":0"));
    CHECK("from its present place",
          strstr(out.payload,
                 "{\"nodeId\":\"dock\",\"sequenceId\":0,\"released\":true,\"nodePosition\""
                 ":{\"x\":1,\"y\":2,\"theta\":0.5,\"mapId\":\"lab\"}"));
    CHECK("when", strstr(out.payload,
                         "\"timestamp\":\"1970-01-01T00:00:01.200Z\",\"version\":\"2.1.0\""));
    CHECK("how far", strstr(out.payload, "\"length\":2,"));
    (void)snprintf(text, sizeof text, "%s", out.payload);
    (void)RECEIVE("uagv/v2/acme/a/order");
    (void)snprintf(text, sizeof text, state, 1, 1.5, "c7@1", "dock", 0, "true",
                   "{\"nodeId\":\"c7@1\",\"sequenceId\":2}", "", "NONE");
    (void)RECEIVE("uagv/v2/acme/a/state");
    (void)snprintf(text, sizeof text, state, 2, 2.5, "c7@1", "c7@1", 2, "false", "", "",
                   "NONE");
    (void)RECEIVE("uagv/v2/acme/a/state");
    CHECK_INT("its end", r.last.kind, EVENT_REPLY);
    CHECK_TEXT("is the command's", r.last.reply.id, "c7");
    CHECK("put natively for L1",
          r.last.reply.source_us - r.last.reply.source_start_us == 1000000);
    (void)snprintf(text, sizeof text, "{\"id\":\"c8\",\"op\":\"halt\"}");
    (void)RECEIVE("tandem/v1/p/command");
    CHECK_TEXT("a halt", out.topic, "uagv/v2/acme/a/instantActions");
    CHECK("cancels",
          strstr(out.payload,
                 "\"actions\":[{\"actionId\":\"c8@2\",\"actionType\":\"cancelOrder\""));
    (void)snprintf(text, sizeof text, state, 3, 2.6, "c7@1", "c7@1", 2, "false", "",
                   "{\"actionId\":\"c8@2\",\"actionStatus\":\"FINISHED\"}", "NONE");
    (void)RECEIVE("uagv/v2/acme/a/state");
    CHECK_INT("and is answered", r.last.kind, EVENT_REPLY);
    CHECK_TEXT("by its id", r.last.reply.id, "c8");
#undef RECEIVE
    end_rig(&r);
}

struct seen_entry {
    struct entry entry;
    size_t count;
};

static void store_entry(void *context, const struct effect *effect)
{
    struct seen_entry *seen = context;
    if (effect->kind == EFFECT_ENTRY) {
        seen->entry = *effect->entry;
        seen->count++;
    }
}

/* One robot at a time receives the command: each begins its own leg. */
static void test_sided_commands(void)
{
    static struct rig r;
    struct seen_entry seen = {.count = 0};
    const struct effects fx = {store_entry, &seen};
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    static const struct {
        enum event_kind kind;
        enum side side;
        int64_t t_us;
    } rows[] = {{EVENT_COMMAND, SIDE_REAL, 1000000},
                {EVENT_COMMAND, SIDE_VIRTUAL, 1400000},
                {EVENT_REPLY, SIDE_REAL, 3000000},
                {EVENT_REPLY, SIDE_VIRTUAL, 3000000}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct message m = {.t_us = rows[i].t_us, .payload = "", .topic = "x"};
        struct codec_pair pair;
        struct event e;
        lab_codec_pair(r.lab, 0, &pair);
        codec_begin_event(&e, &pair, &m, rows[i].kind, rows[i].side);
        char *id = rows[i].kind == EVENT_COMMAND ? e.command.id : e.reply.id;
        (void)snprintf(id, EVENT_ID_MAX, "c1");
        e.hash = i + 1;
        if (rows[i].kind == EVENT_COMMAND) {
            (void)snprintf(e.command.op, sizeof e.command.op, "go");
        }
        lab_step(r.lab, &e, &fx);
    }
    CHECK_INT("one entry", seen.count, 1);
    CHECK_INT("the first one's lap", seen.entry.lap_us[SIDE_REAL], 2000000);
    CHECK_INT("the second one's begins with its own", seen.entry.lap_us[SIDE_VIRTUAL], 1600000);
    end_rig(&r);
}

/* ---- missing messages, and wrong ones ---- */

static void send_state(struct rig *r, int header, double s, const char *node, int at,
                       bool driving, const char *ahead, const char *estop)
{
    char text[2048];
    (void)snprintf(text, sizeof text, state, header, s, "o1", node, at,
                   driving ? "true" : "false", ahead, "", estop);
    (void)decode_message(r, "uagv/v2/acme/a/state", text, lab_us(s));
}

static void test_lost_states(void)
{
    static const char ahead[] = "{\"nodeId\":\"n1\",\"sequenceId\":2}";
    static struct rig r;
    char text[2048];
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    (void)snprintf(text, sizeof text, order, 0);
    (void)decode_message(&r, "uagv/v2/acme/a/order", text, 1);
    CHECK("opened", strstr(r.text, "\"command\", \"id\": \"o1/1\""));
    send_state(&r, 0, 1.0, "n0", 0, false, ahead, "NONE");
    send_state(&r, 1, 1.5, "n0", 0, true, ahead, "MANUAL");
    CHECK("e-stop",
          strstr(r.text, "\"type\": \"estop\", \"level\": \"\", \"detail\": \"MANUAL\""));
    send_state(&r, 1, 1.5, "n0", 0, true, ahead, "MANUAL");
    CHECK("twice", strstr(r.text, "\"stale\""));
    send_state(&r, 0, 1.4, "n0", 0, true, ahead, "NONE");
    CHECK("late", strstr(r.text, "\"stale\"") && r.contradictions == 0);
    send_state(&r, 5, 3.0, "n1", 2, false, "", "MANUAL");
    CHECK("missing", strstr(r.text, "\"event\": \"missing\", \"side\": \"real\", \"n\": 3"));
    CHECK("bounded", strstr(r.text, "\"bounded\": true") && !strstr(r.text, "t_start"));
    CHECK("in no fit", r.last.kind == EVENT_REPLY && r.last.reply.uncalibrated);
    end_rig(&r);
}

static void test_malformed(void)
{
    static const struct {
        const char *topic, *payload, *code; /* "": no event */
    } rows[] = {
        {"state", "{", "bad_syntax"},
        {"state", "[]", "object_expected"},
        {"state", "{}", "missing_key"},
        {"state", "{\"timestamp\":\"yesterday\"}", "time_expected"},
        {"state", "{\"orderId\":7}", "text_expected"},
        {"order", "{\"orderId\":\"o\"}", "missing_key"},
        {"order", "{\"orderId\":\"o\",\"orderUpdateId\":0,\"nodes\":[]}", "unexpected_value"},
        {"order", "{\"orderId\":\"o\",\"orderUpdateId\":0,\"nodes\":[{}]}", "missing_key"},
        {"instantActions", "{}", "missing_key"},
        {"connection", "{\"connectionState\":\"AWAY\"}", "unknown_value"},
        {"connection", "", ""},
        {"factsheet", "{", ""},
        {"visualization", "{}", ""},
    };
    static struct rig r;
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    for (size_t i = 0; i < COUNT(rows); i++) {
        char topic[64];
        (void)snprintf(topic, sizeof topic, "uagv/v2/acme/b/%s", rows[i].topic);
        struct message m = {.payload = rows[i].payload,
                            .stored_bytes = strlen(rows[i].payload),
                            .payload_bytes = strlen(rows[i].payload)};
        (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
        r.last = (struct event){.kind = EVENT_TICK};
        CHECK_INT(rows[i].payload, codec_decode(&r.set, "tandem/v1", &m, handle_event, &r), 1);
        if (rows[i].code[0]) {
            CHECK_INT(rows[i].payload, r.last.kind, EVENT_MALFORMED);
            CHECK_TEXT(rows[i].payload, fault_name(r.last.malformed.fault), rows[i].code);
            CHECK_TEXT("what", r.last.malformed.what, rows[i].topic);
        } else {
            CHECK_INT(rows[i].topic, r.last.kind, EVENT_TICK);
        }
    }
    static const char *const others[] = {"uagv/v2/acme/c/state", "uagv/v2/acme/b/state/x",
                                         "uagv/acme/b/state",    "other/v2/acme/b/state",
                                         "uagv/v2/acme/b",       "uagv"};
    for (size_t i = 0; i < COUNT(others); i++) {
        CHECK_INT(others[i], decode_message(&r, others[i], "{}", 1), 0);
    }
    end_rig(&r);
}

/* More nodes, actions and errors than there is room for: the newest count. */
static void test_long_orders(void)
{
    static struct rig r;
    static char text[MESSAGE_PAYLOAD_MAX];
    enum { NODES = 300 };
    start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    for (int base = 0; base < NODES; base += 10) {
        size_t n = (size_t)snprintf(
            text, sizeof text, "{\"orderId\":\"o1\",\"orderUpdateId\":%d,\"nodes\":[", base);
        for (int k = base; k <= base + 10; k++) {
            n += (size_t)snprintf(
                text + n, sizeof text - n,
                "%s{\"nodeId\":\"n%d\",\"sequenceId\":%d,\"released\":true,\"nodePosition\":{"
                "\"x\":%d,\"y\":0},"
                "\"actions\":[{\"actionId\":\"a%d\",\"actionType\":\"pick\"}]}",
                k > base ? "," : "", k, 2 * k, k, k);
        }
        n += (size_t)snprintf(text + n, sizeof text - n, "],\"edges\":[");
        for (int k = base; k < base + 10; k++) {
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "%s{\"sequenceId\":%d,\"released\":true}",
                                  k > base ? "," : "", 2 * k + 1);
        }
        (void)snprintf(text + n, sizeof text - n, "]}");
        (void)decode_message(&r, "uagv/v2/acme/a/order", text, base + 1);
        for (int k = base; k < base + 10; k++) {
            char node[16];
            (void)snprintf(node, sizeof node, "n%d", k);
            send_state(&r, 2 * k, 0.1 * k, node, 2 * k, false, "", "NONE");
            if (k > 0) {
                char want[64];
                (void)snprintf(
                    want, sizeof want,
                    "\"reply\", \"side\": \"real\", \"id\": \"o1/%d\", \"status\": \"done\"",
                    2 * k - 1);
                CHECK(want, strstr(r.text, want));
            }
            send_state(&r, 2 * k + 1, 0.1 * k + 0.05, node, 2 * k, true, "", "NONE");
        }
    }
    end_rig(&r);
}

/* ---- an order whose last state is lost ---- */

static void send_order(struct rig *r, char number, int64_t t_us)
{
    char text[2048];
    (void)snprintf(text, sizeof text, order, 0);
    strstr(text, "\"o1\"")[2] = number;
    (void)decode_message(r, "uagv/v2/acme/a/order", text, t_us);
}

static void send_state_of(struct rig *r, int header, double s, const char *id, const char *node,
                          int at, const char *ahead)
{
    char text[2048];
    (void)snprintf(text, sizeof text, state, header, s, id, node, at, "false", ahead, "",
                   "NONE");
    (void)decode_message(r, "uagv/v2/acme/a/state", text, lab_us(s));
}

/* The vehicle is on its way to n1 when the state that reports it is lost: the next state
 * decides, whatever order it names, and no record comes before it. */
static void test_last_state(void)
{
    static const char ahead[] = "{\"nodeId\":\"n1\",\"sequenceId\":2}";
    static const struct {
        const char *what;
        bool accepts, cancels, follows; /* the order, it; another order is given */
        const char *order, *node, *ahead;
        int at;
        const char *want; /* of order o1 */
        bool bounded;
    } rows[] = {
        {"its own", true, false, false, "o1", "n1", "", 2, "done", true},
        {"the next one's, at the end", true, false, true, "o2", "n1", ahead, 0, "done", true},
        {"the next one's, elsewhere", true, false, true, "o2", "n9", ahead, 0, "halted", false},
        {"it was cancelled", true, true, true, "o2", "n1", ahead, 0, "halted", false},
        {"it never took it", false, false, true, "o2", "n1", ahead, 0, "halted", false},
        {"none", true, false, false, "", "n1", "", 0, "done", true},
        {"one that never came", true, false, false, "o7", "n3", "", 4, "halted", false},
        {"it is still at work on it", true, false, true, "o1", "n0", ahead, 0, "", false},
        {"it has done it, and the next one waits", true, false, true, "o1", "n1", "", 2, "done",
         true},
    };
    static struct rig r;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char want[96];
        start_rig(&r, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
        send_order(&r, '1', 1);
        if (rows[i].accepts) {
            send_state_of(&r, 0, 1.0, "o1", "n0", 0, ahead);
        }
        if (rows[i].cancels) {
            (void)decode_message(
                &r, "uagv/v2/acme/a/instantActions",
                "{\"actions\":[{\"actionId\":\"k\",\"actionType\":\"cancelOrder\"}]}", 1500000);
        }
        if (rows[i].follows) {
            send_order(&r, '2', 2000000);
            CHECK(rows[i].what, !strstr(r.text, "\"reply\""));
        }
        send_state_of(&r, 4, 3.0, rows[i].order, rows[i].node, rows[i].at, rows[i].ahead);
        (void)snprintf(want, sizeof want,
                       "\"reply\", \"side\": \"real\", \"id\": \"o1/1\", \"status\": \"%s\"",
                       rows[i].want);
        CHECK(rows[i].what,
              rows[i].want[0] ? strstr(r.text, want) != NULL : !strstr(r.text, "\"reply\""));
        CHECK_INT(rows[i].what, strstr(r.text, "\"bounded\": true") != NULL, rows[i].bounded);
        if (rows[i].want[0]) {
            send_state_of(&r, 5, 4.0, rows[i].order, rows[i].node, rows[i].at, rows[i].ahead);
            CHECK(rows[i].what, !strstr(r.text, "\"id\": \"o1/1\""));
        }
        end_rig(&r);
    }
}

/* ---- turns ---- */

static void send_motion(struct rig *r, int header, double s, const char *node, int at, double x,
                        double y, double theta, double speed)
{
    char text[2048];
    (void)snprintf(text, sizeof text,
                   "{\"headerId\":%d,\"timestamp\":\"2026-11-20T04:44:%06.3fZ\",\"orderId\":"
                   "\"o1\",\"lastNodeId\":\"%s\","
                   "\"lastNodeSequenceId\":%d,\"driving\":%s,\"nodeStates\":[],\"edgeStates\":["
                   "{}],\"actionStates\":[],"
                   "\"errors\":[],\"safetyState\":{\"eStop\":\"NONE\"},\"velocity\":{\"vx\":%g,"
                   "\"vy\":0,\"omega\":0},"
                   "\"agvPosition\":{\"x\":%g,\"y\":%g,\"theta\":%g,\"mapId\":\"l\","
                   "\"positionInitialized\":true}}",
                   header, s, node, at, speed > 0.0 ? "true" : "false", speed, x, y, theta);
    (void)decode_message(r, "uagv/v2/acme/a/state", text, lab_us(s));
}

/* A vehicle on a zigzag of edges of 2 m at 1 m/s; turn_s: time at rest and turning before
 * each. */
static int64_t drive_zigzag(const char *yaml, double turn_s, int edges)
{
    static struct rig r;
    char text[4096];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"orderId\":\"o1\",\"orderUpdateId\":0,\"nodes\":[");
    double s = 1.0;
    int header = 0;
    start_rig(&r, yaml);
    for (int k = 0; k <= edges; k++) { /* right, up, right, up … */
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"nodeId\":\"n%d\",\"sequenceId\":%d,\"released\":true,"
                              "\"nodePosition\":{\"x\":%d,\"y\":%d}}",
                              k > 0 ? "," : "", k, 2 * k, (k + 1) / 2 * 2, k / 2 * 2);
    }
    n += (size_t)snprintf(text + n, sizeof text - n, "],\"edges\":[");
    for (int k = 0; k < edges; k++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"sequenceId\":%d,\"released\":true}", k > 0 ? "," : "",
                              2 * k + 1);
    }
    (void)snprintf(text + n, sizeof text - n, "]}");
    (void)decode_message(&r, "uagv/v2/acme/a/order", text, 1);
    for (int k = 0; k < edges; k++) {
        const double x = (k + 1) / 2 * 2;
        const double y = k / 2 * 2;
        const double before = k % 2 ? 0.0 : 1.5707963;
        const double course = k % 2 ? 1.5707963 : 0.0;
        char node[8];
        (void)snprintf(node, sizeof node, "n%d", k);
        send_motion(&r, header++, s, node, 2 * k, x, y, k > 0 ? before : 0.0, 0.0);
        send_motion(&r, header++, s + 0.02, node, 2 * k, x, y, k > 0 ? before : 0.0,
                    turn_s > 0.0 ? 0.001 : 1.0);
        if (turn_s > 0.0) { /* still there, turned */
            send_motion(&r, header++, s + 0.02 + turn_s, node, 2 * k, x, y, course, 0.001);
        }
        send_motion(&r, header++, s + turn_s + 1.02, node, 2 * k, x + (k % 2 ? 0 : 1),
                    y + (k % 2 ? 1 : 0), course, 1.0);
        s += turn_s + 2.05;
    }
    const int64_t reported = (int64_t)r.contradictions;
    end_rig(&r);
    return reported;
}

static void test_turns(void)
{
    static const struct {
        const char *turns;
        double turn_s;
        int edges;
        int64_t reported;
    } rows[] = {
        {"on_spot", 0.0, 8, 1}, {"on_spot", 0.0, 3, 0}, {"on_spot", 0.8, 8, 0},
        {"on_spot", 0.3, 8, 0}, {"none", 0.8, 8, 1},    {"none", 0.8, 2, 0},
        {"none", 0.0, 8, 0},    {"none", 0.05, 8, 0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char yaml[128];
        (void)snprintf(yaml, sizeof yaml,
                       "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, turns: %s}}",
                       rows[i].turns);
        CHECK_INT(rows[i].turns, drive_zigzag(yaml, rows[i].turn_s, rows[i].edges),
                  rows[i].reported);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("vda5050", NULL, NULL);
    CU_add_test(suite, "recordings", test_recordings);
    CU_add_test(suite, "mirror", test_mirror);
    CU_add_test(suite, "link mode", test_link);
    CU_add_test(suite, "commands of one side", test_sided_commands);
    CU_add_test(suite, "lost states", test_lost_states);
    CU_add_test(suite, "malformed", test_malformed);
    CU_add_test(suite, "long orders", test_long_orders);
    CU_add_test(suite, "last state of an order", test_last_state);
    CU_add_test(suite, "turns", test_turns);
    return check_run();
}
