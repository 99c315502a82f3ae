#include "base/numbers/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/word.h"

/* A whole number with more digits may not fit into 64 bits. */
enum { DIGITS_MAX = 19 };

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Appends digits to *value, which may overflow. Returns the end of the digits. */
static const char *scan_digits(const char *at, const char *end, uint64_t *value)
{
    uint64_t all = *value;
    for (unsigned digit; at < end && (digit = (unsigned)*at - '0') <= 9; at++) {
        all = 10 * all + digit;
    }
    *value = all;
    return at;
}

/* Scans an exponent. Without digits there is none, and the result is `at` itself. */
static const char *scan_exponent(const char *at, const char *end, ptrdiff_t *exponent)
{
    const char *p = at + 1;
    const bool negative = p < end && *p == '-';
    p += p < end && (*p == '+' || *p == '-');
    if (p >= end || !is_digit(*p)) {
        return at;
    }
    ptrdiff_t size = 0;
    for (; p < end && is_digit(*p); p++) {
        size = size < 100000 ? size * 10 + (*p - '0') : size;
    }
    *exponent += negative ? -size : size;
    return p;
}

/* The text has more digits than a double holds exactly, so strtod rounds. The text is copied
 * because it need not be terminated. setlocale() is never called, so '.' is the decimal
 * point. */
static bool round_slowly(const char *text, size_t bytes, double *value)
{
    char copy[NUMBER_SLOW_MAX + 1];
    if (bytes > NUMBER_SLOW_MAX) {
        return false;
    }
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    *value = strtod(copy, NULL);
    return true;
}

/* strict: JSON's rules. It is a compile-time constant, so each reader gets its own copy. */
static inline const char *scan_decimal(const char *text, const char *end, bool strict,
                                       double *value)
{
    static const double power[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                   1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                   1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool negative = text < end && *text == '-';
    const char *whole = text + (negative || (!strict && text < end && *text == '+'));
    uint64_t digits = 0;
    const char *point = scan_digits(whole, end, &digits);
    const char *at =
        point < end && *point == '.' ? scan_digits(point + 1, end, &digits) : point;
    ptrdiff_t exponent = at > point ? point + 1 - at : 0;
    const ptrdiff_t count = point - whole - exponent;
    const bool odd = point == whole || (*whole == '0' && point > whole + 1) || at == point + 1;
    if (count == 0 || (strict && odd)) {
        return text;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at = scan_exponent(at, end, &exponent);
    }
    if (count <= DIGITS_MAX && digits <= UINT64_C(1) << 53 && exponent >= -22 &&
        exponent <= 22) {
        /* Both operands are exact, so the one operation rounds correctly. */
        const double size =
            exponent < 0 ? (double)digits / power[-exponent] : (double)digits * power[exponent];
        *value = negative ? -size : size;
        return at;
    }
    return round_slowly(text, (size_t)(at - text), value) ? at : text;
}

const char *number_scan(const char *text, const char *end, double *value)
{
    return scan_decimal(text, end, false, value);
}

const char *number_scan_json(const char *text, const char *end, double *value)
{
    return scan_decimal(text, end, true, value);
}

/* Converts the first `count` (>= 1) of eight digits. Zeros fill the front; then pairs become
 * numbers, pairs of pairs, and the two halves. */
static uint64_t join_digits(uint64_t digits, unsigned count)
{
    const uint64_t bytes_1_5 = UINT64_C(0x000000ff000000ff);
    digits <<= 8 * (WORD_BYTES - count);
    digits = 10 * digits + (digits >> 8);
    return ((digits & bytes_1_5) * (100 + (UINT64_C(1000000) << 32)) +
            (digits >> 16 & bytes_1_5) * (1 + (UINT64_C(10000) << 32))) >>
           32;
}

const char *number_scan_short(const char *text, const char *end, double *value)
{
    static const double units[2][WORD_BYTES] = {
        {1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7},
        {-1e0, -1e1, -1e2, -1e3, -1e4, -1e5, -1e6, -1e7}};
    if (end - text <= WORD_BYTES) {
        return NULL;
    }
    const bool negative = *text == '-';
    const char *const first = text + negative;
    uint64_t digits = word_load(first) ^ '0' * WORD_ONES;
    /* A mark in each byte that is not a digit, up to the second such byte. */
    uint64_t others = (digits | (digits + (0x80 - 10) * WORD_ONES)) & 0x80 * WORD_ONES;
    const unsigned whole = word_first(others);
    unsigned used = whole;
    if (whole == 0 || whole == WORD_BYTES || (*first == '0' && whole > 1)) {
        return NULL;
    }
    if (first[whole] == '.') { /* the fraction digits move up to the integer digits */
        const uint64_t before = (UINT64_C(1) << 8 * whole) - 1;
        others &= others - 1;
        used = word_first(others);
        if (used == whole + 1 || used == WORD_BYTES) {
            return NULL;
        }
        digits = (digits & before) | (digits >> 8 & ~before);
    }
    if (first[used] == 'e' || first[used] == 'E') {
        return NULL;
    }
    const unsigned places = used > whole ? used - whole - 1 : 0;
    *value = (double)join_digits(digits, whole + places) / units[negative][places];
    return first + used;
}

/* The digits of a number without zeros at either end; `point` of them are before the point. */
struct plain_digits {
    char digit[NUMBER_SLOW_MAX];
    ptrdiff_t count, point;
};

static struct plain_digits collect_digits(const char *at, const char *end)
{
    struct plain_digits d = {.count = 0};
    ptrdiff_t exponent = 0;
    bool whole = true;
    for (; at < end && *at != 'e' && *at != 'E'; at++) {
        if (*at == '.') {
            whole = false;
        } else if (d.count < NUMBER_SLOW_MAX && (d.count > 0 || *at != '0')) {
            d.digit[d.count++] = *at;
            d.point += whole;
        } else {
            d.point -= !whole;
        }
    }
    if (at < end) {
        (void)scan_exponent(at, end, &exponent);
    }
    d.point += exponent;
    while (d.count > 0 && d.digit[d.count - 1] == '0') {
        d.count--;
    }
    return d;
}

size_t number_write_plain(const char *number, size_t bytes, char *out, size_t size)
{
    const struct plain_digits d = collect_digits(number + (*number == '-'), number + bytes);
    const ptrdiff_t first =
        d.point > 0 ? 0 : d.point - 1; /* with the zeros before and behind a leading point */
    const ptrdiff_t last = d.count > d.point ? d.count : d.point;
    const ptrdiff_t room = (ptrdiff_t)size - 3; /* sign, point and NUL */
    size_t n = 0;
    out[0] = '\0';
    if (d.count == 0) {
        number = "0";
        bytes = 1;
    }
    if (d.count == 0 || last - first > room) {
        if (bytes >= size) {
            return size;
        }
        memcpy(out, number, bytes);
        out[bytes] = '\0';
        return bytes;
    }
    if (*number == '-') {
        out[n++] = '-';
    }
    for (ptrdiff_t k = first; k < last; k++) {
        if (k == d.point) {
            out[n++] = '.';
        }
        out[n++] = k >= 0 && k < d.count ? d.digit[k] : '0';
    }
    out[n] = '\0';
    return n;
}

static const char *skip_sign(const char *text)
{
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static bool is_not_finite(const char *text)
{
    char word[9] = "";
    const char *p = skip_sign(text);
    p += *p == '.' ? 1 : 0;
    for (size_t i = 0; p[i] && i + 1 < sizeof word; i++) {
        word[i] = p[i] >= 'A' && p[i] <= 'Z' ? (char)(p[i] - 'A' + 'a') : p[i];
    }
    return strcmp(word, "nan") == 0 || strcmp(word, "inf") == 0 ||
           (strcmp(word, "infinity") == 0 && p[8] == '\0');
}

/* "0" and "0.5" are decimal; "010" would be eight to a YAML 1.1 reader, "0x10" sixteen. */
static bool has_radix(const char *text)
{
    const char *p = skip_sign(text);
    return p[0] == '0' &&
           (is_digit(p[1]) || (p[1] != '\0' && strchr("xXoObB", p[1]) && p[2] != '\0' &&
                               strchr("0123456789abcdefABCDEF", p[2])));
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digits_and(const char *text, char other)
{
    bool seen = false;
    const char *p = skip_sign(text);
    if (!is_digit(*p)) {
        return false;
    }
    for (; *p; p++) {
        if (*p == other) {
            seen = true;
        } else if (!is_digit(*p) && *p != '.') {
            return false;
        }
    }
    return seen;
}

static enum number_fault classify_text(const char *text, double *value)
{
    const char *end = number_scan(text, text + strlen(text), value);
    if (is_not_finite(text)) {
        return NUMBER_NOT_FINITE;
    }
    if (is_digits_and(text, ',')) {
        return NUMBER_COMMA;
    }
    if (is_digits_and(text, '_')) {
        return NUMBER_GROUPED;
    }
    if (has_radix(text)) {
        return NUMBER_RADIX;
    }
    if (end == text) {
        return NUMBER_NONE;
    }
    if (*end == '\0') {
        return NUMBER_FINE;
    }
    while (*end == ' ') {
        end++;
    }
    for (const char *p = end; *p; p++) {
        if (!is_letter(*p) && *p != '%' && *p != '/' && (unsigned char)*p < 0x80) {
            return NUMBER_NONE;
        }
    }
    return NUMBER_UNIT;
}

static bool has_nonzero_digit(const char *text)
{
    for (const char *p = text; *p && *p != 'e' && *p != 'E'; p++) {
        if (*p >= '1' && *p <= '9') {
            return true;
        }
    }
    return false;
}

enum number_fault number_parse_real(const char *text, double *value)
{
    double number = 0.0;
    const enum number_fault fault = classify_text(text, &number);
    if (fault != NUMBER_FINE) {
        return fault;
    }
    if (!isfinite(number)) {
        return NUMBER_TOO_LARGE;
    }
    if (fpclassify(number) == FP_ZERO && has_nonzero_digit(text)) {
        return NUMBER_TOO_SMALL;
    }
    *value = number;
    return NUMBER_FINE;
}

enum number_fault number_parse_int(const char *text, int64_t *value)
{
    double number = 0.0;
    const enum number_fault fault = classify_text(text, &number);
    if (fault != NUMBER_FINE) {
        return fault;
    }
    const char *digits = skip_sign(text);
    if (digits[strspn(digits, "0123456789")] != '\0') {
        return NUMBER_FRACTION;
    }
    const uint64_t most = (uint64_t)INT64_MAX + (*text == '-');
    uint64_t size = 0;
    for (; *digits; digits++) {
        const uint64_t digit = (uint64_t)(*digits - '0');
        if (size > (most - digit) / 10) {
            return NUMBER_TOO_LARGE;
        }
        size = 10 * size + digit;
    }
    *value = *text == '-' ? -(int64_t)(size - 1) - 1 : (int64_t)size;
    return NUMBER_FINE;
}

/* Copies text without the characters in drop; as_point turns commas into points. */
static void rewrite_text(const char *text, char drop, bool as_point, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < size; p++) {
        if (*p != drop) {
            out[n++] = as_point && *p == ',' ? '.' : *p;
        }
    }
    out[n] = '\0';
}

enum fault number_explain(enum number_fault fault, const char *text, char *out, size_t size)
{
    static const char *const texts[] = {
        [NUMBER_FINE] = "a number is wanted",
        [NUMBER_NONE] = "a number is wanted",
        [NUMBER_COMMA] = "decimal comma, write ",
        [NUMBER_GROUPED] = "digits are not grouped here, write ",
        [NUMBER_RADIX] = ("octal, hexadecimal and leading zeros are not read, write a plain "
                          "decimal number"),
        [NUMBER_UNIT] = "the unit belongs in the key, write ",
        [NUMBER_NOT_FINITE] = "a finite number is wanted",
        [NUMBER_TOO_LARGE] = "the number is too large",
        [NUMBER_TOO_SMALL] = "the number is too close to zero, write 0",
        [NUMBER_FRACTION] = "a whole number is wanted, without point or exponent",
    };
    char better[48] = "";
    double number = 0.0;
    if (fault == NUMBER_COMMA || fault == NUMBER_GROUPED) {
        rewrite_text(text, fault == NUMBER_GROUPED ? '_' : '\0', fault == NUMBER_COMMA, better,
                     sizeof better);
        text = better;
    }
    const int shown = fault == NUMBER_UNIT
                          ? (int)(number_scan(text, text + strlen(text), &number) - text)
                          : (int)strlen(better);
    (void)snprintf(out, size, "%s%.*s", texts[fault], shown, text);
    return fault == NUMBER_FRACTION     ? FAULT_WHOLE_NUMBER_EXPECTED
           : fault >= NUMBER_NOT_FINITE ? FAULT_OUT_OF_RANGE
                                        : FAULT_NOT_A_NUMBER;
}

void number_write_shortest(double number, char out[NUMBER_SHORTEST_MAX])
{
    double back = 0.0;
    int digits = 1;
    do {
        (void)snprintf(out, NUMBER_SHORTEST_MAX, "%.*g", digits, number);
        back = strtod(out, NULL);
    } while ((back < number || back > number) && ++digits <= 17);
}

bool number_all_finite(const double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!isfinite(x[i])) {
            return false;
        }
    }
    return true;
}
