#include "identification/arm/arm_estimate.h"

#include <math.h>

/* Returns whether the data leave a parameter undetermined. */
static bool is_open(const struct arm_solved *solved, size_t i)
{
    const struct svd *svd = solved->svd;
    double free_share = 0.0;
    for (size_t k = svd->rank; k < svd->p; k++) {
        free_share += svd->v[i * svd->p + k] * svd->v[i * svd->p + k];
    }
    return free_share > solved->null_share;
}

void arm_estimate_fill(struct estimate *e, const struct arm_solved *solved)
{
    const struct svd *svd = solved->svd;
    const size_t p = svd->p;
    e->rank = svd->rank;
    e->condition = svd->condition;
    for (size_t i = 0; i < p; i++) {
        double inverse = 0.0;
        e->identifiable[i] = !is_open(solved, i);
        if (!e->identifiable[i]) {
            continue;
        }
        for (size_t k = 0; k < p; k++) {
            inverse += svd->inverse[i * p + k] * svd->inverse[i * p + k];
            e->covariance[i][k] =
                is_open(solved, k) ? (double)NAN : solved->covariance[i * p + k];
        }
        estimate_set(e, i, solved->value[i], sqrt(solved->covariance[i * p + i]),
                     solved->freedom);
        e->se_white[i] = sqrt(solved->white_variance * inverse);
    }
}
