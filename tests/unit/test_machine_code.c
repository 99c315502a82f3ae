/* The templates of `tandem machines generate`: every tag means something, also in parts that no
 * shipped machine needs. */
#include "tests/support/check.h"

#include "config/machine/machine_file.h"
#include "service/machine/machine_code.h"

static struct machine_file *load_counter(void)
{
    struct machine_file *file = NULL;
    CU_ASSERT_EQUAL_FATAL(
        machine_file_load(TANDEM_SOURCE_DIR "/config/machines/counter.yaml", false, &file),
        STATUS_OK);
    return file;
}

static void test_languages(void)
{
    struct machine_file *file = load_counter();
    CHECK_INT("languages", code_language_count, 4);
    for (size_t i = 0; i < code_language_count; i++) {
        CHECK_INT(code_languages[i].name,
                  code_check_tags(stderr, &code_languages[i], file->machines[0]), 0);
    }
    machine_file_free(file);
}

static void test_unknown(void)
{
    static const char *const wrong[] = {
        "{{nosuch}}", "{{states}}",  "{{first}}",   "{{?nosuch}}", "{{!number}}",  "{{#stack}}",
        "{{>lua}}",   "{{number1}}", "{{ number}}", "{{/states}}", "{{>c_tests}}",
    };
    struct machine_file *file = load_counter();
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char template[64];
        char *text = NULL;
        size_t bytes = 0;
        FILE *out = open_memstream(&text, &bytes);
        CU_ASSERT_FATAL(out != NULL);
        (void)snprintf(template, sizeof template, "{{#states}}{{state}}{{/}}%s{{id}}",
                       wrong[i]);
        const struct code_language language = {.template = (const unsigned char *)template,
                                               .read = "{{?input}}{{name}}{{|}}{{/}}",
                                               .has = wrong[i]};
        CHECK_INT(wrong[i], code_check_tags(out, &language, file->machines[0]), 2);
        CHECK_INT("printed", fclose(out), 0);
        CHECK(wrong[i], strncmp(text, wrong[i], strlen(wrong[i])) == 0);
        free(text);
    }
    machine_file_free(file);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("templates of machines", NULL, NULL);
    CU_add_test(suite, "every language", test_languages);
    CU_add_test(suite, "unknown tags", test_unknown);
    return check_run();
}
