#include "tests/support/check.h"

#include "logger/message/codec.h"

struct seen {
    size_t count;
    struct event event[300];
};

static void collect(void *context, const struct event *event)
{
    struct seen *seen = context;
    CU_ASSERT_FATAL(seen->count < COUNT(seen->event));
    seen->event[seen->count++] = *event;
}

static size_t decode(const char *topic, const char *payload, struct seen *seen)
{
    struct message m = {.t_us = 5000000, .payload = payload};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    m.kept_bytes = strlen(payload);
    m.payload_bytes = m.kept_bytes;
    seen->count = 0;
    return codec_find("native")->decode("tandem/v1", &m, collect, seen);
}

static void test_kinds(void)
{
    static const struct {
        const char *topic, *payload;
        size_t count;
        enum event_kind kind;
        enum side side;
    } rows[] = {
        {"tandem/v1/r1/command", "{\"op\":\"go\"}", 1, EVENT_COMMAND, SIDE_COUNT},
        {"tandem/v1/r1/real/reply", "{\"status\":\"done\"}", 1, EVENT_REPLY, SIDE_REAL},
        {"tandem/v1/r1/virtual/reply", "{\"status\":\"done\"}", 1, EVENT_REPLY, SIDE_VIRTUAL},
        {"tandem/v1/r1/real/telemetry", "{}", 1, EVENT_TELEMETRY, SIDE_REAL},
        {"tandem/v1/r1/real/telemetry", "[{},{\"seq\":2}]", 2, EVENT_TELEMETRY, SIDE_REAL},
        {"tandem/v1/r1/virtual/connection", "{\"state\":\"online\"}", 1, EVENT_CONNECTION,
         SIDE_VIRTUAL},
        {"tandem/v1/r1/virtual/connection", "", 0, EVENT_CONNECTION, SIDE_VIRTUAL},
        {"tandem/v1/r1/real/echo", "{\"probe\":1,\"sent\":2,\"t_received\":3,\"t\":4}", 1,
         EVENT_ECHO, SIDE_REAL},
        {"tandem/v1/$lab/start", "{}", 1, EVENT_START, SIDE_COUNT},
        {"tandem/v1/$lab/stop", "{}", 1, EVENT_STOP, SIDE_COUNT},
        {"tandem/v1/$lab/away", "{\"away_s\":2.5}", 1, EVENT_AWAY, SIDE_COUNT},
        {"tandem/v1/r1/virtual/parameters/ack",
         "{\"version\":3,\"applied\":[\"t0_s\"],\"refused\":[{\"name\":\"x\",\"reason\":"
         "\"unknown\"}]}",
         1, EVENT_ACK, SIDE_VIRTUAL},
        {"tandem/v1/$lab/request", "{\"pair\":\"r1\",\"action\":\"promote\",\"version\":2}", 1,
         EVENT_REQUEST, SIDE_COUNT},
        {"tandem/v1/r1/real/command", "{\"op\":\"go\"}", 0, EVENT_COMMAND, SIDE_REAL},
        {"tandem/v1/r1/entry", "{}", 0, EVENT_COMMAND, SIDE_REAL},
        {"other/r1/command", "{\"op\":\"go\"}", 0, EVENT_COMMAND, SIDE_REAL},
        {"tandem/v1/command", "{\"op\":\"go\"}", 0, EVENT_COMMAND, SIDE_REAL},
        {"tandem/v1//command", "{\"op\":\"go\"}", 0, EVENT_COMMAND, SIDE_REAL},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].topic, decode(rows[i].topic, rows[i].payload, &seen), rows[i].count);
        CHECK_INT(rows[i].topic, seen.count, rows[i].count);
        for (size_t k = 0; k < seen.count; k++) {
            CHECK_INT(rows[i].topic, seen.event[k].kind, rows[i].kind);
            CHECK_INT(rows[i].topic, seen.event[k].side, rows[i].side);
            CHECK_INT(rows[i].topic, seen.event[k].t_us, 5000000);
        }
    }
}

static void test_malformed(void)
{
    static const struct {
        const char *row, *topic, *payload;
        size_t events; /* good ones before it */
        const char *text;
    } rows[] = {
        {"not JSON", "tandem/v1/r1/command", "go 90 600", 0, "command, column 1: an object"},
        {"empty", "tandem/v1/r1/command", "", 0, "an object"},
        {"array", "tandem/v1/r1/command", "[1]", 0, "an object"},
        {"no op", "tandem/v1/r1/command", "{\"id\":\"c\"}", 0, "\"op\" is missing"},
        {"empty op", "tandem/v1/r1/command", "{\"op\":\"\"}", 0, "must not be empty"},
        {"op too long", "tandem/v1/r1/command", "{\"op\":\"abcdefghijklmnopq\"}", 0,
         "at most 15 bytes"},
        {"id too long", "tandem/v1/r1/command",
         "{\"op\":\"go\",\"id\":\"012345678901234567890123456789012345678901234567\"}", 0,
         "at most 47 bytes"},
        {"text for a number", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":\"1\"}",
         0, "column 27: a number was expected"},
        {"NaN", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":NaN}", 0, "number"},
        {"overflow", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":1e400}", 0,
         "range of a double"},
        {"twice", "tandem/v1/r1/command", "{\"op\":\"go\",\"op\":\"halt\"}", 0, "once only"},
        {"time", "tandem/v1/r1/command", "{\"op\":\"go\",\"t\":1e13}", 0, "within"},
        {"rubbish behind", "tandem/v1/r1/command", "{\"op\":\"go\"}x", 0,
         "nothing was expected"},
        {"too deep", "tandem/v1/r1/command", "{\"op\":\"go\",\"x\":[[[[[[[[[[1]]]]]]]]]]}", 0,
         "too deep"},
        {"status", "tandem/v1/r1/real/reply", "{\"status\":\"fine\"}", 0, "out of done"},
        {"no status", "tandem/v1/r1/real/reply", "{}", 0, "\"status\" is missing"},
        {"batch", "tandem/v1/r1/real/telemetry", "[{\"seq\":1},{\"seq\":-1}]", 1, "0 or more"},
        {"seven axes", "tandem/v1/r1/real/telemetry", "{\"nu\":[1,2,3,4,5,6,7]}", 0,
         "at most 6"},
        {"state", "tandem/v1/r1/real/connection", "{\"state\":\"gone\"}", 0,
         "online or offline"},
        {"request", "tandem/v1/$lab/request", "{\"pair\":\"r1\",\"action\":\"burn\"}", 0,
         "propose promote rollback"},
        {"ack", "tandem/v1/r1/virtual/parameters/ack", "{\"version\":-1}", 0, "0 or more"},
        {"echo", "tandem/v1/r1/real/echo", "{\"probe\":1}", 0, "were expected"},
        {"echo null", "tandem/v1/r1/real/echo",
         "{\"probe\":1,\"sent\":null,\"t_received\":1,\"t\":1}", 0, "must be numbers"},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row, decode(rows[i].topic, rows[i].payload, &seen),
                  rows[i].events + 1);
        const struct event *e = &seen.event[rows[i].events];
        CHECK_INT(rows[i].row, e->kind, EVENT_MALFORMED);
        if (!strstr(e->malformed.detail, rows[i].text)) {
            CHECK_TEXT(rows[i].row, e->malformed.detail, rows[i].text);
        }
    }
}

static void test_command_fields(void)
{
    static struct seen seen;
    (void)decode("tandem/v1/r1/command",
                 "{\"id\":17,\"t\":1763617674.123456,\"op\":\"go\",\"rotation_rad\":-1.57,"
                 "\"displacement_m\":0.5,\"extra\":{\"a\":[1]}}",
                 &seen);
    const struct event_command *c = &seen.event[0].command;
    CHECK_TEXT("pair", seen.event[0].pair, "r1");
    CHECK_TEXT("id", c->id, "17");
    CHECK_TEXT("op", c->op, "go");
    CHECK_NEAR("rotation", c->rotation_rad, -1.57, 0, 0);
    CHECK_NEAR("displacement", c->displacement_m, 0.5, 0, 0);
    CHECK_INT("t", c->source_us, 1763617674123456);
    CHECK("hash", seen.event[0].hash != 0);
}

static void test_reply_values(void)
{
    static struct seen seen;
    (void)decode("tandem/v1/r1/real/reply",
                 "{\"id\":\"c1\",\"status\":\"data\",\"t_start\":1,\"t\":2.5,\"values\":"
                 "{\"x_m\":1.5,\"pose\":{\"y\":2},\"ranges\":[3,4],\"name\":\"a\"}}",
                 &seen);
    const struct event_reply *r = &seen.event[0].reply;
    CHECK_INT("count", r->value_count, 5);
    CHECK_TEXT("plain", r->values[0].name, "x_m");
    CHECK_TEXT("inner", r->values[1].name, "pose.y");
    CHECK_TEXT("array", r->values[3].name, "ranges[1]");
    CHECK_NEAR("array", r->values[3].number, 4.0, 0, 0);
    CHECK("text", !r->values[4].is_number && r->values[4].text_hash != 0);
    CHECK_INT("t", r->source_us, 2500000);
    CHECK_INT("t_start", r->source_start_us, 1000000);

    char payload[2048] = "{\"status\":\"data\",\"values\":[0";
    for (int k = 1; k < 100; k++) {
        (void)strcat(payload, ",1");
    }
    (void)strcat(payload, "]}");
    (void)decode("tandem/v1/r1/real/reply", payload, &seen);
    CHECK_INT("many", seen.event[0].reply.value_count, EVENT_VALUES_MAX);
    CHECK_INT("left out", seen.event[0].reply.values_left_out, 100 - EVENT_VALUES_MAX);
}

/* What is written is read back the same. */
static void test_round_trip(void)
{
    static struct seen seen;
    char text[512];
    struct json_writer w;

    const struct event_telemetry t = {.source_us = 1500000,
                                      .seq = 9,
                                      .boot = "a1",
                                      .nu_count = 3,
                                      .nu = {0.1, -0.2, 1e-9},
                                      .pose_count = 1,
                                      .pose = {3.0}};
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    codec_write_telemetry(&w, &t);
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    (void)decode("tandem/v1/r1/real/telemetry", text, &seen);
    const struct event_telemetry *got = &seen.event[0].telemetry;
    CHECK_INT("kind", seen.event[0].kind, EVENT_TELEMETRY);
    CHECK_INT("t", got->source_us, t.source_us);
    CHECK_INT("seq", got->seq, t.seq);
    CHECK_INT("nu", got->nu_count, 3);
    CHECK("nu", memcmp(got->nu, t.nu, 3 * sizeof t.nu[0]) == 0);
    CHECK_INT("tau", got->tau_count, 0);
    CHECK_TEXT("boot", got->boot, "a1");

    const struct event_echo echo = {7, 1000001, -2, 3};
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    codec_write_echo(&w, &echo);
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    (void)decode("tandem/v1/r1/virtual/echo", text, &seen);
    CHECK_INT("echo", seen.event[0].kind, EVENT_ECHO);
    CHECK_INT("sent", seen.event[0].echo.sent_us, 1000001);
    CHECK_INT("received", seen.event[0].echo.source_received_us, -2);
}

static void test_topics(void)
{
    char topics[512];
    CHECK_INT("count", codec_topics("lab/x", topics, sizeof topics), 6);
    CHECK_TEXT("first", topics, "lab/x/+/command");
    CHECK_INT("too small", codec_topics("lab/x", topics, 20), 1);
    CHECK("unknown", codec_find("morse") == NULL);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("codec", NULL, NULL);
    CU_add_test(suite, "kinds", test_kinds);
    CU_add_test(suite, "malformed", test_malformed);
    CU_add_test(suite, "command", test_command_fields);
    CU_add_test(suite, "reply", test_reply_values);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "topics", test_topics);
    return check_run();
}
