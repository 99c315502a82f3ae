#include "logger/message/event.h"

#include <string.h>

#include "base/errors/status.h"

/* The largest coordinates in use are those of maps: UTM northings end at 1e7 m (10 000 km).
 * Other numbers are as large as the sizes of moves that fits use (travel_fit.h). */
static const double POSE_MAX = 1e7;
static const double AXIS_MAX = 1e9;

const char *side_name(enum side side)
{
    return side < SIDE_COUNT ? names_text(&side_names, side) : "";
}

const char *event_number_fault(const char *member, double number)
{
    const struct {
        const char *member;
        double min, max;
        const char *expected;
    } rows[] = {
        {"pose", -POSE_MAX, POSE_MAX, "-1e7 to 1e7 m or rad was expected"},
        {"x_m", -POSE_MAX, POSE_MAX, "-1e7 to 1e7 m was expected"},
        {"y_m", -POSE_MAX, POSE_MAX, "-1e7 to 1e7 m was expected"},
        {"psi_rad", -POSE_MAX, POSE_MAX, "-1e7 to 1e7 rad was expected"},
        {"nu", -AXIS_MAX, AXIS_MAX, "-1e9 to 1e9 was expected"},
        {"tau", -AXIS_MAX, AXIS_MAX, "-1e9 to 1e9 was expected"},
        {"tau_dot", -AXIS_MAX, AXIS_MAX, "-1e9 to 1e9 was expected"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        if (strcmp(rows[i].member, member) == 0) {
            return number >= rows[i].min && number <= rows[i].max ? NULL : rows[i].expected;
        }
    }
    return NULL;
}

NAMES(side_names, SIDE_COUNT, "real", "virtual");
ENUM_NAMES(reply_status, REPLY_STATUS_COUNT, "done", "data", "blocked", "halted", "ignored",
           "error");
ENUM_NAMES(value_kind, VALUE_KIND_COUNT, VALUE_KINDS(NAMES_TEXT));
ENUM_NAMES(team_op, TEAM_OP_COUNT, TEAM_OPS(NAMES_TEXT));
ENUM_NAMES(fault_kind, FAULT_KIND_COUNT, FAULT_KINDS(NAMES_TEXT));
ENUM_NAMES(note_kind, NOTE_KIND_COUNT, NOTE_KINDS(NAMES_TEXT));
ENUM_NAMES(event_kind, EVENT_KIND_COUNT, EVENT_KINDS(NAMES_TEXT));
ENUM_NAMES(request_action, REQUEST_ACTION_COUNT, "propose", "promote", "rollback", "identify",
           "following");
ENUM_NAMES(event_arm_member, EVENT_ARM_MEMBER_COUNT, EVENT_ARM_MEMBERS(NAMES_TEXT));
ENUM_NAMES(arm_dynamics, ARM_DYNAMICS_COUNT, "servo", "ideal");
ENUM_NAMES(parameter_form, PARAMETERS_FORM_COUNT, "absolute", "relative");
ENUM_NAMES(fit_outcome, FIT_OUTCOME_COUNT, "done", "failed", "cancelled");
ENUM_NAMES(request_accept, REQUEST_ACCEPT_COUNT, "any", "pass", "marginal");
ENUM_NAMES(follower_rejection, FOLLOWER_REJECTION_COUNT, "none", "integral", "observer");
NAMES(connection_state_names, 2, "offline", "online");
