/* twin/sim/robot/position_servo.c - a simulated servo that is commanded to positions: the
 * equations of identification/servo/servo_simulation.h.
 *
 * An effort is a commanded position (rad); it holds until the next one and acts after the
 * delay. `go` moves by its rotation and ends where the servo comes to rest.
 * docs/model/position_servo.md.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "identification/servo/servo_simulation.h"
#include "twin/sim/robot/robot_kinds.h"

enum { ORDERS_MAX = 16, LATE_MAX = 128 };

/* Longest step while a profile acts, s. */
static const double SUBSTEP_S = 1e-3;
/* A servo has arrived within this distance, beyond its dead band, and below this speed. */
static const double ARRIVED_RAD = 2e-3, ARRIVED_RADPS = 5e-3;

/* The model's parameters come first, in its order. All fields are doubles. */
struct servo_parameters {
    double error_per_acceleration_s2, error_per_velocity_s, dead_band_rad, droop_rad;
    double delay_s, play_rad, speed_limit_radps, acceleration_limit_radps2;
    double encoder_step_rad, noise_rad, noise_radps;
};

struct order {
    char id[EVENT_ID_MAX];
    bool goes;
    double rotation_rad;
    enum reply_status status; /* its future result */
};

/* A command that does not act yet. */
struct late_command {
    int64_t due_us;
    double command_rad;
};

struct servo_robot {
    struct servo_parameters p;
    struct servo_motion motion;
    struct random_source random;
    int64_t t_us, period_us;
    double command_rad, acting_rad; /* the newest one; the one after the delay */
    struct late_command late[LATE_MAX];
    size_t late_count;
    struct order orders[ORDERS_MAX]; /* [0] is running */
    size_t order_count;
    int64_t start_us;              /* of the running order */
    double shown_rad, shown_radps; /* measured in this period */
};

/* A full list replaces its newest command, so that the last one always acts. */
static void set_command(struct servo_robot *r, double command_rad)
{
    r->command_rad = command_rad;
    r->late_count -= r->late_count == LATE_MAX ? 1 : 0;
    r->late[r->late_count++] =
        (struct late_command){r->t_us + lab_us(r->p.delay_s), command_rad};
}

static void begin_order(struct servo_robot *r)
{
    r->start_us = r->t_us;
    if (r->order_count > 0 && r->orders[0].goes && r->orders[0].status == REPLY_DONE) {
        set_command(r, r->command_rad + r->orders[0].rotation_rad);
    }
}

static void halt_orders(struct servo_robot *r)
{
    for (size_t i = 0; i < r->order_count; i++) {
        r->orders[i].status = REPLY_HALTED;
    }
}

static bool queue_command(void *memory, const struct event_command *command)
{
    struct servo_robot *r = memory;
    const bool goes = strcmp(command->op, "go") == 0;
    const bool halts = strcmp(command->op, "halt") == 0;
    if (halts) {
        halt_orders(r);
        set_command(r, r->motion.q_rad);
    }
    if (r->order_count == ORDERS_MAX) {
        return false;
    }
    struct order *order = &r->orders[r->order_count++];
    *order = (struct order){.goes = goes,
                            .rotation_rad = command->rotation_rad,
                            .status = goes || halts ? REPLY_DONE : REPLY_IGNORED};
    (void)snprintf(order->id, sizeof order->id, "%s", command->id);
    if (r->order_count == 1) {
        begin_order(r);
    }
    return true;
}

/* A commanded position ends what `go` began. */
static enum status set_effort(void *memory, const double *tau, size_t count)
{
    struct servo_robot *r = memory;
    if (count != 1 || !isfinite(tau[0])) {
        return STATUS_E_RANGE;
    }
    halt_orders(r);
    set_command(r, tau[0]);
    return STATUS_OK;
}

static struct servo_law find_law(const struct servo_parameters *p)
{
    const bool profile = p->speed_limit_radps > 0.0 && p->acceleration_limit_radps2 > 0.0;
    return (struct servo_law){.stiffness = 1.0 / p->error_per_acceleration_s2,
                              .damping = p->error_per_velocity_s / p->error_per_acceleration_s2,
                              .dead_band_rad = p->dead_band_rad,
                              .droop_rad = p->droop_rad,
                              .scale = 1.0,
                              .play_rad = p->play_rad,
                              .error_max_rad = HUGE_VAL,
                              .speed_radps = profile ? p->speed_limit_radps : HUGE_VAL,
                              .acceleration_radps2 =
                                  profile ? p->acceleration_limit_radps2 : HUGE_VAL,
                              .substep_s = SUBSTEP_S};
}

static bool has_arrived(const struct servo_robot *r)
{
    const double goal = r->command_rad - r->p.droop_rad;
    return r->late_count == 0 && fabs(r->motion.w_radps) < ARRIVED_RADPS &&
           fabs(goal - r->motion.q_rad) <= r->p.dead_band_rad + ARRIVED_RAD;
}

/* Answers orders that are done; the next one begins. */
static void end_orders(struct servo_robot *r, robot_sink *sink, void *context)
{
    while (r->order_count > 0) {
        const struct order *order = &r->orders[0];
        if (order->goes && order->status == REPLY_DONE && !has_arrived(r)) {
            return;
        }
        struct robot_reply reply = {
            .status = order->status, .start_us = r->start_us, .end_us = r->t_us};
        (void)snprintf(reply.id, sizeof reply.id, "%s", order->id);
        robot_reply_add(&reply, "position_rad", r->shown_rad);
        if (order->status == REPLY_IGNORED) {
            (void)snprintf(reply.detail, sizeof reply.detail, "go or halt was expected");
        }
        r->order_count--;
        memmove(&r->orders[0], &r->orders[1], r->order_count * sizeof r->orders[0]);
        begin_order(r);
        sink(context, &reply);
    }
}

static double draw_noise(struct servo_robot *r, double sd)
{
    return sd > 0.0 ? sd * random_normal(&r->random) : 0.0;
}

static void measure_motion(struct servo_robot *r)
{
    const double step = r->p.encoder_step_rad;
    const double position = r->motion.shown_rad + draw_noise(r, r->p.noise_rad);
    r->shown_rad = step > 0.0 ? step * round(position / step) : position;
    r->shown_radps = r->motion.w_radps + draw_noise(r, r->p.noise_radps);
}

static void step_robot(void *memory, robot_sink *sink, void *context)
{
    struct servo_robot *r = memory;
    const struct servo_law law = find_law(&r->p);
    const int64_t end_us = r->t_us + r->period_us;
    size_t due = 0;
    for (int64_t now_us = r->t_us; now_us < end_us;) {
        while (due < r->late_count && r->late[due].due_us <= now_us) {
            r->acting_rad = r->late[due++].command_rad;
        }
        const int64_t until_us =
            due < r->late_count && r->late[due].due_us < end_us ? r->late[due].due_us : end_us;
        servo_motion_advance(&r->motion, &law, r->acting_rad, lab_s(until_us - now_us));
        now_us = until_us;
    }
    r->late_count -= due;
    memmove(&r->late[0], &r->late[due], r->late_count * sizeof r->late[0]);
    r->t_us = end_us;
    measure_motion(r);
    end_orders(r, sink, context);
}

static void sample_robot(const void *memory, struct robot_sample *out)
{
    const struct servo_robot *r = memory;
    memset(out, 0, sizeof *out);
    out->t_us = r->t_us;
    out->nu_count = out->tau_count = out->pose_count = 1;
    out->nu[0] = r->shown_radps;
    out->tau[0] = r->command_rad;
    out->pose[0] = r->shown_rad;
}

/* clang-format off */
static const struct robot_parameter parameters[] = {
    {"error_per_acceleration_s2", "s^2", 0.0031, 1e-6, 10, "1 / natural frequency squared", NULL},
    {"error_per_velocity_s", "s", 0.12, 1e-4, 10, "1 / position gain: 2 damping ratio / natural frequency", NULL},
    {"dead_band_rad", "rad", 0.01, 0, 10, "half of the band that dry friction holds", NULL},
    {"droop_rad", "rad", 0, -10, 10, "how far a constant load pulls it", NULL},
    {"delay_s", "s", 0.02, 0, 1, "from a command to its effect", NULL},
    {"play_rad", "rad", 0, 0, 10, "behind the motor", NULL},
    {"speed_limit_radps", "rad/s", 0, 0, 1e3, "of its own profile, with the next one; 0: none", NULL},
    {"acceleration_limit_radps2", "rad/s^2", 0, 0, 1e6, "of its own profile; 0: none", NULL},
    {"encoder_step_rad", "rad", 0, 0, 1, "of measured positions; 0: none", NULL},
    {"noise_rad", "rad", 0, 0, 1, "standard deviation of measured positions", NULL},
    {"noise_radps", "rad/s", 0, 0, 100, "standard deviation of measured velocities", NULL},
};
/* clang-format on */

static void init_robot(void *memory, const struct robot_setup *setup)
{
    struct servo_robot *r = memory;
    robot_begin(&position_servo_kind, memory, setup);
    r->t_us = setup->start_us;
    r->period_us = setup->period_us;
    r->random.state = setup->seed;
    r->command_rad = r->acting_rad = setup->pose[0];
    servo_motion_place(&r->motion, setup->pose[0]);
    measure_motion(r);
}

const struct robot_kind position_servo_kind = {
    .name = "position_servo",
    .purpose = "a servo that is commanded to positions, by efforts or by go",
    .pose_count = 1,
    .bytes = sizeof(struct servo_robot),
    .period_us = 5000,
    .parameters = parameters,
    .parameter_count = COUNT(parameters),
    .parameters_at = offsetof(struct servo_robot, p),
    .operations = "go, halt, and efforts: commanded positions",
    .init = init_robot,
    .command = queue_command,
    .effort = set_effort,
    .step = step_robot,
    .sample = sample_robot,
};
