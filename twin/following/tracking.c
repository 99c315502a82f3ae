#include "twin/following/tracking.h"

#include <math.h>

void tracking_add(struct tracking *t, double reference, double actual)
{
    const double e = actual - reference;
    if (!isfinite(e)) {
        return;
    }
    t->n++;
    t->square += e * e;
    t->absolute += fabs(e);
    t->largest = fmax(t->largest, fabs(e));
    const double off = reference - t->mean;
    t->mean += off / (double)t->n;
    t->spread += off * (reference - t->mean);
}

double tracking_rmse(const struct tracking *t)
{
    return t->n > 0 ? sqrt(t->square / (double)t->n) : nan("");
}

double tracking_mae(const struct tracking *t)
{
    return t->n > 0 ? t->absolute / (double)t->n : nan("");
}

double tracking_r2(const struct tracking *t)
{
    return t->spread > 0.0 ? 1.0 - t->square / t->spread : nan("");
}
