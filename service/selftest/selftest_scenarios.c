#include "service/selftest/selftest_scenarios.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <gsl/gsl_cdf.h>
#include <jansson.h>

#include "identification/travel/travel_fit.h"
#include "service/identify/identify.h"

static const double ERROR_RATIO = 1e-3;
static const double PASS_THOUGH_WRONG = 0.01;
static const double NOT_PASS_THOUGH_RIGHT = 0.05;
static const double HELD_MIN = 0.93, HELD_MAX = 0.97;
static const double NAMED_MIN = 0.85; /* of wrong recordings that are noticed */

enum { CLAIMS = CLAIM_WRONG + 1 };
ENUM_NAMES(selftest_claim, CLAIMS, "right", "held", "wrong");

#define SCENARIO(title, of, claimed, text, ...)                                                \
    {                                                                                          \
        .name = (title), .model = (of), .claim = (claimed), .words = (text), __VA_ARGS__       \
    }
#define RIGHT CLAIM_RIGHT
#define HELD  CLAIM_HELD
#define WRONG CLAIM_WRONG

/* clang-format off */
const struct selftest_scenario selftest_scenarios[] = {
    SCENARIO("as_modelled", "first_order", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("uneven_5", "first_order", RIGHT, "times between rows that vary by 5 %", .jitter = 0.05),
    SCENARIO("uneven_10", "first_order", RIGHT, "times between rows that vary by 10 %", .jitter = 0.1),
    SCENARIO("uneven_stamps", "first_order", RIGHT, "times between rows that vary by 15 %", .jitter = 0.15),
    SCENARIO("gusts", "first_order", RIGHT, "unmeasured forces, 5 % of the largest command", .gusts = 0.05),
    SCENARIO("gain_falls", "first_order", WRONG, "20 % less gain from half time on", .at_half = -0.2),
    SCENARIO("gain_warms_up", "first_order", WRONG, "15 % more gain, by a third of the time", .warm = 0.15),
    SCENARIO("clipped", "first_order", WRONG, "commands beyond 60 % of the largest have no more effect", .clip = 0.6),
    SCENARIO("dead_band", "first_order", WRONG, "commands up to 10 % of the largest have no effect", .dead = 0.1),
    SCENARIO("asymmetric", "first_order", WRONG, "commands below zero worth 15 % less", .backed = -0.15),
    SCENARIO("one_step", "first_order", WRONG, "one step of a robot of second order", .swings = 0.15, .samples = 200),
    SCENARIO("time_ms", "first_order", WRONG, "times in milliseconds", .factor = {1000.0}),
    SCENARIO("row_numbers", "first_order", WRONG, "row numbers for times", .counted = true),
    SCENARIO("other_day", "first_order", RIGHT, "held out: the same robot", .held_out = true),
    SCENARIO("other_gain", "first_order", WRONG, "held out: 20 % less gain", .held_out = true, .off = -0.2),
    SCENARIO("between_rows", "first_order", RIGHT, "commands change between rows", .early = 1.0),
    SCENARIO("lost_rows", "first_order", RIGHT, "a fifth of the rows is missing", .early = 1.0, .lost = 0.2),
    SCENARIO("coloured_noise", "first_order", RIGHT, "noise with an autocorrelation of 0.8", .memory = 0.8),
    SCENARIO("noise_grows", "first_order", RIGHT, "noise of 3 % of the speed", .grows = 0.03),
    SCENARIO("second_lag", "first_order", WRONG, "a second lag of two rows", .lag_s = 0.1),
    SCENARIO("rate_limit", "first_order", WRONG, "commands limited to 4 times the largest per second", .rate = 4.0),
    SCENARIO("clock_drifts", "first_order", WRONG, "the delay grows by four rows", .clock_s = 0.2),
    SCENARIO("delay_varies", "first_order", WRONG, "delays within four rows", .scatter_s = 0.2),
    SCENARIO("gain_drifts", "first_order", WRONG, "a gain that falls by 5 %", .trend = -0.05),
    SCENARIO("gain_sways", "first_order", WRONG, "a gain that rises and falls by 10 %, six times", .sways = 0.1,
          .code = "cause"),
    SCENARIO("gain_dips", "first_order", WRONG, "commands worth 10 % less for 6 % of the time", .dips = -0.1,
             .dip_share = 0.06, .passes = 0.2),
    SCENARIO("too_quick", "first_order", WRONG, "a time constant of a fiftieth of a sample", .quick = 0.004),
    SCENARIO("one_command", "first_order", WRONG, "a command that never changes", .constant = true),
    SCENARIO("one_size", "first_order", WRONG, "commands of one size, of a robot with a dead band", .one_size = true,
          .dead = 0.2),
    SCENARIO("stale", "first_order", WRONG, "a sensor that is new in one of four rows", .stale = 4),
    SCENARIO("rows_apart", "first_order", RIGHT, "commands and velocities in rows of their own", .rows_apart = true),
    SCENARIO("as_modelled", "usv3", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("uneven_stamps", "usv3", RIGHT, "times between rows that vary by 15 %", .jitter = 0.15),
    SCENARIO("gusts", "usv3", RIGHT, "unmeasured forces, 2 % of the largest effort", .gusts = 0.02),
    SCENARIO("between_rows", "usv3", RIGHT, "efforts change between rows", .early = 1.0),
    SCENARIO("delay_varies", "usv3", WRONG, "delays within five rows", .scatter_s = 0.5),
    SCENARIO("gain_falls", "usv3", WRONG, "efforts worth 20 % less from half time on", .at_half = -0.2),
    SCENARIO("gain_warms_up", "usv3", WRONG, "efforts worth 15 % more, by a third of the time", .warm = 0.15),
    SCENARIO("clipped", "usv3", WRONG, "efforts beyond 60 % of the largest have no more effect", .clip = 0.6),
    SCENARIO("force_kn", "usv3", WRONG, "efforts in kilonewtons", .factor = {0, 0.001}),
    SCENARIO("force_kgf", "usv3", WRONG, "efforts in kilograms-force", .factor = {0, 1.0 / 9.80665}),
    SCENARIO("time_ms", "usv3", WRONG, "times in milliseconds", .factor = {1000.0}),
    SCENARIO("row_numbers", "usv3", WRONG, "row numbers for times", .counted = true),
    SCENARIO("other_day", "usv3", RIGHT, "held out: the same vessel", .held_out = true),
    SCENARIO("other_drag", "usv3", WRONG, "held out: half as much surge drag again", .held_out = true, .drag = 0.5,
          .dragged = {"surge_linear_kgps", "surge_quadratic_kgpm"}),
    SCENARIO("as_modelled", "diffdrive", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("uneven_stamps", "diffdrive", RIGHT, "times between rows that vary by 15 %", .jitter = 0.15),
    SCENARIO("gain_falls", "diffdrive", WRONG, "commands worth 20 % less from half time on", .at_half = -0.2),
    SCENARIO("gain_dips", "diffdrive", WRONG, "commands worth 10 % less for 6 % of the time", .dips = -0.1,
             .dip_share = 0.06, .passes = 0.05),
    SCENARIO("clipped", "diffdrive", WRONG, "commands beyond 60 % of the largest have no more effect", .clip = 0.6),
    SCENARIO("between_rows", "diffdrive", RIGHT, "commands change between rows", .early = 1.0),
    SCENARIO("rate_limit", "diffdrive", WRONG, "commands limited to 3 times the largest per second", .rate = 3.0),
    SCENARIO("dry_friction", "diffdrive", WRONG, "wheels with dry friction", .robot = "diffdrive_friction"),
    SCENARIO("exchanged", "diffdrive", WRONG, "speed and turn exchanged", .exchanged = true),
    SCENARIO("wheel_speeds", "diffdrive", WRONG, "wheel speeds in place of speed and turn", .track_m = 0.35),
    SCENARIO("reversed", "diffdrive", WRONG, "velocities with the wrong sign", .reversed = true),
    SCENARIO("too_quick", "diffdrive", WRONG, "a time constant of a fiftieth of a sample", .quick = 0.004),
    SCENARIO("as_modelled", "diffdrive_friction", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_load", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_geared", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_load_geared", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_stribeck", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_load_stribeck", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "joint_geared_stribeck", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("as_modelled", "arm6", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("uneven_stamps", "arm6", RIGHT, "times between rows that vary by 15 %", .jitter = 0.15),
    SCENARIO("gain_falls", "arm6", WRONG, "20 % less gain from half time on", .at_half = -0.2),
    SCENARIO("clipped", "arm6", WRONG, "commands beyond 60 % of the largest have no more effect", .clip = 0.6),
    SCENARIO("dead_band", "arm6", WRONG, "commands up to 10 % of the largest have no effect", .dead = 0.1),
    SCENARIO("asymmetric", "arm6", WRONG, "commands below zero worth 15 % less", .backed = -0.15),
    SCENARIO("command_deg", "arm6", WRONG, "commands in deg/s, speeds in rad/s", .factor = {0, 57.29578}),
    SCENARIO("time_ms", "arm6", WRONG, "times in milliseconds", .factor = {1000.0}),
    SCENARIO("row_numbers", "arm6", WRONG, "row numbers for times", .counted = true),
    SCENARIO("other_gain", "arm6", WRONG, "held out: 20 % less gain", .held_out = true, .off = -0.2),
    SCENARIO("as_modelled", "joint_load_geared_stribeck", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("between_rows", "joint", RIGHT, "efforts change between rows", .early = 1.0),
    SCENARIO("uneven_stamps", "joint", RIGHT, "times between rows that vary by 15 %", .jitter = 0.15),
    SCENARIO("noise_grows", "joint", RIGHT, "noise of 3 % of the speed", .grows = 0.03),
    SCENARIO("sticks", "joint", HELD, "it sticks exactly, and efforts change between rows", .falls = 0.1,
          .early = 1.0, .judged_from = 3),
    SCENARIO("position_deg", "joint", WRONG, "positions in degrees, velocities in rad/s", .scaled = 57.29578),
    SCENARIO("position_5_pct", "joint", WRONG, "positions 5 % too large", .scaled = 1.05),
    SCENARIO("reversed", "joint", WRONG, "velocities with the wrong sign", .reversed = true),
    SCENARIO("friction_by_load", "joint", WRONG, "friction grows with the effort", .robot = "joint_geared"),
    SCENARIO("stribeck", "joint", WRONG, "friction is greater near rest", .robot = "joint_stribeck"),
    SCENARIO("pendulum", "joint", WRONG, "the load of a pendulum", .robot = "joint_load"),
    SCENARIO("gain_falls", "joint", WRONG, "efforts worth 20 % less from half time on", .at_half = -0.2),
    SCENARIO("clipped", "joint", WRONG, "efforts beyond 60 % of the largest have no more effect", .clip = 0.6),
    SCENARIO("warms_up", "joint", WRONG, "viscous friction falls by 10 %", .warms = -0.1),
    SCENARIO("supply_sags", "joint", WRONG, "efforts worth 5 % less at the end", .trend = -0.05),
    SCENARIO("breaks_away", "joint", WRONG, "it holds twice as much at rest as in motion",
             .falls = 0.1, .at_rest = 1.0),
    SCENARIO("breaks_away_gently", "joint", WRONG, "the same, efforts a third", .falls = 0.1, .at_rest = 1.0,
          .gentle = 0.33),
    SCENARIO("friction_by_place", "joint", WRONG, "it sticks, and friction changes by 30 % with the angle",
          .falls = 0.1, .by_place = 0.3, .code = "unmodelled"),
    SCENARIO("ripple", "joint", WRONG, "it sticks, and efforts change by 5 % seven times in a turn", .falls = 0.1,
          .ripple = 0.05, .code = "unmodelled"),
    SCENARIO("gain_dips", "joint", WRONG, "it sticks, and efforts are worth 10 % less for a fifth of the time",
          .falls = 0.1, .dips = -0.1, .code = "unmodelled"),
    SCENARIO("sensor_lag", "joint", WRONG, "it sticks, and motion is measured through a lag of 50 ms", .falls = 0.1,
          .sensor_s = 0.05, .code = "unmodelled"),
    SCENARIO("friction_by_load", "joint_load", WRONG, "friction grows with the effort", .robot = "joint_load_geared"),
    SCENARIO("stribeck", "joint_load", WRONG, "friction is greater near rest", .robot = "joint_load_stribeck"),
    SCENARIO("as_modelled", "travel_time", RIGHT, "the law holds", .off = 0.0),
    SCENARIO("late_replies", "travel_time", RIGHT, "5 % of the replies 0.5 to 3 s late", .late = 0.05),
    SCENARIO("slows_down", "travel_time", WRONG, "speeds fall by 15 % up to the last move", .trend = -0.15),
    SCENARIO("speed_step", "travel_time", WRONG, "speeds 12 % lower from half time on", .at_half = -0.12),
    SCENARIO("two_robots", "travel_time", WRONG, "moves of two robots, 25 % apart", .mixed = -0.25,
             .code = "parts_differ"),
    SCENARIO("speed_varies", "travel_time", HELD, "speeds that vary by 15 % from move to move", .varies = 0.15),
    SCENARIO("accelerates", "travel_time", WRONG, "accelerates by 0.5 m/s^2 and 2 rad/s^2", .accelerates = 0.5,
             .code = "laps_bend"),
    SCENARIO("twenty_moves", "travel_time", RIGHT, "the law holds, twenty moves", .samples = 20),
    SCENARIO("many_moves", "travel_time", RIGHT, "the law holds, two hundred moves", .samples = 200),
    SCENARIO("creeps", "travel_time", WRONG, "slow approach: drives take 0.3 s exp(-d / 0.15 m) longer",
             .creep_s = 0.3, .passes = 0.22, .open = true, .judged_from = TRAVEL_INV_W, .code = "laps_bend"),
    SCENARIO("accelerates_1_n20", "travel_time", HELD, "accelerates by 1 m/s^2, twenty moves", .accelerates = 1.0,
             .samples = 20, .open = true, .judged_from = TRAVEL_INV_W, .code = "not_excluded"),
    SCENARIO("accelerates_1", "travel_time", HELD, "accelerates by 1 m/s^2 and 4 rad/s^2", .accelerates = 1.0,
             .open = true, .judged_from = TRAVEL_INV_W, .code = "not_excluded"),
    SCENARIO("accelerates_1_n100", "travel_time", WRONG, "accelerates by 1 m/s^2, a hundred moves",
             .accelerates = 1.0, .samples = 100, .passes = 0.24, .open = true, .judged_from = TRAVEL_INV_W,
             .code = "laps_bend"),
    SCENARIO("battery_8", "travel_time", WRONG, "speeds fall by 8 % up to the last move", .trend = -0.08,
             .code = "changes_with_time"),
    SCENARIO("battery_4", "travel_time", WRONG, "speeds fall by 4 % up to the last move", .trend = -0.04,
             .passes = 0.16, .code = "changes_with_time"),
    SCENARIO("floors_10", "travel_time", WRONG, "half of the drives 10 % slower", .mixed = -0.1,
             .mixed_sizes = 2, .passes = 0.11, .code = "parts_differ"),
    SCENARIO("floors_20", "travel_time", WRONG, "half of the drives 20 % slower", .mixed = -0.2,
             .mixed_sizes = 2, .passes = 0.09, .code = "parts_differ"),
    SCENARIO("floors_in_blocks", "travel_time", WRONG, "drives 10 % slower in every other five moves",
             .mixed = -0.1, .mixed_sizes = 2, .mix = MIX_BLOCKS, .passes = 0.23, .code = "parts_differ"),
    SCENARIO("slow_turns", "travel_time", WRONG, "half of the turns 15 % slower", .mixed = -0.15,
             .mixed_sizes = 1, .passes = 0.09, .code = "parts_differ"),
    SCENARIO("slow_to_one_side", "travel_time", WRONG, "turns to one side 15 % slower", .mixed = -0.15,
             .mixed_sizes = 1, .mix = MIX_NEGATIVE, .passes = 0.13, .code = "parts_differ"),
    SCENARIO("overlaps", "travel_time", WRONG, "commands wait for up to 30 % of the move before", .overlaps = 0.3,
             .passes = 0.15, .open = true, .judged_from = TRAVEL_INV_W, .code = "delay_varies"),
    SCENARIO("overlaps_10", "travel_time", WRONG, "commands wait for up to 10 % of the move before", .overlaps = 0.1,
             .passes = 0.15, .open = true, .judged_from = TRAVEL_INV_W, .code = "delay_varies"),
    SCENARIO("seldom_overlaps", "travel_time", HELD, "three of ten commands wait for up to 10 % of the move before",
             .overlaps = 0.1, .waiting = 0.3, .open = true, .judged_from = TRAVEL_INV_W, .code = "not_excluded"),
    SCENARIO("every_2_5_s", "travel_time", WRONG, "a command every 2.5 s, before the last move has ended",
             .every_s = 2.5, .passes = 0.04),
    SCENARIO("stops", "travel_time", HELD, "drives stop 0.2 times a metre, for 1 s on average", .stops = 0.2,
             .stop_s = 1.0),
    SCENARIO("slowed", "travel_time", WRONG, "a fifth of the drives takes half as long again", .slowed = 0.2,
             .passes = 0.35, .open = true, .judged_from = TRAVEL_INV_W),
    SCENARIO("seldom_slowed", "travel_time", HELD, "a tenth of the drives takes half as long again", .slowed = 0.1,
             .open = true, .judged_from = TRAVEL_INV_W, .code = "not_excluded"),
    SCENARIO("queue", "travel_time", RIGHT, "replies wait in a queue, 0.15 s on average", .queue_s = 0.15,
             .judged_from = TRAVEL_INV_W),
    SCENARIO("whole_seconds", "travel_time", HELD, "laps rounded to whole seconds", .step_s = 1.0, .open = true,
             .code = "values_in_steps"),
    SCENARIO("seconds_up", "travel_time", HELD, "laps rounded up to whole seconds", .step_s = 1.0,
             .steps_up = true, .open = true, .code = "values_in_steps"),
    SCENARIO("measured_moves", "travel_time", HELD, "sizes with 0.03 rad and 0.02 m of noise",
             .measured_rad = 0.03, .measured_m = 0.02, .open = true, .judged_from = TRAVEL_INV_W,
             .code = "measured_sizes"),
    SCENARIO("few_other_day", "travel_time", RIGHT, "held out: the same robot, twenty moves", .held_out = true,
             .samples = 20),
    SCENARIO("slower_10", "travel_time", WRONG, "held out: speeds 10 % lower", .held_out = true, .off = -0.1,
             .code = "held_out"),
    SCENARIO("slower_5_n20", "travel_time", WRONG, "held out: speeds 5 % lower, twenty moves", .held_out = true,
             .off = -0.05, .samples = 20, .passes = 0.14, .code = "held_out"),
    SCENARIO("lap_ms", "travel_time", WRONG, "laps in milliseconds", .factor = {0, 0, 1000.0}),
    SCENARIO("rotation_deg", "travel_time", WRONG, "rotations in degrees", .factor = {57.29578}),
    SCENARIO("displacement_mm", "travel_time", WRONG, "displacements in millimetres", .factor = {0, 1000.0}),
    SCENARIO("exchanged", "travel_time", WRONG, "rotations and displacements exchanged", .exchanged = true),
    SCENARIO("as_modelled", "arm_time", RIGHT, "the law holds", .off = 0.0),
    SCENARIO("late_replies", "arm_time", RIGHT, "5 % of the replies 0.5 to 3 s late", .late = 0.05),
    SCENARIO("often_late", "arm_time", WRONG, "40 % of the replies 0.5 to 3 s late", .late = 0.4),
    SCENARIO("slows_down", "arm_time", WRONG, "speeds fall by 15 % up to the last move", .trend = -0.15),
    SCENARIO("speed_step", "arm_time", WRONG, "speeds 12 % lower from half time on", .at_half = -0.12),
    SCENARIO("two_robots", "arm_time", WRONG, "moves of two arms, 25 % apart", .mixed = -0.25),
    SCENARIO("lap_ms", "arm_time", WRONG, "laps in milliseconds", .factor = {0, 0, 1000.0}),
    SCENARIO("rotation_deg", "arm_time", WRONG, "rotations in degrees", .factor = {57.29578}),
    SCENARIO("displacement_mm", "arm_time", WRONG, "displacements in millimetres", .factor = {0, 1000.0}),
    SCENARIO("other_day", "arm_time", RIGHT, "held out: the same arm", .held_out = true),
    SCENARIO("half_speed", "arm_time", WRONG, "held out: half the speed", .held_out = true, .off = -0.5),
    SCENARIO("other_day", "travel_time", RIGHT, "held out: the same robot", .held_out = true),
    SCENARIO("half_speed", "travel_time", WRONG, "held out: half the speed", .held_out = true, .off = -0.5),
    SCENARIO("as_modelled", "odometry", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("ticks_1024", "odometry", RIGHT, "wheels that count 1024 ticks a turn", .ticks = 1024.0),
    SCENARIO("camera_5_hz", "odometry", HELD, "a new pose in every fourth row", .rare = 4.0),
    SCENARIO("tilted", "odometry", WRONG, "a scale that grows by 4 % per metre of x", .tilted = 0.04, .passes = 0.21),
    SCENARIO("stretched", "odometry", WRONG, "x too large by 5 %", .stretched = 0.05),
    SCENARIO("lens", "odometry", WRONG, "a scale that falls by 5 % within a metre of the middle", .distorts = 0.05,
          .passes = 0.21),
    SCENARIO("slips", "odometry", WRONG, "wheels that lose 10 % of the way at full speed", .slips = 0.1),
    SCENARIO("tyre", "odometry", WRONG, "a right wheel 6 % larger from half time on", .at_half = 0.06),
    SCENARIO("drags", "odometry", WRONG, "a right wheel that loses 5 % of its way in left turns", .drags = 0.05),
    SCENARIO("two_clocks", "odometry", WRONG, "a delay that grows by 0.1 s", .clock_s = 0.1),
    SCENARIO("as_modelled", "arm_friction", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("stribeck", "arm_friction", WRONG, "friction is half as great again near rest",
             .falls = 0.1, .at_rest = 0.5),
    SCENARIO("asymmetric", "arm_friction", WRONG, "dry friction 30 % less one way", .backed = -0.3),
    SCENARIO("late_currents", "arm_friction", HELD, "currents 32 ms late", .late_s = 0.032),
    SCENARIO("current_lag", "arm_friction", HELD, "currents through a lag of 20 ms", .lag_s = 0.02),
    SCENARIO("gain_falls", "arm_friction", WRONG, "20 % less current from half time on", .at_half = -0.2),
    SCENARIO("exchanged", "arm_friction", WRONG, "currents of joints 2 and 3 exchanged", .exchanged = true),
    SCENARIO("angle_deg", "arm_friction", WRONG, "angles in degrees", .factor = {0, 57.29578}),
    SCENARIO("current_ma", "arm_friction", WRONG, "currents in milliamperes", .factor = {0, 0, 1000.0}),
    SCENARIO("time_ms", "arm_friction", WRONG, "times in milliseconds", .factor = {1000.0}),
    SCENARIO("row_numbers", "arm_friction", WRONG, "row numbers for times", .counted = true),
    SCENARIO("other_day", "arm_friction", RIGHT, "held out: the same arm", .held_out = true),
    SCENARIO("other_friction", "arm_friction", WRONG, "held out: half as much viscous friction again", .held_out = true,
          .drag = 0.5),
    SCENARIO("as_modelled", "arm_kinematics", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("few", "arm_kinematics", RIGHT, "twelve poses", .samples = 12),
    SCENARIO("ros_base", "arm_kinematics", WRONG, "poses in ROS' base_link", .turned_rad = 3.14159265358979),
    SCENARIO("leans", "arm_kinematics", WRONG, "a base that leans by 1 mrad", .leans_rad = 1e-3),
    SCENARIO("tool", "arm_kinematics", WRONG, "poses of a tool of 150 mm", .tool_m = 0.15),
    SCENARIO("small_tool", "arm_kinematics", WRONG, "poses of a tool of 5 mm", .tool_m = 0.005),
    SCENARIO("eccentric", "arm_kinematics", WRONG, "encoders off by 0.5 mrad, once a turn", .eccentric_rad = 5e-4),
    SCENARIO("ur5e", "arm_kinematics", WRONG, "poses of a UR5e", .arm = "ur5e"),
    SCENARIO("exchanged", "arm_kinematics", WRONG, "angles of joints 2 and 3 exchanged", .exchanged = true),
    SCENARIO("angle_deg", "arm_kinematics", WRONG, "angles in degrees", .factor = {57.29578}),
    SCENARIO("place_mm", "arm_kinematics", WRONG, "positions in millimetres", .factor = {0, 1000.0}),
    SCENARIO("turn_deg", "arm_kinematics", WRONG, "rotation vectors in degrees", .factor = {0, 0, 57.29578}),
    SCENARIO("alike", "arm_kinematics", WRONG, "poses within 1.5 degrees", .gentle = 0.0083),
    SCENARIO("other_day", "arm_kinematics", RIGHT, "held out: the same arm", .held_out = true),
    SCENARIO("other_arm", "arm_kinematics", WRONG, "held out: an arm with other links", .held_out = true, .drag = 0.5),
    SCENARIO("as_modelled", "position_servo", RIGHT, "the world of the model", .off = 0.0),
    SCENARIO("uneven_stamps", "position_servo", RIGHT, "times between rows that vary by 10 %", .jitter = 0.15),
    SCENARIO("play", "position_servo", RIGHT, "a play of 12 mrad behind the motor", .play_rad = 0.012),
    SCENARIO("other_day", "position_servo", RIGHT, "held out: the same servo", .held_out = true),
    SCENARIO("other_gain", "position_servo", WRONG, "held out: 20 % less stiffness", .held_out = true, .off = -0.2),
    SCENARIO("gain_falls", "position_servo", WRONG, "20 % less stiffness from half time on", .at_half = -0.2),
    SCENARIO("asymmetric", "position_servo", WRONG, "commands below zero worth 15 % less", .backed = -0.15),
    SCENARIO("two_values", "position_servo", WRONG, "two values of the command", .clip = 0.5),
    SCENARIO("gentle", "position_servo", WRONG, "commands hardly beyond the dead band", .gentle = 0.05),
    SCENARIO("friction_by_load", "position_servo", WRONG, "dry friction grows by a tenth of the error", .by_load = 0.1,
          .code = "unmodelled"),
    SCENARIO("friction_by_place", "position_servo", WRONG, "dry friction changes by 30 % with the angle",
          .by_place = 0.3, .code = "unmodelled"),
    SCENARIO("gain_dips", "position_servo", WRONG, "10 % less stiffness for a fifth of the time", .dips = -0.1),
    SCENARIO("sensor_lag", "position_servo", WRONG, "positions through a lag of 50 ms", .sensor_s = 0.05,
          .code = "unmodelled"),
    SCENARIO("filtered", "position_servo", RIGHT, "positions through a lag of 10 ms", .sensor_s = 0.01),
    SCENARIO("command_deg", "position_servo", WRONG, "commands in degrees", .factor = {0, 57.29578}),
    SCENARIO("time_ms", "position_servo", WRONG, "times in milliseconds", .factor = {1000.0}),
    SCENARIO("row_numbers", "position_servo", WRONG, "row numbers for times", .counted = true),
};
/* clang-format on */
const size_t selftest_scenario_count = COUNT(selftest_scenarios);

/* Returns the truth of a parameter by its number; its name in *name, NULL after the last
 * one. */
static double truth_of(const struct model_row *row, size_t i, const char **name)
{
    if (row->data != MODEL_OF_MOTION) {
        return selftest_robot_truth(row->data)(i, name);
    }
    *name = i < row->model->parameter_count ? row->model->parameters[i].name : NULL;
    return *name ? row->trial.theta[i] : 0.0;
}

/* Returns whether a list of the fit has the code. */
static bool has_code(const json_t *fit, const char *key, const char *code)
{
    size_t i;
    json_t *text;
    json_array_foreach(json_object_get(fit, key), i, text) {
        if (strcmp(json_string_value(text), code) == 0) {
            return true;
        }
    }
    return false;
}

static void record_fit(const struct model_row *row, const struct selftest_scenario *scenario,
                       const json_t *fit, struct selftest_scenario_result *result)
{
    const json_t *intervals = json_object_get(fit, scenario->open ? "ci95_open" : "ci95");
    const char *verdict = json_string_value(json_object_get(fit, "verdict"));
    const char *name;
    const size_t at = names_value(&estimate_verdict_names, verdict ? verdict : "");
    const bool passes = at == ESTIMATE_PASS;
    result->verdicts[at < ESTIMATE_VERDICTS ? at : ESTIMATE_FAIL]++;
    const bool noticed = !passes || scenario->claim != CLAIM_WRONG;
    if (scenario->code && noticed) {
        result->named += has_code(fit, "reason_codes", scenario->code) ||
                         has_code(fit, "note_codes", scenario->code);
    }
    result->warned += passes && has_code(fit, "note_codes", "not_excluded");
    if (noticed && scenario->claim == CLAIM_WRONG) {
        return; /* only intervals that somebody may use are judged */
    }
    double truth = truth_of(row, result->count = 0, &name);
    while (name) {
        const json_t *interval = json_object_get(intervals, name);
        const json_t *lo = json_array_get(interval, 0);
        const json_t *hi = json_array_get(interval, 1);
        /* A speed without an upper end may be infinite. */
        const bool below = json_is_number(hi) ? truth <= json_number_value(hi) : scenario->open;
        if (json_is_number(lo) && json_number_value(lo) <= truth && below) {
            result->covered[result->count]++;
        }
        truth = truth_of(row, ++result->count, &name);
    }
}

/* Identifies as `tandem identify --json` does. */
static enum status identify_texts(const struct model_row *row,
                                  const struct selftest_scenario *scenario,
                                  const struct identify_request *request,
                                  struct selftest_scenario_result *result, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    struct err refusal = {0};
    FILE *to = open_memstream(&text, &bytes);
    enum status st = to ? identify_run(row, request, to, &refusal) : STATUS_E_NOMEM;
    if (to && fclose(to) != 0) {
        st = STATUS_E_NOMEM;
    }
    json_t *fit = st == STATUS_OK ? json_loadb(text, bytes, 0, NULL) : NULL;
    if (fit) {
        record_fit(row, scenario, fit, result);
        json_decref(fit);
    } else {
        result->refused++;
    }
    result->runs++;
    free(text);
    return st == STATUS_E_NOMEM ? err_set(err, st, FAULT_NO_MEMORY, "selftest", "no memory")
                                : STATUS_OK;
}

enum status selftest_scenario_run(const struct selftest_scenario *scenario, uint64_t seed,
                                  struct selftest_scenario_result *result, struct err *err)
{
    const struct model_row *row = model_row_find(scenario->model);
    const struct selftest_scenario right = {.name = "as_modelled",
                                            .samples = scenario->samples};
    struct random_source draws = selftest_draws(seed, result->runs);
    struct csv_source own = {.path = "selftest"};
    struct identify_request request = identify_request_defaults();
    char *text = NULL;
    char *other = NULL;
    enum status st = selftest_record(row, scenario->held_out ? &right : scenario, false, &draws,
                                     &text, &own.bytes, err);
    own.text = text;
    request.files = &own;
    request.file_count = 1;
    request.json = true;
    if (st == STATUS_OK && scenario->held_out) {
        request.validate[0].path = "selftest";
        st = selftest_record(row, scenario, false, &draws, &other, &request.validate[0].bytes,
                             err);
        request.validate[0].text = other;
        request.validate_count = 1;
    }
    st = st == STATUS_OK ? identify_texts(row, scenario, &request, result, err) : st;
    free(text);
    free(other);
    return st;
}

/* Returns whether chance explains this number of hits for a ratio of lo to hi. */
static bool is_chance(size_t hits, size_t runs, double lo, double hi, double error_ratio)
{
    const bool few = gsl_cdf_binomial_P((unsigned)hits, lo, (unsigned)runs) < error_ratio;
    const bool many =
        hits > 0 && gsl_cdf_binomial_Q((unsigned)hits - 1, hi, (unsigned)runs) < error_ratio;
    return !few && !many;
}

size_t selftest_scenario_noticed(const struct selftest_scenario *scenario,
                                 const struct selftest_scenario_result *result)
{
    const size_t passed = scenario->claim == CLAIM_WRONG ? result->verdicts[ESTIMATE_PASS] : 0;
    return result->runs - result->refused - passed;
}

size_t selftest_scenario_judged(const struct selftest_scenario *scenario,
                                const struct selftest_scenario_result *result)
{
    return scenario->claim != CLAIM_WRONG ? result->runs
           : scenario->open               ? result->verdicts[ESTIMATE_PASS]
                                          : 0;
}

void selftest_scenario_judge(const struct selftest_scenario *scenario,
                             struct selftest_scenario_result *result)
{
    const size_t runs = result->runs;
    const double ratio = scenario->claim != CLAIM_WRONG ? NOT_PASS_THOUGH_RIGHT
                         : scenario->passes > 0.0       ? scenario->passes
                                                        : PASS_THOUGH_WRONG;
    result->wrong = scenario->claim == CLAIM_WRONG   ? result->verdicts[ESTIMATE_PASS]
                    : scenario->claim == CLAIM_RIGHT ? runs - result->verdicts[ESTIMATE_PASS]
                                                     : 0;
    result->wrong_most = 0;
    while (gsl_cdf_binomial_Q((unsigned)result->wrong_most, ratio, (unsigned)runs) >
           ERROR_RATIO) {
        result->wrong_most++;
    }
    result->well = result->wrong <= result->wrong_most;
    const size_t noticed = selftest_scenario_noticed(scenario, result);
    if (scenario->code && noticed > 0) {
        const double least = scenario->claim == CLAIM_WRONG ? NAMED_MIN : HELD_MIN;
        result->well =
            result->well && is_chance(result->named, noticed, least, 1.0, ERROR_RATIO);
    }
    const size_t judged = selftest_scenario_judged(scenario, result);
    const double most = scenario->open ? 1.0 : HELD_MAX;
    for (size_t i = scenario->judged_from; i < result->count && judged > 0; i++) {
        result->well = result->well && is_chance(result->covered[i], judged, HELD_MIN, most,
                                                 ERROR_RATIO / (double)result->count);
    }
    if (scenario->claim == CLAIM_WRONG && scenario->open) {
        result->well = result->well && result->warned == judged;
    }
}
