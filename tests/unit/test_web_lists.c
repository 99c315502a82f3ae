/* needs: threads */
/* Lists over HTTP: pages without gap or repeat, CSV, a store that is away. It runs threads. */
#include "tests/support/check.h"

#include <jansson.h>

#include "tests/support/http.h"
#include "tests/support/web_fixture.h"
#include "web/http/query.h"

enum { MOVES = 60 };

static struct fixture fixture;
static struct web *web;
static uint16_t port;

static json_t *get_json(const char *target)
{
    struct http_reply reply = http_get(port, target);
    CHECK_INT(target, reply.status, 200);
    json_t *body = json_loadb(reply.body, reply.body_bytes, JSON_REJECT_DUPLICATES, NULL);
    CHECK(target, body);
    http_free(&reply);
    return body;
}

/* A row that a later answer to an old command would make: anywhere in time. */
static void insert_entry(uint64_t n, double s)
{
    char text[RECORD_JSON_MAX];
    struct json_writer w;
    struct entry e = {.n = n, .t_us = fixture_us(s), .id = "new", .op = "go"};
    e.lap_us[SIDE_REAL] = LAB_TIME_NONE;
    e.lap_us[SIDE_VIRTUAL] = LAB_TIME_NONE;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    entry_write_json(&w, NULL, &e, "r1");
    CHECK("row", json_write_end(&w));
    const struct store_row row = {.kind = STORE_ENTRIES,
                                  .pair = "r1",
                                  .n = n,
                                  .t_us = e.t_us,
                                  .id = "new",
                                  .type = "SYNC",
                                  .lag_s = nan(""),
                                  .json = text,
                                  .json_bytes = w.used};
    fixture_add(&fixture, &row);
}

/* Walk the entries of r1; every page is followed by two new rows, one before and one behind
 * everything. Marks what was seen. */
static void walk_pages(const char *selection, bool oldest, uint64_t *next_n, int seen[1000])
{
    char target[1024];
    char cursor[512] = "";
    double last_t = oldest ? 0.0 : 1e12;
    int pages = 0;
    for (;;) {
        (void)snprintf(target, sizeof target, "/api/v1/pairs/r1/entries?limit=7%s%s%s",
                       selection, cursor[0] ? "&cursor=" : "", cursor);
        json_t *body = get_json(target);
        const json_t *rows = json_object_get(body, "entries");
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *row = json_array_get(rows, i);
            const double t = json_number_value(json_object_get(row, "t"));
            CHECK("in order", oldest ? t >= last_t : t <= last_t);
            last_t = t;
            const json_int_t n = json_integer_value(json_object_get(row, "n"));
            if (n < 1000) {
                seen[n]++;
            }
        }
        const char *next = json_string_value(json_object_get(body, "next_cursor"));
        const bool more = next != NULL;
        (void)snprintf(cursor, sizeof cursor, "%s", next ? next : "");
        CHECK("full page", !more || json_array_size(rows) == 7);
        json_decref(body);
        pages++;
        if (!more || pages > 100) {
            break;
        }
        insert_entry((*next_n)++, -1000.0 - pages);
        insert_entry((*next_n)++, 5000.0 + pages);
    }
    CHECK(selection, pages >= 8 && pages < 100);
}

static void test_walks(void)
{
    static const struct {
        const char *selection;
        bool oldest;
    } rows[] = {
        {"", false},
        {"&order=newest", false},
        {"&order=oldest", true},
        {"&order=oldest&since=0", true},
        {"&order=newest&until=2200-01-01T00:00:00Z", false},
        {"&order=oldest&format=json", true},
    };
    uint64_t next_n = 1000;
    for (size_t k = 0; k < COUNT(rows); k++) {
        int seen[1000] = {0};
        walk_pages(rows[k].selection, rows[k].oldest, &next_n, seen);
        for (int n = 1; n < 1000; n++) {
            CHECK_INT(rows[k].selection, seen[n], n <= MOVES - 1 ? 1 : 0);
        }
    }
}

static void test_selection(void)
{
    char next_page[512];
    json_t *body = get_json("/api/v1/pairs/r2/entries?verdict=TIMEOUT");
    const json_t *rows = json_object_get(body, "entries");
    CHECK_INT("verdict", json_array_size(rows), MOVES / 10 - 1);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        CHECK_TEXT("verdict",
                   json_string_value(json_object_get(json_array_get(rows, i), "verdict")),
                   "TIMEOUT");
    }
    json_decref(body);
    body = get_json("/api/v1/pairs/r2/entries?verdict=INCONSISTENT&order=oldest");
    rows = json_object_get(body, "entries");
    CHECK_INT("inconsistent", json_array_size(rows), MOVES / 11);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        CHECK("of any verdict",
              strcmp(json_string_value(json_object_get(row, "verdict")), "INCONSISTENT") != 0);
        CHECK("inconsistent", json_is_false(json_object_get(row, "consistent")));
        CHECK_TEXT("differs", json_string_value(json_object_get(row, "differs")),
                   "x_m: real 0, virtual 1");
    }
    json_decref(body);
    body = get_json("/api/v1/pairs/r2/entries?virtual_version=1.0");
    CHECK_INT("no entry has a version", json_array_size(json_object_get(body, "entries")), 0);
    json_decref(body);
    body = get_json("/api/v1/pairs/r2/entries?verdict=TIMEOUT,INCONSISTENT&limit=1000");
    rows = json_object_get(body, "entries");
    CHECK_INT("either", json_array_size(rows), MOVES / 10 - 1 + MOVES / 11);
    json_decref(body);
    body = get_json("/api/v1/pairs/r2/entries?verdict=SYNC,TIMEOUT,AHEAD&limit=2&since=-100w");
    const char *next = json_string_value(json_object_get(body, "next_cursor"));
    (void)snprintf(next_page, sizeof next_page,
                   "/api/v1/pairs/r2/entries?verdict=SYNC,TIMEOUT,AHEAD&since=-100w&cursor=%s",
                   next ? next : "");
    json_decref(body);
    body = get_json(next_page); /* although -100w is later now */
    CHECK("paged", json_is_array(json_object_get(body, "entries")));
    json_decref(body);
    body = get_json("/api/v1/pairs/r1/alarms?type=duplicate&order=oldest&limit=3");
    rows = json_object_get(body, "alarms");
    CHECK_INT("type", json_array_size(rows), 3);
    CHECK_TEXT("type", json_string_value(json_object_get(json_array_get(rows, 0), "type")),
               "duplicate");
    CHECK_TEXT("code", json_string_value(json_object_get(json_array_get(rows, 0), "code")),
               "reply_repeated");
    CHECK("more", json_is_string(json_object_get(body, "next_cursor")));
    json_decref(body);
    /* Commands 10 and 11 are at 100 s and 110 s. */
    char target[256];
    (void)snprintf(target, sizeof target, "/api/v1/pairs/r2/entries?since=%d&until=%d.000001",
                   FIXTURE_START_S + 100, FIXTURE_START_S + 110);
    body = get_json(target);
    CHECK_INT("both ends", json_array_size(json_object_get(body, "entries")), 2);
    CHECK("no more", json_is_null(json_object_get(body, "next_cursor")));
    json_decref(body);
    (void)snprintf(target, sizeof target, "/api/v1/pairs/r2/entries?since=%d&until=%d",
                   FIXTURE_START_S + 100, FIXTURE_START_S + 110);
    body = get_json(target);
    CHECK_INT("until is not in", json_array_size(json_object_get(body, "entries")), 1);
    json_decref(body);
    body = get_json("/api/v1/pairs/r1/entries?verdict=TIMEOUT,INCONSISTENT&limit=1000");
    const size_t of_r1 = json_array_size(json_object_get(body, "entries"));
    json_decref(body);
    body = get_json("/api/v1/entries?verdict=TIMEOUT,INCONSISTENT&limit=1000");
    CHECK_INT("of all pairs", json_array_size(json_object_get(body, "entries")),
              of_r1 + MOVES / 10 - 1 + MOVES / 11);
    CHECK("no single pair", json_is_null(json_object_get(body, "pair")));
    json_decref(body);
    body = get_json("/api/v1/pairs/quiet/entries");
    CHECK_INT("empty", json_array_size(json_object_get(body, "entries")), 0);
    json_decref(body);
    body = get_json("/api/v1/pairs/r2/log?limit=1000");
    CHECK("log", (int)json_array_size(json_object_get(body, "log")) > 2 * MOVES);
    json_decref(body);
}

/* A chart agrees with the entries, however coarse it is. */
static void check_series(const char *selection, int points, const json_t *entries)
{
    struct sum {
        json_int_t count, values, sync;
        double min, max, sum;
    } want[QUERY_POINTS_MAX];
    char target[256];
    memset(want, 0, sizeof want);
    (void)snprintf(target, sizeof target, "/api/v1/pairs/r2/series?field=lag_s&points=%d%s",
                   points, selection);
    json_t *body = get_json(target);
    const double since = json_number_value(json_object_get(body, "since"));
    const double width = json_number_value(json_object_get(body, "bucket_s"));
    const json_t *buckets = json_object_get(body, "buckets");
    CHECK(target, json_is_true(json_object_get(body, "complete")));
    CHECK(target, json_array_size(buckets) > 0 && json_array_size(buckets) <= (size_t)points);
    for (size_t i = 0; i < json_array_size(entries); i++) {
        const json_t *entry = json_array_get(entries, i);
        const double t = json_number_value(json_object_get(entry, "t"));
        const json_t *lag = json_object_get(entry, "lag_s");
        struct sum *w = &want[(size_t)((t - since + 1e-7) / width)];
        const double x = json_number_value(lag);
        w->count++;
        w->sync += strcmp(json_string_value(json_object_get(entry, "verdict")), "SYNC") == 0;
        if (!json_is_null(lag)) {
            w->min = w->values == 0 || x < w->min ? x : w->min;
            w->max = w->values == 0 || x > w->max ? x : w->max;
            w->sum += x;
            w->values++;
        }
    }
    for (size_t i = 0; i < json_array_size(buckets); i++) {
        const json_t *b = json_array_get(buckets, i);
        const double t = json_number_value(json_object_get(b, "t"));
        struct sum *w = &want[(size_t)((t - since + 1e-7) / width)];
        CHECK_INT(target, json_integer_value(json_object_get(b, "count")), w->count);
        CHECK_INT(target, json_integer_value(json_object_get(b, "values")), w->values);
        CHECK_INT(target,
                  json_integer_value(json_object_get(json_object_get(b, "verdicts"), "SYNC")),
                  w->sync);
        CHECK(target, json_is_null(json_object_get(b, "mean")) == (w->values == 0));
        CHECK_NEAR(target, json_number_value(json_object_get(b, "min")), w->min, 0, 0);
        CHECK_NEAR(target, json_number_value(json_object_get(b, "max")), w->max, 0, 0);
        CHECK_NEAR(target, json_number_value(json_object_get(b, "mean")),
                   w->values > 0 ? w->sum / (double)w->values : 0.0, 1e-12, 1e-15);
        w->count = 0;
    }
    for (int i = 0; i < points; i++) {
        CHECK_INT(target, want[i].count, 0);
    }
    json_decref(body);
}

static void test_series(void)
{
    static const int points[] = {1, 2, 7, 60, QUERY_POINTS_MAX};
    json_t *all = get_json("/api/v1/pairs/r2/entries?limit=1000");
    char some_of_them[128];
    char target[256];
    (void)snprintf(some_of_them, sizeof some_of_them, "&since=%d.5&until=%d",
                   FIXTURE_START_S + 100, FIXTURE_START_S + 300);
    (void)snprintf(target, sizeof target, "/api/v1/pairs/r2/entries?limit=1000%s",
                   some_of_them);
    json_t *some = get_json(target);
    CHECK("both", json_array_size(json_object_get(all, "entries")) >
                      json_array_size(json_object_get(some, "entries")));
    for (size_t i = 0; i < COUNT(points); i++) {
        check_series("", points[i], json_object_get(all, "entries"));
        check_series(some_of_them, points[i], json_object_get(some, "entries"));
    }
    json_decref(all);
    json_decref(some);
    json_t *none = get_json("/api/v1/pairs/quiet/series");
    CHECK_INT("none", json_array_size(json_object_get(none, "buckets")), 0);
    CHECK("none", json_is_null(json_object_get(none, "since")));
    json_decref(none);
}

/* Answers are cached as long as nothing is committed, and no longer. */
static void test_after_commit(void)
{
    static const char *const targets[] = {
        "/api/v1/pairs/r1/entries?limit=3",
        "/api/v1/pairs/r1/entries?limit=3&format=csv",
        "/api/v1/pairs/r1/series?points=9",
    };
    static const char *const headers[] = {"Content-Type", "ETag", "Link"};
    for (uint64_t k = 0; k < 4 * COUNT(targets); k++) {
        const char *target = targets[k % COUNT(targets)];
        struct http_reply first = http_get(port, target);
        struct http_reply again = http_get(port, target);
        CHECK_INT(target, first.status, 200);
        CHECK_INT(target, again.body_bytes, first.body_bytes);
        CHECK(target, memcmp(again.body, first.body, first.body_bytes) == 0);
        for (size_t i = 0; i < COUNT(headers); i++) {
            char a[512] = "";
            char b[512] = "";
            CHECK_TEXT(headers[i], http_header(&again, headers[i], a, sizeof a),
                       http_header(&first, headers[i], b, sizeof b));
        }
        insert_entry(5000 + k, 7000.0 + (double)k);
        struct http_reply then = http_get(port, target);
        CHECK_INT(target, then.status, 200);
        CHECK(target, then.body_bytes != first.body_bytes ||
                          memcmp(then.body, first.body, first.body_bytes) != 0);
        http_free(&first);
        http_free(&again);
        http_free(&then);
    }
    /* More than the cache holds, each of them again in the next round. */
    for (int k = 0; k < 60; k++) {
        char target[128];
        const int limit = k % 20 + 1;
        (void)snprintf(target, sizeof target, "/api/v1/pairs/r1/entries?limit=%d", limit);
        json_t *body = get_json(target);
        CHECK_INT(target, json_array_size(json_object_get(body, "entries")), limit);
        json_decref(body);
    }
}

/* A cursor goes with its list, pair and selection. */
static void test_foreign_cursors(void)
{
    json_t *body = get_json("/api/v1/pairs/r1/entries?limit=2&order=oldest");
    const char *cursor = json_string_value(json_object_get(body, "next_cursor"));
    static const char *const targets[] = {
        "/api/v1/pairs/r2/entries?limit=2&order=oldest&cursor=",
        "/api/v1/pairs/r1/alarms?limit=2&order=oldest&cursor=",
        "/api/v1/pairs/r1/entries?limit=2&order=newest&cursor=",
        "/api/v1/pairs/r1/entries?limit=2&order=oldest&verdict=SYNC&cursor=",
        "/api/v1/pairs/r1/entries?limit=2&order=oldest&since=5&cursor=",
        "/api/v1/pairs?cursor=",
        "/api/v1/pairs/r1/entries?limit=2&order=oldest&cursor=A",
    };
    for (size_t i = 0; i < COUNT(targets); i++) {
        char target[1024];
        (void)snprintf(target, sizeof target, "%s%s", targets[i], cursor);
        struct http_reply reply = http_get(port, target);
        CHECK_INT(targets[i], reply.status, 400);
        CHECK(targets[i], strstr(reply.body, "\"parameter\":\"cursor\""));
        http_free(&reply);
    }
    char target[1024];
    (void)snprintf(target, sizeof target,
                   "/api/v1/pairs/r1/entries?order=oldest&limit=5&cursor=%s", cursor);
    json_t *again = get_json(target);
    CHECK_INT("another limit", json_array_size(json_object_get(again, "entries")), 5);
    json_decref(again);
    json_decref(body);
}

static void test_pairs_pages(void)
{
    json_t *body = get_json("/api/v1/pairs?limit=2");
    CHECK_INT("first", json_array_size(json_object_get(body, "pairs")), 2);
    CHECK_INT("all", json_integer_value(json_object_get(body, "pair_count")), 3);
    char target[1024];
    (void)snprintf(target, sizeof target, "/api/v1/pairs?limit=2&cursor=%s",
                   json_string_value(json_object_get(body, "next_cursor")));
    json_decref(body);
    body = get_json(target);
    const json_t *rows = json_object_get(body, "pairs");
    CHECK_INT("second", json_array_size(rows), 1);
    CHECK_TEXT("second", json_string_value(json_object_get(json_array_get(rows, 0), "id")),
               "quiet");
    CHECK("last", json_is_null(json_object_get(body, "next_cursor")));
    json_decref(body);
}

static size_t count_lines(const char *text)
{
    size_t n = 0;
    for (; *text; text++) {
        n += *text == '\n';
    }
    return n;
}

/* Every line has as many commas outside quotes as the header. */
static void check_columns(const char *row, const char *text)
{
    size_t wanted = 0;
    size_t commas = 0;
    bool quoted = false;
    bool header = true;
    for (; *text; text++) {
        quoted = quoted != (*text == '"');
        commas += *text == ',' && !quoted;
        if (*text == '\n' && !quoted) {
            wanted = header ? commas : wanted;
            CHECK_INT(row, commas, wanted);
            header = false;
            commas = 0;
        }
    }
    CHECK(row, !quoted && wanted > 3);
}

static void test_csv(void)
{
    static const struct {
        const char *target, *headers, *begin;
        size_t lines;
    } rows[] = {
        {"/api/v1/pairs?format=csv", "", "id,kind,mode,", 4},
        {"/api/v1/pairs", "Accept: text/csv\r\n", "id,kind,mode,", 4},
        {"/api/v1/pairs/r2/entries?format=csv&limit=5", "",
         "pair,n,id,t,op,rotation_rad,displacement_m,real_lap_s,virtual_lap_s,lag_s,verdict,",
         6},
        {"/api/v1/pairs/r2/entries?limit=5", "Accept: text/csv, */*;q=0.1\r\n", "pair,n,id,t,",
         6},
        {"/api/v1/pairs/r1/alarms?format=csv&limit=2", "",
         "pair,n,t,type,side,id,detail,suppressed,code,since_t\n", 3},
        {"/api/v1/pairs/r2/log?format=csv&limit=9", "", "pair,n,t,kind,side,", 10},
        {"/api/v1/pairs/quiet/entries?format=csv", "", "pair,n,id,t,", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[512];
        struct http_reply reply =
            http_request(port, "GET", rows[i].target, rows[i].headers, NULL);
        CHECK_INT(rows[i].target, reply.status, 200);
        CHECK_TEXT(rows[i].target, http_header(&reply, "Content-Type", text, sizeof text),
                   "text/csv; charset=utf-8; header=present");
        CHECK_TEXT(rows[i].target, http_header(&reply, "Vary", text, sizeof text), "Accept");
        CHECK_INT(rows[i].target, count_lines(reply.body), rows[i].lines);
        CHECK(rows[i].target, strncmp(reply.body, rows[i].begin, strlen(rows[i].begin)) == 0);
        check_columns(rows[i].target, reply.body);
        http_free(&reply);
    }
    struct http_reply reply =
        http_request(port, "GET", "/api/v1/pairs?format=json", "Accept: text/csv\r\n", NULL);
    CHECK("format goes before Accept", reply.body[0] == '{');
    http_free(&reply);
}

/* CSV has the values of JSON, number for number, and the Link header leads through it. */
static void test_csv_pages(void)
{
    char target[1024] = "/api/v1/pairs/r2/entries?order=oldest&limit=25&format=csv";
    size_t lines = 0;
    int pages = 0;
    while (target[0] && pages < 10) {
        char link[1024];
        struct http_reply reply = http_get(port, target);
        lines += count_lines(reply.body) - 1;
        if (pages == 0) {
            CHECK("first row", strstr(reply.body, "\nr2,1,c0,1763617674,go,0,0.1,"));
        }
        http_header(&reply, "Link", link, sizeof link);
        target[0] = '\0';
        const size_t n = strcspn(link, ">");
        if (n > 1) {
            CHECK_TEXT("relation", link + n, ">; rel=\"next\"");
            (void)snprintf(target, sizeof target, "%.*s", (int)n - 1, link + 1);
        }
        http_free(&reply);
        pages++;
    }
    CHECK_INT("pages", pages, 3);
    CHECK_INT("rows", lines, MOVES - 1);
}

/* Every member of a record has a column. */
static void test_csv_complete(void)
{
    static const char *const targets[] = {"/api/v1/pairs/r2/entries?limit=1000",
                                          "/api/v1/pairs/r1/alarms?limit=1000",
                                          "/api/v1/pairs/r2/log?limit=1000"};
    static const char *const names[] = {"entries", "alarms", "log"};
    for (size_t k = 0; k < COUNT(targets); k++) {
        char target[128];
        json_t *body = get_json(targets[k]);
        (void)snprintf(target, sizeof target, "%s&format=csv", targets[k]);
        struct http_reply csv = http_get(port, target);
        csv.body[strcspn(csv.body, "\n")] = '\0';
        char header[1024];
        (void)snprintf(header, sizeof header, ",%s,", csv.body);
        size_t i = 0;
        json_t *row = NULL;
        json_array_foreach(json_object_get(body, names[k]), i, row) {
            const char *key = NULL;
            json_t *value = NULL;
            json_object_foreach(row, key, value) {
                char wanted[64];
                (void)snprintf(wanted, sizeof wanted, ",%s,", key);
                CHECK(key, strstr(header, wanted));
            }
        }
        json_decref(body);
        http_free(&csv);
    }
}

/* No store yet, then there is one: no restart needed. */
static void test_store_away(void)
{
    struct fixture other;
    fixture_open(&other, 2);
    char hidden[128];
    (void)snprintf(hidden, sizeof hidden, "%s/hidden.db", other.directory);
    store_close(other.store);
    other.store = NULL;
    CHECK_INT("hide", rename(other.store_path, hidden), 0);
    struct web *w = fixture_serve(&other, NULL, 1);
    char text[64];
    struct http_reply reply = http_get(web_port(w), "/api/v1/pairs/r1/entries");
    CHECK_INT("away", reply.status, 503);
    CHECK("reports it", strstr(reply.body, "/problems/no-store"));
    CHECK_TEXT("again", http_header(&reply, "Retry-After", text, sizeof text), "1");
    http_free(&reply);
    reply = http_get(web_port(w), "/api/v1/pairs/r1/entries?format=csv");
    CHECK_INT("away, csv", reply.status, 503);
    CHECK_TEXT("away, csv", http_header(&reply, "Content-Type", text, sizeof text),
               "application/problem+json");
    http_free(&reply);
    reply = http_get(web_port(w), "/api/v1/pairs/r1");
    CHECK_INT("the rest works", reply.status, 200);
    http_free(&reply);
    CHECK_INT("show", rename(hidden, other.store_path), 0);
    reply = http_get(web_port(w), "/api/v1/pairs/r1/entries");
    CHECK_INT("back", reply.status, 200);
    http_free(&reply);
    web_stop(w);
    fixture_close(&other);
}

/* Eleven have BOT-9123 in their names, robot-9123 and robot-91230 to robot-91239; in pages of
 * three. */
static void find_by_name(uint16_t at)
{
    char target[256] = "/api/v1/pairs?name=BOT-9123&limit=3";
    int found = 0;
    int pages = 0;
    for (; target[0] && pages < 9; pages++) {
        struct http_reply reply = http_get(at, target);
        json_t *body = json_loads(reply.body, 0, NULL);
        const json_t *rows = json_object_get(body, "pairs");
        const char *next = json_string_value(json_object_get(body, "next_cursor"));
        CHECK_INT(target, json_integer_value(json_object_get(body, "pair_count")), 100000);
        CHECK(target, json_array_size(rows) > 0 && json_array_size(rows) <= 3);
        for (size_t i = 0; i < json_array_size(rows); i++) {
            const json_t *id = json_object_get(json_array_get(rows, i), "id");
            CHECK(target, strncmp(json_string_value(id), "robot-9123", 10) == 0);
            found++;
        }
        (void)snprintf(target, sizeof target, "%s%s",
                       next ? "/api/v1/pairs?name=BOT-9123&limit=3&cursor=" : "",
                       next ? next : "");
        json_decref(body);
        http_free(&reply);
    }
    CHECK_INT("found", found, 11);
    CHECK_INT("pages", pages, 4);
    struct http_reply reply = http_get(at, "/api/v1/pairs?name=nobody&format=csv");
    CHECK_INT("nobody", reply.status, 200);
    CHECK("a header alone", strchr(reply.body, '\n') == reply.body + reply.body_bytes - 1);
    http_free(&reply);
}

/* A lab of 100 000 pairs: every answer stays bounded, and part of a name finds them. */
static void test_many_pairs(void)
{
    enum { MANY = 100000 };
    struct fixture other;
    fixture_open(&other, 1);
    struct pair_params *params = malloc(MANY * sizeof *params);
    const struct pair **pairs = malloc(MANY * sizeof(struct pair *));
    const struct pair_following **following = calloc(MANY, sizeof(struct pair_following *));
    for (size_t i = 0; i < MANY; i++) {
        params[i] = other.params[0];
        (void)snprintf(params[i].id, sizeof params[i].id, "robot-%zu", i);
        pairs[i] = other.pair[0];
    }
    other.view.pair_count = MANY;
    other.view.params = params;
    other.view.pairs = pairs;
    other.view.following = following;
    struct web *w = fixture_serve(&other, NULL, 2);
    struct http_reply reply = http_get(web_port(w), "/metrics");
    CHECK_INT("metrics", reply.status, 200);
    CHECK("bounded", reply.body_bytes < 3000000);
    CHECK("told", strstr(reply.body, "\ntandem_pairs_without_series 99500\n"));
    http_free(&reply);
    reply = http_get(web_port(w), "/api/v1/pairs");
    CHECK("bounded", reply.body_bytes < 200000);
    http_free(&reply);
    reply = http_get(web_port(w), "/api/v1/pairs/robot-99999");
    CHECK("the last one", strstr(reply.body, "\"id\":\"robot-99999\""));
    http_free(&reply);
    find_by_name(web_port(w));
    web_stop(w);
    free(params);
    free(pairs);
    free(following);
    fixture_close(&other);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    fixture_open(&fixture, MOVES);
    web = fixture_serve(&fixture, NULL, 2);
    port = web_port(web);
    CU_pSuite suite = CU_add_suite("web lists", NULL, NULL);
    CU_add_test(suite, "selection", test_selection);
    CU_add_test(suite, "series", test_series);
    CU_add_test(suite, "csv", test_csv);
    CU_add_test(suite, "csv pages", test_csv_pages);
    CU_add_test(suite, "csv complete", test_csv_complete);
    CU_add_test(suite, "walks", test_walks);
    CU_add_test(suite, "after a commit", test_after_commit);
    CU_add_test(suite, "foreign cursors", test_foreign_cursors);
    CU_add_test(suite, "pages of pairs", test_pairs_pages);
    CU_add_test(suite, "store away", test_store_away);
    CU_add_test(suite, "many pairs", test_many_pairs);
    const int result = check_run();
    web_stop(web);
    fixture_close(&fixture);
    return result;
}
