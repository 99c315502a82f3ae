#include "tests/support/check.h"

#include "base/numbers/lab_time.h"
#include "logger/message/message.h"
#include "logger/storage/journal_reader.h"

static char scratch[MESSAGE_PAYLOAD_MAX + 1];

static void test_time(void)
{
    static const struct {
        const char *text;
        int64_t us; /* LAB_TIME_NONE: refused */
    } rows[] = {
        {"1970-01-01T00:00:00Z", 0},
        {"2026-11-20T05:55:55.599953Z", 1795154155599953},
        {"2026-11-20T05:55:55.599953Z+0000", 1795154155599953}, /* mosquitto_sub 2.0.11 */
        {"2026-11-20T06:55:55.599953+01:00", 1795154155599953},
        {"2026-11-20T00:55:55.599953-05", 1795154155599953},
        {"2026-11-20 05:55:55.5", 1795154155500000},
        {"2024-02-29T12:00:00.123456789Z", 1709208000123456},
        {"2100-03-01T00:00:00Z", 4107542400000000},
        {"2026-11-20T05:55:55.Z", LAB_TIME_NONE},
        {"2026-11-20T05:55:55.1234567890Z", LAB_TIME_NONE},
        {"2026-13-20T05:55:55Z", LAB_TIME_NONE},
        {"2026-02-29T05:55:55Z", LAB_TIME_NONE},
        {"2026-11-20T25:55:55Z", LAB_TIME_NONE},
        {"2026-11-20T05:55:55X", LAB_TIME_NONE},
        {"2026-11-20T05:55:55+1", LAB_TIME_NONE},
        {"2026-11-20", LAB_TIME_NONE},
        {"", LAB_TIME_NONE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].text, message_parse_time(rows[i].text, strlen(rows[i].text)),
                  rows[i].us);
    }
    srand(check_seed(1));
    for (int i = 0; i < 100000; i++) {
        const int64_t us = ((int64_t)rand() << 22 ^ rand()) % 253402300800000000;
        char text[28];
        message_format_time(us, text);
        CU_ASSERT_EQUAL_FATAL(message_parse_time(text, strlen(text)), us);
    }
}

static void test_foreign_lines(void)
{
    static const struct {
        const char *row;
        const char *line;
        enum status status;
        const char *topic;
        const char *payload;
    } rows[] = {
        {"-F %J",
         "{\"tst\":\"2026-11-20T05:55:55.599953Z+0000\",\"topic\":\"a/"
         "b\",\"qos\":1,\"retain\":0,"
         "\"payloadlen\":57,\"mid\":1,\"payload\":{\"t\":1763617674.123456,\"s\":\"éé\"}}",
         STATUS_OK, "a/b", "{\"t\":1763617674.123456,\"s\":\"éé\"}"},
        {"-F %j",
         "{\"tst\":\"2026-11-20T05:55:55.604351Z+0000\",\"topic\":\"a/"
         "d\",\"qos\":0,\"retain\":0,"
         "\"payloadlen\":9,\"payload\":\"{\\\"a\\\":\\n 1}\"}\n",
         STATUS_OK, "a/d", "{\"a\":\n 1}"},
        {"properties are passed over",
         "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"x\",\"qos\":0,\"retain\":1,"
         "\"properties\":{\"user-properties\":{\"k\":\"v\"}},\"payloadlen\":1,\"payload\":3}",
         STATUS_OK, "x", "3"},
        {"empty payload",
         "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"x\",\"qos\":0,\"retain\":0,"
         "\"payloadlen\":0,\"payload\":null}",
         STATUS_OK, "x", ""},
        {"blank", " \r\n", STATUS_E_EMPTY, NULL, NULL},
        {"torn", "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"x\",\"pay", STATUS_E_PARSE,
         NULL, NULL},
        {"no time", "{\"topic\":\"x\",\"payload\":1}", STATUS_E_PARSE, NULL, NULL},
        {"bad time", "{\"tst\":\"yesterday\",\"topic\":\"x\",\"payload\":1}", STATUS_E_PARSE,
         NULL, NULL},
        {"two values", "{\"tst\":\"2026-11-20T05:55:55Z\",\"topic\":\"x\",\"payload\":1} 2",
         STATUS_E_PARSE, NULL, NULL},
        {"not JSON", "hello", STATUS_E_PARSE, NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct message m = {0};
        struct err err = {0};
        CHECK_INT(rows[i].row,
                  message_parse(rows[i].line, strlen(rows[i].line), scratch, &m, &err),
                  rows[i].status);
        if (rows[i].status == STATUS_OK) {
            char payload[128];
            (void)snprintf(payload, sizeof payload, "%.*s", (int)m.stored_bytes, m.payload);
            CHECK_TEXT(rows[i].row, m.topic, rows[i].topic);
            CHECK_TEXT(rows[i].row, payload, rows[i].payload);
        } else {
            CHECK(rows[i].row, rows[i].status == STATUS_E_EMPTY || err.text[0] != '\0');
        }
    }
}

/* mosquitto_sub before 2.0 writes seconds. All three readers agree. */
static void test_time_as_number(void)
{
    static const struct {
        const char *tst;
        int64_t us; /* LAB_TIME_NONE: refused */
    } rows[] = {
        {"1772438401", 1772438401000000},
        {"1772438401.0", 1772438401000000},
        {"1772438401.599953", 1772438401599953},
        {"1.7724384015e9", 1772438401500000},
        {"0", 0},
        {"253402300799.5", 253402300799500000},
        {"253402300800", LAB_TIME_NONE}, /* 1772438401000 are milliseconds */
        {"-1", LAB_TIME_NONE},
        {"NaN", LAB_TIME_NONE},
        {"null", LAB_TIME_NONE},
        {"\"1772438401\"", LAB_TIME_NONE},
        {"\"2026-03-02T08:00:01Z\"", 1772438401000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[128];
        struct message m = {.t_us = LAB_TIME_NONE};
        struct err err = {0};
        const int n = snprintf(line, sizeof line, "{\"tst\":%s,\"topic\":\"x\",\"payload\":{}}",
                               rows[i].tst);
        const bool good = rows[i].us != LAB_TIME_NONE;
        CHECK_INT(rows[i].tst, message_parse(line, (size_t)n, scratch, &m, &err),
                  good ? STATUS_OK : STATUS_E_PARSE);
        CHECK_INT(rows[i].tst, m.t_us, rows[i].us);
        CHECK_INT(rows[i].tst, message_parse_plain(line, (size_t)n, &m), good);
        CHECK_INT(rows[i].tst, m.t_us, rows[i].us);
        CHECK_INT(rows[i].tst, journal_line_us(line, (size_t)n), rows[i].us);
    }
}

/* Whatever bytes come, the line holds them: format then parse gives the same message. */
static void test_round_trip(void)
{
    static char line[MESSAGE_LINE_MAX];
    static char payload[MESSAGE_PAYLOAD_MAX];
    srand(check_seed(1));
    for (int i = 0; i < 3000; i++) {
        const size_t bytes = (size_t)(i == 0 ? MESSAGE_PAYLOAD_MAX : rand() % 200);
        for (size_t k = 0; k < bytes; k++) {
            payload[k] = (char)(i == 0 ? 0x80 : i % 2 ? rand() % 256 : rand() % 94 + 33);
        }
        const struct message m = {.t_us = rand(),
                                  .topic = "t/\"q\"/ü",
                                  .qos = rand() % 3,
                                  .retained = rand() % 2,
                                  .dup = rand() % 2,
                                  .packet_id = (uint16_t)(rand() % 3 * 32767),
                                  .payload = payload,
                                  .stored_bytes = bytes,
                                  .payload_bytes = bytes + (i == 0 ? 7 : 0)};
        const size_t n = message_format(&m, line, sizeof line);
        struct message back;
        CU_ASSERT_FATAL(n > 0);
        CU_ASSERT_EQUAL_FATAL(line[n - 1], '\n');
        CU_ASSERT_EQUAL_FATAL(memchr(line, '\n', n - 1), NULL);
        CU_ASSERT_EQUAL_FATAL(message_parse(line, n, scratch, &back, NULL), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(back.t_us, m.t_us);
        CU_ASSERT_STRING_EQUAL_FATAL(back.topic, m.topic);
        CU_ASSERT_EQUAL_FATAL(back.qos, m.qos);
        CU_ASSERT_EQUAL_FATAL(back.retained, m.retained);
        CU_ASSERT_EQUAL_FATAL(back.dup, m.dup);
        CU_ASSERT_EQUAL_FATAL(back.packet_id, m.packet_id);
        CU_ASSERT_EQUAL_FATAL(back.payload_bytes, m.payload_bytes);
        CU_ASSERT_EQUAL_FATAL(back.stored_bytes, m.stored_bytes);

        CU_ASSERT_EQUAL_FATAL(memcmp(back.payload, m.payload, m.stored_bytes), 0);
    }
}

static void test_json_payload_is_embedded(void)
{
    static const char payload[] = "{\"a\":\n [1,\r\n2]}";
    char line[512];
    const struct message m = {.t_us = 0,
                              .topic = "x",
                              .payload = payload,
                              .stored_bytes = strlen(payload),
                              .payload_bytes = strlen(payload)};
    const size_t n = message_format(&m, line, sizeof line);
    line[n] = '\0';
    CHECK_TEXT(
        "embedded", line,
        "{\"tst\":\"1970-01-01T00:00:00.000000Z\",\"topic\":\"x\",\"qos\":0,\"retain\":0,"
        "\"payloadlen\":15,\"payload\":{\"a\":  [1,  2]}}\n");
    CHECK_INT("too small", message_format(&m, line, 40), 0);
}

/* Each bit counts, and similar messages spread over the chains: of 65536 numbered commands over
 * 4 times as many chains, 57983 are expected to be the first in a chain (1 - exp(-1/4) of the
 * chains), with a standard deviation of 80. */
static void test_hash(void)
{
    enum { COMMANDS = 65536, CHAINS = 4 * COMMANDS };
    static bool taken[CHAINS];
    char payload[64];
    size_t chains = 0;
    struct message m = {.topic = "lab/r1/command", .payload = payload};
    for (int i = 0; i < COMMANDS; i++) {
        m.stored_bytes = (size_t)snprintf(payload, sizeof payload,
                                          "{\"id\":\"c%d\",\"op\":\"go\",\"t\":%d.25}", i,
                                          1700000000 + i / 2);
        const size_t chain = message_hash(&m) % CHAINS;
        chains += !taken[chain];
        taken[chain] = true;
    }
    CHECK("spread", chains > 57983 - 400 && chains < 57983 + 400);
    const uint64_t hash = message_hash(&m);
    for (size_t bit = 0; bit < 8 * m.stored_bytes; bit++) {
        payload[bit / 8] ^= (char)(1U << bit % 8);
        CHECK("each bit", message_hash(&m) != hash);
        payload[bit / 8] ^= (char)(1U << bit % 8);
    }
    CHECK("the same again", message_hash(&m) == hash);
    m.topic[4] = '2';
    CHECK("another topic", message_hash(&m) != hash);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("message", NULL, NULL);
    CU_add_test(suite, "time", test_time);
    CU_add_test(suite, "foreign lines", test_foreign_lines);
    CU_add_test(suite, "time as a number", test_time_as_number);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "embedded JSON", test_json_payload_is_embedded);
    CU_add_test(suite, "hash", test_hash);
    return check_run();
}
