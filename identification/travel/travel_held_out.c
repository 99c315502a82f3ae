#include "identification/travel/travel_held_out.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/fit/fit_thresholds.def"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_thresholds.def"
#include "identification/travel/travel_time.h"

bool travel_values_differ(const struct travel_values *values)
{
    const double p = values->part_se * values->part_se;
    const double w = values->whole_se * values->whole_se;
    const double variance = values->is_nested ? fmax(p - w, 0.25 * p) : p + w;
    const double apart = fabs(values->part - values->whole);
    return apart > APART_SE * sqrt(variance) && apart > MATTERS * fabs(values->whole);
}

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
           travel_values_differ(&values);
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
    *held = (struct travel_held_out){.n = 0};
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
    gsl_sort(off->data, 1, held->n);
    held->median_s =
        held->n ? gsl_stats_median_from_sorted_data(off->data, 1, held->n) : nan("");
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

static void judge_speeds(struct travel_fit *fit, const struct travel_fit *theirs)
{
    for (enum travel_term term = TRAVEL_INV_W; term <= TRAVEL_INV_V; term++) {
        if (is_apart(fit, theirs, false, term)) {
            estimate_reason_first(
                &fit->estimate, REASON_HELD_OUT, ESTIMATE_MARGINAL,
                "held-out moves give another %s: %.4g +- %.2g, not %.4g +- %.2g",
                travel_term_name(term), theirs->estimate.value[term], theirs->estimate.se[term],
                fit->estimate.value[term], fit->estimate.se[term]);
        }
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
    const size_t before = fit->estimate.reason_count;
    enum status st = travel_held_out_score(predict_lap, fit, moves, n, &out);
    st = st == STATUS_OK ? travel_time_fit(moves, n, fit->motion, fit->method, &theirs) : st;
    if (st != STATUS_OK) {
        return st;
    }
    if (travel_held_out_judge(&fit->estimate, fit->n, fit->residual_s_sd, &out)) {
        judge_speeds(fit, &theirs);
        if (fit->estimate.reason_count > before) {
            estimate_advise(&fit->estimate,
                            "the held-out moves are not of the robot that was fitted: fit them "
                            "by themselves, and look for what changed (battery, load, floor)");
        }
    }
    *held = out;
    return STATUS_OK;
}
