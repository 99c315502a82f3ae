/* service/forecast/drive_plan.h - `tandem drive --plan`: what its options want, where the
 * robot stands, and what is printed about a plan.
 */
#ifndef SERVICE_FORECAST_DRIVE_PLAN_H
#define SERVICE_FORECAST_DRIVE_PLAN_H

#include "base/text/names.h"
#include "identification/travel/next_move.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"

/* The options as given; NULL, or NaN: not given. */
struct drive_plan_options {
    bool plan;
    const char *goal, *mission, *room;
    double within_s;
};

/* clang-format off */
#define DRIVE_STOPS(X)                                                                         \
    X(DRIVE_GOES_ON, "none")                                                                   \
    X(DRIVE_REACHED, "reached")                                                                \
    X(DRIVE_LAW, "law") /* the moves do not follow the law of travel times */                  \
    X(DRIVE_NO_ROOM, "no_room") /* no move ends in the room */                                 \
    X(DRIVE_NO_POSE, "no_pose") /* the robot does not say where it comes to rest */            \
    X(DRIVE_DRIFT, "drift") /* alarm of the daemon */                                          \
    X(DRIVE_ANOTHER, "another_driver") /* somebody else commands the pair, too */              \
    X(DRIVE_BLOCKED, "blocked") /* blocked, failed or silent twice in a row */                 \
    X(DRIVE_COUNT, "count") /* --count */                                                      \
    X(DRIVE_TIME, "time") /* --for */                                                          \
    X(DRIVE_NO_CONNECTION, "no_connection")                                                    \
    X(DRIVE_SIGNAL, "signal")                                                                  \
    X(DRIVE_FULL, "moves") /* MOVE_PLAN_MAX moves do not suffice */                            \
    X(DRIVE_FAILED, "failed") /* not enough memory */
/* clang-format on */

enum drive_stop { DRIVE_STOPS(NAMES_VALUE) DRIVE_STOP_COUNT };

ENUM_NAMES_DECLARED(drive_stop);

enum drive_outcome { DRIVE_DONE, DRIVE_UNUSABLE, DRIVE_NOT_DONE };

struct drive_plan {
    struct move_plan moves;
    struct next_move next;
    size_t left;    /* moves that are probably needed after the next one */
    double pose[3]; /* x, y, heading of the real robot */
    bool has_pose;  /* since the last command ended */
    /* The last pose from which telemetry differed, and its time; LAB_TIME_NONE: none yet. */
    double rest_pose[3];
    int64_t rest_us;
    bool another; /* somebody else commands the pair */
    bool drifted;
    char drift[128];      /* the alarm's sentence */
    int64_t begun_us;     /* lab time of its latest command of the first three; 0: none */
    unsigned not_done;    /* in a row */
    enum drive_stop stop; /* DRIVE_GOES_ON: not yet */
};

/* Read the options into an aim, with the ranges of sizes in it. False after a message on
 * stderr. */
bool drive_plan_read(const struct drive_plan_options *options, struct next_move_aim *aim);

/* Does the robot stand in the room? False after a message on stderr. */
bool drive_plan_stands_inside(const struct drive_plan *plan);

/* Does telemetry tell where the robot stands? */
enum drive_motion {
    DRIVE_STANDS, /* yes: it has replied */
    DRIVE_UNSURE, /* no reply, as at the beginning and after a time-out: only once it rests */
    DRIVE_MOVES   /* no: a command is under way */
};

/* Receive where the robot stands, in its telemetry or its reply. */
void drive_plan_receive_pose(struct drive_plan *plan, const struct event *event,
                             enum drive_motion motion);

/* Receive an alarm of the daemon: JSON text. The first three moves show a change from before
 * the plan: such a drift is that of the daemon's earlier moves, which are left out. */
void drive_plan_receive_alarm(struct drive_plan *plan, const char *text, size_t bytes);

/* Choose the next move into *command; false: plan->stop says why there is none. */
bool drive_plan_choose(struct drive_plan *plan, struct event_command *command);

/* Learn from the move that ended; lap_s: of the real robot. */
void drive_plan_learn(struct drive_plan *plan, const struct event_command *command,
                      enum drive_outcome outcome, double lap_s);

/* Print why a move was made, and what is known after it; and how a plan ended. */
void drive_plan_print_move(const struct drive_plan *plan);
void drive_plan_print_end(const struct drive_plan *plan);

/* Write the same as members. */
void drive_plan_write_move(const struct drive_plan *plan, struct json_writer *w);
void drive_plan_write_end(const struct drive_plan *plan, struct json_writer *w);

#endif
