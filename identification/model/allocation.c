#include "identification/model/allocation.h"

#include <math.h>
#include <string.h>

void allocation_direct(struct allocation *a, size_t axes, const double *limit)
{
    *a = (struct allocation){.axes = axes, .actuators = axes};
    for (size_t i = 0; i < axes; i++) {
        a->effect[i][i] = 1.0;
        a->inverse[i][i] = 1.0;
        a->hi[i] = limit ? limit[i] : (double)INFINITY;
        a->lo[i] = -a->hi[i];
        a->reaches[i] = true;
    }
}

/* Inverts the symmetric n x n matrix m in place by Gauss-Jordan elimination. m has no
 * negative eigenvalues, so that no pivoting is needed. Returns false if m is singular to
 * working accuracy. */
static bool invert_matrix(size_t n, double m[MODEL_AXES_MAX][MODEL_AXES_MAX])
{
    double largest = 0.0;
    for (size_t i = 0; i < n; i++) {
        largest = fmax(largest, m[i][i]);
    }
    for (size_t c = 0; c < n; c++) {
        if (!(m[c][c] > 1e-9 * largest)) {
            return false;
        }
        const double scale = 1.0 / m[c][c];
        m[c][c] = 1.0;
        for (size_t j = 0; j < n; j++) {
            m[c][j] *= scale;
        }
        for (size_t i = 0; i < n; i++) {
            const double factor = i == c ? 0.0 : m[i][c];
            m[i][c] = i == c ? scale : 0.0;
            for (size_t j = 0; j < n; j++) {
                m[i][j] -= factor * m[c][j];
            }
        }
    }
    return true;
}

enum status allocation_make(struct allocation *a)
{
    size_t reached[MODEL_AXES_MAX];
    size_t count = 0;
    double square[MODEL_AXES_MAX][MODEL_AXES_MAX] = {{0}};

    for (size_t k = 0; k < a->actuators; k++) {
        if (!(a->lo[k] <= 0.0 && a->hi[k] >= 0.0)) {
            return STATUS_E_RANGE;
        }
    }
    a->underactuated = false;
    for (size_t i = 0; i < a->axes; i++) {
        a->reaches[i] = false;
        for (size_t k = 0; k < a->actuators; k++) {
            a->reaches[i] = a->reaches[i] || fabs(a->effect[i][k]) > 0.0;
        }
        if (a->reaches[i]) {
            reached[count++] = i;
        } else {
            a->underactuated = true;
        }
    }
    /* B^+ = B' (B B')^-1 on the axes that an actuator reaches */
    for (size_t i = 0; i < count; i++) {
        for (size_t j = 0; j < count; j++) {
            for (size_t k = 0; k < a->actuators; k++) {
                square[i][j] += a->effect[reached[i]][k] * a->effect[reached[j]][k];
            }
        }
    }
    if (count == 0 || !invert_matrix(count, square)) {
        return STATUS_E_RANGE;
    }
    memset(a->inverse, 0, sizeof a->inverse);
    for (size_t k = 0; k < a->actuators; k++) {
        for (size_t j = 0; j < count; j++) {
            for (size_t i = 0; i < count; i++) {
                a->inverse[k][reached[j]] += a->effect[reached[i]][k] * square[i][j];
            }
        }
    }
    return STATUS_OK;
}

bool allocation_limit(const struct allocation *a, double *force, double *achieved)
{
    bool cut = false;
    memset(achieved, 0, a->axes * sizeof achieved[0]);
    for (size_t k = 0; k < a->actuators; k++) {
        const double f = isnan(force[k]) ? 0.0 : force[k];
        force[k] = fmin(fmax(f, a->lo[k]), a->hi[k]);
        cut = cut || force[k] < f || force[k] > f;
        for (size_t i = 0; i < a->axes; i++) {
            achieved[i] += a->effect[i][k] * force[k];
        }
    }
    return cut;
}

bool allocation_share(const struct allocation *a, const double *wanted, double *force,
                      double *achieved)
{
    for (size_t k = 0; k < a->actuators; k++) {
        force[k] = 0.0;
        for (size_t i = 0; i < a->axes; i++) {
            force[k] += a->inverse[k][i] * (isfinite(wanted[i]) ? wanted[i] : 0.0);
        }
    }
    return allocation_limit(a, force, achieved);
}
