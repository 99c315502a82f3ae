/* twin/sim/robot/diffdrive_user.h - a machine that somebody wrote, at work in place of L0Main.
 *
 * It reads and tells what the rows of diffdrive_ports say: commands as events, in the first
 * cycle of a period; odometry; the lidar. A command is taken when the arc that fires because of
 * it would not fire without it. docs/model/machines.md, section 6. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_USER_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_USER_H

#include "twin/machine/machine_run.h"
#include "twin/sim/robot/diffdrive_main.h"
#include "twin/sim/robot/robot.h"

/* What it is told and tells, in the order of diffdrive_ports. */
enum diffdrive_port {
    DIFFDRIVE_PORT_GO,
    DIFFDRIVE_PORT_LIDAR,
    DIFFDRIVE_PORT_RESUME,
    DIFFDRIVE_PORT_HALT,
    DIFFDRIVE_PORT_ANGLE,
    DIFFDRIVE_PORT_DISTANCE,
    DIFFDRIVE_PORT_PERIOD,
    DIFFDRIVE_PORT_OBSTACLE,
    DIFFDRIVE_PORT_U,
    DIFFDRIVE_PORT_AHEAD,
    DIFFDRIVE_PORT_X,
    DIFFDRIVE_PORT_Y,
    DIFFDRIVE_PORT_THETA,
    DIFFDRIVE_PORT_DX,
    DIFFDRIVE_PORT_DTHETA,
    DIFFDRIVE_PORT_LEFT,
    DIFFDRIVE_PORT_RIGHT,
    DIFFDRIVE_PORT_TARGET,
    DIFFDRIVE_PORT_REQUEST,
    DIFFDRIVE_PORT_DONE,
    DIFFDRIVE_PORT_DATA,
    DIFFDRIVE_PORT_BLOCKED,
    DIFFDRIVE_PORT_HALTED,
    DIFFDRIVE_PORT_ERROR,
    DIFFDRIVE_PORT_WARN,
    DIFFDRIVE_PORT_COUNT
};

extern const struct robot_port diffdrive_ports[DIFFDRIVE_PORT_COUNT];

struct diffdrive_user {
    const struct machine *machine;        /* borrowed; NULL: L0Main is at work */
    uint8_t places[DIFFDRIVE_PORT_COUNT]; /* of its inputs or outputs; MACHINE_NONE */
    struct machine_in in;
    struct machine_out out;
    bool has_go; /* of the last go: */
    double angle_rad, distance_m;
    bool answered;     /* in the last period: the next command waits for one more */
    uint8_t quiet_arc; /* what would fire without the command of this period */
};

void diffdrive_user_init(struct diffdrive_user *user, const struct machine *machine);

/* To its initial state; it tells nothing yet. */
void diffdrive_user_reset(struct diffdrive_user *user, struct efsm *m, int64_t t_us);

/* Its inputs: of L0Main's, and where the robot believes to be. m: as it is before the cycle. */
void diffdrive_user_sense(struct diffdrive_user *user, const struct l0main_in *in,
                          const double odometry[3], const struct efsm *m, int64_t t_us);

/* What it tells, in L0Main's words, and what became of the command op. */
struct l0main_out diffdrive_user_outputs(struct diffdrive_user *user, const struct efsm *m,
                                         unsigned op, double control_max);

#endif
