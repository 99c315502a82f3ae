/* twin/sim/robot/arm6.h - what a simulated arm shows beside telemetry, and what drives it
 * beside commands: for servers that speak as a real controller does, Modbus and RTDE.
 *
 * The paper's five vectors (seed 003, figure 14): Q_R where the joints are asked to come to
 * rest, Q_SP the set points on the way there, Q_M what their controllers tell the drives, Q_VP
 * where the drives have brought the joints, Q_COM what the robot is told to be: what another
 * controller streams, else Q_VP, or Q_SP with ideal dynamics.  docs/model/arm.md
 */
#ifndef TWIN_SIM_ROBOT_ARM6_H
#define TWIN_SIM_ROBOT_ARM6_H

#include "base/text/names.h"
#include "twin/arm/arm_move.h"
#include "twin/sim/robot/robot.h"

/* Of the last command that moves, or would have moved, the arm. */
#define ARM6_STATES(X)                                                                         \
    X(ARM6_IDLE, "idle") /* there was none yet */                                              \
    X(ARM6_MOVING, "moving")                                                                   \
    X(ARM6_DONE, "done")                                                                       \
    X(ARM6_REFUSED, "refused")                                                                 \
    X(ARM6_STOPPED, "stopped")

enum arm6_phase { ARM6_STATES(NAMES_VALUE) ARM6_PHASE_COUNT };

/* Why it was refused or stopped: the values below ARM_REFUSAL_COUNT are those of enum
 * arm_refusal, and the numbers are those of Modbus register 146. */
enum arm6_reason {
    ARM6_NO_REASON = ARM_ACCEPTED,
    ARM6_BUSY = ARM_REFUSAL_COUNT, /* 7: too many wait, or another controller drives */
    ARM6_HALTED,                   /* 8 */
    ARM6_REASON_COUNT
};

extern const struct names arm6_op_names; /* "movej" ... */
extern const struct names arm6_phase_names;
const char *arm6_phase_name(enum arm6_phase phase); /* "idle", "moving" ... */
extern const struct names arm6_reason_names;
const char *arm6_reason_name(enum arm6_reason reason); /* "", "bad_value" ... */

/* All of one instant: the end of the last period. */
struct arm6_state {
    int64_t t_us;                      /* robot time */
    struct arm_geometry arm;           /* as it is, tool and corrections in it */
    double q_rad[ARM_JOINTS];          /* Q_VP: the joints, without noise of measurement */
    double qd_radps[ARM_JOINTS];       /* and their speeds */
    double current_a[ARM_JOINTS];      /* of their motors, by the friction model */
    double q_r_rad[ARM_JOINTS];        /* Q_R */
    double q_sp_rad[ARM_JOINTS];       /* Q_SP */
    double qd_sp_radps[ARM_JOINTS];    /* and their speeds */
    double qdd_sp_radps2[ARM_JOINTS];  /* and accelerations, by plan or difference */
    double u_radps[ARM_JOINTS];        /* Q_M */
    double q_com_rad[ARM_JOINTS];      /* Q_COM */
    double tcp[6], tcp_speed[6];       /* x y z m, rotation vector rad; m/s, rad/s */
    double tcp_sp[6], tcp_sp_speed[6]; /* of the set points */

    bool cartesian;       /* mode: set points are poses of the tool */
    bool ideal;           /* dynamics: joints are where they are told to be */
    bool external;        /* another controller streams set points */
    bool stream_alive;    /* and has done so within the last half second */
    bool protective_stop; /* stopped by itself, before a limit or a collision, until the next
                             command that is taken */

    uint32_t commands; /* that have begun or were refused, of those that move */
    char id[EVENT_ID_MAX], op[EVENT_OP_MAX]; /* of the last of them */
    enum arm6_phase phase;
    enum arm6_reason reason;
    double at;       /* share of the path where it was refused; NAN: no place's */
    double progress; /* 0 .. 1 */
    double lap_s;    /* from its beginning to its end, or to now */
    double stretch;  /* so many times slower than asked, for a joint's sake */
    size_t waiting;  /* commands in the queue behind it */
};

/* memory is that of a robot of arm6_kind. */
void arm6_read(const void *memory, struct arm6_state *out);

/* Set points of another controller, joint angles or in the Cartesian mode a pose [6], for the
 * next periods until others come. Only in the mode `external`, else STATUS_E_STALE;
 * STATUS_E_RANGE for what is no number, out of reach or too near something: nothing is taken
 * then. Without any, or arm6_refresh_stream(), for half a second the arm brakes, until the
 * next.
 */
MUST_USE enum status arm6_stream(void *memory, const double set_point[ARM_JOINTS]);
void arm6_refresh_stream(void *memory);

#endif
