#include "identification/travel/travel_held_out.h"

#include <math.h>

#include <gsl/gsl_cdf.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_statistics_double.h>
#include <gsl/gsl_vector.h>

#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_thresholds.def"
#include "identification/travel/travel_time.h"

/* Returns whether two estimates of 1 / speed differ. Their errors are independent or, for a
 * part of a whole, nested. The difference then has the variance of the part minus that of
 * the whole. */
static bool is_apart(const struct travel_fit *whole, const struct travel_fit *part, bool nested,
                     enum travel_term term)
{
    const double p = part->beta_se[term] * part->beta_se[term];
    const double w = whole->beta_se[term] * whole->beta_se[term];
    const double variance = nested ? fmax(p - w, 0.25 * p) : p + w;
    const double apart = fabs(part->beta[term] - whole->beta[term]);
    return part->estimate.identifiable[term] && whole->estimate.identifiable[term] &&
           part->n >= part->estimate.rank + DOF_REPORTED && part->beta[term] > 0.0 &&
           apart > APART_SE * sqrt(variance) && apart > APART_SHARE * fabs(whole->beta[term]);
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
                &whole->estimate, part->beta_hi[term] < 0.0 ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                "unphysical sign in %.40s: alone it gives %s = %.3g %s (95 %%: %.3g "
                "to %.3g)",
                name, travel_inverse_names[term], part->beta[term], travel_inverse_units[term],
                part->beta_lo[term], part->beta_hi[term]);
            travel_advise_column(&whole->estimate, term);
        } else if (is_apart(whole, part, true, term)) {
            estimate_reason(&whole->estimate, ESTIMATE_MARGINAL,
                            "%.40s alone gives %s = %.4g +- %.2g, all together %.4g +- %.2g",
                            name, travel_term_name(term), part->estimate.value[term],
                            part->estimate.se[term], whole->estimate.value[term],
                            whole->estimate.se[term]);
            estimate_advise(&whole->estimate,
                            "the files are not of one robot in one state: fit each by itself");
        }
    }
}

void travel_held_out_score(double *lap_s, const double *predicted_s, size_t n,
                           struct travel_held_out *held)
{
    double *off = lap_s;
    double rss = 0.0;
    double sst = 0.0;
    double mean_lap_s = 0.0;
    double sum = 0.0;
    *held = (struct travel_held_out){.n = 0};
    for (size_t i = 0; i < n; i++) {
        const double residual = lap_s[i] - predicted_s[i];
        const double deviation = lap_s[i] - mean_lap_s;
        if (!isfinite(residual)) {
            continue;
        }
        off[held->n++] = fabs(residual);
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
    gsl_sort(off, 1, held->n);
    held->median_s = held->n ? gsl_stats_median_from_sorted_data(off, 1, held->n) : nan("");
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
    if (ratio > LARGER_MARGINAL &&
        gsl_cdf_chisq_Q(count * ratio * ratio, count) < HELD_OUT_CHANCE) {
        estimate_reason_first(e, ratio > LARGER_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                              "the held-out moves contradict the fit: it is off by %.3g s "
                              "there, by %.3g s on its own moves",
                              size, own);
    }
    if (fabs(held->mean_s) > OFF_SE * own / sqrt((double)held->n) &&
        fabs(held->mean_s) > OFF_SHARE * own) {
        estimate_reason(e, ESTIMATE_MARGINAL,
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
    estimate_reason(e, ESTIMATE_PASS,
                    "%zu predictable held-out moves are too few to test the fit: %d are needed",
                    held->n, DOF_REPORTED + 1);
    return false;
}

static void judge_speeds(struct travel_fit *fit, const struct travel_fit *theirs)
{
    for (enum travel_term term = TRAVEL_INV_W; term <= TRAVEL_INV_V; term++) {
        if (is_apart(fit, theirs, false, term)) {
            estimate_reason_first(
                &fit->estimate, ESTIMATE_MARGINAL,
                "held-out moves give another %s: %.4g +- %.2g, not %.4g +- %.2g",
                travel_term_name(term), theirs->estimate.value[term], theirs->estimate.se[term],
                fit->estimate.value[term], fit->estimate.se[term]);
        }
    }
}

enum status travel_hold_out(struct travel_fit *fit, const struct travel_move *moves, size_t n,
                            struct travel_held_out *held)
{
    struct travel_held_out out;
    struct travel_fit theirs;
    const size_t before = fit->estimate.reason_count;
    gsl_vector *laps = gsl_vector_alloc(2 * n + 1);
    if (!laps) {
        return STATUS_E_NOMEM;
    }
    double *predicted_s = laps->data + n;
    for (size_t i = 0; i < n; i++) {
        laps->data[i] = moves[i].lap_s;
        predicted_s[i] =
            travel_move_usable(&moves[i])
                ? travel_time_predict(fit, moves[i].rotation_rad, moves[i].displacement_m)
                : (double)NAN;
    }
    travel_held_out_score(laps->data, predicted_s, n, &out);
    gsl_vector_free(laps);
    const enum status st = travel_time_fit_motion(moves, n, fit->motion, fit->method, &theirs);
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
