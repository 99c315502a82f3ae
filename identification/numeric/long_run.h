/* identification/numeric/long_run.h - covariance of a sum of moments that hang together in
 * time.
 *
 * Newey-West with Bartlett's weights, in one pass and in memory that does not grow: blocks of
 * moments count as one where the correlation reaches far. Weighting products of moments l apart
 * by 1 - l / (L + 1) is the same as taking the mean square of the sums of L + 1 neighbours,
 * with nothing before the first and after the last: so a moment costs O(p^2), whatever its
 * reach, and no variance comes out negative. Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_LONG_RUN_H
#define IDENTIFICATION_NUMERIC_LONG_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "identification/dynamics_fit.h"

/* Moments: of parameters, biases and delay. */
enum {
    LONG_RUN_LAGS_MAX = 64,
    LONG_RUN_WAITING = 64,
    LONG_RUN_MANY = 64, /* moments at a time, at most */
    LONG_RUN_COLUMNS_MAX = DYNAMICS_P_MAX + 1,
    LONG_RUN_AT_ONCE = 4, /* columns that are summed beside each other */
    LONG_RUN_ROOM = (LONG_RUN_COLUMNS_MAX / LONG_RUN_AT_ONCE + 1) * LONG_RUN_AT_ONCE
};

/* About 35 kB. */
struct long_run {
    size_t p;
    size_t lags;  /* in blocks, <= LONG_RUN_LAGS_MAX */
    size_t block; /* moments that count as one */
    size_t in_block, at;
    bool with_plain;
    double ring[LONG_RUN_ROOM][LONG_RUN_LAGS_MAX + 1]; /* blocks in the window, by columns */
    double now[LONG_RUN_ROOM];                         /* block at hand */
    double sum[LONG_RUN_ROOM];                         /* of the window */
    size_t waiting;
    double sums[LONG_RUN_ROOM][LONG_RUN_WAITING];                /* by columns, to be squared */
    double windows[LONG_RUN_COLUMNS_MAX * LONG_RUN_COLUMNS_MAX]; /* squares of the sums */
    /* Valid after a break, both [p x p]; as if independent on request. */
    double plain[LONG_RUN_COLUMNS_MAX * LONG_RUN_COLUMNS_MAX];
    double robust[LONG_RUN_COLUMNS_MAX * LONG_RUN_COLUMNS_MAX];
};

/* As many lags as a first-order process with neighbours correlated by rho asks for among n
 * moments (Andrews' rule for Bartlett's weights), no more than a quarter of n; 0 when white. */
size_t long_run_lags(double rho, size_t n);

/* p moments at a time, correlated over `reach` of them at most. */
void long_run_start(struct long_run *m, size_t p, size_t reach, bool with_plain);
void long_run_add(struct long_run *m, const double *g); /* [p] */
/* n of them, by columns; those behind the p-th may be anything but not finite. */
void long_run_add_many(struct long_run *m, const double (*g)[LONG_RUN_MANY], size_t n);
/* What follows is independent of what was; also at the end. */
void long_run_break(struct long_run *m);

#endif
