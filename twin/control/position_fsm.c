#include "twin/control/position_fsm.h"

#include <math.h>

/* More arcs than any error leads through in one period. */
enum { ARCS_MAX = 8 };

static const struct position_fsm_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

/* --- guards on the error: e upwards, -e downwards ----------------------------------------- */

EFSM_GUARD(is_above, input_of(v)->error > input_of(v)->near_by);
EFSM_GUARD(is_below, input_of(v)->error < -input_of(v)->near_by);
EFSM_GUARD(is_far_above, input_of(v)->error >= input_of(v)->slow);
EFSM_GUARD(is_far_below, input_of(v)->error <= -input_of(v)->slow);
EFSM_GUARD(is_beyond_above, input_of(v)->error > input_of(v)->slow);
EFSM_GUARD(is_beyond_below, input_of(v)->error < -input_of(v)->slow);

static bool has_arrived(const struct efsm_view *v)
{
    const struct position_fsm_in *in = input_of(v);
    return fabs(in->error) < in->rest && fabs(in->coast) < in->rest;
}

/* --- commands ------------------------------------------------------------------------------
 */

static void output_command(const struct efsm_view *v)
{
    const struct position_fsm_in *in = input_of(v);
    const double commands[POSITION_FSM_STATE_COUNT] = {
        [POSITION_FSM_FAST_UP] = in->fast_command,
        [POSITION_FSM_SLOW_UP] = in->slow_command,
        [POSITION_FSM_FAST_DOWN] = -in->fast_command,
        [POSITION_FSM_SLOW_DOWN] = -in->slow_command,
        [POSITION_FSM_NEAR] = in->near_command};
    double *command = v->out;
    *command = commands[v->now->state];
}

static const struct efsm_state states[] = {POSITION_FSM_STATES(EFSM_STATE)};

/* clang-format off */
#define REST      POSITION_FSM_REST
#define FAST_UP   POSITION_FSM_FAST_UP
#define SLOW_UP   POSITION_FSM_SLOW_UP
#define FAST_DOWN POSITION_FSM_FAST_DOWN
#define SLOW_DOWN POSITION_FSM_SLOW_DOWN
#define NEAR      POSITION_FSM_NEAR

static const struct efsm_arc arcs[] = {
    {REST,      REST,      .label = "-S <= e <= S", .waits = true, .unless = {is_above, is_below}},
    {REST,      FAST_UP,   is_above, .label = "e > S"},
    {REST,      FAST_DOWN, is_below, .label = "e < -S"},
    {FAST_UP,   FAST_UP,   is_far_above, .label = "e >= D", .waits = true},
    {FAST_UP,   SLOW_UP,   .label = "-S <= e < D", .unless = {is_far_above, is_below}},
    {FAST_UP,   FAST_DOWN, is_below, .label = "e < -S"},
    {SLOW_UP,   SLOW_UP,   is_above, .label = "S < e <= D", .waits = true, .unless = {is_beyond_above}},
    {SLOW_UP,   FAST_UP,   is_beyond_above, .label = "e > D"},
    {SLOW_UP,   NEAR,      .label = "-S <= e <= S", .unless = {is_above, is_below}},
    {SLOW_UP,   SLOW_DOWN, is_below, .label = "e < -S"},
    {FAST_DOWN, FAST_DOWN, is_far_below, .label = "e <= -D", .waits = true},
    {FAST_DOWN, SLOW_DOWN, .label = "-D < e <= S", .unless = {is_far_below, is_above}},
    {FAST_DOWN, FAST_UP,   is_above, .label = "e > S"},
    {SLOW_DOWN, SLOW_DOWN, is_below, .label = "-D <= e < -S", .waits = true, .unless = {is_beyond_below}},
    {SLOW_DOWN, FAST_DOWN, is_beyond_below, .label = "e < -D"},
    {SLOW_DOWN, NEAR,      .label = "-S <= e <= S", .unless = {is_above, is_below}},
    {SLOW_DOWN, SLOW_UP,   is_above, .label = "e > S"},
    {NEAR,      NEAR,      .label = "|e| >= R or |c| >= R, |e| <= D", .waits = true,
     .unless = {has_arrived, is_beyond_above, is_beyond_below}},
    {NEAR,      REST,      has_arrived, .label = "|e|, |c| < R"},
    {NEAR,      FAST_UP,   is_beyond_above, .label = "e > D"},
    {NEAR,      FAST_DOWN, is_beyond_below, .label = "e < -D"},
};
/* clang-format on */

const struct efsm_table position_fsm_table = {
    .name = "position",
    .purpose = "Moves a joint to its set point: fast, slow near it, proportionally at the end.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    .output = output_command,
};

double position_fsm_step(struct efsm *machine, const struct position_fsm_in *in_now,
                         int64_t t_us)
{
    double command = 0.0;
    const struct efsm_machine one = {&position_fsm_table, machine, NULL, 0, in_now, &command};
    const struct efsm_network net = {.machines = &one, .count = 1, .cycles_max = ARCS_MAX};
    (void)efsm_run_instant(&net, t_us);
    return command;
}
