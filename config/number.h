/* config/number.h - numbers as people write them in a file: exact, whole, finite, or a reason.
 *
 * Accepted: digits with an optional sign, decimal point and exponent ("5", "-0.25", ".003",
 * "1e-6"). What other readers take silently for something else is refused by name: a decimal
 * comma, digit grouping, octal, hexadecimal, a unit behind the number, nan and infinity. The
 * process's locale does not matter.
 */
#ifndef CONFIG_NUMBER_H
#define CONFIG_NUMBER_H

#include <stddef.h>
#include <stdint.h>

#include "base/status.h"

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
 * Always terminated, cut to size. */
void number_explain(enum number_fault fault, const char *text, char *out, size_t size);

#endif
