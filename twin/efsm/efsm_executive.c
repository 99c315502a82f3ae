/* twin/efsm/efsm_executive.c - the executive of Figure 7, as a machine that the engine runs
 * like any other.
 *
 * Its outputs execute the phases of the network below it; struct efsm_executive shows its
 * variables after each step.
 */
#include <assert.h>

#include "twin/efsm/efsm.h"

enum { START, IDLE, SENSE, PLAN, UPDATE, ACT, END };

enum { BEGIN, SIMULATED, CYCLE, CYCLES, PERIODS, LIVELOCKS, RESYNCS, ENDS, CELL_COUNT };

/* Input and output of the executive's machine. */
struct work {
    const struct efsm_network *net;
    const struct efsm_executive *x;
    double t_us;
    unsigned cap;
    bool blocked; /* X: some machine waits for the outside */
};

static const struct work *work_of(const struct efsm_view *v)
{
    return v->in;
}

static double lag_us(const struct efsm_view *v)
{
    return work_of(v)->t_us - efsm_get(v, BEGIN);
}

EFSM_GUARD(is_active, efsm_network_is_active(work_of(v)->net));
EFSM_GUARD(is_due, is_active(v) && lag_us(v) >= (double)work_of(v)->x->period_us);

/* Would the coming period begin so late that catching up is given up? */
static bool is_lost(const struct efsm_view *v)
{
    const struct efsm_executive *x = work_of(v)->x;
    return x->resync_us > 0 && lag_us(v) - (double)x->period_us > (double)x->resync_us;
}

EFSM_GUARD(is_blocked, work_of(v)->blocked);
EFSM_GUARD(has_cycles_left, efsm_get(v, CYCLE) + 1.0 < (double)work_of(v)->cap);

static void begin_first(const struct efsm_view *v)
{
    efsm_set(v, BEGIN, work_of(v)->t_us);
}

/* Simulated time advances by one period, whatever the delay. */
static void begin_now(const struct efsm_view *v)
{
    begin_first(v);
    efsm_set(v, SIMULATED, efsm_get(v, SIMULATED) + (double)work_of(v)->x->period_us);
}

static void begin_next(const struct efsm_view *v)
{
    begin_now(v);
    efsm_set(v, BEGIN, efsm_get(v, BEGIN) + (double)work_of(v)->x->period_us);
}

static int64_t simulated_us(const struct efsm_view *v)
{
    return (int64_t)efsm_get(v, SIMULATED);
}

static void sense_network(const struct efsm_view *v)
{
    efsm_network_sense(work_of(v)->net, (unsigned)efsm_get(v, CYCLE), simulated_us(v));
}

static void plan_network(const struct efsm_view *v)
{
    struct work *w = v->out;
    w->blocked = efsm_network_plan(w->net, simulated_us(v));
}

static void update_network(const struct efsm_view *v)
{
    efsm_network_update(work_of(v)->net, simulated_us(v));
}

static void act_network(const struct efsm_view *v)
{
    efsm_network_act(work_of(v)->net, (unsigned)efsm_get(v, CYCLE), simulated_us(v));
}

static const struct efsm_state states[] = {
    [START] = {.name = "START"},
    [IDLE] = {.name = "IDLE"},
    [SENSE] = {.name = "SENSE", .output = sense_network},
    [PLAN] = {.name = "PLAN", .output = plan_network},
    [UPDATE] = {.name = "UPDATE", .output = update_network},
    [ACT] = {.name = "ACT", .output = act_network},
    [END] = {.name = "END"},
};

/* clang-format off */
#define BEGINS .clears = BIT(CYCLE), .counts = BIT(PERIODS)
#define ENDED  .label = "not active", .waits = true, .unless = {is_active}

static const struct efsm_arc arcs[] = {
    {START,  SENSE,  is_active, begin_first, .label = "active / B+ = T, I+ = 0", BEGINS},
    {START,  END,    ENDED, .counts = BIT(ENDS)},
    {IDLE,   IDLE,   is_active, .label = "T - B < dT", .waits = true, .unless = {is_due}},
    {IDLE,   SENSE,  is_due,    begin_next,  .label = "T - B >= dT / B+ = B + dT, sT+ = sT + dT, I+ = 0",
     .unless = {is_lost}, BEGINS},
    {IDLE,   SENSE,  is_due,    begin_now,   .label = "lag > limit / B+ = T, sT+ = sT + dT, I+ = 0",
     .also = {is_lost}, .clears = BIT(CYCLE), .counts = BIT(PERIODS) | BIT(RESYNCS)},
    {IDLE,   END,    ENDED, .counts = BIT(ENDS)},
    {SENSE,  PLAN,   .label = "true / C+ = C + 1", .counts = BIT(CYCLES)},
    {PLAN,   UPDATE, .label = "true"},
    {UPDATE, ACT,    .label = "true"},
    {ACT,    SENSE,  is_active, .label = "not X / I+ = I + 1",
     .also = {has_cycles_left}, .unless = {is_blocked}, .counts = BIT(CYCLE)},
    {ACT,    IDLE,   is_active, .label = "X", .waits = true, .also = {is_blocked}},
    {ACT,    IDLE,   is_active, .label = "not X, I + 1 = cap",
     .waits = true, .unless = {is_blocked, has_cycles_left}, .counts = BIT(LIVELOCKS)},
    {ACT,    END,    ENDED, .counts = BIT(ENDS)},
    {END,    SENSE,  is_active, begin_now,   .label = "active / B+ = T, sT+ = sT + dT, I+ = 0", BEGINS},
    {END,    END,    ENDED},
};
/* clang-format on */

static const char *const cells[CELL_COUNT] = {
    [BEGIN] = "B",         [SIMULATED] = "sT",        [CYCLE] = "I",         [CYCLES] = "C",
    [PERIODS] = "periods", [LIVELOCKS] = "livelocks", [RESYNCS] = "resyncs", [ENDS] = "ends"};

const struct efsm_table efsm_executive_table = {
    .name = "executive",
    .purpose = "Runs a network of machines in step with real time, period by period.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    EFSM_CELLS(cells),
    .zeros = BIT(CYCLES) | BIT(PERIODS) | BIT(LIVELOCKS) | BIT(RESYNCS) | BIT(ENDS),
};

static void read_cells(struct efsm_executive *x)
{
    x->begin_us = (int64_t)x->machine.cell[BEGIN];
    x->simulated_us = (int64_t)x->machine.cell[SIMULATED];
    x->cycles = (uint64_t)x->machine.cell[CYCLES];
    x->periods = (uint64_t)x->machine.cell[PERIODS];
    x->livelocks = (uint64_t)x->machine.cell[LIVELOCKS];
    x->resyncs = (uint64_t)x->machine.cell[RESYNCS];
    x->ends = (uint64_t)x->machine.cell[ENDS];
}

bool efsm_executive_step(struct efsm_executive *x, const struct efsm_network *net, int64_t t_us)
{
    assert(x && net);
    assert(x->period_us > 0);
    struct work work = {
        .net = net,
        .x = x,
        .t_us = (double)t_us,
        .cap = net->cycles_max ? net->cycles_max : EFSM_CYCLES_MAX,
    };
    const struct efsm_machine self = {
        .table = &efsm_executive_table, .m = &x->machine, .in = &work, .out = &work};
    const struct efsm_network own = {
        .machines = &self,
        .count = 1,
        .cycles_max = 4 * work.cap + 2, /* four phases per cycle, plus the way there */
    };
    const uint64_t periods = x->periods;

    if (!x->started) {
        efsm_reset(&efsm_executive_table, &x->machine, t_us);
        efsm_init_cell(&x->machine, SIMULATED, (double)x->simulated_us);
        x->started = true;
    }
    (void)efsm_run_instant(&own, t_us);
    read_cells(x);
    return x->periods != periods;
}

void efsm_executive_end(struct efsm_executive *x, int64_t t_us)
{
    if (x->started && t_us - x->begin_us > x->period_us) {
        x->overruns++;
    }
}
