/* Lines of a journal, and such with something odd about them: whatever is read in one go
 * (codec_read_plain()) is what the two readers behind each other make of it, and lines as the
 * daemon and mosquitto_sub write them are. */
#include "tests/support/check.h"

#include "logger/message/message.h"
#include "tests/support/plain_line.h"

static const char *const topics[] = {
    "r1/command",      "r1/real/reply", "r1/virtual/telemetry", "r1/real/connection",
    "r1/virtual/echo", "r1/real/echo",  "r1/virtual/pose/ack",  "r1/virtual/parameters/ack",
    "$lab/command",    "$lab/start",    "r1/nothing",           "cell/request",
};
static const char *const payloads[] = {
    "{\"id\":\"c1\",\"t\":1763617674.123456,\"op\":\"go\",\"rotation_rad\":-0.25}",
    "{\"id\":7,\"op\":\"movej\",\"q_rad\":[0,1,2,3,4,5],\"x\":[{\"y\":1e3},null]}",
    "{\"id\":\"c1\",\"t\":17.5,\"status\":\"done\",\"values\":{\"x_m\":1.5,\"a\":[1,2]}}",
    "{\"t\":1.5,\"seq\":3,\"nu\":[0.1,-2e-3,3],\"pose\":[1,2,3],\"s\":\"\\u00e9 {}\"}",
    "{\"state\":\"online\",\"boot\":\"b\"}",
    "{\"probe\":1,\"sent\":2,\"t_received\":3,\"t\":4}",
    "{\"version\":3,\"correction\":4,\"applied\":[\"a\"],\"refused\":[]}",
    "{}",
    "[{\"seq\":1},{\"seq\":2}]",
    "{\"op\":\"go\"",
    "{\"op\":\"go\"},\"payload\":{\"op\":\"turn\"}",
    "{\"status\":\"done\",\"values\":[[[[[[[[[1]]]]]]]]]}",
    "\"{}\"",
    "null",
};
/* {tst, topic} and payload, in many an order and spacing. */
static const char *const lines[] = {
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"qos\":1,\"retain\":0,"
    "\"payloadlen\":5,\"payload\":%s}",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"qos\":1,\"retain\":1,"
    "\"dup\":1,\"mid\":9,\"payload\":%s }\n",
    " {\"topic\":\"tandem/v1/%s\" , \"payload\" : %s\t}\r\n",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"payload\": %s \r}",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"payload\":%s,\"x\":{}}",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"payload\":%s}}",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"payload\":%s} {}",
    "{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/%s\",\"payloadlen\":70000,"
    "\"payload\":%s}",
    "\xef\xbb\xbf{\"tst\":\"2026-11-20T05:55:55.5Z\",\"topic\":\"tandem/v1/"
    "%s\",\"payload\":%s}",
};

/* The pattern with the topic in its first %s and the payload in its second. */
static void make_line(char line[1100], const char *pattern, const char *topic,
                      const char *payload)
{
    const char *const one = strstr(pattern, "%s");
    const char *const two = strstr(one + 2, "%s");
    (void)snprintf(line, 1000, "%.*s%s%.*s%s%s", (int)(one - pattern), pattern, topic,
                   (int)(two - one - 2), one + 2, payload, two + 2);
}

static void test_whole_lines(void)
{
    size_t agreed = 0;
    for (size_t l = 0; l < COUNT(lines); l++) {
        for (size_t t = 0; t < COUNT(topics); t++) {
            for (size_t p = 0; p < COUNT(payloads); p++) {
                char line[1100];
                make_line(line, lines[l], topics[t], payloads[p]);
                const enum plain_line read = plain_line_read(line, strlen(line));
                CHECK(line, read != PLAIN_DIFFERS);
                agreed += read == PLAIN_AGREES;
            }
        }
    }
    CHECK("many", agreed >= 50);
}

static void test_which_are_plain(void)
{
    static const struct {
        size_t line, topic, payload;
        enum plain_line want;
    } rows[] = {
        {0, 0, 0, PLAIN_AGREES}, {1, 0, 1, PLAIN_AGREES}, {0, 1, 2, PLAIN_AGREES},
        {3, 2, 3, PLAIN_AGREES}, {0, 3, 4, PLAIN_AGREES}, {0, 4, 5, PLAIN_AGREES},
        {0, 6, 6, PLAIN_AGREES}, {0, 7, 6, PLAIN_AGREES}, {0, 2, 7, PLAIN_AGREES},
        {2, 0, 0, PLAIN_NOT},    {4, 0, 0, PLAIN_NOT},    {5, 0, 0, PLAIN_NOT},
        {6, 0, 0, PLAIN_NOT},    {7, 0, 0, PLAIN_NOT},    {8, 0, 0, PLAIN_NOT},
        {0, 0, 2, PLAIN_NOT},    {0, 2, 8, PLAIN_NOT},    {0, 0, 9, PLAIN_NOT},
        {0, 0, 10, PLAIN_NOT},   {0, 1, 11, PLAIN_NOT},   {0, 8, 0, PLAIN_NOT},
        {0, 9, 7, PLAIN_NOT},    {0, 10, 0, PLAIN_NOT},   {0, 11, 0, PLAIN_NOT},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char line[1100];
        make_line(line, lines[rows[i].line], topics[rows[i].topic], payloads[rows[i].payload]);
        CHECK_INT(line, plain_line_read(line, strlen(line)), rows[i].want);
    }
}

/* A few bytes changed, removed or repeated. */
static void test_damaged_lines(void)
{
    size_t agreed = 0;
    srand(check_seed(20));
    for (int i = 0; i < 200000; i++) {
        char line[1100];
        make_line(line, lines[(size_t)rand() % 4], topics[(size_t)rand() % COUNT(topics)],
                  payloads[(size_t)rand() % COUNT(payloads)]);
        size_t n = strlen(line);
        for (int k = rand() % 3; k > 0; k--) {
            const size_t at = (size_t)rand() % n;
            const size_t piece = 1 + (size_t)rand() % (n - at < 8 ? n - at : 8);
            if (rand() % 3 == 0) {
                line[at] = "{}[]\",:0e\\ \n\xff."[rand() % 14];
            } else if (rand() % 2 == 0 && n > piece) {
                memmove(line + at, line + at + piece, n - at - piece);
                n -= piece;
            } else {
                memmove(line + at + piece, line + at, n - at);
                n += piece;
            }
        }
        line[n] = '\0';
        const enum plain_line read = plain_line_read(line, n);
        CHECK(line, read != PLAIN_DIFFERS);
        agreed += read == PLAIN_AGREES;
    }
    CHECK("some of them", agreed > 1000);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("plain_line", NULL, NULL);
    CU_add_test(suite, "whole lines", test_whole_lines);
    CU_add_test(suite, "which are plain", test_which_are_plain);
    CU_add_test(suite, "damaged lines", test_damaged_lines);
    return check_run();
}
