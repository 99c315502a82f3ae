#include "twin/experiments/position_fsm.h"

/* More arcs than any error leads through. */
enum { ARCS_MAX = 8 };

static const struct position_fsm_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

/* --- where the error is: e upwards, -e downwards -------------------------------------------
 */

static bool is_above(const struct efsm_view *v)
{
    return input_of(v)->error > input_of(v)->near_by;
}

static bool is_below(const struct efsm_view *v)
{
    return input_of(v)->error < -input_of(v)->near_by;
}

static bool is_far_above(const struct efsm_view *v)
{
    return input_of(v)->error >= input_of(v)->slow;
}

static bool is_far_below(const struct efsm_view *v)
{
    return input_of(v)->error <= -input_of(v)->slow;
}

static bool is_beyond_above(const struct efsm_view *v)
{
    return input_of(v)->error > input_of(v)->slow;
}

static bool is_beyond_below(const struct efsm_view *v)
{
    return input_of(v)->error < -input_of(v)->slow;
}

static bool has_arrived(const struct efsm_view *v)
{
    return input_of(v)->error < input_of(v)->near_by / 2.0 &&
           input_of(v)->error > -input_of(v)->near_by / 2.0;
}

/* --- commands ------------------------------------------------------------------------------
 */

static void set_command(const struct efsm_view *v, double command)
{
    struct position_fsm_out *out = v->out;
    out->command = command;
}

static void command_rest(const struct efsm_view *v)
{
    set_command(v, 0.0);
}

static void command_fast_up(const struct efsm_view *v)
{
    set_command(v, input_of(v)->fast_command);
}

static void command_slow_up(const struct efsm_view *v)
{
    set_command(v, input_of(v)->slow_command);
}

static void command_fast_down(const struct efsm_view *v)
{
    set_command(v, -input_of(v)->fast_command);
}

static void command_slow_down(const struct efsm_view *v)
{
    set_command(v, -input_of(v)->slow_command);
}

static void command_proportionally(const struct efsm_view *v)
{
    set_command(v, input_of(v)->near_command);
}

/* clang-format off */
#define REST      POSITION_FSM_REST
#define FAST_UP   POSITION_FSM_FAST_UP
#define SLOW_UP   POSITION_FSM_SLOW_UP
#define FAST_DOWN POSITION_FSM_FAST_DOWN
#define SLOW_DOWN POSITION_FSM_SLOW_DOWN
#define NEAR      POSITION_FSM_NEAR

static const struct efsm_state states[POSITION_FSM_STATE_COUNT] = {
    [REST]      = {.name = "REST",      .output = command_rest},
    [FAST_UP]   = {.name = "FAST_UP",   .output = command_fast_up},
    [SLOW_UP]   = {.name = "SLOW_UP",   .output = command_slow_up},
    [FAST_DOWN] = {.name = "FAST_DOWN", .output = command_fast_down},
    [SLOW_DOWN] = {.name = "SLOW_DOWN", .output = command_slow_down},
    [NEAR]      = {.name = "NEAR",      .output = command_proportionally},
};

static const struct efsm_arc arcs[] = {
    {REST,      REST,      NULL,            NULL, .label = "-S <= e <= S",
     .waits = true, .unless = {is_above, is_below}},
    {REST,      FAST_UP,   is_above,        NULL, .label = "e > S", .waits = false},
    {REST,      FAST_DOWN, is_below,        NULL, .label = "e < -S", .waits = false},
    {FAST_UP,   FAST_UP,   is_far_above,    NULL, .label = "e >= D", .waits = true},
    {FAST_UP,   SLOW_UP,   NULL,            NULL, .label = "-S <= e < D",
     .waits = false, .unless = {is_far_above, is_below}},
    {FAST_UP,   FAST_DOWN, is_below,        NULL, .label = "e < -S", .waits = false},
    {SLOW_UP,   SLOW_UP,   is_above,        NULL, .label = "S < e <= D", .waits = true, .unless = {is_beyond_above}},
    {SLOW_UP,   FAST_UP,   is_beyond_above, NULL, .label = "e > D", .waits = false},
    {SLOW_UP,   NEAR,      NULL,            NULL, .label = "-S <= e <= S",
     .waits = false, .unless = {is_above, is_below}},
    {SLOW_UP,   SLOW_DOWN, is_below,        NULL, .label = "e < -S", .waits = false},
    {FAST_DOWN, FAST_DOWN, is_far_below,    NULL, .label = "e <= -D", .waits = true},
    {FAST_DOWN, SLOW_DOWN, NULL,            NULL, .label = "-D < e <= S",
     .waits = false, .unless = {is_far_below, is_above}},
    {FAST_DOWN, FAST_UP,   is_above,        NULL, .label = "e > S", .waits = false},
    {SLOW_DOWN, SLOW_DOWN, is_below,        NULL, .label = "-D <= e < -S", .waits = true, .unless = {is_beyond_below}},
    {SLOW_DOWN, FAST_DOWN, is_beyond_below, NULL, .label = "e < -D", .waits = false},
    {SLOW_DOWN, NEAR,      NULL,            NULL, .label = "-S <= e <= S",
     .waits = false, .unless = {is_above, is_below}},
    {SLOW_DOWN, SLOW_UP,   is_above,        NULL, .label = "e > S", .waits = false},
    {NEAR,      NEAR,      NULL,            NULL, .label = "S/2 <= |e| <= D",
     .waits = true, .unless = {has_arrived, is_beyond_above, is_beyond_below}},
    {NEAR,      REST,      has_arrived,     NULL, .label = "|e| < S/2", .waits = false},
    {NEAR,      FAST_UP,   is_beyond_above, NULL, .label = "e > D", .waits = false},
    {NEAR,      FAST_DOWN, is_beyond_below, NULL, .label = "e < -D", .waits = false},
};
/* clang-format on */

const struct efsm_table position_fsm_table = {
    .name = "position",
    .purpose = "Moves a joint to its set point: fast, slow near it, proportionally at the end.",
    .states = states,
    .state_count = POSITION_FSM_STATE_COUNT,
    .arcs = arcs,
    .arc_count = COUNT(arcs),
    .initial = POSITION_FSM_REST,
};

double position_fsm_step(struct efsm *machine, const struct position_fsm_in *in_now,
                         int64_t t_us)
{
    struct position_fsm_out out = {0.0};
    for (int i = 0; i < ARCS_MAX; i++) {
        efsm_plan(&position_fsm_table, machine, in_now, t_us);
        const bool settled = machine->blocked;
        efsm_update(&position_fsm_table, machine, t_us, 0, NULL, NULL);
        if (settled) {
            break;
        }
    }
    efsm_act(&position_fsm_table, machine, in_now, &out, t_us);
    return out.command;
}
