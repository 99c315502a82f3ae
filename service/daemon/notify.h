/* service/daemon/notify.h - tell the supervisor (systemd's Type=notify, or whoever set
 * NOTIFY_SOCKET) how the daemon is. Without one nothing happens. Any thread; never blocks for
 * long. What cannot be told is not told: the supervisor's deadlines are the remedy.
 */
#ifndef SERVICE_DAEMON_NOTIFY_H
#define SERVICE_DAEMON_NOTIFY_H

#include <stdint.h>

#include "base/status.h"

/* One of sd_notify(3)'s words: "READY=1" started, or through with what notify_reloading()
 * began; "STOPPING=1"; "WATCHDOG=1" alive. */
void notify_tell(const char *state);
void notify_reloading(void);

/* One line for `systemctl status`. */
void notify_status(const char *format, ...) PRINTF_LIKE(1, 2);

/* How often WATCHDOG=1 is to be told, microseconds: half of what the supervisor waits
 * (WATCHDOG_USEC). 0: nobody waits. */
int64_t notify_alive_us(void);

#endif
