#include "web/http/query.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lab_time.h"
#include "logger/message/message.h"
#include "logger/message/record.h"
#include "web/http/percent.h"

enum { VALUE_MAX = QUERY_COLUMNS_MAX, NAME_MAX_SHOWN = 40 };

_Static_assert((int)VALUE_MAX > (int)CURSOR_TEXT_MAX, "a cursor is a value");

static enum status refuse_value(struct err *err, enum query_parameter parameter,
                                const char *what)
{
    return err_set(err, STATUS_E_PARSE, query_parameter_name(parameter), 0, 0, "%s", what);
}

/* Decimal digits only; false when there are none, too many, or anything else. */
static bool read_digits(const char *text, size_t n, size_t n_max, int64_t *value)
{
    if (n == 0 || n > n_max) {
        return false;
    }
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        if (text[i] < '0' || text[i] > '9') {
            return false;
        }
        sum = sum * 10 + (text[i] - '0');
    }
    *value = sum;
    return true;
}

/* "1763617674.25": exact, where a double would round the last microsecond. */
static int64_t read_unix_seconds(const char *text)
{
    const size_t whole_n = strcspn(text, ".");
    int64_t whole = 0;
    int64_t fraction = 0;
    if (!read_digits(text, whole_n, 11, &whole)) {
        return LAB_TIME_NONE;
    }
    if (text[whole_n] == '.') {
        const char *digits = text + whole_n + 1;
        const size_t n = strlen(digits);
        if (!read_digits(digits, n, 6, &fraction)) {
            return LAB_TIME_NONE;
        }
        for (size_t i = n; i < 6; i++) {
            fraction *= 10;
        }
    }
    return whole * 1000000 + fraction;
}

static enum status read_time(const char *text, enum query_parameter parameter, int64_t *t_us,
                             struct err *err)
{
    int64_t t = read_unix_seconds(text);
    if (t == LAB_TIME_NONE) {
        t = message_parse_time(text, strlen(text));
    }
    if (t == LAB_TIME_NONE) {
        return refuse_value(err, parameter,
                            "not a time: Unix seconds (1763617674.25) or ISO 8601 "
                            "(2026-11-20T05:55:55.5Z) would be right");
    }
    *t_us = t;
    return STATUS_OK;
}

/* The value of a name, out of a table. */
static enum status read_name(enum query_parameter parameter, const char *text,
                             const struct names *names, int *value, struct err *err)
{
    char list[ERR_TEXT_MAX] = "";
    size_t used = 0;
    *value = (int)names_value(names, text);
    if (*value < (int)names->count) {
        return STATUS_OK;
    }
    for (size_t i = 0; i < names->count && used < sizeof list; i++) {
        const int n = snprintf(list + used, sizeof list - used, " %s", names->text[i]);
        used += n > 0 ? (size_t)n : 0;
    }
    return err_set(err, STATUS_E_PARSE, query_parameter_name(parameter), 0, 0,
                   "must be one of%s", list);
}

static enum status read_limit(const char *text, struct query *query, struct err *err)
{
    int64_t limit = 0;
    if (!read_digits(text, strlen(text), 6, &limit) || limit < 1 || limit > QUERY_LIMIT_MAX) {
        return refuse_value(err, QUERY_LIMIT, "must be a whole number from 1 to 1000");
    }
    query->limit = (uint32_t)limit;
    return STATUS_OK;
}

static enum status read_points(const char *text, struct query *query, struct err *err)
{
    int64_t points = 0;
    if (!read_digits(text, strlen(text), 6, &points) || points < 1 ||
        points > QUERY_POINTS_MAX) {
        return refuse_value(err, QUERY_POINTS, "must be a whole number from 1 to 4000");
    }
    query->points = (uint32_t)points;
    return STATUS_OK;
}

static enum status read_cursor(const char *text, struct query *query, struct err *err)
{
    /* Whether it is one of ours is for the list to say, which knows the salt. */
    const size_t n = strlen(text);
    if (n == 0 || n >= sizeof query->cursor) {
        return refuse_value(err, QUERY_CURSOR, "not a cursor that this list handed out");
    }
    memcpy(query->cursor, text, n + 1);
    return STATUS_OK;
}

static enum status read_text(enum query_parameter parameter, const char *text, char *out,
                             size_t size, struct err *err)
{
    const size_t n = strlen(text);
    if (n == 0 || n >= size) {
        return err_set(err, STATUS_E_PARSE, query_parameter_name(parameter), 0, 0,
                       "must have 1 to %zu characters", size - 1);
    }
    memcpy(out, text, n + 1);
    return STATUS_OK;
}

static enum status read_event_types(const char *text, struct query *query, struct err *err)
{
    int type = 0;
    query->event_types = 0;
    for (const char *p = text;; p++) {
        char name[QUERY_WORD_MAX] = "";
        const size_t n = strcspn(p, ",");
        if (n < sizeof name) {
            memcpy(name, p, n);
        }
        const enum status st =
            read_name(QUERY_EVENT_TYPES, name, &event_type_names, &type, err);
        if (st != STATUS_OK) {
            return st;
        }
        query->event_types |= 1u << type;
        p += n;
        if (!*p) {
            return STATUS_OK;
        }
    }
}

static enum status read_value(enum query_parameter parameter, const char *text,
                              struct query *query, struct err *err)
{
    switch (parameter) {
    case QUERY_LIMIT:
        return read_limit(text, query, err);
    case QUERY_CURSOR:
        return read_cursor(text, query, err);
    case QUERY_SINCE:
        return read_time(text, parameter, &query->since_us, err);
    case QUERY_UNTIL:
        return read_time(text, parameter, &query->until_us, err);
    case QUERY_ORDER:
        query->oldest = strcmp(text, "oldest") == 0;
        return query->oldest || strcmp(text, "newest") == 0
                   ? STATUS_OK
                   : refuse_value(err, parameter, "must be newest or oldest");
    case QUERY_FORMAT:
        query->format = strcmp(text, "csv") == 0 ? QUERY_FORMAT_CSV : QUERY_FORMAT_JSON;
        return query->format == QUERY_FORMAT_CSV || strcmp(text, "json") == 0
                   ? STATUS_OK
                   : refuse_value(err, parameter, "must be json or csv");
    case QUERY_VERDICT:
        return read_name(parameter, text, &verdict_names, &query->verdict, err);
    case QUERY_TYPE:
        return read_name(parameter, text, &alarm_type_names, &query->type, err);
    case QUERY_NAME:
        return strchr(text, '/')
                   ? refuse_value(err, parameter, "must be a file's name without folders")
                   : read_text(parameter, text, query->name, sizeof query->name, err);
    case QUERY_PAIR:
        return read_text(parameter, text, query->pair, sizeof query->pair, err);
    case QUERY_EVENT_PAIRS:
        return read_text(parameter, text, query->pairs, sizeof query->pairs, err);
    case QUERY_EVENT_TYPES:
        return read_event_types(text, query, err);
    case QUERY_LAST_EVENT_ID:
        return read_text(parameter, text, query->last_event_id, sizeof query->last_event_id,
                         err);
    case QUERY_POINTS:
        return read_points(text, query, err);
    case QUERY_FIELD:
        return strcmp(text, "lag_s") == 0 ? STATUS_OK
                                          : refuse_value(err, parameter, "must be lag_s");
    case QUERY_PARAMETER_COUNT:
        break;
    }
    return STATUS_E_ARG;
}

/* Of those allowed: some resources mean different things by the same name. */
static enum query_parameter find_parameter(const char *name, unsigned allowed)
{
    int i = 0;
    while (i < QUERY_PARAMETER_COUNT &&
           (!(allowed & QUERY_BIT(i)) ||
            strcmp(name, query_parameter_name((enum query_parameter)i)) != 0)) {
        i++;
    }
    return (enum query_parameter)i;
}

static enum status refuse_unknown(struct err *err, const char *name, size_t n, unsigned allowed)
{
    char where[NAME_MAX_SHOWN + 1];
    (void)snprintf(where, sizeof where, "%.*s", (int)(n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN),
                   name);
    char names[ERR_TEXT_MAX] = " none";
    size_t used = 0;
    for (int i = 0; i < QUERY_PARAMETER_COUNT && used < sizeof names; i++) {
        if (allowed & QUERY_BIT(i)) {
            const int k = snprintf(names + used, sizeof names - used, " %s",
                                   query_parameter_name((enum query_parameter)i));
            used += k > 0 ? (size_t)k : 0;
        }
    }
    return err_set(err, STATUS_E_PARSE, where, 0, 0, "unknown parameter; this resource has%s",
                   names);
}

/* One "name=value". */
static enum status read_pair(const char *text, size_t n, unsigned allowed, struct query *query,
                             struct err *err)
{
    const char *equals = memchr(text, '=', n);
    const size_t name_n = equals ? (size_t)(equals - text) : n;
    char name[VALUE_MAX];
    char value[VALUE_MAX];
    enum query_parameter parameter = QUERY_PARAMETER_COUNT;
    if (percent_decode(text, name_n, name, sizeof name)) {
        parameter = find_parameter(name, allowed);
    }
    if (parameter == QUERY_PARAMETER_COUNT) {
        return refuse_unknown(err, text, name_n, allowed);
    }
    if (query->given & QUERY_BIT(parameter)) {
        return refuse_value(err, parameter, "given twice");
    }
    query->given |= QUERY_BIT(parameter);
    if (!equals || !percent_decode(equals + 1, n - name_n - 1, value, sizeof value)) {
        return refuse_value(err, parameter, "has no value, a broken %XX, or is too long");
    }
    return read_value(parameter, value, query, err);
}

void query_default(struct query *query)
{
    *query = (struct query){.limit = QUERY_LIMIT_DEFAULT,
                            .since_us = LAB_TIME_NONE,
                            .until_us = LAB_TIME_MAX,
                            .verdict = -1,
                            .type = -1,
                            .points = QUERY_POINTS_DEFAULT,
                            .event_types = (1u << EVENT_TYPE_COUNT) - 1};
}

enum status query_parse(const char *text, unsigned allowed, struct query *query,
                        struct err *err)
{
    struct query out;
    query_default(&out);
    const char *p = text ? text : "";
    if (allowed == QUERY_RAW) {
        (void)snprintf(query->text, sizeof query->text, "%s", p);
        return STATUS_OK;
    }
    while (*p) {
        const size_t n = strcspn(p, "&");
        if (n > 0) {
            const enum status status = read_pair(p, n, allowed, &out, err);
            if (status != STATUS_OK) {
                return status;
            }
        }
        p += n;
        p += *p == '&';
    }
    if (out.since_us >= out.until_us) {
        return refuse_value(err, QUERY_UNTIL, "must be later than since");
    }
    *query = out;
    return STATUS_OK;
}

ENUM_NAMES(query_parameter, QUERY_PARAMETER_COUNT, "limit", "cursor", "since", "until", "order",
           "format", "verdict", "type", "name", "pair", "points", "field", "pair", "type",
           "last_event_id");
