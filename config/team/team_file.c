#include "config/team/team_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "config/team/team_values.h"

/* --- memory ------------------------------------------------------------------------------ */

static void free_memory(struct team_memory *memory)
{
    for (size_t i = 0; i < TEAM_ARRAY_COUNT; i++) {
        free(memory->arrays[i].items);
    }
    *memory = (struct team_memory){0};
}

void team_file_free(struct team_file *file)
{
    if (!file) {
        return;
    }
    for (size_t i = 0; file->memory && i < file->team_count; i++) {
        free_memory(&file->memory[i]);
    }
    free(file->teams);
    free(file->memory);
    free(file->text);
    free(file->warnings);
    *file = (struct team_file){0};
}

/* Hands the arrays to the core's struct; they no longer move. */
static void place_arrays(struct team_build *b)
{
    struct team_params *p = &b->params;
    const struct team_list *lists = b->memory.arrays;
    p->robot_count = lists[TEAM_OF_ROBOTS].count;
    p->robots = lists[TEAM_OF_ROBOTS].items;
    p->resource_count = lists[TEAM_OF_RESOURCES].count;
    p->resources = lists[TEAM_OF_RESOURCES].items;
    p->task_count = lists[TEAM_OF_TASKS].count;
    p->tasks = lists[TEAM_OF_TASKS].items;
    p->sequence_count = lists[TEAM_OF_SEQUENCES].count;
    p->sequences = lists[TEAM_OF_SEQUENCES].items;
    p->step_count = lists[TEAM_OF_STEPS].count;
    p->steps = lists[TEAM_OF_STEPS].items;
    p->buffer_count = lists[TEAM_OF_BUFFERS].count;
    p->buffers = lists[TEAM_OF_BUFFERS].items;
    p->job_count = lists[TEAM_OF_JOBS].count;
    p->jobs = lists[TEAM_OF_JOBS].items;
    p->position_count = lists[TEAM_OF_POSITIONS].count;
    p->positions = lists[TEAM_OF_POSITIONS].items;
    p->nominal_count = lists[TEAM_OF_NOMINALS].count;
    p->nominals = lists[TEAM_OF_NOMINALS].items;
    p->name_count = lists[TEAM_OF_NAMES].count;
    p->names = lists[TEAM_OF_NAMES].items;
    p->list_count = lists[TEAM_OF_LISTS].count;
    p->lists = lists[TEAM_OF_LISTS].items;
}

/* --- resources, positions, buffers ------------------------------------------------------- */

static bool is_full(struct team_build *b, uint32_t node, size_t count, size_t most,
                    const char *what)
{
    if (count == most) {
        option_fault(b->r, node, FAULT_TOO_MANY, "%s%s: more than %zu are too many", b->shown,
                     what, most);
    }
    return count >= most;
}

static void read_resource(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    struct team_resource_params resource = {.kind = TEAM_ZONE};
    team_build_shown(b, "resources", node, shown);
    option_defaults(&team_resource_options, &resource);
    option_read(b->r, &team_resource_options, "", node, shown, &resource, NULL);
    if (!team_build_key(b, node, "a resource") ||
        is_full(b, node, TEAM_COUNT(b, TEAM_OF_RESOURCES), TEAM_RESOURCES_MAX, "resources")) {
        return;
    }
    (void)snprintf(resource.name, sizeof resource.name, "%s", tree_key(b->r->tree, node));
    *TEAM_ADD(b, TEAM_OF_RESOURCES, struct team_resource_params) = resource;
}

/* Reads a position, for all robots or for one. A robot's own position inherits missing values
 * from the one for all. */
static void place_robot(struct team_build *b, uint32_t node, uint16_t robot, const char *shown,
                        const struct team_position *common)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_table *table = &team_position_options;
    struct team_position position = {.heading_rad = (double)nanf("")};
    if (common) {
        position = *common;
    }
    position.robot = robot;
    option_read(b->r, table, "", node, shown, &position, given);
    if (!common &&
        (b->r->tree->nodes[node].kind == TREE_MAP || option_is_empty(b->r->tree, node))) {
        team_build_require(b, table, given, node, shown, "x_m");
        team_build_require(b, table, given, node, shown, "y_m");
    }
    position.name = team_build_name(b, tree_key(b->r->tree, node));
    *TEAM_ADD(b, TEAM_OF_POSITIONS, struct team_position) = position;
}

static void read_position(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    team_build_shown(b, "positions", node, shown);
    if (team_build_key(b, node, "a position")) {
        place_robot(b, node, TEAM_NONE, shown, NULL);
    }
}

/* The position belongs to the robot that is being read. */
static void read_own_position(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    const uint16_t at = team_build_find(b, node, tree_key(b->r->tree, node), b->own_shown,
                                        TEAM_COUNT(b, TEAM_OF_POSITIONS), team_nth_position);
    (void)snprintf(shown, sizeof shown, "%.62s.%.31s.", b->own_shown,
                   tree_key(b->r->tree, node));
    if (at != TEAM_NONE) {
        const struct team_position common =
            *TEAM_AT(b, TEAM_OF_POSITIONS, struct team_position, at);
        place_robot(b, node, (uint16_t)TEAM_COUNT(b, TEAM_OF_ROBOTS), shown, &common);
    }
}

/* Reads a part of a list: of a buffer, or of the parts that a robot handles. */
static void read_part(struct team_build *b, uint32_t node)
{
    if (team_build_text(b, node, "a part")) {
        *TEAM_ADD(b, TEAM_OF_LISTS, uint16_t) = team_build_name(b, tree_text(b->r->tree, node));
    }
}

static void read_buffer(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    struct team_buffer buffer = {.first_part = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS)};
    team_build_shown(b, "buffers", node, shown);
    shown[strlen(shown) - 1] = '\0';
    if (!team_build_key(b, node, "a buffer")) {
        return;
    }
    team_build_list(b, node, shown, read_part);
    buffer.part_count = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS) - buffer.first_part;
    buffer.name = team_build_name(b, tree_key(b->r->tree, node));
    *TEAM_ADD(b, TEAM_OF_BUFFERS, struct team_buffer) = buffer;
}

/* --- robots and jobs --------------------------------------------------------------------- */

static void read_handled(struct team_build *b, uint32_t node, const char *shown,
                         struct team_robot_params *robot)
{
    char key[OPTION_PREFIX_MAX + 8];
    (void)snprintf(key, sizeof key, "%shandles", shown);
    robot->handles_all = node == TREE_NONE;
    robot->first_handled = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS);
    team_build_list(b, node, key, read_part);
    robot->handled_count = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS) - robot->first_handled;
}

static void read_robot(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    char what[OPTION_PREFIX_MAX + 16];
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct robot_values values = {.sequence = ""};
    struct team_robot_params *robot = &values.params;
    const struct option_table *table = &team_robot_options;
    team_build_shown(b, "robots", node, shown);
    option_defaults(table, &values);
    option_read(b->r, table, "", node, shown, &values, given);
    if (!team_build_key(b, node, "a robot") ||
        is_full(b, node, TEAM_COUNT(b, TEAM_OF_ROBOTS), TEAM_ROBOTS_MAX, "robots")) {
        return;
    }
    (void)snprintf(robot->name, sizeof robot->name, "%s", tree_key(b->r->tree, node));
    robot->sequence = TEAM_NONE;
    if (values.sequence[0]) {
        (void)snprintf(what, sizeof what, "%ssequence", shown);
        robot->sequence =
            team_build_find(b, option_given(table, given, "sequence"), values.sequence, what,
                            b->sequences.count, team_nth_sequence);
    } else if (option_given(table, given, "cycles") != TREE_NONE) {
        option_fault(b->r, option_given(table, given, "cycles"), FAULT_NOT_APPLICABLE,
                     "%scycles is given, but the robot has no sequence to repeat", shown);
    }
    read_handled(b, option_given(table, given, "handles"), shown, robot);
    (void)snprintf(b->own_shown, sizeof b->own_shown, "%spositions", shown);
    team_build_map(b, option_given(table, given, "positions"), b->own_shown + strlen(b->shown),
                   read_own_position);
    team_build_given(b, option_given(table, given, "nominal_s"),
                     option_given(table, given, "nominal_sd_s"),
                     (uint16_t)TEAM_COUNT(b, TEAM_OF_ROBOTS));
    *TEAM_ADD(b, TEAM_OF_ROBOTS, struct team_robot_params) = *robot;
    *(uint32_t *)team_build_append(b, &b->robot_nodes, sizeof(uint32_t)) = node;
}

static void read_job(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    char what[OPTION_PREFIX_MAX + 8];
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct job_values values = {.part = ""};
    struct team_job job = {.home = TEAM_NONE};
    const struct option_table *table = &team_job_options;
    (void)snprintf(shown, sizeof shown, "%sjobs.", b->shown);
    option_defaults(table, &values);
    option_read(b->r, table, "", node, shown, &values, given);
    if (b->r->tree->nodes[node].kind != TREE_MAP) {
        return; /* reported already */
    }
    team_build_require(b, table, given, node, shown, "part");
    team_build_require(b, table, given, node, shown, "seq");
    if (values.part[0] && team_build_text(b, option_given(table, given, "part"), "a part")) {
        job.part = team_build_name(b, values.part);
    }
    if (values.sequence[0]) {
        (void)snprintf(what, sizeof what, "%sseq", shown);
        job.sequence = team_build_find(b, option_given(table, given, "seq"), values.sequence,
                                       what, b->sequences.count, team_nth_sequence);
    }
    if (values.home[0]) {
        (void)snprintf(what, sizeof what, "%shome", shown);
        job.home = team_build_find(b, option_given(table, given, "home"), values.home, what,
                                   TEAM_COUNT(b, TEAM_OF_ROBOTS), team_nth_robot);
    }
    for (uint32_t i = 0; i < values.count; i++) {
        if (is_full(b, node, TEAM_COUNT(b, TEAM_OF_JOBS), TEAM_JOBS_MAX, "jobs")) {
            return;
        }
        *TEAM_ADD(b, TEAM_OF_JOBS, struct team_job) = job;
        *(uint32_t *)team_build_append(b, &b->job_nodes, sizeof(uint32_t)) = node;
    }
}

/* --- a team ------------------------------------------------------------------------------ */

static void read_parts(struct team_build *b, const struct option_reading *reading)
{
    team_build_map(b, option_node(reading, "resources"), "resources", read_resource);
    team_build_map(b, option_node(reading, "positions"), "positions", read_position);
    team_build_map(b, option_node(reading, "tasks"), "tasks", team_build_task_row);
    team_build_map(b, option_node(reading, "buffers"), "buffers", read_buffer);
    team_build_map(b, option_node(reading, "sequences"), "sequences", team_build_sequence);
    team_build_given(b, option_node(reading, "nominal_s"), option_node(reading, "nominal_sd_s"),
                     TEAM_NONE);
    team_build_map(b, option_node(reading, "robots"), "robots", read_robot);
    team_build_nominals(b);
    team_build_steps(b);
    team_build_map(b, option_node(reading, "windows"), "windows", team_build_window);
    team_build_list(b, option_node(reading, "jobs"), "jobs", read_job);
}

static void read_team(struct team_build *b, uint32_t node, struct err_list *warnings)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_reading reading = {b->r, &team_options, given, node, b->shown};
    const bool failed_before = b->r->failed;
    b->r->failed = false;
    option_defaults(&team_options, b);
    option_read(b->r, &team_options, "", node, b->shown, b, given);
    if (b->window.max_us == 0) {
        b->window.max_us = LAB_TIME_MAX;
    }
    team_build_check_window(b, &b->window,
                            option_node(&reading, "window.min_s") != TREE_NONE
                                ? option_node(&reading, "window.min_s")
                                : option_node(&reading, "window.max_s"),
                            "window");
    read_parts(b, &reading);
    if (TEAM_COUNT(b, TEAM_OF_ROBOTS) == 0 && !b->r->failed && !b->r->tree->partial) {
        option_fault(b->r, node, FAULT_MISSING_KEY,
                     "%srobots are missing, the least is \"robots: {R1: {}}\"", b->shown);
    }
    b->params.may_fail = true;
    if (!b->r->failed && !b->no_memory) {
        team_build_flat(b);
    }
    place_arrays(b);
    if (!b->r->failed && !b->no_memory) {
        team_build_check(b, warnings);
    }
    if (b->no_memory) {
        option_fault(b->r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
    }
    b->r->failed = b->r->failed || failed_before;
    free(b->written.items);
    free(b->sequences.items);
    free(b->given.items);
    free(b->robot_nodes.items);
    free(b->job_nodes.items);
    free(b->step_nodes.items);
}

/* shown: "teams.cell." */
static void append_team(struct option_reader *r, uint32_t node, const char *name,
                        const char *shown, struct team_file *out)
{
    struct team_build *b = calloc(1, sizeof *b);
    struct team_params *teams =
        reallocarray(out->teams, out->team_count + 1, sizeof out->teams[0]);
    out->teams = teams ? teams : out->teams;
    struct team_memory *memory =
        reallocarray(out->memory, out->team_count + 1, sizeof out->memory[0]);
    out->memory = memory ? memory : out->memory;
    if (!b || !teams || !memory) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        free(b);
        return;
    }
    b->r = r;
    b->shown = shown;
    (void)snprintf(b->params.name, sizeof b->params.name, "%s", name);
    read_team(b, node, out->warnings);
    out->teams[out->team_count] = b->params;
    out->memory[out->team_count] = b->memory;
    out->team_count++;
    free(b);
}

/* --- places in the file ------------------------------------------------------------------ */

static uint32_t child_of(const struct tree *tree, uint32_t node, const char *key)
{
    const struct tree_node *map = &tree->nodes[node];
    for (uint32_t i = map->kind == TREE_MAP ? map->first : TREE_NONE; i != TREE_NONE;
         i = tree->nodes[i].next) {
        if (tree->nodes[i].kind != TREE_SKIPPED && strcmp(tree_key(tree, i), key) == 0) {
            return i;
        }
    }
    return TREE_NONE;
}

/* Searches the robots of one team for a pair; *skip counts down. */
static uint32_t pair_of_team(const struct tree *tree, uint32_t team, const char *pair,
                             size_t *skip)
{
    const uint32_t robots = child_of(tree, team, "robots");
    const bool any = robots != TREE_NONE && tree->nodes[robots].kind == TREE_MAP;
    for (uint32_t i = any ? tree->nodes[robots].first : TREE_NONE; i != TREE_NONE;
         i = tree->nodes[i].next) {
        const uint32_t at = child_of(tree, i, "pair");
        if (at != TREE_NONE && tree->nodes[at].kind == TREE_SCALAR &&
            strcmp(tree_text(tree, at), pair) == 0 && (*skip)-- == 0) {
            return at;
        }
    }
    return TREE_NONE;
}

uint32_t team_file_pair_node(const struct option_reader *r, uint32_t node, const char *pair,
                             size_t skip)
{
    /* the file holds one team alone */
    uint32_t found = pair_of_team(r->tree, node, pair, &skip);
    const bool many = r->tree->nodes[node].kind == TREE_MAP;
    for (uint32_t i = many ? r->tree->nodes[node].first : TREE_NONE;
         i != TREE_NONE && found == TREE_NONE; i = r->tree->nodes[i].next) {
        found = pair_of_team(r->tree, i, pair, &skip);
    }
    return found;
}

uint32_t team_file_node(const struct option_reader *r, uint32_t node, const char *team)
{
    return child_of(r->tree, node, team);
}

/* --- teams ------------------------------------------------------------------------------- */

static void read_named(struct option_reader *r, uint32_t node, struct team_file *out)
{
    const char *name = tree_key(r->tree, node);
    char shown[OPTION_PREFIX_MAX];
    (void)snprintf(shown, sizeof shown, "teams.%.31s.", name);
    if (r->tree->nodes[node].kind == TREE_SKIPPED) {
        return;
    }
    if (!team_is_id(name)) {
        option_fault(r, node, FAULT_BAD_NAME,
                     "team '%.40s': a name has 1 to 31 letters, digits, '_' or '-'", name);
    } else if (out->team_count == TEAMS_MAX) {
        option_fault(r, node, FAULT_TOO_MANY, "teams: there are more than %d", TEAMS_MAX);
    } else {
        append_team(r, node, name, shown, out);
    }
}

/* A pair may belong to one team only. */
static void check_pairs(struct option_reader *r, uint32_t node, const struct team_file *file)
{
    size_t n = 0;
    for (size_t t = 0; t < file->team_count; t++) {
        n += file->teams[t].robot_count;
    }
    struct name_at *sorted = calloc(n + 1, sizeof sorted[0]);
    n = 0;
    for (size_t t = 0; sorted && t < file->team_count; t++) {
        for (size_t i = 0; i < file->teams[t].robot_count; i++) {
            const char *pair = file->teams[t].robots[i].pair;
            if (pair[0]) {
                sorted[n++] = (struct name_at){pair, t};
            }
        }
    }
    if (!sorted) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return;
    }
    qsort(sorted, n, sizeof sorted[0], names_by_name);
    for (size_t i = 1, first = 0; i < n; i++) {
        if (strcmp(sorted[i].name, sorted[first].name) != 0) {
            first = i;
        } else {
            option_fault(r, team_file_pair_node(r, node, sorted[i].name, i - first),
                         FAULT_DUPLICATE_NAME,
                         "pair %s is a robot of team %s already; it can be one robot only",
                         sorted[i].name, file->teams[sorted[first].at].name);
        }
    }
    free(sorted);
}

static void start_file(struct option_reader *r, uint32_t node, bool single,
                       struct team_file *out)
{
    *out = (struct team_file){.warnings = calloc(1, sizeof *out->warnings)};
    out->text = team_file_text(r->tree, node, single);
    if (!out->warnings || !out->text) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
    }
}

void team_file_read(struct option_reader *r, uint32_t node, struct team_file *out)
{
    const struct tree_node *map = &r->tree->nodes[node];
    *out = (struct team_file){0};
    if (map->kind == TREE_SKIPPED || option_is_empty(r->tree, node)) {
        return;
    }
    if (map->kind != TREE_MAP) {
        option_fault(r, node, FAULT_OBJECT_EXPECTED,
                     "teams: a map from names to teams is required, as in "
                     "{cell: {robots: {R1: {}}}}");
        return;
    }
    start_file(r, node, false, out);
    for (uint32_t i = map->first; i != TREE_NONE; i = r->tree->nodes[i].next) {
        read_named(r, i, out);
    }
    check_pairs(r, node, out);
}

static void read_single(struct option_reader *r, uint32_t node, struct team_file *out)
{
    start_file(r, node, true, out);
    append_team(r, node, "team", "team.", out);
    check_pairs(r, node, out);
}

/* --- a file of their own ----------------------------------------------------------------- */

static const struct option_row file_rows[] = {
    {"team", OPTION_MAP, "", "", OPTION_NO_RANGE, 0, 0, false, "One team."},
    {"teams", OPTION_MAP, "", "", OPTION_NO_RANGE, 0, 0, false, "Teams, by their names."},
};
static const struct option_table file_options = {file_rows, COUNT(file_rows)};

static void finish_file(const struct option_reading *reading, void *values)
{
    struct option_reader *r = reading->r;
    const uint32_t team = option_node(reading, "team");
    const uint32_t teams = option_node(reading, "teams");
    struct team_file *file = values;
    *file = (struct team_file){0};
    if (team != TREE_NONE && teams != TREE_NONE) {
        option_fault(r, team, FAULT_CONFLICTING_KEYS,
                     "team: one team or several under teams, not both");
    } else if (team != TREE_NONE) {
        read_single(r, team, file);
    } else if (teams != TREE_NONE) {
        team_file_read(r, teams, file);
    }
    if (file->team_count == 0 && !r->failed && !r->tree->partial) {
        option_fault(r, TREE_ROOT, FAULT_MISSING_KEY,
                     "a team is missing, the least is \"team: {robots: {R1: {}}}\"");
    }
    if (r->failed) {
        team_file_free(file);
    }
}

static const struct option_file team_file = {
    .what = "a team file",
    .empty = "the file is empty, the least is \"team: {robots: {R1: {}}}\"",
    .table = &file_options,
    .bytes = sizeof(struct team_file),
    .out_bytes = sizeof(struct team_file),
    .finish = finish_file,
};

void team_file_read_root(struct option_reader *r, uint32_t node, struct team_file *out)
{
    option_file_read(&team_file, r, node, "", out);
}

enum status team_file_load(const char *path, struct team_file *out, struct err_list *errors)
{
    return option_file_load(&team_file, path, out, errors);
}

enum status team_file_parse(const char *text, size_t bytes, const char *name,
                            struct team_file *out, struct err_list *errors)
{
    return option_file_parse(&team_file, text, bytes, name, out, errors);
}
