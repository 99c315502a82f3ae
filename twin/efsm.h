/* twin/efsm.h - networks of extended finite state machines: the one computational model.
 *
 * A machine is a table of arcs run by one engine. A cycle of a network is
 *
 *     SENSE (read inputs) -> PLAN (evaluate guards, write next values)
 *           -> UPDATE (next becomes current, all machines at once) -> ACT (write outputs)
 *
 * Guards and right-hand sides see current values only, so neither the order of the machines nor
 * that of the statements matters. Exactly one arc of the current state must fire: none is
 * INCOMPLETE, two or more NON_DETERMINISTIC. Both, and reading an undefined variable, and
 * popping an empty stack, are sinks: the machine stops there, is reported, assigns nothing.
 * Semantics and golden traces: docs/model/efsm.md (seeds 000 and 001, sections 3.1 to 3.3).
 *
 * Plain data without pointers: a machine can be copied, compared, saved and loaded.
 * Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_EFSM_H
#define TWIN_EFSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "twin/base/status.h"

enum {
    EFSM_STATES_MAX = 24,
    EFSM_CELLS_MAX = 12, /* model variables of one machine */
    EFSM_STACK_MAX = 16,
    EFSM_PUSH_MAX = 8,
    EFSM_TRACE_MAX = 32,
    EFSM_CYCLES_MAX = 100 /* per step: more is a livelock */
};

/* States above the table's own: sinks, the same for every machine. */
enum {
    EFSM_INCOMPLETE = 250,
    EFSM_NON_DETERMINISTIC,
    EFSM_UNDEFINED,   /* a guard or an action read an undefined variable */
    EFSM_STACK_EMPTY, /* popped an empty stack */
    EFSM_STACK_FULL,  /* pushed on a full one */
    EFSM_POP = 255    /* as an arc's `to`: go to the state popped from the stack */
};

/* The run-time state of one machine. All zero is not valid: call efsm_reset(). */
struct efsm {
    uint8_t state, next;
    uint8_t fired_arc;   /* index in the table; valid when fired_count == 1 */
    uint8_t fired_count; /* arcs whose guard held in the last plan */
    bool blocked;        /* nothing will change without input */
    bool stopped;        /* taken out of the execution by efsm_stop() */
    uint8_t depth, next_depth;
    uint8_t stack[EFSM_STACK_MAX], next_stack[EFSM_STACK_MAX]; /* [0] is the bottom */
    uint16_t defined, next_defined;                            /* bit k: cell k holds a value */
    double cell[EFSM_CELLS_MAX], next_cell[EFSM_CELLS_MAX];
    int64_t entered_us; /* when the current state was entered */
};

/* What guards, actions and outputs get. Read with efsm_get(), write with efsm_set(). */
struct efsm_view {
    const struct efsm *now; /* current values */
    struct efsm *next;      /* NULL in guards and outputs */
    const void *in; /* the machine's inputs of this cycle, as its sense function wrote them */
    void *out;      /* the machine's outputs, in output functions only */
    int64_t t_us;
    bool *undefined; /* set when an undefined variable was read */
};

typedef bool efsm_guard(const struct efsm_view *v);
typedef void efsm_action(const struct efsm_view *v);
typedef void efsm_output(const struct efsm_view *v);

struct efsm_arc {
    uint8_t from, to;    /* state index; to may be EFSM_POP */
    efsm_guard *guard;   /* NULL: always */
    efsm_action *action; /* NULL: none */
    const char *label;   /* guard / action in words, for people */
    bool waits;          /* firing means: waiting for an external event (blocked) */
    bool empties;        /* drop the whole stack first (hexagon at the arrow's tail) */
    uint8_t pops;        /* else: pop and discard so many first (bubbles at the tail) */
    uint8_t push_count;
    uint8_t push[EFSM_PUSH_MAX]; /* then push, last one ends on top (bubbles at the head) */
};

struct efsm_state {
    const char *name;
    efsm_output *output; /* Moore: of the current values only; NULL: none */
    bool final;          /* a sink on purpose: no arc leaves it, the machine is inactive */
};

struct efsm_table {
    const char *name;
    const char *purpose; /* one sentence for `tandem machines` */
    const struct efsm_state *states;
    size_t state_count; /* <= EFSM_STATES_MAX */
    const struct efsm_arc *arcs;
    size_t arc_count;         /* < 255 */
    const char *const *cells; /* names of the variables */
    size_t cell_count;        /* <= EFSM_CELLS_MAX */
    uint8_t initial;
};

/* How often and how long; separate from the machine so that many instances of one table can
 * share one. Plain data. */
struct efsm_stats {
    uint32_t visits[EFSM_STATES_MAX];
    int64_t stay_us[EFSM_STATES_MAX]; /* time in states that were left */
    uint32_t faults;                  /* entries into a sink of the engine */
};

struct efsm_step { /* one fired transition */
    int64_t t_us;
    uint16_t machine; /* index in the network, or the caller's own number */
    uint8_t from, to;
    uint8_t arc; /* 255 when none fired or several did */
};

struct efsm_trace { /* ring of the last transitions, self loops that wait left out */
    uint32_t count; /* ever; the newest stands at (count - 1) % EFSM_TRACE_MAX */
    struct efsm_step step[EFSM_TRACE_MAX];
};

/* Read or write variable k. Reading an undefined one sets the fault and gives NaN. */
double efsm_get(const struct efsm_view *v, size_t k);
bool efsm_is_defined(const struct efsm_view *v, size_t k);
void efsm_set(const struct efsm_view *v, size_t k, double value);

/* To the table's initial state, stack empty, all variables undefined, active. */
void efsm_reset(const struct efsm_table *table, struct efsm *m, int64_t t_us);

/* Give variable k a value from outside (initialisation): both current and next. */
void efsm_init_cell(struct efsm *m, size_t k, double value);

/* Take the machine out of the execution: it no longer plans, and no longer blocks or
 * deactivates the network. efsm_reset() brings it back. */
void efsm_stop(struct efsm *m);

/* Not in a sink (the engine's or a final state), not stopped. */
bool efsm_is_active(const struct efsm_table *table, const struct efsm *m);

/* PLAN: computes next values from current ones and in; writes nothing that is current. */
void efsm_plan(const struct efsm_table *table, struct efsm *m, const void *in, int64_t t_us);

/* UPDATE: next becomes current. stats and trace may be NULL. */
void efsm_update(const struct efsm_table *table, struct efsm *m, int64_t t_us, uint16_t machine,
                 struct efsm_stats *stats, struct efsm_trace *trace);

/* ACT: the current state's output function, if any. */
void efsm_act(const struct efsm_table *table, const struct efsm *m, const void *in, void *out,
              int64_t t_us);

/* Name of a state, the engine's sinks included ("__INCOMPLETE__" …). Never NULL. */
const char *efsm_state_name(const struct efsm_table *table, uint8_t state);

/* A fault in words: "Logger: INCOMPLETE in WAIT at 12.5 s: none of 'real', 'virtual' holds";
 * "" when m is in no sink of the engine. Never overflows out[size]. */
void efsm_describe_fault(const struct efsm_table *table, const struct efsm *m, char *out,
                         size_t size);

/* Is the table well formed (indices in range, every state reachable, names present, final
 * states without arcs)? NULL when it is, else what is wrong: for tests and start-up. */
const char *efsm_check_table(const struct efsm_table *table);

/* A network: machines that step together. */
struct efsm_machine {
    const struct efsm_table *table;
    struct efsm *m;
    struct efsm_stats *stats; /* may be NULL */
    uint16_t number;          /* for the trace */
    void *in;                 /* what sense fills and guards read */
    void *out;                /* what outputs write and the owner reads */
};

/* SENSE, once per cycle: fill each machine's `in` from the outside world and from the others'
 * `out`. cycle is I of the paper: events from outside are present only when cycle == 0. */
typedef void efsm_sense(void *context, unsigned cycle, int64_t t_us);
/* ACT, once per cycle after all outputs were computed: carry `out` to the outside world. */
typedef void efsm_commit(void *context, unsigned cycle, int64_t t_us);

struct efsm_network {
    const struct efsm_machine *machines;
    size_t count;
    efsm_sense *sense;   /* may be NULL */
    efsm_commit *commit; /* may be NULL */
    void *context;
    struct efsm_trace *trace; /* may be NULL */
    unsigned cycles_max;      /* 0: EFSM_CYCLES_MAX */
};

/* Run cycles until any machine is blocked or the cap is reached; returns the number of cycles
 * (== cap: livelock). Stopped machines are skipped; when all are stopped, 0. */
unsigned efsm_settle(const struct efsm_network *net, int64_t t_us);

/* The real-time executive itself (Figure 7), as data: when does the next period start? */
struct efsm_executive {
    int64_t period_us;    /* dT > 0 */
    int64_t begin_us;     /* B: when the current period should have begun */
    int64_t simulated_us; /* sT */
    uint64_t cycles;      /* C: cycles ever */
    uint64_t periods;
    uint64_t overruns;  /* periods that ended after the next should have begun */
    uint64_t livelocks; /* periods cut by the cycle cap */
    uint64_t resyncs;
    int64_t resync_us; /* lag beyond which B := T instead of catching up; 0: never */
    bool started;
};

/* Is a period due at t_us? If so run it: net settles once at simulated time. Returns whether it
 * ran; call again until false, with the time read anew. Overruns are caught up by immediate
 * periods (B += dT), unless the lag exceeds resync_us. */
bool efsm_executive_step(struct efsm_executive *x, const struct efsm_network *net,
                         int64_t t_us);

/* Tell the executive when the period that just ran ended, so that overruns are counted. */
void efsm_executive_end(struct efsm_executive *x, int64_t t_us);

/* Graphviz text of a table to out[size] (always terminated). lit: state drawn lit, or -1.
 * Returns the bytes needed without the NUL; more than size - 1 means it was cut. */
size_t efsm_dot(const struct efsm_table *table, int lit, char *out, size_t size);

#endif
