/* twin/pair/pair_arm.c - additional state of a pair of arms: how far a move goes if the command
 * does not say it, its commanded time, the distance of the two tools on the way and at the end,
 * and their distance from their line. docs/model/arm_pair.md
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "twin/arm/arm_move.h"
#include "twin/pair/pair_arm_state.h"
#include "twin/pair/pair_run.h"
#include "twin/pair/pair_thresholds.def"

static const double MM_PER_M = 1e3;
/* Smaller sizes mean no motion. */
static const double NO_MOVE = 1e-6;

static bool find_geometry(const struct pair_params *p, struct arm_geometry *out)
{
    return arm_geometry_find(p->arm, out);
}

/* ---- start and end of a move
 * -------------------------------------------------------------- */

/* Predicts the start of a new command: the end of the previous one if that is still open; else
 * the last seen angles of the real arm, or the virtual one; else the end of the last
 * command. */
static bool find_start(const struct pair_arm *arm, bool waits, double q[ARM_JOINTS])
{
    const double *from = arm->target_known ? arm->target_q : NULL;
    if (!waits) {
        for (enum side s = SIDE_VIRTUAL + 1; s-- > SIDE_REAL;) {
            from = arm->seen[s].t_us != LAB_TIME_NONE ? arm->seen[s].q : from;
        }
    }
    if (from) {
        memcpy(q, from, ARM_JOINTS * sizeof *q);
    }
    return from != NULL;
}

static bool is_present(const struct event_arm *c, enum event_arm_member member)
{
    return c->present >> member & 1U;
}

/* Returns the commanded rates; missing ones have the controller's default. */
static struct arm_rates rates_of(const struct event_arm *c)
{
    struct arm_rates r = arm_rates_default;
    const struct {
        enum event_arm_member member;
        double present, *rate;
    } rows[] = {{EVENT_ARM_V_RADPS, c->v_radps, &r.v_radps},
                {EVENT_ARM_A_RADPS2, c->a_radps2, &r.a_radps2},
                {EVENT_ARM_V_MPS, c->v_mps, &r.v_mps},
                {EVENT_ARM_A_MPS2, c->a_mps2, &r.a_mps2}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        *rows[i].rate = is_present(c, rows[i].member) ? rows[i].present : *rows[i].rate;
    }
    return r;
}

/* Plans as the robot's own controller does; false if it would refuse, or if it is not a
 * move. */
static bool plan_move(const struct arm_geometry *geometry, const struct event_command *command,
                      const double from[ARM_JOINTS], struct arm_move *move)
{
    const struct event_arm *c = &command->arm;
    const struct arm_rates rates = rates_of(c);
    const bool by_joints = c->q_count == ARM_JOINTS;
    const bool by_pose = c->pose_count == 6;
    struct rigid to = by_joints ? arm_forward(geometry, c->q_rad) : rigid_from_pose(c->pose);
    struct arm_fault fault = {.refusal = ARM_BAD_VALUE};
    if (strcmp(command->op, "movej") == 0 && (by_joints || by_pose)) {
        double q[ARM_JOINTS];
        struct arm_solution found;
        if (by_joints) {
            memcpy(q, c->q_rad, sizeof q);
        } else if (arm_inverse_near(geometry, &to, from, &found) == ARM_REACHED) {
            memcpy(q, found.q, sizeof q);
        } else {
            return false;
        }
        fault = arm_plan_joints(geometry, from, q, &rates, &arm_bounds_none, move);
    } else if (strcmp(command->op, "movel") == 0 && (by_joints || by_pose)) {
        fault = arm_plan_line(geometry, from, &to, &rates, &arm_bounds_none, move);
    } else if (strcmp(command->op, "movec") == 0 && by_pose && c->via_count >= 3) {
        fault =
            arm_plan_arc(geometry, from, c->via, &to, c->turns, &rates, &arm_bounds_none, move);
    }
    return fault.refusal == ARM_ACCEPTED;
}

static void apply_plan(const struct arm_geometry *geometry, const struct event_arm *c,
                       const struct arm_move *move, struct pair_slot *slot,
                       struct arm_track *track)
{
    const struct rigid to = arm_forward(geometry, move->to_q);
    const bool joints = move->path == ARM_JOINT_PATH;
    track->line = move->path == ARM_LINE && move->length_m > NO_MOVE;
    track->kind = joints ? PROFILE_JOINTS : PROFILE_LINES;
    track->timed = is_present(c, EVENT_ARM_TIME_S) && c->time_s > 0.0;
    track->speed = move->speed_limit;
    track->acceleration = move->acceleration;
    memcpy(track->to_m, to.at_m, sizeof track->to_m);
    if (!(fabs(slot->rotation_rad) > 0.0) && !(fabs(slot->displacement_m) > 0.0)) {
        slot->rotation_rad = joints ? move->size_rad : move->angle_rad;
        slot->displacement_m = joints ? 0.0 : move->length_m;
    }
}

/* Each tool's line begins at that arm's present place. */
static void find_line_starts(const struct arm_geometry *geometry, const struct pair_arm *arm,
                             bool waits, const double from[ARM_JOINTS], struct arm_track *track)
{
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const bool seen = !waits && arm->seen[s].t_us != LAB_TIME_NONE;
        const struct rigid tool = arm_forward(geometry, seen ? arm->seen[s].q : from);
        memcpy(track->from_m[s], tool.at_m, sizeof track->from_m[s]);
    }
}

static bool is_behind_another(const struct pair *pair, const struct pair_slot *slot)
{
    for (int k = -1; pair_next_open(pair, &k);) {
        if (pair_look_slot(pair, k)->order < slot->order) {
            return true;
        }
    }
    return false;
}

/* Returns the difference between the planned and the given size; rad and m alike. */
static double size_error(const struct arm_move *move, const struct pair_slot *slot)
{
    const bool joints = move->path == ARM_JOINT_PATH;
    return fabs((joints ? move->size_rad : move->angle_rad) - fabs(slot->rotation_rad)) +
           fabs((joints ? 0.0 : move->length_m) - fabs(slot->displacement_m));
}

/* Plans from the real arm's angles. If the virtual arm repeats a move that the real one has
 * finished, the real arm is at its end already, and the given size shows that. */
static bool plan_track(const struct arm_geometry *geometry, const struct event_command *c,
                       const struct pair_arm *arm, const struct pair_slot *slot, bool waits,
                       struct arm_move *move)
{
    const struct arm_seen *virtual = &arm->seen[SIDE_VIRTUAL];
    const bool present = fabs(slot->rotation_rad) > 0.0 || fabs(slot->displacement_m) > 0.0;
    double from[ARM_JOINTS];
    struct arm_move other;
    bool known = find_start(arm, waits, from) && plan_move(geometry, c, from, move);
    if (present && !waits && virtual->t_us != LAB_TIME_NONE &&
        plan_move(geometry, c, virtual->q, &other) &&
        (!known || size_error(&other, slot) < size_error(move, slot))) {
        *move = other;
        known = true;
    }
    return known;
}

void pair_arm_open(const struct pair_run *run, struct pair_slot *slot)
{
    static const char *const moves[] = {"movej", "movel", "movec"};
    const struct event_command *c = &run->event->command;
    struct pair_arm *arm = pair_arm_find(run->pair, run->p);
    struct arm_geometry geometry;
    struct arm_move move;
    bool moves_it = strncmp(c->op, "speed", 5) == 0 || strcmp(c->op, "go") == 0;
    if (!arm || !find_geometry(run->p, &geometry)) {
        return;
    }
    struct arm_track *track = &arm->track[slot->place];
    *track = (struct arm_track){.gap_max_mm = NAN, .path_error_mm = {NAN, NAN}};
    for (size_t i = 0; i < COUNT(moves); i++) {
        moves_it = moves_it || strcmp(c->op, moves[i]) == 0;
    }
    if (!moves_it) {
        return;
    }
    const bool waits = is_behind_another(run->pair, slot);
    track->known = plan_track(&geometry, c, arm, slot, waits, &move);
    /* The end is known from the command alone if it is given as joint angles. */
    arm->target_known = track->known || c->arm.q_count == ARM_JOINTS;
    if (arm->target_known) {
        memcpy(arm->target_q, track->known ? move.to_q : c->arm.q_rad, sizeof arm->target_q);
    }
    if (track->known) {
        apply_plan(&geometry, &c->arm, &move, slot, track);
        find_line_starts(&geometry, arm, waits, move.from_q, track);
        track->known = track->speed > 0.0;
    }
}

/* ---- on the way ---------------------------------------------------------------------------
 */

/* Finds the oldest open command that a side, or any with SIDE_COUNT, executes. */
static struct arm_track *find_track(const struct pair_run *run, struct pair_arm *arm,
                                    enum side side)
{
    const struct pair *pair = run->pair;
    int oldest = -1;
    for (int k = -1; pair_next_open(pair, &k);) {
        const struct pair_slot *slot = pair_look_slot(pair, k);
        const bool owed =
            side < SIDE_COUNT
                ? pair_slot_owed(slot, side)
                : slot->sent[SIDE_REAL] && slot->sent[SIDE_VIRTUAL] &&
                      (pair_slot_owed(slot, SIDE_REAL) || pair_slot_owed(slot, SIDE_VIRTUAL));
        if (owed && (oldest < 0 || slot->order < pair_look_slot(pair, oldest)->order)) {
            oldest = k;
        }
    }
    return oldest >= 0 && arm->track[oldest].known ? &arm->track[oldest] : NULL;
}

static double distance_m(const double a[3], const double b[3])
{
    return sqrt((a[0] - b[0]) * (a[0] - b[0]) + (a[1] - b[1]) * (a[1] - b[1]) +
                (a[2] - b[2]) * (a[2] - b[2]));
}

/* Returns the distance of a point from the segment between two others. */
static double line_distance_m(const double from[3], const double to[3], const double at[3])
{
    double foot[3];
    double along = 0.0;
    double length2 = 0.0;
    for (size_t i = 0; i < 3; i++) {
        along += (at[i] - from[i]) * (to[i] - from[i]);
        length2 += (to[i] - from[i]) * (to[i] - from[i]);
    }
    const double share = fmin(fmax(along / length2, 0.0), 1.0);
    for (size_t i = 0; i < 3; i++) {
        foot[i] = from[i] + share * (to[i] - from[i]);
    }
    return distance_m(foot, at);
}

/* Extrapolates the tool at lab time t_us from the last sample and its speeds. */
static void find_tool(const struct arm_geometry *geometry, const struct arm_seen *seen,
                      int64_t t_us, double out[3])
{
    double q[ARM_JOINTS];
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        q[j] = seen->q[j] + seen->qd[j] * lab_s(t_us - seen->t_us);
    }
    const struct rigid tool = arm_forward(geometry, q);
    memcpy(out, tool.at_m, 3 * sizeof *out);
}

/* NaN is less than all. */
static void update_max(double *most, double value)
{
    *most = value > *most || isnan(*most) ? value : *most;
}

/* Returns the time of measurement: by the robot's clock if that is known, so that transport
 * does not count as a distance. */
static int64_t sample_time_us(const struct pair_run *run)
{
    const struct event *e = run->event;
    const struct clock_map *map = &run->pair->side[e->side].clock;
    const bool wall = run->p->source_clock[e->side] == PAIR_CLOCK_WALL;
    const int64_t t_us = wall && map->state == CLOCK_MAP_LOCKED
                             ? clock_map_to_lab(map, e->telemetry.source_us)
                             : LAB_TIME_NONE;
    return t_us != LAB_TIME_NONE && t_us <= run->t_us && t_us > run->t_us - FRESH_US
               ? t_us
               : run->t_us;
}

void pair_arm_watch(const struct pair_run *run)
{
    const struct event *e = run->event;
    const enum side other = e->side == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL;
    struct pair_arm *arm = pair_arm_find(run->pair, run->p);
    struct arm_geometry geometry;
    if (!arm || run->changes->old || e->telemetry.pose_count != ARM_JOINTS ||
        !find_geometry(run->p, &geometry)) {
        return;
    }
    struct arm_seen *seen = &arm->seen[e->side];
    *seen = (struct arm_seen){.t_us = sample_time_us(run)};
    memcpy(seen->q, e->telemetry.pose, sizeof seen->q);
    if (e->telemetry.nu_count == ARM_JOINTS) {
        memcpy(seen->qd, e->telemetry.nu, sizeof seen->qd);
    }
    double at[3];
    find_tool(&geometry, seen, seen->t_us, at);
    struct arm_track *track = find_track(run, arm, e->side);
    if (track && track->line) {
        update_max(&track->path_error_mm[e->side],
                   MM_PER_M * line_distance_m(track->from_m[e->side], track->to_m, at));
    }
    const struct arm_seen *theirs = &arm->seen[other];
    track = find_track(run, arm, SIDE_COUNT);
    if (track && theirs->t_us != LAB_TIME_NONE &&
        llabs(seen->t_us - theirs->t_us) <= FRESH_US) {
        double there[3];
        find_tool(&geometry, theirs, seen->t_us, there);
        update_max(&track->gap_max_mm, MM_PER_M * distance_m(at, there));
    }
}

/* ---- replies ------------------------------------------------------------------------------
 */

/* Reads "q1_rad" ... "q6_rad" of a reply. */
static bool read_joints(const struct event_reply *reply, double q[ARM_JOINTS])
{
    unsigned found = 0;
    for (size_t i = 0; i < reply->value_count; i++) {
        const struct event_value *v = &reply->values[i];
        for (unsigned j = 0; j < ARM_JOINTS && v->kind == VALUE_NUMBER; j++) {
            const char name[] = {'q', (char)('1' + j), '_', 'r', 'a', 'd', '\0'};
            if (strcmp(v->name, name) == 0) {
                q[j] = v->number;
                found |= 1U << j;
            }
        }
    }
    return found == (1U << ARM_JOINTS) - 1;
}

void pair_arm_reply(const struct pair_run *run, const struct pair_slot *slot)
{
    const enum side side = run->event->side;
    const struct event_reply *reply = &run->event->reply;
    struct pair_arm *arm = pair_arm_find(run->pair, run->p);
    double q[ARM_JOINTS];
    if (!arm) {
        return;
    }
    struct arm_track *track = &arm->track[slot->place];
    struct arm_seen *seen = &arm->seen[side];
    const bool present = read_joints(reply, q);
    const bool fresh = seen->t_us != LAB_TIME_NONE && run->t_us - seen->t_us <= ENDED_US;
    if (present) {
        *seen = (struct arm_seen){.t_us = run->t_us};
        memcpy(seen->q, q, sizeof seen->q);
    }
    track->ended[side] = present || fresh;
    memcpy(track->end_q[side], seen->q, sizeof seen->q);
    if (reply->status == REPLY_DONE) {
        return;
    }
    /* The move did not end at its target, so the next one starts elsewhere. */
    arm->target_known = false;
    for (int k = -1; pair_next_open(run->pair, &k);) {
        if (pair_look_slot(run->pair, k)->order > slot->order) {
            arm->track[k].known = false;
        }
    }
}

/* ---- entries ------------------------------------------------------------------------------
 */

void pair_arm_fill(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct entry *e)
{
    const struct pair_arm *arm = pair_arm_look(pair, p);
    struct arm_geometry geometry;
    if (!arm || !find_geometry(p, &geometry)) {
        return;
    }
    const struct arm_track *track = &arm->track[slot->place];
    e->arm = (struct entry_arm){true, NAN, NAN, {NAN, NAN}};
    if (track->ended[SIDE_REAL] && track->ended[SIDE_VIRTUAL]) {
        const struct rigid real = arm_forward(&geometry, track->end_q[SIDE_REAL]);
        const struct rigid virtual = arm_forward(&geometry, track->end_q[SIDE_VIRTUAL]);
        e->arm.gap_end_mm = MM_PER_M * distance_m(real.at_m, virtual.at_m);
    }
    if (track->known) {
        e->arm.gap_max_mm = track->gap_max_mm;
        /* The end counts as part of the way. */
        if (!isnan(e->arm.gap_max_mm) && !isnan(e->arm.gap_end_mm)) {
            update_max(&e->arm.gap_max_mm, e->arm.gap_end_mm);
        }
        memcpy(e->arm.path_error_mm, track->path_error_mm, sizeof e->arm.path_error_mm);
    }
}

bool pair_arm_move(const struct pair *pair, const struct pair_params *p,
                   const struct pair_slot *slot, struct pair_move *row)
{
    const struct pair_arm *arm = pair_arm_look(pair, p);
    const struct arm_track *track = arm ? &arm->track[slot->place] : NULL;
    if (!track || !track->known || track->timed) {
        return false;
    }
    row->kind = track->kind;
    row->speed = (float)track->speed;
    row->acceleration = (float)track->acceleration;
    return true;
}
