/* config/team/team_check.c - checks that a team is consistent: abilities of its robots, and the
 * static check of its sequences. */
#include <stdlib.h>
#include <string.h>

#include "base/text/names.h"
#include "config/team/team_values.h"
#include "twin/team/check/team_ability.h"
#include "twin/team/check/team_static_check.h"

/* --- parts ------------------------------------------------------------------------------- */

/* Reports a buffer none of whose parts the robot can handle. */
static void check_parts(struct team_build *b, size_t robot)
{
    const struct team_params *p = &b->params;
    const struct team_robot_params *r = &p->robots[robot];
    const struct team_step *step = team_find_unhandled_step(p, (uint16_t)robot, r->sequence);
    if (step) {
        option_fault(b->r, *TEAM_AT(b, TEAM_OF_ROBOT_NODES, uint32_t, robot),
                     FAULT_PART_NOT_HANDLED,
                     "%srobots.%s: sequence %s takes parts from %s (line %u), and the robot "
                     "handles none of them; add one to handles",
                     b->shown, r->name, p->sequences[r->sequence].name, team_name(p, step->arg),
                     (unsigned)step->line);
    }
}

static void check_robots(struct team_build *b)
{
    const struct team_params *p = &b->params;
    for (size_t i = 0; i < p->robot_count; i++) {
        const uint32_t node = *TEAM_AT(b, TEAM_OF_ROBOT_NODES, uint32_t, i);
        const char *pair = p->robots[i].pair;
        if (pair[0] && !option_is_name(OPTION_ID, pair)) {
            option_fault(b->r, node, FAULT_BAD_NAME,
                         "%srobots.%s.pair: an id has 1 to 31 letters, digits, '_' "
                         "or '-'",
                         b->shown, p->robots[i].name);
        }
        if (p->robots[i].sequence != TEAM_NONE) {
            check_parts(b, i);
        }
    }
}

static void check_jobs(struct team_build *b)
{
    const uint32_t *nodes = b->memory.arrays[TEAM_OF_JOB_NODES].items;
    for (size_t i = 0; i < b->params.job_count; i++) {
        char why[TEAM_JOB_FAULT_MAX];
        /* one entry with `count` made both */
        const bool again = i > 0 && nodes[i] == nodes[i - 1];
        if (!again && team_job_fault(&b->params, &b->params.jobs[i], why)) {
            option_fault(b->r, nodes[i], FAULT_BAD_JOB, "%sjobs: %s", b->shown, why);
        }
    }
}

/* --- the locking rule ------------------------------------------------------------------- */

struct fault_context {
    struct team_build *b;
    struct err_list *warnings;
};

static void report_fault(void *context, const struct team_fault *fault)
{
    const struct fault_context *t = context;
    struct option_reader *r = t->b->r;
    const uint32_t node =
        fault->step < t->b->params.step_count
            ? *TEAM_AT(t->b, TEAM_OF_STEP_NODES, uint32_t, fault->step)
            : TEAM_AT(t->b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, fault->sequence)
                  ->node;
    const struct tree_node *at = &r->tree->nodes[node];
    char text[TEAM_FAULT_TEXT_MAX];
    team_fault_text(&t->b->params, fault, text);
    if (fault->warning) {
        (void)err_list_add(t->warnings, STATUS_OK, (enum fault)fault->kind, r->file, at->line,
                           at->column, "warning: %s", text);
    } else {
        option_fault(r, node, (enum fault)fault->kind, "%s", text);
    }
}

static void ignore_fault(void *context, const struct team_fault *fault)
{
    (void)context;
    (void)fault;
}

/* A sequence that a robot or job runs is never only a part of another. */
static bool is_run(const struct team_params *p, size_t sequence)
{
    for (size_t i = 0; i < p->robot_count; i++) {
        if (p->robots[i].sequence == sequence) {
            return true;
        }
    }
    for (size_t i = 0; i < p->job_count; i++) {
        if (p->jobs[i].sequence == sequence) {
            return true;
        }
    }
    return false;
}

static void check_static_rules(struct team_build *b, struct err_list *warnings)
{
    const struct team_params *p = &b->params;
    const struct team_faults none = {ignore_fault, NULL};
    struct fault_context fault_context = {b, warnings};
    void *memory = malloc(team_static_check_bytes(p));
    if (!memory) {
        b->no_memory = true;
        return;
    }
    for (size_t i = 0; i < p->sequence_count; i++) {
        if (TEAM_AT(b, TEAM_OF_WRITTEN_SEQUENCES, struct written_sequence, i)->used &&
            !is_run(p, i)) {
            TEAM_AT(b, TEAM_OF_SEQUENCES, struct team_sequence, i)->part =
                team_static_check_sequence(p, (uint16_t)i, memory, &none) > 0;
        }
    }
    (void)team_static_check(p, memory, &(struct team_faults){report_fault, &fault_context});
    free(memory);
}

void team_build_check(struct team_build *b, struct err_list *warnings)
{
    check_robots(b);
    check_jobs(b);
    check_static_rules(b, warnings);
}
