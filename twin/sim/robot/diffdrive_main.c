#include "twin/sim/robot/diffdrive_main.h"

#include <math.h>

#define PATIENCE_S  5.0 /* added to the expected duration, for short moves */
#define STEERED_RAD 0.1 /* a smaller heading error needs no turn on the spot */
#define QUARTER_RAD 1.57079632679489661923
#define ANGLE_SAME  1e-9 /* rad */
#define MIDPOINT    0.5  /* a step points half-way between its old and its new heading */

/* --- inputs of guards and actions -------------------------------------------------------- */

static const struct l0main_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static const struct diffdrive_params *params_of(const struct efsm_view *v)
{
    return input_of(v)->params;
}

/* Returns the pose at the end of this cycle: the cells, plus the wheels' motion since. */
static struct diffdrive_pose pose_after(const struct efsm_view *v)
{
    const struct diffdrive_pose before = {.angle_rad = efsm_get(v, L0MAIN_ANGLE),
                                          .x_m = efsm_get(v, L0MAIN_X),
                                          .y_m = efsm_get(v, L0MAIN_Y)};
    return diffdrive_advanced(&before, &input_of(v)->moved, MIDPOINT);
}

static bool is_far(const struct efsm_view *v, const struct diffdrive_pose *pose)
{
    return pose->x_m < -params_of(v)->distance_tolerance_m;
}

/* Does a new move turn first? Without a rotation it drives at once, if the error left by the
 * previous move can be corrected on the way. */
static bool wants_turn(const struct efsm_view *v, const struct diffdrive_pose *goal)
{
    const double tolerance_rad = params_of(v)->angle_tolerance_rad;
    const bool rotates = fabs(input_of(v)->angle_rad) > 0.0;
    return fabs(diffdrive_remaining_turn(params_of(v), goal)) >
           (rotates ? tolerance_rad : fmax(tolerance_rad, STEERED_RAD));
}

EFSM_GUARD(turns_first, efsm_get(v, L0MAIN_INDEX) > 0.0);
EFSM_GUARD(is_over, (double)v->t_us >= efsm_get(v, L0MAIN_UNTIL));

/* Returns the required travel times minus the duration of the robot's own steps; may be below
 * 0. The start has t0 - period. */
static double turn_surplus_s(const struct efsm_view *v)
{
    return params_of(v)->ta_s - diffdrive_inherent_ta_s(params_of(v), input_of(v)->period_s);
}

static double go_surplus_s(const struct efsm_view *v)
{
    return params_of(v)->tr_s - diffdrive_inherent_tr_s(params_of(v), input_of(v)->period_s);
}

/* --- guards ------------------------------------------------------------------------------ */

/* START: waits, and before driving also until the lidar points ahead. */
static bool is_ready(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    return is_over(v) && (input_of(v)->ahead || turns_first(v) || !is_far(v, &pose));
}

static bool is_goal_far(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    return is_far(v, &pose);
}

/* TURN: within tolerance or beyond the goal, because one step may jump over the tolerance
 * (docs/model/diffdrive.md). */
static bool is_turned(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double rate_radps = input_of(v)->moved.angle_rad / input_of(v)->period_s;
    const double left_rad = diffdrive_remaining_turn(params_of(v), &pose) +
                            rate_radps * diffdrive_coast_s(params_of(v), input_of(v)->period_s);
    const bool to_the_right = efsm_get(v, L0MAIN_LEFT) > 0.0;
    return fabs(left_rad) < params_of(v)->angle_tolerance_rad ||
           (left_rad > 0.0) != to_the_right;
}

EFSM_GUARD(may_go_at_once, input_of(v)->ahead && !(go_surplus_s(v) > 0.0));

/* PAUSE: the wait is over, and the lidar points ahead. */
EFSM_GUARD(is_pause_over, is_over(v) && input_of(v)->ahead);

/* GO: the goal is within tolerance, or the robot will coast to it. */
static bool is_arrived(const struct efsm_view *v)
{
    const double tau_s = diffdrive_coast_s(params_of(v), input_of(v)->period_s);
    const double rest_m =
        tau_s > 0.0 ? fmax(input_of(v)->moved.distance_m / input_of(v)->period_s, 0.0) * tau_s
                    : params_of(v)->distance_tolerance_m;
    return pose_after(v).x_m + rest_m >= 0.0;
}

EFSM_GUARD(is_obstructed, params_of(v)->safe_distance_m > 0.0 &&
                              input_of(v)->obstacle_m <= params_of(v)->safe_distance_m);
EFSM_GUARD(has_ray, efsm_get(v, L0MAIN_INDEX) < params_of(v)->scan_count);
EFSM_GUARD(has_update, input_of(v)->update);

/* --- actions ----------------------------------------------------------------------------- */

static enum l0main_notice notice_of(const struct efsm_view *v)
{
    const unsigned op = input_of(v)->op;
    const uint8_t state = v->now->state;
    if (op == L0MAIN_OP_NONE) {
        return L0MAIN_NOTICE_NONE;
    }
    if (op >= L0MAIN_OP_BAD) {
        return L0MAIN_NOTICE_WRONG;
    }
    if (op == L0MAIN_OP_HALT) {
        return state == L0MAIN_LISTEN || state == L0MAIN_RAY ? L0MAIN_NOTICE_UNFIT
                                                             : L0MAIN_NOTICE_OBEYED;
    }
    return state == (op == L0MAIN_OP_RESUME ? L0MAIN_RESUME : L0MAIN_LISTEN)
               ? L0MAIN_NOTICE_ACCEPTED
               : L0MAIN_NOTICE_UNFIT;
}

static void set_pose(const struct efsm_view *v, const struct diffdrive_pose *pose)
{
    efsm_set(v, L0MAIN_ANGLE, pose->angle_rad);
    efsm_set(v, L0MAIN_X, pose->x_m);
    efsm_set(v, L0MAIN_Y, pose->y_m);
    efsm_set(v, L0MAIN_ERROR, diffdrive_heading_error(pose));
}

/* Part of every action: updates the odometry, also while the robot coasts. Outputs are set by
 * the arc and last one cycle. */
static void track_pose(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    set_pose(v, &pose);
    efsm_set(v, L0MAIN_ANSWER, v->arc->says);
    efsm_set(v, L0MAIN_NOTICE, notice_of(v));
}

static void drive_wheels(const struct efsm_view *v, double left, double right)
{
    efsm_set(v, L0MAIN_LEFT, left);
    efsm_set(v, L0MAIN_RIGHT, right);
}

static void set_until(const struct efsm_view *v, double s)
{
    efsm_set(v, L0MAIN_UNTIL, (double)v->t_us + s * 1e6);
}

/* Returns the new goal relative to the pose after the last move. */
static struct diffdrive_pose aim_at_goal(const struct efsm_view *v)
{
    const struct diffdrive_pose rest = pose_after(v);
    const double turn_rad = input_of(v)->angle_rad;
    const double way_m = input_of(v)->distance_m;
    const double angle_rad = robot_wrap_rad(rest.angle_rad) + turn_rad;
    switch ((enum diffdrive_carry)params_of(v)->carry) {
    case DIFFDRIVE_CARRY_ANGLE:
        return (struct diffdrive_pose){angle_rad, rest.x_m - way_m, 0.0};
    case DIFFDRIVE_CARRY_POSE:
        return (struct diffdrive_pose){
            angle_rad, rest.x_m * cos(turn_rad) - rest.y_m * sin(turn_rad) - way_m,
            rest.x_m * sin(turn_rad) + rest.y_m * cos(turn_rad)};
    case DIFFDRIVE_CARRY_NOTHING:
    case DIFFDRIVE_CARRY_COUNT:
    default:
        return (struct diffdrive_pose){turn_rad, -way_m, 0.0};
    }
}

static void accept_go(const struct efsm_view *v)
{
    const struct diffdrive_pose goal = aim_at_goal(v);
    set_pose(v, &goal);
    efsm_set(v, L0MAIN_INTEGRAL, 0.0);
    const bool spins = wants_turn(v, &goal);
    efsm_set(v, L0MAIN_INDEX, spins ? 1.0 : 0.0);
    const double start_s = params_of(v)->t0_s - input_of(v)->period_s;
    set_until(v, fmax(start_s + (spins              ? turn_surplus_s(v)
                                 : is_far(v, &goal) ? go_surplus_s(v)
                                                    : 0.0),
                      0.0));
}

static void begin_turn(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double left_rad = diffdrive_remaining_turn(params_of(v), &pose);
    const double control = copysign(params_of(v)->control_max, left_rad);
    drive_wheels(v, control, -control);
    set_until(v, params_of(v)->patience_ratio * fabs(left_rad) /
                         params_of(v)->angular_speed_radps +
                     PATIENCE_S);
}

static void begin_pause(const struct efsm_view *v)
{
    set_until(v, go_surplus_s(v));
}

static void begin_go(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double top = diffdrive_top(params_of(v), pose.x_m, input_of(v)->obstacle_m);
    drive_wheels(v, top, top);
    set_until(v, params_of(v)->patience_ratio * hypot(pose.x_m, pose.y_m) /
                         params_of(v)->linear_speed_mps +
                     PATIENCE_S);
}

static void steer_to_goal(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double error_rad = diffdrive_heading_error(&pose);
    const double integral_rads =
        diffdrive_integrated(efsm_get(v, L0MAIN_INTEGRAL), error_rad, input_of(v)->period_s);
    const struct diffdrive_sight sight = {
        .error_rad = error_rad,
        .previous_rad = efsm_get(v, L0MAIN_ERROR),
        .integral_rads = integral_rads,
        .top = diffdrive_top(params_of(v), pose.x_m, input_of(v)->obstacle_m),
        .period_s = input_of(v)->period_s,
        .moved = input_of(v)->moved,
        .now = {efsm_get(v, L0MAIN_LEFT), efsm_get(v, L0MAIN_RIGHT)}};
    const struct diffdrive_controls u = diffdrive_steer(params_of(v), &sight);
    efsm_set(v, L0MAIN_INTEGRAL, integral_rads);
    drive_wheels(v, u.left, u.right);
}

static void await_clearance(const struct efsm_view *v)
{
    set_until(v, params_of(v)->blocked_timeout_s);
}

/* Returns the angle of a sweep's ray, counter-clockwise: from left to right, evenly over the
 * span. */
static double find_ray_rad(const struct diffdrive_params *p, unsigned index)
{
    if (!(p->scan_count > 1.0)) {
        return 0.0;
    }
    return p->scan_span_rad * (0.5 - (double)index / (p->scan_count - 1.0));
}

static void look_along_ray(const struct efsm_view *v)
{
    efsm_set(v, L0MAIN_TARGET, find_ray_rad(params_of(v), (unsigned)efsm_get(v, L0MAIN_INDEX)));
}

static void await_resume(const struct efsm_view *v)
{
    set_until(v, params_of(v)->resume_timeout_s);
}

/* --- the table --------------------------------------------------------------------------- */

static void write_outputs(const struct efsm_view *v)
{
    struct l0main_out *out = v->out;
    out->left = efsm_get(v, L0MAIN_LEFT);
    out->right = efsm_get(v, L0MAIN_RIGHT);
    out->target_rad = efsm_get(v, L0MAIN_TARGET);
    out->request = v->now->state == L0MAIN_ECHO || v->now->state == L0MAIN_DONE;
    out->answer = (enum l0main_answer)efsm_get(v, L0MAIN_ANSWER);
    out->notice = (enum l0main_notice)efsm_get(v, L0MAIN_NOTICE);
}

static const struct efsm_state states[] = {L0MAIN_STATES(EFSM_STATE)};

enum { /* commands */
       NO_HALT = BIT(L0MAIN_OP_COUNT) - 1 - BIT(L0MAIN_OP_HALT),
       NO_RESUME = NO_HALT - BIT(L0MAIN_OP_RESUME),
};

enum {                                               /* variables that become 0 … */
       STILL = BIT(L0MAIN_LEFT) | BIT(L0MAIN_RIGHT), /* … when the robot stops */
       ENDED = STILL | BIT(L0MAIN_TARGET),           /* … after completed work */
       /* … after aborted work: the next move must not make up for the rest of this one */
       BROKEN_OFF =
           ENDED | BIT(L0MAIN_ANGLE) | BIT(L0MAIN_X) | BIT(L0MAIN_Y) | BIT(L0MAIN_ERROR)
};

#define ON_HALT .on = BIT(L0MAIN_OP_HALT), .clears = BROKEN_OFF, .says = L0MAIN_ANSWER_HALTED

/* Every action also tracks the pose and reports a command that is not allowed. Arcs into a
 * driving state wait, because the motors need a period before anything changes. RAY is left
 * within a period, when no command can come. */
/* clang-format off */
static const struct efsm_arc arcs[] = {
    {L0MAIN_LISTEN,  L0MAIN_START,   NULL, accept_go,
     .label = "go / A+, X+, Y+ = goal, J+ = 1 when it turns first, until+ = t + t0", .on = BIT(L0MAIN_OP_GO)},
    {L0MAIN_LISTEN,  L0MAIN_LIDAR,   .label = "lidar / J+ = 0",
     .on = BIT(L0MAIN_OP_LIDAR), .clears = BIT(L0MAIN_INDEX)},
    {L0MAIN_LISTEN,  L0MAIN_LISTEN,  .label = "another command / warn", .waits = true,
     .on = BIT(L0MAIN_OP_RESUME) | BIT(L0MAIN_OP_HALT) | BIT(L0MAIN_OP_BAD) | BIT(L0MAIN_OP_UNKNOWN)},
    {L0MAIN_LISTEN,  L0MAIN_LISTEN,  .label = "no command", .waits = true, .on = BIT(L0MAIN_OP_NONE)},
    {L0MAIN_START,   L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_START,   L0MAIN_START,   .label = "t < until", .waits = true, .on = NO_HALT, .unless = {is_ready}},
    {L0MAIN_START,   L0MAIN_TURN,    is_ready, begin_turn, .label = "t >= until & J = 1 / L+, R+ = +-uMax",
     .waits = true, .on = NO_HALT, .also = {turns_first}},
    {L0MAIN_START,   L0MAIN_GO,      is_ready, begin_go,
     .label = "t >= until & J = 0 & ahead & X < -stol / L+, R+ = uMax",
     .waits = true, .on = NO_HALT, .also = {is_goal_far}, .unless = {turns_first}},
    {L0MAIN_START,   L0MAIN_LISTEN,  is_ready, .label = "t >= until & J = 0 & X >= -stol / done",
     .on = NO_HALT, .unless = {turns_first, is_goal_far}, .clears = ENDED, .says = L0MAIN_ANSWER_DONE},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_TURN,    L0MAIN_TURN,    .label = "|A| > atol",
     .waits = true, .on = NO_HALT, .unless = {is_turned, is_over}},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  is_turned, .label = "|A| <= atol or jumped & X >= -stol / L+, R+ = 0, done",
     .on = NO_HALT, .unless = {is_goal_far}, .clears = ENDED, .says = L0MAIN_ANSWER_DONE},
    {L0MAIN_TURN,    L0MAIN_GO,      is_turned, begin_go,
     .label = "|A| <= atol or jumped & X < -stol & ahead & tr = 0 / L+, R+ = uMax",
     .waits = true, .on = NO_HALT, .also = {is_goal_far, may_go_at_once}},
    {L0MAIN_TURN,    L0MAIN_PAUSE,   is_turned, begin_pause,
     .label = "|A| <= atol or jumped & X < -stol & (!ahead or tr > 0) / L+, R+ = 0",
     .waits = true, .on = NO_HALT, .also = {is_goal_far}, .unless = {may_go_at_once}, .clears = STILL},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  is_over, .label = "t >= until / error",
     .on = NO_HALT, .unless = {is_turned}, .clears = BROKEN_OFF, .says = L0MAIN_ANSWER_LATE},
    {L0MAIN_PAUSE,   L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_PAUSE,   L0MAIN_PAUSE,   .label = "t < until or !ahead",
     .waits = true, .on = NO_HALT, .unless = {is_pause_over}},
    {L0MAIN_PAUSE,   L0MAIN_GO,      is_pause_over, begin_go, .label = "t >= until & ahead / L+, R+ = uMax",
     .waits = true, .on = NO_HALT},
    {L0MAIN_GO,      L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_GO,      L0MAIN_GO,      NULL, steer_to_goal, .label = "X < -stol & Q > sdist / L+, R+ = uL, uR",
     .waits = true, .on = NO_HALT, .unless = {is_arrived, is_over, is_obstructed}},
    {L0MAIN_GO,      L0MAIN_LISTEN,  is_arrived, .label = "X >= -stol / L+, R+ = 0, done",
     .on = NO_HALT, .clears = ENDED, .says = L0MAIN_ANSWER_DONE},
    {L0MAIN_GO,      L0MAIN_BLOCKED, is_obstructed, await_clearance,
     .label = "Q <= sdist / L+, R+ = 0, until+ = t + tout",
     .waits = true, .on = NO_HALT, .unless = {is_arrived, is_over}, .clears = STILL},
    {L0MAIN_GO,      L0MAIN_LISTEN,  is_over, .label = "t >= until / error",
     .on = NO_HALT, .unless = {is_arrived}, .clears = BROKEN_OFF, .says = L0MAIN_ANSWER_LATE},
    {L0MAIN_BLOCKED, L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_BLOCKED, L0MAIN_BLOCKED, is_obstructed, .label = "Q <= sdist & t < until",
     .waits = true, .on = NO_HALT, .unless = {is_over}},
    {L0MAIN_BLOCKED, L0MAIN_GO,      NULL, begin_go, .label = "Q > sdist / L+, R+ = uMax",
     .waits = true, .on = NO_HALT, .unless = {is_obstructed}},
    {L0MAIN_BLOCKED, L0MAIN_LISTEN,  is_obstructed, .label = "Q <= sdist & t >= until / blocked",
     .on = NO_HALT, .also = {is_over}, .clears = BROKEN_OFF, .says = L0MAIN_ANSWER_BLOCKED},
    {L0MAIN_LIDAR,   L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_LIDAR,   L0MAIN_ECHO,    has_ray, look_along_ray, .label = "J < n / P+ = scan[J]", .on = NO_HALT},
    {L0MAIN_LIDAR,   L0MAIN_DONE,    .label = "J >= n / P+ = 0",
     .on = NO_HALT, .unless = {has_ray}, .clears = BIT(L0MAIN_TARGET)},
    {L0MAIN_ECHO,    L0MAIN_LISTEN,  .label = "halt / P+ = 0, halted", ON_HALT},
    {L0MAIN_ECHO,    L0MAIN_ECHO,    .label = "!u", .waits = true, .on = NO_HALT, .unless = {has_update}},
    {L0MAIN_ECHO,    L0MAIN_RAY,     has_update, .label = "u / data", .on = NO_HALT, .says = L0MAIN_ANSWER_DATA},
    {L0MAIN_RAY,     L0MAIN_RESUME,  NULL, await_resume, .label = "J+ = J + 1, until+ = t + tout",
     .counts = BIT(L0MAIN_INDEX)},
    {L0MAIN_RESUME,  L0MAIN_LISTEN,  .label = "halt / P+ = 0", ON_HALT},
    {L0MAIN_RESUME,  L0MAIN_RESUME,  .label = "!resume & t < until",
     .waits = true, .on = NO_RESUME, .unless = {is_over}},
    {L0MAIN_RESUME,  L0MAIN_ECHO,    has_ray, look_along_ray, .label = "resume & J < n / P+ = scan[J]",
     .on = BIT(L0MAIN_OP_RESUME)},
    {L0MAIN_RESUME,  L0MAIN_DONE,    .label = "resume & J >= n / P+ = 0",
     .on = BIT(L0MAIN_OP_RESUME), .unless = {has_ray}, .clears = BIT(L0MAIN_TARGET)},
    {L0MAIN_RESUME,  L0MAIN_LISTEN,  is_over,
     .label = "!resume & t >= until / P+ = 0", .on = NO_RESUME, .clears = ENDED},
    {L0MAIN_DONE,    L0MAIN_LISTEN,  .label = "halt / halted", ON_HALT},
    {L0MAIN_DONE,    L0MAIN_DONE,    .label = "!u", .waits = true, .on = NO_HALT, .unless = {has_update}},
    {L0MAIN_DONE,    L0MAIN_LISTEN,  has_update, .label = "u / done",
     .on = NO_HALT, .clears = ENDED, .says = L0MAIN_ANSWER_DONE},
};
/* clang-format on */

static const char *const cells[] = {L0MAIN_CELLS(NAMES_TEXT)};

const struct efsm_table l0main_table = {
    .name = "l0main",
    .purpose = "Obeys go, lidar, resume and halt: the lowest level of the "
               "differential-drive robot.",
    EFSM_STATES(states),
    EFSM_ARCS(arcs),
    EFSM_CELLS(cells),
    .zeros = BIT(L0MAIN_CELL_COUNT) - 1,
    .event_at = offsetof(struct l0main_in, op),
    .always = track_pose,
    .output = write_outputs,
};

/* --- L0Lidar ----------------------------------------------------------------------------- */

static const struct l0lidar_in *input_of_lidar(const struct efsm_view *v)
{
    return v->in;
}

EFSM_GUARD(is_lidar_over, (double)v->t_us >= efsm_get(v, L0LIDAR_UNTIL));
EFSM_GUARD(is_on_target,
           fabs(input_of_lidar(v)->target_rad - efsm_get(v, L0LIDAR_YAW)) <= ANGLE_SAME);
EFSM_GUARD(has_echo, input_of_lidar(v)->echo);

static void turn_servo(const struct efsm_view *v)
{
    const double way_rad = fabs(input_of_lidar(v)->target_rad - efsm_get(v, L0LIDAR_YAW));
    efsm_set(v, L0LIDAR_UNTIL,
             (double)v->t_us + way_rad / input_of_lidar(v)->servo_radps * 1e6);
    efsm_set(v, L0LIDAR_YAW, input_of_lidar(v)->target_rad);
}

static void start_ping(const struct efsm_view *v)
{
    efsm_set(v, L0LIDAR_UNTIL, (double)v->t_us + input_of_lidar(v)->echo_wait_us);
    efsm_set(v, L0LIDAR_PENDING, input_of_lidar(v)->request ? 1.0 : 0.0);
}

static void store_reading(const struct efsm_view *v, double distance_m)
{
    efsm_set(v, L0LIDAR_Q, distance_m);
    efsm_set(v, L0LIDAR_Q_YAW, efsm_get(v, L0LIDAR_YAW));
    efsm_set(v, L0LIDAR_UPDATE, efsm_get(v, L0LIDAR_PENDING));
}

static void store_echo(const struct efsm_view *v)
{
    store_reading(v, input_of_lidar(v)->echo_m);
}

static void store_none(const struct efsm_view *v)
{
    store_reading(v, input_of_lidar(v)->range_m);
}

static void write_lidar(const struct efsm_view *v)
{
    struct l0lidar_out *out = v->out;
    const double q_yaw_rad = efsm_get(v, L0LIDAR_Q_YAW);
    out->yaw_rad = efsm_get(v, L0LIDAR_YAW);
    out->distance_m = efsm_get(v, L0LIDAR_Q);
    out->update = efsm_get(v, L0LIDAR_UPDATE) > 0.0;
    out->ahead = fabs(q_yaw_rad) <= ANGLE_SAME && fabs(out->yaw_rad) <= ANGLE_SAME;
    out->ping = v->now->state == L0LIDAR_ECHO;
}

static const struct efsm_state lidar_states[] = {L0LIDAR_STATES(EFSM_STATE)};

/* clang-format off */
static const struct efsm_arc lidar_arcs[] = {
    {L0LIDAR_ROTATE, L0LIDAR_PING,   is_lidar_over,      NULL,       .label = "t >= until"},
    {L0LIDAR_ROTATE, L0LIDAR_ROTATE, NULL,         NULL,       .label = "t < until",
     .waits = true, .unless = {is_lidar_over}},
    {L0LIDAR_PING,   L0LIDAR_ROTATE, NULL,         turn_servo,
     .label = "target != yaw / yaw+ = target, until+ = t + |target - yaw| / w",
     .unless = {is_on_target}, .clears = BIT(L0LIDAR_UPDATE)},
    {L0LIDAR_PING,   L0LIDAR_ECHO,   is_on_target, start_ping,
     .label = "target = yaw / pending+ = request, until+ = t + wait", .clears = BIT(L0LIDAR_UPDATE)},
    {L0LIDAR_ECHO,   L0LIDAR_PING,   has_echo,     store_echo,  .label = "echo / Q+ = echo, update+ = pending"},
    {L0LIDAR_ECHO,   L0LIDAR_PING,   is_lidar_over,      store_none,
     .label = "!echo & t >= until / Q+ = range, update+ = pending", .unless = {has_echo}},
    {L0LIDAR_ECHO,   L0LIDAR_ECHO,   NULL,         NULL,       .label = "!echo & t < until",
     .waits = true, .unless = {has_echo, is_lidar_over}},
};
/* clang-format on */

static const char *const lidar_cells[] = {L0LIDAR_CELLS(NAMES_TEXT)};

const struct efsm_table l0lidar_table = {
    .name = "l0lidar",
    .purpose = "Turns the lidar of the differential-drive robot and reads it.",
    EFSM_STATES(lidar_states),
    EFSM_ARCS(lidar_arcs),
    EFSM_CELLS(lidar_cells),
    .zeros = BIT(L0LIDAR_YAW) | BIT(L0LIDAR_PENDING) | BIT(L0LIDAR_UPDATE),
    .output = write_lidar,
};

void l0lidar_reset(struct efsm *m, int64_t t_us, double servo_radps, double range_m)
{
    efsm_reset(&l0lidar_table, m, t_us);
    efsm_init_cell(m, L0LIDAR_UNTIL, (double)t_us + QUARTER_RAD / servo_radps * 1e6);
    efsm_init_cell(m, L0LIDAR_Q, range_m);
    /* No reading yet: an impossible angle. */
    efsm_init_cell(m, L0LIDAR_Q_YAW, 10.0);
}
