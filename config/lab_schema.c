/* Writes config/lab.schema.json (JSON Schema, draft 2020-12) from the tables of the lab file.
 */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/number.h"
#include "config/lab_file.h"

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

/* A choice such as "5" is a number to YAML: both are allowed. */
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
    failed |= json_object_set_new(schema, "default", json_string(row->fallback));
    if (row->min > 0.0) {
        failed |= json_object_set_new(schema, "minLength", json_integer((json_int_t)row->min));
    }
    return failed | json_object_set_new(schema, "maxLength", json_integer((json_int_t)most));
}

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
    case OPTION_MAP:
        break;
    }
    return 0;
}

/* A map with these properties and no others; an empty value is an empty map. */
static json_t *map_schema(void)
{
    return json_pack("{s:[s,s], s:b, s:{}}", "type", "object", "null", "additionalProperties",
                     0, "properties");
}

/* The schema of the section that the dots of path lead to; made when it is not there yet.
 * Borrowed; *name becomes the path's last part. */
static json_t *open_section(json_t *schema, const char *path, const char **name)
{
    for (const char *dot = strchr(path, '.'); schema && dot; dot = strchr(path, '.')) {
        char section[OPTION_PREFIX_MAX];
        (void)snprintf(section, sizeof section, "%.*s", (int)(dot - path), path);
        json_t *properties = json_object_get(schema, "properties");
        json_t *next = json_object_get(properties, section);
        if (!next && json_object_set_new(properties, section, map_schema()) == 0) {
            next = json_object_get(properties, section);
        }
        schema = next;
        path = dot + 1;
    }
    *name = path;
    return schema;
}

static int add_rows(json_t *schema, const struct option_table *table, const char *leave_out)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        if (row->type == OPTION_MAP || strcmp(row->path, leave_out) == 0) {
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
        if (json_object_set_new(properties, name, option) != 0) {
            return -1;
        }
    }
    return 0;
}

static const char *help_of(const char *path)
{
    const struct option_row *row = option_find(&lab_options, path);
    return row ? row->help : "";
}

static int add_pairs(json_t *schema)
{
    json_t *defaults = map_schema();
    json_t *pair = map_schema();
    json_t *properties = json_object_get(schema, "properties");
    int failed = json_object_set_new(properties, "defaults", defaults);
    failed |= json_object_set_new(defaults, "description", json_string(help_of("defaults")));
    failed |= add_rows(defaults, &lab_pair_options, "count");
    json_t *pairs = json_pack("{s:s, s:s, s:i, s:{s:s}, s:o}", "description", help_of("pairs"),
                              "type", "object", "minProperties", 1, "propertyNames", "pattern",
                              "^[A-Za-z0-9_-]{1,31}$", "additionalProperties", pair);
    failed |= json_object_set_new(properties, "pairs", pairs);
    return failed | add_rows(pair, &lab_pair_options, "");
}

enum status lab_file_print_schema(FILE *out)
{
    json_t *schema = json_pack("{s:s, s:s, s:s, s:b, s:[s], s:{}}", "$schema",
                               "https://json-schema.org/draft/2020-12/schema", "title",
                               "Tandem lab file", "type", "object", "additionalProperties", 0,
                               "required", "pairs", "properties");
    enum status status = STATUS_E_NOMEM;
    if (schema && add_rows(schema, &lab_options, "") == 0 && add_pairs(schema) == 0) {
        const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
        status = json_dumpf(schema, out, flags) == 0 && fputc('\n', out) != EOF ? STATUS_OK
                                                                                : STATUS_E_IO;
    }
    json_decref(schema);
    return status;
}
