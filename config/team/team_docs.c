#include "config/team/team_docs.h"

#include <stdlib.h>
#include <string.h>

#include "config/options/option_print.h"
#include "config/team/team_file.h"
#include "config/team/team_values.h"

/* --- the page ----------------------------------------------------------------------------- */

static const char intro[] =
    "\n"
    "## Teams\n"
    "\n"
    "Robots that share places and tools, and their work: "
    "[model/teams.md](model/teams.md#files).\n"
    "\n"
    "```yaml\n"
    "teams:\n"
    "  cell:\n"
    "    resources: {IB: {}}\n"
    "    positions: {IB: {x_m: 0, y_m: 0}, OB: {x_m: 1.5, y_m: 0, safe: true}}\n"
    "    tasks: {Move: {to: position}, Pick: {op: pick}, Place: {op: place}}\n"
    "    sequences:\n"
    "      carry: [Lock: IB, Move: IB, Pick, Move: OB, UnLock: IB, Place, Repeat]\n"
    "    robots: {R1: {pair: r1, sequence: carry}, R2: {pair: r2, sequence: carry}}\n"
    "```\n"
    "\n"
    "A name has 1 to 31 letters, digits, `_`, `-` or `.`; names of teams and pairs have no "
    "`.`.\n"
    "If a map is allowed, its meaning says what it holds; it may also be a list.\n";

void team_docs_print(FILE *out)
{
    (void)fputs(intro, out);
    for (size_t i = 0; team_section(i); i++) {
        const struct team_section *section = team_section(i);
        void *defaults = calloc(1, sizeof(struct team_build));
        if (!defaults) {
            return;
        }
        option_defaults(section->table, defaults);
        (void)fprintf(out, "\n### %s\n\n%s\n\n%s", section->name, section->intro,
                      option_table_head);
        for (size_t k = 0; k < section->table->count; k++) {
            option_print_row(&section->table->rows[k], defaults, section->table->rows[k].path,
                             out);
        }
        free(defaults);
    }
}

/* --- the schema --------------------------------------------------------------------------- */

#define NAME_PATTERN "^[A-Za-z0-9_.-]{1,31}$"

/* Makes the schema of a map from a table's rows; required: keys separated by blanks. NULL: no
 * memory. */
static json_t *table_schema(const struct option_table *table, const char *required)
{
    json_t *map = option_map_schema();
    json_t *list = json_array();
    int failed = map && list ? option_add_schema(map, table, "") : -1;
    for (const char *key = required; *key && !failed;) {
        const size_t n = strcspn(key, " ");
        failed = json_array_append_new(list, json_stringn(key, n));
        key += n + strspn(key + n, " ");
    }
    if (!failed && required[0]) {
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

static const char *help_in(const struct option_table *table, const char *key)
{
    const struct option_row *row = option_find(table, key);
    return row ? row->help : "";
}

/* Sets a member of a map's schema, with the help text of the table's row. Consumes value. */
static int set_member(json_t *map, const struct option_table *table, const char *key,
                      json_t *value)
{
    json_t *properties = json_object_get(map, "properties");
    return json_object_set_new(value, "description", json_string(help_in(table, key))) |
           json_object_set_new(properties, key, value);
}

/* Makes the schema of a map whose names the user chooses. Consumes value. */
static json_t *names_schema(json_t *value)
{
    return json_pack("{s:[s,s], s:{s:s}, s:o}", "type", "object", "null", "propertyNames",
                     "pattern", NAME_PATTERN, "additionalProperties", value);
}

static json_t *durations_schema(double least)
{
    return json_pack("{s:[s,s], s:{s:s, s:f}}", "type", "object", "null",
                     "additionalProperties", "type", "number", "minimum", least);
}

/* Makes the schema of one word, or of a list of at least `least` words. */
static json_t *words_schema(int least, int most)
{
    json_t *list = json_pack("{s:s, s:{s:[s,s]}, s:i}", "type", "array", "items", "type",
                             "string", "number", "minItems", least);
    if (most > 0 && json_object_set_new(list, "maxItems", json_integer(most)) != 0) {
        json_decref(list);
        return NULL;
    }
    return json_pack("{s:[{s:[s,s]}, o]}", "anyOf", "type", "string", "number", list);
}

static json_t *steps_reference(void)
{
    return json_pack("{s:s}", "$ref", "#/$defs/team_steps");
}

/* Makes the schema of the values that the keywords accept. */
static json_t *words_of_steps(void)
{
    json_t *repeat = table_schema(&team_repeat_options, "steps");
    json_t *if_part = table_schema(&team_if_options, "part");
    const int failed =
        set_member(repeat, &team_repeat_options, "steps", steps_reference()) |
        set_member(if_part, &team_if_options, "part", words_schema(1, TEAM_WANT_MAX)) |
        set_member(if_part, &team_if_options, "then", steps_reference()) |
        set_member(if_part, &team_if_options, "else", steps_reference());
    json_t *words =
        json_pack("{s:{s:[{s:s}, o]}, s:o, s:o, s:o, s:o, s:{s:s}, s:o, s:o}", "IdPrt", "anyOf",
                  "type", "string", table_schema(&team_take_options, "from"), "Lock",
                  words_schema(1, TEAM_WANT_MAX), "UnLock", words_schema(1, TEAM_WANT_MAX),
                  "Meet", table_schema(&team_meet_options, "name robots"), "Together",
                  table_schema(&team_together_options, "name robots task"), "ChangeTool",
                  "type", "string", "Repeat", repeat, "If", if_part);
    if (failed) {
        json_decref(words);
        return NULL;
    }
    return words;
}

static json_t *steps_schema(void)
{
    return json_pack("{s:s, s:i, s:{s:[{s:s}, {s:s, s:i, s:i, s:o, s:{s:[s,s,s]}}]}}", "type",
                     "array", "minItems", 1, "items", "anyOf", "type", "string", "type",
                     "object", "minProperties", 1, "maxProperties", 1, "properties",
                     words_of_steps(), "additionalProperties", "type", "string", "number",
                     "boolean");
}

static json_t *robots_schema(void)
{
    json_t *robot = table_schema(&team_robot_options, "");
    const struct option_table *table = &team_robot_options;
    const int failed = set_member(robot, table, "handles", words_schema(0, 0)) |
                       set_member(robot, table, "positions",
                                  names_schema(table_schema(&team_position_options, ""))) |
                       set_member(robot, table, "nominal_s", durations_schema(0.001)) |
                       set_member(robot, table, "nominal_sd_s", durations_schema(0.0));
    if (failed) {
        json_decref(robot);
        return NULL;
    }
    json_t *robots = names_schema(robot);
    (void)json_object_set_new(robots, "type", json_string("object"));
    (void)json_object_set_new(robots, "minProperties", json_integer(1));
    return robots;
}

static json_t *tasks_schema(void)
{
    json_t *task = table_schema(&team_task_options, "");
    if (set_member(task, &team_task_options, "payload", json_pack("{s:s}", "type", "object"))) {
        json_decref(task);
        return NULL;
    }
    return names_schema(task);
}

static json_t *team_schema(void)
{
    const struct option_table *table = &team_options;
    json_t *team = table_schema(table, "robots");
    const int failed =
        set_member(team, table, "windows",
                   names_schema(table_schema(&team_window_options, ""))) |
        set_member(team, table, "resources",
                   names_schema(table_schema(&team_resource_options, ""))) |
        set_member(team, table, "positions",
                   names_schema(table_schema(&team_position_options, "x_m y_m"))) |
        set_member(team, table, "tasks", tasks_schema()) |
        set_member(team, table, "nominal_s", durations_schema(0.001)) |
        set_member(team, table, "nominal_sd_s", durations_schema(0.0)) |
        set_member(team, table, "buffers", names_schema(words_schema(0, 0))) |
        set_member(team, table, "robots", robots_schema()) |
        set_member(team, table, "sequences", names_schema(steps_reference())) |
        set_member(team, table, "jobs",
                   json_pack("{s:s, s:o}", "type", "array", "items",
                             table_schema(&team_job_options, "part seq")));
    if (failed) {
        json_decref(team);
        return NULL;
    }
    return team;
}

int team_docs_add_schema(json_t *schema, const char *help)
{
    json_t *teams =
        json_pack("{s:s, s:[s,s], s:i, s:{s:s}, s:o}", "description", help, "type", "object",
                  "null", "maxProperties", TEAMS_MAX, "propertyNames", "pattern",
                  "^[A-Za-z0-9_-]{1,31}$", "additionalProperties", team_schema());
    json_t *defs = json_pack("{s:o}", "team_steps", steps_schema());
    return json_object_set_new(schema, "$defs", defs) |
           json_object_set_new(json_object_get(schema, "properties"), "teams", teams);
}
