#include "logger/storage/journal_error.h"

#include <stddef.h>
#include <string.h>

const char *journal_error_text(int error)
{
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}
