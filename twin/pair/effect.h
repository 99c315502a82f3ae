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

#include "logger/message/event.h"
#include "logger/message/record.h"

enum effect_kind {
    EFFECT_ENTRY,       /* a command was closed */
    EFFECT_ALARM,       /* something odd, to be recorded */
    EFFECT_COMMAND,     /* link mode: send payload to `side`'s command topic */
    EFFECT_REPLY,       /* link mode: send payload to L1's reply topic */
    EFFECT_PROBE,       /* send clock probe `probe` to `side` */
    EFFECT_CALIBRATION, /* enough new moves to publish this pair's calibration again */
    EFFECT_CHANGE,      /* parameter sets: something was proposed, promoted, refused … */
    EFFECT_PARAMETERS,  /* send payload to the simulator's parameters topic, retained */
    EFFECT_FIT,     /* begin fit number `job` of the dynamics of `side`, on its frozen window */
    EFFECT_CONTROL, /* send payload, an effort, to the simulator's control topic */
    EFFECT_FIDELITY, /* publish how truly this pair's simulator follows, again */
    EFFECT_DYNAMICS, /* publish what is known of this pair's dynamics again */
    EFFECT_LOG,      /* record: all - one event of this pair, as it came */
    EFFECT_KIND_COUNT
};

struct parameter_change; /* twin/pair/parameters.h */

struct effect {
    enum effect_kind kind;
    uint32_t pair; /* index in the lab */
    int64_t t_us;
    enum side side;
    uint64_t n; /* EFFECT_LOG: number of the event in its pair, rising */
    union {
        const struct entry *entry;
        const struct alarm *alarm;
        const struct parameter_change *change;
        struct {
            const char *text; /* [bytes] JSON */
            size_t bytes;
        } payload;
        int64_t probe;
        uint32_t job;
        const struct event *event;
    };
};

struct effects {
    void (*emit)(void *context, const struct effect *effect);
    void *context;
};

#endif
