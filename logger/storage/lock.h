/* logger/storage/lock.h - a lock that the thread whose time matters takes as well as others.
 *
 * Who holds a lock that such a thread waits for must not wait for the processor itself: a lock
 * of lock_init() lends its holder the priority of whoever waits for it.
 */
#ifndef LOGGER_STORAGE_LOCK_H
#define LOGGER_STORAGE_LOCK_H

#include <pthread.h>
#include <stdint.h>

/* As pthread_mutex_init(). Where the system knows no lending it is a plain lock. */
void lock_init(pthread_mutex_t *mutex);

/* As pthread_mutex_lock() and pthread_mutex_unlock(), which fail by a bug only. */
void lock_acquire(pthread_mutex_t *mutex);
void lock_release(pthread_mutex_t *mutex);

/* A condition on the monotonic clock. */
void lock_init_condition(pthread_cond_t *condition);

/* As pthread_cond_timedwait() on such a condition, until CLOCK_MONOTONIC is until_us. */
void lock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_us);

#endif
