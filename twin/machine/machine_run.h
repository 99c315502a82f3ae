/* twin/machine/machine_run.h - runs a user's machine on the engine.
 *
 * The functions of its table (set by machine_table.c) read a struct machine_in and write a
 * struct machine_out. "Undefined" differs from every value: reading it leads to the sink
 * UNDEFINED. Pure.
 */
#ifndef TWIN_MACHINE_MACHINE_RUN_H
#define TWIN_MACHINE_MACHINE_RUN_H

#include "twin/machine/machine.h"

/* Inputs of a machine by their index; truth values are 0.0 or 1.0. */
struct machine_in {
    const struct machine *machine;
    uint64_t there; /* bit i: input i has a value */
    double value[MACHINE_PORTS_MAX];
};

/* Outputs of a machine by their index. */
struct machine_out {
    uint64_t there;
    double value[MACHINE_PORTS_MAX];
};

/* Functions for tables: guard, delayed assignments and outputs; in->machine is the machine. */
efsm_guard machine_guard;
efsm_action machine_action;
efsm_output machine_output;

/* One running machine, alone or among others. */
struct machine_run {
    const struct machine *machine; /* borrowed */
    struct efsm m;
    struct efsm_stats stats;
    struct machine_in in;
    struct machine_out out;
};

/* Puts it into its initial state and computes its starts; all inputs and outputs are
 * undefined. */
void machine_run_start(struct machine_run *run, const struct machine *machine, int64_t t_us);

/* Computes only the starts, for callers with their own struct efsm, after efsm_reset(). */
void machine_run_starts(const struct machine *machine, struct efsm *m, int64_t t_us);

/* One cycle, phase by phase; outputs are those of its present state. */
void machine_run_outputs(struct machine_run *run, int64_t t_us);
void machine_run_plan(struct machine_run *run, int64_t t_us);
void machine_run_update(struct machine_run *run, int64_t t_us);

/* Between plan and update: lists the arcs whose guards held, or the one that read an undefined
 * value. Returns their number. */
size_t machine_run_fired(const struct machine_run *run, int64_t t_us,
                         uint8_t arcs[MACHINE_ARCS_MAX]);

/* Returns the index of the input or output of this name, or MACHINE_NONE. */
uint8_t machine_find_input(const struct machine *machine, const char *name);
uint8_t machine_find_output(const struct machine *machine, const char *name);

#endif
