/* config/labfile/lab_print.c - prints effective values as a lab file, docs/config.md, and
 * config/lab.schema.json (JSON Schema, draft 2020-12). */
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
        if (row->type == OPTION_MAP || (row->type == OPTION_ITEMS && !list) ||
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

static const char intro[] =
    "# The lab file\n"
    "\n"
    "<!-- Generated by `tandem config --docs > docs/config.md`; a test compares. -->\n"
    "\n"
    "One YAML file describes a lab. Only `pairs` is required: `pairs: {r1: {}}` is a lab "
    "file.\n"
    "`tandem config LAB.yaml` reports all faults at once, with line and correction, and prints "
    "the\n"
    "effective values. Examples: [config/examples](../config/examples). Editors check the file "
    "if this is\n"
    "its first line: `# yaml-language-server: $schema=lab.schema.json`\n"
    "([schema](../config/lab.schema.json)).\n"
    "\n"
    "- Units are the last part of a key's name. Numbers are plain decimals (`0.05`, `1e-6`). A "
    "text that\n"
    "  looks like a number, a truth or nothing needs quotes.\n"
    "- Anchors, aliases, merge keys, tags, a second document and repeated keys are refused. "
    "What pairs\n"
    "  have in common is under `defaults`.\n"
    "- UTF-8, at most 8 MiB, at most 100 000 pairs. Indent with spaces.\n"
    "- A relative path starts at the directory the daemon runs in. A password or a token is in "
    "a file of\n"
    "  its own, closed to others (`chmod 600`).\n";

static const char pair_intro[] =
    "\n"
    "## Options of a pair\n"
    "\n"
    "Under `defaults` they hold for every pair; under `pairs`, for one:\n"
    "\n"
    "```yaml\n"
    "defaults: {mode: link, timeout_s: 20}\n"
    "pairs:\n"
    "  r1: {}\n"
    "  boat: {kind: usv3, calibration: {window: 60}}\n"
    "  swarm: {count: 100}    # swarm1 ... swarm100\n"
    "```\n"
    "\n"
    "A dot stands for a section: `clock.jump_s` is `clock: {jump_s: ...}`.\n"
    "\n";

/* "broker.tls.enabled" belongs to the section "broker"; "name" to none. */
static size_t section_length(const char *path)
{
    const char *dot = strchr(path, '.');
    return dot ? (size_t)(dot - path) : 0;
}

void lab_file_print_docs(FILE *out)
{
    struct lab_file lab = {0};
    struct lab_pair pair = {0};
    const char *section = "";

    option_defaults(&lab_options, &lab);
    option_defaults(lab_pair_options(), &pair);
    (void)fputs(intro, out);
    (void)fputs("\n## Top level\n\n", out);
    (void)fputs(option_table_head, out);
    for (size_t i = 0; i < lab_options.count; i++) {
        const struct option_row *row = &lab_options.rows[i];
        if (section_length(row->path) == 0) {
            option_print_row(row, &lab, row->path, out);
        }
    }
    for (size_t i = 0; i < lab_options.count; i++) {
        const struct option_row *row = &lab_options.rows[i];
        const size_t n = section_length(row->path);
        if (n == 0) {
            continue;
        }
        if (strncmp(section, row->path, n + 1) != 0) {
            (void)fprintf(out, "\n## %.*s\n\n%s", (int)n, row->path, option_table_head);
            section = row->path;
        }
        option_print_row(row, &lab, row->path + n + 1, out);
    }
    (void)fputs(pair_intro, out);
    (void)fputs(option_table_head, out);
    for (size_t i = 0; i < lab_pair_options()->count; i++) {
        option_print_row(&lab_pair_options()->rows[i], &pair, lab_pair_options()->rows[i].path,
                         out);
    }
    team_docs_print(out);
}

/* --- the schema -----------------------------------------------------------------------------
 */

static const char *help_of(const char *path)
{
    const struct option_row *row = option_find(&lab_options, path);
    return row ? row->help : "";
}

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
    failed |= json_object_set_new(defaults, "description", json_string(help_of("defaults")));
    failed |= option_add_schema(defaults, lab_pair_options(), "count");
    failed |= option_add_schema(pair, lab_pair_options(), "");
    failed |= add_mapping(defaults) | add_mapping(pair);
    json_t *pairs = json_pack("{s:s, s:s, s:i, s:{s:s}, s:o}", "description", help_of("pairs"),
                              "type", "object", "minProperties", 1, "propertyNames", "pattern",
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
        team_docs_add_schema(schema, help_of("teams")) == 0) {
        const size_t flags = JSON_INDENT(2) | JSON_REAL_PRECISION(15);
        status = json_dumpf(schema, out, flags) == 0 && fputc('\n', out) != EOF ? STATUS_OK
                                                                                : STATUS_E_IO;
    }
    json_decref(schema);
    return status;
}
