/* twin/page/report_scan.h - what a report shows of a pair's entries, gathered in one pass:
 * counts, the largest lags, and at most 2000 points of the plot. Pure.
 */
#ifndef TWIN_PAGE_REPORT_SCAN_H
#define TWIN_PAGE_REPORT_SCAN_H

#include <stdbool.h>
#include <stdint.h>

#include "logger/message/json_scan.h"
#include "logger/message/record_json.h"
#include "twin/report/lag_picture.h"

enum { REPORT_WORST_MAX = 10, REPORT_VERSIONS_MAX = 8, REPORT_TEXT_MAX = 256 };

/* A member of a record. */
struct report_value {
    enum json_kind kind;        /* JSON_KIND_NONE: absent */
    double number;              /* NaN: it is none */
    char text[REPORT_TEXT_MAX]; /* "": it is none; a long one is cut */
};

/* Reads members of a record: values[k] is that of names[k]. False: it is no JSON object. */
bool report_read(const char *json, size_t bytes, const char *const *names, size_t count,
                 struct report_value *values);
/* The same for the object at which a scan stands. A fault is the scan's. */
bool report_read_next(struct json_scan *s, const char *const *names, size_t count,
                      struct report_value *values);

struct report_point {
    struct lag_point at; /* Unix seconds, lag in s */
    uint8_t verdict;     /* enum verdict */
};

struct report_version {
    char name[EVENT_VERSION_MAX];
    uint64_t entries;
};

struct report_worst {
    double size; /* magnitude of the lag that the verdict rests on, s */
    size_t bytes;
    char json[RECORD_JSON_MAX]; /* [bytes] */
};

struct report_scan {
    uint64_t total; /* set by the owner, the rest zero: entries that will come */
    uint64_t count, without_id, inconsistent, verdict[VERDICT_COUNT];
    double first_s, last_s; /* Unix seconds of commands */
    /* The first ones that came; others are left out. */
    struct report_version version[SIDE_COUNT][REPORT_VERSIONS_MAX];
    struct report_worst worst[REPORT_WORST_MAX]; /* [worst_count], the largest first */
    size_t worst_count;
    struct report_point points[LAG_PICTURE_POINTS_MAX]; /* [point_count], by time */
    size_t point_count;
    /* The interval in progress, of more entries than points. */
    uint64_t interval;
    bool has_lag;
    struct report_point least, greatest;
};

/* Adds the next entry, oldest first; context is the scan. Returns true. */
bool report_scan_entry(void *context, const char *json, size_t bytes);
void report_scan_end(struct report_scan *scan);

#endif
