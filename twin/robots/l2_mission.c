#include "twin/robots/l2_mission.h"

static const struct l2_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool is_event(const struct efsm_view *v, enum l2_event event)
{
    return input_of(v)->event == event;
}

static bool is_homing(const struct efsm_view *v)
{
    return efsm_get(v, L2_HOMING) > 0.0;
}

/* --- guards --------------------------------------------------------------------------- */

static bool is_start(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_START);
}

static bool is_quit(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_QUIT);
}

static bool is_ack(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_ACK);
}

static bool is_nothing(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_NONE);
}

static bool is_path(const struct efsm_view *v)
{
    return input_of(v)->step == L2_STEP_PATH;
}

static bool is_sweep(const struct efsm_view *v)
{
    return input_of(v)->step == L2_STEP_SWEEP;
}

static bool is_goal(const struct efsm_view *v)
{
    return input_of(v)->step == L2_STEP_GOAL;
}

static bool is_over(const struct efsm_view *v)
{
    return input_of(v)->step == L2_STEP_NONE;
}

static bool returns_always(const struct efsm_view *v)
{
    return input_of(v)->returns;
}

static bool returns_on_failure(const struct efsm_view *v)
{
    return input_of(v)->returns_on_failure;
}

static bool has_route(const struct efsm_view *v)
{
    return input_of(v)->routed;
}

static bool has_failed(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_BLOCKED) || is_event(v, L2_EVENT_FAILED) ||
           is_event(v, L2_EVENT_HALTED);
}

/* Another way may be tried: this one was blocked, and it was L2's own choice. */
static bool may_detour(const struct efsm_view *v)
{
    return is_event(v, L2_EVENT_BLOCKED) && (is_homing(v) || input_of(v)->on_route) &&
           efsm_get(v, L2_ROUTES) < input_of(v)->routes_max;
}

static bool goes_home(const struct efsm_view *v)
{
    return !is_homing(v) && returns_on_failure(v);
}

static bool of_l1(const struct efsm_view *v)
{
    return is_ack(v) || has_failed(v);
}

static bool of_user(const struct efsm_view *v)
{
    return is_start(v) || is_quit(v);
}

/* --- actions -------------------------------------------------------------------------- */

static void begin_mission(const struct efsm_view *v)
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

static void note_failure(const struct efsm_view *v)
{
    efsm_set(v, L2_FAILED, 1.0);
}

static void fail_and_turn_home(const struct efsm_view *v)
{
    note_failure(v);
    turn_home(v);
}

static void count_refusal(const struct efsm_view *v)
{
    efsm_set(v, L2_REFUSED, efsm_get(v, L2_REFUSED) + 1.0);
}

/* --- outputs -------------------------------------------------------------------------- */

static struct l2_out *output_of(const struct efsm_view *v)
{
    return v->out;
}

static void ask_goal(const struct efsm_view *v)
{
    output_of(v)->request = L2_REQUEST_GOAL;
}

static void ask_home(const struct efsm_view *v)
{
    output_of(v)->request = L2_REQUEST_HOME;
}

static void order_follow(const struct efsm_view *v)
{
    output_of(v)->order = L2_ORDER_FOLLOW;
}

static void order_sweep(const struct efsm_view *v)
{
    output_of(v)->order = L2_ORDER_SWEEP;
}

static void order_quit(const struct efsm_view *v)
{
    output_of(v)->order = L2_ORDER_QUIT;
}

static void tell_done(const struct efsm_view *v)
{
    output_of(v)->verdict = L2_VERDICT_DONE;
}

static void tell_failed(const struct efsm_view *v)
{
    output_of(v)->verdict = L2_VERDICT_FAILED;
}

static void tell_quit(const struct efsm_view *v)
{
    output_of(v)->verdict = L2_VERDICT_QUIT;
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
    {L2_IDLE,      L2_STEP,      is_start,           begin_mission,
     .label = "mission / K+ = 0, routes+ = 0, homing+ = 0, failed+ = 0", .empties = true, PUSH(L2_END)},
    {L2_IDLE,      L2_IDLE,      NULL,               NULL,               .label = "no mission",
     .waits = true, .unless = {is_start}},
    {L2_STEP,      L2_FOLLOW,    is_path,            next_step,          .label = "path / K+ = K + 1", PUSH(L2_STEP)},
    {L2_STEP,      L2_SWEEP,     is_sweep,           next_step,          .label = "sweep / K+ = K + 1", PUSH(L2_STEP)},
    {L2_STEP,      L2_PLAN,      is_goal,            next_step,          .label = "goal / K+ = K + 1",
     PUSH(L2_STEP, L2_FOLLOW)},
    {L2_STEP,      EFSM_POP,     is_over,            NULL,               .label = "no more steps",
     .unless = {returns_always}},
    {L2_STEP,      L2_HOME,      is_over,            turn_home,
     .label = "no more steps & return / homing+ = 1", PUSH(L2_FOLLOW), .also = {returns_always}},
    {L2_PLAN,      EFSM_POP,     has_route,          count_route,
     .label = "route found / routes+ = routes + 1"},
    {L2_PLAN,      L2_HOME,      returns_on_failure, fail_and_turn_home,
     .label = "no route & return / failed+ = 1, homing+ = 1",
     .empties = true, PUSH(L2_ABORT, L2_FOLLOW), .unless = {has_route}},
    {L2_PLAN,      L2_ABORT,     NULL,               note_failure,       .label = "no route / failed+ = 1",
     .empties = true, .unless = {has_route, returns_on_failure}},
    {L2_HOME,      EFSM_POP,     has_route,          count_route,
     .label = "route found / routes+ = routes + 1"},
    {L2_HOME,      L2_ABORT,     NULL,               note_failure,       .label = "no route / failed+ = 1",
     .empties = true, .unless = {has_route}},
    {L2_FOLLOW,    L2_FOLLOWING, NULL,               NULL,               .label = "W = F sent", .waits = true},
    {L2_FOLLOWING, EFSM_POP,     is_ack,             NULL,               .label = "acknowledged"},
    {L2_FOLLOWING, L2_PLAN,      may_detour,         NULL,               .label = "blocked & own route & routes left",
     PUSH(L2_FOLLOW), .unless = {is_homing}},
    {L2_FOLLOWING, L2_HOME,      may_detour,         NULL,               .label = "blocked & homing & routes left",
     PUSH(L2_FOLLOW), .also = {is_homing}},
    {L2_FOLLOWING, L2_HOME,      has_failed,         fail_and_turn_home,
     .label = "failed & return / failed+ = 1, homing+ = 1",
     .empties = true, PUSH(L2_ABORT, L2_FOLLOW), .also = {goes_home}, .unless = {may_detour}},
    {L2_FOLLOWING, L2_ABORT,     has_failed,         note_failure,       .label = "failed / failed+ = 1",
     .empties = true, .unless = {may_detour, goes_home}},
    {L2_FOLLOWING, L2_QUIT,      is_quit,            NULL,               .label = "quit", .empties = true},
    {L2_FOLLOWING, L2_FOLLOWING, is_start,           count_refusal,      .label = "mission / refused+ = refused + 1",
     .waits = true},
    {L2_FOLLOWING, L2_FOLLOWING, is_nothing,         NULL,               .label = "on the way", .waits = true},
    {L2_SWEEP,     L2_SWEEPING,  NULL,               NULL,               .label = "W = S sent", .waits = true},
    {L2_SWEEPING,  EFSM_POP,     is_ack,             NULL,               .label = "acknowledged"},
    {L2_SWEEPING,  L2_HOME,      has_failed,         fail_and_turn_home,
     .label = "failed & return / failed+ = 1, homing+ = 1",
     .empties = true, PUSH(L2_ABORT, L2_FOLLOW), .also = {returns_on_failure}},
    {L2_SWEEPING,  L2_ABORT,     has_failed,         note_failure,       .label = "failed / failed+ = 1",
     .empties = true, .unless = {returns_on_failure}},
    {L2_SWEEPING,  L2_QUIT,      is_quit,            NULL,               .label = "quit", .empties = true},
    {L2_SWEEPING,  L2_SWEEPING,  is_start,           count_refusal,      .label = "mission / refused+ = refused + 1",
     .waits = true},
    {L2_SWEEPING,  L2_SWEEPING,  is_nothing,         NULL,               .label = "sweeping", .waits = true},
    {L2_QUIT,      L2_QUITTING,  NULL,               NULL,               .label = "W = Q sent", .waits = true},
    {L2_QUITTING,  L2_STOPPED,   of_l1,              NULL,               .label = "acknowledged or failed"},
    {L2_QUITTING,  L2_QUITTING,  of_user,            count_refusal,
     .label = "mission, quit / refused+ = refused + 1", .waits = true},
    {L2_QUITTING,  L2_QUITTING,  is_nothing,         NULL,               .label = "quitting", .waits = true},
    {L2_END,       L2_IDLE,      NULL,               NULL,               .label = "told: done"},
    {L2_ABORT,     L2_IDLE,      NULL,               NULL,               .label = "told: failed"},
    {L2_STOPPED,   L2_IDLE,      NULL,               NULL,               .label = "told: quit"},
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
