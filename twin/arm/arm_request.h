/* twin/arm/arm_request.h - what a command asks of an arm: which operation, planned from where
 * the arm is, or why it is refused. Pure.
 *
 * Simulated arms and the bridge to a real one refuse the same commands in the same words
 * (docs/model/arm.md).
 */
#ifndef TWIN_ARM_ARM_REQUEST_H
#define TWIN_ARM_ARM_REQUEST_H

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/arm/arm_move.h"

enum arm_op {
    ARM_MOVEJ,
    ARM_MOVEL,
    ARM_MOVEC,
    ARM_SPEEDJ,
    ARM_SPEEDL,
    ARM_STOPJ,
    ARM_HALT,
    ARM_MODE,
    ARM_OUTPUT,
    ARM_OP_COUNT
};
extern const struct names arm_op_names; /* "movej" ... */

/* Seconds a jog may last: it is a dead man's switch. */
#define ARM_JOG_MAX_S 5.0

enum { ARM_DETAIL_MAX = 128, ARM_OUTPUTS = 8 /* digital ones, as of a UR controller */ };

bool arm_op_moves(enum arm_op op); /* a path or a jog */
bool arm_op_jogs(enum arm_op op);

/* The request's number if it was given, else `otherwise`. */
double arm_request_number(const struct event_arm *request, enum event_arm_member member,
                          double number, double otherwise);

/* The rates of a path: as requested, UR's defaults for those that were not. */
struct arm_rates arm_request_rates(const struct event_arm *request);

/* Plans movej, movel or movec from joint angles from_q at rest. *bad: what the request lacks,
 * static; NULL: nothing. */
struct arm_fault
arm_request_plan(const struct arm_geometry *arm, const double from_q[ARM_JOINTS],
                 enum arm_op op, const struct event_arm *request, const struct arm_rates *rates,
                 const struct arm_bounds *bounds, struct arm_move *out, const char **bad);

/* Deceleration of stopj and halt, rad/s^2: as requested if usable, else 2. A stop is never
 * refused because of it. */
double arm_request_brake_radps2(const struct event_arm *request);

/* A jog's speeds, [ARM_JOINTS] of the request, and its accelerations. */
struct arm_jog_request {
    const double *speeds; /* rad/s of the joints; of the tool m/s, then rad/s */
    double a_radps2, a_mps2;
};

/* Reads speedj or speedl. Returns what it lacks, static; NULL: nothing. */
const char *arm_request_jog(enum arm_op op, const struct event_arm *request,
                            struct arm_jog_request *out);

/* Returns what an output lacks, static; NULL: nothing. */
const char *arm_request_output(const struct event_arm *request);

/* Formats the fault: the reason's word, the place, and a sentence; bad: as above. */
void arm_fault_text(const struct arm_fault *fault, const char *bad,
                    char detail[ARM_DETAIL_MAX]);

#endif
