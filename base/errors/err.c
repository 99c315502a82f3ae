#include "base/errors/err.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/text/names.h"
#include "base/text/utf8.h"

static const char *const codes[] = {
    "none",
#define FAULT(id, code, meaning) code,
#include "base/errors/fault.def"
#undef FAULT
};
const struct names fault_names = {codes, FAULT_COUNT};

const char *fault_name(enum fault fault)
{
    return names_text(&fault_names, (size_t)fault);
}

/* Does nothing if *err holds an error already. */
static PRINTF_LIKE(4, 0) void fill_err(struct err *err, struct err head, const char *where,
                                       const char *format, va_list args)
{
    if (err && err->code == STATUS_OK) {
        *err = head;
        (void)snprintf(err->where, sizeof err->where, "%s", where ? where : "");
        (void)vsnprintf(err->text, sizeof err->text, format, args);
        (void)utf8_tame(err->where);
        (void)utf8_tame(err->text);
    }
}

enum status err_set(struct err *err, enum status code, enum fault fault, const char *where,
                    const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_err(err, (struct err){.code = code, .fault = fault}, where, format, args);
    va_end(args);
    return code;
}

enum status err_set_at(struct err *err, enum status code, enum fault fault, const char *where,
                       unsigned line, unsigned column, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fill_err(err, (struct err){code, fault, line, column, "", ""}, where, format, args);
    va_end(args);
    return code;
}

enum status err_no_memory(struct err *err, const char *where, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const struct err head = {.code = STATUS_E_NOMEM, .fault = FAULT_NO_MEMORY};
    fill_err(err, head, where, format, args);
    va_end(args);
    return head.code;
}

enum status err_list_add(struct err_list *list, enum status code, enum fault fault,
                         const char *where, unsigned line, unsigned column, const char *format,
                         ...)
{
    if (list && list->count < ERR_LIST_MAX) {
        va_list args;
        va_start(args, format);
        const struct err head = {code, fault, line, column, "", ""};
        struct err *item = &list->items[list->count++];
        item->code = STATUS_OK;
        fill_err(item, head, where, format, args);
        va_end(args);
    } else if (list) {
        list->more++;
    }
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
