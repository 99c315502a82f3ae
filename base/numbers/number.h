/* base/numbers/number.h - parsing of decimal numbers, with a reason when a text that people
 * wrote is not a number.
 *
 * Accepted: digits with an optional sign, decimal point and exponent ("5", "-0.25", ".003",
 * "1e-6"). Forms that other readers silently misread are refused by name: a decimal comma,
 * digit grouping, octal, hexadecimal, a unit behind the number, nan and infinity. The process's
 * locale does not matter, because it is never set. Pure.
 */
#ifndef BASE_NUMBERS_NUMBER_H
#define BASE_NUMBERS_NUMBER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"

/* Longest number, in bytes, with more digits than a double holds. */
enum { NUMBER_SLOW_MAX = 511 };

/* Scans the longest number at text[0 .. end), rounded to the nearest double (inf if too large).
 * Returns its end, or text if there is no number or one of too many bytes. *value is written
 * only if there is a number. */
const char *number_scan(const char *text, const char *end, double *value);

/* Scans by JSON's rules: no plus, no leading zeros, digits on both sides of a point. */
const char *number_scan_json(const char *text, const char *end, double *value);

/* Scans a short number: at most eight bytes with its terminator, and a sign. NULL: not such a
 * number; call number_scan_json() to find out. */
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
    NUMBER_TOO_SMALL,  /* not zero, but closer to zero than any double */
    NUMBER_FRACTION    /* a whole number was wanted */
};

/* Parses the whole text as the nearest double. *value is written only on NUMBER_FINE. */
MUST_USE enum number_fault number_parse_real(const char *text, double *value);

/* Parses a whole number without decimal point or exponent. *value is written only on
 * NUMBER_FINE. */
MUST_USE enum number_fault number_parse_int(const char *text, int64_t *value);

/* Explains what is wrong with text and what would be right: "decimal comma, write 0.05". Always
 * terminated, cut to size. Returns the kind of fault. */
enum fault number_explain(enum number_fault fault, const char *text, char *out, size_t size);

/* Writes a JSON number[bytes] in its one plain form, digit by digit: "1.0", "1e0" and "1" give
 * "1", "-0" gives "0". A form that does not fit leaves the number as it is written. Returns the
 * length, or size if neither fits (out is then empty). */
size_t number_write_plain(const char *number, size_t bytes, char *out, size_t size);

/* Writes a number with the fewest significant digits that read back to it; always terminated.
 */
enum { NUMBER_SHORTEST_MAX = 32 };
void number_write_shortest(double number, char out[NUMBER_SHORTEST_MAX]);

bool number_all_finite(const double *x, size_t n);

/* A number with a user's name. An array of them is sorted by name, ends with the first empty
 * name, and the rest is zero. */
struct named_number {
    char name[32];
    double value;
};

#endif
