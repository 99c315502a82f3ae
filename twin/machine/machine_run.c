#include "twin/machine/machine_run.h"

#include <assert.h>
#include <string.h>

static bool has_bit(uint64_t bits, size_t k)
{
    return (bits >> k & 1U) != 0;
}

/* Converts to seconds like every generated program: not times 1e-6, which differs in the last
 * digit. */
static double seconds_of(int64_t t_us)
{
    return (double)t_us / 1e6;
}

/* Gets the value of a name, if it has one. */
static bool get_value(const struct efsm_view *v, const struct machine *machine, size_t name,
                      double *value)
{
    const struct machine_in *in = v->in;
    const uint8_t place = machine->places[name];
    if (machine->roles[name] == MACHINE_VARIABLE) {
        *value = v->now->cell[place];
        return has_bit(v->now->defined, place);
    }
    if (machine->roles[name] == MACHINE_INPUT) {
        *value = in->value[place];
        return has_bit(in->there, place);
    }
    *value = seconds_of(v->t_us) -
             (name == MACHINE_ELAPSED_NAME ? seconds_of(v->now->entered_us) : 0.0);
    return true;
}

/* Runs a program that reads these names. Returns EXPRESSION_ALL_THERE, or the name without a
 * value. */
static int run_program(const struct efsm_view *v, const struct machine *machine,
                       const struct expression_program *program, uint64_t reads,
                       double *outputs)
{
    double values[EXPRESSION_NAMES_MAX];
    uint64_t there = 0;
    for (size_t name = 0; reads != 0; name++, reads >>= 1) {
        values[name] = 0.0;
        if (has_bit(reads, 0) && get_value(v, machine, name, &values[name])) {
            there |= UINT64_C(1) << name;
        }
    }
    return expression_run(program, values, there, outputs);
}

static void record_missing(const struct efsm_view *v, const struct machine *machine, int name)
{
    const uint8_t place = machine->places[name];
    if (machine->roles[name] == MACHINE_VARIABLE) {
        (void)efsm_get(v, place);
    } else {
        efsm_miss_input(v, place);
    }
}

static const struct machine *machine_of(const struct efsm_view *v)
{
    const struct machine_in *in = v->in;
    return in->machine;
}

static uint64_t reads_of(const struct machine *machine, uint16_t root)
{
    return machine->draft.pool.nodes[root].reads;
}

bool machine_guard(const struct efsm_view *v)
{
    const struct machine *machine = machine_of(v);
    const struct machine_arc *arc = &machine->arcs[v->arc - machine->table.arcs];
    double holds = 0.0;
    const int missing =
        run_program(v, machine, arc->guard, reads_of(machine, arc->when), &holds);
    if (missing != EXPRESSION_ALL_THERE) {
        record_missing(v, machine, missing);
        return false;
    }
    return holds > 0.0;
}

void machine_action(const struct efsm_view *v)
{
    const struct machine *machine = machine_of(v);
    const struct machine_arc *arc = &machine->arcs[v->arc - machine->table.arcs];
    const struct machine_assignment *all = &machine->assignments[arc->delayed.first];
    double values[EFSM_CELLS_MAX] = {0.0};
    uint64_t reads = 0;
    assert(arc->delayed.count <= EFSM_CELLS_MAX);
    for (size_t k = 0; k < arc->delayed.count; k++) {
        reads |= reads_of(machine, all[k].value);
    }
    const int missing = run_program(v, machine, arc->act, reads, values);
    if (missing != EXPRESSION_ALL_THERE) {
        record_missing(v, machine, missing);
        return;
    }
    for (size_t k = 0; k < arc->delayed.count; k++) {
        efsm_set(v, all[k].to, values[k]);
    }
}

/* ---- outputs ---- */

static void give_output(struct machine_out *out, size_t place, bool there, double value)
{
    const uint64_t bit = UINT64_C(1) << place;
    out->there = there ? out->there | bit : out->there & ~bit;
    out->value[place] = there ? value : 0.0;
}

static void give_range(const struct efsm_view *v, const struct machine *machine,
                       struct machine_range range)
{
    for (size_t k = 0; k < range.count; k++) {
        const struct machine_assignment *one = &machine->assignments[range.first + k];
        double value = 0.0;
        const int missing =
            run_program(v, machine, one->program, reads_of(machine, one->value), &value);
        give_output(v->out, one->to, missing == EXPRESSION_ALL_THERE, value);
    }
}

/* Does the guard of an arc with outputs hold? A guard that reads something undefined does
 * not. */
static bool does_hold(const struct efsm_view *v, const struct machine *machine,
                      const struct machine_arc *arc)
{
    double holds = 1.0;
    return !arc->guard || (run_program(v, machine, arc->guard, reads_of(machine, arc->when),
                                       &holds) == EXPRESSION_ALL_THERE &&
                           holds > 0.0);
}

void machine_output(const struct efsm_view *v)
{
    const struct machine *machine = machine_of(v);
    for (size_t k = 0; k < machine->output_count; k++) {
        const struct machine_port *port = &machine->outputs[k];
        if (port->variable != MACHINE_NONE) {
            give_output(v->out, k, has_bit(v->now->defined, port->variable),
                        v->now->cell[port->variable]);
        } else {
            give_output(v->out, k, port->has_otherwise, port->otherwise);
        }
    }
    give_range(v, machine, machine->states[v->now->state].outputs);
    for (size_t i = 0; i < machine->table.arc_count; i++) {
        const struct machine_arc *arc = &machine->arcs[i];
        if (machine->table_arcs[i].from == v->now->state && arc->outputs.count > 0 &&
            does_hold(v, machine, arc)) {
            give_range(v, machine, arc->outputs);
        }
    }
}

/* ---- one machine, cycle by cycle ---- */

void machine_run_starts(const struct machine *machine, struct efsm *m, int64_t t_us)
{
    uint8_t undefined = EFSM_NO_CELL;
    const struct machine_in in = {.machine = machine};
    const struct efsm_view v = {.now = m, .in = &in, .t_us = t_us, .undefined = &undefined};
    for (size_t k = 0; k < machine->starts.count; k++) {
        const struct machine_assignment *one = &machine->assignments[machine->starts.first + k];
        double value = 0.0;
        if (run_program(&v, machine, one->program, reads_of(machine, one->value), &value) ==
            EXPRESSION_ALL_THERE) {
            efsm_init_cell(m, one->to, value);
        }
    }
}

void machine_run_start(struct machine_run *run, const struct machine *machine, int64_t t_us)
{
    *run = (struct machine_run){.machine = machine, .in.machine = machine};
    efsm_reset(&machine->table, &run->m, t_us);
    machine_run_starts(machine, &run->m, t_us);
}

void machine_run_outputs(struct machine_run *run, int64_t t_us)
{
    run->out.there = 0;
    efsm_act(&run->machine->table, &run->m, &run->in, &run->out, t_us);
}

void machine_run_plan(struct machine_run *run, int64_t t_us)
{
    efsm_plan(&run->machine->table, &run->m, &run->in, t_us);
}

void machine_run_update(struct machine_run *run, int64_t t_us)
{
    efsm_update(&run->machine->table, &run->m, t_us, 0, &run->stats, NULL);
}

size_t machine_run_fired(const struct machine_run *run, int64_t t_us,
                         uint8_t arcs[MACHINE_ARCS_MAX])
{
    const struct machine *machine = run->machine;
    const struct efsm *m = &run->m;
    if (!efsm_is_active(&machine->table, m) || m->fired_arc == EFSM_NO_ARC) {
        return 0;
    }
    arcs[0] = m->fired_arc;
    if (m->fired_count <= 1 || m->next == EFSM_UNDEFINED) {
        return 1;
    }
    /* The engine supplies two cells. */
    uint8_t undefined = EFSM_NO_CELL;
    const struct efsm_view v = {
        .now = m, .in = &run->in, .t_us = t_us, .undefined = &undefined};
    size_t count = 0;
    for (size_t i = 0; i < machine->table.arc_count; i++) {
        if (machine->table_arcs[i].from == m->state &&
            does_hold(&v, machine, &machine->arcs[i])) {
            arcs[count++] = (uint8_t)i;
        }
    }
    return count;
}

static uint8_t find_port(const struct machine *machine, const struct machine_port *ports,
                         size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(machine_name(machine, ports[i].name), name) == 0) {
            return (uint8_t)i;
        }
    }
    return MACHINE_NONE;
}

uint8_t machine_find_input(const struct machine *machine, const char *name)
{
    return find_port(machine, machine->inputs, machine->input_count, name);
}

uint8_t machine_find_output(const struct machine *machine, const char *name)
{
    return find_port(machine, machine->outputs, machine->output_count, name);
}
