#include "config/team/team_docs.h"

#include <stdlib.h>
#include <string.h>

#include "config/options/option_print.h"
#include "config/team/team_file.h"
#include "config/team/team_values.h"

void team_docs_print(FILE *out)
{
    for (size_t i = 0; team_section(i); i++) {
        const struct team_section *section = team_section(i);
        void *defaults = calloc(1, sizeof(struct team_build));
        if (!defaults) {
            return;
        }
        option_defaults(section->table, defaults);
        (void)fprintf(out, "\n### %s\n\n%s\n\n", section->name, section->intro);
        option_print_table(section->table, NULL, defaults, out);
        free(defaults);
    }
}

/* --- the schema --------------------------------------------------------------------------- */

/* Sets a member of a map's schema, with the help text of the table's row. Consumes value. */
static int set_member(json_t *map, const struct option_table *table, const char *key,
                      json_t *value)
{
    json_t *properties = json_object_get(map, "properties");
    return json_object_set_new(value, "description",
                               json_string(option_find(table, key)->help)) |
           json_object_set_new(properties, key, value);
}

/* Makes the schema of one name, or of a list of them. */
static json_t *words_schema(void)
{
    return json_pack("{s:[{s:[s,s]}, {s:s, s:{s:[s,s]}, s:i, s:i}]}", "anyOf", "type", "string",
                     "number", "type", "array", "items", "type", "string", "number", "minItems",
                     1, "maxItems", TEAM_WANT_MAX);
}

static json_t *steps_reference(void)
{
    return json_pack("{s:s}", "$ref", "#/$defs/team_steps");
}

/* Makes the schema of the values that the keywords accept. */
static json_t *words_of_steps(void)
{
    json_t *repeat = option_table_schema(&team_repeat_options, "steps");
    json_t *if_part = option_table_schema(&team_if_options, "part");
    const int failed = set_member(repeat, &team_repeat_options, "steps", steps_reference()) |
                       set_member(if_part, &team_if_options, "then", steps_reference()) |
                       set_member(if_part, &team_if_options, "else", steps_reference());
    json_t *words =
        json_pack("{s:{s:[{s:s}, o]}, s:o, s:o, s:o, s:o, s:{s:s}, s:o, s:o}", "IdPrt", "anyOf",
                  "type", "string", option_table_schema(&team_take_options, "from"), "Lock",
                  words_schema(), "UnLock", words_schema(), "Meet",
                  option_table_schema(&team_meet_options, "name robots"), "Together",
                  option_table_schema(&team_together_options, "name robots task"), "ChangeTool",
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

int team_docs_add_schema(json_t *schema, const char *help)
{
    json_t *teams = json_pack("{s:s, s:[s,s], s:i, s:{s:s}, s:o}", "description", help, "type",
                              "object", "null", "maxProperties", TEAMS_MAX, "propertyNames",
                              "pattern", "^[A-Za-z0-9_-]{1,31}$", "additionalProperties",
                              option_table_schema(&team_options, "robots"));
    json_t *defs = json_pack("{s:o}", "team_steps", steps_schema());
    return json_object_set_new(schema, "$defs", defs) |
           json_object_set_new(json_object_get(schema, "properties"), "teams", teams);
}
