#include "twin/pair/lag_parts.h"

#include <math.h>
#include <stdlib.h>

#include "base/numbers/lab_time.h"
#include "twin/pair/pair_thresholds.def"

static const double RATE_MIN = 0.03;
static const double CUT_DISTANCES = 4.0;

/* Places in struct lag_usual. */
enum { TRANSPORT = 0, WAITING = SIDE_COUNT, PACE = 2 * SIDE_COUNT, PART_SIZE };

/* Location and mean distance, both with errors that are cut (20). */
static void learn_measure(struct lag_usual *usual, size_t i, double x)
{
    const unsigned n = usual->count[i] < UINT8_MAX ? usual->count[i] + 1U : UINT8_MAX;
    const double weight = fmax(1.0 / n, RATE_MIN);
    const double spread = (double)usual->spread[i];
    const double most = n > LAG_PARTS_MIN ? CUT_DISTANCES * spread : (double)INFINITY;
    const double error = fmin(fmax(x - (double)usual->at[i], -most), most);
    usual->at[i] = (float)(n > 1 ? (double)usual->at[i] + weight * error : x);
    usual->spread[i] = (float)(spread + weight * ((n > 1 ? fabs(error) : 0.0) - spread));
    usual->count[i] = (uint8_t)n;
}

static void learn_known(struct lag_usual *usual, size_t i, double x)
{
    if (!isnan(x)) {
        learn_measure(usual, i, x);
    }
}

/* Returns the usual value; without one the other. */
static double usual_or(const struct lag_usual *usual, size_t i, double other)
{
    return usual->count[i] > 0 ? (double)usual->at[i] : other;
}

static void add_part(double *part, enum side side, double difference)
{
    const double before = isnan(*part) ? 0.0 : *part;
    *part = before + (side == SIDE_REAL ? difference : -difference);
}

/* Adds what one side contributes; NaN stays where nothing is reported. */
static void add_side(const struct lag_usual *usual, const struct lag_measures *m,
                     enum side side, double waiting_s, double part[ENTRY_PARTS])
{
    const double transport_s = m->transport_s[side];
    const double motion_s = m->motion_s[side];
    double slow_s = 0.0;
    if (!isnan(transport_s)) {
        add_part(&part[ENTRY_TRANSPORT], side,
                 usual->count[TRANSPORT + side] > 0
                     ? transport_s - (double)usual->at[TRANSPORT + side]
                     : 0.0);
    }
    if (isnan(waiting_s)) {
        return;
    }
    if (side == SIDE_VIRTUAL && !isnan(m->pace)) { /* (22) at its usual pace it took less */
        slow_s = motion_s * (1.0 - m->pace / usual_or(usual, PACE, 1.0));
        part[ENTRY_PACE] = -slow_s;
    }
    if (usual->count[WAITING + side] > 0) {
        const double usual_s = (double)usual->at[WAITING + side];
        const double expected_s =
            m->expected_s[side] - usual_s -
            (isnan(transport_s) ? 0.0 : usual_or(usual, TRANSPORT + side, 0.0));
        add_part(&part[ENTRY_WAITING], side, waiting_s - usual_s);
        add_part(&part[ENTRY_MOTION], side, motion_s - slow_s - expected_s);
    }
}

static int64_t round_us(double s)
{
    return llrint(s * 1e6);
}

/* Names the largest part, if it is most of the excess and larger than it usually is. */
static enum entry_explained explain_excess(const struct lag_usual *usual,
                                           const struct lag_measures *m,
                                           const struct entry_parts *parts)
{
    const double lag_s = lab_s(m->lap_us[SIDE_REAL] - m->lap_us[SIDE_VIRTUAL]);
    size_t best = ENTRY_PARTS;
    if (!(lag_s < m->low_s || lag_s > m->high_s) &&
        llabs(parts->excess_us) <= m->tolerance_us) {
        return ENTRY_UNDECIDED;
    }
    for (size_t k = 0; k < ENTRY_PARTS; k++) {
        if (parts->part_us[k] != LAB_TIME_NONE &&
            (best == ENTRY_PARTS || llabs(parts->part_us[k]) > llabs(parts->part_us[best]))) {
            best = k;
        }
    }
    if (best == ENTRY_PARTS || usual->count[PART_SIZE + best] < LAG_PARTS_MIN) {
        return ENTRY_NOT_EXPLAINED;
    }
    const int64_t us = parts->part_us[best];
    const bool named =
        (us > 0) == (parts->excess_us > 0) && us != 0 &&
        (double)llabs(us) >= LAG_PART_SHARE * (double)llabs(parts->excess_us) &&
        llabs(us) > round_us(LAG_PART_DISTANCES * (double)usual->spread[PART_SIZE + best]);
    return named ? (enum entry_explained)(ENTRY_BY_TRANSPORT + best) : ENTRY_NOT_EXPLAINED;
}

void lag_parts_split(struct lag_usual *usual, const struct lag_measures *m,
                     struct entry_parts *out)
{
    double part[ENTRY_PARTS];
    double waiting_s[SIDE_COUNT];
    for (size_t k = 0; k < ENTRY_PARTS; k++) {
        part[k] = (double)NAN;
    }
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const double transport_s = isnan(m->transport_s[s]) ? 0.0 : m->transport_s[s];
        waiting_s[s] = lab_s(m->lap_us[s]) - m->motion_s[s] - transport_s;
        add_side(usual, m, s, waiting_s[s], part);
    }
    out->known = true;
    out->excess_us = m->lap_us[SIDE_REAL] - m->lap_us[SIDE_VIRTUAL] -
                     round_us(m->expected_s[SIDE_REAL] - m->expected_s[SIDE_VIRTUAL]);
    out->rest_us = out->excess_us; /* (23) whole microseconds, so that the sum is exact */
    for (size_t k = 0; k < ENTRY_PARTS; k++) {
        out->part_us[k] = isnan(part[k]) ? LAB_TIME_NONE : round_us(part[k]);
        out->rest_us -= isnan(part[k]) ? 0 : out->part_us[k];
    }
    out->explained = explain_excess(usual, m, out);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        learn_known(usual, TRANSPORT + s, m->transport_s[s]);
        learn_known(usual, WAITING + s, waiting_s[s]);
    }
    learn_known(usual, PACE, m->pace);
    for (size_t k = 0; k < ENTRY_PARTS; k++) {
        learn_known(usual, PART_SIZE + k, isnan(part[k]) ? part[k] : lab_s(out->part_us[k]));
    }
}
