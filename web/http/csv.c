#include "web/http/csv.h"

#include <assert.h>
#include <string.h>

#include "base/numbers/number.h"
#include "logger/message/json_scan.h"

enum { DEPTH_MAX = 8, CELL_MAX = 256 };

/* A value in the JSON text; all zero: an empty cell. */
struct cell {
    const char *text; /* [bytes] */
    size_t bytes;
    bool quoted;
    struct json_text inside; /* inside the quotes: its escapes must be resolved */
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
        plain = !strchr(",\"\n\r", text[i]) && text[i] != '\0';
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
        return json_scan_text(s, &cell->inside);
    }
    return json_scan_skip(s, &cell->text, &cell->bytes);
}

static void write_text_cell(struct body *out, const struct json_text *inside)
{
    char text[1 + CELL_MAX] = "'";
    char *begin = text + 1;
    (void)json_text_copy(inside, begin, CELL_MAX, false);
    begin -= is_formula(begin) ? 1 : 0;
    write_cell(out, begin, strlen(begin));
}

void csv_row(struct body *out, const char *const *names, size_t count, const char *json,
             size_t bytes)
{
    assert(count <= CSV_ROW_CELLS_MAX);
    struct cell cells[CSV_ROW_CELLS_MAX] = {0};
    struct json_scan s;
    struct json_text key;
    json_scan_start(&s, json, bytes, DEPTH_MAX);
    if (json_scan_enter(&s, JSON_KIND_OBJECT)) {
        while (json_scan_next_member(&s, &key)) {
            struct cell ignored = {0};
            size_t i = 0;
            while (i < count && !json_text_is(&key, names[i])) {
                i++;
            }
            if (!read_cell(&s, i < count ? &cells[i] : &ignored)) {
                break;
            }
        }
    }
    for (size_t i = 0; i < count; i++) {
        body_text(out, i > 0 ? "," : "");
        if (cells[i].quoted) {
            write_text_cell(out, &cells[i].inside);
        } else if (cells[i].text) {
            write_cell(out, cells[i].text, cells[i].bytes);
        }
    }
    body_text(out, "\n");
}
