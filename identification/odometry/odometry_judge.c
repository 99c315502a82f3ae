/* Verdict on a fit of odometry, and advice for the next drive.
 */
#include <math.h>

#include "identification/fit/plausible.h"
#include "identification/odometry/odometry_parts.h"
#include "identification/odometry/odometry_thresholds.def"

/* Ranges from a toy to a lorry. Angles in degrees make wheels small, positions in mm make
 * everything large. */
static const struct plausible_range plausible[] = {
    {"the mean radius", 3e-3, 2.0, PLAUSIBLE_ANGLE, PLAUSIBLE_LENGTH, 0.0},
    {"track_m", 0.02, 5.0, 0, PLAUSIBLE_LENGTH, 0.0},
    {"the mean speed", 1e-3, 60.0, PLAUSIBLE_TIME, PLAUSIBLE_TIME | PLAUSIBLE_LENGTH, 0.0},
};
static const double HALF_TURN = 1.5707963267948966;

static const char radii_advice[] =
    "drive several metres, straight and in curves: radii show in the way made";
static const char place_advice[] =
    "turn on the spot, to the left and to the right: only turns show the sensor's position";

static const char *const path_advice[ODOMETRY_P] = {
    [ODOMETRY_RADIUS_RIGHT] = radii_advice,
    [ODOMETRY_RADIUS_LEFT] = radii_advice,
    [ODOMETRY_TRACK] =
        "drive a closed circle in both directions: the track shows in turns alone",
    [ODOMETRY_SENSOR_X] = place_advice,
    [ODOMETRY_SENSOR_Y] = place_advice,
    [ODOMETRY_SENSOR_ALPHA] =
        "drive several metres straight ahead: the sensor's heading shows there",
    [ODOMETRY_SENSOR_DELAY] =
        "start, stop and turn now and then: the sensor's delay shows where speeds change"};

/* Returns whether the standard error is small enough for the value to be useful. */
static bool is_useful(const struct estimate *e, enum odometry_parameter i)
{
    if (!e->identifiable[i]) {
        return false;
    }
    if (i == ODOMETRY_SENSOR_ALPHA) {
        return e->se[i] <= ALPHA_SE_MAX;
    }
    if (i == ODOMETRY_SENSOR_DELAY) {
        return e->se[i] <= DELAY_SE_S_MAX;
    }
    if (i >= ODOMETRY_SENSOR_X) {
        return e->identifiable[ODOMETRY_TRACK] &&
               e->se[i] <= SENSOR_RATIO_MAX * e->value[ODOMETRY_TRACK];
    }
    return e->se[i] <= SE_RATIO_FAIL * fabs(e->value[i]);
}

static void judge_parameters(struct estimate *e)
{
    bool useful[ODOMETRY_P];
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        useful[i] = is_useful(e, i);
    }
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        const bool was = e->identifiable[i];
        const char *name = odometry_parameter_name(i);
        e->identifiable[i] = useful[i];
        if (!was) {
            e->se[i] = e->se_white[i] = e->lo[i] = e->hi[i] = nan("");
            for (size_t j = 0; j < ODOMETRY_P; j++) {
                e->covariance[i][j] = e->covariance[j][i] = nan("");
            }
        }
        if (!useful[i]) {
            /* Without changes of speed, a delay has no effect. */
            const enum estimate_verdict at_best = i < ODOMETRY_SENSOR_X ? ESTIMATE_FAIL
                                                  : i < ODOMETRY_SENSOR_DELAY
                                                      ? ESTIMATE_MARGINAL
                                                      : ESTIMATE_PASS;
            if (was) {
                estimate_reason(e, REASON_IMPRECISE, at_best,
                                "%s is not known: standard error %.3g", name, e->se[i]);
            } else {
                estimate_reason(e, REASON_NOT_DETERMINED, at_best,
                                "this path does not determine %s", name);
            }
            estimate_advise(e, "%s", path_advice[i]);
        } else if (i < ODOMETRY_SENSOR_X && e->se[i] > SE_RATIO_MARGINAL * fabs(e->value[i])) {
            estimate_reason(e, REASON_IMPRECISE, ESTIMATE_MARGINAL,
                            "%s is known to %.1f %% only", name,
                            100.0 * e->se[i] / fabs(e->value[i]));
            estimate_advise(e, "%s", path_advice[i]);
        }
    }
}

static void judge_signs(struct estimate *e)
{
    const bool right = e->value[ODOMETRY_RADIUS_RIGHT] < 0.0;
    const bool left = e->value[ODOMETRY_RADIUS_LEFT] < 0.0;
    if (right && left && fabs(e->value[ODOMETRY_SENSOR_ALPHA]) > HALF_TURN) {
        estimate_reason(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                        "both radii are below zero and the sensor looks backwards: left and "
                        "right wheel are exchanged");
        estimate_advise(e, "exchange the columns of the left and the right wheel");
        return;
    }
    if (right || left) {
        estimate_reason(e, REASON_BELOW_ZERO, ESTIMATE_FAIL,
                        "the radius of %s is below zero: %s backwards",
                        right && left ? "both wheels"
                        : right       ? "the right wheel"
                                      : "the left wheel",
                        right && left ? "they count" : "it counts");
        estimate_advise(
            e,
            "change the sign of the wheel that counts backwards (mounted as a mirror image?)");
    }
}

static double mean_radius(const struct estimate *e)
{
    return 0.5 * (fabs(e->value[ODOMETRY_RADIUS_RIGHT]) + fabs(e->value[ODOMETRY_RADIUS_LEFT]));
}

void odometry_judge_units(struct odometry_fit *fit, const struct odometry_summary *summary)
{
    struct estimate *e = &fit->estimate;
    const double radius = mean_radius(e);
    const double track = e->value[ODOMETRY_TRACK];
    const bool odd_radius = plausible_judge(e, &plausible[0], radius, "m");
    const bool odd_track = plausible_judge(e, &plausible[1], track, "m");
    (void)plausible_judge(e, &plausible[2], fit->own.path_m / summary->duration_s, "m/s");
    if (radius > RADIUS_PER_TRACK_MAX * track) {
        plausible_doubt(e,
                        "wheels of %.3g m radius on a track of %.3g m: wheel angles look like "
                        "revolutions, a factor of 2 pi (6.2832)",
                        radius, track);
    }
    if (odd_radius || odd_track || radius > RADIUS_PER_TRACK_WRONG * track) {
        estimate_reason(e, REASON_IMPLAUSIBLE, ESTIMATE_FAIL,
                        "no robot has such wheels on such a track: units?");
    }
}

static void judge_wheels(struct estimate *e)
{
    const double right = fabs(e->value[ODOMETRY_RADIUS_RIGHT]);
    const double left = fabs(e->value[ODOMETRY_RADIUS_LEFT]);
    const double mean = mean_radius(e);
    if (fabs(right - left) > UNEQUAL_RATIO * mean) {
        estimate_reason(e, REASON_IMPLAUSIBLE, ESTIMATE_MARGINAL,
                        "the wheels differ by %.0f %%: ticks per turn, tyre?",
                        100.0 * fabs(right - left) / mean);
        estimate_advise(e, "check that both wheels have the same ticks per turn");
    }
}

static void judge_paths(struct odometry_fit *fit, const struct odometry_summary *summary)
{
    const struct odometry_check *own = &fit->own;
    const double r2 = fmin(own->position_r2, own->heading_r2); /* a NaN is ignored */
    if (r2 < R2_MARGINAL) {
        estimate_reason(&fit->estimate, REASON_POOR_FIT,
                        r2 < R2_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "the wheels explain %.1f %% of the motion only (position off by %.3g "
                        "m, heading by %.3g rad)",
                        100.0 * fmax(r2, 0.0), own->position_rmse_m, own->heading_rmse_rad);
        estimate_advise(&fit->estimate, "look for slip, for exchanged columns, for units, and "
                                        "for clocks of wheels and camera that differ");
    }
    const double less = fmin(summary->turn_left_rad, summary->turn_right_rad);
    const double more = fmax(summary->turn_left_rad, summary->turn_right_rad);
    if (fit->estimate.identifiable[ODOMETRY_TRACK] && less < BOTH_WAYS_RATIO * more) {
        estimate_reason(&fit->estimate, REASON_POOR_EXCITATION, ESTIMATE_MARGINAL,
                        "it turns to the %s only (%.3g rad, %.3g the other way): an error that "
                        "depends on the direction cannot be seen",
                        summary->turn_left_rad > summary->turn_right_rad ? "left" : "right",
                        more, less);
        estimate_advise(&fit->estimate, "drive the same path in the other direction too");
    }
    if (!fit->converged) {
        estimate_reason(&fit->estimate, REASON_SEARCH_FAILED, ESTIMATE_MARGINAL,
                        "the search ended early");
    }
}

#define PLACE   "the scale of the pose depends on the place", ": the camera is tilted"
#define HEADING "ways depend on the heading", ": the floor slopes"
#define SCALES  "x and y have different scales", ""
#define CAMERA  "calibrate the camera: a metre must measure one everywhere, in every direction"

/* Words before and after the size of a dependence, and advice. */
static const struct {
    const char *before, *after, *advice;
} dependences[ODOMETRY_COVARIATES] = {
    [ODOMETRY_BY_TIME] = {"a radius changes with time", ": floor, tyre, load",
                          "drive on one floor, with warm tyres and one load"},
    [ODOMETRY_BY_SIDE] = {"left and right turns differ", "",
                          "look for a wheel that drags or slips to one side"},
    [ODOMETRY_BY_SPEED] = {"wheels slip with speed", "", "drive slowly, or fit speeds apart"},
    [ODOMETRY_BY_TURNING] = {"wheels slip with the speed of turns", "",
                             "turn slowly, or fit speeds apart"},
    [ODOMETRY_BY_X] = {PLACE, CAMERA},
    [ODOMETRY_BY_Y] = {PLACE, CAMERA},
    [ODOMETRY_BY_COS] = {HEADING, "drive on a level floor"},
    [ODOMETRY_BY_SIN] = {HEADING, "drive on a level floor"},
    [ODOMETRY_BY_COS2] = {SCALES, CAMERA},
    [ODOMETRY_BY_SIN2] = {SCALES, CAMERA},
    [ODOMETRY_BY_LENS] = {"the scale of the pose changes from the middle to the border",
                          ": the lens distorts", CAMERA},
    [ODOMETRY_BY_SLANT_X] = {PLACE, CAMERA},
    [ODOMETRY_BY_SLANT_Y] = {PLACE, CAMERA},
    [ODOMETRY_BY_DELAY] = {"the delay of the pose changes with time", ": two clocks",
                           "stamp wheels and poses with one clock"},
};

/* Names the dependence that is most certain, among those that matter. */
static void judge_scale(struct odometry_fit *fit)
{
    const struct odometry_scale_test *worst = NULL;
    for (enum odometry_covariate by = 0; by < ODOMETRY_COVARIATES; by++) {
        const struct odometry_scale_test *test = &fit->scale.test[by];
        const double least = by == ODOMETRY_BY_DELAY  ? DELAY_CHANGE_MIN_S
                             : by >= ODOMETRY_BY_LENS ? CAMERA_CHANGE_MIN
                                                      : SCALE_CHANGE_MIN;
        if (test->p * ODOMETRY_COVARIATES < SCALE_P &&
            fmax(fabs(test->way), fabs(test->turn)) > least && (!worst || test->p < worst->p)) {
            worst = test;
        }
    }
    if (worst) {
        const size_t by = (size_t)(worst - fit->scale.test);
        const bool is_delay = by == ODOMETRY_BY_DELAY;
        const double size = fmax(fabs(worst->way), fabs(worst->turn));
        estimate_reason_first(
            &fit->estimate,
            is_delay || by == ODOMETRY_BY_TIME ? REASON_CHANGES_WITH_TIME : REASON_UNMODELLED,
            ESTIMATE_MARGINAL, "%s (%.1f %s per sd)%s", dependences[by].before,
            size * (is_delay ? 1000.0 : 100.0), is_delay ? "ms" : "%", dependences[by].after);
        estimate_advise(&fit->estimate, "%s", dependences[by].advice);
    }
}

static void judge_data(struct odometry_fit *fit, const struct odometry_summary *summary)
{
    const double lost = (double)(summary->incomplete + summary->duplicates +
                                 summary->back_rows + summary->short_rows);
    if ((double)fit->outliers > OUTLIER_RATIO_MARGINAL * (double)(fit->n + fit->outliers)) {
        estimate_reason(&fit->estimate, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                        "%zu of %zu poses jump away and back, and were left out", fit->outliers,
                        fit->n + fit->outliers);
        estimate_advise(&fit->estimate, "look why the measured pose jumps");
    }
    if (lost > LOST_RATIO_MARGINAL * (double)summary->rows) {
        estimate_reason(&fit->estimate, REASON_ROWS_UNUSABLE, ESTIMATE_MARGINAL,
                        "%.0f of %zu rows could not be used", lost, summary->rows);
        estimate_advise(&fit->estimate,
                        "record again: time must go on, and every row needs both wheels");
    }
    if (summary->cuts > 0) {
        estimate_reason(
            &fit->estimate, REASON_RECORDING_CUT, ESTIMATE_PASS,
            "the recording was cut %zu times: gaps in motion, or a wheel's counter that jumps",
            summary->cuts);
    }
}

void odometry_judge(struct odometry_fit *fit, const struct odometry_summary *summary)
{
    judge_parameters(&fit->estimate);
    judge_signs(&fit->estimate);
    judge_wheels(&fit->estimate);
    judge_paths(fit, summary);
    judge_scale(fit);
    judge_data(fit, summary);
    estimate_advise_worst(&fit->estimate);
}

void odometry_judge_held_out(struct odometry_fit *fit, const struct odometry_check *held_out)
{
    const double own = fit->own.position_rmse_m / fmax(sqrt(fit->own.path_m), 1e-9);
    const double other = held_out->position_rmse_m / fmax(sqrt(held_out->path_m), 1e-9);
    if (other > HELD_OUT_RATIO * own) {
        estimate_reason(&fit->estimate, REASON_HELD_OUT, ESTIMATE_MARGINAL,
                        "held-out paths are predicted to %.3g m, the fit's own to %.3g m",
                        held_out->position_rmse_m, fit->own.position_rmse_m);
        estimate_advise(&fit->estimate, "fit both recordings together, or look for what "
                                        "changed between them: load, tyres, floor, sensor");
    }
}

ENUM_NAMES(odometry_parameter, ODOMETRY_P, "radius_right_m", "radius_left_m", "track_m",
           "sensor_x_m", "sensor_y_m", "sensor_alpha_rad", "sensor_delay_s");

ENUM_NAMES(odometry_combination, ODOMETRY_COMBINATIONS, "mean_radius_m",
           "radius_right_per_left", "radius_right_per_track", "radius_left_per_track");
