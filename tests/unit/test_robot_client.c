#include "tests/support/check.h"

#include "examples/robot/c/tandem_robot.h"
#include "logger/message/codec_native.h"

/* The client of examples/robot/c: it parses messages, and Tandem can read its own. */

enum { PUBLISHED_MAX = 8 };

static struct {
    size_t count, begun;
    char word[PUBLISHED_MAX][16], text[PUBLISHED_MAX][TANDEM_ROOM];
    uint8_t qos[PUBLISHED_MAX];
    bool retained[PUBLISHED_MAX];
    struct event event[PUBLISHED_MAX];
    bool stopped, refuses, cut;
    struct tandem_command command;
} published;

static bool record_publish(void *context, const char *word, const char *payload, uint16_t bytes,
                           uint8_t qos, bool retained)
{
    const size_t k = published.count++ % PUBLISHED_MAX;
    struct message m = {.payload = payload, .stored_bytes = bytes, .payload_bytes = bytes};
    CHECK("the context", context == &published);
    CHECK_INT("terminated", strlen(payload), bytes);
    (void)snprintf(published.word[k], sizeof published.word[k], "%s", word);
    (void)snprintf(published.text[k], sizeof published.text[k], "%s", payload);
    (void)snprintf(m.topic, sizeof m.topic, "t/p/real/%s", word);
    published.qos[k] = qos;
    published.retained[k] = retained;
    published.event[k].kind = EVENT_KIND_COUNT;
    (void)codec_native.decode("t", &m, codec_copy_event, &published.event[k]);
    return !published.cut;
}

static struct tandem_time read_now(void *context)
{
    (void)context;
    return (struct tandem_time){4294967295U, 999999};
}

static bool begin_move(void *context, const struct tandem_command *command)
{
    (void)context;
    published.begun++;
    published.command = *command;
    return !published.refuses;
}

static void stop_move(void *context)
{
    (void)context;
    published.stopped = true;
}

static const struct tandem_body body = {.send = record_publish,
                                        .now = read_now,
                                        .begin = begin_move,
                                        .stop = stop_move,
                                        .context = &published,
                                        .boot = "b1",
                                        .version = "1.4"};
static struct tandem_robot robot;

static void begin_robot(void)
{
    memset(&published, 0, sizeof published);
    robot = (struct tandem_robot){.has = &body};
}

/* From memory that ends with the message, so that a sanitizer sees every step beyond it. */
static void receive_message(const char *word, const char *payload)
{
    const size_t bytes = strlen(payload);
    char *exact = malloc(bytes > 0 ? bytes : 1);
    CU_ASSERT_FATAL(exact != NULL);
    memcpy(exact, payload, bytes);
    tandem_receive(&robot, word, exact, (uint16_t)bytes, tandem_ms(1500));
    free(exact);
}

static void test_commands(void)
{
    static const struct {
        const char *payload;
        bool taken;
        const char *op;
        double rotation_rad, displacement_m;
    } rows[] = {
        {"{\"op\":\"go\",\"rotation_rad\":0.5}", true, "go", 0.5, 0.0},
        {" {\n\"displacement_m\" : -1.25e-1 , \"op\":\"go\" , \"id\":\"a\"} ", true, "go", 0.0,
         -0.125},
        {"{\"op\":\"go\",\"rotation_rad\":1.5707963267948966,\"displacement_m\":2147}", true,
         "go", 1.5707963267948966, 2147.0},
        {"{\"op\":\"go\",\"rotation_rad\":5e-05,\"displacement_m\":1E+2}", true, "go", 5e-5,
         100.0},
        {"{\"op\":\"go\",\"rotation_rad\":0.00000000000000000000000000000000000001,"
         "\"displacement_m\":1}",
         true, "go", 0.0, 1.0},
        {"{\"op\":\"go\",\"rotation_rad\":1e-400,\"displacement_m\":1}", true, "go", 0.0, 1.0},
        {"{\"x\":{\"op\":[\"}\",{\"rotation_rad\":7}]},\"op\":\"lidar\",\"s\":\"\\\"\\\\\"}",
         true, "lidar", 0.0, 0.0},
        {"{\"op\":\"abcdefghijklmno\"}", true, "abcdefghijklmno", 0.0, 0.0},
        {"{\"op\":\"abcdefghijklmnop\"}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":\"1\"}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":NaN}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":1.2.3}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":1e99}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":2148}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"rotation_rad\":-}", false, "", 0.0, 0.0},
        {"{\"op\":1}", false, "", 0.0, 0.0},
        {"{\"op\":\"\"}", false, "", 0.0, 0.0},
        {"{}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\"", false, "", 0.0, 0.0},
        {"{\"op\":\"go\"}}", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",}", false, "", 0.0, 0.0},
        {"{\"op\":\"go", false, "", 0.0, 0.0},
        {"{\"op\":\"go\\", false, "", 0.0, 0.0},
        {"[\"op\",\"go\"]", false, "", 0.0, 0.0},
        {"{\"op\":\"go\",\"x\":[[[[[[[[[1]]]]]]]]]}", false, "", 0.0, 0.0},
        {"{\"id\":\"0123456789012345678901234567890123456789012345678\",\"op\":\"lidar\"}",
         false, "", 0.0, 0.0},
        {"1 90 50", false, "", 0.0, 0.0},
        {"", false, "", 0.0, 0.0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_robot();
        receive_message("command", rows[i].payload);
        CHECK_INT(rows[i].payload, published.begun, rows[i].taken);
        CHECK_INT(rows[i].payload, robot.dropped, !rows[i].taken);
        CHECK_TEXT(rows[i].payload, published.command.op, rows[i].op);
        CHECK_NEAR(rows[i].payload, published.command.rotation_rad, rows[i].rotation_rad, 1e-6,
                   1e-6);
        CHECK_NEAR(rows[i].payload, published.command.displacement_m, rows[i].displacement_m,
                   1e-6, 1e-6);
    }
    begin_robot();
    receive_message("parameters", "{\"op\":\"go\",\"rotation_rad\":1}");
    CHECK_INT("another word", published.begun + robot.dropped, 0);
}

static void check_reply(const char *what, size_t k, const char *id, enum reply_status status)
{
    const struct event *e = &published.event[k];
    CHECK_INT(what, e->kind, EVENT_REPLY);
    CHECK_TEXT(what, e->reply.id, id);
    CHECK_INT(what, e->reply.status, status);
    CHECK_INT(what, published.qos[k], 1);
    CHECK_INT(what, published.retained[k], 0);
    CHECK_INT(what, e->reply.source_us, 4294967295999999);
}

static void test_course(void)
{
    begin_robot();
    robot.pose[0] = -1.25F;
    robot.pose[2] = 3.0F;
    receive_message("command", "{\"id\":\"w\",\"op\":\"go\"}");
    check_reply("a move of nothing", 0, "w", REPLY_DONE);
    CHECK_INT("stamped as it came", published.event[0].reply.source_start_us, 1500000);
    CHECK_INT("values", published.event[0].reply.value_count, 3);
    CHECK_NEAR("x", published.event[0].reply.values[0].number, -1.25, 0, 0);
    receive_message("command", "{\"id\":17,\"op\":\"go\",\"rotation_rad\":1}");
    CHECK("at work", robot.busy && published.count == 1);
    receive_message("command", "{\"id\":17,\"op\":\"go\",\"rotation_rad\":1}");
    CHECK_INT("it came again", published.count, 1);
    receive_message("command", "{\"id\":\"b\",\"op\":\"go\",\"rotation_rad\":1}");
    check_reply("a second one", 1, "b", REPLY_IGNORED);
    receive_message("command", "{\"id\":\"h\",\"op\":\"halt\"}");
    CHECK("stopped", published.stopped && !robot.busy);
    check_reply("first the move", 2, "17", REPLY_HALTED);
    check_reply("then the halt", 3, "h", REPLY_DONE);
    receive_message("command", "{\"op\":\"halt\"}");
    check_reply("nothing to halt", 4, "", REPLY_IGNORED);
    tandem_end(&robot, "done");
    CHECK_INT("nothing had been at work", published.count, 5);
    published.refuses = true;
    receive_message("command", "{\"id\":\"l\",\"op\":\"lidar\"}");
    check_reply("not of this robot", 5, "l", REPLY_ERROR);
    published.refuses = false;
    receive_message("command", "{\"id\":\"c\",\"op\":\"go\",\"displacement_m\":1}");
    tandem_end(&robot, "blocked");
    check_reply("blocked", 6, "c", REPLY_BLOCKED);
    CHECK_INT("one reply each", published.count, 7);
    CHECK_INT("nothing dropped", robot.dropped, 0);
}

static void test_publishing(void)
{
    const float nu[3] = {0.123456789F, -123456.7F, 0.0F};
    begin_robot();
    tandem_online(&robot);
    CHECK_INT("connection", published.event[0].kind, EVENT_CONNECTION);
    CHECK("online, retained", published.event[0].connection.online && published.retained[0] &&
                                  published.qos[0] == 1);
    CHECK_TEXT("boot", published.event[0].connection.boot, "b1");
    CHECK_TEXT("version", published.event[0].connection.version, "1.4");
    receive_message("probe", "{\"probe\": 8999999999999999, \"sent\":1.5}");
    CHECK_INT("echo", published.event[1].kind, EVENT_ECHO);
    CHECK_INT("its number", published.event[1].echo.probe, 8999999999999999);
    CHECK_INT("received", published.event[1].echo.source_received_us, 1500000);
    tandem_sample(&robot, (struct tandem_time){3, 7}, nu, 3, nu, 1);
    const struct event_telemetry *t = &published.event[2].telemetry;
    CHECK_INT("telemetry", published.event[2].kind, EVENT_TELEMETRY);
    CHECK_INT("its own time", t->source_us, 3000007);
    CHECK("counts", t->nu_count == 3 && t->tau_count == 1 && t->pose_count == 3 && t->seq == 0);
    CHECK_NEAR("nu", t->nu[0], 0.123457, 1e-12, 0);
    CHECK_NEAR("large", t->nu[1], -123456.7, 0, 0.01);
    CHECK_INT("qos", published.qos[2] + published.retained[2], 0);
    CHECK_INT("all", published.count, 3);
    static const char *const wrong[] = {
        "",     "{}", "{\"probe\":\"x\"}", "{\"probe\":-1}", "{\"probe\":12345678901234567}",
        "probe"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        receive_message("probe", wrong[i]);
        CHECK_INT(wrong[i], published.count, 3);
        CHECK_INT(wrong[i], robot.dropped, i + 1);
    }
}

/* Values that cannot be sent are left out, and counted. */
static void test_untold(void)
{
    static const float odd[] = {NAN, INFINITY, -INFINITY, 2e9F};
    begin_robot();
    for (size_t i = 0; i < COUNT(odd); i++) {
        tandem_sample(&robot, tandem_ms(0), &odd[i], 1, NULL, 0);
        CHECK_INT("no number", published.count, 0);
        CHECK_INT("counted", robot.dropped, i + 1);
    }
    float many[40];
    for (size_t i = 0; i < COUNT(many); i++) {
        many[i] = 12345.678F;
    }
    tandem_sample(&robot, tandem_ms(0), many, COUNT(many), NULL, 0);
    CHECK_INT("no room", published.count, 0);
    CHECK_INT("counted", robot.dropped, COUNT(odd) + 1);
    published.cut = true;
    tandem_online(&robot);
    CHECK_INT("not sent", robot.dropped, COUNT(odd) + 2);
    for (double x = 1e-7; x < 9e8; x *= 1.37) { /* over all ranges of digits */
        const float one = (float)x;
        const size_t k = published.count % PUBLISHED_MAX;
        tandem_sample(&robot, tandem_ms(0), &one, 1, NULL, 0);
        CHECK_NEAR("read back", published.event[k].telemetry.nu[0], (double)one, 3e-7, 6e-7);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("robot client", NULL, NULL);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "a course", test_course);
    CU_add_test(suite, "its reports", test_publishing);
    CU_add_test(suite, "values that it cannot report", test_untold);
    return check_run();
}
