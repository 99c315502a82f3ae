/* service/tool/child.h - a child process that cannot outlive this one.
 *
 * It has a process group of its own, so that Ctrl-C reaches only this process, which ends its
 * children in the right order. It has a log file, and gets SIGTERM as soon as this process is
 * gone, however that happens.
 */
#ifndef SERVICE_TOOL_CHILD_H
#define SERVICE_TOOL_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "base/errors/err.h"

struct child {
    const char *name; /* "broker"; its log is NAME.log in the directory */
    const char *dir;  /* its working directory; borrowed for the child's life */
    pid_t pid;        /* 0: not running */
    bool started;     /* was started at least once */
    bool died;        /* ended without a request */
    int exit_status;  /* valid after its end; 128 + n for signal n */
};

/* Run argv (NULL-terminated) from program, an absolute path. STATUS_E_IO when it cannot fork;
 * a program that cannot be executed ends at once with status 127. Main thread only. */
MUST_USE enum status child_start(struct child *c, const char *name, const char *dir,
                                 const char *program, const char *const *argv, struct err *err);

/* Check whether it still runs, and record its end. */
bool child_is_running(struct child *c);

/* Send SIGTERM, SIGKILL after timeout_ms, and wait for it. No effect when it is not running.
 * Returns whether it ended cleanly: by itself or at SIGTERM, with status 0. */
bool child_stop(struct child *c, int timeout_ms);

/* Print the last lines of its log to stderr. */
void child_show_log(const struct child *c, int lines);

#endif
