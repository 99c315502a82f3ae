#include "twin/pair/link.h"

#include <math.h>

static const struct link_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool real_answered(const struct efsm_view *v)
{
    return input_of(v)->answered[SIDE_REAL];
}

static bool real_failed(const struct efsm_view *v)
{
    return input_of(v)->timed_out[SIDE_REAL] && !input_of(v)->answered[SIDE_REAL];
}

static bool real_absent(const struct efsm_view *v)
{
    return !input_of(v)->expected[SIDE_REAL];
}

static bool real_open(const struct efsm_view *v)
{
    return !real_absent(v) && !real_answered(v) && !real_failed(v);
}

static bool virtual_open(const struct efsm_view *v)
{
    return input_of(v)->expected[SIDE_VIRTUAL] && !input_of(v)->answered[SIDE_VIRTUAL] &&
           !input_of(v)->timed_out[SIDE_VIRTUAL];
}

static bool virtual_through(const struct efsm_view *v)
{
    return !virtual_open(v);
}

static bool has_command(const struct efsm_view *v)
{
    return input_of(v)->command;
}

static bool no_command(const struct efsm_view *v)
{
    return !input_of(v)->command;
}

static bool wait_on(const struct efsm_view *v)
{
    return virtual_open(v) && (real_open(v) || real_absent(v));
}

static bool virtual_first(const struct efsm_view *v)
{
    return virtual_through(v) && real_open(v);
}

static bool stand_in(const struct efsm_view *v)
{
    return real_absent(v) && input_of(v)->answered[SIDE_VIRTUAL];
}

static bool nobody_answered(const struct efsm_view *v)
{
    return real_absent(v) && virtual_through(v) && !input_of(v)->answered[SIDE_VIRTUAL];
}

static bool failed_or_nobody(const struct efsm_view *v)
{
    return real_failed(v) || nobody_answered(v);
}

static void note_answer(const struct efsm_view *v)
{
    efsm_set(v, LINK_T_REAL, input_of(v)->t_s);
    efsm_set(v, LINK_D, 0.0);
}

static void count_lag(const struct efsm_view *v)
{
    const double lag_s = input_of(v)->t_s - efsm_get(v, LINK_T_REAL);
    efsm_set(v, LINK_D, floor(lag_s / input_of(v)->cycle_s + 0.5));
}

static void answer_l1(const struct efsm_view *v)
{
    struct link_out *out = v->out;
    out->reply = LINK_REAL;
}

static void answer_for(const struct efsm_view *v)
{
    struct link_out *out = v->out;
    out->reply = LINK_VIRTUAL;
}

static void answer_error(const struct efsm_view *v)
{
    struct link_out *out = v->out;
    out->reply = LINK_ERROR;
}

static const struct efsm_state link_states[LINK_STATE_COUNT] = {
    [LINK_IDLE] = {.name = "IDLE"},
    [LINK_WAIT] = {.name = "WAIT"},
    [LINK_AHEAD] = {.name = "AHEAD"},
    [LINK_BEHIND] = {.name = "BEHIND"},
    [LINK_ANSWER] = {.name = "ANSWER", .output = answer_l1},
    [LINK_STAND_IN] = {.name = "STAND_IN", .output = answer_for},
    [LINK_FAIL] = {.name = "FAIL", .output = answer_error},
};

/* clang-format off */
static const struct efsm_arc link_arcs[] = {
    {LINK_IDLE,     LINK_WAIT,     has_command,      NULL,        "C / Z = C",              .waits = true},
    {LINK_IDLE,     LINK_IDLE,     no_command,       NULL,        "!C",                     .waits = true},
    {LINK_WAIT,     LINK_WAIT,     wait_on,          NULL,        "!R & !V",                .waits = true},
    {LINK_WAIT,     LINK_ANSWER,   real_answered,    note_answer, "R / t_R+ = t",           .waits = false},
    {LINK_WAIT,     LINK_FAIL,     failed_or_nobody, note_answer, "R timed out",            .waits = false},
    {LINK_WAIT,     LINK_AHEAD,    virtual_first,    NULL,        "V & !R",                 .waits = true},
    {LINK_WAIT,     LINK_STAND_IN, stand_in,         NULL,        "V & real absent",        .waits = false},
    {LINK_AHEAD,    LINK_AHEAD,    real_open,        NULL,        "!R",                     .waits = true},
    {LINK_AHEAD,    LINK_ANSWER,   real_answered,    note_answer, "R / t_R+ = t",           .waits = false},
    {LINK_AHEAD,    LINK_FAIL,     real_failed,      note_answer, "R timed out",            .waits = false},
    {LINK_ANSWER,   LINK_BEHIND,   virtual_open,     NULL,        "!V",                     .waits = true},
    {LINK_ANSWER,   LINK_IDLE,     virtual_through,  NULL,        "V",                      .waits = false},
    {LINK_FAIL,     LINK_BEHIND,   virtual_open,     NULL,        "!V",                     .waits = true},
    {LINK_FAIL,     LINK_IDLE,     virtual_through,  NULL,        "V",                      .waits = false},
    {LINK_STAND_IN, LINK_IDLE,     NULL,             NULL,        "M = V sent",             .waits = false},
    {LINK_BEHIND,   LINK_BEHIND,   virtual_open,     NULL,        "!V",                     .waits = true},
    {LINK_BEHIND,   LINK_IDLE,     virtual_through,  count_lag,   "V / D+ = (t - t_R)/dT",  .waits = false},
};
/* clang-format on */

static const char *const link_cells[LINK_CELL_COUNT] = {"t_R_s", "D_cycles"};

const struct efsm_table link_table = {
    .name = "link",
    .purpose = "Builds the one reply that L1 gets from the replies of the two robots.",
    .states = link_states,
    .state_count = LINK_STATE_COUNT,
    .arcs = link_arcs,
    .arc_count = COUNT(link_arcs),
    .cells = link_cells,
    .cell_count = LINK_CELL_COUNT,
    .initial = LINK_IDLE,
};

static bool is_queued(const struct efsm_view *v)
{
    const struct dispatch_in *d = v->in;
    return d->queued;
}

static bool nothing_queued(const struct efsm_view *v)
{
    return !is_queued(v);
}

static bool is_done(const struct efsm_view *v)
{
    const struct dispatch_in *d = v->in;
    return d->done;
}

static bool not_done(const struct efsm_view *v)
{
    return !is_done(v);
}

static void send_next(const struct efsm_view *v)
{
    struct dispatch_out *out = v->out;
    out->send = true;
}

static const struct efsm_state dispatch_states[DISPATCH_STATE_COUNT] = {
    [DISPATCH_READY] = {.name = "READY"},
    [DISPATCH_SEND] = {.name = "SEND", .output = send_next},
    [DISPATCH_BUSY] = {.name = "BUSY"},
};

/* clang-format off */
static const struct efsm_arc dispatch_arcs[] = {
    {DISPATCH_READY, DISPATCH_SEND,  is_queued,      NULL, "queued",        .waits = false},
    {DISPATCH_READY, DISPATCH_READY, nothing_queued, NULL, "!queued",       .waits = true},
    {DISPATCH_SEND,  DISPATCH_BUSY,  NULL,           NULL, "Z = C sent",    .waits = false},
    {DISPATCH_BUSY,  DISPATCH_READY, is_done,        NULL, "done",          .waits = false},
    {DISPATCH_BUSY,  DISPATCH_BUSY,  not_done,       NULL, "!done",         .waits = true},
};
/* clang-format on */

const struct efsm_table dispatch_table = {
    .name = "dispatch",
    .purpose = "Hands one robot its next command when it has done the one before.",
    .states = dispatch_states,
    .state_count = DISPATCH_STATE_COUNT,
    .arcs = dispatch_arcs,
    .arc_count = COUNT(dispatch_arcs),
    .cells = NULL,
    .cell_count = 0,
    .initial = DISPATCH_READY,
};
