/* Pictures of the lab file's machines: as drawn, written ones too, and refused ones. */
#include "tests/support/check.h"

#include "config/labfile/lab_file.h"

#define LAB(machines) "pairs: {r1: {}}\nmachines: " machines "\n"

static void test_lab(void)
{
    static const char text[] =
        LAB("[tests/golden/machines/handshake.drawio, config/machines/counter.yaml]");
    struct lab_file lab;
    struct err_list errors = {0};
    size_t bytes = 0;
    CU_ASSERT_EQUAL_FATAL(
        lab_file_parse(text, strlen(text), TANDEM_SOURCE_DIR "/lab.yaml", &lab, &errors),
        STATUS_OK);
    CHECK_INT("pictures", lab.pictures.count, 3);
    const char *svg = machine_pictures_find(&lab.pictures, "Slave", &bytes);
    CHECK("drawn", svg && bytes == strlen(svg) && strstr(svg, "id=\"Slave.IDLE\""));
    svg = machine_pictures_find(&lab.pictures, "Counter", &bytes);
    CHECK("written", svg && strstr(svg, "id=\"Counter.WAIT\"") && strstr(svg, "C &gt; 0"));
    CHECK("none", !machine_pictures_find(&lab.pictures, "counter", &bytes));
    lab_file_free(&lab);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *code;
    } rows[] = {
        {LAB("counter.yaml"), "list_expected"},
        {LAB("[[a]]"), "value_expected"},
        {LAB("[nosuch.yaml]"), "machine_fault"},
        {LAB("[config/machines/counter.yaml, config/machines/counter.yaml]"), "duplicate_name"},
        {LAB("[tests/golden/machines/f02_overlap.drawio]"), "machine_fault"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct lab_file lab;
        struct err_list errors = {0};
        CHECK_INT(rows[i].text,
                  lab_file_parse(rows[i].text, strlen(rows[i].text),
                                 TANDEM_SOURCE_DIR "/lab.yaml", &lab, &errors),
                  STATUS_E_PARSE);
        CHECK_TEXT(rows[i].text, fault_name(errors.items[0].fault), rows[i].code);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("machine pictures", NULL, NULL);
    CU_add_test(suite, "lab", test_lab);
    CU_add_test(suite, "refused", test_refused);
    return check_run();
}
