#include "service/tool/lab_clock.h"

#include <pthread.h>
#include <time.h>

enum { APART_US = 10000 }; /* readings closer together than this count as one moment */

static pthread_once_t origin_once = PTHREAD_ONCE_INIT;
static int64_t origin_us; /* wall clock - clock since boot, set by the first call, */
static int64_t asleep_us; /* and how long the machine had slept by then */

static int64_t read_us(clockid_t clock)
{
    struct timespec t = {0};
    (void)clock_gettime(clock, &t); /* cannot fail for these clocks */
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void fix_origin(void)
{
    asleep_us = read_us(CLOCK_BOOTTIME) - read_us(CLOCK_MONOTONIC);
    origin_us = read_us(CLOCK_REALTIME) - read_us(CLOCK_BOOTTIME);
}

int64_t lab_clock_now_us(void)
{
    (void)pthread_once(&origin_once, fix_origin);
    return origin_us + read_us(CLOCK_BOOTTIME);
}

bool lab_clock_compare(int64_t *stepped_us, int64_t *slept_us)
{
    (void)pthread_once(&origin_once, fix_origin);
    const int64_t began_us = read_us(CLOCK_BOOTTIME);
    const int64_t wall_us = read_us(CLOCK_REALTIME);
    const int64_t awake_us = read_us(CLOCK_MONOTONIC);
    *stepped_us = wall_us - began_us - origin_us;
    *slept_us = began_us - awake_us - asleep_us;
    return read_us(CLOCK_BOOTTIME) - began_us < APART_US;
}

int64_t lab_clock_monotonic_us(void)
{
    return read_us(CLOCK_MONOTONIC);
}

int64_t lab_clock_thread_ns(void)
{
    struct timespec t;
    (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

void lab_clock_sleep_until_us(int64_t until_us)
{
    const struct timespec t = {until_us / 1000000, until_us % 1000000 * 1000};
    (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}
