/* The query of an identification over HTTP: its meaning and its refusals; the table of options,
 * the command line and the HTTP contract agree. */
#include <jansson.h>
#include <string.h>

#include "service/identify/identify.h"
#include "service/identify/identify_request.h"
#include "service/job/upload_jobs.h"
#include "tests/support/check.h"
#include "web/resource/page.h"

static void test_values(void)
{
    struct identify_words words;
    struct identify_request r;
    struct err err = {0};
    CHECK_INT(
        "all",
        identify_query_read("model=usv3&method=pem&side=virtual&columns=u%3Da,v=b&biases=true"
                            "&name=trial%201.csv&pair=r1&robust=true&ridge=2.5e-3"
                            "&delay_max_s=10&heading_m=0.4&reference=d1%3D5&hold=linear"
                            "&plausible=off&arm=ur5e&curves=true&held_out_bytes=51200"
                            "&held_out_name=day%202.csv",
                            &words, &r, &err),
        STATUS_OK);
    CHECK_TEXT("model", r.model, "usv3");
    CHECK_TEXT("method", r.method, "pem");
    CHECK_TEXT("side", r.side, "virtual");
    CHECK_TEXT("columns", r.column_words, "u=a,v=b");
    CHECK_TEXT("name", r.name, "trial 1.csv");
    CHECK_TEXT("pair", r.pair, "r1");
    CHECK("biases", r.biases);
    CHECK("robust", r.robust);
    CHECK_NEAR("ridge", r.ridge, 0.0025, 0, 0);
    CHECK_NEAR("delay_max_s", r.delay_max_s, 10.0, 0, 0);
    CHECK_NEAR("heading_m", r.heading_m, 0.4, 0, 0);
    CHECK_TEXT("reference", r.reference, "d1=5");
    CHECK_TEXT("hold", r.hold, "linear");
    CHECK_TEXT("arm", r.arm, "ur5e");
    CHECK("plausible", !identify_doubts(&r));
    CHECK("curves", r.curves);
    CHECK_NEAR("held_out_bytes", r.held_out_bytes, 51200.0, 0, 0);
    CHECK_TEXT("held_out_name", r.held_out_name, "day 2.csv");
    CHECK_INT("nothing", identify_query_read("", &words, &r, &err), STATUS_OK);
    CHECK("nothing", !r.model && !r.method && !r.biases && r.delay_max_s < 0.0);
    CHECK_TEXT("the real one", r.side, "real");
    CHECK("doubts", identify_doubts(&r));
}

static void test_refusals(void)
{
    static const struct {
        const char *row, *text, *where;
    } rows[] = {
        {"unknown", "colour=red", "colour"},
        {"of the command line", "plot=a.svg", "plot"},
        {"unknown, cut", "aaaaaaaaaabbbbbbbbbbccccccccccddddddddddeeeeeeeeee=1",
         "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd"},
        {"no name", "=5", ""},
        {"not decodable name", "%zz=1", "%zz"},
        {"twice", "side=real&side=real", "side"},
        {"twice, encoded", "side=real&%73ide=real", "side"},
        {"no value", "model", "model"},
        {"broken escape", "method=%n", "method"},
        {"no model", "model=", "model"},
        {"long model", "model=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "model"},
        {"no pair", "pair=", "pair"},
        {"biases", "biases=1", "biases"},
        {"empty biases", "biases=", "biases"},
        {"robust", "robust=yes", "robust"},
        {"no ridge", "ridge=", "ridge"},
        {"below zero", "ridge=-0.1", "ridge"},
        {"too large", "ridge=1000001", "ridge"},
        {"no number", "ridge=nan", "ridge"},
        {"hexadecimal", "ridge=0x1", "ridge"},
        {"more than a number", "delay_max_s=1s", "delay_max_s"},
        {"too long", "delay_max_s=10.1", "delay_max_s"},
        {"endless", "delay_max_s=inf", "delay_max_s"},
        {"no parameters", "reference=", "reference"},
        {"no columns", "columns=", "columns"},
        {"folders", "name=../a.csv", "name"},
        {"encoded folders", "name=..%2fa.csv", "name"},
        {"folders of the other", "held_out_name=a/b.csv", "held_out_name"},
        {"before its begin", "held_out_bytes=-1", "held_out_bytes"},
        {"line break in a name", "name=a%0ab.csv", "name"},
        {"turned about", "heading_m=101", "heading_m"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct identify_words words;
        struct identify_request request;
        struct err err = {0};
        CHECK_INT(rows[i].row, identify_query_read(rows[i].text, &words, &request, &err),
                  STATUS_E_ARG);
        CHECK_TEXT(rows[i].row, err.where, rows[i].where);
        CHECK(rows[i].row, err.text[0]);
    }
}

static void test_long(void)
{
    static char text[2000] = "columns=";
    struct identify_words words;
    struct identify_request request;
    struct err err = {0};
    memset(text + 8, 'A', 1024);
    CHECK_INT("long columns", identify_query_read(text, &words, &request, &err), STATUS_E_ARG);
    CHECK_TEXT("long columns", err.where, "columns");
    text[8 + 1023] = '\0';
    CHECK_INT("longest columns", identify_query_read(text, &words, &request, &err), STATUS_OK);
}

/* Every row has a place on one side at least, a help, and is for some model; no name is twice.
 */
static void test_table(void)
{
    for (size_t i = 0; i < identify_option_count; i++) {
        const struct identify_option *o = &identify_options[i];
        const char *name = o->argument.name ? o->argument.name : o->query;
        CU_ASSERT_FATAL(name != NULL);
        CHECK(name, o->argument.help && o->argument.help[0]);
        CHECK(name, o->data != 0 && o->data < 1U << MODEL_DATA_COUNT);
        CHECK(name, o->argument.kind != ARGUMENT_REAL || o->argument.max > o->argument.min);
        CHECK(name, !o->query || o->argument.kind != ARGUMENT_TEXT || o->longest > 0);
        for (size_t j = 0; j < i; j++) {
            const struct identify_option *other = &identify_options[j];
            CHECK(name, other->at != o->at);
            CHECK(name, !o->query || !other->query || strcmp(o->query, other->query) != 0);
        }
    }
}

/* An option that does not apply to a model is refused under the name that the caller used. */
static void test_sorts(void)
{
    for (size_t i = 0; i < identify_option_count; i++) {
        const struct identify_option *o = &identify_options[i];
        for (size_t m = 0; m < model_row_count && o->query; m++) {
            struct identify_words words;
            struct identify_request request;
            struct err err = {0};
            char query[128];
            (void)snprintf(query, sizeof query, "%s=%s", o->query,
                           o->argument.kind == ARGUMENT_FLAG   ? "true"
                           : o->argument.kind == ARGUMENT_REAL ? "1"
                                                               : "real");
            CHECK_INT(query, identify_query_read(query, &words, &request, &err), STATUS_OK);
            const bool refused = identify_check(model_rows[m], &request, &err) != STATUS_OK &&
                                 err.fault == FAULT_NOT_APPLICABLE;
            CHECK_INT(query, refused, !(o->data >> model_rows[m]->data & 1U));
            CHECK_TEXT(query, refused ? err.where : o->query, o->query);
        }
    }
}

static json_t *find_parameter(json_t *contract, json_t *list, const char *name)
{
    json_t *components = json_object_get(json_object_get(contract, "components"), "parameters");
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *node = json_array_get(list, i);
        const char *reference = json_string_value(json_object_get(node, "$ref"));
        node = reference ? json_object_get(components, strrchr(reference, '/') + 1) : node;
        if (strcmp(json_string_value(json_object_get(node, "name")), name) == 0) {
            return node;
        }
    }
    return NULL;
}

/* The contract has the table's parameters and no others, with its limits, and names each model.
 */
static void test_contract(void)
{
    json_t *contract = json_loadb((const char *)openapi_json, openapi_json_bytes, 0, NULL);
    json_t *post = json_object_get(
        json_object_get(json_object_get(contract, "paths"), "/api/v1/identify"), "post");
    json_t *list = json_object_get(post, "parameters");
    size_t count = 0;
    for (size_t i = 0; i < identify_option_count; i++) {
        const struct identify_option *o = &identify_options[i];
        if (!o->query) {
            continue;
        }
        json_t *schema = json_object_get(find_parameter(contract, list, o->query), "schema");
        static const char *const types[] = {[ARGUMENT_REAL] = "number",
                                            [ARGUMENT_TEXT] = "string",
                                            [ARGUMENT_FLAG] = "boolean"};
        count++;
        CHECK_TEXT(o->query, json_string_value(json_object_get(schema, "type")),
                   types[o->argument.kind]);
        if (o->argument.kind == ARGUMENT_REAL) {
            CHECK_NEAR(o->query, json_number_value(json_object_get(schema, "minimum")),
                       o->argument.min, 0, 0);
            CHECK_NEAR(o->query, json_number_value(json_object_get(schema, "maximum")),
                       o->argument.max, 0, 0);
        }
    }
    CHECK_INT("no others", json_array_size(list), count);
    json_t *known = json_object_get(
        json_object_get(find_parameter(contract, list, "model"), "schema"), "anyOf");
    json_t *names = json_object_get(json_array_get(known, 1), "enum");
    CHECK_INT("models", json_array_size(names), model_row_count);
    for (size_t i = 0; i < model_row_count; i++) {
        CHECK_TEXT("model", json_string_value(json_array_get(names, i)), model_rows[i]->name);
    }
    json_decref(contract);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("query of an identification", NULL, NULL);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "long", test_long);
    CU_add_test(suite, "table", test_table);
    CU_add_test(suite, "sorts of models", test_sorts);
    CU_add_test(suite, "contract", test_contract);
    return check_run();
}
