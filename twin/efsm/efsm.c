#include "twin/efsm/efsm.h"

#include <assert.h>
#include <math.h>
#include <string.h>

/* Equal runs must leave equal bytes, so there must be no padding. */
static_assert(sizeof(struct efsm) ==
                  16 + 2 * EFSM_STACK_MAX + 2 * sizeof(double) * EFSM_CELLS_MAX + 8,
              "padding in struct efsm");
static_assert(EFSM_CELLS_MAX <= 16, "defined and written have 16 bits");

static bool has_bit(unsigned bits, size_t k)
{
    return (bits >> k & 1U) != 0;
}

static bool is_sink(uint8_t state)
{
    return state >= EFSM_INCOMPLETE;
}

static bool is_final(const struct efsm_table *table, uint8_t state)
{
    return state < table->state_count && table->states[state].final;
}

static void record_undefined(const struct efsm_view *v, size_t k)
{
    if (*v->undefined == EFSM_NO_CELL) {
        *v->undefined = (uint8_t)k;
    }
}

double efsm_get(const struct efsm_view *v, size_t k)
{
    assert(k < EFSM_CELLS_MAX);
    if (!has_bit(v->now->defined, k)) {
        record_undefined(v, k);
        return nan("");
    }
    return v->now->cell[k];
}

void efsm_miss_input(const struct efsm_view *v, size_t k)
{
    assert(EFSM_CELLS_MAX + k < EFSM_NO_CELL);
    record_undefined(v, EFSM_CELLS_MAX + k);
}

bool efsm_is_defined(const struct efsm_view *v, size_t k)
{
    assert(k < EFSM_CELLS_MAX);
    return has_bit(v->now->defined, k);
}

void efsm_set(const struct efsm_view *v, size_t k, double value)
{
    assert(k < EFSM_CELLS_MAX);
    assert(v->next); /* only actions write */
    v->next->next_cell[k] = value;
    v->next->written = (uint16_t)(v->next->written | 1U << k);
}

void efsm_reset(const struct efsm_table *table, struct efsm *m, int64_t t_us)
{
    assert(table && m);
    *m = (struct efsm){.state = table->initial,
                       .next = table->initial,
                       .from = table->initial,
                       .fired_arc = EFSM_NO_ARC,
                       .fired_also = EFSM_NO_ARC,
                       .undefined_cell = EFSM_NO_CELL,
                       .defined = table->zeros,
                       .entered_us = t_us};
}

void efsm_init_cell(struct efsm *m, size_t k, double value)
{
    assert(k < EFSM_CELLS_MAX);
    m->cell[k] = value;
    m->next_cell[k] = value;
    m->defined = (uint16_t)(m->defined | 1U << k);
}

/* Makes every next value equal to the current one again. */
static void drop_plan(struct efsm *m)
{
    for (unsigned k = 0; m->written != 0; k++) {
        if (has_bit(m->written, k)) {
            m->next_cell[k] = m->cell[k];
            m->written = (uint16_t)(m->written & ~(1U << k));
        }
    }
    if (m->planned) {
        memcpy(m->next_stack, m->stack, sizeof m->next_stack);
    }
    m->next_depth = m->depth;
    m->next = m->state;
    m->planned = false;
}

void efsm_stop(struct efsm *m)
{
    drop_plan(m);
    m->stopped = true;
}

bool efsm_is_active(const struct efsm_table *table, const struct efsm *m)
{
    return !m->stopped && !is_sink(m->state) && !is_final(table, m->state);
}

/* Plans to stop in a sink: assigns nothing and keeps the stack. */
static void plan_fault(struct efsm *m, uint8_t sink)
{
    drop_plan(m);
    m->next = sink;
    m->planned = true;
    m->blocked = true;
}

/* Applies the arc's stack operations to next_stack; returns the next state or a sink. */
static uint8_t plan_stack(const struct efsm_arc *arc, struct efsm *m)
{
    unsigned depth = arc->empties ? 0 : m->depth;

    if (depth < arc->pops) {
        return EFSM_STACK_EMPTY;
    }
    depth -= arc->pops;
    /* The second bound guards against a damaged machine read from a file. */
    if (depth + arc->push_count > EFSM_STACK_MAX || depth > EFSM_STACK_MAX) {
        return EFSM_STACK_FULL;
    }
    for (size_t i = 0; i < arc->push_count; i++) {
        m->next_stack[depth] = arc->push[i];
        depth++;
    }
    uint8_t to = arc->to;
    if (to == EFSM_POP) {
        if (depth == 0) {
            return EFSM_STACK_EMPTY;
        }
        depth--;
        to = m->next_stack[depth];
    }
    m->next_depth = (uint8_t)depth;
    return to;
}

static bool is_for_event(const struct efsm_table *table, const struct efsm_arc *arc,
                         const void *in)
{
    unsigned event;
    if (arc->on == 0) {
        return true;
    }
    memcpy(&event, (const char *)in + table->event_at, sizeof event);
    return has_bit(arc->on, event);
}

static bool does_hold(const struct efsm_arc *arc, const struct efsm_view *v)
{
    if (arc->guard && !arc->guard(v)) {
        return false;
    }
    for (size_t k = 0; k < EFSM_CONDITIONS_MAX && arc->unless[k]; k++) {
        if (arc->unless[k](v)) {
            return false;
        }
    }
    for (size_t k = 0; k < EFSM_CONDITIONS_MAX && arc->also[k]; k++) {
        if (!arc->also[k](v)) {
            return false;
        }
    }
    return true;
}

/* Evaluates the guards of the current state; fills the fired_ fields. */
static void plan_guards(const struct efsm_table *table, struct efsm *m, struct efsm_view *v)
{
    m->from = m->state;
    m->fired_arc = EFSM_NO_ARC;
    m->fired_also = EFSM_NO_ARC;
    m->fired_count = 0;
    m->undefined_cell = EFSM_NO_CELL;
    for (size_t i = 0; i < table->arc_count; i++) {
        const struct efsm_arc *arc = &table->arcs[i];
        if (arc->from != m->state) {
            continue;
        }
        v->arc = arc;
        const bool holds = is_for_event(table, arc, v->in) && does_hold(arc, v);
        if (m->undefined_cell != EFSM_NO_CELL) {
            m->fired_arc = (uint8_t)i;
            return;
        }
        if (holds) {
            if (m->fired_count == 0) {
                m->fired_arc = (uint8_t)i;
            } else if (m->fired_count == 1) {
                m->fired_also = (uint8_t)i;
            }
            m->fired_count++;
        }
    }
}

static void plan_cells(const struct efsm_table *table, const struct efsm_view *v)
{
    const struct efsm_arc *arc = v->arc;
    if (table->always) {
        table->always(v);
    }
    for (size_t k = 0; (arc->clears | arc->raises | arc->counts) >> k != 0; k++) {
        if (has_bit(arc->counts, k)) {
            efsm_set(v, k, efsm_get(v, k) + 1.0);
        } else if (has_bit(arc->clears | arc->raises, k)) {
            efsm_set(v, k, has_bit(arc->raises, k) ? 1.0 : 0.0);
        }
    }
    if (arc->action) {
        arc->action(v);
    }
}

void efsm_plan(const struct efsm_table *table, struct efsm *m, const void *in, int64_t t_us)
{
    assert(table && m);
    drop_plan(m);
    m->blocked = true;
    if (!efsm_is_active(table, m)) {
        return;
    }
    struct efsm_view v = {.now = m, .in = in, .t_us = t_us, .undefined = &m->undefined_cell};
    plan_guards(table, m, &v);
    if (m->undefined_cell != EFSM_NO_CELL) {
        plan_fault(m, EFSM_UNDEFINED);
        return;
    }
    if (m->fired_count == 0 && table->stays) {
        return;
    }
    if (m->fired_count != 1) {
        plan_fault(m, m->fired_count == 0 ? EFSM_INCOMPLETE : EFSM_NON_DETERMINISTIC);
        return;
    }
    const struct efsm_arc *arc = &table->arcs[m->fired_arc];
    m->planned = true;
    v.next = m;
    v.arc = arc;
    plan_cells(table, &v);
    if (m->undefined_cell != EFSM_NO_CELL) {
        plan_fault(m, EFSM_UNDEFINED);
        return;
    }
    uint8_t to = arc->to;
    if (to == EFSM_POP || arc->empties || arc->pops != 0 || arc->push_count != 0) {
        to = plan_stack(arc, m);
        if (is_sink(to)) {
            plan_fault(m, to);
            return;
        }
    }
    m->next = to;
    m->blocked = arc->waits || is_final(table, to);
}

static void record_transition(const struct efsm *m, int64_t t_us, uint16_t machine,
                              struct efsm_stats *stats, struct efsm_trace *trace)
{
    if (stats && m->next != m->state) {
        if (m->state < EFSM_STATES_MAX) {
            stats->stay_us[m->state] += t_us - m->entered_us;
        }
        if (m->next < EFSM_STATES_MAX) {
            stats->visits[m->next]++;
        }
        if (is_sink(m->next)) {
            stats->faults++;
        }
    }
    if (trace) {
        trace->step[trace->count % EFSM_TRACE_MAX] = (struct efsm_step){
            .t_us = t_us,
            .machine = machine,
            .from = m->state,
            .to = m->next,
            .arc = is_sink(m->next) ? EFSM_NO_ARC : m->fired_arc,
        };
        trace->count++;
    }
}

void efsm_update(const struct efsm_table *table, struct efsm *m, int64_t t_us, uint16_t machine,
                 struct efsm_stats *stats, struct efsm_trace *trace)
{
    assert(table && m);
    (void)table;
    if (!m->planned) {
        return;
    }
    m->planned = false;
    /* A waiting self loop is rest, not a step of the trace. */
    if (m->next != m->state || !m->blocked) {
        record_transition(m, t_us, machine, stats, trace);
    }
    if (m->next != m->state) {
        m->entered_us = t_us;
        m->state = m->next;
    }
    if (m->written != 0) {
        for (unsigned k = 0; m->written >> k != 0; k++) {
            if (has_bit(m->written, k)) {
                m->cell[k] = m->next_cell[k];
            }
        }
        m->defined |= m->written;
        m->written = 0;
    }
    memcpy(m->stack, m->next_stack, sizeof m->stack);
    m->depth = m->next_depth;
}

void efsm_act(const struct efsm_table *table, const struct efsm *m, const void *in, void *out,
              int64_t t_us)
{
    assert(table && m);
    if (m->stopped || m->state >= table->state_count) {
        return;
    }
    efsm_output *output = table->states[m->state].output;
    output = output ? output : table->output;
    if (!output) {
        return;
    }
    uint8_t undefined = EFSM_NO_CELL;
    const struct efsm_view v = {
        .now = m, .in = in, .out = out, .t_us = t_us, .undefined = &undefined};
    output(&v);
}

/* --- networks: all machines in the same phase
 * ----------------------------------------------- */

void efsm_network_sense(const struct efsm_network *net, unsigned cycle, int64_t t_us)
{
    if (net->sense) {
        net->sense(net->context, cycle, t_us);
    }
}

bool efsm_network_plan(const struct efsm_network *net, int64_t t_us)
{
    bool blocked = false;

    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        if (!one->m->stopped) {
            efsm_plan(one->table, one->m, one->in, t_us);
            blocked |= one->m->blocked;
        }
    }
    return blocked;
}

void efsm_network_update(const struct efsm_network *net, int64_t t_us)
{
    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        efsm_update(one->table, one->m, t_us, one->number, one->stats, net->trace);
    }
}

void efsm_network_prime(const struct efsm_network *net, int64_t t_us)
{
    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        efsm_act(one->table, one->m, one->in, one->out, t_us);
    }
}

void efsm_network_act(const struct efsm_network *net, unsigned cycle, int64_t t_us)
{
    efsm_network_prime(net, t_us);
    if (net->commit) {
        net->commit(net->context, cycle, t_us);
    }
}

bool efsm_network_is_active(const struct efsm_network *net)
{
    bool running = false;

    for (size_t i = 0; i < net->count; i++) {
        const struct efsm_machine *one = &net->machines[i];
        if (one->m->stopped) {
            continue;
        }
        if (!efsm_is_active(one->table, one->m)) {
            return false;
        }
        running = true;
    }
    return running;
}

unsigned efsm_run_instant(const struct efsm_network *net, int64_t t_us)
{
    assert(net && (net->machines || net->count == 0));
    const unsigned cap = net->cycles_max ? net->cycles_max : EFSM_CYCLES_MAX;
    unsigned cycle = 0;

    while (cycle < cap && efsm_network_is_active(net)) {
        efsm_network_sense(net, cycle, t_us);
        const bool blocked = efsm_network_plan(net, t_us);
        efsm_network_update(net, t_us);
        efsm_network_act(net, cycle, t_us);
        cycle++;
        if (blocked) {
            break;
        }
    }
    return cycle;
}
