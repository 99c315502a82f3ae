#include "twin/pair/pace.h"

#include <math.h>

static const int64_t SPACING_US = 1000000;
enum { POINTS_MIN = 4 };

void pace_sample(struct pace *p, int64_t t_us, int64_t source_us)
{
    if (p->count > 0) {
        const uint32_t last = (p->count - 1) % PACE_POINTS;
        if (source_us < p->point[last].source_us) {
            p->count = 0; /* the simulation was started anew */
        } else if (t_us - p->point[last].t_us < SPACING_US) {
            return;
        }
    }
    p->point[p->count % PACE_POINTS].t_us = t_us;
    p->point[p->count % PACE_POINTS].source_us = source_us;
    p->count++;
    if (p->count >= 2 * PACE_POINTS) {
        p->count -= PACE_POINTS; /* keeps its place in the ring, never overflows */
    }
}

bool pace_read(const struct pace *p, double *ratio, double *se)
{
    const uint32_t n = p->count < PACE_POINTS ? p->count : PACE_POINTS;
    if (n < POINTS_MIN) {
        return false;
    }
    /* Centred on the first point kept: stamps are large, differences small. */
    const int64_t t0_us = p->point[0].t_us;
    const int64_t s0_us = p->point[0].source_us;
    double t_mean = 0.0;
    double s_mean = 0.0;
    for (uint32_t k = 0; k < n; k++) {
        t_mean += (double)(p->point[k].t_us - t0_us) / n;
        s_mean += (double)(p->point[k].source_us - s0_us) / n;
    }
    double tt = 0.0;
    double ts = 0.0;
    double ss = 0.0;
    for (uint32_t k = 0; k < n; k++) {
        const double t = (double)(p->point[k].t_us - t0_us) - t_mean;
        const double s = (double)(p->point[k].source_us - s0_us) - s_mean;
        tt += t * t;
        ts += t * s;
        ss += s * s;
    }
    *ratio = ts / tt;
    *se = sqrt(fmax(ss - *ratio * ts, 0.0) / (n - 2) / tt);
    return true;
}
