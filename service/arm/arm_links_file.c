#include "service/arm/arm_links_file.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"

/* Tolerance (m, ratio): a URDF's base may only turn and shift about the first joint's axis. */
static const double BASE_MAX = 1e-6;

/* clang-format off */
static const struct option_row number = OPTION_NUMBER(-HUGE_VAL);
static const struct option_items six_items = {
    .shape = OPTION_LIST, .value = &number, .least = 6, .most = 6, .bytes = sizeof(double),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "numbers", .example = "[0, 0, 0, 0, 0, 0]"};
static const struct option_row six = {.type = OPTION_ITEMS, .size = sizeof(double[6]), .items = &six_items};
static const struct option_items link_items = {
    .shape = OPTION_LIST, .value = &six, .least = ARM_JOINTS, .most = ARM_JOINTS, .bytes = sizeof(double[6]),
    .fault = FAULT_NUMBERS_EXPECTED, .what = "lists of six numbers"};
static const struct option_row links = {
    .type = OPTION_ITEMS, .size = sizeof(double[6 * ARM_JOINTS]), .items = &link_items};
/* clang-format on */

static void set_links(struct option_reader *r, uint32_t node,
                      const struct rigid link[ARM_JOINTS], struct arm_geometry *arm)
{
    size_t worst = 0;
    if (!r->failed && arm_geometry_set_links(arm, link, &worst) != STATUS_OK) {
        option_fault(r, node, FAULT_WRONG_ROBOT,
                     "link %zu is off that of a %s by more than %g m or %g rad: another arm?",
                     worst, arm->name, ARM_CORRECTION_MAX_M, ARM_CORRECTION_MAX_RAD);
    }
}

/* ---- output of tandem identify ------------------------------------------------------- */

/* Returns a member's text, "" when it is absent. */
static const char *read_word(const struct option_reader *r, uint32_t map, const char *key)
{
    return tree_scalar(r->tree, tree_child(r->tree, map, key));
}

static void read_corrections(struct option_reader *r, uint32_t root, uint32_t node,
                             struct arm_geometry *arm)
{
    const char *name = read_word(r, root, "arm");
    double correction[6 * ARM_JOINTS] = {0.0};
    if (name[0] && strcmp(name, arm->name) != 0) {
        option_fault(r, tree_child(r->tree, root, "arm"), FAULT_WRONG_ROBOT,
                     "arm: corrections of a %.40s, this is a %s", name, arm->name);
    }
    if (strcmp(read_word(r, root, "verdict"), "FAIL") == 0) {
        option_fault(r, tree_child(r->tree, root, "verdict"), FAULT_WRONG_ROBOT,
                     "verdict: the fit is a FAIL, so these are not the arm's links");
    }
    option_read_node(r, &links, node, "corrections", correction);
    if (!r->failed) {
        struct arm_geometry corrected = *arm;
        arm_geometry_correct(&corrected, correction);
        set_links(r, node, corrected.link, arm);
    }
}

/* ---- a UR controller's calibration.conf ---- */

/* Rewrites "key = value" and sections as YAML, character by character, so that faults keep
 * their places. */
static void translate_conf(char *text, size_t bytes)
{
    char *end = text + bytes;
    if (!memmem(text, bytes, "delta_theta", strlen("delta_theta")) ||
        memmem(text, bytes, "delta_theta:", strlen("delta_theta:"))) {
        return;
    }
    for (char *line = text; line < end;) {
        char *next = memchr(line, '\n', (size_t)(end - line));
        next = next ? next + 1 : end;
        char *equals = memchr(line, '=', (size_t)(next - line));
        char *first = line;
        while (first + 1 < next && (*first == ' ' || *first == '\t')) {
            first++;
        }
        if (*first == '[') {
            *first = '#';
        } else if (equals) {
            *equals = ':';
        }
        line = next;
    }
}

static void read_table(struct option_reader *r, uint32_t root, struct arm_geometry *arm)
{
    static const char *const keys[] = {"delta_theta", "delta_d", "delta_a", "delta_alpha"};
    double delta[COUNT(keys)][6] = {{0.0}};
    struct arm_dh dh[ARM_JOINTS];
    size_t worst = 0;
    for (size_t k = 0; k < COUNT(keys); k++) {
        const uint32_t node = tree_child(r->tree, root, keys[k]);
        if (node == TREE_NONE) {
            option_fault(r, TREE_NONE, FAULT_MISSING_KEY, "%s is missing", keys[k]);
        } else {
            option_read_node(r, &six, node, keys[k], delta[k]);
        }
    }
    const double d[ARM_JOINTS] = {arm->d1_m, 0.0, 0.0, arm->d4_m, arm->d5_m, arm->d6_m};
    const double a[ARM_JOINTS] = {0.0, arm->a2_m, arm->a3_m, 0.0, 0.0, 0.0};
    const double alpha[ARM_JOINTS] = {PI / 2.0, 0.0, 0.0, PI / 2.0, -PI / 2.0, 0.0};
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        dh[i] = (struct arm_dh){.theta_rad = delta[0][i],
                                .d_m = d[i] + delta[1][i],
                                .a_m = a[i] + delta[2][i],
                                .alpha_rad = alpha[i] + delta[3][i]};
    }
    if (!r->failed && arm_geometry_set_dh(arm, dh, &worst) != STATUS_OK) {
        option_fault(r, tree_child(r->tree, root, keys[0]), FAULT_WRONG_ROBOT,
                     "link %zu is off that of a %s by more than %g m or %g rad: another arm?",
                     worst, arm->name, ARM_CORRECTION_MAX_M, ARM_CORRECTION_MAX_RAD);
    }
}

/* ---- origins of a URDF's joints ---- */

static struct rigid read_origin(struct option_reader *r, uint32_t node, const char *joint)
{
    static const char *const keys[] = {"x", "y", "z", "roll", "pitch", "yaw"};
    double v[COUNT(keys)] = {0.0};
    for (size_t i = 0; i < COUNT(keys); i++) {
        const uint32_t at = tree_child(r->tree, node, keys[i]);
        if (at == TREE_NONE) {
            option_fault(r, node, FAULT_MISSING_KEY, "kinematics.%s.%s is missing", joint,
                         keys[i]);
        } else {
            option_read_node(r, &number, at, joint, &v[i]);
        }
    }
    return arm_urdf_origin(v, v + 3);
}

/* The chain is T = O1 Rz(q1) O2 … O6 Rz(q6). O1 only turns and shifts about the first joint's
 * axis, so it commutes with Rz(q1) and joins O2. */
static void read_origins(struct option_reader *r, uint32_t node, struct arm_geometry *arm)
{
    static const char *const joints[ARM_JOINTS] = {"shoulder", "upper_arm", "forearm",
                                                   "wrist_1",  "wrist_2",   "wrist_3"};
    struct rigid origin[ARM_JOINTS];
    struct rigid link[ARM_JOINTS];
    for (size_t i = 0; i < ARM_JOINTS; i++) {
        const uint32_t at = tree_child(r->tree, node, joints[i]);
        origin[i] = rigid_identity;
        if (at == TREE_NONE) {
            option_fault(r, node, FAULT_MISSING_KEY, "kinematics.%s is missing", joints[i]);
        } else {
            origin[i] = read_origin(r, at, joints[i]);
        }
    }
    const struct rigid *base = &origin[0];
    if (!r->failed && !(hypot(base->at_m[0], base->at_m[1]) <= BASE_MAX &&
                        hypot(base->turn[0][2], base->turn[1][2]) <= BASE_MAX)) {
        option_fault(r, tree_child(r->tree, node, joints[0]), FAULT_WRONG_ROBOT,
                     "kinematics.shoulder: the base is shifted or tilted: x, y, roll and pitch "
                     "of 0 were expected");
    }
    link[0] = rigid_multiply(base, &origin[1]);
    for (size_t i = 1; i + 1 < ARM_JOINTS; i++) {
        link[i] = origin[i + 1];
    }
    link[ARM_JOINTS - 1] = rigid_identity;
    set_links(r, node, link, arm);
}

/* ---- a file ---- */

static void read_arm(const struct option_reading *reading, void *values)
{
    struct arm_links *file = values;
    struct option_reader *r = reading->r;
    const uint32_t corrections = tree_child(r->tree, reading->node, "corrections");
    const uint32_t kinematics = tree_child(r->tree, reading->node, "kinematics");
    if (corrections != TREE_NONE) {
        read_corrections(r, reading->node, corrections, &file->arm);
    } else if (kinematics != TREE_NONE) {
        read_origins(r, kinematics, &file->arm);
    } else if (tree_child(r->tree, reading->node, "delta_theta") != TREE_NONE) {
        read_table(r, reading->node, &file->arm);
    } else {
        option_fault(r, TREE_NONE, FAULT_MISSING_KEY,
                     "\"corrections\" (tandem identify --model arm_kinematics --json), "
                     "delta_theta (calibration.conf of a UR controller) or kinematics (ROS' "
                     "ur_calibration) were expected");
    }
}

const struct option_file arm_links_file = {.what = "an arm's links",
                                           .empty = "the file is empty",
                                           .bytes = sizeof(struct arm_links),
                                           .out_bytes = sizeof(struct arm_links),
                                           .translate = translate_conf,
                                           .finish = read_arm};
