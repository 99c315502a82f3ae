/* config/team/team_docs.h - what a team's file may say: its part of docs/config.md and of the
 * schema. */
#ifndef CONFIG_TEAM_TEAM_DOCS_H
#define CONFIG_TEAM_TEAM_DOCS_H

#include <stdio.h>

#include <jansson.h>

void team_docs_print(FILE *out);

/* "teams" among the properties of a lab file's schema, and what it refers to among its $defs.
 * Not 0: no memory. */
int team_docs_add_schema(json_t *schema, const char *help);

#endif
