#include "identification/numeric/residual_colour.h"

#include <math.h>
#include <stdbool.h>

#include "identification/numeric/numeric_thresholds.def"
#include "identification/numeric/qr_accumulator.h"

enum { ORDER = 8 };

/* Fills a row of the regression on earlier residuals; false where one is missing. */
static bool fill_past(const double *residual, size_t k, double row[ORDER + 1])
{
    bool whole = true;
    for (size_t i = 0; i <= ORDER; i++) {
        row[i] = residual[k - (i < ORDER ? i + 1 : 0)];
        whole = whole && isfinite(row[i]);
    }
    return whole;
}

void residual_colour_find(const double *residual, const size_t *start, size_t run_count,
                          struct residual_colour *colour)
{
    struct qr_accumulator qr;
    double squares = 0.0;
    double rows = 0.0;
    *colour = (struct residual_colour){.n = 0};
    qr_start(&qr, ORDER + 1);
    for (size_t r = 0; r < run_count; r++) {
        for (size_t k = start[r]; k < start[r + 1]; k++) {
            double row[ORDER + 1];
            if (isfinite(residual[k])) {
                colour->n++;
                squares += residual[k] * residual[k];
            }
            if (k >= start[r] + ORDER && fill_past(residual, k, row)) {
                qr_add(&qr, row);
                rows += 1.0;
            }
        }
    }
    qr_flush(&qr);
    const double n = (double)colour->n;
    colour->mean_square = squares / n;
    colour->white = rows > ORDER ? qr.r[ORDER][ORDER] * qr.r[ORDER][ORDER] / (rows - ORDER)
                                 : colour->mean_square;
    colour->chi2 = n * log(colour->mean_square / (colour->white * (1.0 - ORDER / n)));
}

double residual_colour_share(const struct residual_colour *colour, double motion_sd)
{
    const double coloured = colour->mean_square - colour->white;
    return colour->chi2 > COLOUR_CHI2 && coloured > 0.0 ? sqrt(coloured) / motion_sd : 0.0;
}
