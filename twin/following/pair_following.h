/* twin/following/pair_following.h - the simulated robot of a pair follows the real one, by
 * telemetry.
 *
 *     telemetry of both --> following --every period--> effort
 *     lab file, batch fits, sets in force --> parameters of both models
 *
 * Control periods are deadlines of the lab, on a grid of lab time: replay meets the same ones.
 * While nobody is heard there are none. struct pair_following is plain data without pointers in
 * the lab's block; only pairs whose lab file asks for it have one. docs/model/following.md.
 * Pure.
 */
#ifndef TWIN_FOLLOWING_PAIR_FOLLOWING_H
#define TWIN_FOLLOWING_PAIR_FOLLOWING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/dynamics/pair_dynamics.h"
#include "twin/following/fidelity.h"
#include "twin/following/known_parameters.h"
#include "twin/following/shadow.h"
#include "twin/pair/pair_run.h"

/* ---- following, whatever the pair ----
 *
 * Telemetry of both sides in, an effort for the simulated robot out at every control tick; what
 * to do when one of them falls silent, is the state machine `following`:
 *
 *   OFF --wanted--> WAITING --both heard--> TRACKING --real silent--> HOLDING --> STOPPING
 *   --> STOPPED;   back to TRACKING when it is heard again;   LOST while the simulated robot is
 *   silent: no effort is sent blindly.                 (docs/model/following.md)
 * Plain data without pointers. */

/* clang-format off */
#define FOLLOWING_STATES(X)                                                                    \
    X(FOLLOWING_OFF, "OFF")                                                                    \
    X(FOLLOWING_WAITING, "WAITING") /* for telemetry of both */                                \
    X(FOLLOWING_TRACKING, "TRACKING")                                                          \
    X(FOLLOWING_HOLDING, "HOLDING") /* the real robot is silent: its velocity is held */       \
    X(FOLLOWING_STOPPING, "STOPPING") /* for longer: down to a stop */                         \
    X(FOLLOWING_STOPPED, "STOPPED") /* and there it stays */                                   \
    X(FOLLOWING_LOST, "LOST") /* the simulated robot is silent */
/* clang-format on */

enum following_state { FOLLOWING_STATES(NAMES_VALUE) FOLLOWING_STATE_COUNT };

extern const struct efsm_table following_table;

struct following_params {
    struct follower_params follower; /* of the simulated robot */
    struct shadow_params real;       /* what is made of the real robot's telemetry */
    struct shadow_params simulated;  /* and of the simulated one's: to bring it up to now */
    struct fidelity_params fidelity;
};

/* What a tick brought to light, bits. */
enum {
    FOLLOWING_CHANGE_STALE = 1,   /* the real robot fell silent */
    FOLLOWING_CHANGE_LOST = 2,    /* the simulated one did */
    FOLLOWING_CHANGE_RESUMED = 4, /* tracking again after either */
    FOLLOWING_CHANGE_MISSED = 8,  /* fidelity fell below its target */
    FOLLOWING_CHANGE_MET = 16,    /* and is back */
    FOLLOWING_CHANGE_RESET = 32,  /* a motion that was no number began anew */
    FOLLOWING_CHANGE_STUCK = 64   /* these parameters make no effort that is a number */
};

struct following { /* all zero is not valid: following_init() */
    struct efsm machine;
    struct efsm_stats stats;
    bool wanted;   /* somebody switched it on */
    bool driving;  /* an effort was sent at the last tick */
    bool aligned;  /* frame below is valid */
    bool missed;   /* fidelity is below its target */
    bool was_down; /* silent since it last tracked */
    struct follower follower;
    struct shadow real, simulated;
    struct fidelity fidelity;
    /* Pose of the real robot in the simulated one's world: turned, then moved. */
    double frame[MODEL_AXES_MAX];
    int64_t aligned_us; /* lab time of the sample by which they were aligned */
    struct follower_target target;
    struct follower_output output; /* of the last tick */
    uint64_t periods, held;        /* with numbers that are none: the effort before was kept */
    uint32_t held_in_a_row;
    uint64_t resets; /* of both shadows, as told */
};

void following_init(struct following *f, int64_t t_us);

/* Switch on or off. On again after off: poses are aligned anew. */
void following_want(struct following *f, bool wanted);

/* A robot began anew: its pose may be another, and so may its motion. Poses are aligned anew; a
 * simulated robot has forgotten its effort, too. */
void following_restarted(struct following *f, bool real);

/* Telemetry: measured at t_us of lab time, here at arrival_us. tau [axes] of the real robot, or
 * NULL: none told, it counts as zero; pose, as model_pose_count(), or NULL. */
enum shadow_gate following_real(struct following *f, const struct following_params *p,
                                int64_t t_us, int64_t arrival_us, const double *nu,
                                const double *tau, const double *pose);
enum shadow_gate following_simulated(struct following *f, const struct following_params *p,
                                     int64_t t_us, int64_t arrival_us, const double *nu,
                                     const double *pose);

/* Is a pose of this model a place and a heading in the plane? */
bool following_in_plane(const struct model *model);

/* A pose of the real robot as it stands in the simulated one's world; as it is while there is
 * no common place. In the plane it is turned, then moved. */
void following_align(const struct following *f, const struct model *model, const double *pose,
                     double *out);

/* One control period, beginning at now_us. Returns whether f->output.tau is to be sent: while
 * driving, and once more, zero, when that ends. *news is set to what is new. */
bool following_tick(struct following *f, const struct following_params *p, int64_t now_us,
                    unsigned *changes);

/* ---- of a pair, in the lab ---- */

struct pair_following {
    struct following f;
    uint32_t model;   /* model_at() */
    uint64_t version; /* changes with every step of it */
    bool asked;       /* it is wanted; runs when what it needs is known */
    struct follower_gains gains;
    struct known_parameters known;
    char stuck[96];     /* what no effort can be made of; "" */
    char obstacle[240]; /* why it does not run though it is asked for; "" */
    int64_t next_us;    /* control period; LAB_TIME_MAX: none */
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

/* What following needs, from what is known now. */
void pair_following_setup(const struct pair_following *x, const struct pair_following_params *p,
                          struct following_params *out);

/* Would it do what is asked for, with what is known now? STATUS_E_RANGE with err: where is the
 * gain at fault. */
MUST_USE enum status pair_following_check_request(const struct pair_following *x,
                                                  const struct pair_following_params *p,
                                                  const struct event_following *desired,
                                                  struct err *err);

/* ---- the step ---- */

/* The event is telemetry, not overtaken by a later sample. */
void pair_following_sample(struct pair_following *x, const struct pair_run *run);
/* This side's robot started anew. */
void pair_following_restarted(struct pair_following *x, enum side side);
/* Fits may have changed: take the parameters of both robots from where they are best known. d
 * may be NULL. */
void pair_following_learn(struct pair_following *x, const struct pair_following_params *p,
                          const struct pair_dynamics *d);
/* The event is the simulator's answer to the sets in force. */
void pair_following_acknowledged(struct pair_following *x, const struct pair_run *run,
                                 const struct pair_dynamics *d);
/* The event asks to start, to stop, or for other gains. */
void pair_following_request(struct pair_following *x, const struct pair_run *run,
                            const struct pair_dynamics *d);
/* The next control period; LAB_TIME_MAX. */
int64_t pair_following_deadline(const struct pair_following *x);
void pair_following_fire(struct pair_following *x, const struct pair_run *run);

#endif
