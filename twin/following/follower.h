/* twin/following/follower.h - a velocity controller that makes a simulated robot move like its
 * reference, with the model identified for the simulated robot.
 *
 *   e = nu_ref - nu,   gamma = nu_ref' + K e + Ki ∫e  [+ Kp J(pose)^T (pose_ref - pose)]
 *   tau = Phi(nu, gamma) theta - d_hat                 (docs/model/following.md, eq. 1 - 4)
 *
 * A wheeled robot cannot be pushed sideways, so it is steered back to its path (eq. 2a). d_hat
 * is the estimate of an extended-state observer. The observer always runs, so that an
 * unmodelled force is visible even if it cannot be compensated; d_hat is subtracted only on
 * request. Units are SI. Plain data without pointers except to the model. Pure: no I/O, no
 * clock, no allocation.
 */
#ifndef TWIN_FOLLOWING_FOLLOWER_H
#define TWIN_FOLLOWING_FOLLOWER_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/err.h"
#include "base/errors/status.h"
#include "identification/data/linear_model.h"
#include "identification/model/allocation.h"
#include "logger/message/event.h"

struct follower_gains {
    double bandwidth_radps[MODEL_AXES_MAX]; /* K > 0, per axis */
    enum follower_rejection rejection;
    double observer_radps; /* > 0: both poles of the extended-state observer */
    double pose_per_s2;    /* Kp; 0: no pose feedback; below 0: default of
                              follower_gains_complete() */
    double slow_mps; /* >= 0, wheeled robots: below this speed they are hardly steered back */
    double blend_s;  /* >= 0: time constant of blending out a jump of the effort */
};

struct follower_params {
    const struct model *model; /* of the simulated robot; borrowed */
    double theta[MODEL_PARAMETERS_MAX];
    struct allocation allocation;
    struct follower_gains gains;
    double period_s; /* > 0, between steps */
};

/* Reference motion of the simulated robot. */
struct follower_target {
    double nu[MODEL_AXES_MAX];
    double nu_dot[MODEL_AXES_MAX]; /* mean over the coming period if the future is known (step
                                      average), else now */
    double pose[MODEL_AXES_MAX];   /* used by pose feedback only */
};

struct follower_output {
    double tau[MODEL_AXES_MAX];             /* sent effort: within the limits, finite */
    double force[ALLOCATION_ACTUATORS_MAX]; /* per actuator */
    double wanted[MODEL_AXES_MAX];          /* effort of the control law */
    double unmatched[MODEL_AXES_MAX];       /* wanted - tau: cut by a limit, or not reachable */
    double disturbance[MODEL_AXES_MAX];     /* d_hat: effort that acts in addition to tau */
    double error[MODEL_AXES_MAX];           /* e */
    bool saturated;
};

struct follower { /* All zero: not started. */
    bool running; /* tau and observer below are those of the previous step */
    double integral[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double nu[MODEL_AXES_MAX]; /* measured */
    double nu_hat[MODEL_AXES_MAX], d_hat[MODEL_AXES_MAX];
    double offset[MODEL_AXES_MAX]; /* decaying jump of a change */
    bool smooth;                   /* the next step must not jump */
};

/* Sets the default pose feedback if pose_per_s2 is below 0: critically damped, K^2 / 4, for a
 * robot on wheels or with joints, whose pose would drift otherwise; none for others. */
void follower_gains_complete(struct follower_params *p);

/* Are the gains valid for the model, the actuators and the period? STATUS_E_RANGE with err:
 * which one is not, and what would be. */
MUST_USE enum status follower_check(const struct follower_params *p, struct err *err);

/* Is this coordinate of the pose, of model_pose_count(), an angle that repeats after a turn? */
bool follower_is_angle(const struct model *model, size_t i);
/* Returns to - from in this coordinate, the short way round for an angle. */
double follower_pose_step(const struct model *model, size_t i, double from, double to);

/* Runs one control period with nu and pose as measured now. If a value is not finite, the
 * previous effort is held, and the result is false. If the law itself gives no finite number,
 * the estimated forces are cleared, too; if that repeats in the next step, the parameters are
 * at fault. Cost: six evaluations of the model. */
bool follower_step(struct follower *f, const struct follower_params *p,
                   const struct follower_target *target, const double *nu, const double *pose,
                   struct follower_output *out);

/* Call it before a change of parameters, gains or reference: the effort then continues without
 * a jump and blends over to the new law. */
void follower_smooth(struct follower *f);

#endif
