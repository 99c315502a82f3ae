#include "config/team/team_file.h"

#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "base/text/names.h"
#include "config/team/team_values.h"

/* --- memory ------------------------------------------------------------------------------ */

static void free_arrays(struct team_memory *memory, enum team_array first)
{
    for (size_t i = first; i < TEAM_ARRAY_COUNT; i++) {
        free(memory->arrays[i].items);
        memory->arrays[i] = (struct team_list){0};
    }
}

void team_file_free(struct team_file *file)
{
    if (!file) {
        return;
    }
    for (size_t i = 0; file->memory && i < file->team_count; i++) {
        free_arrays(&file->memory[i], 0);
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
    p->planned_count = lists[TEAM_OF_PLANNED].count;
    p->planned = lists[TEAM_OF_PLANNED].items;
}

/* --- resources, positions, buffers ------------------------------------------------------- */

static bool is_full(const struct option_reading *item, size_t count, size_t most)
{
    if (count == most) {
        option_fault_at(item, "", FAULT_TOO_MANY, "more than %zu are too many", most);
    }
    return count >= most;
}

void team_add_resource(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    struct team_resource_params *resource = value;
    if (!is_full(item, TEAM_COUNT(b, TEAM_OF_RESOURCES), TEAM_RESOURCES_MAX)) {
        (void)snprintf(resource->name, sizeof resource->name, "%s", option_name(item));
        *TEAM_ADD(b, TEAM_OF_RESOURCES, struct team_resource_params) = *resource;
    }
}

void team_start_position(const struct option_reading *item, void *value, void *owner)
{
    (void)item;
    (void)owner;
    *(struct team_position *)value =
        (struct team_position){.heading_rad = (double)nanf(""), .robot = TEAM_NONE};
}

void team_add_position(const struct option_reading *item, void *value, void *owner)
{
    struct team_position *position = value;
    position->name = team_build_name(owner, option_name(item));
    *TEAM_ADD((struct team_build *)owner, TEAM_OF_POSITIONS, struct team_position) = *position;
}

/* A robot's own position inherits missing values from the one for all; name TEAM_NONE: there is
 * none. */
void team_start_own_position(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = item->r->context;
    struct team_position *position = value;
    const uint16_t at = team_build_find_at(item, "", option_name(item), TEAM_OF_POSITIONS);
    (void)owner;
    position->name = TEAM_NONE;
    if (at != TEAM_NONE) {
        *position = *TEAM_AT(b, TEAM_OF_POSITIONS, struct team_position, at);
        position->robot = (uint16_t)TEAM_COUNT(b, TEAM_OF_ROBOTS);
    }
}

void team_add_own_position(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = item->r->context;
    const struct team_position *position = value;
    (void)owner;
    if (position->name != TEAM_NONE) {
        *TEAM_ADD(b, TEAM_OF_POSITIONS, struct team_position) = *position;
    }
}

void team_add_part(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = item->r->context;
    (void)owner;
    if (!item->failed) {
        *TEAM_ADD(b, TEAM_OF_LISTS, uint16_t) = team_build_name(b, value);
    }
}

void team_start_buffer(const struct option_reading *item, void *value, void *owner)
{
    (void)item;
    ((struct team_buffer *)value)->first_part =
        (uint32_t)TEAM_COUNT((struct team_build *)owner, TEAM_OF_LISTS);
}

void team_add_buffer(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    struct team_buffer *buffer = value;
    buffer->part_count = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS) - buffer->first_part;
    buffer->name = team_build_name(b, option_name(item));
    *TEAM_ADD(b, TEAM_OF_BUFFERS, struct team_buffer) = *buffer;
}

/* --- robots and jobs --------------------------------------------------------------------- */

void team_start_robot(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    struct robot_values *values = value;
    option_defaults(item->table, values);
    values->params.first_handled = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS);
    b->given_first = TEAM_COUNT(b, TEAM_OF_GIVEN);
    b->given_robot = (uint16_t)TEAM_COUNT(b, TEAM_OF_ROBOTS);
}

void team_add_robot(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    const struct robot_values *values = value;
    struct team_robot_params robot = values->params;
    if (is_full(item, TEAM_COUNT(b, TEAM_OF_ROBOTS), TEAM_ROBOTS_MAX)) {
        return;
    }
    (void)snprintf(robot.name, sizeof robot.name, "%s", option_name(item));
    robot.sequence = TEAM_NONE;
    if (values->sequence[0]) {
        robot.sequence =
            team_build_find_at(item, "sequence", values->sequence, TEAM_OF_SEQUENCES);
    } else if (option_node(item, "cycles") != TREE_NONE) {
        option_fault_at(item, "cycles", FAULT_NOT_APPLICABLE,
                        "the robot has no sequence to repeat");
    }
    robot.handles_all = option_node(item, "handles") == TREE_NONE;
    robot.handled_count = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS) - robot.first_handled;
    *TEAM_ADD(b, TEAM_OF_ROBOTS, struct team_robot_params) = robot;
    *TEAM_ADD(b, TEAM_OF_ROBOT_NODES, uint32_t) = item->node;
}

void team_add_job(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    const struct job_values *values = value;
    struct team_job job = {.home = TEAM_NONE};
    if (values->part[0]) {
        job.part = team_build_name(b, values->part);
    }
    if (values->sequence[0]) {
        job.sequence = team_build_find_at(item, "seq", values->sequence, TEAM_OF_SEQUENCES);
    }
    if (values->home[0]) {
        job.home = team_build_find_at(item, "home", values->home, TEAM_OF_ROBOTS);
    }
    for (uint32_t i = 0; i < values->count; i++) {
        if (is_full(item, TEAM_COUNT(b, TEAM_OF_JOBS), TEAM_JOBS_MAX)) {
            return;
        }
        *TEAM_ADD(b, TEAM_OF_JOBS, struct team_job) = job;
        *TEAM_ADD(b, TEAM_OF_JOB_NODES, uint32_t) = item->node;
    }
}

/* --- a team ------------------------------------------------------------------------------ */

static void read_team(struct team_build *b, uint32_t node, struct err_list *warnings)
{
    uint32_t given[OPTION_ROWS_MAX] = {0};
    const struct option_reading reading = {b->r, &team_options, given, node, b->shown,
                                           0,    false};
    const bool failed_before = b->r->failed;
    b->r->failed = false;
    b->r->context = b;
    b->given_robot = TEAM_NONE;
    option_defaults(&team_options, b);
    b->window.max_us = LAB_TIME_MAX;
    option_read(&reading, NULL, b);
    team_build_check_window(&reading, "window.min_s", &b->window);
    team_build_nominals(b);
    team_build_steps(b);
    option_read_items(&reading, "windows", b);
    option_read_items(&reading, "jobs", b);
    option_read_items(&reading, "plan", b);
    team_build_plan(b);
    if (TEAM_COUNT(b, TEAM_OF_ROBOTS) == 0 && !b->r->failed && !b->r->tree->partial) {
        option_fault(b->r, node, FAULT_MISSING_KEY,
                     "%srobots are missing, the least is \"robots: {R1: {}}\"", b->shown);
    }
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
    free_arrays(&b->memory, TEAM_OF_WRITTEN);
}

/* shown: "teams.cell." */
static void append_team(struct option_reader *r, uint32_t node, const char *name,
                        const char *shown, struct team_file *out)
{
    struct team_build *b = calloc(1, sizeof *b);
    if (!b) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
        return;
    }
    b->r = r;
    b->shown = shown;
    (void)snprintf(b->params.name, sizeof b->params.name, "%s", name);
    b->params.hash = out->text ? hash_bytes(HASH_START, out->text, strlen(out->text)) : 0;
    read_team(b, node, out->warnings);
    out->teams[out->team_count] = b->params;
    out->memory[out->team_count] = b->memory;
    out->team_count++;
    free(b);
}

/* --- places in the file ------------------------------------------------------------------ */

/* Searches the robots of one team for a pair; *skip counts down. */
static uint32_t pair_of_team(const struct tree *tree, uint32_t team, const char *pair,
                             size_t *skip)
{
    const uint32_t robots = tree_child(tree, team, "robots");
    const bool any = robots != TREE_NONE && tree->nodes[robots].kind == TREE_MAP;
    for (uint32_t i = any ? tree->nodes[robots].first : TREE_NONE; i != TREE_NONE;
         i = tree->nodes[i].next) {
        const uint32_t at = tree_child(tree, i, "pair");
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

/* --- teams ------------------------------------------------------------------------------- */

static void read_named(struct option_reader *r, uint32_t node, struct team_file *out)
{
    const char *name = tree_key(r->tree, node);
    char shown[OPTION_PREFIX_MAX];
    (void)snprintf(shown, sizeof shown, "teams.%.31s.", name);
    if (r->tree->nodes[node].kind == TREE_SKIPPED) {
        return;
    }
    if (!option_is_name(OPTION_ID, name)) {
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

static bool start_file(struct option_reader *r, uint32_t node, bool single,
                       struct team_file *out)
{
    *out = (struct team_file){.teams = calloc(TEAMS_MAX, sizeof *out->teams),
                              .memory = calloc(TEAMS_MAX, sizeof *out->memory),
                              .text = team_file_text(r->tree, node, single),
                              .warnings = calloc(1, sizeof *out->warnings)};
    const bool fine = out->teams && out->memory && out->text && out->warnings;
    if (!fine) {
        option_fault(r, TREE_NONE, FAULT_NO_MEMORY, "not enough memory to read it");
    }
    return fine;
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
    const bool started = start_file(r, node, false, out);
    for (uint32_t i = map->first; started && i != TREE_NONE; i = r->tree->nodes[i].next) {
        read_named(r, i, out);
    }
    check_pairs(r, node, out);
}

static void read_single(struct option_reader *r, uint32_t node, struct team_file *out)
{
    if (start_file(r, node, true, out)) {
        append_team(r, node, "team", "team.", out);
    }
    check_pairs(r, node, out);
}

/* --- a file of their own ----------------------------------------------------------------- */

static const struct option_row file_rows[] = {
    {"team", OPTION_MAP, "", "", OPTION_BY_HAND, "One team."},
    {"teams", OPTION_MAP, "", "", OPTION_BY_HAND, "Teams, by their names."},
};

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

const struct option_file team_file = {
    .what = "a team file",
    .empty = "the file is empty, the least is \"team: {robots: {R1: {}}}\"",
    .table = OPTION_TABLE(file_rows),
    .bytes = sizeof(struct team_file),
    .out_bytes = sizeof(struct team_file),
    .finish = finish_file,
};
