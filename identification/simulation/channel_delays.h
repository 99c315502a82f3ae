/* identification/simulation/channel_delays.h - delay of every single change of a command.
 *
 * A command that is sent between two rows, or over a network, acts with a delay of its own
 * (docs/model/first_order.md, "Causes").
 */
#ifndef IDENTIFICATION_SIMULATION_CHANNEL_DELAYS_H
#define IDENTIFICATION_SIMULATION_CHANNEL_DELAYS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/simulation/channel_response.h"

struct channel_delays {
    size_t count;   /* fitted delays; 0: too few changes, or too many to fit one each */
    double squares; /* of the residual with them */
    struct channel_values values; /* gain and lag that were fitted with them */
    double spread_s; /* sd of the delays beyond their errors (DerSimonian and Laird) */
    double row_s;    /* sd of a command's phase within the rows before the changes */
};

/* Fits them together with gain and lag. shifts [change_count] and residual [set->n], out,
 * hold the result. Returns STATUS_OK, STATUS_E_NOMEM. */
MUST_USE enum status channel_delays_fit(const struct channel_response *channel,
                                        const struct channel_values *values, double *shifts,
                                        double *residual, struct channel_delays *delays);

/* Computes the residual that unknown phases of the commands within their rows would cause:
 * the 95 % quantile of the root mean square over 20 draws. scratch [2 set->n +
 * change_count]. */
double channel_phase_residual(const struct channel_response *channel,
                              const struct channel_values *values, double *scratch);

#endif
