#include "config/options/option_print.h"

#include <string.h>

#include "base/numbers/number.h"

/* --- a page ------------------------------------------------------------------------------- */

enum { TEXT_MAX = 128 };

/* A default of a text or a truth value already shows what is allowed. */
static void print_row(const struct option_row *row, const void *defaults, const char *name,
                      FILE *out)
{
    char allowed[TEXT_MAX];
    char fallback[OPTION_PRINT_MAX];
    option_describe(row, allowed, sizeof allowed);
    option_format(row, defaults, fallback);
    if (!option_has_fallback(row)) {
        (void)fprintf(out, "| `%s` | %s | %s |\n", name, allowed, row->help);
    } else if (row->type == OPTION_TEXT || row->type == OPTION_BOOL) {
        (void)fprintf(out, "| `%s` | `%s` | %s |\n", name, fallback, row->help);
    } else {
        (void)fprintf(out, "| `%s` | `%s` (%s) | %s |\n", name, fallback, allowed, row->help);
    }
}

void option_print_table(const struct option_table *table, const char *section,
                        const void *defaults, FILE *out)
{
    const size_t n = section ? strlen(section) : 0;
    (void)fputs("| key | default (allowed) | meaning |\n|---|---|---|\n", out);
    for (size_t i = 0; i < table->count; i++) {
        const char *path = table->rows[i].path;
        if (!section || (n == 0 ? !strchr(path, '.') : strncmp(section, path, n) == 0)) {
            print_row(&table->rows[i], defaults, path + n, out);
        }
    }
}

/* --- the schema --------------------------------------------------------------------------- */

static json_t *number_of(const struct option_row *row, double value)
{
    return row->type == OPTION_INTEGER ? json_integer((json_int_t)value) : json_real(value);
}

static int set_range(json_t *schema, const struct option_row *row)
{
    return json_object_set_new(schema, "minimum", number_of(row, row->min)) |
           json_object_set_new(schema, "maximum", number_of(row, row->max));
}

static int set_number_default(json_t *schema, const struct option_row *row)
{
    double value = 0.0;
    if (!option_has_fallback(row) || number_parse_real(row->fallback, &value) != NUMBER_FINE) {
        return 0;
    }
    return json_object_set_new(schema, "default", number_of(row, value));
}

/* YAML reads a choice such as "5" as a number, so the schema allows both. */
static int set_choices(json_t *schema, const struct option_row *row)
{
    json_t *list = json_array();
    char word[OPTION_TEXT_MAX];
    int failed = json_object_set_new(schema, "enum", list);
    for (size_t k = 0; option_choice(row, k, word, sizeof word); k++) {
        int64_t whole = 0;
        failed |= json_array_append_new(list, json_string(word));
        if (number_parse_int(word, &whole) == NUMBER_FINE) {
            failed |= json_array_append_new(list, json_integer(whole));
        }
    }
    return failed | json_object_set_new(schema, "default", json_string(row->fallback));
}

static int set_text(json_t *schema, const struct option_row *row)
{
    const double most = row->max > 0.0 ? row->max : (double)row->size - 1.0;
    int failed = json_object_set_new(schema, "type", json_string("string"));
    if (row->fallback[0] != '\0' || !(row->min > 0.0)) {
        failed |= json_object_set_new(schema, "default", json_string(row->fallback));
    }
    if (row->min > 0.0) {
        failed |= json_object_set_new(schema, "minLength", json_integer((json_int_t)row->min));
    }
    return failed | json_object_set_new(schema, "maxLength", json_integer((json_int_t)most));
}

static int set_type(json_t *schema, const struct option_row *row);

/* Returns the schema of one item. It allows anything if the owner's `add` reads the item. */
// NOLINTNEXTLINE(misc-no-recursion)
static json_t *item_schema(const struct option_items *items)
{
    json_t *schema = items->reference ? json_pack("{s:s}", "$ref", items->reference)
                     : items->table   ? option_table_schema(items->table, items->required)
                                      : json_object();
    if (items->value && set_type(schema, items->value) != 0) {
        json_decref(schema);
        return NULL;
    }
    return schema;
}

static int set_count(json_t *schema, const char *key, size_t count)
{
    return count == 0 ? 0 : json_object_set_new(schema, key, json_integer((json_int_t)count));
}

// NOLINTNEXTLINE(misc-no-recursion)
static int set_list(json_t *schema, const struct option_items *items)
{
    json_t *list = items->shape == OPTION_LIST ? json_incref(schema) : json_object();
    int failed = json_object_set_new(list, "type", json_string("array")) |
                 json_object_set_new(list, "items", item_schema(items)) |
                 set_count(list, "minItems", items->least) |
                 set_count(list, "maxItems", items->most);
    if (items->shape == OPTION_LIST_OR_ONE) {
        failed |=
            json_object_set_new(schema, "anyOf", json_pack("[o,O]", item_schema(items), list));
    }
    json_decref(list);
    return failed;
}

// NOLINTNEXTLINE(misc-no-recursion)
static int set_map(json_t *schema, const struct option_items *items)
{
    static const char *const patterns[] = {
        [OPTION_ID] = "^[A-Za-z0-9_-]{1,31}$", [OPTION_DOTTED_ID] = "^[A-Za-z0-9_.-]{1,31}$"};
    const char *pattern = patterns[items->names];
    json_t *type =
        items->least > 0 ? json_string("object") : json_pack("[s,s]", "object", "null");
    return json_object_set_new(schema, "type", type) |
           set_count(schema, "minProperties", items->least) |
           set_count(schema, "maxProperties", items->most) |
           (pattern ? json_object_set_new(schema, "propertyNames",
                                          json_pack("{s:s}", "pattern", pattern))
                    : 0) |
           json_object_set_new(schema, "additionalProperties", item_schema(items));
}

// NOLINTNEXTLINE(misc-no-recursion)
static int set_type(json_t *schema, const struct option_row *row)
{
    const bool truth = strcmp(row->fallback, "true") == 0;
    switch (row->type) {
    case OPTION_TEXT:
        return set_text(schema, row);
    case OPTION_BOOL:
        return json_object_set_new(schema, "type", json_string("boolean")) |
               json_object_set_new(schema, "default", json_boolean(truth));
    case OPTION_INTEGER:
        return json_object_set_new(schema, "type", json_string("integer")) |
               set_number_default(schema, row) | set_range(schema, row);
    case OPTION_REAL:
    case OPTION_TIME:
        return json_object_set_new(schema, "type", json_string("number")) |
               set_number_default(schema, row) | set_range(schema, row);
    case OPTION_CHOICE:
        return set_choices(schema, row);
    case OPTION_WORD:
    case OPTION_NAME: /* a plain number is a name, too */
        return json_object_set_new(schema, "type", json_pack("[s,s]", "string", "number"));
    case OPTION_ITEMS:
        return row->items->shape == OPTION_NAMED ? set_map(schema, row->items)
                                                 : set_list(schema, row->items);
    case OPTION_MAP:
        break;
    }
    return 0;
}

/* An empty value counts as an empty map. */
json_t *option_map_schema(void)
{
    return json_pack("{s:[s,s], s:b, s:{}}", "type", "object", "null", "additionalProperties",
                     0, "properties");
}

/* Returns the schema of the section that path's dots lead to and creates it if needed.
 * Borrowed; *name becomes the path's last part. */
static json_t *open_section(json_t *schema, const char *path, const char **name)
{
    for (const char *dot = strchr(path, '.'); schema && dot; dot = strchr(path, '.')) {
        char section[OPTION_PREFIX_MAX];
        (void)snprintf(section, sizeof section, "%.*s", (int)(dot - path), path);
        json_t *properties = json_object_get(schema, "properties");
        json_t *next = json_object_get(properties, section);
        if (!next && json_object_set_new(properties, section, option_map_schema()) == 0) {
            next = json_object_get(properties, section);
        }
        schema = next;
        path = dot + 1;
    }
    *name = path;
    return schema;
}

// NOLINTNEXTLINE(misc-no-recursion)
json_t *option_table_schema(const struct option_table *table, const char *required)
{
    json_t *map = option_map_schema();
    json_t *list = json_array();
    int failed = map && list ? option_add_schema(map, table, "") : -1;
    for (const char *key = required ? required : ""; *key && !failed; key += strspn(key, " ")) {
        const size_t n = strcspn(key, " ");
        failed = json_array_append_new(list, json_stringn(key, n));
        key += n;
    }
    if (!failed && json_array_size(list) > 0) {
        failed = json_object_set_new(map, "type", json_string("object")) |
                 json_object_set(map, "required", list);
    }
    json_decref(list);
    if (failed) {
        json_decref(map);
        return NULL;
    }
    return map;
}

// NOLINTNEXTLINE(misc-no-recursion)
int option_add_schema(json_t *schema, const struct option_table *table, const char *leave_out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (strcmp(row->path, leave_out) == 0) {
            continue;
        }
        const char *name = NULL;
        json_t *section = open_section(schema, row->path, &name);
        json_t *option = json_pack("{s:s}", "description", row->help);
        if (!section || !option || set_type(option, row) != 0) {
            json_decref(option);
            return -1;
        }
        json_t *properties = json_object_get(section, "properties");
        const bool is_short = section != schema && strcmp(name, "name") == 0;
        if (json_object_set_new(properties, name, option) != 0 ||
            (is_short &&
             json_object_set_new(section, "type",
                                 json_pack("[s,s,s]", "object", "string", "null")))) {
            return -1;
        }
    }
    return 0;
}
