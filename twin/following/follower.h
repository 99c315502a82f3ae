/* twin/following/follower.h - a velocity controller that makes a simulated robot move as its
 * reference does, by the model identified for the simulated robot.
 *
 *     e = nu_ref - nu,   gamma = nu_ref' + K e + Ki ∫e  [+ Kp J(pose)^T (pose_ref - pose)]
 *     tau = Phi(nu, gamma) theta - d_hat                 (docs/model/following.md, eq. 1 - 4)
 *
 * A robot on wheels cannot be pushed across its way: it is steered back to it (eq. 2a).
 * d_hat comes from an extended-state observer. It always runs, so that a force that nobody
 * modelled is known even where it cannot be countered; it is subtracted only when asked for.
 * Units are SI. Plain data without pointers but to the model. Pure: no I/O, no clock, no
 * allocation.
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
    double
        pose_per_s2; /* Kp; 0: no pose feedback; below 0: as follower_gains_complete() has it */
    double
        slow_mps; /* >= 0, of robots on wheels: below this speed they are hardly steered back */
    double blend_s; /* >= 0: time constant with which a jump of the effort fades */
};

struct follower_params {
    const struct model *model; /* of the simulated robot; borrowed */
    double theta[MODEL_PARAMETERS_MAX];
    struct allocation allocation;
    struct follower_gains gains;
    double period_s; /* > 0, between steps */
};

/* What the simulated robot shall do. */
struct follower_target {
    double nu[MODEL_AXES_MAX];
    double nu_dot[MODEL_AXES_MAX]; /* mean over the coming period where the future is known
                                    * (step average), else now */
    double pose[MODEL_AXES_MAX];   /* used by pose feedback only */
};

struct follower_output {
    double tau[MODEL_AXES_MAX];             /* what is sent: within the limits, finite */
    double force[ALLOCATION_ACTUATORS_MAX]; /* of each actuator */
    double wanted[MODEL_AXES_MAX];          /* what the law asked for */
    double unmatched[MODEL_AXES_MAX];   /* wanted - tau: cut off by a limit or not reached */
    double disturbance[MODEL_AXES_MAX]; /* d_hat: effort that acts beside tau */
    double error[MODEL_AXES_MAX];       /* e */
    bool saturated;
};

struct follower { /* all zero: nothing has happened */
    bool running; /* tau and observer below are of the step before */
    double integral[MODEL_AXES_MAX];
    double tau[MODEL_AXES_MAX];
    double nu[MODEL_AXES_MAX]; /* measured */
    double nu_hat[MODEL_AXES_MAX], d_hat[MODEL_AXES_MAX];
    double offset[MODEL_AXES_MAX]; /* fades: what a change would have made jump */
    bool smooth;                   /* the next step shall not jump */
};

/* Pose feedback that nobody decided on, pose_per_s2 below 0: critically damped, K^2 / 4, for a
 * robot on wheels or with joints, whose pose would drift away otherwise; none for others. */
void follower_gains_complete(struct follower_params *p);

/* Are the gains fit for the model, the actuators and the period? STATUS_E_RANGE with err saying
 * which one is not and what would be. */
MUST_USE enum status follower_check(const struct follower_params *p, struct err *err);

bool follower_all_finite(const double *x, size_t n);
/* Has it a heading in which alone it can be driven, as a robot on wheels? */
bool follower_is_steered(const struct model *model);
/* Is this coordinate of the pose, of model_pose_count(), an angle, a turn more of which is the
 * same pose? */
bool follower_is_angle(const struct model *model, size_t i);
/* to - from in this coordinate, the short way round for an angle. */
double follower_pose_step(const struct model *model, size_t i, double from, double to);

/* One control period: nu and pose as measured now. A value that is not finite holds the effort
 * of the step before; false then, and *out is that. Where the law itself makes no number of
 * finite ones, what was known of forces is forgotten, too: when that happens again with the
 * next step, it is these parameters. Cost: six evaluations of the model. */
bool follower_step(struct follower *f, const struct follower_params *p,
                   const struct follower_target *target, const double *nu, const double *pose,
                   struct follower_output *out);

/* Parameters, gains or the reference are about to change: the effort shall go on from where it
 * is and fade over to the new law. */
void follower_smooth(struct follower *f);

#endif
