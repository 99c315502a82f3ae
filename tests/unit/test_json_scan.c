#include "tests/support/check.h"

#include <jansson.h>

#include "base/numbers/number.h"
#include "logger/message/json_scan.h"

static bool is_scanned(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, JSON_SCAN_DEPTH_MAX);
    return json_scan_skip(&s, NULL, NULL) && json_scan_finish(&s);
}

static void test_values(void)
{
    static const struct {
        const char *text;
        bool good;
    } rows[] = {
        {"{}", true},
        {"[]", true},
        {"[1,2.5,-3e2,true,false,null,\"x\"]", true},
        {"{\"a\":{\"b\":[{}]},\"c\":\"\\u00e9\\ud83d\\ude00\"}", true},
        {" 1 ", true},
        {"", false},
        {"[1,]", false},
        {"{\"a\":1,}", false},
        {"{\"a\" 1}", false},
        {"{a:1}", false},
        {"[1 2]", false},
        {"[1}", false},
        {"01", false},
        {"-", false},
        {"1.", false},
        {".5", false},
        {"1e", false},
        {"1e999", false},
        {"NaN", false},
        {"nul", false},
        {"\"\\x\"", false},
        {"\"\\ud83d\"", false},
        {"\"\\ude00\"", false},
        {"\"\x01\"", false},
        {"\"\xc3\x28\"", false},
        {"\"\xc0\xaf\"", false},
        {"\"\xed\xa0\x80\"", false},
        {"\"open", false},
        {"1 1", false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].text, is_scanned(rows[i].text, strlen(rows[i].text)), rows[i].good);
    }
}

static void test_depth(void)
{
    char text[2 * JSON_SCAN_DEPTH_MAX + 3];
    memset(text, '[', JSON_SCAN_DEPTH_MAX);
    memset(text + JSON_SCAN_DEPTH_MAX, ']', JSON_SCAN_DEPTH_MAX);
    CHECK("deepest", is_scanned(text, (size_t)2 * JSON_SCAN_DEPTH_MAX));
    memset(text, '[', sizeof text);
    CHECK("too deep", !is_scanned(text, sizeof text));
}

/* Random texts of JSON's alphabet: the same ones are good here and to jansson. */
static void test_against_jansson(void)
{
    static const char *const parts[] = {
        "{",    "}",    "[", "]",  ",",       ":", "\"a\"", "\"b\"", "1",         "-2.5", "1e3",
        "true", "null", " ", "\n", "\"\\n\"", "0", "01",    "1.e",   "\"\\u12\"", "\xff"};
    srand(check_seed(3));
    int good = 0;
    for (int i = 0; i < 300000; i++) {
        char text[256] = "";
        const int count = rand() % 9 + 1;
        for (int k = 0; k < count; k++) {
            (void)strcat(text, parts[(size_t)rand() % COUNT(parts)]);
        }
        json_t *parsed = json_loads(text, JSON_DECODE_ANY, NULL);
        const bool same = is_scanned(text, strlen(text)) == (parsed != NULL);
        if (!same) {
            (void)printf("differs: %s\n", text);
        }
        good += parsed != NULL;
        json_decref(parsed);
        CU_ASSERT_FATAL(same);
    }
    CU_ASSERT_TRUE(good > 1000);
}

static void test_numbers_are_exact(void)
{
    srand(check_seed(4));
    for (int i = 0; i < 200000; i++) {
        char text[64];
        const double shown = ((double)rand() / RAND_MAX - 0.5) * pow(10.0, rand() % 40 - 20);
        (void)snprintf(text, sizeof text, "%.*g", rand() % 20 + 1, shown);
        struct json_scan s;
        double got = 0.0;
        json_scan_start(&s, text, strlen(text), 1);
        CU_ASSERT_TRUE_FATAL(json_scan_number(&s, &got) && json_scan_finish(&s));
        const double want = strtod(text, NULL);
        CU_ASSERT_EQUAL_FATAL(memcmp(&got, &want, sizeof got), 0);
    }
}

/* Short numbers have a fast path with the same results; some numbers are outside of it. */
static void test_short_numbers(void)
{
    srand(check_seed(5));
    int good = 0;
    for (int i = 0; i < 300000; i++) {
        char text[24] = "";
        double value = 0.0;
        double want = 0.0;
        for (int k = rand() % 10 + 1; k > 0; k--) {
            text[k - 1] = "00123456789..-eE+,:]/ "[rand() % 22];
        }
        const char *end = number_scan_short(text, text + rand() % 20, &value);
        if (end) {
            CU_ASSERT_PTR_EQUAL_FATAL(number_scan_json(text, text + sizeof text, &want), end);
            CU_ASSERT_EQUAL_FATAL(memcmp(&value, &want, sizeof value), 0);
        }
        good += end != NULL;
    }
    CU_ASSERT_TRUE(good > 1000);
}

/* Members are found whatever their order, and none that are only like a row's. */
static void test_rows(void)
{
    static const struct {
        char name[JSON_NAME_MAX];
        int other;
    } rows[] = {{"t", 0}, {"tau", 1}, {"tau_dot", 2}, {"fifteen_letters", 3}};
    static const struct {
        const char *text;
        size_t found[4];
    } cases[] = {
        {"{\"t\":1,\"tau\":2,\"tau_dot\":3}", {0, 1, 2}},
        {"{ \"tau_dot\" : 3 , \"t\"\n:1,\"t\":1,\"tau\":2}", {2, 0, 0, 1}},
        {"{\"\":1,\"ta\":2,\"tau_do\":3,\"tau_dot_\":4}", {4, 4, 4, 4}},
        {"{\"tau\":1,\"t\\u0061u\":2,\"T\":3,\"t\":4}", {1, 4, 4, 0}},
        {"{\"fifteen_letters\":1,\"fifteen_letterz\":2,\"fifteen_letters_\":3}", {3, 4, 4}},
        {"{\"fifteen_letter\":1,\"fifteen_\":2,\"fifteen_lettersfifteen_letters\":3}",
         {4, 4, 4}},
        {"{\"t\":1,\"tau\":2,\"fifteen_letters\":3}", {0, 1, 3}},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json_scan s;
        struct json_text key;
        size_t row = COUNT(rows);
        size_t k = 0;
        json_scan_start(&s, cases[i].text, strlen(cases[i].text), 1);
        CU_ASSERT_TRUE_FATAL(json_scan_enter(&s, JSON_KIND_OBJECT));
        while (json_scan_next_row(&s, rows, sizeof rows[0], COUNT(rows), &row, &key)) {
            CHECK_INT(cases[i].text, row, cases[i].found[k++]);
            CHECK("key", row == COUNT(rows) || json_text_is(&key, rows[row].name));
            CU_ASSERT_TRUE_FATAL(json_scan_skip(&s, NULL, NULL));
        }
        CHECK(cases[i].text, json_scan_finish(&s) && k >= 3);
    }
}

/* Texts that end within a name, or hold zeros as a row does behind its name, in memory that
 * ends with them (the sanitizers see what is read beyond): no name is found. */
static void test_rows_at_the_end(void)
{
    static const char rows[][JSON_NAME_MAX] = {"fifteen_letters", "t"};
    static const struct {
        const char *text;
        size_t bytes;
    } cases[] = {
        {"{\"t\0\":1,\"other\":222222222222222}", 32},
        {"{\"t\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\":1}", 22},
        {"{\"t\":1}", 2},
        {"{\"t\":1}", 3},
        {"{\"fifteen_letters\":1}", 12},
        {"{\"fifteen_letters\":1}", 16},
        {"{\"fifteen_letters\":1}", 17},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct json_scan s;
        struct json_text key;
        size_t row = COUNT(rows);
        char *const text = malloc(cases[i].bytes);
        CU_ASSERT_PTR_NOT_NULL_FATAL(text);
        memcpy(text, cases[i].text, cases[i].bytes);
        json_scan_start(&s, text, cases[i].bytes, 1);
        CU_ASSERT_TRUE_FATAL(json_scan_enter(&s, JSON_KIND_OBJECT));
        CHECK(cases[i].text,
              !json_scan_next_row(&s, rows, sizeof rows[0], COUNT(rows), &row, &key) &&
                  s.error);
        free(text);
    }
}

/* Numbers that are not finite are named, with their member; other faults are not. */
static void test_not_finite(void)
{
    static const struct {
        const char *text, *path; /* "": no path; NULL: another fault */
        const char *word;
    } rows[] = {
        {"{\"values\":{\"range_m\":NaN}}", "values.range_m", "NaN"},
        {"{\"a\":\"x,y\",\"b\":[1,{\"c\":2},[3,-Infinity]]}", "b[2][1]", "-Infinity"},
        {"{\"a\":{\"q\":1},\"b\":[],\"c\":{\"d\":Infinity}}", "c.d", "Infinity"},
        {"[[1,2],[3,nan]]", "[1][1]", "nan"},
        {"{\"say \\\"x\\\"\":1,\"b\":-inf}", "b", "-inf"},
        {"{\"b\":+INF}", "b", "+INF"},
        {"{\"b\":-nan(ind)}", "b", "-nan"},
        {"NaN", "", "NaN"},
        {"{\"a\":nul}", NULL, NULL},
        {"{\"a\":info}", NULL, NULL},
        {"{\"a\":-}", NULL, NULL},
        {"{\"nan\" 1}", NULL, NULL},
        {"{\"a\":N", NULL, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct json_scan s;
        char said[128], want[128];
        json_scan_start(&s, rows[i].text, strlen(rows[i].text), JSON_SCAN_DEPTH_MAX);
        CHECK(rows[i].text, !json_scan_skip(&s, NULL, NULL));
        (void)json_scan_explain(&s, said, sizeof said);
        (void)snprintf(want, sizeof want,
                       "%s is not a JSON number%s%s%s: ", rows[i].word ? rows[i].word : "",
                       rows[i].path && *rows[i].path ? " (" : "",
                       rows[i].path ? rows[i].path : "",
                       rows[i].path && *rows[i].path ? ")" : "");
        CHECK_INT(rows[i].text, strncmp(said, want, strlen(want)) == 0, rows[i].path != NULL);
        CHECK_INT(rows[i].text, s.fault == FAULT_NOT_A_NUMBER,
                  rows[i].path != NULL || strcmp(rows[i].text, "{\"a\":-}") == 0);
    }
    struct json_scan s;
    char deep[600] = "", said[32];
    for (int k = 0; k < 60; k++) {
        (void)strcat(deep, "{\"\xc3\xa9t\xc3\xa9\":");
    }
    (void)strcat(deep, "NaN");
    json_scan_start(&s, deep, strlen(deep), JSON_SCAN_DEPTH_MAX);
    CHECK("deep", !json_scan_skip(&s, NULL, NULL));
    CHECK_INT("cut", strlen(json_scan_explain(&s, said, sizeof said)), sizeof said - 1);
}

/* One value has one plain form, as long as it fits. */
static void test_plain_numbers(void)
{
    static const struct {
        const char *number, *plain;
    } rows[] = {
        {"1", "1"},
        {"1.0", "1"},
        {"1e0", "1"},
        {"10E-1", "1"},
        {"0.001e+3", "1"},
        {"-0", "0"},
        {"0.000", "0"},
        {"0e5", "0"},
        {"-2.50", "-2.5"},
        {"25e-1", "2.5"},
        {"1e3", "1000"},
        {"-0.05", "-0.05"},
        {"5e-3", "0.005"},
        {"100", "100"},
        {"10.0100", "10.01"},
        {"9007199254740993", "9007199254740993"},
        {"9007199254740993.0", "9007199254740993"},
        {"9007199254740992.0", "9007199254740992"},
        {"1234567890123456789e1", "12345678901234567890"},
        {"1e300", "1e300"},
        {"1e-300", "1e-300"},
    };
    char out[48];
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].number,
                  number_write_plain(rows[i].number, strlen(rows[i].number), out, sizeof out),
                  strlen(rows[i].plain));
        CHECK_TEXT(rows[i].number, out, rows[i].plain);
    }
    CHECK_INT("no room", number_write_plain("12345", 5, out, 5), 5);
    CHECK_TEXT("nothing", out, "");
    srand(check_seed(6));
    for (int i = 0; i < 20000; i++) {
        char text[64], again[48];
        const double shown = ((double)rand() / RAND_MAX - 0.5) * pow(10.0, rand() % 30 - 15);
        (void)snprintf(text, sizeof text, rand() % 2 ? "%.*f" : "%.*e", rand() % 20, shown);
        const size_t n = number_write_plain(text, strlen(text), out, sizeof out);
        if (n < sizeof out) {
            CU_ASSERT_EQUAL_FATAL(strtod(out, NULL), strtod(text, NULL));
            CU_ASSERT_EQUAL_FATAL(number_write_plain(out, n, again, sizeof again), n);
            CU_ASSERT_STRING_EQUAL_FATAL(again, out);
        }
    }
}

static void test_text_copy(void)
{
    static const char text[] = "\"a\\u00e9\\n\\ud83d\\ude00\\\\\"";
    struct json_scan s;
    struct json_text t;
    char out[16];
    json_scan_start(&s, text, strlen(text), 1);
    CU_ASSERT_TRUE_FATAL(json_scan_text(&s, &t));
    CHECK_INT("bytes", json_text_copy(&t, out, sizeof out, false), 9);
    CHECK_TEXT("resolved", out, "aé\n\xf0\x9f\x98\x80\\");
    CHECK_INT("cut", json_text_copy(&t, out, 6, false), 6);
    CHECK_TEXT("never half a character", out, "aé\n");
    /* A text that is no JSON has no escapes, also if it must be cut. */
    t = (struct json_text){.at = "\\x\\\\u12\\", .bytes = 8, .escaped = false};
    CHECK_INT("cut", json_text_copy(&t, out, 6, false), 6);
    CHECK_TEXT("backslashes", out, "\\x\\\\u");
    CHECK_INT("a character", json_text_next(&t, out), 1);
    CHECK_INT("a backslash", out[0], '\\');
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("json_scan", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "depth", test_depth);
    CU_add_test(suite, "against jansson", test_against_jansson);
    CU_add_test(suite, "numbers", test_numbers_are_exact);
    CU_add_test(suite, "short numbers", test_short_numbers);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "rows at the end", test_rows_at_the_end);
    CU_add_test(suite, "numbers that are not finite", test_not_finite);
    CU_add_test(suite, "plain numbers", test_plain_numbers);
    CU_add_test(suite, "text copy", test_text_copy);
    return check_run();
}
