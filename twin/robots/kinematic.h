/* twin/robots/kinematic.h - a plain differential-drive robot: turns, then drives, at constant
 * speeds.
 *
 * A move takes t0 + [rotation != 0] (ta + |rotation| / w) + [displacement != 0] (tr +
 * |displacement| / v), plus what the caller adds as noise: the model that the travel-time
 * calibration fits (docs/model/travel_time.md). Commands wait in a bounded queue and are done
 * one after the other. `halt` ends the one in work and those that wait. Pure: no I/O, no clock,
 * no randomness; times are those of the caller.
 */
#ifndef TWIN_ROBOTS_KINEMATIC_H
#define TWIN_ROBOTS_KINEMATIC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "twin/robots/robot.h"

enum { KINEMATIC_QUEUE_MAX = 16, KINEMATIC_AXES = 3 };

/* All fields are doubles, in the order of the kind's parameters. */
struct kinematic_params {
    double angular_speed_radps; /* > 0 */
    double linear_speed_mps;    /* > 0 */
    double t0_s;                /* >= 0, of every command */
    double ta_s;                /* >= 0, before a rotation */
    double tr_s;                /* >= 0, before a displacement */
    double noise_s;             /* >= 0, standard deviation of a lap: what the kind draws */
};

struct kinematic_task {
    char id[EVENT_ID_MAX];
    char op[EVENT_OP_MAX];
    double rotation_rad;
    double displacement_m;
    double noise_s;           /* added to t0; the sum is cut at 0 */
    bool halted;              /* a halt came while it waited */
    enum reply_status status; /* how it will end */
};

struct kinematic { /* all zero but params: at rest at the origin */
    struct kinematic_params params;
    struct kinematic_task queue[KINEMATIC_QUEUE_MAX]; /* [0] is in work when busy */
    size_t count;
    bool busy;
    int64_t start_us, turn_us, drive_us, end_us; /* of the task in work */
    double x_m, y_m, psi_rad;                    /* where the task in work began */
    uint64_t refused;                            /* commands that found the queue full */
};

/* Queue one command. Returns false when the queue is full (counted). */
bool kinematic_command(struct kinematic *k, int64_t now_us, const struct event_command *command,
                       double noise_s);

/* Work up to now_us. Returns true with the next command that is done; call again until false.
 */
bool kinematic_step(struct kinematic *k, int64_t now_us, struct robot_reply *done);

/* Velocity (u, v, r) and pose (x, y, psi) at now_us, within the task in work. */
void kinematic_sample(const struct kinematic *k, int64_t now_us, double nu[KINEMATIC_AXES],
                      double pose[KINEMATIC_AXES]);

#endif
