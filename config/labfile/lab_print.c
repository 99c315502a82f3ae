/* config/labfile/lab_print.c - prints effective values as a lab file, docs/config.md, and
 * config/lab.schema.json (JSON Schema, draft 2020-12). */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "config/labfile/lab_file.h"
#include "config/options/option_print.h"
#include "config/team/team_docs.h"

/* --- effective values --------------------------------------------------------------------- */

static void indent_line(FILE *out, size_t depth)
{
    (void)fprintf(out, "%*s", (int)(2 * depth), "");
}

/* Opens the sections of path that the previous row did not have open. Returns the start of the
 * row's own name and sets *depth. */
static const char *open_sections(const char *path, const char *before, size_t base, FILE *out,
                                 size_t *depth)
{
    bool same = true;
    *depth = base;
    for (const char *dot = strchr(path, '.'); dot; dot = strchr(path, '.')) {
        const size_t n = (size_t)(dot - path) + 1;
        same = same && strncmp(path, before, n) == 0;
        if (!same) {
            indent_line(out, *depth);
            (void)fprintf(out, "%.*s:\n", (int)(n - 1), path);
        }
        before = same ? before + n : "";
        path += n;
        (*depth)++;
    }
    return path;
}

/* Prints a list of texts in one line. */
static void print_list(const struct option_row *row, const void *values, FILE *out)
{
    size_t count = 0;
    memcpy(&count, (const char *)values + row->items->count_at, sizeof count);
    (void)fputc('[', out);
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_PRINT_MAX];
        option_format(row->items->value,
                      (const char *)values + row->offset + i * row->items->bytes, text);
        (void)fprintf(out, "%s%s", i > 0 ? ", " : "", text);
    }
    (void)fputs("]\n", out);
}

/* Prints the rows of values that differ from others (NULL: all rows). With out NULL it only
 * returns whether there are any. */
static bool print_rows(const struct option_table *table, const void *values, const void *others,
                       size_t base, FILE *out)
{
    const char *before = "";
    for (size_t i = 0; i < table->count; i++) {
        const struct option_row *row = &table->rows[i];
        const bool list = row->type == OPTION_ITEMS && strchr(row->path, '.') != NULL;
        const bool named = row->type == OPTION_ITEMS && row->items->shape == OPTION_NAMED;
        if (row->type == OPTION_MAP || (row->type == OPTION_ITEMS && !list && !named) ||
            strcmp(row->path, "count") == 0 || (others && option_equal(row, values, others))) {
            continue;
        }
        if (!out) {
            return true;
        }
        char text[OPTION_PRINT_MAX];
        size_t depth = 0;
        const char *name = open_sections(row->path, before, base, out, &depth);
        indent_line(out, depth);
        const char *mark = option_is_no_text(name) ? "\"" : ""; /* "on" */
        (void)fprintf(out, "%s%s%s: ", mark, name, mark);
        if (list) {
            print_list(row, values, out);
        } else {
            option_format(row, values, text);
            (void)fprintf(out, "%s\n", text);
        }
        before = row->path;
    }
    return before[0] != '\0';
}

/* Prints a pair's table when it differs from the default one. */
static bool print_mapping(const struct pair_params *pair, const struct mapping *others,
                          size_t depth, FILE *out)
{
    const bool own = pair->speaks.mapping && pair->speaks.mapping != others;
    if (own && out) {
        indent_line(out, depth);
        (void)fputs("mapping: ", out);
        mapping_table_print(pair->speaks.mapping, out);
        (void)fputc('\n', out);
    }
    return own;
}

static void print_files(const char *key, const char (*paths)[LAB_PATH_MAX], size_t count,
                        FILE *out)
{
    static const struct option_row path = {.type = OPTION_TEXT, .size = LAB_PATH_MAX};
    for (size_t i = 0; i < count; i++) {
        char text[OPTION_PRINT_MAX];
        option_format(&path, paths[i], text);
        (void)fprintf(out, i == 0 ? "%s:\n  - %s\n" : "%.0s  - %s\n", key, text);
    }
}

void lab_file_print(const struct lab_file *lab, FILE *out)
{
    const struct mapping *mapping = lab->defaults.speaks.mapping;
    struct lab_pair defaults;
    struct lab_pair rows;
    (void)print_rows(&lab_options, lab, NULL, 0, out);
    print_files("models", lab->models, lab->model_count, out);
    print_files("machines", lab->machines, lab->machine_count, out);
    (void)fputs("defaults:\n", out);
    lab_pair_of(&lab->defaults, &defaults);
    (void)print_rows(lab_pair_options(), &defaults, NULL, 1, out);
    (void)print_mapping(&lab->defaults, NULL, 1, out);
    (void)fputs("pairs:\n", out);
    for (size_t i = 0; i < lab->pair_count; i++) {
        const struct pair_params *pair = &lab->pairs[i];
        lab_pair_of(pair, &rows);
        const bool own = print_rows(lab_pair_options(), &rows, &defaults, 0, NULL) ||
                         print_mapping(pair, mapping, 0, NULL);
        const bool plain = isalpha((unsigned char)pair->id[0]) && !option_is_no_text(pair->id);
        const char *mark = plain ? "" : "\"";
        (void)fprintf(out, "  %s%s%s:%s\n", mark, pair->id, mark, own ? "" : " {}");
        if (own) {
            (void)print_rows(lab_pair_options(), &rows, &defaults, 2, out);
            (void)print_mapping(pair, mapping, 2, out);
        }
    }
    team_file_print(&lab->teams, out);
}

/* --- the reference of all keys --------------------------------------------------------------
 */

static void print_top(FILE *out)
{
    struct lab_file lab = {0};
    option_defaults(&lab_options, &lab);
    option_print_table(&lab_options, "", &lab, out);
}

static void print_sections(FILE *out)
{
    struct lab_file lab = {0};
    char section[OPTION_PREFIX_MAX] = "";
    option_defaults(&lab_options, &lab);
    for (size_t i = 0; i < lab_options.count; i++) {
        const char *path = lab_options.rows[i].path;
        const size_t n = strcspn(path, ".");
        if (path[n] != '\0' && strncmp(section, path, n + 1) != 0) {
            (void)snprintf(section, sizeof section, "%.*s", (int)n + 1, path);
            (void)fprintf(out, "\n## %.*s\n\n", (int)n, path);
            option_print_table(&lab_options, section, &lab, out);
        }
    }
}

static void print_pair(FILE *out)
{
    struct lab_pair pair = {0};
    option_defaults(lab_pair_options(), &pair);
    option_print_table(lab_pair_options(), NULL, &pair, out);
}

void lab_file_print_docs(FILE *out)
{
    static const struct {
        const char *mark;
        void (*print)(FILE *out);
    } parts[] = {{"{{top}}\n", print_top},
                 {"{{sections}}\n", print_sections},
                 {"{{pair}}\n", print_pair},
                 {"{{teams}}\n", team_docs_print}};
    const char *at = (const char *)lab_page;
    for (size_t i = 0; i < COUNT(parts); i++) {
        const char *mark = strstr(at, parts[i].mark);
        assert(mark);
        (void)fwrite(at, 1, (size_t)(mark - at), out);
        parts[i].print(out);
        at = mark + strlen(parts[i].mark);
    }
}

/* --- the schema -----------------------------------------------------------------------------
 */

/* Rows of a mapping are checked when they are read. */
static int add_mapping(json_t *pair)
{
    const struct option_row *row = option_find(lab_pair_options(), "mapping");
    return json_object_set_new(json_object_get(pair, "properties"), "mapping",
                               json_pack("{s:s, s:[s,s,s]}", "description", row->help, "type",
                                         "string", "object", "array"));
}

static int add_pairs(json_t *schema)
{
    json_t *defaults = option_map_schema();
    json_t *pair = option_map_schema();
    json_t *properties = json_object_get(schema, "properties");
    int failed = json_object_set_new(properties, "defaults", defaults);
    failed |= json_object_set_new(defaults, "description",
                                  json_string(option_find(&lab_options, "defaults")->help));
    failed |= option_add_schema(defaults, lab_pair_options(), "count");
    failed |= option_add_schema(pair, lab_pair_options(), "");
    failed |= add_mapping(defaults) | add_mapping(pair);
    json_t *pairs = json_pack("{s:s, s:s, s:i, s:{s:s}, s:o}", "description",
                              option_find(&lab_options, "pairs")->help, "type", "object",
                              "minProperties", 1, "propertyNames", "pattern",
                              "^[A-Za-z0-9_-]{1,31}$", "additionalProperties", pair);
    return failed | json_object_set_new(properties, "pairs", pairs);
}

enum status lab_file_print_schema(FILE *out)
{
    json_t *schema = json_pack("{s:s, s:s, s:s, s:b, s:[s], s:{}}", "$schema",
                               "https://json-schema.org/draft/2020-12/schema", "title",
                               "Tandem lab file", "type", "object", "additionalProperties", 0,
                               "required", "pairs", "properties");
    enum status status = STATUS_E_NOMEM;
    if (schema && option_add_schema(schema, &lab_options, "") == 0 && add_pairs(schema) == 0 &&
        team_docs_add_schema(schema, option_find(&lab_options, "teams")->help) == 0) {
        const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
        status = json_dumpf(schema, out, flags) == 0 && fputc('\n', out) != EOF ? STATUS_OK
                                                                                : STATUS_E_IO;
    }
    json_decref(schema);
    return status;
}
