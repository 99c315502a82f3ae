/* web/openapi.yaml and the table of routes say the same. */
#include "tests/support/check.h"

#include "tests/support/schema.h"
#include "web/http/routes.h"
#include "web/resource/page.h"

static json_t *contract;

static json_t *find_operation(const char *path, const char *method)
{
    return json_object_get(json_object_get(json_object_get(contract, "paths"), path), method);
}

static const char *method_key(enum route_method method)
{
    static const char *const keys[ROUTE_METHOD_COUNT] = {"get", "post", "put", "delete"};
    return keys[method];
}

static void test_openapi_has_every_route(void)
{
    for (size_t i = 0; i < web_route_count; i++) {
        CHECK(web_routes[i].path,
              find_operation(web_routes[i].path, method_key(web_routes[i].method)));
    }
}

static bool is_route(const char *path, const char *key)
{
    for (size_t i = 0; i < web_route_count; i++) {
        if (strcmp(web_routes[i].path, path) == 0 &&
            strcmp(method_key(web_routes[i].method), key) == 0) {
            return true;
        }
    }
    return false;
}

static void test_routes_have_every_path(void)
{
    const char *path = NULL;
    const char *key = NULL;
    json_t *item = NULL;
    json_t *operation = NULL;
    json_object_foreach(json_object_get(contract, "paths"), path, item) {
        json_object_foreach(item, key, operation) {
            if (strcmp(key, "parameters") != 0) {
                CHECK(path, is_route(path, key));
                CHECK(path, json_object_get(operation, "operationId"));
                CHECK(path, json_object_get(operation, "summary"));
                CHECK(path, json_object_size(json_object_get(operation, "responses")) > 0);
            }
        }
    }
}

/* The query parameters of an operation, as a set of QUERY_BIT. */
static unsigned parameters_of(const char *path, json_t *operation, unsigned allowed)
{
    json_t *list = json_object_get(operation, "parameters");
    unsigned set = 0;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *parameter = schema_resolve(contract, json_array_get(list, i));
        const char *name = json_string_value(json_object_get(parameter, "name"));
        int k = 0;
        CHECK(path, name && strcmp(json_string_value(json_object_get(parameter, "in")),
                                   "query") == 0);
        /* A name may mean different things on different routes. */
        while (k < QUERY_PARAMETER_COUNT &&
               (!(allowed & QUERY_BIT(k)) ||
                strcmp(query_parameter_name((enum query_parameter)k), name ? name : "") != 0)) {
            k++;
        }
        CHECK(path, k < QUERY_PARAMETER_COUNT);
        set |= QUERY_BIT(k);
    }
    return set;
}

static void test_openapi_parameters(void)
{
    for (size_t i = 0; i < web_route_count; i++) {
        const struct web_route *route = &web_routes[i];
        json_t *operation = find_operation(route->path, method_key(route->method));
        if (route->parameters != QUERY_RAW) { /* tests/unit/test_identify_query.c has those */
            CHECK_INT(route->path, parameters_of(route->path, operation, route->parameters),
                      route->parameters);
        }
    }
}

static void check_refs(json_t *node)
{
    json_t *ref = json_object_get(node, "$ref");
    if (json_is_string(ref)) {
        CHECK(json_string_value(ref), schema_resolve(contract, node));
    }
    const char *key = NULL;
    json_t *member = NULL;
    json_object_foreach(node, key, member) {
        check_refs(member);
    }
    for (size_t i = 0; i < json_array_size(node); i++) {
        check_refs(json_array_get(node, i));
    }
}

static void test_openapi_refs(void)
{
    check_refs(contract);
    CHECK_TEXT("version", json_string_value(json_object_get(contract, "openapi")), "3.1.0");
}

/* The enums of the contract are those of the program. */
static void check_enum(const char *schema, const char *property, const char *(*name)(int index),
                       int count)
{
    json_t *node = json_object_get(
        json_object_get(json_object_get(contract, "components"), "schemas"), schema);
    if (property[0]) {
        node = json_object_get(json_object_get(node, "properties"), property);
    }
    json_t *list = json_object_get(schema_resolve(contract, node), "enum");
    CHECK_INT(property, json_array_size(list), count);
    for (int i = 0; i < count; i++) {
        CHECK_TEXT(property, json_string_value(json_array_get(list, (size_t)i)), name(i));
    }
}

static const char *name_of_verdict(int index)
{
    return verdict_name((enum verdict)index);
}

static const char *name_of_filter(int index)
{
    return names_text(&entry_filter_names, (size_t)index);
}

static const char *name_of_type(int index)
{
    return alarm_type_name((enum alarm_type)index);
}

static const char *name_of_status(int index)
{
    return reply_status_name((enum reply_status)index);
}

static void test_openapi_enums(void)
{
    check_enum("Entry", "verdict", name_of_verdict, VERDICT_COUNT);
    check_enum("EntryFilter", "", name_of_filter, ENTRY_FILTER_COUNT);
    check_enum("Alarm", "type", name_of_type, ALARM_FILTER_COUNT);
    check_enum("Entry", "real_status", name_of_status, REPLY_STATUS_COUNT);
    check_enum("Entry", "virtual_status", name_of_status, REPLY_STATUS_COUNT);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    contract = json_loadb((const char *)openapi_json, openapi_json_bytes,
                          JSON_REJECT_DUPLICATES, NULL);
    if (!contract) {
        (void)fprintf(stderr, "the contract is no JSON\n");
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("openapi", NULL, NULL);
    CU_add_test(suite, "has every route", test_openapi_has_every_route);
    CU_add_test(suite, "is all routes", test_routes_have_every_path);
    CU_add_test(suite, "parameters and answers", test_openapi_parameters);
    CU_add_test(suite, "references", test_openapi_refs);
    CU_add_test(suite, "enums", test_openapi_enums);
    const int result = check_run();
    json_decref(contract);
    return result;
}
