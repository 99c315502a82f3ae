/* twin/team/step/team_statistics.h - sums over many runs of a team: who was busy, who waited
 * for whom, use of resources, and durations.
 *
 * Sums are integers, so that runs can be added in any order and by any number of threads with
 * the same result. Pure; memory is the caller's; docs/model/teams.md, "Simulation".
 */
#ifndef TWIN_TEAM_STEP_TEAM_STATISTICS_H
#define TWIN_TEAM_STEP_TEAM_STATISTICS_H

#include "twin/team/step/team_predict.h"

/* Sums of one robot over all runs. The rest of their time was idle. */
struct team_robot_sums {
    int64_t busy_us, waiting_us; /* waiting: for resources, meetings, partners */
    uint64_t activities;
};

struct team_resource_sums {
    int64_t held_us;        /* units times time */
    uint64_t grants, waits; /* waits: grants that were not immediate, and unserved ones */
    uint64_t unserved;      /* waits that last until the run's end */
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

struct team_robot_now;
struct team_resource_now;

/* Sums over all runs, then the state of the present run. */
struct team_statistics {
    const struct team_prediction *tp;
    const struct team_draw *draw;
    uint64_t ends[TEAM_RUN_END_COUNT];
    uint64_t alarms[TEAM_ALARM_COUNT]; /* runs with an alarm of this kind */
    int64_t spans_us; /* of the runs: makespans, or up to the horizon if it did not finish */
    struct team_robot_sums *robot;       /* [robots] */
    struct team_resource_sums *resource; /* [resources] */
    struct team_activity_sums *activity; /* [robots x kinds] */
    /* [robots x robots] time that each robot waited behind each other one, in queues and at
     * meetings; a wait behind several counts for each */
    int64_t *behind_us;
    size_t sum_bytes; /* bytes of all sums, which begin at robot */
    bool alarmed[TEAM_ALARM_COUNT];
    int64_t stopped_us;             /* time of the last ERROR, HALT or FINISH */
    struct team_robot_now *now;     /* [robots] */
    uint16_t *behind;               /* [robots x robots] robots that each is queued behind */
    struct team_resource_now *held; /* [resources] */
};

size_t team_statistics_bytes(const struct team_prediction *tp);
/* draw: answers for the laps of the runs, and is read at each start. */
struct team_statistics *team_statistics_init(void *memory, const struct team_prediction *tp,
                                             const struct team_draw *draw);

/* Call begin, then add_effect, an emit of struct team_effects, then end for each run. */
void team_statistics_begin(struct team_statistics *s);
void team_statistics_add_effect(void *statistics, const struct team_effect *effect);
void team_statistics_end(struct team_statistics *s, const struct team_run *run,
                         const struct team *team, int64_t horizon_us);
/* Adds the sums of another one. */
void team_statistics_add(struct team_statistics *s, const struct team_statistics *other);

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
