/* twin/map/sweep_collector.h - whole sweeps of a robot's lidar from the events of a lab.
 *
 * A ray is a reply `data` with an angle and a range among its values. A sweep goes from the
 * first ray to the next reply `done` (docs/model/diffdrive.md, "A sweep"). The robot's pose is
 * that of its telemetry, or of the values x_m, y_m and yaw_rad or psi_rad of its replies. A
 * sweep counts if the robot was at rest: the poses that it stated from the first ray to `done`
 * are the same.
 *
 * Pure; no allocation; one thread.
 */
#ifndef TWIN_MAP_SWEEP_COLLECTOR_H
#define TWIN_MAP_SWEEP_COLLECTOR_H

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/map/grid.h"

/* Why a sweep is refused. */
#define SWEEP_REFUSALS(X)                                                                      \
    X(SWEEP_MOTION, "motion in it")                                                            \
    X(SWEEP_NO_POSE, "no pose")                                                                \
    X(SWEEP_CUT_OFF, "cut off") /* another command, halt, fault or end of the recording */     \
    X(SWEEP_TOO_LONG, "more than 720 rays")

enum sweep_refusal { SWEEP_REFUSALS(NAMES_VALUE) SWEEP_REFUSAL_COUNT };
ENUM_NAMES_DECLARED(sweep_refusal);

/* Messages that state the robot's pose. */
enum sweep_pose { SWEEP_POSE_BOTH, SWEEP_POSE_TELEMETRY, SWEEP_POSE_REPLIES, SWEEP_POSE_COUNT };

enum { SWEEP_NAME_MAX = 24 };

struct sweep_source {
    char angle[SWEEP_NAME_MAX], range[SWEEP_NAME_MAX]; /* names of a ray's values: rad, m */
    enum sweep_pose pose;
};

struct sweep_collector { /* all zero at first */
    int64_t begin_us;    /* arrival of the first ray */
    int64_t begin_source_us; /* the robot's clock then */
    struct plane_pose at;    /* by the robot's odometry, during the sweep */
    struct plane_pose newest;
    bool has_newest;
    bool open, has_pose, moved; /* has_pose: stated since the sweep began */
    uint32_t count;             /* rays of the sweep; those beyond GRID_RAYS_MAX only count */
    char last_id[EVENT_ID_MAX]; /* of the last reply: it may be delivered again */
    char other_id[EVENT_ID_MAX]; /* of the last command that is not part of a sweep */
    char boot[EVENT_BOOT_MAX];  /* of the robot's program; "": unknown */
    bool restarted; /* it has restarted since the last complete sweep */
    uint64_t refused[SWEEP_REFUSAL_COUNT];
    struct grid_ray rays[GRID_RAYS_MAX];
};

/* For each event of the pair, in their order. True: a sweep of this side is complete, rays[count]
 * seen from `at`; the caller clears `restarted`, and the next call may change the sweep. */
bool sweep_collector_add(struct sweep_collector *collector, const struct sweep_source *source,
                         enum side side, const struct event *event);
/* Did the sweep begin less than every_us after that time? */
bool sweep_is_early(const struct sweep_collector *collector, int64_t after_us,
                    int64_t every_us);
/* The recording has ended. */
void sweep_collector_end(struct sweep_collector *collector);

#endif
