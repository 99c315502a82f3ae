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
        if (strcmp(team_nth(b, TEAM_OF_TASKS, i), name) == 0) {
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

void team_add_member(const struct option_reading *item, void *value, void *owner)
{
    (void)value;
    (void)owner;
    const char *key = option_name(item);
    if (strcmp(key, "id") == 0 || strcmp(key, "op") == 0 || strcmp(key, "t") == 0) {
        option_fault_at(item, "", FAULT_RESERVED_NAME,
                        "Tandem itself gives this member, leave it out");
    }
}

static void read_payload(const struct option_reading *item, struct team_task_params *task)
{
    struct team_build *b = item->r->context;
    const uint32_t node = option_node(item, "payload");
    if (!tree_is(item->r->tree, node, TREE_MAP)) {
        return;
    }
    json_t *json = tree_json(item->r->tree, node);
    char *text = json ? json_dumps(json, JSON_COMPACT | JSON_REAL_PRECISION(17)) : NULL;
    if (!text) {
        b->no_memory = true;
    } else if (strlen(text) >= sizeof task->payload) {
        option_fault_at(item, "payload", FAULT_TOO_LONG,
                        "%zu bytes are too long as JSON, at most %zu", strlen(text),
                        sizeof task->payload - 1);
    } else {
        (void)snprintf(task->payload, sizeof task->payload, "%s", text);
    }
    free(text);
    json_decref(json);
}

/* --- rows of tasks and windows ----------------------------------------------------------- */

static void check_task(const struct option_reading *item, const struct task_values *values)
{
    const bool payload = option_node(item, "payload") != TREE_NONE;
    if (values->params.to_position && values->params.op[0]) {
        option_fault_at(item, "op", FAULT_CONFLICTING_KEYS,
                        "a task with to: position is a go; leave one of both out");
    } else if (payload && !values->params.op[0]) {
        option_fault_at(item, "payload", FAULT_NEEDS_KEY, "it needs op");
    }
    if (option_node(item, "nominal_sd_s") != TREE_NONE && values->mean_us == 0) {
        option_fault_at(item, "nominal_sd_s", FAULT_NEEDS_KEY, "it needs nominal_s");
    }
    if (team_is_step_word(option_name(item))) {
        option_fault_at(item, "", FAULT_RESERVED_NAME,
                        "it is a word of sequences, give the task another name");
    }
}

bool team_is_step_word(const char *name)
{
#define IS_WORD(word, kind, read) strcmp(name, word) == 0 ||
    return TEAM_STEP_WORDS(IS_WORD) false;
#undef IS_WORD
}

static struct given_nominal *add_given(struct team_build *b, uint16_t task, uint16_t arg,
                                       uint32_t node);

/* The duration in a row of tasks; durations given by robots and by the team have priority. */
void team_add_task(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    struct task_values *values = value;
    const char *name = option_name(item);
    check_task(item, values);
    read_payload(item, &values->params);
    const uint16_t at = team_build_task(b, name);
    (void)snprintf(values->params.name, sizeof values->params.name, "%s", name);
    values->params.window = b->window;
    if (at < TEAM_COUNT(b, TEAM_OF_TASKS)) {
        *TEAM_AT(b, TEAM_OF_TASKS, struct team_task_params, at) = values->params;
    }
    if (values->mean_us > 0) {
        struct given_nominal *one = add_given(b, at, TEAM_NONE, item->node);
        one->nominal.mean_us = values->mean_us;
        one->nominal.sd_us = values->sd_us;
    }
}

void team_build_check_window(const struct option_reading *reading, const char *key,
                             const struct team_window *window)
{
    if (window->min_us > window->max_us) {
        option_fault_at(reading, key, FAULT_WRONG_ORDER,
                        "min_s (%g s) is more than max_s (%g s)", lab_s(window->min_us),
                        lab_s(window->max_us));
    }
}

/* The window of all tasks is read before any item; it is the default of each. */
void team_start_window(const struct option_reading *item, void *value, void *owner)
{
    (void)item;
    *(struct team_window *)value = ((const struct team_build *)owner)->window;
}

void team_add_window(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    const struct team_window *window = value;
    const uint16_t task = team_build_find_at(item, "", option_name(item), TEAM_OF_TASKS);
    team_build_check_window(item, "", window);
    if (task != TEAM_NONE) {
        TEAM_AT(b, TEAM_OF_TASKS, struct team_task_params, task)->window = *window;
    }
}

/* --- durations --------------------------------------------------------------------------- */

/* Searches the durations from first to last: those of one robot, or those for all robots. */
static struct given_nominal *find_given(const struct team_build *b, size_t first,
                                        uint16_t robot, uint16_t task, uint16_t arg)
{
    struct given_nominal *list = b->memory.arrays[TEAM_OF_GIVEN].items;
    for (size_t i = first; i < TEAM_COUNT(b, TEAM_OF_GIVEN) && list[i].nominal.robot == robot;
         i++) {
        if (list[i].nominal.task == task && list[i].nominal.arg == arg) {
            return &list[i];
        }
    }
    return NULL;
}

/* Durations belong to the robot that is being read, or to all robots. */
static struct given_nominal *add_given(struct team_build *b, uint16_t task, uint16_t arg,
                                       uint32_t node)
{
    struct given_nominal *one = find_given(b, b->given_first, b->given_robot, task, arg);
    if (!one) {
        one = TEAM_ADD(b, TEAM_OF_GIVEN, struct given_nominal);
        one->nominal = (struct team_nominal){b->given_robot, task, arg, -1, -1};
        one->node = node;
    }
    return one;
}

/* Adds a duration in seconds by its name, "Move" or "Move IB"; NULL when it has a fault. */
static struct given_nominal *add_duration(const struct option_reading *item)
{
    struct team_build *b = item->r->context;
    char name[2 * TEAM_NAME_MAX];
    const char *key = option_name(item);
    if (item->failed) {
        return NULL;
    }
    (void)snprintf(name, sizeof name, "%s", key);
    char *space = strchr(name, ' ');
    const char *arg = space ? space + 1 : "";
    if (space) {
        *space = '\0';
    }
    if (strlen(key) >= sizeof name || name[0] == '\0' || strlen(name) >= TEAM_NAME_MAX ||
        strlen(arg) >= TEAM_NAME_MAX || (space && (!arg[0] || strchr(arg, ' ')))) {
        option_fault_at(item, "", FAULT_BAD_FORMAT,
                        "a task, or a task and its value with one space between, "
                        "and seconds are wanted, as in \"Move IB: 6\"");
        return NULL;
    }
    const uint16_t task = team_build_task(b, name);
    return add_given(b, task, space ? team_build_name(b, arg) : TEAM_NONE, item->node);
}

void team_add_mean(const struct option_reading *item, void *value, void *owner)
{
    struct given_nominal *one = add_duration(item);
    (void)owner;
    if (one) {
        one->nominal.mean_us = lab_us(*(const double *)value);
    }
}

void team_add_sd(const struct option_reading *item, void *value, void *owner)
{
    struct given_nominal *one = add_duration(item);
    (void)owner;
    if (one) {
        one->nominal.sd_us = lab_us(*(const double *)value);
    }
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
    const struct given_nominal *list = b->memory.arrays[TEAM_OF_GIVEN].items;
    for (size_t i = 0, first = 0; i < TEAM_COUNT(b, TEAM_OF_GIVEN); i++) {
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
