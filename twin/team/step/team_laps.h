/* twin/team/step/team_laps.h - durations of one activity as number, mean and spread. Pure. */
#ifndef TWIN_TEAM_STEP_TEAM_LAPS_H
#define TWIN_TEAM_STEP_TEAM_LAPS_H

#include <stdbool.h>
#include <stddef.h>

/* All zero: no laps. */
struct team_laps {
    size_t n;
    double mean_s, squares_s2; /* sum of squared differences from the mean */
};

/* Adds a lap (Welford, Technometrics 4 (1962) 419). */
void team_laps_add(struct team_laps *laps, double lap_s);
double team_laps_sd(const struct team_laps *laps); /* NAN below two */

/* Did the laps belong to moves of one size? turns (rad) and distances (m) must not vary. */
bool team_laps_of_one_move(const struct team_laps *turns, const struct team_laps *distances);

#endif
