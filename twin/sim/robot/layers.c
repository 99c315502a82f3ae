#include "twin/sim/robot/layers.h"

/* --- L1 ------------------------------------------------------------------------------- */

enum {
    L1_ORDER = BIT(L1_EVENT_FOLLOW) | BIT(L1_EVENT_SWEEP),
    L1_REFUSAL = BIT(L1_EVENT_BLOCKED) | BIT(L1_EVENT_HALTED) | BIT(L1_EVENT_IGNORED) |
                 BIT(L1_EVENT_ERROR),
    L1_REPLY = L1_REFUSAL | BIT(L1_EVENT_DONE) | BIT(L1_EVENT_DATA)
};

static const struct l1_in *input_of_l1(const struct efsm_view *v)
{
    return v->in;
}

EFSM_GUARD(is_leg_short, input_of_l1(v)->leg_is_short);
EFSM_GUARD(is_late, (double)v->t_us >= efsm_get(v, L1_UNTIL));
EFSM_GUARD(path_done, !(efsm_get(v, L1_J) < input_of_l1(v)->leg_count));
EFSM_GUARD(more_rays, efsm_get(v, L1_RAYS) + 1.0 < input_of_l1(v)->rays_max);
EFSM_GUARD(has_rays, efsm_get(v, L1_RAYS) > 0.0);
EFSM_GUARD(go_ignored, input_of_l1(v)->event == L1_EVENT_IGNORED &&
                           efsm_get(v, L1_TRIES) + 1.0 < input_of_l1(v)->tries_max);
EFSM_GUARD(lidar_ignored, go_ignored(v) && !has_rays(v));
EFSM_GUARD(resume_ignored, input_of_l1(v)->event == L1_EVENT_IGNORED && has_rays(v));

static void set_patience(const struct efsm_view *v)
{
    efsm_set(v, L1_UNTIL, (double)v->t_us + input_of_l1(v)->patience_us);
}

static void write_l1(const struct efsm_view *v)
{
    static const struct l1_out outputs[L1_STATE_COUNT] = {
        [L1_GO] = {.command = L1_COMMAND_GO},
        [L1_LIDAR] = {.command = L1_COMMAND_LIDAR},
        [L1_RESUME] = {.command = L1_COMMAND_RESUME},
        [L1_HALT] = {.command = L1_COMMAND_HALT},
        [L1_STOP] = {.command = L1_COMMAND_HALT},
        [L1_ACK] = {.message = L2_EVENT_ACK},
        [L1_QUIT] = {.message = L2_EVENT_HALTED},
        [L1_FAIL] = {.message = L2_EVENT_FAILED}};
    *(struct l1_out *)v->out = outputs[v->now->state];
}

static const struct efsm_state l1_states[] = {L1_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc l1_arcs[] = {
    {L1_IDLE,    L1_LEG,     .label = "F / J+ = 0, tries+ = 0",
     .on = BIT(L1_EVENT_FOLLOW), .clears = BIT(L1_J) | BIT(L1_TRIES)},
    {L1_IDLE,    L1_LIDAR,   .label = "S / rays+ = 0, tries+ = 0",
     .on = BIT(L1_EVENT_SWEEP), .clears = BIT(L1_RAYS) | BIT(L1_TRIES)},
    {L1_IDLE,    L1_QUIT,    .label = "Q", .on = BIT(L1_EVENT_QUIT)},
    {L1_IDLE,    L1_IDLE,    .label = "no order", .waits = true, .on = BIT(L1_EVENT_NONE) | L1_REPLY},
    {L1_LEG,     L1_ACK,     path_done, .label = "J >= legs"},
    {L1_LEG,     L1_LEG,     is_leg_short, .label = "J < legs & there already / J+ = J + 1",
     .unless = {path_done}, .counts = BIT(L1_J), .clears = BIT(L1_TRIES)},
    {L1_LEG,     L1_GO,      .label = "J < legs & not there", .unless = {path_done, is_leg_short}},
    {L1_GO,      L1_MOVING,  NULL, set_patience, .label = "M = GO sent / until+ = t + patience"},
    {L1_MOVING,  L1_LEG,     .label = "done / J+ = J + 1, tries+ = 0",
     .on = BIT(L1_EVENT_DONE), .counts = BIT(L1_J), .clears = BIT(L1_TRIES)},
    {L1_MOVING,  L1_GO,      go_ignored, .label = "ignored & tries left / tries+ = tries + 1, warnings+ = warnings + 1",
     .counts = BIT(L1_TRIES) | BIT(L1_WARNINGS)},
    {L1_MOVING,  L1_FAIL,    .label = "blocked, halted, error, data, ignored too often",
     .on = L1_REFUSAL | BIT(L1_EVENT_DATA), .unless = {go_ignored}},
    {L1_MOVING,  L1_HALT,    .label = "Q", .on = BIT(L1_EVENT_QUIT)},
    {L1_MOVING,  L1_STOP,    is_late, .label = "t >= until", .on = BIT(L1_EVENT_NONE)},
    {L1_MOVING,  L1_MOVING,  .label = "F, S / refused+ = refused + 1",
     .waits = true, .on = L1_ORDER, .counts = BIT(L1_REFUSED)},
    {L1_MOVING,  L1_MOVING,  .label = "t < until", .waits = true, .on = BIT(L1_EVENT_NONE), .unless = {is_late}},
    {L1_LIDAR,   L1_RAY,     NULL, set_patience, .label = "M = LIDAR sent / until+ = t + patience"},
    {L1_RAY,     L1_RESUME,  more_rays, .label = "data / rays+ = rays + 1",
     .on = BIT(L1_EVENT_DATA), .counts = BIT(L1_RAYS)},
    {L1_RAY,     L1_STOP,    .label = "data & rays at their limit", .on = BIT(L1_EVENT_DATA), .unless = {more_rays}},
    {L1_RAY,     L1_ACK,     .label = "done", .on = BIT(L1_EVENT_DONE)},
    {L1_RAY,     L1_LIDAR,   lidar_ignored,
     .label = "ignored & no ray yet & tries left / tries+ = tries + 1, warnings+ = warnings + 1",
     .counts = BIT(L1_TRIES) | BIT(L1_WARNINGS)},
    {L1_RAY,     L1_ACK,     resume_ignored, .label = "ignored & rays > 0 / warnings+ = warnings + 1",
     .counts = BIT(L1_WARNINGS)},
    {L1_RAY,     L1_FAIL,    .label = "blocked, halted, error, ignored too often",
     .on = L1_REFUSAL, .unless = {lidar_ignored, resume_ignored}},
    {L1_RAY,     L1_HALT,    .label = "Q", .on = BIT(L1_EVENT_QUIT)},
    {L1_RAY,     L1_STOP,    is_late, .label = "t >= until", .on = BIT(L1_EVENT_NONE)},
    {L1_RAY,     L1_RAY,     .label = "F, S / refused+ = refused + 1",
     .waits = true, .on = L1_ORDER, .counts = BIT(L1_REFUSED)},
    {L1_RAY,     L1_RAY,     .label = "t < until", .waits = true, .on = BIT(L1_EVENT_NONE), .unless = {is_late}},
    {L1_RESUME,  L1_RAY,     NULL, set_patience, .label = "M = RESUME sent / until+ = t + patience"},
    {L1_HALT,    L1_HALTING, NULL, set_patience, .label = "M = HALT sent / until+ = t + patience"},
    {L1_HALTING, L1_QUIT,    .label = "any reply", .on = L1_REPLY},
    {L1_HALTING, L1_FAIL,    is_late, .label = "t >= until", .on = BIT(L1_EVENT_NONE)},
    {L1_HALTING, L1_HALTING, .label = "F, S, Q / refused+ = refused + 1",
     .waits = true, .on = L1_ORDER | BIT(L1_EVENT_QUIT), .counts = BIT(L1_REFUSED)},
    {L1_HALTING, L1_HALTING, .label = "t < until", .waits = true, .on = BIT(L1_EVENT_NONE), .unless = {is_late}},
    {L1_STOP,    L1_FAIL,    .label = "M = HALT sent"},
    {L1_ACK,     L1_IDLE,    .label = "L2 notified"},
    {L1_QUIT,    L1_IDLE,    .label = "L2 notified"},
    {L1_FAIL,    L1_IDLE,    .label = "L2 notified"},
};
/* clang-format on */

static const char *const l1_cells[L1_CELL_COUNT] = {"J",        "tries",    "rays",
                                                    "until_us", "warnings", "refused"};

const struct efsm_table l1_table = {
    .name = "L1",
    .purpose = "The executive layer: decomposes paths and sweeps into commands of the robot.",
    EFSM_STATES(l1_states),
    EFSM_ARCS(l1_arcs),
    EFSM_CELLS(l1_cells),
    .zeros = BIT(L1_WARNINGS) | BIT(L1_REFUSED),
    .event_at = offsetof(struct l1_in, event),
    .output = write_l1,
};

ENUM_NAMES(l1_command, L1_COMMAND_HALT + 1, "", "go", "lidar", "resume", "halt");

/* --- L2 ------------------------------------------------------------------------------- */

enum {
    L2_USER = BIT(L2_EVENT_START) | BIT(L2_EVENT_QUIT),
    L2_FAILURE = BIT(L2_EVENT_BLOCKED) | BIT(L2_EVENT_FAILED) | BIT(L2_EVENT_HALTED)
};

static const struct l2_in *input_of_l2(const struct efsm_view *v)
{
    return v->in;
}

EFSM_GUARD(is_homing, efsm_get(v, L2_HOMING) > 0.0);

/* Is the next step of the arc's kind? */
EFSM_GUARD(is_step, (int)input_of_l2(v)->step == v->arc->says);
EFSM_GUARD(returns_always, input_of_l2(v)->returns);
EFSM_GUARD(returns_on_failure, input_of_l2(v)->returns_on_failure);
EFSM_GUARD(has_route, input_of_l2(v)->routed);

/* Another route may be tried, because this one was blocked and L2 had chosen it. */
EFSM_GUARD(may_detour, input_of_l2(v)->event == L2_EVENT_BLOCKED &&
                           (is_homing(v) || input_of_l2(v)->on_route) &&
                           efsm_get(v, L2_ROUTES) < input_of_l2(v)->routes_max);
EFSM_GUARD(goes_home, !is_homing(v) && returns_on_failure(v));

static void write_l2(const struct efsm_view *v)
{
    static const struct l2_out outputs[L2_STATE_COUNT] = {
        [L2_PLAN] = {.request = L2_REQUEST_GOAL},
        [L2_HOME] = {.request = L2_REQUEST_HOME},
        [L2_FOLLOW] = {.order = L1_EVENT_FOLLOW},
        [L2_SWEEP] = {.order = L1_EVENT_SWEEP},
        [L2_QUIT] = {.order = L1_EVENT_QUIT},
        [L2_END] = {.verdict = L2_VERDICT_DONE},
        [L2_ABORT] = {.verdict = L2_VERDICT_FAILED},
        [L2_STOPPED] = {.verdict = L2_VERDICT_QUIT}};
    *(struct l2_out *)v->out = outputs[v->now->state];
}

static const struct efsm_state l2_states[] = {L2_STATES(EFSM_STATE)};

/* clang-format off */
/* The assignments of every failure that ends with a return home, and of one that does not. */
#define TURN_HOME \
    .raises = BIT(L2_FAILED) | BIT(L2_HOMING), .clears = BIT(L2_ROUTES), .empties = true, \
    EFSM_PUSH(L2_ABORT, L2_FOLLOW)
#define GIVE_UP .raises = BIT(L2_FAILED), .empties = true

static const struct efsm_arc l2_arcs[] = {
    {L2_IDLE,      L2_STEP,      .label = "mission / K+ = 0, routes+ = 0, homing+ = 0, failed+ = 0",
     .empties = true, EFSM_PUSH(L2_END), .on = BIT(L2_EVENT_START),
     .clears = BIT(L2_K) | BIT(L2_ROUTES) | BIT(L2_HOMING) | BIT(L2_FAILED)},
    {L2_IDLE,      L2_IDLE,      .label = "no mission",
     .waits = true, .on = BIT(L2_EVENT_COUNT) - 1 - BIT(L2_EVENT_START)},
    {L2_STEP,      L2_FOLLOW,    is_step, .says = L2_STEP_PATH, .label = "path / K+ = K + 1",
     EFSM_PUSH(L2_STEP), .counts = BIT(L2_K), .clears = BIT(L2_ROUTES)},
    {L2_STEP,      L2_SWEEP,     is_step, .says = L2_STEP_SWEEP, .label = "sweep / K+ = K + 1",
     EFSM_PUSH(L2_STEP), .counts = BIT(L2_K), .clears = BIT(L2_ROUTES)},
    {L2_STEP,      L2_PLAN,      is_step, .says = L2_STEP_GOAL, .label = "goal / K+ = K + 1",
     EFSM_PUSH(L2_STEP, L2_FOLLOW), .counts = BIT(L2_K), .clears = BIT(L2_ROUTES)},
    {L2_STEP,      EFSM_POP,     is_step, .says = L2_STEP_NONE, .label = "no more steps", .unless = {returns_always}},
    {L2_STEP,      L2_HOME,      is_step, .says = L2_STEP_NONE, .label = "no more steps & return / homing+ = 1",
     .also = {returns_always}, EFSM_PUSH(L2_FOLLOW), .raises = BIT(L2_HOMING), .clears = BIT(L2_ROUTES)},
    {L2_PLAN,      EFSM_POP,     has_route, .label = "route found / routes+ = routes + 1", .counts = BIT(L2_ROUTES)},
    {L2_PLAN,      L2_HOME,      returns_on_failure, .label = "no route & return / failed+ = 1, homing+ = 1",
     .unless = {has_route}, TURN_HOME},
    {L2_PLAN,      L2_ABORT,     .label = "no route / failed+ = 1", .unless = {has_route, returns_on_failure}, GIVE_UP},
    {L2_HOME,      EFSM_POP,     has_route, .label = "route found / routes+ = routes + 1", .counts = BIT(L2_ROUTES)},
    {L2_HOME,      L2_ABORT,     .label = "no route / failed+ = 1", .unless = {has_route}, GIVE_UP},
    {L2_FOLLOW,    L2_FOLLOWING, .label = "W = F sent", .waits = true},
    {L2_FOLLOWING, EFSM_POP,     .label = "acknowledged", .on = BIT(L2_EVENT_ACK)},
    {L2_FOLLOWING, L2_PLAN,      may_detour, .label = "blocked & own route & routes left",
     EFSM_PUSH(L2_FOLLOW), .unless = {is_homing}},
    {L2_FOLLOWING, L2_HOME,      may_detour, .label = "blocked & homing & routes left",
     EFSM_PUSH(L2_FOLLOW), .also = {is_homing}},
    {L2_FOLLOWING, L2_HOME,      goes_home, .label = "failed & return / failed+ = 1, homing+ = 1",
     .on = L2_FAILURE, .unless = {may_detour}, TURN_HOME},
    {L2_FOLLOWING, L2_ABORT,     .label = "failed / failed+ = 1",
     .on = L2_FAILURE, .unless = {may_detour, goes_home}, GIVE_UP},
    {L2_FOLLOWING, L2_QUIT,      .label = "quit", .empties = true, .on = BIT(L2_EVENT_QUIT)},
    {L2_FOLLOWING, L2_FOLLOWING, .label = "mission / refused+ = refused + 1",
     .waits = true, .on = BIT(L2_EVENT_START), .counts = BIT(L2_REFUSED)},
    {L2_FOLLOWING, L2_FOLLOWING, .label = "on the way", .waits = true, .on = BIT(L2_EVENT_NONE)},
    {L2_SWEEP,     L2_SWEEPING,  .label = "W = S sent", .waits = true},
    {L2_SWEEPING,  EFSM_POP,     .label = "acknowledged", .on = BIT(L2_EVENT_ACK)},
    {L2_SWEEPING,  L2_HOME,      returns_on_failure, .label = "failed & return / failed+ = 1, homing+ = 1",
     .on = L2_FAILURE, TURN_HOME},
    {L2_SWEEPING,  L2_ABORT,     .label = "failed / failed+ = 1",
     .on = L2_FAILURE, .unless = {returns_on_failure}, GIVE_UP},
    {L2_SWEEPING,  L2_QUIT,      .label = "quit", .empties = true, .on = BIT(L2_EVENT_QUIT)},
    {L2_SWEEPING,  L2_SWEEPING,  .label = "mission / refused+ = refused + 1",
     .waits = true, .on = BIT(L2_EVENT_START), .counts = BIT(L2_REFUSED)},
    {L2_SWEEPING,  L2_SWEEPING,  .label = "sweeping", .waits = true, .on = BIT(L2_EVENT_NONE)},
    {L2_QUIT,      L2_QUITTING,  .label = "W = Q sent", .waits = true},
    {L2_QUITTING,  L2_STOPPED,   .label = "acknowledged or failed", .on = L2_FAILURE | BIT(L2_EVENT_ACK)},
    {L2_QUITTING,  L2_QUITTING,  .label = "mission, quit / refused+ = refused + 1",
     .waits = true, .on = L2_USER, .counts = BIT(L2_REFUSED)},
    {L2_QUITTING,  L2_QUITTING,  .label = "quitting", .waits = true, .on = BIT(L2_EVENT_NONE)},
    {L2_END,       L2_IDLE,      .label = "reported: done"},
    {L2_ABORT,     L2_IDLE,      .label = "reported: failed"},
    {L2_STOPPED,   L2_IDLE,      .label = "reported: quit"},
};
/* clang-format on */

static const char *const l2_cells[L2_CELL_COUNT] = {"K", "routes", "homing", "failed",
                                                    "refused"};

const struct efsm_table l2_table = {
    .name = "L2",
    .purpose = "The deliberative layer: carries a mission out, its plan as a stack of states.",
    EFSM_STATES(l2_states),
    EFSM_ARCS(l2_arcs),
    EFSM_CELLS(l2_cells),
    .zeros = BIT(L2_REFUSED),
    .event_at = offsetof(struct l2_in, event),
    .output = write_l2,
};

ENUM_NAMES(l2_verdict, L2_VERDICT_QUIT + 1, "", "the mission is done", "the mission failed",
           "the mission was quit");
