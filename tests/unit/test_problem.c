/* web/http/problem.h: every kind is a whole RFC 9457 document. */
#include "tests/support/check.h"

#include <jansson.h>

#include "web/http/problem.h"

static void write_problem(enum problem_kind kind, enum fault fault, const char *instance,
                          const char *detail, char *out, size_t size)
{
    struct json_writer w;
    json_write_start(&w, out, size - 1, NULL, NULL);
    problem_open(&w, kind, fault, instance, detail);
    json_write_close(&w);
    CHECK("whole", json_write_end(&w));
    out[w.used] = '\0';
}

static void test_problem_text(void)
{
    char text[1024];
    write_problem(PROBLEM_BAD_PARAMETER, FAULT_OUT_OF_RANGE, "/api/v1/pairs", "limit: \"x\"\n", text, sizeof text);
    CHECK_TEXT(
        "text", text,
        "{\"type\":\"/problems/bad-parameter\",\"title\":\"Bad parameter\",\"status\":400,"
        "\"code\":\"out_of_range\",\"detail\":\"limit: \\\"x\\\"\\u000a\",\"instance\":\"/api/v1/pairs\"}");
    write_problem(PROBLEM_URL_TOO_LONG, FAULT_NONE, "", "x", text, sizeof text);
    CHECK("no instance", !strstr(text, "instance"));
    CHECK("no fault", strstr(text, "\"code\":\"url_too_long\""));
}

static void test_problem_kinds(void)
{
    for (int kind = 0; kind < PROBLEM_KIND_COUNT; kind++) {
        char text[1024];
        const char *slug = problem_slug((enum problem_kind)kind);
        write_problem((enum problem_kind)kind, FAULT_NONE, "/x", "why", text, sizeof text);
        json_t *document = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        const char *type = json_string_value(json_object_get(document, "type"));
        const char *title = json_string_value(json_object_get(document, "title"));
        const json_int_t status = json_integer_value(json_object_get(document, "status"));
        CHECK(slug, document && type && title && title[0]);
        CHECK(slug, strncmp(type ? type : "", "/problems/", 10) == 0);
        CHECK(slug, status >= 400 && status <= 599);
        CHECK_INT(slug, status, problem_status((enum problem_kind)kind));
        for (int other = 0; other < kind; other++) {
            CHECK(slug, strcmp(slug, problem_slug((enum problem_kind)other)) != 0);
        }
        json_decref(document);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("problem", NULL, NULL);
    CU_add_test(suite, "text", test_problem_text);
    CU_add_test(suite, "kinds", test_problem_kinds);
    return check_run();
}
