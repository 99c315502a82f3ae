/* identification/simulation/channel_response.h - response of one channel to its command, with
 * one effect that the model lacks.
 *
 *     lag m' + m = g(u(t - delay)),   g(u) = gain u beyond the dead band
 *                                           (docs/model/first_order.md, "Causes")
 *
 * Unlike a model, a channel may have an effect that no list of terms describes: a limit of
 * rate, play, a delay that grows. Each substep has a constant command and an exact solution.
 */
#ifndef IDENTIFICATION_SIMULATION_CHANNEL_RESPONSE_H
#define IDENTIFICATION_SIMULATION_CHANNEL_RESPONSE_H

#include <stdbool.h>
#include <stddef.h>

#include <gsl/gsl_vector.h>

#include "base/errors/status.h"
#include "identification/data/data_set.h"

/* Effects besides gain, lag, delay and dead band, with the units of their sizes. */
enum channel_effect {
    CHANNEL_SECOND_LAG,   /* after the first: s */
    CHANNEL_RATE_LIMIT,   /* of the command: command / s */
    CHANNEL_OTHER_LAG,    /* lag while it slows down: s */
    CHANNEL_PLAY,         /* gap in the position after a change of direction: velocity s */
    CHANNEL_DELAY_GROWS,  /* from the first row to the last: s */
    CHANNEL_GAIN_DRIFTS,  /* from the first row to the last: ratio */
    CHANNEL_CLIP,         /* largest command that acts */
    CHANNEL_DEAD_BAND,    /* smallest command that acts */
    CHANNEL_GAIN_BY_SIZE, /* growth of the gain per unit of command */
    CHANNEL_EFFECTS       /* none */
};

struct channel_values {
    double gain, lag_s, delay_s;
    double start;     /* velocity at the first row of the recording */
    double dead_band; /* known; >= 0 */
    enum channel_effect effect;
    double size;
};

/* A channel of a recording. Its columns are borrowed. */
struct channel_response {
    const struct data_set *set;
    const double *command, *velocity; /* [set->n] */
    double starts[DATA_RUNS_MAX];     /* first velocities of the runs */
    double span_s;                    /* from the first row to the last */
    double substep_s;                 /* longest */
    double settled_s;                 /* rows this early in a run are not used */
    /* Changes of the command: from change_s on, change_command holds. Run r has those from
     * run_change[r] to run_change[r + 1] - 1, and begins with one. */
    size_t change_count;
    size_t run_change[DATA_RUNS_MAX + 1];
    double *change_s, *change_command;
    gsl_vector *memory;
};

/* Makes a channel whose lag is about lag_s. The caller calls channel_free(). */
MUST_USE enum status channel_init(struct channel_response *channel, const struct data_set *set,
                                  const double *command, const double *velocity, double lag_s);
void channel_free(struct channel_response *channel);

/* Simulates all runs: response [set->n], out. */
void channel_simulate(const struct channel_response *channel,
                      const struct channel_values *values, double *response);

/* The same, subtracted from the measured velocity; 0 where a sample does not count. */
void channel_residual(const struct channel_response *channel,
                      const struct channel_values *values, double *residual);

#endif
