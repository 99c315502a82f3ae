#include "service/identify/identify_request.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct identify_request identify_request_defaults(void)
{
    return (struct identify_request){.side = "real", .delay_max_s = -1.0};
}

enum status identify_take_columns(const char *text, struct identify_request *request,
                                  struct err *err)
{
    while (*text) {
        const size_t n = strcspn(text, ",");
        const char *equals = memchr(text, '=', n);
        if (request->column_count == IDENTIFY_COLUMNS_MAX) {
            return err_set(err, STATUS_E_ARG, "columns", 0, 0,
                           "too many columns at '%s', 32 are the limit", text);
        }
        struct identify_column *column = &request->columns[request->column_count];
        const size_t role = equals ? (size_t)(equals - text) : 0;
        if (role == 0 || role >= sizeof column->role || n - role - 1 == 0 ||
            n - role - 1 >= sizeof column->column) {
            return err_set(err, STATUS_E_ARG, "columns", 0, 0,
                           "columns cannot be read at '%s', write role=name,role=name", text);
        }
        memcpy(column->role, text, role);
        column->role[role] = '\0';
        memcpy(column->column, equals + 1, n - role - 1);
        column->column[n - role - 1] = '\0';
        request->column_count++;
        text += n + (text[n] == ',');
    }
    return STATUS_OK;
}

const char *identify_column(const struct identify_request *request, const char *role)
{
    for (size_t i = 0; i < request->column_count; i++) {
        if (strcmp(request->columns[i].role, role) == 0) {
            return request->columns[i].column;
        }
    }
    return NULL;
}

const char *identify_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum status identify_read_tables(struct table *table, const struct csv_source *inputs,
                                 size_t count, size_t *part_start, struct identify_file *files,
                                 struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        part_start[i] = table->count;
        files[i].name = identify_base_name(inputs[i].path);
        const enum status st = table_read(table, &inputs[i], &files[i].mark, err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    part_start[count] = table->count;
    return STATUS_OK;
}

bool identify_go_on(const struct identify_request *request, double share, uint64_t done,
                    uint64_t total)
{
    const double part = total > 0 ? (double)done / (double)total : 0.0;
    return !request->go_on || request->go_on(request->context, "reading", share * part);
}

void identify_files_json(struct json_writer *w, const char *key,
                         const struct identify_file *files, size_t count)
{
    json_write_array(w, key);
    for (size_t i = 0; i < count; i++) {
        char hash[17];
        (void)snprintf(hash, sizeof hash, "%016" PRIx64, files[i].mark.hash);
        json_write_object(w, NULL);
        json_write_text(w, "name", files[i].name);
        json_write_int(w, "bytes", (int64_t)files[i].mark.bytes);
        json_write_text(w, "fnv1a", hash);
        json_write_close(w);
    }
    json_write_close(w);
}
