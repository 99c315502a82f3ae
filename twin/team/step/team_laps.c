#include "twin/team/step/team_laps.h"

#include <math.h>

static const double ALIKE_RAD = 0.1;
static const double ALIKE_M = 0.05;

void team_laps_add(struct team_laps *laps, double lap_s)
{
    const double off_s = lap_s - laps->mean_s;
    laps->n++;
    laps->mean_s += off_s / (double)laps->n;
    laps->squares_s2 += off_s * (lap_s - laps->mean_s);
}

double team_laps_sd(const struct team_laps *laps)
{
    return laps->n > 1 ? sqrt(laps->squares_s2 / (double)(laps->n - 1)) : (double)NAN;
}

bool team_laps_of_one_move(const struct team_laps *turns, const struct team_laps *distances)
{
    return team_laps_sd(turns) <= ALIKE_RAD && team_laps_sd(distances) <= ALIKE_M;
}
