#include "twin/robots/l1_executive.h"

static const struct l1_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool is_event(const struct efsm_view *v, enum l1_event event)
{
    return input_of(v)->event == event;
}

static bool is_order(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_FOLLOW) || is_event(v, L1_EVENT_SWEEP);
}

static bool is_reply(const struct efsm_view *v)
{
    return input_of(v)->event >= L1_EVENT_DONE;
}

/* --- guards --------------------------------------------------------------------------- */

static bool is_follow(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_FOLLOW);
}

static bool is_sweep(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_SWEEP);
}

static bool is_quit(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_QUIT);
}

static bool is_nothing(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_NONE);
}

static bool is_data(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_DATA);
}

static bool is_leg_short(const struct efsm_view *v)
{
    return input_of(v)->leg_is_short;
}

static bool is_late(const struct efsm_view *v)
{
    return (double)v->t_us >= efsm_get(v, L1_UNTIL);
}

static bool path_done(const struct efsm_view *v)
{
    return !(efsm_get(v, L1_J) < input_of(v)->leg_count);
}

static bool is_done(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_DONE);
}

static bool may_retry(const struct efsm_view *v)
{
    return efsm_get(v, L1_TRIES) + 1.0 < input_of(v)->tries_max;
}

static bool go_ignored(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_IGNORED) && may_retry(v);
}

static bool more_rays(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_DATA) && efsm_get(v, L1_RAYS) + 1.0 < input_of(v)->rays_max;
}

static bool has_rays(const struct efsm_view *v)
{
    return efsm_get(v, L1_RAYS) > 0.0;
}

static bool lidar_ignored(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_IGNORED) && !has_rays(v) && may_retry(v);
}

static bool resume_ignored(const struct efsm_view *v)
{
    return is_event(v, L1_EVENT_IGNORED) && has_rays(v);
}

static bool order_or_quit(const struct efsm_view *v)
{
    return is_order(v) || is_quit(v);
}

/* --- actions -------------------------------------------------------------------------- */

static void count_up(const struct efsm_view *v, size_t cell)
{
    efsm_set(v, cell, efsm_get(v, cell) + 1.0);
}

static void begin_path(const struct efsm_view *v)
{
    efsm_set(v, L1_J, 0.0);
    efsm_set(v, L1_TRIES, 0.0);
}

static void begin_sweep(const struct efsm_view *v)
{
    efsm_set(v, L1_RAYS, 0.0);
    efsm_set(v, L1_TRIES, 0.0);
}

static void next_leg(const struct efsm_view *v)
{
    count_up(v, L1_J);
    efsm_set(v, L1_TRIES, 0.0);
}

static void set_patience(const struct efsm_view *v)
{
    efsm_set(v, L1_UNTIL, (double)v->t_us + input_of(v)->patience_us);
}

static void try_again(const struct efsm_view *v)
{
    count_up(v, L1_TRIES);
    count_up(v, L1_WARNINGS);
}

static void count_warning(const struct efsm_view *v)
{
    count_up(v, L1_WARNINGS);
}

static void count_ray(const struct efsm_view *v)
{
    count_up(v, L1_RAYS);
}

static void count_refusal(const struct efsm_view *v)
{
    count_up(v, L1_REFUSED);
}

/* --- outputs -------------------------------------------------------------------------- */

static struct l1_out *output_of(const struct efsm_view *v)
{
    return v->out;
}

static void send_go(const struct efsm_view *v)
{
    output_of(v)->command = L1_COMMAND_GO;
}

static void send_lidar(const struct efsm_view *v)
{
    output_of(v)->command = L1_COMMAND_LIDAR;
}

static void send_resume(const struct efsm_view *v)
{
    output_of(v)->command = L1_COMMAND_RESUME;
}

static void send_halt(const struct efsm_view *v)
{
    output_of(v)->command = L1_COMMAND_HALT;
}

static void tell_done(const struct efsm_view *v)
{
    output_of(v)->message = L1_MESSAGE_ACK;
}

static void tell_quit(const struct efsm_view *v)
{
    output_of(v)->message = L1_MESSAGE_QUIT;
}

static void tell_failed(const struct efsm_view *v)
{
    output_of(v)->message = L1_MESSAGE_FAIL;
}

static const struct efsm_state states[L1_STATE_COUNT] = {
    [L1_IDLE] = {.name = "IDLE"},
    [L1_LEG] = {.name = "LEG"},
    [L1_GO] = {.name = "GO", .output = send_go},
    [L1_MOVING] = {.name = "MOVING"},
    [L1_LIDAR] = {.name = "LIDAR", .output = send_lidar},
    [L1_RAY] = {.name = "RAY"},
    [L1_RESUME] = {.name = "RESUME", .output = send_resume},
    [L1_HALT] = {.name = "HALT", .output = send_halt},
    [L1_HALTING] = {.name = "HALTING"},
    [L1_STOP] = {.name = "STOP", .output = send_halt},
    [L1_ACK] = {.name = "ACK", .output = tell_done},
    [L1_QUIT] = {.name = "QUIT", .output = tell_quit},
    [L1_FAIL] = {.name = "FAIL", .output = tell_failed},
};

/* clang-format off */
static const struct efsm_arc arcs[] = {
    {L1_IDLE,    L1_LEG,     is_follow,      begin_path,    .label = "F / J+ = 0, tries+ = 0"},
    {L1_IDLE,    L1_LIDAR,   is_sweep,       begin_sweep,   .label = "S / rays+ = 0, tries+ = 0"},
    {L1_IDLE,    L1_QUIT,    is_quit,        NULL,          .label = "Q"},
    {L1_IDLE,    L1_IDLE,    NULL,           NULL,          .label = "no order",
     .waits = true, .unless = {is_order, is_quit}},
    {L1_LEG,     L1_ACK,     path_done,      NULL,          .label = "J >= legs"},
    {L1_LEG,     L1_LEG,     is_leg_short,   next_leg,      .label = "J < legs & there already / J+ = J + 1",
     .unless = {path_done}},
    {L1_LEG,     L1_GO,      NULL,           NULL,          .label = "J < legs & not there",
     .unless = {path_done, is_leg_short}},
    {L1_GO,      L1_MOVING,  NULL,           set_patience,  .label = "M = GO sent / until+ = t + patience"},
    {L1_MOVING,  L1_LEG,     is_done,        next_leg,      .label = "done / J+ = J + 1, tries+ = 0"},
    {L1_MOVING,  L1_GO,      go_ignored,     try_again,
     .label = "ignored & tries left / tries+ = tries + 1, warnings+ = warnings + 1"},
    {L1_MOVING,  L1_FAIL,    is_reply,       NULL,          .label = "blocked, halted, error, data, ignored too often",
     .unless = {is_done, go_ignored}},
    {L1_MOVING,  L1_HALT,    is_quit,        NULL,          .label = "Q"},
    {L1_MOVING,  L1_STOP,    is_nothing,     NULL,          .label = "t >= until", .also = {is_late}},
    {L1_MOVING,  L1_MOVING,  is_order,       count_refusal, .label = "F, S / refused+ = refused + 1", .waits = true},
    {L1_MOVING,  L1_MOVING,  is_nothing,     NULL,          .label = "t < until", .waits = true, .unless = {is_late}},
    {L1_LIDAR,   L1_RAY,     NULL,           set_patience,  .label = "M = LIDAR sent / until+ = t + patience"},
    {L1_RAY,     L1_RESUME,  more_rays,      count_ray,     .label = "data / rays+ = rays + 1"},
    {L1_RAY,     L1_STOP,    is_data,        NULL,          .label = "data & rays at their limit",
     .unless = {more_rays}},
    {L1_RAY,     L1_ACK,     is_done,        NULL,          .label = "done"},
    {L1_RAY,     L1_LIDAR,   lidar_ignored,  try_again,
     .label = "ignored & no ray yet & tries left / tries+ = tries + 1, warnings+ = warnings + 1"},
    {L1_RAY,     L1_ACK,     resume_ignored, count_warning, .label = "ignored & rays > 0 / warnings+ = warnings + 1"},
    {L1_RAY,     L1_FAIL,    is_reply,       NULL,          .label = "blocked, halted, error, ignored too often",
     .unless = {is_done, is_data, lidar_ignored, resume_ignored}},
    {L1_RAY,     L1_HALT,    is_quit,        NULL,          .label = "Q"},
    {L1_RAY,     L1_STOP,    is_nothing,     NULL,          .label = "t >= until", .also = {is_late}},
    {L1_RAY,     L1_RAY,     is_order,       count_refusal, .label = "F, S / refused+ = refused + 1", .waits = true},
    {L1_RAY,     L1_RAY,     is_nothing,     NULL,          .label = "t < until", .waits = true, .unless = {is_late}},
    {L1_RESUME,  L1_RAY,     NULL,           set_patience,  .label = "M = RESUME sent / until+ = t + patience"},
    {L1_HALT,    L1_HALTING, NULL,           set_patience,  .label = "M = HALT sent / until+ = t + patience"},
    {L1_HALTING, L1_QUIT,    is_reply,       NULL,          .label = "any reply"},
    {L1_HALTING, L1_FAIL,    is_nothing,     NULL,          .label = "t >= until", .also = {is_late}},
    {L1_HALTING, L1_HALTING, order_or_quit,  count_refusal, .label = "F, S, Q / refused+ = refused + 1",
     .waits = true},
    {L1_HALTING, L1_HALTING, is_nothing,     NULL,          .label = "t < until", .waits = true, .unless = {is_late}},
    {L1_STOP,    L1_FAIL,    NULL,           NULL,          .label = "M = HALT sent"},
    {L1_ACK,     L1_IDLE,    NULL,           NULL,          .label = "L2 told"},
    {L1_QUIT,    L1_IDLE,    NULL,           NULL,          .label = "L2 told"},
    {L1_FAIL,    L1_IDLE,    NULL,           NULL,          .label = "L2 told"},
};
/* clang-format on */

static const char *const cells[L1_CELL_COUNT] = {"J",        "tries",    "rays",
                                                 "until_us", "warnings", "refused"};

const struct efsm_table l1_table = {
    .name = "L1",
    .purpose = "The executive layer: decomposes paths and sweeps into commands of the robot.",
    .states = states,
    .state_count = L1_STATE_COUNT,
    .arcs = arcs,
    .arc_count = COUNT(arcs),
    .cells = cells,
    .cell_count = L1_CELL_COUNT,
    .initial = L1_IDLE,
};

void l1_reset(struct efsm *m, int64_t t_us)
{
    efsm_reset(&l1_table, m, t_us);
    efsm_init_cell(m, L1_WARNINGS, 0.0);
    efsm_init_cell(m, L1_REFUSED, 0.0);
}

ENUM_NAMES(l1_command, L1_COMMAND_HALT + 1, "", "go", "lidar", "resume", "halt");
