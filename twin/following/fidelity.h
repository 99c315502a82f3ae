/* twin/following/fidelity.h - how accurately the virtual robot's motion follows the real one's,
 * over a sliding window.
 *
 * Samples of both robots arrive independently, at different times and rates. So each sample of
 * the real robot is compared with the virtual robot's motion interpolated to the same time.
 * Figures: root mean square error, mean absolute error and R2 per state, and the share of
 * samples within a target:
 *
 *   within d and T:   the virtual robot is within d of the real robot's place at some time
 *                     at most T away                    (docs/model/following.md)
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_FOLLOWING_FIDELITY_H
#define TWIN_FOLLOWING_FIDELITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "identification/data/linear_model.h"
#include "identification/geometry/arm_geometry.h"

enum {
    FIDELITY_STATES_MAX = 2 * MODEL_AXES_MAX, /* velocities, then the complete pose */
    FIDELITY_TRACK = 256,                     /* stored samples of the virtual robot */
    FIDELITY_WAITING = 64,                    /* samples of the real one that wait for it */
    FIDELITY_BUCKETS = 60                     /* buckets of the window */
};

struct fidelity_params {
    const struct model *model; /* names and number of states; borrowed */
    bool has_arm; /* the place is that of this arm's tool; its joints are the pose */
    struct arm_geometry arm;
    int64_t window_us;   /* > 0 */
    double target_m;     /* > 0: distance; 0: no target */
    int64_t target_us;   /* >= 0: time difference */
    double target_ratio; /* 0 .. 1: required share of samples */
};

struct fidelity_sample {
    int64_t t_us;
    bool has_pose;
    double state[FIDELITY_STATES_MAX]; /* velocities, then pose */
};

struct fidelity_bucket {
    int64_t number; /* number of the bucket since the epoch; 0: empty */
    uint32_t n;     /* samples */
    uint32_t posed; /* samples with a pose */
    uint32_t judged, within;
    double square[FIDELITY_STATES_MAX], absolute[FIDELITY_STATES_MAX]; /* sums over the error */
    double sum[FIDELITY_STATES_MAX],
        sum2[FIDELITY_STATES_MAX];  /* sums over the real one, relative to origin */
    double tool_square, tool_max_m; /* arms: distance of the tools at one time */
};

struct fidelity { /* All zero: no samples yet. */
    uint32_t track_first, track_count;
    uint32_t waiting_first, waiting_count;
    struct fidelity_sample track[FIDELITY_TRACK];
    struct fidelity_sample waiting[FIDELITY_WAITING];
    struct fidelity_bucket bucket[FIDELITY_BUCKETS];
    bool has_origin;
    double origin[FIDELITY_STATES_MAX];
    uint64_t unpaired; /* samples of the real robot in all */
};

struct fidelity_report {
    size_t states; /* velocities, then pose; pose is NaN without pose samples */
    uint64_t n;
    double rmse[FIDELITY_STATES_MAX], mae[FIDELITY_STATES_MAX], r2[FIDELITY_STATES_MAX];
    double tool_rmse_m, tool_max_m; /* distance of the tools; NaN: no arms, or no pose */
    uint64_t judged;
    double within_ratio; /* NaN: no target, no pose or no sample */
};

/* Adds a sample; t_us in lab time. Samples out of order or too close together are skipped; a
 * step back by more than a second clears the stored ones. pose may be NULL. All numbers must be
 * finite. */
void fidelity_virtual(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                      const double *nu, const double *pose);
void fidelity_real(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                   const double *nu, const double *pose);

/* Computes the figures of the window that ends at now_us. */
void fidelity_read(const struct fidelity *f, const struct fidelity_params *p, int64_t now_us,
                   struct fidelity_report *out);

/* Clears the stored poses, because the frame has changed. */
void fidelity_reframe(struct fidelity *f);

/* ---- error of one motion against another with common sample times ----
 *
 * Root mean square and mean absolute error, and R2 = 1 - sum e^2 / sum (y - mean y)^2 with y
 * the reference motion. All samples have equal weight. */

struct tracking { /* All zero: no samples yet. */
    uint64_t n;
    double square, absolute, largest; /* of the error: sums, and the largest magnitude */
    double mean, spread;              /* of the reference: mean, sum of squares about it */
};

/* Adds one sample. Values that are not finite are skipped. */
void tracking_add(struct tracking *t, double reference, double actual);

/* NaN before the first sample; R2 also if the reference does not move. */
double tracking_rmse(const struct tracking *t);
double tracking_mae(const struct tracking *t);
double tracking_r2(const struct tracking *t);

#endif
