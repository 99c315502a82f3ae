#include "service/sim/mission/moves_file.h"

#include <stdio.h>

static void add_step(const struct option_reading *item, void *value, void *owner);
static void finish_move(const struct option_reading *reading, void *values);
static void finish_output(const struct option_reading *reading, void *values);

/* clang-format off */
#define IN_FILE(m) OPTION_AT(struct moves_file, m), ""
#define IN_MOVE(m) OPTION_AT(struct event_arm, m), ""
#define BY_HAND    OPTION_BY_HAND, ""
#define RATE       1e-4, 1000.0, ""

static const struct option_row number = {
    .type = OPTION_REAL, .unit = "", .fallback = "", .min = -1000.0, .max = 1000.0, .choices = "",
    .size = sizeof(double)};
static const struct option_items six_items = {
    .shape = OPTION_LIST, .value = &number, .least = 6, .most = 6, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers", .example = "[0, -1.57, -1.57, -1.57, 1.57, 0]"};
static const struct option_items three_items = {
    .shape = OPTION_LIST, .value = &number, .least = 3, .most = 3, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers", .example = "[0.4, -0.2, 0.3]"};

/* In the order of enum event_arm_member. */
static const struct option_row move_rows[] = {
    {"q_rad", OPTION_ARRAY(six_items, struct event_arm, q_rad), ""}, /* Joint angles. */
    {"pose", OPTION_ARRAY(six_items, struct event_arm, pose), ""}, /* Tool: x y z in m, rotation vector in rad. */
    {"via", OPTION_ARRAY(three_items, struct event_arm, via), ""}, /* A point on the arc, m. */
    {"v_radps", OPTION_REAL, "rad/s", "1.05", RATE, IN_MOVE(v_radps)}, /* Speed of the fastest joint. */
    {"a_radps2", OPTION_REAL, "rad/s^2", "1.4", RATE, IN_MOVE(a_radps2)}, /* Its acceleration. */
    {"v_mps", OPTION_REAL, "m/s", "0.25", RATE, IN_MOVE(v_mps)}, /* Speed of the tool. */
    {"a_mps2", OPTION_REAL, "m/s^2", "1.2", RATE, IN_MOVE(a_mps2)}, /* Its acceleration. */
    {"time_s", OPTION_REAL, "s", "0", RATE, IN_MOVE(time_s)}, /* Duration. */
    {"turns", OPTION_REAL, "", "0", RATE, IN_MOVE(turns)}, /* Whole circles. */
};
static const enum event_arm_member members[] = {
    EVENT_ARM_Q, EVENT_ARM_POSE, EVENT_ARM_VIA, EVENT_ARM_V_RADPS, EVENT_ARM_A_RADPS2, EVENT_ARM_V_MPS,
    EVENT_ARM_A_MPS2, EVENT_ARM_TIME_S, EVENT_ARM_TURNS};
_Static_assert(COUNT(members) == COUNT(move_rows), "a member for each row");
static const struct option_file move_file = {
    .what = "a move", .table = OPTION_TABLE(move_rows), .bytes = sizeof(struct event_arm),
    .out_bytes = sizeof(struct event_arm), .finish = finish_move};

static const struct option_row output_rows[] = {
    {"pin", OPTION_REAL, "", "0", 0.0, 7.0, "", IN_MOVE(pin)}, /* Which output. */
    {"on", OPTION_BOOL, "", "false", OPTION_NO_RANGE, IN_MOVE(on)}, /* On or off. */
};
static const struct option_file output_file = {
    .what = "an output", .table = OPTION_TABLE(output_rows), .required = "pin on", .bytes = sizeof(struct event_arm),
    .out_bytes = sizeof(struct event_arm), .finish = finish_output};

/* The first four are commands, by enum arm_op of step_ops. */
static const struct option_row step_rows[] = {
    {"movej", OPTION_MAP, "", "", BY_HAND}, /* All joints together. */
    {"movel", OPTION_MAP, "", "", BY_HAND}, /* The tool on a line. */
    {"movec", OPTION_MAP, "", "", BY_HAND}, /* The tool on an arc. */
    {"output", OPTION_MAP, "", "", BY_HAND}, /* A digital output. */
    {"wait_s", OPTION_REAL, "s", "0", 0.001, 86400.0, "", OPTION_AT(struct arm_step, wait_s), ""}, /* A pause. */
};
static const enum arm_op step_ops[] = {ARM_MOVEJ, ARM_MOVEL, ARM_MOVEC, ARM_OUTPUT};
static const struct option_items step_items = {
    .shape = OPTION_LIST, .table = OPTION_TABLE(step_rows), .least = 1, .most = ARM_STEPS_MAX,
    .bytes = sizeof(struct arm_step), .later = true, .fault = FAULT_LIST_EXPECTED, .what = "steps",
    .example = "[{movej: {q_rad: [0, -1.57, -1.57, -1.57, 1.57, 0]}}]", .add = add_step};

static const struct option_row moves_rows[] = {
    {"kind", OPTION_CHOICE, "", "arm", 0.0, 0.0, MISSION_FILE_CHOICES, IN_FILE(kind)}, /* Kind of robot. */
    {"name", OPTION_TEXT, "", "moves", 1.0, 0.0, "", IN_FILE(name)}, /* Name of the mission. */
    {"pair", OPTION_TEXT, "", "", OPTION_NO_RANGE, IN_FILE(pair)}, /* Pair to command. */
    {"arm", OPTION_CHOICE, "", "ur5", 0.0, 0.0, "ur5|ur5e|paper", IN_FILE(arm)}, /* Which arm. */
    /* Joint angles before the first step; by default the arm is asked. */
    {"start_q_rad", OPTION_ARRAY(six_items, struct moves_file, plan.start_q), ""},
    /* Height of the floor above the base's frame. */
    {"floor_m", OPTION_REAL, "m", "0", -10.0, 10.0, "", IN_FILE(floor_m)},
    /* Distance of the arm's parts from each other and the floor. */
    {"clearance_m", OPTION_REAL, "m", "0", 0.0, 1.0, "", IN_FILE(clearance_m)},
    /* Longest wait for a reply after the planned duration. */
    {"patience_s", OPTION_TIME, "s", "60", 0.1, 86400.0, "", IN_FILE(plan.patience_us)},
    {"steps", OPTION_EACH(step_items), ""}, /* Steps, one after another. */
};
/* clang-format on */

static const char *const arm_words[] = {"ur5", "ur5e", "paper"};

static void finish_move(const struct option_reading *reading, void *values)
{
    struct event_arm *move = values;
    for (size_t k = 0; k < COUNT(move_rows); k++) {
        if (option_node(reading, move_rows[k].path) != TREE_NONE) {
            move->present |= 1U << members[k];
        }
    }
    move->q_count = move->present & 1U << EVENT_ARM_Q ? 6 : 0;
    move->pose_count = move->present & 1U << EVENT_ARM_POSE ? 6 : 0;
    move->via_count = move->present & 1U << EVENT_ARM_VIA ? 3 : 0;
}

static void finish_output(const struct option_reading *reading, void *values)
{
    (void)reading; /* both keys are required */
    ((struct event_arm *)values)->present = 1U << EVENT_ARM_PIN | 1U << EVENT_ARM_ON;
}

static void add_step(const struct option_reading *item, void *value, void *owner)
{
    struct arm_step *step = value;
    struct arm_mission_plan *plan = &((struct moves_file *)owner)->plan;
    unsigned given = 0;
    for (size_t k = 0; k < COUNT(step_rows); k++) {
        given += option_node(item, step_rows[k].path) != TREE_NONE;
    }
    if (given != 1) {
        if (!item->failed) {
            option_fault_at(item, "", FAULT_CONFLICTING_KEYS,
                            "one of movej, movel, movec, output and wait_s is wanted");
        }
        return;
    }
    step->kind = ARM_STEP_WAIT;
    for (size_t k = 0; k < COUNT(step_ops); k++) {
        const uint32_t node = option_node(item, step_rows[k].path);
        if (node != TREE_NONE) {
            char shown[24];
            (void)snprintf(shown, sizeof shown, "%s.", step_rows[k].path);
            step->kind = ARM_STEP_COMMAND;
            step->op = step_ops[k];
            option_file_read(step->op == ARM_OUTPUT ? &output_file : &move_file, item->r, node,
                             shown, &step->request);
        }
    }
    plan->steps[plan->count++] = *step;
}

static void finish_moves(const struct option_reading *reading, void *context)
{
    struct moves_file *file = context;
    struct arm_mission_plan *plan = &file->plan;
    struct err err = {0};
    mission_check_pair(reading, file->pair);
    if (file->kind != MISSION_FILE_ARM) {
        option_fault_at(reading, "kind", FAULT_INCONSISTENT,
                        "arm was expected: the steps are moves of an arm");
    }
    (void)arm_geometry_find(arm_words[file->arm], &plan->arm);
    plan->bounds =
        (struct arm_bounds){.clearance_m = file->clearance_m, .floor_m = file->floor_m};
    plan->has_start = option_node(reading, "start_q_rad") != TREE_NONE;
    option_read_items(reading, "steps", file);
    if (!reading->r->failed && arm_mission_check(plan, plan->has_start ? plan->start_q : NULL,
                                                 file->planned_s, &err) != STATUS_OK) {
        option_fault_at(reading, "steps", err.fault, "%s: %s", err.where, err.text);
    }
}

const struct option_file moves_file = {
    .what = "a list of moves",
    .empty = "the file is empty, the least is \"steps: [{wait_s: 1}]\"",
    .table = OPTION_TABLE(moves_rows),
    .required = "steps",
    .bytes = sizeof(struct moves_file),
    .out_bytes = sizeof(struct moves_file),
    .finish = finish_moves};
