/* config/team/team_file.h - reads teams from a lab file's `teams:` or a file of their own into
 * the core's structs.
 *
 * docs/model/teams.md, "Files", describes the language; docs/config.md the keys. Nested
 * sequences, conditions and loops are flattened here. Every fault of a file is reported at
 * once, with line and column, including those of the static check
 * (twin/team/check/team_static_check.h).
 */
#ifndef CONFIG_TEAM_TEAM_FILE_H
#define CONFIG_TEAM_TEAM_FILE_H

#include "config/options/option_file.h"
#include "twin/team/step/team_params.h"

struct team_memory; /* memory that the parameters of one team point to */

struct team_file {              /* all zero is empty and may be freed */
    struct team_params *teams;  /* [team_count] in the order of the file, names unique */
    size_t team_count;          /* 0..TEAMS_MAX */
    struct team_memory *memory; /* [team_count] */
    char *text;                 /* the teams as YAML text; NULL: none */
    struct err_list *warnings;  /* suspicious but accepted; NULL: nothing */
};

/* Describes a file with `team:`, one team alone, or `teams:`; it fills a struct team_file, to
 * be freed with team_file_free(). lab_file_load_teams() also reads the teams of a lab file. */
extern const struct option_file team_file;

/* Read the map of teams at node, within another file. Faults go to the reader; *out gets all
 * teams that could be read, to be freed. */
void team_file_read(struct option_reader *r, uint32_t node, struct team_file *out);

/* The node at which the file names a pair for the (skip + 1)-th time. node: the map of teams,
 * or one team. TREE_NONE: not in the file. */
uint32_t team_file_pair_node(const struct option_reader *r, uint32_t node, const char *pair,
                             size_t skip);

/* NULL is allowed. */
void team_file_free(struct team_file *file);

/* Print "teams:" (or "team:") as YAML that reads back to the same teams; nothing when there are
 * none. */
void team_file_print(const struct team_file *file, FILE *out);

/* The option tables of a team's sections, in the order of the reference; NULL ends the list. */
struct team_section {
    const char *name;  /* "resources": a map of them; "team", "step …" */
    const char *intro; /* text before the table in the reference */
    const struct option_table *table;
};
const struct team_section *team_section(size_t i);

#endif
