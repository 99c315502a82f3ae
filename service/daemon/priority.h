/* service/daemon/priority.h - gives the lab thread priority over all others, because efforts
 * are due at fixed times.
 *
 * On a busy machine a thread waits some milliseconds for the processor after it wakes. A thread
 * with the lowest real-time priority does not; it needs the capability CAP_SYS_NICE or
 * RLIMIT_RTPRIO. Its locks are those of logger/storage/lock.h.
 */
#ifndef SERVICE_DAEMON_PRIORITY_H
#define SERVICE_DAEMON_PRIORITY_H

#include <stdbool.h>

/* From now on this thread runs before all without real-time priority. False, without a change,
 * when the system does not allow it. */
bool priority_raise(void);
/* Return to normal priority. */
void priority_lower(void);

#endif
