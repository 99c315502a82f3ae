/* Messages of VDA 5050 vehicles in unusual orders and versions: header ids, released edges,
 * halts, and the form in which each version gets its instant actions. */
#include "tests/support/vda5050_rig.h"

struct bench {
    struct rig rig;
    char entries[4096], topic[MESSAGE_TOPIC_MAX], payload[4096];
    size_t commands, malformed, samples;
    struct event_reply reply;
};

static void store_effect(void *context, const struct effect *effect)
{
    struct bench *b = context;
    if (effect->kind == EFFECT_ENTRY) {
        const struct entry *e = effect->entry;
        const size_t n = strlen(b->entries);
        (void)snprintf(b->entries + n, sizeof b->entries - n, "%s %d %d %d %lld %lld %d\n",
                       e->id, (int)e->verdict, (int)e->status[SIDE_REAL],
                       (int)e->timed_out[SIDE_REAL], (long long)e->lap_us[SIDE_REAL],
                       (long long)e->motion_us[SIDE_REAL], e->uncalibrated[SIDE_REAL]);
    } else if (effect->kind == EFFECT_COMMAND && effect->side == SIDE_REAL && effect->message) {
        (void)snprintf(b->topic, sizeof b->topic, "%s", effect->message->topic);
        (void)snprintf(b->payload, sizeof b->payload, "%.*s", (int)effect->message->bytes,
                       effect->message->payload);
    }
}

static void step_bench(void *context, const struct event *e)
{
    struct bench *b = context;
    const struct effects fx = {store_effect, b};
    b->commands += e->kind == EVENT_COMMAND;
    b->malformed += e->kind == EVENT_MALFORMED;
    b->samples += e->kind == EVENT_TELEMETRY;
    b->reply = e->kind == EVENT_REPLY ? e->reply : b->reply;
    lab_step(b->rig.lab, e, &fx);
}

static void receive_stored(struct bench *b, const char *topic, const char *payload, double s,
                           bool retained)
{
    struct message m = {.t_us = lab_us(s),
                        .retained = retained,
                        .payload = payload,
                        .stored_bytes = strlen(payload),
                        .payload_bytes = strlen(payload)};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    (void)codec_decode(&b->rig.set, "tandem/v1", &m, step_bench, b);
}

static void receive_message(struct bench *b, const char *topic, const char *payload, double s)
{
    receive_stored(b, topic, payload, s, false);
}

static uint64_t count_alarms(const struct bench *b, enum alarm_type type)
{
    return lab_pair(b->rig.lab, 0)->counts.alarm[type];
}

/* ---- header ids ---- */

enum { STATES = 7, NEVER = -1 };

static const struct {
    double s;
    const char *order;
    int last, node;
    bool drives;
} states[STATES] = {{1.2, "o1", 0, 0, false}, {1.4, "o1", 0, 0, true},  {3.0, "o1", 2, 1, true},
                    {5.0, "o1", 4, 2, false}, {6.2, "o2", 0, 2, false}, {6.4, "o2", 0, 2, true},
                    {8.0, "o2", 2, 3, false}};

static void send_state(struct bench *b, char vehicle, size_t k, const char *header,
                       double earlier_s)
{
    char text[1024];
    char topic[64];
    (void)snprintf(topic, sizeof topic, "uagv/v2/acme/%c/state", vehicle);
    (void)snprintf(text, sizeof text,
                   "{%s%s%s\"timestamp\":\"1970-01-01T00:01:%06.3fZ\",\"orderId\":\"%s\","
                   "\"lastNodeId\":\"n%d\",\"lastNodeSequenceId\":%d,\"driving\":%s,"
                   "\"nodeStates\":[],\"edgeStates\":[],\"actionStates\":[],\"errors\":[]}",
                   header ? "\"headerId\":" : "", header ? header : "", header ? "," : "",
                   states[k].s - earlier_s, states[k].order, states[k].node, states[k].last,
                   states[k].drives ? "true" : "false");
    receive_message(b, topic, text, 60.0 + states[k].s);
}

static void send_orders(struct bench *b, const char *id, double s)
{
    char text[1024];
    const bool first = strcmp(id, "o1") == 0;
    for (char vehicle = 'a'; vehicle <= 'b'; vehicle++) {
        char topic[64];
        size_t n = (size_t)snprintf(text, sizeof text,
                                    "{\"orderId\":\"%s\",\"orderUpdateId\":0,\"nodes\":[", id);
        for (int k = 0; k < (first ? 3 : 2); k++) {
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "%s{\"nodeId\":\"n%d\",\"sequenceId\":%d,\"released\":true}",
                                  k > 0 ? "," : "", k + (first ? 0 : 2), 2 * k);
        }
        (void)snprintf(text + n, sizeof text - n,
                       "],\"edges\":[{\"sequenceId\":1,\"released\":true,\"length\":2}%s]}",
                       first ? ",{\"sequenceId\":3,\"released\":true,\"length\":2}" : "");
        (void)snprintf(topic, sizeof topic, "uagv/v2/acme/%c/order", vehicle);
        receive_message(b, topic, text, s);
    }
}

/* Both vehicles do two orders; the real one has these header ids. */
static void drive_orders(struct bench *b, const char *const headers[STATES], int late,
                         int repeated, double earlier_s)
{
    memset(b, 0, sizeof *b);
    start_rig(&b->rig,
              "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, turns: none}}");
    for (size_t k = 0; k < STATES; k++) {
        char number[16];
        (void)snprintf(number, sizeof number, "%d", (int)k);
        if (k == 0 || k == 4) {
            send_orders(b, states[k].order, 60.0 + states[k].s - 0.1);
        }
        send_state(b, 'b', k, number, 0.0);
        send_state(b, 'a', k, headers[k], k >= 4 ? earlier_s : 0.0);
        if ((int)k == late) {
            send_state(b, 'a', k - 2, headers[k - 2], 0.0);
        }
        if ((int)k == repeated) {
            send_state(b, 'a', k, headers[k], 0.0);
        }
    }
    step_bench(b, &(struct event){.kind = EVENT_TICK, .t_us = lab_us(1000.0)});
}

static void test_header_ids(void)
{
    static const struct {
        const char *what, *ids[STATES];
        int late, repeated;
        uint64_t reported;
    } rows[] = {
        {"grow", {"1", "2", "3", "4", "5", "6", "7"}, NEVER, NEVER, 0},
        {"zero", {"0", "0", "0", "0", "0", "0", "0"}, NEVER, NEVER, 1},
        {"constant", {"9", "9", "9", "9", "9", "9", "9"}, NEVER, NEVER, 1},
        {"none", {NULL, NULL, NULL, NULL, NULL, NULL, NULL}, NEVER, NEVER, 0},
        {"start again between orders", {"1", "2", "3", "4", "1", "2", "3"}, NEVER, NEVER, 1},
        {"start again on the way", {"70", "71", "1", "2", "3", "4", "5"}, NEVER, NEVER, 1},
        {"start again twice", {"70", "71", "0", "1", "2", "0", "1"}, NEVER, NEVER, 1},
        {"grow smaller", {"70", "60", "50", "40", "30", "20", "10"}, NEVER, NEVER, 1},
        {"wrap on the way",
         {"4294967294", "4294967295", "0", "1", "2", "3", "4"},
         NEVER,
         NEVER,
         0},
        {"wrap as signed numbers",
         {"2147483646", "2147483647", "-2147483648", "-2147483647", "-2147483646",
          "-2147483645", "-2147483644"},
         NEVER,
         NEVER,
         0},
        {"wrap at 16 bits", {"65534", "65535", "0", "1", "2", "3", "4"}, NEVER, NEVER, 1},
        {"start again after a large one",
         {"3000000000", "3000000001", "0", "1", "2", "3", "4"},
         NEVER,
         NEVER,
         1},
        {"a late one", {"1", "2", "3", "4", "5", "6", "7"}, 3, NEVER, 0},
        {"a late one while it drives", {"1", "2", "3", "4", "5", "6", "7"}, 2, NEVER, 0},
        {"one twice", {"1", "2", "3", "4", "5", "6", "7"}, NEVER, 2, 0},
        {"one twice, and late ones", {"1", "2", "3", "4", "5", "6", "7"}, 6, 3, 0},
        {"a late one, and constant", {"9", "9", "9", "9", "9", "9", "9"}, 3, 2, 1},
    };
    static struct bench b;
    static char want[sizeof b.entries];
    for (size_t i = 0; i < COUNT(rows); i++) {
        drive_orders(&b, rows[i].ids, rows[i].late, rows[i].repeated, 0.0);
        if (i == 0) {
            memcpy(want, b.entries, sizeof want);
            CHECK("three moves", strstr(want, "o2/1") && !strstr(want, " 3 "));
        }
        CHECK_TEXT(rows[i].what, b.entries, want);
        CHECK_INT(rows[i].what, count_alarms(&b, ALARM_TYPE_TIMEOUT), 0);
        CHECK_INT(rows[i].what, count_alarms(&b, ALARM_TYPE_LOST), 0);
        CHECK_INT(rows[i].what, count_alarms(&b, ALARM_TYPE_CONTRADICTION), rows[i].reported);
        end_rig(&b.rig);
    }
}

/* Ids and clock start again, and nobody says so: three states later the vehicle is followed. */
static void test_early_clock(void)
{
    static const char *const ids[STATES] = {"1", "2", "3", "4", "1", "2", "3"};
    static struct bench b;
    drive_orders(&b, ids, NEVER, NEVER, 5.9);
    CHECK_INT("answered", count_alarms(&b, ALARM_TYPE_TIMEOUT), 0);
    CHECK_INT("reported", count_alarms(&b, ALARM_TYPE_CONTRADICTION), 1);
    end_rig(&b.rig);
}

/* A broker may have a state of the vehicle's earlier life. */
static void test_retained(void)
{
    static const char old[] = "{\"headerId\":900,\"timestamp\":\"1970-01-01T00:00:01.000Z\","
                              "\"orderId\":\"\",\"lastNodeId\":\"\",\"lastNodeSequenceId\":0,"
                              "\"driving\":false}";
    static struct bench b;
    memset(&b, 0, sizeof b);
    start_rig(&b.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    receive_stored(&b, "uagv/v2/acme/a/state", old, 60.0, true);
    for (size_t k = 0; k < 2; k++) {
        send_state(&b, 'a', k, k ? "2" : "1", 0.0);
    }
    CHECK_INT("a new life", count_alarms(&b, ALARM_TYPE_CONTRADICTION), 0);
    CHECK_INT("nothing is lost", count_alarms(&b, ALARM_TYPE_LOST), 0);
    end_rig(&b.rig);
}

/* Stamps in whole seconds: ids that stay or start again are not late, the one before is. */
static void test_coarse_stamps(void)
{
    static const struct {
        const char *ids[2];
        size_t samples;
    } rows[] = {{{"7", "7"}, 2}, {{"65535", "0"}, 2}, {{"70", "1"}, 2}, {{"70", "69"}, 1}};
    static struct bench b;
    for (size_t i = 0; i < COUNT(rows); i++) {
        memset(&b, 0, sizeof b);
        start_rig(&b.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
        for (int k = 0; k < 2; k++) {
            char text[512];
            (void)snprintf(
                text, sizeof text,
                "{\"headerId\":%s,\"timestamp\":\"1970-01-01T00:01:01Z\",\"orderId\":"
                "\"\",\"lastNodeId\":\"\",\"lastNodeSequenceId\":0,\"driving\":false,"
                "\"agvPosition\":{\"x\":%d,\"y\":1,\"positionInitialized\":true}}",
                rows[i].ids[k], k);
            receive_message(&b, "uagv/v2/acme/a/state", text, 61.0 + 0.1 * k);
        }
        CHECK_INT(rows[i].ids[0], b.samples, rows[i].samples);
        end_rig(&b.rig);
    }
}

/* Each topic has its own header ids. */
static void test_topics(void)
{
    static const int states_ids[] = {5, 6, 7, 8};
    static const int visual_ids[] = {1, 2, 2, 3};
    static struct bench b;
    memset(&b, 0, sizeof b);
    start_rig(&b.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
    for (int k = 0; k < 4; k++) {
        for (int visual = 0; visual < 2; visual++) {
            char text[512];
            (void)snprintf(text, sizeof text,
                           "{\"headerId\":%d,\"timestamp\":\"1970-01-01T00:01:%02d.%d00Z\","
                           "\"orderId\":\"\",\"lastNodeId\":\"\",\"lastNodeSequenceId\":0,"
                           "\"driving\":false,\"agvPosition\":{\"x\":1,\"y\":1,\"theta\":0,"
                           "\"positionInitialized\":true}}",
                           visual ? visual_ids[k] : states_ids[k], k, visual);
            receive_message(&b,
                            visual ? "uagv/v2/acme/a/visualization" : "uagv/v2/acme/a/state",
                            text, 60.0 + k);
        }
    }
    CHECK_INT("all samples", b.samples, 8);
    CHECK_INT("one id stays", count_alarms(&b, ALARM_TYPE_CONTRADICTION), 1);
    CHECK_INT("none is lost", count_alarms(&b, ALARM_TYPE_LOST), 0);
    end_rig(&b.rig);
}

/* ---- released edges ---- */

static void send_mask(struct bench *b, unsigned mask, int update)
{
    char text[1024];
    size_t n = (size_t)snprintf(text, sizeof text,
                                "{\"orderId\":\"o\",\"orderUpdateId\":%d,\"nodes\":[", update);
    for (unsigned k = 0; k < 5; k += 2) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "%s{\"nodeId\":\"n%u\",\"sequenceId\":%u,\"released\":%s}",
                              k > 0 ? "," : "", k, k, mask >> k & 1U ? "true" : "false");
    }
    (void)snprintf(
        text + n, sizeof text - n,
        "],\"edges\":[{\"edgeId\":\"e\",\"sequenceId\":1,\"released\":%s,\"length\":1},"
        "{\"edgeId\":\"f\",\"sequenceId\":3,\"released\":%s,\"length\":1}]}",
        mask & 2U ? "true" : "false", mask & 8U ? "true" : "false");
    receive_message(b, "uagv/v2/acme/a/order", text, 1.0 + update);
}

/* Bit k of the mask: the node or edge of sequence id k is released. */
static void test_released(void)
{
    static struct bench b;
    for (unsigned mask = 0; mask < 32; mask++) {
        const bool first = (mask & 7U) == 7U;
        const bool second = (mask & 28U) == 28U;
        const bool nodes = (mask & 21U) != 0;
        const bool wrong = ((mask & 2U) && !first) || ((mask & 8U) && !second);
        char what[16];
        (void)snprintf(what, sizeof what, "mask %u", mask);
        memset(&b, 0, sizeof b);
        start_rig(&b.rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b}}");
        send_mask(&b, mask, 0);
        for (int at = 0; at <= 2; at += 2) {
            char text[512];
            (void)snprintf(text, sizeof text,
                           "{\"headerId\":%d,\"timestamp\":\"1970-01-01T00:00:0%d.500Z\","
                           "\"orderId\":\"o\",\"lastNodeId\":\"n%d\",\"lastNodeSequenceId\":%d,"
                           "\"driving\":false}",
                           at, at + 1, at, at);
            receive_message(&b, "uagv/v2/acme/a/state", text, 1.5 + at);
        }
        CHECK_INT(what, b.commands, first + second);
        CHECK_INT(what, b.malformed, !nodes || wrong);
        send_mask(&b, 31, 3);
        CHECK_INT(what, b.commands, (nodes && mask & 4U) ? first + 1 : 1);
        end_rig(&b.rig);
    }
}

/* ---- halts with nothing to cancel ---- */

static const char idle_state[] =
    "{\"headerId\":%d,\"timestamp\":\"1970-01-01T00:00:%02d.000Z\",\"version\":\"%s\","
    "\"orderId\":\"\",\"lastNodeId\":\"n\",\"lastNodeSequenceId\":0,\"driving\":false,"
    "\"nodeStates\":[],\"edgeStates\":[],\"actionStates\":[%s],\"errors\":[%s],"
    "\"agvPosition\":{\"x\":1,\"y\":2,\"theta\":4,\"mapId\":\"m\",\"positionInitialized\":true}"
    "}";

static void send_idle(struct bench *b, const char *level, int s, const char *version,
                      const char *actions, const char *errors)
{
    char text[1024];
    char topic[64];
    (void)snprintf(topic, sizeof topic, "uagv/%s/acme/a/state", level);
    (void)snprintf(text, sizeof text, idle_state, s, s, version, actions, errors);
    receive_message(b, topic, text, s);
}

static void send_halt(struct bench *b, const char *id, double s)
{
    char text[64];
    (void)snprintf(text, sizeof text, "{\"id\":\"%s\",\"op\":\"halt\"}", id);
    receive_message(b, "tandem/v1/p/command", text, s);
}

static void start_link(struct bench *b)
{
    memset(b, 0, sizeof *b);
    start_rig(&b->rig, "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, mode: link, "
                       "virtual_expected: never}}");
}

static void test_halts(void)
{
    static const struct {
        const char *what, *status, *error;
        int reply; /* NEVER: none */
    } rows[] = {
        {"an error", "", "noOrderToCancel", REPLY_IGNORED},
        {"the error of 3.0", "", "NO_ORDER_TO_CANCEL", REPLY_IGNORED},
        {"both", "FAILED", "noOrderToCancel", REPLY_IGNORED},
        {"a failure", "FAILED", "", REPLY_ERROR},
        {"success", "FINISHED", "", REPLY_DONE},
        {"another error", "", "unknownAction", REPLY_ERROR},
        {"not yet", "RUNNING", "", NEVER},
        {"nothing", "", "", NEVER},
    };
    static struct bench b;
    for (size_t i = 0; i < 2 * COUNT(rows); i++) {
        const size_t row = i / 2;
        start_link(&b);
        if (i % 2) {
            send_idle(&b, "v2", 1, "2.0.0", "", "");
        }
        for (int halt = 1; halt <= 2; halt++) {
            char id[8];
            char action[128];
            char error[256];
            (void)snprintf(id, sizeof id, "h%d", halt);
            (void)snprintf(action, sizeof action,
                           "{\"actionId\":\"h%d@%d\",\"actionStatus\":\"%s\"}", halt, halt,
                           rows[row].status);
            (void)snprintf(
                error, sizeof error,
                "{\"errorType\":\"%s\",\"errorLevel\":\"WARNING\",\"errorReferences\":["
                "{\"referenceKey\":\"actionId\",\"referenceValue\":\"h%d@%d\"}]}",
                rows[row].error, halt, halt);
            send_halt(&b, id, 2.0 * halt);
            CHECK_TEXT(rows[row].what, b.topic, "uagv/v2/acme/a/instantActions");
            b.reply = (struct event_reply){.id = ""};
            send_idle(&b, "v2", 2 * halt + 1, "2.0.0", rows[row].status[0] ? action : "",
                      rows[row].error[0] ? error : "");
            CHECK_TEXT(rows[row].what, b.reply.id, rows[row].reply == NEVER ? "" : id);
            if (rows[row].reply != NEVER) {
                CHECK_INT(rows[row].what, b.reply.status, rows[row].reply);
            }
        }
        end_rig(&b.rig);
    }
}

/* An error about a halt that the vehicle works on is no answer. */
static void test_warned_halt(void)
{
    static const char working[] = "{\"actionId\":\"h1@1\",\"actionStatus\":\"RUNNING\"}";
    static struct bench b;
    start_link(&b);
    send_halt(&b, "h1", 1);
    send_idle(&b, "v2", 2, "2.0.0", working, "");
    send_idle(&b, "v2", 3, "2.0.0", working,
              "{\"errorType\":\"slow\",\"errorReferences\":[{\"referenceKey\":\"actionId\","
              "\"referenceValue\":\"h1@1\"}]}");
    CHECK_TEXT("no answer", b.reply.id, "");
    send_idle(&b, "v2", 4, "2.0.0", "{\"actionId\":\"h1@1\",\"actionStatus\":\"FINISHED\"}",
              "");
    CHECK_INT("done", b.reply.status, REPLY_DONE);
    end_rig(&b.rig);
}

/* ---- versions ---- */

/* One vehicle that changes its version: it gets what it reads. */
static void test_versions(void)
{
    static const struct {
        const char *level, *version, *want;
        bool old; /* the older name of the list, too */
    } rows[] = {
        {"v2", "", "2.0.0", true},         {"v2", "2.0.0", "2.0.0", true},
        {"v2", "2.1.0", "2.1.0", false},   {"v3", "3.0.0", "3.0.0", false},
        {"v1", "1.1.0", "1.1.0", true},    {"v2", "V2.0", "V2.0", true},
        {"v2", "2.10.3", "2.10.3", false},
    };
    static struct bench b;
    start_link(&b);
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        const int s = 3 * (int)i;
        send_idle(&b, rows[i].level, s + 1, rows[i].version, "", "");
        (void)snprintf(text, sizeof text, "halt%zu", i);
        send_halt(&b, text, s + 2);
        (void)snprintf(text, sizeof text, "uagv/%s/acme/a/instantActions", rows[i].level);
        CHECK_TEXT("where", b.topic, text);
        (void)snprintf(text, sizeof text, "\"version\":\"%s\"", rows[i].want);
        CHECK(text, strstr(b.payload, text));
        CHECK(text, strstr(b.payload, "\"actions\":[{"));
        CHECK_INT(text, strstr(b.payload, "\"instantActions\":[{") != NULL, rows[i].old);
        CHECK(text,
              strstr(b.payload, "\"blockingType\":\"NONE\"") && !strstr(b.payload, "HARD"));
        (void)snprintf(text, sizeof text,
                       "{\"actionId\":\"halt%zu@%zu\",\"actionStatus\":\"FINISHED\"}", i,
                       i + 1);
        send_idle(&b, rows[i].level, s + 3, rows[i].version, text, "");
    }
    end_rig(&b.rig);
    start_link(&b);
    send_idle(&b, "v2", 1, "2.0.0", "", "");
    receive_message(&b, "tandem/v1/p/command",
                    "{\"id\":\"g\",\"op\":\"go\",\"displacement_m\":1}", 2);
    CHECK("a heading of -pi to pi", strstr(b.payload, "\"theta\":-2.28318"));
    end_rig(&b.rig);
}

/* The twin gets instant actions in the form of its own version. */
static void test_mirrored_versions(void)
{
    static const struct {
        const char *real, *virtual, *list;
        bool actions, old, hard;
        uint64_t reported;
    } rows[] = {
        {"2.0.0", "2.0.0", "instantActions", true, true, true, 0},
        {"2.0.0", "2.1.0", "instantActions", true, false, true, 0},
        {"2.1.0", "2.0.0", "actions", true, true, true, 0},
        {"2.0.0", "3.0.0", "instantActions", true, false, false, 1},
        {"3.0.0", "", "actions", true, false, false, 0},
    };
    static struct bench b;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        memset(&b, 0, sizeof b);
        start_rig(&b.rig,
                  "pairs: {p: {codec: vda5050, real: acme/a, virtual: acme/b, mirror: true}}");
        for (int side = 0; side < 2; side++) {
            const char *version = side ? rows[i].virtual : rows[i].real;
            (void)snprintf(text, sizeof text,
                           "{\"version\":\"%s\",\"connectionState\":\"ONLINE\",\"timestamp\":"
                           "\"1970-01-01T00:00:00Z\"}",
                           version);
            char topic[64];
            (void)snprintf(topic, sizeof topic, "uagv/v%c/acme/%c/connection", version[0],
                           side ? 'b' : 'a');
            if (version[0]) {
                receive_message(&b, topic, text, 1);
            }
        }
        for (int again = 0; again < 2; again++) {
            (void)snprintf(
                text, sizeof text,
                "{\"headerId\":7,\"%s\":[{\"actionId\":\"k%d\",\"actionType\":"
                "\"cancelOrder\",\"blockingType\":\"HARD\",\"actionParameters\":[]}]}",
                rows[i].list, again);
            receive_message(&b, "uagv/v2/acme/a/instantActions", text, 2 + again);
        }
        const char *version = rows[i].virtual[0] ? rows[i].virtual : rows[i].real;
        (void)snprintf(text, sizeof text,
                       "p uagv/v%c/acme/b/instantActions {\"headerId\":1,\"timestamp\":"
                       "\"1970-01-01T00:00:03.000Z\",\"version\":\"%s\",",
                       version[0], version);
        CHECK_TEXT(rows[i].virtual, strncmp(b.rig.sent, text, strlen(text)) ? b.rig.sent : text,
                   text);
        CHECK_INT(rows[i].virtual, strstr(b.rig.sent, "\"actions\":[{") != NULL,
                  rows[i].actions);
        CHECK_INT(rows[i].virtual, strstr(b.rig.sent, "\"instantActions\":[{") != NULL,
                  rows[i].old);
        CHECK_INT(rows[i].virtual, strstr(b.rig.sent, "HARD") != NULL, rows[i].hard);
        CHECK_INT(rows[i].virtual, strstr(b.rig.sent, "NONE") != NULL, !rows[i].hard);
        CHECK_INT(rows[i].virtual, count_alarms(&b, ALARM_TYPE_CONTRADICTION),
                  rows[i].reported);
        end_rig(&b.rig);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("vda5050 messages", NULL, NULL);
    CU_add_test(suite, "header ids", test_header_ids);
    CU_add_test(suite, "an earlier clock", test_early_clock);
    CU_add_test(suite, "a retained state", test_retained);
    CU_add_test(suite, "coarse stamps", test_coarse_stamps);
    CU_add_test(suite, "header ids of each topic", test_topics);
    CU_add_test(suite, "released edges", test_released);
    CU_add_test(suite, "halts", test_halts);
    CU_add_test(suite, "a halt and a warning", test_warned_halt);
    CU_add_test(suite, "versions", test_versions);
    CU_add_test(suite, "versions of mirrored actions", test_mirrored_versions);
    return check_run();
}
