#include "twin/experiments/position_fsm.h"

/* More arcs than any error leads through. */
enum { ARCS_MAX = 8 };

static const struct position_fsm_in *in(const struct efsm_view *v)
{
    return v->in;
}

/* --- where the error is: e upwards, -e downwards -------------------------------------------
 */

static bool above(const struct efsm_view *v)
{
    return in(v)->error > in(v)->near_by;
}

static bool below(const struct efsm_view *v)
{
    return in(v)->error < -in(v)->near_by;
}

static bool around(const struct efsm_view *v)
{
    return !above(v) && !below(v);
}

static bool far_above(const struct efsm_view *v)
{
    return in(v)->error >= in(v)->slow;
}

static bool far_below(const struct efsm_view *v)
{
    return in(v)->error <= -in(v)->slow;
}

static bool little_above(const struct efsm_view *v)
{
    return !far_above(v) && !below(v);
}

static bool little_below(const struct efsm_view *v)
{
    return !far_below(v) && !above(v);
}

static bool beyond_above(const struct efsm_view *v)
{
    return in(v)->error > in(v)->slow;
}

static bool beyond_below(const struct efsm_view *v)
{
    return in(v)->error < -in(v)->slow;
}

static bool within_above(const struct efsm_view *v)
{
    return above(v) && !beyond_above(v);
}

static bool within_below(const struct efsm_view *v)
{
    return below(v) && !beyond_below(v);
}

static bool arrived(const struct efsm_view *v)
{
    return in(v)->error < in(v)->near_by / 2.0 && in(v)->error > -in(v)->near_by / 2.0;
}

static bool approaching(const struct efsm_view *v)
{
    return !arrived(v) && !beyond_above(v) && !beyond_below(v);
}

/* --- commands ------------------------------------------------------------------------------
 */

static void put(const struct efsm_view *v, double command)
{
    struct position_fsm_out *out = v->out;
    out->command = command;
}

static void rest(const struct efsm_view *v)
{
    put(v, 0.0);
}

static void fast_up(const struct efsm_view *v)
{
    put(v, in(v)->fast_command);
}

static void slow_up(const struct efsm_view *v)
{
    put(v, in(v)->slow_command);
}

static void fast_down(const struct efsm_view *v)
{
    put(v, -in(v)->fast_command);
}

static void slow_down(const struct efsm_view *v)
{
    put(v, -in(v)->slow_command);
}

static void proportional(const struct efsm_view *v)
{
    put(v, in(v)->near_command);
}

/* clang-format off */
#define REST      POSITION_FSM_REST
#define FAST_UP   POSITION_FSM_FAST_UP
#define SLOW_UP   POSITION_FSM_SLOW_UP
#define FAST_DOWN POSITION_FSM_FAST_DOWN
#define SLOW_DOWN POSITION_FSM_SLOW_DOWN
#define NEAR      POSITION_FSM_NEAR

static const struct efsm_state states[POSITION_FSM_STATE_COUNT] = {
    [REST]      = {.name = "REST",      .output = rest},
    [FAST_UP]   = {.name = "FAST_UP",   .output = fast_up},
    [SLOW_UP]   = {.name = "SLOW_UP",   .output = slow_up},
    [FAST_DOWN] = {.name = "FAST_DOWN", .output = fast_down},
    [SLOW_DOWN] = {.name = "SLOW_DOWN", .output = slow_down},
    [NEAR]      = {.name = "NEAR",      .output = proportional},
};

static const struct efsm_arc arcs[] = {
    {REST,      REST,      around,       NULL, "-S <= e <= S",     .waits = true},
    {REST,      FAST_UP,   above,        NULL, "e > S",            .waits = false},
    {REST,      FAST_DOWN, below,        NULL, "e < -S",           .waits = false},
    {FAST_UP,   FAST_UP,   far_above,    NULL, "e >= D",           .waits = true},
    {FAST_UP,   SLOW_UP,   little_above, NULL, "-S <= e < D",      .waits = false},
    {FAST_UP,   FAST_DOWN, below,        NULL, "e < -S",           .waits = false},
    {SLOW_UP,   SLOW_UP,   within_above, NULL, "S < e <= D",       .waits = true},
    {SLOW_UP,   FAST_UP,   beyond_above, NULL, "e > D",            .waits = false},
    {SLOW_UP,   NEAR,      around,       NULL, "-S <= e <= S",     .waits = false},
    {SLOW_UP,   SLOW_DOWN, below,        NULL, "e < -S",           .waits = false},
    {FAST_DOWN, FAST_DOWN, far_below,    NULL, "e <= -D",          .waits = true},
    {FAST_DOWN, SLOW_DOWN, little_below, NULL, "-D < e <= S",      .waits = false},
    {FAST_DOWN, FAST_UP,   above,        NULL, "e > S",            .waits = false},
    {SLOW_DOWN, SLOW_DOWN, within_below, NULL, "-D <= e < -S",     .waits = true},
    {SLOW_DOWN, FAST_DOWN, beyond_below, NULL, "e < -D",           .waits = false},
    {SLOW_DOWN, NEAR,      around,       NULL, "-S <= e <= S",     .waits = false},
    {SLOW_DOWN, SLOW_UP,   above,        NULL, "e > S",            .waits = false},
    {NEAR,      NEAR,      approaching,  NULL, "S/2 <= |e| <= D",  .waits = true},
    {NEAR,      REST,      arrived,      NULL, "|e| < S/2",        .waits = false},
    {NEAR,      FAST_UP,   beyond_above, NULL, "e > D",            .waits = false},
    {NEAR,      FAST_DOWN, beyond_below, NULL, "e < -D",           .waits = false},
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
