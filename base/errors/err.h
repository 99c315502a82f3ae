/* base/errors/err.h - an error that a person can act on: where, what is wrong, what would be
 * right.
 *
 * The caller owns it. It is optional (NULL is allowed everywhere), and the first error wins.
 */
#ifndef BASE_ERRORS_ERR_H
#define BASE_ERRORS_ERR_H

#include <stddef.h>

#include "base/errors/status.h"

enum fault {
    FAULT_NONE,
#define FAULT(id, code, meaning) id,
#include "base/errors/fault.def"
#undef FAULT
    FAULT_COUNT
};

extern const struct names fault_names; /* the codes; base/text/names.h */
const char *fault_name(enum fault fault);

enum { ERR_WHERE_MAX = 128, ERR_TEXT_MAX = 256 };

struct err {
    enum status code;
    enum fault fault;          /* the kind; its name is stable, the text is not */
    unsigned line;             /* 1-based; 0: no line */
    unsigned column;           /* 1-based; 0: no column */
    char where[ERR_WHERE_MAX]; /* file, topic or key */
    char text[ERR_TEXT_MAX];   /* "what is wrong, what would be right" */
};

/* Fills *err unless it is NULL or holds an error already. Returns code, so that a function can
 * end with `return err_set(...)`. Long texts are cut. Control characters are replaced, because
 * foreign text ends up on a terminal. */
enum status err_set(struct err *err, enum status code, enum fault fault, const char *where,
                    const char *format, ...) PRINTF_LIKE(5, 6);

/* Does the same at a line and column; 0 means none. */
enum status err_set_at(struct err *err, enum status code, enum fault fault, const char *where,
                       unsigned line, unsigned column, const char *format, ...)
    PRINTF_LIKE(7, 8);

/* Does the same for STATUS_E_NOMEM and FAULT_NO_MEMORY. */
enum status err_no_memory(struct err *err, const char *where, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* The faults of one file, collected so that all are reported at once. */
enum { ERR_LIST_MAX = 32 };

struct err_list { /* All zero is an empty list. */
    size_t count;
    size_t more; /* faults that did not fit: counted, not stored */
    struct err items[ERR_LIST_MAX];
};

/* Adds a fault, or counts it if the list is full. Returns code. list may be NULL. */
enum status err_list_add(struct err_list *list, enum status code, enum fault fault,
                         const char *where, unsigned line, unsigned column, const char *format,
                         ...) PRINTF_LIKE(7, 8);

/* Sorts the faults into the order of the file. */
void err_list_sort(struct err_list *list);

#endif
