/* tests/support/preloaded_clock.h - the older calls for the wall clock, which a preloaded
 * clock_gettime() also needs. For one source of a preload each. */
#ifndef TESTS_SUPPORT_PRELOADED_CLOCK_H
#define TESTS_SUPPORT_PRELOADED_CLOCK_H

#include <sys/time.h>
#include <time.h>

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
    struct timespec now;
    (void)zone;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    *t = (struct timeval){now.tv_sec, now.tv_nsec / 1000};
    return 0;
}

time_t time(time_t *t)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_REALTIME, &now);
    if (t) {
        *t = now.tv_sec;
    }
    return now.tv_sec;
}

#endif
