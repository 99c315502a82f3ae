/* Documents as pages: ends of intervals that are not known, and names of several bytes. */
#include "tests/support/check.h"

#include <math.h>

#include "logger/message/json_write.h"
#include "service/tool/document_page.h"

static char *print_document(void (*members)(const void *what, struct json_writer *w))
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    CHECK_INT("printed", document_page_print(out, members, NULL), STATUS_OK);
    (void)fclose(out);
    return text;
}

static void write_ends(const void *what, struct json_writer *w)
{
    (void)what;
    JSON_WRITE(w, JSON("pair", "r1"));
    JSON_WRITE_OBJECT(w, "real_lap", JSON("low_s", 2.1), JSON("high_s", (double)NAN));
    JSON_WRITE_OBJECT(w, "lag", JSON("lag_low_s", (double)NAN), JSON("lag_high_s", 0.5));
    JSON_WRITE_OBJECT(w, "virtual_lap", JSON("expected_s", 2.0), JSON("low_s", (double)NAN),
                      JSON("high_s", (double)NAN));
    JSON_WRITE_OBJECT(w, "gauge", JSON("held", 94.0), JSON("of", 100.0), JSON("left", 1.0));
    JSON_WRITE_OBJECT(w, "flow", JSON("below", (double)NAN), JSON("high_s", 0.5));
    json_write_object(w, "ci95");
    json_write_two(w, "both", 1.0, 2.0);
    json_write_two(w, "least", 1.5, (double)INFINITY);
    json_write_two(w, "most", -(double)INFINITY, 2.5);
    json_write_two(w, "none", (double)NAN, (double)NAN);
    json_write_close(w);
}

static void test_ends(void)
{
    char *text = print_document(write_ends);
    static const char *const found[] = {
        "real_lap: low_s 2.1, high_s not known",
        "lag: lag_low_s not known, lag_high_s 0.5",
        "virtual_lap: expected_s 2, low_s not known, high_s not known",
        "gauge: held 94 of 100, left 1",
        "flow: high_s 0.5",
        "both 1 2",
        "least ≥ 1.5",
        "most ≤ 2.5",
        "none not known"};
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        CHECK(text, strstr(text, found[i]) != NULL);
    }
    free(text);
}

static void write_names(const void *what, struct json_writer *w)
{
    (void)what;
    JSON_OPEN(w, "pairs", JSON_OBJECT("Käthe", JSON("moves", 1.0), JSON("name", "ö")),
              JSON_OBJECT("Bob", JSON("moves", 22.0), JSON("name", "b")));
    json_write_close(w);
}

static void test_names(void)
{
    char *text = print_document(write_names);
    CHECK("aligned", strstr(text, "  Käthe      1  ö\n  Bob       22  b\n") != NULL);
    free(text);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("document page", NULL, NULL);
    (void)CU_add_test(suite, "ends", test_ends);
    (void)CU_add_test(suite, "names", test_names);
    return check_run();
}
