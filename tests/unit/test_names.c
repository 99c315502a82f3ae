/* Every table of names: it is complete, no name has two values, and each leads back to its
 * value. */
#include "tests/support/check.h"

#include <glob.h>

#include "config/drawing/drawing_cells.h"
#include "identification/dynamics/input_interpolation.h"
#include "identification/fit/dynamics_fit.h"
#include "identification/odometry/odometry.h"
#include "identification/online/online_filter.h"
#include "identification/servo/servo_fit.h"
#include "identification/simulation/input_plan.h"
#include "identification/simulation/stability.h"
#include "identification/travel/forecast_sum.h"
#include "identification/travel/next_move.h"
#include "identification/travel/travel_fit.h"
#include "logger/codec/sparkplug.h"
#include "logger/message/bar.h"
#include "service/evidence/condition.h"
#include "service/evidence/gate.h"
#include "service/engine/ownership.h"
#include "service/forecast/drive_plan.h"
#include "service/map/sweeps.h"
#include "service/identify/dynamics_journal.h"
#include "service/identify/identify_request.h"
#include "service/job/worker.h"
#include "service/selftest/selftest_scenarios.h"
#include "service/sim/check/check_parts.h"
#include "service/sim/experiment/experiment_file.h"
#include "service/tool/log.h"
#include "twin/arm/arm_request.h"
#include "twin/arm/arm_servo.h"
#include "twin/control/position_control.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/pair_following.h"
#include "twin/machine/machine_diagnostics.h"
#include "twin/mission/pair_missions.h"
#include "twin/pair/pair.h"
#include "twin/report/model_fragment.h"
#include "twin/sim/experiment/arm_shadow.h"
#include "twin/sim/robot/arm6.h"
#include "twin/sim/robot/layers.h"
#include "twin/mission/course_drive.h"
#include "twin/sim/robot/mission.h"
#include "twin/team/check/model_checker.h"
#include "twin/team/check/team_static_check.h"
#include "twin/map/grid_route.h"
#include "twin/map/scan_match.h"
#include "twin/team/live/team_live.h"
#include "twin/team/step/team.h"
#include "twin/team/step/team_predict.h"
#include "web/http/event_hub.h"
#include "web/http/handler.h"
#include "web/http/query.h"
#include "web/http/routes.h"

static const struct {
    const char *symbol;
    const struct names *names;
} tables[] = {
#define TABLE(symbol)                                                                          \
    {                                                                                          \
#symbol, &(symbol)                                                                     \
    }
    TABLE(alarm_code_names),
    TABLE(alarm_filter_names),
    TABLE(alarm_type_names),
    TABLE(alignment_rule_names),
    TABLE(bar_kind_names),
    TABLE(arm_shown_names),
    TABLE(clock_map_state_names),
    TABLE(compared_time_names),
    TABLE(condition_result_names),
    TABLE(connection_state_names),
    TABLE(gate_metric_names),
    TABLE(gate_outcome_names),
    TABLE(shift_method_names),
    TABLE(team_live_grant_names),
    TABLE(team_op_names),
    TABLE(drawing_kind_names),
    TABLE(fragment_format_names),
    TABLE(odometry_covariate_names),
    TABLE(servo_limit_names),
    TABLE(servo_parameter_names),
    TABLE(travel_effect_names),
    TABLE(forecast_answer_names),
    TABLE(forecast_basis_names),
    TABLE(next_move_why_names),
    TABLE(drive_stop_names),
    TABLE(forecast_level_names),
    TABLE(forecast_quantity_names),
    TABLE(drawing_role_names),
    TABLE(dynamics_method_names),
    TABLE(dynamics_stop_names),
    TABLE(input_interpolation_names),
    TABLE(estimate_verdict_names),
    TABLE(selftest_claim_names),
    TABLE(sparkplug_kind_names),
    TABLE(stability_cut_names),
    TABLE(event_kind_names),
    TABLE(event_type_names),
    TABLE(fault_kind_names),
    TABLE(note_kind_names),
    TABLE(fit_cause_names),
    TABLE(fit_outcome_names),
    TABLE(follower_rejection_names),
    TABLE(experiment_kind_names),
    TABLE(following_source_names),
    TABLE(input_criterion_names),
    TABLE(job_class_names),
    TABLE(job_state_names),
    TABLE(identify_outcome_names),
    TABLE(check_state_names),
    TABLE(check_talk_names),
    TABLE(check_word_names),
    TABLE(journal_stamp_names),
    TABLE(l1_command_names),
    TABLE(l2_verdict_names),
    TABLE(log_level_names),
    TABLE(machine_severity_names),
    TABLE(mission_code_names),
    TABLE(mission_level_names),
    TABLE(mission_pose_names),
    TABLE(mission_return_names),
    TABLE(mission_robot_names),
    TABLE(mission_state_names),
    TABLE(course_failure_names),
    TABLE(odometry_combination_names),
    TABLE(odometry_parameter_names),
    TABLE(online_gate_names),
    TABLE(ownership_state_names),
    TABLE(ownership_alarm_names),
    TABLE(pair_kind_names),
    TABLE(pair_mode_names),
    TABLE(parameter_action_names),
    TABLE(parameter_check_names),
    TABLE(parameter_form_names),
    TABLE(parameter_state_names),
    TABLE(simulator_state_names),
    TABLE(position_kind_names),
    TABLE(query_parameter_names),
    TABLE(web_refusal_names),
    TABLE(reply_status_names),
    TABLE(request_action_names),
    TABLE(request_accept_names),
    TABLE(event_arm_member_names),
    TABLE(arm_dynamics_names),
    TABLE(arm_controller_names),
    TABLE(arm_op_names),
    TABLE(arm6_phase_names),
    TABLE(arm6_reason_names),
    TABLE(route_method_names),
    TABLE(shadow_gate_names),
    TABLE(shadow_method_names),
    TABLE(side_names),
    TABLE(status_names),
    TABLE(team_alarm_names),
    TABLE(team_effect_names),
    TABLE(team_end_names),
    TABLE(team_event_names),
    TABLE(fault_names),
    TABLE(team_law_kind_names),
    TABLE(team_locking_names),
    TABLE(team_move_kind_names),
    TABLE(team_phase_names),
    TABLE(team_policy_names),
    TABLE(team_run_end_names),
    TABLE(team_step_kind_names),
    TABLE(team_stop_names),
    TABLE(profile_term_names),
    TABLE(travel_method_names),
    TABLE(travel_term_names),
    TABLE(consistency_names),
    TABLE(entry_ambiguity_names),
    TABLE(entry_explained_names),
    TABLE(entry_filter_names),
    TABLE(value_kind_names),
    TABLE(verdict_names),
    TABLE(world_shape_names),
    TABLE(scan_outcome_names),
    TABLE(sweep_refusal_names),
    TABLE(grid_route_outcome_names),
    TABLE(course_actuation_names),
#undef TABLE
};

static void test_tables(void)
{
    for (size_t t = 0; t < COUNT(tables); t++) {
        const struct names *names = tables[t].names;
        /* Two resources may give one name to different parameters, and an effect on short moves
         * is tested at two lengths. */
        const bool shared = names == &query_parameter_names || names == &travel_effect_names;
        CHECK(tables[t].symbol, names->count > 0);
        for (size_t value = 0; value < names->count; value++) {
            CHECK(tables[t].symbol, names->text[value] != NULL);
            const size_t back = names_value(names, names_text(names, value));
            CHECK(tables[t].symbol, back == value || (shared && back < value));
        }
        CHECK_TEXT(tables[t].symbol, names_text(names, names->count), "unknown");
        CHECK_INT(tables[t].symbol, names_value(names, "nonsense"), names->count);
    }
}

static bool is_listed(const char *name, size_t bytes)
{
    for (size_t t = 0; t < COUNT(tables); t++) {
        if (strncmp(tables[t].symbol, name, bytes) == 0 &&
            (tables[t].symbol[bytes] == '\0' ||
             strcmp(tables[t].symbol + bytes, "_names") == 0)) {
            return true;
        }
    }
    return false;
}

/* Is every table of the sources in the list above? */
static void check_source(const char *path)
{
    static char line[4096];
    FILE *file = fopen(path, "r");
    CHECK(path, file != NULL);
    while (file && fgets(line, sizeof line, file)) {
        const char *open =
            strncmp(line, "NAMES(", 6) == 0 || strncmp(line, "ENUM_NAMES(", 11) == 0
                ? strchr(line, '(') + 1
                : NULL;
        if (open && !is_listed(open, strcspn(open, ","))) {
            CHECK(open, false && "listed in tests/unit/test_names.c");
        }
    }
    if (file) {
        (void)fclose(file);
    }
}

static void test_all_are_listed(void)
{
    static const char *const patterns[] = {"*/*/*.c", "*/*/*/*.c", "twin/*.c"};
    for (size_t p = 0; p < COUNT(patterns); p++) {
        glob_t found;
        CHECK_INT(patterns[p], glob(patterns[p], 0, NULL, &found), 0);
        for (size_t i = 0; i < found.gl_pathc; i++) {
            if (strncmp(found.gl_pathv[i], "build/", 6) != 0) {
                check_source(found.gl_pathv[i]);
            }
        }
        globfree(&found);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("names", NULL, NULL);
    CU_add_test(suite, "tables", test_tables);
    CU_add_test(suite, "all are listed", test_all_are_listed);
    return check_run();
}
