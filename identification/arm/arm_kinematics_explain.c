/* Explanation of poses that are not those of the arm.
 *
 * Each reading of the data (units, frames, columns, directions) is tried in turn. In the right
 * reading, the measured pose is rigidly attached to the flange, so that the tool hardly moves
 * in the flange's frame. The reading with the smallest spread wins if it is small enough.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_statistics_double.h>

#include "base/numbers/constants.h"
#include "identification/arm/arm_kinematics_parts.h"
#include "identification/arm/arm_thresholds.def"

enum { POSES = 64, ARMS_MAX = 8 };

static const struct {
    double factor;
    const char *words;
} angle_units[] = {{1.0, NULL},
                   {RAD_PER_DEG, "joint angles in degrees"},
                   {1e-3, "joint angles in mrad"},
                   {2.0 * PI, "joint angles in revolutions"}};
static const struct {
    double factor;
    const char *words;
} place_units[] = {{1.0, NULL},
                   {1e-3, "positions in millimetres"},
                   {1e-2, "positions in centimetres"},
                   {1e-4, "positions in tenths of a millimetre"}};
static const struct {
    double factor;
    bool rpy;
    const char *words;
} turn_units[] = {{1.0, false, NULL},
                  {RAD_PER_DEG, false, "rotation vectors in degrees"},
                  {1e-3, false, "rotation vectors in mrad"},
                  {1.0, true, "roll, pitch and yaw in place of rotation vectors"},
                  {RAD_PER_DEG, true, "roll, pitch and yaw in degrees"}};

/* A reading of the poses; 0: as recorded. */
struct reading {
    const struct arm_geometry *arm;
    size_t angles, places, turns; /* indices of the units above */
    bool ros;                     /* base_link of ROS: rotated by pi about z */
    bool inverse;                 /* the pose is that of the base in the tool's frame */
    size_t swap[2]; /* two exchanged columns of q1 ... q6 x y z rx ry rz; equal: none */
    size_t flip;    /* joint with the opposite direction; ARM_JOINTS: none */
    bool reversed;  /* joints are listed from the tool to the base */
};

struct seen {
    double at_m[3];    /* tool in the flange's frame */
    double place_m[3]; /* tool in the base's frame */
    struct rigid turn;
};

/* Applies a reading to a pose and computes the tool in the flange's frame. It is constant
 * over all poses if the reading is right. */
static void read_pose(const struct reading *how, const struct arm_pair *pair, struct seen *seen)
{
    double column[ARM_JOINTS + 6];
    memcpy(column, pair->q_rad, sizeof pair->q_rad);
    memcpy(column + ARM_JOINTS, pair->pose, sizeof pair->pose);
    const double swapped = column[how->swap[0]];
    column[how->swap[0]] = column[how->swap[1]];
    column[how->swap[1]] = swapped;
    for (size_t k = 0; k < ARM_JOINTS / 2 && how->reversed; k++) {
        const double other = column[k];
        column[k] = column[ARM_JOINTS - 1 - k];
        column[ARM_JOINTS - 1 - k] = other;
    }
    for (size_t k = 0; k < ARM_JOINTS; k++) {
        column[k] *= (k == how->flip ? -1.0 : 1.0) * angle_units[how->angles].factor;
    }
    for (size_t k = 0; k < 3; k++) {
        column[ARM_JOINTS + k] *= place_units[how->places].factor;
        column[ARM_JOINTS + 3 + k] *= turn_units[how->turns].factor;
    }
    struct rigid measured = turn_units[how->turns].rpy
                                ? arm_urdf_origin(column + ARM_JOINTS, column + ARM_JOINTS + 3)
                                : rigid_from_pose(column + ARM_JOINTS);
    measured = how->inverse ? rigid_invert(&measured) : measured;
    struct rigid base = rigid_identity;
    base.turn[0][0] = base.turn[1][1] = how->ros ? -1.0 : 1.0;
    measured = rigid_multiply(&base, &measured);
    memcpy(seen->place_m, measured.at_m, sizeof seen->place_m);
    const struct rigid there = arm_forward(how->arm, column);
    const struct rigid back = rigid_invert(&there);
    seen->turn = rigid_multiply(&back, &measured);
    memcpy(seen->at_m, seen->turn.at_m, sizeof seen->at_m);
}

static double find_apart(const struct seen *a, const struct seen *b)
{
    double twist[6];
    rigid_difference(&a->turn, &b->turn, twist);
    return hypot(hypot(twist[0], twist[1]), twist[2]) +
           LEVER_M * hypot(hypot(twist[3], twist[4]), twist[5]);
}

/* Score of a reading: the median distance by which the tool moves in the flange's frame, from
 * one of two reference poses. The tool is fixed to the flange, so the right reading gives
 * about zero, whatever the tool is; a wrong unit or column makes it move. Rotations count by
 * the lever LEVER_M. The median tolerates wrong poses, and two references tolerate one that
 * is wrong itself. A unit that makes all places small also makes this distance small. So a
 * reading in other units counts only if the distance is small relative to the tool's path in
 * the room. */
static double find_spread(const struct reading *how, const struct arm_pairs *pairs,
                          double *tool_m)
{
    struct seen seen[POSES];
    double apart[POSES];
    double least = HUGE_VAL;
    double way_m = 0.0;
    const size_t n = pairs->n < POSES ? pairs->n : POSES;
    for (size_t k = 0; k < n; k++) {
        read_pose(how, &pairs->pair[k * pairs->n / n], &seen[k]);
    }
    for (size_t from = 0; from < n; from += (n + 1) / 2) {
        for (size_t k = 0; k < n; k++) {
            apart[k] = find_apart(&seen[from], &seen[k]);
        }
        least = fmin(least, gsl_stats_median(apart, 1, n));
        for (size_t k = 0; k < n; k++) {
            const double *a = seen[from].place_m;
            const double *b = seen[k].place_m;
            way_m = fmax(way_m, hypot(hypot(a[0] - b[0], a[1] - b[1]), a[2] - b[2]));
        }
    }
    double square = 0.0;
    for (size_t c = 0; c < 3; c++) {
        for (size_t k = 0; k < n; k++) {
            apart[k] = seen[k].at_m[c];
        }
        square += pow(gsl_stats_median(apart, 1, n), 2.0);
    }
    *tool_m = sqrt(square);
    const bool shrinks = how->places > 0 && !(least < FITS_RATIO * way_m);
    return shrinks ? HUGE_VAL : least;
}

static void append_words(char *text, size_t room, const char *words)
{
    const size_t used = strlen(text);
    if (words) {
        (void)snprintf(text + used, room - used, "%s%s", used > 0 ? ", " : "", words);
    }
}

static void format_reading(const struct reading *how, const struct arm_geometry *asked,
                           char text[ESTIMATE_TEXT_MAX])
{
    static const char *const columns[ARM_JOINTS + 6] = {"q1", "q2", "q3", "q4", "q5", "q6",
                                                        "x",  "y",  "z",  "rx", "ry", "rz"};
    char words[64];
    text[0] = '\0';
    if (how->arm != asked) {
        (void)snprintf(words, sizeof words, "a %s", how->arm->name);
        append_words(text, ESTIMATE_TEXT_MAX, words);
    }
    append_words(text, ESTIMATE_TEXT_MAX, angle_units[how->angles].words);
    append_words(text, ESTIMATE_TEXT_MAX, place_units[how->places].words);
    append_words(text, ESTIMATE_TEXT_MAX, turn_units[how->turns].words);
    append_words(text, ESTIMATE_TEXT_MAX, how->ros ? "ROS' base_link for the base" : NULL);
    append_words(text, ESTIMATE_TEXT_MAX, how->inverse ? "the base seen from the tool" : NULL);
    append_words(text, ESTIMATE_TEXT_MAX, how->reversed ? "joints from tool to base" : NULL);
    if (how->swap[0] != how->swap[1]) {
        (void)snprintf(words, sizeof words, "%s and %s exchanged", columns[how->swap[0]],
                       columns[how->swap[1]]);
        append_words(text, ESTIMATE_TEXT_MAX, words);
    }
    if (how->flip < ARM_JOINTS) {
        (void)snprintf(words, sizeof words, "joint %zu counted backwards", how->flip + 1);
        append_words(text, ESTIMATE_TEXT_MAX, words);
    }
}

struct best {
    struct reading how;
    double spread_m, tool_m;
};

static void try_reading(const struct reading *how, const struct arm_pairs *pairs,
                        struct best *best)
{
    double tool_m;
    const double spread_m = find_spread(how, pairs, &tool_m);
    if (spread_m < best->spread_m) {
        *best = (struct best){*how, spread_m, tool_m};
    }
}

static void try_units(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                      struct best *best)
{
    struct reading how = {.arm = arm, .flip = ARM_JOINTS};
    for (how.angles = 0; how.angles < COUNT(angle_units); how.angles++) {
        for (how.places = 0; how.places < COUNT(place_units); how.places++) {
            for (how.turns = 0; how.turns < COUNT(turn_units); how.turns++) {
                how.ros = false;
                try_reading(&how, pairs, best);
                how.ros = true;
                try_reading(&how, pairs, best);
            }
        }
    }
}

/* Tries inverse poses, joints in reverse order, one joint of opposite sign, and exchanges of
 * two columns of the same kind. Each is a common mistake in a table of poses. */
static void try_columns(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                        struct best *best)
{
    const struct reading plain = {.arm = arm, .flip = ARM_JOINTS};
    struct reading how = plain;
    how.inverse = true;
    try_reading(&how, pairs, best);
    how = plain;
    how.reversed = true;
    try_reading(&how, pairs, best);
    how = plain;
    for (how.flip = 0; how.flip < ARM_JOINTS; how.flip++) {
        try_reading(&how, pairs, best);
    }
    for (size_t a = 0; a < ARM_JOINTS + 6; a++) {
        const size_t end = a < ARM_JOINTS ? ARM_JOINTS : a < 9 ? 9 : 12;
        for (size_t b = a + 1; b < end; b++) {
            how = plain;
            how.swap[0] = a;
            how.swap[1] = b;
            try_reading(&how, pairs, best);
        }
    }
}

void arm_kinematics_explain(const struct arm_geometry *arm, const struct arm_pairs *pairs,
                            struct arm_kinematics_fit *fit)
{
    const struct reading plain = {.arm = arm, .flip = ARM_JOINTS};
    struct best best = {.spread_m = HUGE_VAL};
    struct arm_geometry others[ARMS_MAX];
    try_reading(&plain, pairs, &best);
    if (best.spread_m < FITS_M) {
        fit->tool_m = best.tool_m;
        return;
    }
    try_units(arm, pairs, &best);
    try_columns(arm, pairs, &best);
    for (size_t k = 0; k < ARMS_MAX && arm_geometry_name(k) && !(best.spread_m < FITS_M); k++) {
        if (arm_geometry_find(arm_geometry_name(k), &others[k])) {
            try_units(&others[k], pairs, &best);
        }
    }
    if (best.spread_m < FITS_M) {
        format_reading(&best.how, arm, fit->explained);
        fit->tool_m = best.tool_m;
    }
}
