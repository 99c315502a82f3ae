/* The templates of `tandem machines generate`: every tag means something, also in parts that no
 * shipped machine needs. */
#include "tests/support/check.h"

#include <jansson.h>

#include "config/machine/machine_file.h"
#include "service/machine/machine_code.h"

/* Is there such a member with a meaning for the mark, anywhere in the document? */
static bool has_member(json_t *value, const char *name, char mark)
{
    const char *key = NULL;
    json_t *member = NULL;
    size_t i;
    const json_t *found = json_object_get(value, name);
    const bool list = json_is_array(found);
    bool has = mark == '#' ? list
               : mark      ? list || json_is_boolean(found)
                           : json_is_string(found) || json_is_integer(found);
    json_object_foreach(value, key, member) {
        has = has || has_member(member, name, mark);
    }
    json_array_foreach(value, i, member) {
        has = has || has_member(member, name, mark);
    }
    return has;
}

static const char *template_of(const char *name)
{
    return (const char *)(strcmp(name, "c_test") == 0      ? code_template_c_test
                          : strcmp(name, "c_helpers") == 0 ? code_template_c_helpers
                                                           : NULL);
}

static bool is_known(json_t *document, char mark, const char *name)
{
    if (mark == '/' || mark == '|') {
        return name[0] == '\0';
    }
    if (mark == '>') {
        return template_of(name) != NULL;
    }
    return (strcmp(name, "first") == 0 && mark && mark != '#') ||
           has_member(document, name, mark);
}

/* Counts the tags without a meaning, also in the templates that this one contains. */
static size_t count_unknown(json_t *document, const char *template)
{
    size_t unknown = 0;
    for (const char *at = template; (at = strstr(at, "{{"));) {
        while (at[2] == '{') {
            at++;
        }
        char name[32];
        at += 2;
        const char mark = strchr("?!#|/>", *at) ? *at++ : '\0';
        size_t n = (size_t)(strstr(at, "}}") - at);
        while (n > 0 && strchr(" \n", at[n - 1])) {
            n--;
        }
        (void)snprintf(name, sizeof name, "%.*s", (int)n, at);
        if (!is_known(document, mark, name)) {
            (void)fprintf(stderr, "unknown: %c%s\n", mark ? mark : ' ', name);
            unknown++;
        } else if (mark == '>') {
            unknown += count_unknown(document, template_of(name));
        }
    }
    return unknown;
}

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
        const struct code_language *language = &code_languages[i];
        json_t *document = code_document(language, file->machines[0], 25000);
        CHECK_INT(language->name,
                  count_unknown(document, (const char *)language->template) +
                      count_unknown(document, language->read) +
                      count_unknown(document, language->has),
                  0);
        json_decref(document);
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
    json_t *document = code_document(&code_languages[0], file->machines[0], 25000);
    for (size_t i = 0; i < COUNT(wrong); i++) {
        char template[64];
        (void)snprintf(template, sizeof template, "{{#states}}{{state}}{{/}}%s{{id}}",
                       wrong[i]);
        CHECK_INT(wrong[i], count_unknown(document, template), 1);
    }
    json_decref(document);
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
