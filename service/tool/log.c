#include "service/tool/log.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/text/text.h"
#include "base/text/utf8.h"
#include "logger/message/json_write.h"
#include "logger/message/message.h"
#include "service/tool/lab_clock.h"

enum { TEXT_MAX = 512, LINE_MAX_BYTES = 2048 };

/* clang-format off */
const struct log_row log_rows[LOG_EVENT_COUNT] = {
#define EVENT(id, level, rate, name, meaning) {name, meaning, LOG_LEVEL_##level, rate},
#include "service/tool/log_events.def"
#undef EVENT
};
/* clang-format on */

static struct {
    pthread_mutex_t lock;
    enum log_format format;
    atomic_int level; /* an enum log_level */
    int fd;
    uint64_t suppressed;
    struct {
        int64_t second; /* second in which `lines` were written */
        unsigned lines;
        uint64_t suppressed; /* since the last line */
    } rate[LOG_EVENT_COUNT];
} log_state = {.lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_LEVEL_INFO, .fd = STDERR_FILENO};

ENUM_NAMES(log_level, LOG_LEVEL_DEBUG + 1, "error", "warn", "info", "debug");

void log_start(enum log_format format, enum log_level level, int fd)
{
    log_state.format = format;
    log_state.fd = fd;
    log_set_level(level);
}

void log_set_level(enum log_level level)
{
    atomic_store_explicit(&log_state.level, (int)level, memory_order_relaxed);
}

bool log_on(enum log_event event)
{
    return (int)log_rows[event].level <=
           atomic_load_explicit(&log_state.level, memory_order_relaxed);
}

/* Log lines have the host's current time, because the lab's clock does not follow changes of
 * it. */
static int64_t wall_us(void)
{
    struct timespec t = {0};
    (void)clock_gettime(CLOCK_REALTIME, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static size_t format_plain(enum log_event event, const char *pair, const char *text,
                           uint64_t suppressed, char *line, size_t size)
{
    char t[28];
    message_format_time(wall_us(), t);
    char more[48] = "";
    if (suppressed) {
        (void)snprintf(more, sizeof more, " (%llu more)", (unsigned long long)suppressed);
    }
    const int n =
        snprintf(line, size, "%s %s %s%s%s: %s%s\n", t, log_level_name(log_rows[event].level),
                 log_rows[event].name, pair ? " " : "", pair ? pair : "", text, more);
    return n < 0 ? 0 : (size_t)n < size ? (size_t)n : size - 1;
}

static size_t format_json(enum log_event event, const char *pair, const char *text,
                          uint64_t suppressed, char *line, size_t size)
{
    char t[28];
    message_format_time(wall_us(), t);
    struct json_writer w;
    json_write_start(&w, line, size - 1, NULL, NULL);
    JSON_WRITE_OBJECT(&w, NULL, JSON("t_wall", t),
                      JSON("t_mono_ns", lab_clock_monotonic_us() * 1000),
                      JSON("level", log_level_name(log_rows[event].level)),
                      JSON("event", log_rows[event].name), JSON_IF(pair, JSON("pair", pair)),
                      JSON("text", text), JSON_IF(suppressed, JSON("suppressed", suppressed)));
    if (!json_write_end(&w)) {
        return 0;
    }
    line[w.used] = '\n';
    return w.used + 1;
}

/* Lock held. Control characters would let a message forge log lines. */
static void write_line(enum log_event event, const char *pair, char *text)
{
    (void)utf8_tame(text);
    char line[LINE_MAX_BYTES];
    const uint64_t suppressed = log_state.rate[event].suppressed;
    log_state.rate[event].suppressed = 0;
    const size_t bytes = log_state.format == LOG_JSON
                             ? format_json(event, pair, text, suppressed, line, sizeof line)
                             : format_plain(event, pair, text, suppressed, line, sizeof line);
    /* Nobody can be informed when stderr is gone. */
    const ssize_t written = write(log_state.fd, line, bytes);
    (void)written;
}

/* Lock held. */
static bool may_write(enum log_event event)
{
    const unsigned limit = log_rows[event].rate_per_s;
    const int64_t second = lab_clock_monotonic_us() / 1000000;
    if (log_state.rate[event].second != second) {
        log_state.rate[event].second = second;
        log_state.rate[event].lines = 0;
    }
    if (limit && log_state.rate[event].lines >= limit) {
        log_state.rate[event].suppressed++;
        log_state.suppressed++;
        return false;
    }
    log_state.rate[event].lines++;
    return true;
}

void log_write(enum log_event event, const char *pair, const char *format, ...)
{
    if (!log_on(event)) {
        return;
    }
    (void)pthread_mutex_lock(&log_state.lock);
    if (may_write(event)) {
        char text[TEXT_MAX];
        TEXT_FORMAT(text, sizeof text, format);
        write_line(event, pair, text);
    }
    (void)pthread_mutex_unlock(&log_state.lock);
}

void log_flush(void)
{
    (void)pthread_mutex_lock(&log_state.lock);
    for (unsigned event = 0; event < LOG_EVENT_COUNT; event++) {
        if (log_state.rate[event].suppressed) {
            char text[] = "suppressed";
            write_line((enum log_event)event, NULL, text);
        }
    }
    (void)pthread_mutex_unlock(&log_state.lock);
}

uint64_t log_suppressed(void)
{
    (void)pthread_mutex_lock(&log_state.lock);
    const uint64_t suppressed = log_state.suppressed;
    (void)pthread_mutex_unlock(&log_state.lock);
    return suppressed;
}
