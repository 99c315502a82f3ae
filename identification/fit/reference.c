#include "identification/fit/reference.h"

#include <math.h>
#include <stdio.h>

#include <gsl/gsl_cdf.h>

#include "base/numbers/constants.h"
#include "identification/fit/fit_thresholds.def"
#include "identification/numeric/svd.h"

static const double RANK_RATIO = 1e-9;

void reference_start(struct reference_values *reference)
{
    for (size_t i = 0; i < ESTIMATE_P_MAX; i++) {
        reference->value[i] = NAN;
        reference->se[i] = 0.0;
    }
    reference->delay_s = reference->delay_lo_s = reference->delay_hi_s = NAN;
}

/* Given values: indices in the estimate, differences, and the reach of the printed interval
 * in standard errors. */
struct given_values {
    size_t count, at[ESTIMATE_P_MAX];
    double off[ESTIMATE_P_MAX], reach[ESTIMATE_P_MAX], se[ESTIMATE_P_MAX];
};

static void add_given(struct given_values *given, size_t at, double off, double reach,
                      double se)
{
    if (isfinite(off) && reach > 0.0 && isfinite(reach)) {
        given->at[given->count] = at;
        given->off[given->count] = off;
        given->reach[given->count] = reach;
        given->se[given->count++] = se;
    }
}

/* Tests all given values together. Errors are as wide as the printed intervals divided by
 * the normal quantile. */
static void test_given(const struct estimate *e, const struct given_values *given,
                       struct reference_comparison *out)
{
    const size_t n = given->count;
    double m[SVD_ENTRIES_MAX];
    double length[NUMERIC_COLUMNS_MAX];
    struct svd svd;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            const double c = e->covariance[given->at[i]][given->at[j]];
            const double known = i == j ? given->se[i] * given->se[i] : 0.0;
            m[i * n + j] = ((isfinite(c) ? c : 0.0) + known) * given->reach[i] *
                           given->reach[j] / (NORMAL_95 * NORMAL_95);
        }
        length[i] = sqrt(m[i * n + i]);
    }
    if (n > 0 && svd_find(m, n, length, length, RANK_RATIO, &svd) == STATUS_OK) {
        out->statistic = square_form(given->off, svd.inverse, n, n);
        out->df = (double)svd.rank;
        out->p = gsl_cdf_chisq_Q(fmax(out->statistic, 0.0), out->df);
        out->contradicts = out->p < CONTRADICTS_P;
    }
}

/* Finds the interval that counts between robots: the one that allows for effects that the fit
 * did not find, if it is known. */
static void find_interval(const struct estimate *e, size_t i, double *lo, double *hi)
{
    const bool open = isfinite(e->lo_open[i]) || isfinite(e->hi_open[i]);
    *lo = open ? e->lo_open[i] : e->lo[i];
    *hi = open ? e->hi_open[i] : e->hi[i];
}

void reference_compare(const struct estimate *e, const struct reference_values *reference,
                       struct reference_comparison *out)
{
    struct given_values given = {.count = 0};
    *out = (struct reference_comparison){.statistic = NAN, .df = NAN, .p = NAN};
    for (size_t i = 0; i < e->p; i++) {
        const double off = e->value[i] - reference->value[i];
        const double se = sqrt(e->covariance[i][i]);
        double lo;
        double hi;
        find_interval(e, i, &lo, &hi);
        const double reach = (off > 0.0 ? e->value[i] - lo : hi - e->value[i]) / se;
        out->z[i] = off / hypot(se, reference->se[i]);
        out->contradicted[i] = fabs(out->z[i]) > reach;
        add_given(&given, i, off, reach, reference->se[i]);
    }
    test_given(e, &given, out);
}

void reference_combine(const struct reference_check *parts, size_t count,
                       struct reference_comparison *out)
{
    double least = 1.0;
    double compared = 0.0;
    *out = (struct reference_comparison){.statistic = 0.0, .df = 0.0, .p = NAN};
    for (size_t k = 0; k < count; k++) {
        const struct reference_comparison *c = &parts[k].comparison;
        if (parts[k].given && c->df > 0.0) {
            out->statistic += c->statistic;
            out->df += c->df;
            least = fmin(least, c->p);
            compared += 1.0;
        }
    }
    if (compared > 0.0) {
        const double all = gsl_cdf_chisq_Q(fmax(out->statistic, 0.0), out->df);
        const double furthest = least < 1.0 ? -expm1(compared * log1p(-least)) : 1.0;
        out->p = compared > 1.0 ? fmin(1.0, 2.0 * fmin(all, furthest)) : all;
        out->contradicts = out->p < CONTRADICTS_P;
    } else {
        out->statistic = out->df = NAN;
    }
}

/* "; surge mass (surge_mass_kg) 120, not 125.4 to 131.9" */
static void name_given(const char *name, double value, double lo, double hi, char *text,
                       size_t bytes, size_t *used)
{
    const int n = snprintf(text + *used, bytes - *used, "%s %s %.4g, not %.4g to %.4g",
                           *used > 0 ? ";" : ":", name, value, lo, hi);
    *used += n > 0 && (size_t)n < bytes - *used ? (size_t)n : 0;
    text[*used] = '\0';
}

/* Returns the contradicted value, not yet named, that is furthest off; p: none. */
static size_t find_furthest(const struct reference_comparison *c, size_t p, const bool *named)
{
    size_t at = p;
    for (size_t i = 0; i < p; i++) {
        if (c->contradicted[i] && !named[i] && (at == p || fabs(c->z[i]) > fabs(c->z[at]))) {
            at = i;
        }
    }
    return at;
}

void reference_judge(struct estimate *judged, const char *model, const struct estimate *e,
                     const struct reference_values *reference,
                     const struct reference_comparison *comparison)
{
    char text[ESTIMATE_TEXT_MAX - 64] = "";
    size_t used = 0;
    if (!comparison->contradicts) {
        return;
    }
    bool named[ESTIMATE_P_MAX] = {false};
    for (size_t i = find_furthest(comparison, e->p, named); i < e->p;
         i = find_furthest(comparison, e->p, named)) {
        double lo;
        double hi;
        named[i] = true;
        find_interval(e, i, &lo, &hi);
        name_given(e->name[i], reference->value[i], lo, hi, text, sizeof text, &used);
    }
    estimate_reason(judged, REASON_CONTRADICTS_IN_USE, ESTIMATE_PASS,
                    "the recording contradicts the parameters in use%s",
                    used > 0 ? text : ", all of them together");
    estimate_advise(judged,
                    "use the values of this fit for %s, or look for what has changed since "
                    "those in use were found (load, battery, floor, water)",
                    model);
}
