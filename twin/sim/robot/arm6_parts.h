/* twin/sim/robot/arm6_parts.h - what the sources of the arm share; nobody else includes it. */
#ifndef TWIN_SIM_ROBOT_ARM6_PARTS_H
#define TWIN_SIM_ROBOT_ARM6_PARTS_H

#include "twin/arm/arm_jog.h"
#include "twin/sim/robot/arm6.h"

enum { ARM6_QUEUE_MAX = 16, ARM6_ANSWERS_MAX = 40 };

enum arm6_parameter {
#define PARAMETER(value, ...) ARM6_##value,
#include "twin/sim/robot/arm6_params.def"
#undef PARAMETER
    ARM6_PARAMETER_COUNT
};

enum arm6_op {
    ARM6_MOVEJ,
    ARM6_MOVEL,
    ARM6_MOVEC,
    ARM6_SPEEDJ,
    ARM6_SPEEDL,
    ARM6_STOPJ,
    ARM6_HALT,
    ARM6_MODE,
    ARM6_OP_COUNT
};

/* What makes the set points. */
enum arm6_drive { ARM6_HOLD, ARM6_MOVE, ARM6_JOG, ARM6_BRAKE, ARM6_STREAM, ARM6_EFFORT };

struct arm6_task {
    char id[EVENT_ID_MAX];
    enum arm6_op op;
    struct event_arm request;
    double delay_s; /* before it moves */
};

/* What became of the last command that moves, or would have moved, the arm. */
struct arm6_last {
    char id[EVENT_ID_MAX];
    enum arm6_op op;
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

    enum arm6_drive drive;
    struct arm6_task
        queue[ARM6_QUEUE_MAX + 1]; /* [0] is in work when `working`; room for a stop */
    size_t count;
    bool working;
    int64_t start_us, run_us; /* of the task in work: begun, moving from */
    struct arm_move move;
    bool alone;           /* its joints go to their targets each on its own */
    double path_error_m;  /* largest so far */
    double brake_radps2;  /* of ARM6_BRAKE */
    struct arm_fault jam; /* why a jog was ended before its time */

    double stream_q[ARM_JOINTS], stream_qd[ARM_JOINTS];
    int64_t stream_us, refreshed_us; /* when the last set point, sign of life came */
    double effort[ARM_JOINTS];
    int64_t effort_us;
    double noise_q[ARM_JOINTS], noise_qd[ARM_JOINTS], noise_a[ARM_JOINTS];

    uint32_t commands;
    struct arm6_last last;
    size_t answer_count;
    struct robot_reply answers[ARM6_ANSWERS_MAX]; /* told at the end of the step */
};

double arm6_period_s(const struct arm6 *a);

/* --- arm6_tasks.c ------------------------------------------------------------------------ */

/* robot_kind.command */
bool arm6_queue_command(void *memory, const struct event_command *command);

/* What is asked for at the head of the queue is begun, as far as nothing is in work: refused
 * commands are answered and gone. */
void arm6_begin_next(struct arm6 *a, int64_t start_us);

/* The task in work is over at end_us: answered with status, and gone. detail may be "". */
void arm6_end_task(struct arm6 *a, enum reply_status status, int64_t end_us,
                   const char *detail);

/* The one in work ends here and now. */
void arm6_halt_task(struct arm6 *a, const char *detail);

/* The task in work, a jog, could not go on. */
void arm6_end_jam(struct arm6 *a);

/* Set points from where the joints are, as fast as they are; from where they would coast to, at
 * rest. */
void arm6_sync_jog(struct arm6 *a);
void arm6_hold_here(struct arm6 *a);

struct arm_bounds arm6_bounds(const struct arm6 *a);

#endif
