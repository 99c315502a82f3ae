/* twin/following/following.h - the simulated robot of a pair follows the real one, live.
 *
 * Telemetry of both sides in, an effort for the simulated robot out at every control tick; what
 * to do when one of them falls silent, is the state machine `following`:
 *
 *   OFF --wanted--> WAITING --both heard--> TRACKING --real silent--> HOLDING --> STOPPING
 *   --> STOPPED;   back to TRACKING when it is heard again;   LOST while the simulated robot is
 *   silent: no effort is sent blindly.                 (docs/model/following.md, section 6)
 *
 * Plain data without pointers. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_FOLLOWING_FOLLOWING_H
#define TWIN_FOLLOWING_FOLLOWING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/names.h"
#include "twin/efsm/efsm.h"
#include "twin/following/fidelity.h"
#include "twin/following/follower.h"
#include "twin/following/shadow.h"

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
    FOLLOWING_NEWS_STALE = 1,   /* the real robot fell silent */
    FOLLOWING_NEWS_LOST = 2,    /* the simulated one did */
    FOLLOWING_NEWS_RESUMED = 4, /* tracking again after either */
    FOLLOWING_NEWS_MISSED = 8,  /* fidelity fell below its target */
    FOLLOWING_NEWS_MET = 16     /* and is back */
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
    struct follower_target target;
    struct follower_output output; /* of the last tick */
    uint64_t ticks, held;          /* with numbers that are none: the effort before was kept */
};

void following_init(struct following *f, int64_t t_us);

/* Switch on or off. On again after off: poses are aligned anew. */
void following_want(struct following *f, bool wanted);

/* A robot began anew: its pose may be another, and so may its motion. Poses are aligned anew; a
 * simulated robot has forgotten its effort, too. */
void following_restarted(struct following *f, bool real);

/* Telemetry: measured at t_us of lab time, here at arrival_us. tau [axes] of the real robot, or
 * NULL: none told, it counts as zero; pose [axes] or NULL. */
enum shadow_gate following_real(struct following *f, const struct following_params *p,
                                int64_t t_us, int64_t arrival_us, const double *nu,
                                const double *tau, const double *pose);
enum shadow_gate following_simulated(struct following *f, const struct following_params *p,
                                     int64_t t_us, int64_t arrival_us, const double *nu,
                                     const double *pose);

/* One control period, beginning at now_us. Returns whether f->output.tau is to be sent: while
 * driving, and once more, zero, when that ends. *news is set to what is new. */
bool following_tick(struct following *f, const struct following_params *p, int64_t now_us,
                    unsigned *news);

#endif
