/* base/numbers/number.h - decimal numbers: as they stand in a text, and, where people wrote it, with a
 * reason when they are none.
 *
 * Accepted: digits with an optional sign, decimal point and exponent ("5", "-0.25", ".003",
 * "1e-6"). What other readers take silently for something else is refused by name: a decimal
 * comma, digit grouping, octal, hexadecimal, a unit behind the number, nan and infinity. The
 * process's locale does not matter, for it is never set. Pure.
 */
#ifndef BASE_NUMBERS_NUMBER_H
#define BASE_NUMBERS_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

/* Bytes of a number with more digits than a double holds, at most. */
enum { NUMBER_SLOW_MAX = 511 };

/* The longest number at text[0 .. end), rounded to the nearest double (inf when it is too
 * large): where it ends, or text when there is none, or one of too many bytes. *value is
 * written only when there is one. */
const char *number_scan(const char *text, const char *end, double *value);

/* The same by JSON's rules: no plus, no zero before other digits, digits on both sides of a
 * point. */
const char *number_scan_json(const char *text, const char *end, double *value);

/* The same of a number as most are, at most eight bytes with what ends it, and a sign; NULL: it
 * is none of these, and only number_scan_json() tells what it is. */
const char *number_scan_short(const char *text, const char *end, double *value);

enum number_fault {
    NUMBER_FINE,
    NUMBER_NONE,       /* no number at all */
    NUMBER_COMMA,      /* "0,05" */
    NUMBER_GROUPED,    /* "1_000" */
    NUMBER_RADIX,      /* "010", "0x1F", "0o17", "0b1" */
    NUMBER_UNIT,       /* "10 s" */
    NUMBER_NOT_FINITE, /* "nan", ".inf" */
    NUMBER_TOO_LARGE,  /* does not fit */
    NUMBER_TOO_SMALL,  /* not zero, but nearer to zero than a double can be */
    NUMBER_FRACTION    /* a whole number was wanted */
};

/* The double nearest to text, the whole of it. *value is written only on NUMBER_FINE. */
MUST_USE enum number_fault number_parse_real(const char *text, double *value);

/* A whole number without decimal point or exponent. *value is written only on NUMBER_FINE. */
MUST_USE enum number_fault number_parse_int(const char *text, int64_t *value);

/* What is wrong with text and what would be right, for a person: "decimal comma, write 0.05".
 * Always terminated, cut to size. Returns the kind of fault. */
enum fault number_explain(enum number_fault fault, const char *text, char *out, size_t size);

/* A number under a name that a person chose. Of an array of them, the first with an empty name
 * is the end; names rise, and the rest is zero. */
struct named_number {
    char name[32];
    double value;
};

#endif
