/* needs: threads */
/* The report of a pair over HTTP: a file to save, without scripts; its time; its limits. */
#include "tests/support/web_served.h"

static void check_header(const struct http_reply *reply, const char *name, const char *want)
{
    char value[128];
    CHECK_TEXT(name, http_header(reply, name, value, sizeof value), want);
}

static size_t count_text(const char *text, const char *what)
{
    size_t n = 0;
    for (const char *at = strstr(text, what); at; at = strstr(at + 1, what)) {
        n++;
    }
    return n;
}

static void test_report(void)
{
    struct http_reply reply = http_get(port, "/api/v1/pairs/r2/report");
    CHECK_INT("status", reply.status, 200);
    check_header(&reply, "Content-Type", "text/html; charset=utf-8");
    check_header(&reply, "Content-Disposition", "attachment; filename=\"r2-report.html\"");
    check_header(&reply, "Content-Security-Policy",
                 "default-src 'none'; style-src 'unsafe-inline'");
    check_header(&reply, "X-Content-Type-Options", "nosniff");
    CHECK("the pair", strstr(reply.body, "<h1>Pair r2</h1>"));
    CHECK("timeouts", strstr(reply.body, "<th scope=\"row\">TIMEOUT</th>"));
    CHECK("a fit", strstr(reply.body, "linear_speed_mps"));
    CHECK("alarms", strstr(reply.body, "<caption>Alarms by type</caption>"));
    CHECK("the lab file", strstr(reply.body, "pairs: {r1: {}}"));
    CHECK("no script, no source",
          !strstr(reply.body, "<script") && !strstr(reply.body, "http:"));
    CHECK_INT("one end", count_text(reply.body, "</html>"), 1);
    struct http_reply again = http_get(port, "/api/v1/pairs/r2/report");
    CHECK_TEXT("the same bytes", again.body, reply.body);
    http_free(&again);
    http_free(&reply);
}

/* Commands are 10 s apart. */
static void test_span(void)
{
    char target[128];
    (void)snprintf(target, sizeof target, "/api/v1/pairs/r2/report?since=%.3f&until=%.3f",
                   lab_s(fixture_us(95.0)), lab_s(fixture_us(145.0)));
    struct http_reply reply = http_get(port, target);
    CHECK("five commands",
          strstr(reply.body, "<th scope=\"row\">commands</th><td class=\"t\"></td><td>5</td>"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r2/report?since=2000-01-01&until=2000-01-02");
    CHECK_INT("nothing in this time", reply.status, 200);
    CHECK("says so", strstr(reply.body, "There is no command of this pair."));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r2/report?limit=5");
    check_problem("no such parameter", &reply, 400, "bad-parameter");
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r9/report");
    check_problem("no such pair", &reply, 404, "no-such-pair");
    http_free(&reply);
}

/* A page of 100 000 entries would occupy the server for long. */
static void test_limit(void)
{
    static const char json[] = "{\"t\":1,\"id\":\"x\",\"lag_s\":0.25,\"verdict\":\"AHEAD\"}";
    struct store_row row = {.kind = STORE_ENTRIES,
                            .pair = "r1",
                            .id = "x",
                            .type = "AHEAD",
                            .lag_s = 0.25,
                            .json = json,
                            .json_bytes = sizeof json - 1};
    bool is_new = false;
    CHECK_INT("begin", store_begin(fixture.store, NULL), STATUS_OK);
    for (row.n = 1; row.n <= 100001; row.n++) {
        row.t_us = 1000000 * (int64_t)row.n;
        if (store_add(fixture.store, &row, &is_new, NULL) != STATUS_OK) {
            CHECK("add", false);
            break;
        }
    }
    CHECK_INT("commit", store_commit(fixture.store, NULL), STATUS_OK);
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/report?since=1&until=100003");
    check_problem("100 001", &reply, 400, "bad-parameter");
    CHECK("what to do", strstr(reply.body, "give since and until"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/report?since=2&until=100002");
    CHECK_INT("100 000", reply.status, 200);
    CHECK("all of them", strstr(reply.body, "<td>100000</td><td class=\"t\">100.0 %</td>"));
    CHECK("below 300 kB", reply.body_bytes < 300000);
    http_free(&reply);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("web report", NULL, NULL);
    start_served();
    CU_add_test(suite, "report", test_report);
    CU_add_test(suite, "span", test_span);
    CU_add_test(suite, "limit", test_limit);
    return end_served();
}
