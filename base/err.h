/* base/err.h - an error a person can act on: where, what is wrong, what would be right.
 *
 * Caller-owned, optional (NULL is allowed everywhere); the first error wins.
 */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/status.h"

enum { ERR_WHERE_MAX = 128, ERR_TEXT_MAX = 256 };

struct err {
    enum status code;
    unsigned line;             /* 1-based; 0: no line */
    unsigned column;           /* 1-based; 0: no column */
    char where[ERR_WHERE_MAX]; /* file, topic or key */
    char text[ERR_TEXT_MAX];   /* "what is wrong, what would be right" */
};

/* Fill *err unless it is NULL or holds an error already. Returns code, so that a function
 * can end with `return err_set(...)`. Long texts are cut. */
enum status err_set(struct err *err, enum status code, const char *where, unsigned line,
                    unsigned column, const char *format, ...) PRINTF_LIKE(6, 7);

#endif
