/* twin/sim/robot/diffdrive_user.h - runs a user's machine in place of L0Main.
 *
 * Its inputs and outputs are the rows of diffdrive_ports: commands as events in the first cycle
 * of a period; odometry; the lidar. A command counts as accepted if the arc that fires would
 * not fire without it. docs/model/machines.md, section 6. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_USER_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_USER_H

#include "twin/machine/machine_run.h"
#include "twin/sim/robot/diffdrive_main.h"
#include "twin/sim/robot/robot.h"

/* Inputs and outputs, in the order of diffdrive_ports. */
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
    const struct machine *machine;        /* borrowed; NULL: L0Main runs */
    uint8_t places[DIFFDRIVE_PORT_COUNT]; /* index among its inputs or outputs; MACHINE_NONE */
    struct machine_in in;
    struct machine_out out;
    bool has_go; /* of the last go: */
    double angle_rad, distance_m;
    bool answered;     /* in the last period: the next command waits one more period */
    uint8_t quiet_arc; /* arc that would fire without this period's command */
};

void diffdrive_user_init(struct diffdrive_user *user, const struct machine *machine);

/* Resets it to its initial state, without outputs. */
void diffdrive_user_reset(struct diffdrive_user *user, struct efsm *m, int64_t t_us);

/* Sets its inputs: those of L0Main, and the odometry pose. m: before the cycle. */
void diffdrive_user_sense(struct diffdrive_user *user, const struct l0main_in *in,
                          const double odometry[3], const struct efsm *m, int64_t t_us);

/* Returns its outputs in the form of L0Main's, and the outcome of command op. */
struct l0main_out diffdrive_user_outputs(struct diffdrive_user *user, const struct efsm *m,
                                         unsigned op, double control_max);

#endif
