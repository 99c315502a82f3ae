#include "config/number.h"

#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static const char *skip_digits(const char *p)
{
    while (is_digit(*p)) {
        p++;
    }
    return p;
}

/* End of the longest number at p; p itself when there is none. *whole: neither point nor
 * exponent. */
static const char *scan_number(const char *p, bool *whole)
{
    const char *const start = p;
    *whole = true;
    if (*p == '+' || *p == '-') {
        p++;
    }
    const char *digits = p;
    p = skip_digits(p);
    size_t n = (size_t)(p - digits);
    if (*p == '.') {
        digits = ++p;
        p = skip_digits(p);
        n += (size_t)(p - digits);
        *whole = false;
    }
    if (n == 0) {
        return start;
    }
    if (*p == 'e' || *p == 'E') {
        const char *exponent = p + 1;
        if (*exponent == '+' || *exponent == '-') {
            exponent++;
        }
        if (is_digit(*exponent)) {
            p = skip_digits(exponent);
            *whole = false;
        }
    }
    return p;
}

static const char *skip_sign(const char *text)
{
    return *text == '+' || *text == '-' ? text + 1 : text;
}

static bool is_not_finite(const char *text)
{
    static const char *const words[] = {"nan", "inf", "infinity"};
    const char *p = skip_sign(text);
    if (*p == '.') {
        p++;
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcasecmp(p, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* "0" and "0.5" are decimal; "010" would be eight to a YAML 1.1 reader, "0x10" sixteen. */
static bool has_radix(const char *text)
{
    const char *p = skip_sign(text);
    return p[0] == '0' && (is_digit(p[1]) || (p[1] != '\0' && strchr("xXoObB", p[1]) &&
                                              isxdigit((unsigned char)p[2])));
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

static enum number_fault classify(const char *text, bool *whole)
{
    const char *end = scan_number(text, whole);
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
        if (!isalpha((unsigned char)*p) && *p != '%' && *p != '/' && (unsigned char)*p < 0x80) {
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
    bool whole = false;
    const enum number_fault fault = classify(text, &whole);
    if (fault != NUMBER_FINE) {
        return fault;
    }
    const locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!c_locale) {
        return NUMBER_NONE;
    }
    const double parsed = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    if (!isfinite(parsed)) {
        return NUMBER_TOO_LARGE;
    }
    if (fpclassify(parsed) == FP_ZERO && has_nonzero_digit(text)) {
        return NUMBER_TOO_SMALL;
    }
    *value = parsed;
    return NUMBER_FINE;
}

enum number_fault number_parse_int(const char *text, int64_t *value)
{
    bool whole = false;
    const enum number_fault fault = classify(text, &whole);
    if (fault != NUMBER_FINE) {
        return fault;
    }
    if (!whole) {
        return NUMBER_FRACTION;
    }
    errno = 0;
    const long long parsed = strtoll(text, NULL, 10);
    if (errno == ERANGE) {
        return NUMBER_TOO_LARGE;
    }
    *value = parsed;
    return NUMBER_FINE;
}

/* text without the characters in drop, and with commas as points when as_point. */
static void rewrite(const char *text, char drop, bool as_point, char *out, size_t size)
{
    size_t n = 0;
    for (const char *p = text; *p && n + 1 < size; p++) {
        if (*p != drop) {
            out[n++] = as_point && *p == ',' ? '.' : *p;
        }
    }
    out[n] = '\0';
}

void number_explain(enum number_fault fault, const char *text, char *out, size_t size)
{
    char better[48];
    bool whole = false;

    switch (fault) {
    case NUMBER_COMMA:
        rewrite(text, '\0', true, better, sizeof better);
        (void)snprintf(out, size, "decimal comma, write %s", better);
        break;
    case NUMBER_GROUPED:
        rewrite(text, '_', false, better, sizeof better);
        (void)snprintf(out, size, "digits are not grouped here, write %s", better);
        break;
    case NUMBER_RADIX:
        (void)snprintf(out, size,
                       "octal, hexadecimal and leading zeros are not read, write a plain "
                       "decimal number");
        break;
    case NUMBER_UNIT:
        (void)snprintf(out, size, "the unit stands in the key, write %.*s",
                       (int)(scan_number(text, &whole) - text), text);
        break;
    case NUMBER_NOT_FINITE:
        (void)snprintf(out, size, "a finite number is wanted");
        break;
    case NUMBER_TOO_LARGE:
        (void)snprintf(out, size, "the number is too large");
        break;
    case NUMBER_TOO_SMALL:
        (void)snprintf(out, size, "the number is too close to zero, write 0");
        break;
    case NUMBER_FRACTION:
        (void)snprintf(out, size, "a whole number is wanted, without point or exponent");
        break;
    case NUMBER_FINE:
    case NUMBER_NONE:
        (void)snprintf(out, size, "a number is wanted");
        break;
    }
}
