/* config/team/team_steps.c - reads steps: words, words with a value, and nested lists. */
#include <string.h>
#include <strings.h>

#include "base/text/names.h"
#include "config/team/team_values.h"

/* The place of a step, and the prefix of its faults. */
struct place {
    uint16_t sequence;
    uint32_t node;                 /* node of the step */
    uint32_t value;                /* node of the value after its word; TREE_NONE: none */
    char shown[OPTION_PREFIX_MAX]; /* "teams.cell.sequences.cycle[3]" */
    char below[OPTION_PREFIX_MAX]; /* "teams.cell.sequences.cycle[3].Meet." */
    struct option_reading map;     /* of the value, when it is a map */
    uint32_t given[OPTION_ROWS_MAX];
};

typedef void step_reader(struct team_build *b, struct place *at, struct written_step *out);

static uint32_t read_list(struct team_build *b, uint16_t sequence, uint32_t node,
                          const char *shown);

static const char *text_of(const struct team_build *b, uint32_t node)
{
    return tree_scalar(b->r->tree, node);
}

static bool is_map(const struct team_build *b, uint32_t node)
{
    return tree_is(b->r->tree, node, TREE_MAP);
}

static bool is_scalar(const struct team_build *b, uint32_t node)
{
    return tree_is(b->r->tree, node, TREE_SCALAR) && !option_is_empty(b->r->tree, node);
}

/* Reads the map behind a word. */
static void read_map(struct team_build *b, struct place *at, const struct option_table *table,
                     const char *required, void *values)
{
    at->map = (struct option_reading){b->r, table, at->given, at->value, at->below, 0, false};
    option_defaults(table, values);
    option_read(&at->map, required, values);
}

/* --- words ------------------------------------------------------------------------------- */

static uint16_t buffer_name(const struct team_build *b, uint16_t buffer)
{
    return buffer == TEAM_NONE ? TEAM_NONE
                               : TEAM_AT(b, TEAM_OF_BUFFERS, struct team_buffer, buffer)->name;
}

static void read_take(struct team_build *b, struct place *at, struct written_step *out)
{
    struct take_values values = {.from = ""};
    if (at->value == TREE_NONE) { /* The paper defines it without duration and always done. */
        out->step.kind = TEAM_STEP_DONE;
        out->step.task = team_build_task(b, "IdPrt");
        return;
    }
    if (is_scalar(b, at->value)) {
        out->step.arg = buffer_name(b, team_build_find(b, at->value, text_of(b, at->value),
                                                       at->shown, TEAM_OF_BUFFERS));
        return;
    }
    read_map(b, at, &team_take_options, "from", &values);
    out->step.retry_us = values.retry_us;
    if (values.from[0]) {
        out->step.arg =
            buffer_name(b, team_build_find_at(&at->map, "from", values.from, TEAM_OF_BUFFERS));
    }
    if (values.retry_us > 0 && option_node(&at->map, "none") != TREE_NONE) {
        option_fault_at(&at->map, "none", FAULT_CONFLICTING_KEYS,
                        "the sequence ends, or looks again after retry_s; leave one out");
    }
}

static void read_resources(struct team_build *b, struct place *at, struct written_step *out)
{
    const struct tree *tree = b->r->tree;
    const bool list = at->value != TREE_NONE && tree->nodes[at->value].kind == TREE_LIST;
    const uint32_t count = list ? tree->nodes[at->value].count : 1;
    uint32_t i = list ? tree->nodes[at->value].first : at->value;
    out->step.first_resource = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS);
    if ((!list && !is_scalar(b, at->value)) || count == 0 || count > TEAM_WANT_MAX) {
        option_fault(b->r, at->node, FAULT_WRONG_COUNT,
                     "%s: a resource, or a list of 1 to %d, is wanted, as in Lock: [A, B]",
                     at->shown, TEAM_WANT_MAX);
        return;
    }
    for (uint32_t n = 0; n < count; n++, i = tree->nodes[i].next) {
        const uint16_t resource =
            team_build_find(b, i, text_of(b, i), at->shown, TEAM_OF_RESOURCES);
        for (uint32_t k = 0; k < out->step.resource_count && resource != TEAM_NONE; k++) {
            if (*TEAM_AT(b, TEAM_OF_LISTS, uint16_t, out->step.first_resource + k) ==
                resource) {
                option_fault(b->r, i, FAULT_DUPLICATE_NAME, "%s: %s is there twice", at->shown,
                             text_of(b, i));
            }
        }
        *TEAM_ADD(b, TEAM_OF_LISTS, uint16_t) = resource;
        out->step.resource_count++;
    }
}

static void set_task(struct team_build *b, const struct place *at, const char *name,
                     uint32_t value, const char *arg, struct team_step *step);

/* All robots that meet under one name share one meeting, so their values must agree. */
static void check_meeting(struct team_build *b, const struct place *at,
                          const struct team_step *step)
{
    const struct written_step *list = b->memory.arrays[TEAM_OF_WRITTEN].items;
    for (size_t i = 1; i < TEAM_COUNT(b, TEAM_OF_WRITTEN); i++) {
        const struct team_step *other = &list[i].step;
        const bool meets = list[i].kind == WRITTEN_STEP && list[i].node != at->node &&
                           (other->kind == TEAM_STEP_MEET || other->kind == TEAM_STEP_TOGETHER);
        if (meets && other->meeting == step->meeting &&
            (other->robots != step->robots || other->kind != step->kind)) {
            option_fault(b->r, at->node, FAULT_INCONSISTENT,
                         "%s: on line %u the same meeting is %s of %u robots; give this one "
                         "another name, or the same",
                         at->shown, (unsigned)other->line,
                         other->kind == TEAM_STEP_MEET ? "Meet" : "Together",
                         (unsigned)other->robots);
            return;
        }
    }
}

static void read_meeting(struct team_build *b, struct place *at, struct written_step *out)
{
    const bool together = out->step.kind == TEAM_STEP_TOGETHER;
    struct meet_values values = {.name = ""};
    if (!is_map(b, at->value)) {
        option_fault(b->r, at->node, FAULT_BAD_STEP, "%s: {name: m, robots: 2%s} is wanted",
                     at->shown, together ? ", task: Lift" : "");
        return;
    }
    read_map(b, at, together ? &team_together_options : &team_meet_options,
             together ? "name robots task" : "name robots", &values);
    out->step.robots = (uint16_t)values.robots;
    if (values.name[0]) {
        out->step.meeting = team_build_name(b, values.name);
        if (values.robots > 0) {
            check_meeting(b, at, &out->step);
        }
    }
    if (values.robots > TEAM_COUNT(b, TEAM_OF_ROBOTS)) {
        option_fault_at(&at->map, "robots", FAULT_OUT_OF_RANGE, "the team has %zu only",
                        TEAM_COUNT(b, TEAM_OF_ROBOTS));
    }
    if (together && values.task[0]) {
        const uint32_t to = option_node(&at->map, "to");
        set_task(b, at, values.task, to != TREE_NONE ? to : option_node(&at->map, "task"),
                 values.to, &out->step);
    }
}

static void read_tool(struct team_build *b, struct place *at, struct written_step *out)
{
    out->step.task = team_build_task(b, "ChangeTool");
    if (!is_scalar(b, at->value)) {
        option_fault(b->r, at->node, FAULT_BAD_STEP,
                     "%s: a tool is wanted, as in ChangeTool: d", at->shown);
    } else if (team_build_text(b, at->value, "a tool")) {
        out->step.arg = team_build_name(b, text_of(b, at->value));
    }
}

static void read_repeat(struct team_build *b, struct place *at, struct written_step *out)
{
    struct repeat_values values = {.times = 0};
    out->kind = WRITTEN_REPEAT;
    if (at->value == TREE_NONE) {
        return;
    }
    if (!is_map(b, at->value)) {
        option_fault(b->r, at->node, FAULT_BAD_STEP,
                     "%s: Repeat alone, or Repeat: {times: 3, steps: [...]} is wanted",
                     at->shown);
        return;
    }
    read_map(b, at, &team_repeat_options, "steps", &values);
    out->times = values.times;
    out->first = read_list(b, at->sequence, option_node(&at->map, "steps"), at->shown);
}

static void read_if(struct team_build *b, struct place *at, struct written_step *out)
{
    char nothing = 0;
    out->kind = WRITTEN_IF;
    if (!is_map(b, at->value)) {
        option_fault(b->r, at->node, FAULT_BAD_STEP,
                     "%s: If: {part: a, then: [...], else: [...]} is wanted", at->shown);
        return;
    }
    out->parts = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS);
    read_map(b, at, &team_if_options, "part", &nothing);
    out->part_end = (uint32_t)TEAM_COUNT(b, TEAM_OF_LISTS);
    const uint32_t then = option_node(&at->map, "then");
    const uint32_t other = option_node(&at->map, "else");
    if (then == TREE_NONE && other == TREE_NONE) {
        option_fault(b->r, at->value, FAULT_MISSING_KEY, "%sthen is missing, or else",
                     at->below);
    }
    out->first = then == TREE_NONE ? 0 : read_list(b, at->sequence, then, at->shown);
    out->other = other == TREE_NONE ? 0 : read_list(b, at->sequence, other, at->shown);
}

/* The keywords; any other word names a sequence or a task. */
static const struct step_word {
    const char *word;
    enum team_step_kind kind;
    step_reader *read;
} words[] = {
#define WORD_ROW(word, kind, read) {word, kind, read},
    TEAM_STEP_WORDS(WORD_ROW)
#undef WORD_ROW
        {"ChangeTool", TEAM_STEP_TOOL, read_tool}, /* also a task */
};

/* --- tasks and sequences ----------------------------------------------------------------- */

enum { SLIP_BYTES = 4 }; /* any two shorter words look alike */

/* "Pick1" and "Pick2", or "PickA" and "PickB", differ on purpose. */
static bool is_numbered(const char *a, const char *b)
{
    const size_t n = strlen(a);
    return n > 0 && strlen(b) == n && strncmp(a, b, n - 1) == 0;
}

static void guess_word(struct edit_guess *guess, const char *name, const char *known)
{
    if (!is_numbered(name, known) &&
        (strlen(name) >= SLIP_BYTES || strcasecmp(name, known) == 0)) {
        team_build_guess(guess, name, known);
    }
}

/* Reports an undeclared word that looks like a known one. */
static bool is_slip(struct team_build *b, const struct place *at, uint32_t node,
                    const char *name)
{
    struct edit_guess guess = {0};
    char meant[EDIT_GUESS_MAX];
    for (size_t i = 0; i < b->known_tasks; i++) {
        if (strcmp(team_nth(b, TEAM_OF_TASKS, i), name) == 0) {
            return false;
        }
        guess_word(&guess, name, team_nth(b, TEAM_OF_TASKS, i));
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        guess_word(&guess, name, words[i].word);
    }
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_SEQUENCES); i++) {
        guess_word(&guess, name, team_nth(b, TEAM_OF_SEQUENCES, i));
    }
    if (guess.name) {
        option_fault(b->r, node, FAULT_UNKNOWN_NAME,
                     "%s: there is no '%.31s'%s; a task of that name needs a row under tasks",
                     at->shown, name, edit_guess_text(&guess, meant));
    }
    return guess.name != NULL;
}

static void set_task(struct team_build *b, const struct place *at, const char *name,
                     uint32_t value, const char *arg, struct team_step *step)
{
    if (team_is_step_word(name)) {
        option_fault(b->r, value, FAULT_UNKNOWN_NAME, "%s: %s is no task", at->shown, name);
        return;
    }
    if (is_slip(b, at, at->node, name)) {
        return;
    }
    step->task = team_build_task(b, name);
    if (b->no_memory) {
        return;
    }
    if (TEAM_AT(b, TEAM_OF_TASKS, struct team_task_params, step->task)->to_position) {
        const uint16_t position = team_build_find(b, value, arg, at->shown, TEAM_OF_POSITIONS);
        step->arg = position == TEAM_NONE
                        ? TEAM_NONE
                        : TEAM_AT(b, TEAM_OF_POSITIONS, struct team_position, position)->name;
    } else if (arg[0]) {
        step->arg = team_build_name(b, arg);
    }
}

static void read_other(struct team_build *b, const struct place *at, const char *word,
                       struct written_step *out)
{
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_SEQUENCES); i++) {
        if (strcmp(team_nth(b, TEAM_OF_SEQUENCES, i), word) == 0) {
            out->kind = WRITTEN_SEQUENCE;
            out->used = (uint16_t)i;
            TEAM_AT(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, i)->used = true;
            if (at->value != TREE_NONE) {
                option_fault(b->r, at->value, FAULT_NOT_APPLICABLE,
                             "%s: %s is a sequence, no value is wanted", at->shown, word);
            }
            return;
        }
    }
    out->step.kind = TEAM_STEP_TASK;
    if (at->value != TREE_NONE &&
        (!is_scalar(b, at->value) || !team_build_text(b, at->value, "the value of a task"))) {
        option_fault(b->r, at->value, FAULT_BAD_STEP,
                     "%s: one value is wanted behind a task, as in Move: IB", at->shown);
        return;
    }
    set_task(b, at, word, at->value != TREE_NONE ? at->value : at->node,
             at->value != TREE_NONE ? text_of(b, at->value) : "", &out->step);
}

/* --- lists of steps ---------------------------------------------------------------------- */

/* A scalar such as a number may be a task's value, but never a word. */
static bool read_word(struct team_build *b, struct place *at, const char **word)
{
    const struct tree *tree = b->r->tree;
    const struct tree_node *n = &tree->nodes[at->node];
    *word = "";
    if (n->kind == TREE_SCALAR) {
        *word = tree_text(tree, at->node);
    } else if (n->kind == TREE_MAP && n->count == 1 &&
               tree->nodes[n->first].kind != TREE_SKIPPED) {
        *word = tree_key(tree, n->first);
        at->value = n->first;
    }
    const size_t bytes = strlen(*word);
    if (bytes == 0 || bytes >= TEAM_NAME_MAX || strpbrk(*word, " {}[],:\"'")) {
        return option_fault(b->r, at->node, FAULT_BAD_STEP,
                            "%s: a step is a word, or one word with its value, as in Lock: IB",
                            at->shown);
    }
    return true;
}

static void read_step(struct team_build *b, struct place *at, struct written_step *out)
{
    const char *word = NULL;
    if (!read_word(b, at, &word)) {
        return;
    }
    (void)snprintf(at->below, sizeof at->below, "%.80s.%.10s.", at->shown, word);
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i].word, word) == 0) {
            out->step.kind = words[i].kind;
            words[i].read(b, at, out);
            return;
        }
    }
    read_other(b, at, word, out);
}

/* Recursion is as deep as the file's nesting. Returns the first step; 0: none. */
// NOLINTNEXTLINE(misc-no-recursion)
static uint32_t read_list(struct team_build *b, uint16_t sequence, uint32_t node,
                          const char *shown)
{
    const struct tree *tree = b->r->tree;
    uint32_t first = 0;
    uint32_t last = 0;
    if (node == TREE_NONE || tree->nodes[node].kind == TREE_SKIPPED) {
        return 0;
    }
    if (tree->nodes[node].kind != TREE_LIST || tree->nodes[node].count == 0) {
        option_fault(b->r, node, FAULT_LIST_EXPECTED,
                     "%s: a list of steps is wanted, as in [Lock: IB, Move: IB]", shown);
        return 0;
    }
    for (uint32_t i = tree->nodes[node].first; i != TREE_NONE; i = tree->nodes[i].next) {
        struct place at = {.sequence = sequence, .node = i};
        struct written_step step = {.node = i};
        const uint32_t index = (uint32_t)TEAM_COUNT(b, TEAM_OF_WRITTEN);
        if (index > TEAM_STEPS_MAX) {
            option_fault(b->r, i, FAULT_TOO_MANY, "%s: the team has more than %d steps", shown,
                         TEAM_STEPS_MAX);
            return first;
        }
        (void)TEAM_ADD(b, TEAM_OF_WRITTEN, struct written_step);
        b->place++;
        step.step = (struct team_step){.arg = TEAM_NONE,
                                       .meeting = TEAM_NONE,
                                       .sequence = sequence,
                                       .place = (uint16_t)b->place,
                                       .line = tree->nodes[i].line};
        (void)snprintf(at.shown, sizeof at.shown, "%ssequences.%.31s[%u]", b->shown,
                       team_nth(b, TEAM_OF_SEQUENCES, sequence), b->place);
        if (tree->nodes[i].kind != TREE_SKIPPED) {
            read_step(b, &at, &step);
        }
        if (b->no_memory) {
            return 0;
        }
        struct written_step *list = b->memory.arrays[TEAM_OF_WRITTEN].items;
        list[index] = step;
        list[last].next = last > 0 ? index : 0;
        first = first > 0 ? first : index;
        last = index;
    }
    return first;
}

void team_add_sequence(const struct option_reading *item, void *value, void *owner)
{
    struct team_build *b = owner;
    const char *name = option_name(item);
    (void)value;
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_TASKS); i++) {
        if (strcmp(team_nth(b, TEAM_OF_TASKS, i), name) == 0) {
            option_fault_at(item, "", FAULT_DUPLICATE_NAME,
                            "a task has this name, too; as a step it could be either");
        }
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(words[i].word, name) == 0) {
            option_fault_at(item, "", FAULT_RESERVED_NAME,
                            "it is a word of sequences, give it another name");
        }
    }
    struct team_sequence *sequence = TEAM_ADD(b, TEAM_OF_SEQUENCES, struct team_sequence);
    (void)snprintf(sequence->name, sizeof sequence->name, "%s", name);
    sequence->line = b->r->tree->nodes[item->node].key_line;
    if (!b->no_memory) {
        TEAM_ADD(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence)->node = item->node;
    }
}

void team_build_steps(struct team_build *b)
{
    char shown[OPTION_PREFIX_MAX];
    /* index 0 means "none" */
    (void)TEAM_ADD(b, TEAM_OF_WRITTEN, struct written_step);
    for (size_t i = 0; i < TEAM_COUNT(b, TEAM_OF_SEQUENCES) && !b->no_memory; i++) {
        const uint32_t node =
            TEAM_AT(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, i)->node;
        b->place = 0;
        (void)snprintf(shown, sizeof shown, "%ssequences.%.31s", b->shown,
                       tree_key(b->r->tree, node));
        const uint32_t first = read_list(b, (uint16_t)i, node, shown);
        TEAM_AT(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, i)->first = first;
    }
}
