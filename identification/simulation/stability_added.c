/* Columns that explain something in addition to a fit: constant efforts, shapes of an effort.
 */
#include "identification/simulation/stability_parts.h"

#include <math.h>

#include <gsl/gsl_cdf.h>

#include "identification/simulation/simulation_thresholds.def"

bool stability_test_added(const struct stability_work *work, const struct part_sums *sums,
                          size_t less, size_t more, struct added_columns *out)
{
    struct part_sums narrow = *sums;
    struct part_estimate part;
    for (size_t i = 0; i < less; i++) {
        for (size_t j = 0; j <= i; j++) {
            narrow.g[i * less + j] = sums->g[i * more + j];
        }
    }
    if (more == less || !(sums->rows > ROWS_PER_UNKNOWN * (double)more) ||
        !stability_solve_part(sums, more, 1.0, &out->all.svd, out->all.step,
                              &out->all.explained) ||
        !stability_solve_part(&narrow, less, 1.0, &part.svd, part.step, &part.explained) ||
        out->all.svd.rank <= part.svd.rank) {
        return false;
    }
    out->all.noise =
        stability_innovations_as_one(work) * (sums->squares - out->all.explained) / sums->rows;
    out->df = (double)(out->all.svd.rank - part.svd.rank);
    out->statistic = fmax((out->all.explained - part.explained) / out->all.noise, 0.0);
    out->p = gsl_cdf_chisq_Q(out->statistic, out->df);
    return isfinite(out->statistic);
}

void stability_find_constant(const struct stability_work *work, struct stability *out)
{
    struct added_columns added;
    if (!stability_test_added(work, &work->bins[WIDE], work->count, work->wide, &added)) {
        return;
    }
    out->constant_df = added.df;
    out->constant_statistic = added.statistic;
    out->constant_p = added.p;
    for (size_t a = 0; a < work->axes; a++) {
        const size_t i = work->count + a;
        /* The filter subtracts biases from the efforts. */
        out->constant[a] = -added.all.step[i];
        out->constant_se[a] =
            sqrt(added.all.noise) * stability_part_sd(&added.all, work->wide, i);
    }
}

/* Shapes of an axis' effort, beyond constant efforts. */
void stability_find_shape(const struct model *model, const double *theta,
                          const struct stability_work *work, size_t axis,
                          struct stability_shape *out)
{
    struct added_columns added;
    *out = (struct stability_shape){.statistic = NAN, .df = NAN, .p = NAN};
    if (!stability_test_added(work, &work->bins[SHAPED + axis], work->wide, work->wide + SHAPES,
                              &added)) {
        return;
    }
    out->statistic = added.statistic;
    out->df = added.df;
    out->p = added.p;
    for (size_t k = 0; k < STABILITY_WORTHS; k++) {
        const double share = stability_worth_at[k];
        const double largest = work->largest[axis];
        const double done =
            model->rows_under ? model_force_alone(model, theta, axis, share * largest) / largest
                              : share;
        double shape[ADDED];
        stability_find_shapes(share, shape);
        out->worth[k] = 1.0;
        for (size_t j = 0; j < SHAPES; j++) {
            out->worth[k] += added.all.step[work->wide + j] * shape[j] / done;
        }
        if (share < 1.1 * work->least[axis] || share > 1.1 * work->most[axis]) {
            out->worth[k] = (double)NAN;
        }
    }
}
