/* service/team/team_measured.h - what a recording says of the robots of a team: it is run
 * through the lab, and the fits of travel times, the laps of tasks and where the robots stand
 * are taken from there. */
#ifndef SERVICE_TEAM_TEAM_MEASURED_H
#define SERVICE_TEAM_TEAM_MEASURED_H

#include "config/labfile/lab_file.h"
#include "twin/pair/pair.h"
#include "twin/team/step/team_laps.h"
#include "twin/team/step/team_predict.h"

/* Of one robot. */
struct team_measured_robot {
    bool known;              /* its pair is of the lab, and was heard of */
    struct team_pose at;     /* by its last telemetry, or its twin's; NAN: nobody said */
    bool fitted;             /* fit is one of travel times */
    struct travel_fit fit;   /* of its moves */
    struct team_extra extra; /* by which a lap is longer than the motion */
};

/* The team at its work, from an activity's start when nobody was at work to the moment when
 * nobody is any more. */
struct team_measured_run {
    int64_t start_us; /* lab time */
    int64_t makespan_us;
    uint64_t activities;
};

enum { TEAM_MEASURED_RUNS = 1000 }; /* the last ones are kept */

struct team_measured {
    const struct team_prediction *tp;
    enum side side;
    struct team_measured_robot *robots; /* [robots] */
    /* By kind of activity, [robots x kinds]. Of those that are no moves the laps of this side:
     * the team's own commands, or anybody's with the task's op and without a move. */
    struct team_laps *sides;
    /* Where the recording is of this team at work: from start to end, both robots of a pair;
     * and of moves how far they turned and went. */
    struct team_laps *activities, *turns, *distances;
    size_t run_count; /* ever; of runs the last TEAM_MEASURED_RUNS, a ring */
    struct team_measured_run *runs;
};

/* Read the journal at path (a file, a directory, "-"). lab NULL: one with the team's pairs, all
 * their options at their defaults. STATUS_E_IO, STATUS_E_NOMEM, STATUS_E_EMPTY (nothing is for
 * a pair of the team), err says why. out borrows tp, and is to be freed. */
MUST_USE enum status team_measured_read(const struct team_prediction *tp,
                                        const struct lab_file *lab, const char *path,
                                        enum side side, struct team_measured *out,
                                        struct err *err);
void team_measured_free(struct team_measured *measured);

/* Predict by it; tp is what it was read for. STATUS_E_MATH, STATUS_E_NOMEM. */
MUST_USE enum status team_measured_apply(const struct team_measured *measured,
                                         struct team_prediction *tp);

/* What was measured of an activity, the team's own laps first; NULL: nothing. */
const struct team_laps *team_measured_laps(const struct team_measured *measured, size_t robot,
                                           size_t kind);

#endif
