#include "identification/numeric/hac_covariance.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/text/names.h"
#include "identification/numeric/dot.h"

/* Higher correlations between neighbours count as this value, which bounds the lags. */
static const double CORRELATION_MAX = 0.99;
/* Degrees of freedom that count as infinite, and the relative accuracy of their search. */
static const double FREEDOM_MAX = 1e6;
static const double FREEDOM_SHARE = 1e-3;

size_t hac_lags(double rho, size_t n)
{
    const double r = fmin(fabs(rho), CORRELATION_MAX);
    const double alpha = 4.0 * r * r / ((1.0 - r * r) * (1.0 - r * r));
    const double lags = ceil(1.1447 * cbrt(alpha * (double)n));
    return (size_t)fmin(lags, floor((double)n / 4.0));
}

double hac_widening(double b)
{
    static const double by[] = {1.9659, 4.0603, 11.6626, 34.8269, -13.9506, 3.2669};
    double sum = 0.0;
    for (size_t i = COUNT(by); i-- > 0;) {
        sum = sum * b + by[i];
    }
    return sum / by[0];
}

double hac_freedom(double b)
{
    const double point = gsl_cdf_ugaussian_Pinv(0.975) * hac_widening(b);
    double few = 0.5;
    double many = FREEDOM_MAX;
    while (many > few * (1.0 + FREEDOM_SHARE)) {
        const double middle = sqrt(few * many);
        if (gsl_cdf_tdist_Pinv(0.975, middle) > point) {
            few = middle;
        } else {
            many = middle;
        }
    }
    return many;
}

void hac_start(struct hac_covariance *m, size_t p, size_t reach, bool with_plain)
{
    memset(m, 0, sizeof *m);
    m->p = p;
    m->with_plain = with_plain;
    m->block = (reach + HAC_LAGS_MAX - 1) / HAC_LAGS_MAX;
    m->block = m->block > 0 ? m->block : 1;
    m->lags = reach / m->block;
}

/* Sums are updated by adding and removing terms. Rounding errors would stay in them forever,
 * so the sums are recomputed from time to time. */
static void recompute_sums(struct hac_covariance *m)
{
    memset(m->sum, 0, sizeof m->sum);
    for (size_t i = 0; i < m->p; i++) {
        for (size_t l = 0; l <= m->lags; l++) {
            m->sum[i] += m->ring[i][l];
        }
    }
}

/* Adds the squares of the waiting sums to the windows. */
static void square_sums(struct hac_covariance *m)
{
    for (size_t i = 0; i < m->p; i++) {
        for (size_t j = i; j < m->p; j++) {
            m->windows[i * m->p + j] += dot_product(m->sums[i], m->sums[j], m->waiting);
        }
    }
    m->waiting = 0;
}

/* Newey-West covariance of a sum of moments g_k that are autocorrelated over L lags
 * (docs/model/identification_theory.md, "Errors"):
 *
 *     sum_k sum_l w_l g_k g_(k-l)',  w_l = 1 - |l| / (L + 1)
 *
 * Bartlett's weights keep the estimate positive semidefinite. The same weights result from
 * the squares of moving sums over L + 1 moments, because a pair with lag l shares L + 1 - l
 * windows. One ring and one running sum therefore suffice for any L. Before the first and
 * after the last moment, the windows run over zeros (hac_break). If the correlation reaches
 * beyond HAC_LAGS_MAX, several moments form one block. */

/* Moves the window over n blocks for a few columns: new blocks enter, the oldest leave. The
 * columns are independent, so that the processor can work on them in parallel. */
static void slide_window(struct hac_covariance *m, size_t first, const double *g, size_t stride,
                         size_t n)
{
    enum { LANES = HAC_AT_ONCE };
    double sum[LANES];
    memcpy(sum, m->sum + first, sizeof sum);
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l < LANES; l++) {
            const double block = g[l * stride + k];
            double *oldest = &m->ring[first + l][m->at + k];
            sum[l] += block - *oldest;
            *oldest = block;
            m->sums[first + l][m->waiting + k] = sum[l];
        }
    }
    memcpy(m->sum + first, sum, sizeof sum);
}

/* Adds n blocks by columns that lie `stride` apart. */
static void add_blocks(struct hac_covariance *m, const double *g, size_t stride, size_t n)
{
    for (size_t done = 0; done < n;) {
        size_t now = n - done;
        now = now < m->lags + 1 - m->at ? now : m->lags + 1 - m->at;
        now = now < HAC_WAITING - m->waiting ? now : HAC_WAITING - m->waiting;
        for (size_t i = 0; i < m->p; i += HAC_AT_ONCE) {
            slide_window(m, i, g + i * stride + done, stride, now);
        }
        m->at = m->at + now > m->lags ? 0 : m->at + now;
        m->waiting += now;
        done += now;
        if (m->waiting == HAC_WAITING) {
            square_sums(m);
            recompute_sums(m);
        }
    }
}

static void close_block(struct hac_covariance *m)
{
    add_blocks(m, m->now, 1, 1);
    memset(m->now, 0, sizeof m->now);
    m->in_block = 0;
}

/* Adds the moments of n samples by columns that lie `stride` apart. */
static void add_moments(struct hac_covariance *m, const double *g, size_t stride, size_t n)
{
    for (size_t i = 0; m->with_plain && i < m->p; i++) {
        for (size_t j = i; j < m->p; j++) {
            m->plain[i * m->p + j] += dot_product(g + i * stride, g + j * stride, n);
        }
    }
    if (m->block == 1 && n > 1) {
        add_blocks(m, g, stride, n);
        return;
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < m->p; i++) {
            m->now[i] += g[i * stride + k];
        }
        if (++m->in_block == m->block) {
            close_block(m);
        }
    }
}

void hac_add(struct hac_covariance *m, const double *g)
{
    add_moments(m, g, 1, 1);
}

void hac_add_many(struct hac_covariance *m, const double (*g)[HAC_MANY], size_t n)
{
    add_moments(m, g[0], HAC_MANY, n);
}

void hac_break(struct hac_covariance *m)
{
    if (m->in_block > 0) {
        close_block(m);
    }
    for (size_t l = 0; l < m->lags; l++) {
        close_block(m);
    }
    square_sums(m);
    memset(m->ring, 0, sizeof m->ring);
    memset(m->sum, 0, sizeof m->sum);
    m->at = 0;
    for (size_t i = 0; i < m->p; i++) {
        for (size_t j = i; j < m->p; j++) {
            const double mean = m->windows[i * m->p + j] / (double)(m->lags + 1);
            m->robust[i * m->p + j] = m->robust[j * m->p + i] = mean;
            m->plain[j * m->p + i] = m->plain[i * m->p + j];
        }
    }
}
