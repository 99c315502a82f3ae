/* identification/travel/forecast.h - how long the next move takes: an interval that follows a
 * changing robot.
 *
 * Three quantities are predicted: the lap of the real robot, that of the virtual one, and the
 * lag, which is their difference. A lap is measured at arrival. Each side has a least squares
 * fit with forgetting. A score is an error divided by its expected spread, and a bound is a
 * rank of the last scores, at a level that adapts to hits and misses (docs/forecast.md).
 * Numbers in brackets are those of the equations there. Pure: no clock, no allocation; the same
 * moves give the same bytes.
 */
#ifndef IDENTIFICATION_TRAVEL_FORECAST_H
#define IDENTIFICATION_TRAVEL_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "identification/travel/travel_fit.h"

enum forecast_quantity {
    FORECAST_REAL_LAP,
    FORECAST_VIRTUAL_LAP,
    FORECAST_LAG,
    FORECAST_QUANTITIES
};

enum forecast_level { FORECAST_80, FORECAST_90, FORECAST_95, FORECAST_LEVELS };

enum forecast_basis {
    FORECAST_BASIS_NONE,  /* too few scores for an interval */
    FORECAST_BASIS_FEW,   /* the interval rests on fewer than 19 scores */
    FORECAST_BASIS_RANKS, /* the interval is a rank of the scores */
    FORECAST_BASES
};

enum {
    FORECAST_SIDES = 2,      /* [FORECAST_REAL_LAP], [FORECAST_VIRTUAL_LAP] */
    FORECAST_TRIANGLE = 15,  /* numbers of a symmetric matrix of TRAVEL_P rows */
    FORECAST_SCORES = 64,    /* of each quantity */
    FORECAST_HELD = 100,     /* closed commands that the gauge counts */
    FORECAST_MOVES_MIN = 12, /* laps of a side before its first forecast */
    FORECAST_LEVEL_UNITS = 2000
};

/* Least squares of one side's laps, with forgetting. */
struct forecast_fit {
    double a[FORECAST_TRIANGLE], b[TRAVEL_P]; /* sums of x x' (lower triangle) and x lap */
    uint32_t count;                           /* laps */
};

/* A fit that is solved (2): the Cholesky factor of A + D, and the terms. */
struct forecast_solution {
    double root[FORECAST_TRIANGLE]; /* lower triangle by rows, with inverses on its diagonal */
    double beta[TRAVEL_P];
};

/* Sums for the mean size of an error as a line in the length of the move. */
struct forecast_spread {
    double s0, s1, s2, t0, t1;
};

/* Plain data. All zero is not a start: forecast_init(). */
struct forecast {
    struct forecast_fit fit[FORECAST_SIDES];
    struct forecast_spread spread[FORECAST_QUANTITIES];
    int16_t score[FORECAST_QUANTITIES][FORECAST_SCORES]; /* in 1/64; ring */
    /* Share of misses that the next bound aims at, in 1/FORECAST_LEVEL_UNITS. */
    uint16_t alpha[FORECAST_QUANTITIES][FORECAST_LEVELS];
    uint8_t next[FORECAST_QUANTITIES], scores[FORECAST_QUANTITIES];
    uint8_t judged[FORECAST_QUANTITIES];     /* at most FORECAST_HELD */
    uint64_t held[FORECAST_QUANTITIES][2];   /* a bit each, the latest first; 1: held */
    uint32_t left_out, cut_short, timed_out; /* commands */
};

/* The prediction of a command, made when it was sent. known, full: a bit for each quantity. */
struct forecast_made {
    double expected_s[FORECAST_SIDES]; /* the lag's is their difference */
    double scale_s[FORECAST_QUANTITIES];
    /* Upper bounds in 1/64 of the scale; negative: 1.3 times as much as the number says. */
    int16_t high[FORECAST_QUANTITIES][FORECAST_LEVELS];
    int16_t low[FORECAST_SIDES]; /* the lowest score below zero */
    uint8_t known, full;         /* full: from 19 scores on */
};

/* Low or high NaN: no interval. Infinite: that end is not known. */
struct forecast_interval {
    double expected_s, low_s, high_s;
    enum forecast_basis basis;
};

/* How a command ended on one side. */
enum forecast_end {
    FORECAST_NOT_ASKED, /* or its lap is that of another robot */
    FORECAST_DONE,
    FORECAST_TIMEOUT,
    FORECAST_CUT /* halted, blocked, error, ignored */
};

struct forecast_outcome {
    enum forecast_end end;
    double lap_s;
};

/* A move in the window, oldest first. NaN: no value; infinite: timed out. */
struct forecast_move {
    double turn, drive; /* sizes, as in travel_row() */
    double lap_s[FORECAST_SIDES];
};

void forecast_init(struct forecast *f);

/* Has the quantity a forecast? */
static inline bool forecast_knows(const struct forecast_made *made, enum forecast_quantity q)
{
    return made->known >> q & 1U;
}

/* Adds the forecast of the laps of these sides (bits) to *made, which is all zero at first, and
 * that of the lag once both are in it. leverage [FORECAST_QUANTITIES] may be NULL. */
void forecast_predict(const struct forecast *f, double turn, double drive, unsigned sides,
                      struct forecast_made *made, double *leverage);

/* Returns the interval of a quantity (8); all NaN if it has no forecast. */
struct forecast_interval forecast_interval(const struct forecast_made *made,
                                           enum forecast_quantity q, enum forecast_level level);

/* Returns the interval of the whole lap of a command that has lasted elapsed_s (9). longer: how
 * many of the scores took longer than that; negative if it is not above the low end. */
struct forecast_interval forecast_open(const struct forecast *f,
                                       const struct forecast_made *made,
                                       enum forecast_quantity q, enum forecast_level level,
                                       double elapsed_s, int *longer);

/* Learns from a closed command. lap_s: its row for the window; both NaN: it has none. Returns
 * the sides (bits) that forecast_start() must now be called for, with that row. */
unsigned forecast_learn(struct forecast *f, const struct forecast_made *made, double turn,
                        double drive, const struct forecast_outcome outcome[FORECAST_SIDES],
                        double lap_s[FORECAST_SIDES]);

/* Starts the fit of these sides again from their first twelve laps, robustly (3a). */
void forecast_start(struct forecast *f, unsigned sides, const struct forecast_move *moves,
                    size_t n);

/* The virtual robot is another one from now on (13). change: of its terms; NULL: unknown. The
 * caller removes its laps from the window. */
void forecast_change_virtual(struct forecast *f, const double change[TRAVEL_P]);

/* Returns the terms of a side's fit. */
void forecast_terms(const struct forecast *f, enum forecast_quantity side,
                    double beta[TRAVEL_P]);

/* Lists the finite scores of a quantity, in spreads; returns their number. */
size_t forecast_scores(const struct forecast *f, enum forecast_quantity q,
                       double scores[FORECAST_SCORES]);

/* Returns how many of the last judged forecasts held; and Wilson's 95 % interval of the share.
 */
unsigned forecast_held(const struct forecast *f, enum forecast_quantity q);
void forecast_wilson(unsigned held, unsigned of, double ci95[2]);

ENUM_NAMES_DECLARED(forecast_quantity); /* "real_lap" ... */
ENUM_NAMES_DECLARED(forecast_level);    /* "0.8" ... */
ENUM_NAMES_DECLARED(forecast_basis);    /* "none" ... */

#endif
