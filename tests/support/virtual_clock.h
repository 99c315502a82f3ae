/* tests/support/virtual_clock.h - the page that virtual_clock shares with every process of a
 * test.
 *
 * virtual_clock.c runs a test and moves its time; virtual_clock_preload.c, loaded into each
 * process, answers every question for the time from this page and writes its waits there.
 */
#ifndef TESTS_SUPPORT_VIRTUAL_CLOCK_H
#define TESTS_SUPPORT_VIRTUAL_CLOCK_H

#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>

/* The page's path is in this environment variable. */
#define VIRTUAL_CLOCK_VARIABLE "TANDEM_CLOCK"

/* Linux sends this signal to nobody, so it is free to end a wait. */
#define VIRTUAL_CLOCK_SIGNAL SIGSTKFLT

enum { VIRTUAL_CLOCK_WAITS = 4096 }; /* threads of a test, at most */

#define VIRTUAL_CLOCK_NEVER INT64_MAX

/* The time moves in these steps, so that the limits of many waits meet. */
#define VIRTUAL_CLOCK_STEP_NS INT64_C(1000000)

/* One thread that waits, or once did. */
struct virtual_wait {
    _Atomic int32_t tid; /* 0: free */
    _Atomic int32_t pid;
    _Atomic int32_t signal;   /* it ends the wait */
    _Atomic int64_t until_ns; /* of the monotonic clock; VIRTUAL_CLOCK_NEVER: does not wait */
};

struct virtual_clock {
    _Atomic int64_t now_ns; /* the monotonic clock */
    int64_t wall_ns;        /* what to add for the wall clock; constant */
    struct virtual_wait wait[VIRTUAL_CLOCK_WAITS];
};

#endif
