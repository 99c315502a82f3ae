#include "web/http/query.h"

#include <assert.h>
#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "base/numbers/number.h"
#include "base/text/text.h"
#include "logger/message/record.h"

/* plus: what '+' is decoded to. */
static bool decode_text(const char *text, size_t bytes, char plus, char *out, size_t size)
{
    size_t n = 0;
    for (size_t i = 0; i < bytes; i++) {
        unsigned char c = (unsigned char)(text[i] == '+' ? plus : text[i]);
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

bool percent_decode(const char *text, size_t bytes, char *out, size_t size)
{
    return decode_text(text, bytes, '+', out, size);
}

bool percent_encode(const char *text, char *out, size_t size)
{
    static const char plain[] = "0123456789-._~"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    size_t used = 0;
    for (; *text && used + 3 < size; text++) {
        const bool kept = strchr(plain, *text) != NULL;
        used += (size_t)snprintf(out + used, size - used, kept ? "%c" : "%%%02X",
                                 kept ? *text : (unsigned char)*text);
    }
    return *text == '\0' && used < size;
}

enum {
    REAL_MAX = 1000000000,
    VALUE_MAX = QUERY_COLUMNS_MAX,
    NAME_MAX_SHOWN = 40,
    PARAMETERS_MAX = 64 /* bits of `given` */
};

_Static_assert((int)VALUE_MAX > (int)QUERY_CURSOR_MAX, "a cursor is a value");

static enum status refuse_unknown(const struct query_reader *r, const char *name, size_t n,
                                  struct err *err)
{
    char where[NAME_MAX_SHOWN + 1];
    char names[ERR_TEXT_MAX] = "";
    (void)snprintf(where, sizeof where, "%.*s", (int)(n < NAME_MAX_SHOWN ? n : NAME_MAX_SHOWN),
                   name);
    for (size_t i = 0; i < r->count; i++) {
        if (r->names[i]) {
            text_append(names, sizeof names, " %s", r->names[i]);
        }
    }
    return err_set(err, r->refused, FAULT_UNKNOWN_PARAMETER, where,
                   "unknown parameter; this resource has%s", names[0] ? names : " none");
}

enum status query_refuse(const struct query_value *v, enum fault fault, const char *what)
{
    return err_set(v->err, v->refused, fault, v->name, "%s", what);
}

/* People write times and numbers as they are, with the '+' of a zone or exponent, which was
 * read as a blank. Behind `from` they have none, so the last blank is that '+'. */
static void restore_plus(const struct query_value *v, size_t from,
                         char text[QUERY_TEXT_MAX + 1])
{
    (void)snprintf(text, QUERY_TEXT_MAX + 1, "%s", v->text);
    char *blank = strrchr(text, ' ');
    if (blank && blank >= text + from) {
        *blank = '+';
    }
}

enum status query_number(const struct query_value *v, double min, double max, bool whole,
                         double *out)
{
    char text[QUERY_TEXT_MAX + 1];
    double number = 0.0;
    restore_plus(v, 0, text);
    const char *const end = text + strlen(text);
    if (text[0] && number_scan(text, end, &number) == end && number >= min && number <= max &&
        (!whole || text[strspn(text, "0123456789")] == '\0')) {
        *out = number;
        return STATUS_OK;
    }
    return err_set(v->err, v->refused, FAULT_OUT_OF_RANGE, v->name,
                   "must be a %snumber from %.10g to %.10g", whole ? "whole " : "", min, max);
}

enum status query_text(const struct query_value *v, size_t size, char *out)
{
    const size_t n = strlen(v->text);
    if (n == 0) {
        return err_set(v->err, v->refused, FAULT_MISSING_VALUE, v->name,
                       "is empty: 1 to %zu bytes were expected", size - 1);
    }
    if (n >= size) {
        return err_set(v->err, v->refused, FAULT_TOO_LONG, v->name,
                       "has %zu bytes: 1 to %zu were expected", n, size - 1);
    }
    memcpy(out, v->text, n + 1);
    return STATUS_OK;
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
                             uint64_t *given, struct err *err)
{
    const char *equals = memchr(text, '=', n);
    const size_t name_n = equals ? (size_t)(equals - text) : n;
    const size_t i = find_parameter(r, text, name_n);
    char value[QUERY_TEXT_MAX + 1];
    if (i == r->count) {
        return refuse_unknown(r, text, name_n, err);
    }
    const struct query_value v = {r->names[i], value, r->refused, err};
    if (*given & UINT64_C(1) << i) {
        return query_refuse(&v, FAULT_DUPLICATE_NAME, "given twice");
    }
    *given |= UINT64_C(1) << i;
    const char *from = equals ? equals + 1 : text + n;
    if (!decode_text(from, (size_t)(text + n - from), ' ', value, r->value_max)) {
        return query_refuse(&v, FAULT_BAD_ENCODING,
                            "has a broken %XX or a control character, or is too long");
    }
    return r->read(r->context, i, &v);
}

enum status query_read(const char *text, const struct query_reader *reader, struct err *err)
{
    uint64_t given = 0;
    enum status st = STATUS_OK;
    assert(reader->count <= PARAMETERS_MAX && reader->value_max <= QUERY_TEXT_MAX + 1);
    while (*text && st == STATUS_OK) {
        const size_t n = strcspn(text, "&");
        st = n > 0 ? read_pair(reader, text, n, &given, err) : STATUS_OK;
        text += n + (text[n] == '&');
    }
    return st;
}

/* A query while it is parsed. */
struct reading {
    struct query out;
    int64_t now_us;
};

/* How a parameter is parsed, and its destination. */
struct parameter {
    enum status (*read)(const struct query_value *v, const struct parameter *how, void *out,
                        struct reading *query);
    size_t place, size; /* place and size in struct query */
    const struct names *names;
    double min, max;
};

static enum status read_time(const struct query_value *v, const struct parameter *how,
                             void *out, struct reading *query)
{
    (void)how;
    char text[QUERY_TEXT_MAX + 1];
    restore_plus(v, sizeof "2026-11-20T" - 1, text);
    const int64_t t_us = iso_time_parse_asked(text, query->now_us);
    if (t_us == LAB_TIME_NONE) {
        return query_refuse(v, FAULT_TIME_EXPECTED,
                            "not a time: " ISO_TIME_ASKED " would be right");
    }
    *(int64_t *)out = t_us;
    query->out.moving = query->out.moving || !isdigit((unsigned char)v->text[0]);
    return STATUS_OK;
}

/* Lists names, each after a separator, truncated to the room. */
static void list_names(const struct names *names, const char *separator, char out[ERR_TEXT_MAX])
{
    for (size_t i = 0; i < names->count; i++) {
        text_append(out, ERR_TEXT_MAX, "%s%s", i > 0 ? separator : " ", names_text(names, i));
    }
}

/* Parses a name from a table. */
static enum status read_name(const struct query_value *v, const struct parameter *how,
                             void *out, struct reading *query)
{
    (void)query;
    const bool few = how->names->count <= 2;
    const size_t value = names_value(how->names, v->text);
    char list[ERR_TEXT_MAX] = "";
    if (value < how->names->count) {
        *(int *)out = (int)value;
        return STATUS_OK;
    }
    list_names(how->names, few ? " or " : " ", list);
    return err_set(v->err, v->refused, FAULT_UNKNOWN_VALUE, v->name, "must be%s%s",
                   few ? "" : " one of", list);
}

static enum status read_count(const struct query_value *v, const struct parameter *how,
                              void *out, struct reading *query)
{
    (void)query;
    double number = 0.0;
    const enum status status = query_number(v, how->min, how->max, true, &number);
    if (status == STATUS_OK) {
        *(uint32_t *)out = (uint32_t)number;
    }
    return status;
}

static enum status read_real(const struct query_value *v, const struct parameter *how,
                             void *out, struct reading *query)
{
    (void)query;
    return query_number(v, how->min, how->max, false, out);
}

static enum status read_text(const struct query_value *v, const struct parameter *how,
                             void *out, struct reading *query)
{
    (void)query;
    return query_text(v, how->size, out);
}

/* The list itself checks whether a cursor is one of its own. */
static enum status read_cursor(const struct query_value *v, const struct parameter *how,
                               void *out, struct reading *query)
{
    (void)query;
    return query_text(v, how->size, out) == STATUS_OK
               ? STATUS_OK
               : query_refuse(v, FAULT_BAD_CURSOR, "not a cursor that this list handed out");
}

static enum status read_file_name(const struct query_value *v, const struct parameter *how,
                                  void *out, struct reading *query)
{
    (void)query;
    return strchr(v->text, '/')
               ? query_refuse(v, FAULT_BAD_NAME, "must be a file's name without folders")
               : query_text(v, how->size, out);
}

/* Parses names separated by commas as a set of bits. */
static enum status read_names(const struct query_value *v, const struct parameter *how,
                              void *out, struct reading *query)
{
    uint64_t set = 0;
    enum status status = STATUS_OK;
    const char *from = v->text;
    for (bool more = true; more && status == STATUS_OK; from++) {
        char name[QUERY_WORD_MAX] = "";
        int value = 0;
        const size_t n = strcspn(from, ",");
        memcpy(name, from, n < sizeof name ? n : 0);
        status = read_name(&(struct query_value){v->name, name, v->refused, v->err}, how,
                           &value, query);
        set |= UINT64_C(1) << value;
        from += n;
        more = *from == ',';
    }
    *(uint64_t *)out = set;
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

static const struct parameter PARAMETERS[] = {
#define QUERY(id, name, reader, member, values, least, most)                                   \
    [QUERY_##id] = {.read = (reader),                                                          \
                    .place = offsetof(struct query, member),                                   \
                    .size = sizeof((struct query *)NULL)->member,                              \
                    .names = (values),                                                         \
                    .min = (least),                                                            \
                    .max = (most)},
#include "web/http/query.def"
#undef QUERY
};

static enum status read_parameter(void *context, size_t parameter,
                                  const struct query_value *value)
{
    struct reading *query = context;
    const struct parameter *how = &PARAMETERS[parameter];
    query->out.given |= QUERY_BIT(parameter);
    return how->read(value, how, (char *)&query->out + how->place, query);
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
        return err_set(err, STATUS_E_PARSE, FAULT_WRONG_ORDER,
                       query_parameter_name(QUERY_UNTIL), "must be later than since");
    }
    *query = reading.out;
    return STATUS_OK;
}

static const char *const parameter_names[] = {
#define QUERY(id, name, ...) name,
#include "web/http/query.def"
#undef QUERY
};
const struct names query_parameter_names = {parameter_names, QUERY_PARAMETER_COUNT};

const char *query_parameter_name(enum query_parameter parameter)
{
    return parameter_names[parameter];
}
