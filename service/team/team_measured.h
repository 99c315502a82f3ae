/* service/team/team_measured.h - measures the robots of a team from a recording. The
 * recording runs through the lab, which gives fits of travel times, laps of tasks and the
 * robots' places. */
#ifndef SERVICE_TEAM_TEAM_MEASURED_H
#define SERVICE_TEAM_TEAM_MEASURED_H

#include "config/labfile/lab_file.h"
#include "twin/pair/pair.h"
#include "twin/team/step/team_laps.h"
#include "twin/team/step/team_predict.h"

/* Measurements of one robot. */
struct team_measured_robot {
    bool known;            /* its pair is in the lab, and sent messages */
    bool fitted;           /* fit holds travel times */
    struct travel_fit fit; /* fit of its moves */
};

/* Laps of one kind of activity of a robot. */
struct team_measured_laps {
    /* Laps of this side, for activities that are no moves: the team's own commands, or any
     * command with the task's op and without a move. */
    struct team_laps side;
    /* Laps from start to end of both robots of a pair, if the recording has this team at work;
     * for moves also how far they turned and drove. */
    struct team_laps activity, turns, distances;
};

/* A run of the team: from the start of an activity while no robot was at work, until no robot
 * is at work any more. */
struct team_measured_run {
    int64_t start_us; /* lab time */
    int64_t makespan_us;
    uint64_t activities;
};

enum { TEAM_MEASURED_RUNS = 1000 }; /* only the last ones are retained */

struct team_measured {
    struct team_prediction *tp;
    enum side side;
    struct team_measured_robot *robots; /* [robots] */
    struct team_measured_laps *laps;    /* [robots x kinds] */
    size_t run_count; /* all runs; `runs` is a ring of the last TEAM_MEASURED_RUNS */
    struct team_measured_run *runs;
};

/* Read the journal at path (a file, a directory, "-") and use its measurements for tp. lab
 * NULL: a lab with the team's pairs and default options. STATUS_E_IO, STATUS_E_NOMEM,
 * STATUS_E_EMPTY (no message for a pair of the team), err has the reason. out borrows tp, and
 * is to be freed. */
MUST_USE enum status team_measured_read(struct team_prediction *tp, const struct lab_file *lab,
                                        const char *path, enum side side,
                                        struct team_measured *out, struct err *err);
void team_measured_free(struct team_measured *measured);

/* The measured laps of an activity, the team's own ones if any; NULL: none. */
const struct team_laps *team_measured_laps(const struct team_measured *measured, size_t robot,
                                           size_t kind);

#endif
