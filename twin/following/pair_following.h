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
#include "twin/following/following.h"

enum { FOLLOWING_NAME_MAX = 24, FOLLOWING_TEXT_MAX = 256 };

/* Where the parameters of a model come from; later ones go before. */
enum following_source {
    FOLLOWING_NOWHERE,
    FOLLOWING_LAB_FILE,
    FOLLOWING_FIT, /* the last batch fit of that side that did not fail */
    FOLLOWING_SET  /* what the simulator was told (virtual robot only) */
};

struct pair_following_params {
    char model[FOLLOWING_NAME_MAX]; /* of twin/models/model.h; "": the pair does not follow */
    bool active;                    /* from the start; else when asked */
    uint8_t method;                 /* enum shadow_method */
    double rate_hz;                 /* 1 .. 1000 */
    uint8_t rejection;              /* enum follower_rejection */
    double bandwidth_radps, observer_radps, pose_per_s2, blend_s;
    char vessel[FOLLOWING_NAME_MAX]; /* whose thrusters push the simulated robot; "": none */
    char limits[FOLLOWING_TEXT_MAX]; /* "180, 0, 120": of each effort, 0 cannot be pushed */
    char noise[FOLLOWING_TEXT_MAX];  /* "0.03, 0.01": sd of each measured velocity */
    /* "wamv", "iacquabot" or "d1=124.6, d2=…"; "": to be identified. */
    char real[FOLLOWING_TEXT_MAX], simulated[FOLLOWING_TEXT_MAX];
    int64_t stale_us, hold_us, ramp_us, latency_us;
    double target_m, target_ratio;
    int64_t target_us, window_us;
    /* Made of the texts by pair_following_parse(). */
    struct allocation allocation;
    double noise_sd[MODEL_AXES_MAX];
    bool known[SIDE_COUNT]; /* theta is given */
    double theta[SIDE_COUNT][MODEL_PARAMETERS_MAX];
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

void pair_following_params_default(struct pair_following_params *p);

static inline bool pair_following_wanted(const struct pair_following_params *p)
{
    return p->model[0] != '\0';
}

/* Read the texts and check the gains. STATUS_E_RANGE with err: where is the key ("limits"). */
MUST_USE enum status pair_following_parse(struct pair_following_params *p, struct err *err);

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

extern const struct names following_source_names;
const char *
following_source_name(enum following_source source); /* "unknown", "lab_file", "fit", "set" */

#endif
