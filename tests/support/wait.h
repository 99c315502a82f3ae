/* tests/support/wait.h - waits of tests: for an event, with a limit that only a test that fails
 * reaches.
 *
 *     int64_t end_us = 0;
 *     while (!has_come() && wait_more(&end_us, 10000)) {
 *     }
 */
#ifndef TESTS_SUPPORT_WAIT_H
#define TESTS_SUPPORT_WAIT_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* ./test sets the factor of all limits: a busy machine takes longer. */
static inline double wait_patience(void)
{
    const char *text = getenv("TANDEM_PATIENCE");
    const double patience = text ? strtod(text, NULL) : 1.0;
    return patience > 1.0 ? patience : 1.0;
}

/* A limit for waits of the program under test or of a client library. */
static inline int wait_limit_ms(int limit_ms)
{
    return (int)(limit_ms * wait_patience());
}

/* Whether the test runs on virtual time: only there computing takes no time, and a duration can
 * have a limit. */
static inline bool wait_is_virtual(void)
{
    return getenv("TANDEM_CLOCK") != NULL;
}

static inline int64_t wait_now_us(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static inline void pass_time_us(int64_t us)
{
    const struct timespec t = {us / 1000000, us % 1000000 * 1000};
    (void)nanosleep(&t, NULL);
}

/* Let the time pass. Tests on virtual time call it freely; others wait for events. */
static inline void pass_time_ms(long ms)
{
    pass_time_us(INT64_C(1000) * ms);
}

/* Whether the wait continues: false once the limit is over. `end_us` is 0 before the first
 * call. */
static inline bool wait_more(int64_t *end_us, long limit_ms)
{
    const int64_t now_us = wait_now_us();
    const int64_t limit_us = (int64_t)((double)limit_ms * wait_patience() * 1e3);
    if (*end_us == 0) {
        *end_us = now_us + limit_us;
    }
    if (now_us >= *end_us) {
        return false;
    }
    /* Look often at first, and never much later than the event came. */
    const int64_t nap_us = (limit_us - (*end_us - now_us)) / 8;
    pass_time_us(nap_us < 200 ? 200 : nap_us < 20000 ? nap_us : 20000);
    return true;
}

/* Whether there is something to be read from fd within the limit. */
static inline bool wait_input(int fd, int limit_ms)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    return poll(&p, 1, wait_limit_ms(limit_ms)) > 0;
}

#endif
