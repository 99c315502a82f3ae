/* twin/machine/machine_cells.h - the cases that the guards of a state tell apart: an axis for
 * each truth that they read, and one for each linear form that they compare with constants.
 *
 * A form is a sum of terms, the first one (by its text) once; a term is a name, or what is not
 * linear, as a whole. Points of an axis: the constants, one between neighbours, one below and
 * one above. For the files of machine_checks alone.
 */
#ifndef TWIN_MACHINE_MACHINE_CELLS_H
#define TWIN_MACHINE_MACHINE_CELLS_H

#include "twin/machine/machine.h"

enum {
    CELL_TERMS_MAX = 64,
    CELL_TERM_TEXT = 96,
    CELL_FORM_TERMS_MAX = 16,
    CELL_AXES_MAX = 64,
    CELL_CONSTANTS_MAX = 96,
    CELL_POINTS_MAX = 2 * CELL_CONSTANTS_MAX + 2
};

struct cell_term {
    uint16_t node;
    char text[CELL_TERM_TEXT];
};

struct cell_form { /* sum of coefficient times term, terms in the order of their texts */
    size_t count;
    uint8_t term[CELL_FORM_TERMS_MAX];
    double coefficient[CELL_FORM_TERMS_MAX];
};

struct cell_axis {
    bool truth;
    uint8_t term;          /* of a truth */
    struct cell_form form; /* of others */
    size_t constant_count, point_count;
    double constants[CELL_CONSTANTS_MAX];
    double points[CELL_POINTS_MAX];
};

/* What a comparison asks of its axis; without one it always has the same value. */
struct cell_atom {
    bool known, fixed;
    uint8_t kind; /* enum expression_kind: a comparison */
    uint8_t axis;
    double constant;
};

struct cells {
    const struct machine *machine;
    const struct expression_pool *pool;
    bool exact; /* no two axes share a name, and all terms are names */
    bool full;  /* there are too many of something */
    size_t term_count, axis_count;
    struct cell_term terms[CELL_TERMS_MAX];
    struct cell_axis axes[CELL_AXES_MAX];
    struct cell_atom atoms[EXPRESSION_NODES_MAX];
};

/* Axes of these guards, truths before forms; 0 is none. */
void cells_make(struct cells *cells, const struct machine *machine, const uint16_t *guards,
                size_t count);

/* How many cells there are. */
double cells_count(const struct cells *cells);

/* Does a guard hold in the cell in which axis i is at its point at[i]? */
bool cells_hold(const struct cells *cells, uint16_t guard, const uint8_t *at);

/* A form's value, of values by name. */
double cells_value(const struct cells *cells, const struct cell_form *form,
                   const double *values);

/* The points of a cell; those of values by name. points[CELL_AXES_MAX] */
void cells_points(const struct cells *cells, const uint8_t *at, double *points);
void cells_points_of(const struct cells *cells, const double *values, double *points);

/* "b, P = 4, J - 1 n = 0" or "always" */
void cells_describe(const struct cells *cells, const double *points, char *out, size_t size);

/* An expression of values by name, all of which are there. */
double cells_compute(const struct expression_pool *pool, uint16_t node, const double *values);

enum expression_type cells_type(const struct expression_pool *pool, uint16_t node);

#endif
