/* tests/support/stepped_clock_preload.c - a machine whose wall clock is set, and which sleeps,
 * for one process (LD_PRELOAD). The file named by STEPPED_CLOCK holds two int64_t, mapped, in
 * nanoseconds: an offset of the wall clock, and how long the machine has slept. The wall clock
 * and CLOCK_BOOTTIME count that sleep, CLOCK_MONOTONIC does not. Waits are true, because they
 * use that clock. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "preloaded_clock.h"

struct shift {
    _Atomic int64_t wall_ns, slept_ns;
};

static struct shift *shift;

__attribute__((constructor)) static void map_shift(void)
{
    const char *path = getenv("STEPPED_CLOCK");
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = fd >= 0
                       ? mmap(NULL, sizeof *shift, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                       : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        (void)dprintf(STDERR_FILENO, "stepped_clock: cannot map the file STEPPED_CLOCK\n");
        abort();
    }
    (void)close(fd);
    shift = mapped;
}

static int64_t shift_ns(clockid_t clock)
{
    const int64_t slept_ns = shift ? atomic_load(&shift->slept_ns) : 0;
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        return shift ? slept_ns + atomic_load(&shift->wall_ns) : 0;
    case CLOCK_BOOTTIME:
        return slept_ns;
    default:
        return 0;
    }
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t second_ns = 1000000000;
    const int status = (int)syscall(SYS_clock_gettime, clock, t);
    if (status == 0) {
        const int64_t ns = t->tv_sec * second_ns + t->tv_nsec + shift_ns(clock);
        *t = (struct timespec){ns / second_ns, ns % second_ns};
    }
    return status;
}
