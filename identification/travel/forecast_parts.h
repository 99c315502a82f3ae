/* identification/travel/forecast_parts.h - the fit with forgetting and the spread, for the
 * files of this room that forecast one move and many.
 */
#ifndef IDENTIFICATION_TRAVEL_FORECAST_PARTS_H
#define IDENTIFICATION_TRAVEL_FORECAST_PARTS_H

#include "identification/travel/forecast.h"

void forecast_solve(const struct forecast_fit *fit, struct forecast_solution *out);

/* Returns x' (A + D)^-1 x. */
double forecast_leverage(const struct forecast_solution *solution, const double x[TRAVEL_P]);

/* Adds a lap, whose error counts at most limit_s (3). NULL: the fit has no laps yet. */
void forecast_add_lap(struct forecast_fit *fit, const struct forecast_solution *solution,
                      const double x[TRAVEL_P], double lap_s, double limit_s);

/* Returns the mean size of an error of a move of this length (4); infinite: unknown. */
double forecast_spread_at(const struct forecast_spread *spread, double length_s);

/* Returns the number of the rank that bounds n scores: the largest is 1, and 0 means above it
 * (6). */
static inline unsigned forecast_rank(unsigned alpha, size_t n)
{
    return (unsigned)(alpha * (n + 1) / FORECAST_LEVEL_UNITS);
}

/* Returns the share of misses of a level, in 1/FORECAST_LEVEL_UNITS. */
unsigned forecast_tail(enum forecast_level level);

#endif
