#include "service/tool/csv_tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

#include "logger/message/json_write.h"

enum { PATH_BYTES = 512 };

void csv_tables_number(FILE *out, double value, bool last)
{
    char cell[JSON_WRITE_NUMBER_MAX];
    (void)json_format_real(value, cell);
    (void)fprintf(out, "%s%c", isfinite(value) ? cell : "", last ? '\n' : ',');
}

void csv_tables_cell(FILE *out, int width, int digits, char style, double value)
{
    if (!isfinite(value)) {
        (void)fprintf(out, " %*s", width, "-");
    } else if (style == 'f') {
        (void)fprintf(out, " %*.*f", width, digits, value);
    } else if (style == '+') {
        (void)fprintf(out, " %+*.*f", width, digits, value);
    } else {
        (void)fprintf(out, " %*.*g", width, digits, value);
    }
}

static json_t *find_value(const json_t *row, const char *key, size_t bytes)
{
    const char *const dot = memchr(key, '.', bytes);
    const size_t first = dot ? (size_t)(dot - key) : bytes;
    json_t *value = json_object_getn(row, key, first);
    return dot ? json_object_getn(value, dot + 1, bytes - first - 1) : value;
}

void csv_tables_rows(const json_t *rows, const char *keys, FILE *out)
{
    size_t i;
    const json_t *row;
    for (const char *c = keys; *c; c++) {
        if (*c != '#') {
            (void)fputc(*c == ' ' ? ',' : *c == '.' ? '_' : *c, out);
        }
    }
    json_array_foreach(rows, i, row) {
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

void csv_tables_unfold(json_t *document, const char *list, const char *member, const char *name,
                       const char *keys, FILE *out)
{
    json_t *items = list ? json_incref(find_value(document, list, strlen(list)))
                         : json_pack("[O]", document);
    json_t *rows = json_array();
    size_t i;
    json_t *item;
    json_array_foreach(items, i, item) {
        const char *key;
        json_t *inner;
        json_object_foreach(member ? json_object_get(item, member) : item, key, inner) {
            json_t *row = json_copy(item);
            (void)json_object_update(row, inner);
            (void)json_object_set_new(row, name, json_string(key));
            (void)json_array_append_new(json_is_object(inner) ? rows : NULL, row);
        }
    }
    csv_tables_rows(rows, keys, out);
    json_decref(rows);
    json_decref(items);
    json_decref(document);
}

static enum status write_table(const char *folder, const struct csv_table *table,
                               const void *what, struct err *err)
{
    char path[PATH_BYTES];
    (void)snprintf(path, sizeof path, "%s/%s", folder, table->name);
    FILE *out = fopen(path, "w");
    if (!out) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, path, "cannot be written: %s",
                       strerrordesc_np(errno));
    }
    table->write(what, out);
    const bool written = ferror(out) == 0;
    if (fclose(out) != 0 || !written) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, path,
                       "could not be written whole");
    }
    return STATUS_OK;
}

enum status csv_tables_write(const char *folder, const struct csv_table *tables, size_t count,
                             const void *what, struct err *err)
{
    enum status status = STATUS_OK;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNWRITABLE, folder, "cannot be made: %s",
                       strerrordesc_np(errno));
    }
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = write_table(folder, &tables[i], what, err);
    }
    return status;
}
