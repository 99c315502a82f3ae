/* twin/machine/machine_table.c - makes the engine's table of a machine. */
#include "twin/machine/machine_parts.h"
#include "twin/machine/machine_run.h"

void machine_make_table(struct machine *m)
{
    const struct machine_draft *d = &m->draft;
    const struct machine_draft_state *initial =
        d->initial ? machine_draft_find_state(d, d->initial) : NULL;
    for (size_t i = 0; i < d->state_count; i++) {
        m->table_states[i] =
            (struct efsm_state){.name = d->states[i].name, .final = d->states[i].final};
    }
    for (size_t i = 0; i < m->variable_count; i++) {
        m->cells[i] = machine_name(m, m->variables[i].name);
    }
    for (size_t i = 0; i < m->input_count; i++) {
        m->input_texts[i] = machine_name(m, m->inputs[i].name);
    }
    for (size_t i = 0; i < d->arc_count; i++) {
        m->table_arcs[i].guard = m->arcs[i].when != 0 ? machine_guard : NULL;
        m->table_arcs[i].action = m->arcs[i].delayed.count > 0 ? machine_action : NULL;
    }
    m->table = (struct efsm_table){
        .name = d->name,
        .purpose = d->purpose,
        .states = m->table_states,
        .state_count = d->state_count,
        .arcs = m->table_arcs,
        .arc_count = d->arc_count,
        .cells = m->cells,
        .cell_count = m->variable_count,
        .inputs = m->input_texts,
        .input_count = m->input_count,
        .stays = d->stays,
        .output = machine_output,
        .initial = initial ? (uint8_t)(initial - d->states) : 0,
    };
}
