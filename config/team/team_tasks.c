/* config/team/team_tasks.c - reads tasks: their payloads, windows and durations. */
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/lab_time.h"
#include "base/numbers/number.h"
#include "config/team/team_values.h"

uint16_t team_build_task(struct team_build *b, const char *name)
{
    const size_t n = TEAM_COUNT(b, TEAM_OF_TASKS);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(team_nth_task(b, i), name) == 0) {
            return (uint16_t)i;
        }
    }
    struct team_task_params *task = TEAM_ADD(b, TEAM_OF_TASKS, struct team_task_params);
    (void)snprintf(task->name, sizeof task->name, "%s", name);
    task->window = b->window;
    return (uint16_t)n;
}

/* --- payloads ---------------------------------------------------------------------------- */

/* Converts a scalar as YAML readers do: a number, a truth, null, or a text. */
static json_t *scalar_json(const struct tree *tree, uint32_t node)
{
    const char *text = tree_text(tree, node);
    int64_t whole = 0;
    double real = 0.0;
    if (!tree->nodes[node].plain) {
        return json_string(text);
    }
    if (option_is_empty(tree, node)) {
        return json_null();
    }
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0) {
        return json_boolean(text[0] == 't');
    }
    if (number_parse_int(text, &whole) == NUMBER_FINE) {
        return json_integer(whole);
    }
    return number_parse_real(text, &real) == NUMBER_FINE ? json_real(real) : json_string(text);
}

/* Recursion is as deep as the file's nesting. */
// NOLINTNEXTLINE(misc-no-recursion)
static json_t *tree_json(const struct tree *tree, uint32_t node)
{
    const struct tree_node *n = &tree->nodes[node];
    if (n->kind == TREE_SCALAR) {
        return scalar_json(tree, node);
    }
    json_t *json = n->kind == TREE_LIST ? json_array() : json_object();
    int failed = json ? 0 : -1;
    for (uint32_t i = n->first; i != TREE_NONE && !failed; i = tree->nodes[i].next) {
        json_t *value = tree_json(tree, i);
        failed = n->kind == TREE_LIST ? json_array_append_new(json, value)
                                      : json_object_set_new(json, tree_key(tree, i), value);
    }
    if (failed) {
        json_decref(json);
        return NULL;
    }
    return json;
}

/* Tandem itself sets these members. */
static bool is_own_member(const char *key)
{
    return strcmp(key, "id") == 0 || strcmp(key, "op") == 0 || strcmp(key, "t") == 0;
}

static void read_payload(struct team_build *b, uint32_t node, const char *shown,
                         struct team_task_params *task)
{
    const struct tree *tree = b->r->tree;
    if (node == TREE_NONE) {
        return;
    }
    if (tree->nodes[node].kind != TREE_MAP) {
        option_fault(b->r, node, FAULT_OBJECT_EXPECTED,
                     "%spayload: members of a command are wanted, as in "
                     "{force_n: 5, at: \"{arg}\"}",
                     shown);
        return;
    }
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        if (is_own_member(tree_key(tree, i))) {
            option_fault(b->r, i, FAULT_RESERVED_NAME,
                         "%spayload.%s is given by Tandem itself, leave it out", shown,
                         tree_key(tree, i));
            return;
        }
    }
    json_t *json = tree_json(tree, node);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (!text) {
        b->no_memory = true;
    } else if (strlen(text) >= sizeof task->payload) {
        option_fault(b->r, node, FAULT_TOO_LONG,
                     "%spayload: %zu bytes are too long as JSON, at most %zu", shown,
                     strlen(text), sizeof task->payload - 1);
    } else {
        (void)snprintf(task->payload, sizeof task->payload, "%s", text);
    }
    free(text);
    json_decref(json);
}

/* --- rows of tasks and windows ----------------------------------------------------------- */

static void add_nominal(struct team_build *b, uint32_t node, const char *task, double mean_s,
                        double sd_s);

static void check_task(struct team_build *b, uint32_t node, const char *shown,
                       const struct task_values *values, const uint32_t *given)
{
    const struct option_table *table = &team_task_options;
    const uint32_t payload = option_given(table, given, "payload");
    if (values->params.to_position && values->params.op[0]) {
        option_fault(b->r, option_given(table, given, "op"), FAULT_CONFLICTING_KEYS,
                     "%sop: a task with to: position is a go; leave one of both out", shown);
    } else if (payload != TREE_NONE && !values->params.op[0]) {
        option_fault(b->r, payload, FAULT_NEEDS_KEY, "%spayload needs op", shown);
    }
    if (option_given(table, given, "nominal_sd_s") != TREE_NONE && values->mean_us == 0) {
        option_fault(b->r, option_given(table, given, "nominal_sd_s"), FAULT_NEEDS_KEY,
                     "%snominal_sd_s needs nominal_s", shown);
    }
    if (team_is_step_word(tree_key(b->r->tree, node))) {
        option_fault(b->r, node, FAULT_RESERVED_NAME,
                     "%.*s is a word of sequences, give the task another name",
                     (int)strlen(shown) - 1, shown);
    }
}

bool team_is_step_word(const char *name)
{
#define IS_WORD(word, read) strcmp(name, word) == 0 ||
    return TEAM_STEP_WORDS(IS_WORD) false;
#undef IS_WORD
}

void team_build_task_row(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    uint32_t given[OPTION_ROWS_MAX] = {0};
    struct task_values values = {.mean_us = 0};
    team_build_shown(b, "tasks", node, shown);
    option_defaults(&team_task_options, &values);
    option_read(b->r, &team_task_options, "", node, shown, &values, given);
    check_task(b, node, shown, &values, given);
    read_payload(b, option_given(&team_task_options, given, "payload"), shown, &values.params);
    if (!team_build_key(b, node, "a task")) {
        return;
    }
    const char *name = tree_key(b->r->tree, node);
    const uint16_t at = team_build_task(b, name);
    (void)snprintf(values.params.name, sizeof values.params.name, "%s", name);
    values.params.window = b->window;
    if (at < TEAM_COUNT(b, TEAM_OF_TASKS)) {
        *TEAM_AT(b, TEAM_OF_TASKS, struct team_task_params, at) = values.params;
    }
    if (values.mean_us > 0) {
        add_nominal(b, node, name, lab_s(values.mean_us), lab_s(values.sd_us));
    }
}

void team_build_check_window(struct team_build *b, const struct team_window *window,
                             uint32_t node, const char *shown)
{
    if (window->min_us > window->max_us) {
        option_fault(b->r, node, FAULT_WRONG_ORDER,
                     "%s%s.min_s (%g s) is more than max_s (%g s)", b->shown, shown,
                     lab_s(window->min_us), lab_s(window->max_us));
    }
}

void team_build_window(struct team_build *b, uint32_t node)
{
    char shown[OPTION_PREFIX_MAX];
    char what[OPTION_PREFIX_MAX];
    struct team_window window = b->window;
    team_build_shown(b, "windows", node, shown);
    option_read(b->r, &team_window_options, "", node, shown, &window, NULL);
    (void)snprintf(what, sizeof what, "%swindows", b->shown);
    const uint16_t task = team_build_find(b, node, tree_key(b->r->tree, node), what,
                                          TEAM_COUNT(b, TEAM_OF_TASKS), team_nth_task);
    (void)snprintf(what, sizeof what, "windows.%.31s", tree_key(b->r->tree, node));
    team_build_check_window(b, &window, node, what);
    if (task != TEAM_NONE) {
        TEAM_AT(b, TEAM_OF_TASKS, struct team_task_params, task)->window = window;
    }
}

/* --- durations --------------------------------------------------------------------------- */

/* Searches the durations from first to last: those of one robot, or those for all robots. */
static struct given_nominal *find_given(const struct team_build *b, size_t first,
                                        uint16_t robot, uint16_t task, uint16_t arg)
{
    struct given_nominal *list = b->given.items;
    for (size_t i = first; i < b->given.count && list[i].nominal.robot == robot; i++) {
        if (list[i].nominal.task == task && list[i].nominal.arg == arg) {
            return &list[i];
        }
    }
    return NULL;
}

static struct given_nominal *add_given(struct team_build *b, uint16_t robot, uint16_t task,
                                       uint16_t arg, uint32_t node)
{
    struct given_nominal *one = find_given(b, b->given_first, robot, task, arg);
    if (!one) {
        one = team_build_append(b, &b->given, sizeof *one);
        one->nominal = (struct team_nominal){robot, task, arg, -1, -1};
        one->node = node;
    }
    return one;
}

/* Adds the duration in a row of tasks; durations given by robots and by the team have
 * priority. */
static void add_nominal(struct team_build *b, uint32_t node, const char *task, double mean_s,
                        double sd_s)
{
    struct given_nominal *one =
        add_given(b, TEAM_NONE, team_build_task(b, task), TEAM_NONE, node);
    one->nominal.mean_us = lab_us(mean_s);
    one->nominal.sd_us = lab_us(sd_s);
}

struct duration_map {
    const char *key;
    uint16_t robot;
    bool sd;
};

static void read_duration(struct team_build *b, uint32_t node, const struct duration_map *map)
{
    char what[OPTION_PREFIX_MAX];
    char name[2 * TEAM_NAME_MAX];
    double value_s = 0.0;
    const double least_s = map->sd ? 0.0 : 0.001;
    const char *key = tree_key(b->r->tree, node);
    (void)snprintf(what, sizeof what, "%s%s.%.40s", b->shown, map->key, key);
    if (!option_number_from(b->r, node, what, least_s, &value_s)) {
        return;
    }
    (void)snprintf(name, sizeof name, "%s", key);
    char *space = strchr(name, ' ');
    const char *arg = space ? space + 1 : "";
    if (space) {
        *space = '\0';
    }
    if (value_s > 1e9 || strlen(key) >= sizeof name || name[0] == '\0' ||
        strlen(name) >= TEAM_NAME_MAX || strlen(arg) >= TEAM_NAME_MAX ||
        (space && (!arg[0] || strchr(arg, ' ')))) {
        option_fault(b->r, node, FAULT_BAD_FORMAT,
                     "%s: a task, or a task and its value with one space between, "
                     "and seconds are wanted, as in \"Move IB: 6\"",
                     what);
        return;
    }
    const uint16_t task = team_build_task(b, name);
    const uint16_t of = space ? team_build_name(b, arg) : TEAM_NONE;
    struct given_nominal *one = add_given(b, map->robot, task, of, node);
    *(map->sd ? &one->nominal.sd_us : &one->nominal.mean_us) = lab_us(value_s);
}

static void read_durations(struct team_build *b, uint32_t node, const struct duration_map *map)
{
    const struct tree *tree = b->r->tree;
    if (node == TREE_NONE || tree->nodes[node].kind == TREE_SKIPPED ||
        option_is_empty(tree, node)) {
        return;
    }
    if (tree->nodes[node].kind != TREE_MAP) {
        option_fault(b->r, node, FAULT_OBJECT_EXPECTED,
                     "%s%s: tasks and seconds are wanted, as in {Move IB: 6}", b->shown,
                     map->key);
        return;
    }
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        if (tree->nodes[i].kind != TREE_SKIPPED) {
            read_duration(b, i, map);
        }
    }
}

void team_build_given(struct team_build *b, uint32_t mean, uint32_t sd, uint16_t robot)
{
    b->given_first = robot == TEAM_NONE ? 0 : b->given.count;
    read_durations(b, mean, &(struct duration_map){"nominal_s", robot, false});
    read_durations(b, sd, &(struct duration_map){"nominal_sd_s", robot, true});
}

/* Returns the most specific duration given for this activity: the robot's own (they begin at
 * first) before the team's, one for this value before one for any. -1: none. */
static int64_t resolve_given(const struct team_build *b, size_t first,
                             const struct team_nominal *n, bool sd)
{
    const uint16_t robots[] = {n->robot, n->robot, TEAM_NONE, TEAM_NONE};
    const uint16_t args[] = {n->arg, TEAM_NONE, n->arg, TEAM_NONE};
    for (size_t i = 0; i < COUNT(robots); i++) {
        const size_t from = robots[i] == TEAM_NONE ? 0 : first;
        const struct given_nominal *one = find_given(b, from, robots[i], n->task, args[i]);
        const int64_t us = !one ? -1 : sd ? one->nominal.sd_us : one->nominal.mean_us;
        if (us >= 0) {
            return us;
        }
    }
    return -1;
}

void team_build_nominals(struct team_build *b)
{
    const struct given_nominal *list = b->given.items;
    for (size_t i = 0, first = 0; i < b->given.count; i++) {
        struct team_nominal n = list[i].nominal;
        first = n.robot != list[first].nominal.robot ? i : first;
        const int64_t sd_us = resolve_given(b, first, &n, true);
        n.mean_us = resolve_given(b, first, &n, false);
        n.sd_us = sd_us < 0 ? 0 : sd_us;
        if (n.mean_us < 0) {
            option_fault(b->r, list[i].node, FAULT_NEEDS_KEY,
                         "%snominal_sd_s.%.40s: nominal_s is not given", b->shown,
                         tree_key(b->r->tree, list[i].node));
        } else {
            *TEAM_ADD(b, TEAM_OF_NOMINALS, struct team_nominal) = n;
        }
    }
    b->known_tasks = TEAM_COUNT(b, TEAM_OF_TASKS);
}
