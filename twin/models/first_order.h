/* twin/models/first_order.h - one channel that follows its command with a lag.
 *
 *     a y' + b y            = c       first_order           (docs/model/first_order.md, eq. 1)
 *     a y' + b y + e sgn(y) = c       first_order_deadband  (eq. 2)
 *
 * y is a velocity and c its command, in units of their own; gain K = 1 / b, time constant
 * tau = a / b. The pose is the integral of y. Pure: no I/O, no clock, no state.
 */
#ifndef TWIN_MODELS_FIRST_ORDER_H
#define TWIN_MODELS_FIRST_ORDER_H

#include "twin/models/model.h"

extern const struct model first_order_model;
extern const struct model first_order_deadband_model;

#endif
