/* twin/machine/machine_stack.c - checks the stack at every arc that pops it.
 *
 * It explores every stack that some choice of arcs can reach, shortest paths first, ignoring
 * guards.
 */
#include <stdio.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "twin/machine/machine_checks_parts.h"

static bool is_same_case(const struct stack_case *a, const struct stack_case *b)
{
    return a->state == b->state && a->depth == b->depth &&
           memcmp(a->stack, b->stack, a->depth) == 0;
}

static void add_case(struct stack_search *s, const struct stack_case *found)
{
    const uint64_t hash =
        hash_bytes(hash_bytes(HASH_START, &found->state, 1), found->stack, found->depth);
    uint32_t *bucket = &s->buckets[hash % STACK_BUCKETS];
    for (uint32_t i = *bucket; i != 0; i = s->cases[i - 1].next) {
        if (is_same_case(&s->cases[i - 1], found)) {
            return;
        }
    }
    if (s->count == MACHINE_STACKS_MAX) {
        s->cut = true;
        return;
    }
    s->cases[s->count] = *found;
    s->cases[s->count].next = *bucket;
    *bucket = ++s->count;
}

/* Writes "START > P1_1 > P1_3", cut at 120. */
static void describe_path(const struct checks *c, const struct stack_case *end, char out[128])
{
    enum { PATH_CHARS_MAX = 119 };
    const struct stack_case *cases = c->search.cases;
    size_t steps = 1;
    size_t n = 0;
    for (const struct stack_case *at = end; at->before != 0; at = &cases[at->before - 1]) {
        steps++;
    }
    for (size_t i = 0; i < steps && n <= PATH_CHARS_MAX; i++) {
        const struct stack_case *at = end;
        for (size_t back = steps - 1; back > i; back--) {
            at = &cases[at->before - 1];
        }
        n += (size_t)snprintf(out + n, 128 - n, "%s%s", i == 0 ? "" : " > ",
                              checks_state(c, at->state));
    }
    if (n > PATH_CHARS_MAX) {
        memcpy(out + PATH_CHARS_MAX - 2, "...", 4);
    }
}

static void report_arc(struct checks *c, size_t arc, const struct stack_case *at, bool empty)
{
    const struct machine *m = c->machine;
    char path[128];
    if (c->search.reported[arc][empty ? 1 : 2]) {
        return;
    }
    c->search.reported[arc][empty ? 1 : 2] = true;
    describe_path(c, at, path);
    if (empty) {
        machine_diagnostics_add(
            checks_list(c), "W-STACK-EMPTY", m->arcs[arc].place,
            "%s: '%.240s' finds %d on the stack and pops more when the machine comes by %s",
            checks_state(c, at->state), m->table_arcs[arc].label, at->depth, path);
    } else {
        machine_diagnostics_add(checks_list(c), "W-STACK-FULL", m->arcs[arc].place,
                                "%s: '%.240s' finds %d on the stack of %d and pushes %d more "
                                "when the machine comes by %s",
                                checks_state(c, at->state), m->table_arcs[arc].label, at->depth,
                                EFSM_STACK_MAX, m->table_arcs[arc].push_count, path);
    }
}

/* Applies an arc to a case. */
static void follow_arc(struct checks *c, size_t i, uint32_t from)
{
    const struct efsm_arc *arc = &c->machine->table_arcs[i];
    const struct stack_case *at = &c->search.cases[from];
    struct stack_case to = *at;
    const bool to_top = arc->to == EFSM_POP;
    to.before = from + 1;
    to.depth = arc->empties ? 0 : at->depth;
    if (arc->empties && to_top && arc->push_count == 0) {
        if (!c->search.reported[i][0]) {
            c->search.reported[i][0] = true;
            machine_diagnostics_add(checks_list(c), "E-STACK", c->machine->arcs[i].place,
                                    "%s: '%.240s' empties the stack and then goes to its top",
                                    checks_state(c, at->state), arc->label);
        }
        return;
    }
    const int left = to.depth - arc->pops;
    const bool empty = left < 0 || (to_top && left + arc->push_count < 1);
    if (empty || left + arc->push_count > EFSM_STACK_MAX) {
        report_arc(c, i, at, empty);
        return;
    }
    to.depth = (uint8_t)left;
    for (size_t k = 0; k < arc->push_count; k++) {
        to.stack[to.depth++] = arc->push[k];
    }
    to.state = to_top ? to.stack[--to.depth] : arc->to;
    add_case(&c->search, &to);
}

static void report_never_reached(struct checks *c)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < c->search.count; i++) {
        seen |= UINT64_C(1) << c->search.cases[i].state;
    }
    for (size_t i = 0; i < c->machine->draft.state_count; i++) {
        if ((c->reached & ~seen) >> i & 1U) {
            machine_diagnostics_add(
                checks_list(c), "W-NEVER-REACHED", c->machine->states[i].place,
                "%s is pushed, but never comes to the top", checks_state(c, (uint8_t)i));
        }
    }
}

void check_stack(struct checks *c)
{
    const struct efsm_table *table = &c->machine->table;
    struct stack_search *s = &c->search;
    bool used = false;
    for (size_t i = 0; i < table->arc_count; i++) {
        const struct efsm_arc *arc = &table->arcs[i];
        used =
            used || arc->push_count > 0 || arc->pops > 0 || arc->empties || arc->to == EFSM_POP;
    }
    if (!used) {
        return;
    }
    s->count = 0;
    s->cut = false;
    memset(s->buckets, 0, sizeof s->buckets);
    memset(s->reported, 0, sizeof s->reported);
    add_case(s, &(struct stack_case){.state = table->initial});
    for (uint32_t at = 0; at < s->count; at++) {
        for (size_t i = 0; i < table->arc_count; i++) {
            if (table->arcs[i].from == s->cases[at].state) {
                follow_arc(c, i, at);
            }
        }
    }
    if (s->cut) {
        machine_diagnostics_add(checks_list(c), "W-TOO-MANY-CASES", c->machine->draft.place,
                                "there are more than %d stacks: not checked exhaustively",
                                MACHINE_STACKS_MAX);
    } else {
        report_never_reached(c);
    }
}
