#include "twin/arm/arm_servo.h"

#include <math.h>
#include <string.h>

/* Below this speed dry friction fades (1). */
static const double DRY_RADPS = 0.01;

ENUM_NAMES(arm_controller, ARM_CONTROLLER_COUNT, "profile", "fsm", "p", "time_optimal", "pid");

void arm_servo_place(struct arm_servo *s, const double q[ARM_JOINTS])
{
    memset(s, 0, sizeof *s);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        s->joint[j].q_rad = q[j];
    }
}

/* --- loads ------------------------------------------------------------------------------- */

static void find_gravity(const struct arm_servo *s, const struct arm_servo_params *p,
                         double gravity_a[ARM_JOINTS])
{
    const double q2 = s->joint[1].q_rad;
    const double q23 = q2 + s->joint[2].q_rad;
    const double q234 = q23 + s->joint[3].q_rad;
    const double q5 = s->joint[4].q_rad;
    const double *g = p->gravity;
    const double c23 = cos(q23);
    const double s234 = sin(q234);
    const double c234s5 = cos(q234) * sin(q5);
    gravity_a[0] = 0.0;
    gravity_a[1] = g[0] * cos(q2) + g[1] * c23 + g[2] * s234 + g[3] * c234s5;
    gravity_a[2] = g[4] * c23 + g[5] * s234 + g[6] * c234s5;
    gravity_a[3] = g[7] * s234 + g[8] * c234s5;
    gravity_a[4] = g[9] * s234 * cos(q5);
    gravity_a[5] = 0.0;
}

/* Returns the load of a drive with command u, in A. Dry friction opposes the commanded
 * direction and never drives. */
static double find_load(const struct arm_servo_params *p, size_t j, double u, double w,
                        double gravity_a)
{
    if (!(p->load_gain > 0.0)) {
        return 0.0;
    }
    const double other_a = gravity_a + p->viscous[j] * w;
    const double free_a = p->gain[j] * u / p->load_gain - other_a;
    return other_a + fmin(fmax(free_a, -p->coulomb[j]), p->coulomb[j]);
}

static void update_currents(struct arm_servo *s, const struct arm_servo_params *p,
                            const double before[ARM_JOINTS], const double gravity_a[ARM_JOINTS])
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const double w = s->joint[j].w_radps;
        s->current_a[j] = p->inertia[j] * (w - before[j]) / p->period_s + p->viscous[j] * w +
                          p->coulomb[j] * tanh(w / DRY_RADPS) + gravity_a[j];
    }
}

/* --- one period of the drives ------------------------------------------------------------ */

/* Simulates the speed servo as a motor under a PID with known gravity. */
static void step_motor(struct arm_servo *s, const struct arm_servo_params *p, size_t j,
                       struct servo_joint_params *plant, double *u, double gravity_a)
{
    struct pid_params gains = {.period_s = p->period_s};
    const double closed_s = fmax(p->lag_s[j], 2.0 * p->period_s);
    plant->lag_s = p->motor_lag_s;
    pid_tune_imc(&gains, p->gain[j], p->motor_lag_s, closed_s);
    gains.out_hi = (p->speed_max_radps[j] + p->load_gain * fabs(gravity_a)) / p->gain[j];
    gains.out_lo = -gains.out_hi;
    *u = pid_step(&s->pid[j], &gains, *u, s->joint[j].w_radps,
                  p->load_gain * gravity_a / p->gain[j]);
}

void arm_servo_drive(struct arm_servo *s, const struct arm_servo_params *p,
                     const double u[ARM_JOINTS])
{
    double gravity_a[ARM_JOINTS];
    double before[ARM_JOINTS];
    find_gravity(s, p, gravity_a);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        struct servo_joint *joint = &s->joint[j];
        struct servo_joint_params plant = {.lag_s = p->lag_s[j],
                                           .speed_gain = p->gain[j],
                                           .position_gain = 1.0,
                                           .load_gain = p->load_gain,
                                           .speed_radps_max = p->speed_max_radps[j]};
        before[j] = joint->w_radps;
        s->u[j] = fmin(fmax(u[j], -p->speed_max_radps[j]), p->speed_max_radps[j]);
        double command = s->u[j];
        if (p->controller == ARM_CONTROLLER_PID) {
            step_motor(s, p, j, &plant, &command, gravity_a[j]);
        }
        servo_joint_step(joint, &plant, SERVO_EXACT, p->period_s, command,
                         find_load(p, j, command, joint->w_radps, gravity_a[j]));
    }
    update_currents(s, p, before, gravity_a);
}

/* --- controllers ------------------------------------------------------------------------- */

/* servo.md, eq. 18. */
static double track_profile(const struct servo_joint *joint, const struct arm_servo_params *p,
                            size_t j, const struct arm_set_point *now,
                            const struct arm_set_point *next)
{
    const double lag_s = p->known_lag_s[j];
    const double here = now->q[j] + lag_s * now->qd[j];
    const double there = next->q[j] + lag_s * next->qd[j];
    const double miss = here - (joint->q_rad + lag_s * joint->w_radps);
    return (there - here - expm1(-p->tracking_per_s * p->period_s) * miss) / p->period_s;
}

static double regulate_joint(struct arm_servo *s, const struct arm_servo_params *p, size_t j,
                             double target)
{
    static const enum position_kind kinds[ARM_CONTROLLER_COUNT] = {
        [ARM_CONTROLLER_PROFILE] = POSITION_P,
        [ARM_CONTROLLER_FSM] = POSITION_FSM,
        [ARM_CONTROLLER_P] = POSITION_P,
        [ARM_CONTROLLER_TIME_OPTIMAL] = POSITION_TIME_OPTIMAL,
        [ARM_CONTROLLER_PID] = POSITION_P};
    struct position_params control = {
        .kind = kinds[p->controller],
        .period_s = p->period_s,
        .command_max = p->speed_max_radps[j],
        .command_min = fmin(p->speed_min_radps, p->speed_max_radps[j]),
        .gain_per_s = p->gain_per_s,
        .stop = p->stop_rad,
        .near_by = p->near_rad,
        .rest = p->stop_rad,
        .tracking_per_s = p->tracking_per_s,
        .lag_s = p->known_lag_s[j],
        .position_gain = 1.0,
    };
    double u = 0.0;
    /* It covers the coasting distance, and at least one period's motion. */
    control.slow = fmax(position_slow_window(&control, 0.5 * p->near_rad),
                        p->speed_max_radps[j] * p->period_s + 0.5 * p->near_rad);
    (void)position_step(&s->control[j], &control, target, s->joint[j].q_rad,
                        s->joint[j].w_radps, &u); /* all numbers are finite */
    return u;
}

void arm_servo_step(struct arm_servo *s, const struct arm_servo_params *p,
                    const struct arm_set_point *now, const struct arm_set_point *next)
{
    double u[ARM_JOINTS];
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        u[j] = p->controller == ARM_CONTROLLER_PROFILE
                   ? track_profile(&s->joint[j], p, j, now, next)
                   : regulate_joint(s, p, j, next->q[j]);
    }
    arm_servo_drive(s, p, u);
}

void arm_servo_follow(struct arm_servo *s, const struct arm_servo_params *p,
                      const struct arm_set_point *next)
{
    double gravity_a[ARM_JOINTS];
    double before[ARM_JOINTS];
    find_gravity(s, p, gravity_a);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        before[j] = s->joint[j].w_radps;
        s->joint[j] = (struct servo_joint){next->q[j], next->qd[j]};
        s->u[j] = next->qd[j];
    }
    update_currents(s, p, before, gravity_a);
}

bool arm_servo_arrived(const struct arm_servo *s, const struct arm_servo_params *p,
                       const double q[ARM_JOINTS], double window_rad)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        if (!(fabs(q[j] - s->joint[j].q_rad) <= window_rad) ||
            !(fabs(p->lag_s[j] * s->joint[j].w_radps) <= window_rad)) {
            return false;
        }
    }
    return true;
}
