/* twin/robots/diffdrive_main.h - L0Main: the machine that obeys commands and drives the motors.
 *
 *     LISTEN --go--> START --> TURN --> PAUSE --> GO --arrived--> LISTEN
 *                                                 GO <--> BLOCKED --too long--> LISTEN
 *     LISTEN --lidar--> LIDAR --> ECHO --> RAY --> RESUME --resume--> ECHO ... DONE --> LISTEN
 *     any but LISTEN --halt--> LISTEN
 *
 * Each command gets one reply: what a command that was taken came to (`answer`), or why one was
 * not (`notice`). docs/model/diffdrive.md, part 3. Pure.
 */
#ifndef TWIN_ROBOTS_DIFFDRIVE_MAIN_H
#define TWIN_ROBOTS_DIFFDRIVE_MAIN_H

#include "twin/efsm/efsm.h"
#include "twin/robots/diffdrive_control.h"

enum {
    L0MAIN_LISTEN,
    L0MAIN_START,
    L0MAIN_TURN,
    L0MAIN_PAUSE,
    L0MAIN_GO,
    L0MAIN_BLOCKED,
    L0MAIN_LIDAR,
    L0MAIN_ECHO,
    L0MAIN_RAY,
    L0MAIN_RESUME,
    L0MAIN_DONE,
    L0MAIN_STATE_COUNT
};

enum {
    L0MAIN_ANGLE, /* A: yaw against the way from start to goal, rad */
    L0MAIN_X,     /* of the robot, the goal at 0, m */
    L0MAIN_Y,
    L0MAIN_ERROR,    /* heading error of the step before, rad */
    L0MAIN_INTEGRAL, /* of the heading error, rad s */
    L0MAIN_LEFT,     /* control of the left motor */
    L0MAIN_RIGHT,
    L0MAIN_UNTIL,  /* a wait ends, or patience does, us */
    L0MAIN_INDEX,  /* J: ray of a sweep; of a move: 1 when it turns first */
    L0MAIN_TARGET, /* of the lidar, rad */
    L0MAIN_ANSWER, /* enum l0main_answer, for one cycle */
    L0MAIN_NOTICE, /* enum l0main_notice, for one cycle */
    L0MAIN_CELL_COUNT
};

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
    L0MAIN_NOTICE_TAKEN,  /* it is in work now */
    L0MAIN_NOTICE_OBEYED, /* a halt that halted something */
    L0MAIN_NOTICE_UNFIT,  /* it does not fit the state */
    L0MAIN_NOTICE_WRONG   /* no state knows it */
};

struct l0main_in {
    const struct diffdrive_params *params;
    enum l0main_op op; /* an event: in cycle 0 only */
    double angle_rad;  /* of a go: clockwise, as the paper has it */
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

void l0main_reset(struct efsm *m, int64_t t_us);

/* Angle of a sweep's ray, counter-clockwise: from left to right, evenly over the span. */
double l0main_ray_rad(const struct diffdrive_params *p, unsigned index);

#endif
