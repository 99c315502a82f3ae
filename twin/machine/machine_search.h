/* twin/machine/machine_search.h - is a case in which the guards of a state are wrong one that
 * can be? Where cases share names, values are looked for. For the files of machine_checks
 * alone.
 */
#ifndef TWIN_MACHINE_MACHINE_SEARCH_H
#define TWIN_MACHINE_MACHINE_SEARCH_H

#include "twin/machine/machine_cells.h"

enum {
    GUARD_FAULTS_MAX = 64,
    GUARD_CELLS_MAX = 8, /* kept of a fault, to search in */
    GUARD_WORDS_MAX = 256,
    NO_GUARD = 255
};

/* No guard holds (both NO_GUARD), or these are the first two that do. */
struct guard_fault {
    uint8_t first, second;
    bool shown;        /* there is a witness */
    size_t cell_count; /* of all cells that have it */
    uint8_t cells[GUARD_CELLS_MAX][CELL_AXES_MAX];
    char when[GUARD_WORDS_MAX];
};

/* The guards of a state. */
struct guards {
    const struct cells *cells;
    bool stays; /* that none holds is no fault */
    uint8_t state;
    size_t count, fault_count;
    size_t weight;                   /* nodes of all of them together */
    uint16_t when[MACHINE_ARCS_MAX]; /* 0: it always holds */
    uint8_t arc[MACHINE_ARCS_MAX];
    bool held[MACHINE_ARCS_MAX]; /* in some cell */
    struct guard_fault faults[GUARD_FAULTS_MAX];
};

/* Those that hold, to be counted one after the other. */
struct guards_holding {
    size_t count;
    uint8_t first, second;
};
void guards_count(struct guards_holding *holding, size_t guard);

/* The fault of these, a new one if add. NULL: it is none, or there is no more room. */
struct guard_fault *guards_fault(struct guards *g, const struct guards_holding *holding,
                                 bool add);

/* Look for values for each fault: the cells that have it say where. Bounded; repeatable. */
void guards_search(struct guards *g);

#endif
