/* identification/numeric/hac_covariance.h - covariance of a sum of autocorrelated moments
 * (Newey-West).
 *
 * The products of moments with lag l get Bartlett's weight 1 - l / (L + 1). This equals the
 * mean square of sums over L + 1 neighbours, with zeros before the first and after the last
 * moment. A moment therefore costs O(p^2) whatever L is, no variance is negative, and memory is
 * constant. If the correlation reaches far, blocks of moments count as one. Reference: Newey
 * and West, Econometrica 55, 1987. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_HAC_COVARIANCE_H
#define IDENTIFICATION_NUMERIC_HAC_COVARIANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/numeric/svd.h"

/* Numbers of moments: one for each parameter, bias and delay. */
enum {
    HAC_LAGS_MAX = 64,
    HAC_WAITING = 64,
    HAC_MANY = 64,   /* largest number of moments in one call */
    HAC_AT_ONCE = 4, /* columns that are summed in parallel */
    HAC_ROOM = (NUMERIC_COLUMNS_MAX / HAC_AT_ONCE + 1) * HAC_AT_ONCE
};

/* Size: about 35 kB. */
struct hac_covariance {
    size_t p;
    size_t lags;  /* number of lags in blocks, <= HAC_LAGS_MAX */
    size_t block; /* number of moments in a block */
    size_t in_block, at;
    bool with_plain;
    double ring[HAC_ROOM][HAC_LAGS_MAX + 1]; /* blocks in the window, by columns */
    double now[HAC_ROOM];                    /* block that is being filled */
    double sum[HAC_ROOM];                    /* sum over the window */
    size_t waiting;
    double sums[HAC_ROOM][HAC_WAITING]; /* sums by columns that wait to be squared */
    double windows[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX]; /* sum of the squares */
    /* Valid after hac_break(), both [p x p]. plain assumes independent moments and is
     * optional. */
    double plain[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX];
    double robust[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX];
};

/* Returns the number of lags for n moments of a first-order process whose neighbours are
 * correlated by rho: Andrews' rule for Bartlett's weights, at most n / 4; 0 for white
 * moments. */
size_t hac_lags(double rho, size_t n);

/* Widening of an interval whose covariance was estimated from few independent stretches: the
 * 97.5 % point of t with Bartlett's weights over a share b of the moments (0 <= b <= 1),
 * divided by that at b = 0 (Kiefer and Vogelsang 2005, fixed b). hac_freedom() returns the
 * degrees of freedom of the Student's t with the same width. */
double hac_widening(double b);
double hac_freedom(double b);

/* Begins a sum of vectors [p] whose autocorrelation reaches over `reach` moments. */
void hac_start(struct hac_covariance *m, size_t p, size_t reach, bool with_plain);
void hac_add(struct hac_covariance *m, const double *g); /* [p] */
/* Adds n moments by columns. Columns after the p-th are ignored but must be finite. */
void hac_add_many(struct hac_covariance *m, const double (*g)[HAC_MANY], size_t n);
/* Declares later moments independent of earlier ones. Also required at the end. */
void hac_break(struct hac_covariance *m);

#endif
