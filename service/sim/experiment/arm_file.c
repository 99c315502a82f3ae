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
};

/* clang-format off */
#define AT(m)   OPTION_AT(struct arm_values, m), ""
#define BY_HAND OPTION_BY_HAND, ""

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
    {"moves", OPTION_MAP, "", "", BY_HAND},
    /* s, pause between moves. */
    {"rest_s", OPTION_REAL, "s", "0.5", 0.0, 60.0, "", AT(file.rest_s)},
    /* s, lags of the joint speeds behind their commands: the known one, and the simulated
     * arm's. */
    {"lag_s", OPTION_REAL, "s", "0.0006", 1e-6, 10.0, "", AT(lag_s)},
    /* Speed of commands, for the joint that turns farthest. */
    {"command.v_radps", OPTION_REAL, "rad/s", "1.05", 1e-6, 1e3, "", AT(file.rates.v_radps)},
    {"command.a_radps2", OPTION_REAL, "rad/s^2", "1.4", 1e-6, 1e6, "", AT(file.rates.a_radps2)},
    /* s, lead of the virtual arm's commands, a list. */
    {"command.off_s", OPTION_MAP, "", "", BY_HAND},
    /* Samples a second, a list; one table line each. */
    {"telemetry.rate_hz", OPTION_MAP, "", "", BY_HAND},
    /* s, delay of the samples, a list of the same length. */
    {"telemetry.late_s", OPTION_MAP, "", "", BY_HAND},
    /* Ratio of lost samples. */
    {"telemetry.loss_ratio", OPTION_REAL, "", "0", 0.0, 0.95, "", AT(loss_ratio)},
    {"seed", OPTION_INTEGER, "", "1", 0.0, 1e15, "", AT(seed)}, /* Seed of the losses. */
};
/* clang-format on */

static const struct option_table options = {rows, COUNT(rows)};

/* Reads one move: a list of angles. */
static void read_move(struct option_reader *r, uint32_t node, double *q)
{
    const struct tree_node *list = &r->tree->nodes[node];
    size_t i = 0;
    if (list->kind != TREE_LIST || list->count != ARM_JOINTS) {
        option_fault(r, node, FAULT_NUMBERS_EXPECTED,
                     "moves: six angles were expected, as in [0, -1.57, 0, 0, 0, 0]");
        return;
    }
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        (void)option_number(r, at, "moves", &q[i++]);
    }
}

static void read_moves(const struct option_reading *reading, struct arm_file *file)
{
    struct option_reader *r = reading->r;
    const uint32_t node = option_node(reading, "moves");
    const struct tree_node *list = &r->tree->nodes[node];
    if (node == TREE_NONE) {
        return;
    }
    if (list->kind != TREE_LIST || list->count < 2 || list->count > ARM_MOVES_MAX) {
        option_fault(r, node, FAULT_NUMBERS_EXPECTED,
                     "moves: a list of 2 to %d lists of six angles was expected",
                     ARM_MOVES_MAX);
        return;
    }
    for (uint32_t at = list->first; at != TREE_NONE; at = r->tree->nodes[at].next) {
        read_move(r, at, file->moves[file->move_count++]);
    }
}

static void read_telemetry(const struct option_reading *reading, const struct arm_values *v,
                           struct arm_file *file)
{
    static const char expected[] = "1 to 16 numbers was expected";
    _Static_assert(ARM_CASES_MAX == 16, "as is said");
    double rate_hz[ARM_CASES_MAX];
    double late_s[ARM_CASES_MAX];
    const size_t rates = experiment_numbers(reading, "telemetry.rate_hz", 1, ARM_CASES_MAX,
                                            0.01, expected, rate_hz);
    const size_t lates = experiment_numbers(reading, "telemetry.late_s", 1, ARM_CASES_MAX, 0.0,
                                            expected, late_s);
    if (rates == 0 || rates != lates) {
        option_fault(reading->r, option_node(reading, "telemetry.late_s"), FAULT_WRONG_COUNT,
                     "telemetry: lists rate_hz and late_s of one length are wanted, as in "
                     "{rate_hz: [125, 10], late_s: [0.1, 0.1]}");
        return;
    }
    file->case_count = rates;
    for (size_t i = 0; i < rates; i++) {
        file->telemetry[i] = (struct arm_telemetry){.rate_hz = rate_hz[i],
                                                    .late_s = late_s[i],
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
        option_fault(reading->r, option_node(reading, "arm"), FAULT_UNKNOWN_NAME,
                     "arm: '%.40s' is not known: %s", v->arm, names);
    }
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        file->theta[i] = v->lag_s;
        file->theta[ARM_JOINTS + i] = 1.0;
    }
    file->rates.v_mps = arm_rates_default.v_mps;
    file->rates.a_mps2 = arm_rates_default.a_mps2;
    read_moves(reading, file);
    read_telemetry(reading, v, file);
    file->off_count = experiment_numbers(reading, "command.off_s", 1, ARM_CASES_MAX, -HUGE_VAL,
                                         "1 to 16 numbers was expected", file->off_s);
    if (file->recording_path[0] == '\0' && option_node(reading, "moves") == TREE_NONE) {
        option_fault(reading->r, TREE_NONE, FAULT_MISSING_KEY,
                     "recording or moves are missing: what the real arm does");
    }
    if (file->recording_path[0] != '\0' && option_node(reading, "moves") != TREE_NONE) {
        option_fault(reading->r, option_node(reading, "moves"), FAULT_NOT_APPLICABLE,
                     "moves: they have no effect with a recording");
    }
    experiment_path(reading, "recording", file->recording_path);
}

const struct option_file arm_file = {.what = "an experiment",
                                     .empty =
                                         "the file is empty, recording or moves are missing",
                                     .table = &options,
                                     .bytes = sizeof(struct arm_values),
                                     .out_bytes = sizeof(struct arm_file),
                                     .finish = finish_arm};
