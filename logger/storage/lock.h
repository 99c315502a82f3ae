/* logger/storage/lock.h - mutexes and conditions that are safe to share with a real-time
 * thread.
 *
 * A thread that holds a lock must not itself wait for the processor while a real-time thread
 * waits for the lock. So a lock of lock_init() lends its holder the priority of the waiting
 * thread (priority inheritance).
 */
#ifndef LOGGER_STORAGE_LOCK_H
#define LOGGER_STORAGE_LOCK_H

#include <pthread.h>
#include <stdint.h>

/* Initialises like pthread_mutex_init(), with priority inheritance where the system has it. */
void lock_init(pthread_mutex_t *mutex);

/* Locks and unlocks like pthread_mutex_lock() and _unlock(), which fail only because of a
 * bug. */
void lock_acquire(pthread_mutex_t *mutex);
void lock_release(pthread_mutex_t *mutex);

/* Initialises a condition on the monotonic clock. */
void lock_init_condition(pthread_cond_t *condition);

/* Waits like pthread_cond_timedwait() on such a condition, until CLOCK_MONOTONIC is
 * until_us. */
void lock_wait(pthread_cond_t *condition, pthread_mutex_t *mutex, int64_t until_us);

#endif
