#include "service/sim/experiment/arm_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "service/sim/experiment/experiment_lists.h"

/* The option rows write to this struct. */
struct arm_values {
    struct arm_file file;
    int kind;
    char arm[ARM_NAME_MAX];
    double lag_s, loss_ratio;
    uint64_t seed;
    size_t rate_count, late_count;
    double rate_hz[ARM_CASES_MAX], late_s[ARM_CASES_MAX];
};

/* clang-format off */
#define AT(m)   OPTION_AT(struct arm_values, m), ""
#define ARRAY(items, m) OPTION_ARRAY(items, struct arm_values, m), ""
#define LIST(number, count) EXPERIMENT_LIST(number, 1, ARM_CASES_MAX, offsetof(struct arm_values, count))

/* Samples have times in microseconds, so that more than a million a second have no period. */
static const struct option_row rate_value = {
    .type = OPTION_REAL, .min = 0.01, .max = 1e6, .unit = "", .size = sizeof(double)};
static const struct option_items rate_items = LIST(rate_value, rate_count);
static const struct option_items late_items = LIST(experiment_size, late_count);
static const struct option_items off_items = LIST(experiment_number, file.off_count);
static const struct option_items angle_items = {
    .shape = OPTION_LIST, .value = &experiment_number, .least = ARM_JOINTS, .most = ARM_JOINTS,
    .bytes = sizeof(double), .fault = FAULT_NUMBERS_EXPECTED, .what = "angles", .example = "[0, -1.57, 0, 0, 0, 0]"};
static const struct option_row move_value = {
    .type = OPTION_ITEMS, .size = sizeof(double[ARM_JOINTS]), .items = &angle_items};
static const struct option_items move_items = {
    .shape = OPTION_LIST, .value = &move_value, .least = 2, .most = ARM_MOVES_MAX, .bytes = sizeof(double[ARM_JOINTS]),
    .count_at = offsetof(struct arm_values, file.move_count), .fault = FAULT_NUMBERS_EXPECTED,
    .what = "lists of six angles"};

static const struct option_row rows[] = {
    {"kind", OPTION_CHOICE, "", "arm", 0.0, 0.0, "arm", AT(kind)}, /* Kind of the experiment. */
    {"name", OPTION_TEXT, "", "arm", 1.0, 0.0, "", AT(file.name)}, /* Name of the experiment. */
    /* Its purpose, in a sentence. */
    {"purpose", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.purpose)},
    /* Arm whose link lengths hold: ur5, ur5e or paper. */
    {"arm", OPTION_TEXT, "", "ur5", 1.0, 0.0, "", AT(arm)},
    /* CSV of a real arm: t_s, and for joints 1 to 6 q1_target_rad, q1_actual_rad,
     * qd1_target_radps, qd1_actual_radps */
    {"recording", OPTION_TEXT, "", "", OPTION_NO_RANGE, AT(file.recording_path)},
    /* Without a recording a simulated arm makes these moves: angles of the six joints at the
     * start, then targets. */
    {"moves", ARRAY(move_items, file.moves)},
    /* s, pause between moves. */
    {"rest_s", OPTION_REAL, "s", "0.5", 0.0, 60.0, "", AT(file.rest_s)},
    /* s, lags of the joint speeds behind their commands: the known one, and the simulated
     * arm's. */
    {"lag_s", OPTION_REAL, "s", "0.0006", 1e-6, 10.0, "", AT(lag_s)},
    /* Speed of commands, for the joint that turns farthest. */
    {"command.v_radps", OPTION_REAL, "rad/s", "1.05", 1e-6, 1e3, "", AT(file.rates.v_radps)},
    {"command.a_radps2", OPTION_REAL, "rad/s^2", "1.4", 1e-6, 1e6, "", AT(file.rates.a_radps2)},
    /* s, lead of the virtual arm's commands, a list. */
    {"command.off_s", ARRAY(off_items, file.off_s)},
    /* Samples a second, up to a million, a list; one table line each. */
    {"telemetry.rate_hz", ARRAY(rate_items, rate_hz)},
    /* s, delay of the samples, a list of the same length. */
    {"telemetry.late_s", ARRAY(late_items, late_s)},
    /* Ratio of lost samples. */
    {"telemetry.loss_ratio", OPTION_REAL, "", "0", 0.0, 0.95, "", AT(loss_ratio)},
    {"seed", OPTION_INTEGER, "", "1", 0.0, 1e15, "", AT(seed)}, /* Seed of the losses. */
};
/* clang-format on */

static void fill_telemetry(const struct option_reading *reading, struct arm_values *v)
{
    if (v->rate_count == 0 || v->rate_count != v->late_count) {
        option_fault_at(reading, "telemetry.late_s", FAULT_WRONG_COUNT,
                        "lists rate_hz and late_s of one length are wanted, as in "
                        "{rate_hz: [125, 10], late_s: [0.1, 0.1]}");
        return;
    }
    v->file.case_count = v->rate_count;
    for (size_t i = 0; i < v->rate_count; i++) {
        v->file.telemetry[i] = (struct arm_telemetry){.rate_hz = v->rate_hz[i],
                                                      .late_s = v->late_s[i],
                                                      .loss_ratio = v->loss_ratio,
                                                      .seed = v->seed};
    }
}

static void finish_arm(const struct option_reading *reading, void *values)
{
    struct arm_values *v = values;
    struct arm_file *file = &v->file;
    char names[96] = "";
    for (size_t i = 0; arm_geometry_name(i); i++) {
        names_append(names, sizeof names, arm_geometry_name(i));
    }
    if (!arm_geometry_find(v->arm, &file->arm)) {
        option_fault_at(reading, "arm", FAULT_UNKNOWN_NAME, "'%.40s' is not known: %s", v->arm,
                        names);
    }
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        file->theta[i] = v->lag_s;
        file->theta[ARM_JOINTS + i] = 1.0;
    }
    file->rates.v_mps = arm_rates_default.v_mps;
    file->rates.a_mps2 = arm_rates_default.a_mps2;
    fill_telemetry(reading, v);
    const bool moves = option_node(reading, "moves") != TREE_NONE;
    if (file->recording_path[0] == '\0' && !moves) {
        option_fault_at(reading, "recording", FAULT_MISSING_KEY,
                        "it is missing, or moves are: what the real arm does");
    }
    if (file->recording_path[0] != '\0' && moves) {
        option_fault_at(reading, "moves", FAULT_NOT_APPLICABLE,
                        "they have no effect with a recording");
    }
    experiment_path(reading, "recording", file->recording_path);
}

const struct option_file arm_file = {.what = "an experiment",
                                     .empty =
                                         "the file is empty, recording or moves are missing",
                                     .table = OPTION_TABLE(rows),
                                     .bytes = sizeof(struct arm_values),
                                     .out_bytes = sizeof(struct arm_file),
                                     .finish = finish_arm};
