/* Text from elsewhere: control characters that a terminal obeys, NUL in ids, byte order marks,
 * cells that a spreadsheet computes. */
#include "tests/support/check.h"

#include "base/errors/err.h"
#include "base/text/utf8.h"
#include "logger/message/codec_native.h"
#include "logger/storage/journal_reader.h"
#include "web/http/csv.h"

static void test_tame(void)
{
    static const struct {
        const char *text, *want;
    } rows[] = {
        {"plain, é, 中, 😀", "plain, é, 中, 😀"},
        {"\x1b[2Jgone\a\x7f", "?[2Jgone??"},
        {"a\nb\tc\rd", "a?b?c?d"},
        {"C1: \xc2\x9b"
         "31m",
         "C1: ?31m"},
        {"a lone C1 byte \x9b"
         "31m",
         "a lone C1 byte ?31m"},
        {"cut \xe4\xb8", "cut ??"},
        {"lines\xe2\x80\xa8"
         "end",
         "lines?end"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[64];
        struct err err = {0};
        struct err_list list = {0};
        (void)snprintf(text, sizeof text, "%s", rows[i].text);
        CHECK_TEXT(rows[i].want, utf8_tame(text), rows[i].want);
        (void)err_set(&err, STATUS_E_ARG, FAULT_BAD_NAME, rows[i].text, "%s", rows[i].text);
        CHECK_TEXT(rows[i].want, err.text, rows[i].want);
        CHECK_TEXT(rows[i].want, err.where, rows[i].want);
        (void)err_list_add(&list, STATUS_E_ARG, FAULT_BAD_NAME, rows[i].text, 0, 0, "%s",
                           rows[i].text);
        CHECK_TEXT(rows[i].want, list.items[0].text, rows[i].want);
    }
}

/* A text that ends early would match another one. */
static void test_nul(void)
{
    static const struct {
        const char *topic, *payload;
        enum event_kind kind;
    } rows[] = {
        {"p/r1/command", "{\"op\":\"go\",\"id\":\"a\\u0000b\"}", EVENT_MALFORMED},
        {"p/r1/command", "{\"op\":\"go\",\"id\":\"\\u0000\"}", EVENT_MALFORMED},
        {"p/r1/command", "{\"op\":\"g\\u0000o\",\"id\":\"a\"}", EVENT_MALFORMED},
        {"p/r1/command", "{\"op\":\"go\",\"id\":\"a\\\\u0000b\"}", EVENT_COMMAND},
        {"p/r1/real/reply", "{\"status\":\"done\",\"id\":\"a\\u0000\"}", EVENT_MALFORMED},
        {"p/r1/real/reply", "{\"status\":\"done\\u0000\",\"id\":\"a\"}", EVENT_MALFORMED},
        {"p/r1/real/telemetry", "{\"boot\":\"a\\u0000\",\"nu\":[1]}", EVENT_MALFORMED},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct event event = {0};
        struct message m = {.payload = rows[i].payload,
                            .stored_bytes = strlen(rows[i].payload),
                            .payload_bytes = strlen(rows[i].payload)};
        (void)snprintf(m.topic, sizeof m.topic, "%s", rows[i].topic);
        CHECK_INT(rows[i].payload, codec_native.decode("p", &m, codec_copy_event, &event), 1);
        CHECK_INT(rows[i].payload, event.kind, rows[i].kind);
        CHECK(rows[i].payload,
              event.kind != EVENT_MALFORMED || event.malformed.fault == FAULT_BAD_ENCODING);
    }
}

static void test_mark(void)
{
    static const char line[] = "\xEF\xBB\xBF{\"tst\":\"1970-01-01T00:00:01Z\",\"topic\":\"a\","
                               "\"qos\":1,\"retain\":0,\"payload\":1}";
    struct message m;
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
    CHECK_INT("line", message_parse(line, sizeof line - 1, scratch, &m, NULL), STATUS_OK);
    CHECK_TEXT("line", m.topic, "a");
    CHECK_INT("its time", journal_line_us(line, sizeof line - 1), 1000000);
    CHECK_INT("alone", message_parse(line, 3, scratch, &m, NULL), STATUS_E_EMPTY);
    CHECK_INT("a part of one", message_parse(line, 2, scratch, &m, NULL), STATUS_E_PARSE);
    CHECK_INT("two", utf8_mark("\xEF\xBB\xBF\xEF\xBB\xBF", 6), 3);
}

static void test_formulas(void)
{
    static const struct {
        const char *json, *want;
    } rows[] = {
        {"{\"id\":\"=HYPERLINK(1)\"}", "'=HYPERLINK(1)\n"},
        {"{\"id\":\"+1+1\"}", "'+1+1\n"},
        {"{\"id\":\"-1+cmd|' /C calc'!A0\"}", "'-1+cmd|' /C calc'!A0\n"},
        {"{\"id\":\"@SUM(A1)\"}", "'@SUM(A1)\n"},
        {"{\"id\":\"\\t=1\"}", "'\t=1\n"},
        {"{\"id\":\"\\r=1\"}", "\"'\r=1\"\n"},
        {"{\"id\":\"=\\\"a\\\"\"}", "\"'=\"\"a\"\"\"\n"},
        {"{\"id\":\"-\"}", "'-\n"},
        /* a text that is no formula is unchanged */
        {"{\"id\":\"-12.5\"}", "-12.5\n"},
        {"{\"id\":-12.5}", "-12.5\n"},
        {"{\"id\":\"a=1\"}", "a=1\n"},
        {"{\"id\":\"\"}", "\n"},
    };
    static const char *const names[] = {"id"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct body out = {0};
        csv_row(&out, names, 1, rows[i].json, strlen(rows[i].json));
        body_append(&out, "", 1);
        CHECK_TEXT(rows[i].json, out.text, rows[i].want);
        body_clear(&out);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("hostile text", NULL, NULL);
    CU_add_test(suite, "control characters", test_tame);
    CU_add_test(suite, "NUL in texts", test_nul);
    CU_add_test(suite, "byte order mark", test_mark);
    CU_add_test(suite, "formulas", test_formulas);
    return check_run();
}
