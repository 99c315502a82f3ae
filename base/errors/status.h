/* base/errors/status.h - what a fallible function returns, and the marks every header uses.
 *
 * Any room may include it. Pure: no I/O, no clock.
 */
#ifndef BASE_ERRORS_STATUS_H
#define BASE_ERRORS_STATUS_H

#include "base/text/names.h"

#define MUST_USE          __attribute__((warn_unused_result))
#define COUNT(array)      (sizeof(array) / sizeof((array)[0]))
#define PRINTF_LIKE(f, a) __attribute__((format(printf, f, a)))

enum status {
    STATUS_OK = 0,
    STATUS_E_ARG,   /* caller broke a documented precondition */
    STATUS_E_RANGE, /* input is well formed but outside its allowed range */
    STATUS_E_PARSE, /* input is not well formed */
    STATUS_E_STALE, /* input belongs to another time, version or configuration */
    STATUS_E_FULL,  /* bounded buffer is full; nothing was stored */
    STATUS_E_EMPTY, /* nothing there (end of file, empty queue, not found) */
    STATUS_E_NOMEM, /* allocation failed; start-up and cold paths only */
    STATUS_E_MATH,  /* solver failed for a numerical reason */
    STATUS_E_IO,    /* the operating system, the broker or the database refused */
    STATUS_COUNT
};

ENUM_NAMES_DECLARED(status);

#endif
