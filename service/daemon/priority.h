/* service/daemon/priority.h - the lab thread before all others: efforts are due at their time.
 *
 * Where many threads want the processor, one that wakes waits for some milliseconds. A thread
 * with the lowest of the real-time priorities does not; it needs the capability CAP_SYS_NICE or
 * RLIMIT_RTPRIO. The locks it takes are those of logger/storage/lock.h.
 */
#ifndef SERVICE_DAEMON_PRIORITY_H
#define SERVICE_DAEMON_PRIORITY_H

#include <stdbool.h>

/* From now on this thread runs before all that have no such priority. False when the system
 * does not allow it; nothing has changed then. */
bool priority_raise(void);
/* It is one among others again. */
void priority_lower(void);

#endif
