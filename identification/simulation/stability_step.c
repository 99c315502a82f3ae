#include "identification/simulation/stability_parts.h"

#include <math.h>
#include <string.h>

static const double RANK_RATIO = 1e-9;

static const double DIRECTED = 0.02;

const double stability_worth_at[STABILITY_WORTHS] = {-1.0, -1.0 / 3.0, 1.0 / 3.0, 1.0};

void stability_find_shapes(double share, double *shape)
{
    shape[SHAPE_SQUARE] = fabs(share) * share;
    shape[SHAPE_SIGN] = fabs(share) > DIRECTED ? copysign(1.0, share) : 0.0;
    shape[SHAPE_SIZE] = fabs(share);
    shape[SHAPE_SAME] = share;
}

/* Computes the step of a part, and its covariance for this variance of the innovations.
 * Returns false if numbers are not finite. */
bool stability_solve_part(const struct part_sums *part, size_t n, double noise, struct svd *svd,
                          double *step, double *explained)
{
    double m[SVD_ENTRIES_MAX] = {0.0};
    double length[NUMERIC_COLUMNS_MAX] = {0.0};
    for (size_t i = 0; i < n; i++) {
        length[i] = sqrt(part->g[i * n + i]);
        for (size_t j = 0; j < n; j++) {
            m[i * n + j] = j <= i ? part->g[i * n + j] : part->g[j * n + i];
        }
    }
    if (svd_find(m, n, length, length, RANK_RATIO, svd) != STATUS_OK) {
        return false;
    }
    *explained = 0.0;
    for (size_t i = 0; i < n; i++) {
        step[i] = 0.0;
        for (size_t j = 0; j < n; j++) {
            step[i] += svd->inverse[i * n + j] * part->v[j];
            svd->inverse[i * n + j] *= noise;
        }
        *explained += part->v[i] * step[i] / noise;
    }
    return true;
}

/* Number of consecutive innovations that carry the information of one independent
 * innovation. */
double stability_innovations_as_one(const struct stability_work *work)
{
    double rho = 0.0;
    for (size_t a = 0; a < work->axes; a++) {
        rho = fmax(rho, work->squares[a] > 0.0 ? work->products[a] / work->squares[a] : 0.0);
    }
    return (1.0 + fmin(rho, 0.99)) / (1.0 - fmin(rho, 0.99));
}

double stability_part_sd(const struct part_estimate *part, size_t n, size_t i)
{
    return sqrt(part->svd.inverse[i * n + i]);
}
