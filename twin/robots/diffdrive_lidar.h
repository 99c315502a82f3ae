/* twin/robots/diffdrive_lidar.h - L0Lidar: the machine that turns the lidar and reads it.
 *
 *     ROTATE --the servo had its time--> PING --on target--> ECHO --reading, or none in time-->
 * PING
 *        ^----------another target---------'
 *
 * It reads all the time, so that there is always a distance ahead. Who needs a reading of a
 * certain angle raises `request` with the target; `update` answers with the first reading that
 * began after that, at that angle, and lasts for one cycle. docs/model/diffdrive.md, part 3.
 */
#ifndef TWIN_ROBOTS_DIFFDRIVE_LIDAR_H
#define TWIN_ROBOTS_DIFFDRIVE_LIDAR_H

#include "base/names.h"
#include "twin/efsm/efsm.h"

#define L0LIDAR_STATES(X)                                                                      \
    X(L0LIDAR_ROTATE, "ROTATE") X(L0LIDAR_PING, "PING") X(L0LIDAR_ECHO, "ECHO")

enum { L0LIDAR_STATES(NAMES_VALUE) L0LIDAR_STATE_COUNT };

#define L0LIDAR_CELLS(X)                                                                       \
    X(L0LIDAR_YAW, "yaw")         /* where the servo points or will point, rad */              \
    X(L0LIDAR_UNTIL, "until")     /* when it does, or when a reading is given up, us */        \
    X(L0LIDAR_Q, "Q")             /* the last reading, m */                                    \
    X(L0LIDAR_Q_YAW, "Q_yaw")     /* its angle, rad */                                         \
    X(L0LIDAR_PENDING, "pending") /* the reading in work was requested: 0 or 1 */              \
    X(L0LIDAR_UPDATE, "update")   /* the last reading was: for one cycle */

enum { L0LIDAR_CELLS(NAMES_VALUE) L0LIDAR_CELL_COUNT };

struct l0lidar_in {
    double target_rad;
    bool request;
    bool echo; /* a reading is there */
    double echo_m;
    double servo_radps;
    double range_m;      /* what counts as "nothing seen" */
    double echo_wait_us; /* a reading that takes longer never comes */
};

struct l0lidar_out {
    double yaw_rad;
    double distance_m;
    bool update;
    bool ahead; /* the distance was read straight ahead, and the lidar still looks there */
    bool ping;  /* a reading is in work */
};

extern const struct efsm_table l0lidar_table;

/* To the beginning: the servo is sent ahead from wherever it stands. */
void l0lidar_reset(struct efsm *m, int64_t t_us, double servo_radps, double range_m);

#endif
