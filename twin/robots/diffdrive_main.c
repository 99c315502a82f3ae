#include "twin/robots/diffdrive_main.h"

#include <math.h>

#define PATIENCE_S  5.0 /* on top of what a move should take, for short moves */
#define STEERED_RAD 0.1 /* a heading error that needs no turn on the spot */
#define MIDPOINT    0.5 /* a step points half-way between its old and its new heading */

/* --- what guards and actions see -------------------------------------------------------- */

static const struct l0main_in *input_of(const struct efsm_view *v)
{
    return v->in;
}

static const struct diffdrive_params *params_of(const struct efsm_view *v)
{
    return input_of(v)->params;
}

/* Where the robot is at the end of this cycle: the cells, and what the wheels did since. */
static struct diffdrive_pose pose_after(const struct efsm_view *v)
{
    const struct diffdrive_pose before = {.angle_rad = efsm_get(v, L0MAIN_ANGLE),
                                          .x_m = efsm_get(v, L0MAIN_X),
                                          .y_m = efsm_get(v, L0MAIN_Y)};
    return diffdrive_advanced(&before, &input_of(v)->moved, MIDPOINT);
}

/* Seconds over which the motors coast once they are switched off, seen from here. */
static double coast_s(const struct efsm_view *v)
{
    return params_of(v)->predictive_stop > 0.0
               ? params_of(v)->motor_lag_s + input_of(v)->period_s / 2.0
               : 0.0;
}

static bool is_far(const struct efsm_view *v, const struct diffdrive_pose *pose)
{
    return pose->x_m < -params_of(v)->distance_tolerance_m;
}

/* Does a new move turn first? Without a rotation it drives at once, as long as what is left
 * from the move before can be made up for on the way. */
static bool wants_turn(const struct efsm_view *v, const struct diffdrive_pose *goal)
{
    const double tolerance_rad = params_of(v)->angle_tolerance_rad;
    const bool rotates = fabs(input_of(v)->angle_rad) > 0.0;
    return fabs(diffdrive_left_to_turn(params_of(v), goal)) >
           (rotates ? tolerance_rad : fmax(tolerance_rad, STEERED_RAD));
}

static bool turns_first(const struct efsm_view *v)
{
    return efsm_get(v, L0MAIN_INDEX) > 0.0;
}

static bool is_over(const struct efsm_view *v)
{
    return (double)v->t_us >= efsm_get(v, L0MAIN_UNTIL);
}

/* What the travel times ask for beyond what the robot's own steps take; may be below 0. */
static double start_surplus_s(const struct efsm_view *v)
{
    return params_of(v)->t0_s - diffdrive_inherent_t0_s(input_of(v)->period_s);
}

static double turn_surplus_s(const struct efsm_view *v)
{
    return params_of(v)->ta_s - diffdrive_inherent_ta_s(params_of(v), input_of(v)->period_s);
}

static double go_surplus_s(const struct efsm_view *v)
{
    return params_of(v)->tr_s - diffdrive_inherent_tr_s(params_of(v), input_of(v)->period_s);
}

/* --- guards ------------------------------------------------------------------------------ */

static bool is_halt(const struct efsm_view *v)
{
    return input_of(v)->op == L0MAIN_OP_HALT;
}

static bool is_go(const struct efsm_view *v)
{
    return input_of(v)->op == L0MAIN_OP_GO;
}

static bool is_lidar(const struct efsm_view *v)
{
    return input_of(v)->op == L0MAIN_OP_LIDAR;
}

static bool is_idle(const struct efsm_view *v)
{
    return input_of(v)->op == L0MAIN_OP_NONE;
}

/* START: wait, and before driving also until the lidar looks ahead. */
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

/* TURN: within tolerance or beyond the goal: one step may jump over the tolerance
 * (docs/model/diffdrive.md, part 2). */
static bool is_turned(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double rate_radps = input_of(v)->moved.angle_rad / input_of(v)->period_s;
    const double left_rad =
        diffdrive_left_to_turn(params_of(v), &pose) + rate_radps * coast_s(v);
    const bool to_the_right = efsm_get(v, L0MAIN_LEFT) > 0.0;
    return fabs(left_rad) < params_of(v)->angle_tolerance_rad ||
           (left_rad > 0.0) != to_the_right;
}

static bool may_go_at_once(const struct efsm_view *v)
{
    return input_of(v)->ahead && !(go_surplus_s(v) > 0.0);
}

/* PAUSE: the wait is over, and the lidar looks ahead. */
static bool is_pause_over(const struct efsm_view *v)
{
    return is_over(v) && input_of(v)->ahead;
}

/* GO: the goal is within tolerance, or the robot will coast to it. */
static bool is_arrived(const struct efsm_view *v)
{
    const double tau_s = coast_s(v);
    const double rest_m =
        tau_s > 0.0 ? fmax(input_of(v)->moved.distance_m / input_of(v)->period_s, 0.0) * tau_s
                    : params_of(v)->distance_tolerance_m;
    return pose_after(v).x_m + rest_m >= 0.0;
}

static bool is_obstructed(const struct efsm_view *v)
{
    return params_of(v)->safe_distance_m > 0.0 &&
           input_of(v)->obstacle_m <= params_of(v)->safe_distance_m;
}

static bool has_ray(const struct efsm_view *v)
{
    return efsm_get(v, L0MAIN_INDEX) < params_of(v)->scan_count;
}

static bool has_update(const struct efsm_view *v)
{
    return input_of(v)->update;
}

static bool is_resume(const struct efsm_view *v)
{
    return input_of(v)->op == L0MAIN_OP_RESUME;
}

/* --- actions ----------------------------------------------------------------------------- */

static enum l0main_notice notice_of(const struct efsm_view *v)
{
    switch (input_of(v)->op) {
    case L0MAIN_OP_NONE:
        return L0MAIN_NOTICE_NONE;
    case L0MAIN_OP_GO:
    case L0MAIN_OP_LIDAR:
        return v->now->state == L0MAIN_LISTEN ? L0MAIN_NOTICE_TAKEN : L0MAIN_NOTICE_UNFIT;
    case L0MAIN_OP_RESUME:
        return v->now->state == L0MAIN_RESUME ? L0MAIN_NOTICE_TAKEN : L0MAIN_NOTICE_UNFIT;
    case L0MAIN_OP_HALT:
        return v->now->state == L0MAIN_LISTEN || v->now->state == L0MAIN_RAY
                   ? L0MAIN_NOTICE_UNFIT
                   : L0MAIN_NOTICE_OBEYED;
    case L0MAIN_OP_BAD:
    case L0MAIN_OP_UNKNOWN:
    case L0MAIN_OP_COUNT:
    default:
        return L0MAIN_NOTICE_WRONG;
    }
}

static void set_pose(const struct efsm_view *v, const struct diffdrive_pose *pose)
{
    efsm_set(v, L0MAIN_ANGLE, pose->angle_rad);
    efsm_set(v, L0MAIN_X, pose->x_m);
    efsm_set(v, L0MAIN_Y, pose->y_m);
    efsm_set(v, L0MAIN_ERROR, diffdrive_heading_error(pose));
}

/* Part of every action: the odometry goes on, also while the robot coasts, and what was told in
 * the cycle before is not told again. */
static void track_pose(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    set_pose(v, &pose);
    efsm_set(v, L0MAIN_ANSWER, L0MAIN_ANSWER_NONE);
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

static void end_with(const struct efsm_view *v, enum l0main_answer answer)
{
    track_pose(v);
    drive_wheels(v, 0.0, 0.0);
    efsm_set(v, L0MAIN_TARGET, 0.0);
    efsm_set(v, L0MAIN_ANSWER, answer);
}

/* What is left of a move that was broken off is nothing that the next one should make up for.
 */
static void forget_rest(const struct efsm_view *v)
{
    set_pose(v, &(struct diffdrive_pose){0.0, 0.0, 0.0});
}

static void end_done(const struct efsm_view *v)
{
    end_with(v, L0MAIN_ANSWER_DONE);
}

static void end_halted(const struct efsm_view *v)
{
    end_with(v, L0MAIN_ANSWER_HALTED);
    forget_rest(v);
}

static void end_blocked(const struct efsm_view *v)
{
    end_with(v, L0MAIN_ANSWER_BLOCKED);
    forget_rest(v);
}

static void end_late(const struct efsm_view *v)
{
    end_with(v, L0MAIN_ANSWER_LATE);
    forget_rest(v);
}

static void end_sweep(const struct efsm_view *v)
{
    end_with(v, L0MAIN_ANSWER_NONE);
}

/* The new goal, seen from where the last move left the robot. */
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
    track_pose(v);
    set_pose(v, &goal);
    efsm_set(v, L0MAIN_INTEGRAL, 0.0);
    const bool spins = wants_turn(v, &goal);
    efsm_set(v, L0MAIN_INDEX, spins ? 1.0 : 0.0);
    set_until(v, fmax(start_surplus_s(v) + (spins              ? turn_surplus_s(v)
                                            : is_far(v, &goal) ? go_surplus_s(v)
                                                               : 0.0),
                      0.0));
}

static void begin_turn(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double left_rad = diffdrive_left_to_turn(params_of(v), &pose);
    const double control = copysign(params_of(v)->control_max, left_rad);
    track_pose(v);
    drive_wheels(v, control, -control);
    set_until(v, params_of(v)->patience_ratio * fabs(left_rad) /
                         params_of(v)->angular_speed_radps +
                     PATIENCE_S);
}

static void begin_pause(const struct efsm_view *v)
{
    track_pose(v);
    drive_wheels(v, 0.0, 0.0);
    set_until(v, go_surplus_s(v));
}

static void begin_go(const struct efsm_view *v)
{
    const struct diffdrive_pose pose = pose_after(v);
    const double top = diffdrive_top(params_of(v), pose.x_m, input_of(v)->obstacle_m);
    track_pose(v);
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
    track_pose(v);
    efsm_set(v, L0MAIN_INTEGRAL, integral_rads);
    drive_wheels(v, u.left, u.right);
}

static void stop_before_obstacle(const struct efsm_view *v)
{
    track_pose(v);
    drive_wheels(v, 0.0, 0.0);
    set_until(v, params_of(v)->blocked_timeout_s);
}

static void begin_sweep(const struct efsm_view *v)
{
    track_pose(v);
    efsm_set(v, L0MAIN_INDEX, 0.0);
}

static void look_along_ray(const struct efsm_view *v)
{
    track_pose(v);
    efsm_set(v, L0MAIN_TARGET,
             l0main_ray_rad(params_of(v), (unsigned)efsm_get(v, L0MAIN_INDEX)));
}

static void look_ahead(const struct efsm_view *v)
{
    track_pose(v);
    efsm_set(v, L0MAIN_TARGET, 0.0);
}

static void tell_ray(const struct efsm_view *v)
{
    track_pose(v);
    efsm_set(v, L0MAIN_ANSWER, L0MAIN_ANSWER_DATA);
}

static void await_resume(const struct efsm_view *v)
{
    track_pose(v);
    efsm_set(v, L0MAIN_INDEX, efsm_get(v, L0MAIN_INDEX) + 1.0);
    set_until(v, params_of(v)->resume_timeout_s);
}

/* --- the table --------------------------------------------------------------------------- */

static void tell_outputs(const struct efsm_view *v)
{
    struct l0main_out *out = v->out;
    out->left = efsm_get(v, L0MAIN_LEFT);
    out->right = efsm_get(v, L0MAIN_RIGHT);
    out->target_rad = efsm_get(v, L0MAIN_TARGET);
    out->request = v->now->state == L0MAIN_ECHO || v->now->state == L0MAIN_DONE;
    out->answer = (enum l0main_answer)efsm_get(v, L0MAIN_ANSWER);
    out->notice = (enum l0main_notice)efsm_get(v, L0MAIN_NOTICE);
}

static const struct efsm_state states[L0MAIN_STATE_COUNT] = {
    [L0MAIN_LISTEN] = {.name = "LISTEN", .output = tell_outputs},
    [L0MAIN_START] = {.name = "START", .output = tell_outputs},
    [L0MAIN_TURN] = {.name = "TURN", .output = tell_outputs},
    [L0MAIN_PAUSE] = {.name = "PAUSE", .output = tell_outputs},
    [L0MAIN_GO] = {.name = "GO", .output = tell_outputs},
    [L0MAIN_BLOCKED] = {.name = "BLOCKED", .output = tell_outputs},
    [L0MAIN_LIDAR] = {.name = "LIDAR", .output = tell_outputs},
    [L0MAIN_ECHO] = {.name = "ECHO", .output = tell_outputs},
    [L0MAIN_RAY] = {.name = "RAY", .output = tell_outputs},
    [L0MAIN_RESUME] = {.name = "RESUME", .output = tell_outputs},
    [L0MAIN_DONE] = {.name = "DONE", .output = tell_outputs},
};

/* Every action also tracks the pose and warns about a command that does not fit. Arcs into a
 * state that drives wait: the motors need a period before there is something new to see. RAY is
 * passed within a period, when no command can come. */
/* clang-format off */
static const struct efsm_arc arcs[] = {
    {L0MAIN_LISTEN,  L0MAIN_START,   is_go,         accept_go,
     .label = "go / A+, X+, Y+ = goal, J+ = 1 when it turns first, until+ = t + t0"},
    {L0MAIN_LISTEN,  L0MAIN_LIDAR,   is_lidar,      begin_sweep,          .label = "lidar / J+ = 0"},
    {L0MAIN_LISTEN,  L0MAIN_LISTEN,  NULL,          track_pose,           .label = "another command / warn",
     .waits = true, .unless = {is_go, is_lidar, is_idle}},
    {L0MAIN_LISTEN,  L0MAIN_LISTEN,  is_idle,       track_pose,           .label = "no command", .waits = true},
    {L0MAIN_START,   L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_START,   L0MAIN_START,   NULL,          track_pose,           .label = "t < until",
     .waits = true, .unless = {is_halt, is_ready}},
    {L0MAIN_START,   L0MAIN_TURN,    is_ready,      begin_turn,
     .label = "t >= until & J = 1 / L+, R+ = +-uMax", .waits = true, .also = {turns_first}, .unless = {is_halt}},
    {L0MAIN_START,   L0MAIN_GO,      is_ready,      begin_go,
     .label = "t >= until & J = 0 & ahead & X < -stol / L+, R+ = uMax",
     .waits = true, .also = {is_goal_far}, .unless = {is_halt, turns_first}},
    {L0MAIN_START,   L0MAIN_LISTEN,  is_ready,      end_done,
     .label = "t >= until & J = 0 & X >= -stol / done", .unless = {is_halt, turns_first, is_goal_far}},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_TURN,    L0MAIN_TURN,    NULL,          track_pose,           .label = "|A| > atol",
     .waits = true, .unless = {is_halt, is_turned, is_over}},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  is_turned,     end_done,
     .label = "|A| <= atol or jumped & X >= -stol / L+, R+ = 0, done", .unless = {is_halt, is_goal_far}},
    {L0MAIN_TURN,    L0MAIN_GO,      is_turned,     begin_go,
     .label = "|A| <= atol or jumped & X < -stol & ahead & tr = 0 / L+, R+ = uMax",
     .waits = true, .also = {is_goal_far, may_go_at_once}, .unless = {is_halt}},
    {L0MAIN_TURN,    L0MAIN_PAUSE,   is_turned,     begin_pause,
     .label = "|A| <= atol or jumped & X < -stol & (!ahead or tr > 0) / L+, R+ = 0",
     .waits = true, .also = {is_goal_far}, .unless = {is_halt, may_go_at_once}},
    {L0MAIN_TURN,    L0MAIN_LISTEN,  is_over,       end_late,             .label = "t >= until / error",
     .unless = {is_halt, is_turned}},
    {L0MAIN_PAUSE,   L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_PAUSE,   L0MAIN_PAUSE,   NULL,          track_pose,           .label = "t < until or !ahead",
     .waits = true, .unless = {is_halt, is_pause_over}},
    {L0MAIN_PAUSE,   L0MAIN_GO,      is_pause_over, begin_go,             .label = "t >= until & ahead / L+, R+ = uMax",
     .waits = true, .unless = {is_halt}},
    {L0MAIN_GO,      L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_GO,      L0MAIN_GO,      NULL,          steer_to_goal,
     .label = "X < -stol & Q > sdist / L+, R+ = uL, uR",
     .waits = true, .unless = {is_halt, is_arrived, is_over, is_obstructed}},
    {L0MAIN_GO,      L0MAIN_LISTEN,  is_arrived,    end_done,             .label = "X >= -stol / L+, R+ = 0, done",
     .unless = {is_halt}},
    {L0MAIN_GO,      L0MAIN_BLOCKED, is_obstructed, stop_before_obstacle,
     .label = "Q <= sdist / L+, R+ = 0, until+ = t + tout", .waits = true, .unless = {is_halt, is_arrived, is_over}},
    {L0MAIN_GO,      L0MAIN_LISTEN,  is_over,       end_late,             .label = "t >= until / error",
     .unless = {is_halt, is_arrived}},
    {L0MAIN_BLOCKED, L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_BLOCKED, L0MAIN_BLOCKED, is_obstructed, track_pose,           .label = "Q <= sdist & t < until",
     .waits = true, .unless = {is_halt, is_over}},
    {L0MAIN_BLOCKED, L0MAIN_GO,      NULL,          begin_go,             .label = "Q > sdist / L+, R+ = uMax",
     .waits = true, .unless = {is_halt, is_obstructed}},
    {L0MAIN_BLOCKED, L0MAIN_LISTEN,  is_obstructed, end_blocked,          .label = "Q <= sdist & t >= until / blocked",
     .also = {is_over}, .unless = {is_halt}},
    {L0MAIN_LIDAR,   L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_LIDAR,   L0MAIN_ECHO,    has_ray,       look_along_ray,       .label = "J < n / P+ = scan[J]",
     .unless = {is_halt}},
    {L0MAIN_LIDAR,   L0MAIN_DONE,    NULL,          look_ahead,           .label = "J >= n / P+ = 0",
     .unless = {is_halt, has_ray}},
    {L0MAIN_ECHO,    L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / P+ = 0, halted"},
    {L0MAIN_ECHO,    L0MAIN_ECHO,    NULL,          track_pose,           .label = "!u",
     .waits = true, .unless = {is_halt, has_update}},
    {L0MAIN_ECHO,    L0MAIN_RAY,     has_update,    tell_ray,             .label = "u / data", .unless = {is_halt}},
    {L0MAIN_RAY,     L0MAIN_RESUME,  NULL,          await_resume,         .label = "J+ = J + 1, until+ = t + tout"},
    {L0MAIN_RESUME,  L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / P+ = 0"},
    {L0MAIN_RESUME,  L0MAIN_RESUME,  NULL,          track_pose,           .label = "!resume & t < until",
     .waits = true, .unless = {is_halt, is_resume, is_over}},
    {L0MAIN_RESUME,  L0MAIN_ECHO,    is_resume,     look_along_ray,       .label = "resume & J < n / P+ = scan[J]",
     .also = {has_ray}},
    {L0MAIN_RESUME,  L0MAIN_DONE,    is_resume,     look_ahead,           .label = "resume & J >= n / P+ = 0",
     .unless = {has_ray}},
    {L0MAIN_RESUME,  L0MAIN_LISTEN,  is_over,       end_sweep,            .label = "!resume & t >= until / P+ = 0",
     .unless = {is_halt, is_resume}},
    {L0MAIN_DONE,    L0MAIN_LISTEN,  is_halt,       end_halted,           .label = "halt / halted"},
    {L0MAIN_DONE,    L0MAIN_DONE,    NULL,          track_pose,           .label = "!u",
     .waits = true, .unless = {is_halt, has_update}},
    {L0MAIN_DONE,    L0MAIN_LISTEN,  has_update,    end_done,             .label = "u / done", .unless = {is_halt}},
};
/* clang-format on */

static const char *const cells[L0MAIN_CELL_COUNT] = {
    [L0MAIN_ANGLE] = "A",  [L0MAIN_X] = "X",           [L0MAIN_Y] = "Y",
    [L0MAIN_ERROR] = "eA", [L0MAIN_INTEGRAL] = "I",    [L0MAIN_LEFT] = "L",
    [L0MAIN_RIGHT] = "R",  [L0MAIN_UNTIL] = "until",   [L0MAIN_INDEX] = "J",
    [L0MAIN_TARGET] = "P", [L0MAIN_ANSWER] = "answer", [L0MAIN_NOTICE] = "notice",
};

const struct efsm_table l0main_table = {
    .name = "l0main",
    .purpose = "Obeys go, lidar, resume and halt: the lowest level of the "
               "differential-drive robot.",
    .states = states,
    .state_count = L0MAIN_STATE_COUNT,
    .arcs = arcs,
    .arc_count = COUNT(arcs),
    .cells = cells,
    .cell_count = L0MAIN_CELL_COUNT,
    .initial = L0MAIN_LISTEN,
};

void l0main_reset(struct efsm *m, int64_t t_us)
{
    efsm_reset(&l0main_table, m, t_us);
    for (size_t k = 0; k < L0MAIN_CELL_COUNT; k++) {
        efsm_init_cell(m, k, 0.0);
    }
}

double l0main_ray_rad(const struct diffdrive_params *p, unsigned index)
{
    if (!(p->scan_count > 1.0)) {
        return 0.0;
    }
    return p->scan_span_rad * (0.5 - (double)index / (p->scan_count - 1.0));
}
