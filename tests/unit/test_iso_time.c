/* tests/unit/test_iso_time.c - times of robots, files and people: what is read, and what is
 * said about the others. */
#include "tests/support/check.h"

#include "base/numbers/iso_time.h"

static const int64_t AT_US = 1795154155599953; /* 2026-11-20T05:55:55.599953Z */

static void test_forms(void)
{
    static const struct {
        const char *text;
        int64_t us;
        bool zoned;
    } rows[] = {
        {"2026-11-20T05:55:55.599953Z", AT_US, true},
        {"2026-11-20 05:55:55,599953", AT_US, false},
        {"2026-11-20t05:55:55.599953999z", AT_US, true},
        {"2026-11-20 06:55:55,599953+01:00", AT_US, true},
        {"2026-11-20 06:55:55.599953 +0100", AT_US, true},
        {"2026-11-20T00:55:55.599953-05", AT_US, true},
        {"2026-11-20T05:55:55.599953Z+0000", AT_US, true},
        {"2026-11-20T05:55:55", 1795154155000000, false},
        {"2026-11-20T05:55:55.5", 1795154155500000, false},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct iso_time t;
        CHECK(rows[i].text, iso_time_parse(rows[i].text, strlen(rows[i].text), &t));
        CHECK_INT(rows[i].text, t.us, rows[i].us);
        CHECK_INT(rows[i].text, t.zoned, rows[i].zoned);
        CHECK(rows[i].text, t.wanted == NULL);
    }
}

/* The message names the part that is missing. */
static void test_wanted(void)
{
    static const struct {
        const char *text, *word;
    } rows[] = {
        {"", "no date"},
        {"05:55:55Z", "no date"},
        {"20261120T055555Z", "no date"},
        {"2026-13-20T05:55:55Z", "no such day"},
        {"2026-02-29T05:55:55Z", "no such day"},
        {"2026-11-20", "time of day"},
        {"2026-11-20_05:55:55Z", "T or a blank"},
        {"2026-11-20T05:55Z", "seconds"},
        {"2026-11-20T05:55", "seconds"},
        {"2026-11-20T055555Z", "05:55:55"},
        {"2026-11-20T25:55:55Z", "no such hour"},
        {"2026-11-20T05:55:55.Z", "digits"},
        {"2026-11-20T05:55:55.1234567890Z", "9 digits"},
        {"2026-11-20T05:55:55 CET", "zone"},
        {"2026-11-20T05:55:55+1", "zone"},
        {"2026-11-20T05:55:55 ", "zone"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct iso_time t;
        CHECK(rows[i].text, !iso_time_parse(rows[i].text, strlen(rows[i].text), &t));
        CHECK_INT(rows[i].text, t.us, LAB_TIME_NONE);
        CHECK(rows[i].text, t.wanted && strstr(t.wanted, rows[i].word));
    }
}

static void test_asked(void)
{
    static const struct {
        const char *text;
        int64_t us; /* LAB_TIME_NONE: refused */
    } rows[] = {
        {"1763617674.25", 1763617674250000},
        {"0", 0},
        {"2026-11-20T05:55:55.599953Z", AT_US},
        {"2026-11-20 05:55:55,5", 1795154155500000},
        {"2026-11-20", 1795132800000000},
        {"now", AT_US},
        {"today", 1795132800000000},
        {"yesterday", 1795046400000000},
        {"-90s", AT_US - 90000000},
        {"-1.5min", AT_US - 90000000},
        {"-2h", AT_US - 7200000000},
        {"-1d", AT_US - 86400000000},
        {"-1w", AT_US - 604800000000},
        {"-2", LAB_TIME_NONE},
        {"--2h", LAB_TIME_NONE},
        {"-1e300h", LAB_TIME_NONE},
        {"2h", LAB_TIME_NONE},
        {"-2 hours", LAB_TIME_NONE},
        {"tomorrow", LAB_TIME_NONE},
        {"2026-11-31", LAB_TIME_NONE},
        {"", LAB_TIME_NONE},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT(rows[i].text, iso_time_parse_asked(rows[i].text, AT_US), rows[i].us);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("iso_time", NULL, NULL);
    CU_add_test(suite, "forms", test_forms);
    CU_add_test(suite, "wanted", test_wanted);
    CU_add_test(suite, "asked", test_asked);
    return check_run();
}
