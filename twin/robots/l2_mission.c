#include "twin/robots/l2_mission.h"

static const struct l2_in *in(const struct efsm_view *v)
{
    return v->in;
}

static bool is(const struct efsm_view *v, enum l2_event event)
{
    return in(v)->event == event;
}

static bool homing(const struct efsm_view *v)
{
    return efsm_get(v, L2_HOMING) > 0.0;
}

/* --- guards --------------------------------------------------------------------------- */

static bool start(const struct efsm_view *v)
{
    return is(v, L2_EVENT_START);
}

static bool not_start(const struct efsm_view *v)
{
    return !start(v);
}

static bool quit(const struct efsm_view *v)
{
    return is(v, L2_EVENT_QUIT);
}

static bool ack(const struct efsm_view *v)
{
    return is(v, L2_EVENT_ACK);
}

static bool nothing(const struct efsm_view *v)
{
    return is(v, L2_EVENT_NONE);
}

static bool path(const struct efsm_view *v)
{
    return in(v)->step == L2_STEP_PATH;
}

static bool sweep(const struct efsm_view *v)
{
    return in(v)->step == L2_STEP_SWEEP;
}

static bool goal(const struct efsm_view *v)
{
    return in(v)->step == L2_STEP_GOAL;
}

static bool over(const struct efsm_view *v)
{
    return in(v)->step == L2_STEP_NONE && !in(v)->returns;
}

static bool over_go_home(const struct efsm_view *v)
{
    return in(v)->step == L2_STEP_NONE && in(v)->returns;
}

static bool routed(const struct efsm_view *v)
{
    return in(v)->routed;
}

static bool no_route(const struct efsm_view *v)
{
    return !in(v)->routed;
}

static bool no_route_go_home(const struct efsm_view *v)
{
    return no_route(v) && in(v)->returns_on_failure;
}

static bool no_route_stay(const struct efsm_view *v)
{
    return no_route(v) && !in(v)->returns_on_failure;
}

static bool failed(const struct efsm_view *v)
{
    return is(v, L2_EVENT_BLOCKED) || is(v, L2_EVENT_FAILED) || is(v, L2_EVENT_HALTED);
}

/* Another way may be tried: this one was blocked, and it was L2's own choice. */
static bool detour(const struct efsm_view *v)
{
    return is(v, L2_EVENT_BLOCKED) && (homing(v) || in(v)->on_route) &&
           efsm_get(v, L2_ROUTES) < in(v)->routes_max;
}

static bool detour_to_goal(const struct efsm_view *v)
{
    return detour(v) && !homing(v);
}

static bool detour_home(const struct efsm_view *v)
{
    return detour(v) && homing(v);
}

static bool failed_go_home(const struct efsm_view *v)
{
    return failed(v) && !detour(v) && !homing(v) && in(v)->returns_on_failure;
}

static bool failed_stay(const struct efsm_view *v)
{
    return failed(v) && !detour(v) && (homing(v) || !in(v)->returns_on_failure);
}

static bool sweep_failed_go_home(const struct efsm_view *v)
{
    return failed(v) && in(v)->returns_on_failure;
}

static bool sweep_failed_stay(const struct efsm_view *v)
{
    return failed(v) && !in(v)->returns_on_failure;
}

static bool of_l1(const struct efsm_view *v)
{
    return ack(v) || failed(v);
}

static bool of_user(const struct efsm_view *v)
{
    return start(v) || quit(v);
}

/* --- actions -------------------------------------------------------------------------- */

static void begin(const struct efsm_view *v)
{
    efsm_set(v, L2_K, 0.0);
    efsm_set(v, L2_ROUTES, 0.0);
    efsm_set(v, L2_HOMING, 0.0);
    efsm_set(v, L2_FAILED, 0.0);
}

static void next_step(const struct efsm_view *v)
{
    efsm_set(v, L2_K, efsm_get(v, L2_K) + 1.0);
    efsm_set(v, L2_ROUTES, 0.0);
}

static void count_route(const struct efsm_view *v)
{
    efsm_set(v, L2_ROUTES, efsm_get(v, L2_ROUTES) + 1.0);
}

static void turn_home(const struct efsm_view *v)
{
    efsm_set(v, L2_HOMING, 1.0);
    efsm_set(v, L2_ROUTES, 0.0);
}

static void fail(const struct efsm_view *v)
{
    efsm_set(v, L2_FAILED, 1.0);
}

static void fail_and_turn_home(const struct efsm_view *v)
{
    fail(v);
    turn_home(v);
}

static void refuse(const struct efsm_view *v)
{
    efsm_set(v, L2_REFUSED, efsm_get(v, L2_REFUSED) + 1.0);
}

/* --- outputs -------------------------------------------------------------------------- */

static struct l2_out *out(const struct efsm_view *v)
{
    return v->out;
}

static void ask_goal(const struct efsm_view *v)
{
    out(v)->request = L2_REQUEST_GOAL;
}

static void ask_home(const struct efsm_view *v)
{
    out(v)->request = L2_REQUEST_HOME;
}

static void order_follow(const struct efsm_view *v)
{
    out(v)->order = L2_ORDER_FOLLOW;
}

static void order_sweep(const struct efsm_view *v)
{
    out(v)->order = L2_ORDER_SWEEP;
}

static void order_quit(const struct efsm_view *v)
{
    out(v)->order = L2_ORDER_QUIT;
}

static void tell_done(const struct efsm_view *v)
{
    out(v)->verdict = L2_VERDICT_DONE;
}

static void tell_failed(const struct efsm_view *v)
{
    out(v)->verdict = L2_VERDICT_FAILED;
}

static void tell_quit(const struct efsm_view *v)
{
    out(v)->verdict = L2_VERDICT_QUIT;
}

static const struct efsm_state states[L2_STATE_COUNT] = {
    [L2_IDLE] = {.name = "IDLE"},
    [L2_STEP] = {.name = "STEP"},
    [L2_PLAN] = {.name = "PLAN", .output = ask_goal},
    [L2_HOME] = {.name = "HOME", .output = ask_home},
    [L2_FOLLOW] = {.name = "FOLLOW", .output = order_follow},
    [L2_FOLLOWING] = {.name = "FOLLOWING"},
    [L2_SWEEP] = {.name = "SWEEP", .output = order_sweep},
    [L2_SWEEPING] = {.name = "SWEEPING"},
    [L2_QUIT] = {.name = "QUIT", .output = order_quit},
    [L2_QUITTING] = {.name = "QUITTING"},
    [L2_END] = {.name = "END", .output = tell_done},
    [L2_ABORT] = {.name = "ABORT", .output = tell_failed},
    [L2_STOPPED] = {.name = "STOPPED", .output = tell_quit},
};

#define PUSH(...) .push_count = sizeof((uint8_t[]){__VA_ARGS__}), .push = {__VA_ARGS__}

/* clang-format off */
static const struct efsm_arc arcs[] = {
    {L2_IDLE,      L2_STEP,      start,                begin, .label = "mission / K+ = 0, routes+ = 0, homing+ = 0, failed+ = 0", .empties = true, PUSH(L2_END)},
    {L2_IDLE,      L2_IDLE,      not_start,            NULL, .label = "no mission", .waits = true},
    {L2_STEP,      L2_FOLLOW,    path,                 next_step, .label = "path / K+ = K + 1", PUSH(L2_STEP)},
    {L2_STEP,      L2_SWEEP,     sweep,                next_step, .label = "sweep / K+ = K + 1", PUSH(L2_STEP)},
    {L2_STEP,      L2_PLAN,      goal,                 next_step, .label = "goal / K+ = K + 1", PUSH(L2_STEP, L2_FOLLOW)},
    {L2_STEP,      EFSM_POP,     over,                 NULL, .label = "no more steps"},
    {L2_STEP,      L2_HOME,      over_go_home,         turn_home, .label = "no more steps & return / homing+ = 1", PUSH(L2_FOLLOW)},
    {L2_PLAN,      EFSM_POP,     routed,               count_route, .label = "route found / routes+ = routes + 1"},
    {L2_PLAN,      L2_HOME,      no_route_go_home,     fail_and_turn_home, .label = "no route & return / failed+ = 1, homing+ = 1", .empties = true, PUSH(L2_ABORT, L2_FOLLOW)},
    {L2_PLAN,      L2_ABORT,     no_route_stay,        fail, .label = "no route / failed+ = 1", .empties = true},
    {L2_HOME,      EFSM_POP,     routed,               count_route, .label = "route found / routes+ = routes + 1"},
    {L2_HOME,      L2_ABORT,     no_route,             fail, .label = "no route / failed+ = 1", .empties = true},
    {L2_FOLLOW,    L2_FOLLOWING, NULL,                 NULL, .label = "W = F sent", .waits = true},
    {L2_FOLLOWING, EFSM_POP,     ack,                  NULL, .label = "acknowledged"},
    {L2_FOLLOWING, L2_PLAN,      detour_to_goal,       NULL, .label = "blocked & own route & routes left", PUSH(L2_FOLLOW)},
    {L2_FOLLOWING, L2_HOME,      detour_home,          NULL, .label = "blocked & homing & routes left", PUSH(L2_FOLLOW)},
    {L2_FOLLOWING, L2_HOME,      failed_go_home,       fail_and_turn_home, .label = "failed & return / failed+ = 1, homing+ = 1", .empties = true, PUSH(L2_ABORT, L2_FOLLOW)},
    {L2_FOLLOWING, L2_ABORT,     failed_stay,          fail, .label = "failed / failed+ = 1", .empties = true},
    {L2_FOLLOWING, L2_QUIT,      quit,                 NULL, .label = "quit", .empties = true},
    {L2_FOLLOWING, L2_FOLLOWING, start,                refuse, .label = "mission / refused+ = refused + 1", .waits = true},
    {L2_FOLLOWING, L2_FOLLOWING, nothing,              NULL, .label = "on the way", .waits = true},
    {L2_SWEEP,     L2_SWEEPING,  NULL,                 NULL, .label = "W = S sent", .waits = true},
    {L2_SWEEPING,  EFSM_POP,     ack,                  NULL, .label = "acknowledged"},
    {L2_SWEEPING,  L2_HOME,      sweep_failed_go_home, fail_and_turn_home, .label = "failed & return / failed+ = 1, homing+ = 1", .empties = true, PUSH(L2_ABORT, L2_FOLLOW)},
    {L2_SWEEPING,  L2_ABORT,     sweep_failed_stay,    fail, .label = "failed / failed+ = 1", .empties = true},
    {L2_SWEEPING,  L2_QUIT,      quit,                 NULL, .label = "quit", .empties = true},
    {L2_SWEEPING,  L2_SWEEPING,  start,                refuse, .label = "mission / refused+ = refused + 1", .waits = true},
    {L2_SWEEPING,  L2_SWEEPING,  nothing,              NULL, .label = "sweeping", .waits = true},
    {L2_QUIT,      L2_QUITTING,  NULL,                 NULL, .label = "W = Q sent", .waits = true},
    {L2_QUITTING,  L2_STOPPED,   of_l1,                NULL, .label = "acknowledged or failed"},
    {L2_QUITTING,  L2_QUITTING,  of_user,              refuse, .label = "mission, quit / refused+ = refused + 1", .waits = true},
    {L2_QUITTING,  L2_QUITTING,  nothing,              NULL, .label = "quitting", .waits = true},
    {L2_END,       L2_IDLE,      NULL,                 NULL, .label = "told: done"},
    {L2_ABORT,     L2_IDLE,      NULL,                 NULL, .label = "told: failed"},
    {L2_STOPPED,   L2_IDLE,      NULL,                 NULL, .label = "told: quit"},
};
/* clang-format on */

static const char *const cells[L2_CELL_COUNT] = {"K", "routes", "homing", "failed", "refused"};

const struct efsm_table l2_table = {
    .name = "L2",
    .purpose = "The deliberative layer: carries a mission out, its plan as a stack of states.",
    .states = states,
    .state_count = L2_STATE_COUNT,
    .arcs = arcs,
    .arc_count = COUNT(arcs),
    .cells = cells,
    .cell_count = L2_CELL_COUNT,
    .initial = L2_IDLE,
};

void l2_reset(struct efsm *m, int64_t t_us)
{
    efsm_reset(&l2_table, m, t_us);
    efsm_init_cell(m, L2_REFUSED, 0.0);
}

ENUM_NAMES(l2_verdict, L2_VERDICT_QUIT + 1, "", "the mission is done", "the mission failed",
           "the mission was quit");
