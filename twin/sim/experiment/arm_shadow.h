/* twin/sim/experiment/arm_shadow.h - what a virtual arm shows of a real one that it hears late,
 * held against a recording of the real one. docs/model/following.md. Pure: no I/O,
 * no clock; memory belongs to the caller.
 */
#ifndef TWIN_SIM_EXPERIMENT_ARM_SHADOW_H
#define TWIN_SIM_EXPERIMENT_ARM_SHADOW_H

#include <stdint.h>

#include "base/text/names.h"
#include "twin/arm/arm_move.h"
#include "twin/following/shadow.h"

/* One row of a recording; times rise. */
struct arm_row {
    int64_t t_us;
    double q_target_rad[ARM_JOINTS], q_rad[ARM_JOINTS];
    double qd_target_radps[ARM_JOINTS], qd_radps[ARM_JOINTS];
};

/* What is shown between samples that are late. */
enum arm_shown {
    ARM_SHOWN_HOLD,  /* the last sample */
    ARM_SHOWN_SPEED, /* it, carried on at its measured speeds (SHADOW_RAW) */
    ARM_SHOWN_RAMP,  /* carried on at the set points' speeds, as these change (SHADOW_RAMP) */
    ARM_SHOWN_COMMANDED, /* the same where the arm tells how fast they change (tau_dot) */
    ARM_SHOWN_COUNT
};

struct arm_telemetry {
    double rate_hz;    /* > 0 */
    double late_s;     /* >= 0 */
    double loss_ratio; /* 0 .. 1, of samples that never come */
    uint64_t seed;     /* of these */
};

/* Errors while the arm moves (a set point faster than 0.01 rad/s). */
struct arm_errors {
    uint64_t n;                         /* rows */
    double joint_square, joint_max_rad; /* of all joints' */
    double tool_square, tool_max_m;     /* of the distance of the tools */
};

/* NaN when there was no row. */
double arm_errors_joint_rms_rad(const struct arm_errors *e);
double arm_errors_tool_rms_m(const struct arm_errors *e);

/* What was shown at a row, and how far the tools were apart then. */
typedef void arm_shadow_point(void *context, const struct arm_row *row,
                              const double shown_rad[ARM_JOINTS], double tool_gap_m);

/* theta: of model arm6, what is known of the real arm. point may be NULL. */
void arm_shadow_run(const struct arm_geometry *arm, const double *theta,
                    const struct arm_row *rows, size_t n, const struct arm_telemetry *telemetry,
                    enum arm_shown shown, arm_shadow_point *point, void *context,
                    struct arm_errors *out);

/* How many moves there are, and of how many the command is not what the set points did: another
 * one came before their end, or they were not of these rates. */
struct arm_commands {
    uint64_t moves, others;
};

/* The virtual arm does the same moves by their commands, begun off_s too early, without any
 * telemetry: from where set points rest to where they rest again, at these rates. Moves that do
 * not take as long as commanded count as `others`, and not among the errors. */
void arm_commands_run(const struct arm_geometry *arm, const struct arm_rates *rates,
                      const struct arm_row *rows, size_t n, double off_s,
                      struct arm_commands *commands, struct arm_errors *out);

/* A recording of a simulated arm: joints that follow the set points of the moves to[count],
 * from the first one on, by model arm6 with theta, each rest_s apart, a row every period_s. Of
 * rows[room] returns how many were filled; 0 when a move is refused: *refused is it then. */
size_t arm_record_moves(const struct arm_geometry *arm, const double *theta,
                        const struct arm_rates *rates, const double (*to)[ARM_JOINTS],
                        size_t count, double rest_s, double period_s, struct arm_row *rows,
                        size_t room, size_t *refused);

extern const struct names arm_shown_names;
const char *arm_shown_name(enum arm_shown shown); /* "hold", "speed" … */

#endif
