#include "logger/storage/lock.h"

#include <assert.h>
#include <time.h>

void lock_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void)pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

void lock_acquire(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_lock(mutex);
    assert(!failed);
    (void)failed;
}

void lock_release(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_unlock(mutex);
    assert(!failed);
    (void)failed;
}

void lock_init_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(condition, &attributes);
    (void)pthread_condattr_destroy(&attributes);
}

void lock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_us)
{
    const struct timespec until = {until_us / 1000000, until_us % 1000000 * 1000};
    (void)pthread_cond_timedwait(condition, mutex, &until);
}
