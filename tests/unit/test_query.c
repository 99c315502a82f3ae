/* web/http/query.c: strict parameters. */
#include "tests/support/check.h"

#include "base/numbers/lab_time.h"
#include "logger/message/record.h"
#include "web/http/query.h"

/* Those of the stream have names of their own meaning: test_query_lists. */
enum { EVERY = (1 << QUERY_EVENT_PAIRS) - 1 };

static const int64_t NOW_US = INT64_C(1795154155599953); /* 2026-11-20T05:55:55.599953Z */

static void test_query_defaults(void)
{
    struct query q;
    struct err err = {0};
    CHECK_INT("empty", query_parse("", EVERY, NOW_US, &q, &err), STATUS_OK);
    CHECK_INT("limit", q.limit, QUERY_LIMIT_DEFAULT);
    CHECK_INT("since", q.since_us, LAB_TIME_NONE);
    CHECK_INT("until", q.until_us, LAB_TIME_MAX);
    CHECK("order", !q.oldest);
    CHECK_INT("format", q.format, QUERY_FORMAT_JSON);
    CHECK("filters", q.verdicts == 0 && q.types == 0 && q.given == 0 && !q.cursor[0]);
    CHECK_INT("NULL", query_parse(NULL, 0, NOW_US, &q, &err), STATUS_OK);
}

static void test_query_values(void)
{
    struct query q;
    struct err err = {0};
    CHECK_INT(
        "all",
        query_parse("limit=7&since=1763617674.25&until=2026-11-20T05:55:55.5Z&order=oldest"
                    "&format=csv&verdict=TIMEOUT,INCONSISTENT&type=clock_jump,team&cursor=abc"
                    "&name=trial%201.csv&pair=r1&refit=true&points=77&field=lag_s",
                    EVERY, NOW_US, &q, &err),
        STATUS_OK);
    CHECK_INT("limit", q.limit, 7);
    CHECK_INT("since", q.since_us, INT64_C(1763617674250000));
    CHECK_INT("until", q.until_us, INT64_C(1795154155500000));
    CHECK("order", q.oldest);
    CHECK_INT("format", q.format, QUERY_FORMAT_CSV);
    CHECK_INT("verdict", q.verdicts, 1 << VERDICT_TIMEOUT | 1 << ENTRY_FILTER_INCONSISTENT);
    CHECK_INT("type", q.types,
              UINT64_C(1) << ALARM_TYPE_CLOCK_JUMP | UINT64_C(1) << ALARM_TYPE_TEAM);
    CHECK("moving", !q.moving);
    CHECK_TEXT("cursor", q.cursor, "abc");
    CHECK_TEXT("name", q.name, "trial 1.csv");
    CHECK_TEXT("pair", q.pair, "r1");
    CHECK_INT("refit", q.refit, 1);
    CHECK_INT("points", q.points, 77);
    CHECK_INT("given", q.given, EVERY);
}

static void test_query_times(void)
{
    static const struct {
        const char *row, *text;
        int64_t want;
    } rows[] = {
        {"zero", "since=0", 0},
        {"whole", "since=12", 12000000},
        {"one digit", "since=12.5", 12500000},
        {"six digits", "since=12.000001", 12000001},
        {"latest", "since=99999999999", INT64_C(99999999999000000)},
        {"exact where doubles are not", "since=9007199254.740993", INT64_C(9007199254740993)},
        {"encoded point", "since=12%2e5", 12500000},
        {"iso", "since=1970-01-01T00:00:01Z", 1000000},
        {"iso, encoded colons", "since=1970-01-01T00%3A00%3A01Z", 1000000},
        {"iso, offset with plus", "since=1970-01-01T01:00:01+01:00", 1000000},
        {"iso, a blank, a comma", "since=1970-01-01%2000:00:01,5", 1500000},
        {"a date", "since=1970-01-02", INT64_C(86400000000)},
        {"yesterday", "since=yesterday", INT64_C(1795046400000000)},
        {"two hours ago", "since=-2h", INT64_C(1795146955599953)},
        {"iso, plus for both", "since=1970-01-01+01:00:01+01:00", 1000000},
        {"iso, plus for the blank", "since=1970-01-01+00:00:01", 1000000},
        {"iso, encoded plus", "since=1970-01-01T01:00:01%2B0100", 1000000},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct query q = {0};
        struct err err = {0};
        CHECK_INT(rows[i].row, query_parse(rows[i].text, EVERY, NOW_US, &q, &err), STATUS_OK);
        CHECK_INT(rows[i].row, q.since_us, rows[i].want);
        CHECK_INT(rows[i].row, q.moving,
                  strstr(rows[i].text, "=-") || strstr(rows[i].text, "=yesterday"));
    }
}

static void test_query_refusals(void)
{
    static const struct {
        const char *row, *text, *where;
    } rows[] = {
        {"unknown", "colour=red", "colour"},
        {"case", "Limit=5", "Limit"},
        {"unknown, cut", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee=1",
         "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"},
        {"no name", "=5", ""},
        {"not decodable name", "%zz=1", "%zz"},
        {"zero", "limit=0", "limit"},
        {"negative", "limit=-1", "limit"},
        {"too many", "limit=1001", "limit"},
        {"overflow", "limit=99999999999999999999", "limit"},
        {"words", "limit=ten", "limit"},
        {"trailing", "limit=5x", "limit"},
        {"space", "limit=%205", "limit"},
        {"fraction", "limit=5.0", "limit"},
        {"no value", "limit", "limit"},
        {"empty value", "limit=", "limit"},
        {"twice", "limit=5&limit=5", "limit"},
        {"twice, encoded", "limit=5&%6cimit=6", "limit"},
        {"NUL", "limit=5%00", "limit"},
        {"broken escape", "order=%n", "order"},
        {"no order", "order=up", "order"},
        {"empty order", "order=", "order"},
        {"no format", "format=xml", "format"},
        {"no verdict", "verdict=LATE", "verdict"},
        {"lower case verdict", "verdict=sync", "verdict"},
        {"no type", "type=TIMEOUT", "type"},
        {"one of them is no verdict", "verdict=AHEAD,LATE", "verdict"},
        {"an empty verdict", "verdict=AHEAD,", "verdict"},
        {"not a time", "since=tomorrow", "since"},
        {"negative time", "since=-5", "since"},
        {"point only", "since=.", "since"},
        {"open end", "since=5.", "since"},
        {"too fine", "since=5.1234567", "since"},
        {"too late", "since=100000000000", "since"},
        {"exponent", "since=1e9", "since"},
        {"nan", "since=nan", "since"},
        {"hex", "since=0x10", "since"},
        {"no such month", "since=2026-13-01T00:00:00Z", "since"},
        {"until", "until=x", "until"},
        {"backwards", "since=10&until=9", "until"},
        {"empty span", "since=10&until=10", "until"},
        {"no cursor", "cursor=", "cursor"},
        {"no points", "points=0", "points"},
        {"too many points", "points=4001", "points"},
        {"no field", "field=lag", "field"},
        {"no pair", "pair=", "pair"},
        {"folders", "name=../a.csv", "name"},
        {"encoded folders", "name=..%2fa.csv", "name"},
        {"line break in a name", "name=a%0ab.csv", "name"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct query q = {.limit = 12345};
        struct err err = {0};
        CHECK_INT(rows[i].row, query_parse(rows[i].text, EVERY, NOW_US, &q, &err),
                  STATUS_E_PARSE);
        CHECK_TEXT(rows[i].row, err.where, rows[i].where);
        CHECK(rows[i].row, err.text[0]);
        CHECK_INT(rows[i].row, q.limit, 12345);
    }
    struct query q;
    struct err err = {0};
    CHECK_INT("not of this route",
              query_parse("verdict=SYNC", QUERY_BIT(QUERY_LIMIT), NOW_US, &q, &err),
              STATUS_E_PARSE);
    CHECK_TEXT("not of this route", err.where, "verdict");
    CHECK_TEXT("not of this route", fault_name(err.fault), "unknown_parameter");
    err = (struct err){0};
    CHECK_INT("no parameters at all", query_parse("a=b", 0, NOW_US, &q, &err), STATUS_E_PARSE);
    CHECK_TEXT("no parameters at all", fault_name(err.fault), "unknown_parameter");
    static char text[2000];
    memcpy(text, "cursor=", 7);
    memset(text + 7, 'A', 900);
    err = (struct err){0};
    CHECK_INT("long cursor", query_parse(text, EVERY, NOW_US, &q, &err), STATUS_E_PARSE);
    CHECK_TEXT("long cursor", err.where, "cursor");
}

/* A form sends a blank as '+'; an empty text is no long one. */
static void test_query_texts(void)
{
    static const struct {
        const char *text, *fault, *said;
    } rows[] = {
        {"virtual_version=", "missing_value", "is empty: 1 to 64 bytes were expected"},
        {"virtual_version", "missing_value", "is empty: 1 to 64 bytes were expected"},
        {"pair=0123456789abcdef0123456789abcdef", "too_long",
         "has 32 bytes: 1 to 31 were expected"},
        {"virtual_version=%zz", "bad_encoding",
         "has a broken %XX or a control character, or is too long"},
    };
    const unsigned allowed = EVERY | QUERY_BIT(QUERY_VIRTUAL_VERSION) |
                             QUERY_BIT(QUERY_REAL_VERSION) | QUERY_BIT(QUERY_MASS);
    struct query q;
    struct err err = {0};
    CHECK_INT("plus",
              query_parse("virtual_version=sim+2+rc%2B1&real_version=%2b&name=trial+1.csv"
                          "&mass=1e+2&pair=r1",
                          allowed, NOW_US, &q, &err),
              STATUS_OK);
    CHECK_TEXT("a blank", q.version[SIDE_VIRTUAL], "sim 2 rc+1");
    CHECK_TEXT("a plus", q.version[SIDE_REAL], "+");
    CHECK_TEXT("a file", q.name, "trial 1.csv");
    CHECK("a number", q.mass_kg > 99.0 && q.mass_kg < 101.0);
    for (size_t i = 0; i < COUNT(rows); i++) {
        err = (struct err){0};
        CHECK_INT(rows[i].text, query_parse(rows[i].text, allowed, NOW_US, &q, &err),
                  STATUS_E_PARSE);
        CHECK_TEXT(rows[i].text, fault_name(err.fault), rows[i].fault);
        CHECK_TEXT(rows[i].text, err.text, rows[i].said);
    }
}

/* The stream's own pair=, type= and last_event_id=. */
static void test_query_lists(void)
{
    const unsigned allowed = QUERY_BIT(QUERY_EVENT_PAIRS) | QUERY_BIT(QUERY_EVENT_TYPES) |
                             QUERY_BIT(QUERY_LAST_EVENT_ID);
    struct query q = {0};
    struct err err = {0};
    CHECK_INT("none", query_parse("", allowed, NOW_US, &q, &err), STATUS_OK);
    CHECK_INT("all types", q.event_types, (1 << EVENT_TYPE_COUNT) - 1);
    CHECK_INT("lists",
              query_parse("pair=r1,r2&type=alarm,machines&last_event_id=1.2.3.4.5", allowed,
                          NOW_US, &q, &err),
              STATUS_OK);
    CHECK_TEXT("pairs", q.pairs, "r1,r2");
    CHECK_TEXT("id", q.last_event_id, "1.2.3.4.5");
    CHECK_INT("types", q.event_types, 1 << EVENT_TYPE_ALARM | 1 << EVENT_TYPE_MACHINES);
    CHECK_INT("encoded", query_parse("type=entry%2Cchange", allowed, NOW_US, &q, &err),
              STATUS_OK);
    static const char *const wrong[] = {
        "type=",           "type=entry,", "type=,entry",   "type=AHEAD",
        "type=clock_jump", "pair=",       "pair=a&pair=b", "limit=1"};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        CHECK_INT(wrong[i], query_parse(wrong[i], allowed, NOW_US, &q, &err), STATUS_E_PARSE);
    }
    CHECK_INT("an alarm's type elsewhere",
              query_parse("type=clock_jump", QUERY_BIT(QUERY_TYPE), NOW_US, &q, &err),
              STATUS_OK);
}

static enum status add_index(void *context, size_t parameter, const struct query_value *value)
{
    (void)value;
    *(size_t *)context += parameter;
    return STATUS_OK;
}

/* More parameters than an int has bits, each of them given once, and the last one twice. */
static void test_query_many(void)
{
    enum { MANY = 50, TEXT = 16 };
    char words[MANY][TEXT];
    const char *names[MANY];
    char text[MANY * TEXT] = "";
    size_t sum = 0;
    struct err err = {0};
    for (size_t i = 0; i < MANY; i++) {
        (void)snprintf(words[i], sizeof words[i], "n%zu", i);
        names[i] = words[i];
        (void)snprintf(text + strlen(text), sizeof text - strlen(text), "%sn%zu=1",
                       i > 0 ? "&" : "", i);
    }
    const struct query_reader reader = {names,          MANY,      QUERY_TEXT_MAX,
                                        STATUS_E_PARSE, add_index, &sum};
    CHECK_INT("once", query_read(text, &reader, &err), STATUS_OK);
    CHECK_INT("all", (long long)sum, MANY * (MANY - 1) / 2);
    CHECK_INT("twice", query_read("n49=1&n17=1&n49=1", &reader, &err), STATUS_E_PARSE);
    CHECK_TEXT("which", err.where, "n49");
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("query", NULL, NULL);
    CU_add_test(suite, "defaults", test_query_defaults);
    CU_add_test(suite, "values", test_query_values);
    CU_add_test(suite, "times", test_query_times);
    CU_add_test(suite, "refusals", test_query_refusals);
    CU_add_test(suite, "texts", test_query_texts);
    CU_add_test(suite, "lists", test_query_lists);
    CU_add_test(suite, "many", test_query_many);
    return check_run();
}
