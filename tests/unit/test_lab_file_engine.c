/* engine: of the lab file: servers of a database, its user, the name of the daemon. */
#include "config/labfile/lab_file.h"

#include "config/labfile/lab_secrets.h"
#include "tests/support/check.h"

static enum status parse_engine(const char *engine, struct lab_file *lab,
                                struct err_list *errors)
{
    char text[512];
    (void)snprintf(text, sizeof text, "engine: %s\npairs: {r1: {}}\n", engine);
    return lab_file_parse(text, strlen(text), "t.yaml", lab, errors);
}

static void test_keys(void)
{
    static const struct {
        const char *engine;
        const char *code; /* NULL: accepted */
    } rows[] = {
        {"{postgresql: {servers: ['127.0.0.1:5432', localhost, '[::1]:1']}, instance: a}",
         NULL},
        {"{postgresql: {servers: ['db1:5432'], tls: {ca_file: c}}, instance: hall_1-a}", NULL},
        {"{postgresql: {servers: [localhost]}, instance: a, advertise: 'https://a.lab:8420'}",
         NULL},
        {"{postgresql: {servers: []}}", NULL},
        {"{postgresql: {servers: []}, instance: a}", NULL},
        {"{instance: a}", "needs_key"},
        {"{postgresql: {user: a}}", "needs_key"},
        {"{postgresql: {servers: [localhost]}}", "bad_name"},
        {"{postgresql: {servers: [localhost]}, instance: 'a b'}", "bad_name"},
        {"{postgresql: {servers: ['db1:5432']}, instance: a}", "unsafe_address"},
        {"{postgresql: {servers: [localhost, 10.0.0.1]}, instance: a}", "unsafe_address"},
        {"{postgresql: {servers: ['localhost:0']}, instance: a}", "bad_address"},
        {"{postgresql: {servers: ['localhost:65536']}, instance: a}", "bad_address"},
        {"{postgresql: {servers: ['localhost/tandem']}, instance: a}", "bad_address"},
        {"{postgresql: {servers: ['tcp://localhost'], tls: {ca_file: c}}, instance: a}",
         "bad_address"},
        {"{postgresql: {servers: ['a host'], tls: {ca_file: c}}, instance: a}", "bad_address"},
        {"{postgresql: {servers: localhost}, instance: a}", "list_expected"},
        {"{postgresql: {servers: [localhost], password: x}, instance: a}", "unknown_key"},
        {"{postgresql: {servers: [localhost], require_sync: -1}, instance: a}", "out_of_range"},
        {"{postgresql: {servers: [localhost], database: ''}, instance: a}", "missing_value"},
        {"{postgresql: {servers: [localhost]}, instance: a, advertise: a.lab}", "bad_address"},
        {"{role: owner}", "needs_key"},
        {"{postgresql: {servers: [localhost]}, instance: a, role: owner}", "inconsistent"},
        {"{postgresql: {servers: [localhost]}, instance: a, role: standby}", "unknown_value"},
        {"{postgresql: {servers: [localhost]}, instance: a, safe_s: 2}", "inconsistent"},
        {"{postgresql: {servers: [localhost]}, instance: a, renew_s: 1}", "inconsistent"},
        {"{postgresql: {servers: [localhost]}, instance: a, take_s: 3, safe_s: 2, renew_s: 1}",
         NULL},
        {"{postgresql: {servers: [localhost]}, instance: a, advertise: 'https://a.lab/x'}",
         "bad_address"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct lab_file lab = {0};
        struct err_list errors = {0};
        const enum status status = parse_engine(rows[i].engine, &lab, &errors);
        CHECK_INT(rows[i].engine, status, rows[i].code ? STATUS_E_PARSE : STATUS_OK);
        if (rows[i].code && errors.count > 0) {
            CHECK_INT(rows[i].engine, errors.count, 1);
            CHECK_TEXT(rows[i].engine, fault_name(errors.items[0].fault), rows[i].code);
            CHECK_INT(rows[i].engine, errors.items[0].line, 1);
        }
        lab_file_free(&lab);
    }
}

/* Defaults, and values that read back from what is printed. */
static void test_values(void)
{
    struct lab_file lab = {0};
    struct lab_file again = {0};
    struct err_list errors = {0};
    char *text = NULL;
    size_t bytes = 0;
    CU_ASSERT_FATAL(
        parse_engine("{postgresql: {servers: ['db1:5433', '[::1]'], tls: {ca_file: c},"
                     " require_sync: 1}, instance: a}",
                     &lab, &errors) == STATUS_OK);
    CHECK_TEXT("database", lab.engine.postgresql.database, "tandem");
    CHECK_TEXT("user", lab.engine.postgresql.user, "tandem");
    FILE *out = open_memstream(&text, &bytes);
    CU_ASSERT_PTR_NOT_NULL_FATAL(out);
    lab_file_print(&lab, out);
    (void)fclose(out);
    CU_ASSERT_FATAL(lab_file_parse(text, bytes, "t.yaml", &again, &errors) == STATUS_OK);
    CHECK_INT("servers", again.engine.postgresql.server_count, 2);
    CHECK_TEXT("server", again.engine.postgresql.servers[0], "db1:5433");
    CHECK_TEXT("server", again.engine.postgresql.servers[1], "[::1]");
    CHECK_INT("require_sync", again.engine.postgresql.require_sync, 1);
    free(text);
    lab_file_free(&again);
    lab_file_free(&lab);
}

static void test_secrets(void)
{
    struct lab_file lab = {0};
    struct err_list errors = {0};
    CU_ASSERT_FATAL(parse_engine("{postgresql: {servers: [localhost], user: hidden,"
                                 " password_file: /absent}, instance: a}",
                                 &lab, &errors) == STATUS_OK);
    CHECK_INT("absent", lab_secrets_check(&lab, &errors), STATUS_E_ARG);
    CHECK("absent",
          strncmp(errors.items[0].text, "engine.postgresql.password_file cannot", 38) == 0);
    char *shown = lab_secrets_public_text(&lab);
    CU_ASSERT_FATAL(shown != NULL);
    CHECK("public", !strstr(shown, "hidden") && !strstr(shown, "/absent"));
    free(shown);
    lab.engine.postgresql.server_count = 0;
    CHECK_INT("not in use", lab_secrets_check(&lab, &errors), STATUS_OK);
    lab_file_free(&lab);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("lab_file_engine", NULL, NULL);
    CU_add_test(suite, "keys", test_keys);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "secrets", test_secrets);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
