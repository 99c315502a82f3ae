#include "twin/arm/arm_move.h"

#include <math.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "base/numbers/number.h"
#include "twin/arm/arm_motion_thresholds.def"

/* A shorter path, m or rad, has no length. */
static const double NOTHING = 1e-9;
/* Steps of distance and turn in which a path is checked during planning. */
static const double STEP_M = 0.002;
static const double STEP_RAD = 0.01;
static const double STEPS_MIN = 50.0;
static const double STEPS_MAX = 2000.0;
static const double ROUNDING = 1e-12;

const struct arm_rates arm_rates_default = {
    .v_radps = 1.05, .a_radps2 = 1.4, .v_mps = 0.25, .a_mps2 = 1.2};
const struct arm_bounds arm_bounds_none = {.clearance_m = -INFINITY, .floor_m = -INFINITY};

const char *const arm_refusal_names[ARM_REFUSAL_COUNT] = {
    [ARM_ACCEPTED] = "accepted",        [ARM_BAD_VALUE] = "bad_value",
    [ARM_BEYOND_LIMIT] = "joint_limit", [ARM_OUT_OF_REACH] = "out_of_reach",
    [ARM_AT_SINGULARITY] = "singular",  [ARM_TOO_FAST] = "too_fast",
    [ARM_COLLISION] = "collision",
};

static const struct arm_fault accepted = {.refusal = ARM_ACCEPTED, .at = (double)NAN};

static struct arm_fault refuse_move(enum arm_refusal why, double at)
{
    return (struct arm_fault){.refusal = why, .at = at};
}

static bool check_rates(const struct arm_rates *r)
{
    return isfinite(r->v_radps) && r->v_radps > 0.0 && isfinite(r->a_radps2) &&
           r->a_radps2 > 0.0 && isfinite(r->v_mps) && r->v_mps > 0.0 && isfinite(r->a_mps2) &&
           r->a_mps2 > 0.0 && isfinite(r->time_s) && r->time_s >= 0.0;
}

static bool check_tool_goal(const double from_q[ARM_JOINTS], const struct rigid *to,
                            const struct arm_rates *rates)
{
    return number_all_finite(from_q, ARM_JOINTS) && number_all_finite(to->at_m, 3) &&
           number_all_finite(&to->turn[0][0], 9) && check_rates(rates);
}

/* ---- the trapezoid ---- */

double arm_duration_s(double size, double v, double a)
{
    if (!(size > 0.0)) {
        return 0.0;
    }
    const double peak = fmin(v, sqrt(a * size));
    return size / peak + peak / a;
}

static void set_profile(struct arm_move *m, double v, double a)
{
    m->speed_limit = v;
    m->speed = fmin(v, sqrt(a));
    m->acceleration = a;
    m->duration_s = arm_duration_s(1.0, v, a);
}

double arm_share_at(double speed, double acceleration, double duration_s, double t_s,
                    double *rate)
{
    const double rise_s = speed / acceleration;
    *rate = 0.0;
    if (!(t_s > 0.0)) {
        return 0.0;
    }
    if (t_s >= duration_s) {
        return 1.0;
    }
    if (t_s < rise_s) {
        *rate = acceleration * t_s;
        return 0.5 * acceleration * t_s * t_s;
    }
    if (t_s <= duration_s - rise_s) {
        *rate = speed;
        return speed * (t_s - 0.5 * rise_s);
    }
    const double left_s = duration_s - t_s;
    *rate = acceleration * left_s;
    return 1.0 - 0.5 * acceleration * left_s * left_s;
}

/* ---- bounds on the path ---- */

static bool has_bounds(const struct arm_bounds *b)
{
    return isfinite(b->clearance_m) || isfinite(b->floor_m);
}

/* Returns the distance to keep. An arm that begins nearer, such as one that lies on the floor,
 * may move away. */
static double least_clearance(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                              const struct arm_bounds *b)
{
    return has_bounds(b) ? fmin(fmax(b->clearance_m, 0.0),
                                arm_clearance(arm, from_q, b->floor_m).distance_m)
                         : 0.0;
}

static struct arm_fault check_clearance(const struct arm_geometry *arm,
                                        const double q[ARM_JOINTS], const struct arm_bounds *b,
                                        double least_m, double at)
{
    if (has_bounds(b)) {
        const struct arm_clearance c = arm_clearance(arm, q, b->floor_m);
        if (c.distance_m < least_m) {
            return (struct arm_fault){.refusal = ARM_COLLISION,
                                      .at = at,
                                      .part = c.part,
                                      .other = c.other,
                                      .begins_m = fmax(b->clearance_m, 0.0) - least_m};
        }
    }
    return accepted;
}

/* Returns the largest share of a joint's speed limit, at a rate of the path of 1/s. */
static double find_effort(const struct arm_geometry *arm, const double a[ARM_JOINTS],
                          const double b[ARM_JOINTS], double step)
{
    double most = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        most = fmax(most, fabs(a[i] - b[i]) / step / arm->qd_max_radps[i]);
    }
    return most;
}

/* ---- joints ---- */

static struct arm_fault time_joints(const struct arm_geometry *arm,
                                    const struct arm_rates *rates,
                                    const struct arm_bounds *bounds, struct arm_move *m)
{
    const double size = m->size_rad;
    const double effort = find_effort(arm, m->from_q, m->to_q, 1.0);
    double v = rates->v_radps / size;
    double a = rates->a_radps2 / size;
    if (rates->time_s > 0.0) {
        /* v t - v^2 / a = 1; a is increased if there is no room for a flat part. */
        const double t = rates->time_s;
        a = fmax(a, 4.0 / (t * t));
        v = 0.5 * a * t - sqrt(fmax(0.25 * a * a * t * t - a, 0.0));
        if (v * effort > 1.0 + ROUNDING) {
            return refuse_move(ARM_TOO_FAST, (double)NAN);
        }
    }
    if (v * effort > 1.0) {
        if (bounds->hold_speed && fmin(v, sqrt(a)) * effort > 1.0 + ROUNDING) {
            return refuse_move(ARM_TOO_FAST, (double)NAN);
        }
        m->stretch = v * effort;
        v = 1.0 / effort;
    }
    set_profile(m, v, a);
    return accepted;
}

struct arm_fault arm_plan_joints(const struct arm_geometry *arm,
                                 const double from_q[ARM_JOINTS], const double to_q[ARM_JOINTS],
                                 const struct arm_rates *rates, const struct arm_bounds *bounds,
                                 struct arm_move *out)
{
    if (!number_all_finite(from_q, ARM_JOINTS) || !number_all_finite(to_q, ARM_JOINTS) ||
        !check_rates(rates)) {
        return refuse_move(ARM_BAD_VALUE, (double)NAN);
    }
    struct arm_move m = {.path = ARM_JOINT_PATH, .stretch = 1.0};
    memcpy(m.from_q, from_q, sizeof(m.from_q));
    memcpy(m.to_q, to_q, sizeof(m.to_q));
    memcpy(m.last_q, from_q, sizeof(m.last_q));
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        if (fabs(to_q[i]) > arm->q_max_rad[i] + ROUNDING) {
            return refuse_move(ARM_BEYOND_LIMIT, 1.0);
        }
    }
    m.size_rad = arm_largest_turn(from_q, to_q);
    if (m.size_rad >= NOTHING) {
        const struct arm_fault late = time_joints(arm, rates, bounds, &m);
        if (late.refusal != ARM_ACCEPTED) {
            return late;
        }
    } else {
        m.size_rad = 0.0;
    }
    const double steps = fmin(fmax(ceil(m.size_rad / STEP_RAD), STEPS_MIN), STEPS_MAX);
    const double least_m = least_clearance(arm, from_q, bounds);
    for (double i = 1.0; i <= steps; i += 1.0) {
        double q[ARM_JOINTS];
        for (size_t k = 0; k < ARM_JOINTS; k++) {
            q[k] = from_q[k] + i / steps * (to_q[k] - from_q[k]);
        }
        const struct arm_fault hit = check_clearance(arm, q, bounds, least_m, i / steps);
        if (hit.refusal != ARM_ACCEPTED) {
            return hit;
        }
    }
    *out = m;
    return accepted;
}

/* ---- the tool ---- */

static struct rigid pose_on_path(const struct arm_move *m, double share)
{
    double turn[3];
    for (size_t i = 0; i < 3; i++) {
        turn[i] = share * m->turn_rad[i];
    }
    const struct rigid step = rotation_exp(turn);
    struct rigid pose = rigid_multiply(&m->from, &step);
    const double c = cos(share * m->sweep_rad);
    const double s = sin(share * m->sweep_rad);
    for (size_t i = 0; i < 3; i++) {
        pose.at_m[i] = m->path == ARM_ARC ? m->centre_m[i] + c * m->out_m[i] + s * m->aside_m[i]
                                          : m->from.at_m[i] + share * m->shift_m[i];
    }
    return pose;
}

/* Computes velocity and turning of the tool at a rate of the path of 1/s. */
static void twist_on_path(const struct arm_move *m, double share, double twist[6])
{
    const double c = cos(share * m->sweep_rad);
    const double s = sin(share * m->sweep_rad);
    for (size_t i = 0; i < 3; i++) {
        twist[i] = m->path == ARM_ARC ? m->sweep_rad * (c * m->aside_m[i] - s * m->out_m[i])
                                      : m->shift_m[i];
        twist[3 + i] = 0.0;
        for (size_t k = 0; k < 3; k++) {
            twist[3 + i] += m->from.turn[i][k] * m->turn_rad[k];
        }
    }
}

/* Checks the whole path; *effort is the largest share of a joint's speed limit at 1/s. */
static struct arm_fault walk_path(const struct arm_geometry *arm,
                                  const struct arm_bounds *bounds, struct arm_move *m,
                                  double *effort)
{
    const double steps = fmin(
        fmax(ceil(fmax(m->length_m / STEP_M, m->angle_rad / STEP_RAD)), STEPS_MIN), STEPS_MAX);
    const double least_m = least_clearance(arm, m->from_q, bounds);
    *effort = 0.0;
    double q[ARM_JOINTS];
    memcpy(q, m->from_q, sizeof(q));
    for (double i = 1.0; i <= steps; i += 1.0) {
        const struct rigid pose = pose_on_path(m, i / steps);
        struct arm_solution next;
        const enum arm_reach reach = arm_inverse_near(arm, &pose, q, &next);
        if (reach != ARM_REACHED) {
            const enum arm_refusal why = reach == ARM_JOINT_LIMIT ? ARM_BEYOND_LIMIT
                                         : reach == ARM_SINGULAR  ? ARM_AT_SINGULARITY
                                                                  : ARM_OUT_OF_REACH;
            return (struct arm_fault){.refusal = why, .at = i / steps, .reach = reach};
        }
        if (arm_largest_turn(q, next.q) > JUMP_RAD) {
            return refuse_move(ARM_AT_SINGULARITY, i / steps);
        }
        *effort = fmax(*effort, find_effort(arm, q, next.q, 1.0 / steps));
        memcpy(q, next.q, sizeof(q));
        const struct arm_fault hit = check_clearance(arm, q, bounds, least_m, i / steps);
        if (hit.refusal != ARM_ACCEPTED) {
            return hit;
        }
    }
    memcpy(m->to_q, q, sizeof(q));
    return accepted;
}

/* The slower part, distance or turn, sets the trapezoid; a joint that would be too fast slows
 * down the whole. */
static struct arm_fault time_path(const struct arm_rates *rates,
                                  const struct arm_bounds *bounds, double effort,
                                  struct arm_move *m)
{
    const double a = fmin(rates->a_mps2 / m->length_m, rates->a_radps2 / m->angle_rad);
    const double v = fmin(rates->v_mps / m->length_m, rates->v_radps / m->angle_rad);
    m->stretch = fmax(1.0, effort * fmin(v, sqrt(a)));
    if (m->stretch > STRETCH_MAX) {
        return refuse_move(ARM_AT_SINGULARITY, (double)NAN);
    }
    if (bounds->hold_speed && m->stretch > 1.0 + ROUNDING) {
        return refuse_move(ARM_TOO_FAST, (double)NAN);
    }
    set_profile(m, v / m->stretch, a / (m->stretch * m->stretch));
    if (rates->time_s > 0.0) {
        const double slower = rates->time_s / m->duration_s;
        if (slower < 1.0 - ROUNDING) {
            return refuse_move(ARM_TOO_FAST, (double)NAN);
        }
        set_profile(m, m->speed_limit / slower, m->acceleration / (slower * slower));
    }
    return accepted;
}

static struct arm_fault plan_tool(const struct arm_geometry *arm, const struct arm_rates *rates,
                                  const struct arm_bounds *bounds, struct arm_move *m)
{
    if (m->length_m < NOTHING && m->angle_rad < NOTHING) {
        memcpy(m->to_q, m->from_q, sizeof(m->to_q));
        m->length_m = m->angle_rad = 0.0;
        return accepted;
    }
    double effort = 0.0;
    const struct arm_fault fault = walk_path(arm, bounds, m, &effort);
    if (fault.refusal != ARM_ACCEPTED) {
        return fault;
    }
    m->size_rad = arm_largest_turn(m->from_q, m->to_q);
    return time_path(rates, bounds, effort, m);
}

static struct arm_move begin_tool_path(const struct arm_geometry *arm, enum arm_path path,
                                       const double from_q[ARM_JOINTS])
{
    struct arm_move m = {.path = path, .from = arm_forward(arm, from_q), .stretch = 1.0};
    memcpy(m.from_q, from_q, sizeof(m.from_q));
    memcpy(m.last_q, from_q, sizeof(m.last_q));
    return m;
}

static void turn_towards(struct arm_move *m, const struct rigid *to)
{
    const struct rigid back = rigid_invert(&m->from);
    const struct rigid step = rigid_multiply(&back, to);
    rotation_log(&step, m->turn_rad);
    m->angle_rad = rigid_length(m->turn_rad);
}

void arm_move_set_line(struct arm_move *move, const struct rigid *to)
{
    for (size_t i = 0; i < 3; i++) {
        move->shift_m[i] = to->at_m[i] - move->from.at_m[i];
    }
    move->length_m = rigid_length(move->shift_m);
    turn_towards(move, to);
}

struct arm_fault arm_plan_line(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                               const struct rigid *to, const struct arm_rates *rates,
                               const struct arm_bounds *bounds, struct arm_move *out)
{
    if (!check_tool_goal(from_q, to, rates)) {
        return refuse_move(ARM_BAD_VALUE, (double)NAN);
    }
    struct arm_move m = begin_tool_path(arm, ARM_LINE, from_q);
    arm_move_set_line(&m, to);
    const struct arm_fault fault = plan_tool(arm, rates, bounds, &m);
    if (fault.refusal == ARM_ACCEPTED) {
        *out = m;
    }
    return fault;
}

/* Finds the circle through three points. The centre is the intersection of their plane with the
 * planes half-way between them. The radii point to the first point, and a quarter of a turn
 * further towards the second. False if they are collinear. */
static bool find_circle(struct arm_move *m, const double via[3], const double end[3])
{
    double b[3];
    double c[3];
    for (size_t i = 0; i < 3; i++) {
        b[i] = via[i] - m->from.at_m[i];
        c[i] = end[i] - m->from.at_m[i];
    }
    double n[3];
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3;
        const size_t k = (i + 2) % 3;
        n[i] = b[j] * c[k] - b[k] * c[j];
    }
    const double bb = b[0] * b[0] + b[1] * b[1] + b[2] * b[2];
    const double cc = c[0] * c[0] + c[1] * c[1] + c[2] * c[2];
    const double nn = n[0] * n[0] + n[1] * n[1] + n[2] * n[2];
    /* The sine of the angle at the first point. */
    if (!(nn > 1e-12 * bb * cc)) {
        return false;
    }
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3;
        const size_t k = (i + 2) % 3;
        /* ((|b|^2 c - |c|^2 b) x n) / (2 |n|^2) */
        const double x = (bb * c[j] - cc * b[j]) * n[k] - (bb * c[k] - cc * b[k]) * n[j];
        m->out_m[i] = -x / (2.0 * nn);
        m->centre_m[i] = m->from.at_m[i] - m->out_m[i];
    }
    const double length = sqrt(nn);
    for (size_t i = 0; i < 3; i++) {
        const size_t j = (i + 1) % 3;
        const size_t k = (i + 2) % 3;
        m->aside_m[i] = (n[j] * m->out_m[k] - n[k] * m->out_m[j]) / length;
    }
    return true;
}

/* Returns the angle of a point on the circle, in (0, 2 pi]. */
static double angle_on_circle(const struct arm_move *m, const double point[3])
{
    double x = 0.0;
    double y = 0.0;
    for (size_t i = 0; i < 3; i++) {
        x += (point[i] - m->centre_m[i]) * m->out_m[i];
        y += (point[i] - m->centre_m[i]) * m->aside_m[i];
    }
    const double angle = atan2(y, x);
    return angle > 0.0 ? angle : angle + 2.0 * PI;
}

struct arm_fault arm_plan_arc(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                              const double via_m[3], const struct rigid *to, double turns,
                              const struct arm_rates *rates, const struct arm_bounds *bounds,
                              struct arm_move *out)
{
    if (!check_tool_goal(from_q, to, rates) || !number_all_finite(via_m, 3) ||
        !(isfinite(turns) && turns >= 0.0)) {
        return refuse_move(ARM_BAD_VALUE, (double)NAN);
    }
    struct arm_move m = begin_tool_path(arm, ARM_ARC, from_q);
    /* The sense of rotation is such that via comes before the end: the turn from b x c is less
     * than a whole one. */
    if (!find_circle(&m, via_m, to->at_m)) {
        return (struct arm_fault){.refusal = ARM_BAD_VALUE,
                                  .at = (double)NAN,
                                  .why = "its three points lie on one line: use movel"};
    }
    if (turns > 0.0) {
        m.sweep_rad = 2.0 * PI * turns;
    } else {
        m.sweep_rad = angle_on_circle(&m, to->at_m);
        turn_towards(&m, to);
    }
    m.length_m = m.sweep_rad * rigid_length(m.out_m);
    const struct arm_fault fault = plan_tool(arm, rates, bounds, &m);
    if (fault.refusal == ARM_ACCEPTED) {
        *out = m;
    }
    return fault;
}

/* ---- motion on the path ---- */

static bool tool_at(struct arm_move *m, const struct arm_geometry *arm, double share,
                    double rate, double q[ARM_JOINTS], double qd[ARM_JOINTS])
{
    const struct rigid pose = pose_on_path(m, share);
    struct arm_solution s;
    if (arm_inverse_near(arm, &pose, m->last_q, &s) != ARM_REACHED) {
        memcpy(q, m->last_q, sizeof(m->last_q));
        memset(qd, 0, sizeof(m->last_q));
        return false;
    }
    memcpy(q, s.q, sizeof(s.q));
    memcpy(m->last_q, s.q, sizeof(s.q));
    double twist[6];
    twist_on_path(m, share, twist);
    for (size_t i = 0; i < 6; i++) {
        twist[i] *= rate;
    }
    const struct arm_slope j = arm_jacobian(arm, q);
    arm_solve(&j, twist, 1e-12, qd);
    return true;
}

bool arm_move_at(struct arm_move *move, const struct arm_geometry *arm, double t_s,
                 double q[ARM_JOINTS], double qd[ARM_JOINTS])
{
    double rate = 0.0;
    const double share = move->duration_s > 0.0 ? arm_share_at(move->speed, move->acceleration,
                                                               move->duration_s, t_s, &rate)
                                                : 1.0;
    if (move->path != ARM_JOINT_PATH && share > 0.0 && share < 1.0) {
        return tool_at(move, arm, share, rate, q, qd);
    }
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double travelled = move->to_q[i] - move->from_q[i];
        q[i] = share >= 1.0 ? move->to_q[i] : move->from_q[i] + share * travelled;
        qd[i] = rate * travelled;
    }
    memcpy(move->last_q, q, sizeof(move->last_q));
    return true;
}

/* ---- distance from the path ---- */

static double share_along(double along, double square)
{
    return square > 0.0 ? along / square : 0.0;
}

static double off_circle(const struct arm_move *m, const double at_m[3])
{
    const double radius = rigid_length(m->out_m);
    double x = 0.0;
    double y = 0.0;
    double square = 0.0;
    for (size_t i = 0; i < 3; i++) {
        const double r = at_m[i] - m->centre_m[i];
        x += r * m->out_m[i] / radius;
        y += r * m->aside_m[i] / radius;
        square += r * r;
    }
    const double height = sqrt(fmax(square - x * x - y * y, 0.0));
    return hypot(hypot(x, y) - radius, height);
}

static double off_line(const struct arm_move *m, const double at_m[3])
{
    double away[3];
    double along = 0.0;
    for (size_t i = 0; i < 3; i++) {
        away[i] = at_m[i] - m->from.at_m[i];
        along += away[i] * m->shift_m[i];
    }
    const double share = share_along(along, m->length_m * m->length_m);
    for (size_t i = 0; i < 3; i++) {
        away[i] -= share * m->shift_m[i];
    }
    return rigid_length(away);
}

double arm_move_off_path(const struct arm_move *move, const struct arm_geometry *arm,
                         const double q[ARM_JOINTS])
{
    const struct rigid tool = arm_forward(arm, q);
    if (move->path == ARM_ARC && move->length_m > 0.0) {
        return off_circle(move, tool.at_m);
    }
    if (move->path != ARM_JOINT_PATH) {
        return off_line(move, tool.at_m);
    }
    double along = 0.0;
    double square = 0.0;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const double travelled = move->to_q[i] - move->from_q[i];
        along += (q[i] - move->from_q[i]) * travelled;
        square += travelled * travelled;
    }
    double near[ARM_JOINTS];
    const double share = share_along(along, square);
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        near[i] = move->from_q[i] + share * (move->to_q[i] - move->from_q[i]);
    }
    const struct rigid there = arm_forward(arm, near);
    double away[3];
    for (size_t i = 0; i < 3; i++) {
        away[i] = tool.at_m[i] - there.at_m[i];
    }
    return rigid_length(away);
}
