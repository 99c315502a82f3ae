/* twin/team/step/team_statistics.h - sums over many runs of a team: who was busy, who waited
 * for whom, use of resources, and durations.
 *
 * Sums are integers, so that runs can be added in any order and by any number of threads with
 * the same result. Pure; memory is the caller's; docs/model/teams.md, "Simulation".
 */
#ifndef TWIN_TEAM_STEP_TEAM_STATISTICS_H
#define TWIN_TEAM_STEP_TEAM_STATISTICS_H

#include "twin/team/step/team_predict.h"

/* Sums of one robot over all runs. The rest of the makespans was idle time. */
struct team_robot_sums {
    int64_t busy_us, waiting_us; /* waiting: for resources, meetings, partners */
    uint64_t activities;
};

struct team_resource_sums {
    int64_t held_us;        /* units times time */
    uint64_t grants, waits; /* waits: grants that were not immediate */
    int64_t waited_us;
    int64_t longest_us;     /* longest of all runs */
    int64_t longest_sum_us; /* longest of each run, summed */
};

/* Laps of one kind of activity of one robot, in milliseconds, because squares of microseconds
 * would overflow. */
struct team_activity_sums {
    uint64_t n, sum_ms, square_ms2;
    uint64_t law[TEAM_LAW_COUNT]; /* count by source of the lap */
};

struct team_statistics;

size_t team_statistics_bytes(const struct team_prediction *tp);
struct team_statistics *team_statistics_init(void *memory, const struct team_prediction *tp);

/* Call begin, then effect for every effect, then end for each run. */
void team_statistics_begin(struct team_statistics *s);
void team_statistics_add_effect(struct team_statistics *s, const struct team_effect *effect);
/* law: the source of the lap of this TEAM_START. */
void team_statistics_lap(struct team_statistics *s, const struct team_effect *start,
                         const struct team_lap *lap, enum team_law_kind law);
void team_statistics_end(struct team_statistics *s, const struct team_run *run,
                         const struct team *team);
/* Adds the sums of another one. */
void team_statistics_add(struct team_statistics *s, const struct team_statistics *other);

/* ---- reading ---- */
uint64_t team_statistics_ends(const struct team_statistics *s, enum team_run_end end);
/* Returns the number of runs with an alarm of this kind. */
uint64_t team_statistics_alarms(const struct team_statistics *s, enum team_alarm alarm);
int64_t team_statistics_makespans_us(const struct team_statistics *s); /* sum over runs */
const struct team_robot_sums *team_statistics_robot(const struct team_statistics *s,
                                                    size_t robot);
const struct team_resource_sums *team_statistics_resource(const struct team_statistics *s,
                                                          size_t resource);
const struct team_activity_sums *team_statistics_activity(const struct team_statistics *s,
                                                          size_t robot, size_t kind);
/* Returns the time that a robot waited behind another one, in queues and at meetings. A wait
 * behind several counts for each. */
int64_t team_statistics_behind_us(const struct team_statistics *s, size_t robot, size_t other);

/* ---- the distribution of a number over runs ---- */

/* A figure and its standard error due to the finite number of runs. */
struct team_figure {
    double value, error;
};

struct team_distribution {
    size_t n;
    struct team_figure mean, sd, p05, p50, p95;
};

/* Computes the distribution of values[n], which are sorted. NAN if n is too small: below 2, and
 * for errors 1. The error of a percentile is half the distance between the order statistics one
 * standard deviation of the rank below and above it. */
void team_distribution_find(double *values, size_t n, struct team_distribution *out);

#endif
