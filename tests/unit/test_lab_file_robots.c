/* A pair's robots in the lab file: `real` and `virtual`, as a name or with a version. */
#include "config/labfile/lab_file.h"

#include "config/options/option_file.h"
#include "tests/support/check.h"

static enum status parse_text(const char *text, struct lab_file *lab, struct err_list *errors)
{
    *errors = (struct err_list){0};
    *lab = (struct lab_file){0};
    return lab_file_parse(text, strlen(text), "t.yaml", lab, errors);
}

/* A robot's name alone, or with its version, for pairs and as a default. */
static void test_values(void)
{
    struct lab_file lab;
    struct err_list errors;
    const char *text =
        "pairs:\n"
        "  r1: {codec: vda5050, real: acme/a, virtual: {name: acme/b, version: 1.5}}\n"
        "  r2: {real: {version: \"2.0 beta\"}}\n"
        "  r3: {virtual: }\n"
        "defaults: {virtual: {version: 1.4.0}}\n";
    CHECK_INT("", parse_text(text, &lab, &errors), STATUS_OK);
    err_list_print(&errors, stdout);
    CU_ASSERT_FATAL(lab.pair_count == 3);
    CHECK_TEXT("short", lab.pairs[0].speaks.address[SIDE_REAL], "acme/a");
    CHECK_TEXT("long", lab.pairs[0].speaks.address[SIDE_VIRTUAL], "acme/b");
    CHECK_TEXT("its version", lab.pairs[0].version[SIDE_VIRTUAL], "1.5");
    CHECK_TEXT("none", lab.pairs[0].version[SIDE_REAL], "");
    CHECK_TEXT("of a native pair", lab.pairs[1].version[SIDE_REAL], "2.0 beta");
    CHECK_TEXT("the default", lab.pairs[2].version[SIDE_VIRTUAL], "1.4.0");
    char *printed = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&printed, &bytes);
    lab_file_print(&lab, out);
    (void)fclose(out);
    struct lab_file again;
    CHECK_INT(printed, lab_file_parse(printed, bytes, "t.yaml", &again, NULL), STATUS_OK);
    CHECK_TEXT(printed, again.pairs[0].version[SIDE_VIRTUAL], "1.5");
    CHECK_TEXT(printed, again.pairs[0].speaks.address[SIDE_VIRTUAL], "acme/b");
    lab_file_free(&again);
    lab_file_free(&lab);
    free(printed);
}

static void test_faults(void)
{
    static const struct {
        const char *options;
        unsigned column; /* within the options */
        const char *code;
    } rows[] = {
        {"real: {name: acme/a, version: 1}", 14, "not_applicable"},
        {"real: {version: [1]}", 17, "value_expected"},
        {"real: [1]", 7, "object_expected"},
        {"real: {versoin: 1}", 8, "unknown_key"},
        {"real: {version: 0123456789012345678901234567890123456789012345678901234567890abcd}",
         17, "too_long"},
        {"codec: vda5050, real: {name: acme}, virtual: {name: acme/b}", 30, "inconsistent"},
        {"codec: vda5050, real: acme/a, virtual: {version: 1}", 1, "inconsistent"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        struct lab_file lab;
        struct err_list errors;
        const int before = snprintf(text, sizeof text, "pairs: {r1: {");
        (void)snprintf(text + before, sizeof text - (size_t)before, "%s}}\n", rows[i].options);
        CHECK_INT(rows[i].options, parse_text(text, &lab, &errors), STATUS_E_PARSE);
        CHECK_INT(rows[i].options, errors.count, 1);
        CHECK_TEXT(rows[i].options, fault_name(errors.items[0].fault), rows[i].code);
        if (rows[i].column > 1) {
            CHECK_INT(rows[i].options, errors.items[0].column,
                      (unsigned)before + rows[i].column);
        }
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab file, robots", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "faults", test_faults);
    return check_run();
}
