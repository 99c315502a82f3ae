/* What a fit of odometry is worth, and what to drive next. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "identification/odometry/odometry_parts.h"

/* Of a length: known no better it is a guess, or worth improving. */
static const double SE_RATIO_FAIL = 0.5;
static const double SE_RATIO_MARGINAL = 0.03;
/* A mounting that is known no better than this share of the track, or this angle. */
static const double SENSOR_RATIO_MAX = 0.25;
static const double ALPHA_SE_MAX = 0.3;
static const double DELAY_SE_S_MAX = 0.1;
static const double R2_FAIL = 0.8;
static const double R2_MARGINAL = 0.98;
/* Turned to one side at least so much of what was turned to the other. */
static const double BOTH_WAYS_RATIO = 0.1;
static const double OUTLIER_RATIO_MARGINAL = 0.02;
static const double LOST_RATIO_MARGINAL = 0.2;
/* Robots are no smaller and no larger; a wheel is no larger than so many tracks. */
static const double RADIUS_M_MIN = 2e-3;
static const double RADIUS_M_MAX = 1.0;
static const double TRACK_M_MIN = 0.01;
static const double TRACK_M_MAX = 5.0;
static const double RADIUS_PER_TRACK_MAX = 2.0;
static const double UNEQUAL_RATIO = 0.1;
static const double HELD_OUT_RATIO = 3.0;
static const double HALF_TURN = 1.5707963267948966;

static void PRINTF_LIKE(3, 4)
    reason(struct odometry_fit *fit, enum odometry_verdict at_best, const char *format, ...)
{
    if (fit->verdict < at_best) {
        fit->verdict = at_best;
    }
    if (fit->reason_count < ODOMETRY_TEXTS_MAX) {
        va_list args;
        va_start(args, format);
        (void)vsnprintf(fit->reasons[fit->reason_count++], ODOMETRY_TEXT_MAX, format, args);
        va_end(args);
    }
}

/* Once each. */
static void advise(struct odometry_fit *fit, const char *text)
{
    for (size_t k = 0; k < fit->advice_count; k++) {
        if (strcmp(fit->advice[k], text) == 0) {
            return;
        }
    }
    if (fit->advice_count < ODOMETRY_TEXTS_MAX) {
        (void)snprintf(fit->advice[fit->advice_count++], ODOMETRY_TEXT_MAX, "%s", text);
    }
}

static void advise_path(struct odometry_fit *fit, enum odometry_parameter i)
{
    switch (i) {
    case ODOMETRY_TRACK:
        advise(fit, "drive a closed circle in both directions: the track shows in turns alone");
        break;
    case ODOMETRY_RADIUS_RIGHT:
    case ODOMETRY_RADIUS_LEFT:
        advise(fit, "drive several metres, straight and in curves: radii show in the way made");
        break;
    case ODOMETRY_SENSOR_X:
    case ODOMETRY_SENSOR_Y:
        advise(fit,
               "turn on the spot, to the left and to the right: the sensor's place shows in "
               "turns alone");
        break;
    case ODOMETRY_SENSOR_DELAY:
        advise(fit, "start, stop and turn now and then: the sensor's delay shows where speeds "
                    "change");
        break;
    case ODOMETRY_SENSOR_ALPHA:
    case ODOMETRY_P:
    default:
        advise(fit, "drive several metres straight ahead: the sensor's heading shows there");
        break;
    }
}

/* Whether the error bar leaves something to use. */
static bool is_useful(const struct odometry_fit *fit, enum odometry_parameter i)
{
    if (!fit->identifiable[i]) {
        return false;
    }
    if (i == ODOMETRY_SENSOR_ALPHA) {
        return fit->se[i] <= ALPHA_SE_MAX;
    }
    if (i == ODOMETRY_SENSOR_DELAY) {
        return fit->se[i] <= DELAY_SE_S_MAX;
    }
    if (i >= ODOMETRY_SENSOR_X) {
        return fit->identifiable[ODOMETRY_TRACK] &&
               fit->se[i] <= SENSOR_RATIO_MAX * fit->theta[ODOMETRY_TRACK];
    }
    return fit->se[i] <= SE_RATIO_FAIL * fabs(fit->theta[i]);
}

static void judge_parameters(struct odometry_fit *fit)
{
    bool useful[ODOMETRY_P];
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        useful[i] = is_useful(fit, i);
    }
    for (enum odometry_parameter i = 0; i < ODOMETRY_P; i++) {
        const bool was = fit->identifiable[i];
        const char *name = odometry_parameter_name(i);
        fit->identifiable[i] = useful[i];
        if (!was) {
            fit->se[i] = fit->se_white[i] = fit->lo[i] = fit->hi[i] = nan("");
            for (size_t j = 0; j < ODOMETRY_P; j++) {
                fit->covariance[i][j] = fit->covariance[j][i] = nan("");
            }
        }
        if (!useful[i]) {
            /* Without changes of speed a delay does no harm. */
            const enum odometry_verdict at_best = i < ODOMETRY_SENSOR_X ? ODOMETRY_FAIL
                                                  : i < ODOMETRY_SENSOR_DELAY
                                                      ? ODOMETRY_MARGINAL
                                                      : ODOMETRY_PASS;
            if (was) {
                reason(fit, at_best, "%s is not known: standard error %.3g", name, fit->se[i]);
            } else {
                reason(fit, at_best, "this path does not determine %s", name);
            }
            advise_path(fit, i);
        } else if (i < ODOMETRY_SENSOR_X &&
                   fit->se[i] > SE_RATIO_MARGINAL * fabs(fit->theta[i])) {
            reason(fit, ODOMETRY_MARGINAL, "%s is known to %.1f %% only", name,
                   100.0 * fit->se[i] / fabs(fit->theta[i]));
            advise_path(fit, i);
        }
    }
}

static void judge_signs(struct odometry_fit *fit)
{
    const bool right = fit->theta[ODOMETRY_RADIUS_RIGHT] < 0.0;
    const bool left = fit->theta[ODOMETRY_RADIUS_LEFT] < 0.0;
    if (right && left && fabs(fit->theta[ODOMETRY_SENSOR_ALPHA]) > HALF_TURN) {
        reason(fit, ODOMETRY_FAIL,
               "both radii are below zero and the sensor looks backwards: "
               "left and right wheel are exchanged");
        advise(fit, "exchange the columns of the left and the right wheel");
        return;
    }
    if (right || left) {
        reason(fit, ODOMETRY_FAIL, "the radius of %s is below zero: %s backwards",
               right && left ? "both wheels"
               : right       ? "the right wheel"
                             : "the left wheel",
               right && left ? "they count" : "it counts");
        advise(fit, "change the sign of the wheel that counts backwards (mounted as a mirror "
                    "image?)");
    }
}

static void judge_size(struct odometry_fit *fit)
{
    const double track = fit->theta[ODOMETRY_TRACK];
    const double right = fabs(fit->theta[ODOMETRY_RADIUS_RIGHT]);
    const double left = fabs(fit->theta[ODOMETRY_RADIUS_LEFT]);
    const double mean = 0.5 * (right + left);
    if (mean < RADIUS_M_MIN || mean > RADIUS_M_MAX) {
        reason(fit, ODOMETRY_FAIL, "a wheel of %.3g m radius is no robot's: units?", mean);
        advise(fit, "give positions in metres and wheel angles in radians (not mm, degrees or "
                    "ticks)");
    } else if (track < TRACK_M_MIN || track > TRACK_M_MAX) {
        reason(fit, ODOMETRY_FAIL, "a track of %.3g m is no robot's: units?", track);
        advise(fit, "give positions in metres and headings in radians");
    } else if (mean > RADIUS_PER_TRACK_MAX * track) {
        reason(fit, ODOMETRY_FAIL,
               "wheels of %.3g m on a track of %.3g m: is theta in radians?", mean, track);
        advise(fit, "give positions in metres and headings in radians");
    }
    if (fabs(right - left) > UNEQUAL_RATIO * mean) {
        reason(fit, ODOMETRY_MARGINAL, "the wheels differ by %.0f %%: ticks per turn, tyre?",
               100.0 * fabs(right - left) / mean);
        advise(fit, "check that both wheels have the same ticks per turn");
    }
}

static void judge_paths(struct odometry_fit *fit, const struct odometry_card *card)
{
    const struct odometry_check *own = &fit->own;
    const double r2 = fmin(own->position_r2, own->heading_r2); /* a NaN is left out */
    if (r2 < R2_MARGINAL) {
        reason(fit, r2 < R2_FAIL ? ODOMETRY_FAIL : ODOMETRY_MARGINAL,
               "the wheels explain %.1f %% of the motion only (position off by %.3g m, heading "
               "by %.3g rad)",
               100.0 * fmax(r2, 0.0), own->position_rmse_m, own->heading_rmse_rad);
        advise(fit, "look for slip, for exchanged columns, for units, and for clocks of wheels "
                    "and camera that differ");
    }
    const double less = fmin(card->turn_left_rad, card->turn_right_rad);
    const double more = fmax(card->turn_left_rad, card->turn_right_rad);
    if (fit->identifiable[ODOMETRY_TRACK] && less < BOTH_WAYS_RATIO * more) {
        reason(fit, ODOMETRY_MARGINAL,
               "it turns to the %s only (%.3g rad, %.3g the other way): an error that depends "
               "on the direction cannot be seen",
               card->turn_left_rad > card->turn_right_rad ? "left" : "right", more, less);
        advise(fit, "drive the same path in the other direction too");
    }
    if (!fit->converged) {
        reason(fit, ODOMETRY_MARGINAL, "the search ended early");
    }
}

static void judge_data(struct odometry_fit *fit, const struct odometry_card *card)
{
    const double lost =
        (double)(card->incomplete + card->duplicates + card->back_rows + card->short_rows);
    if ((double)fit->outliers > OUTLIER_RATIO_MARGINAL * (double)(fit->n + fit->outliers)) {
        reason(fit, ODOMETRY_MARGINAL, "%zu of %zu poses jump away and back, and were left out",
               fit->outliers, fit->n + fit->outliers);
        advise(fit, "look why the measured pose jumps");
    }
    if (lost > LOST_RATIO_MARGINAL * (double)card->rows) {
        reason(fit, ODOMETRY_MARGINAL, "%.0f of %zu rows could not be used", lost, card->rows);
        advise(fit, "record again: time must go on, and every row needs both wheels");
    }
    if (card->cuts > 0) {
        reason(fit, ODOMETRY_PASS,
               "the recording was cut %zu times: gaps in motion, or a wheel's "
               "counter that jumps",
               card->cuts);
    }
}

void odometry_judge(struct odometry_fit *fit, const struct odometry_card *card)
{
    fit->verdict = ODOMETRY_PASS;
    judge_parameters(fit);
    judge_signs(fit);
    judge_size(fit);
    judge_paths(fit, card);
    judge_data(fit, card);
}

void odometry_judge_held_out(struct odometry_fit *fit, const struct odometry_check *held_out)
{
    const double own = fit->own.position_rmse_m / fmax(sqrt(fit->own.path_m), 1e-9);
    const double other = held_out->position_rmse_m / fmax(sqrt(held_out->path_m), 1e-9);
    if (other > HELD_OUT_RATIO * own) {
        reason(fit, ODOMETRY_MARGINAL,
               "held-out paths are foretold to %.3g m, the fit's own to %.3g m",
               held_out->position_rmse_m, fit->own.position_rmse_m);
        advise(fit,
               "fit both recordings together, or look for what changed between them: load, "
               "tyres, floor, sensor");
    }
}

ENUM_NAMES(odometry_parameter, ODOMETRY_P, "radius_right_m", "radius_left_m", "track_m",
           "sensor_x_m", "sensor_y_m", "sensor_alpha_rad", "sensor_delay_s");

ENUM_NAMES(odometry_combination, ODOMETRY_COMBINATIONS, "mean_radius_m",
           "radius_right_per_left", "radius_right_per_track", "radius_left_per_track");

ENUM_NAMES(odometry_verdict, ODOMETRY_FAIL + 1, "PASS", "MARGINAL", "FAIL");
