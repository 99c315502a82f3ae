#include "service/tool/json_table.h"

#include <string.h>

#include "logger/message/json_write.h"

static const json_t *find_value(const json_t *row, const char *key, size_t bytes)
{
    const char *const dot = memchr(key, '.', bytes);
    const size_t first = dot ? (size_t)(dot - key) : bytes;
    const json_t *value = json_object_getn(row, key, first);
    return dot ? json_object_getn(value, dot + 1, bytes - first - 1) : value;
}

void json_table_csv(const json_t *rows, const char *keys, FILE *out)
{
    size_t i;
    const json_t *row;
    for (const char *c = keys; *c; c++) {
        if (*c != '#') {
            (void)fputc(*c == ' ' ? ',' : *c == '.' ? '_' : *c, out);
        }
    }
    json_array_foreach(rows, i, row)
    {
        const char *between = "\n";
        for (const char *key = keys; *key; key += strspn(key, " ")) {
            const size_t bytes = strcspn(key, " #");
            const bool is_count = key[bytes] == '#';
            const json_t *value = find_value(row, key, bytes);
            const char *text = json_string_value(value);
            char number[JSON_WRITE_NUMBER_MAX] = {is_count ? '0' : '\0'};
            if (json_is_number(value)) {
                (void)json_format_real(json_number_value(value), number);
            }
            (void)fprintf(out, "%s%s", between, text ? text : number);
            between = ",";
            key += bytes + is_count;
        }
    }
    (void)fputc('\n', out);
}

static void print_cell(const struct json_column *column, const json_t *row, const char *between,
                       FILE *out)
{
    const json_t *value = find_value(row, column->key, strlen(column->key));
    const char *also =
        column->also ? json_string_value(json_object_get(row, column->also)) : NULL;
    char text[128];
    if (json_is_number(value)) {
        (void)fprintf(out, "%s%*.*f", between, column->width, column->digits,
                      column->scale * json_number_value(value));
    } else if (value) {
        (void)snprintf(text, sizeof text, "%s%s%s",
                       json_is_string(value) ? json_string_value(value) : "-", also ? " " : "",
                       also ? also : "");
        (void)fprintf(out, "%s%*s", between, column->width, text);
    }
}

void json_table_page(const json_t *rows, const struct json_column *columns, size_t count,
                     FILE *out)
{
    size_t i;
    const json_t *row;
    for (size_t k = 0; k < count && json_array_size(rows) > 0; k++) {
        (void)fprintf(out, "%s%*s", k == 0 ? "\n" : " ", columns[k].width, columns[k].heading);
    }
    json_array_foreach(rows, i, row)
    {
        for (size_t k = 0; k < count; k++) {
            print_cell(&columns[k], row, k == 0 ? "\n" : " ", out);
        }
    }
    (void)fputs(json_array_size(rows) > 0 ? "\n" : "", out);
}
