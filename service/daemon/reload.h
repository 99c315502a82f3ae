/* service/daemon/reload.h - SIGHUP: the lab file read again while the daemon runs. */
#ifndef SERVICE_DAEMON_RELOAD_H
#define SERVICE_DAEMON_RELOAD_H

#include "config/lab_file.h"

/* Check the file. With a fault every one of them goes to the log and nothing changes. Without,
 * log.level is taken over, into *running too, and the log names the keys that wait for a
 * restart. */
void reload_lab_file(const char *path, struct lab_file *running);

#endif
