/* twin/following/pair_following.h - the simulated robot of a pair follows the real one, by
 * telemetry.
 *
 *     telemetry of both --> following (twin/control) --every period--> effort
 *     lab file, batch fits, sets in force --> parameters of both models
 *
 * Control periods are deadlines of the lab, on a grid of lab time: replay meets the same ones.
 * While nobody is heard there are none. struct pair_following is plain data without pointers in
 * the lab's block; only pairs whose lab file asks for it have one. docs/model/following.md,
 * section 7. Pure.
 */
#ifndef TWIN_FOLLOWING_PAIR_FOLLOWING_H
#define TWIN_FOLLOWING_PAIR_FOLLOWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/names.h"
#include "logger/message/event.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/following.h"
#include "twin/pair/pair_run.h"

/* Where the parameters of a model come from; later ones go before. */
enum following_source {
    FOLLOWING_NOWHERE,
    FOLLOWING_LAB_FILE,
    FOLLOWING_FIT, /* the last batch fit of that side that did not fail */
    FOLLOWING_SET  /* what the simulator was told (virtual robot only) */
};

struct pair_following {
    struct following f;
    uint32_t model;   /* model_at() */
    uint64_t version; /* changes with every step of it */
    bool asked;       /* it is wanted; runs when what it needs is known */
    struct follower_gains gains;
    double theta[SIDE_COUNT][MODEL_PARAMETERS_MAX];
    uint8_t source[SIDE_COUNT]; /* enum following_source */
    char obstacle[160];         /* why it does not run though it is asked for; "" */
    int64_t next_us;            /* control period; LAB_TIME_MAX: none */
    int64_t published_us;
    int64_t stepped_us; /* the last sample or control period; LAB_TIME_NONE: none yet */
    uint64_t sent;      /* efforts */
    uint64_t hash;      /* of them all, one after the other */
    uint64_t stale, lost, resumed, missed; /* times */
};

/* Bytes of a pair's block; 0 when it does not follow. */
size_t pair_following_bytes(const struct pair_following_params *p);

/* x: that many bytes, aligned. */
void pair_following_init(struct pair_following *x, const struct pair_following_params *p);

const struct model *pair_following_model(const struct pair_following *x);

/* What twin/control needs, from what is known now. */
void pair_following_setup(const struct pair_following *x, const struct pair_following_params *p,
                          struct following_params *out);

/* Would it do what is asked for, with what is known now? STATUS_E_RANGE with err: where is the
 * gain at fault. */
MUST_USE enum status pair_following_check_wish(const struct pair_following *x,
                                               const struct pair_following_params *p,
                                               const struct event_following *wish,
                                               struct err *err);

/* ---- the step ---- */

/* The event is telemetry, not overtaken by a later sample. */
void pair_following_sample(struct pair_following *x, const struct pair_run *run);
/* This side's robot started anew. */
void pair_following_restarted(struct pair_following *x, enum side side);
/* Fits or sets have changed: take the parameters of both robots from where they are best known;
 * d NULL: from the lab file. */
void pair_following_learn(struct pair_following *x, const struct pair_following_params *p,
                          const struct pair_dynamics *d);
/* The event asks to start, to stop, or for other gains. */
void pair_following_request(struct pair_following *x, const struct pair_run *run,
                            const struct pair_dynamics *d);
/* The next control period; LAB_TIME_MAX. */
int64_t pair_following_deadline(const struct pair_following *x);
void pair_following_fire(struct pair_following *x, const struct pair_run *run);

extern const struct names following_source_names;
const char *
following_source_name(enum following_source source); /* "unknown", "lab_file", "fit", "set" */

#endif
