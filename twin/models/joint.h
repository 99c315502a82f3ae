/* twin/models/joint.h - one driven joint: a motor on an arm, a slide, a wheel off the ground.
 *
 *     inertia w' + viscous w + coulomb tanh(w / s) + offset            = effort
 *     inertia w' + viscous w + coulomb tanh(w / s) + offset + load sin q = effort
 *                                                         (docs/model/joint.md, eq. 1, 2)
 *
 * Parameters have the unit of the effort (N m, N, A, V) by that of the motion (rad, m). Pure:
 * no I/O, no clock, no state.
 */
#ifndef TWIN_MODELS_JOINT_H
#define TWIN_MODELS_JOINT_H

#include "twin/models/model.h"

enum { JOINT_INERTIA, JOINT_VISCOUS, JOINT_COULOMB, JOINT_OFFSET, JOINT_LOAD };

enum { JOINT_VARIANTS = 5 };

/* For widths s of the turn-over of dry friction, rad/s or m/s, from narrow to wide. */
extern const struct model_variant joint_variants[JOINT_VARIANTS];
extern const struct model_variant joint_load_variants[JOINT_VARIANTS];

extern const struct model joint_model, joint_load_model; /* s = 0.01 */

#endif
