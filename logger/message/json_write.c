#include "logger/message/json_write.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/lab_time.h"
#include "logger/message/json_plain.h"

static void write_pieces(struct json_writer *w, const char *text, size_t bytes)
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

static void write_bytes(struct json_writer *w, const char *text, size_t bytes)
{
    if (bytes > w->capacity - w->used) {
        write_pieces(w, text, bytes);
        return;
    }
    memcpy(w->text + w->used, text, bytes);
    w->used += bytes;
}

/* A call of memcpy() for one byte takes longer than the byte. */
static void write_char(struct json_writer *w, char c)
{
    if (w->used == w->capacity) {
        write_pieces(w, &c, 1);
    } else {
        w->text[w->used++] = c;
    }
}

/* Copies text without escapes, eight bytes at a time, as most texts have none. False: it has
 * some, or there may be too little room for the overhang of the last eight bytes. True: eight
 * bytes of room are left. */
static bool write_plain(struct json_writer *w, const char *value, size_t bytes)
{
    if (bytes + 2 + WORD_BYTES > w->capacity - w->used) {
        return false;
    }
    char *const to = w->text + w->used + 1;
    size_t i = 0;
    for (; i + WORD_BYTES <= bytes; i += WORD_BYTES) {
        const uint64_t word = word_load(value + i);
        if (json_count_plain(word) < WORD_BYTES) {
            return false;
        }
        word_store(to + i, word);
    }
    const uint64_t rest = word_load_part(value + i, bytes - i);
    if (json_count_plain(rest) < bytes - i) {
        return false;
    }
    word_store(to + i, rest);
    to[-1] = '"';
    to[bytes] = '"';
    w->used += bytes + 2;
    return true;
}

/* Escapes what JSON requires, and the bytes from 0x7f to `escaped_max`. */
static void write_escaped(struct json_writer *w, const char *value, size_t bytes,
                          unsigned char escaped_max)
{
    static const char hex[] = "0123456789abcdef";
    const char *const end = value + bytes;
    const char *from = value;
    write_char(w, '"');
    for (const char *p = json_skip_plain(value, end); p < end;
         p = json_skip_plain(p + 1, end)) {
        const unsigned char c = (unsigned char)*p;
        if (c >= 0x20 && c != '"' && c != '\\' && (c < 0x7f || c > escaped_max)) {
            continue;
        }
        write_bytes(w, from, (size_t)(p - from));
        from = p + 1;
        if (escaped_max == 0 && (c == '"' || c == '\\')) {
            const char pair[2] = {'\\', (char)c};
            write_bytes(w, pair, sizeof pair);
        } else {
            const char code[6] = {'\\', 'u', '0', '0', hex[c >> 4], hex[c & 15]};
            write_bytes(w, code, sizeof code);
        }
    }
    write_bytes(w, from, (size_t)(end - from));
    write_char(w, '"');
}

static void write_quoted(struct json_writer *w, const char *value, size_t bytes,
                         unsigned char escaped_max)
{
    if (!write_plain(w, value, bytes)) {
        write_escaped(w, value, bytes, escaped_max);
    }
}

static void begin_member(struct json_writer *w, const char *key)
{
    if (w->comma[w->depth]) {
        write_char(w, ',');
    }
    w->comma[w->depth] = true;
    if (key && write_plain(w, key, strlen(key))) {
        w->text[w->used++] = ':'; /* the room that write_plain() leaves */
    } else if (key) {
        write_escaped(w, key, strlen(key), 0);
        write_char(w, ':');
    }
}

static void open_bracket(struct json_writer *w, const char *key, char bracket, char closing)
{
    begin_member(w, key);
    write_char(w, bracket);
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
    write_char(w, w->close[w->depth]);
    w->depth--;
}

void json_write_text(struct json_writer *w, const char *key, const char *value)
{
    if (!value) {
        json_write_null(w, key);
        return;
    }
    begin_member(w, key);
    write_quoted(w, value, strlen(value), 0);
}

void json_write_bytes(struct json_writer *w, const char *key, const char *text, size_t bytes,
                      bool latin1)
{
    begin_member(w, key);
    write_quoted(w, text, bytes, latin1 ? 0xff : 0x7f);
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

/* Writes both digits of a number below 100. */
static char *two_digits_before(char *end, unsigned value)
{
    static const char digits[] = "00010203040506070809101112131415161718192021222324"
                                 "25262728293031323334353637383940414243444546474849"
                                 "50515253545556575859606162636465666768697071727374"
                                 "75767778798081828384858687888990919293949596979899";
    return memcpy(end - 2, digits + 2 * (size_t)value, 2);
}

/* Writes decimal digits backwards from end; returns their begin. */
static char *digits_before(char *end, uint64_t value)
{
    for (; value >= 100; value /= 100) {
        end = two_digits_before(end, (unsigned)(value % 100));
    }
    if (value >= 10) {
        return two_digits_before(end, (unsigned)value);
    }
    *--end = (char)('0' + value);
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

/* Writes seconds as a decimal, backwards from end. *bytes excludes zeros at the end of its
 * fraction. Returns the begin. */
static const char *seconds_before(char *end, int64_t us, size_t *bytes)
{
    char *begin = end;
    const uint64_t size = us < 0 ? UINT64_C(0) - (uint64_t)us : (uint64_t)us;
    const unsigned fraction = (unsigned)(size % 1000000);
    if (fraction > 0) {
        (void)two_digits_before(end, fraction % 100);
        (void)two_digits_before(end - 2, fraction / 100 % 100);
        begin = two_digits_before(end - 4, fraction / 10000);
        *--begin = '.';
        while (end[-1] == '0') {
            end--;
        }
    }
    begin = digits_before(begin, size / 1000000);
    if (us < 0) {
        *--begin = '-';
    }
    *bytes = (size_t)(end - begin);
    return begin;
}

void json_write_seconds(struct json_writer *w, const char *key, int64_t us)
{
    char number[JSON_WRITE_NUMBER_MAX];
    char *const end = number + sizeof number;
    size_t bytes = 0;
    const char *const begin = us != LAB_TIME_NONE ? seconds_before(end, us, &bytes) : NULL;
    json_write_raw(w, key, begin, bytes);
}

void json_write_two(struct json_writer *w, const char *key, double a, double b)
{
    const double both[] = {a, b};
    json_write_numbers(w, key, both, 2);
}

void json_write_axes(struct json_writer *w, const char *key, const double *axes, size_t count)
{
    if (count > 0) {
        json_write_numbers(w, key, axes, count);
    }
}

void json_write_numbers(struct json_writer *w, const char *key, const double *values,
                        size_t count)
{
    JSON_LIST(w, key, size_t i = 0; i < count; i++) {
        json_write_real(w, NULL, values[i]);
    }
}

void json_write_texts(struct json_writer *w, const char *key, const char *texts, size_t room,
                      size_t count)
{
    JSON_LIST(w, key, size_t i = 0; i < count; i++) {
        json_write_text(w, NULL, texts + i * room);
    }
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
    JSON_MAP(w, key, size_t i = 0; i < names->count; i++) {
        json_write_int(w, names->text[i], (int64_t)counts[i]);
    }
}

static void write_row(struct json_writer *w, const struct json_row *row)
{
    switch (row->form) {
    case JSON_FORM_REAL:
        json_write_real(w, row->key, row->value.real);
        break;
    case JSON_FORM_BOOL:
        json_write_bool(w, row->key, row->value.whole != 0);
        break;
    case JSON_FORM_WHOLE:
        json_write_int(w, row->key, row->value.whole);
        break;
    case JSON_FORM_TEXT:
        json_write_text(w, row->key, row->value.text);
        break;
    case JSON_FORM_SECONDS:
        json_write_seconds(w, row->key, row->value.whole);
        break;
    case JSON_FORM_COUNTS:
        json_write_counts(w, row->key, row->names, row->value.at);
        break;
    case JSON_FORM_NUMBERS:
        json_write_numbers(w, row->key, row->value.at, row->count);
        break;
    case JSON_FORM_RAW:
        json_write_raw(w, row->key, row->value.text, row->count);
        break;
    case JSON_FORM_NULL:
        json_write_null(w, row->key);
        break;
    case JSON_FORM_GROUP:
        json_write_rows(w, row->value.at);
        break;
    case JSON_FORM_OBJECT:
        json_write_object_of(w, row->key, row->value.at);
        break;
    case JSON_FORM_ABSENT:
    case JSON_FORM_END:
        break;
    }
}

void json_write_rows(struct json_writer *w, const struct json_row *rows)
{
    for (; rows->form != JSON_FORM_END; rows++) {
        write_row(w, rows);
    }
}

void json_write_object_of(struct json_writer *w, const char *key, const struct json_row *rows)
{
    json_write_object(w, key);
    json_write_rows(w, rows);
    json_write_close(w);
}

size_t json_format_rows(char *text, size_t size, const struct json_row *rows)
{
    struct json_writer w;
    json_write_start(&w, text, size, NULL, NULL);
    json_write_object_of(&w, NULL, rows);
    return json_write_end(&w) ? w.used : 0;
}

void json_write_raw(struct json_writer *w, const char *key, const char *json, size_t bytes)
{
    begin_member(w, key);
    write_bytes(w, bytes > 0 ? json : "null", bytes > 0 ? bytes : 4);
}

size_t json_format_seconds(int64_t us, char out[JSON_WRITE_NUMBER_MAX])
{
    char text[JSON_WRITE_NUMBER_MAX];
    size_t bytes = 0;
    const char *const begin = seconds_before(text + sizeof text, us, &bytes);
    memcpy(out, begin, bytes);
    out[bytes] = '\0';
    return bytes;
}

#ifdef __SIZEOF_INT128__

/* Lays out digits, the first of which stands for 10^exponent, in the form of %.*g with `asked`
 * digits. */
static size_t place_digits(const char *digits, size_t count, int exponent, int asked, char *out)
{
    const bool power = exponent < -4 || exponent >= asked;
    const size_t whole = power ? 1 : exponent < 0 ? 0 : (size_t)exponent + 1;
    const int size = exponent < 0 ? -exponent : exponent;
    char *to = out;
    if (whole == 0) {
        memcpy(to, "0.000", 5); /* the most zeros that there can be */
        to += 1 - exponent;
    }
    for (size_t i = 0; i < count || i < whole; i++) {
        if (i == whole && i > 0) {
            *to++ = '.';
        }
        *to++ = i < count ? digits[i] : '0';
    }
    if (power) {
        *to++ = 'e';
        *to++ = exponent < 0 ? '-' : '+';
        *to++ = (char)('0' + size / 10);
        *to++ = (char)('0' + size % 10);
    }
    *to = '\0';
    return (size_t)(to - out);
}

__extension__ typedef unsigned __int128 wide;

/* A magnitude times 10^k as a whole number of 17 or 18 digits. */
struct scaled {
    wide size, gap; /* gap: distance to the next double; both times 2^shift */
    int shift, k;
    wide missing; /* both may be too small by this much; 0: exact */
};

static uint64_t power_of_five(int k)
{
    uint64_t power = 1;
    for (; k > 0; k--) {
        power *= 5;
    }
    return power;
}

/* Scales mantissa times 2^exponent; 5^27 is the largest power below 2^63. False: the number is
 * so large or small that more than two powers are needed. */
static bool scale_size(uint64_t mantissa, int exponent, struct scaled *to)
{
    enum { FIVES = 27, SHORT_SHIFT = 8, LONG_SHIFT = 74 };
    /* log10(2) is 0.30103. */
    const int k = 416 - ((exponent + DBL_MANT_DIG - 1) * 30103 + 40000000) / 100000;
    *to = (struct scaled){.k = k, .missing = k < 0 || k > FIVES};
    if (k < -FIVES || k > 2 * FIVES) {
        return false;
    }
    if (k < 0) {
        const uint64_t power = power_of_five(-k);
        to->gap = ((wide)1 << LONG_SHIFT) / power;
        to->size = ((wide)mantissa << LONG_SHIFT) / power;
        to->shift = LONG_SHIFT - exponent - k;
        return true;
    }
    to->gap = power_of_five(k < FIVES ? k : FIVES);
    to->size = mantissa * to->gap;
    if (k <= FIVES) {
        to->gap <<= SHORT_SHIFT;
        to->size <<= SHORT_SHIFT;
        to->shift = SHORT_SHIFT - exponent - k;
        return true;
    }
    uint64_t more = power_of_five(k - FIVES);
    const int room = __builtin_clzll(more);
    more <<= room;
    to->gap = (to->gap * more) >> 64;
    to->size = (to->size >> 64) * more + ((wide)(uint64_t)to->size * more >> 64);
    to->shift = room - 64 - exponent - k;
    return true;
}

/* Is x less than y, with certainty? Within `between` it is unknown. */
static bool is_sure(wide x, wide y, wide between)
{
    return (x > y ? x - y : y - x) >= between;
}

/* Formats the shortest of 15, 16 and 17 significant digits that reads back to the same number;
 * 0 if that is not certain. */
static size_t format_size(double size, char out[JSON_WRITE_NUMBER_MAX])
{
    const uint64_t least = UINT64_C(1) << (DBL_MANT_DIG - 1);
    struct scaled s;
    uint64_t bits = 0;
    memcpy(&bits, &size, sizeof bits);
    const uint64_t mantissa = bits % least + least;
    if (!scale_size(mantissa, (int)(bits / least) - (DBL_MAX_EXP + DBL_MANT_DIG - 2), &s)) {
        return 0;
    }
    const uint64_t whole = (uint64_t)(s.size >> s.shift);
    int zeros = whole < UINT64_C(100000000000000000) ? 2 : 3; /* digits left out */
    uint64_t unit = zeros == 2 ? 100 : 1000;
    for (int digits = 15;; digits++, zeros--, unit /= 10) {
        const wide below = s.size - ((wide)(whole - whole % unit) << s.shift);
        const wide above = ((wide)unit << s.shift) - below;
        const bool up = below > above || (below == above && whole / unit % 2 > 0);
        /* Below a power of two the next double is half as far. */
        const wide off = (up ? above : below) * (!up && mantissa == least ? 4 : 2);
        if (!is_sure(below, above, 4 * s.missing) || !is_sure(off, s.gap, 8 * s.missing)) {
            return 0;
        }
        /* A tie is read as the even one of both. */
        if (digits == 17 || off + mantissa % 2 <= s.gap) {
            char text[JSON_WRITE_NUMBER_MAX];
            char *end = text + sizeof text;
            const char *begin = digits_before(end, whole / unit + up);
            const int places = (int)(end - begin);
            while (end[-1] == '0') {
                end--;
            }
            return place_digits(begin, (size_t)(end - begin), places - 1 + zeros - s.k, digits,
                                out);
        }
    }
}

#else /* a machine of 32 bits */

static size_t format_size(double size, char out[JSON_WRITE_NUMBER_MAX])
{
    (void)size;
    (void)out;
    return 0;
}

#endif

/* Formats the shortest of 15, 16 and 17 significant digits that reads back to the same
 * value. */
static size_t format_shortest(double value, char out[JSON_WRITE_NUMBER_MAX])
{
    const size_t sign = value < 0.0 ? 1 : 0;
    const size_t n = format_size(fabs(value), out + sign);
    if (n > 0) {
        out[0] = sign > 0 ? '-' : out[0];
        return sign + n;
    }
    for (int digits = 15; digits < 17; digits++) {
        const int wrote = snprintf(out, JSON_WRITE_NUMBER_MAX, "%.*g", digits, value);
        const double back = strtod(out, NULL);
        if (!(back < value) && !(back > value)) {
            return (size_t)wrote;
        }
    }
    return (size_t)snprintf(out, JSON_WRITE_NUMBER_MAX, "%.17g", value);
}

/* Most numbers have at most six decimals. They are formatted as whole millionths, because
 * printf would dominate the time of a replay. 0: more decimals. */
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
