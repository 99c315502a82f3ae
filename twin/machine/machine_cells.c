#include "twin/machine/machine_cells.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"

/* ---- expressions ---- */

static bool is_truth(const struct expression_pool *pool, uint16_t node)
{
    const struct expression_node *n = &pool->nodes[node];
    if (n->kind == EXPRESSION_NAME) {
        return pool->names[n->name].type == EXPRESSION_TRUTH;
    }
    return n->kind == EXPRESSION_IF
               ? is_truth(pool, n->arguments[1])
               : n->kind == EXPRESSION_VALUE || n->kind == EXPRESSION_AFTER ||
                     n->kind == EXPRESSION_DEFINED ||
                     (n->kind >= EXPRESSION_NOT && n->kind <= EXPRESSION_GREATER_EQUAL);
}

static bool is_true(double x)
{
    return x > 0.0 || x < 0.0;
}

double cells_compute(const struct expression_pool *pool, uint16_t node, const double *values)
{
    const struct expression_node *n = &pool->nodes[node];
    double of[EXPRESSION_ARGUMENTS_MAX] = {0.0};
    switch (n->kind) {
    case EXPRESSION_CONSTANT:
    case EXPRESSION_VALUE:
        return n->number;
    case EXPRESSION_NAME:
        return pool->names[n->name].constant ? pool->names[n->name].value : values[n->name];
    case EXPRESSION_DEFINED:
        return 1.0;
    case EXPRESSION_IF:
        return cells_compute(
            pool, n->arguments[is_true(cells_compute(pool, n->arguments[0], values)) ? 1 : 2],
            values);
    default:
        for (size_t i = 0; i < COUNT(of); i++) {
            of[i] = n->arguments[i] != 0 ? cells_compute(pool, n->arguments[i], values) : 0.0;
        }
        return expression_apply((enum expression_kind)n->kind, of[0], of[1], of[2]);
    }
}

static bool is_same_tree(const struct expression_pool *pool, uint16_t a, uint16_t b)
{
    const struct expression_node *x = &pool->nodes[a];
    const struct expression_node *y = &pool->nodes[b];
    if (a == b) {
        return true;
    }
    if (x->kind != y->kind || x->name != y->name || x->reads != y->reads ||
        x->number < y->number || x->number > y->number) {
        return false;
    }
    for (size_t i = 0; i < EXPRESSION_ARGUMENTS_MAX; i++) {
        if (!is_same_tree(pool, x->arguments[i], y->arguments[i])) {
            return false;
        }
    }
    return true;
}

/* ---- linear forms ---- */

struct linear {
    struct cell_form form; /* terms in any order */
    double rest;
};

static uint8_t find_term(struct cells *c, uint16_t node)
{
    for (size_t i = 0; i < c->term_count; i++) {
        if (is_same_tree(c->pool, c->terms[i].node, node)) {
            return (uint8_t)i;
        }
    }
    if (c->term_count == CELL_TERMS_MAX) {
        c->full = true;
        return 0;
    }
    struct cell_term *term = &c->terms[c->term_count];
    term->node = node;
    if (expression_print_wide(c->pool, node, term->text, sizeof term->text) >=
        sizeof term->text) {
        memcpy(term->text + sizeof term->text - 4, "...", 4);
    }
    return (uint8_t)c->term_count++;
}

/* to += factor * term */
static void add_term(struct cells *c, struct linear *to, uint8_t term, double factor)
{
    struct cell_form *f = &to->form;
    size_t i = 0;
    while (i < f->count && f->term[i] != term) {
        i++;
    }
    if (i == CELL_FORM_TERMS_MAX) {
        c->full = true;
        return;
    }
    if (i == f->count) {
        f->term[f->count] = term;
        f->coefficient[f->count++] = 0.0;
    }
    f->coefficient[i] += factor;
    if (!is_true(f->coefficient[i])) {
        f->count--;
        f->term[i] = f->term[f->count];
        f->coefficient[i] = f->coefficient[f->count];
    }
}

static void add_linear(struct cells *c, struct linear *to, const struct linear *other,
                       double factor)
{
    for (size_t i = 0; i < other->form.count; i++) {
        add_term(c, to, other->form.term[i], factor * other->form.coefficient[i]);
    }
    to->rest += factor * other->rest;
}

static struct linear find_linear(struct cells *c, uint16_t node);

static bool find_product(struct cells *c, const struct expression_node *n, struct linear *out)
{
    const struct linear a = find_linear(c, n->arguments[0]);
    const struct linear b = find_linear(c, n->arguments[1]);
    if (n->kind == EXPRESSION_MULTIPLY && (a.form.count == 0 || b.form.count == 0)) {
        add_linear(c, out, a.form.count == 0 ? &b : &a, a.form.count == 0 ? a.rest : b.rest);
        return true;
    }
    if (n->kind == EXPRESSION_DIVIDE && b.form.count == 0 && is_true(b.rest)) {
        for (size_t i = 0; i < a.form.count; i++) {
            add_term(c, out, a.form.term[i], a.form.coefficient[i] / b.rest);
        }
        out->rest = a.rest / b.rest;
        return true;
    }
    return false;
}

static struct linear find_linear(struct cells *c, uint16_t node)
{
    const struct expression_node *n = &c->pool->nodes[node];
    struct linear out = {.rest = 0.0};
    if (n->kind == EXPRESSION_CONSTANT) {
        out.rest = n->number;
        return out;
    }
    if (n->kind == EXPRESSION_NAME && c->pool->names[n->name].constant) {
        out.rest = c->pool->names[n->name].value;
        return out;
    }
    if (n->kind == EXPRESSION_NEGATE || n->kind == EXPRESSION_ADD ||
        n->kind == EXPRESSION_SUBTRACT) {
        const struct linear a = find_linear(c, n->arguments[0]);
        add_linear(c, &out, &a, n->kind == EXPRESSION_NEGATE ? -1.0 : 1.0);
        if (n->kind != EXPRESSION_NEGATE) {
            const struct linear b = find_linear(c, n->arguments[1]);
            add_linear(c, &out, &b, n->kind == EXPRESSION_ADD ? 1.0 : -1.0);
        }
        return out;
    }
    if ((n->kind == EXPRESSION_MULTIPLY || n->kind == EXPRESSION_DIVIDE) &&
        find_product(c, n, &out)) {
        return out;
    }
    if (n->reads == 0) { /* a constant expression */
        out.rest = cells_compute(c->pool, node, NULL);
        return out;
    }
    add_term(c, &out, find_term(c, node), 1.0);
    return out;
}

static void sort_terms(const struct cells *c, struct cell_form *f)
{
    for (size_t i = 1; i < f->count; i++) {
        for (size_t k = i;
             k > 0 && strcmp(c->terms[f->term[k - 1]].text, c->terms[f->term[k]].text) > 0;
             k--) {
            const uint8_t term = f->term[k];
            const double coefficient = f->coefficient[k];
            f->term[k] = f->term[k - 1];
            f->coefficient[k] = f->coefficient[k - 1];
            f->term[k - 1] = term;
            f->coefficient[k - 1] = coefficient;
        }
    }
}

/* ---- axes ---- */

static bool is_same_form(const struct cell_form *a, const struct cell_form *b)
{
    if (a->count != b->count || memcmp(a->term, b->term, a->count) != 0) {
        return false;
    }
    for (size_t i = 0; i < a->count; i++) {
        if (a->coefficient[i] < b->coefficient[i] || a->coefficient[i] > b->coefficient[i]) {
            return false;
        }
    }
    return true;
}

static uint8_t add_axis(struct cells *c, const struct cell_axis *axis)
{
    for (size_t i = 0; i < c->axis_count; i++) {
        const struct cell_axis *there = &c->axes[i];
        if (there->truth == axis->truth &&
            (axis->truth ? there->term == axis->term
                         : is_same_form(&there->form, &axis->form))) {
            return (uint8_t)i;
        }
    }
    if (c->axis_count == CELL_AXES_MAX) {
        c->full = true;
        return 0;
    }
    c->axes[c->axis_count] = *axis;
    return (uint8_t)c->axis_count++;
}

static void add_constant(struct cells *c, struct cell_axis *axis, double constant)
{
    for (size_t i = 0; i < axis->constant_count; i++) {
        if (!(axis->constants[i] < constant) && !(axis->constants[i] > constant)) {
            return;
        }
    }
    if (axis->constant_count == CELL_CONSTANTS_MAX) {
        c->full = true;
        return;
    }
    axis->constants[axis->constant_count++] = constant;
}

static uint8_t mirror_comparison(uint8_t kind)
{
    return kind == EXPRESSION_LESS            ? EXPRESSION_GREATER
           : kind == EXPRESSION_LESS_EQUAL    ? EXPRESSION_GREATER_EQUAL
           : kind == EXPRESSION_GREATER       ? EXPRESSION_LESS
           : kind == EXPRESSION_GREATER_EQUAL ? EXPRESSION_LESS_EQUAL
                                              : kind;
}

/* Converts left - right against 0 to a form against a constant. */
static struct cell_atom make_comparison(struct cells *c, uint8_t kind, uint16_t left,
                                        uint16_t right)
{
    struct cell_axis axis = {.truth = false};
    struct cell_atom atom = {.known = true, .kind = kind};
    struct linear form = find_linear(c, left);
    const struct linear minus = find_linear(c, right);
    add_linear(c, &form, &minus, -1.0);
    if (form.form.count == 0 || !isfinite(form.rest)) {
        atom.fixed = true;
        atom.constant = expression_apply((enum expression_kind)kind, form.rest, 0.0, 0.0);
        return atom;
    }
    sort_terms(c, &form.form);
    const double scale = form.form.coefficient[0];
    for (size_t i = 0; i < form.form.count; i++) {
        const double exact = form.form.coefficient[i] / scale;
        const double rounded = rint(exact * 1e12) / 1e12; /* 0.1 + 0.2 becomes 0.3 */
        form.form.coefficient[i] = isfinite(rounded) ? rounded : exact;
    }
    axis.form = form.form;
    atom.kind = scale < 0.0 ? mirror_comparison(kind) : kind;
    atom.constant = -form.rest / scale + 0.0;
    atom.axis = add_axis(c, &axis);
    add_constant(c, &c->axes[atom.axis], atom.constant);
    return atom;
}

static struct cell_atom make_truth(struct cells *c, uint16_t node)
{
    const struct expression_node *n = &c->pool->nodes[node];
    if (n->kind == EXPRESSION_VALUE) {
        return (struct cell_atom){.known = true, .fixed = true, .constant = n->number};
    }
    if (n->kind == EXPRESSION_NAME && c->pool->names[n->name].constant) {
        return (struct cell_atom){
            .known = true, .fixed = true, .constant = c->pool->names[n->name].value};
    }
    const struct cell_axis axis = {
        .truth = true, .term = find_term(c, node), .point_count = 2, .points = {0.0, 1.0}};
    return (struct cell_atom){
        .known = true, .kind = EXPRESSION_VALUE, .axis = add_axis(c, &axis)};
}

static bool compares_truths(const struct cells *c, const struct expression_node *n)
{
    return (n->kind == EXPRESSION_EQUAL || n->kind == EXPRESSION_UNEQUAL) &&
           is_truth(c->pool, n->arguments[0]);
}

static bool joins_truths(const struct cells *c, const struct expression_node *n)
{
    return n->kind == EXPRESSION_AND || n->kind == EXPRESSION_OR || compares_truths(c, n);
}

/* Collects truth values, or comparisons. */
static void find_atoms(struct cells *c, uint16_t node, bool truths)
{
    const struct expression_node *n = &c->pool->nodes[node];
    if (c->full || c->atoms[node].known) {
        return;
    }
    const bool compares = n->kind >= EXPRESSION_EQUAL && n->kind <= EXPRESSION_GREATER_EQUAL;
    if (n->kind == EXPRESSION_NOT || joins_truths(c, n)) {
        find_atoms(c, n->arguments[0], truths);
        if (n->kind != EXPRESSION_NOT) {
            find_atoms(c, n->arguments[1], truths);
        }
    } else if (n->kind == EXPRESSION_AFTER && !truths) {
        c->atoms[node] =
            make_comparison(c, EXPRESSION_GREATER_EQUAL, n->arguments[1], n->arguments[0]);
    } else if (compares && !truths) {
        c->atoms[node] = make_comparison(c, n->kind, n->arguments[0], n->arguments[1]);
    } else if (!compares && n->kind != EXPRESSION_AFTER && truths) {
        c->atoms[node] = make_truth(c, node);
    }
}

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool is_elapsed(const struct cells *c, const struct cell_axis *axis)
{
    const struct expression_node *n = &c->pool->nodes[c->terms[axis->form.term[0]].node];
    return axis->form.count == 1 && n->kind == EXPRESSION_NAME &&
           n->name == MACHINE_ELAPSED_NAME;
}

/* elapsed is never below 0. */
static void make_points(struct cells *c, struct cell_axis *axis)
{
    const bool elapsed = is_elapsed(c, axis);
    size_t n = 0;
    if (elapsed) {
        bool below = false;
        for (size_t i = 0; i < axis->constant_count; i++) {
            below = below || axis->constants[i] < 0.0;
        }
        if (below) {
            add_constant(c, axis, 0.0);
        }
    }
    qsort(axis->constants, axis->constant_count, sizeof axis->constants[0], compare_numbers);
    axis->points[n++] = axis->constants[0] - 1.0;
    for (size_t i = 0; i < axis->constant_count; i++) {
        const double here = axis->constants[i];
        axis->points[n++] = here;
        axis->points[n++] =
            i + 1 < axis->constant_count ? (here + axis->constants[i + 1]) / 2.0 : here + 1.0;
    }
    for (size_t i = 0; i < n; i++) {
        if (!elapsed || axis->points[i] >= 0.0) {
            axis->points[axis->point_count++] = axis->points[i];
        }
    }
}

static void judge_exactness(struct cells *c)
{
    uint64_t seen = 0;
    c->exact = true;
    for (size_t i = 0; i < c->axis_count; i++) {
        const struct cell_axis *axis = &c->axes[i];
        const size_t count = axis->truth ? 1 : axis->form.count;
        for (size_t k = 0; k < count; k++) {
            const struct expression_node *n =
                &c->pool->nodes[c->terms[axis->truth ? axis->term : axis->form.term[k]].node];
            c->exact = c->exact && n->kind == EXPRESSION_NAME && (n->reads & seen) == 0;
            seen |= n->reads;
        }
    }
}

void cells_make(struct cells *cells, const struct machine *machine, const uint16_t *guards,
                size_t count)
{
    cells->machine = machine;
    cells->pool = &machine->draft.pool;
    cells->full = false;
    cells->term_count = cells->axis_count = 0;
    memset(cells->atoms, 0, cells->pool->count * sizeof cells->atoms[0]);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < count; i++) {
            if (guards[i] != 0) {
                find_atoms(cells, guards[i], pass == 0);
            }
        }
    }
    for (size_t i = 0; i < cells->axis_count; i++) {
        if (!cells->axes[i].truth) {
            make_points(cells, &cells->axes[i]);
        }
    }
    judge_exactness(cells);
}

/* ---- cells ---- */

double cells_count(const struct cells *cells)
{
    double count = 1.0;
    for (size_t i = 0; i < cells->axis_count; i++) {
        count *= (double)cells->axes[i].point_count;
    }
    return count;
}

bool cells_hold(const struct cells *cells, uint16_t guard, const uint8_t *at)
{
    const struct expression_node *n = &cells->pool->nodes[guard];
    const struct cell_atom *atom = &cells->atoms[guard];
    if (atom->known && atom->fixed) {
        return is_true(atom->constant);
    }
    if (atom->known) {
        const double point = cells->axes[atom->axis].points[at[atom->axis]];
        return atom->kind == EXPRESSION_VALUE
                   ? is_true(point)
                   : is_true(expression_apply((enum expression_kind)atom->kind, point,
                                              atom->constant, 0.0));
    }
    const bool left = cells_hold(cells, n->arguments[0], at);
    switch (n->kind) {
    case EXPRESSION_NOT:
        return !left;
    case EXPRESSION_AND:
        return left && cells_hold(cells, n->arguments[1], at);
    case EXPRESSION_OR:
        return left || cells_hold(cells, n->arguments[1], at);
    case EXPRESSION_EQUAL:
        return left == cells_hold(cells, n->arguments[1], at);
    default:
        return left != cells_hold(cells, n->arguments[1], at);
    }
}

double cells_value(const struct cells *cells, const struct cell_form *form,
                   const double *values)
{
    double sum = 0.0;
    for (size_t i = 0; i < form->count; i++) {
        sum += form->coefficient[i] *
               cells_compute(cells->pool, cells->terms[form->term[i]].node, values);
    }
    return sum;
}

static void append_form(const struct cells *c, const struct cell_form *f, double point,
                        char *out, size_t size)
{
    for (size_t i = 0; i < f->count; i++) {
        const double k = f->coefficient[i];
        text_append(out, size, "%s", i == 0 ? "" : k < 0.0 ? " - " : " + ");
        if (k < 1.0 || k > 1.0) {
            text_append(out, size, "%g ", i == 0 ? k : fabs(k));
        }
        text_append(out, size, "%s", c->terms[f->term[i]].text);
    }
    text_append(out, size, " = %g", point);
}

void cells_points(const struct cells *cells, const uint8_t *at, double *points)
{
    for (size_t i = 0; i < cells->axis_count; i++) {
        points[i] = cells->axes[i].points[at[i]];
    }
}

void cells_points_of(const struct cells *cells, const double *values, double *points)
{
    for (size_t i = 0; i < cells->axis_count; i++) {
        const struct cell_axis *axis = &cells->axes[i];
        points[i] = axis->truth
                        ? cells_compute(cells->pool, cells->terms[axis->term].node, values)
                        : cells_value(cells, &axis->form, values) + 0.0; /* avoids minus zero */
    }
}

void cells_describe(const struct cells *cells, const double *points, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", cells->axis_count == 0 ? "always" : "");
    for (size_t i = 0; i < cells->axis_count; i++) {
        const struct cell_axis *axis = &cells->axes[i];
        text_append(out, size, "%s", i == 0 ? "" : ", ");
        if (axis->truth) {
            text_append(out, size, "%s%s", is_true(points[i]) ? "" : "!",
                        cells->terms[axis->term].text);
        } else {
            append_form(cells, &axis->form, points[i], out, size);
        }
    }
}
