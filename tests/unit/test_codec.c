#include "tests/support/check.h"

#include "base/numbers/hash.h"
#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"
#include "logger/message/payload.h"
#include "logger/message/record_json.h"

struct seen {
    size_t count;
    struct event event[300];
};

static void collect_event(void *context, const struct event *event)
{
    struct seen *seen = context;
    CU_ASSERT_FATAL(seen->count < COUNT(seen->event));
    seen->event[seen->count++] = *event;
}

static size_t decode_text(const char *topic, const char *payload, struct seen *seen)
{
    struct message m = {.t_us = 5000000, .payload = payload};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    m.stored_bytes = strlen(payload);
    m.payload_bytes = m.stored_bytes;
    seen->count = 0;
    return codec_decode(NULL, "tandem/v1", &m, collect_event, seen);
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
        {"tandem/v1/$lab/time", "{}", 1, EVENT_TICK, SIDE_COUNT},
        {"tandem/v1/$lab/away", "{\"away_s\":2.5}", 1, EVENT_AWAY, SIDE_COUNT},
        {"tandem/v1/$lab/session", "{\"resumed\":true,\"away_s\":0.5,\"unsure_s\":0.2}", 1,
         EVENT_SESSION, SIDE_COUNT},
        {"tandem/v1/$lab/session", "{\"resumed\":false,\"away_s\":-1}", 1, EVENT_MALFORMED,
         SIDE_COUNT},
        {"tandem/v1/$lab/session", "{\"away_s\":1}", 1, EVENT_MALFORMED, SIDE_COUNT},
        {"tandem/v1/r1/virtual/parameters/ack",
         "{\"version\":3,\"applied\":[\"t0_s\"],\"refused\":[{\"name\":\"x\",\"reason\":"
         "\"unknown\"}]}",
         1, EVENT_ACK, SIDE_VIRTUAL},
        {"tandem/v1/r1/virtual/pose/ack",
         "{\"correction\":3,\"refused\":[{\"name\":\"x_m\",\"reason\":\"in work\"}]}", 1,
         EVENT_POSE_ACK, SIDE_VIRTUAL},
        {"tandem/v1/r1/virtual/parameters/ack", "{\"version\":3,\"form\":\"relative\"}", 1,
         EVENT_ACK, SIDE_VIRTUAL},
        {"tandem/v1/r1/virtual/parameters/ack", "{\"version\":3,\"form\":\"both\"}", 1,
         EVENT_MALFORMED, SIDE_VIRTUAL},
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
        CHECK_INT(rows[i].topic, decode_text(rows[i].topic, rows[i].payload, &seen),
                  rows[i].count);
        CHECK_INT(rows[i].topic, seen.count, rows[i].count);
        for (size_t k = 0; k < seen.count; k++) {
            CHECK_INT(rows[i].topic, seen.event[k].kind, rows[i].kind);
            CHECK_INT(rows[i].topic, seen.event[k].side, rows[i].side);
            CHECK_INT(rows[i].topic, seen.event[k].t_us, 5000000);
        }
    }
}

/* Applied values are found again by name; values without a name are only counted. */
static void test_applied(void)
{
    static struct seen seen;
    char text[1024] = "{\"version\":3,\"applied\":[7,\"t0_s\",null";
    for (int i = 0; i < EVENT_APPLIED_MAX; i++) {
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), ",\"p%d\"", i);
    }
    (void)snprintf(text + strlen(text), sizeof text - strlen(text), "]}");
    CHECK_INT("one", decode_text("tandem/v1/r1/virtual/parameters/ack", text, &seen), 1);
    const struct event_ack *ack = &seen.event[0].ack;
    CHECK_INT("counted", ack->applied, EVENT_APPLIED_MAX + 3);
    CHECK("by its place", ack->applied_hash[1] == hash_text("t0_s"));
    CHECK("the last one kept", ack->applied_hash[EVENT_APPLIED_MAX - 1] == hash_text("p28"));
}

static void test_malformed(void)
{
    static const struct {
        const char *row, *topic, *payload;
        size_t events; /* good ones before it */
        const char *code;
    } rows[] = {
        {"not JSON", "tandem/v1/r1/command", "go 90 600", 0, "object_expected"},
        {"empty", "tandem/v1/r1/command", "", 0, "object_expected"},
        {"array", "tandem/v1/r1/command", "[1]", 0, "object_expected"},
        {"no op", "tandem/v1/r1/command", "{\"id\":\"c\"}", 0, "missing_key"},
        {"empty op", "tandem/v1/r1/command", "{\"op\":\"\"}", 0, "missing_value"},
        {"op too long", "tandem/v1/r1/command", "{\"op\":\"abcdefghijklmnopq\"}", 0,
         "too_long"},
        {"id too long", "tandem/v1/r1/command",
         "{\"op\":\"go\",\"id\":\"012345678901234567890123456789012345678901234567\"}", 0,
         "too_long"},
        {"text for a number", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":\"1\"}",
         0, "not_a_number"},
        {"NaN", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":NaN}", 0,
         "not_a_number"},
        {"overflow", "tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":1e400}", 0,
         "out_of_range"},
        {"twice", "tandem/v1/r1/command", "{\"op\":\"go\",\"op\":\"halt\"}", 0,
         "duplicate_name"},
        {"time", "tandem/v1/r1/command", "{\"op\":\"go\",\"t\":1e13}", 0, "out_of_range"},
        {"rubbish behind", "tandem/v1/r1/command", "{\"op\":\"go\"}x", 0, "bad_syntax"},
        {"too deep", "tandem/v1/r1/command", "{\"op\":\"go\",\"x\":[[[[[[[[[[1]]]]]]]]]]}", 0,
         "too_deep"},
        {"status", "tandem/v1/r1/real/reply", "{\"status\":\"fine\"}", 0, "unknown_value"},
        {"no status", "tandem/v1/r1/real/reply", "{}", 0, "missing_key"},
        {"held", "tandem/v1/r1/real/reply", "{\"status\":\"done\",\"held_s\":-1}", 0,
         "out_of_range"},
        {"calibrate", "tandem/v1/r1/real/reply", "{\"status\":\"done\",\"calibrate\":0}", 0,
         "value_expected"},
        {"reason", "tandem/v1/r1/real/connection", "{\"state\":\"offline\",\"reason\":1}", 0,
         "text_expected"},
        {"batch", "tandem/v1/r1/real/telemetry", "[{\"seq\":1},{\"seq\":-1}]", 1,
         "out_of_range"},
        {"seven axes", "tandem/v1/r1/real/telemetry", "{\"nu\":[1,2,3,4,5,6,7]}", 0,
         "too_many"},
        {"state", "tandem/v1/r1/real/connection", "{\"state\":\"gone\"}", 0, "unknown_value"},
        {"request", "tandem/v1/$lab/request", "{\"pair\":\"r1\",\"action\":\"burn\"}", 0,
         "unknown_value"},
        {"ack", "tandem/v1/r1/virtual/parameters/ack", "{\"version\":-1}", 0, "out_of_range"},
        {"echo", "tandem/v1/r1/real/echo", "{\"probe\":1}", 0, "missing_key"},
        {"echo null", "tandem/v1/r1/real/echo",
         "{\"probe\":1,\"sent\":null,\"t_received\":null,\"t\":1}", 0, "time_expected"},
        {"stamp as text", "tandem/v1/r1/real/telemetry", "{\"t\":\"12:30\"}", 0,
         "time_expected"},
        {"no nanosec", "tandem/v1/r1/real/telemetry", "{\"t\":{\"sec\":1}}", 0,
         "time_expected"},
        {"nanosec too many", "tandem/v1/r1/real/telemetry",
         "{\"t\":{\"sec\":1,\"nanosec\":1000000000}}", 0, "time_expected"},
        {"nanosec below 0", "tandem/v1/r1/real/telemetry", "{\"t\":{\"sec\":1,\"nanosec\":-1}}",
         0, "time_expected"},
        {"part of a second", "tandem/v1/r1/real/telemetry",
         "{\"t\":{\"sec\":1.5,\"nanosec\":0}}", 0, "time_expected"},
        {"sec too far", "tandem/v1/r1/real/telemetry", "{\"t\":{\"sec\":1e12,\"nanosec\":0}}",
         0, "time_expected"},
        {"sec twice", "tandem/v1/r1/real/telemetry",
         "{\"t\":{\"sec\":1,\"sec\":2,\"nanosec\":0}}", 0, "duplicate_name"},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].row, decode_text(rows[i].topic, rows[i].payload, &seen),
                  rows[i].events + 1);
        const struct event *e = &seen.event[rows[i].events];
        CHECK_INT(rows[i].row, e->kind, EVENT_MALFORMED);
        CHECK_TEXT(rows[i].row, fault_name(e->malformed.fault), rows[i].code);
    }
}

/* The id of a malformed message is reported if it stands before the fault; never another
 * message's. */
static void test_malformed_id(void)
{
    static struct seen seen;
    (void)decode_text("tandem/v1/r1/command", "{\"id\":\"c7\",\"op\":\"go\",\"rotation\":1}",
                      &seen);
    CHECK_TEXT("a command's", seen.event[0].malformed.id, "c7");
    (void)decode_text("tandem/v1/r1/real/reply", "{\"id\":\"c8\",\"status\":\"fine\"}", &seen);
    CHECK_TEXT("a reply's", seen.event[0].malformed.id, "c8");
    (void)decode_text("tandem/v1/r1/command", "{\"op\":5,\"id\":\"c9\"}", &seen);
    CHECK_TEXT("behind the fault", seen.event[0].malformed.id, "");
    (void)decode_text("tandem/v1/r1/real/echo", "{\"probe\":1}", &seen);
    CHECK_TEXT("of what has none", seen.event[0].malformed.id, "");
}

static void test_command_fields(void)
{
    static struct seen seen;
    (void)decode_text("tandem/v1/r1/command",
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

/* ROS 2 stamps are valid wherever a number of seconds may stand. */
static void test_ros_stamps(void)
{
    static struct seen seen;
    (void)decode_text(
        "tandem/v1/r1/real/reply",
        "{\"status\":\"done\",\"t_start\":{\"nanosec\":999999499,\"sec\":-3,\"x\":[1]},"
        "\"t\":{\"sec\":1763617674,\"nanosec\":123456500},"
        "\"sim_t\":{\"sec\":0,\"nanosec\":0}}",
        &seen);
    const struct event_reply *r = &seen.event[0].reply;
    CHECK_INT("kind", seen.event[0].kind, EVENT_REPLY);
    CHECK_INT("start", r->source_start_us, -2000001);
    CHECK_INT("t", r->source_us, 1763617674123457);
    CHECK("simulated", r->has_sim && r->sim_us == 0);
    (void)decode_text("tandem/v1/r1/real/echo",
                      "{\"probe\":7,\"t_received\":{\"sec\":1,\"nanosec\":0},\"t\":2}", &seen);
    CHECK_INT("echo", seen.event[0].kind, EVENT_ECHO);
    CHECK_INT("received", seen.event[0].echo.source_received_us, 1000000);
    CHECK("sent was not reported", seen.event[0].echo.sent_us == LAB_TIME_NONE);
}

/* A probe as it goes to a robot, and a robot's fault as the event log shows it. */
static void test_probe_and_fault(void)
{
    char text[512] = "";
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    native_write_probe(&w, 7, 12500000);
    CHECK("room", json_write_end(&w));
    CHECK_TEXT("probe", text, "{\"probe\":7,\"sent\":12.5}");
    struct event e = {.kind = EVENT_FAULT, .side = SIDE_REAL, .fault.kind = FAULT_ESTOP};
    (void)snprintf(e.fault.detail, sizeof e.fault.detail, "pressed");
    memset(text, 0, sizeof text);
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    event_write_json(&w, NULL, &e, 3);
    CHECK("room", json_write_end(&w));
    CHECK(text, strstr(text, "\"op\":\"estop\",\"detail\":\"pressed\"") != NULL);
}

/* Arm values are only read for arm operations, wherever "op" stands. */
static void decode_command(const char *payload, struct seen *seen)
{
    (void)decode_text("tandem/v1/r1/command", payload, seen);
}

static void test_arm_members(void)
{
    static struct seen seen;
    decode_command("{\"q_rad\":[1,-2,3,4,5,6.5],\"v_radps\":-1,\"op\":\"movej\",\"time_s\":2.5,"
                   "\"tool\":\"a\"}",
                   &seen);
    const struct event_arm *arm = &seen.event[0].command.arm;
    CHECK_INT("told", arm->present,
              1U << EVENT_ARM_Q | 1U << EVENT_ARM_V_RADPS | 1U << EVENT_ARM_TIME_S);
    CHECK_INT("joints", arm->q_count, 6);
    CHECK("values", arm->q_rad[1] <= -2.0 && arm->q_rad[5] >= 6.5);
    CHECK_NEAR("whatever its sign", arm->v_radps, -1.0, 0, 0);
    CHECK_NEAR("time, no acceleration", arm->time_s + arm->a_radps2, 2.5, 0, 0);
    CHECK_INT("as it came", seen.event[0].command.raw_bytes, 76);
    decode_command("{\"op\":\"movec\",\"via\":[1,2,3],\"pose\":[1,2,3,0,0,1],\"turns\":1,"
                   "\"v_mps\":0.1,\"a_mps2\":1,\"a_radps2\":2}",
                   &seen);
    CHECK_INT("via", arm->via_count, 3);
    CHECK_INT("pose", arm->pose_count, 6);
    CHECK_NEAR("turns", arm->pose[5] + 8.0 * arm->turns, 9.0, 0, 0);
    CHECK_INT("the previous joints are gone", arm->q_count, 0);
    decode_command("{\"op\":\"mode\",\"cartesian\":true,\"external\":false,"
                   "\"dynamics\":\"ideal\"}",
                   &seen);
    CHECK_INT("cartesian", arm->cartesian, 1);
    CHECK_INT("set to false", arm->present >> EVENT_ARM_EXTERNAL, 1);
    CHECK_INT("ideal", arm->dynamics, ARM_DYNAMICS_IDEAL);
    decode_command("{\"op\":\"speedl\",\"twist\":[0,0,0.1,0,0,0],\"time_s\":1}", &seen);
    CHECK_NEAR("twist", arm->twist[2], 0.1, 0, 0);
    decode_command("{\"op\":\"halt\",\"a_radps2\":3}", &seen);
    CHECK_NEAR("a halt's", arm->a_radps2, 3.0, 0, 0);
    decode_command("{\"op\":\"goto\",\"pose\":{\"x\":1}}", &seen);
    CHECK_INT("another's", seen.event[0].kind, EVENT_COMMAND);
    CHECK_INT("nothing of it", arm->present, 0);
    decode_command("{\"op\":\"halt\",\"q_rad\":[1],\"a_radps2\":\"hard\"}", &seen);
    CHECK_INT("nothing of what a halt cannot read", arm->present, 0);
}

static void test_arm_malformed(void)
{
    static const struct {
        const char *payload, *code; /* NULL: a good command */
    } rows[] = {
        {"{\"op\":\"movej\",\"q_rad\":[1,2,3,4,5,6,7]}", "too_many"},
        {"{\"q_rad\":[1,\"2\"],\"op\":\"movej\"}", "not_a_number"},
        {"{\"op\":\"movej\",\"q_rad\":1}", "list_expected"},
        {"{\"op\":\"movel\",\"pose\":[1],\"v_mps\":\"fast\"}", "not_a_number"},
        {"{\"op\":\"movel\",\"pose\":[1],\"pose\":[2]}", "duplicate_name"},
        {"{\"op\":\"mode\",\"dynamics\":\"sluggish\"}", "unknown_value"},
        {"{\"op\":\"mode\",\"cartesian\":1}", "value_expected"},
        {"{\"op\":\"movej\",\"q_rads\":[1]}", "unexpected_value"},
        {"{\"op\":\"movel\",\"Pose\":[1]}", "unexpected_value"},
        {"{\"op\":\"speedj\",\"qd_rads\":[1]}", "unexpected_value"},
        {"{\"op\":\"speedl\",\"twists\":[1]}", "unexpected_value"},
        {"{\"op\":\"movej\",\"q_rad\":[1],\"poses\":2}", NULL},
        {"{\"op\":\"movej\",\"rotation_rad\":1.2}", NULL},
        {"{\"op\":\"movej\",\"joints\":[1,2]}", NULL},
        {"{\"op\":\"mode\",\"mode\":\"auto\"}", NULL},
        {"{\"op\":\"halt\",\"a_radps2\":\"hard\"}", NULL},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].payload, decode_text("tandem/v1/r1/command", rows[i].payload, &seen),
                  1);
        const struct event *e = &seen.event[0];
        CHECK_INT(rows[i].payload, e->kind, rows[i].code ? EVENT_MALFORMED : EVENT_COMMAND);
        if (rows[i].code) {
            CHECK_TEXT(rows[i].payload, fault_name(e->malformed.fault), rows[i].code);
        }
    }
}

/* A misspelt size is reported; unknown members next to a size, or of another operation, are
 * ignored. */
static void test_misspelt(void)
{
    static const struct {
        const char *payload, *code; /* NULL: a good command */
    } rows[] = {
        {"{\"op\":\"go\",\"rotation\":1}", "unexpected_value"},
        {"{\"rotation\":1,\"op\":\"go\"}", "unexpected_value"},
        {"{\"op\":\"go\",\"rotation_rd\":1}", "unexpected_value"},
        {"{\"op\":\"go\",\"Rotation_Rad\":1}", "unexpected_value"},
        {"{\"op\":\"go\",\"rotation_deg\":90}", "unexpected_value"},
        {"{\"op\":\"go\",\"rot\\u0061tion_rad\":90}", "unexpected_value"},
        {"{\"op\":\"go\",\"displacment_m\":1}", "unexpected_value"},
        {"{\"op\":\"go\",\"speed_mps\":1,\"displacement\":1}", "unexpected_value"},
        {"{\"op\":\"go\",\"rotation_rad\":1,\"displacement\":1}", "unexpected_value"},
        {"{\"op\":\"go\",\"speed_mps\":1}", "unexpected_value"},
        {"{\"op\":\"go\"}", NULL},
        {"{\"op\":\"go\",\"rotation_rad\":1,\"speed_mps\":1}", NULL},
        {"{\"op\":\"go\",\"rotation_rad\":1,\"rotation_deg\":57}", NULL},
        {"{\"op\":\"go\",\"displacement_m\":1,\"placement\":\"b\"}", NULL},
        {"{\"op\":\"lidar\",\"rotation\":1}", NULL},
        {"{\"op\":\"halt\",\"why\":\"tired\"}", NULL},
        {"{\"op\":\"dance\",\"rotation\":1}", NULL},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct event *e = &seen.event[0];
        CHECK_INT(rows[i].payload, decode_text("tandem/v1/r1/command", rows[i].payload, &seen),
                  1);
        CHECK_INT(rows[i].payload, e->kind, rows[i].code ? EVENT_MALFORMED : EVENT_COMMAND);
        if (rows[i].code) {
            CHECK_TEXT(rows[i].payload, fault_name(e->malformed.fault), rows[i].code);
        }
    }
}

static void test_reply_values(void)
{
    static struct seen seen;
    (void)decode_text("tandem/v1/r1/real/reply",
                      "{\"id\":\"c1\",\"status\":\"data\",\"t_start\":1,\"t\":2.5,\"values\":"
                      "{\"x_m\":1.5,\"pose\":{\"y\":2},\"ranges\":[3,4],\"name\":\"a\"}}",
                      &seen);
    const struct event_reply *r = &seen.event[0].reply;
    CHECK("calibrates", !r->uncalibrated && !(r->held_s > 0.0));
    CHECK_INT("count", r->value_count, 7);
    CHECK_TEXT("plain", r->values[0].name, "x_m");
    CHECK_INT("object", r->values[1].kind, VALUE_OBJECT);
    CHECK_TEXT("inner", r->values[2].name, "pose.y");
    CHECK_INT("list", r->values[3].kind, VALUE_LIST);
    CHECK_NEAR("list", r->values[3].number, 2.0, 0, 0);
    CHECK_TEXT("array", r->values[5].name, "ranges[1]");
    CHECK_NEAR("array", r->values[5].number, 4.0, 0, 0);
    CHECK("text", r->values[6].kind == VALUE_TEXT && r->values[6].text != 0);
    CHECK_INT("t", r->source_us, 2500000);
    CHECK_INT("t_start", r->source_start_us, 1000000);

    char payload[2048] = "{\"status\":\"data\",\"values\":[0";
    for (int k = 1; k < 100; k++) {
        (void)strcat(payload, ",1");
    }
    (void)strcat(payload, "]}");
    (void)decode_text("tandem/v1/r1/real/reply", payload, &seen);
    CHECK_INT("many", seen.event[0].reply.value_count, EVENT_VALUES_MAX);
    CHECK_INT("left out", seen.event[0].reply.values_omitted, 101 - EVENT_VALUES_MAX);
    (void)decode_text("tandem/v1/r1/real/reply",
                      "{\"status\":\"done\",\"calibrate\":false,\"held_s\":2.5}", &seen);
    CHECK("switched off", seen.event[0].reply.uncalibrated);
    CHECK_NEAR("held", seen.event[0].reply.held_s, 2.5, 0.0, 0.0);
    (void)decode_text("tandem/v1/r1/real/reply", "{\"status\":\"done\",\"calibrate\":true}",
                      &seen);
    CHECK("switched on", !seen.event[0].reply.uncalibrated);
}

/* Written events are read back the same. */
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
    native_write(&w, EVENT_TELEMETRY, &t);
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    (void)decode_text("tandem/v1/r1/real/telemetry", text, &seen);
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
    native_write(&w, EVENT_ECHO, &echo);
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    (void)decode_text("tandem/v1/r1/virtual/echo", text, &seen);
    CHECK_INT("echo", seen.event[0].kind, EVENT_ECHO);
    CHECK_INT("sent", seen.event[0].echo.sent_us, 1000001);
    CHECK_INT("received", seen.event[0].echo.source_received_us, -2);
}

/* ---- a second codec ---- */

/* "<prefix>/minimal/<pair>": "d" is a reply, anything else no part of it. Commands go out as
 * their op alone. */
static size_t decode_minimal(const char *prefix, const struct message *m, event_emit *emit,
                             void *context)
{
    char head[64];
    const int n = snprintf(head, sizeof head, "%s/minimal/", prefix);
    struct event e = {.t_us = m->t_us, .side = SIDE_REAL};
    if (strncmp(m->topic, head, (size_t)n) != 0) {
        return 0;
    }
    (void)snprintf(e.pair, sizeof e.pair, "%s", m->topic + n);
    e.kind = m->stored_bytes == 1 && m->payload[0] == 'd' ? EVENT_REPLY : EVENT_MALFORMED;
    emit(context, &e);
    return 1;
}

static void copy_op(void *context, const struct event *event)
{
    (void)snprintf(context, 8, "%s", event->kind == EVENT_COMMAND ? event->command.op : "?");
}

static bool encode_minimal(const struct codec_out *out, struct codec_message *message)
{
    struct message m = {.payload = out->payload,
                        .stored_bytes = out->bytes,
                        .payload_bytes = out->bytes,
                        .topic = "x/r/command"};
    if (out->kind != CODEC_COMMAND || out->side != SIDE_REAL) {
        return false;
    }
    (void)codec_native.decode("x", &m, copy_op, message->room);
    (void)snprintf(message->topic, sizeof message->topic, "minimal/%s", out->pair);
    message->payload = message->room;
    message->bytes = strlen(message->room);
    return true;
}

static bool is_no_sample(const char *prefix, const char *topic)
{
    (void)prefix;
    (void)topic;
    return false;
}

static const struct codec codec_minimal = {
    .name = "minimal",
    .help = "one letter a message",
    .topics = {{"minimal/+", 1}},
    .decode = decode_minimal,
    .is_sample = is_no_sample,
    .encode = encode_minimal,
};

static const struct codec *find_spoken(const void *context, const struct event *event)
{
    (void)context;
    return strcmp(event->pair, "m1") == 0   ? &codec_minimal
           : strcmp(event->pair, "r1") == 0 ? &codec_native
                                            : NULL;
}

/* "count/<anything>": how many came so far is the reply's id. */
static bool receive_count(const struct codec_pair *pair, const struct message *m,
                          const struct codec_sink *sink)
{
    struct event e;
    uint64_t *count = pair->state;
    char text[16];
    if (strncmp(m->topic, pair->options->address[SIDE_REAL],
                strlen(pair->options->address[SIDE_REAL])) != 0) {
        return false;
    }
    (*count)++;
    if (m->stored_bytes == 0) {
        codec_malformed(pair, m, SIDE_REAL, "reply", sink, FAULT_TEXT_EXPECTED,
                        "a text was expected, not %d bytes", 0);
        return true;
    }
    codec_begin_event(&e, pair, m, EVENT_REPLY, SIDE_REAL);
    (void)snprintf(e.reply.id, sizeof e.reply.id, "%d", (int)*count);
    codec_emit(pair, &e, sink);
    (void)snprintf(text, sizeof text, "%d", (int)*count);
    if (sink->send) {
        sink->send(sink->send_context, pair->id, "count/answer", text, strlen(text));
    }
    return true;
}

static const struct codec codec_count_up = {.name = "count",
                                            .help = "counts",
                                            .receive = receive_count,
                                            .state_bytes = sizeof(uint64_t)};

struct foreign_rig {
    struct codec_options options[2];
    uint64_t state[2];
    bool repeated;
    char sent[32], raw[64];
};

static bool foreign_pair(const void *context, size_t k, struct codec_pair *pair)
{
    static const char *const ids[] = {"f1", "f2"};
    struct foreign_rig *rig = (void *)(uintptr_t)context;
    if (k < COUNT(ids)) {
        *pair = (struct codec_pair){.codec = &codec_count_up,
                                    .prefix = "t",
                                    .id = ids[k],
                                    .options = &rig->options[k],
                                    .state = &rig->state[k],
                                    .repeated = rig->repeated};
    }
    return k < COUNT(ids);
}

static void store_sent(void *context, const char *pair, const char *topic, const char *payload,
                       size_t bytes)
{
    (void)snprintf(context, 32, "%s %s %.*s", pair, topic, (int)bytes, payload);
}

static void store_raw(void *context, const struct event *event)
{
    const struct event_reply *r = &event->reply;
    (void)snprintf(context, 64, "%.*s", r->raw ? (int)r->raw_bytes : 0, r->raw ? r->raw : "");
}

/* A codec's memory is separate for each pair; topics have any name; it may send. */
static void test_foreign_codec(void)
{
    static struct seen seen;
    struct foreign_rig rig = {.options = {{.address = {"count/1"}}, {.address = {"count/2"}}}};
    struct codec_set set = {.codec = {&codec_native},
                            .count = 1,
                            .speaks = find_spoken,
                            .foreign = foreign_pair,
                            .context = &rig};
    struct message m = {
        .t_us = 7, .topic = "count/1", .payload = "x", .stored_bytes = 1, .payload_bytes = 1};
    memset(&seen, 0, sizeof seen);
    CHECK_INT("first", codec_decode(&set, "tandem/v1", &m, collect_event, &seen), 1);
    CHECK_INT("second", codec_decode(&set, "tandem/v1", &m, collect_event, &seen), 1);
    CHECK_TEXT("its own count", seen.event[1].reply.id, "2");
    CHECK_TEXT("of its pair", seen.event[1].pair, "f1");
    CHECK_INT("at its time", seen.event[1].t_us, 7);
    CHECK("not put natively", !seen.event[1].reply.raw);
    set.sink = (struct codec_sink){.send = store_sent, .send_context = rig.sent};
    rig.repeated = true;
    (void)snprintf(m.topic, sizeof m.topic, "count/2");
    (void)codec_decode(&set, "tandem/v1", &m, store_raw, rig.raw);
    CHECK_TEXT("sent", rig.sent, "f2 count/answer 1");
    CHECK_TEXT("put natively", rig.raw, "{\"id\":\"1\",\"status\":\"done\"}");
    m.stored_bytes = 0;
    memset(&seen, 0, sizeof seen);
    CHECK_INT("not of the protocol", codec_decode(&set, "tandem/v1", &m, collect_event, &seen),
              1);
    CHECK_TEXT("why", fault_name(seen.event[0].malformed.fault), "text_expected");
    (void)snprintf(m.topic, sizeof m.topic, "other/2");
    CHECK_INT("nobody's", codec_decode(&set, "tandem/v1", &m, collect_event, &seen), 0);
    const struct codec_out out = {
        .kind = CODEC_REPLY, .pair = "f1", .side = SIDE_COUNT, .payload = "{}", .bytes = 2};
    struct codec_message answer;
    CHECK("to L1", codec_encode(&codec_count_up, &out, &answer) && !answer.whole);
    CHECK_TEXT("natively", answer.topic, "f1/reply");
    const struct codec_out go = {
        .kind = CODEC_COMMAND, .pair = "f1", .side = SIDE_REAL, .payload = "{}", .bytes = 2};
    CHECK("to a robot that accepts none", !codec_encode(&codec_count_up, &go, &answer));
}

/* Each pair receives messages in its own codec only. */
static void test_two_codecs(void)
{
    static const struct {
        const char *topic, *payload;
        size_t count;
        enum event_kind kind;
    } rows[] = {
        {"tandem/v1/r1/real/reply", "{\"status\":\"done\"}", 1, EVENT_REPLY},
        {"tandem/v1/minimal/m1", "d", 1, EVENT_REPLY},
        {"tandem/v1/minimal/m1", "x", 1, EVENT_MALFORMED},
        {"tandem/v1/m1/real/reply", "{\"status\":\"done\"}", 0, EVENT_REPLY},
        {"tandem/v1/minimal/r1", "d", 0, EVENT_REPLY},
        {"tandem/v1/other/real/reply", "{\"status\":\"done\"}", 1, EVENT_REPLY},
        {"tandem/v1/$lab/start", "{}", 1, EVENT_START},
    };
    const struct codec_set set = {
        .codec = {&codec_native, &codec_minimal}, .count = 2, .speaks = find_spoken};
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message m = {.payload = rows[i].payload,
                            .stored_bytes = strlen(rows[i].payload),
                            .payload_bytes = strlen(rows[i].payload)};
        (void)snprintf(m.topic, sizeof m.topic, "%s", rows[i].topic);
        seen.count = 0;
        CHECK_INT(rows[i].topic, codec_decode(&set, "tandem/v1", &m, collect_event, &seen),
                  rows[i].count);
        CHECK_INT(rows[i].topic, seen.count, rows[i].count);
        CHECK(rows[i].topic, seen.count == 0 || seen.event[0].kind == rows[i].kind);
    }
}

static void test_out(void)
{
    static const char text[] = "{\"op\":\"go\"}";
    static const struct {
        enum codec_kind kind;
        enum side side;
        const char *topic;
    } rows[] = {
        {CODEC_COMMAND, SIDE_COUNT, "r1/command"},
        {CODEC_COMMAND, SIDE_REAL, "r1/real/command"},
        {CODEC_COMMAND, SIDE_VIRTUAL, "r1/virtual/command"},
        {CODEC_REPLY, SIDE_COUNT, "r1/reply"},
        {CODEC_NOTICE, SIDE_COUNT, "r1/notice"},
        {CODEC_PARAMETERS, SIDE_VIRTUAL, "r1/virtual/parameters"},
        {CODEC_POSE, SIDE_VIRTUAL, "r1/virtual/pose"},
        {CODEC_CONTROL, SIDE_VIRTUAL, "r1/virtual/control"},
        {CODEC_PROBE, SIDE_REAL, "r1/real/probe"},
    };
    struct codec_message m;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct codec_out out = {.kind = rows[i].kind,
                                      .pair = "r1",
                                      .side = rows[i].side,
                                      .payload = text,
                                      .bytes = sizeof text - 1};
        CHECK(rows[i].topic, codec_native.encode(&out, &m));
        CHECK_TEXT(rows[i].topic, m.topic, rows[i].topic);
        CHECK(rows[i].topic, m.payload == text && m.bytes == sizeof text - 1);
    }
    const struct codec_out out = {.kind = CODEC_COMMAND,
                                  .pair = "m1",
                                  .side = SIDE_REAL,
                                  .payload = text,
                                  .bytes = sizeof text - 1};
    CHECK("minimal", codec_minimal.encode(&out, &m));
    CHECK_TEXT("minimal", m.topic, "minimal/m1");
    CHECK("minimal", m.bytes == 2 && memcmp(m.payload, "go", 2) == 0);
}

static void test_table(void)
{
    CHECK("native", codec_find("native") == &codec_native);
    CHECK("unknown", codec_find("morse") == NULL);
    for (size_t i = 0; i < codec_count; i++) {
        const struct codec *c = codecs[i];
        CHECK(c->name, codec_find(c->name) == c && strlen(c->name) < CODEC_NAME_MAX);
        const bool under_prefix = c->decode && c->is_sample && c->encode && c->topics[0].filter;
        CHECK(c->name, c->help && (c->receive ? c->place && !c->decode : under_prefix));
        CHECK(c->name, !c->topics[CODEC_TOPICS_MAX - 1].filter);
    }
    CHECK("sample", codec_native.is_sample("tandem/v1", "tandem/v1/r1/real/telemetry"));
    CHECK("event", !codec_native.is_sample("tandem/v1", "tandem/v1/r1/real/reply"));
}

/* Whether one of the two fits every topic that the other stands for: '+' one level, '#' the
 * rest. */
static bool fits_filter(const char *topic, const char *filter)
{
    for (; *filter == '+' || *filter == *topic; filter++) {
        if (*filter == '\0') {
            return true;
        }
        if (*filter == '+') {
            topic += strcspn(topic, "/");
        } else {
            topic++;
        }
    }
    return *filter == '#';
}

/* Some user may write each topic that the daemon receives; none may write for the daemon. */
static void test_rights(void)
{
    static const char *const own[] = {"+/reply",  "+/notice",      "+/entry",   "+/alarm",
                                      "+/change", "+/calibration", "+/fidelity"};
    CHECK("filter", fits_filter("+/+/reply", "+/+/reply") && fits_filter("a/b/c", "a/#"));
    CHECK("filter", !fits_filter("+/reply", "+/+/reply") && !fits_filter("+/command", "+/com"));
    for (size_t i = 0; i < codec_count; i++) {
        const struct codec *c = codecs[i];
        for (const struct codec_topic *t = c->topics; t->filter; t++) {
            bool written = false;
            for (const struct codec_right *r = c->rights; r->topic; r++) {
                written = written || (r->writes && fits_filter(r->topic, t->filter));
            }
            CHECK(t->filter, written);
        }
        for (const struct codec_right *r = c->rights; r->topic; r++) {
            CHECK(r->topic, (unsigned)r->party < CODEC_PARTY_COUNT);
            CHECK(r->topic, !r->writes || !strchr(r->topic, '#'));
            for (size_t k = 0; k < COUNT(own); k++) {
                CHECK(r->topic, !r->writes || strcmp(r->topic, own[k]) != 0);
            }
        }
        CHECK(c->name, c->rights[CODEC_RIGHTS_MAX - 1].topic == NULL);
    }
}

/* Every kind of message that robots write reads back as written, with and without its optional
 * members. */
static void test_robot_writes(void)
{
    static const struct {
        const char *topic, *payload;
    } rows[] = {
        {"tandem/v1/r1/command", "{\"op\":\"go\",\"rotation_rad\":0.5,\"displacement_m\":2}"},
        {"tandem/v1/r1/real/reply", "{\"status\":\"done\"}"},
        {"tandem/v1/r1/real/reply",
         "{\"id\":\"c7\",\"t\":12.5,\"status\":\"error\",\"values\":{\"x_m\":0.25}}"},
        {"tandem/v1/r1/real/telemetry",
         "{\"t\":3.25,\"seq\":4,\"nu\":[0.5,-1],\"pose\":[1,2,3]}"},
        {"tandem/v1/r1/real/connection", "{\"state\":\"online\"}"},
        {"tandem/v1/r1/real/connection", "{\"state\":\"offline\"}"},
        {"tandem/v1/r1/real/echo", "{\"probe\":1,\"sent\":2,\"t_received\":3,\"t\":4}"},
    };
    static struct seen seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[1024];
        struct json_writer w;
        CU_ASSERT_EQUAL_FATAL(decode_text(rows[i].topic, rows[i].payload, &seen), 1);
        CU_ASSERT_NOT_EQUAL_FATAL(seen.event[0].kind, EVENT_MALFORMED);
        json_write_start(&w, text, sizeof text - 1, NULL, NULL);
        native_write(&w, seen.event[0].kind, &seen.event[0].command);
        CU_ASSERT_TRUE(json_write_end(&w));
        text[w.used] = '\0';
        CHECK_TEXT(rows[i].topic, text, rows[i].payload);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("codec", NULL, NULL);
    CU_add_test(suite, "kinds", test_kinds);
    CU_add_test(suite, "applied", test_applied);
    CU_add_test(suite, "malformed", test_malformed);
    CU_add_test(suite, "malformed id", test_malformed_id);
    CU_add_test(suite, "misspelt", test_misspelt);
    CU_add_test(suite, "probe and fault", test_probe_and_fault);
    CU_add_test(suite, "arm members", test_arm_members);
    CU_add_test(suite, "arm malformed", test_arm_malformed);
    CU_add_test(suite, "command", test_command_fields);
    CU_add_test(suite, "stamps of ROS 2", test_ros_stamps);
    CU_add_test(suite, "reply", test_reply_values);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "two codecs", test_two_codecs);
    CU_add_test(suite, "a foreign codec that remembers", test_foreign_codec);
    CU_add_test(suite, "out", test_out);
    CU_add_test(suite, "robot writes", test_robot_writes);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "rights", test_rights);
    return check_run();
}
