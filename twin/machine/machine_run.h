/* twin/machine/machine_run.h - a machine that somebody wrote, at work on the engine.
 *
 * The functions of its table (machine_table.c puts them there) read a struct machine_in and
 * write a struct machine_out. What has no value is told apart from every value: reading it is
 * the sink UNDEFINED. Pure.
 */
#ifndef TWIN_MACHINE_MACHINE_RUN_H
#define TWIN_MACHINE_MACHINE_RUN_H

#include "twin/machine/machine.h"

/* What a machine reads: its inputs by their places; truths are 0.0 or 1.0. */
struct machine_in {
    const struct machine *machine;
    uint64_t there; /* bit i: input i has a value */
    double value[MACHINE_PORTS_MAX];
};

/* What it tells, by the places of its outputs. */
struct machine_out {
    uint64_t there;
    double value[MACHINE_PORTS_MAX];
};

/* For tables: the guard, the delayed assignments and the outputs, in->machine being whose. */
efsm_guard machine_guard;
efsm_action machine_action;
efsm_output machine_output;

/* One of them, alone or among others. */
struct machine_run {
    const struct machine *machine; /* borrowed */
    struct efsm m;
    struct efsm_stats stats;
    struct machine_in in;
    struct machine_out out;
};

/* To its initial state, with its starts; all inputs and outputs are undefined. */
void machine_run_start(struct machine_run *run, const struct machine *machine, int64_t t_us);

/* The starts alone, for who keeps its struct efsm: after efsm_reset(). */
void machine_run_starts(const struct machine *machine, struct efsm *m, int64_t t_us);

/* A cycle, phase by phase: outputs are those of the state it is in. */
void machine_run_outputs(struct machine_run *run, int64_t t_us);
void machine_run_plan(struct machine_run *run, int64_t t_us);
void machine_run_update(struct machine_run *run, int64_t t_us);

/* Between plan and update: the arcs whose guards held, or the one that read what has no value.
 * Returns how many. */
size_t machine_run_fired(const struct machine_run *run, int64_t t_us,
                         uint8_t arcs[MACHINE_ARCS_MAX]);

/* Place of the input or output of this name; MACHINE_NONE. */
uint8_t machine_find_input(const struct machine *machine, const char *name);
uint8_t machine_find_output(const struct machine *machine, const char *name);

#endif
