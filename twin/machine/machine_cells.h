/* twin/machine/machine_cells.h - the distinct cases (cells) of a state's guards: an axis for
 * each truth value that they read, and one for each linear form that they compare with
 * constants.
 *
 * A form is a sum of terms in which the first term (by its text) has coefficient 1. A term is a
 * name, or a nonlinear expression as a whole. The points of an axis are the constants, one
 * point between neighbours, one below and one above. Private to the files of machine_checks.
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

struct cell_form { /* sum of coefficient times term, sorted by the terms' texts */
    size_t count;
    uint8_t term[CELL_FORM_TERMS_MAX];
    double coefficient[CELL_FORM_TERMS_MAX];
};

struct cell_axis {
    bool truth;
    uint8_t term;          /* axis of a truth value */
    struct cell_form form; /* axis of a form */
    size_t constant_count, point_count;
    double constants[CELL_CONSTANTS_MAX];
    double points[CELL_POINTS_MAX];
};

/* A comparison as a condition on its axis; without an axis its value is constant. */
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
    bool full;  /* a limit was exceeded */
    size_t term_count, axis_count;
    struct cell_term terms[CELL_TERMS_MAX];
    struct cell_axis axes[CELL_AXES_MAX];
    struct cell_atom atoms[EXPRESSION_NODES_MAX];
};

/* Makes the axes of these guards, truth values before forms; 0 is no guard. */
void cells_make(struct cells *cells, const struct machine *machine, const uint16_t *guards,
                size_t count);

/* Returns the number of cells. */
double cells_count(const struct cells *cells);

/* Does a guard hold in the cell with axis i at its point at[i]? */
bool cells_hold(const struct cells *cells, uint16_t guard, const uint8_t *at);

/* Computes a form from values by name. */
double cells_value(const struct cells *cells, const struct cell_form *form,
                   const double *values);

/* Computes the points of a cell, or of values by name. points[CELL_AXES_MAX] */
void cells_points(const struct cells *cells, const uint8_t *at, double *points);
void cells_points_of(const struct cells *cells, const double *values, double *points);

/* Writes "b, P = 4, J - 1 n = 0" or "always". */
void cells_describe(const struct cells *cells, const double *points, char *out, size_t size);

/* Evaluates an expression with values for all names. */
double cells_compute(const struct expression_pool *pool, uint16_t node, const double *values);

#endif
