/* base/err_list.h - the faults of one file, collected so that all are reported at once. */
#ifndef BASE_ERR_LIST_H
#define BASE_ERR_LIST_H

#include <stddef.h>

#include "base/err.h"

enum { ERR_LIST_MAX = 32 };

struct err_list { /* all zero is empty */
    size_t count;
    size_t more; /* faults beyond the list: counted, not kept */
    struct err items[ERR_LIST_MAX];
};

/* Keep one more fault, or count it when the list is full. Returns code. list may be NULL. */
enum status err_list_add(struct err_list *list, enum status code, const char *where,
                         unsigned line, unsigned column, const char *format, ...)
    PRINTF_LIKE(6, 7);

/* Into the order of the file. */
void err_list_sort(struct err_list *list);

#endif
