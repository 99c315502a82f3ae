#include "service/cli/json_file.h"

#include <stdio.h>

void json_file_flush(void *file, const char *text, size_t bytes)
{
    (void)fwrite(text, 1, bytes, file);
}
