/* needs: threads */
/* The report of a pair over HTTP: a file to save, without scripts; its time; its limits. And
 * its next move. */
#include <sqlite3.h>

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
    sqlite3 *db = NULL;
    CHECK_INT("open", sqlite3_open(fixture.store_path, &db), SQLITE_OK);
    CHECK_INT("100 001 rows",
              sqlite3_exec(db,
                           "WITH RECURSIVE k(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM k "
                           "WHERE n < 100001) INSERT INTO entries(pair, n, t_us, id, verdict, "
                           "lag_s, json) SELECT 'r1', n, n * 1000000, 'x', 'AHEAD', 0.25, "
                           "'{\"t\":' || n || ',\"id\":\"x\",\"lag_s\":0.25,\"verdict\":"
                           "\"AHEAD\"}' FROM k",
                           NULL, NULL, NULL),
              SQLITE_OK);
    (void)sqlite3_close(db);
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/report?since=1&until=100003");
    check_problem("100 001", &reply, 400, "bad-parameter");
    CHECK("what to do", strstr(reply.body, "give since and until"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/report?since=2&until=10002");
    CHECK_INT("10 000", reply.status, 200);
    CHECK("all of them", strstr(reply.body, "<td>10000</td><td class=\"t\">100.0 %</td>"));
    CHECK("below 300 kB", reply.body_bytes < 300000);
    http_free(&reply);
}

/* The next move rests on the moves of the fit. */
static void test_next_move(void)
{
    struct http_reply reply = http_get(port, "/api/v1/pairs/r1/travel-time?goal=0.02");
    json_t *body = parse(&reply);
    json_t *next = json_object_get(body, "next_move");
    const double width =
        json_number_value(member(next, "widths_after", "angular_speed_ratio", NULL));
    CHECK_INT("goal", reply.status, 200);
    CHECK_INT("rows", json_array_size(json_object_get(next, "rows")),
              json_integer_value(member(body, "real", "n", NULL)));
    CHECK("width", width > 0.0 && width < 0.5);
    CHECK("move", json_is_number(json_object_get(next, "rotation_rad")) ==
                      (json_integer_value(json_object_get(next, "moves_left")) > 0));
    json_decref(body);
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/travel-time?goal=2");
    CHECK_INT("goal of 200 %", reply.status, 400);
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
    CU_add_test(suite, "next move", test_next_move);
    return end_served();
}
