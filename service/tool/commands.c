#include "service/tool/commands.h"

#include <stdarg.h>
#include <stdio.h>

PRINTF_LIKE(1, 0)
static void print_line(const char *format, va_list args)
{
    (void)fputs("tandem: ", stderr);
    (void)vfprintf(stderr, format, args);
    (void)fputc('\n', stderr);
}

bool complain(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return false;
}

bool complain_err(const struct err *err)
{
    return complain("%s: %s", err->where, err->text);
}

int complain_exit(int exit_status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    print_line(format, args);
    va_end(args);
    return exit_status;
}
