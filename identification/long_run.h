/* identification/long_run.h - covariance of a sum of moments that hang together in time.
 *
 * Newey-West with Bartlett's weights, in one pass and in memory that does not grow: blocks of
 * moments count as one where the correlation reaches far. Pure, no allocation.
 */
#ifndef IDENTIFICATION_LONG_RUN_H
#define IDENTIFICATION_LONG_RUN_H

#include <stddef.h>

#include "identification/dynamics_fit.h"

enum { LONG_RUN_LAGS_MAX = 64 };

/* About 20 kB. */
struct long_run {
    size_t p;
    size_t lags;  /* in blocks, <= LONG_RUN_LAGS_MAX */
    size_t block; /* moments that count as one */
    size_t in_block, seen;
    double ring[LONG_RUN_LAGS_MAX][DYNAMICS_P_MAX];
    double now[DYNAMICS_P_MAX];
    double plain[DYNAMICS_P_MAX * DYNAMICS_P_MAX];  /* [p x p] as if independent */
    double robust[DYNAMICS_P_MAX * DYNAMICS_P_MAX]; /* [p x p] */
};

/* p moments at a time, correlated over `reach` of them at most. */
void long_run_start(struct long_run *m, size_t p, size_t reach);
void long_run_add(struct long_run *m, const double *g); /* [p] */
/* What follows is independent of what was; also at the end. */
void long_run_break(struct long_run *m);

#endif
