/* twin/sim/experiment/arm_shadow.h - compares a virtual arm that receives late telemetry with a
 * recording of the real arm.
 *
 * docs/model/following.md. Pure: no I/O, no clock; memory belongs to the caller.
 */
#ifndef TWIN_SIM_EXPERIMENT_ARM_SHADOW_H
#define TWIN_SIM_EXPERIMENT_ARM_SHADOW_H

#include <stdint.h>

#include "base/text/names.h"
#include "twin/arm/arm_move.h"
#include "twin/following/shadow.h"

/* One row of a recording, with rising times. */
struct arm_row {
    int64_t t_us;
    double q_target_rad[ARM_JOINTS], q_rad[ARM_JOINTS];
    double qd_target_radps[ARM_JOINTS], qd_radps[ARM_JOINTS];
};

/* Displayed motion between late samples. */
enum arm_shown {
    ARM_SHOWN_HOLD,  /* the last sample */
    ARM_SHOWN_SPEED, /* the last sample extrapolated at its measured speeds (SHADOW_RAW) */
    ARM_SHOWN_RAMP, /* extrapolated at the set points' speeds and their changes (SHADOW_RAMP) */
    ARM_SHOWN_COMMANDED, /* the same with the arm's reported rates of change (tau_dot) */
    ARM_SHOWN_COUNT
};

struct arm_telemetry {
    double rate_hz;    /* > 0, <= 1e6 */
    double late_s;     /* >= 0 */
    double loss_ratio; /* 0 .. 1, share of lost samples */
    uint64_t seed;     /* for the losses */
};

/* Errors while the arm moves (a set point faster than 0.01 rad/s). */
struct arm_errors {
    uint64_t n;                         /* rows */
    double joint_square, joint_max_rad; /* over all joints */
    double tool_square, tool_max_m;     /* distance of the tools */
};

/* NaN without rows. */
double arm_errors_joint_rms_rad(const struct arm_errors *e);
double arm_errors_tool_rms_m(const struct arm_errors *e);

/* Called per row with the displayed angles and the distance of the tools. */
typedef void arm_shadow_point(void *context, const struct arm_row *row,
                              const double shown_rad[ARM_JOINTS], double tool_gap_m);

/* Runs it. theta: estimated parameters of the real arm, model arm6. point may be NULL. */
void arm_shadow_run(const struct arm_geometry *arm, const double *theta,
                    const struct arm_row *rows, size_t n, const struct arm_telemetry *telemetry,
                    enum arm_shown shown, arm_shadow_point *point, void *context,
                    struct arm_errors *out);

/* Numbers of moves, and of those whose command differs from the set points: another one came
 * before their end, or they had other rates. */
struct arm_commands {
    uint64_t moves, others;
};

/* The virtual arm repeats the moves by their commands alone, begun off_s too early: from rest
 * to rest of the set points, at these rates. Moves with another duration than commanded count
 * as `others`, and not among the errors. */
void arm_commands_run(const struct arm_geometry *arm, const struct arm_rates *rates,
                      const struct arm_row *rows, size_t n, double off_s,
                      struct arm_commands *commands, struct arm_errors *out);

/* Records a simulated arm: its joints follow the set points of moves through to[count], from
 * the first one on, by model arm6 with theta, with rest_s between moves, one row per period_s.
 * Returns the filled rows of rows[room]; 0 if a move is refused; *refused is its index. */
size_t arm_record_moves(const struct arm_geometry *arm, const double *theta,
                        const struct arm_rates *rates, const double (*to)[ARM_JOINTS],
                        size_t count, double rest_s, double period_s, struct arm_row *rows,
                        size_t room, size_t *refused);

ENUM_NAMES_DECLARED(arm_shown); /* "hold", "speed" … */

#endif
