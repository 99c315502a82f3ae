/* Is a table of arcs well formed, and are bytes a machine of it? */
#ifndef TESTS_SUPPORT_EFSM_CHECK_H
#define TESTS_SUPPORT_EFSM_CHECK_H

#include <string.h>

#include "twin/efsm/efsm.h"

static inline bool is_blank(const char *text)
{
    return !text || *text == '\0';
}

static inline const char *check_states(const struct efsm_table *table)
{
    if (!table->states || table->state_count == 0) {
        return "there is no state";
    }
    if (table->state_count > EFSM_STATES_MAX) {
        return "more states than EFSM_STATES_MAX";
    }
    if (table->initial >= table->state_count) {
        return "the initial state is out of range";
    }
    for (size_t i = 0; i < table->state_count; i++) {
        const char *name = table->states[i].name;
        if (is_blank(name)) {
            return "a state has no name";
        }
        if (strncmp(name, "__", 2) == 0) {
            return "a state's name begins with __, as those of the engine's sinks do";
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(name, table->states[k].name) == 0) {
                return "two states have the same name";
            }
        }
    }
    return NULL;
}

static inline const char *check_cells(const struct efsm_table *table)
{
    if (table->cell_count > EFSM_CELLS_MAX) {
        return "more variables than EFSM_CELLS_MAX";
    }
    if (table->cell_count > 0 && !table->cells) {
        return "the variables have no names";
    }
    for (size_t i = 0; i < table->cell_count; i++) {
        if (is_blank(table->cells[i])) {
            return "a variable has no name";
        }
        for (size_t k = 0; k < i; k++) {
            if (strcmp(table->cells[i], table->cells[k]) == 0) {
                return "two variables have the same name";
            }
        }
    }
    return NULL;
}

static inline const char *check_arc(const struct efsm_table *table, const struct efsm_arc *arc)
{
    if (arc->from >= table->state_count) {
        return "an arc comes from a state out of range";
    }
    if (arc->to >= table->state_count && arc->to != EFSM_POP) {
        return "an arc goes to a state out of range";
    }
    if (is_blank(arc->label)) {
        return "an arc has no label";
    }
    if (arc->push_count > EFSM_PUSH_MAX) {
        return "an arc pushes more than EFSM_PUSH_MAX states";
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        if (arc->push[i] >= table->state_count) {
            return "an arc pushes a state out of range";
        }
    }
    if (arc->empties && arc->pops > 0) {
        return "an arc empties the stack and pops from it";
    }
    if (arc->empties && arc->to == EFSM_POP && arc->push_count == 0) {
        return "an arc goes to the top of the stack that it has emptied";
    }
    if (arc->pops > EFSM_STACK_MAX) {
        return "an arc pops more than EFSM_STACK_MAX states";
    }
    if (table->states[arc->from].final) {
        return "an arc leaves a final state";
    }
    return NULL;
}

static inline const char *check_arcs(const struct efsm_table *table)
{
    unsigned leaving[EFSM_STATES_MAX] = {0};
    bool unguarded[EFSM_STATES_MAX] = {false};

    if (table->arc_count >= EFSM_NO_ARC) {
        return "more than 254 arcs";
    }
    if (table->arc_count > 0 && !table->arcs) {
        return "the arcs are missing";
    }
    for (size_t i = 0; i < table->arc_count; i++) {
        const struct efsm_arc *arc = &table->arcs[i];
        const char *fault = check_arc(table, arc);
        if (fault) {
            return fault;
        }
        leaving[arc->from]++;
        unguarded[arc->from] |= !arc->guard && !arc->unless[0] && !arc->also[0] && arc->on == 0;
    }
    for (size_t i = 0; i < table->state_count; i++) {
        if (unguarded[i] && leaving[i] > 1) {
            return "an arc without guard is not the only one of its state";
        }
        if (leaving[i] == 0 && !table->states[i].final) {
            return "no arc leaves a state that is not final";
        }
    }
    return NULL;
}

/* Reachable: the initial state, and what a reachable state's arcs go to or push. That a pushed
 * state is also popped is not asked: it depends on the run. */
static inline const char *check_reachable(const struct efsm_table *table)
{
    bool reached[EFSM_STATES_MAX] = {false};
    bool grown = true;

    reached[table->initial] = true;
    while (grown) {
        grown = false;
        for (size_t i = 0; i < table->arc_count; i++) {
            const struct efsm_arc *arc = &table->arcs[i];
            if (!reached[arc->from]) {
                continue;
            }
            if (arc->to != EFSM_POP && !reached[arc->to]) {
                reached[arc->to] = true;
                grown = true;
            }
            for (size_t k = 0; k < arc->push_count; k++) {
                grown |= !reached[arc->push[k]];
                reached[arc->push[k]] = true;
            }
        }
    }
    for (size_t i = 0; i < table->state_count; i++) {
        if (!reached[i]) {
            return "a state cannot be reached from the initial one";
        }
    }
    return NULL;
}

/* NULL when names are present and unique, indices in range, every state can be reached, a state
 * is final exactly when no arc leaves it, and an arc without guard is alone in its state; else
 * what is wrong. */
static inline const char *efsm_check_table(const struct efsm_table *table)
{
    if (!table) {
        return "there is no table";
    }
    if (is_blank(table->name)) {
        return "the machine has no name";
    }
    if (is_blank(table->purpose)) {
        return "the machine has no purpose";
    }
    const char *fault = check_states(table);
    if (!fault) {
        fault = check_cells(table);
    }
    if (!fault) {
        fault = check_arcs(table);
    }
    return fault ? fault : check_reachable(table);
}

static inline bool is_flag(const bool *flag)
{
    unsigned char byte;
    memcpy(&byte, flag, 1);
    return byte <= 1;
}

static inline bool has_same_bytes(const void *a, const void *b, size_t n)
{
    return memcmp(a, b, n) == 0;
}

/* Does every next value equal the current one, as between two cycles? */
static inline bool is_settled(const struct efsm *m)
{
    return !m->planned && m->written == 0 && m->next == m->state && m->next_depth == m->depth &&
           has_same_bytes(m->next_stack, m->stack, sizeof m->stack) &&
           has_same_bytes(m->next_cell, m->cell, sizeof m->cell);
}

/* A variable or an input; or none. */
static inline bool may_be_undefined(const struct efsm_table *table, size_t k)
{
    return k < table->cell_count || k == EFSM_NO_CELL ||
           (k >= EFSM_CELLS_MAX && k - EFSM_CELLS_MAX < table->input_count);
}

/* May these bytes, from a file say, be run as a machine of this table: saved between two
 * cycles, and states, stack, flags and variables within range? */
static inline bool efsm_is_sound(const struct efsm_table *table, const struct efsm *m)
{
    if (!is_flag(&m->blocked) || !is_flag(&m->stopped) || !is_flag(&m->planned) ||
        !is_settled(m)) {
        return false;
    }
    const bool in_sink = m->state >= EFSM_INCOMPLETE && m->state != EFSM_POP;
    if ((m->state >= table->state_count && !in_sink) || m->from >= table->state_count) {
        return false;
    }
    if ((m->fired_arc >= table->arc_count && m->fired_arc != EFSM_NO_ARC) ||
        (m->fired_also >= table->arc_count && m->fired_also != EFSM_NO_ARC) ||
        !may_be_undefined(table, m->undefined_cell)) {
        return false;
    }
    if (m->defined >> table->cell_count != 0 || m->depth > EFSM_STACK_MAX) {
        return false;
    }
    for (size_t i = 0; i < m->depth; i++) {
        if (m->stack[i] >= table->state_count) {
            return false;
        }
    }
    return true;
}

/* Some machine that is not stopped was blocked in its last plan. */
static inline bool efsm_network_is_blocked(const struct efsm_network *net)
{
    for (size_t i = 0; i < net->count; i++) {
        if (!net->machines[i].m->stopped && net->machines[i].m->blocked) {
            return true;
        }
    }
    return false;
}

#endif
