/* Verdict on a fit of friction, joint by joint, and advice.
 */
#include <math.h>

#include "identification/arm/arm_friction_parts.h"
#include "identification/arm/arm_thresholds.def"
#include "identification/fit/fit_thresholds.def"
#include "identification/fit/plausible.h"

enum { INERTIA, VISCOUS, COULOMB };

/* Ranges for arms of a few kilograms to a few hundred. Angles beyond several turns are in
 * degrees. */
static const struct plausible_range plausible[] = {
    {"the fastest speed", 0.0, 12.0, 0, PLAUSIBLE_ANGLE, 0.0},
    {"the largest angle", 0.0, 26.0, 0, PLAUSIBLE_ANGLE, 0.0},
};

/* A bad correlation suggests exchanged columns. A slope other than 1 has a wrong unit as its
 * cause, which is named if the factor is a common one. */
static void judge_rate(struct arm_friction_joint *joint, size_t number)
{
    struct estimate *e = &joint->estimate;
    const double ratio = joint->rate_ratio;
    if (!(joint->rate_r2 >= RATE_R2_MIN)) {
        estimate_reason(
            e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
            "joint %zu: the speed is not the rate of the angle (R2 %.3f): exchanged "
            "columns, or a column of another joint?",
            number + 1, joint->rate_r2);
    } else if (fabs(ratio - 1.0) > RATE_OFF_MAX) {
        static const struct {
            double factor;
            const char *words;
        } usual[] = {{57.29577951308232, "angles in degrees"},
                     {1.0 / 57.29577951308232, "speeds in degrees per second"},
                     {1e-3, "times in milliseconds, or speeds in mrad/s"},
                     {1e3, "angles in mrad"},
                     {-1.0, "a sign"}};
        const char *words = "units, or a clock";
        for (size_t k = 0; k < COUNT(usual); k++) {
            words = fabs(ratio / usual[k].factor - 1.0) < RATE_OFF_MAX ? usual[k].words : words;
        }
        estimate_reason(
            e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
            "joint %zu: the angle changes by %.4g times the integral of its speed: %s?",
            number + 1, ratio, words);
    } else {
        return;
    }
    estimate_advise(e, "check columns and units: s, rad, rad/s, A, in the order of the joints");
}

/* Every joint has inertia and friction: a value known only to half its size is not
 * identified, however small its effect is. A smaller error matters only with an effect on
 * the current. */
static void judge_error(struct estimate *e, size_t i, const struct arm_friction_thirds *thirds)
{
    const double se = e->se[i];
    const double size = fabs(e->value[i]);
    e->identifiable[i] = se <= SE_RATIO_MAX * size;
    if (!e->identifiable[i]) {
        estimate_reason(e, REASON_IMPRECISE, ESTIMATE_MARGINAL,
                        "%s is not identifiable: %.3g with a standard error of %.3g",
                        e->name[i], e->value[i], se);
    } else if (!(se <= SE_RATIO_MARGINAL * size) &&
               !(se * thirds->effect_a[i] <= SE_EFFECT * thirds->current_sd_a)) {
        estimate_reason(e, REASON_IMPRECISE, ESTIMATE_MARGINAL, "%s is known to %.0f %% only",
                        e->name[i], 100.0 * se / size);
    } else {
        return;
    }
    estimate_advise(e, i == INERTIA ? "accelerate harder, more often"
                                    : "move at several speeds, both ways");
}

/* Inertia and friction exist in every joint, so that negative or undetermined values are
 * faults. Gravity and coupling terms may be zero. */
static void judge_parameters(struct estimate *e, size_t number,
                             const struct arm_friction_thirds *thirds)
{
    static const char *const words[] = {"inertia", "viscous friction", "Coulomb friction"};
    for (size_t i = 0; i < e->p; i++) {
        if (!e->identifiable[i]) {
            estimate_reason(e, REASON_NOT_DETERMINED,
                            i <= COULOMB ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                            "these moves do not determine %s", e->name[i]);
            estimate_advise(e, "move all joints at the same time, over much of their range, at "
                               "several speeds");
        }
    }
    if (e->identifiable[INERTIA] && !isfinite(e->lo[INERTIA])) {
        estimate_reason(e, REASON_AUTOCORRELATED, ESTIMATE_MARGINAL,
                        "joint %zu: residuals are autocorrelated over too much of the "
                        "recording to estimate errors",
                        number + 1);
        estimate_advise(e, "record longer");
    }
    for (size_t i = 0; i <= COULOMB; i++) {
        if (!e->identifiable[i]) {
            continue;
        }
        if (e->hi[i] < 0.0) {
            estimate_reason(e, REASON_BELOW_ZERO, ESTIMATE_FAIL,
                            "joint %zu: %s is below zero: no joint's, exchanged columns or "
                            "signs?",
                            number + 1, words[i]);
            estimate_advise(e, "look for exchanged columns, and for signs of currents");
        } else {
            judge_error(e, i, thirds);
        }
    }
}

/* Compares the thirds of a recording by a chi-squared test of their values with their errors.
 * The limit of chance is divided by the number of tests, 6 joints of p parameters, so that
 * one joint in a good recording rarely fails. The difference must also matter: it must change
 * the current by a share PARTS_EFFECT of its spread. */
static void judge_thirds(struct estimate *e, const struct arm_friction_thirds *thirds)
{
    for (size_t i = 0; i < e->p && thirds->count > 1; i++) {
        struct agreement found;
        agreement_find(thirds->each[i], thirds->count, &found);
        if (found.p < PARTS_CHANCE / (double)(e->p * ARM_JOINTS) &&
            found.between_sd * thirds->effect_a[i] > PARTS_EFFECT * thirds->current_sd_a) {
            estimate_reason(
                e, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                "thirds of the recording disagree about %s, by %.2g: it changed, or "
                "something else acts",
                e->name[i], found.between_sd);
            estimate_advise(e, "record again when the arm is warm, the same moves repeated");
        }
    }
}

/* One more term that explains much shows that the model is incomplete. A term of another
 * joint's motion suggests exchanged columns. */
static void judge_unmodelled(struct arm_friction_joint *joint, size_t number)
{
    const struct arm_friction_unmodelled *missing = &joint->missing;
    struct estimate *e = &joint->estimate;
    if (missing->joint < ARM_JOINTS && missing->share > MISSING_OTHER) {
        const bool wrong = missing->share > OTHER_FAIL;
        estimate_reason(
            e, REASON_UNMODELLED, wrong ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
            "joint %zu: %.0f %% of the residuals' variance is due to the motion of joint %zu%s",
            number + 1, 100.0 * missing->share, missing->joint + 1,
            wrong ? ": exchanged columns?" : "");
        estimate_advise(e, "check that currents stand in the order of the joints");
    } else if (missing->joint == ARM_JOINTS && missing->share > MISSING_OWN) {
        estimate_reason(
            e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
            "joint %zu: %s explains %.0f %% of the residuals' variance: the model lacks it",
            number + 1, missing->term, 100.0 * missing->share);
        estimate_advise(e, "use the values within the speeds and loads of this recording");
    }
}

static void judge_units(struct arm_friction_joint *joint)
{
    struct estimate *e = &joint->estimate;
    (void)plausible_judge(e, &plausible[0], joint->speed_max_radps, "rad/s");
    (void)plausible_judge(e, &plausible[1], joint->angle_max_rad, "rad");
    if (joint->current_max_a > CURRENT_A_MAX) {
        plausible_doubt(e, "a current of %.3g A is implausible (0 to %g): milliamperes?",
                        joint->current_max_a, CURRENT_A_MAX);
    }
}

void arm_friction_judge_joint(struct arm_friction_joint *joint, size_t number,
                              const struct arm_friction_thirds *thirds, bool doubt_units)
{
    struct estimate *e = &joint->estimate;
    if (!(joint->speed_max_radps > SPEED_MIN_RADPS)) {
        estimate_reason(e, REASON_NO_MOTION, ESTIMATE_FAIL, "joint %zu does not move",
                        number + 1);
        estimate_advise(e, "move all joints, over much of their range");
        return;
    }
    judge_rate(joint, number);
    judge_parameters(e, number, thirds);
    if (!(joint->own.r2 >= R2_MARGINAL)) {
        estimate_reason(e, REASON_POOR_FIT,
                        joint->own.r2 >= R2_FAIL ? ESTIMATE_MARGINAL : ESTIMATE_FAIL,
                        "joint %zu: the model explains only %.0f %% of the current's variance "
                        "(residual %.3g A)",
                        number + 1, 100.0 * fmax(joint->own.r2, 0.0), joint->own.rmse_a);
        estimate_advise(e, "a joint that carries no load is explained better with one, and by "
                           "faster moves");
    }
    judge_unmodelled(joint, number);
    judge_thirds(e, thirds);
    if (doubt_units) {
        judge_units(joint);
    }
}

static void copy_reasons(struct estimate *whole, const struct estimate *e)
{
    for (size_t k = 0; k < e->reason_count; k++) {
        estimate_reason(whole, e->reason_codes[k], e->reason_verdicts[k], "%s", e->reasons[k]);
    }
    for (size_t k = 0; k < e->advice_count; k++) {
        estimate_advise(whole, "%s", e->advice[k]);
    }
}

static void judge_late(struct estimate *whole, const struct arm_friction_late *late)
{
    const bool lag = late->lag_s > 0.0;
    const double time_s = lag ? late->lag_s : late->delay_s;
    if (!(fabs(time_s) > 0.0)) {
        return;
    }
    if (late->at_end) {
        estimate_reason(whole, REASON_AT_BOUND, ESTIMATE_MARGINAL,
                        "currents come late by %.3g ms at least: longer times are not tried",
                        1e3 * time_s);
        estimate_advise(whole, "stamp currents and speeds by one clock");
        return;
    }
    if (late->chi2 < LATE_CHI2) {
        estimate_reason(
            whole, REASON_DELAY_ASSUMED, ESTIMATE_MARGINAL,
            "currents come late by a %s of %.3g ms or a %s of %.3g ms: the recording "
            "does not decide",
            lag ? "lag" : "delay", 1e3 * time_s, lag ? "delay" : "lag", 1e3 * late->other_s);
        estimate_advise(whole, "record currents and speeds with the same filter and the same "
                               "time stamps");
        return;
    }
    estimate_note(whole, REASON_DELAY_ASSUMED, "currents come %.3g ms %s the motion%s: fitted",
                  1e3 * fabs(time_s), time_s > 0.0 ? "after" : "before",
                  lag ? ", through a lag" : "");
}

void arm_friction_judge_whole(struct arm_friction_fit *fit,
                              const struct arm_friction_summary *summary)
{
    struct estimate *whole = &fit->whole;
    const double lost =
        (double)(summary->incomplete + summary->back_rows + summary->short_rows);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        copy_reasons(whole, &fit->joint[j].estimate);
        estimate_advise_worst(&fit->joint[j].estimate);
    }
    judge_late(whole, &fit->late);
    if (lost > LOST_RATIO_MARGINAL * (double)summary->rows) {
        estimate_reason(whole, REASON_ROWS_UNUSABLE, ESTIMATE_MARGINAL,
                        "%.0f of %zu rows could not be used", lost, summary->rows);
    }
    if (summary->uneven_ratio > UNEVEN_MAX) {
        estimate_reason(whole, REASON_UNEVEN_SAMPLING, ESTIMATE_MARGINAL,
                        "sampling is uneven: times between rows vary by %.0f %%",
                        100.0 * summary->uneven_ratio);
    }
}

void arm_friction_judge_held_out(struct arm_friction_fit *fit)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        struct arm_friction_joint *joint = &fit->joint[j];
        const double ratio = joint->held_out.rmse_a / joint->own.rmse_a;
        if (ratio > CURRENT_MARGINAL) {
            struct estimate *e = &joint->estimate;
            const enum estimate_verdict at_best =
                ratio > HELD_OUT_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL;
            estimate_reason(
                e, REASON_HELD_OUT, at_best,
                "joint %zu: the held-out residual is %.3g A, %.1f times that of the fit", j + 1,
                joint->held_out.rmse_a, ratio);
            estimate_advise(
                e, "find what differs between both recordings: load, temperature, mounting");
            copy_reasons(&fit->whole, e);
        }
    }
}
