/* needs: threads */
/* Teams over HTTP: requests and answers. It runs threads. */
#include "tests/support/web_served.h"

/* Requests to a team, in turn. */
static void test_teams(void)
{
    static const struct {
        const char *row, *target, *headers, *body;
        int status;
        const char *words;
    } rows[] = {
        {"no token", "/api/v1/teams/cell/start", "", NULL, 401, "/problems/unauthorized"},
        {"no such team", "/api/v1/teams/hall/start", AUTH, NULL, 404, "/problems/no-such-team"},
        {"not at work", "/api/v1/teams/cell/robots/R2/abort", AUTH, NULL, 409,
         "does nothing that could be ended"},
        {"start", "/api/v1/teams/cell/start", AUTH, NULL, 202,
         "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"http-"},
        {"not in Error", "/api/v1/teams/cell/robots/R1/reset", AUTH, NULL, 409, "not in Error"},
        {"R2 has no pair: in Error at once, and holds", "/api/v1/teams/cell/robots/R2/abort",
         AUTH, NULL, 409, "/problems/team-refuses"},
        {"stale", "/api/v1/teams/cell/resources/IB/release", AUTH, "{\"fence\":7}", 409,
         "/problems/stale-fence"},
        {"no fence", "/api/v1/teams/cell/resources/IB/release", AUTH, "{\"reason\":\"x\"}", 400,
         "fence"},
        {"no such member", "/api/v1/teams/cell/resources/IB/release", AUTH,
         "{\"fence\":1,\"why\":\"x\"}", 400, "fence"},
        {"no such resource", "/api/v1/teams/cell/resources/OB/release", AUTH, "{\"fence\":1}",
         404, "/problems/not-found"},
        {"no such robot", "/api/v1/teams/cell/robots/R3/reset", AUTH, NULL, 404,
         "/problems/not-found"},
        {"release", "/api/v1/teams/cell/resources/IB/release", AUTH,
         "{\"fence\":1,\"reason\":\"seen\"}", 202, "\"op\":\"release\""},
        {"released before", "/api/v1/teams/cell/resources/IB/release", AUTH, "{\"fence\":1}",
         409, "/problems/stale-fence"},
        {"skip", "/api/v1/teams/cell/robots/R2/skip", AUTH, NULL, 202, "\"op\":\"skip\""},
        {"job", "/api/v1/teams/cell/jobs", AUTH, "{\"part\":\"a\",\"seq\":\"s\",\"id\":\"j1\"}",
         202, "\"id\":\"j1\""},
        {"job of no sequence", "/api/v1/teams/cell/jobs", AUTH,
         "{\"part\":\"a\",\"seq\":\"x\"}", 409, "no sequence of this name"},
        {"job without its part", "/api/v1/teams/cell/jobs", AUTH, "{\"seq\":\"s\"}", 400,
         "part"},
        {"a body where none is accepted", "/api/v1/teams/cell/stop", AUTH, "{}", 413,
         "0 bytes"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply =
            http_request(port, "POST", rows[i].target, rows[i].headers, rows[i].body);
        CHECK_INT(rows[i].row, reply.status, rows[i].status);
        CHECK(rows[i].row, strstr(reply.body, rows[i].words) != NULL);
        http_free(&reply);
    }
    struct http_reply reply = http_get(port, "/api/v1/teams/hall");
    check_problem("no such team", &reply, 404, "no-such-team");
    http_free(&reply);
}

/* After what test_teams() asked: what each part of the team is. */
static void test_team_parts(void)
{
    static const struct {
        const char *target;
        int status;
        const char *words;
    } rows[] = {
        {"/api/v1/teams/cell/resources", 200, "\"resources\":{\"IB\":{\"owner\":"},
        {"/api/v1/teams/cell/machines", 200,
         "\"robots\":{\"R1\":{\"task\":\"FAILED\",\"robot\":\"ERROR\",\"activity\":\"IDLE\"}"},
        {"/api/v1/teams/cell/machines", 200, "\"resources\":{\"IB\":[\""},
        {"/api/v1/teams/cell/jobs", 200,
         "\"waiting\":[],\"jobs\":[{\"number\":1,\"job\":\"j1\""},
        {"/api/v1/teams/cell/jobs/j1", 200, "\"behind\":0,\"job\":\"j1\",\"part\":\"a\""},
        {"/api/v1/teams/cell/jobs/1", 404, "/problems/no-such-job"},
        {"/api/v1/teams/cell/jobs/j%31", 200, "\"job\":\"j1\""},
        {"/api/v1/teams/cell/jobs/j9", 404, "/problems/no-such-job"},
        {"/api/v1/teams/hall/jobs/j1", 404, "/problems/no-such-team"},
        {"/api/v1/teams/hall/machines", 404, "/problems/no-such-team"},
        {"/api/v1/teams/hall/resources", 404, "/problems/no-such-team"},
        {"/api/v1/teams/hall/jobs", 404, "/problems/no-such-team"},
        {"/api/v1/teams/cell/jobs/a%20b", 404, "/problems/not-found"},
        {"/api/v1/teams/simulate", 404, "/problems/no-such-team"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct http_reply reply = http_get(port, rows[i].target);
        CHECK_INT(rows[i].target, reply.status, rows[i].status);
        CHECK(rows[i].target, strstr(reply.body, rows[i].words) != NULL);
        if (!strstr(reply.body, rows[i].words)) {
            (void)fprintf(stderr, "%s\n", reply.body);
        }
        http_free(&reply);
    }
}

static void test_plan(void)
{
    static const struct {
        const char *query;
        int status;
        const char *words;
    } rows[] = {
        {"", 200, "\"length_s\":10,"},
        {"", 200,
         "{\"task\":\"second\",\"robots\":\"R2\",\"start_s\":5,\"end_s\":10,\"guessed\":true}"},
        {"?draws=0", 200, "\"uncertain\":null"},
        {"?set=IB.capacity=2&spread=0.5&seed=7", 200, "\"spread\":0.5"},
        {"?spread=1", 400, "spread"},
        {"?draws=1001", 400, "from 0 to 1000"},
        {"?seed=0.5", 400, "whole"},
        {"?set=IB", 400, "NAME.WHAT=VALUE"},
        {"?set=R9.cycles=2", 400, "\"parameter\":\"set\""},
        {"?runs=5", 400, "spread draws seed set"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[200];
        (void)snprintf(target, sizeof target, "/api/v1/teams/cell/plan%s", rows[i].query);
        struct http_reply reply = http_get(port, target);
        CHECK_INT(target, reply.status, rows[i].status);
        CHECK(reply.body, strstr(reply.body, rows[i].words) != NULL);
        http_free(&reply);
    }
}

static void test_simulate(void)
{
    static const char BODY[] = "team: {robots: {R1: {}}}";
    static const struct {
        const char *query, *type;
        int status;
        const char *words;
    } rows[] = {
        {"", "application/yaml", 202, "\"id\":\"77\""},
        {"?runs=5&seed=0&horizon_s=1e3&team=cell&set=R1.speed=%2B10%25,IB.capacity=2",
         "text/yaml", 202, "77"},
        {"?set=R1.cycles=5", "application/yaml; charset=utf-8", 202, "77"},
        {"", "text/csv", 415, "application/yaml"},
        {"?runs=0", "application/yaml", 400, "runs"},
        {"?runs=1.5", "application/yaml", 400, "whole"},
        {"?runs=1000001", "application/yaml", 400, "1000000"},
        {"?runs=", "application/yaml", 400, "runs"},
        {"?runs", "application/yaml", 400, "whole"},
        {"?seed=-1", "application/yaml", 400, "seed"},
        {"?seed=1&seed=1", "application/yaml", 400, "twice"},
        {"?horizon_s=nan", "application/yaml", 400, "horizon_s"},
        {"?team=", "application/yaml", 400, "1 to 31"},
        {"?team=a_name_that_is_longer_than_31_bytes", "application/yaml", 400, "1 to 31"},
        {"?set=R1.speed", "application/yaml", 400, "NAME.WHAT=VALUE"},
        {"?set=", "application/yaml", 400, "NAME.WHAT=VALUE"},
        {"?set=%zz", "application/yaml", 400, "broken"},
        {"?from=journal", "application/yaml", 400, "runs seed horizon_s team set"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char target[200], headers[200];
        (void)snprintf(target, sizeof target, "/api/v1/teams/simulate%s", rows[i].query);
        (void)snprintf(headers, sizeof headers, AUTH "Content-Type: %s\r\n", rows[i].type);
        struct http_reply reply = http_request(port, "POST", target, headers, BODY);
        CHECK_INT(target, reply.status, rows[i].status);
        CHECK(target, strstr(reply.body, rows[i].words) != NULL);
        if (rows[i].status == 202) {
            CHECK("it is among the others",
                  strstr(reply.head, "Location: /api/v1/identify/77") != NULL);
        }
        http_free(&reply);
    }
}

static void add_team_row(enum store_kind kind, int64_t t_us, const char *type, const char *json)
{
    fixture_add(&fixture, &(struct store_row){.kind = kind,
                                              .pair = "cell",
                                              .n = (uint64_t)t_us,
                                              .t_us = t_us,
                                              .id = "R2",
                                              .type = type,
                                              .json = json,
                                              .json_bytes = strlen(json)});
}

/* After what test_teams() asked, R2 has one bar that ended and may have others that are open.
 */
static void test_chart(void)
{
    static const char TARGET[] = "/api/v1/teams/{team}/chart";
    add_team_row(STORE_BARS, 9000000, "failed",
                 "{\"kind\":\"failed\",\"robot\":\"R2\",\"task\":\"Go\",\"n\":7,"
                 "\"from\":2.5,\"to\":9}");
    add_team_row(STORE_ALARMS, 8000000, "team", "{\"detail\":\"task_error: R2 & Go\"}");
    struct http_reply reply = http_get(port, "/api/v1/teams/cell/chart?until=10");
    CHECK_TEXT("of then", reply.body,
               "{\"team\":\"cell\",\"bars\":[{\"kind\":\"failed\",\"robot\":\"R2\","
               "\"task\":\"Go\",\"n\":7,\"from\":2.5,\"to\":9}],\"alarms\":[{\"t\":8,"
               "\"detail\":\"task_error: R2 & Go\"}],\"cut\":false}\n");
    check_contract(TARGET, "get", "200", "application/json", &reply);
    http_free(&reply);
    reply = http_get(port, "/api/v1/teams/cell/chart?since=9.1&until=10");
    CHECK_TEXT("later", reply.body,
               "{\"team\":\"cell\",\"bars\":[],\"alarms\":[],\"cut\":false}\n");
    http_free(&reply);
    reply = http_get(port, "/api/v1/teams/cell/chart?until=10&format=csv");
    CHECK("row", strstr(reply.body, "failed,R2,,Go,,,7,,2.5,9,"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/teams/cell/chart?since=0&until=10&format=svg");
    CHECK("picture", strstr(reply.body, "R2: Go failed, 0.000 s to 6.500 s"));
    CHECK("alarm", strstr(reply.body, "task_error: R2 &amp; Go, 5.500 s"));
    http_free(&reply);
    reply = http_get(port, "/api/v1/teams/hall/chart");
    check_problem("no such team", &reply, 404, "no-such-team");
    http_free(&reply);
    reply = http_get(port, "/api/v1/pairs/r1/entries?format=svg");
    check_problem("no picture of a list", &reply, 400, "bad-parameter");
    http_free(&reply);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    start_served();
    CU_pSuite suite = CU_add_suite("web teams", NULL, NULL);
    CU_add_test(suite, "teams", test_teams);
    CU_add_test(suite, "parts of teams", test_team_parts);
    CU_add_test(suite, "plan", test_plan);
    CU_add_test(suite, "simulate", test_simulate);
    CU_add_test(suite, "chart", test_chart);
    return end_served();
}
