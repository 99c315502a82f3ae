#include "service/tool/column_map.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/text/text.h"
#include "base/text/utf8.h"

enum { FILE_MAX = 16384 };

static const char HOW[] = "write role=name,role=name; a unit follows a name, t=stamp:ns";

/* Strips the blanks around text[n]. */
static void trim_blanks(const char **text, size_t *n)
{
    while (*n > 0 && strchr(" \t\r", **text)) {
        (*text)++;
        (*n)--;
    }
    while (*n > 0 && strchr(" \t\r", (*text)[*n - 1])) {
        (*n)--;
    }
}

static bool copy_name(const char *text, size_t n, char *name, size_t room)
{
    trim_blanks(&text, &n);
    if (n == 0 || n >= room) {
        return false;
    }
    memcpy(name, text, n);
    name[n] = '\0';
    return true;
}

static enum status parse_row(struct column_map *map, const char *text, size_t n, unsigned line,
                             struct err *err)
{
    struct column_row row = {.line = line};
    const char *equals = memchr(text, '=', n);
    if (!equals || !copy_name(text, (size_t)(equals - text), row.role, sizeof row.role) ||
        !copy_name(equals + 1, n - (size_t)(equals - text) - 1, row.column,
                   sizeof row.column)) {
        return err_set_at(err, STATUS_E_ARG, FAULT_BAD_FORMAT, map->path, line, 0,
                          "columns cannot be read at '%.*s', %s", (int)(n < 60 ? n : 60), text,
                          HOW);
    }
    if (column_map_find(map, row.role)) {
        return err_set_at(err, STATUS_E_ARG, FAULT_DUPLICATE_NAME, map->path, line, 0,
                          "role '%s' is given twice, once is enough", row.role);
    }
    if (map->count == COLUMN_MAP_MAX) {
        return err_set_at(err, STATUS_E_ARG, FAULT_TOO_MANY, map->path, line, 0,
                          "too many columns at '%s', %d are the limit", row.role,
                          COLUMN_MAP_MAX);
    }
    map->rows[map->count++] = row;
    return STATUS_OK;
}

/* Parses rows of a text. line: number of its first line; 0: lines are not numbered. */
static enum status parse_rows(struct column_map *map, const char *text, unsigned line,
                              struct err *err)
{
    enum status st = STATUS_OK;
    bool begins = true; /* at the start of a line */
    while (*text && st == STATUS_OK) {
        const size_t blanks = strspn(text, " \t\r");
        const bool remark = line > 0 && begins && text[blanks] == '#';
        const size_t n = strcspn(text, remark ? "\n" : ",\n");
        const bool nothing = remark || (line > 0 && blanks >= n);
        st = nothing ? STATUS_OK : parse_row(map, text, n, line, err);
        begins = text[n] == '\n';
        line += begins && line > 0;
        text += n + (text[n] != '\0');
    }
    return st;
}

static enum status read_file(struct column_map *map, struct err *err)
{
    char text[FILE_MAX + 1];
    FILE *in = fopen(map->path, "rb");
    if (!in) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, map->path, "cannot be read: %s",
                       strerrordesc_np(errno));
    }
    const size_t n = fread(text, 1, sizeof text, in);
    const bool failed = ferror(in) != 0;
    (void)fclose(in);
    if (failed) {
        return err_set(err, STATUS_E_IO, FAULT_FILE_UNREADABLE, map->path, "cannot be read");
    }
    if (n > FILE_MAX || memchr(text, '\0', n)) {
        return err_set(err, STATUS_E_ARG, FAULT_BAD_FORMAT, map->path,
                       "this is no list of columns of at most %d bytes, %s", FILE_MAX, HOW);
    }
    text[n] = '\0';
    return parse_rows(map, text + utf8_mark(text, n), 1, err);
}

enum status column_map_read(const char *text, bool files, struct column_map *map,
                            struct err *err)
{
    *map = (struct column_map){.path = "columns"};
    if (text[0] != '@') {
        return parse_rows(map, text, 0, err);
    }
    if (!files) {
        return err_set(err, STATUS_E_ARG, FAULT_NOT_APPLICABLE, "columns",
                       "'%.40s' would be a file of this machine, %s", text, HOW);
    }
    if (strlen(text + 1) >= sizeof map->path) {
        return err_set(err, STATUS_E_ARG, FAULT_TOO_LONG, "columns",
                       "the name of the file has more than %zu bytes", sizeof map->path - 1);
    }
    (void)snprintf(map->path, sizeof map->path, "%s", text + 1);
    return read_file(map, err);
}

const char *column_map_find(const struct column_map *map, const char *role)
{
    for (size_t i = 0; i < map->count; i++) {
        if (strcmp(map->rows[i].role, role) == 0) {
            return map->rows[i].column;
        }
    }
    return NULL;
}

enum status column_map_check(const struct column_map *map, const char *const *roles,
                             const char *whose, struct err *err)
{
    char list[ERR_TEXT_MAX] = "";
    for (const char *const *role = roles; *role; role++) {
        text_append(list, sizeof list, " %s", *role);
    }
    for (size_t i = 0; i < map->count; i++) {
        const char *const *role = roles;
        while (*role && strcmp(*role, map->rows[i].role) != 0) {
            role++;
        }
        if (!*role) {
            return err_set_at(err, STATUS_E_ARG, FAULT_UNKNOWN_NAME, map->path,
                              map->rows[i].line, 0, "unknown role '%s', %s has%s",
                              map->rows[i].role, whose, list);
        }
    }
    return STATUS_OK;
}
