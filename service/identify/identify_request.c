#include "service/identify/identify_request.h"

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
