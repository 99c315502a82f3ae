/* twin/models/diffdrive.h - how a differential drive follows its velocity commands.
 *
 *     t1 u' - t3 w^2 + t4 u  = u_cmd
 *     t2 w' + t5 u w + t6 w  = w_cmd           (docs/model/velocity_dynamics.md, eq. 1)
 *
 * u forward, w counter-clockwise, of the middle of the axle; pose (x, y, theta) in the world.
 * Pure: no I/O, no clock, no state.
 */
#ifndef TWIN_MODELS_DIFFDRIVE_H
#define TWIN_MODELS_DIFFDRIVE_H

#include "twin/models/model.h"

enum { DIFFDRIVE_AXES = 2, DIFFDRIVE_PARAMETERS = 6 };

extern const struct model diffdrive_model;

#endif
