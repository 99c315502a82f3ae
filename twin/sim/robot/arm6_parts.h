/* twin/sim/robot/arm6_parts.h - private to the sources of the arm. */
#ifndef TWIN_SIM_ROBOT_ARM6_PARTS_H
#define TWIN_SIM_ROBOT_ARM6_PARTS_H

#include "twin/arm/arm_jog.h"
#include "twin/arm/arm_request.h"
#include "twin/sim/robot/arm6.h"

enum { ARM6_QUEUE_MAX = 16, ARM6_ANSWERS_MAX = 40 };

enum arm6_parameter {
#define PARAMETER(value, ...) ARM6_##value,
#include "twin/sim/robot/arm6_params.def"
#undef PARAMETER
    ARM6_PARAMETER_COUNT
};

/* Source of the set points. */
enum arm6_drive { ARM6_HOLD, ARM6_MOVE, ARM6_JOG, ARM6_BRAKE, ARM6_STREAM, ARM6_EFFORT };

struct arm6_task {
    char id[EVENT_ID_MAX];
    enum arm_op op;
    struct event_arm request;
    double delay_s; /* before it moves */
};

/* Result of the last command that moved the arm, or would have. */
struct arm6_last {
    char id[EVENT_ID_MAX];
    enum arm_op op;
    enum arm6_phase phase;
    enum arm6_reason reason;
    double at, progress, lap_s, stretch;
};

struct arm6 {
    int64_t now_us, period_us;
    double values[ARM6_PARAMETER_COUNT];
    struct random_source random;
    struct arm_geometry arm;
    struct arm_servo_params servo_params;
    struct arm_servo servo;
    struct arm_jog jog; /* jog.now: the set points */
    double qdd_sp[ARM_JOINTS], q_r[ARM_JOINTS];
    bool cartesian, external, protective_stop;
    uint8_t outputs; /* bit k: digital output k is on */

    enum arm6_drive drive;
    struct arm6_task
        queue[ARM6_QUEUE_MAX + 1]; /* [0] is running if `working`; room for a stop */
    size_t count;
    bool working;
    int64_t start_us, run_us; /* of the running task: its begin, and begin of its motion */
    struct arm_move move;
    bool alone;           /* joints move to their targets independently */
    double path_error_m;  /* largest so far */
    double brake_radps2;  /* for ARM6_BRAKE */
    struct arm_fault jam; /* reason why a jog was ended early */

    double stream_q[ARM_JOINTS], stream_qd[ARM_JOINTS];
    int64_t stream_us, refreshed_us; /* last set point, last sign of life */
    double effort[ARM_JOINTS];
    int64_t effort_us;
    double noise_q[ARM_JOINTS], noise_qd[ARM_JOINTS], noise_a[ARM_JOINTS];

    uint32_t commands;
    struct arm6_last last;
    size_t answer_count;
    struct robot_reply answers[ARM6_ANSWERS_MAX]; /* sent at the end of the step */
};

/* --- arm6_tasks.c ------------------------------------------------------------------------ */

/* robot_kind.command */
bool arm6_queue_command(void *memory, const struct event_command *command);

/* Begins the first task of the queue if none is running; refused commands are answered and
 * removed. */
void arm6_begin_next(struct arm6 *a, int64_t start_us);

/* Ends the running task at end_us with this status and answers it. detail may be "". */
void arm6_end_task(struct arm6 *a, enum reply_status status, int64_t end_us,
                   const char *detail);

/* Halts the running task now. */
void arm6_halt_task(struct arm6 *a, const char *detail);

/* Ends the running task, a jog that could not continue. */
void arm6_end_jam(struct arm6 *a);

/* Restarts the set points: from the present angles and speeds, or from where the joints would
 * coast to, at rest. */
void arm6_sync_jog(struct arm6 *a);

struct arm_bounds arm6_bounds(const struct arm6 *a);

#endif
