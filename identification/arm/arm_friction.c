#include "identification/arm/arm_friction.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_matrix.h>

#include "identification/arm/arm_estimate.h"
#include "identification/arm/arm_friction_parts.h"
#include "identification/arm/arm_thresholds.def"
#include "identification/numeric/hac_covariance.h"
#include "identification/numeric/qr_accumulator.h"

enum { P = ARM_FRICTION_COLUMNS_MAX, GRAVITY_MAX = 4, OWN = 4 };

/* width of dry friction, as in docs/model/joint.md */
static const double TURN_OVER_RADPS = 0.01;
static const double STRIBECK_RADPS = 0.1;
static const double RANK_RATIO = 1e-5;
static const double NULL_SHARE = 1e-3; /* share of a column in the null space */
/* Residuals count as autocorrelated above this correlation of neighbours, for at most this
 * time. */
static const double MEMORY = 0.1;
static const double MEMORY_S_MAX = 5.0;
static const double REACH_SHARE = 0.02;
/* Columns hardly change over this time, because a move takes seconds. */
static const double SHORT_S = 0.25;
static const double RATIO_MIN = 0.5; /* smallest ratio of a variance to the corrected one */
static const double RATE_S = 0.2;    /* time over which angles are compared with speeds */

/* ---- the terms ---- */

/* Name of a term: stem, joint number, rest ("inertia1_as2", "gravity2_c23_a"). A simulated
 * arm uses the same names. */
struct term_name {
    const char *stem, *rest, *symbol;
};

static const struct term_name own_names[OWN] = {{"inertia", "as2", "J"},
                                                {"viscous", "as", "Fv"},
                                                {"coulomb", "a", "Fc"},
                                                {"offset", "a", "o"}};

enum gravity { C2, C23, S234, C234_S5, S234_C5, GRAVITIES };
static const struct term_name gravity_names[GRAVITIES] = {{"gravity", "c2_a", "Ga"},
                                                          {"gravity", "c23_a", "Gb"},
                                                          {"gravity", "s234_a", "Gc"},
                                                          {"gravity", "c234s5_a", "Gd"},
                                                          {"gravity", "s234c5_a", "Ge"}};
static const struct term_name coupled_names[] = {{"coupled", "c3_as2", "Jc"},
                                                 {"coupled", "as2", "Jp"}};

/* Gravity terms of each joint. The arm's plane is that of joints 2 to 4; all links behind a
 * joint load it. */
static const struct joint_terms {
    size_t gravity_count;
    enum gravity gravity[GRAVITY_MAX];
    size_t partner; /* joint whose acceleration couples into this one; ARM_JOINTS: none */
} joint_terms[ARM_JOINTS] = {
    {0, {C2}, ARM_JOINTS},        {4, {C2, C23, S234, C234_S5}, 2},
    {3, {C23, S234, C234_S5}, 1}, {2, {S234, C234_S5}, ARM_JOINTS},
    {1, {S234_C5}, ARM_JOINTS},   {0, {C2}, ARM_JOINTS},
};

static size_t count_terms(size_t joint)
{
    const struct joint_terms *terms = &joint_terms[joint];
    return OWN + terms->gravity_count + (terms->partner < ARM_JOINTS ? 2 : 0);
}

static void name_term(struct estimate *e, size_t joint, size_t i, const struct term_name *name)
{
    char long_name[ESTIMATE_NAME_MAX];
    char symbol[32];
    (void)snprintf(long_name, sizeof long_name, "%s%zu_%s", name->stem, joint + 1, name->rest);
    (void)snprintf(symbol, sizeof symbol, "%s%zu", name->symbol, joint + 1);
    estimate_name(e, i, long_name, symbol);
}

void arm_friction_fit_start(struct arm_friction_fit *fit)
{
    memset(fit, 0, sizeof *fit);
    estimate_start(&fit->whole, 0);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        const struct joint_terms *terms = &joint_terms[j];
        struct estimate *e = &fit->joint[j].estimate;
        size_t i = 0;
        estimate_start(e, count_terms(j));
        for (size_t k = 0; k < OWN; k++) {
            name_term(e, j, i++, &own_names[k]);
        }
        for (size_t k = 0; k < terms->gravity_count; k++) {
            name_term(e, j, i++, &gravity_names[terms->gravity[k]]);
        }
        for (size_t k = 0; k < COUNT(coupled_names) && terms->partner < ARM_JOINTS; k++) {
            name_term(e, j, i++, &coupled_names[k]);
        }
    }
}

/* Gravity terms of a joint: torques of the links behind it, as functions of the absolute
 * angles in the arm's plane. Joint 1 is vertical and carries no weight. */
static double gravity_at(const struct arm_friction_set *set, enum gravity term, size_t k)
{
    const double q2 = set->q_rad[1][k];
    const double q23 = q2 + set->q_rad[2][k];
    const double q234 = q23 + set->q_rad[3][k];
    const double q5 = set->q_rad[4][k];
    switch (term) {
    case C2:
        return cos(q2);
    case C23:
        return cos(q23);
    case S234:
        return sin(q234);
    case C234_S5:
        return cos(q234) * sin(q5);
    case S234_C5:
        return sin(q234) * cos(q5);
    case GRAVITIES:
        break;
    }
    return 0.0;
}

/* ---- one joint ---- */

/* Least squares fit of a joint's current by equation (5) of docs/model/arm.md. It estimates
 * inertia, viscous and dry friction, offset, gravity terms and couplings. With a fixed width
 * of dry friction the current is linear in all of them, so one QR factorization gives the
 * optimum, without start values. Accelerations are not measured: they are differences of the
 * filtered speeds. All other columns and the current pass the same filter. The equation then
 * holds for the filtered signals as well, while a delay of one column would bias all values.
 * The method assumes that the noise is in the currents; encoders have little. Each joint has
 * its own fit, because (5) has own parameters for each. Reference: Khalil and Dombre, Modeling,
 * Identification and Control of Robots (2002), chapter 12. */

/* Differentiates the filtered speeds once for all joints, because couplings need the
 * accelerations of others. Filter and derivative commute. */
enum status arm_friction_open_work(struct arm_friction_work *w,
                                   const struct arm_friction_set *set)
{
    memset(w, 0, sizeof *w);
    w->set = set;
    w->memory = gsl_matrix_alloc(P + 3 + ARM_JOINTS, set->n);
    if (!w->memory) {
        return STATUS_E_NOMEM;
    }
    for (size_t i = 0; i < P; i++) {
        w->x[i] = gsl_matrix_ptr(w->memory, i, 0);
    }
    w->tried = gsl_matrix_ptr(w->memory, P, 0);
    w->y = gsl_matrix_ptr(w->memory, P + 1, 0);
    w->residual = gsl_matrix_ptr(w->memory, P + 2, 0);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        w->qdd[j] = gsl_matrix_ptr(w->memory, P + 3 + j, 0);
        memcpy(w->residual, set->qd_radps[j], set->n * sizeof *w->residual);
        arm_friction_smooth(set, w->residual);
        arm_friction_rate(set, w->residual, w->qdd[j]);
    }
    return STATUS_OK;
}

double arm_friction_dry_at(const struct arm_friction_set *set, size_t joint, size_t k)
{
    return tanh(set->qd_radps[joint][k] / TURN_OVER_RADPS);
}

void arm_friction_fill_columns(struct arm_friction_work *w, size_t joint)
{
    const struct arm_friction_set *set = w->set;
    const struct joint_terms *terms = &joint_terms[joint];
    const size_t bytes = set->n * sizeof(double);
    size_t i = OWN;
    w->p = count_terms(joint);
    memcpy(w->x[0], w->qdd[joint], bytes);
    memcpy(w->x[1], set->qd_radps[joint], bytes);
    memcpy(w->y, set->current_a[joint], bytes);
    for (size_t k = 0; k < set->n; k++) {
        w->x[2][k] = arm_friction_dry_at(set, joint, k);
        w->x[3][k] = 1.0;
    }
    for (size_t g = 0; g < terms->gravity_count; g++, i++) {
        for (size_t k = 0; k < set->n; k++) {
            w->x[i][k] = gravity_at(set, terms->gravity[g], k);
        }
    }
    for (size_t c = 1; c < i; c++) {
        arm_friction_smooth(set, w->x[c]); /* accelerations are already filtered */
    }
    arm_friction_smooth(set, w->y);
    if (terms->partner < ARM_JOINTS) {
        for (size_t k = 0; k < set->n; k++) {
            w->x[i + 1][k] = w->qdd[terms->partner][k];
            w->x[i][k] = w->qdd[terms->partner][k] * cos(set->q_rad[2][k]);
        }
    }
    for (size_t c = 0; c < w->p; c++) {
        arm_friction_retard(set, w->x[c]);
    }
}

void arm_friction_make_triangle(const struct arm_friction_work *w, size_t lo, size_t hi,
                                bool with_tried, struct qr_accumulator *qr)
{
    qr_start(qr, w->p + (with_tried ? 2 : 1));
    for (size_t at = lo; at < hi; at++) {
        const size_t k = w->set->row[at];
        double row[P + 2];
        for (size_t i = 0; i < w->p; i++) {
            row[i] = w->x[i][k];
        }
        row[w->p] = w->tried[k];
        row[qr->columns - 1] = w->y[k];
        qr_add(qr, row);
    }
    qr_flush(qr);
}

enum status arm_friction_solve(struct arm_friction_work *w, size_t lo, size_t hi)
{
    struct qr_accumulator qr;
    arm_friction_make_triangle(w, lo, hi, false, &qr);
    return qr_solve(&qr, w->p, RANK_RATIO, &w->svd, w->beta);
}

static bool is_short(const struct arm_friction_work *w, size_t reach)
{
    return (double)reach <= SHORT_S * w->set->rate_hz;
}

/* Number of samples of the covariance window. If residuals are autocorrelated only for a
 * time that is short relative to a move, it is twice that time. Otherwise it is four times,
 * because Bartlett's weights fall over the window and a shorter one makes errors too small;
 * or twice, if that is a large part of the recording. */
static size_t find_reach(const struct arm_friction_work *w, double *rho)
{
    const size_t most = (size_t)(MEMORY_S_MAX * w->set->rate_hz);
    size_t lag = 0;
    double share = 1.0;
    *rho = 0.0;
    while (share > MEMORY && lag < most && w->rest_squares > 0.0) {
        double products = 0.0;
        lag++;
        for (size_t at = lag; at < w->set->used; at++) {
            const double *residual = w->residual + w->set->row[at];
            products +=
                arm_friction_goes_on(w->set, at, lag) ? *residual * *(residual - lag) : 0.0;
        }
        share = products / w->rest_squares;
        *rho = lag == 1 ? share : *rho;
    }
    const size_t much = (size_t)(REACH_SHARE * (double)w->set->used);
    const size_t most_reach = much > 2 * lag ? much : 2 * lag;
    return is_short(w, 2 * lag) ? 2 * lag : most_reach < 4 * lag ? most_reach : 4 * lag;
}

/* Newey-West covariance of the moments of rows lo .. hi - 1, whose residuals are in place. */
static void sum_moments(const struct arm_friction_work *w, size_t lo, size_t hi, size_t reach,
                        struct hac_covariance *hac)
{
    hac_start(hac, w->p, reach, false);
    for (size_t at = lo; at < hi; at++) {
        const size_t k = w->set->row[at];
        double g[P];
        for (size_t i = 0; i < w->p; i++) {
            g[i] = w->x[i][k] * w->residual[k];
        }
        hac_add(hac, g);
        if (at + 1 == hi || !arm_friction_goes_on(w->set, at + 1, 1)) {
            hac_break(hac);
        }
    }
}

/* Computes the influence of a row on the parameters for a residual of one; returns its
 * leverage. */
static double find_leverage(const struct arm_friction_work *w, size_t k,
                            const double bread[P * P], double by[P])
{
    double leverage = 0.0;
    for (size_t i = 0; i < w->p; i++) {
        by[i] = 0.0;
        for (size_t j = 0; j < w->p; j++) {
            by[i] += bread[i * w->p + j] * w->x[j][k];
        }
        leverage += by[i] * w->x[i][k];
    }
    return leverage;
}

/* Share by which variances are too small because the fit follows the noise where its columns
 * are large. It is the mean leverage of rows, weighted by their influence on a parameter,
 * times the number of rows summed with each one, over which columns hardly change. */
static void find_followed(const struct arm_friction_work *w, size_t lo, size_t hi,
                          double summed, const double bread[P * P], double followed[P])
{
    double weight[P] = {0.0};
    memset(followed, 0, P * sizeof *followed);
    for (size_t at = lo; at < hi; at++) {
        double by[P];
        const double leverage = find_leverage(w, w->set->row[at], bread, by);
        for (size_t i = 0; i < w->p; i++) {
            weight[i] += by[i] * by[i];
            followed[i] += by[i] * by[i] * leverage * summed;
        }
    }
    for (size_t i = 0; i < w->p; i++) {
        followed[i] = weight[i] > 0.0 ? followed[i] / weight[i] : 0.0;
    }
}

/* Small-sample correction of the covariance. Bartlett's weights fall from the first lag on,
 * so that variances are too small. Flat-top weights are one up to half the reach and fall
 * from there. They equal twice the weights of the reach minus those of its half (Politis and
 * Romano 1995). They can give a matrix that is not positive semidefinite. Therefore
 * variances use them, and correlations use Bartlett's weights (docs/model/arm.md). The
 * leverage correction is that of find_followed(). */
static void correct_small_sample(const struct arm_friction_work *w, size_t lo, size_t hi,
                                 size_t reach, const double bread[P * P],
                                 double covariance[P * P])
{
    struct hac_covariance hac;
    double half[P * P];
    double followed[P];
    double widening[P];
    sum_moments(w, lo, hi, reach / 2, &hac);
    square_sandwich(bread, hac.robust, w->p, half);
    find_followed(w, lo, hi, 1.5 * (double)reach, bread, followed);
    for (size_t i = 0; i < w->p; i++) {
        const double flat = 2.0 - half[i * w->p + i] / covariance[i * w->p + i];
        const double part = 1.0 - followed[i];
        widening[i] =
            sqrt((flat > RATIO_MIN ? flat : RATIO_MIN) / (part > RATIO_MIN ? part : RATIO_MIN));
    }
    for (size_t i = 0; i < w->p * w->p; i++) {
        covariance[i] *= widening[i / w->p] * widening[i % w->p];
    }
}

/* Covariance of the parameters from rows lo .. hi - 1; returns its degrees of freedom. Flat
 * weights double the scatter of the variances. */
double arm_friction_find_covariance(const struct arm_friction_work *w, size_t lo, size_t hi,
                                    size_t reach, double *covariance)
{
    struct hac_covariance hac;
    double bread[P * P];
    const size_t rows = hi - lo;
    const bool flat = is_short(w, reach);
    reach = reach < rows ? reach : rows;
    sum_moments(w, lo, hi, reach, &hac);
    square_multiply(w->svd.inverse, w->svd.inverse, true, w->p, bread);
    square_sandwich(bread, hac.robust, w->p, covariance);
    if (flat) {
        correct_small_sample(w, lo, hi, reach, bread, covariance);
    }
    return hac_freedom(fmin((flat ? 2.0 : 1.0) * (double)reach / (double)rows, 1.0));
}

void arm_friction_set_residuals(struct arm_friction_work *w)
{
    w->rest_squares = 0.0;
    for (size_t at = 0; at < w->set->used; at++) {
        const size_t k = w->set->row[at];
        w->residual[k] = w->y[k];
        for (size_t i = 0; i < w->p; i++) {
            w->residual[k] -= w->beta[i] * w->x[i][k];
        }
        w->rest_squares += w->residual[k] * w->residual[k];
    }
}

/* Computes R2 in two passes, mean first, which avoids the cancellation of large sums. */
static struct arm_friction_check check_currents(const struct arm_friction_work *w)
{
    const size_t used = w->set->used;
    double mean = 0.0;
    double about = 0.0;
    for (size_t at = 0; at < used; at++) {
        mean += w->y[w->set->row[at]];
    }
    mean /= (double)used;
    for (size_t at = 0; at < used; at++) {
        const double off = w->y[w->set->row[at]] - mean;
        about += off * off;
    }
    return (struct arm_friction_check){used, sqrt(w->rest_squares / (double)used),
                                       about > 0.0 ? 1.0 - w->rest_squares / about
                                                   : (double)NAN};
}

/* Fits each third of the rows. A value that changes during the recording, such as friction
 * that falls as the gears warm up, makes the thirds differ by more than their errors. A third
 * does not count if it leaves a parameter undetermined, or if it is too short for an estimate
 * of its errors: two windows of the covariance. */
static enum status fit_thirds(const struct arm_friction_work *w, size_t reach,
                              struct arm_friction_thirds *thirds)
{
    struct arm_friction_work part = *w;
    enum status st = STATUS_OK;
    memset(thirds, 0, sizeof *thirds);
    for (size_t k = 0; k < ARM_FRICTION_PARTS && st == STATUS_OK; k++) {
        const size_t lo = w->set->used * k / ARM_FRICTION_PARTS;
        const size_t hi = w->set->used * (k + 1) / ARM_FRICTION_PARTS;
        double covariance[P * P];
        st = arm_friction_solve(&part, lo, hi);
        if (st != STATUS_OK || part.svd.rank < w->p || hi - lo <= 2 * reach) {
            continue;
        }
        arm_friction_set_residuals(&part);
        const double freedom = arm_friction_find_covariance(&part, lo, hi, reach, covariance);
        for (size_t i = 0; i < w->p; i++) {
            thirds->each[i][thirds->count] = (struct estimate_of_one){
                part.beta[i], fmax(sqrt(covariance[i * w->p + i]), 1e-12), freedom};
        }
        thirds->count++;
    }
    return st;
}

/* Effect of a parameter of size 1 on the current, and spread of the current. */
static void find_effects(const struct arm_friction_work *w,
                         const struct arm_friction_check *own,
                         struct arm_friction_thirds *thirds)
{
    struct qr_accumulator qr;
    double length[P];
    arm_friction_make_triangle(w, 0, w->set->used, false, &qr);
    qr_lengths(&qr, w->p, length);
    thirds->current_sd_a =
        own->r2 < 1.0 ? own->rmse_a / sqrt(fmax(1.0 - own->r2, 1e-9)) : own->rmse_a;
    for (size_t i = 0; i < w->p; i++) {
        thirds->effect_a[i] = length[i] / sqrt((double)w->set->used);
    }
}

/* ---- unmodelled terms ---- */

/* Share of the squared residuals that one more column explains. The tried column is the last
 * but one of the triangle. Its diagonal element is the part that the terms cannot replace;
 * the element above the residual's is what that part contributes to the current. So one
 * factorization gives the gain, without a new fit: it is the squared partial correlation of
 * column and current, given the terms. */
static double try_column(struct arm_friction_work *w)
{
    struct qr_accumulator qr;
    arm_friction_smooth(w->set, w->tried);
    arm_friction_retard(w->set, w->tried);
    arm_friction_make_triangle(w, 0, w->set->used, true, &qr);
    const double gain = qr.r[w->p][w->p + 1] * qr.r[w->p][w->p + 1];
    const double rest = qr.r[w->p + 1][w->p + 1] * qr.r[w->p + 1][w->p + 1];
    return gain + rest > 0.0 ? gain / (gain + rest) : 0.0;
}

enum lacking { STRIBECK, ASYMMETRIC, BY_LOAD, FASTER, DRIFT, WARMS, WEARS, LACKINGS };
static const char *const lacking_words[LACKINGS] = {
    [STRIBECK] = "friction that is greater near rest",
    [ASYMMETRIC] = "friction that differs by direction",
    [BY_LOAD] = "friction that grows with the load",
    [FASTER] = "friction with the square of the speed",
    [DRIFT] = "a current that drifts",
    [WARMS] = "viscous friction that changes with time",
    [WEARS] = "dry friction that changes with time",
};

/* Value of an unmodelled term. Its shape is enough: only the correlation with the residuals
 * counts. The load in BY_LOAD is the fitted gravity, which is free of noise. */
static double lacking_at(const struct arm_friction_work *w, enum lacking term, size_t joint,
                         size_t k)
{
    const struct arm_friction_set *set = w->set;
    const double qd = set->qd_radps[joint][k];
    double load = 0.0;
    switch (term) {
    case STRIBECK:
        return arm_friction_dry_at(set, joint, k) * exp(-pow(qd / STRIBECK_RADPS, 2.0));
    case ASYMMETRIC:
        return fabs(arm_friction_dry_at(set, joint, k));
    case BY_LOAD:
        for (size_t i = OWN; i < OWN + joint_terms[joint].gravity_count; i++) {
            load += w->beta[i] * w->x[i][k];
        }
        return arm_friction_dry_at(set, joint, k) * fabs(load);
    case FASTER:
        return qd * fabs(qd);
    case DRIFT:
        return set->t_s[k] - set->t_s[0];
    case WARMS:
        return qd * (set->t_s[k] - set->t_s[0]);
    case WEARS:
        return arm_friction_dry_at(set, joint, k) * (set->t_s[k] - set->t_s[0]);
    case LACKINGS:
        break;
    }
    return 0.0;
}

/* Finds the term that explains the largest share of the squared residuals. The other joints'
 * motions are candidates, because exchanged columns and couplings appear there. */
static void find_unmodelled(struct arm_friction_work *w, size_t joint,
                            struct arm_friction_unmodelled *found)
{
    *found = (struct arm_friction_unmodelled){.joint = ARM_JOINTS};
    for (enum lacking term = 0; term < LACKINGS; term++) {
        for (size_t k = 0; k < w->set->n; k++) {
            w->tried[k] = lacking_at(w, term, joint, k);
        }
        const double share = try_column(w);
        if (share > found->share) {
            *found = (struct arm_friction_unmodelled){lacking_words[term], ARM_JOINTS, share};
        }
    }
    for (size_t other = 0; other < ARM_JOINTS; other++) {
        for (size_t k = 0; k < w->set->n; k++) {
            w->tried[k] = arm_friction_dry_at(w->set, other, k);
        }
        const double share = other == joint ? 0.0 : try_column(w);
        if (share > found->share) {
            *found =
                (struct arm_friction_unmodelled){"friction of another joint", other, share};
        }
    }
}

/* ---- angles and speeds ---- */

/* Compares changes of the angle with the integrated speed over RATE_S. A slope other than 1
 * means other units or exchanged columns. */
static void find_rate(const struct arm_friction_set *set, size_t joint,
                      struct arm_friction_joint *out)
{
    const size_t span = (size_t)fmax(RATE_S * set->rate_hz, 1.0);
    double changed = 0.0;
    double made = 0.0;
    double both = 0.0;
    for (size_t r = 0; r < set->run_count; r++) {
        for (size_t k = set->run_start[r]; k + span < set->run_start[r + 1]; k += span) {
            const double change = set->q_rad[joint][k + span] - set->q_rad[joint][k];
            double travelled = 0.0;
            for (size_t l = k; l < k + span; l++) {
                travelled += 0.5 * (set->qd_radps[joint][l] + set->qd_radps[joint][l + 1]) *
                             (set->t_s[l + 1] - set->t_s[l]);
            }
            changed += change * change;
            made += travelled * travelled;
            both += change * travelled;
        }
    }
    out->rate_ratio = made > 0.0 ? both / made : (double)NAN;
    out->rate_r2 = both * both / (changed * made);
    for (size_t k = 0; k < set->n; k++) {
        out->speed_max_radps = fmax(out->speed_max_radps, fabs(set->qd_radps[joint][k]));
        out->current_max_a = fmax(out->current_max_a, fabs(set->current_a[joint][k]));
        out->angle_max_rad = fmax(out->angle_max_rad, fabs(set->q_rad[joint][k]));
    }
}

/* ---- fit of all joints ---- */

/* Values of a joint under other assumptions. */
struct other_values {
    const double *noisy; /* with the noise of the speeds twice */
    const double *kind;  /* with a lag in place of a delay, or the reverse */
};

/* Adds what the noise of the speeds changes, the error of a fitted delay, and the difference
 * between a delay and a lag that the recording does not tell apart. */
static void widen_errors(struct arm_friction_work *w, const double bias[P],
                         const struct other_values *other, const struct arm_friction_late *late,
                         double *covariance)
{
    double slope[P] = {0.0};
    double kind[P] = {0.0};
    if (fabs(late->delay_s) + late->lag_s > 0.0) {
        arm_friction_late_slopes(w, slope);
    }
    for (size_t i = 0; i < w->p && late->chi2 < LATE_CHI2; i++) {
        kind[i] = isfinite(other->kind[i]) ? w->beta[i] - other->kind[i] : 0.0;
    }
    for (size_t i = 0; i < w->p; i++) {
        for (size_t k = 0; k < w->p; k++) {
            covariance[i * w->p + k] += bias[i] * bias[k] + kind[i] * kind[k] +
                                        slope[i] * slope[k] * late->se_s * late->se_s;
        }
    }
}

/* Fits one joint: columns, triangle, parameters, residuals, errors, and the tests that the
 * verdict needs. */
static enum status fit_joint(struct arm_friction_work *w, size_t joint, bool doubt_units,
                             const struct other_values *other,
                             const struct arm_friction_late *late,
                             struct arm_friction_joint *out)
{
    struct arm_friction_thirds thirds;
    double covariance[P * P];
    find_rate(w->set, joint, out);
    arm_friction_fill_columns(w, joint);
    enum status st = arm_friction_solve(w, 0, w->set->used);
    if (st != STATUS_OK) {
        return st;
    }
    arm_friction_set_residuals(w);
    out->own = check_currents(w);
    /* errors of speeds make inertias too small: their effect is taken off */
    double bias[P] = {0.0};
    for (size_t i = 0; i < w->p; i++) {
        bias[i] = isfinite(other->noisy[i]) ? w->beta[i] - other->noisy[i] : 0.0;
    }
    const size_t reach = find_reach(w, &out->residual_rho);
    const double freedom = arm_friction_find_covariance(w, 0, w->set->used, reach, covariance);
    const struct arm_solved solved = {.svd = &w->svd,
                                      .value = w->beta,
                                      .covariance = covariance,
                                      .freedom = freedom,
                                      .null_share = NULL_SHARE,
                                      .white_variance = w->rest_squares / (double)w->set->used};
    widen_errors(w, bias, other, late, covariance);
    for (size_t i = 0; i < w->p; i++) {
        w->beta[i] += bias[i];
    }
    arm_estimate_fill(&out->estimate, &solved);
    st = fit_thirds(w, reach, &thirds);
    if (st == STATUS_OK) {
        find_effects(w, &out->own, &thirds);
        find_unmodelled(w, joint, &out->missing);
        arm_friction_judge_joint(out, joint, &thirds, doubt_units);
    }
    return st;
}

enum status arm_friction_fit_run(struct arm_friction_set *set,
                                 const struct arm_friction_summary *summary, bool doubt_units,
                                 struct arm_friction_fit *fit)
{
    struct arm_friction_work w = {.memory = NULL};
    double noisy[ARM_JOINTS][ARM_FRICTION_P_MAX];
    double kind[ARM_JOINTS][ARM_FRICTION_P_MAX] = {{0.0}};
    arm_friction_fit_start(fit);
    enum status st = arm_friction_find_late(set, &fit->late);
    st = st == STATUS_OK ? arm_friction_add_noise(set, noisy) : st;
    st = st == STATUS_OK ? arm_friction_solve_other(set, &fit->late, kind) : st;
    st = st == STATUS_OK ? arm_friction_open_work(&w, set) : st;
    for (size_t j = 0; j < ARM_JOINTS && st == STATUS_OK; j++) {
        const struct other_values other = {noisy[j], kind[j]};
        st = fit_joint(&w, j, doubt_units, &other, &fit->late, &fit->joint[j]);
    }
    if (st == STATUS_OK) {
        arm_friction_judge_whole(fit, summary);
    }
    gsl_matrix_free(w.memory);
    return st;
}

enum status arm_friction_hold_out(struct arm_friction_set *set, struct arm_friction_fit *fit)
{
    struct arm_friction_work w;
    set->delay_s = fit->late.delay_s;
    set->lag_s = fit->late.lag_s;
    const enum status st = arm_friction_open_work(&w, set);
    for (size_t j = 0; j < ARM_JOINTS && st == STATUS_OK; j++) {
        const struct estimate *e = &fit->joint[j].estimate;
        arm_friction_fill_columns(&w, j);
        for (size_t i = 0; i < w.p; i++) {
            w.beta[i] = isfinite(e->value[i]) ? e->value[i] : 0.0;
        }
        arm_friction_set_residuals(&w);
        fit->joint[j].held_out = check_currents(&w);
    }
    fit->is_held_out = st == STATUS_OK;
    if (fit->is_held_out) {
        arm_friction_judge_held_out(fit);
    }
    gsl_matrix_free(w.memory);
    return st;
}
