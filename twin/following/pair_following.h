/* twin/following/pair_following.h - following: the simulated robot of a pair is driven after
 * the real one, by telemetry.
 *
 *   telemetry of both --> following --every period--> effort
 *   lab file, batch fits, sets in force --> parameters of both models
 *
 * Control periods are deadlines of the lab on a grid of lab time, so a replay has the same
 * ones. There are none while no telemetry arrives. struct pair_following is plain data without
 * pointers in the lab's block; only pairs whose lab file asks for it have one.
 * docs/model/following.md. Pure.
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

/* ---- following, independent of the pair ----
 *
 * Input is telemetry of both sides, output an effort for the simulated robot at every control
 * tick. The state machine `following` handles silence of either robot:
 *
 *   OFF --wanted--> WAITING --both send--> TRACKING --real silent--> HOLDING --> STOPPING
 *   --> STOPPED;   back to TRACKING when it sends again;   LOST while the simulated robot is
 *   silent, because no effort is sent blindly.          (docs/model/following.md)
 *
 * Plain data without pointers. */

/* clang-format off */
#define FOLLOWING_STATES(X)                                                                    \
    X(FOLLOWING_OFF, "OFF")                                                                    \
    X(FOLLOWING_WAITING, "WAITING") /* waits for telemetry of both */                          \
    X(FOLLOWING_TRACKING, "TRACKING")                                                          \
    X(FOLLOWING_HOLDING, "HOLDING") /* the real robot is silent: its velocity is held */       \
    X(FOLLOWING_STOPPING, "STOPPING") /* silent for longer: ramp down to a stop */             \
    X(FOLLOWING_STOPPED, "STOPPED") /* and at rest */                                          \
    X(FOLLOWING_LOST, "LOST") /* the simulated robot is silent */
/* clang-format on */

enum following_state { FOLLOWING_STATES(NAMES_VALUE) FOLLOWING_STATE_COUNT };

extern const struct efsm_table following_table;

struct following_params {
    struct follower_params follower; /* controller of the simulated robot */
    struct shadow_params real;       /* processing of the real robot's telemetry */
    struct shadow_params simulated;  /* and of the simulated one's, to predict it to now */
    struct fidelity_params fidelity;
};

/* Changes found by a tick, as bits. */
enum {
    FOLLOWING_CHANGE_STALE = 1,   /* the real robot fell silent */
    FOLLOWING_CHANGE_LOST = 2,    /* the simulated one fell silent */
    FOLLOWING_CHANGE_RESUMED = 4, /* tracking again after either */
    FOLLOWING_CHANGE_MISSED = 8,  /* fidelity fell below its target */
    FOLLOWING_CHANGE_MET = 16,    /* fidelity has recovered */
    FOLLOWING_CHANGE_RESET = 32,  /* a motion was not finite and was reset */
    FOLLOWING_CHANGE_STUCK = 64   /* these parameters give no finite effort */
};

struct following { /* Starts with following_init(), not all zero. */
    struct efsm machine;
    struct efsm_stats stats;
    bool wanted;   /* it is switched on */
    bool driving;  /* an effort was sent at the last tick */
    bool aligned;  /* frame below is valid */
    bool missed;   /* fidelity is below its target */
    bool was_down; /* silent since it last tracked */
    struct follower follower;
    struct shadow real, simulated;
    struct fidelity fidelity;
    /* Pose transform into the simulated robot's world: turn, then shift. */
    double frame[MODEL_AXES_MAX];
    int64_t aligned_us; /* lab time of the sample used for alignment */
    struct follower_target target;
    struct follower_output output; /* of the last tick */
    uint64_t periods, held;        /* held: periods without a finite effort */
    uint32_t held_in_a_row;
    uint64_t resets; /* resets of both shadows already reported */
};

void following_init(struct following *f, int64_t t_us);

/* Switches it on or off. Switching on again aligns the poses again. */
void following_want(struct following *f, bool wanted);

/* A robot has restarted: its pose and motion may differ, so poses are aligned again. A
 * simulated robot has also lost its effort. */
void following_restarted(struct following *f, bool real);

/* Adds telemetry: measured at t_us of lab time, received at arrival_us. tau [axes] of the real
 * robot, or NULL: counts as zero; pose, model_pose_count() numbers, or NULL. */
enum shadow_gate following_real(struct following *f, const struct following_params *p,
                                int64_t t_us, int64_t arrival_us, const double *nu,
                                const double *tau, const double *pose);
enum shadow_gate following_simulated(struct following *f, const struct following_params *p,
                                     int64_t t_us, int64_t arrival_us, const double *nu,
                                     const double *pose);

/* Does a pose of this model consist of a place and a heading in the plane? */
bool following_in_plane(const struct model *model);

/* Transforms a pose of the real robot into the simulated one's world; unchanged while they are
 * not aligned. In the plane it is turned, then shifted. */
void following_align(const struct following *f, const struct model *model, const double *pose,
                     double *out);

/* Runs one control period from now_us. Returns whether f->output.tau must be sent: while
 * driving, and once more, as zero, at its end. *news receives the changes. */
bool following_tick(struct following *f, const struct following_params *p, int64_t now_us,
                    unsigned *changes);

/* ---- of a pair, in the lab ---- */

struct pair_following {
    struct following f;
    uint32_t model;   /* index for model_at() */
    uint64_t version; /* changes with every step */
    bool asked;       /* requested; it runs when its needs are known */
    struct follower_gains gains;
    struct known_parameters known;
    char stuck[96];     /* reason why no effort can be computed; "" */
    char obstacle[240]; /* reason why it does not run although requested; "" */
    int64_t next_us;    /* next control period; LAB_TIME_MAX: none */
    int64_t published_us;
    int64_t stepped_us; /* last sample or control period; LAB_TIME_NONE: none yet */
    uint64_t sent;      /* number of sent efforts */
    uint64_t hash;      /* hash over all of them */
    uint64_t stale, lost, resumed, missed; /* counts */
};

/* Size of a pair's block; 0 without following. */
size_t pair_following_bytes(const struct pair_following_params *p);

/* x: pair_following_bytes(p) bytes, aligned. */
void pair_following_init(struct pair_following *x, const struct pair_following_params *p);

const struct model *pair_following_model(const struct pair_following *x);

/* Computes the parameters of following from what is known now. */
void pair_following_setup(const struct pair_following *x, const struct pair_following_params *p,
                          struct following_params *out);

/* Checks a request with what is known now. STATUS_E_RANGE with err: where is the invalid
 * gain. */
MUST_USE enum status pair_following_check_request(const struct pair_following *x,
                                                  const struct pair_following_params *p,
                                                  const struct event_following *desired,
                                                  struct err *err);

/* ---- the step ---- */

/* Applies telemetry that is not overtaken by a later sample. */
void pair_following_sample(struct pair_following *x, const struct pair_run *run);
/* Call it when this side's robot has restarted. */
void pair_following_restarted(struct pair_following *x, enum side side);
/* Call it after fits: finds the best known parameters of both robots. d may be NULL. */
void pair_following_learn(struct pair_following *x, const struct pair_following_params *p,
                          const struct pair_dynamics *d);
/* Applies the simulator's answer to the sets in force. */
void pair_following_acknowledged(struct pair_following *x, const struct pair_run *run,
                                 const struct pair_dynamics *d);
/* Applies a request to start, stop, or change gains. */
void pair_following_request(struct pair_following *x, const struct pair_run *run,
                            const struct pair_dynamics *d);
/* Returns the next control period; LAB_TIME_MAX: none. */
int64_t pair_following_deadline(const struct pair_following *x);
void pair_following_fire(struct pair_following *x, const struct pair_run *run);

#endif
