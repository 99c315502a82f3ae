#include "service/cli/lab_clock.h"

#include <pthread.h>
#include <time.h>

static pthread_once_t origin_once = PTHREAD_ONCE_INIT;
static int64_t origin_us; /* wall clock - monotonic clock, fixed by the first call */

static int64_t read_us(clockid_t clock)
{
    struct timespec t = {0};
    (void)clock_gettime(clock, &t); /* cannot fail for these two clocks */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void fix_origin(void)
{
    origin_us = read_us(CLOCK_REALTIME) - read_us(CLOCK_MONOTONIC);
}

int64_t lab_clock_now_us(void)
{
    (void)pthread_once(&origin_once, fix_origin);
    return origin_us + read_us(CLOCK_MONOTONIC);
}

int64_t lab_clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

void lab_clock_sleep_until_us(int64_t until_us)
{
    const struct timespec t = {until_us / 1000000, until_us % 1000000 * 1000};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
