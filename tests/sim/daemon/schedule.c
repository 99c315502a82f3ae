/* Threads as coroutines, of which the seed chooses who runs, and clocks that pass when none
 * can.
 *
 * The linker replaces the calls of POSIX in the daemon's code by those here (--wrap). A lock's
 * memory is ours: the first number is the thread that holds it, 0 for none. */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "tests/sim/daemon/simulation.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/common_interface_defs.h>
#endif

enum { TASKS_MAX = 64, STACK_BYTES = 4 << 20 };
#define WALL_START_US INT64_C(1763600000000000)
#define MONO_START_US INT64_C(1000000000)

struct task {
    ucontext_t context;
    void *(*run)(void *);
    void *argument, *result;
    char *stack;
    const void *key; /* NULL: ready */
    int64_t until_us;
    int saved_errno;
    bool used, done;
    void *fake;
};

static struct task tasks[TASKS_MAX];
static int current = -1;

bool schedule_runs(void)
{
    return current >= 0;
}

int schedule_current(void)
{
    return current;
}

static int64_t monotonic_us(void)
{
    return MONO_START_US + world->t_us - world->suspended_us;
}

/* The true time at which the monotonic clock shows this. */
static int64_t true_us(int64_t mono_us)
{
    return mono_us - MONO_START_US + world->suspended_us;
}

/* ---- the next thread ---- */

static void pass_to(int64_t t_us)
{
    if (t_us > world->t_us) {
        world->suspended_us += world->suspends ? t_us - world->t_us : 0;
        world->t_us = t_us;
    }
}

/* Times of a suspended process move on with the clock. */
static int64_t next_deadline_us(void)
{
    int64_t next_us = INT64_MAX;
    for (int i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].used && !tasks[i].done && tasks[i].key && tasks[i].until_us < next_us) {
            next_us = tasks[i].until_us;
        }
    }
    return next_us == INT64_MAX ? next_us : true_us(next_us);
}

static int find_ready(void)
{
    int ready[TASKS_MAX];
    uint32_t count = 0;
    for (int i = 0; i < TASKS_MAX; i++) {
        struct task *t = &tasks[i];
        if (t->used && !t->done && t->key && t->until_us <= monotonic_us()) {
            t->key = NULL;
        }
        if (t->used && !t->done && !t->key) {
            ready[count++] = i;
        }
    }
    return count == 0 ? -1 : ready[count == 1 ? 0 : draw_index(count)];
}

/* A checkpoint that never comes is not waited for. */
bool schedule_is_doomed(void)
{
    enum { PATIENCE_S = 100 };
    const int64_t waits_us = world->kill_waits ? PATIENCE_S * (int64_t)SECOND_US : 0;
    return world->kill_us != INT64_MAX && world->t_us >= world->kill_us + waits_us;
}

static void check_life(void)
{
    if (schedule_is_doomed() && world->kill_steps-- == 0) {
        _exit(world->kill_cuts_power ? RUN_POWER_CUT : RUN_KILLED);
    }
}

static int choose_task(void)
{
    for (;;) {
        world_run_due();
        if (world->t_us < world->frozen_until_us) {
            check_life();
            pass_to(min_us(world_next_us(), world->frozen_until_us));
            continue;
        }
        world->suspends = false;
        const int ready = find_ready();
        if (ready >= 0) {
            return ready;
        }
        const int64_t next_us = min_us(world_next_us(), next_deadline_us());
        if (next_us == INT64_MAX) {
            sim_fail("all threads wait for each other");
            _exit(RUN_KILLED);
        }
        pass_to(next_us);
    }
}

static void enter_task(int next)
{
    struct task *from = &tasks[current];
    from->saved_errno = errno;
    current = next;
#ifdef __SANITIZE_ADDRESS__
    const struct task *to = &tasks[next];
    __sanitizer_start_switch_fiber(from->done ? NULL : &from->fake, to->stack,
                                   to->stack ? STACK_BYTES : 8 << 20);
#endif
    (void)swapcontext(&from->context, &tasks[next].context);
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(tasks[current].fake, NULL, NULL);
#endif
    errno = tasks[current].saved_errno;
}

static void give_way(void)
{
    const int next = choose_task();
    if (next != current) {
        enter_task(next);
    }
}

void schedule_point(void)
{
    if (current < 0) {
        return;
    }
    world->steps++;
    world->t_us += chance(0.25);
    check_life();
    if (chance(world->temper.preempt)) {
        const int error = errno;
        give_way();
        errno = error;
    }
}

static void wait_mono(const void *key, int64_t mono_us)
{
    tasks[current].key = key;
    tasks[current].until_us = mono_us;
    give_way();
    check_life();
}

void schedule_wait(const void *key, int64_t t_us)
{
    wait_mono(key, t_us == INT64_MAX ? t_us : MONO_START_US + t_us - world->suspended_us);
}

void schedule_wake(const void *key)
{
    for (int i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].used && tasks[i].key == key) {
            tasks[i].key = NULL;
        }
    }
}

void schedule_sleep_until(int64_t t_us)
{
    while (world->t_us < t_us) {
        schedule_wait(&tasks[current], t_us);
    }
}

/* ---- threads ---- */

static void run_task(void)
{
#ifdef __SANITIZE_ADDRESS__
    __sanitizer_finish_switch_fiber(NULL, NULL, NULL);
#endif
    struct task *t = &tasks[current];
    t->result = t->run(t->argument);
    t->done = true;
    schedule_wake(t);
    enter_task(choose_task());
}

static int find_free(void)
{
    int i = 0;
    while (i < TASKS_MAX && tasks[i].used) {
        i++;
    }
    return i < TASKS_MAX ? i : -1;
}

/* getcontext() returns as setjmp() may: nothing of its caller's is used behind it. */
static void prepare_task(struct task *t)
{
    t->stack = malloc(STACK_BYTES);
    if (!t->stack || getcontext(&t->context) != 0) {
        abort();
    }
    t->context.uc_stack.ss_sp = t->stack;
    t->context.uc_stack.ss_size = STACK_BYTES;
    makecontext(&t->context, run_task, 0);
}

static int spawn_task(void *(*run)(void *), void *argument)
{
    const int i = find_free();
    if (i >= 0) {
        tasks[i] = (struct task){.run = run, .argument = argument, .used = true};
        prepare_task(&tasks[i]);
    }
    return i;
}

void schedule_start(void)
{
    tasks[0] = (struct task){.used = true};
    current = 0;
}

void schedule_spawn(void *(*run)(void *), void *context)
{
    if (spawn_task(run, context) < 0) {
        abort();
    }
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                          void *(*run)(void *), void *argument)
{
    (void)attributes;
    const int i = spawn_task(run, argument);
    *thread = (pthread_t)(i + 1);
    schedule_point();
    return i < 0 ? EAGAIN : 0;
}

int __wrap_pthread_join(pthread_t thread, void **result);
int __wrap_pthread_join(pthread_t thread, void **result)
{
    struct task *t = &tasks[thread - 1];
    while (!t->done) {
        wait_mono(t, INT64_MAX);
    }
    if (result) {
        *result = t->result;
    }
    free(t->stack);
    t->used = false;
    return 0;
}

/* ---- locks ---- */

int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes);
int __wrap_pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *attributes)
{
    (void)attributes;
    *(int *)(void *)mutex = 0;
    return 0;
}

int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *mutex)
{
    if (*(int *)(void *)mutex != 0) {
        sim_fail("a lock is destroyed while it is held");
    }
    return 0;
}

static void lock_mutex(pthread_mutex_t *mutex)
{
    int *owner = (int *)(void *)mutex;
    if (*owner == current + 1) {
        sim_fail("a thread waits for itself");
        _exit(RUN_KILLED);
    }
    while (*owner != 0) {
        wait_mono(mutex, INT64_MAX);
    }
    *owner = current + 1;
}

int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_lock(pthread_mutex_t *mutex)
{
    if (current < 0) {
        return 0;
    }
    schedule_point();
    lock_mutex(mutex);
    return 0;
}

static void unlock_mutex(pthread_mutex_t *mutex)
{
    int *owner = (int *)(void *)mutex;
    if (*owner != current + 1) {
        sim_fail("a lock is given back by a thread that does not hold it");
    }
    *owner = 0;
    schedule_wake(mutex);
}

int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (current < 0) {
        return 0;
    }
    unlock_mutex(mutex);
    schedule_point();
    return 0;
}

int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes);
int __wrap_pthread_cond_init(pthread_cond_t *condition, const pthread_condattr_t *attributes)
{
    (void)condition;
    (void)attributes;
    return 0;
}

int __wrap_pthread_cond_destroy(pthread_cond_t *condition);
int __wrap_pthread_cond_destroy(pthread_cond_t *condition)
{
    (void)condition;
    return 0;
}

int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until);
int __wrap_pthread_cond_timedwait(pthread_cond_t *condition, pthread_mutex_t *mutex,
                                  const struct timespec *until)
{
    const int64_t until_us =
        until ? until->tv_sec * SECOND_US + until->tv_nsec / 1000 : INT64_MAX;
    unlock_mutex(mutex);
    wait_mono(condition, until_us);
    lock_mutex(mutex);
    return until_us <= monotonic_us() ? ETIMEDOUT : 0;
}

int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex);
int __wrap_pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
    return __wrap_pthread_cond_timedwait(condition, mutex, NULL);
}

int __wrap_pthread_cond_broadcast(pthread_cond_t *condition);
int __wrap_pthread_cond_broadcast(pthread_cond_t *condition)
{
    schedule_wake(condition);
    schedule_point();
    return 0;
}

/* One of those that wait. */
int __wrap_pthread_cond_signal(pthread_cond_t *condition);
int __wrap_pthread_cond_signal(pthread_cond_t *condition)
{
    int waiting[TASKS_MAX];
    uint32_t count = 0;
    for (int i = 0; i < TASKS_MAX; i++) {
        if (tasks[i].used && tasks[i].key == condition) {
            waiting[count++] = i;
        }
    }
    if (count > 0) {
        tasks[waiting[count == 1 ? 0 : draw_index(count)]].key = NULL;
    }
    schedule_point();
    return 0;
}

/* ---- clocks ---- */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
    schedule_point();
    world->t_us++; /* a thread that reads a clock until it shows something gets there */
    int64_t us = monotonic_us();
    if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
        us = WALL_START_US + world->t_us + world->wall_us +
             (int64_t)(world->temper.wall_drift * (double)world->t_us);
    } else if (clock == CLOCK_BOOTTIME) {
        us += world->suspended_us;
    }
    *out = (struct timespec){us / SECOND_US, us % SECOND_US * 1000};
    return 0;
}

int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                           struct timespec *rest);
int __wrap_clock_nanosleep(clockid_t clock, int flags, const struct timespec *t,
                           struct timespec *rest)
{
    (void)clock;
    (void)rest;
    int64_t until_us = t->tv_sec * SECOND_US + t->tv_nsec / 1000;
    until_us += flags & TIMER_ABSTIME ? 0 : monotonic_us();
    while (monotonic_us() < until_us) {
        wait_mono(&tasks[current], until_us);
    }
    return 0;
}

int __wrap_nanosleep(const struct timespec *t, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *t, struct timespec *rest)
{
    return __wrap_clock_nanosleep(CLOCK_MONOTONIC, 0, t, rest);
}

/* ---- what a coroutine has not ---- */

int __wrap_pthread_setname_np(pthread_t thread, const char *name);
int __wrap_pthread_setname_np(pthread_t thread, const char *name)
{
    (void)thread;
    (void)name;
    return 0;
}

int __wrap_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *p);
int __wrap_pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *p)
{
    (void)thread;
    (void)policy;
    (void)p;
    return 0;
}

int __wrap_setpriority(int which, id_t who, int priority);
int __wrap_setpriority(int which, id_t who, int priority)
{
    (void)which;
    (void)who;
    (void)priority;
    return 0;
}

ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags);
ssize_t __wrap_getrandom(void *to, size_t n, unsigned flags)
{
    unsigned char *bytes = to;
    (void)flags;
    for (size_t i = 0; i < n; i++) {
        bytes[i] = (unsigned char)draw_index(256);
    }
    return (ssize_t)n;
}
