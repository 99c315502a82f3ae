/* twin/pair/effect.h - what lab_step() wants done, as data: the shell stores, publishes and
 * sends.
 *
 * Nothing is decided outside the lab; whoever carries effects out may drop them (replay does so
 * with messages to robots). Every pointer is borrowed for the call of emit. Pure.
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
    X(EFFECT_ALARM, "alarm") /* something odd, to be recorded */                               \
    X(EFFECT_COMMAND, "command") /* link mode: send payload to `side`'s command topic */       \
    X(EFFECT_REPLY, "reply") /* link mode: send payload to L1's reply topic */                 \
    /* link mode: tell L1, by payload, that the two replies to a command differ */             \
    X(EFFECT_NOTICE, "notice")                                                                 \
    X(EFFECT_PROBE, "probe") /* send clock probe `probe` to `side` */                          \
    /* enough new moves to publish this pair's calibration again */                            \
    X(EFFECT_CALIBRATION, "calibration")                                                       \
    /* for the history: what the window of moves tells of both sides (side: SIDE_COUNT), or    \
     * the fit of the dynamics of `side` that has just ended */                                \
    X(EFFECT_HISTORY, "history")                                                               \
    /* parameter sets: something was proposed, promoted, refused … */                          \
    X(EFFECT_CHANGE, "change")                                                                 \
    /* send payload to the simulator's parameters topic, retained */                           \
    X(EFFECT_PARAMETERS, "parameters")                                                         \
    /* tell the simulator, by payload, where its robot stands */                               \
    X(EFFECT_POSE, "pose")                                                                     \
    /* begin fit number `job` of the dynamics of `side`, on its frozen window */               \
    X(EFFECT_FIT, "fit")                                                                       \
    /* send payload, an effort, to the simulator's control topic */                            \
    X(EFFECT_CONTROL, "control")                                                               \
    /* publish how truly this pair's simulator follows, again */                               \
    X(EFFECT_FIDELITY, "fidelity")                                                             \
    X(EFFECT_DYNAMICS, "dynamics") /* publish what is known of this pair's dynamics again */   \
    X(EFFECT_LOG, "log") /* record: all - one event of this pair, as it came */                \
    /* of teams, whose numbers follow those of the pairs: what it did, */                      \
    X(EFFECT_TEAM, "team")                                                                     \
    X(EFFECT_RESPONSE, "response") /* and the answer to a request of a robot's own controller */\
    X(EFFECT_RESULT, "result") /* how long it took, all in all */
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
    uint32_t pair; /* index in the lab; behind the pairs come the teams */
    int64_t t_us;
    enum side side;
    uint64_t n; /* EFFECT_LOG, EFFECT_HISTORY: number in its pair, rising */
    /* To a robot whose codec remembers: what is to be sent instead of payload. NULL: as the
     * codec puts it. */
    const struct codec_message *message;
    union {
        const struct entry *entry;
        const struct alarm *alarm;
        const struct parameter_change *change;
        struct {
            const char *text; /* [bytes] JSON */
            size_t bytes;
            /* EFFECT_REPLY: to which command, "" to one without id; what it says; who said it,
             * SIDE_COUNT: Tandem itself. */
            const char *id;
            enum reply_status status;
            enum side from;
        } payload;
        int64_t probe;
        uint32_t job;
        const struct event *event;
        struct {
            const struct team_effect *effect;
            uint64_t n; /* of this team, rising from 1 */
        } team;
        const struct team_live_answer *response;
        struct {
            const struct team_live_result *what;
            const struct team_live_job *job; /* whose it is; NULL: of a whole course */
        } result;
    };
};

struct effects {
    void (*emit)(void *context, const struct effect *effect);
    void *context;
};

#endif
