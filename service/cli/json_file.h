/* service/cli/json_file.h - JSON that goes to a stream. */
#ifndef SERVICE_CLI_JSON_FILE_H
#define SERVICE_CLI_JSON_FILE_H

#include <stdio.h>

#include "logger/message/json_write.h"

/* For json_write_start(): file is the FILE. Faults are found by who closes it. */
void json_file_flush(void *file, const char *text, size_t bytes);

/* One object and the end of a line: members writes what is in it. */
void json_file_print(FILE *out, void (*members)(const void *what, struct json_writer *w),
                     const void *what);

#endif
