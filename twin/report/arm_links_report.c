#include "twin/report/arm_links_report.h"

#include <math.h>

#include "identification/geometry/arm_geometry.h"

/* UR's names. */
static const char *const joint_names[ARM_JOINTS] = {"base",    "shoulder", "elbow",
                                                    "wrist 1", "wrist 2",  "wrist 3"};

static double round_m(double m)
{
    return round(m * 1e5) / 1e5 + 0.0;
}

static void write_numbers(struct json_writer *w, const char *key, const double *v, size_t n)
{
    JSON_LIST(w, key, size_t i = 0; i < n; i++) {
        json_write_real(w, NULL, round_m(v[i]));
    }
}

/* Base, far ends of the links, tool. Shoulder and elbow have an extra point, because their
 * links are offset sideways from the previous joint. */
static void write_links(struct json_writer *w, const struct arm_geometry *arm,
                        const struct pair_side *side, const struct rigid *tool)
{
    struct rigid frames[ARM_JOINTS + 1];
    arm_frames(arm, side->pose, frames);
    json_write_array(w, "links_m");
    for (size_t i = 0; i <= ARM_JOINTS; i++) {
        write_numbers(w, NULL, frames[i].at_m, 3);
    }
    write_numbers(w, NULL, tool->at_m, 3);
    json_write_close(w);
}

static bool has_joints(const struct pair_side *side)
{
    bool all = side->telemetry > 0 && side->pose_count == ARM_JOINTS;
    for (size_t i = 0; all && i < ARM_JOINTS; i++) {
        all = isfinite(side->pose[i]);
    }
    return all;
}

static void write_side(struct json_writer *w, const struct arm_geometry *arm, enum side s,
                       const struct pair_side *side)
{
    if (!has_joints(side)) {
        json_write_null(w, side_name(s));
        return;
    }
    double pose[6];
    const struct rigid tool = arm_forward(arm, side->pose);
    rigid_to_pose(&tool, pose);
    JSON_OPEN(w, side_name(s), JSON_SECONDS("t", side->seen_us));
    write_numbers(w, "q_rad", side->pose, ARM_JOINTS);
    write_numbers(w, "qd_radps", side->nu, side->nu_count);
    write_links(w, arm, side, &tool);
    write_numbers(w, "tool", pose, 6);
    json_write_close(w);
}

static double find_gap_mm(const struct arm_geometry *arm, const struct pair *pair)
{
    const struct rigid real = arm_forward(arm, pair->side[SIDE_REAL].pose);
    const struct rigid virtual = arm_forward(arm, pair->side[SIDE_VIRTUAL].pose);
    return 1e3 * hypot(hypot(real.at_m[0] - virtual.at_m[0], real.at_m[1] - virtual.at_m[1]),
                       real.at_m[2] - virtual.at_m[2]);
}

static void write_joints(struct json_writer *w, const struct arm_geometry *arm)
{
    JSON_LIST(w, "joints", size_t i = 0; i < ARM_JOINTS; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("name", joint_names[i]),
                          JSON("limit_rad", arm->q_max_rad[i]));
    }
}

void arm_links_report(struct json_writer *w, const char *key, const struct pair *pair,
                      const struct pair_params *p)
{
    struct arm_geometry arm;
    const bool is_arm = pair_is_arm(p) && arm_geometry_find(p->arm, &arm);
    JSON_OPEN(w, key, JSON("pair", p->id), JSON("arm", is_arm ? arm.name : NULL));
    if (is_arm) {
        json_write_real(w, "reach_m",
                        round_m(fabs(arm.a2_m) + fabs(arm.a3_m) + arm.d5_m + arm.d6_m));
        write_joints(w, &arm);
        for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
            write_side(w, &arm, s, &pair->side[s]);
        }
        const bool both =
            has_joints(&pair->side[SIDE_REAL]) && has_joints(&pair->side[SIDE_VIRTUAL]);
        json_write_real(w, "tool_gap_mm",
                        both ? round(find_gap_mm(&arm, pair) * 1e3) / 1e3 : nan(""));
    }
    json_write_close(w);
}
