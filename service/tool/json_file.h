/* service/tool/json_file.h - JSON that goes to a stream, and members of what came as JSON. */
#ifndef SERVICE_TOOL_JSON_FILE_H
#define SERVICE_TOOL_JSON_FILE_H

#include <stdio.h>

#include <jansson.h>

#include "logger/message/json_write.h"

/* For json_write_start(): file is the FILE. Faults are found by who closes it. */
void json_file_flush(void *file, const char *text, size_t bytes);

/* One object and the end of a line: members writes what is in it. */
void json_file_print(FILE *out, void (*members)(const void *what, struct json_writer *w),
                     const void *what);

/* The number and the text of this key; NaN and "" where there is none. */
double json_file_real(const json_t *object, const char *key);
const char *json_file_text(const json_t *object, const char *key);

#endif
