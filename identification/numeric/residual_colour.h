/* identification/numeric/residual_colour.h - how much of a residual its own past predicts.
 *
 * With many samples even a trace of colour is significant, so that its size decides
 * (docs/model/output_error.md, "Coloured residuals"). Pure, no allocation.
 */
#ifndef IDENTIFICATION_NUMERIC_RESIDUAL_COLOUR_H
#define IDENTIFICATION_NUMERIC_RESIDUAL_COLOUR_H

#include <stddef.h>

struct residual_colour {
    size_t n;           /* residuals that are numbers */
    double mean_square; /* of all of them */
    double white;       /* variance of what eight earlier residuals do not predict */
    double chi2;        /* likelihood ratio of the prediction; 26.1 by chance in 1 of 1000 */
};

/* Computes the colour. residual is [start[run_count]]; run r covers start[r] .. start[r + 1] -
 * 1. A residual that is NaN counts neither by itself nor as the past of others. */
void residual_colour_find(const double *residual, const size_t *start, size_t run_count,
                          struct residual_colour *colour);

/* Returns the standard deviation of the predicted part, in units of motion_sd; 0 if chance
 * explains it. */
double residual_colour_share(const struct residual_colour *colour, double motion_sd);

#endif
