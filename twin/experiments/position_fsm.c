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

static bool is_around(const struct efsm_view *v)
{
    return !is_above(v) && !is_below(v);
}

static bool is_far_above(const struct efsm_view *v)
{
    return input_of(v)->error >= input_of(v)->slow;
}

static bool is_far_below(const struct efsm_view *v)
{
    return input_of(v)->error <= -input_of(v)->slow;
}

static bool is_little_above(const struct efsm_view *v)
{
    return !is_far_above(v) && !is_below(v);
}

static bool is_little_below(const struct efsm_view *v)
{
    return !is_far_below(v) && !is_above(v);
}

static bool is_beyond_above(const struct efsm_view *v)
{
    return input_of(v)->error > input_of(v)->slow;
}

static bool is_beyond_below(const struct efsm_view *v)
{
    return input_of(v)->error < -input_of(v)->slow;
}

static bool is_within_above(const struct efsm_view *v)
{
    return is_above(v) && !is_beyond_above(v);
}

static bool is_within_below(const struct efsm_view *v)
{
    return is_below(v) && !is_beyond_below(v);
}

static bool has_arrived(const struct efsm_view *v)
{
    return input_of(v)->error < input_of(v)->near_by / 2.0 &&
           input_of(v)->error > -input_of(v)->near_by / 2.0;
}

static bool is_approaching(const struct efsm_view *v)
{
    return !has_arrived(v) && !is_beyond_above(v) && !is_beyond_below(v);
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
    {REST,      REST,      is_around,       NULL, "-S <= e <= S",     .waits = true},
    {REST,      FAST_UP,   is_above,        NULL, "e > S",            .waits = false},
    {REST,      FAST_DOWN, is_below,        NULL, "e < -S",           .waits = false},
    {FAST_UP,   FAST_UP,   is_far_above,    NULL, "e >= D",           .waits = true},
    {FAST_UP,   SLOW_UP,   is_little_above, NULL, "-S <= e < D",      .waits = false},
    {FAST_UP,   FAST_DOWN, is_below,        NULL, "e < -S",           .waits = false},
    {SLOW_UP,   SLOW_UP,   is_within_above, NULL, "S < e <= D",       .waits = true},
    {SLOW_UP,   FAST_UP,   is_beyond_above, NULL, "e > D",            .waits = false},
    {SLOW_UP,   NEAR,      is_around,       NULL, "-S <= e <= S",     .waits = false},
    {SLOW_UP,   SLOW_DOWN, is_below,        NULL, "e < -S",           .waits = false},
    {FAST_DOWN, FAST_DOWN, is_far_below,    NULL, "e <= -D",          .waits = true},
    {FAST_DOWN, SLOW_DOWN, is_little_below, NULL, "-D < e <= S",      .waits = false},
    {FAST_DOWN, FAST_UP,   is_above,        NULL, "e > S",            .waits = false},
    {SLOW_DOWN, SLOW_DOWN, is_within_below, NULL, "-D <= e < -S",     .waits = true},
    {SLOW_DOWN, FAST_DOWN, is_beyond_below, NULL, "e < -D",           .waits = false},
    {SLOW_DOWN, NEAR,      is_around,       NULL, "-S <= e <= S",     .waits = false},
    {SLOW_DOWN, SLOW_UP,   is_above,        NULL, "e > S",            .waits = false},
    {NEAR,      NEAR,      is_approaching,  NULL, "S/2 <= |e| <= D",  .waits = true},
    {NEAR,      REST,      has_arrived,     NULL, "|e| < S/2",        .waits = false},
    {NEAR,      FAST_UP,   is_beyond_above, NULL, "e > D",            .waits = false},
    {NEAR,      FAST_DOWN, is_beyond_below, NULL, "e < -D",           .waits = false},
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
