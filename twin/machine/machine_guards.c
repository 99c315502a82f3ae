/* twin/machine/machine_guards.c - does exactly one guard of a state hold, whatever happens? */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/random.h"
#include "twin/machine/machine_checks_parts.h"

enum { FAULTS_MAX = 64, WORDS_MAX = 256, NO_GUARD = 255 };

/* No guard holds (both NO_GUARD), or these are the first two that do. */
struct guard_fault {
    uint8_t first, second;
    bool shown; /* there is a witness */
    char when[WORDS_MAX];
};

struct guards {
    struct checks *c;
    uint8_t state;
    size_t count, fault_count;
    uint16_t when[MACHINE_ARCS_MAX];
    uint8_t arc[MACHINE_ARCS_MAX];
    bool held[MACHINE_ARCS_MAX]; /* in some cell */
    struct guard_fault faults[FAULTS_MAX];
};

/* The fault of these two, a new one if there was none. NULL: it is none, or one too many. */
static struct guard_fault *find_fault(struct guards *g, size_t holding, uint8_t first,
                                      uint8_t second, bool add)
{
    if (holding == 1 || (holding == 0 && g->c->machine->draft.stays)) {
        return NULL;
    }
    for (size_t i = 0; i < g->fault_count; i++) {
        if (g->faults[i].first == first && g->faults[i].second == second) {
            return &g->faults[i];
        }
    }
    if (!add || g->fault_count == FAULTS_MAX) {
        return NULL;
    }
    g->faults[g->fault_count] = (struct guard_fault){.first = first, .second = second};
    return &g->faults[g->fault_count++];
}

/* ---- cell by cell ---- */

static void check_cell(struct guards *g, const uint8_t *at)
{
    const struct cells *cells = &g->c->cells;
    uint8_t holding[2] = {NO_GUARD, NO_GUARD};
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        if (g->when[i] == 0 || cells_hold(cells, g->when[i], at)) {
            g->held[i] = true;
            if (count < 2) {
                holding[count] = (uint8_t)i;
            }
            count++;
        }
    }
    struct guard_fault *fault = find_fault(g, count, holding[0], holding[1], true);
    if (fault && cells->exact && !fault->shown) {
        fault->shown = true;
        cells_describe(cells, at, fault->when, sizeof fault->when);
    }
}

static void check_cells(struct guards *g)
{
    const struct cells *cells = &g->c->cells;
    uint8_t at[CELL_AXES_MAX] = {0};
    size_t axis = 0;
    do {
        check_cell(g, at);
        axis = cells->axis_count;
        while (axis > 0 && ++at[axis - 1] == cells->axes[axis - 1].point_count) {
            at[--axis] = 0;
        }
    } while (axis > 0);
}

/* ---- values, where cells share names ---- */

static size_t pick_below(struct random_source *random, size_t count)
{
    return (size_t)(random_uniform(random) * (double)count);
}

static double pick_number(struct random_source *random, const struct cells *cells)
{
    static const double steps[] = {0.0, 0.0, 1.0, -1.0, 0.5};
    const struct cell_axis *axis =
        cells->axis_count > 0 ? &cells->axes[pick_below(random, cells->axis_count)] : NULL;
    const size_t step = pick_below(random, COUNT(steps) + 1);
    const double near = axis && !axis->truth
                            ? axis->points[pick_below(random, axis->point_count)]
                            : (double)pick_below(random, 2);
    return near + (step < COUNT(steps) ? steps[step] : 3.0 * random_normal(random));
}

static bool is_time(uint8_t name)
{
    return name == MACHINE_TIME_NAME || name == MACHINE_ELAPSED_NAME;
}

/* Change one name of a form so that the form has one of its points. */
static void meet_form(struct random_source *random, const struct cells *cells, double *values)
{
    const struct cell_axis *axis = &cells->axes[pick_below(random, cells->axis_count)];
    if (axis->truth) {
        return;
    }
    const size_t k = pick_below(random, axis->form.count);
    const struct expression_node *n =
        &cells->pool->nodes[cells->terms[axis->form.term[k]].node];
    const double point = axis->points[pick_below(random, axis->point_count)];
    if (n->kind == EXPRESSION_NAME) {
        const double moved =
            values[n->name] +
            (point - cells_value(cells, &axis->form, values)) / axis->form.coefficient[k];
        values[n->name] = is_time(n->name) ? fabs(moved) : moved;
    }
}

static void pick_values(struct random_source *random, const struct cells *cells,
                        const struct machine_names *names, double *values)
{
    const size_t moves = pick_below(random, 4);
    for (size_t i = 0; i < names->count; i++) {
        const uint8_t name = names->name[i];
        const double number = pick_number(random, cells);
        values[name] = cells->pool->names[name].type == EXPRESSION_TRUTH
                           ? (double)pick_below(random, 2)
                       : is_time(name) ? fabs(number)
                                       : number;
    }
    for (size_t i = 0; i < moves && cells->axis_count > 0; i++) {
        meet_form(random, cells, values);
    }
}

static void describe_values(const struct guards *g, const struct machine_names *names,
                            const double *values, char *out, size_t size)
{
    size_t used = 0;
    for (size_t i = 0; i < names->count && used < size; i++) {
        const uint8_t name = names->name[i];
        const char *text = machine_name(g->c->machine, name);
        const char *comma = i == 0 ? "" : ", ";
        if (g->c->cells.pool->names[name].constant) {
            continue;
        }
        const int n =
            g->c->cells.pool->names[name].type == EXPRESSION_TRUTH
                ? snprintf(out + used, size - used, "%s%s%s", comma,
                           values[name] > 0.0 ? "" : "!", text)
                : snprintf(out + used, size - used, "%s%s = %g", comma, text, values[name]);
        used += (size_t)n;
    }
}

static void try_values(struct guards *g, const struct machine_names *names,
                       const double *values)
{
    uint8_t holding[2] = {NO_GUARD, NO_GUARD};
    size_t count = 0;
    for (size_t i = 0; i < g->count; i++) {
        const double held =
            g->when[i] == 0 ? 1.0 : cells_compute(g->c->cells.pool, g->when[i], values);
        if (held > 0.0) {
            if (count < 2) {
                holding[count] = (uint8_t)i;
            }
            count++;
        }
    }
    struct guard_fault *fault = find_fault(g, count, holding[0], holding[1], false);
    if (fault && !fault->shown) {
        fault->shown = true;
        describe_values(g, names, values, fault->when, sizeof fault->when);
    }
}

/* Is a cell with a fault inhabited? By values that are tried. */
static void search_values(struct guards *g)
{
    struct machine_names names = {.count = 0};
    struct random_source random = random_stream(1, 0);
    double values[EXPRESSION_NAMES_MAX] = {0.0};
    for (size_t i = 0; i < g->count; i++) {
        if (g->when[i] != 0) {
            machine_list_names(g->c->cells.pool, g->when[i], true, &names);
        }
    }
    for (size_t i = 0; i < MACHINE_SEARCH_MAX * g->fault_count; i++) {
        pick_values(&random, &g->c->cells, &names, values);
        try_values(g, &names, values);
    }
}

/* ---- what is told ---- */

static const char *label_of(const struct guards *g, uint8_t guard)
{
    return g->c->machine->table_arcs[g->arc[guard]].label;
}

static void tell_faults(struct guards *g)
{
    const struct machine *m = g->c->machine;
    struct machine_diagnostics *told = checks_told(g->c);
    const char *state = checks_state(g->c, g->state);
    for (size_t i = 0; i < g->fault_count; i++) {
        const struct guard_fault *f = &g->faults[i];
        if (f->shown && f->first == NO_GUARD) {
            machine_diagnostics_add(
                told, "E-INCOMPLETE", m->states[g->state].place,
                checks_is_drawn(g->c) ? "%s: no arrow holds when %s: draw the missing case "
                                        "(a loop to stay)"
                                      : "%s: no arc holds when %s: write the missing case (to "
                                        "itself to stay), or otherwise: stay",
                state, f->when);
        } else if (f->shown) {
            machine_diagnostics_add(told, "E-OVERLAP", m->arcs[g->arc[f->second]].place,
                                    "%s: '%.160s' and '%.160s' both hold when %s", state,
                                    label_of(g, f->first), label_of(g, f->second), f->when);
        }
    }
    for (size_t i = 0; i < g->count; i++) {
        if (!g->held[i] && g->when[i] != 0) {
            machine_diagnostics_add(told, "W-NEVER", m->arcs[g->arc[i]].place,
                                    "%s: '%.240s' can never hold", state,
                                    label_of(g, (uint8_t)i));
        }
    }
}

void check_guards(struct checks *c, uint8_t state)
{
    struct guards g = {.c = c, .state = state};
    const struct machine *m = c->machine;
    for (size_t i = 0; i < m->draft.arc_count; i++) {
        if (m->table_arcs[i].from == state) {
            g.when[g.count] = m->arcs[i].when;
            g.arc[g.count++] = (uint8_t)i;
        }
    }
    if (g.count == 0) {
        return;
    }
    cells_make(&c->cells, m, g.when, g.count);
    if (c->cells.full || cells_count(&c->cells) > MACHINE_CELLS_MAX) {
        char count[32] = "too many";
        if (!c->cells.full) {
            (void)snprintf(count, sizeof count, "%.15g", cells_count(&c->cells));
        }
        machine_diagnostics_add(checks_told(c), "W-TOO-MANY-CASES", m->states[state].place,
                                "%s: %s cases, not checked exhaustively",
                                checks_state(c, state), count);
        return;
    }
    check_cells(&g);
    if (!c->cells.exact && g.fault_count > 0) {
        search_values(&g);
    }
    tell_faults(&g);
}
