/* web/http/route_match.c: which row of a table a method and a path find. */
#include "tests/support/check.h"

#include "web/http/query.h"
#include "web/http/routes.h"

static const struct web_route TABLE[] = {
    {ROUTE_GET, "/healthz", 0, ROUTE_OPEN, 0, NULL},
    {ROUTE_GET, "/api/v1/pairs", 0, ROUTE_READING, 0, NULL},
    {ROUTE_GET, "/api/v1/pairs/{id}", 0, ROUTE_READING, 0, NULL},
    {ROUTE_GET, "/api/v1/pairs/{id}/entries", 0, ROUTE_READING, 0, NULL},
    {ROUTE_POST, "/api/v1/pairs/{id}/commands", 64, ROUTE_WRITING, 0, NULL},
    {ROUTE_GET, "/both", 0, ROUTE_OPEN, 0, NULL},
    {ROUTE_POST, "/both", 64, ROUTE_WRITING, 0, NULL},
    {ROUTE_GET, "/jobs/{job}", 0, ROUTE_READING, 0, NULL},
    {ROUTE_DELETE, "/jobs/{job}", 0, ROUTE_WRITING, 0, NULL},
    {ROUTE_PUT, "/both", 64, ROUTE_WRITING, 0, NULL},
    {ROUTE_GET, "/files/{file}", 0, ROUTE_OPEN, 0, NULL},
    {ROUTE_GET, "/", 0, ROUTE_OPEN, 0, NULL},
};

static void test_routes_match(void)
{
    static const struct {
        const char *row, *method, *path;
        enum route_match match;
        int index;
        const char *id, *allow;
    } rows[] = {
        {"literal", "GET", "/healthz", ROUTE_FOUND, 0, "", ""},
        {"head is get", "HEAD", "/healthz", ROUTE_FOUND, 0, "", ""},
        {"list", "GET", "/api/v1/pairs", ROUTE_FOUND, 1, "", ""},
        {"id", "GET", "/api/v1/pairs/r1", ROUTE_FOUND, 2, "r1", ""},
        {"every letter", "GET", "/api/v1/pairs/aZ0_-", ROUTE_FOUND, 2, "aZ0_-", ""},
        {"id, then literal", "GET", "/api/v1/pairs/r1/entries", ROUTE_FOUND, 3, "r1", ""},
        {"post", "POST", "/api/v1/pairs/r1/commands", ROUTE_FOUND, 4, "r1", ""},
        {"encoded id", "GET", "/api/v1/pairs/%721", ROUTE_FOUND, 2, "r1", ""},
        {"encoded literal", "GET", "/%68ealthz", ROUTE_FOUND, 0, "", ""},
        {"longest id", "GET", "/api/v1/pairs/0123456789012345678901234567890", ROUTE_FOUND, 2,
         "0123456789012345678901234567890", ""},
        {"id too long", "GET", "/api/v1/pairs/01234567890123456789012345678901", ROUTE_NONE, 0,
         "", ""},
        {"far too long", "GET",
         "/api/v1/pairs/"
         "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         ROUTE_NONE, 0, "", ""},
        {"empty id", "GET", "/api/v1/pairs/", ROUTE_NONE, 0, "", ""},
        {"empty id inside", "GET", "/api/v1/pairs//entries", ROUTE_NONE, 0, "", ""},
        {"trailing slash", "GET", "/healthz/", ROUTE_NONE, 0, "", ""},
        {"prefix only", "GET", "/api/v1", ROUTE_NONE, 0, "", ""},
        {"longer word", "GET", "/healthzz", ROUTE_NONE, 0, "", ""},
        {"shorter word", "GET", "/health", ROUTE_NONE, 0, "", ""},
        {"case matters", "GET", "/Healthz", ROUTE_NONE, 0, "", ""},
        {"root", "GET", "/", ROUTE_FOUND, 11, "", ""},
        {"far too long a word is no root", "GET",
         "/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
         ROUTE_NONE, 0, "", ""},
        {"more words than any", "GET", "/a/b/c/d/e/f/g/h/i/j/k", ROUTE_NONE, 0, "", ""},
        {"and one of them broken", "GET", "/a/b/c/d/e/f/g/h/i/j/%k", ROUTE_BAD, 0, "", ""},
        {"nothing", "GET", "", ROUTE_NONE, 0, "", ""},
        {"no slash", "GET", "healthz", ROUTE_NONE, 0, "", ""},
        {"dots", "GET", "/api/v1/pairs/../pairs", ROUTE_NONE, 0, "", ""},
        {"encoded dots", "GET", "/api/v1/pairs/%2e%2e", ROUTE_NONE, 0, "", ""},
        {"encoded slash is no separator", "GET", "/api%2fv1/pairs", ROUTE_NONE, 0, "", ""},
        {"the pattern itself", "GET", "/api/v1/pairs/{id}", ROUTE_NONE, 0, "", ""},
        {"NUL", "GET", "/api/v1/pairs/r1%00", ROUTE_BAD, 0, "", ""},
        {"line feed", "GET", "/api/v1/pairs/r1%0a", ROUTE_BAD, 0, "", ""},
        {"half an escape", "GET", "/api/v1/pairs/r%7", ROUTE_BAD, 0, "", ""},
        {"lone percent", "GET", "/%", ROUTE_BAD, 0, "", ""},
        {"no hex", "GET", "/%zz", ROUTE_BAD, 0, "", ""},
        {"wrong method", "POST", "/healthz", ROUTE_WRONG_METHOD, 0, "", "GET, HEAD"},
        {"wrong method, post", "GET", "/api/v1/pairs/r1/commands", ROUTE_WRONG_METHOD, 0, "",
         "POST"},
        {"no head of a post", "HEAD", "/api/v1/pairs/r1/commands", ROUTE_WRONG_METHOD, 0, "",
         "POST"},
        {"delete", "DELETE", "/both", ROUTE_WRONG_METHOD, 0, "", "GET, HEAD, POST, PUT"},
        {"put", "PUT", "/both", ROUTE_FOUND, 9, "", ""},
        {"get of both", "GET", "/both", ROUTE_FOUND, 5, "", ""},
        {"post of both", "POST", "/both", ROUTE_FOUND, 6, "", ""},
        {"file", "GET", "/files/a-B_0.min.js", ROUTE_FOUND, 10, "a-B_0.min.js", ""},
        {"hidden file", "GET", "/files/.a", ROUTE_NONE, 0, "", ""},
        {"folder above", "GET", "/files/..", ROUTE_NONE, 0, "", ""},
        {"folder above, encoded", "GET", "/files/%2e%2e", ROUTE_NONE, 0, "", ""},
        {"no file", "GET", "/files/", ROUTE_NONE, 0, "", ""},
        {"file in a folder", "GET", "/files/a%2fb", ROUTE_NONE, 0, "", ""},
        {"job", "GET", "/jobs/1763617674123456", ROUTE_FOUND, 7, "1763617674123456", ""},
        {"delete a job", "DELETE", "/jobs/7", ROUTE_FOUND, 8, "7", ""},
        {"post a job", "POST", "/jobs/7", ROUTE_WRONG_METHOD, 0, "", "GET, HEAD, DELETE"},
        {"longest job", "GET", "/jobs/9999999999999999999", ROUTE_FOUND, 7,
         "9999999999999999999", ""},
        {"job too long", "GET", "/jobs/10000000000000000000", ROUTE_NONE, 0, "", ""},
        {"no job's number", "GET", "/jobs/r1", ROUTE_NONE, 0, "", ""},
        {"negative job", "GET", "/jobs/-1", ROUTE_NONE, 0, "", ""},
        {"empty job", "GET", "/jobs/", ROUTE_NONE, 0, "", ""},
        {"methods are words", "get", "/both", ROUTE_WRONG_METHOD, 0, "",
         "GET, HEAD, POST, PUT"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct web_route *route = NULL;
        char id[EVENT_PAIR_MAX] = "";
        char allow[32] = "";
        CHECK_INT(
            rows[i].row,
            route_match(TABLE, COUNT(TABLE), rows[i].method, rows[i].path, &route, id, allow),
            rows[i].match);
        if (rows[i].match == ROUTE_FOUND) {
            CHECK_INT(rows[i].row, route - TABLE, rows[i].index);
        } else {
            CHECK(rows[i].row, !route);
        }
        CHECK_TEXT(rows[i].row, id, rows[i].id);
        CHECK_TEXT(rows[i].row, allow, rows[i].allow);
    }
}

static void test_percent(void)
{
    static const struct {
        const char *row, *text;
        bool good;
        const char *want;
    } rows[] = {
        {"empty", "", true, ""},
        {"plain", "abc", true, "abc"},
        {"both cases", "%4a%4A", true, "JJ"},
        {"plus stays", "a+b", true, "a+b"},
        {"utf-8", "%c3%a9", true, "\xc3\xa9"},
        {"percent", "%25", true, "%"},
        {"once only", "%2541", true, "%41"},
        {"nul", "%00", false, ""},
        {"delete", "%7f", false, ""},
        {"cut", "%4", false, ""},
        {"alone", "%", false, ""},
        {"sign", "%+4", false, ""},
        {"fits", "1234567", true, "1234567"},
        {"one too long", "12345678", false, ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char out[8] = "";
        CHECK_INT(rows[i].row,
                  percent_decode(rows[i].text, strlen(rows[i].text), out, sizeof out),
                  rows[i].good);
        if (rows[i].good) {
            CHECK_TEXT(rows[i].row, out, rows[i].want);
        }
    }
    /* The text ends where its length says, not at a NUL. */
    char out[8] = "";
    CHECK("cut by length", !percent_decode("%41", 2, out, sizeof out));
    CHECK("no room", !percent_decode("", 0, out, 0));
    char coded[32];
    char back[32];
    CHECK("encoded", percent_encode("a b/\xc3\xa4&c~", coded, sizeof coded));
    CHECK_TEXT("encoded", coded, "a%20b%2F%C3%A4%26c~");
    CHECK("back", percent_decode(coded, strlen(coded), back, sizeof back));
    CHECK_TEXT("back", back, "a b/\xc3\xa4&c~");
    CHECK("no room", !percent_encode("abcdefgh", out, 8));
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("routes", NULL, NULL);
    CU_add_test(suite, "match", test_routes_match);
    CU_add_test(suite, "percent", test_percent);
    return check_run();
}
