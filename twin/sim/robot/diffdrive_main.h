/* twin/sim/robot/diffdrive_main.h - L0Main: the machine that executes commands and drives the
 * motors.
 *
 *   LISTEN --go--> START --> TURN --> PAUSE --> GO --arrived--> LISTEN
 *                                               GO <--> BLOCKED --too long--> LISTEN
 *   LISTEN --lidar--> LIDAR --> ECHO --> RAY --> RESUME --resume--> ECHO ... DONE --> LISTEN
 *   any but LISTEN --halt--> LISTEN
 *
 * Each command gets one reply: the result of an accepted command (`answer`), or the reason of a
 * refusal (`notice`). docs/model/diffdrive.md. Pure.
 */
#ifndef TWIN_SIM_ROBOT_DIFFDRIVE_MAIN_H
#define TWIN_SIM_ROBOT_DIFFDRIVE_MAIN_H

#include "base/text/names.h"
#include "twin/efsm/efsm.h"
#include "twin/sim/robot/diffdrive_control.h"

#define L0MAIN_STATES(X)                                                                       \
    X(L0MAIN_LISTEN, "LISTEN")                                                                 \
    X(L0MAIN_START, "START")                                                                   \
    X(L0MAIN_TURN, "TURN")                                                                     \
    X(L0MAIN_PAUSE, "PAUSE")                                                                   \
    X(L0MAIN_GO, "GO")                                                                         \
    X(L0MAIN_BLOCKED, "BLOCKED")                                                               \
    X(L0MAIN_LIDAR, "LIDAR")                                                                   \
    X(L0MAIN_ECHO, "ECHO")                                                                     \
    X(L0MAIN_RAY, "RAY")                                                                       \
    X(L0MAIN_RESUME, "RESUME")                                                                 \
    X(L0MAIN_DONE, "DONE")

enum { L0MAIN_STATES(NAMES_VALUE) L0MAIN_STATE_COUNT };

#define L0MAIN_CELLS(X)                                                                        \
    X(L0MAIN_ANGLE, "A") /* yaw relative to the direction from start to goal, rad */           \
    X(L0MAIN_X, "X")     /* of the robot, with the goal at 0, m */                             \
    X(L0MAIN_Y, "Y")                                                                           \
    X(L0MAIN_ERROR, "eA")   /* heading error of the previous step, rad */                      \
    X(L0MAIN_INTEGRAL, "I") /* integral of the heading error, rad s */                         \
    X(L0MAIN_LEFT, "L")     /* control of the left motor */                                    \
    X(L0MAIN_RIGHT, "R")                                                                       \
    X(L0MAIN_UNTIL, "until")   /* end of a wait or deadline, us */                             \
    X(L0MAIN_INDEX, "J")       /* ray of a sweep; in a move: 1 if it turns first */            \
    X(L0MAIN_TARGET, "P")      /* of the lidar, rad */                                         \
    X(L0MAIN_ANSWER, "answer") /* enum l0main_answer, for one cycle */                         \
    X(L0MAIN_NOTICE, "notice") /* enum l0main_notice, for one cycle */

enum { L0MAIN_CELLS(NAMES_VALUE) L0MAIN_CELL_COUNT };

/* The paper's operation codes; the last two are answered without effect. */
enum l0main_op {
    L0MAIN_OP_NONE,
    L0MAIN_OP_GO,
    L0MAIN_OP_LIDAR,
    L0MAIN_OP_RESUME,
    L0MAIN_OP_HALT,
    L0MAIN_OP_BAD, /* a go with impossible numbers */
    L0MAIN_OP_UNKNOWN,
    L0MAIN_OP_COUNT
};

/* Results of the running command. */
enum l0main_answer {
    L0MAIN_ANSWER_NONE,
    L0MAIN_ANSWER_DONE,
    L0MAIN_ANSWER_DATA,
    L0MAIN_ANSWER_BLOCKED,
    L0MAIN_ANSWER_HALTED,
    L0MAIN_ANSWER_LATE /* the deadline has passed */
};

/* Outcomes of a new command. */
enum l0main_notice {
    L0MAIN_NOTICE_NONE,
    L0MAIN_NOTICE_ACCEPTED, /* it is running now */
    L0MAIN_NOTICE_OBEYED,   /* a halt that stopped a task */
    L0MAIN_NOTICE_UNFIT,    /* not allowed in this state */
    L0MAIN_NOTICE_WRONG     /* unknown in every state */
};

struct l0main_in {
    const struct diffdrive_params *params;
    unsigned op;      /* enum l0main_op; an event: in cycle 0 only */
    double angle_rad; /* of a go: clockwise, as in the paper */
    double distance_m;
    struct diffdrive_motion moved; /* since the last period: in cycle 0 only */
    double period_s;
    bool update;       /* a lidar reading is available */
    bool ahead;        /* the distance is that ahead */
    double obstacle_m; /* distance */
};

struct l0main_out {
    double left, right;
    double target_rad;
    bool request;
    enum l0main_answer answer;
    enum l0main_notice notice;
};

extern const struct efsm_table l0main_table;

/* --- L0Lidar: the machine that turns the lidar and reads it ----------------------------
 *
 *   ROTATE --the servo had its time--> PING --on target--> ECHO --reading, or none in time-->
 *   PING
 *       ^----------another target---------'
 *
 * It reads continuously, so that a distance ahead is always available. For a reading at a
 * certain angle, raise `request` with the target. `update` reports, for one cycle, the first
 * reading at that angle that began afterwards. docs/model/diffdrive.md. */
#define L0LIDAR_STATES(X)                                                                      \
    X(L0LIDAR_ROTATE, "ROTATE") X(L0LIDAR_PING, "PING") X(L0LIDAR_ECHO, "ECHO")

enum { L0LIDAR_STATES(NAMES_VALUE) L0LIDAR_STATE_COUNT };

#define L0LIDAR_CELLS(X)                                                                       \
    X(L0LIDAR_YAW, "yaw")         /* present or future angle of the servo, rad */              \
    X(L0LIDAR_UNTIL, "until")     /* arrival of the servo, or deadline of a reading, us */     \
    X(L0LIDAR_Q, "Q")             /* the last reading, m */                                    \
    X(L0LIDAR_Q_YAW, "Q_yaw")     /* its angle, rad */                                         \
    X(L0LIDAR_PENDING, "pending") /* the running reading was requested: 0 or 1 */              \
    X(L0LIDAR_UPDATE, "update")   /* the last reading was requested: for one cycle */

enum { L0LIDAR_CELLS(NAMES_VALUE) L0LIDAR_CELL_COUNT };

struct l0lidar_in {
    double target_rad;
    bool request;
    bool echo; /* a reading is complete */
    double echo_m;
    double servo_radps;
    double range_m;      /* distance that means "nothing seen" */
    double echo_wait_us; /* a longer reading is lost */
};

struct l0lidar_out {
    double yaw_rad;
    double distance_m;
    bool update;
    bool ahead; /* the distance was read straight ahead, and the lidar still points there */
    bool ping;  /* a reading is running */
};

extern const struct efsm_table l0lidar_table;

/* Resets it: the servo turns ahead from wherever it is. */
void l0lidar_reset(struct efsm *m, int64_t t_us, double servo_radps, double range_m);

#endif
