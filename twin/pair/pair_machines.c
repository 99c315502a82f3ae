#include "twin/pair/pair_machines.h"

#include <math.h>

static const struct command_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

/* ---- guards -------------------------------------------------------------------------------
 */

EFSM_GUARD(has_command, input_of(v)->command);
EFSM_GUARD(real_absent, !input_of(v)->expected[SIDE_REAL]);
EFSM_GUARD(real_answered, input_of(v)->answered[SIDE_REAL]);
EFSM_GUARD(real_failed, input_of(v)->timed_out[SIDE_REAL]);
EFSM_GUARD(virtual_answered, input_of(v)->answered[SIDE_VIRTUAL]);

static bool is_through(const struct efsm_view *v, enum side s)
{
    const struct command_in *in = input_of(v);
    return !in->expected[s] || in->answered[s] || in->timed_out[s];
}

EFSM_GUARD(real_through, is_through(v, SIDE_REAL));
EFSM_GUARD(virtual_through, is_through(v, SIDE_VIRTUAL));
EFSM_GUARD(failed_or_nobody,
           real_failed(v) || (real_absent(v) && virtual_through(v) && !virtual_answered(v)));

/* ---- the smart logger ---------------------------------------------------------------------
 */

static void set_time(const struct efsm_view *v)
{
    efsm_set(v, SMARTLOG_T, input_of(v)->t_s);
}

/* Data of an arc: whose lap is stored, and where. */
#define LAP1(side) (1 << SIDE_##side)
#define LAP2(side) (4 << SIDE_##side)

static void store_laps(const struct efsm_view *v)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const int says = isnan(input_of(v)->lap_s[s]) ? 0 : v->arc->says >> s;
        if (says & LAP1(REAL)) {
            efsm_set(v, SMARTLOG_LAP1, input_of(v)->lap_s[s]);
        }
        if (says & LAP2(REAL)) {
            efsm_set(v, SMARTLOG_LAP2, input_of(v)->lap_s[s]);
        }
    }
}

static const struct efsm_state smartlog_states[] = {SMARTLOG_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc smartlog_arcs[] = {
    {SMARTLOG_IDLE, SMARTLOG_WAIT, has_command, set_time, "command / T+ = t", .waits = true},
    {SMARTLOG_IDLE, SMARTLOG_IDLE, NULL, NULL, "!command", .unless = {has_command}, .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_WAIT, NULL, NULL, "!real & !virtual",
        .unless = {real_through, virtual_through}, .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_BEHIND, real_through, store_laps, "real & !virtual / lap1+ = lap",
        .unless = {virtual_through}, .says = LAP1(REAL), .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_AHEAD, virtual_through, store_laps, "!real & virtual / lap1+ = lap",
        .unless = {real_through}, .says = LAP1(VIRTUAL), .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_LOG, real_through, store_laps, "real & virtual / lap1+, lap2+ = laps",
        .also = {virtual_through}, .says = LAP1(REAL) | LAP2(VIRTUAL)},
    {SMARTLOG_AHEAD, SMARTLOG_LOG, real_through, store_laps, "real / lap2+ = lap", .says = LAP2(REAL)},
    {SMARTLOG_AHEAD, SMARTLOG_AHEAD, NULL, NULL, "!real", .unless = {real_through}, .waits = true},
    {SMARTLOG_BEHIND, SMARTLOG_LOG, virtual_through, store_laps, "virtual / lap2+ = lap", .says = LAP2(VIRTUAL)},
    {SMARTLOG_BEHIND, SMARTLOG_BEHIND, NULL, NULL, "!virtual", .unless = {virtual_through}, .waits = true},
    {SMARTLOG_LOG, SMARTLOG_IDLE, NULL, NULL, "entry written", .waits = false},
};
/* clang-format on */

static const char *const smartlog_cells[] = {"T_s", "lap1_s", "lap2_s"};

const struct efsm_table smartlog_table = {
    .name = "smartlog",
    .purpose = "Follows one command from its arrival to its entry: which robot answered first.",
    EFSM_STATES(smartlog_states),
    EFSM_ARCS(smartlog_arcs),
    EFSM_CELLS(smartlog_cells),
    .initial = SMARTLOG_IDLE,
};

/* ---- the link -----------------------------------------------------------------------------
 */

static void record_answer(const struct efsm_view *v)
{
    efsm_set(v, LINK_T_REAL, input_of(v)->now_s);
    efsm_set(v, LINK_D, 0.0);
}

static void count_lag(const struct efsm_view *v)
{
    const double lag_s = input_of(v)->now_s - efsm_get(v, LINK_T_REAL);
    efsm_set(v, LINK_D, floor(lag_s / input_of(v)->cycle_s + 0.5));
}

static const struct efsm_state link_states[] = {LINK_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc link_arcs[] = {
    {LINK_IDLE, LINK_WAIT, has_command, NULL, "C / Z = C", .waits = true},
    {LINK_IDLE, LINK_IDLE, NULL, NULL, "!C", .unless = {has_command}, .waits = true},
    {LINK_WAIT, LINK_WAIT, NULL, NULL, "!R & !V",
     .unless = {virtual_through, real_answered, real_failed}, .waits = true},
    {LINK_WAIT, LINK_ANSWER, real_answered, record_answer, "R / t_R+ = t", .waits = false},
    {LINK_WAIT, LINK_FAIL, failed_or_nobody, record_answer, "R timed out", .waits = false},
    {LINK_WAIT, LINK_AHEAD, virtual_through, NULL, "V & !R", .unless = {real_through}, .waits = true},
    {LINK_WAIT, LINK_STAND_IN, real_absent, NULL, "V & real absent", .also = {virtual_answered}},
    {LINK_AHEAD, LINK_AHEAD, NULL, NULL, "!R", .unless = {real_through}, .waits = true},
    {LINK_AHEAD, LINK_ANSWER, real_answered, record_answer, "R / t_R+ = t", .waits = false},
    {LINK_AHEAD, LINK_FAIL, real_failed, record_answer, "R timed out", .waits = false},
    {LINK_AHEAD, LINK_FAIL, real_absent, record_answer, "R halted before it was sent",
     .unless = {real_answered, real_failed}, .waits = false},
    {LINK_ANSWER, LINK_BEHIND, NULL, NULL, "!V", .unless = {virtual_through}, .waits = true},
    {LINK_ANSWER, LINK_IDLE, virtual_through, NULL, "V", .waits = false},
    {LINK_FAIL, LINK_BEHIND, NULL, NULL, "!V", .unless = {virtual_through}, .waits = true},
    {LINK_FAIL, LINK_IDLE, virtual_through, NULL, "V", .waits = false},
    {LINK_STAND_IN, LINK_IDLE, NULL, NULL, "M = V sent", .waits = false},
    {LINK_BEHIND, LINK_BEHIND, NULL, NULL, "!V", .unless = {virtual_through}, .waits = true},
    {LINK_BEHIND, LINK_IDLE, virtual_through, count_lag, "V / D+ = (t - t_R)/dT", .waits = false},
};
/* clang-format on */

static const char *const link_cells[] = {"t_R_s", "D_cycles"};

const struct efsm_table link_table = {
    .name = "link",
    .purpose = "Builds the one reply that L1 gets from the replies of the two robots.",
    EFSM_STATES(link_states),
    EFSM_ARCS(link_arcs),
    EFSM_CELLS(link_cells),
    .initial = LINK_IDLE,
};

/* ---- dispatch -----------------------------------------------------------------------------
 */

static bool is_queued(const struct efsm_view *v)
{
    const struct dispatch_in *d = v->in;
    return d->queued;
}

static bool is_done(const struct efsm_view *v)
{
    const struct dispatch_in *d = v->in;
    return d->done;
}

static const struct efsm_state dispatch_states[] = {DISPATCH_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc dispatch_arcs[] = {
    {DISPATCH_READY, DISPATCH_SEND,  is_queued, NULL, "queued", .waits = false},
    {DISPATCH_READY, DISPATCH_READY, NULL,      NULL, "!queued", .unless = {is_queued}, .waits = true},
    {DISPATCH_SEND,  DISPATCH_BUSY,  NULL,      NULL, "Z = C sent", .waits = false},
    {DISPATCH_BUSY,  DISPATCH_READY, is_done,   NULL, "done", .waits = false},
    {DISPATCH_BUSY,  DISPATCH_BUSY,  NULL,      NULL, "!done",   .unless = {is_done}, .waits = true},
};
/* clang-format on */

const struct efsm_table dispatch_table = {
    .name = "dispatch",
    .purpose = "Hands one robot its next command when it has done the one before.",
    EFSM_STATES(dispatch_states),
    EFSM_ARCS(dispatch_arcs),
    .initial = DISPATCH_READY,
};
