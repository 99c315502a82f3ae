/* service/tool/stop_signal.h - SIGINT and SIGTERM as a flag, for commands that run until told.
 */
#ifndef SERVICE_TOOL_STOP_SIGNAL_H
#define SERVICE_TOOL_STOP_SIGNAL_H

#include <stdbool.h>

/* From now on SIGINT and SIGTERM set the flag, and SIGPIPE is ignored. */
void stop_signal_install(void);

/* Any thread. */
bool stop_signal_raised(void);

#endif
