#include "web/http/query.h"

#include <assert.h>
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "logger/message/record.h"

bool percent_decode(const char *text, size_t bytes, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c == '%') {
            if (bytes - i <= 2 || !isxdigit((unsigned char)text[i + 1]) ||
                !isxdigit((unsigned char)text[i + 2])) {
                return false;
            }
            c = (unsigned char)strtoul((char[]){text[i + 1], text[i + 2], '\0'}, NULL, 16);
            i += 2;
        }
        if (c < 0x20 || c == 0x7f || n + 1 >= size) {
            return false;
        }
        out[n++] = (char)c;
    }
    if (size == 0) {
        return false;
    }
    out[n] = '\0';
    return true;
}

enum {
    REAL_MAX = 1000000000,
    VALUE_MAX = QUERY_COLUMNS_MAX,
    NAME_MAX_SHOWN = 40,
    PARAMETERS_MAX = 32
};

_Static_assert((int)VALUE_MAX > (int)QUERY_CURSOR_MAX, "a cursor is a value");

static enum status refuse_unknown(const struct query_reader *r, const char *name, size_t n,
                                  struct err *err)
{
    char where[NAME_MAX_SHOWN + 1];
    char names[ERR_TEXT_MAX] = " none";
    size_t used = 0;
    (void)snprintf(where, sizeof where, "%.*s", (int)(n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN),
                   name);
    for (size_t i = 0; i < r->count && used < sizeof names; i++) {
        if (r->names[i]) {
            const int k = snprintf(names + used, sizeof names - used, " %s", r->names[i]);
            used += k > 0 ? (size_t)k : 0;
        }
    }
    return err_set(err, r->refused, FAULT_UNKNOWN_PARAMETER, where,
                   "unknown parameter; this resource has%s", names);
}

static enum status refuse_parameter(const struct query_reader *r, size_t i, enum fault fault,
                                    const char *what, struct err *err)
{
    return err_set(err, r->refused, fault, r->names[i], "%s", what);
}

static size_t find_parameter(const struct query_reader *r, const char *text, size_t n)
{
    char name[QUERY_TEXT_MAX + 1];
    size_t i = 0;
    if (!percent_decode(text, n, name, sizeof name)) {
        return r->count;
    }
    while (i < r->count && !(r->names[i] && strcmp(r->names[i], name) == 0)) {
        i++;
    }
    return i;
}

/* Reads one "name=value"; given has a bit for each parameter before it. */
static enum status read_pair(const struct query_reader *r, const char *text, size_t n,
                             unsigned *given, struct err *err)
{
    const char *equals = memchr(text, '=', n);
    const size_t name_n = equals ? (size_t)(equals - text) : n;
    const size_t i = find_parameter(r, text, name_n);
    char value[QUERY_TEXT_MAX + 1];
    if (i == r->count) {
        return refuse_unknown(r, text, name_n, err);
    }
    if (*given & 1U << i) {
        return refuse_parameter(r, i, FAULT_DUPLICATE_NAME, "given twice", err);
    }
    *given |= 1U << i;
    if (!equals || !percent_decode(equals + 1, n - name_n - 1, value, r->value_max)) {
        return refuse_parameter(r, i, FAULT_BAD_ENCODING,
                                "has no value, a broken %XX, or is too long", err);
    }
    return r->read(r->context, i, value, err);
}

enum status query_read(const char *text, const struct query_reader *reader, struct err *err)
{
    unsigned given = 0;
    enum status st = STATUS_OK;
    assert(reader->count <= PARAMETERS_MAX && reader->value_max <= QUERY_TEXT_MAX + 1);
    while (*text && st == STATUS_OK) {
        const size_t n = strcspn(text, "&");
        st = n > 0 ? read_pair(reader, text, n, &given, err) : STATUS_OK;
        text += n + (text[n] == '&');
    }
    return st;
}

static enum status refuse_value(struct err *err, enum query_parameter parameter,
                                enum fault fault, const char *what)
{
    return err_set(err, STATUS_E_PARSE, fault, query_parameter_name(parameter), "%s", what);
}

static const char DIGITS[] = "0123456789";

/* A query while it is parsed. */
struct reading {
    struct query out;
    int64_t now_us;
};

struct value;

/* How a parameter is parsed, and its destination. */
struct parameter {
    enum status (*read)(const struct value *v);
    size_t place, size; /* place and size in struct query */
    const struct names *names;
    int64_t max;
};

/* A value while it is parsed. */
struct value {
    const struct parameter *how;
    enum query_parameter id;
    const char *text;
    void *out;
    struct reading *query;
    struct err *err;
};

static enum status read_time(const struct value *v)
{
    const int64_t t_us = iso_time_parse_asked(v->text, v->query->now_us);
    if (t_us == LAB_TIME_NONE) {
        return refuse_value(v->err, v->id, FAULT_TIME_EXPECTED,
                            "not a time: " ISO_TIME_ASKED " would be right");
    }
    *(int64_t *)v->out = t_us;
    v->query->out.moving = v->query->out.moving || !isdigit((unsigned char)v->text[0]);
    return STATUS_OK;
}

/* Lists names, each after a separator, truncated to the room. */
static void list_names(const struct names *names, const char *separator, char out[ERR_TEXT_MAX])
{
    size_t used = 0;
    for (size_t i = 0; i < names->count && used < ERR_TEXT_MAX; i++) {
        const int n = snprintf(out + used, ERR_TEXT_MAX - used, "%s%s",
                               used > 0 ? separator : " ", names_text(names, i));
        used += n > 0 ? (size_t)n : 0;
    }
}

/* Parses a name from a table. */
static enum status read_name(const struct value *v)
{
    const struct names *names = v->how->names;
    const bool few = names->count <= 2;
    const size_t value = names_value(names, v->text);
    char list[ERR_TEXT_MAX] = "";
    if (value < names->count) {
        *(int *)v->out = (int)value;
        return STATUS_OK;
    }
    list_names(names, few ? " or " : " ", list);
    return err_set(v->err, STATUS_E_PARSE, FAULT_UNKNOWN_VALUE, query_parameter_name(v->id),
                   "must be%s%s", few ? "" : " one of", list);
}

static enum status read_count(const struct value *v)
{
    const size_t digits = strspn(v->text, DIGITS);
    const long count = strtol(v->text, NULL, 10);
    if (digits > 6 || v->text[digits] || count < 1 || count > v->how->max) {
        return err_set(v->err, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, query_parameter_name(v->id),
                       "must be a whole number from 1 to %d", (int)v->how->max);
    }
    *(uint32_t *)v->out = (uint32_t)count;
    return STATUS_OK;
}

static enum status read_text(const struct value *v)
{
    const size_t n = strlen(v->text);
    if (n == 0 || n >= v->how->size) {
        return err_set(v->err, STATUS_E_PARSE, FAULT_TOO_LONG, query_parameter_name(v->id),
                       "must have 1 to %zu characters", v->how->size - 1);
    }
    memcpy(v->out, v->text, n + 1);
    return STATUS_OK;
}

static enum status read_real(const struct value *v)
{
    char *end = NULL;
    const double number = strtod(v->text, &end);
    if (end == v->text || *end || !(number >= 0.0) || number > (double)v->how->max) {
        return err_set(v->err, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, query_parameter_name(v->id),
                       "must be a number from 0 to %g", (double)v->how->max);
    }
    *(double *)v->out = number;
    return STATUS_OK;
}

/* Parses the size of a move. */
static enum status read_size(const struct value *v)
{
    char *end = NULL;
    const double number = strtod(v->text, &end);
    if (end == v->text || *end || !(fabs(number) <= (double)v->how->max)) {
        return err_set(v->err, STATUS_E_PARSE, FAULT_OUT_OF_RANGE, query_parameter_name(v->id),
                       "must be a number from -%g to %g", (double)v->how->max,
                       (double)v->how->max);
    }
    *(double *)v->out = number;
    return STATUS_OK;
}

/* The list itself checks whether a cursor is one of its own. */
static enum status read_cursor(const struct value *v)
{
    return read_text(v) == STATUS_OK ? STATUS_OK
                                     : refuse_value(v->err, v->id, FAULT_BAD_CURSOR,
                                                    "not a cursor that this list handed out");
}

static enum status read_file_name(const struct value *v)
{
    return strchr(v->text, '/') ? refuse_value(v->err, v->id, FAULT_BAD_NAME,
                                               "must be a file's name without folders")
                                : read_text(v);
}

/* Parses names separated by commas as a set of bits. */
static enum status read_names(const struct value *v)
{
    uint64_t set = 0;
    enum status status = STATUS_OK;
    const char *from = v->text;
    for (bool more = true; more && status == STATUS_OK; from++) {
        char name[QUERY_WORD_MAX] = "";
        int value = 0;
        const size_t n = strcspn(from, ",");
        memcpy(name, from, n < sizeof name ? n : 0);
        status = read_name(&(struct value){v->how, v->id, name, &value, v->query, v->err});
        set |= UINT64_C(1) << value;
        from += n;
        more = *from == ',';
    }
    *(uint64_t *)v->out = set;
    return status;
}

static const struct names ORDERS = {(const char *const[]){"newest", "oldest"}, 2};
static const struct names FORMATS = {(const char *const[]){"json", "csv"}, QUERY_FORMAT_COUNT};
static const struct names CHART_FORMATS = {(const char *const[]){"json", "csv", "svg"},
                                           QUERY_CHART_FORMAT_COUNT};
static const struct names FRAGMENT_NAMES = {
    (const char *const[]){"json", "mjcf", "urdf", "sdf"}, QUERY_FRAGMENT_COUNT};
static const struct names FLAGS = {(const char *const[]){"false", "true"}, 2};
static const struct names LEVELS = {(const char *const[]){"0.8", "0.9", "0.95"},
                                    QUERY_LEVEL_COUNT};
static const struct names SWITCH = {(const char *const[]){"0", "1"}, 2};
static const struct names FIELDS = {(const char *const[]){"lag_s"}, 1};

#define PLACE(member) offsetof(struct query, member), sizeof((struct query *)NULL)->member

static const struct parameter PARAMETERS[] = {
    [QUERY_LIMIT] = {.read = read_count, PLACE(limit), .max = QUERY_LIMIT_MAX},
    [QUERY_CURSOR] = {.read = read_cursor, PLACE(cursor)},
    [QUERY_SINCE] = {.read = read_time, PLACE(since_us)},
    [QUERY_UNTIL] = {.read = read_time, PLACE(until_us)},
    [QUERY_ORDER] = {.read = read_name, PLACE(oldest), &ORDERS},
    [QUERY_FORMAT] = {.read = read_name, PLACE(format), &FORMATS},
    [QUERY_VERDICT] = {.read = read_names, PLACE(verdicts), &entry_filter_names},
    [QUERY_TYPE] = {.read = read_names, PLACE(types), &alarm_filter_names},
    [QUERY_NAME] = {.read = read_file_name, PLACE(name)},
    [QUERY_PAIR] = {.read = read_text, PLACE(pair)},
    [QUERY_REFIT] = {.read = read_name, PLACE(refit), &FLAGS},
    [QUERY_POINTS] = {.read = read_count, PLACE(points), .max = QUERY_POINTS_MAX},
    [QUERY_FIELD] = {.read = read_name, PLACE(field), &FIELDS},
    [QUERY_EVENT_PAIRS] = {.read = read_text, PLACE(pairs)},
    [QUERY_EVENT_TYPES] = {.read = read_names, PLACE(event_types), &event_type_names},
    [QUERY_LAST_EVENT_ID] = {.read = read_text, PLACE(last_event_id)},
    [QUERY_CHART_FORMAT] = {.read = read_name, PLACE(format), &CHART_FORMATS},
    [QUERY_TEAM] = {.read = read_text, PLACE(team)},
    [QUERY_JOB] = {.read = read_text, PLACE(job)},
    [QUERY_FRAGMENT_FORMAT] = {.read = read_name, PLACE(format), &FRAGMENT_NAMES},
    [QUERY_INERTIA] = {.read = read_real, PLACE(inertia_kgm2), .max = REAL_MAX},
    [QUERY_TORQUE_PER_UNIT] = {.read = read_real, PLACE(torque_per_unit), .max = REAL_MAX},
    [QUERY_MASS] = {.read = read_real, PLACE(mass_kg), .max = REAL_MAX},
    [QUERY_YAW_INERTIA] = {.read = read_real, PLACE(yaw_inertia_kgm2), .max = REAL_MAX},
    [QUERY_REAL_VERSION] = {.read = read_text, PLACE(version[SIDE_REAL])},
    [QUERY_VIRTUAL_VERSION] = {.read = read_text, PLACE(version[SIDE_VIRTUAL])},
    [QUERY_ROTATION] = {.read = read_size, PLACE(rotation_rad), .max = REAL_MAX},
    [QUERY_DISPLACEMENT] = {.read = read_size, PLACE(displacement_m), .max = REAL_MAX},
    [QUERY_LEVEL] = {.read = read_name, PLACE(level), &LEVELS},
    [QUERY_OPEN] = {.read = read_name, PLACE(open), &SWITCH},
};
_Static_assert(COUNT(PARAMETERS) == QUERY_PARAMETER_COUNT, "how each parameter is read");

static enum status read_parameter(void *context, size_t parameter, const char *value,
                                  struct err *err)
{
    struct reading *query = context;
    const struct parameter *how = &PARAMETERS[parameter];
    query->out.given |= QUERY_BIT(parameter);
    return how->read(&(struct value){how, (enum query_parameter)parameter, value,
                                     (char *)&query->out + how->place, query, err});
}

enum status query_parse(const char *text, unsigned allowed, int64_t now_us, struct query *query,
                        struct err *err)
{
    struct reading reading = {.out = {.limit = QUERY_LIMIT_DEFAULT,
                                      .since_us = LAB_TIME_NONE,
                                      .until_us = LAB_TIME_MAX,
                                      .points = QUERY_POINTS_DEFAULT,
                                      .event_types = (1u << EVENT_TYPE_COUNT) - 1},
                              .now_us = now_us};
    /* Only the allowed ones, because some resources use one name differently. */
    const char *names[QUERY_PARAMETER_COUNT] = {NULL};
    for (unsigned i = 0; i < QUERY_PARAMETER_COUNT; i++) {
        names[i] = allowed & QUERY_BIT(i) ? names_text(&query_parameter_names, i) : NULL;
    }
    const struct query_reader reader = {names,          COUNT(names),   VALUE_MAX,
                                        STATUS_E_PARSE, read_parameter, &reading};
    const enum status status =
        text && allowed != QUERY_RAW ? query_read(text, &reader, err) : STATUS_OK;
    if (status != STATUS_OK) {
        return status;
    }
    if (reading.out.since_us >= reading.out.until_us) {
        return refuse_value(err, QUERY_UNTIL, FAULT_WRONG_ORDER, "must be later than since");
    }
    *query = reading.out;
    return STATUS_OK;
}

ENUM_NAMES(query_parameter, QUERY_PARAMETER_COUNT, "limit", "cursor", "since", "until", "order",
           "format", "verdict", "type", "name", "pair", "refit", "points", "field", "pair",
           "type", "last_event_id", "format", "team", "job", "format", "inertia",
           "torque_per_unit", "mass", "yaw_inertia", "real_version", "virtual_version",
           "rotation_rad", "displacement_m", "level", "open");
