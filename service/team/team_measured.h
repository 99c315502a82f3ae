/* service/team/team_measured.h - what a recording says of the robots of a team: it is run
 * through the lab, and the fits of travel times, the laps of tasks and where the robots stand
 * are taken from there. */
#ifndef SERVICE_TEAM_TEAM_MEASURED_H
#define SERVICE_TEAM_TEAM_MEASURED_H

#include "config/lab_file.h"
#include "twin/pair/pair.h"
#include "twin/team/team_predict.h"

/* Laps of one thing; all zero is none. */
struct team_laps {
    size_t n;
    double mean_s, squares_s2; /* of the differences from the mean */
};

double team_laps_sd(const struct team_laps *laps); /* NAN below two */

/* Of one robot. */
struct team_measured_robot {
    bool known;            /* its pair is of the lab, and was heard of */
    struct team_pose at;   /* by its last telemetry, or its twin's; NAN: nobody said */
    bool fitted;           /* fit is one of travel times */
    struct travel_fit fit; /* of its moves */
    double extra_s;        /* by which a lap is longer than the motion, on average */
    uint64_t entries;
};

struct team_measured {
    const struct team_params *params;
    enum side side;
    struct team_measured_robot *robots; /* [robots] */
    struct team_laps *tasks;            /* [robots x tasks] of a task's op */
};

/* Read the journal at path (a file, a directory, "-"). lab NULL: one with the team's pairs, all
 * their options at their defaults. STATUS_E_IO, STATUS_E_NOMEM, STATUS_E_EMPTY (nothing is for
 * a pair of the team), err says why. out is to be freed. */
MUST_USE enum status team_measured_read(const struct team_params *p, const struct lab_file *lab,
                                        const char *path, enum side side,
                                        struct team_measured *out, struct err *err);
void team_measured_free(struct team_measured *measured);

/* Predict by it. STATUS_E_MATH, STATUS_E_NOMEM. */
MUST_USE enum status team_measured_apply(const struct team_measured *measured,
                                         struct team_prediction *tp);

#endif
