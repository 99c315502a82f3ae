#include "web/http/csv.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/number.h"
#include "logger/message/json_scan.h"

enum { DEPTH_MAX = 8, CELL_MAX = 256 };

/* A value in the JSON text; all zero: an empty cell. */
struct cell {
    struct json_text text; /* as written; of a string what is inside the quotes */
    bool quoted;
};

void csv_header(struct body *out, const char *const *names, size_t count)
{
    assert(count <= CSV_ROW_CELLS_MAX);
    for (size_t i = 0; i < count; i++) {
        body_text(out, i > 0 ? "," : "");
        body_text(out, names[i]);
    }
    body_text(out, "\n");
}

/* Would a spreadsheet compute the cell? Numbers begin alike but are harmless. */
static bool is_formula(const char *text)
{
    double value = 0.0;
    const char *end = text + strlen(text);
    return text[0] && strchr("=+-@\t\r\n", text[0]) && number_scan(text, end, &value) != end;
}

static void write_cell(struct body *out, const char *text, size_t bytes)
{
    bool plain = true;
    for (size_t i = 0; i < bytes && plain; i++) {
        const char c = text[i];
        plain = c != ',' && c != '"' && c != '\n' && c != '\r' && c != '\0';
    }
    if (plain) {
        body_append(out, text, bytes);
        return;
    }
    body_text(out, "\"");
    for (size_t i = 0; i < bytes; i++) {
        body_append(out, text + i, 1);
        if (text[i] == '"') {
            body_text(out, "\"");
        }
    }
    body_text(out, "\"");
}

static bool read_cell(struct json_scan *s, struct cell *cell)
{
    const enum json_kind kind = json_scan_peek(s);
    if (kind == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    if (kind == JSON_KIND_TEXT) {
        cell->quoted = true;
        return json_scan_text(s, &cell->text);
    }
    return json_scan_skip(s, &cell->text.at, &cell->text.bytes);
}

static void write_text_cell(struct body *out, const struct json_text *inside)
{
    char text[1 + CELL_MAX] = "'";
    char *begin = text + 1;
    (void)json_text_copy(inside, begin, CELL_MAX, false);
    begin -= is_formula(begin) ? 1 : 0;
    write_cell(out, begin, strlen(begin));
}

/* Fills cells[count], all zero, with the members of these names. */
static void read_cells(const char *const *names, size_t count, const char *json, size_t bytes,
                       struct cell *cells)
{
    struct json_scan s;
    struct json_text key;
    size_t i = 0;
    json_scan_start(&s, json, bytes, DEPTH_MAX);
    bool more = json_scan_enter(&s, JSON_KIND_OBJECT);
    while (more && json_scan_next_member(&s, &key)) {
        /* Members usually come in the order of the columns. */
        size_t left = count;
        while (left > 0 && (names[i][0] != key.at[0] || !json_text_is(&key, names[i]))) {
            i = i + 1 < count ? i + 1 : 0;
            left--;
        }
        struct cell ignored = {0};
        more = read_cell(&s, left > 0 ? &cells[i] : &ignored);
    }
}

void csv_row(struct body *out, const char *const *names, size_t count, const char *json,
             size_t bytes)
{
    struct cell cells[CSV_ROW_CELLS_MAX];
    assert(count <= CSV_ROW_CELLS_MAX);
    memset(cells, 0, count * sizeof *cells); /* most cells stay empty */
    read_cells(names, count, json, bytes, cells);
    for (size_t i = 0; i < count; i++) {
        body_append(out, ",", i > 0 ? 1 : 0);
        if (cells[i].quoted) {
            write_text_cell(out, &cells[i].text);
        } else {
            write_cell(out, cells[i].text.at, cells[i].text.bytes);
        }
    }
    body_append(out, "\n", 1);
}
