/* twin/machine/machine_search.h - searches values that prove a fault of a state's guards.
 *
 * If cases share names, a faulty case may be impossible, so it counts only with a witness.
 * Private to the files of machine_checks.
 */
#ifndef TWIN_MACHINE_MACHINE_SEARCH_H
#define TWIN_MACHINE_MACHINE_SEARCH_H

#include "twin/machine/machine_cells.h"

enum {
    GUARD_FAULTS_MAX = 64,
    GUARD_CELLS_MAX = 8, /* stored cells per fault, to search in */
    GUARD_WORDS_MAX = 256,
    NO_GUARD = 255
};

/* A fault: no guard holds (both NO_GUARD), or these two hold at once. */
struct guard_fault {
    uint8_t first, second;
    bool shown;        /* a witness was found */
    size_t cell_count; /* number of cells with this fault */
    uint8_t cells[GUARD_CELLS_MAX][CELL_AXES_MAX];
    char when[GUARD_WORDS_MAX];
};

/* The guards of a state. */
struct guards {
    const struct cells *cells;
    bool stays; /* if no guard holds the machine stays, which is not a fault */
    uint8_t state;
    size_t count, fault_count;
    size_t weight;                   /* nodes of all guards together */
    uint16_t when[MACHINE_ARCS_MAX]; /* root of each guard; 0: it always holds */
    uint8_t arc[MACHINE_ARCS_MAX];
    bool held[MACHINE_ARCS_MAX]; /* holds in some cell */
    struct guard_fault faults[GUARD_FAULTS_MAX];
};

/* The guards that hold in a cell, collected one by one. */
struct guards_holding {
    size_t count;
    uint8_t first, second;
};
void guards_count(struct guards_holding *holding, size_t guard);

/* Finds the fault of these guards, or adds it if add is set. NULL: no fault, or no room. */
struct guard_fault *guards_fault(struct guards *g, const struct guards_holding *holding,
                                 bool add);

/* Searches a witness for each fault, in the cells that have it. Bounded and repeatable. */
void guards_search(struct guards *g);

#endif
