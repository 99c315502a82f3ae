#include "logger/storage/lock.h"

#include <assert.h>

void lock_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void)pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

void lock_take(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_lock(mutex);
    assert(!failed);
    (void)failed;
}

void lock_give(pthread_mutex_t *mutex)
{
    const int failed = pthread_mutex_unlock(mutex);
    assert(!failed);
    (void)failed;
}
