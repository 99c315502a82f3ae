#include "twin/machine/machine_search.h"

#include <math.h>
#include <string.h>

#include "base/numbers/random.h"
#include "twin/machine/machine_checks.h"
#include "twin/machine/machine_parts.h"

/* Limit of computed expression nodes: a tenth of a second. */
#define SEARCH_WORK 2e7

void guards_count(struct guards_holding *holding, size_t guard)
{
    if (holding->count == 0) {
        holding->first = (uint8_t)guard;
    } else if (holding->count == 1) {
        holding->second = (uint8_t)guard;
    }
    holding->count++;
}

struct guard_fault *guards_fault(struct guards *g, const struct guards_holding *holding,
                                 bool add)
{
    const uint8_t first = holding->count > 0 ? holding->first : NO_GUARD;
    const uint8_t second = holding->count > 1 ? holding->second : NO_GUARD;
    if (holding->count == 1 || (holding->count == 0 && g->stays)) {
        return NULL;
    }
    for (size_t i = 0; i < g->fault_count; i++) {
        if (g->faults[i].first == first && g->faults[i].second == second) {
            return &g->faults[i];
        }
    }
    if (!add || g->fault_count == GUARD_FAULTS_MAX) {
        return NULL;
    }
    g->faults[g->fault_count] = (struct guard_fault){.first = first, .second = second};
    return &g->faults[g->fault_count++];
}

struct search {
    struct guards *g;
    const struct cells *cells;
    struct random_source random;
    struct machine_names names;
    double values[EXPRESSION_NAMES_MAX]; /* by name index */
};

static size_t pick_below(struct search *s, size_t count)
{
    return (size_t)(random_uniform(&s->random) * (double)count);
}

/* Picks a number near a point of some axis, or its negative. */
static double pick_number(struct search *s)
{
    static const double steps[] = {0.0, 0.0, 0.0, 1.0, -1.0, 0.5};
    const struct cell_axis *axis = &s->cells->axes[pick_below(s, s->cells->axis_count)];
    const double sign = pick_below(s, 4) == 0 ? -1.0 : 1.0;
    const size_t step = pick_below(s, COUNT(steps) + 1);
    const double near =
        axis->truth ? (double)pick_below(s, 2) : axis->points[pick_below(s, axis->point_count)];
    return sign * near + (step < COUNT(steps) ? steps[step] : 3.0 * random_normal(&s->random));
}

static void set_number(struct search *s, uint8_t name, double number)
{
    const bool time = name == MACHINE_TIME_NAME || name == MACHINE_ELAPSED_NAME;
    s->values[name] = time ? fabs(number) : number;
}

static void pick_values(struct search *s)
{
    for (size_t i = 0; i < s->names.count; i++) {
        const uint8_t name = s->names.name[i];
        if (s->cells->pool->names[name].type == EXPRESSION_TRUTH) {
            s->values[name] = (double)pick_below(s, 2);
        } else {
            set_number(s, name, pick_number(s));
        }
    }
}

/* Changes one name so that the axis is at point, if one of its terms is a name. */
static void meet_point(struct search *s, const struct cell_axis *axis, double point)
{
    const size_t k = axis->truth ? 0 : pick_below(s, axis->form.count);
    const struct expression_node *n =
        &s->cells->pool
             ->nodes[s->cells->terms[axis->truth ? axis->term : axis->form.term[k]].node];
    if (n->kind != EXPRESSION_NAME) {
        return;
    }
    if (axis->truth) {
        s->values[n->name] = point;
    } else {
        const double lacks = point - cells_value(s->cells, &axis->form, s->values);
        set_number(s, n->name, s->values[n->name] + lacks / axis->form.coefficient[k]);
    }
}

/* Moves towards a cell with a fault that has no witness yet. */
static void aim_values(struct search *s)
{
    enum { PASSES = 3, PICKS = 4 };
    const struct guard_fault *fault = NULL;
    for (size_t i = 0; i < PICKS && (!fault || fault->shown); i++) {
        fault = &s->g->faults[pick_below(s, s->g->fault_count)];
    }
    const size_t stored =
        fault->cell_count < GUARD_CELLS_MAX ? fault->cell_count : GUARD_CELLS_MAX;
    const uint8_t *cell = fault->cells[pick_below(s, 2) == 0 ? 0 : pick_below(s, stored)];
    for (size_t i = 0; i < PASSES * s->cells->axis_count; i++) {
        const size_t axis = pick_below(s, s->cells->axis_count);
        meet_point(s, &s->cells->axes[axis], s->cells->axes[axis].points[cell[axis]]);
    }
}

/* Reports the first cell with the fault if there are values at its points; otherwise the most
 * readable witness. */
static void choose_witness(struct search *s, struct guard_fault *fault)
{
    double points[CELL_AXES_MAX];
    char when[GUARD_WORDS_MAX];
    char first[GUARD_WORDS_MAX];
    cells_points(s->cells, fault->cells[0], points);
    cells_describe(s->cells, points, first, sizeof first);
    if (fault->shown && strcmp(fault->when, first) == 0) {
        return;
    }
    cells_points_of(s->cells, s->values, points);
    cells_describe(s->cells, points, when, sizeof when);
    if (!fault->shown || strcmp(when, first) == 0 || strlen(when) < strlen(fault->when)) {
        memcpy(fault->when, when, sizeof when);
    }
    fault->shown = true;
}

static void try_values(struct search *s)
{
    struct guards_holding holding = {.count = 0};
    for (size_t i = 0; i < s->g->count; i++) {
        if (s->g->when[i] == 0 ||
            cells_compute(s->cells->pool, s->g->when[i], s->values) > 0.0) {
            guards_count(&holding, i);
        }
    }
    struct guard_fault *fault = guards_fault(s->g, &holding, false);
    if (fault) {
        choose_witness(s, fault);
    }
}

void guards_search(struct guards *g)
{
    struct search s = {.g = g, .cells = g->cells, .random = random_stream(1, 0)};
    const double points = SEARCH_WORK / (double)(g->weight + 1);
    if (g->fault_count == 0 || g->cells->axis_count == 0) {
        return;
    }
    for (size_t i = 0; i < g->count; i++) {
        if (g->when[i] != 0) {
            machine_list_names(g->cells->pool, g->when[i], true, &s.names);
        }
    }
    for (size_t i = 0; i < MACHINE_SEARCH_MAX * g->fault_count && (double)i < points; i++) {
        pick_values(&s);
        if (i % 2 == 0) {
            aim_values(&s);
        }
        try_values(&s);
    }
}
