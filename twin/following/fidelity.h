/* twin/following/fidelity.h - how truly the virtual robot moves as the real one, over a sliding
 * window.
 *
 * Samples of both come by themselves, at other times and other rates: a sample of the real
 * robot is held against the virtual robot's motion interpolated to the same time. Root mean
 * square and mean absolute error and R2 per state, and the share of samples within a target:
 *
 *     within d and T:   the virtual robot is within d of the real robot's place at some time
 * not more than T off                    (docs/model/following.md)
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
    FIDELITY_STATES_MAX = 2 * MODEL_AXES_MAX, /* velocities, then all of the pose */
    FIDELITY_TRACK = 256,                     /* samples of the virtual robot kept */
    FIDELITY_WAITING = 64,                    /* samples of the real one that wait for it */
    FIDELITY_BUCKETS = 60                     /* of the window */
};

struct fidelity_params {
    const struct model *model; /* names and number of the states; borrowed */
    bool has_arm; /* the place is that of the tool of this arm, whose joints are the pose */
    struct arm_geometry arm;
    int64_t window_us;   /* > 0 */
    double target_m;     /* > 0: of the place; 0: no target */
    int64_t target_us;   /* >= 0: and of the time */
    double target_ratio; /* 0 .. 1: of the samples */
};

struct fidelity_sample {
    int64_t t_us;
    bool has_pose;
    double state[FIDELITY_STATES_MAX]; /* velocities, then pose */
};

struct fidelity_bucket {
    int64_t number; /* of the window's buckets since the epoch; 0: empty */
    uint32_t n;     /* samples */
    uint32_t posed; /* of them with a pose */
    uint32_t judged, within;
    double square[FIDELITY_STATES_MAX], absolute[FIDELITY_STATES_MAX]; /* of the error */
    double sum[FIDELITY_STATES_MAX],
        sum2[FIDELITY_STATES_MAX];  /* of the real one, off origin */
    double tool_square, tool_max_m; /* of arms: distance of the tools at one time */
};

struct fidelity { /* all zero: nothing was seen */
    uint32_t track_first, track_count;
    uint32_t waiting_first, waiting_count;
    struct fidelity_sample track[FIDELITY_TRACK];
    struct fidelity_sample waiting[FIDELITY_WAITING];
    struct fidelity_bucket bucket[FIDELITY_BUCKETS];
    bool has_origin;
    double origin[FIDELITY_STATES_MAX];
    uint64_t unpaired; /* samples of the real robot, ever */
};

struct fidelity_report {
    size_t states; /* velocities, then pose; pose is NaN where none is told */
    uint64_t n;
    double rmse[FIDELITY_STATES_MAX], mae[FIDELITY_STATES_MAX], r2[FIDELITY_STATES_MAX];
    double tool_rmse_m, tool_max_m; /* distance of the tools; NaN: no arms, or no pose */
    uint64_t judged;
    double within_ratio; /* NaN: no target, no pose or no sample */
};

/* A sample; t_us on lab time. Those that do not follow in time, or come closer than is worth
 * keeping, are passed over; after a second back, what was kept is forgotten. pose may be NULL.
 * Finite. */
void fidelity_virtual(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                      const double *nu, const double *pose);
void fidelity_real(struct fidelity *f, const struct fidelity_params *p, int64_t t_us,
                   const double *nu, const double *pose);

/* The window that ends at now_us. */
void fidelity_read(const struct fidelity *f, const struct fidelity_params *p, int64_t now_us,
                   struct fidelity_report *out);

/* Forget the poses that wait and were kept: the frame has changed. */
void fidelity_reframe(struct fidelity *f);

/* ---- how closely one motion follows another where their samples come together ----
 *
 * Root mean square and mean absolute error, and R2 = 1 - sum e^2 / sum (y - mean y)^2 with y
 * the motion that is followed. All samples weigh alike. */

struct tracking { /* all zero: nothing was seen */
    uint64_t n;
    double square, absolute, largest; /* of the error: sums, and the largest magnitude */
    double mean, spread;              /* of the reference: mean, sum of squares about it */
};

/* One sample. Values that are not finite are passed over. */
void tracking_add(struct tracking *t, double reference, double actual);

/* NaN before the first sample; R2 also where the reference does not move. */
double tracking_rmse(const struct tracking *t);
double tracking_mae(const struct tracking *t);
double tracking_r2(const struct tracking *t);

#endif
