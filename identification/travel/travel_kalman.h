/* identification/travel/travel_kalman.h - travel times followed move by move: gated Kalman
 * filter.
 *
 * Two filters of the state beta of travel_time.h run side by side (docs/model/travel_time.md,
 * section 5). The first lets beta wander (a random walk) and is what to read. The second holds
 * beta fixed: its innovations are white as long as nothing changes, so sums of likelihood
 * ratios of them tell when a speed, or the delay of every move, became another one. The
 * innovation is Huberised in both, so that a late reply counts but does not carry them away.
 *
 * Plain data without pointers. Pure: no allocation, fixed cost: about 0.2 us a step, and some
 * 50 us when a change is found and the fixed filter starts anew.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_KALMAN_H
#define IDENTIFICATION_TRAVEL_TRAVEL_KALMAN_H

#include <stdbool.h>
#include <stdint.h>

#include "identification/travel/travel_time.h"

struct travel_kalman_params {
    double walk_ratio; /* per entry, of the nominal value; default 0.003 */
    double gate_sd;    /* default 2.5 */
    double noise_s;    /* start value of the lap noise, 1 sigma; adapted; default 0.05 */
    double nominal_w_radps, nominal_v_mps; /* scale of the walk and of the prior; > 0 */
    double drift_ratio;                    /* change of a speed that matters, e.g. 0.03 */
    uint32_t warmup; /* moves before drift is judged, and after a change; e.g. 12; >= 6 */
};

/* A change that was found: which term, since when, from what to what. */
struct travel_drift {
    enum travel_term term; /* TRAVEL_INV_W, TRAVEL_INV_V; TRAVEL_T0: delay of all moves */
    int64_t since_us;      /* lab time of the first move after the change, as estimated */
    double before, after;  /* rad/s or m/s; s for TRAVEL_T0 */
    double change_ratio;   /* after / before - 1; NaN for TRAVEL_T0 */
};

enum { TRAVEL_TEST_COUNT = 3, TRAVEL_RECENT_MAX = 32 };

/* Two-sided test of one term: a rise (0) and a fall (1). */
struct travel_test {
    double sum[2];       /* log likelihood ratio; >= 0 */
    int64_t since_us[2]; /* where the sum left zero */
    double reference[2]; /* the fixed filter's value just before */
};

/* A move as the fixed filter saw it. */
struct travel_recent {
    int64_t t_us;
    float rotation_rad, displacement_m, lap_s; /* float: there are many of them */
    float nu_s;                                /* innovation */
    float value[TRAVEL_TEST_COUNT];            /* the tested terms at that time */
};

struct travel_kalman {
    uint64_t n;
    double beta[TRAVEL_P];
    double covariance[TRAVEL_P][TRAVEL_P];
    double noise_s2;   /* adapted lap variance, from the median of the innovations */
    double noise_lean; /* -1..1: mean side of the innovations' median */
    uint64_t gated;    /* innovations that were cut */
    double fixed_beta[TRAVEL_P];
    double fixed_spread[TRAVEL_P][TRAVEL_P]; /* covariance over fixed_noise_s2 */
    double fixed_noise_s2;                   /* variance of its innovations, cut at the gate */
    uint64_t fixed_first; /* the move from which on the fixed filter holds, counted as n */
    bool fixed_ready;     /* it has seen enough moves; the tests run */
    struct travel_test test[TRAVEL_TEST_COUNT]; /* 1/w, 1/v, t0 */
    struct travel_recent recent[TRAVEL_RECENT_MAX];
    uint64_t drifts;
};

void travel_kalman_reset(struct travel_kalman *k, const struct travel_kalman_params *p);

/* One move at t_us. Returns true and fills *drift when a change was found (the tests then start
 * anew from the new value). A move that travel_move_usable() refuses changes nothing. */
bool travel_kalman_step(struct travel_kalman *k, const struct travel_kalman_params *p,
                        int64_t t_us, const struct travel_move *move,
                        struct travel_drift *drift);

#endif
