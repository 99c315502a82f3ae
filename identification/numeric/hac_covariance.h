/* identification/numeric/hac_covariance.h - covariance of a sum of moments that hang together
 * in time.
 *
 * Newey-West with Bartlett's weights, in one pass and in memory that does not grow: blocks of
 * moments count as one where the correlation reaches far. Weighting products of moments l apart
 * by 1 - l / (L + 1) is the same as taking the mean square of the sums of L + 1 neighbours,
 * with nothing before the first and after the last: so a moment costs O(p^2), whatever its
 * reach, and no variance comes out negative. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_HAC_COVARIANCE_H
#define IDENTIFICATION_NUMERIC_HAC_COVARIANCE_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/numeric/svd.h"

/* Moments: of parameters, biases and delay. */
enum {
    HAC_LAGS_MAX = 64,
    HAC_WAITING = 64,
    HAC_MANY = 64,   /* moments at a time, at most */
    HAC_AT_ONCE = 4, /* columns that are summed beside each other */
    HAC_ROOM = (NUMERIC_COLUMNS_MAX / HAC_AT_ONCE + 1) * HAC_AT_ONCE
};

/* About 35 kB. */
struct hac_covariance {
    size_t p;
    size_t lags;  /* in blocks, <= HAC_LAGS_MAX */
    size_t block; /* moments that count as one */
    size_t in_block, at;
    bool with_plain;
    double ring[HAC_ROOM][HAC_LAGS_MAX + 1]; /* blocks in the window, by columns */
    double now[HAC_ROOM];                    /* block at hand */
    double sum[HAC_ROOM];                    /* of the window */
    size_t waiting;
    double sums[HAC_ROOM][HAC_WAITING];                        /* by columns, to be squared */
    double windows[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX]; /* squares of the sums */
    /* Valid after a break, both [p x p]; as if independent on request. */
    double plain[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX];
    double robust[NUMERIC_COLUMNS_MAX * NUMERIC_COLUMNS_MAX];
};

/* As many lags as a first-order process with neighbours correlated by rho asks for among n
 * moments (Andrews' rule for Bartlett's weights), no more than a quarter of n; 0 when white. */
size_t hac_lags(double rho, size_t n);

/* How much wider an interval is where the covariance itself was estimated from few stretches of
 * correlated moments: 97.5 % point of t with Bartlett's weights over a share 0 <= b <= 1 of the
 * moments, over that with b = 0 (Kiefer and Vogelsang 2005, fixed b); and the degrees of
 * freedom of the Student's t that is as wide. */
double hac_widening(double b);
double hac_freedom(double b);

/* p moments at a time, correlated over `reach` of them at most. */
void hac_start(struct hac_covariance *m, size_t p, size_t reach, bool with_plain);
void hac_add(struct hac_covariance *m, const double *g); /* [p] */
/* n of them, by columns; those behind the p-th may be anything but not finite. */
void hac_add_many(struct hac_covariance *m, const double (*g)[HAC_MANY], size_t n);
/* What follows is independent of what was; also at the end. */
void hac_break(struct hac_covariance *m);

#endif
