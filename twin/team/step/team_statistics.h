/* twin/team/step/team_statistics.h - what many runs of a team come to: who was busy, who waited
 * for whom, which resource was used how much, and how long it all took.
 *
 * Sums are whole numbers, so that runs may be added in any order and by any number of threads
 * and give the same. Pure; memory is the caller's; docs/model/teams.md, "Simulation".
 */
#ifndef TWIN_TEAM_STEP_TEAM_STATISTICS_H
#define TWIN_TEAM_STEP_TEAM_STATISTICS_H

#include "twin/team/step/team_predict.h"

/* Of one robot over all runs. What is left of the runs' makespans it was idle. */
struct team_robot_sums {
    int64_t busy_us, waiting_us; /* waiting: for resources, meetings, partners */
    uint64_t activities;
};

struct team_resource_sums {
    int64_t held_us;        /* units times time */
    uint64_t grants, waits; /* waits: grants that did not come at once */
    int64_t waited_us;
    int64_t longest_us;     /* of all runs */
    int64_t longest_sum_us; /* of each run, summed */
};

/* Laps of one kind of activity of one robot; in milliseconds, squares would be too large. */
struct team_activity_sums {
    uint64_t n, sum_ms, square_ms2;
    uint64_t law[TEAM_LAW_COUNT]; /* whence they came */
};

struct team_statistics;

size_t team_statistics_bytes(const struct team_prediction *tp);
struct team_statistics *team_statistics_init(void *memory, const struct team_prediction *tp);

/* A run begins; then every effect of it; then it has ended. */
void team_statistics_begin(struct team_statistics *s);
void team_statistics_add_effect(struct team_statistics *s, const struct team_effect *effect);
/* law: whence the lap of the TEAM_START just taken came. */
void team_statistics_lap(struct team_statistics *s, const struct team_effect *start,
                         const struct team_lap *lap, enum team_law_kind law);
void team_statistics_end(struct team_statistics *s, const struct team_run *run,
                         const struct team *team);
/* Add what another one has seen. */
void team_statistics_add(struct team_statistics *s, const struct team_statistics *other);

/* ---- reading ---- */
uint64_t team_statistics_ends(const struct team_statistics *s, enum team_run_end end);
/* Runs in which an alarm of this kind was raised. */
uint64_t team_statistics_alarms(const struct team_statistics *s, enum team_alarm alarm);
int64_t team_statistics_makespans_us(const struct team_statistics *s); /* summed */
const struct team_robot_sums *team_statistics_robot(const struct team_statistics *s,
                                                    size_t robot);
const struct team_resource_sums *team_statistics_resource(const struct team_statistics *s,
                                                          size_t resource);
const struct team_activity_sums *team_statistics_activity(const struct team_statistics *s,
                                                          size_t robot, size_t kind);
/* How long a robot stood behind another one, in queues and at meetings. A wait behind several
 * counts for each. */
int64_t team_statistics_behind_us(const struct team_statistics *s, size_t robot, size_t other);

/* ---- the distribution of a number over runs ---- */

/* A figure and the standard error that it has because the runs are so few. */
struct team_figure {
    double value, error;
};

struct team_distribution {
    size_t n;
    struct team_figure mean, sd, p05, p50, p95;
};

/* Of values[n], which are put in order. NAN where n is too small: below 2, and 1 of errors.
 * A percentile's error is how far its neighbours by one standard deviation of the number of
 * values below it lie apart, halved. */
void team_distribution_find(double *values, size_t n, struct team_distribution *out);

#endif
