#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/utf8.h"

enum status err_set(struct err *err, enum status code, const char *where, unsigned line,
                    unsigned column, const char *format, ...)
{
    if (!err || err->code != STATUS_OK) {
        return code;
    }
    err->code = code;
    err->line = line;
    err->column = column;
    (void)snprintf(err->where, sizeof err->where, "%s", where ? where : "");
    va_list args;
    va_start(args, format);
    (void)vsnprintf(err->text, sizeof err->text, format, args);
    va_end(args);
    (void)utf8_tame(err->where);
    (void)utf8_tame(err->text);
    return code;
}

enum status err_list_add(struct err_list *list, enum status code, const char *where,
                         unsigned line, unsigned column, const char *format, ...)
{
    if (!list) {
        return code;
    }
    if (list->count == ERR_LIST_MAX) {
        list->more++;
        return code;
    }
    struct err *item = &list->items[list->count];
    char text[ERR_TEXT_MAX];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof text, format, args);
    va_end(args);
    *item = (struct err){0};
    (void)err_set(item, code, where, line, column, "%s", text);
    list->count++;
    return code;
}

static int by_place(const void *a, const void *b)
{
    const struct err *x = a;
    const struct err *y = b;
    if (x->line != y->line) {
        return x->line < y->line ? -1 : 1;
    }
    return x->column < y->column ? -1 : x->column > y->column;
}

void err_list_sort(struct err_list *list)
{
    qsort(list->items, list->count, sizeof list->items[0], by_place);
}
