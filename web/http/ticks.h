/* web/http/ticks.h - the time that limits and waits go by, in milliseconds. */
#ifndef WEB_HTTP_TICKS_H
#define WEB_HTTP_TICKS_H

#include <stdint.h>
#include <time.h>

static inline int64_t ticks_of(clockid_t clock)
{
    struct timespec t;
    (void)clock_gettime(clock, &t);
    return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

/* Monotonic. */
static inline int64_t ticks_ms(void)
{
    return ticks_of(CLOCK_MONOTONIC);
}

/* CPU time of this thread. */
static inline int64_t ticks_work_ms(void)
{
    return ticks_of(CLOCK_THREAD_CPUTIME_ID);
}

#endif
