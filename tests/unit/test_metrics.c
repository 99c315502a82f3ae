/* web/http/metrics.c: the text format, and promtool's opinion of it where promtool is
 * installed. */
#include "tests/support/check.h"

#include <unistd.h>

#include "web/http/metrics.h"

static void write_sample_page(struct body *out)
{
    struct metrics m = {.out = out};
    metrics_family(&m, "tandem_entries_total", "Commands closed, by \\ verdict\n");
    metrics_count(&m, (struct metric_label[]){{"pair", "r1"}, {"verdict", "SYNC"}}, 2,
                  UINT64_C(18446744073709551615));
    metrics_count(&m, (struct metric_label[]){{"pair", "a\"b\\c\nd"}, {"verdict", "AHEAD"}}, 2,
                  0);
    metrics_family(&m, "tandem_last_lag_seconds", "Lag of the last entry.");
    metrics_sample(&m, (struct metric_label[]){{"pair", "r1"}}, 1, -0.25);
    metrics_sample(&m, (struct metric_label[]){{"pair", "r2"}}, 1, nan(""));
    metrics_sample(&m, (struct metric_label[]){{"pair", "r3"}}, 1, (double)INFINITY);
    metrics_sample(&m, (struct metric_label[]){{"pair", "r4"}}, 1, 1e-9);
    metrics_gauge(&m, "tandem_pairs", "Pairs of the lab.", 3);
    metrics_counter(&m, "tandem_starts_total", "Starts.", 7);
    metrics_histogram(&m, "tandem_took_seconds", "How long.", (const double[]){0.001, 1},
                      (const uint64_t[]){2, 0, 1}, 2, 3.5);
}

static void test_metrics_format(void)
{
    struct body out = {0};
    write_sample_page(&out);
    body_append(&out, "", 1);
    CHECK("whole", !out.failed);
    CHECK_TEXT("page", out.text,
               "# HELP tandem_entries_total Commands closed, by \\\\ verdict\\n\n"
               "# TYPE tandem_entries_total counter\n"
               "tandem_entries_total{pair=\"r1\",verdict=\"SYNC\"} 18446744073709551615\n"
               "tandem_entries_total{pair=\"a\\\"b\\\\c\\nd\",verdict=\"AHEAD\"} 0\n"
               "# HELP tandem_last_lag_seconds Lag of the last entry.\n"
               "# TYPE tandem_last_lag_seconds gauge\n"
               "tandem_last_lag_seconds{pair=\"r1\"} -0.25\n"
               "tandem_last_lag_seconds{pair=\"r4\"} 1e-09\n"
               "# HELP tandem_pairs Pairs of the lab.\n"
               "# TYPE tandem_pairs gauge\n"
               "tandem_pairs 3\n"
               "# HELP tandem_starts_total Starts.\n"
               "# TYPE tandem_starts_total counter\n"
               "tandem_starts_total 7\n"
               "# HELP tandem_took_seconds How long.\n"
               "# TYPE tandem_took_seconds histogram\n"
               "tandem_took_seconds_bucket{le=\"0.001\"} 2\n"
               "tandem_took_seconds_bucket{le=\"1\"} 2\n"
               "tandem_took_seconds_bucket{le=\"+Inf\"} 3\n"
               "tandem_took_seconds_sum 3.5\n"
               "tandem_took_seconds_count 3\n");
    body_clear(&out);
}

static void test_metrics_promtool(void)
{
    if (access("/usr/bin/promtool", X_OK) != 0) {
        (void)printf("promtool is not installed: not asked\n");
        return;
    }
    struct body out = {0};
    write_sample_page(&out);
    FILE *pipe = popen("/usr/bin/promtool check metrics", "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(pipe);
    CHECK_INT("promtool", fwrite(out.text, 1, out.bytes, pipe), out.bytes);
    CHECK_INT("promtool", pclose(pipe), 0);
    body_clear(&out);
}

static void test_body_bounds(void)
{
    struct body b = {0};
    body_append(&b, "", 0);
    CHECK("empty", b.bytes == 0 && !b.failed && !b.text);
    for (int i = 0; i < 5000; i++) {
        body_format(&b, "%04d", i);
    }
    CHECK_INT("grown", b.bytes, 20000);
    CHECK("last", memcmp(b.text + 19996, "4999", 4) == 0);
    body_append(&b, "x", BODY_BYTES_MAX);
    CHECK("refused", b.failed);
    CHECK_INT("prefix stays", b.bytes, 20000);
    body_clear(&b);
    CHECK("cleared", b.bytes == 0 && !b.failed);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("metrics", NULL, NULL);
    CU_add_test(suite, "format", test_metrics_format);
    CU_add_test(suite, "promtool", test_metrics_promtool);
    CU_add_test(suite, "body", test_body_bounds);
    return check_run();
}
