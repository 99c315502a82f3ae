/* base/numbers/lab_time.h - lab time: int64_t microseconds since the Unix epoch, in names that
 * end with _us.
 *
 * It is read once at start from the wall clock and then advanced by the monotonic clock, so it
 * never goes back within a run. A robot's own stamp has the same unit but another clock; only
 * the clock map converts it to lab time. Pure.
 */
#ifndef BASE_NUMBERS_LAB_TIME_H
#define BASE_NUMBERS_LAB_TIME_H

#include <math.h>
#include <stdint.h>

#define LAB_TIME_NONE INT64_MIN /* "no stamp" */
#define LAB_TIME_MAX  INT64_MAX /* "never" */

/* A robot's stamp must lie within +-LAB_TIME_S_LIMIT seconds (about year 5138). */
#define LAB_TIME_S_LIMIT 1e11

static inline double lab_s(int64_t us)
{
    return (double)us * 1e-6;
}

/* Converts seconds to microseconds, rounded to nearest; LAB_TIME_NONE if not finite or out of
 * range. */
static inline int64_t lab_us(double s)
{
    return fabs(s) <= LAB_TIME_S_LIMIT ? (int64_t)llround(s * 1e6) : LAB_TIME_NONE;
}

#endif
