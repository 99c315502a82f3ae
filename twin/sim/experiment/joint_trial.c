#include "twin/sim/experiment/joint_trial.h"

#include <math.h>

#include "twin/control/pid.h"

static const double SETTLED_RATIO = 0.02;
static const double REST_RATIO = 1e-6; /* of the largest command: counts as none */

/* The joint's drive: a motor under a PID (docs/model/servo.md), or an ideal one. */
struct drive {
    bool is_motor;
    struct servo_joint_params plant;
    struct pid_params gains;
    struct pid pid;
};

static struct drive make_drive(const struct joint_trial_params *p)
{
    struct drive drive = {.is_motor = p->motor_lag_s > 0.0, .plant = p->joint};
    if (drive.is_motor) {
        const double limit = p->motor_max > 0.0 ? p->motor_max / p->joint.speed_gain : HUGE_VAL;
        drive.plant.lag_s = p->motor_lag_s;
        drive.gains = (struct pid_params){
            .out_lo = -limit, .out_hi = limit, .period_s = p->control.period_s};
        pid_tune_imc(&drive.gains, p->joint.speed_gain, p->motor_lag_s, p->joint.lag_s);
    }
    return drive;
}

static void advance_drive(struct drive *drive, const struct joint_trial_params *p, double u,
                          struct servo_joint *joint)
{
    if (drive->is_motor) {
        u = pid_step(&drive->pid, &drive->gains, u, joint->w_radps, 0.0);
    }
    servo_joint_step(joint, &drive->plant, p->method, p->control.period_s, u, p->load);
}

static enum status check_motor(const struct joint_trial_params *p, struct err *err)
{
    const struct drive drive = make_drive(p);
    if (drive.is_motor && !(p->joint.lag_s > 0.0)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "motor.lag_s",
                       "a motor cannot be made to follow at once: a lag of the joint above 0 s "
                       "is wanted");
    }
    return drive.is_motor ? pid_check(&drive.gains, err) : STATUS_OK;
}

enum status joint_trial_check(const struct joint_trial_params *p, struct err *err)
{
    const double every = p->sample_s / p->control.period_s;
    if (!isfinite(p->set_point) || !isfinite(p->load) || !(p->duration_s > 0.0)) {
        return err_set(err, STATUS_E_RANGE, FAULT_OUT_OF_RANGE, "set_point, load, duration_s",
                       "cannot be, finite numbers and a duration above 0 are wanted");
    }
    if (!(every > 0.999) || fabs(every - floor(every + 0.5)) > 1e-6) {
        return err_set(err, STATUS_E_RANGE, FAULT_INCONSISTENT, "sample_s",
                       "%g s is not a multiple of the control period of %g s", p->sample_s,
                       p->control.period_s);
    }
    const enum status st = check_motor(p, err);
    return st == STATUS_OK ? position_check(&p->control, err) : st;
}

static void add_error(struct joint_indices *indices, double error, double t_s)
{
    indices->ise += error * error;
    indices->iae += fabs(error);
    indices->itae += t_s * fabs(error);
}

static void record_error(struct joint_trial_result *r, const struct joint_trial_params *p,
                         double error, double t_s)
{
    add_error(&r->integral, error, t_s);
    if (fabs(error) > SETTLED_RATIO * fabs(p->set_point)) {
        r->settle_s = t_s + p->control.period_s;
    }
    r->overshoot = fmax(r->overshoot, p->set_point < 0.0 ? error : -error);
}

void joint_trial_run(const struct joint_trial_params *p,
                     void (*point)(void *context, const struct joint_trial_point *point),
                     void *context, struct joint_trial_result *result)
{
    const double h = p->control.period_s;
    const long steps = lround(p->duration_s / h);
    const long every = lround(p->sample_s / h);
    struct joint_trial_result r = {.rest_s = nan("")};
    struct position_control control = {0};
    struct servo_joint joint = {0};
    struct drive drive = make_drive(p);
    for (long i = 0; i < steps; i++) {
        const double t_s = (double)i * h;
        const double error = p->set_point - joint.q_rad;
        double u = 0.0;
        record_error(&r, p, error, t_s);
        (void)position_step(&control, &p->control, p->set_point, joint.q_rad, joint.w_radps,
                            &u); /* all numbers are finite */
        if (i % every == 0) {
            add_error(&r.sum, error, t_s);
            if (point) {
                point(context, &(struct joint_trial_point){t_s, joint.q_rad, joint.w_radps, u});
            }
        }
        if (fabs(u) > REST_RATIO * p->control.command_max) {
            r.rest_s = nan("");
        } else if (isnan(r.rest_s)) {
            r.rest_s = t_s;
        }
        advance_drive(&drive, p, u, &joint);
        r.speed_max = fmax(r.speed_max, fabs(joint.w_radps));
    }
    r.integral.ise *= h;
    r.integral.iae *= h;
    r.integral.itae *= h;
    r.final_error = p->set_point - joint.q_rad;
    *result = r;
}
