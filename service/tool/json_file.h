/* service/tool/json_file.h - writes JSON to a stream, and reads members of parsed JSON. */
#ifndef SERVICE_TOOL_JSON_FILE_H
#define SERVICE_TOOL_JSON_FILE_H

#include <stdio.h>

#include <jansson.h>

#include "logger/message/json_write.h"

/* For json_write_start(): file is the FILE. Write errors show when it is closed. */
void json_file_flush(void *file, const char *text, size_t bytes);

/* Print one object on a line; members writes its contents. */
void json_file_print(FILE *out, void (*members)(const void *what, struct json_writer *w),
                     const void *what);

/* The same object parsed, to be freed; NULL: not enough memory. */
json_t *json_file_document(void (*members)(const void *what, struct json_writer *w),
                           const void *what);

/* The number or text of this key; NaN or "" without one. */
double json_file_real(const json_t *object, const char *key);
const char *json_file_text(const json_t *object, const char *key);

#endif
