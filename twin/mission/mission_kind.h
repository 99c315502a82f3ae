/* twin/mission/mission_kind.h - the kinds of missions that a message can order, one row each.
 *
 * A kind turns the text of a message into a plan, and works on the plan: replies, samples and
 * time in, commands and messages out. Plan and work are plain bytes, part of the pair's state:
 * the service (pair_missions.h) queues, begins, cancels and reports missions of every kind in
 * the same way. To add a kind: a row in mission_kinds.def and its functions in a file of this
 * room. docs/protocol/mission.md. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_MISSION_MISSION_KIND_H
#define TWIN_MISSION_MISSION_KIND_H

#include "base/errors/err.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"
#include "twin/pair/pair_params.h"
#include "twin/sim/robot/mission.h"

enum {
    MISSION_KIND_MAX = 12,      /* bytes of a kind's name with its NUL */
    MISSION_JSON_MAX = 32768,   /* bytes of the text of a mission */
    MISSION_PLAN_BYTES = 32768, /* room of a plan, and of the work on it */
    MISSION_WORK_BYTES = 32768
};

/* A kind is for one of these robots. */
/* clang-format off */
#define MISSION_ROBOTS(X)                                                                      \
    X(MISSION_WHEELS, "a robot with wheels")                                                   \
    X(MISSION_VESSEL, "a vessel")                                                              \
    X(MISSION_ARM, "an arm")
/* clang-format on */
enum mission_robot { MISSION_ROBOTS(NAMES_VALUE) MISSION_ROBOT_COUNT };
ENUM_NAMES_DECLARED(mission_robot);

enum mission_input_kind {
    MISSION_INPUT_REPLY,  /* the pair's reply to a command: reply */
    MISSION_INPUT_SAMPLE, /* telemetry of the robot: sample */
    MISSION_INPUT_TICK,   /* next_us() has passed */
    MISSION_INPUT_HALT,   /* somebody halts the robot: its reply to a command will say so */
    MISSION_INPUT_QUIT    /* cancelled: halt the robot, then end with L2_VERDICT_QUIT */
};

struct mission_input {
    enum mission_input_kind kind;
    int64_t t_us;
    const struct event_reply *reply;
    bool unanswered; /* the reply is Tandem's own: no robot answered in time */
    const struct event_telemetry *sample;
};

/* The map on which missions of a pair are planned; borrowed. */
struct mission_place {
    const struct pair_params *p;
    const struct live_map *live; /* NULL: none */
    void *memory;                /* pair_missions_memory(), which holds nothing between calls */
};

struct mission_kind {
    char name[MISSION_KIND_MAX]; /* "SWEEP" */
    const char *help;            /* one sentence */
    enum mission_robot robot;
    size_t plan_bytes, work_bytes; /* <= MISSION_PLAN_BYTES, MISSION_WORK_BYTES */

    /* Reads the message's JSON object text[bytes] into the plan, which is all zero. p: the
     * pair, with its map and its arm. STATUS_E_PARSE: *err says what would be right. */
    enum status (*parse)(const struct mission_kind *kind, const char *text, size_t bytes,
                         const struct pair_params *p, void *plan, struct err *err);

    /* Begins the mission; it ends with MISSION_END, perhaps at once. run: the common part of
     * the ids of its commands. The plan is borrowed until the end. Effects: mission.h; a
     * command with `raw` is sent as it is, else its op and sizes are. */
    void (*begin)(void *work, const void *plan, const char *run, int64_t t_us,
                  mission_sink *sink, void *context);
    void (*step)(void *work, const struct mission_input *input, mission_sink *sink,
                 void *context);
    int64_t (*next_us)(const void *work); /* when it needs a tick; LAB_TIME_MAX: never */
    /* Plan and work lie here from now on; both may have been moved as bytes. */
    void (*rebind)(void *work, void *plan, const struct mission_place *place);

    /* Writes the members that only this kind has: its machines, its stack, its path. */
    void (*report)(const void *work, const void *plan, struct json_writer *w);
};

#define KIND(row) extern const struct mission_kind row;
#include "twin/mission/mission_kinds.def"
#undef KIND
extern const struct mission_kind *const mission_kinds[];
extern const size_t mission_kind_count;

/* Finds a kind by its name; NULL: there is none. */
const struct mission_kind *mission_kind_find(const char *name);

#endif
