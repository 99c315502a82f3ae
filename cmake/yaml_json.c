/* cmake/yaml_json.c - build tool: converts web/openapi.yaml to JSON.
 *
 *     yaml_json IN.yaml OUT.json
 *     yaml_json --schema IN.schema.json OUT.json
 *
 * The second form writes the schema of one message without any $ref, for programs that follow
 * none. If the schema has alternatives, it is the one that describes an object.
 *
 * Rows of the program's tables are filled in (cmake/contract.h).
 * Plain scalars follow YAML's core schema; duplicate keys are refused. {$ref: other.json#/a/b}
 * is replaced by its target, recursively, so that OUT needs no other file. Members next to the
 * $ref stay and win. Only our own files are read: an anchor that contains itself would never
 * end.
 */
#include <errno.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "cmake/contract.h"

static const char *file_name = "";

static json_t *tell_fault(const yaml_mark_t *mark, const char *what)
{
    (void)fprintf(stderr, "%s:%zu:%zu: %s\n", file_name, mark->line + 1, mark->column + 1,
                  what);
    return NULL;
}

static json_t *plain_scalar(const char *text)
{
    char *end = NULL;
    if (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0) {
        return json_null();
    }
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        return json_boolean(text[0] == 't');
    }
    if (strspn(text, "0123456789+-.eE") == strlen(text)) {
        errno = 0;
        const long long whole = strtoll(text, &end, 10);
        if (!*end && errno == 0) {
            return json_integer(whole);
        }
        const double real = strtod(text, &end);
        if (!*end) {
            return json_real(real);
        }
    }
    return json_string(text);
}

static json_t *convert_node(yaml_document_t *document, int index);

static json_t *convert_mapping(yaml_document_t *document, const yaml_node_t *node)
{
    json_t *object = json_object();
    for (const yaml_node_pair_t *p = node->data.mapping.pairs.start;
         object && p < node->data.mapping.pairs.top; p++) {
        const yaml_node_t *key = yaml_document_get_node(document, p->key);
        if (key->type != YAML_SCALAR_NODE) {
            json_decref(object);
            return tell_fault(&key->start_mark, "a key that is a text was expected");
        }
        const char *name = (const char *)key->data.scalar.value;
        if (json_object_get(object, name)) {
            json_decref(object);
            return tell_fault(&key->start_mark, "this key was given before");
        }
        json_t *value = convert_node(document, p->value);
        if (!value || json_object_set_new(object, name, value) != 0) {
            json_decref(object);
            return NULL;
        }
    }
    return object;
}

static json_t *convert_sequence(yaml_document_t *document, const yaml_node_t *node)
{
    json_t *array = json_array();
    for (const yaml_node_item_t *p = node->data.sequence.items.start;
         array && p < node->data.sequence.items.top; p++) {
        json_t *value = convert_node(document, *p);
        if (!value || json_array_append_new(array, value) != 0) {
            json_decref(array);
            return NULL;
        }
    }
    return array;
}

static json_t *convert_node(yaml_document_t *document, int index)
{
    const yaml_node_t *node = yaml_document_get_node(document, index);
    switch (node->type) {
    case YAML_SCALAR_NODE: {
        const char *text = (const char *)node->data.scalar.value;
        return node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE ? plain_scalar(text)
                                                                  : json_string(text);
    }
    case YAML_SEQUENCE_NODE:
        return convert_sequence(document, node);
    case YAML_MAPPING_NODE:
        return convert_mapping(document, node);
    case YAML_NO_NODE:
        break;
    }
    return tell_fault(&node->start_mark, "an empty node");
}

static json_t *load_document(FILE *in)
{
    yaml_parser_t parser;
    yaml_document_t document;
    json_t *value = NULL;
    if (!yaml_parser_initialize(&parser)) {
        return NULL;
    }
    yaml_parser_set_input_file(&parser, in);
    if (yaml_parser_load(&parser, &document)) {
        if (yaml_document_get_root_node(&document)) {
            value = convert_node(&document, 1);
        }
        yaml_document_delete(&document);
    } else {
        (void)tell_fault(&parser.problem_mark, parser.problem ? parser.problem : "unreadable");
    }
    yaml_parser_delete(&parser);
    return value;
}

/* ---- references to other files ---- */

enum { DEPTH_MAX = 32, PATH_LENGTH_MAX = 1024 };

/* A document whose references are resolved. */
struct source {
    const char *path;
    json_t *root;
    bool whole; /* the document being written: its internal references stay */
};

static json_t *bundle_node(json_t *node, const struct source *from, int depth);

static json_t *load_path(const char *path)
{
    const char *const before = file_name;
    FILE *in = fopen(path, "rb");
    if (!in) {
        (void)fprintf(stderr, "%s: %s, which it refers to, cannot be opened\n", before, path);
        return NULL;
    }
    file_name = path;
    json_t *root = load_document(in);
    file_name = before;
    (void)fclose(in);
    return root;
}

/* Resolves "/a/b" to that node, borrowed; "" is the root. Our names contain no ~. */
static json_t *walk_pointer(json_t *root, const char *pointer)
{
    while (root && *pointer == '/') {
        const size_t n = strcspn(++pointer, "/");
        root = json_object_getn(root, pointer, n);
        pointer += n;
    }
    return root;
}

/* Members next to the $ref override those of its target. The other file's version and
 * definitions are dropped. */
static bool merge_members(json_t *target, json_t *node)
{
    const char *key = NULL;
    json_t *value = NULL;
    (void)json_object_del(target, "$schema");
    (void)json_object_del(target, "$defs");
    json_object_foreach(node, key, value) {
        if (strcmp(key, "$ref") != 0 && json_object_set(target, key, value) != 0) {
            return false;
        }
    }
    return true;
}

/* Loads the document named by the first n characters of a reference, relative to the referring
 * document. */
static json_t *load_relative(const char *from, const char *ref, size_t n,
                             char path[PATH_LENGTH_MAX])
{
    const char *slash = strrchr(from, '/');
    const int folder_n = slash ? (int)(slash + 1 - from) : 0;
    if (snprintf(path, PATH_LENGTH_MAX, "%.*s%.*s", folder_n, from, (int)n, ref) >=
        PATH_LENGTH_MAX) {
        (void)fprintf(stderr, "%s: the path %s is too long\n", from, ref);
        return NULL;
    }
    return load_path(path);
}

static json_t *follow_reference(json_t *node, const char *ref, const struct source *from,
                                int depth)
{
    char path[PATH_LENGTH_MAX];
    const size_t name_n = strcspn(ref, "#");
    json_t *loaded = name_n > 0 ? load_relative(from->path, ref, name_n, path) : NULL;
    if (name_n > 0 && !loaded) {
        return NULL;
    }
    const struct source to = {.path = loaded ? path : from->path,
                              .root = loaded ? loaded : from->root};
    json_t *found = walk_pointer(to.root, ref[name_n] ? ref + name_n + 1 : "");
    json_t *target = found ? bundle_node(found, &to, depth + 1) : NULL;
    if (!found) {
        (void)fprintf(stderr, "%s: there is nothing at %s\n", from->path, ref);
    }
    if (target && !merge_members(target, node)) {
        json_decref(target);
        target = NULL;
    }
    json_decref(loaded);
    return target;
}

static json_t *bundle_members(json_t *node, const struct source *from, int depth)
{
    json_t *copy = json_is_object(node) ? json_object() : json_array();
    const char *key = NULL;
    json_t *value = NULL;
    bool ok = copy != NULL;
    json_object_foreach(node, key, value) {
        ok = ok && json_object_set_new(copy, key, bundle_node(value, from, depth + 1)) == 0;
    }
    for (size_t i = 0; i < json_array_size(node); i++) {
        ok = ok && json_array_append_new(
                       copy, bundle_node(json_array_get(node, i), from, depth + 1)) == 0;
    }
    if (!ok) {
        json_decref(copy);
        return NULL;
    }
    return copy;
}

/* Returns a copy without references to other files; NULL after a message. */
static json_t *bundle_node(json_t *node, const struct source *from, int depth)
{
    const char *ref = json_string_value(json_object_get(node, "$ref"));
    if (depth > DEPTH_MAX) {
        (void)fprintf(stderr, "%s: references go round in circles\n", from->path);
        return NULL;
    }
    if (ref && !(from->whole && ref[0] == '#')) {
        return follow_reference(node, ref, from, depth);
    }
    return json_is_object(node) || json_is_array(node) ? bundle_members(node, from, depth)
                                                       : json_incref(node);
}

/* Returns the schema of the object, borrowed. */
static json_t *choose_object(json_t *schema)
{
    json_t *found = schema;
    json_t *choice = NULL;
    size_t i = 0;
    json_array_foreach(json_object_get(schema, "anyOf"), i, choice) {
        const char *type = json_string_value(json_object_get(choice, "type"));
        found = type && strcmp(type, "object") == 0 ? choice : found;
    }
    (void)json_object_del(found, "$schema");
    (void)json_object_del(found, "$defs");
    return found;
}

static bool convert_schema(FILE *in, FILE *out)
{
    json_t *root = load_document(in);
    const struct source source = {.path = file_name, .root = root};
    json_t *value = root ? bundle_node(root, &source, 0) : NULL;
    const bool ok = value && json_dumpf(choose_object(value), out, JSON_COMPACT) == 0;
    json_decref(value);
    json_decref(root);
    return ok;
}

static bool convert_contract(FILE *in, FILE *out)
{
    json_t *root = load_document(in);
    const struct source source = {.path = file_name, .root = root, .whole = true};
    json_t *value = root && contract_complete(root) ? bundle_node(root, &source, 0) : NULL;
    const bool ok = value && json_dumpf(value, out, JSON_COMPACT) == 0;
    json_decref(value);
    json_decref(root);
    return ok;
}

int main(int argc, char **argv)
{
    const bool schema = argc == 4 && strcmp(argv[1], "--schema") == 0;
    if (argc != 3 && !schema) {
        (void)fprintf(stderr, "usage: yaml_json [--schema] IN.yaml OUT.json\n");
        return 2;
    }
    argv += schema;
    file_name = argv[1];
    FILE *in = fopen(argv[1], "rb");
    FILE *out = in ? fopen(argv[2], "wb") : NULL;
    bool ok = false;
    if (in && out) {
        ok = schema ? convert_schema(in, out) : convert_contract(in, out);
    } else {
        (void)fprintf(stderr, "%s: cannot be opened\n", argv[in ? 2 : 1]);
    }
    if (in) {
        (void)fclose(in);
    }
    if (out && fclose(out) != 0) {
        ok = false;
    }
    if (!ok && out) {
        (void)remove(argv[2]);
    }
    return ok ? 0 : 1;
}
