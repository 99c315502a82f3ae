/* twin/sim/robot/mission.h - a mission in work: owns L2 and L1, knows path and pose, plans routes.
 *
 * The user starts and quits it, replies of the robot and the time come in; commands of the
 * robot, messages and the end come out through a sink. docs/model/missions.md. Plain data but
 * for the plan, which is borrowed. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_SIM_ROBOT_MISSION_H
#define TWIN_SIM_ROBOT_MISSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/sim/robot/layers.h"
#include "twin/sim/robot/route.h"
#include "twin/sim/robot/world.h"

enum {
    MISSION_STEPS_MAX = 64,
    MISSION_POINTS_MAX = 512,
    MISSION_LEGS_MAX = 128, /* points of one path */
    MISSION_ARCS_MAX = 48,
    MISSION_RUN_MAX = 24, /* bytes of the ids' common part with its NUL */
    MISSION_TEXT_MAX = 256
};

struct mission_step {
    enum l2_step kind; /* not NONE */
    uint16_t first;    /* of its points in points[] */
    uint16_t count;    /* a path: 1 .. MISSION_LEGS_MAX; a goal: 1; a sweep: 0 */
};

enum mission_return { MISSION_RETURN_NEVER, MISSION_RETURN_ON_FAILURE, MISSION_RETURN_ALWAYS };

struct mission_plan {
    struct world map;   /* mapped obstacles are planned around */
    double start[3];    /* x_m, y_m, psi_rad; where it returns to */
    bool locates;       /* the start is not known: the robot is asked for its pose first */
    double clearance_m; /* > 0: planned ways keep so far off */
    double obstacle_m;  /* radius that an unmapped obstacle is believed to have */
    double arrival_m;   /* a point so near needs no leg */
    bool reckoned;      /* do not believe the pose in replies */
    enum mission_return returns; /* to the start */
    int64_t patience_us;         /* with one command */
    unsigned tries_max;          /* of a command that is ignored */
    unsigned routes_max;         /* per goal */
    unsigned rays_max;           /* of a sweep */
    size_t step_count, point_count;
    struct mission_step steps[MISSION_STEPS_MAX];
    struct world_point points[MISSION_POINTS_MAX];
};

enum mission_effect_kind { MISSION_COMMAND, MISSION_ANSWER, MISSION_MESSAGE, MISSION_END };
enum mission_level { MISSION_ACK, MISSION_WARNING, MISSION_ERROR };

struct mission_effect {
    enum mission_effect_kind kind;
    int64_t t_us;
    unsigned step; /* 1-based; 0: none in work; above the count: on the way home */
    struct event_command command; /* COMMAND: id, op, sizes */
    double pose[3];               /* ANSWER: of the robot, after the reply that just came */
    unsigned layer;               /* MESSAGE: 1 or 2 */
    enum mission_level level;
    const char *text;        /* MESSAGE: with the data that explain it; borrowed for the call */
    enum l2_verdict verdict; /* END */
};

typedef void mission_sink(void *context, const struct mission_effect *effect);

struct mission {
    const struct mission_plan *plan; /* borrowed */
    struct efsm l1, l2;
    struct efsm_stats l1_stats, l2_stats;
    struct efsm_trace trace;
    uint32_t l1_arcs[MISSION_ARCS_MAX], l2_arcs[MISSION_ARCS_MAX]; /* how often each fired */
    char run[MISSION_RUN_MAX];
    uint32_t command_count;
    char id[EVENT_ID_MAX]; /* of the last command; "" when no reply is awaited */
    double home[3];
    double target[3]; /* pose after the last go, if all goes well */
    double pose[3];
    struct world map; /* with what was found on the way */
    struct world_point legs[MISSION_LEGS_MAX];
    size_t leg_count;
    struct route route;
    enum status routed;       /* of the last route that was asked for */
    enum reply_status status; /* of the last reply */
    double range_m;           /* in it, NaN when there was none */
    uint32_t obstacles_found, stray_count, fault_count;
    bool blocked; /* the last failure was an obstacle */
};

/* Prepare: machines idle, robot at the start. run: the common part of all command ids. */
void mission_init(struct mission *m, const struct mission_plan *plan, const char *run,
                  int64_t t_us);

/* Four things that happen; each may emit effects. */
void mission_start(struct mission *m, int64_t t_us, mission_sink *sink, void *context);
void mission_quit(struct mission *m, int64_t t_us, mission_sink *sink, void *context);
void mission_reply(struct mission *m, const struct event_reply *reply, int64_t t_us,
                   mission_sink *sink, void *context);
void mission_tick(struct mission *m, int64_t t_us, mission_sink *sink, void *context);

/* The number of this name in a reply; NaN when there is none. */
double mission_reply_value(const struct event_reply *reply, const char *name);

/* When patience with the robot ends; LAB_TIME_MAX when nothing is awaited. */
int64_t mission_next_us(const struct mission *m);

extern const struct names mission_level_names;
const char *mission_level_name(enum mission_level value); /* "ack", "warning", "error" */

#endif
