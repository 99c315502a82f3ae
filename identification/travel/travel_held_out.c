#include "identification/travel/travel_held_out.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/fit/fit_thresholds.def"
#include "identification/numeric/column_space.h"
#include "identification/numeric/dot.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_thresholds.def"
#include "identification/travel/travel_time.h"

void travel_report_part(struct estimate *whole, const char *name, const struct estimate *part,
                        size_t i)
{
    estimate_reason(whole, REASON_PARTS_DIFFER, ESTIMATE_MARGINAL,
                    "%.40s alone gives %s = %.4g +- %.2g, all together %.4g +- %.2g", name,
                    whole->name[i], part->value[i], part->se[i], whole->value[i], whole->se[i]);
    estimate_advise(whole, "the files are not of one robot in one state: fit each by itself");
}

/* Returns whether two estimates of 1 / speed differ. */
static bool is_apart(const struct travel_fit *whole, const struct travel_fit *part, bool nested,
                     enum travel_term term)
{
    const struct travel_values values = {whole->beta[term], whole->beta_se[term],
                                         part->beta[term], part->beta_se[term], nested};
    return part->estimate.identifiable[term] && whole->estimate.identifiable[term] &&
           part->n >= part->estimate.rank + DOF_REPORTED && part->beta[term] > 0.0 &&
           travel_values_differ(&values, APART_SE);
}

void travel_time_check_part(struct travel_fit *whole, const char *name,
                            const struct travel_fit *part)
{
    for (enum travel_term term = TRAVEL_INV_W; term <= TRAVEL_INV_V; term++) {
        if (!part->estimate.identifiable[term] ||
            part->n < part->estimate.rank + DOF_REPORTED) {
            continue;
        }
        if (!(part->beta[term] > 0.0)) {
            estimate_reason(
                &whole->estimate, REASON_BELOW_ZERO,
                part->beta_hi[term] < 0.0 ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                "unphysical sign in %.40s: alone it gives %s = %.3g %s (95 %%: %.3g "
                "to %.3g)",
                name, travel_inverse_names[term], part->beta[term], travel_inverse_units[term],
                part->beta_lo[term], part->beta_hi[term]);
            travel_advise_column(&whole->estimate, term);
        } else if (is_apart(whole, part, true, term)) {
            travel_report_part(&whole->estimate, name, &part->estimate, term);
        }
    }
}

enum status travel_held_out_score(travel_lap_predict *predict, const void *fit,
                                  const void *moves, size_t n, struct travel_held_out *held)
{
    gsl_vector *off = gsl_vector_alloc(n + 1);
    if (!off) {
        return STATUS_E_NOMEM;
    }
    double rss = 0.0;
    double sst = 0.0;
    double mean_lap_s = 0.0;
    double sum = 0.0;
    *held = (struct travel_held_out){.p = NAN, .law_p = NAN};
    for (size_t i = 0; i < n; i++) {
        double lap_s;
        const double predicted_s = predict(fit, moves, i, &lap_s);
        const double residual = lap_s - predicted_s;
        const double deviation = lap_s - mean_lap_s;
        if (!isfinite(residual)) {
            continue;
        }
        off->data[held->n++] = fabs(residual);
        sum += residual;
        rss += residual * residual;
        const double step = deviation / (double)held->n;
        sst += step * deviation * (double)(held->n - 1);
        mean_lap_s += step;
    }
    const double count = (double)held->n;
    held->unpredicted = n - held->n;
    held->rmse_s = held->n ? sqrt(rss / count) : nan("");
    held->mean_s = held->n ? sum / count : nan("");
    held->r2 = sst > 0.0 ? 1.0 - rss / sst : nan("");
    held->median_s = held->n ? gsl_stats_median(off->data, 1, held->n) : nan("");
    gsl_vector_free(off);
    return STATUS_OK;
}

/* Uses the median, which late replies do not move, as a Gaussian standard deviation. */
static void judge_size(struct estimate *e, size_t n, double residual_s_sd,
                       const struct travel_held_out *held)
{
    const double own = fmax(residual_s_sd, 1e-4);
    const double size = 1.4826 * held->median_s;
    /* A prediction also contains the errors of the fit. */
    const double expected = own * sqrt(1.0 + (double)e->rank / fmax((double)n, 1.0));
    const double ratio = size / expected;
    /* A median has the efficiency of about 0.37 of its values. */
    const double count = fmax(0.37 * (double)held->n, 1.0);
    if (ratio > HELD_OUT_MARGINAL &&
        gsl_cdf_chisq_Q(count * ratio * ratio, count) < HELD_OUT_CHANCE) {
        estimate_reason_first(e, REASON_HELD_OUT,
                              ratio > HELD_OUT_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                              "the held-out moves contradict the fit: it is off by %.3g s "
                              "there, by %.3g s on its own moves",
                              size, own);
    }
    if (fabs(held->mean_s) > OFF_SE * own / sqrt((double)held->n) &&
        fabs(held->mean_s) > OFF_SHARE * own) {
        estimate_reason(e, REASON_HELD_OUT, ESTIMATE_MARGINAL,
                        "held-out moves take %.3g s %s than predicted on average",
                        fabs(held->mean_s), held->mean_s > 0.0 ? "longer" : "less");
    }
}

bool travel_held_out_judge(struct estimate *e, size_t n, double residual_s_sd,
                           const struct travel_held_out *held)
{
    if (held->n > DOF_REPORTED) {
        judge_size(e, n, residual_s_sd, held);
        return true;
    }
    estimate_reason(e, REASON_TOO_FEW, ESTIMATE_PASS,
                    "%zu predictable held-out moves are too few to test the fit: %d are needed",
                    held->n, DOF_REPORTED + 1);
    return false;
}

/* ---- the F test
 * ------------------------------------------------------------------------------- */

/* Held-out moves that the fit predicts: their rows and residuals. */
struct held_rows {
    size_t n;
    double *x, *e; /* [n x TRAVEL_P], [n] */
    struct column_space space;
    double along[COLUMN_SPACE_P_MAX];            /* Q'e */
    double turned[COLUMN_SPACE_P_MAX][TRAVEL_P]; /* Q'X */
};

/* Fills rows of moves that are not late: those are outliers of their own fit, unless they are
 * many. */
static void fill_rows(const struct travel_fit *fit, const struct travel_fit *theirs,
                      const struct travel_move *moves, size_t n, struct held_rows *rows)
{
    const double far = WILD_SD * theirs->residual_s_sd;
    size_t late = 0;
    for (int pass = 0; pass < 2; pass++) {
        const bool many = travel_law_many(late, rows->n + late);
        rows->n = late = 0;
        for (size_t i = 0; i < n; i++) {
            const struct travel_move *m = &moves[i];
            double *row = rows->x + rows->n * TRAVEL_P;
            travel_fit_row(fit, m, row);
            if (!travel_move_usable(m) || !robust_ls_estimable(&fit->ls, row)) {
                continue;
            }
            const double own_s =
                travel_time_predict(theirs, m->rotation_rad, m->displacement_m);
            if (fabs(m->lap_s - own_s) > far && !(pass > 0 && many)) {
                late++;
                continue;
            }
            rows->e[rows->n++] = m->lap_s - robust_ls_value(&fit->ls, row);
        }
    }
}

/* Returns the square of the residuals along the law's terms, in units of their variance, which
 * the errors of the fit increase. shift: what an effect adds to them, or NULL. */
static double find_law_square(const struct travel_fit *fit, const struct held_rows *rows,
                              double variance, const double *shift)
{
    const size_t k = rows->space.rank;
    double m[COLUMN_SPACE_P_MAX][COLUMN_SPACE_P_MAX];
    double b[COLUMN_SPACE_P_MAX];
    for (size_t i = 0; i < k; i++) {
        b[i] = rows->along[i];
        for (size_t j = 0; j < k; j++) {
            double sum = i == j ? variance : 0.0;
            for (size_t c = 0; c < TRAVEL_P; c++) {
                sum += rows->turned[i][c] *
                       dot_product(fit->ls.covariance[c], rows->turned[j], TRAVEL_P);
            }
            sum += shift ? dot_product(rows->turned[i], shift, TRAVEL_P) *
                               dot_product(rows->turned[j], shift, TRAVEL_P)
                         : 0.0;
            m[i][j] = sum;
        }
    }
    return column_space_cholesky(m, b, k) ? dot_product(rows->along, b, k) : HUGE_VAL;
}

static void compute_test(const struct travel_fit *fit, struct held_rows *rows,
                         struct travel_f_test *test)
{
    const double step2 = fit->lap_step_s * fit->lap_step_s / 12.0;
    const double sd = fmax(fit->residual_s_sd, 1e-4);
    const double near = fmax(fit->near_s_sd, sd);
    const size_t k = rows->space.rank;
    const double terms = (double)k;
    const double freedom = (double)fit->freedom;
    const double all = dot_product(rows->e, rows->e, rows->n);
    for (size_t i = 0; i < k; i++) {
        const double *q = rows->space.q + i * rows->n;
        rows->along[i] = dot_product(q, rows->e, rows->n);
        for (size_t r = 0; r < rows->n; r++) {
            for (size_t j = 0; j < TRAVEL_P; j++) {
                rows->turned[i][j] += q[r] * rows->x[r * TRAVEL_P + j];
            }
        }
    }
    const double along = dot_product(rows->along, rows->along, k);
    const double law = find_law_square(fit, rows, sd * sd + step2, NULL);
    const double beyond = fmax(all - along, 0.0) / (near * near + step2);
    const double wide = find_law_square(fit, rows, near * near + step2, NULL);
    test->n = rows->n;
    test->ratio = (beyond + wide) / (double)rows->n;
    test->p = gsl_cdf_fdist_Q(test->ratio, (double)rows->n, freedom);
    test->law_ratio = law / terms;
    test->law_p = gsl_cdf_fdist_Q(test->law_ratio, terms, freedom);
    test->law_p_open = test->law_p;
    for (size_t e = 0; e < TRAVEL_EFFECTS; e++) {
        const double open = find_law_square(fit, rows, sd * sd + step2, fit->open_shift[e]);
        test->law_p_open =
            fmax(test->law_p_open, gsl_cdf_fdist_Q(open / terms, terms, freedom));
    }
    test->off_sd = sqrt(along / (double)rows->n) / sd;
}

enum status travel_f_test(const struct travel_fit *fit, const struct travel_fit *theirs,
                          const struct travel_move *moves, size_t n, struct travel_f_test *test)
{
    gsl_vector *memory = gsl_vector_alloc((n + 1) * (2 * TRAVEL_P + 1));
    *test = (struct travel_f_test){
        .ratio = NAN, .p = NAN, .law_ratio = NAN, .law_p = NAN, .law_p_open = NAN};
    if (!memory) {
        return STATUS_E_NOMEM;
    }
    struct held_rows rows = {.x = memory->data, .e = memory->data + (n + 1) * TRAVEL_P};
    if (fit->freedom > 0) {
        fill_rows(fit, theirs, moves, n, &rows);
    }
    if (rows.n > 0) {
        column_space_find(rows.x, NULL, rows.n, TRAVEL_P, rows.e + n + 1, &rows.space);
        compute_test(fit, &rows, test);
    }
    gsl_vector_free(memory);
    return STATUS_OK;
}

/* Returns whether the size of a contradiction matters beside its chance. */
static bool is_other_law(const struct travel_f_test *test, double p, double chance)
{
    return p < chance && test->off_sd > OFF_SHARE;
}

enum estimate_verdict travel_f_test_verdict(const struct travel_f_test *test)
{
    const bool is_noisier =
        test->p < OTHER_CHANCE_FAIL && test->ratio > HELD_OUT_MARGINAL * HELD_OUT_MARGINAL;
    return is_other_law(test, test->law_p_open, OTHER_CHANCE_FAIL)       ? ESTIMATE_FAIL
           : is_other_law(test, test->law_p, OTHER_CHANCE) || is_noisier ? ESTIMATE_MARGINAL
                                                                         : ESTIMATE_PASS;
}

static void judge_test(struct travel_fit *fit, const struct travel_fit *theirs,
                       const struct travel_f_test *test)
{
    const enum estimate_verdict verdict = travel_f_test_verdict(test);
    if (is_other_law(test, test->law_p, OTHER_CHANCE)) {
        estimate_reason_first(&fit->estimate, REASON_HELD_OUT, verdict,
                              "the held-out moves contradict the fit: their laps are off by "
                              "%.2g sd, as those of another robot (chance %.2g)",
                              test->off_sd, test->law_p);
        for (enum travel_term term = TRAVEL_INV_W; term <= TRAVEL_INV_V; term++) {
            if (is_apart(fit, theirs, false, term)) {
                estimate_reason(&fit->estimate, REASON_HELD_OUT, verdict,
                                "held-out moves give another %s: %.4g +- %.2g, not %.4g +- "
                                "%.2g",
                                travel_term_name(term), theirs->estimate.value[term],
                                theirs->estimate.se[term], fit->estimate.value[term],
                                fit->estimate.se[term]);
            }
        }
    } else if (verdict != ESTIMATE_PASS) {
        estimate_reason_first(&fit->estimate, REASON_HELD_OUT, verdict,
                              "the residuals of the held-out moves are %.2g times those of the "
                              "fit (chance %.2g)",
                              sqrt(test->ratio), test->p);
    }
    if (verdict != ESTIMATE_PASS) {
        estimate_advise(&fit->estimate,
                        "the held-out moves are not of the robot that was fitted: fit them "
                        "by themselves, and look for what changed (battery, load, floor)");
    }
}

static double predict_lap(const void *fit, const void *moves, size_t i, double *lap_s)
{
    const struct travel_move *move = (const struct travel_move *)moves + i;
    *lap_s = move->lap_s;
    return travel_move_usable(move)
               ? travel_time_predict(fit, move->rotation_rad, move->displacement_m)
               : (double)NAN;
}

enum status travel_hold_out(struct travel_fit *fit, const struct travel_move *moves, size_t n,
                            struct travel_held_out *held)
{
    struct travel_held_out out;
    struct travel_fit theirs;
    struct travel_f_test test;
    enum status st = travel_held_out_score(predict_lap, fit, moves, n, &out);
    st = st == STATUS_OK ? travel_time_fit(moves, n, fit->motion, TRAVEL_AUTO, &theirs) : st;
    st = st == STATUS_OK ? travel_f_test(fit, &theirs, moves, n, &test) : st;
    if (st != STATUS_OK) {
        return st;
    }
    if (test.n > 0) {
        judge_test(fit, &theirs, &test);
    } else {
        estimate_reason(&fit->estimate, REASON_TOO_FEW, ESTIMATE_PASS,
                        "no held-out move can be predicted to test the fit");
    }
    out.p = test.p;
    out.law_p = test.law_p;
    *held = out;
    return STATUS_OK;
}
