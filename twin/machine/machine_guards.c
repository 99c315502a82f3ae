/* twin/machine/machine_guards.c - checks that exactly one guard of a state holds in every case.
 */
#include <stdio.h>
#include <string.h>

#include "base/numbers/random.h"
#include "twin/machine/machine_checks_parts.h"
#include "twin/machine/machine_search.h"

/* Limit of computed expression nodes for the cells of all states: a second. */
#define CELLS_WORK 2e8

/* ---- cell by cell ---- */

/* Stores the first cell with a fault, and a sample of others. */
static void sample_cell(struct guard_fault *fault, const uint8_t *at,
                        struct random_source *random)
{
    const size_t place = fault->cell_count < GUARD_CELLS_MAX
                             ? fault->cell_count
                             : 1 + (size_t)(random_uniform(random) * (double)fault->cell_count);
    fault->cell_count++;
    if (place < GUARD_CELLS_MAX) {
        memcpy(fault->cells[place], at, CELL_AXES_MAX);
    }
}

static void check_cell(struct guards *g, const uint8_t *at, struct random_source *random)
{
    struct guards_holding holding = {.count = 0};
    for (size_t i = 0; i < g->count; i++) {
        if (g->when[i] == 0 || cells_hold(g->cells, g->when[i], at)) {
            g->held[i] = true;
            guards_count(&holding, i);
        }
    }
    struct guard_fault *fault = guards_fault(g, &holding, true);
    if (fault && !g->cells->exact) {
        sample_cell(fault, at, random);
    } else if (fault && !fault->shown) {
        fault->shown = true;
        double points[CELL_AXES_MAX];
        cells_points(g->cells, at, points);
        cells_describe(g->cells, points, fault->when, sizeof fault->when);
    }
}

static void check_cells(struct guards *g)
{
    const struct cells *cells = g->cells;
    struct random_source random = random_stream(2, 0);
    uint8_t at[CELL_AXES_MAX] = {0};
    size_t axis = 0;
    do {
        check_cell(g, at, &random);
        axis = cells->axis_count;
        while (axis > 0 && ++at[axis - 1] == cells->axes[axis - 1].point_count) {
            at[--axis] = 0;
        }
    } while (axis > 0);
}

/* ---- reports ---- */

static const char *label_of(const struct checks *c, const struct guards *g, uint8_t guard)
{
    return c->machine->table_arcs[g->arc[guard]].label;
}

static void report_faults(struct checks *c, const struct guards *g)
{
    const struct machine *m = c->machine;
    struct machine_diagnostics *list = checks_list(c);
    const char *state = checks_state(c, g->state);
    for (size_t i = 0; i < g->fault_count; i++) {
        const struct guard_fault *f = &g->faults[i];
        if (f->shown && f->first == NO_GUARD) {
            machine_diagnostics_add(
                list, "E-INCOMPLETE", m->states[g->state].place,
                checks_is_drawn(c) ? "%s: no arrow holds when %s: draw the missing case "
                                     "(a loop to stay)"
                                   : "%s: no arc holds when %s: write the missing case (to "
                                     "itself to stay), or otherwise: stay",
                state, f->when);
        } else if (f->shown) {
            machine_diagnostics_add(list, "E-OVERLAP", m->arcs[g->arc[f->second]].place,
                                    "%s: '%.160s' and '%.160s' both hold when %s", state,
                                    label_of(c, g, f->first), label_of(c, g, f->second),
                                    f->when);
        }
    }
    for (size_t i = 0; i < g->count; i++) {
        if (!g->held[i] && g->when[i] != 0) {
            machine_diagnostics_add(list, "W-NEVER", m->arcs[g->arc[i]].place,
                                    "%s: '%.240s' can never hold", state,
                                    label_of(c, g, (uint8_t)i));
        }
    }
}

/* Counts the nodes of a tree, up to most. */
static size_t weigh_tree(const struct expression_pool *pool, uint16_t node, size_t most)
{
    size_t weight = 1;
    for (size_t i = 0; i < EXPRESSION_ARGUMENTS_MAX && weight < most; i++) {
        const uint16_t of = pool->nodes[node].arguments[i];
        weight += of != 0 ? weigh_tree(pool, of, most - weight) : 0;
    }
    return weight;
}

static void report_too_many(struct checks *c, uint8_t state)
{
    char count[32] = "too many";
    if (!c->cells.full) {
        (void)snprintf(count, sizeof count, "%.15g", cells_count(&c->cells));
    }
    machine_diagnostics_add(checks_list(c), "W-TOO-MANY-CASES", c->machine->states[state].place,
                            "%s: %s cases, not checked exhaustively", checks_state(c, state),
                            count);
}

void check_guards(struct checks *c, uint8_t state)
{
    enum { WEIGHT_MAX = 1 << 20 };
    const struct machine *m = c->machine;
    struct guards g = {.cells = &c->cells, .stays = m->draft.stays, .state = state};
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        if (m->table_arcs[i].from == state) {
            g.when[g.count] = m->arcs[i].when;
            g.weight += weigh_tree(&m->draft.pool, g.when[g.count], WEIGHT_MAX);
            g.arc[g.count++] = (uint8_t)i;
        }
    }
    cells_make(&c->cells, m, g.when, g.count);
    const double work = cells_count(&c->cells) * (double)g.weight;
    if (c->cells.full || cells_count(&c->cells) > MACHINE_CELLS_MAX ||
        c->work + work > CELLS_WORK) {
        report_too_many(c, state);
        return;
    }
    c->work += work;
    check_cells(&g);
    if (!c->cells.exact) {
        guards_search(&g);
    }
    report_faults(c, &g);
}
