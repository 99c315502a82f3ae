/* twin/team/check/team_static_check.c - explores all paths through one sequence.
 *
 * A state is a step and the class of the part in hand: each part that a condition names is a
 * class, and all others are one. In each state the same resources are held on every path. Two
 * paths can only differ behind a loop or an IdPrt, and then one of them has forgotten an
 * UnLock. So one visit per state is enough.
 */
#include "twin/team/check/team_static_check.h"

#include <assert.h>
#include <string.h>

#include "twin/team/check/lock_graph.h"
#include "twin/team/step/team_memory.h"

enum { HELD_ENTRIES_MAX = 1 << 20, REPORTED_MAX = 128 };

struct held {
    uint32_t step; /* step of the Lock */
    uint16_t resource;
};

struct visit { /* exploration of a state */
    uint32_t held_first, held_count;
    uint32_t inside; /* task after which the robot may be inside a zone; TEAM_NO_STEP: none */
    uint32_t mark;   /* in the search for zero-time loops: the walk that visited it */
    bool seen, queued;
    bool ends;  /* an end of the sequence is reachable */
    bool freed; /* `resource` can be freed from here */
};

enum purpose { REPORT_FAULTS, FIND_EDGES, REPORT_CYCLES };

struct walk {
    const struct team_params *p;
    const struct team_sequence *sequence;
    const struct team_faults *to;
    enum purpose purpose;
    struct lock_graph *graph;
    struct visit *visits; /* [(sequence->count + 1) * class_count] */
    uint32_t *queue;      /* [the same] */
    struct held *entries; /* [entries_max] */
    uint16_t *classes;    /* [class_count - 1] parts */
    size_t class_count, entry_count, entries_max, states_max, queue_count;
    struct held now[TEAM_HELD_MAX + TEAM_WANT_MAX]; /* held after the present step */
    size_t now_count;
    uint32_t inside;
    struct team_fault reported[REPORTED_MAX];
    size_t reported_count, faults;
    bool oversized;
};

/* --- memory ------------------------------------------------------------------------------ */

struct sizes { /* largest need of a sequence */
    size_t states, entries, conditions;
};

static size_t lesser_of(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t greater_of(size_t a, size_t b)
{
    return a > b ? a : b;
}

static struct sizes measure_team(const struct team_params *p)
{
    struct sizes most = {1, 1, 1};
    for (size_t s = 0; s < p->sequence_count; s++) {
        const struct team_sequence *sequence = &p->sequences[s];
        size_t locks = 0;
        size_t conditions = 0;
        for (uint32_t i = 0; i < sequence->count; i++) {
            const enum team_step_kind kind = p->steps[sequence->first + i].kind;
            locks += kind == TEAM_STEP_LOCK || kind == TEAM_STEP_UNLOCK ? 1 : 0;
            conditions += kind == TEAM_STEP_UNLESS ? 1 : 0;
        }
        const size_t classes = lesser_of(conditions, p->name_count) + 1;
        most.states = greater_of(most.states, (sequence->count + 1) * classes);
        most.entries = greater_of(most.entries, locks * classes * TEAM_HELD_MAX);
        most.conditions = greater_of(most.conditions, classes);
    }
    most.states = lesser_of(most.states, TEAM_PATH_STATES_MAX);
    most.entries = lesser_of(most.entries, HELD_ENTRIES_MAX);
    return most;
}

static size_t lay_out(const struct team_params *p, void *block, struct walk *w)
{
    const struct sizes n = measure_team(p);
    size_t used = 0;
    w->entries_max = n.entries;
    w->states_max = n.states;
    w->graph = team_memory_cut(block, &used, sizeof *w->graph);
    w->visits = team_memory_cut(block, &used, n.states * sizeof *w->visits);
    w->queue = team_memory_cut(block, &used, n.states * sizeof *w->queue);
    w->entries = team_memory_cut(block, &used, n.entries * sizeof *w->entries);
    w->classes = team_memory_cut(block, &used, n.conditions * sizeof *w->classes);
    return used;
}

size_t team_static_check_bytes(const struct team_params *p)
{
    struct walk none;
    return lay_out(p, NULL, &none);
}

static struct walk start_walk(const struct team_params *p, void *memory,
                              const struct team_faults *to)
{
    struct walk w = {.p = p, .to = to};
    (void)lay_out(p, memory, &w);
    return w;
}

/* --- states ------------------------------------------------------------------------------ */

static size_t class_of(const struct walk *w, uint16_t part)
{
    size_t i = 0;
    while (i + 1 < w->class_count && w->classes[i] != part) {
        i++;
    }
    return i;
}

/* Lists the parts that the sequence's conditions name; one class stands for all others. */
static void find_classes(struct walk *w)
{
    w->class_count = 1;
    for (uint32_t i = 0; i < w->sequence->count; i++) {
        const struct team_step *step = &w->p->steps[w->sequence->first + i];
        if (step->kind == TEAM_STEP_UNLESS && class_of(w, step->arg) == w->class_count - 1) {
            w->classes[w->class_count - 1] = step->arg;
            w->class_count++;
        }
    }
}

static size_t count_states(const struct walk *w)
{
    return (w->sequence->count + 1) * w->class_count;
}

/* Successors of a state. The part's class stays the same, except behind an IdPrt. */
struct following {
    size_t count;
    size_t pc[2];  /* positions in the sequence; its count: the end */
    bool any_part; /* any class of part can follow */
};

static struct following follow_state(const struct walk *w, size_t pc, size_t class)
{
    if (pc == w->sequence->count) {
        return (struct following){0};
    }
    const struct team_step *step = &w->p->steps[w->sequence->first + pc];
    const size_t to = step->to - w->sequence->first;
    struct following next = {.count = 1, .pc = {pc + 1, to}};
    if (step->kind == TEAM_STEP_TAKE) {
        next.any_part = true;
    } else if (step->kind == TEAM_STEP_GOTO) {
        next.pc[0] = to;
    } else if (step->kind == TEAM_STEP_UNLESS) {
        const bool is_part = class_of(w, step->arg) == class && class + 1 < w->class_count;
        next.pc[0] = is_part ? pc + 1 : to;
    } else if (step->kind == TEAM_STEP_LOOP) {
        next.count = step->times > 1 ? 2 : 1;
    }
    return next;
}

/* The robot's sequence can end here, at the latest when no part is left. */
static bool ends_here(const struct walk *w, size_t pc)
{
    if (pc == w->sequence->count) {
        return true;
    }
    const struct team_step *step = &w->p->steps[w->sequence->first + pc];
    return step->kind == TEAM_STEP_TAKE && step->retry_us == 0;
}

/* --- reporting --------------------------------------------------------------------------- */

static uint32_t step_at(const struct walk *w, size_t pc)
{
    return pc < w->sequence->count ? w->sequence->first + (uint32_t)pc : TEAM_NO_STEP;
}

/* Are they the same written step? A nested sequence has copies of its steps. */
static bool is_same_step(const struct team_params *p, uint32_t a, uint32_t b)
{
    if (a == TEAM_NO_STEP || b == TEAM_NO_STEP) {
        return a == b;
    }
    const struct team_step *one = &p->steps[a];
    const struct team_step *other = &p->steps[b];
    return a == b ||
           (one->place > 0 && one->place == other->place && one->sequence == other->sequence);
}

static bool was_reported(const struct walk *w, const struct team_fault *f)
{
    for (size_t i = 0; i < w->reported_count; i++) {
        const struct team_fault *t = &w->reported[i];
        if (t->kind == f->kind && t->resource == f->resource && t->held == f->held &&
            is_same_step(w->p, t->step, f->step) && is_same_step(w->p, t->other, f->other) &&
            (f->step != TEAM_NO_STEP || t->sequence == f->sequence)) {
            return true;
        }
    }
    return false;
}

static void report_fault(struct walk *w, enum team_fault_kind kind, uint32_t step,
                         uint32_t other, uint16_t resource, uint16_t held)
{
    const bool is_free = w->p->locking == TEAM_FREE;
    const bool warning = kind == TEAM_FAULT_NOT_LEFT || kind == TEAM_FAULT_NOT_REACHED ||
                         kind == TEAM_FAULT_DEADLOCK || (kind == TEAM_FAULT_MEETING && is_free);
    const struct team_fault fault = {.kind = kind,
                                     .warning = warning,
                                     .sequence = (uint16_t)(w->sequence - w->p->sequences),
                                     .step = step,
                                     .other = other,
                                     .resource = resource,
                                     .held = held};
    if ((w->purpose == REPORT_CYCLES) != (kind == TEAM_FAULT_DEADLOCK) ||
        was_reported(w, &fault)) {
        return;
    }
    if (w->reported_count < REPORTED_MAX) {
        w->reported[w->reported_count++] = fault;
    }
    w->faults += warning ? 0 : 1;
    w->to->emit(w->to->context, &fault);
}

/* --- effects of a step on held resources ------------------------------------------------- */

static const struct held *find_held(const struct held *list, size_t count, uint16_t resource)
{
    for (size_t i = 0; i < count; i++) {
        if (list[i].resource == resource) {
            return &list[i];
        }
    }
    return NULL;
}

/* Free locking: the owner of h may wait for r. A robot in several queues at once delays others
 * in each for all of them. */
static void add_edges(struct walk *w, const uint16_t *want, size_t count)
{
    const uint16_t sequence = (uint16_t)(w->sequence - w->p->sequences);
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < count; k++) {
            if (k != i) {
                lock_graph_add(w->graph, want[k], want[i], sequence, false);
            }
        }
        for (size_t k = 0; k < w->now_count; k++) {
            lock_graph_add(w->graph, w->now[k].resource, want[i], sequence, true);
        }
    }
}

static void report_cycle(struct walk *w, uint32_t step, const uint16_t *want, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        for (size_t k = 0; k < w->now_count; k++) {
            if (lock_graph_cycle(w->graph, w->p, w->now[k].resource, want[i])) {
                report_fault(w, TEAM_FAULT_DEADLOCK, step, w->now[k].step, want[i],
                             w->now[k].resource);
                return;
            }
        }
        if (i > 0 && lock_graph_cycle(w->graph, w->p, want[0], want[i])) {
            report_fault(w, TEAM_FAULT_DEADLOCK, step, TEAM_NO_STEP, want[i], want[0]);
            return;
        }
    }
}

/* Checks the team's locking rule: ordered or at_once. Free locking excludes nothing. */
static void check_locking_rule(struct walk *w, uint32_t step, const uint16_t *want,
                               size_t count)
{
    const struct held *last = NULL;
    uint16_t least = want[0];
    for (size_t k = 0; k < w->now_count; k++) {
        last = !last || w->now[k].resource > last->resource ? &w->now[k] : last;
    }
    for (size_t i = 1; i < count; i++) {
        least = want[i] < least ? want[i] : least;
    }
    if (last && w->p->locking == TEAM_AT_ONCE) {
        report_fault(w, TEAM_FAULT_NESTED, step, last->step, least, last->resource);
    } else if (last && w->p->locking == TEAM_ORDERED && least < last->resource) {
        report_fault(w, TEAM_FAULT_ORDER, step, last->step, least, last->resource);
    }
}

static void apply_locks(struct walk *w, uint32_t at, const struct team_step *step)
{
    uint16_t want[TEAM_WANT_MAX];
    size_t count = 0;
    for (uint32_t i = 0; i < step->resource_count && i < TEAM_WANT_MAX; i++) {
        const uint16_t resource = w->p->lists[step->first_resource + i];
        const struct held *held = find_held(w->now, w->now_count, resource);
        if (held) {
            report_fault(w, TEAM_FAULT_DOUBLE_LOCK, at, held->step, resource, TEAM_NONE);
        } else {
            want[count++] = resource;
        }
    }
    if (count == 0) {
        return;
    }
    check_locking_rule(w, at, want, count);
    if (w->purpose == FIND_EDGES) {
        add_edges(w, want, count);
    } else if (w->purpose == REPORT_CYCLES) {
        report_cycle(w, at, want, count);
    }
    for (size_t i = 0; i < count; i++) {
        w->now[w->now_count++] = (struct held){at, want[i]};
    }
}

/* Has the last task moved the robot to another place that it holds? */
static bool is_elsewhere(const struct walk *w, uint16_t resource)
{
    const char *arg = team_name(w->p, w->p->steps[w->inside].arg);
    for (size_t i = 0; i < w->now_count; i++) {
        const uint16_t other = w->now[i].resource;
        if (other != resource && strcmp(arg, w->p->resources[other].name) == 0) {
            return true;
        }
    }
    return false;
}

static void apply_unlocks(struct walk *w, uint32_t at, const struct team_step *step)
{
    for (uint32_t i = 0; i < step->resource_count; i++) {
        const uint16_t resource = w->p->lists[step->first_resource + i];
        const bool place = w->p->resources[resource].kind == TEAM_ZONE;
        const struct held *held = find_held(w->now, w->now_count, resource);
        if (!held) {
            report_fault(w, TEAM_FAULT_NOT_OWNER, at, TEAM_NO_STEP, resource, TEAM_NONE);
            continue;
        }
        if (place && w->inside != TEAM_NO_STEP && !is_elsewhere(w, resource)) {
            report_fault(w, TEAM_FAULT_NOT_LEFT, at, w->inside, resource, TEAM_NONE);
        }
        const size_t k = (size_t)(held - w->now);
        w->now_count--;
        memmove(&w->now[k], &w->now[k + 1], (w->now_count - k) * sizeof w->now[0]);
    }
}

/* Is the task safe wherever a robot goes for it? */
static bool is_safe(const struct team_params *p, const struct team_step *step)
{
    const struct team_task_params *task = &p->tasks[step->task];
    bool any = false;
    for (size_t i = 0; i < p->position_count && task->to_position && !task->safe; i++) {
        if (p->positions[i].name == step->arg && !p->positions[i].safe) {
            return false;
        }
        any = any || p->positions[i].name == step->arg;
    }
    return task->safe || any;
}

static void apply_task(struct walk *w, uint32_t at, const struct team_step *step)
{
    if (is_safe(w->p, step)) {
        w->inside = TEAM_NO_STEP;
    } else if (w->now_count > 0) {
        w->inside = at;
    }
}

static void check_held_at(struct walk *w, uint32_t other)
{
    for (size_t i = 0; i < w->now_count; i++) {
        report_fault(w, TEAM_FAULT_NEVER_RELEASED, w->now[i].step, other, w->now[i].resource,
                     TEAM_NONE);
    }
}

static void apply_step(struct walk *w, size_t pc)
{
    const uint32_t at = step_at(w, pc);
    if (ends_here(w, pc)) {
        check_held_at(w, at);
    }
    if (at == TEAM_NO_STEP) {
        return;
    }
    const struct team_step *step = &w->p->steps[at];
    const bool meets = step->kind == TEAM_STEP_MEET || step->kind == TEAM_STEP_TOGETHER;
    if (step->kind == TEAM_STEP_LOCK) {
        apply_locks(w, at, step);
    } else if (step->kind == TEAM_STEP_UNLOCK) {
        apply_unlocks(w, at, step);
    } else if (meets && w->now_count > 0) {
        report_fault(w, TEAM_FAULT_MEETING, at, w->now[0].step, TEAM_NONE, w->now[0].resource);
    }
    if (team_step_acts(step)) {
        apply_task(w, at, step);
    }
}

/* --- all paths --------------------------------------------------------------------------- */

static bool is_held_in(const struct walk *w, const struct visit *visit, uint16_t resource)
{
    return find_held(w->entries + visit->held_first, visit->held_count, resource) != NULL;
}

static bool is_same_held(const struct walk *w, const struct visit *visit)
{
    for (size_t i = 0; i < w->now_count; i++) {
        if (!is_held_in(w, visit, w->now[i].resource)) {
            return false;
        }
    }
    return visit->held_count == w->now_count;
}

/* Two paths meet, and one of them has forgotten an UnLock. */
static void report_forgotten(struct walk *w, const struct visit *visit, size_t pc)
{
    for (size_t i = 0; i < w->now_count; i++) {
        if (!is_held_in(w, visit, w->now[i].resource)) {
            report_fault(w, TEAM_FAULT_NEVER_RELEASED, w->now[i].step, step_at(w, pc),
                         w->now[i].resource, TEAM_NONE);
        }
    }
    for (uint32_t i = 0; i < visit->held_count; i++) {
        const struct held *held = &w->entries[visit->held_first + i];
        if (!find_held(w->now, w->now_count, held->resource)) {
            report_fault(w, TEAM_FAULT_NEVER_RELEASED, held->step, step_at(w, pc),
                         held->resource, TEAM_NONE);
        }
    }
}

/* from: the previous state, whose entries remain valid if nothing was locked or freed. */
static void reach_state(struct walk *w, size_t pc, size_t class, const struct visit *from)
{
    const size_t state = pc * w->class_count + class;
    struct visit *visit = &w->visits[state];
    const bool changed =
        visit->seen && visit->inside == TEAM_NO_STEP && w->inside != TEAM_NO_STEP;
    if (visit->seen && !is_same_held(w, visit)) {
        report_forgotten(w, visit, pc);
        return;
    }
    if (!visit->seen && from && is_same_held(w, from)) {
        visit->held_first = from->held_first;
        visit->held_count = from->held_count;
    } else if (!visit->seen) {
        if (w->now_count > TEAM_HELD_MAX || w->now_count > w->entries_max - w->entry_count) {
            w->oversized = true;
            return;
        }
        visit->held_first = (uint32_t)w->entry_count;
        visit->held_count = (uint32_t)w->now_count;
        memcpy(w->entries + w->entry_count, w->now, w->now_count * sizeof w->now[0]);
        w->entry_count += w->now_count;
    }
    if (!visit->seen || changed) {
        visit->inside = w->inside;
        if (!visit->queued) {
            visit->queued = true;
            w->queue[w->queue_count++] = (uint32_t)state;
        }
    }
    visit->seen = true;
}

static void leave_state(struct walk *w, size_t state)
{
    const size_t pc = state / w->class_count;
    const size_t class = state % w->class_count;
    struct visit *visit = &w->visits[state];
    visit->queued = false;
    w->inside = visit->inside;
    w->now_count = visit->held_count;
    memcpy(w->now, w->entries + visit->held_first, visit->held_count * sizeof w->now[0]);
    apply_step(w, pc);
    const struct following next = follow_state(w, pc, class);
    for (size_t i = 0; i < next.count; i++) {
        const size_t first = next.any_part ? 0 : class;
        const size_t last = next.any_part ? w->class_count - 1 : class;
        for (size_t c = first; c <= last; c++) {
            reach_state(w, next.pc[i], c, visit);
        }
    }
}

/* Visits every state; false: too many, which is reported. */
static bool visit_states(struct walk *w)
{
    const size_t states = count_states(w);
    w->oversized = states > w->states_max;
    if (!w->oversized) {
        memset(w->visits, 0, states * sizeof w->visits[0]);
        w->entry_count = 0;
        w->queue_count = 0;
        w->now_count = 0;
        w->inside = TEAM_NO_STEP;
        for (size_t class = 0; class < w->class_count; class ++) {
            reach_state(w, 0, class, NULL);
        }
    }
    while (w->queue_count > 0 && !w->oversized) {
        leave_state(w, w->queue[--w->queue_count]);
    }
    if (w->oversized) {
        report_fault(w, TEAM_FAULT_TOO_LARGE, TEAM_NO_STEP, TEAM_NO_STEP, TEAM_NONE, TEAM_NONE);
    }
    return !w->oversized;
}

/* --- endless cycles ---------------------------------------------------------------------- */

/* Does a successor have the flag? */
static bool follows_flag(const struct walk *w, size_t state, bool freed)
{
    const size_t class = state % w->class_count;
    const struct following next = follow_state(w, state / w->class_count, class);
    for (size_t i = 0; i < next.count; i++) {
        const size_t first = next.any_part ? 0 : class;
        const size_t last = next.any_part ? w->class_count - 1 : class;
        for (size_t c = first; c <= last; c++) {
            const struct visit *visit = &w->visits[next.pc[i] * w->class_count + c];
            if (visit->seen && (freed ? visit->freed : visit->ends)) {
                return true;
            }
        }
    }
    return false;
}

/* Sets the flag of the states that lead to one with it, backwards until nothing changes. */
static void spread_flag(struct walk *w, bool freed)
{
    for (bool added = true; added;) {
        added = false;
        for (size_t state = count_states(w); state-- > 0;) {
            struct visit *visit = &w->visits[state];
            bool *flag = freed ? &visit->freed : &visit->ends;
            if (visit->seen && !*flag && follows_flag(w, state, freed)) {
                *flag = added = true;
            }
        }
    }
}

/* Marks the states that can reach an end. */
static void mark_ends(struct walk *w)
{
    for (size_t state = 0; state < count_states(w); state++) {
        w->visits[state].ends = w->visits[state].seen && ends_here(w, state / w->class_count);
    }
    spread_flag(w, false);
}

/* Marks the states from which the resource can be freed. */
static void mark_freed(struct walk *w, uint16_t resource)
{
    for (size_t state = 0; state < count_states(w); state++) {
        struct visit *visit = &w->visits[state];
        visit->freed = visit->seen && (visit->ends || !is_held_in(w, visit, resource));
    }
    spread_flag(w, true);
}

/* Reports once the Locks of a resource that is held where no end is reachable and no path frees
 * it. */
static void check_resource_freed(struct walk *w, uint16_t resource)
{
    mark_freed(w, resource);
    for (size_t state = 0; state < count_states(w); state++) {
        const struct visit *visit = &w->visits[state];
        const struct held *held =
            find_held(w->entries + visit->held_first, visit->held_count, resource);
        if (visit->seen && !visit->freed && held) {
            report_fault(w, TEAM_FAULT_NEVER_RELEASED, held->step, TEAM_NO_STEP, resource,
                         TEAM_NONE);
        }
    }
}

static void check_never_released(struct walk *w)
{
    uint64_t asked[LOCK_GRAPH_WORDS] = {0};
    for (size_t state = 0; state < count_states(w); state++) {
        const struct visit *visit = &w->visits[state];
        for (uint32_t i = 0; visit->seen && !visit->ends && i < visit->held_count; i++) {
            const uint16_t resource = w->entries[visit->held_first + i].resource;
            if (!lock_graph_has(asked, resource)) {
                lock_graph_set(asked, resource);
                check_resource_freed(w, resource);
            }
        }
    }
}

static bool needs_time(const struct walk *w, size_t pc)
{
    const struct team_step *step = &w->p->steps[w->sequence->first + pc];
    return pc == w->sequence->count || team_step_acts(step) || step->kind == TEAM_STEP_TAKE;
}

/* Zero-time steps have one successor (a counted loop ends), so a zero-time cycle is found by
 * following them until a state of the same walk repeats. */
static void check_zero_time(struct walk *w)
{
    uint32_t walks = 0;
    for (size_t start = 0; start < count_states(w); start++) {
        size_t state = start;
        size_t furthest = start / w->class_count;
        walks++;
        while (w->visits[state].seen && w->visits[state].mark == 0 &&
               !needs_time(w, state / w->class_count)) {
            const size_t pc = state / w->class_count;
            w->visits[state].mark = walks;
            furthest = greater_of(furthest, pc);
            const struct following next = follow_state(w, pc, state % w->class_count);
            state = next.pc[0] * w->class_count + state % w->class_count;
        }
        if (w->visits[state].mark == walks) {
            report_fault(w, TEAM_FAULT_ZERO_TIME, step_at(w, state / w->class_count),
                         step_at(w, furthest), TEAM_NONE, TEAM_NONE);
        }
    }
}

/* Reports unreachable written steps, the first of each group. */
static void check_reached(struct walk *w)
{
    bool before = true;
    for (size_t pc = 0; pc < w->sequence->count; pc++) {
        const struct team_step *step = &w->p->steps[w->sequence->first + pc];
        bool seen = step->kind == TEAM_STEP_GOTO || step->kind == TEAM_STEP_UNLESS ||
                    step->kind == TEAM_STEP_LOOP;
        if (seen) {
            continue; /* conditions and loops are reported by their steps */
        }
        for (size_t c = 0; c < w->class_count; c++) {
            seen = seen || w->visits[pc * w->class_count + c].seen;
        }
        if (!seen && before) {
            report_fault(w, TEAM_FAULT_NOT_REACHED, step_at(w, pc), TEAM_NO_STEP, TEAM_NONE,
                         TEAM_NONE);
        }
        before = seen;
    }
}

/* --- sequences --------------------------------------------------------------------------- */

static void walk_sequence(struct walk *w, size_t sequence, enum purpose purpose)
{
    w->sequence = &w->p->sequences[sequence];
    w->purpose = purpose;
    find_classes(w);
    if (visit_states(w) && purpose == REPORT_FAULTS) {
        mark_ends(w);
        check_never_released(w);
        check_zero_time(w);
        check_reached(w);
    }
}

static void walk_all(struct walk *w, enum purpose purpose)
{
    for (size_t s = 0; s < w->p->sequence_count; s++) {
        if (!w->p->sequences[s].part) {
            walk_sequence(w, s, purpose);
        }
    }
}

size_t team_static_check(const struct team_params *p, void *memory,
                         const struct team_faults *to)
{
    struct walk w = start_walk(p, memory, to);
    walk_all(&w, REPORT_FAULTS);
    if (p->locking == TEAM_FREE && w.faults == 0) {
        lock_graph_start(w.graph);
        walk_all(&w, FIND_EDGES);
        lock_graph_close(w.graph, p->resource_count);
        walk_all(&w, REPORT_CYCLES);
    }
    return w.faults;
}

size_t team_static_check_sequence(const struct team_params *p, uint16_t sequence, void *memory,
                                  const struct team_faults *to)
{
    struct walk w = start_walk(p, memory, to);
    assert(sequence < p->sequence_count);
    walk_sequence(&w, sequence, REPORT_FAULTS);
    return w.faults;
}
