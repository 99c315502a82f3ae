#include "twin/sim/robot/mission.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/text/text.h"
#include "logger/message/codec_native.h"
#include "twin/sim/robot/robot.h"

/* Rounds of L1 and L2 within one call: each step of a mission needs a few. */
enum { ROUNDS_MAX = 16 * MISSION_STEPS_MAX };

/* Numbers of a command are rounded to a tenth of a millimetre or milliradian. */
#define COMMAND_UNITS 1e4

/* Context of one call. */
struct round {
    struct mission *m;
    int64_t t_us;
    mission_sink *sink;
    void *context;
    enum l1_event down;       /* event for L1 */
    enum l2_event up;         /* event for L2 */
    double warnings, refused; /* already reported */
    struct l1_in l1_in;
    struct l1_out l1_out;
    struct l2_in l2_in;
    struct l2_out l2_out;
    bool failed;         /* a machine stopped in a fault */
    int64_t plan_budget; /* work left for plans of routes */
};

static double read_cell(const struct efsm *m, size_t k)
{
    return m->defined >> k & 1U ? m->cell[k] : 0.0;
}

static void count_arc(const struct efsm *m, uint32_t arcs[MISSION_ARCS_MAX])
{
    if (m->fired_arc < MISSION_ARCS_MAX) {
        arcs[m->fired_arc]++;
    }
}

static double wrap_angle(double angle_rad)
{
    return remainder(angle_rad, 2.0 * PI);
}

static size_t leg_index(const struct mission *m)
{
    return (size_t)read_cell(&m->l1, L1_J);
}

static bool is_homing(const struct mission *m)
{
    return read_cell(&m->l2, L2_HOMING) > 0.0;
}

/* Does the robot go home because the mission has failed already? What fails on the way home
 * does not hide why. */
static bool has_failed(const struct mission *m)
{
    return read_cell(&m->l2, L2_FAILED) > 0.0;
}

static void set_code(struct mission *m, enum mission_code code)
{
    m->code = has_failed(m) ? m->code : code;
}

static enum mission_level failure_level(const struct mission *m)
{
    return has_failed(m) ? MISSION_WARNING : MISSION_ERROR;
}

/* First step if the start is unknown: a zero move, whose reply has the pose. */
static const struct mission_step locate = {.kind = L2_STEP_PATH, .count = 1};

/* Returns step k as L2 counts; NULL beyond the last. */
static const struct mission_step *step_at(const struct mission *m, size_t k)
{
    const size_t extra = m->plan->locates ? 1 : 0;
    if (k < extra) {
        return &locate;
    }
    return k - extra < m->plan->step_count ? &m->plan->steps[k - extra] : NULL;
}

/* Returns the running step; NULL if there is none. */
static const struct mission_step *step_in_work(const struct mission *m)
{
    const size_t k = (size_t)read_cell(&m->l2, L2_K);
    return k > 0 && !is_homing(m) ? step_at(m, k - 1) : NULL;
}

static bool is_locating(const struct mission *m)
{
    return step_in_work(m) == &locate;
}

/* Number for people: 1 is the first of the plan, one more than the last is the way home. */
static unsigned step_number(const struct mission *m)
{
    const unsigned k = (unsigned)read_cell(&m->l2, L2_K);
    if (is_homing(m)) {
        return (unsigned)m->plan->step_count + 1;
    }
    return m->plan->locates && k > 0 ? k - 1 : k;
}

/* --- effects -------------------------------------------------------------------------- */

static PRINTF_LIKE(4, 5) void notify_user(const struct round *r, unsigned layer,
                                          enum mission_level level, const char *format, ...)
{
    char text[MISSION_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    const struct mission_effect effect = {.kind = MISSION_MESSAGE,
                                          .t_us = r->t_us,
                                          .step = step_number(r->m),
                                          .layer = layer,
                                          .level = level,
                                          .text = text};
    r->sink(r->context, &effect);
}

static void set_target(struct mission *m, const struct event_command *go)
{
    m->target[2] = wrap_angle(m->pose[2] + go->rotation_rad);
    m->target[0] = m->pose[0] + go->displacement_m * cos(m->target[2]);
    m->target[1] = m->pose[1] + go->displacement_m * sin(m->target[2]);
}

static void make_go(struct mission *m, struct event_command *go)
{
    if (is_locating(m)) {
        return;
    }
    const struct world_point *to = &m->legs[leg_index(m)];
    const double dx = to->x_m - m->pose[0];
    const double dy = to->y_m - m->pose[1];
    go->rotation_rad = robot_round(wrap_angle(atan2(dy, dx) - m->pose[2]), COMMAND_UNITS);
    go->displacement_m = robot_round(hypot(dx, dy), COMMAND_UNITS);
}

static void send_command(const struct round *r, enum l1_command command)
{
    struct mission *m = r->m;
    struct mission_effect effect = {
        .kind = MISSION_COMMAND, .t_us = r->t_us, .step = step_number(m)};
    effect.command.source_us = r->t_us;
    (void)snprintf(effect.command.op, sizeof effect.command.op, "%s", l1_command_name(command));
    (void)snprintf(effect.command.id, sizeof effect.command.id, "%s-%u", m->run,
                   (unsigned)++m->command_count);
    memcpy(m->id, effect.command.id, sizeof m->id);
    memcpy(m->target, m->pose, sizeof m->target);
    m->blocked = false;
    if (command == L1_COMMAND_GO) {
        make_go(m, &effect.command);
        set_target(m, &effect.command);
    }
    r->sink(r->context, &effect);
}

/* --- L1 ------------------------------------------------------------------------------- */

static bool leg_is_short(const struct mission *m)
{
    const size_t j = leg_index(m);
    return !is_locating(m) && j < m->leg_count &&
           hypot(m->legs[j].x_m - m->pose[0], m->legs[j].y_m - m->pose[1]) <=
               m->plan->arrival_m;
}

static void sense_l1(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    const struct mission_plan *plan = r->m->plan;
    (void)t_us;
    r->l1_in = (struct l1_in){.event = cycle == 0 ? r->down : L1_EVENT_NONE,
                              .leg_count = (double)r->m->leg_count,
                              .leg_is_short = leg_is_short(r->m),
                              .patience_us = (double)plan->patience_us,
                              .tries_max = plan->tries_max,
                              .rays_max = plan->rays_max};
    memset(&r->l1_out, 0, sizeof r->l1_out); /* for a sink, which has no outputs */
}

enum mission_code mission_code_of(enum reply_status status)
{
    return status == REPLY_BLOCKED   ? MISSION_BLOCKED
           : status == REPLY_HALTED  ? MISSION_HALTED
           : status == REPLY_IGNORED ? MISSION_IGNORED
                                     : MISSION_ROBOT_ERROR;
}

/* Explains the failure by L1's task and L0's reply. */
static void explain_failure(const struct round *r)
{
    struct mission *m = r->m;
    const bool awaited = m->id[0] != '\0';
    const bool late = awaited ? (double)r->t_us >= read_cell(&m->l1, L1_UNTIL) : m->unanswered;
    const char *what = late      ? "no reply in time"
                       : awaited ? "more rays than a sweep may have"
                                 : reply_status_name(m->status);
    set_code(m, late      ? MISSION_NO_REPLY
                : awaited ? MISSION_TOO_MANY_RAYS
                          : mission_code_of(m->status));
    char where[MISSION_TEXT_MAX / 4];
    char range[MISSION_TEXT_MAX / 4] = "";
    if (m->l2.state == L2_SWEEPING) {
        (void)snprintf(where, sizeof where, "sweep, %.0f rays", read_cell(&m->l1, L1_RAYS));
    } else {
        (void)snprintf(where, sizeof where, "leg %zu of %zu", leg_index(m) + 1, m->leg_count);
    }
    if (!awaited && isfinite(m->range_m)) {
        (void)snprintf(range, sizeof range, ", range %.3f m", m->range_m);
    }
    notify_user(r, 1, failure_level(m), "%s: %s at x %.3f m, y %.3f m, %.3f rad%s", where, what,
                m->pose[0], m->pose[1], m->pose[2], range);
}

/* Reports the counts of this cycle to the user in words. */
static void report_counters(struct round *r)
{
    const struct mission *m = r->m;
    const double warnings = read_cell(&m->l1, L1_WARNINGS);
    const double refused = read_cell(&m->l1, L1_REFUSED) + read_cell(&m->l2, L2_REFUSED);
    if (warnings > r->warnings) {
        notify_user(r, 1, MISSION_WARNING, "the robot %s",
                    read_cell(&m->l1, L1_TRIES) > 0.0 ? "ignored a command, it is sent again"
                                                      : "ended the sweep early");
    }
    if (refused > r->refused) {
        notify_user(r, 2, MISSION_WARNING, "refused: a mission is running");
    }
    r->warnings = warnings;
    r->refused = refused;
}

static void commit_l1(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    (void)cycle;
    (void)t_us;
    count_arc(&r->m->l1, r->m->l1_arcs);
    report_counters(r);
    if (r->l1_out.command != L1_COMMAND_NONE) {
        send_command(r, r->l1_out.command);
    }
    if (r->l1_out.message == L2_EVENT_NONE) {
        return;
    }
    r->up = r->l1_out.message;
    if (r->up == L2_EVENT_FAILED) {
        explain_failure(r);
        r->up = r->m->blocked ? L2_EVENT_BLOCKED : L2_EVENT_FAILED;
    } else {
        notify_user(r, 1, MISSION_ACK, r->up == L2_EVENT_ACK ? "done" : "quit");
    }
    r->m->id[0] = '\0';
}

/* --- L2 ------------------------------------------------------------------------------- */

static void sense_l2(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    const struct mission *m = r->m;
    const struct mission_plan *plan = m->plan;
    const struct mission_step *step = step_in_work(m);
    const struct mission_step *next = step_at(m, (size_t)read_cell(&m->l2, L2_K));
    (void)t_us;
    r->l2_in =
        (struct l2_in){.event = cycle == 0 ? r->up : L2_EVENT_NONE,
                       .step = next ? next->kind : L2_STEP_NONE,
                       .on_route = step && step->kind == L2_STEP_GOAL,
                       .routed = m->routed == STATUS_OK,
                       .returns = plan->returns == MISSION_RETURN_ALWAYS,
                       /* A robot that somebody halted does not drive on by itself, and
                        * home is not known before the robot has said where it is. */
                       .returns_on_failure = plan->returns != MISSION_RETURN_NEVER &&
                                             m->code != MISSION_HALTED && !is_locating(m),
                       .routes_max = plan->routes_max};
    memset(&r->l2_out, 0, sizeof r->l2_out);
}

/* Does the live map, once it has sweeps, know where this robot is? Its stated pose alone says
 * nothing after its program has started again. */
static bool is_off_map(const struct mission_plan *plan)
{
    struct plane_pose at = {0};
    return plan->live && plan->live->sweeps > 0 &&
           !live_map_locate(plan->live, plan->side, &at, &at);
}

/* Plans on the map of cells, and says why there is no route. */
static void plan_on_cells(struct round *r, const char *what, const struct world_point *from,
                          const struct world_point *to)
{
    struct mission *m = r->m;
    const struct mission_plan *plan = m->plan;
    const struct costmap *cells = plan->cells;
    char *memory = plan->memory;
    double reached_m2 = 0.0;
    char area[MISSION_TEXT_MAX / 2] = "";
    if (plan->live) {
        struct costmap *now = (void *)memory;
        memory += mission_costmap_bytes(plan->live_params);
        live_map_fill_costmap(plan->live, plan->live_params, now);
        cells = now;
    }
    const enum grid_route_outcome outcome =
        map_route_plan(cells, memory, &m->map, from, to, plan->clearance_m, &r->plan_budget,
                       &m->route, &reached_m2);
    const bool of_goal = outcome == GRID_ROUTE_GOAL_OUTSIDE ||
                         outcome == GRID_ROUTE_GOAL_UNKNOWN ||
                         outcome == GRID_ROUTE_GOAL_BLOCKED;
    m->routed = outcome == GRID_ROUTE_FOUND ? STATUS_OK
                : of_goal                   ? STATUS_E_RANGE
                                            : STATUS_E_EMPTY;
    if (outcome == GRID_ROUTE_FOUND) {
        return;
    }
    if (outcome == GRID_ROUTE_ENCLOSED) {
        (void)snprintf(
            area, sizeof area,
            ": with a clearance_m of %g it can reach %.1f m2 of the map, and the place "
            "is not in them",
            plan->clearance_m, reached_m2);
    }
    notify_user(r, 2, failure_level(m),
                "%s: %s%s, from x %.3f m, y %.3f m to x %.3f m, y %.3f m", what,
                grid_route_outcome_name(outcome), area, from->x_m, from->y_m, to->x_m, to->y_m);
}

static void plan_among_obstacles(struct round *r, const char *what,
                                 const struct world_point *from, const struct world_point *to)
{
    struct mission *m = r->m;
    m->routed = route_plan(&m->map, from, to, m->plan->clearance_m, &r->plan_budget, &m->route);
    const bool inside = !(world_clearance(&m->map, from->x_m, from->y_m) > 0.0);
    const char *why = m->routed == STATUS_E_RANGE ? "the place is blocked"
                      : m->routed == STATUS_E_EMPTY && inside
                          ? "the robot stands in an obstacle of the map, or out of its bounds"
                      : m->routed == STATUS_E_EMPTY ? "there is no route"
                                                    : "the map has too many corners: fewer, "
                                                      "or a larger clearance_m, are needed";
    if (m->routed != STATUS_OK) {
        notify_user(r, 2, failure_level(m),
                    "%s: %s, from x %.3f m, y %.3f m to x %.3f m, y %.3f m", what, why,
                    from->x_m, from->y_m, to->x_m, to->y_m);
    }
}

static void plan_route(struct round *r, enum l2_request request)
{
    struct mission *m = r->m;
    const struct mission_step *step = step_in_work(m);
    const char *what = request == L2_REQUEST_HOME ? "home" : "goal";
    const struct world_point from = {m->pose[0], m->pose[1]};
    struct world_point to = {m->home[0], m->home[1]};
    if (request == L2_REQUEST_GOAL && step) {
        to = m->plan->points[step->first];
    }
    if (is_off_map(m->plan)) {
        m->routed = STATUS_E_EMPTY;
        notify_user(r, 2, failure_level(m),
                    "%s: the live map does not know where the robot is since its program has "
                    "started: let it SWEEP first",
                    what);
    } else if (m->plan->cells || m->plan->live) {
        plan_on_cells(r, what, &from, &to);
    } else {
        plan_among_obstacles(r, what, &from, &to);
    }
    if (m->routed == STATUS_OK) {
        notify_user(r, 2, MISSION_ACK,
                    "%s: a route of %.2f m with %zu leg%s to x %.3f m, y %.3f m", what,
                    m->route.length_m, m->route.count, m->route.count == 1 ? "" : "s", to.x_m,
                    to.y_m);
        return;
    }
    set_code(m, m->routed == STATUS_E_RANGE ? MISSION_GOAL_BLOCKED : MISSION_NO_ROUTE);
}

static void set_path(struct mission *m)
{
    const struct mission_step *step = step_in_work(m);
    if (step == &locate) {
        m->leg_count = 1;
        m->legs[0] = (struct world_point){m->pose[0], m->pose[1]};
    } else if (!step || step->kind != L2_STEP_PATH) {
        m->leg_count = m->route.count;
        memcpy(m->legs, m->route.points, m->route.count * sizeof m->legs[0]);
    } else {
        m->leg_count = step->count;
        memcpy(m->legs, &m->plan->points[step->first], step->count * sizeof m->legs[0]);
    }
}

static void end_mission(const struct round *r, enum l2_verdict verdict)
{
    const struct mission_effect effect = {
        .kind = MISSION_END,
        .t_us = r->t_us,
        .step = step_number(r->m),
        .verdict = verdict,
        .code = verdict == L2_VERDICT_FAILED ? r->m->code : MISSION_CODE_NONE};
    notify_user(r, 2, verdict == L2_VERDICT_FAILED ? MISSION_ERROR : MISSION_ACK, "%s",
                l2_verdict_name(verdict));
    r->sink(r->context, &effect);
}

/* A plan is pushed and popped within one instant: each change is reported as it happens. */
static void report_stack(const struct round *r)
{
    struct mission *m = r->m;
    if (m->l2.depth != m->depth) {
        const struct mission_effect effect = {
            .kind = MISSION_STACK, .t_us = r->t_us, .step = step_number(m)};
        m->depth = m->l2.depth;
        r->sink(r->context, &effect);
    }
}

static void commit_l2(void *context, unsigned cycle, int64_t t_us)
{
    struct round *r = context;
    (void)cycle;
    (void)t_us;
    count_arc(&r->m->l2, r->m->l2_arcs);
    report_counters(r);
    report_stack(r);
    if (r->l2_out.request != L2_REQUEST_NONE) {
        plan_route(r, r->l2_out.request);
    }
    if (r->l2_out.order == L1_EVENT_FOLLOW) {
        set_path(r->m);
    }
    if (r->l2_out.order != L1_EVENT_NONE) {
        r->down = r->l2_out.order;
    }
    if (r->l2_out.verdict != L2_VERDICT_NONE) {
        end_mission(r, r->l2_out.verdict);
    }
}

/* --- both ----------------------------------------------------------------------------- */

/* Reports a machine in a fault and resets both: the mission has failed. */
static void recover_layers(struct round *r, const struct efsm_machine *machine)
{
    char text[MISSION_TEXT_MAX];
    efsm_describe_fault(machine->table, machine->m, text, sizeof text);
    notify_user(r, machine->number, MISSION_ERROR, "%s", text);
    r->m->code = MISSION_MACHINE_FAULT;
    end_mission(r, L2_VERDICT_FAILED);
    efsm_reset(&l1_table, &r->m->l1, r->t_us);
    efsm_reset(&l2_table, &r->m->l2, r->t_us);
    r->m->id[0] = '\0';
    r->m->fault_count++;
    r->failed = true;
}

static void run_layer(struct round *r, bool is_l1)
{
    struct mission *m = r->m;
    const struct efsm_machine machine =
        is_l1
            ? (struct efsm_machine){&l1_table, &m->l1, &m->l1_stats, 1, &r->l1_in, &r->l1_out}
            : (struct efsm_machine){&l2_table, &m->l2, &m->l2_stats, 2, &r->l2_in, &r->l2_out};
    const struct efsm_network net = {.machines = &machine,
                                     .count = 1,
                                     .sense = is_l1 ? sense_l1 : sense_l2,
                                     .commit = is_l1 ? commit_l1 : commit_l2,
                                     .context = r,
                                     .trace = &m->trace};
    (void)efsm_run_instant(&net, r->t_us);
    if (!efsm_is_active(machine.table, machine.m)) {
        recover_layers(r, &machine);
    }
}

/* Runs the layers alternately until neither has anything for the other. */
static void run_layers(struct round *r)
{
    bool low = r->up == L2_EVENT_NONE; /* L1 has the first turn */
    bool has_more = true;
    r->warnings = read_cell(&r->m->l1, L1_WARNINGS);
    r->refused = read_cell(&r->m->l1, L1_REFUSED) + read_cell(&r->m->l2, L2_REFUSED);
    for (int i = 0; i < ROUNDS_MAX && has_more && !r->failed; i++) {
        if (low) {
            r->up = L2_EVENT_NONE;
        } else {
            r->down = L1_EVENT_NONE;
        }
        run_layer(r, low);
        has_more = low ? r->up != L2_EVENT_NONE : r->down != L1_EVENT_NONE;
        low = !low;
    }
}

/* --- inputs --------------------------------------------------------------------------- */

void mission_init(struct mission *m, const struct mission_plan *plan, const char *run,
                  int64_t t_us)
{
    memset(m, 0, sizeof *m);
    m->plan = plan;
    m->map = plan->map;
    m->map.mapped_only = true;
    m->routed = STATUS_E_EMPTY;
    m->range_m = nan("");
    memcpy(m->pose, plan->start, sizeof m->pose);
    memcpy(m->home, plan->start, sizeof m->home);
    (void)snprintf(m->run, sizeof m->run, "%s", run);
    efsm_reset(&l1_table, &m->l1, t_us);
    efsm_reset(&l2_table, &m->l2, t_us);
}

void mission_start(struct mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    struct round r = {.m = m,
                      .t_us = t_us,
                      .sink = sink,
                      .context = context,
                      .plan_budget = ROUTE_WORK_MAX,
                      .up = L2_EVENT_START};
    run_layers(&r);
}

void mission_quit(struct mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    struct round r = {.m = m,
                      .t_us = t_us,
                      .sink = sink,
                      .context = context,
                      .plan_budget = ROUTE_WORK_MAX,
                      .up = L2_EVENT_QUIT};
    run_layers(&r);
}

void mission_tick(struct mission *m, int64_t t_us, mission_sink *sink, void *context)
{
    struct round r = {
        .m = m, .t_us = t_us, .sink = sink, .context = context, .plan_budget = ROUTE_WORK_MAX};
    run_layers(&r);
    if (!r.failed) { /* L2 must see the cycle without an event, too */
        r.up = L2_EVENT_NONE;
        run_layer(&r, false);
    }
}

/* Updates the pose: as the robot reports it; otherwise, after success, the target. */
static void update_pose(struct mission *m, const struct event_reply *reply, bool is_last)
{
    double said[3] = {native_reply_number(reply, "x_m"), native_reply_number(reply, "y_m"),
                      native_reply_number(reply, "psi_rad")};
    struct plane_pose at = {said[0], said[1], said[2]};
    if (m->plan->live && live_map_locate(m->plan->live, m->plan->side, &at, &at)) {
        memcpy(said, (const double[]){at.x_m, at.y_m, at.yaw_rad}, sizeof said);
    }
    if (!m->plan->reckoned && isfinite(said[0]) && isfinite(said[1]) && isfinite(said[2])) {
        memcpy(m->pose, said, sizeof said);
    } else if (is_last && reply->status == REPLY_DONE) {
        memcpy(m->pose, m->target, sizeof m->pose);
    }
}

/* A robot at another place than its target: it started elsewhere, or slipped. The next leg
 * begins at the reported pose. */
static void check_pose(const struct round *r, const struct event_reply *reply)
{
    const struct mission *m = r->m;
    if (reply->status == REPLY_DONE && !is_locating(m) &&
        hypot(m->pose[0] - m->target[0], m->pose[1] - m->target[1]) > m->plan->clearance_m) {
        notify_user(r, 1, MISSION_WARNING,
                    "the robot says that it is at x %.3f m, y %.3f m, where x %.3f m, y %.3f m "
                    "was expected",
                    m->pose[0], m->pose[1], m->target[0], m->target[1]);
    }
}

/* Adds the unmapped obstacle that stopped the robot to the map. */
static void add_obstacle(struct mission *m)
{
    const double far_m = isfinite(m->range_m) ? m->range_m : m->plan->clearance_m;
    const double to_centre_m = far_m + m->plan->obstacle_m;
    const struct world_point centre = {m->pose[0] + to_centre_m * cos(m->pose[2]),
                                       m->pose[1] + to_centre_m * sin(m->pose[2])};
    const struct world_obstacle what = {
        .name = "found", .shape = WORLD_CIRCLE, .radius_m = m->plan->obstacle_m};
    if (world_add(&m->map, &what, &centre, 1) == STATUS_OK) {
        m->obstacles_found++;
    }
}

void mission_reply(struct mission *m, const struct event_reply *reply, int64_t t_us,
                   mission_sink *sink, void *context)
{
    static const enum l1_event events[REPLY_STATUS_COUNT] = {
        [REPLY_DONE] = L1_EVENT_DONE,       [REPLY_DATA] = L1_EVENT_DATA,
        [REPLY_BLOCKED] = L1_EVENT_BLOCKED, [REPLY_HALTED] = L1_EVENT_HALTED,
        [REPLY_IGNORED] = L1_EVENT_IGNORED, [REPLY_ERROR] = L1_EVENT_ERROR};
    /* A reply without id belongs to the only open command. */
    const bool is_last =
        m->id[0] != '\0' && (reply->id[0] == '\0' || strcmp(reply->id, m->id) == 0);
    if (reply->status >= REPLY_STATUS_COUNT) {
        return;
    }
    update_pose(m, reply, is_last);
    struct mission_effect answer = {
        .kind = MISSION_ANSWER, .t_us = t_us, .step = step_number(m)};
    memcpy(answer.pose, m->pose, sizeof answer.pose);
    sink(context, &answer);
    if (!is_last) { /* of a command that has been halted, or somebody else's */
        m->stray_count++;
        return;
    }
    m->id[0] = '\0';
    m->status = reply->status;
    m->range_m = native_reply_number(reply, "range_m");
    m->blocked = reply->status == REPLY_BLOCKED;
    if (is_locating(m)) {
        memcpy(m->home, m->pose, sizeof m->home);
    }
    if (m->blocked) {
        add_obstacle(m);
    }
    struct round r = {.m = m,
                      .t_us = t_us,
                      .sink = sink,
                      .context = context,
                      .plan_budget = ROUTE_WORK_MAX,
                      .down = events[reply->status]};
    check_pose(&r, reply);
    run_layers(&r);
}

int64_t mission_next_us(const struct mission *m)
{
    const bool waits =
        m->l1.state == L1_MOVING || m->l1.state == L1_RAY || m->l1.state == L1_HALTING;
    /* Rounded up, so that a tick at this time finds the deadline passed. */
    return waits ? (int64_t)ceil(read_cell(&m->l1, L1_UNTIL)) : LAB_TIME_MAX;
}

NAMES(mission_return_names, MISSION_RETURN_ALWAYS + 1, "never", "failure", "always");
NAMES(mission_pose_names, 2, "robot", "reckoned");
ENUM_NAMES(mission_code, MISSION_CODE_COUNT, MISSION_CODES(NAMES_TEXT));
ENUM_NAMES(mission_level, MISSION_ERROR + 1, "ack", "warning", "error");
