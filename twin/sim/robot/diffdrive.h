/* twin/sim/robot/diffdrive.h - the small lab robot with two driven wheels and a lidar: machines
 * L0Main and L0Lidar with their body. As a robot kind: diffdrive_kind in
 * twin/sim/robot/robot_kinds.h.
 *
 * This header serves tests that look inside. Plain data: world and machine are borrowed, and
 * main_in.params is set before each use, so a robot may be copied between two steps. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_H

#include "twin/sim/robot/diffdrive_main.h"
#include "twin/sim/robot/diffdrive_plant.h"
#include "twin/sim/robot/diffdrive_user.h"

enum { DIFFDRIVE_QUEUE_MAX = 16, DIFFDRIVE_ARCS_MAX = 64 };

enum { DIFFDRIVE_MAIN, DIFFDRIVE_LIDAR, DIFFDRIVE_MACHINES };

struct diffdrive_command {
    char id[EVENT_ID_MAX];
    char word[EVENT_OP_MAX];
    enum l0main_op op;
    double rotation_rad, displacement_m;
};

struct diffdrive {
    struct diffdrive_params params;
    const struct world *world;
    int64_t now_us, period_us;
    struct diffdrive_plant plant;

    struct efsm machine[DIFFDRIVE_MACHINES];
    struct efsm_stats stats[DIFFDRIVE_MACHINES];
    struct l0main_in main_in;
    struct l0main_out main_out;
    struct l0lidar_in lidar_in;
    struct l0lidar_out lidar_out;
    struct diffdrive_user user;                            /* a user's machine in place of L0Main */
    uint32_t arcs[DIFFDRIVE_MACHINES][DIFFDRIVE_ARCS_MAX]; /* how often each arc was taken */
    uint32_t faults; /* count of machines that stopped in a sink and were reset */

    struct diffdrive_command queue[DIFFDRIVE_QUEUE_MAX];
    size_t queue_count;
    struct diffdrive_command incoming; /* seen by the machines in this period … */
    bool is_unanswered;                /* … and not yet accepted or answered */
    struct diffdrive_command working;  /* the running one … */
    bool is_working;
    int64_t working_since_us;
    bool has_arrived;        /* the last one ended normally */
    double effort[2];        /* directly commanded velocities, ahead and turn … */
    int64_t effort_until_us; /* … valid until this time */
    double control[DIFFDRIVE_WHEELS]; /* controls of the last period */

    double odometry[3]; /* x_m, y_m, psi_rad since the start, by the robot's odometry */
    struct diffdrive_motion moved; /* in the last period */
    bool pinging;                  /* a lidar reading is running … */
    int64_t ping_due_us;           /* … and ends at this time; LAB_TIME_MAX: it is lost */
};

#endif
