/* identification/model/usv3.h - a surface vessel in surge, sway and yaw.
 *
 *     d1 u' - d2 v r         + d4 u + d5 |u| u = tau_u
 *     d2 v' + d1 u r         + d6 v + d7 |v| v = tau_v
 *     d3 r' + (d2 - d1) u v  + d8 r + d9 |r| r = tau_r         (docs/model/usv3.md, eq. 2)
 *
 * Body axes: x forward, y to port, yaw counter-clockwise. Both vessels of seed 002 with their
 * thrusters. Pure: no I/O, no clock, no state.
 */
#ifndef IDENTIFICATION_MODEL_USV3_H
#define IDENTIFICATION_MODEL_USV3_H

#include <stddef.h>

#include "identification/model/model.h"

enum { USV3_AXES = 3, USV3_PARAMETERS = 9, USV3_THRUSTERS_MAX = 4 };

extern const struct model usv3_model;

/* A fixed thruster that pushes along +x. */
struct usv3_thruster {
    double x_m, y_m;
};

struct usv3_vessel {
    const char *name;
    double theta[USV3_PARAMETERS];    /* as published */
    double theta_sd[USV3_PARAMETERS]; /* standard deviations as published */
    size_t thruster_count;            /* 2 .. USV3_THRUSTERS_MAX, not all at one y */
    struct usv3_thruster thrusters[USV3_THRUSTERS_MAX];
    double thrust_n_min, thrust_n_max; /* of each */
};

extern const struct usv3_vessel usv3_vessels[];
extern const size_t usv3_vessel_count;

/* NULL when there is none of this name. */
const struct usv3_vessel *usv3_vessel_find(const char *name);

/* Its thrusters, between their limits. Sway cannot be given: they push along the hull. */
void usv3_actuators(const struct usv3_vessel *vessel, struct allocation *out);

/* Normalised command -1 .. 1 of one thruster to its thrust: scales the limit of its sign. */
double usv3_thrust_n(const struct usv3_vessel *vessel, double command_ratio);

#endif
