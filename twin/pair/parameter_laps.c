#include "twin/pair/parameter_laps.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>

#include "twin/pair/pair_thresholds.def"

/* Before anything is known of it, a simulator is off by so much: share of a ratio, of a lap. */
static const double OFF_SHARE = 0.2;
/* Allowed change of a delay that is fixed. */
static const double HELD_S = 1e-6;
enum { STEPS = 50 };
static const double STEP_ENOUGH = 1e-9;

/* The law in the form of fits: t0 and the logarithms of both ratios. */
static bool compute_logarithms(const double terms[PROFILE_TERMS], double q[PROFILE_TERMS])
{
    q[PROFILE_T0] = terms[PROFILE_T0];
    q[PROFILE_SPEED] = log(terms[PROFILE_SPEED]);
    q[PROFILE_ACCELERATION] = log(terms[PROFILE_ACCELERATION]);
    return isfinite(q[PROFILE_T0]) && isfinite(q[PROFILE_SPEED]) &&
           isfinite(q[PROFILE_ACCELERATION]);
}

void parameter_laps_terms(const struct profile_law *law, double terms[PROFILE_TERMS])
{
    terms[PROFILE_T0] = law->q[PROFILE_T0];
    terms[PROFILE_SPEED] = exp(law->q[PROFILE_SPEED]);
    terms[PROFILE_ACCELERATION] = exp(law->q[PROFILE_ACCELERATION]);
}

enum laps_match parameter_laps_match(const struct laps_fitted *laps, enum profile_class kind,
                                     const double terms[PROFILE_TERMS], size_t others)
{
    const struct profile_law *law = &laps->fit->law[kind];
    const double z = LAPS_Z * estimate_reach((double)law->freedom) / estimate_reach(INFINITY) *
                     sqrt(1.0 + (double)laps->fit->n / (double)others);
    const double least_s = fmax(law->residual_s_sd, LAPS_MIN_S);
    enum laps_match matched = LAPS_UNTESTED;
    double q[PROFILE_TERMS];
    if (!compute_logarithms(terms, q)) {
        return LAPS_UNTESTED;
    }
    for (size_t k = 0; k < laps->n && matched != LAPS_OTHERS; k++) {
        const struct profile_move *move = &laps->moves[k];
        double row[PROFILE_TERMS];
        if (move->kind != kind || !profile_move_usable(move)) {
            continue;
        }
        const double off_s =
            fabs(profile_lap_s(q, move, row) - profile_lap_s(law->q, move, row));
        const double se_s = robust_ls_se(&law->slopes, row);
        if (!isfinite(se_s)) {
            return LAPS_UNTESTED;
        }
        matched = off_s > fmax(z * se_s, least_s) ? LAPS_OTHERS : LAPS_MATCHED;
    }
    return matched;
}

/* ---- the smallest change ------------------------------------------------------------------
 */

/* Correction of one class. */
struct match {
    const struct laps_fitted *real;
    enum profile_class kind;
    double does[PROFILE_TERMS], shall[PROFILE_TERMS]; /* terms of the laws */
    double sd_s; /* standard deviation of a lap, for both arms */
    /* The expected change, and the deviation from it that is as likely as a lap error of
     * sd_s. */
    double expected[PROFILE_TERMS], scale[PROFILE_TERMS];
};

/* One residual per lap (zero for moves of another class), and one per term. */
static int set_residuals(const gsl_vector *change, void *context, gsl_vector *f)
{
    const struct match *m = context;
    double q[PROFILE_TERMS];
    double row[PROFILE_TERMS];
    for (size_t j = 0; j < PROFILE_TERMS; j++) {
        const double c = gsl_vector_get(change, j);
        q[j] = m->does[j] + c;
        gsl_vector_set(f, m->real->n + j, (c - m->expected[j]) / m->scale[j]);
    }
    for (size_t k = 0; k < m->real->n; k++) {
        const struct profile_move *move = &m->real->moves[k];
        const double off_s = profile_lap_s(q, move, row) - profile_lap_s(m->shall, move, row);
        gsl_vector_set(f, k, move->kind == m->kind ? off_s / m->sd_s : 0.0);
    }
    return GSL_SUCCESS;
}

static enum status search_change(struct match *m, double change[PROFILE_TERMS])
{
    const gsl_multifit_nlinear_parameters settings = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf problem = {
        .f = set_residuals, .n = m->real->n + PROFILE_TERMS, .p = PROFILE_TERMS, .params = m};
    gsl_multifit_nlinear_workspace *work = gsl_multifit_nlinear_alloc(
        gsl_multifit_nlinear_trust, &settings, problem.n, PROFILE_TERMS);
    if (!work) {
        return STATUS_E_NOMEM;
    }
    const gsl_vector_const_view start = gsl_vector_const_view_array(m->expected, PROFILE_TERMS);
    int info = 0;
    /* Stopping without further progress is not an error. */
    bool found = gsl_multifit_nlinear_init(&start.vector, &problem, work) == GSL_SUCCESS;
    if (found) {
        (void)gsl_multifit_nlinear_driver(STEPS, STEP_ENOUGH, 0.0, 0.0, NULL, NULL, &info,
                                          work);
    }
    const gsl_vector *at = gsl_multifit_nlinear_position(work);
    for (size_t j = 0; j < PROFILE_TERMS; j++) {
        found = found && isfinite(gsl_vector_get(at, j));
    }
    for (size_t j = 0; j < PROFILE_TERMS && found; j++) {
        change[j] = gsl_vector_get(at, j);
    }
    gsl_multifit_nlinear_free(work);
    return found ? STATUS_OK : STATUS_E_MATH;
}

/* Finds the change for a simulator whose laps follow `does`: s to add to t0, at least least_s,
 * and factors of both ratios. */
static enum status find_change(const struct laps_fitted *real, enum profile_class kind,
                               const double does[PROFILE_TERMS], double least_s,
                               double change[PROFILE_TERMS])
{
    const struct profile_law *law = &real->fit->law[kind];
    struct match m = {.real = real, .kind = kind, .scale = {0.0, OFF_SHARE, OFF_SHARE}};
    if (!compute_logarithms(does, m.does)) {
        return STATUS_E_MATH;
    }
    for (size_t k = 0; k < real->n; k++) {
        m.scale[PROFILE_T0] += real->moves[k].kind == kind
                                   ? OFF_SHARE * real->moves[k].lap_s / (double)law->n
                                   : 0.0;
    }
    memcpy(m.shall, law->q, sizeof m.shall);
    m.sd_s = sqrt(2.0) * fmax(law->residual_s_sd, LAPS_MIN_S);
    enum status st = search_change(&m, change);
    if (st == STATUS_OK && change[PROFILE_T0] < least_s) {
        m.expected[PROFILE_T0] = least_s;
        m.scale[PROFILE_T0] = HELD_S;
        st = search_change(&m, change);
    }
    for (size_t j = PROFILE_SPEED; j < PROFILE_TERMS && st == STATUS_OK; j++) {
        change[j] = exp(change[j]);
    }
    return st;
}

static bool all_finite(const double terms[PROFILE_TERMS])
{
    return isfinite(terms[PROFILE_T0]) && isfinite(terms[PROFILE_SPEED]) &&
           isfinite(terms[PROFILE_ACCELERATION]);
}

static enum status adjust_class(const struct laps_fitted *real, enum profile_class kind,
                                const struct parameter_force *force,
                                const struct parameter_virtual *virtual,
                                struct parameter_sent *out)
{
    static const double own[PROFILE_TERMS] = {0.0, 1.0, 1.0};
    enum { ALL = (1 << PROFILE_TERMS) - 1 };
    const size_t first = (size_t)kind * PROFILE_TERMS;
    const unsigned applied = (unsigned)force->applied >> first & ALL;
    const unsigned relative = (unsigned)force->relative >> first & ALL;
    const bool absolute = applied == ALL && relative == 0;
    double *sent = absolute ? &out->value[first] : &out->adjust[first];
    double change[PROFILE_TERMS];
    if ((applied != 0 && applied != ALL) || (!absolute && relative != applied) ||
        !all_finite(sent)) {
        return STATUS_OK;
    }
    const double *before = applied == ALL ? &force->sent[first] : own;
    /* A simulator cannot wait for a negative time; for additions to a delay the limit is
     * unknown. */
    const double least_s = absolute ? -before[PROFILE_T0] : -HUGE_VAL;
    const enum status st = find_change(real, kind, &virtual->law[first], least_s, change);
    for (size_t j = 0; j < PROFILE_TERMS && st == STATUS_OK; j++) {
        sent[j] = j == PROFILE_T0 ? before[j] + change[j] : before[j] * change[j];
    }
    return st;
}

enum status parameter_laps_adjust(const struct laps_fitted *real,
                                  const struct parameter_force *force,
                                  const struct parameter_virtual *virtual,
                                  const double value[PROFILE_P], struct parameter_sent *out)
{
    struct parameter_sent sent = *out;
    enum status st = STATUS_OK;
    for (enum profile_class c = PROFILE_JOINTS; c < PROFILE_CLASSES && st == STATUS_OK; c++) {
        const size_t first = (size_t)c * PROFILE_TERMS;
        if (all_finite(&value[first]) && all_finite(&virtual->law[first])) {
            st = adjust_class(real, c, force, virtual, &sent);
        }
    }
    if (st == STATUS_OK) {
        *out = sent;
    }
    return st;
}
