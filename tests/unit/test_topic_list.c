/* tests/unit/test_topic_list.c - whether a topic could fit a filter of each of two lists. */
#include "tests/support/check.h"

#include "service/mqtt/topic_list.h"

static bool do_meet(const char *a, const char *b)
{
    struct topic_list *lists = calloc(2, sizeof *lists);
    CU_ASSERT_FATAL(lists != NULL);
    topic_list_add(&lists[0], "other", "x", 0);
    topic_list_add(&lists[0], "", a, 0);
    topic_list_add(&lists[1], "", b, 1);
    const bool met = topic_list_meet(&lists[0], &lists[1]);
    CHECK_INT(a, topic_list_meet(&lists[1], &lists[0]), met);
    free(lists);
    return met;
}

static void test_meet(void)
{
    static const struct {
        const char *a, *b;
        bool met;
    } rows[] = {
        {"a", "a", true},
        {"a", "b", false},
        {"a", "ab", false},
        {"a/b", "a", false},
        {"+/+/telemetry", "+/+/reply", false},
        {"p/+/+/telemetry", "p/r1/real/telemetry", true},
        {"p/+/+/telemetry", "p/r1/+", false},
        {"p/+/+/telemetry", "p/#", true},
        {"p/+/+/telemetry", "p/r1/real/telemetry/#", true},
        {"p/+/+/telemetry", "p/r1/real/telemetry/+", false},
        {"p/+/+/telemetry", "q/#", false},
        {"#", "q", true},
        {"+", "#", true},
        {"a/+/c", "a/b/+", true},
        {"a/+/c", "a/b/d", false},
        {"a//c", "a/+/c", true},
        {"a/", "a", false},
        {"a/", "a/+", true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char row[96];
        (void)snprintf(row, sizeof row, "%s %s", rows[i].a, rows[i].b);
        CHECK_INT(row, do_meet(rows[i].a, rows[i].b), rows[i].met);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("topic_list", NULL, NULL);
    CU_add_test(suite, "meet", test_meet);
    return check_run();
}
