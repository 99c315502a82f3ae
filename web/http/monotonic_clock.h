/* web/http/monotonic_clock.h - time for limits and waits, in milliseconds. */
#ifndef WEB_HTTP_MONOTONIC_CLOCK_H
#define WEB_HTTP_MONOTONIC_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read_ms(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Monotonic. */
static inline int64_t monotonic_clock_ms(void)
{
    return clock_read_ms(CLOCK_MONOTONIC);
}

/* CPU time of this thread. */
static inline int64_t thread_cpu_ms(void)
{
    return clock_read_ms(CLOCK_THREAD_CPUTIME_ID);
}

#endif
