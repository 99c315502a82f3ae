#include "twin/pair/smartlog.h"

#include <math.h>

static const struct smartlog_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static bool has_command(const struct efsm_view *v)
{
    return input_of(v)->command;
}

static bool no_command(const struct efsm_view *v)
{
    return !input_of(v)->command;
}

static bool both_through(const struct efsm_view *v)
{
    return input_of(v)->through[SIDE_REAL] && input_of(v)->through[SIDE_VIRTUAL];
}

static bool real_only(const struct efsm_view *v)
{
    return input_of(v)->through[SIDE_REAL] && !input_of(v)->through[SIDE_VIRTUAL];
}

static bool virtual_only(const struct efsm_view *v)
{
    return !input_of(v)->through[SIDE_REAL] && input_of(v)->through[SIDE_VIRTUAL];
}

static bool neither_through(const struct efsm_view *v)
{
    return !input_of(v)->through[SIDE_REAL] && !input_of(v)->through[SIDE_VIRTUAL];
}

static bool not_both(const struct efsm_view *v)
{
    return !both_through(v);
}

static void keep_lap(const struct efsm_view *v, size_t cell, double lap_s)
{
    if (!isnan(lap_s)) {
        efsm_set(v, cell, lap_s);
    }
}

static void set_time(const struct efsm_view *v)
{
    efsm_set(v, SMARTLOG_T, input_of(v)->t_s);
}

static void set_first_real(const struct efsm_view *v)
{
    keep_lap(v, SMARTLOG_LAP1, input_of(v)->lap_s[SIDE_REAL]);
}

static void set_first_virtual(const struct efsm_view *v)
{
    keep_lap(v, SMARTLOG_LAP1, input_of(v)->lap_s[SIDE_VIRTUAL]);
}

static void set_second_real(const struct efsm_view *v)
{
    keep_lap(v, SMARTLOG_LAP2, input_of(v)->lap_s[SIDE_REAL]);
}

static void set_second_virtual(const struct efsm_view *v)
{
    keep_lap(v, SMARTLOG_LAP2, input_of(v)->lap_s[SIDE_VIRTUAL]);
}

static void set_both(const struct efsm_view *v)
{
    set_first_real(v);
    set_second_virtual(v);
}

static void write_entry(const struct efsm_view *v)
{
    struct smartlog_out *out = v->out;
    out->log = true;
}

static const struct efsm_state states[SMARTLOG_STATE_COUNT] = {
    [SMARTLOG_IDLE] = {.name = "IDLE"},
    [SMARTLOG_WAIT] = {.name = "WAIT"},
    [SMARTLOG_AHEAD] = {.name = "AHEAD"},
    [SMARTLOG_BEHIND] = {.name = "BEHIND"},
    [SMARTLOG_LOG] = {.name = "LOG", .output = write_entry},
};

/* clang-format off */
static const struct efsm_arc arcs[] = {
    {SMARTLOG_IDLE, SMARTLOG_WAIT, has_command, set_time, "command / T+ = t", .waits = true},
    {SMARTLOG_IDLE, SMARTLOG_IDLE, no_command, NULL, "!command", .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_WAIT, neither_through, NULL, "!real & !virtual", .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_BEHIND, real_only, set_first_real, "real & !virtual / lap1+ = lap", .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_AHEAD, virtual_only, set_first_virtual, "!real & virtual / lap1+ = lap", .waits = true},
    {SMARTLOG_WAIT, SMARTLOG_LOG, both_through, set_both, "real & virtual / lap1+, lap2+ = laps", .waits = false},
    {SMARTLOG_AHEAD, SMARTLOG_LOG, both_through, set_second_real, "real / lap2+ = lap", .waits = false},
    {SMARTLOG_AHEAD, SMARTLOG_AHEAD, not_both, NULL, "!real", .waits = true},
    {SMARTLOG_BEHIND, SMARTLOG_LOG, both_through, set_second_virtual, "virtual / lap2+ = lap", .waits = false},
    {SMARTLOG_BEHIND, SMARTLOG_BEHIND, not_both, NULL, "!virtual", .waits = true},
    {SMARTLOG_LOG, SMARTLOG_IDLE, NULL, NULL, "entry written", .waits = false},
};
/* clang-format on */

static const char *const cells[SMARTLOG_CELL_COUNT] = {"T_s", "lap1_s", "lap2_s"};

const struct efsm_table smartlog_table = {
    .name = "smartlog",
    .purpose = "Follows one command from its arrival to its entry: which robot answered first.",
    .states = states,
    .state_count = SMARTLOG_STATE_COUNT,
    .arcs = arcs,
    .arc_count = COUNT(arcs),
    .cells = cells,
    .cell_count = SMARTLOG_CELL_COUNT,
    .initial = SMARTLOG_IDLE,
};
