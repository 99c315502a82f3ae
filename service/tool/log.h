/* service/tool/log.h - the daemon's log on stderr: one line per event, from a fixed catalogue.
 *
 * Lines are plain ("2026-11-20T05:55:55.599953Z info serving: …") or JSON with the same
 * contents. Each event has a rate limit. Suppressed lines are counted and reported with the
 * next line of that event, or by log_flush(). Any thread; a line is one write.
 */
#ifndef SERVICE_TOOL_LOG_H
#define SERVICE_TOOL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/text/names.h"
#include "config/labfile/lab_file.h"

enum log_event {
#define EVENT(id, level, rate, name, meaning) id,
#include "service/tool/log_events.def"
#undef EVENT
    LOG_EVENT_COUNT
};

enum log_format { LOG_PLAIN, LOG_JSON };

struct log_row {
    const char *name;
    const char *meaning;
    enum log_level level;
    unsigned rate_per_s; /* 0: unlimited */
};

extern const struct log_row log_rows[LOG_EVENT_COUNT];

ENUM_NAMES_DECLARED(log_level);

/* Call before other threads exist. Without it: plain, info, on stderr. */
void log_start(enum log_format format, enum log_level level, int fd);

/* Any thread, at any time. */
void log_set_level(enum log_level level);

/* Is this event's level on? Avoids computing expensive arguments. */
bool log_on(enum log_event event);

/* pair: the pair's id, or NULL. */
void log_write(enum log_event event, const char *pair, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Report suppressed lines that were not reported yet. */
void log_flush(void);

/* Lines suppressed so far. */
uint64_t log_suppressed(void);

#endif
