/* twin/sim/robot/mission.h - a running mission: owns L2 and L1, knows path and pose, plans
 * routes.
 *
 * Inputs are start and quit by the user, replies of the robot, and time. Outputs go to a sink:
 * commands to the robot, messages, the end. docs/model/missions.md. Plain data except the plan,
 * which is borrowed. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_SIM_ROBOT_MISSION_H
#define TWIN_SIM_ROBOT_MISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/map/live_map.h"
#include "twin/sim/robot/layers.h"
#include "twin/sim/robot/map_route.h"
#include "twin/sim/robot/route.h"
#include "twin/sim/robot/world.h"

enum {
    MISSION_STEPS_MAX = 64,
    MISSION_POINTS_MAX = 512,
    MISSION_LEGS_MAX = 128, /* points per path */
    MISSION_ARCS_MAX = 48,
    MISSION_RUN_MAX = 41, /* bytes of the common part of ids with its NUL */
    MISSION_TEXT_MAX = 256
};

struct mission_step {
    enum l2_step kind; /* not NONE */
    uint16_t first;    /* its points in points[] */
    uint16_t count;    /* a path: 1 .. MISSION_LEGS_MAX; a goal: 1; a sweep: 0 */
};

enum mission_return { MISSION_RETURN_NEVER, MISSION_RETURN_ON_FAILURE, MISSION_RETURN_ALWAYS };

struct mission_plan {
    struct world map;            /* routes avoid mapped obstacles */
    bool on_cells, on_live;      /* routes are planned on a map of cells, or a live one, */
    const struct costmap *cells; /* which is borrowed; NULL: none, or a live one */
    const struct live_map *live;
    const struct live_map_params *live_params;
    enum side side;  /* whose poses come in replies */
    void *memory;    /* borrowed for the length of a call: the live map's costmap, a search */
    double start[3]; /* x_m, y_m, psi_rad; also the place of return */
    bool locates;    /* the start is unknown, so the robot is asked for its pose first */
    double clearance_m;          /* > 0: distance of planned routes from obstacles */
    double obstacle_m;           /* assumed radius of an unmapped obstacle */
    double arrival_m;            /* a closer point needs no leg */
    bool reckoned;               /* ignore the pose in replies */
    enum mission_return returns; /* return to the start */
    int64_t patience_us;         /* per command */
    unsigned tries_max;          /* per ignored command */
    unsigned routes_max;         /* per goal */
    unsigned rays_max;           /* per sweep */
    size_t step_count, point_count;
    struct mission_step steps[MISSION_STEPS_MAX];
    struct world_point points[MISSION_POINTS_MAX];
};

enum mission_effect_kind {
    MISSION_COMMAND,
    MISSION_ANSWER,
    MISSION_MESSAGE,
    MISSION_STACK,  /* L2 has pushed or popped a plan */
    MISSION_EFFORT, /* to be applied from now on */
    MISSION_END
};
enum mission_level { MISSION_ACK, MISSION_WARNING, MISSION_ERROR };

/* Why a mission failed. */
/* clang-format off */
#define MISSION_CODES(X)                                                                       \
    X(MISSION_CODE_NONE, "")                                                                   \
    X(MISSION_BLOCKED, "blocked")           /* an obstacle, and no other route */              \
    X(MISSION_HALTED, "halted")             /* somebody halted the robot */                    \
    X(MISSION_IGNORED, "ignored")           /* the robot ignored a command too often */        \
    X(MISSION_ROBOT_ERROR, "robot_error")   /* the robot replied error, or what has no place */ \
    X(MISSION_NO_REPLY, "no_reply")         /* within the patience */                          \
    X(MISSION_TOO_MANY_RAYS, "too_many_rays")                                                  \
    X(MISSION_GOAL_BLOCKED, "goal_blocked") /* the goal lies in or too near to an obstacle */  \
    X(MISSION_NO_ROUTE, "no_route")                                                            \
    X(MISSION_MACHINE_FAULT, "machine_fault") /* of L1 or L2 */                                \
    X(MISSION_OFF_COURSE, "off_course")       /* a vessel, too far from its course */          \
    X(MISSION_NO_WAY, "no_way")               /* it made none within the patience */           \
    X(MISSION_NO_TELEMETRY, "no_telemetry")   /* or it came too seldom to steer */             \
    X(MISSION_INTERRUPTED, "interrupted")   /* the daemon started again */
/* clang-format on */
enum mission_code { MISSION_CODES(NAMES_VALUE) MISSION_CODE_COUNT };

struct mission_effect {
    enum mission_effect_kind kind;
    int64_t t_us;
    unsigned step; /* 1-based; 0: none running; above the count: on the way home */
    struct event_command command; /* COMMAND: id, op, sizes */
    const double *effort;         /* EFFORT: [effort_count], borrowed for the call */
    size_t effort_count;
    double pose[3]; /* ANSWER: the robot's pose after this reply */
    unsigned layer; /* MESSAGE: 1 or 2 */
    enum mission_level level;
    const char *text;        /* MESSAGE: with explaining data; borrowed for the call */
    enum l2_verdict verdict; /* END */
    enum mission_code code;  /* END, if it failed */
};

/* Why a reply other than `done` ends a mission. */
enum mission_code mission_code_of(enum reply_status status);

typedef void mission_sink(void *context, const struct mission_effect *effect);

struct mission {
    const struct mission_plan *plan; /* borrowed */
    struct efsm l1, l2;
    struct efsm_stats l1_stats, l2_stats;
    struct efsm_trace trace;
    uint32_t l1_arcs[MISSION_ARCS_MAX],
        l2_arcs[MISSION_ARCS_MAX]; /* how often each arc fired */
    char run[MISSION_RUN_MAX];
    uint32_t command_count;
    char id[EVENT_ID_MAX]; /* last command; "" when no reply is expected */
    double home[3];
    double target[3]; /* expected pose after the last go */
    double pose[3];
    struct world map; /* plus obstacles found on the way */
    struct world_point legs[MISSION_LEGS_MAX];
    size_t leg_count;
    struct route route;
    enum status routed;       /* result of the last route request */
    enum reply_status status; /* of the last reply */
    double range_m;           /* of the last reply, NaN if absent */
    uint32_t obstacles_found, stray_count, fault_count;
    bool unanswered;        /* the reply in work is Tandem's own: no robot answered in time */
    bool blocked;           /* the last failure was an obstacle */
    enum mission_code code; /* of the last failure */
    uint8_t depth;          /* of L2's stack, as reported */
};

/* Bytes that a live map takes of plan->memory, before the search on it. */
static inline size_t mission_costmap_bytes(const struct live_map_params *p)
{
    return (live_map_costmap_bytes(p) + 63) / 64 * 64;
}

/* Prepares a mission: machines idle, robot at the start. run: the common part of all command
 * ids. */
void mission_init(struct mission *m, const struct mission_plan *plan, const char *run,
                  int64_t t_us);

/* The four inputs; each may emit effects. */
void mission_start(struct mission *m, int64_t t_us, mission_sink *sink, void *context);
void mission_quit(struct mission *m, int64_t t_us, mission_sink *sink, void *context);
void mission_reply(struct mission *m, const struct event_reply *reply, int64_t t_us,
                   mission_sink *sink, void *context);
void mission_tick(struct mission *m, int64_t t_us, mission_sink *sink, void *context);

/* Returns the deadline of the robot's reply; LAB_TIME_MAX if none is expected. */
int64_t mission_next_us(const struct mission *m);

extern const struct names mission_return_names; /* "never", "failure", "always" */
extern const struct names mission_pose_names;   /* "robot", "reckoned" */
ENUM_NAMES_DECLARED(mission_code);
ENUM_NAMES_DECLARED(mission_level); /* "ack", "warning", "error" */

#endif
