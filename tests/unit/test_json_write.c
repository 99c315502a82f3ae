#include "tests/support/check.h"

#include <float.h>
#include <math.h>

#include <jansson.h>

#include "base/numbers/lab_time.h"
#include "logger/message/json_plain.h"
#include "logger/message/json_write.h"

static void test_numbers(void)
{
    static const struct {
        const char *row;
        double value;
        const char *text;
    } rows[] = {
        {"zero", 0.0, "0"},
        {"negative zero", -0.0, "-0"},
        {"integer", 42.0, "42"},
        {"negative", -1.25, "-1.25"},
        {"tenth", 0.1, "0.1"},
        {"sum that is not 0.3", 0.1 + 0.2, "0.30000000000000004"},
        {"third", 1.0 / 3.0, "0.3333333333333333"},
        {"unix time", 1763617674.123456, "1763617674.123456"},
        {"large", 1e300, "1e+300"},
        {"small", 2.5e-9, "2.5e-09"},
        {"millionth", 1e-6, "0.000001"},
        {"just below a million", 999999.999999, "999999.999999"},
        {"2^53", 9007199254740992.0, "9007199254740992"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[JSON_WRITE_NUMBER_MAX];
        const size_t n = json_format_real(rows[i].value, text);
        CHECK_TEXT(rows[i].row, text, rows[i].text);
        CHECK_INT(rows[i].row, n, strlen(text));
        const double back = strtod(text, NULL);
        CHECK(rows[i].row, memcmp(&back, &rows[i].value, sizeof back) == 0);
    }
}

static void test_seconds(void)
{
    static const struct {
        int64_t us;
        const char *text;
    } rows[] = {
        {0, "0"},
        {1, "0.000001"},
        {-1, "-0.000001"},
        {250000, "0.25"},
        {-1500000, "-1.5"},
        {1763617674123456, "1763617674.123456"},
        {60000000, "60"},
        {INT64_MAX, "9223372036854.775807"},
        {99050000, "99.05"},
        {INT64_MIN, "-9223372036854.775808"},
        {-100, "-0.0001"},
        {100000000, "100"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[JSON_WRITE_NUMBER_MAX];
        (void)json_format_seconds(rows[i].us, text);
        CHECK_TEXT(rows[i].text, text, rows[i].text);
    }
}

static double draw_real(int kind)
{
    uint64_t bits = 0;
    for (int k = 0; k < 5; k++) {
        bits = bits << 15 ^ (uint64_t)rand();
    }
    double value = 0.0;
    memcpy(&value, &bits, sizeof value);
    char text[JSON_WRITE_NUMBER_MAX];
    switch (kind) {
    case 0: /* any */
        return value;
    case 1: /* as fits have them */
        return ldexp((double)(bits >> 11), -53 - (int)(bits % 32));
    case 2: /* next to a power of two, where the doubles below lie closer */
        return ldexp(1.0 + DBL_EPSILON * (double)(bits % 3), (int)(bits % 121) - 60) -
               (bits % 2 > 0 ? 0.0 : ldexp(DBL_EPSILON, (int)(bits % 121) - 61));
    case 3: /* halfway between decimals, whole ones first of all */
        return ldexp((double)(bits % UINT64_C(1000000000000)), -(int)(bits >> 40) % 40);
    case 4: /* next to a power of ten */
        return pow(10.0, (int)(bits % 40) - 20) * (1.0 + DBL_EPSILON * ((int)(bits % 7) - 3));
    case 5: /* of few decimals */
        (void)snprintf(text, sizeof text, "%.*f", 1 + (int)(bits % 9),
                       ldexp((double)(bits >> 11), -53) * pow(10.0, (int)(bits % 8)));
        return strtod(text, NULL);
    default: /* of 14 to 17 digits */
        (void)snprintf(text, sizeof text, "%.*e", 13 + (int)(bits % 4),
                       ldexp((double)(bits >> 11), -53) * pow(10.0, (int)(bits % 40) - 25));
        return strtod(text, NULL);
    }
}

/* A random double's text reads back to the same bits, and no fewer digits from 15 on do. */
static void test_round_trip(void)
{
    srand(check_seed(1));
    for (int i = 0; i < 40000; i++) {
        const double value = draw_real(i % 7);
        if (!isfinite(value)) {
            continue;
        }
        char text[JSON_WRITE_NUMBER_MAX];
        char shortest[JSON_WRITE_NUMBER_MAX];
        int digits = 15;
        (void)json_format_real(value, text);
        const double back = strtod(text, NULL);
        CU_ASSERT_EQUAL_FATAL(memcmp(&back, &value, sizeof back), 0);
        do {
            (void)snprintf(shortest, sizeof shortest, "%.*g", digits, value);
        } while (fabs(strtod(shortest, NULL) - value) > 0.0 && digits++ < 17);
        const char *point = strchr(text, '.');
        const bool plain = !strchr(text, 'e') && (!point || strlen(point) <= 7);
        if (!plain || fabs(value) >= 9e9) { /* others are decimals of millionths */
            CHECK_TEXT("shortest", text, shortest);
        }
    }
}

/* One writer remembers texts of numbers: many that come again, among others that take their
 * places, are each written as alone. */
static void test_numbers_again(void)
{
    struct json_writer w;
    char text[64];
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    srand(check_seed(1));
    double values[100] = {0.1 + 0.2, -0.0};
    for (size_t i = 2; i < COUNT(values); i++) {
        values[i] = draw_real(1) * (i % 2 > 0 ? 1.0 : -1.0);
    }
    for (int i = 0; i < 5000; i++) {
        const double value = values[(size_t)rand() % COUNT(values)];
        char alone[JSON_WRITE_NUMBER_MAX];
        (void)json_format_real(value, alone);
        w.used = 0;
        w.comma[0] = false;
        json_write_real(&w, NULL, value);
        text[w.used] = '\0';
        CHECK_TEXT("again", text, alone);
    }
}

/* A float reads back to the same bits, by the fewest digits. */
static void test_floats(void)
{
    static const struct {
        float value;
        const char *text;
    } rows[] = {{0.1F, "[0.1]"},
                {-0.0F, "[-0]"},
                {16777216.0F, "[16777216]"},
                {0.30000001F, "[0.3]"},
                {0.3000001F, "[0.3000001]"},
                {1e-9F, "[1e-09]"},
                {3.4028235e38F, "[3.4028235e+38]"},
                {NAN, "[null]"}};
    char text[64];
    struct json_writer w;
    for (size_t i = 0; i < COUNT(rows); i++) {
        json_write_start(&w, text, sizeof text - 1, NULL, NULL);
        json_write_array(&w, NULL);
        json_write_float(&w, NULL, rows[i].value);
        json_write_close(&w);
        CU_ASSERT_TRUE(json_write_end(&w));
        text[w.used] = '\0';
        CHECK_TEXT("float", text, rows[i].text);
    }
    srand(check_seed(1));
    for (int i = 0; i < 20000; i++) {
        const uint32_t bits = (uint32_t)rand() << 16 ^ (uint32_t)rand();
        float value = 0.0F;
        memcpy(&value, &bits, sizeof value);
        if (!isfinite(value)) {
            continue;
        }
        json_write_start(&w, text, sizeof text - 1, NULL, NULL);
        json_write_float(&w, NULL, value);
        text[w.used] = '\0';
        CHECK("at most nine digits", w.used <= strlen("-123456789000000"));
        const float back = strtof(text, NULL);
        CU_ASSERT_EQUAL_FATAL(memcmp(&back, &value, sizeof back), 0);
    }
}

/* Each byte, before and behind others that are like it or not, at each place of a word. */
static void test_plain(void)
{
    for (int byte = 0; byte < 256; byte++) {
        const bool plain = byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
        for (size_t at = 0; at < 17; at++) {
            char text[17];
            memset(text, byte % 2 > 0 ? '~' : ' ', sizeof text);
            memset(text + at, byte, sizeof text - at);
            for (size_t bytes = at; bytes <= sizeof text; bytes++) {
                CHECK_INT("unchanged", json_skip_plain(text, text + bytes) - text,
                          plain ? bytes : at);
            }
        }
    }
}

struct sink {
    char text[4096];
    size_t used;
};

static void collect_text(void *context, const char *text, size_t bytes)
{
    struct sink *sink = context;
    CU_ASSERT_FATAL(sink->used + bytes < sizeof sink->text);
    memcpy(sink->text + sink->used, text, bytes);
    sink->used += bytes;
}

/* Texts of each length, with a quote at each place or none, into buffers of each size: in one
 * go or in pieces the same comes out, and nothing beyond the buffer (the sanitizers see that).
 */
static void test_texts(void)
{
    for (size_t bytes = 0; bytes < 52; bytes++) {
        for (size_t at = 0; at <= bytes; at++) {
            char text[53] = "";
            char want[128];
            memset(text, 'x', bytes);
            text[at] = at < bytes ? '"' : '\0';
            (void)snprintf(want, sizeof want, "[\"%.*s%s%s\",1]", (int)at, text,
                           at < bytes ? "\\\"" : "", at < bytes ? text + at + 1 : "");
            for (size_t size = JSON_WRITE_NUMBER_MAX; size < JSON_WRITE_NUMBER_MAX + 20;
                 size++) {
                struct sink sink = {{0}, 0};
                struct json_writer w;
                char *const buffer = malloc(size);
                CU_ASSERT_PTR_NOT_NULL_FATAL(buffer);
                json_write_start(&w, buffer, size, collect_text, &sink);
                json_write_array(&w, NULL);
                json_write_text(&w, NULL, text);
                json_write_int(&w, NULL, 1);
                json_write_close(&w);
                CHECK(want, json_write_end(&w));
                CHECK_TEXT(want, sink.text, want);
                free(buffer);
            }
        }
    }
}

static void write_sample(struct json_writer *w)
{
    static const char texts[2][8] = {"first", "\"2\""};
    json_write_object(w, NULL);
    json_write_text(w, "name", "quote \" back \\ line \n bell \a é");
    json_write_array(w, "list");
    json_write_int(w, NULL, -3);
    json_write_int(w, NULL, INT64_MIN);
    json_write_real(w, NULL, nan(""));
    json_write_bool(w, NULL, true);
    json_write_seconds(w, NULL, LAB_TIME_NONE);
    json_write_object(w, NULL);
    json_write_close(w);
    json_write_close(w);
    json_write_raw(w, "raw", "[1]", 3);
    json_write_two(w, "two", -0.5, nan(""));
    json_write_texts(w, "texts", texts[0], sizeof texts[0], 2);
    json_write_texts(w, "no texts", texts[0], sizeof texts[0], 0);
    json_write_text(w, "none", NULL);
    json_write_close(w);
}

static void test_document(void)
{
    static const char want[] =
        "{\"name\":\"quote \\\" back \\\\ line \\u000a bell \\u0007 é\",\"list\":[-3,"
        "-9223372036854775808,null,true,null,{}],\"raw\":[1],\"two\":[-0.5,null],"
        "\"texts\":[\"first\",\"\\\"2\\\"\"],\"no texts\":[],\"none\":null}";
    char buffer[JSON_WRITE_NUMBER_MAX]; /* smaller than the text: flushed on the way */
    struct sink sink = {{0}, 0};
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, collect_text, &sink);
    write_sample(&w);
    CU_ASSERT_TRUE(json_write_end(&w));
    CHECK_TEXT("flushed", sink.text, want);
    json_t *parsed = json_loads(sink.text, 0, NULL);
    CU_ASSERT_PTR_NOT_NULL(parsed);
    json_decref(parsed);
}

struct sample {
    double x_m;
    bool on;
    uint16_t small;
    uint32_t middle;
    uint64_t large;
    int64_t below, t_us;
    char chars[8];
    const char *text;
};

/* Each field in the way of its type. */
static void test_members(void)
{
    static const char *const texts[] = {"a", "b"};
    const struct names names = {texts, 2};
    const struct sample sample = {0.5, true, 65535, 4294967295, 7, -8, 2500000, "hi", NULL};
    char text[256];
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    if (json_write_known(&w, NULL, true)) {
        JSON_WRITE(&w, JSON_OF(&sample, x_m, on, small, large, below),
                   JSON("other", sample.middle), JSON_OF(&sample, chars, text),
                   JSON_SECONDS("t", sample.t_us));
        json_write_counts(&w, "counts", &names, (const uint64_t[]){3, 4});
        CHECK("null", !json_write_known(&w, "no", false));
        json_write_close(&w);
    }
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    CHECK_TEXT("members", text,
               "{\"x_m\":0.5,\"on\":true,\"small\":65535,\"large\":7,\"below\":-8,"
               "\"other\":4294967295,\"chars\":\"hi\",\"text\":null,\"t\":2.5,"
               "\"counts\":{\"a\":3,\"b\":4},\"no\":null}");
}

/* Rows are written in their order, in the format of their type; absent ones are not computed.
 */
static void test_rows(void)
{
    static const char *const texts[] = {"a", "b"};
    const struct names names = {texts, 2};
    const struct sample sample = {0.5, true, 65535, 4294967295, 7, -8, 2500000, "hi", NULL};
    const struct sample *const nothing = NULL;
    const double numbers[] = {1.5, 2.0};
    char text[512];
    struct json_writer w;
    json_write_start(&w, text, sizeof text - 1, NULL, NULL);
    JSON_OPEN(&w, NULL, JSON("x", sample.x_m), JSON("on", sample.on),
              JSON("small", sample.small), JSON("large", sample.large),
              JSON("below", sample.below), JSON("chars", sample.chars),
              JSON("text", sample.text), JSON_WHOLE("whole", 3), JSON_BOOL("equal", 1 == 1));
    JSON_WRITE(&w, JSON_SECONDS("t", sample.t_us), JSON_NULL("null"),
               JSON_OF(&sample, on, small),
               JSON_COUNTS("counts", &names, ((const uint64_t[]){3, 4})),
               JSON_NUMBERS("numbers", numbers, 2), JSON_NUMBERS("none", numbers, 0),
               JSON_TWO("two", 0.25, 0.75), JSON_IF(nothing, JSON("absent", nothing->x_m)),
               JSON_IF(true, JSON_GROUP(JSON("g", 0.5), JSON("h", "hi"))),
               JSON_KNOWN("unknown", nothing, JSON("absent", nothing->x_m)),
               JSON_KNOWN("known", true, JSON_OBJECT("empty", JSON_IF(false, JSON("i", 0.5)))));
    json_write_close(&w);
    CU_ASSERT_TRUE(json_write_end(&w));
    text[w.used] = '\0';
    CHECK_TEXT("rows", text,
               "{\"x\":0.5,\"on\":true,\"small\":65535,\"large\":7,\"below\":-8,"
               "\"chars\":\"hi\",\"text\":null,\"whole\":3,\"equal\":true,\"t\":2.5,"
               "\"null\":null,\"on\":true,\"small\":65535,\"counts\":{\"a\":3,\"b\":4},"
               "\"numbers\":[1.5,2],\"none\":[],\"two\":[0.25,0.75],\"g\":0.5,\"h\":\"hi\","
               "\"unknown\":null,\"known\":{\"empty\":{}}}");
}

static void test_overflow(void)
{
    char buffer[40];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, NULL, NULL);
    write_sample(&w);
    CU_ASSERT_FALSE(json_write_end(&w));
    CHECK_INT("never past the end", w.used, sizeof buffer);

    json_write_start(&w, buffer, sizeof buffer, NULL, NULL);
    json_write_object(&w, NULL);
    CU_ASSERT_FALSE(json_write_end(&w)); /* a bracket is open */
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("json_write", NULL, NULL);
    CU_add_test(suite, "numbers", test_numbers);
    CU_add_test(suite, "seconds", test_seconds);
    CU_add_test(suite, "round trip", test_round_trip);
    CU_add_test(suite, "numbers again", test_numbers_again);
    CU_add_test(suite, "floats", test_floats);
    CU_add_test(suite, "unchanged text", test_plain);
    CU_add_test(suite, "texts", test_texts);
    CU_add_test(suite, "document", test_document);
    CU_add_test(suite, "members", test_members);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "overflow", test_overflow);
    return check_run();
}
