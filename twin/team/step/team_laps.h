/* twin/team/step/team_laps.h - laps of one thing, as their number, mean and spread. Pure. */
#ifndef TWIN_TEAM_STEP_TEAM_LAPS_H
#define TWIN_TEAM_STEP_TEAM_LAPS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero is none. */
struct team_laps {
    size_t n;
    double mean_s, squares_s2; /* of the differences from the mean */
};

/* Take in one more (Welford, Technometrics 4 (1962) 419). */
void team_laps_add(struct team_laps *laps, double lap_s);
double team_laps_sd(const struct team_laps *laps); /* NAN below two */

/* Moves that all turned (rad) and went (m) alike: their laps are this move's, with its load. */
bool team_laps_of_one_move(const struct team_laps *turns, const struct team_laps *distances);

#endif
