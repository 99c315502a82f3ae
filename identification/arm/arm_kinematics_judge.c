/* Verdict on a fit of an arm's links, and advice.
 */
#include <math.h>

#include <gsl/gsl_cdf.h>

#include "identification/arm/arm_kinematics_parts.h"
#include "identification/arm/arm_thresholds.def"
#include "identification/fit/fit_thresholds.def"
#include "identification/geometry/rigid.h"

static void judge_frames(struct arm_kinematics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    if (fit->explained[0]) {
        estimate_reason_first(e, REASON_WRONG_UNIT, ESTIMATE_FAIL,
                              "the poses are those of this arm when read so: %s",
                              fit->explained);
        estimate_advise(e,
                        "give angles in rad, positions in m, rotation vectors in rad, in the "
                        "frame of the arm's base as UR's controllers have it");
    } else if (!isfinite(fit->tool_m)) {
        estimate_reason_first(e, REASON_WRONG_COLUMN, ESTIMATE_FAIL,
                              "these are no poses of such an arm: the tool moves about in the "
                              "flange, by %.3g m in the mean of a nominal one",
                              fit->nominal.mean_m);
        estimate_advise(e, "look for exchanged columns, for angles and poses of different "
                           "times, and for another kind of arm (--arm)");
    }
}

static void judge_links(struct arm_kinematics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const double *flange = &fit->correction[6 * (ARM_JOINTS - 1)];
    for (size_t i = 0; i + 1 < ARM_JOINTS; i++) {
        const double shift = rigid_length(&fit->correction[6 * i]);
        const double turn = rigid_length(&fit->correction[6 * i + 3]);
        if (shift > ARM_CORRECTION_MAX_M || turn > ARM_CORRECTION_MAX_RAD) {
            estimate_reason(e, REASON_IMPLAUSIBLE, ESTIMATE_FAIL,
                            "link %zu would be off by %.3g m and %.3g rad: no such arm", i + 1,
                            shift, turn);
        } else if (shift > LINK_M_MAX || turn > LINK_RAD_MAX) {
            estimate_reason(e, REASON_IMPLAUSIBLE, ESTIMATE_MARGINAL,
                            "link %zu is off by %.3g m and %.3g rad: more than arms are made "
                            "with",
                            i + 1, shift, turn);
        }
    }
    if (rigid_length(flange) > FLANGE_M_MAX || rigid_length(flange + 3) > FLANGE_RAD_MAX) {
        const bool far = rigid_length(flange) > ARM_CORRECTION_MAX_M ||
                         rigid_length(flange + 3) > ARM_CORRECTION_MAX_RAD;
        estimate_reason(e, REASON_IMPLAUSIBLE, far ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "the poses are %.3g m and %.3g rad from the flange: a tool, or the "
                        "offset of one (TCP)",
                        rigid_length(flange), rigid_length(flange + 3));
        estimate_advise(e, "record poses with the tool's offset (TCP) set to 0");
    }
}

/* The poses must determine all corrections, leave degrees of freedom for their errors, and
 * give the tool's position accurately over the whole workspace. */
static void judge_poses(struct arm_kinematics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    size_t open = 0;
    const char *name = "";
    for (size_t i = e->p; i-- > 0;) {
        name = e->identifiable[i] ? name : e->name[i];
        open += e->identifiable[i] ? 0 : 1;
    }
    if (open > 0) {
        estimate_reason(e, REASON_NOT_DETERMINED, ESTIMATE_MARGINAL,
                        "%zu poses determine %zu of %d corrections only: not %s%s", fit->n,
                        e->rank, (int)ARM_KINEMATICS_P, name, open > 1 ? " and others" : "");
    } else if (e->condition > POSES_CONDITION) {
        estimate_reason(e, REASON_NEARLY_ALIKE, ESTIMATE_MARGINAL,
                        "poses are alike: corrections stand for each other (condition %.2g)",
                        e->condition);
    }
    if (open == 0 && !(fit->room_se_m <= TOOL_SE_M_MARGINAL)) {
        estimate_reason(e, REASON_IMPRECISE, ESTIMATE_MARGINAL,
                        "the tool's place is known to %.2g m only, away from these poses to "
                        "%.2g m",
                        fit->tool_se_m, fit->room_se_m);
    }
    if (!isfinite(estimate_reach(6.0 * (double)fit->n - (double)e->rank))) {
        estimate_reason(e, REASON_TOO_FEW, ESTIMATE_MARGINAL,
                        "%zu poses are too few to estimate errors", fit->n);
    }
    if (e->reason_count > 0) {
        estimate_advise(e, "record 30 poses and more at rest, all joints over much of their "
                           "range, the wrist in all directions");
    }
}

/* Autocorrelated residuals have a cause that the model lacks. The errors, which assume
 * independent noise, are then too small. */
static void judge_residual(struct arm_kinematics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const double rho_max = fmax(RHO_MAX, RHO_SD / sqrt(6.0 * (double)fit->n));
    if (fit->noise_m > NOISE_M_MARGINAL) {
        estimate_reason(e, REASON_POOR_FIT,
                        fit->noise_m > NOISE_M_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "%.2g m of each pose are not explained", fit->noise_m);
        estimate_advise(e, "record angles and poses of the same time, at rest");
    }
    if (fit->missing) {
        estimate_reason(e, REASON_UNMODELLED, ESTIMATE_MARGINAL,
                        "%s: %.2g m of the tool's place", fit->missing, fit->missing_m);
        estimate_advise(e, "look for the causes that the reasons name; poses computed by the "
                           "controller do not contain them");
    }
    if (fit->neighbour_rho > rho_max) {
        estimate_reason(
            e, REASON_AUTOCORRELATED, ESTIMATE_MARGINAL,
            "residuals are autocorrelated from row to row (%.2f): errors are larger than given",
            fit->neighbour_rho);
        estimate_advise(e, "record poses at rest, apart from each other");
    }
    if ((double)fit->outliers > OUTLIER_RATIO_MARGINAL * (double)fit->n) {
        estimate_reason(e, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                        "%zu of %zu poses are outliers and were left out", fit->outliers,
                        fit->n);
        estimate_advise(e, "look why poses are wrong: angles of another time, a tracker that "
                           "lost its target");
    }
}

void arm_kinematics_judge(struct arm_kinematics_fit *fit, bool doubt_units)
{
    struct estimate *e = &fit->estimate;
    if (!fit->converged) {
        estimate_reason(e, REASON_SEARCH_FAILED, ESTIMATE_FAIL,
                        "no small corrections bring this arm to these poses");
    } else {
        judge_poses(fit);
        judge_residual(fit);
        if (doubt_units) {
            judge_links(fit);
        }
    }
    judge_frames(fit);
    estimate_advise_worst(e);
}

void arm_kinematics_judge_held_out(struct arm_kinematics_fit *fit)
{
    struct estimate *e = &fit->estimate;
    const struct arm_kinematics_check *held = &fit->held_out;
    /* Expected square: noise of a position, and error of the fit. */
    const double expected = 3.0 * fit->noise_m * fit->noise_m + fit->tool_se_m * fit->tool_se_m;
    const double ratio = held->rms_m * held->rms_m / expected;
    const double chance =
        gsl_cdf_fdist_Q(ratio, 3.0 * (double)held->n,
                        fmax(3.0 * (double)fit->n - 0.5 * (double)ARM_KINEMATICS_P, 1.0));
    if (!fit->converged || !(chance < HELD_OUT_CHANCE)) {
        return;
    }
    estimate_reason(e, REASON_HELD_OUT,
                    ratio > HELD_OUT_FAIL * HELD_OUT_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                    "held out, the tool is %.3g m off (rms), %.3g m were expected", held->rms_m,
                    sqrt(expected));
    estimate_advise(e, "find what differs between both recordings: another arm, a tool, a "
                       "crash, poses elsewhere in the workspace");
}
