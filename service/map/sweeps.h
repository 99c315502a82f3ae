/* service/map/sweeps.h - the sweeps of a robot's lidar, collected from the events of a lab.
 *
 * A ray is a reply `data` with the values `angle_rad` and `range_m`. A sweep goes from the
 * first ray to the next reply `done` (docs/model/diffdrive.md, "A sweep"). The robot's pose is
 * that of its telemetry, or of the values x_m, y_m and yaw_rad or psi_rad of its replies. A
 * sweep counts if the robot was at rest: the poses that it stated from the first ray to `done`
 * are the same.
 *
 * One thread. Cold path: allocates.
 */
#ifndef SERVICE_MAP_SWEEPS_H
#define SERVICE_MAP_SWEEPS_H

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

struct sweep {
    int64_t t_us;         /* arrival of the first ray */
    struct plane_pose at; /* by the robot's odometry */
    size_t first, count;  /* its rays */
};

struct sweeps {
    const char *pair; /* set by the owner, with side; all else is 0 at first */
    enum side side;
    struct sweep *list; /* [count] */
    size_t count, room;
    struct grid_ray *rays; /* those of all sweeps, one after another */
    size_t ray_count, ray_room;
    uint64_t refused[SWEEP_REFUSAL_COUNT];
    bool no_memory;

    struct plane_pose newest;
    bool has_newest;
    bool open, has_pose, moved; /* the sweep list[count]; has_pose: stated since its begin */
    int64_t begin_source_us;    /* the robot's clock at the first ray */
    char last_id[EVENT_ID_MAX]; /* of the last reply: it may be delivered again */
};

/* For each event of the lab, in their order. */
void sweeps_add(struct sweeps *sweeps, const struct event *event);
/* The recording has ended. */
void sweeps_end(struct sweeps *sweeps);
void sweeps_free(struct sweeps *sweeps);

#endif
