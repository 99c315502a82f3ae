/* alarms.webhook of the lab file: alarms leave the machine encrypted, or not at all. */
#include "config/labfile/lab_file.h"

#include "config/labfile/lab_secrets.h"
#include "tests/support/check.h"

static void test_addresses(void)
{
    static const struct {
        const char *webhook;
        const char *code; /* NULL: accepted */
    } rows[] = {
        {"{url: 'https://lab.example/a?b=c', key_file: k}", NULL},
        {"{url: 'http://127.1.2.3:80/', key_file: k}", NULL},
        {"{url: 'http://localhost', key_file: k}", NULL},
        {"{url: 'http://[::1]:80', key_file: k}", NULL},
        {"{url: 'http://lab.example/', key_file: k}", "unsafe_address"},
        {"{url: 'http://127.0.0.1.example', key_file: k}", "unsafe_address"},
        {"{url: 'http://[fe80::1]/', key_file: k}", "unsafe_address"},
        {"{url: 'http://127.0.0.1@lab.example', key_file: k}", "bad_address"},
        {"{url: 'https://a:b@lab.example', key_file: k}", "bad_address"},
        {"{url: 'file:///etc/passwd', key_file: k}", "bad_address"},
        {"{url: 'https:///x', key_file: k}", "bad_address"},
        {"{url: 'https://a b', key_file: k}", "bad_address"},
        {"{url: 'https://lab_1.example.:65535?a', key_file: k}", NULL},
        {"{url: 'https://[fe80::1]:443/', key_file: k}", NULL},
        {"{url: 'https://lab.example:65536/', key_file: k}", "bad_address"},
        {"{url: 'https://lab.example:0/', key_file: k}", "bad_address"},
        {"{url: 'https://lab.example:/', key_file: k}", "bad_address"},
        {"{url: 'https://lab.example:8x/', key_file: k}", "bad_address"},
        {"{url: 'https://lab..example/', key_file: k}", "bad_address"},
        {"{url: 'https://-lab.example/', key_file: k}", "bad_address"},
        {"{url: 'https://lab,example/', key_file: k}", "bad_address"},
        {"{url: 'https://256.1.1.1/', key_file: k}", "bad_address"},
        {"{url: 'https://[fe80::1/', key_file: k}", "bad_address"},
        {"{url: 'https://[lab]/', key_file: k}", "bad_address"},
        {"{url: 'http://[::1]x/', key_file: k}", "bad_address"},
        {"{url: 'https://lab.example'}", "needs_key"},
        {"{key_file: k}", "needs_key"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char text[256];
        struct lab_file lab = {0};
        struct err_list errors = {0};
        (void)snprintf(text, sizeof text, "alarms: {webhook: %s}\npairs: {r1: {}}\n",
                       rows[i].webhook);
        const enum status status = lab_file_parse(text, strlen(text), "t.yaml", &lab, &errors);
        CHECK_INT(text, status, rows[i].code ? STATUS_E_PARSE : STATUS_OK);
        if (rows[i].code) {
            CHECK_INT(text, errors.count, 1);
            CHECK_TEXT(text, fault_name(errors.items[0].fault), rows[i].code);
            CHECK_INT(text, errors.items[0].line, 1);
        }
        if (status == STATUS_OK) {
            char *shown = lab_secrets_public_text(&lab);
            CU_ASSERT_FATAL(shown != NULL);
            CU_ASSERT(strstr(shown, lab.alarms.webhook.url) == NULL);
            free(shown);
        }
        lab_file_free(&lab);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab file, webhook", NULL, NULL);
    CU_add_test(suite, "addresses", test_addresses);
    return check_run();
}
