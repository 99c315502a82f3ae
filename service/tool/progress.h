/* service/tool/progress.h - a progress bar on a terminal; silent when stderr is none. */
#ifndef SERVICE_TOOL_PROGRESS_H
#define SERVICE_TOOL_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct progress {
    const char *what; /* borrowed; may change meanwhile */
    bool shown;       /* stderr is a terminal */
    int64_t next_us;
};

void progress_start(struct progress *p, const char *what);
/* Show done of total (0: unknown); draws at most five times a second. */
void progress_step(struct progress *p, uint64_t done, uint64_t total);
void progress_end(struct progress *p);

#endif
