/* tests/unit/test_known_numbers.c - pages for people never say "nan". */
#include "tests/support/check.h"

#include <math.h>

#include "base/text/known_numbers.h"

static void test_pages(void)
{
    static const struct {
        const char *page, *want;
    } rows[] = {
        {"sd nan s, R2 -nan, 0 beyond", "sd not known, R2 not known, 0 beyond"},
        {"[nan, nan]\n", "[not known, not known]\n"},
        {"nan", "not known"},
        {"error nan seconds", "error not known seconds"},
        {"nano finance nan.csv banana a-nan 5nan", "nano finance nan.csv banana a-nan 5nan"},
        {"inf nan%", "infinite not known%"},
        {"number inf, rank 2 (-inf, inf s)", "number infinite, rank 2 (-infinite, infinite s)"},
        {"speed nan %, error nan s.", "speed not known, error not known s."},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "%s", rows[i].page);
        known_numbers_replace(text, sizeof text);
        CHECK_TEXT(rows[i].page, text, rows[i].want);
    }
}

/* printf() writes what is looked for. */
static void test_printed(void)
{
    char text[128];
    (void)snprintf(text, sizeof text, "a %.4g b %+8.3f c", (double)NAN, -(double)NAN);
    known_numbers_replace(text, sizeof text);
    CHECK(text, !strstr(text, "nan") && strstr(text, "not known"));
}

/* A text that becomes longer than its room is cut. */
static void test_cut(void)
{
    static const char *const wants[] = {"sd not known, an", "sd not known, a", "sd not know"};
    static const size_t sizes[] = {17, 16, 12};
    for (size_t i = 0; i < COUNT(sizes); i++) {
        char text[32] = "sd nan, and";
        known_numbers_replace(text, sizes[i]);
        CHECK_TEXT("cut", text, wants[i]);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("known_numbers", NULL, NULL);
    CU_add_test(suite, "pages", test_pages);
    CU_add_test(suite, "printed", test_printed);
    CU_add_test(suite, "cut", test_cut);
    return check_run();
}
