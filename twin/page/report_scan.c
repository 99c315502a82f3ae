#include "twin/page/report_scan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- members of a record ------------------------------------------------------------------
 */

static bool read_value(struct json_scan *s, struct report_value *value)
{
    struct json_text text;
    value->kind = json_scan_peek(s);
    if (value->kind == JSON_KIND_NUMBER) {
        return json_scan_number(s, &value->number);
    }
    if (value->kind == JSON_KIND_TEXT) {
        const bool good = json_scan_text(s, &text);
        if (good) {
            (void)json_text_copy(&text, value->text, sizeof value->text, false);
        }
        return good;
    }
    return json_scan_skip(s, NULL, NULL);
}

/* Finds the name of this member. Members mostly come in the order of the names. */
static size_t find_name(const struct json_text *key, const char *const *names, size_t count,
                        size_t next)
{
    for (size_t i = 0; i < count; i++) {
        const size_t k = (next + i) % count;
        if (json_text_is(key, names[k])) {
            return k;
        }
    }
    return count;
}

bool report_read_next(struct json_scan *s, const char *const *names, size_t count,
                      struct report_value *values)
{
    struct json_text key;
    size_t next = 0;
    for (size_t k = 0; k < count; k++) {
        values[k].kind = JSON_KIND_NONE;
        values[k].number = nan("");
        values[k].text[0] = '\0';
    }
    bool good = json_scan_enter(s, JSON_KIND_OBJECT);
    while (good && json_scan_next_member(s, &key)) {
        const size_t k = find_name(&key, names, count, next);
        good = k < count ? read_value(s, &values[k]) : json_scan_skip(s, NULL, NULL);
        next = k < count ? k + 1 : next;
    }
    return good;
}

bool report_read(const char *json, size_t bytes, const char *const *names, size_t count,
                 struct report_value *values)
{
    struct json_scan s;
    json_scan_start(&s, json, bytes, JSON_SCAN_DEPTH_MAX);
    return report_read_next(&s, names, count, values) && json_scan_finish(&s);
}

/* ---- entries ------------------------------------------------------------------------------
 */

static void count_version(struct report_version *versions, const char *name)
{
    for (size_t k = 0; k < REPORT_VERSIONS_MAX && name[0]; k++) {
        if (versions[k].entries == 0) {
            (void)snprintf(versions[k].name, EVENT_VERSION_MAX, "%.64s", name);
        }
        if (strncmp(versions[k].name, name, EVENT_VERSION_MAX) == 0) {
            versions[k].entries++;
            return;
        }
    }
}

/* Keeps the largest ones. Of equal ones the earlier is before the later. */
static void add_worst(struct report_scan *scan, double size, const char *json, size_t bytes)
{
    size_t at = scan->worst_count;
    while (at > 0 && scan->worst[at - 1].size < size) {
        at--;
    }
    if (at == REPORT_WORST_MAX || bytes > sizeof scan->worst[0].json) {
        return;
    }
    scan->worst_count += scan->worst_count < REPORT_WORST_MAX;
    memmove(&scan->worst[at + 1], &scan->worst[at],
            (scan->worst_count - 1 - at) * sizeof scan->worst[0]);
    scan->worst[at].size = size;
    scan->worst[at].bytes = bytes;
    memcpy(scan->worst[at].json, json, bytes);
}

static void append_point(struct report_scan *scan, const struct report_point *point)
{
    if (scan->point_count < LAG_PICTURE_POINTS_MAX) {
        scan->points[scan->point_count++] = *point;
    }
}

static void end_interval(struct report_scan *scan)
{
    if (scan->has_lag) {
        const bool falls = scan->greatest.at.x < scan->least.at.x;
        append_point(scan, falls ? &scan->greatest : &scan->least);
        if (scan->greatest.at.x < scan->least.at.x || scan->least.at.x < scan->greatest.at.x) {
            append_point(scan, falls ? &scan->least : &scan->greatest);
        }
    }
    scan->has_lag = false;
}

/* More entries than points: the least and the greatest lag of each of many intervals. */
static void add_point(struct report_scan *scan, const struct report_point *point)
{
    if (scan->total <= LAG_PICTURE_POINTS_MAX) {
        append_point(scan, point);
        return;
    }
    scan->least = !scan->has_lag || point->at.y < scan->least.at.y ? *point : scan->least;
    scan->greatest =
        !scan->has_lag || point->at.y > scan->greatest.at.y ? *point : scan->greatest;
    scan->has_lag = true;
}

bool report_scan_entry(void *context, const char *json, size_t bytes)
{
    enum { T, ID, LAG, JUDGED, VERDICT, AGREES, REAL, VIRTUAL, MEMBERS };
    static const char *const names[MEMBERS] = {
        "t",       "id",         "lag_s",        "judged_lag_s",
        "verdict", "consistent", "real_version", "virtual_version"};
    struct report_value v[MEMBERS];
    struct report_scan *scan = context;
    const uint64_t intervals = LAG_PICTURE_POINTS_MAX / 2;
    if (!report_read(json, bytes, names, MEMBERS, v)) {
        return true;
    }
    const uint64_t interval =
        scan->total > LAG_PICTURE_POINTS_MAX ? scan->count * intervals / scan->total : 0;
    if (interval != scan->interval) {
        end_interval(scan);
        scan->interval = interval;
    }
    const size_t verdict = names_value(&verdict_names, v[VERDICT].text);
    scan->first_s = scan->count == 0 ? v[T].number : scan->first_s;
    scan->last_s = v[T].number;
    scan->count++;
    scan->without_id += v[ID].kind != JSON_KIND_TEXT;
    scan->inconsistent += v[AGREES].kind == JSON_KIND_FALSE;
    if (verdict < VERDICT_COUNT) {
        scan->verdict[verdict]++;
    }
    count_version(scan->version[SIDE_REAL], v[REAL].text);
    count_version(scan->version[SIDE_VIRTUAL], v[VIRTUAL].text);
    if (isfinite(v[LAG].number)) {
        const struct report_point point = {{v[T].number, v[LAG].number}, (uint8_t)verdict};
        add_point(scan, &point);
        add_worst(scan, fabs(isfinite(v[JUDGED].number) ? v[JUDGED].number : v[LAG].number),
                  json, bytes);
    }
    return true;
}

void report_scan_end(struct report_scan *scan)
{
    end_interval(scan);
}
