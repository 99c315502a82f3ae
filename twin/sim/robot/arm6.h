/* twin/sim/robot/arm6.h - inner state and set-point streaming of a simulated arm, for servers
 * that imitate a real controller: Modbus and RTDE.
 *
 * The paper's five vectors (seed 003, figure 14): Q_R the final joint angles, Q_SP the set
 * points on the way there, Q_M the commands of the joint controllers to the drives, Q_VP the
 * actual joint angles, Q_COM the commanded angles: another controller's stream, else Q_VP, or
 * Q_SP with ideal dynamics.  docs/model/arm.md
 */
#ifndef TWIN_SIM_ROBOT_ARM6_H
#define TWIN_SIM_ROBOT_ARM6_H

#include "base/text/names.h"
#include "twin/arm/arm_move.h"
#include "twin/sim/robot/robot.h"

/* Phase of the last command that moved the arm, or would have. */
#define ARM6_STATES(X)                                                                         \
    X(ARM6_IDLE, "idle") /* no such command yet */                                             \
    X(ARM6_MOVING, "moving")                                                                   \
    X(ARM6_DONE, "done")                                                                       \
    X(ARM6_REFUSED, "refused")                                                                 \
    X(ARM6_STOPPED, "stopped")

enum arm6_phase { ARM6_STATES(NAMES_VALUE) ARM6_PHASE_COUNT };

/* Reason of a refusal or stop. Values below ARM_REFUSAL_COUNT are those of enum arm_refusal;
 * the numbers are those of Modbus register 146. */
enum arm6_reason {
    ARM6_NO_REASON = ARM_ACCEPTED,
    ARM6_BUSY = ARM_REFUSAL_COUNT, /* 7: the queue is full, or another controller drives */
    ARM6_HALTED,                   /* 8 */
    ARM6_REASON_COUNT
};

ENUM_NAMES_DECLARED(arm6_phase);         /* "idle", "moving" ... */
ENUM_NAMES_DECLARED(arm6_reason);        /* "", "bad_value" ... */

/* State at one instant, the end of the last period. */
struct arm6_state {
    int64_t t_us;                      /* robot time */
    struct arm_geometry arm;           /* actual geometry, with tool and corrections */
    double q_rad[ARM_JOINTS];          /* Q_VP: joint angles without measurement noise */
    double qd_radps[ARM_JOINTS];       /* their speeds */
    double current_a[ARM_JOINTS];      /* motor currents by the friction model */
    double q_r_rad[ARM_JOINTS];        /* Q_R */
    double q_sp_rad[ARM_JOINTS];       /* Q_SP */
    double qd_sp_radps[ARM_JOINTS];    /* their speeds */
    double qdd_sp_radps2[ARM_JOINTS];  /* their accelerations, from the plan or by difference */
    double u_radps[ARM_JOINTS];        /* Q_M */
    double q_com_rad[ARM_JOINTS];      /* Q_COM */
    double tcp[6], tcp_speed[6];       /* x y z m, rotation vector rad; m/s, rad/s */
    double tcp_sp[6], tcp_sp_speed[6]; /* of the set points */

    bool cartesian;       /* mode: set points are poses of the tool */
    bool ideal;           /* dynamics: joints are exactly at their set points */
    bool external;        /* another controller streams set points */
    bool stream_alive;    /* its last set point is less than half a second old */
    bool protective_stop; /* stopped by itself, before a limit or a collision, until the next
                             accepted command */

    uint8_t outputs; /* bit k: digital output k is on */

    uint32_t commands;                       /* number of motion commands begun or refused */
    char id[EVENT_ID_MAX], op[EVENT_OP_MAX]; /* of the last of them */
    enum arm6_phase phase;
    enum arm6_reason reason;
    double at;       /* share of the path where it was refused; NAN: not at a place */
    double progress; /* 0 .. 1 */
    double lap_s;    /* from its begin to its end, or to now */
    double stretch;  /* factor by which it is slower than commanded, for a joint's sake */
    size_t waiting;  /* commands in the queue behind it */
};

/* Reads the state; memory is that of a robot of arm6_kind. */
void arm6_read(const void *memory, struct arm6_state *out);

/* Accepts set points of another controller, joint angles or in the Cartesian mode a pose [6],
 * valid for the next periods until others come. Only in the mode `external`, else
 * STATUS_E_STALE; STATUS_E_RANGE if not finite, out of reach or too close to something: nothing
 * is changed then. After half a second without set points or arm6_refresh_stream() the arm
 * brakes until the next one. */
MUST_USE enum status arm6_stream(void *memory, const double set_point[ARM_JOINTS]);
void arm6_refresh_stream(void *memory);

#endif
