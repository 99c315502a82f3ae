/* tests/support/virtual_clock_preload.c - puts a process on the clock of virtual_clock.
 *
 * The library is loaded before libc (LD_PRELOAD) and replaces its functions that read the clock
 * or wait with a limit. The program, whatever its language, needs no change.
 *
 * A wait without a limit is left to the kernel. A wait with a limit becomes one without, after
 * the thread has written its limit to the shared page. virtual_clock moves the time only while
 * every thread sleeps in the kernel; it then sends VIRTUAL_CLOCK_SIGNAL to the threads whose
 * limit is reached, and the signal ends the system call (EINTR). No wake-up can be lost between
 * the look at the clock and the system call, for a thread in between does not sleep.
 *
 * Condition variables are replaced by a counter and a futex, because those of libc do not end
 * at a signal.
 *
 * What still runs in real time: clocks of CPU time, SO_RCVTIMEO, timerfd, and programs linked
 * statically.
 */
#include "tests/support/virtual_clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "preloaded_clock.h"

#define NEVER     VIRTUAL_CLOCK_NEVER
#define SECOND_NS INT64_C(1000000000)

enum { DUE = -2, KERNEL_SIGSET_BYTES = 8 };

static struct virtual_clock *page;
static _Thread_local struct virtual_wait *mine __attribute__((tls_model("initial-exec")));
static _Thread_local volatile sig_atomic_t signalled __attribute__((tls_model("initial-exec")));

static void record_signal(int number)
{
    (void)number;
    signalled = 1;
}

__attribute__((constructor)) static void join_clock(void)
{
    const char *path = getenv(VIRTUAL_CLOCK_VARIABLE);
    const int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
    void *mapped = fd >= 0 ? mmap(NULL, sizeof *page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                           : MAP_FAILED;
    if (mapped == MAP_FAILED) {
        (void)dprintf(STDERR_FILENO, "virtual_clock: cannot map %s: %s\n",
                      path ? path : VIRTUAL_CLOCK_VARIABLE, strerror(errno));
        abort();
    }
    (void)close(fd);
    const struct sigaction action = {.sa_handler = record_signal, .sa_flags = SA_RESTART};
    sigset_t set;
    (void)sigemptyset(&set);
    (void)sigaddset(&set, VIRTUAL_CLOCK_SIGNAL);
    (void)sigaction(VIRTUAL_CLOCK_SIGNAL, &action, NULL);
    (void)sigprocmask(SIG_UNBLOCK, &set, NULL);
    page = mapped;
}

/* The clock. */

static int64_t now_ns(void)
{
    return atomic_load(&page->now_ns);
}

static struct timespec as_timespec(int64_t ns)
{
    return (struct timespec){ns / SECOND_NS, ns % SECOND_NS};
}

static int64_t as_ns(const struct timespec *t)
{
    return t->tv_sec > NEVER / 4 / SECOND_NS ? NEVER / 4 : t->tv_sec * SECOND_NS + t->tv_nsec;
}

/* How far the clock is ahead of the monotonic one; -1: it counts something else than time. */
static int64_t clock_ahead_ns(clockid_t clock)
{
    switch (clock) {
    case CLOCK_REALTIME:
    case CLOCK_REALTIME_COARSE:
        return page->wall_ns;
    case CLOCK_MONOTONIC:
    case CLOCK_MONOTONIC_RAW:
    case CLOCK_MONOTONIC_COARSE:
    case CLOCK_BOOTTIME:
        return 0;
    default:
        return -1;
    }
}

int clock_gettime(clockid_t clock, struct timespec *t)
{
    const int64_t ahead_ns = page ? clock_ahead_ns(clock) : -1;
    if (ahead_ns < 0) {
        return (int)syscall(SYS_clock_gettime, clock, t);
    }
    *t = as_timespec(now_ns() + ahead_ns);
    return 0;
}

int timespec_get(struct timespec *t, int base)
{
    return base == TIME_UTC && clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

/* Waits. */

static struct virtual_wait *find_wait(int32_t tid, int32_t number)
{
    for (size_t i = 0; i < VIRTUAL_CLOCK_WAITS; i++) {
        struct virtual_wait *w = &page->wait[i];
        int32_t free_tid = 0;
        if (w->tid == tid ? w->signal == number
                          : atomic_compare_exchange_strong(&w->tid, &free_tid, tid)) {
            w->pid = getpid();
            w->signal = number;
            return w;
        }
    }
    (void)dprintf(STDERR_FILENO, "virtual_clock: more than %d threads\n", VIRTUAL_CLOCK_WAITS);
    abort();
}

/* Write the limit to the page; false when it is reached. */
static bool begin_wait(int64_t until_ns)
{
    signalled = 0;
    if (until_ns == NEVER) {
        return true;
    }
    const int32_t tid = (int32_t)syscall(SYS_gettid);
    if (!mine || mine->tid != tid) {
        mine = find_wait(tid, VIRTUAL_CLOCK_SIGNAL);
    }
    mine->until_ns = until_ns;
    return now_ns() < until_ns;
}

static void end_wait(int64_t until_ns)
{
    if (until_ns != NEVER) {
        mine->until_ns = NEVER;
    }
}

/* After EINTR: whether the signal of virtual_clock came late, for a wait that has ended. */
static bool is_stale(int64_t until_ns)
{
    return signalled && now_ns() < until_ns;
}

/* A system call without a limit, until it returns or the time is reached (DUE). */
static long wait_call(int64_t until_ns, long number, long a, long b, long c, long d, long e,
                      long f)
{
    long result = DUE;
    do {
        if (!begin_wait(until_ns)) {
            end_wait(until_ns);
            return DUE;
        }
        result = syscall(number, a, b, c, d, e, f);
        end_wait(until_ns);
    } while (result < 0 && errno == EINTR && is_stale(until_ns));
    return result < 0 && errno == EINTR && now_ns() >= until_ns ? DUE : result;
}

/* The limit, or the step at most 1 us before it: what was computed in floating point is often a
 * bit beyond a step, and would wait for the next one. Never now, or a loop would not end. */
static int64_t round_limit(int64_t until_ns)
{
    const int64_t beyond_ns = until_ns % VIRTUAL_CLOCK_STEP_NS;
    return beyond_ns <= 1000 && until_ns - beyond_ns > now_ns() ? until_ns - beyond_ns
                                                                : until_ns;
}

static int64_t after_ns(int64_t ns)
{
    return ns < NEVER / 4 ? round_limit(now_ns() + ns) : NEVER;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *t, struct timespec *left)
{
    const int64_t ahead_ns = clock_ahead_ns(clock);
    const int64_t until_ns =
        (flags & TIMER_ABSTIME) != 0 ? round_limit(as_ns(t) - ahead_ns) : after_ns(as_ns(t));
    if (ahead_ns < 0 || t->tv_nsec < 0 || t->tv_nsec >= SECOND_NS || t->tv_sec < 0) {
        return EINVAL;
    }
    if (wait_call(until_ns, SYS_ppoll, 0, 0, 0, 0, 0, 0) == DUE) {
        return 0;
    }
    if (left && (flags & TIMER_ABSTIME) == 0) {
        *left = as_timespec(until_ns - now_ns());
    }
    return errno;
}

int nanosleep(const struct timespec *t, struct timespec *left)
{
    const int error = clock_nanosleep(CLOCK_MONOTONIC, 0, t, left);
    errno = error != 0 ? error : errno;
    return error != 0 ? -1 : 0;
}

int usleep(useconds_t us)
{
    const struct timespec t = as_timespec((int64_t)us * 1000);
    return nanosleep(&t, NULL);
}

unsigned sleep(unsigned seconds)
{
    const struct timespec t = {(time_t)seconds, 0};
    struct timespec left = {0, 0};
    return nanosleep(&t, &left) == 0 ? 0 : (unsigned)(left.tv_sec + (left.tv_nsec > 0));
}

/* The end comes from outside: virtual_clock sends SIGALRM when the time is reached. */
unsigned alarm(unsigned seconds)
{
    struct virtual_wait *w = find_wait(getpid(), SIGALRM);
    const int64_t now = now_ns();
    const int64_t before_ns =
        atomic_exchange(&w->until_ns, seconds > 0 ? now + seconds * SECOND_NS : NEVER);
    return before_ns == NEVER || before_ns <= now
               ? 0
               : (unsigned)((before_ns - now + SECOND_NS - 1) / SECOND_NS);
}

/* Fails, so that a program such as timeout(1) uses alarm() instead. */
int timer_create(clockid_t clock, struct sigevent *restrict event, timer_t *restrict timer)
{
    (void)clock;
    (void)event;
    (void)timer;
    errno = ENOSYS;
    return -1;
}

/* The mask without the signal that ends waits, for the kernel; NULL for no mask. */
static long wait_mask(const sigset_t *mask, sigset_t *own)
{
    if (!mask) {
        return 0;
    }
    *own = *mask;
    (void)sigdelset(own, VIRTUAL_CLOCK_SIGNAL);
    return (long)own;
}

static const struct timespec none = {0, 0};

int ppoll(struct pollfd *fds, nfds_t n, const struct timespec *limit, const sigset_t *mask)
{
    sigset_t own;
    const long set = wait_mask(mask, &own);
    const int64_t until_ns = limit ? after_ns(as_ns(limit)) : NEVER;
    const long ready =
        wait_call(until_ns, SYS_ppoll, (long)fds, (long)n, 0, set, KERNEL_SIGSET_BYTES, 0);
    return (int)(ready == DUE ? syscall(SYS_ppoll, fds, n, &(struct timespec){0, 0}, set,
                                        KERNEL_SIGSET_BYTES)
                              : ready);
}

int poll(struct pollfd *fds, nfds_t n, int limit_ms)
{
    const struct timespec limit = as_timespec((int64_t)limit_ms * 1000000);
    return ppoll(fds, n, limit_ms < 0 ? NULL : &limit, NULL);
}

/* The compiler calls this in place of poll() under _FORTIFY_SOURCE. */
int __poll_chk(struct pollfd *fds, nfds_t n, int limit_ms, size_t size);
int __poll_chk(struct pollfd *fds, nfds_t n, int limit_ms, size_t size)
{
    (void)size;
    return poll(fds, n, limit_ms);
}

int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                const sigset_t *mask, size_t size);
int __ppoll_chk(struct pollfd *fds, nfds_t n, const struct timespec *limit,
                const sigset_t *mask, size_t size)
{
    (void)size;
    return ppoll(fds, n, limit, mask);
}

int epoll_pwait(int fd, struct epoll_event *events, int n, int limit_ms, const sigset_t *mask)
{
    sigset_t own;
    const long set = wait_mask(mask, &own);
    const int64_t until_ns = limit_ms < 0 ? NEVER : after_ns((int64_t)limit_ms * 1000000);
    const long ready =
        wait_call(until_ns, SYS_epoll_pwait, fd, (long)events, n, -1, set, KERNEL_SIGSET_BYTES);
    return (int)(ready == DUE
                     ? syscall(SYS_epoll_pwait, fd, events, n, 0, set, KERNEL_SIGSET_BYTES)
                     : ready);
}

int epoll_wait(int fd, struct epoll_event *events, int n, int limit_ms)
{
    return epoll_pwait(fd, events, n, limit_ms, NULL);
}

int pselect(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
            const struct timespec *restrict limit, const sigset_t *restrict mask)
{
    sigset_t own;
    const struct {
        long set;
        size_t size;
    } with = {wait_mask(mask, &own), KERNEL_SIGSET_BYTES};
    const int64_t until_ns = limit ? after_ns(as_ns(limit)) : NEVER;
    const long ready =
        wait_call(until_ns, SYS_pselect6, n, (long)in, (long)out, (long)except, 0, (long)&with);
    return (int)(ready == DUE ? syscall(SYS_pselect6, n, in, out, except,
                                        &(struct timespec){0, 0}, &with)
                              : ready);
}

int select(int n, fd_set *restrict in, fd_set *restrict out, fd_set *restrict except,
           struct timeval *restrict limit)
{
    const struct timespec t =
        limit ? as_timespec(limit->tv_sec * SECOND_NS + limit->tv_usec * 1000) : none;
    return pselect(n, in, out, except, limit ? &t : NULL, NULL);
}

int sigtimedwait(const sigset_t *restrict set, siginfo_t *restrict info,
                 const struct timespec *restrict limit)
{
    const int64_t until_ns = limit ? after_ns(as_ns(limit)) : NEVER;
    const long number = wait_call(until_ns, SYS_rt_sigtimedwait, (long)set, (long)info, 0,
                                  KERNEL_SIGSET_BYTES, 0, 0);
    errno = number == DUE ? EAGAIN : errno;
    return number == DUE ? -1 : (int)number;
}

int sigwaitinfo(const sigset_t *restrict set, siginfo_t *restrict info)
{
    return sigtimedwait(set, info, NULL);
}

/* Condition variables: a counter of signals, which is the futex, and the clock of their limits.
 */

struct condition {
    _Atomic uint32_t signals;
    int32_t clock;
};
_Static_assert(sizeof(struct condition) <= sizeof(pthread_cond_t), "fits into libc's");

int pthread_cond_init(pthread_cond_t *restrict cond,
                      const pthread_condattr_t *restrict attributes)
{
    clockid_t clock = CLOCK_REALTIME;
    if (attributes) {
        (void)pthread_condattr_getclock(attributes, &clock);
    }
    *(struct condition *)cond = (struct condition){.clock = clock};
    return 0;
}

int pthread_cond_destroy(pthread_cond_t *cond)
{
    (void)cond;
    return 0;
}

static int wake_waiters(pthread_cond_t *cond, int count)
{
    struct condition *c = (struct condition *)cond;
    (void)atomic_fetch_add(&c->signals, 1);
    (void)syscall(SYS_futex, &c->signals, FUTEX_WAKE, count, NULL, NULL, 0);
    return 0;
}

int pthread_cond_signal(pthread_cond_t *cond)
{
    return wake_waiters(cond, 1);
}

int pthread_cond_broadcast(pthread_cond_t *cond)
{
    return wake_waiters(cond, INT_MAX);
}

/* A futex without a limit would be waited for again after the signal (SA_RESTART). */
static const struct timespec far = {1000000000, 0};

static int wait_condition(pthread_cond_t *cond, pthread_mutex_t *mutex, int64_t until_ns)
{
    struct condition *c = (struct condition *)cond;
    const uint32_t signals = atomic_load(&c->signals);
    (void)pthread_mutex_unlock(mutex);
    const long result = wait_call(until_ns, SYS_futex, (long)&c->signals, FUTEX_WAIT, signals,
                                  (long)&far, 0, 0);
    (void)pthread_mutex_lock(mutex);
    return result == DUE ? ETIMEDOUT : 0;
}

int pthread_cond_wait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex)
{
    return wait_condition(cond, mutex, NEVER);
}

int pthread_cond_clockwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           clockid_t clock, const struct timespec *restrict until)
{
    return wait_condition(cond, mutex, round_limit(as_ns(until) - clock_ahead_ns(clock)));
}

int pthread_cond_timedwait(pthread_cond_t *restrict cond, pthread_mutex_t *restrict mutex,
                           const struct timespec *restrict until)
{
    return pthread_cond_clockwait(cond, mutex, ((struct condition *)cond)->clock, until);
}

/* Semaphores of libc end at a signal. */
int sem_clockwait(sem_t *restrict sem, clockid_t clock, const struct timespec *restrict until)
{
    static int (*_Atomic real)(sem_t *, clockid_t, const struct timespec *);
    if (!real) {
        *(void **)&real = dlsym(RTLD_NEXT, "sem_clockwait");
    }
    static const struct timespec end = {4000000000, 0};
    const int64_t until_ns = round_limit(as_ns(until) - clock_ahead_ns(clock));
    while (sem_trywait(sem) != 0) {
        const bool waits = begin_wait(until_ns);
        const int result = waits ? real(sem, CLOCK_MONOTONIC, &end) : -1;
        end_wait(until_ns);
        if (result == 0) {
            return 0;
        }
        if (now_ns() >= until_ns) {
            errno = ETIMEDOUT;
            return -1;
        }
        if (errno != EINTR || !is_stale(until_ns)) {
            return -1;
        }
    }
    return 0;
}

int sem_timedwait(sem_t *restrict sem, const struct timespec *restrict until)
{
    return sem_clockwait(sem, CLOCK_REALTIME, until);
}

/* The signal that ends waits stays open: a program cannot block it. */

static int mask_signals(const char *name, int how, const sigset_t *set, sigset_t *before)
{
    int (*real)(int, const sigset_t *, sigset_t *);
    *(void **)&real = dlsym(RTLD_NEXT, name);
    sigset_t own;
    return real(how, how == SIG_UNBLOCK || !set ? set : (const sigset_t *)wait_mask(set, &own),
                before);
}

int pthread_sigmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    return mask_signals("pthread_sigmask", how, set, before);
}

int sigprocmask(int how, const sigset_t *restrict set, sigset_t *restrict before)
{
    return mask_signals("sigprocmask", how, set, before);
}

/* A stream sends at once. Else (Nagle) the kernel may hold a message for up to 40 ms of real
 * time, while every thread sleeps and the time moves on. */
int socket(int domain, int type, int protocol)
{
    const int fd = (int)syscall(SYS_socket, domain, type, protocol);
    if (fd >= 0 && (domain == AF_INET || domain == AF_INET6) && (type & 0xf) == SOCK_STREAM) {
        const int before = errno;
        (void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        errno = before;
    }
    return fd;
}
