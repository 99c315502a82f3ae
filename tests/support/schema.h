/* tests/support/schema.h - checks JSON against the schemas of an OpenAPI document: the part of
 * JSON Schema that web/openapi.yaml uses. */
#ifndef TESTS_SUPPORT_SCHEMA_H
#define TESTS_SUPPORT_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* "#/components/schemas/X" -> that node of the document; NULL when there is none. */
static inline json_t *schema_resolve(json_t *root, json_t *node)
{
    const char *ref = json_string_value(json_object_get(node, "$ref"));
    if (!ref) {
        return node;
    }
    json_t *at = root;
    const char *p = ref;
    while (at && *(p += strcspn(p, "/"))) {
        char name[128];
        p++;
        (void)snprintf(name, sizeof name, "%.*s", (int)strcspn(p, "/"), p);
        at = json_object_get(at, name);
    }
    return at;
}

static inline bool schema_is_type(json_t *value, const char *type)
{
    switch (json_typeof(value)) {
    case JSON_OBJECT:
        return strcmp(type, "object") == 0;
    case JSON_ARRAY:
        return strcmp(type, "array") == 0;
    case JSON_STRING:
        return strcmp(type, "string") == 0;
    case JSON_INTEGER:
        return strcmp(type, "integer") == 0 || strcmp(type, "number") == 0;
    case JSON_REAL:
        return strcmp(type, "number") == 0;
    case JSON_TRUE:
    case JSON_FALSE:
        return strcmp(type, "boolean") == 0;
    case JSON_NULL:
        return strcmp(type, "null") == 0;
    }
    return false;
}

static inline bool schema_fail(char *why, size_t size, const char *path, const char *what)
{
    (void)snprintf(why, size, "%s: %s", path, what);
    return false;
}

static inline bool schema_check_type(json_t *schema, json_t *value)
{
    json_t *type = json_object_get(schema, "type");
    bool fits =
        !type || (json_is_string(type) && schema_is_type(value, json_string_value(type)));
    for (size_t i = 0; !fits && i < json_array_size(type); i++) {
        fits = schema_is_type(value, json_string_value(json_array_get(type, i)));
    }
    return fits;
}

static inline bool schema_check_enum(json_t *schema, json_t *value)
{
    json_t *list = json_object_get(schema, "enum");
    bool fits = !list;
    for (size_t i = 0; !fits && i < json_array_size(list); i++) {
        fits = json_equal(json_array_get(list, i), value) != 0;
    }
    return fits;
}

static inline bool schema_check(json_t *root, json_t *node, json_t *value, const char *path,
                                char *why, size_t size);

static inline bool schema_check_object(json_t *root, json_t *schema, json_t *value,
                                       const char *path, char *why, size_t size)
{
    json_t *properties = json_object_get(schema, "properties");
    json_t *others = json_object_get(schema, "additionalProperties");
    json_t *required = json_object_get(schema, "required");
    const char *key = NULL;
    json_t *member = NULL;
    char inner[256];
    for (size_t i = 0; i < json_array_size(required); i++) {
        key = json_string_value(json_array_get(required, i));
        if (!json_object_get(value, key)) {
            (void)snprintf(inner, sizeof inner, "%s.%s", path, key);
            return schema_fail(why, size, inner, "is missing");
        }
    }
    void *iterator = json_object_iter(value);
    while (iterator) {
        key = json_object_iter_key(iterator);
        member = json_object_iter_value(iterator);
        json_t *known = json_object_get(properties, key);
        (void)snprintf(inner, sizeof inner, "%s.%s", path, key);
        if (!known && json_is_false(others)) {
            return schema_fail(why, size, inner, "is not in the contract");
        }
        known = known ? known : json_is_object(others) ? others : NULL;
        if (known && !schema_check(root, known, member, inner, why, size)) {
            return false;
        }
        iterator = json_object_iter_next(value, iterator);
    }
    return true;
}

/* Does value fit the schema? Otherwise why[size] has the place of the fault. */
static inline bool schema_check(json_t *root, json_t *node, json_t *value, const char *path,
                                char *why, size_t size)
{
    json_t *schema = schema_resolve(root, node);
    if (!schema) {
        return schema_fail(why, size, path, "its schema is missing");
    }
    if (!schema_check_type(schema, value)) {
        return schema_fail(why, size, path, "has the wrong type");
    }
    if (!schema_check_enum(schema, value)) {
        return schema_fail(why, size, path, "is none of the values listed");
    }
    if (json_is_object(value)) {
        return schema_check_object(root, schema, value, path, why, size);
    }
    json_t *items = json_object_get(schema, "items");
    for (size_t i = 0; items && i < json_array_size(value); i++) {
        char inner[256];
        (void)snprintf(inner, sizeof inner, "%s[%zu]", path, i);
        if (!schema_check(root, items, json_array_get(value, i), inner, why, size)) {
            return false;
        }
    }
    return true;
}

#endif
