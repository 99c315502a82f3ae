#include "service/tool/json_file.h"

#include <math.h>
#include <stdlib.h>

void json_file_flush(void *file, const char *text, size_t bytes)
{
    (void)fwrite(text, 1, bytes, file);
}

void json_file_print(FILE *out, void (*members)(const void *what, struct json_writer *w),
                     const void *what)
{
    char text[4096];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, json_file_flush, out);
    json_write_object(&w, NULL);
    members(what, &w);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', out);
}

json_t *json_file_document(void (*members)(const void *what, struct json_writer *w),
                           const void *what)
{
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return NULL;
    }
    json_file_print(out, members, what);
    json_t *document = fclose(out) == 0 ? json_loadb(text, bytes, 0, NULL) : NULL;
    free(text);
    return document;
}

double json_file_real(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : nan("");
}

const char *json_file_text(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}
