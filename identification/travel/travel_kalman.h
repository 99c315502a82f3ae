/* identification/travel/travel_kalman.h - online estimation of travel times by a robust Kalman
 * filter.
 *
 * Two filters of the state beta of travel_time.h run in parallel (docs/model/travel_time.md,
 * section 5). In the first, beta is a random walk; its estimate is the result. In the second,
 * beta is constant, so that its innovations are white until something changes. Sums of
 * likelihood ratios detect when a speed, or the common delay, has changed. Both limit the
 * innovation as Huber does, so that a late reply has a bounded influence.
 *
 * Plain data without pointers. Pure: no allocation, fixed cost: about 0.2 us per step, and
 * about 50 us if a change is found and the fixed filter restarts.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_KALMAN_H
#define IDENTIFICATION_TRAVEL_TRAVEL_KALMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "identification/travel/travel_time.h"

struct travel_kalman_params {
    double walk_ratio; /* random walk per entry, relative to the nominal value; default 0.003 */
    double gate_sd;    /* default 2.5 */
    double noise_s;    /* initial noise of a lap, 1 sigma; adapted; default 0.05 */
    double nominal_w_radps, nominal_v_mps; /* scales of the walk and of the prior; > 0 */
    double drift_ratio; /* relative change of a speed that matters, e.g. 0.03 */
    uint32_t warmup;    /* moves before drift is judged, and after a change; e.g. 12; >= 6 */
};

/* A detected change. */
struct travel_drift {
    enum travel_term term; /* TRAVEL_INV_W, TRAVEL_INV_V; TRAVEL_T0: delay of all moves */
    int64_t since_us;      /* lab time of the first move after the change (estimated) */
    double before, after;  /* rad/s or m/s; s for TRAVEL_T0 */
    double change_ratio;   /* after / before - 1; NaN for TRAVEL_T0 */
};

enum { TRAVEL_TEST_COUNT = 3, TRAVEL_RECENT_MAX = 32 };

/* Two-sided test of one term: a rise (0) and a fall (1). */
struct travel_test {
    double sum[2];       /* log likelihood ratio; >= 0 */
    int64_t since_us[2]; /* time at which the sum left zero */
    double reference[2]; /* value of the fixed filter just before */
};

/* A recorded move, with the innovation of the fixed filter. */
struct travel_recent {
    int64_t t_us;
    float rotation_rad, displacement_m, lap_s; /* float, because there are many */
    float nu_s;                                /* innovation */
    float value[TRAVEL_TEST_COUNT];            /* the tested terms at that time */
};

struct travel_kalman {
    uint64_t n;
    double beta[TRAVEL_P];
    double covariance[TRAVEL_P][TRAVEL_P];
    double noise_s2;   /* adapted variance of a lap, from the median of the innovations */
    double noise_lean; /* -1..1: mean side of |z| relative to its median */
    uint64_t gated;    /* number of innovations that were limited */
    double fixed_beta[TRAVEL_P];
    double fixed_spread[TRAVEL_P][TRAVEL_P]; /* covariance divided by fixed_noise_s2 */
    double fixed_noise_s2; /* variance of its innovations, limited at the gate */
    uint64_t fixed_first;  /* first move of the fixed filter, counted as n */
    bool fixed_ready;      /* it has enough moves, and the tests run */
    struct travel_test test[TRAVEL_TEST_COUNT]; /* 1/w, 1/v, t0 */
    struct travel_recent recent[TRAVEL_RECENT_MAX];
    uint64_t drifts;
};

void travel_kalman_reset(struct travel_kalman *k, const struct travel_kalman_params *p);

/* Processes one move at t_us. Returns true and fills *drift if a change was found; the tests
 * then restart from the new value. A move that travel_move_usable() refuses changes nothing. */
bool travel_kalman_step(struct travel_kalman *k, const struct travel_kalman_params *p,
                        int64_t t_us, const struct travel_move *move,
                        struct travel_drift *drift);

#endif
