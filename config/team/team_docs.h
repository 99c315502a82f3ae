/* config/team/team_docs.h - documents a team's file: its part of docs/config.md and of the
 * schema. */
#ifndef CONFIG_TEAM_TEAM_DOCS_H
#define CONFIG_TEAM_TEAM_DOCS_H

#include <stdio.h>

#include <jansson.h>

void team_docs_print(FILE *out);

/* Add "teams" to the properties of a lab file's schema, and its definitions to $defs. Returns
 * nonzero without memory. */
int team_docs_add_schema(json_t *schema, const char *help);

#endif
