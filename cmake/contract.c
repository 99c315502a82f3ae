#include "cmake/contract.h"

#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"

static bool failed; /* no memory */

static void set_new(json_t *object, const char *key, json_t *value)
{
    failed |= json_object_set_new(object, key, value) != 0;
}

/* Sets a member that web/openapi.yaml does not have. */
static void set_missing(json_t *object, const char *key, json_t *value)
{
    if (json_object_get(object, key)) {
        json_decref(value);
    } else {
        set_new(object, key, value);
    }
}

static json_t *refer_to(const char *kind, const char *name)
{
    return json_pack("{s:o}", "$ref", json_sprintf("#/components/%s/%s", kind, name));
}

/* ---- schemas ---- */

/* Turns {"a": …, "b?": …} into the same without marks, and the list of required members. */
static void complete_object(json_t *schema, json_t *marked)
{
    json_t *properties = json_object();
    json_t *required = json_array();
    const char *key = NULL;
    json_t *value = NULL;
    json_object_foreach(marked, key, value) {
        const size_t n = strlen(key);
        if (key[n - 1] == '?') {
            failed |= json_object_setn(properties, key, n - 1, value) != 0;
        } else {
            failed |= json_object_set(properties, key, value) != 0 ||
                      json_array_append_new(required, json_string(key)) != 0;
        }
    }
    if (json_array_size(required) > 0) {
        set_missing(schema, "required", json_incref(required));
    }
    json_decref(required);
    set_missing(schema, "type", json_string("object"));
    set_missing(schema, "additionalProperties", json_false());
    set_new(schema, "properties", properties);
}

/* Completes every schema in this node. Parts of an allOf are open: the schema around them is
 * closed. */
static void complete_schemas(json_t *node, bool is_part)
{
    const char *key = NULL;
    json_t *value = NULL;
    json_t *properties = json_object_get(node, "properties");
    if (json_is_object(properties) && !is_part) {
        complete_object(node, properties);
    }
    json_object_foreach(node, key, value) {
        if (strcmp(key, "example") != 0) {
            complete_schemas(value, strcmp(key, "allOf") == 0);
        }
    }
    for (size_t i = 0; i < json_array_size(node); i++) {
        complete_schemas(json_array_get(node, i), is_part);
    }
}

/* ---- faults ---- */

static json_t *list_codes(void)
{
    static const struct {
        const char *code, *meaning;
    } rows[] = {
#define FAULT(name, code, meaning) {code, meaning},
#include "base/errors/fault.def"
#undef FAULT
    };
    json_t *codes = json_object();
    for (size_t i = 0; i < COUNT(rows); i++) {
        set_new(codes, rows[i].code, json_string(rows[i].meaning));
    }
    return codes;
}

/* ---- routes ---- */

struct route {
    const char *method, *path, *body_max, *token;
};

/* The problem of a path whose variable names nothing. */
static const struct variable {
    const char *name, *not_found;
} variables[] = {{"id", "NotFound"},   {"team", "TeamNotFound"}, {"machine", "MachineNotFound"},
                 {"job", "NoSuchJob"}, {"resource", NULL},       {"robot", NULL}};

static bool has_variable(const char *path, const struct variable *variable)
{
    char text[32];
    (void)snprintf(text, sizeof text, "{%s}", variable->name);
    return strstr(path, text) != NULL;
}

/* The third segment, "teams" of "/api/v1/teams/{team}", if it is a tag. */
static const char *find_tag(json_t *contract, const char *path)
{
    static const char root[] = "/api/v1/";
    const char *word = strncmp(path, root, strlen(root)) == 0 ? path + strlen(root) : "";
    size_t i = 0;
    json_t *tag = NULL;
    json_array_foreach(json_object_get(contract, "tags"), i, tag) {
        const char *name = json_string_value(json_object_get(tag, "name"));
        if (name && strncmp(word, name, strlen(name)) == 0) {
            return name;
        }
    }
    return "service";
}

/* Makes {schema, example} the content of a body, in this media type. */
static void complete_content(json_t *body, const char *media_type, json_t *usual_schema)
{
    static const char *const keys[] = {"schema", "example"};
    json_t *content = json_object();
    for (size_t i = 0; i < COUNT(keys); i++) {
        json_t *value = json_object_get(body, keys[i]);
        if (value) {
            failed |= json_object_set(content, keys[i], value) != 0;
            (void)json_object_del(body, keys[i]);
        }
    }
    if (usual_schema) {
        set_missing(content, "schema", usual_schema);
    }
    if (json_object_size(content) > 0) {
        set_missing(body, "content", json_pack("{s:O}", media_type, content));
    }
    json_decref(content);
}

/* An error is a problem document. */
static void complete_problem(json_t *response)
{
    if (!json_object_get(response, "$ref")) {
        complete_content(response, "application/problem+json", refer_to("schemas", "Problem"));
    }
}

static void complete_responses(const struct route *route, json_t *responses)
{
    const bool needs_token = strcmp(route->token, "READING") == 0;
    const bool writes = strcmp(route->token, "WRITING") == 0;
    const bool of_team = strstr(route->path, "{team}") != NULL;
    const struct {
        const char *status, *name;
        bool given;
    } rows[] = {{"304", "NotModified",
                 json_object_get(json_object_get(json_object_get(responses, "200"), "headers"),
                                 "ETag") != NULL},
                {"400", "BadRequest", true},
                {"401", "Unauthorized", needs_token || writes},
                {"403", "WritingOff", writes},
                {"409", "TeamRefuses", writes && of_team},
                {"413", "BodyTooLarge", strcmp(route->body_max, "0") != 0},
                {"503", "Unavailable", writes && strcmp(route->method, "DELETE") != 0},
                {"default", "Other", true}};
    const char *status = NULL;
    json_t *response = NULL;
    json_object_foreach(responses, status, response) {
        if (status[0] >= '4') {
            complete_problem(response);
        } else {
            complete_content(response, "application/json", NULL);
        }
    }
    for (size_t i = 0; i < COUNT(variables); i++) {
        if (variables[i].not_found && has_variable(route->path, &variables[i])) {
            set_missing(responses, "404", refer_to("responses", variables[i].not_found));
        }
    }
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (rows[i].given) {
            set_missing(responses, rows[i].status, refer_to("responses", rows[i].name));
        }
    }
}

static void complete_route(json_t *contract, const struct route *route)
{
    char method[8] = "";
    json_t *item = json_object_get(json_object_get(contract, "paths"), route->path);
    for (size_t i = 0; route->method[i]; i++) {
        method[i] = (char)(route->method[i] - 'A' + 'a');
    }
    json_t *operation = json_object_get(item, method);
    json_t *parameters = json_array();
    for (size_t i = 0; i < COUNT(variables); i++) {
        if (has_variable(route->path, &variables[i])) {
            failed |= json_array_append_new(parameters,
                                            refer_to("parameters", variables[i].name)) != 0;
        }
    }
    if (item && json_array_size(parameters) > 0) {
        set_missing(item, "parameters", json_incref(parameters));
    }
    json_decref(parameters);
    if (!operation) {
        return; /* tests/unit/test_openapi.c names what is missing */
    }
    set_missing(operation, "tags", json_pack("[s]", find_tag(contract, route->path)));
    if (strcmp(route->token, "WRITING") == 0) {
        set_missing(operation, "security", json_pack("[{s:[]}]", "token"));
    }
    complete_content(json_object_get(operation, "requestBody"), "application/json", NULL);
    complete_responses(route, json_object_get(operation, "responses"));
}

/* A parameter is one of the query, under its own name. One of the path is required. */
static void complete_parameters(json_t *parameters)
{
    const char *name = NULL;
    json_t *parameter = NULL;
    json_object_foreach(parameters, name, parameter) {
        set_missing(parameter, "name", json_string(name));
        set_missing(parameter, "in", json_string("query"));
        if (strcmp(json_string_value(json_object_get(parameter, "in")), "path") == 0) {
            set_missing(parameter, "required", json_true());
        }
    }
}

bool contract_complete(json_t *contract)
{
    static const struct route routes[] = {
#define ROUTE(method, path, body_max, token, parameters, handler)                              \
    {#method, path, #body_max, #token},
#include "web/resource/routes.def"
#undef ROUTE
    };
    const char *name = NULL;
    json_t *response = NULL;
    json_t *components = json_object_get(contract, "components");
    json_t *faults = json_object_get(json_object_get(components, "schemas"), "FaultCode");
    set_missing(faults, "x-codes", list_codes());
    complete_schemas(contract, false);
    complete_parameters(json_object_get(components, "parameters"));
    for (size_t i = 0; i < COUNT(routes); i++) {
        complete_route(contract, &routes[i]);
    }
    json_object_foreach(json_object_get(components, "responses"), name, response) {
        if (strcmp(name, "NotModified") != 0) {
            complete_problem(response);
        }
    }
    return !failed;
}
