/* service/priority.h - the lab thread before all others: efforts are due at their time.
 *
 * Where many threads want the processor, one that wakes waits for some milliseconds. A thread
 * with the lowest of the real-time priorities does not; it needs the capability CAP_SYS_NICE or
 * RLIMIT_RTPRIO. Who holds a lock that such a thread waits for must not wait itself: a lock of
 * priority_mutex_init() lends its holder the priority.
 */
#ifndef SERVICE_PRIORITY_H
#define SERVICE_PRIORITY_H

#include <pthread.h>
#include <stdbool.h>

/* As pthread_mutex_init(), for a lock that the lab thread takes. */
void priority_mutex_init(pthread_mutex_t *mutex);

/* From now on this thread runs before all that have no such priority. False when the system
 * does not allow it; nothing has changed then. */
bool priority_raise(void);

#endif
