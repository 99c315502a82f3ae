/* twin/efsm/efsm.h - networks of extended finite state machines: the one computational model.
 *
 * A machine is a table of arcs run by one engine. A cycle of a network is
 *
 *   SENSE (read inputs) -> PLAN (evaluate guards, write next values)
 *         -> UPDATE (next becomes current, all machines at once) -> ACT (write outputs)
 *
 * Guards and right-hand sides see current values only, so the order of machines and of
 * statements does not matter. Exactly one arc of the current state must fire: none is
 * INCOMPLETE, two or more NON_DETERMINISTIC. Both of these, reading an undefined variable,
 * popping an empty stack and pushing on a full one lead to sinks: the machine stops there, is
 * reported, assigns nothing and keeps its stack.
 * Semantics and golden traces: docs/model/efsm.md, rules 1 to 18.
 *
 * Plain data without pointers: a machine can be copied, compared, saved and loaded. Pure: no
 * I/O, no clock, no allocation.
 */
#ifndef TWIN_EFSM_EFSM_H
#define TWIN_EFSM_EFSM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"

enum {
    EFSM_STATES_MAX = 32,
    EFSM_CELLS_MAX = 16, /* model variables of one machine */
    EFSM_STACK_MAX = 16,
    EFSM_PUSH_MAX = 8,
    EFSM_CONDITIONS_MAX = 4,
    EFSM_TRACE_MAX = 32,
    EFSM_CYCLES_MAX = 100 /* per step; more without a blocked machine is a livelock */
};

/* States above the table's own: sinks, the same for every machine. */
enum {
    EFSM_INCOMPLETE = 250,
    EFSM_NON_DETERMINISTIC,
    EFSM_UNDEFINED,   /* a guard or an action read an undefined variable */
    EFSM_STACK_EMPTY, /* popped an empty stack */
    EFSM_STACK_FULL,  /* pushed on a full one */
    EFSM_POP = 255    /* as an arc's `to`: the state popped from the stack */
};

enum { EFSM_NO_ARC = 255, EFSM_NO_CELL = 255 };

/* The run-time state of one machine. Start with efsm_reset(), not all zero. It has no padding,
 * so that equal runs leave equal bytes. Between two cycles every next value equals the current
 * one, so a cycle copies only what was written. */
struct efsm {
    uint8_t state, next;
    uint8_t from;        /* state of the last plan, unless it was a sink */
    uint8_t fired_arc;   /* in that plan: first arc whose guard held, or that read an undefined
                            variable; EFSM_NO_ARC: none */
    uint8_t fired_also;  /* the second arc whose guard held; EFSM_NO_ARC: none */
    uint8_t fired_count; /* number of arcs whose guard held */
    uint8_t undefined_cell; /* the first undefined variable read, EFSM_CELLS_MAX + k: input k;
                               EFSM_NO_CELL: none */
    bool blocked;           /* nothing changes without new input */
    bool stopped;           /* removed from execution by efsm_stop() */
    bool planned;           /* between plan and update */
    uint8_t depth, next_depth;
    uint16_t defined; /* bit k: cell k holds a value */
    uint16_t written; /* bit k: this plan wrote next_cell[k] */
    uint8_t stack[EFSM_STACK_MAX], next_stack[EFSM_STACK_MAX]; /* [0] is the bottom */
    double cell[EFSM_CELLS_MAX], next_cell[EFSM_CELLS_MAX];
    int64_t entered_us; /* entry into this state from another one, or reset */
};

/* Argument of guards, actions and outputs. Read with efsm_get(), write with efsm_set(). */
struct efsm_view {
    const struct efsm *now;     /* current values */
    struct efsm *next;          /* in actions only, else NULL */
    const struct efsm_arc *arc; /* under evaluation, or taken; not in output functions */
    const void *in; /* the machine's inputs of this cycle, from its sense function */
    void *out;      /* the machine's outputs, in output functions only */
    int64_t t_us;
    uint8_t *undefined; /* out: the first undefined variable or input that was read */
};

typedef bool efsm_guard(const struct efsm_view *v);
typedef void efsm_action(const struct efsm_view *v);
typedef void efsm_output(const struct efsm_view *v);

/* Fields in reading order; NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding) */
struct efsm_arc {
    uint8_t from, to;    /* state index; to may be EFSM_POP */
    efsm_guard *guard;   /* NULL: always, subject to unless and also below */
    efsm_action *action; /* NULL: none */
    const char *label;   /* guard / action in words, for people */
    bool waits;          /* firing means waiting for an external event (blocked) */
    bool empties;        /* empties the stack first (hexagon at the arrow's tail) */
    uint8_t pops;        /* else: pops and discards this many (bubbles at the tail) */
    uint8_t push_count;
    uint8_t push[EFSM_PUSH_MAX]; /* then pushes; the last ends on top (bubbles at the head) */
    /* Further conditions, each evaluated only if those before allow the arc; NULL ends them: */
    efsm_guard *unless[EFSM_CONDITIONS_MAX]; /* none of these holds … */
    efsm_guard *also[EFSM_CONDITIONS_MAX];   /* … and all of these do */
    uint32_t on; /* evaluated first: bits of the allowed events; 0: any, and none */
    /* Assignments without an action; bits of variables that become 0, become 1, or increase by
     * one: */
    uint16_t clears, raises, counts;
    int says; /* data for guards and the action, which find it in view.arc */
};

struct efsm_state {
    const char *name;
    efsm_output *output; /* Moore output: depends on current values only; NULL: none */
    bool final;          /* an intended sink: no arc leaves it, the machine is inactive */
};

struct efsm_table {
    const char *name;
    const char *purpose; /* one sentence for `tandem machines` */
    const struct efsm_state *states;
    size_t state_count; /* <= EFSM_STATES_MAX */
    const struct efsm_arc *arcs;
    size_t arc_count;          /* < 255 */
    const char *const *cells;  /* names of the variables */
    size_t cell_count;         /* <= EFSM_CELLS_MAX */
    const char *const *inputs; /* names of those inputs that may be undefined */
    size_t input_count;
    uint8_t initial;
    bool stays;      /* if no arc holds: stays and waits instead of INCOMPLETE */
    uint16_t zeros;  /* bits of the variables that are 0 after a reset, not undefined */
    size_t event_at; /* offset in the inputs of this cycle's event, an unsigned, for arcs' on */
    efsm_action *always; /* part of every action; NULL: none */
    efsm_output *output; /* for states without one of their own; NULL: none */
};

/* Parts of a table; states as a list `#define LIST(X) X(VALUE, "NAME") …`
 * (base/text/names.h). */
#define EFSM_STATE(value, text) [value] = {.name = (text)},
#define EFSM_STATES(table)      .states = (table), .state_count = COUNT(table)
#define EFSM_ARCS(table)        .arcs = (table), .arc_count = COUNT(table)
#define EFSM_CELLS(names)       .cells = (names), .cell_count = COUNT(names)
#define BIT(k)                  (1U << (k)) /* of an event or a variable */
/* States that an arc pushes. */
#define EFSM_PUSH(...) .push_count = sizeof((uint8_t[]){__VA_ARGS__}), .push = {__VA_ARGS__}

/* Visits and durations; separate from the machine so that instances of one table can share
 * them. Plain data. */
struct efsm_stats {
    uint32_t visits[EFSM_STATES_MAX]; /* entries from another state; a reset does not count */
    int64_t stay_us[EFSM_STATES_MAX]; /* time in states that were left */
    uint32_t faults;                  /* entries into a sink of the engine */
};

struct efsm_step { /* one fired transition */
    int64_t t_us;
    uint16_t machine; /* index in the network, or the caller's own number */
    uint8_t from, to;
    uint8_t arc; /* EFSM_NO_ARC for an entry into a sink of the engine */
};

struct efsm_trace { /* Ring of the last transitions, without waiting self loops. */
    uint32_t count; /* total; the newest is at (count - 1) % EFSM_TRACE_MAX */
    struct efsm_step step[EFSM_TRACE_MAX];
};

/* Returns the current value of variable k. An undefined one gives NaN and sends the machine to
 * EFSM_UNDEFINED. An output function has no next state, so it must check efsm_is_defined()
 * first. */
double efsm_get(const struct efsm_view *v, size_t k);
bool efsm_is_defined(const struct efsm_view *v, size_t k);

/* Reports that input k was read and has no value: the same result as for an undefined
 * variable. */
void efsm_miss_input(const struct efsm_view *v, size_t k);

/* Sets the next value of variable k; actions only (asserted). Of two writes the last one
 * counts. */
void efsm_set(const struct efsm_view *v, size_t k, double value);

/* Resets to the table's initial state: stack empty, variables undefined except its zeros,
 * active. */
void efsm_reset(const struct efsm_table *table, struct efsm *m, int64_t t_us);

/* Initialises variable k from outside: both current and next value. */
void efsm_init_cell(struct efsm *m, size_t k, double value);

/* Removes the machine from execution: it no longer plans, and no longer blocks or deactivates
 * the network. A pending plan is dropped. efsm_reset() brings it back. */
void efsm_stop(struct efsm *m);

/* Is it neither stopped nor in a sink (the engine's or a final state)? */
bool efsm_is_active(const struct efsm_table *table, const struct efsm *m);

/* PLAN: computes next values from current ones and in; changes no current value. A pending plan
 * is dropped first, so planning twice equals planning once. O(arcs). */
void efsm_plan(const struct efsm_table *table, struct efsm *m, const void *in, int64_t t_us);

/* UPDATE: next becomes current. stats and trace may be NULL; t_us and machine are recorded in
 * them. Without a plan it does nothing. */
void efsm_update(const struct efsm_table *table, struct efsm *m, int64_t t_us, uint16_t machine,
                 struct efsm_stats *stats, struct efsm_trace *trace);

/* ACT: calls the current state's output function, if any. A sink of the engine has none, so
 * *out does not change. Stopped machines do nothing. */
void efsm_act(const struct efsm_table *table, const struct efsm *m, const void *in, void *out,
              int64_t t_us);

/* Returns the name of a state, including the engine's sinks ("__INCOMPLETE__" …). Never
 * NULL. */
const char *efsm_state_name(const struct efsm_table *table, uint8_t state);

/* Describes a fault: "Logger: INCOMPLETE in WAIT at 12.5 s: none of 'real', 'virtual' holds";
 * "" if m is in no sink of the engine. Cut to out[size]. */
void efsm_describe_fault(const struct efsm_table *table, const struct efsm *m, char *out,
                         size_t size);

/* A network: machines that step together. */
struct efsm_machine {
    const struct efsm_table *table;
    struct efsm *m;
    struct efsm_stats *stats; /* may be NULL */
    uint16_t number;          /* for the trace */
    const void *in;           /* filled by sense, read by guards */
    void *out;                /* written by outputs, read by the owner */
};

/* SENSE, once per cycle: fills each machine's `in` from the outside world and the others'
 * `out`. cycle is I of the paper: events from outside are present only if cycle == 0. */
typedef void efsm_sense(void *context, unsigned cycle, int64_t t_us);
/* ACT, once per cycle after all outputs were computed: passes `out` to the outside world. */
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

/* The phases one by one, for owners with their own pace. Stopped machines are skipped. */
void efsm_network_sense(const struct efsm_network *net, unsigned cycle, int64_t t_us);
bool efsm_network_plan(const struct efsm_network *net, int64_t t_us); /* any machine blocked? */
void efsm_network_update(const struct efsm_network *net, int64_t t_us);
void efsm_network_act(const struct efsm_network *net, unsigned cycle, int64_t t_us);

/* Computes all outputs once without a cycle and without commit: after efsm_reset(), so that the
 * first SENSE finds the outputs of the initial states. */
void efsm_network_prime(const struct efsm_network *net, int64_t t_us);

/* Is at least one machine not stopped, and none of those in a sink or a final state? */
bool efsm_network_is_active(const struct efsm_network *net);

/* Runs cycles until any machine is blocked, the network is no longer active or the cap is
 * reached; returns the number of cycles. An inactive network runs none: its owner must stop or
 * reset the machine in the sink. An active, unblocked network at the cap is a livelock. */
unsigned efsm_run_instant(const struct efsm_network *net, int64_t t_us);

/* The real-time executive (Figure 7) decides when the next period starts. Zero-initialise it,
 * set period_us and, if wanted, simulated_us and resync_us. It is itself a machine of the
 * engine: efsm_executive_table. Times must stay within +-2^53 us (285 years). */
struct efsm_executive {
    int64_t period_us; /* dT > 0 */
    /* Results, except simulated_us before the first step: */
    int64_t begin_us;     /* B: nominal begin of the current period */
    int64_t simulated_us; /* sT: advances by dT with every period */
    uint64_t cycles;      /* C: cycles in all */
    uint64_t periods;     /* begun, in all */
    uint64_t overruns;    /* periods that ended after the nominal begin of the next */
    uint64_t livelocks;   /* periods cut by the cycle cap */
    uint64_t resyncs;     /* times that B := T gave up catching up */
    uint64_t ends;        /* times that the network became inactive */
    int64_t resync_us;    /* lag beyond which B := T instead of catching up; 0: never */
    struct efsm machine;  /* initialised by the first step */
    bool started;
};

extern const struct efsm_table efsm_executive_table;

/* Runs a period if one is due at t_us: net settles once at simulated time. Returns whether it
 * ran; call again until false, with a new time. The first call begins the first period.
 * Overruns are caught up by immediate periods (B += dT), unless the lag exceeds resync_us.
 * While net is inactive nothing runs; when it is active again, a period begins at once. */
bool efsm_executive_step(struct efsm_executive *x, const struct efsm_network *net,
                         int64_t t_us);

/* Reports the end of the last period, so that overruns are counted. */
void efsm_executive_end(struct efsm_executive *x, int64_t t_us);

/* Writes the Graphviz text of a table to out[size] (always terminated). lit: highlighted state,
 * or -1. Each state has the id "<machine>.<STATE>", so that a page can highlight it later.
 * Returns the needed bytes without the NUL; more than size - 1 means that it was cut. */
size_t efsm_dot(const struct efsm_table *table, int lit, char *out, size_t size);

/* Defines a guard of one condition on v: EFSM_GUARD(is_late, efsm_get(v, LATE_S) > 0.0); */
#define EFSM_GUARD(name, condition)                                                            \
    static bool name(const struct efsm_view *v)                                                \
    {                                                                                          \
        return condition;                                                                      \
    }                                                                                          \
    _Static_assert(1, "ask for a semicolon")

#endif
