/* service/tool/stop_signal.h - turns SIGINT and SIGTERM into a flag, for commands that run
 * until stopped.
 */
#ifndef SERVICE_TOOL_STOP_SIGNAL_H
#define SERVICE_TOOL_STOP_SIGNAL_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM set the flag, and SIGPIPE is ignored. */
void stop_signal_install(void);

/* Any thread. */
bool stop_signal_raised(void);

#endif
