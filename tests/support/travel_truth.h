/* tests/support/travel_truth.h - moves of a robot whose travel times are known, with noise.
 *
 * The laboratory of the reference figures: t0 60, ta 120, tr 160 ms, 1.2 rad/s, 0.2 m/s;
 * rotations of 15 to 180 degrees in steps of 15, displacements of 50 to 1500 mm in steps of 50.
 */
#ifndef TESTS_SUPPORT_TRAVEL_TRUTH_H
#define TESTS_SUPPORT_TRAVEL_TRUTH_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "identification/travel/travel_kalman.h"
#include "identification/travel/travel_time.h"

static const double TRUTH_PI = 3.14159265358979323846;

/* Compares to the byte, as the product promises for doubles. */
static inline int truth_same(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

struct truth {
    double t0_s, ta_s, tr_s, w_radps, v_mps;
};

static const struct truth TRUTH = {0.060, 0.120, 0.160, 1.2, 0.2};

enum truth_noise { TRUTH_GAUSS, TRUTH_STUDENT3, TRUTH_BLUETOOTH };
enum truth_mix { MIX_TURN, MIX_DRIVE, MIX_BOTH, MIX_ALL, MIX_SINGLE, MIX_COUNT };

/* xorshift64*: the same draws everywhere. */
static inline uint64_t truth_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static inline double truth_uniform(uint64_t *state)
{
    return ((double)(truth_next(state) >> 11) + 0.5) * 0x1p-53;
}

static inline double truth_normal(uint64_t *state)
{
    const double r = sqrt(-2.0 * log(truth_uniform(state)));
    return r * cos(2.0 * TRUTH_PI * truth_uniform(state));
}

/* Bluetooth: lognormal latency of zero mean and this sd, and 5 % of 0.3 to 3 s on top. */
static inline double truth_noise_s(uint64_t *state, enum truth_noise kind, double sd_s)
{
    if (kind == TRUTH_GAUSS) {
        return sd_s * truth_normal(state);
    }
    if (kind == TRUTH_STUDENT3) {
        const double z = truth_normal(state);
        double chi2 = 0.0;
        for (int i = 0; i < 3; i++) {
            const double g = truth_normal(state);
            chi2 += g * g;
        }
        return sd_s * z / sqrt(chi2 / 3.0) / sqrt(3.0);
    }
    const double k2 = 0.64;
    const double x = exp(0.8 * truth_normal(state)) - exp(0.5 * k2);
    const double late = truth_uniform(state) < 0.05 ? 0.3 + 2.7 * truth_uniform(state) : 0.0;
    return sd_s * x / sqrt((exp(k2) - 1.0) * exp(k2)) + late;
}

static inline size_t truth_below(uint64_t *state, size_t n)
{
    return (size_t)(truth_uniform(state) * (double)n);
}

static inline double truth_lap_s(const struct truth *truth, const struct travel_move *move)
{
    const double turn = fabs(move->rotation_rad);
    const double drive = fabs(move->displacement_m);
    return truth->t0_s + (turn > 0.0 ? truth->ta_s + turn / truth->w_radps : 0.0) +
           (drive > 0.0 ? truth->tr_s + drive / truth->v_mps : 0.0);
}

/* kind: 0 turn, 1 drive, 2 both. */
static inline struct travel_move truth_command(uint64_t *state, size_t kind)
{
    struct travel_move move = {.lap_s = 0.0};
    const double turn = (double)(1 + truth_below(state, 12)) * TRUTH_PI / 12.0;
    const double drive = (double)(1 + truth_below(state, 30)) * 0.05;
    if (kind != 1) {
        move.rotation_rad = truth_uniform(state) < 0.5 ? turn : -turn;
    }
    if (kind != 0) {
        move.displacement_m = drive;
    }
    return move;
}

static inline size_t truth_kind(uint64_t *state, enum truth_mix mix)
{
    return mix == MIX_ALL      ? truth_below(state, 3)
           : mix == MIX_SINGLE ? truth_below(state, 2)
                               : (size_t)mix;
}

/* n moves with noise, one third of each kind in MIX_ALL. */
static inline void truth_moves(uint64_t *state, enum truth_mix mix, enum truth_noise kind,
                               double sd_s, struct travel_move *moves, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        moves[i] = truth_command(state, mix == MIX_ALL      ? i % 3
                                        : mix == MIX_SINGLE ? i % 2
                                                            : (size_t)mix);
        moves[i].lap_s = truth_lap_s(&TRUTH, &moves[i]) + truth_noise_s(state, kind, sd_s);
        /* Noise may not make a robot arrive before it starts. */
        moves[i].lap_s = fmax(moves[i].lap_s, 1e-3);
    }
}

/* Fits moves of a robot that turns and drives. */
static inline enum status fit_robot(const struct travel_move *moves, size_t n,
                                    enum travel_method method, struct travel_fit *fit)
{
    return travel_time_fit(moves, n, TRAVEL_TURNS_AND_DRIVES, method, fit);
}

/* Settings of the filter for a robot of these nominal speeds. */
static inline struct travel_kalman_params travel_kalman_defaults(double nominal_w_radps,
                                                                 double nominal_v_mps)
{
    return (struct travel_kalman_params){.walk_ratio = 0.003,
                                         .gate_sd = 2.5,
                                         .noise_s = 0.05,
                                         .nominal_w_radps = nominal_w_radps,
                                         .nominal_v_mps = nominal_v_mps,
                                         .drift_ratio = 0.03,
                                         .warmup = 12};
}

#endif
