#include "identification/data/column_rate.h"

#include <math.h>

#include "base/errors/status.h"
#include "identification/data/data_thresholds.def"

/* Windows of these shares of the recording, and their least lengths in rows. */
static const struct {
    size_t part, least;
} windows[] = {{400, 5}, {100, 10}, {40, 20}};

/* Sums over windows of a, the change of the position, and b, the integral of the velocity. */
struct sums {
    double n, a, b, aa, bb, ab;
};

static void add_window(struct sums *s, double a, double b)
{
    s->n += 1.0;
    s->a += a;
    s->b += b;
    s->aa += a * a;
    s->bb += b * b;
    s->ab += a * b;
}

static double correlate_sums(const struct sums *s)
{
    const double va = s->aa - s->a * s->a / s->n;
    const double vb = s->bb - s->b * s->b / s->n;
    const double tiny = 1e-24 * s->n;
    return va > tiny && vb > tiny ? (s->ab - s->a * s->b / s->n) / sqrt(va * vb) : 0.0;
}

/* Compares windows of m rows. q and s [n]: position, and integral of the velocity. */
static void compare_windows(const double *q, const double *s, size_t n, size_t m,
                            struct column_rate *best)
{
    const size_t stride = m / 2 > 0 ? m / 2 : 1;
    struct sums sums = {.n = 0.0};
    double squares = 0.0;
    for (size_t k = 0; k + m < n; k += stride) {
        add_window(&sums, q[k + m] - q[k], s[k + m] - s[k]);
    }
    const double r = correlate_sums(&sums);
    if (!(fabs(r) > fabs(best->correlation))) {
        return;
    }
    const double factor = copysign(sqrt(sums.aa / sums.bb), r);
    for (size_t k = 0; k + m < n; k += stride) {
        const double b = s[k + m] - s[k];
        const double e = q[k + m] - q[k] - factor * b;
        squares += e * e * b * b;
    }
    *best = (struct column_rate){factor, sqrt(2.0 * squares) / sums.bb, r, m};
}

/* Time steps beyond this many mean ones are gaps. */
static const double GAP_STEPS = 10.0;

void column_rate_find(const double *t_s, const double *position, const double *velocity,
                      size_t n, double *scratch, struct column_rate *out)
{
    double *q = scratch;
    double *s = scratch + n;
    double usual = 0.0;
    double steps = 0.0;
    *out = (struct column_rate){.factor = 0.0};
    for (size_t k = 1; k < n; k++) {
        usual += fmax(t_s[k] - t_s[k - 1], 0.0);
        steps += t_s[k] > t_s[k - 1] ? 1.0 : 0.0;
    }
    for (size_t k = 0; k < n; k++) {
        const double step = k > 0 ? t_s[k] - t_s[k - 1] : 0.0;
        const bool counts = step > 0.0 && step * steps < GAP_STEPS * usual;
        q[k] = k == 0 ? 0.0 : q[k - 1] + (counts ? position[k] - position[k - 1] : 0.0);
        s[k] = k == 0
                   ? 0.0
                   : s[k - 1] + (counts ? 0.5 * step * (velocity[k] + velocity[k - 1]) : 0.0);
    }
    for (size_t w = 0; w < COUNT(windows); w++) {
        const size_t part = n / windows[w].part;
        const size_t m = part > windows[w].least ? part : windows[w].least;
        if (m < n / 3) {
            compare_windows(q, s, n, m, out);
        }
    }
}

enum column_rate_verdict column_rate_judge(const struct column_rate *rate)
{
    const double r = fabs(rate->correlation);
    if (!(r >= RATE_MOTION_MIN)) {
        return COLUMN_RATE_OPEN;
    }
    if (r >= RATE_DECIDED_MIN &&
        fabs(rate->factor - 1.0) <= RATE_OFF_RATIO + RATE_ERRORS * rate->se) {
        return COLUMN_RATE_AGREES;
    }
    return r < RATE_CORRELATION_MIN ? COLUMN_RATE_NO_RATE : COLUMN_RATE_FACTOR;
}

const char *column_rate_words(double factor)
{
    static const struct {
        double factor;
        const char *words;
    } units[] = {
        {57.29578, "position in degrees, or velocity in rad/s of degrees"},
        {1.0 / 57.29578, "velocity in degrees per second"},
        {1000.0, "position in mm"},
        {1e-3, "times in ms, or velocity in mm/s"},
        {1e-6, "times in microseconds"},
        {6.283185, "velocity in turns per second"},
        {1.0 / 6.283185, "position in turns"},
        {60.0, "times in minutes"},
        {1.0 / 60.0, "velocity per minute"},
        {100.0, "position in cm"},
        {0.01, "velocity in cm/s"},
        {10.0, "times, a tenth of seconds"},
        {0.1, "times, ten times seconds"},
        {1.0 / 9.549297, "velocity in turns per minute"},
    };
    for (size_t i = 0; i < COUNT(units); i++) {
        if (fabs(fabs(factor) / units[i].factor - 1.0) < RATE_UNIT_RATIO) {
            return units[i].words;
        }
    }
    return "";
}
