/* identification/long_run.h - covariance of a sum of moments that hang together in time.
 *
 * Newey-West with Bartlett's weights, in one pass and in memory that does not grow: blocks of
 * moments count as one where the correlation reaches far. Weighting products of moments l apart
 * by 1 - l / (L + 1) is the same as taking the mean square of the sums of L + 1 neighbours,
 * with nothing before the first and after the last: so a moment costs O(p^2), whatever its
 * reach, and no variance comes out negative. Pure, no allocation.
 */
#ifndef IDENTIFICATION_LONG_RUN_H
#define IDENTIFICATION_LONG_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/dynamics_fit.h"

enum { LONG_RUN_LAGS_MAX = 64, LONG_RUN_WAITING = 64 };

/* About 33 kB. */
struct long_run {
    size_t p;
    size_t lags;  /* in blocks, <= LONG_RUN_LAGS_MAX */
    size_t block; /* moments that count as one */
    size_t in_block, at;
    bool with_plain;
    double ring[LONG_RUN_LAGS_MAX + 1][DYNAMICS_P_MAX]; /* blocks in the window */
    double now[DYNAMICS_P_MAX], sum[DYNAMICS_P_MAX];    /* block at hand; of the window */
    size_t waiting;
    double sums[DYNAMICS_P_MAX][LONG_RUN_WAITING];   /* by columns, to be squared */
    double windows[DYNAMICS_P_MAX * DYNAMICS_P_MAX]; /* squares of the sums */
    /* Valid after a break. */
    double plain[DYNAMICS_P_MAX * DYNAMICS_P_MAX];  /* [p x p] as if independent, on request */
    double robust[DYNAMICS_P_MAX * DYNAMICS_P_MAX]; /* [p x p] */
};

/* p moments at a time, correlated over `reach` of them at most. */
void long_run_start(struct long_run *m, size_t p, size_t reach, bool with_plain);
void long_run_add(struct long_run *m, const double *g); /* [p] */
/* What follows is independent of what was; also at the end. */
void long_run_break(struct long_run *m);

#endif
