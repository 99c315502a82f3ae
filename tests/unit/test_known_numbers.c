/* tests/unit/test_known_numbers.c - pages for people never say "nan". */
#include "tests/support/check.h"

#include <math.h>

#include "service/tool/known_numbers.h"

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
        {"inf nan%", "inf not known%"},
        {"", ""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[128] = "";
        FILE *out = fmemopen(text, sizeof text, "w");
        known_numbers_print(rows[i].page, out);
        (void)fclose(out);
        CHECK_TEXT(rows[i].page, text, rows[i].want);
    }
}

/* printf() writes what is looked for. */
static void test_printed(void)
{
    char page[64];
    char text[128] = "";
    (void)snprintf(page, sizeof page, "a %.4g b %+8.3f c", (double)NAN, -(double)NAN);
    FILE *out = fmemopen(text, sizeof text, "w");
    known_numbers_print(page, out);
    (void)fclose(out);
    CHECK(text, !strstr(text, "nan") && strstr(text, "not known"));
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("known_numbers", NULL, NULL);
    CU_add_test(suite, "pages", test_pages);
    CU_add_test(suite, "printed", test_printed);
    return check_run();
}
