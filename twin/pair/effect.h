/* twin/pair/effect.h - effects: what lab_step() wants done, as data. The shell stores,
 * publishes and sends.
 *
 * No decisions are made outside the lab. The executor may drop effects (a replay drops messages
 * to robots). Every pointer is borrowed for the call of emit. Pure.
 */
#ifndef TWIN_PAIR_EFFECT_H
#define TWIN_PAIR_EFFECT_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "logger/message/record.h"

/* clang-format off */
#define EFFECT_KINDS(X)                                                                        \
    X(EFFECT_ENTRY, "entry") /* a command was closed */                                        \
    X(EFFECT_ALARM, "alarm") /* an alarm to be recorded */                                     \
    X(EFFECT_COMMAND, "command") /* link mode: send payload to `side`'s command topic */       \
    X(EFFECT_REPLY, "reply") /* link mode: send payload to L1's reply topic */                 \
    /* link mode: notify L1, with payload, that the two replies to a command differ */         \
    X(EFFECT_NOTICE, "notice")                                                                 \
    X(EFFECT_PROBE, "probe") /* send clock probe `probe` to `side` */                          \
    /* publish this pair's calibration, because there are enough new moves */                  \
    X(EFFECT_CALIBRATION, "calibration")                                                       \
    /* a fit for the record over time: of the moves in the window, both sides (SIDE_COUNT),    \
     * or the fit of the dynamics of `side` that has just ended */                             \
    X(EFFECT_HISTORY, "history")                                                               \
    /* a change of parameter sets: something was proposed, promoted, refused … */              \
    X(EFFECT_CHANGE, "change")                                                                 \
    /* send payload to the simulator's parameters topic, retained */                           \
    X(EFFECT_PARAMETERS, "parameters")                                                         \
    /* send payload, the pose of its robot, to the simulator */                                \
    X(EFFECT_POSE, "pose")                                                                     \
    /* start fit number `job` of the dynamics of `side`, on its frozen window */               \
    X(EFFECT_FIT, "fit")                                                                       \
    /* send payload, an effort, to the control topic of `side` */                              \
    X(EFFECT_CONTROL, "control")                                                               \
    /* publish payload: when the command under way will be done */                             \
    X(EFFECT_ETA, "eta")                                                                       \
    /* publish this pair's fidelity of following */                                            \
    X(EFFECT_FIDELITY, "fidelity")                                                             \
    X(EFFECT_DYNAMICS, "dynamics") /* publish the identified dynamics of this pair */          \
    /* publish payload: the state of a mission, and what it has just done */                   \
    X(EFFECT_MISSION, "mission")                                                               \
    X(EFFECT_LOG, "log") /* record: all - one event of this pair, unchanged */                 \
    /* teams, whose numbers follow those of the pairs: an effect of the team, */               \
    X(EFFECT_TEAM, "team")                                                                     \
    X(EFFECT_RESPONSE, "response") /* the answer to a request of a robot's own controller, */  \
    X(EFFECT_RESULT, "result") /* and the duration of a job or course */
/* clang-format on */

enum effect_kind { EFFECT_KINDS(NAMES_VALUE) EFFECT_KIND_COUNT };

struct codec_message;    /* logger/message/codec.h */
struct parameter_change; /* twin/pair/parameters.h */
struct team_effect;      /* twin/team/step/team.h */
struct team_live_answer; /* twin/team/live/team_live.h */
struct team_live_result;
struct team_live_job;

struct effect {
    enum effect_kind kind;
    uint32_t pair; /* index in the lab: pairs, then teams */
    int64_t t_us;
    enum side side;
    uint64_t n; /* EFFECT_LOG, EFFECT_HISTORY: number within the pair, rising */
    /* For a robot whose codec has a state: sent instead of payload. NULL: the codec encodes
     * payload. */
    const struct codec_message *message;
    union {
        const struct entry *entry;
        const struct alarm *alarm;
        const struct parameter_change *change;
        struct {
            const char *text; /* [bytes] JSON */
            size_t bytes;
            /* EFFECT_REPLY: id of the command, "" for one without id; status; side that
             * replied, SIDE_COUNT: Tandem itself. */
            const char *id;
            enum reply_status status;
            enum side from;
        } payload;
        int64_t probe;
        uint32_t job;
        const struct event *event;
        struct {
            const struct team_effect *effect;
            uint64_t n; /* number within the team, rising from 1 */
        } team;
        const struct team_live_answer *response;
        struct {
            const struct team_live_result *what;
            const struct team_live_job *job; /* the job; NULL: a whole course */
        } result;
    };
};

struct effects {
    void (*emit)(void *context, const struct effect *effect);
    void *context;
};

#endif
