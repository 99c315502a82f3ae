/* twin/sim/robot/diffdrive_main.h - L0Main: the machine that obeys commands and drives the
 * motors.
 *
 *     LISTEN --go--> START --> TURN --> PAUSE --> GO --arrived--> LISTEN
 *                                                 GO <--> BLOCKED --too long--> LISTEN
 *     LISTEN --lidar--> LIDAR --> ECHO --> RAY --> RESUME --resume--> ECHO ... DONE --> LISTEN
 *     any but LISTEN --halt--> LISTEN
 *
 * Each command gets one reply: what a command that was taken came to (`answer`), or why one was
 * not (`notice`). docs/model/diffdrive.md. Pure.
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
    X(L0MAIN_ANGLE, "A") /* yaw against the way from start to goal, rad */                     \
    X(L0MAIN_X, "X")     /* of the robot, the goal at 0, m */                                  \
    X(L0MAIN_Y, "Y")                                                                           \
    X(L0MAIN_ERROR, "eA")   /* heading error of the step before, rad */                        \
    X(L0MAIN_INTEGRAL, "I") /* of the heading error, rad s */                                  \
    X(L0MAIN_LEFT, "L")     /* control of the left motor */                                    \
    X(L0MAIN_RIGHT, "R")                                                                       \
    X(L0MAIN_UNTIL, "until")   /* a wait ends, or patience does, us */                         \
    X(L0MAIN_INDEX, "J")       /* ray of a sweep; of a move: 1 when it turns first */          \
    X(L0MAIN_TARGET, "P")      /* of the lidar, rad */                                         \
    X(L0MAIN_ANSWER, "answer") /* enum l0main_answer, for one cycle */                         \
    X(L0MAIN_NOTICE, "notice") /* enum l0main_notice, for one cycle */

enum { L0MAIN_CELLS(NAMES_VALUE) L0MAIN_CELL_COUNT };

/* The paper's operation codes; the last two are answered and do nothing. */
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

/* What the command in work came to. */
enum l0main_answer {
    L0MAIN_ANSWER_NONE,
    L0MAIN_ANSWER_DONE,
    L0MAIN_ANSWER_DATA,
    L0MAIN_ANSWER_BLOCKED,
    L0MAIN_ANSWER_HALTED,
    L0MAIN_ANSWER_LATE /* patience ran out */
};

/* What became of the command that just came. */
enum l0main_notice {
    L0MAIN_NOTICE_NONE,
    L0MAIN_NOTICE_ACCEPTED, /* it is in work now */
    L0MAIN_NOTICE_OBEYED,   /* a halt that halted something */
    L0MAIN_NOTICE_UNFIT,    /* it does not fit the state */
    L0MAIN_NOTICE_WRONG     /* no state knows it */
};

struct l0main_in {
    const struct diffdrive_params *params;
    unsigned op;      /* enum l0main_op; an event: in cycle 0 only */
    double angle_rad; /* of a go: clockwise, as the paper has it */
    double distance_m;
    struct diffdrive_motion moved; /* since the last period: in cycle 0 only */
    double period_s;
    bool update;       /* of the lidar */
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
 *     ROTATE --the servo had its time--> PING --on target--> ECHO --reading, or none in time-->
 * PING
 *        ^----------another target---------'
 *
 * It reads all the time, so that there is always a distance ahead. Who needs a reading of a
 * certain angle raises `request` with the target; `update` answers with the first reading that
 * began after that, at that angle, and lasts for one cycle. docs/model/diffdrive.md.
 */
#define L0LIDAR_STATES(X)                                                                      \
    X(L0LIDAR_ROTATE, "ROTATE") X(L0LIDAR_PING, "PING") X(L0LIDAR_ECHO, "ECHO")

enum { L0LIDAR_STATES(NAMES_VALUE) L0LIDAR_STATE_COUNT };

#define L0LIDAR_CELLS(X)                                                                       \
    X(L0LIDAR_YAW, "yaw")         /* where the servo points or will point, rad */              \
    X(L0LIDAR_UNTIL, "until")     /* when it does, or when a reading is given up, us */        \
    X(L0LIDAR_Q, "Q")             /* the last reading, m */                                    \
    X(L0LIDAR_Q_YAW, "Q_yaw")     /* its angle, rad */                                         \
    X(L0LIDAR_PENDING, "pending") /* the reading in work was requested: 0 or 1 */              \
    X(L0LIDAR_UPDATE, "update")   /* the last reading was: for one cycle */

enum { L0LIDAR_CELLS(NAMES_VALUE) L0LIDAR_CELL_COUNT };

struct l0lidar_in {
    double target_rad;
    bool request;
    bool echo; /* a reading is there */
    double echo_m;
    double servo_radps;
    double range_m;      /* what counts as "nothing seen" */
    double echo_wait_us; /* a reading that takes longer never comes */
};

struct l0lidar_out {
    double yaw_rad;
    double distance_m;
    bool update;
    bool ahead; /* the distance was read straight ahead, and the lidar still looks there */
    bool ping;  /* a reading is in work */
};

extern const struct efsm_table l0lidar_table;

/* To the beginning: the servo is sent ahead from wherever it stands. */
void l0lidar_reset(struct efsm *m, int64_t t_us, double servo_radps, double range_m);

#endif
