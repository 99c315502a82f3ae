/* identification/travel/travel_law_rows.c - plain least squares over the moves that are no
 * outliers, and the F test that the checks of the travel-time law share. */
#include "identification/travel/travel_law_parts.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "identification/numeric/dot.h"
#include "identification/travel/travel_thresholds.def"

bool travel_knows_term(const struct robust_ls_fit *fit, size_t j)
{
    double unit[ROBUST_LS_P_MAX] = {0.0};
    unit[j] = 1.0;
    return robust_ls_estimable(fit, unit);
}

bool travel_law_many(size_t out, size_t n)
{
    return (double)out > MANY_RATIO * (double)n &&
           gsl_cdf_binomial_Q((unsigned)out - 1, LATE_RATIO, (unsigned)n) < LATE_CHANCE;
}

void law_count_all_of_many(struct law_rows *w)
{
    const size_t n = w->problem->n;
    if (travel_law_many(n - (size_t)w->rows, n)) {
        for (size_t i = 0; i < n; i++) {
            w->counts[i] = 1.0;
        }
        w->rows = (double)n;
    }
}

enum status law_fit_plain(struct law_rows *w)
{
    const struct robust_ls_problem *all = w->problem;
    struct robust_ls_fit plain;
    struct robust_ls_problem counted = {.x = w->x, .y = w->y, .p = all->p, .floor = all->floor};
    for (size_t i = 0; i < all->n; i++) {
        if (w->counts[i] > 0.0) {
            memcpy(w->x + counted.n * all->p, all->x + i * all->p, all->p * sizeof *w->x);
            w->y[counted.n++] = all->y[i];
        }
    }
    counted.plain = counted.n == all->n ? all->plain : NULL;
    const enum status st = robust_ls_run(&counted, ROBUST_LS_OLS, NULL, NULL, &plain);
    if (st != STATUS_OK) {
        return st;
    }
    w->t0_s = plain.beta[TRAVEL_T0];
    for (size_t k = 0; k < TRAVEL_SIZES; k++) {
        const size_t j = law_size_term(k);
        w->inverse[k] = travel_knows_term(&plain, j) ? plain.beta[j] : (double)NAN;
    }
    w->plain_rss = 0.0;
    for (size_t i = 0; i < all->n; i++) {
        w->residual[i] = all->y[i] - dot_product(plain.beta, all->x + i * all->p, all->p);
        w->plain_rss += w->counts[i] * w->residual[i] * w->residual[i];
    }
    column_space_find(all->x, w->counts, all->n, all->p, w->q, &w->space);
    return STATUS_OK;
}

double law_mean_square(const struct law_rows *w, double rss, double added)
{
    const double left = w->rows - (double)w->space.rank - added;
    return fmax(rss / left, w->problem->floor * w->problem->floor);
}

double law_chance(const struct law_rows *w, double gain, double rss, double added)
{
    const double left = w->rows - (double)w->space.rank - added;
    const double f = gain / added / law_mean_square(w, rss, added);
    return added > 0.0 && left >= DOF_TESTED ? gsl_cdf_fdist_Q(fmax(f, 0.0), added, left) : 1.0;
}
