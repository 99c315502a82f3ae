/* identification/travel_kalman.h - travel times followed move by move: gated Kalman filter.
 *
 * State beta of travel_time.h as a random walk (0.3 % per entry of nominal values); the
 * innovation is Huberised at 2.5 sigma (REFERENCE table in docs/model/travel_time.md, section
 * 4), and a two-sided test on the standardised innovations of rotations and of displacements
 * detects drift: when it began, and how large it is. Plain data without pointers. Pure: no
 * allocation.
 */
#ifndef IDENTIFICATION_TRAVEL_KALMAN_H
#define IDENTIFICATION_TRAVEL_KALMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "identification/travel_time.h"

struct travel_kalman_params {
    double walk_ratio; /* per entry, of the nominal value; default 0.003 */
    double gate_sd;    /* default 2.5 */
    double noise_s;    /* start value of the lap noise, 1 sigma; adapted; default 0.05 */
    double nominal_w_radps, nominal_v_mps; /* scale of the walk and of the prior; > 0 */
    double drift_ratio;                    /* change of a speed that matters, e.g. 0.03 */
    uint32_t warmup;                       /* entries before drift is judged, e.g. 12 */
};

/* A change that was found: which speed, since when, from what to what. */
struct travel_drift {
    enum travel_term term; /* TRAVEL_INV_W or TRAVEL_INV_V */
    int64_t since_us;      /* lab time of the first move after the change, as estimated */
    double before, after;  /* rad/s or m/s */
    double change_ratio;   /* after / before - 1 */
};

struct travel_kalman {
    uint32_t n;
    double beta[TRAVEL_P];
    double covariance[TRAVEL_P][TRAVEL_P];
    double noise_s2; /* adapted lap variance */
    uint64_t gated;  /* innovations that were cut */
    /* Per speed (0: w, 1: v): two-sided cumulative sums and the reference they are measured
     * from. */
    struct {
        double reference; /* 1/w or 1/v before the change */
        double up, down;
        int64_t up_since_us, down_since_us;
    } test[2];
    uint64_t drifts;
};

void travel_kalman_reset(struct travel_kalman *k, const struct travel_kalman_params *p);

/* One move at t_us. Returns true and fills *drift when a change was found (the test then starts
 * anew from the new value). */
bool travel_kalman_step(struct travel_kalman *k, const struct travel_kalman_params *p,
                        int64_t t_us, const struct travel_move *move,
                        struct travel_drift *drift);

#endif
