/* service/daemon/notify.h - tell the supervisor (systemd's Type=notify, or whoever set
 * NOTIFY_SOCKET) how the daemon is. Without one nothing happens. Any thread; never blocks for
 * long. What cannot be told is not told: the supervisor's deadlines are the remedy.
 */
#ifndef SERVICE_DAEMON_NOTIFY_H
#define SERVICE_DAEMON_NOTIFY_H

#include <stdint.h>

#include "base/status.h"

/* Started, or through with what notify_reloading() began. */
void notify_ready(void);
void notify_reloading(void);
void notify_stopping(void);

/* One line for `systemctl status`. */
void notify_status(const char *format, ...) PRINTF_LIKE(1, 2);

/* How often notify_alive() is to be called, microseconds: half of what the supervisor waits
 * (WATCHDOG_USEC). 0: nobody waits. */
int64_t notify_alive_us(void);
void notify_alive(void);

#endif
