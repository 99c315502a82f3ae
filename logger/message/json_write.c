#include "logger/message/json_write.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/lab_time.h"
#include "logger/message/json_plain.h"

static void put_pieces(struct json_writer *w, const char *text, size_t bytes)
{
    while (bytes > 0) {
        if (w->used == w->capacity) {
            if (!w->flush) {
                w->overflow = true;
                return;
            }
            w->flush(w->context, w->text, w->used);
            w->used = 0;
        }
        const size_t room = w->capacity - w->used;
        const size_t part = bytes < room ? bytes : room;
        memcpy(w->text + w->used, text, part);
        w->used += part;
        text += part;
        bytes -= part;
    }
}

static void put_bytes(struct json_writer *w, const char *text, size_t bytes)
{
    if (bytes > w->capacity - w->used) {
        put_pieces(w, text, bytes);
        return;
    }
    memcpy(w->text + w->used, text, bytes);
    w->used += bytes;
}

/* A call of memcpy() for one byte takes longer than the byte. */
static void put_char(struct json_writer *w, char c)
{
    if (w->used == w->capacity) {
        put_pieces(w, &c, 1);
    } else {
        w->text[w->used++] = c;
    }
}

/* Besides what JSON wants, bytes from 0x7f up to `escaped_max` are escaped. */
static void put_quoted(struct json_writer *w, const char *value, size_t bytes,
                       unsigned char escaped_max)
{
    static const char hex[] = "0123456789abcdef";
    const char *const end = value + bytes;
    const char *from = value;
    const char *p = json_skip_plain(value, end);
    if (p == end && bytes + 2 <= w->capacity - w->used) { /* as most are */
        char *const to = w->text + w->used;
        to[0] = '"';
        memcpy(to + 1, value, bytes);
        to[bytes + 1] = '"';
        w->used += bytes + 2;
        return;
    }
    put_char(w, '"');
    for (; p < end; p = json_skip_plain(p + 1, end)) {
        const unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7f || c > escaped_max)) {
            continue;
        }
        put_bytes(w, from, (size_t)(p - from));
        from = p + 1;
        if (escaped_max == 0 && (c == '"' || c == '\\')) {
            const char pair[2] = {'\\', (char)c};
            put_bytes(w, pair, sizeof pair);
        } else {
            const char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            put_bytes(w, code, sizeof code);
        }
    }
    put_bytes(w, from, (size_t)(end - from));
    put_char(w, '"');
}

static void begin_member(struct json_writer *w, const char *key)
{
    if (w->comma[w->depth]) {
        put_char(w, ',');
    }
    w->comma[w->depth] = true;
    if (key) {
        put_quoted(w, key, strlen(key), 0);
        put_char(w, ':');
    }
}

static void open_bracket(struct json_writer *w, const char *key, char bracket, char closing)
{
    begin_member(w, key);
    put_char(w, bracket);
    assert(w->depth < JSON_WRITE_DEPTH_MAX);
    w->depth++;
    w->comma[w->depth] = false;
    w->close[w->depth] = closing;
}

/* The text is written to later: NOLINTNEXTLINE(readability-non-const-parameter) */
void json_write_start(struct json_writer *w, char *text, size_t capacity,
                      json_write_flush *flush, void *context)
{
    *w = (struct json_writer){
        .text = text, .capacity = capacity, .flush = flush, .context = context};
}

bool json_write_end(struct json_writer *w)
{
    if (w->flush && w->used > 0) {
        w->flush(w->context, w->text, w->used);
        w->used = 0;
    }
    return !w->overflow && w->depth == 0;
}

void json_write_object(struct json_writer *w, const char *key)
{
    open_bracket(w, key, '{', '}');
}

void json_write_array(struct json_writer *w, const char *key)
{
    open_bracket(w, key, '[', ']');
}

void json_write_close(struct json_writer *w)
{
    assert(w->depth > 0);
    put_char(w, w->close[w->depth]);
    w->depth--;
}

void json_write_text(struct json_writer *w, const char *key, const char *value)
{
    if (!value) {
        json_write_null(w, key);
        return;
    }
    begin_member(w, key);
    put_quoted(w, value, strlen(value), 0);
}

void json_write_bytes(struct json_writer *w, const char *key, const char *text, size_t bytes,
                      bool latin1)
{
    begin_member(w, key);
    put_quoted(w, text, bytes, latin1 ? 0xff : 0x7f);
}

void json_write_float(struct json_writer *w, const char *key, float value)
{
    char text[JSON_WRITE_NUMBER_MAX];
    double nearest = (double)value;
    for (int precision = 6; isfinite(value) && precision <= 9; precision++) {
        (void)snprintf(text, sizeof text, "%.*g", precision, (double)value);
        nearest = strtod(text, NULL);
        const float back = (float)nearest;
        if (!(back < value) && !(back > value)) {
            break;
        }
    }
    json_write_real(w, key, nearest);
}

/* Decimal digits of value, written backwards from end; returns where they begin. */
static char *digits_before(char *end, uint64_t value)
{
    do {
        *--end = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    return end;
}

void json_write_int(struct json_writer *w, const char *key, int64_t value)
{
    char number[JSON_WRITE_NUMBER_MAX];
    char *const end = number + sizeof number;
    const uint64_t size = value < 0 ? UINT64_C(0) - (uint64_t)value : (uint64_t)value;
    char *begin = digits_before(end, size);
    if (value < 0) {
        *--begin = '-';
    }
    json_write_raw(w, key, begin, (size_t)(end - begin));
}

void json_write_bool(struct json_writer *w, const char *key, bool value)
{
    json_write_raw(w, key, value ? "true" : "false", value ? 4 : 5);
}

void json_write_null(struct json_writer *w, const char *key)
{
    json_write_raw(w, key, "null", 4);
}

void json_write_seconds(struct json_writer *w, const char *key, int64_t us)
{
    char number[JSON_WRITE_NUMBER_MAX] = "null";
    json_write_raw(w, key, number, us != LAB_TIME_NONE ? json_format_seconds(us, number) : 4);
}

void json_write_two(struct json_writer *w, const char *key, double a, double b)
{
    const double both[] = {a, b};
    json_write_axes(w, key, both, 2);
}

void json_write_axes(struct json_writer *w, const char *key, const double *axes, size_t count)
{
    if (count == 0) {
        return;
    }
    json_write_array(w, key);
    for (size_t i = 0; i < count; i++) {
        json_write_real(w, NULL, axes[i]);
    }
    json_write_close(w);
}

void json_write_texts(struct json_writer *w, const char *key, const char *texts, size_t room,
                      size_t count)
{
    json_write_array(w, key);
    for (size_t i = 0; i < count; i++) {
        json_write_text(w, NULL, texts + i * room);
    }
    json_write_close(w);
}

bool json_write_known(struct json_writer *w, const char *key, bool known)
{
    if (known) {
        json_write_object(w, key);
    } else {
        json_write_null(w, key);
    }
    return known;
}

void json_write_counts(struct json_writer *w, const char *key, const struct names *names,
                       const uint64_t *counts)
{
    json_write_object(w, key);
    for (size_t i = 0; i < names->count; i++) {
        json_write_int(w, names->text[i], (int64_t)counts[i]);
    }
    json_write_close(w);
}

static void write_member(struct json_writer *w, const struct json_member *m, const void *field)
{
    switch (m->form) {
    case JSON_FORM_REAL:
        json_write_real(w, m->key, *(const double *)field);
        break;
    case JSON_FORM_BOOL:
        json_write_bool(w, m->key, *(const bool *)field);
        break;
    case JSON_FORM_U16:
        json_write_int(w, m->key, *(const uint16_t *)field);
        break;
    case JSON_FORM_U32:
        json_write_int(w, m->key, *(const uint32_t *)field);
        break;
    case JSON_FORM_64:
        json_write_int(w, m->key, *(const int64_t *)field);
        break;
    case JSON_FORM_CHARS:
        json_write_text(w, m->key, field);
        break;
    case JSON_FORM_TEXT:
        json_write_text(w, m->key, *(const char *const *)field);
        break;
    case JSON_FORM_SECONDS:
        json_write_seconds(w, m->key, *(const int64_t *)field);
        break;
    }
}

void json_write_members(struct json_writer *w, const struct json_member *members, size_t count,
                        const void *from)
{
    for (size_t i = 0; i < count; i++) {
        write_member(w, &members[i], (const char *)from + members[i].offset);
    }
}

void json_write_raw(struct json_writer *w, const char *key, const char *json, size_t bytes)
{
    begin_member(w, key);
    put_bytes(w, bytes > 0 ? json : "null", bytes > 0 ? bytes : 4);
}

size_t json_format_seconds(int64_t us, char out[JSON_WRITE_NUMBER_MAX])
{
    char text[JSON_WRITE_NUMBER_MAX];
    char *const end = text + sizeof text;
    char *last = end;
    const uint64_t size = us < 0 ? UINT64_C(0) - (uint64_t)us : (uint64_t)us;
    uint64_t fraction = size % 1000000;
    char *begin = end;
    if (fraction > 0) {
        for (int k = 0; k < 6; k++) {
            *--begin = (char)('0' + fraction % 10);
            fraction /= 10;
        }
        *--begin = '.';
        while (last[-1] == '0') {
            last--;
        }
    }
    begin = digits_before(begin, size / 1000000);
    if (us < 0) {
        *--begin = '-';
    }
    const size_t n = (size_t)(last - begin);
    memcpy(out, begin, n);
    out[n] = '\0';
    return n;
}

/* False where no number of so many significant digits reads back to the value: the nearest is
 * further away than half a unit of the value's last place, rounding here allowed for. */
static bool may_suffice(double value, int digits)
{
    enum { SHIFT_MAX = 40 }; /* as many roundings at most */
    const int exponent = ilogb(value);
    /* Behind the point, or one more: log10(2) is 0.30103. */
    const double shift = digits - 1 - floor(exponent * 0.30103);
    if (!(shift >= 0.0 && shift <= SHIFT_MAX)) {
        return true;
    }
    long double ten = 1.0L;
    for (int i = (int)shift; i > 0; i--) {
        ten *= 10.0L;
    }
    if (fabsl(value * ten) >= (digits < 16 ? 1e15L : 1e16L)) {
        ten /= 10.0L;
    }
    const long double scaled = fabsl(value * ten);
    const long double half_unit = (long double)ldexp(1.0, exponent - DBL_MANT_DIG) * ten;
    return fabsl(scaled - rintl(scaled)) <= half_unit + SHIFT_MAX * LDBL_EPSILON * scaled;
}

/* The shortest of 15, 16 and 17 significant digits that reads back to the same value. */
static size_t format_shortest(double value, char out[JSON_WRITE_NUMBER_MAX])
{
    for (int digits = 15; digits < 17; digits++) {
        if (may_suffice(value, digits)) {
            const int n = snprintf(out, JSON_WRITE_NUMBER_MAX, "%.*g", digits, value);
            const double back = strtod(out, NULL);
            if (!(back < value) && !(back > value)) {
                return (size_t)n;
            }
        }
    }
    return (size_t)snprintf(out, JSON_WRITE_NUMBER_MAX, "%.17g", value);
}

/* Most numbers here have at most six decimals: exact integers of millionths are formatted
 * without printf, which otherwise dominates a replay. 0: this one has more. */
static size_t format_millionths(double value, char out[JSON_WRITE_NUMBER_MAX])
{
    const double millionths = value * 1e6;
    if (fabs(millionths) < 9e15) {
        const double whole = nearbyint(millionths);
        const double back = whole / 1e6;
        if (!(back < value) && !(back > value) &&
            !(whole < 1.0 && whole > -1.0 && signbit(value))) {
            return json_format_seconds((int64_t)whole, out);
        }
    }
    return 0;
}

size_t json_format_real(double value, char out[JSON_WRITE_NUMBER_MAX])
{
    const size_t n = format_millionths(value, out);
    return n > 0 ? n : format_shortest(value, out);
}

void json_write_real(struct json_writer *w, const char *key, double value)
{
    char number[JSON_WRITE_NUMBER_MAX];
    uint64_t bits = 0;
    if (!isfinite(value)) {
        json_write_null(w, key);
        return;
    }
    const size_t n = format_millionths(value, number);
    if (n > 0) {
        json_write_raw(w, key, number, n);
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    const size_t at = (bits ^ bits >> 32 ^ bits >> 47) % JSON_WRITE_RECENT;
    if (w->recent[at].bytes == 0 || memcmp(&w->recent[at].value, &value, sizeof value) != 0) {
        w->recent[at].value = value;
        w->recent[at].bytes = format_shortest(value, w->recent[at].text);
    }
    json_write_raw(w, key, w->recent[at].text, w->recent[at].bytes);
}
