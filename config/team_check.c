/* What must fit together in a team: who can do what, and the discipline of its sequences. */
#include <stdlib.h>
#include <string.h>

#include "base/names.h"
#include "config/team_values.h"
#include "twin/team/team_discipline.h"

/* --- parts ------------------------------------------------------------------------------- */

static bool has_part(const struct team_params *p, uint32_t first, uint32_t count, uint16_t part)
{
    for (uint32_t i = 0; i < count; i++) {
        if (p->lists[first + i] == part) {
            return true;
        }
    }
    return false;
}

/* By what it handles, or by a tool that a sequence may give it: of its own, or any when it
 * takes jobs. */
static bool can_handle(const struct team_params *p, const struct team_robot_params *robot,
                       uint16_t part)
{
    const bool own = robot->sequence != TEAM_NONE;
    const struct team_sequence *sequence = own ? &p->sequences[robot->sequence] : NULL;
    const size_t first = own ? sequence->first : 0;
    const size_t end = own ? first + sequence->count : p->step_count;
    if (robot->handles_all || has_part(p, robot->first_handled, robot->handled_count, part)) {
        return true;
    }
    for (size_t i = first; i < end; i++) {
        if (p->steps[i].kind == TEAM_STEP_TOOL && p->steps[i].arg == part) {
            return true;
        }
    }
    return false;
}

static const struct team_buffer *find_buffer(const struct team_params *p, uint16_t name)
{
    for (size_t i = 0; i < p->buffer_count; i++) {
        if (p->buffers[i].name == name) {
            return &p->buffers[i];
        }
    }
    return NULL;
}

/* A buffer with parts none of which the robot can handle. */
static void check_parts(struct team_build *b, size_t robot)
{
    const struct team_params *p = &b->params;
    const struct team_robot_params *r = &p->robots[robot];
    const struct team_sequence *sequence = &p->sequences[r->sequence];
    for (uint32_t i = 0; i < sequence->count; i++) {
        const struct team_step *step = &p->steps[sequence->first + i];
        const struct team_buffer *buffer =
            step->kind == TEAM_STEP_TAKE ? find_buffer(p, step->arg) : NULL;
        bool any = !buffer || buffer->part_count == 0;
        for (uint32_t k = 0; !any && k < buffer->part_count; k++) {
            any = can_handle(p, r, p->lists[buffer->first_part + k]);
        }
        if (!any) {
            option_fault(
                b->r, ((uint32_t *)b->robot_nodes.items)[robot],
                "%srobots.%s: sequence %s takes parts from %s (line %u), and the robot "
                "handles none of them; add one to handles",
                b->shown, r->name, sequence->name, team_name(p, step->arg),
                (unsigned)step->line);
            return;
        }
    }
}

static void check_robots(struct team_build *b)
{
    const struct team_params *p = &b->params;
    for (size_t i = 0; i < p->robot_count; i++) {
        const uint32_t node = ((uint32_t *)b->robot_nodes.items)[i];
        const char *pair = p->robots[i].pair;
        if (pair[0] && !team_is_id(pair)) {
            option_fault(b->r, node,
                         "%srobots.%s.pair: an id has 1 to 31 letters, digits, '_' "
                         "or '-'",
                         b->shown, p->robots[i].name);
        }
        if (p->robots[i].sequence != TEAM_NONE) {
            check_parts(b, i);
        }
    }
}

/* Robots that could take the job at some time; home: that it is meant for, TEAM_NONE: any. */
static bool has_taker(const struct team_params *p, const struct team_job *job, uint16_t home)
{
    for (size_t i = 0; i < p->robot_count; i++) {
        if ((home == TEAM_NONE || home == i) && p->robots[i].sequence == TEAM_NONE &&
            can_handle(p, &p->robots[i], job->part)) {
            return true;
        }
    }
    return false;
}

static void check_jobs(struct team_build *b)
{
    const struct team_params *p = &b->params;
    const uint32_t *nodes = b->job_nodes.items;
    for (size_t i = 0; i < p->job_count; i++) {
        const struct team_job *job = &p->jobs[i];
        const char *part = team_name(p, job->part);
        if (i > 0 && nodes[i] == nodes[i - 1]) {
            continue; /* of one count */
        }
        if (job->home != TEAM_NONE && p->robots[job->home].sequence != TEAM_NONE) {
            option_fault(b->r, nodes[i],
                         "%sjobs: home %s has a sequence of its own and takes no jobs",
                         b->shown, p->robots[job->home].name);
        } else if (job->home != TEAM_NONE && !has_taker(p, job, job->home)) {
            option_fault(b->r, nodes[i],
                         "%sjobs: home %s cannot handle %s; add it to its handles, or name "
                         "another home",
                         b->shown, p->robots[job->home].name, part);
        } else if (!has_taker(p, job, TEAM_NONE)) {
            option_fault(b->r, nodes[i],
                         "%sjobs: no robot without a sequence of its own can handle %s",
                         b->shown, part);
        }
    }
}

/* --- the discipline ---------------------------------------------------------------------- */

struct telling {
    struct team_build *b;
    struct err_list *warnings;
};

static void tell_fault(void *context, const struct team_fault *fault)
{
    const struct telling *t = context;
    struct option_reader *r = t->b->r;
    const uint32_t *nodes = t->b->step_nodes.items;
    const struct written_sequence *sequences = t->b->sequences.items;
    const uint32_t node = fault->step < t->b->params.step_count
                              ? nodes[fault->step]
                              : sequences[fault->sequence].node;
    const struct tree_node *at = &r->tree->nodes[node];
    char text[TEAM_FAULT_TEXT_MAX];
    team_fault_text(&t->b->params, fault, text);
    if (fault->warning) {
        (void)err_list_add(t->warnings, STATUS_OK, r->file, at->line, at->column, "warning: %s",
                           text);
    } else {
        option_fault(r, node, "%s", text);
    }
}

static void ignore_fault(void *context, const struct team_fault *fault)
{
    (void)context;
    (void)fault;
}

/* A sequence that robots or jobs run is not a part, whatever else uses it. */
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

static void check_discipline(struct team_build *b, struct err_list *warnings)
{
    const struct team_params *p = &b->params;
    const struct team_faults none = {ignore_fault, NULL};
    struct telling telling = {b, warnings};
    void *memory = malloc(team_discipline_bytes(p));
    if (!memory) {
        b->no_memory = true;
        return;
    }
    for (size_t i = 0; i < p->sequence_count; i++) {
        if (((struct written_sequence *)b->sequences.items)[i].used && !is_run(p, i)) {
            TEAM_AT(b, TEAM_OF_SEQUENCES, struct team_sequence, i)->part =
                team_discipline_sequence(p, (uint16_t)i, memory, &none) > 0;
        }
    }
    (void)team_discipline(p, memory, &(struct team_faults){tell_fault, &telling});
    free(memory);
}

void team_build_check(struct team_build *b, struct err_list *warnings)
{
    check_robots(b);
    check_jobs(b);
    check_discipline(b, warnings);
}
