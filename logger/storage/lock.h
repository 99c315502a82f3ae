/* logger/storage/lock.h - a lock that the thread whose time matters takes as well as others.
 *
 * Who holds a lock that such a thread waits for must not wait for the processor itself: a lock
 * of lock_init() lends its holder the priority of whoever waits for it.
 */
#ifndef LOGGER_STORAGE_LOCK_H
#define LOGGER_STORAGE_LOCK_H

#include <pthread.h>

/* As pthread_mutex_init(). Where the system knows no lending it is a plain lock. */
void lock_init(pthread_mutex_t *mutex);

/* As pthread_mutex_lock() and pthread_mutex_unlock(), which fail by a bug only. */
void lock_take(pthread_mutex_t *mutex);
void lock_give(pthread_mutex_t *mutex);

#endif
