/* Numbers in native messages that other languages write in other ways: ids, and numbers that
 * are not finite; members of replies that the protocol does not have. */
#include "tests/support/lab_script.h"

#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"

static void store_event(void *context, const struct event *event)
{
    *(struct event *)context = *event;
}

static void decode_text(const char *topic, const char *payload, struct event *seen)
{
    struct message m = {
        .payload = payload, .stored_bytes = strlen(payload), .payload_bytes = strlen(payload)};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    CHECK_INT(payload, codec_decode(NULL, "tandem/v1", &m, store_event, seen), 1);
}

/* Encoders write a whole number as 1, 1.0 or 1e0: it is one id. Texts stay as they are. */
static void test_number_ids(void)
{
    static const struct {
        const char *id, *want;
    } rows[] = {
        {"1", "1"},         {"1.0", "1"},         {"1e0", "1"},
        {"-0", "0"},        {"1.50", "1.5"},      {"9007199254740993.0", "9007199254740993"},
        {"\"1.0\"", "1.0"}, {"\"52e1\"", "52e1"}, {"null", ""},
    };
    static struct event seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char payload[96];
        (void)snprintf(payload, sizeof payload, "{\"id\":%s,\"op\":\"go\"}", rows[i].id);
        decode_text("tandem/v1/r1/command", payload, &seen);
        CHECK_TEXT(rows[i].id, seen.command.id, rows[i].want);
        (void)snprintf(payload, sizeof payload, "{\"status\":\"done\",\"id\":%s}", rows[i].id);
        decode_text("tandem/v1/r1/real/reply", payload, &seen);
        CHECK_TEXT(rows[i].id, seen.reply.id, rows[i].want);
    }
}

static void test_not_finite(void)
{
    static struct event seen;
    decode_text("tandem/v1/r1/real/reply",
                "{\"id\":1,\"values\":{\"range_m\":NaN},\"status\":\"done\"}", &seen);
    CHECK_INT("malformed", seen.kind, EVENT_MALFORMED);
    CHECK_TEXT("whose", seen.malformed.id, "1");
    CHECK("what", strstr(seen.malformed.detail, "NaN is not a JSON number") != NULL);
    CHECK("where", strstr(seen.malformed.detail, "(values.range_m)") != NULL);
}

/* Nothing behind the codec sees a number that no robot has. */
static void test_impossible(void)
{
    static const char *const rows[][3] = {
        {"telemetry", "{\"pose\":[0,1e300,0]}", "column 12"},
        {"telemetry", "{\"nu\":[-1e10]}", "column 8"},
        {"reply", "{\"status\":\"done\",\"values\":{\"x_m\":-1.1e7}}", "column 34"}};
    static struct event seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char topic[64];
        (void)snprintf(topic, sizeof topic, "tandem/v1/r1/real/%s", rows[i][0]);
        decode_text(topic, rows[i][1], &seen);
        CHECK_INT(rows[i][1], seen.kind, EVENT_MALFORMED);
        CHECK_TEXT(rows[i][1], fault_name(seen.malformed.fault), "out_of_range");
        CHECK(seen.malformed.detail, strstr(seen.malformed.detail, rows[i][2]) != NULL);
    }
    decode_text("tandem/v1/r1/real/telemetry", "{\"pose\":[5e6,-1e7,700]}", &seen);
    CHECK_INT("a map's coordinates", seen.kind, EVENT_TELEMETRY);
}

/* A reply whose id is the same number as that of an open command belongs to it, whoever wrote
 * it as a text. One with the very same text comes first. */
static void test_ids_of_replies(void)
{
    static const struct {
        const char *ids[2], *reply; /* two open commands */
        int answers;                /* place of the one that the reply answers; -1: none */
    } rows[] = {
        {{"1.0", "2"}, "1", 0},
        {{"1", "2"}, "1.0", 0},
        {{"1", "1.0"}, "1.0", 1},
        {{"52e1", "520.0"}, "520", 0},
        {{"9007199254740993", "9007199254740992"}, "9007199254740992.0", 1},
        {{"a1", "01"}, "1", -1},
        {{"nan", "x"}, "NaN", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct script s;
        script_init(&s, 1);
        script_open(&s);
        for (size_t k = 0; k < 2; k++) {
            script_command(&s, "r1", 1000000 * (int64_t)(k + 1), rows[i].ids[k]);
        }
        script_reply(&s, "r1", 3000000, SIDE_REAL, rows[i].reply, REPLY_DONE);
        script_reply(&s, "r1", 3100000, SIDE_VIRTUAL, rows[i].reply, REPLY_DONE);
        const struct script_effect *entry = script_find(&s, EFFECT_ENTRY, 0);
        CHECK_INT(rows[i].reply, entry != NULL, rows[i].answers >= 0);
        CHECK_INT(rows[i].reply, script_count(&s, EFFECT_ALARM), rows[i].answers < 0 ? 2 : 0);
        if (entry) {
            CHECK_TEXT(rows[i].reply, entry->entry.id, rows[i].ids[rows[i].answers]);
        }
        script_close(&s);
    }
}

/* Names of members outside `values`, as many as fit. */
static void test_outside(void)
{
    static const struct {
        const char *payload, *want;
    } rows[] = {
        {"{\"status\":\"done\",\"values\":{\"x\":1},\"detail\":\"fine\",\"t\":1}", ""},
        {"{\"status\":\"done\",\"x\":1,\"pose\":{\"y\":2},\"b\\u00e4r\":null}", "x, pose, bär"},
        {"{\"status\":\"done\",\"a_member_with_a_name_that_is_longer_than_there_is_room_for_it_"
         "here\":1,"
         "\"x\":2}",
         "x"},
    };
    static struct event seen;
    for (size_t i = 0; i < COUNT(rows); i++) {
        decode_text("tandem/v1/r1/real/reply", rows[i].payload, &seen);
        CHECK_TEXT(rows[i].payload, seen.reply.outside, rows[i].want);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("numbers of messages", NULL, NULL);
    CU_add_test(suite, "ids that are numbers", test_number_ids);
    CU_add_test(suite, "ids of replies", test_ids_of_replies);
    CU_add_test(suite, "numbers that are not finite", test_not_finite);
    CU_add_test(suite, "impossible numbers", test_impossible);
    CU_add_test(suite, "members outside values", test_outside);
    return check_run();
}
