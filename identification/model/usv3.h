/* identification/model/usv3.h - surface vessel in surge, sway and yaw.
 *
 *     d1 u' - d2 v r         + d4 u + d5 |u| u = tau_u
 *     d2 v' + d1 u r         + d6 v + d7 |v| v = tau_v
 *     d3 r' + (d2 - d1) u v  + d8 r + d9 |r| r = tau_r         (docs/model/usv3.md, eq. 2)
 *
 * Body axes: x forward, y to port, yaw counter-clockwise. Also the two vessels of seed 002 with
 * their thrusters. Pure: no I/O, no clock, no state.
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
    double theta[USV3_PARAMETERS];    /* parameters as published */
    double theta_sd[USV3_PARAMETERS]; /* standard deviations as published */
    size_t thruster_count; /* number of thrusters, 2 .. USV3_THRUSTERS_MAX, not all at one y */
    struct usv3_thruster thrusters[USV3_THRUSTERS_MAX];
    double thrust_n_min, thrust_n_max; /* limits of each thruster, N */
};

extern const struct usv3_vessel usv3_vessels[];
extern const size_t usv3_vessel_count;

/* Returns NULL if no vessel has this name. */
const struct usv3_vessel *usv3_vessel_find(const char *name);

/* Returns its thrusters with their limits. They push along the hull, so they cannot produce
 * sway. */
void usv3_actuators(const struct usv3_vessel *vessel, struct allocation *out);

/* Converts a normalised command -1 .. 1 of one thruster to its thrust, scaled by the limit
 * of its sign. */
double usv3_thrust_n(const struct usv3_vessel *vessel, double command_ratio);

#endif
