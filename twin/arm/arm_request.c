#include "twin/arm/arm_request.h"

#include <math.h>
#include <stdio.h>

#include "base/text/text.h"

/* Defaults of absent members: UR's own of speedj, speedl and stopj. */
static const double JOG_A_RADPS2 = 1.4, JOG_A_MPS2 = 1.2, STOP_A_RADPS2 = 2.0;
/* Larger speeds or accelerations are surely mistakes. */
static const double JOG_RATE_MAX = 1e3;

NAMES(arm_op_names, ARM_OP_COUNT, "movej", "movel", "movec", "speedj", "speedl", "stopj",
      "halt", "mode", "digital_out");

bool arm_op_moves(enum arm_op op)
{
    return op <= ARM_SPEEDL;
}

bool arm_op_jogs(enum arm_op op)
{
    return op == ARM_SPEEDJ || op == ARM_SPEEDL;
}

static bool is_present(const struct event_arm *request, enum event_arm_member member)
{
    return request->present & 1U << member;
}

double arm_request_number(const struct event_arm *request, enum event_arm_member member,
                          double number, double otherwise)
{
    return is_present(request, member) ? number : otherwise;
}

struct arm_rates arm_request_rates(const struct event_arm *t)
{
    const struct arm_rates usual = arm_rates_default;
    return (struct arm_rates){
        .v_radps = arm_request_number(t, EVENT_ARM_V_RADPS, t->v_radps, usual.v_radps),
        .a_radps2 = arm_request_number(t, EVENT_ARM_A_RADPS2, t->a_radps2, usual.a_radps2),
        .v_mps = arm_request_number(t, EVENT_ARM_V_MPS, t->v_mps, usual.v_mps),
        .a_mps2 = arm_request_number(t, EVENT_ARM_A_MPS2, t->a_mps2, usual.a_mps2),
        .time_s = arm_request_number(t, EVENT_ARM_TIME_S, t->time_s, 0.0)};
}

double arm_request_brake_radps2(const struct event_arm *t)
{
    const double asked = arm_request_number(t, EVENT_ARM_A_RADPS2, t->a_radps2, STOP_A_RADPS2);
    return asked > 0.0 && asked <= JOG_RATE_MAX ? asked : STOP_A_RADPS2;
}

const char *arm_request_jog(enum arm_op op, const struct event_arm *t,
                            struct arm_jog_request *out)
{
    const bool joints = op == ARM_SPEEDJ;
    *out = (struct arm_jog_request){
        joints ? t->qd_radps : t->twist,
        arm_request_number(t, EVENT_ARM_A_RADPS2, t->a_radps2, JOG_A_RADPS2),
        arm_request_number(t, EVENT_ARM_A_MPS2, t->a_mps2, JOG_A_MPS2)};
    bool fine = (joints ? t->qd_count : t->twist_count) == ARM_JOINTS && t->time_s > 0.0 &&
                t->time_s <= ARM_JOG_MAX_S && out->a_radps2 > 0.0 &&
                out->a_radps2 <= JOG_RATE_MAX && out->a_mps2 > 0.0 &&
                out->a_mps2 <= JOG_RATE_MAX;
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        fine = fine && fabs(out->speeds[i]) <= JOG_RATE_MAX;
    }
    return fine     ? NULL
           : joints ? "\"qd_radps\" with 6 numbers, \"time_s\" of 0 to 5 s, "
                      "accelerations of 0 to 1000 were expected"
                    : "\"twist\" with 6 numbers, \"time_s\" of 0 to 5 s, "
                      "accelerations of 0 to 1000 were expected";
}

const char *arm_request_output(const struct event_arm *t)
{
    const bool fine = is_present(t, EVENT_ARM_PIN) && is_present(t, EVENT_ARM_ON) &&
                      t->pin >= 0.0 && t->pin < ARM_OUTPUTS && !(floor(t->pin) < t->pin);
    return fine ? NULL : "\"pin\" 0 to 7 and \"on\" true or false were expected";
}

void arm_fault_text(const struct arm_fault *fault, const char *bad, char detail[ARM_DETAIL_MAX])
{
    static const char *const reaches[ARM_REACH_COUNT] = {
        [ARM_REACHED] = "",
        [ARM_TOO_FAR] = "too far from the base",
        [ARM_TOO_NEAR] = "too near to the shoulder",
        [ARM_TOO_NEAR_BASE_AXIS] = "too near to the base's axis",
        [ARM_JOINT_LIMIT] = "joints would leave their ranges",
        [ARM_SINGULAR] = "at a singular pose"};
    static const char *const sentences[ARM_REFUSAL_COUNT] = {
        [ARM_ACCEPTED] = "",
        [ARM_BAD_VALUE] = "finite numbers and speeds above 0 were expected",
        [ARM_BEYOND_LIMIT] = "a joint would leave its range",
        [ARM_OUT_OF_REACH] = "out of reach",
        [ARM_AT_SINGULARITY] = "a joint would have to jump, or to race",
        [ARM_TOO_FAST] = "a joint would exceed its speed limit",
        [ARM_COLLISION] = ""};
    char place[32] = "";
    char parts[80] = "";
    const char *why = bad ? bad : fault->why ? fault->why : sentences[fault->refusal];
    if (isfinite(fault->at)) {
        (void)snprintf(place, sizeof place, "at %.3f of the path: ", fault->at);
    }
    if (fault->refusal == ARM_OUT_OF_REACH) {
        why = reaches[fault->reach];
    } else if (fault->refusal == ARM_COLLISION) {
        text_append(parts, sizeof parts, "%s too near to %s", fault->part, fault->other);
        if (fault->begins_m > 0.0) {
            text_append(parts, sizeof parts, "; the move begins %.3f m too near",
                        fault->begins_m);
        }
        why = parts;
    }
    (void)snprintf(detail, ARM_DETAIL_MAX, "%s: %s%s", arm_refusal_names[fault->refusal], place,
                   why);
}

/* Describes what a move lacks; NULL: nothing. */
static const char *find_missing(enum arm_op op, const struct event_arm *t)
{
    const bool joints = is_present(t, EVENT_ARM_Q);
    const bool pose = is_present(t, EVENT_ARM_POSE);
    if (op == ARM_MOVEC) {
        return pose && t->pose_count == 6 && (t->via_count == 3 || t->via_count == 6) && !joints
                   ? NULL
                   : "\"via\" with 3 numbers and \"pose\" with 6 were expected";
    }
    if (joints && pose) {
        return "\"q_rad\" or \"pose\" was expected, not both";
    }
    return (joints && t->q_count == ARM_JOINTS) || (pose && t->pose_count == 6)
               ? NULL
               : "\"q_rad\" or \"pose\" with 6 numbers was expected";
}

static struct arm_fault plan_joint_move(const struct arm_geometry *arm,
                                        const double from_q[ARM_JOINTS],
                                        const struct event_arm *t,
                                        const struct arm_rates *rates,
                                        const struct arm_bounds *bounds, struct arm_move *out)
{
    if (is_present(t, EVENT_ARM_Q)) {
        return arm_plan_joints(arm, from_q, t->q_rad, rates, bounds, out);
    }
    const struct rigid to = rigid_from_pose(t->pose);
    struct arm_solution there;
    const enum arm_reach reach = arm_inverse_near(arm, &to, from_q, &there);
    if (reach != ARM_REACHED) {
        return (struct arm_fault){.refusal = reach == ARM_JOINT_LIMIT ? ARM_BEYOND_LIMIT
                                                                      : ARM_OUT_OF_REACH,
                                  .at = 1.0,
                                  .reach = reach};
    }
    return arm_plan_joints(arm, from_q, there.q, rates, bounds, out);
}

struct arm_fault arm_request_plan(const struct arm_geometry *arm,
                                  const double from_q[ARM_JOINTS], enum arm_op op,
                                  const struct event_arm *t, const struct arm_rates *rates,
                                  const struct arm_bounds *bounds, struct arm_move *out,
                                  const char **bad)
{
    const struct arm_fault bad_value = {.refusal = ARM_BAD_VALUE, .at = (double)NAN};
    *bad = find_missing(op, t);
    for (size_t i = 0; i < EVENT_AXES_MAX && !*bad; i++) {
        if (!isfinite(t->q_rad[i]) || !isfinite(t->pose[i]) || !isfinite(t->via[i])) {
            return bad_value;
        }
    }
    if (*bad) {
        return bad_value;
    }
    if (op == ARM_MOVEJ) {
        return plan_joint_move(arm, from_q, t, rates, bounds, out);
    }
    const struct rigid to =
        is_present(t, EVENT_ARM_Q) ? arm_forward(arm, t->q_rad) : rigid_from_pose(t->pose);
    if (op == ARM_MOVEL) {
        return arm_plan_line(arm, from_q, &to, rates, bounds, out);
    }
    const double turns = arm_request_number(t, EVENT_ARM_TURNS, t->turns, 0.0);
    return arm_plan_arc(arm, from_q, t->via, &to, turns, rates, bounds, out);
}
