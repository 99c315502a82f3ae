#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

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
    return code;
}
