#include "logger/message/csv.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/iso_time.h"
#include "base/numbers/number.h"
#include "base/text/names.h"
#include "base/text/text.h"
#include "base/text/utf8.h"

/* Bytes of a field that an error shows. */
enum { SHOWN_MAX = 40 };

const char *csv_name(const struct csv *csv, size_t column)
{
    return column < csv->names.count ? csv->header + csv->names.start[column] : "";
}

const char *csv_text(const struct csv *csv, size_t column)
{
    return column < csv->fields.count ? csv->text + csv->fields.start[column] : "";
}

/* Reports an error about the present line. */
static PRINTF_LIKE(5, 6) enum status
    refuse_csv(const struct csv *csv, struct err *err, enum fault fault, unsigned column,
               const char *format, ...)
{
    char text[sizeof err->text];
    TEXT_FORMAT(text, sizeof text, format);
    return err_set_at(err, STATUS_E_PARSE, fault, csv->name, csv->line, column, "%s", text);
}

enum status csv_error(const struct csv *csv, size_t column, struct err *err, enum fault fault,
                      const char *text)
{
    const unsigned at = column < csv->fields.count ? csv->fields.column[column] : 0;
    return refuse_csv(csv, err, fault, at, "column '%.*s': %s", SHOWN_MAX,
                      csv_name(csv, column), text);
}

/* The header "lap1[s]" is the same as "lap1_s". */
static bool same_name(const char *header, const char *wanted)
{
    const char *open = strchr(header, '[');
    const size_t n = strlen(header);
    if (strcmp(header, wanted) == 0) {
        return true;
    }
    if (!open || n < 2 || header[n - 1] != ']') {
        return false;
    }
    const size_t stem = (size_t)(open - header);
    const size_t unit = n - stem - 2;
    return strlen(wanted) == stem + 1 + unit && memcmp(wanted, header, stem) == 0 &&
           wanted[stem] == '_' && memcmp(wanted + stem + 1, open + 1, unit) == 0;
}

int csv_find(const struct csv *csv, const char *name)
{
    for (size_t i = 0; i < csv->names.count; i++) {
        if (same_name(csv_name(csv, i), name)) {
            return (int)i;
        }
    }
    return -1;
}

static enum status refuse_twice(const struct csv *csv, size_t column, struct err *err)
{
    const char *name = csv_name(csv, column);
    size_t second = csv->names.count - 1;
    while (strcmp(csv_name(csv, second), name) != 0) {
        second--;
    }
    return err_set_at(err, STATUS_E_PARSE, FAULT_DUPLICATE_NAME, csv->name, csv->header_line,
                      csv->names.column[second], "two columns are called '%.*s'", SHOWN_MAX,
                      name);
}

enum status csv_require(const struct csv *csv, const char *name, size_t *column,
                        struct err *err)
{
    const int found = csv_find(csv, name);
    if (found >= 0) {
        *column = (size_t)found;
        return csv->twice[found] ? refuse_twice(csv, (size_t)found, err) : STATUS_OK;
    }
    char list[160] = "";
    for (size_t i = 0; i < csv->names.count; i++) {
        names_append(list, sizeof list, csv_name(csv, i));
    }
    const char *colon = strrchr(name, ':');
    return refuse_csv(csv, err, FAULT_MISSING_COLUMN, 0,
                      "there is no column '%.*s'%s%s%s, the columns are: %s", SHOWN_MAX, name,
                      colon ? " and no unit '" : "", colon ? colon + 1 : "", colon ? "'" : "",
                      list);
}

static bool plain_number(const struct csv *csv, size_t column, double *value)
{
    if (column >= csv->fields.count) {
        return false;
    }
    const char *text =
        csv->text + csv->fields.start[column]; /* the fields end with NULs within the record */
    const char *end = number_scan(text, csv->text + csv->used, value);
    return end > text && *end == '\0';
}

enum status csv_number(const struct csv *csv, size_t column, double *value, struct err *err)
{
    const char *text = csv_text(csv, column);
    double number = 0.0;
    char what[160];

    if (column < csv->names.count && csv->twice[column]) {
        return refuse_twice(csv, column, err);
    }
    if (plain_number(csv, column, &number) && isfinite(number)) {
        *value = number;
        return STATUS_OK;
    }
    char *end = NULL;
    const bool other = !isfinite(strtod(text, &end)) && *text && *end == '\0';
    if (*text == '\0') {
        (void)snprintf(what, sizeof what, "is empty, a number is needed");
    } else if (other) {
        (void)snprintf(what, sizeof what, "'%.*s' is not a finite number", SHOWN_MAX, text);
    } else if (strchr(text, ',')) {
        (void)snprintf(what, sizeof what,
                       "'%.*s' is not a number; a decimal comma? write a point, as in 0.05",
                       SHOWN_MAX, text);
    } else {
        (void)snprintf(what, sizeof what, "'%.*s' is not a number, as 0.05 or -2e-3 are",
                       SHOWN_MAX, text);
    }
    return csv_error(csv, column, err, FAULT_NOT_A_NUMBER, what);
}

enum status csv_unit_split(const struct csv *csv, const char *text, enum unit_kind measured,
                           char *name, const struct unit **unit, struct err *err)
{
    const char *colon = strrchr(text, ':');
    *unit = colon && csv_find(csv, text) < 0 ? unit_find(colon + 1) : NULL;
    if (*unit && !unit_fits(*unit, measured)) {
        const char *list = unit_list(measured);
        return refuse_csv(csv, err, FAULT_UNKNOWN_UNIT, 0,
                          "'%.*s': %s%s was expected, not '%s'", SHOWN_MAX, text,
                          *list ? "one of the units " : "no unit of time, length or angle",
                          list, (*unit)->name);
    }
    const size_t n = *unit ? (size_t)(colon - text) : strlen(text);
    if (n >= CSV_NAME_MAX) {
        return refuse_csv(csv, err, FAULT_TOO_LONG, 0,
                          "'%.*s...' is longer than the %d bytes of a name", SHOWN_MAX, text,
                          CSV_NAME_MAX - 1);
    }
    memcpy(name, text, n);
    name[n] = '\0';
    return STATUS_OK;
}

enum status csv_quantity_find(const struct csv *csv, const char *text, enum unit_kind measured,
                              double factor, struct csv_quantity *quantity, struct err *err)
{
    char name[CSV_NAME_MAX];
    const struct unit *unit = NULL;
    size_t column = 0;
    enum status st = csv_unit_split(csv, text, measured, name, &unit, err);
    st = st == STATUS_OK ? csv_require(csv, name, &column, err) : st;
    if (st == STATUS_OK) {
        *quantity = (struct csv_quantity){(int)column, unit ? unit->factor : factor};
    }
    return st;
}

enum status csv_stamp(const struct csv *csv, size_t column, int64_t *us, struct err *err)
{
    const char *text = csv_text(csv, column);
    struct iso_time time;
    if (!iso_time_parse(text, strlen(text), &time)) {
        const unsigned at = column < csv->fields.count ? csv->fields.column[column] : 0;
        return refuse_csv(csv, err, FAULT_TIME_EXPECTED, at,
                          "column '%.*s': an ISO 8601 time was expected, not '%.*s': %s",
                          SHOWN_MAX, csv_name(csv, column), SHOWN_MAX, text, time.wanted);
    }
    *us = time.us;
    return STATUS_OK;
}

enum status csv_quantity_read(const struct csv *csv, struct csv_quantity quantity,
                              double *value, struct err *err)
{
    double number = 0.0;
    int64_t us = 0;
    if (quantity.column < 0 || *csv_text(csv, (size_t)quantity.column) == '\0') {
        return STATUS_OK;
    }
    if (!(quantity.factor > 0.0)) {
        const enum status st = csv_stamp(csv, (size_t)quantity.column, &us, err);
        *value = st == STATUS_OK ? (double)us * 1e-6 : *value;
        return st;
    }
    const enum status st = csv_number(csv, (size_t)quantity.column, &number, err);
    if (st == STATUS_OK) {
        *value = number * quantity.factor;
    }
    return st;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* Unquotes a field in place. *from is behind the opening quote and moves to the comma or the
 * end. Returns the end of the content, or NULL if text follows the closing quote. */
static char *unquote_field(char **from)
{
    char *in = *from;
    char *out = *from;
    while (*in && !(in[0] == '"' && in[1] != '"')) {
        in += in[0] == '"';
        *out++ = *in++;
    }
    in += *in == '"';
    while (is_blank(*in)) {
        in++;
    }
    *from = in;
    return *in == ',' || *in == '\0' ? out : NULL;
}

/* Splits the present record at its commas, in place. */
static enum status split_record(struct csv *csv, struct err *err)
{
    struct csv_fields *fields = &csv->fields;
    char *text = csv->text;
    char *at = text;
    bool more = true;

    fields->count = 0;
    while (more) {
        while (is_blank(*at)) {
            at++;
        }
        const unsigned column = (unsigned)(at - text) + 1;
        if (fields->count == CSV_COLUMNS_MAX) {
            return refuse_csv(csv, err, FAULT_TOO_MANY, column, "more than %d columns",
                              CSV_COLUMNS_MAX);
        }
        const bool quoted = *at == '"';
        at += quoted;
        fields->start[fields->count] = (uint32_t)(at - text);
        fields->column[fields->count] = column;
        fields->count++;
        char *end = NULL;
        if (quoted) {
            end = unquote_field(&at);
            if (!end) {
                return refuse_csv(csv, err, FAULT_BAD_SYNTAX, column,
                                  "text after the closing quote; write \"\" for a quote inside "
                                  "quotes");
            }
        } else {
            char *begin = at;
            while (*at != ',' && *at != '\0') {
                at++;
            }
            for (end = at; end > begin && is_blank(end[-1]); end--) {
            }
        }
        more = *at == ',';
        at += more;
        *end = '\0';
    }
    return STATUS_OK;
}

static enum status check_names(const struct csv *csv, struct err *err)
{
    const char *only = csv->names.count == 1 ? csv_name(csv, 0) : "";
    const bool others = strpbrk(only, ";\t") != NULL;
    if (others || strchr(only, ' ')) {
        return refuse_csv(csv, err, FAULT_BAD_SYNTAX, 1,
                          "the columns are separated by %s, commas are needed%s%s",
                          strchr(only, ';') ? "';'"
                          : others          ? "tabs"
                                            : "blanks",
                          others ? "" : ": tr -s ' ' , < ", others ? "" : csv->name);
    }
    return STATUS_OK;
}

static void mark_twice(struct csv *csv)
{
    for (size_t i = 0; i < csv->names.count; i++) {
        csv->twice[i] = false;
        for (size_t j = 0; j < i; j++) {
            const bool same = strcmp(csv_name(csv, i), csv_name(csv, j)) == 0;
            csv->twice[i] = csv->twice[i] || same;
            csv->twice[j] = csv->twice[j] || same;
        }
    }
}

static enum status apply_header(struct csv *csv, struct err *err)
{
    const enum status st = check_names(csv, err);
    mark_twice(csv);
    csv->has_header = true;
    csv->header_line = csv->line;
    return st == STATUS_OK && csv->on_header ? csv->on_header(csv->context, csv, err) : st;
}

/* Splits a '#' line: names end at a comma or blank, and quotes have no meaning. */
static void split_remark(struct csv *csv)
{
    char *at = csv->header;
    csv->names.count = 0;
    while (csv->names.count < csv->fields.count) {
        at += strspn(at, " \t");
        csv->names.start[csv->names.count] = (uint32_t)(at - csv->header);
        csv->names.column[csv->names.count] = (uint32_t)(at - csv->header) + 2;
        csv->names.count++;
        char *end = at + strcspn(at, ", \t");
        at += strcspn(at, ",");
        const bool more = *at == ',';
        *end = '\0';
        if (!more) {
            return;
        }
        at++;
    }
}

/* Uses the '#' line in csv->header as the header. The first row shows how many of its words are
 * names. */
static enum status header_from_remark(struct csv *csv, struct err *err)
{
    const unsigned row_line = csv->line;
    if (csv->remark_bytes == 0) {
        return refuse_csv(csv, err, FAULT_MISSING_HEADER, 1,
                          "a row of numbers before any header, the first line must name the "
                          "columns");
    }
    split_remark(csv);
    csv->line = csv->remark_line;
    const enum status st = apply_header(csv, err);
    csv->line = row_line;
    return st;
}

static enum status emit_row(struct csv *csv, struct err *err)
{
    const size_t got = csv->fields.count;
    const size_t want = csv->names.count;
    if (got != want) {
        return refuse_csv(csv, err, FAULT_WRONG_COUNT,
                          got > want ? csv->fields.column[want] : 0,
                          "%zu fields, the header names %zu columns%s", got, want,
                          got > want ? "; a decimal comma? write a point, as in 0.05" : "");
    }
    csv->rows++;
    return csv->on_row(csv->context, csv, err);
}

static void store_remark(struct csv *csv, const char *remark, size_t n)
{
    csv->remark_bytes = n <= CSV_HEADER_MAX ? n : 0;
    csv->remark_line = csv->line;
    memcpy(csv->header, remark, csv->remark_bytes);
    csv->header[csv->remark_bytes] = '\0';
}

static enum status handle_first(struct csv *csv, struct err *err)
{
    const size_t bytes = csv->used;
    double ignored = 0.0;
    enum status st = split_record(csv, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (plain_number(csv, 0, &ignored)) {
        st = header_from_remark(csv, err);
        return st == STATUS_OK ? emit_row(csv, err) : st;
    }
    if (bytes > CSV_HEADER_MAX) {
        return refuse_csv(csv, err, FAULT_TOO_LONG, 0, "the header is longer than %d bytes",
                          CSV_HEADER_MAX);
    }
    memcpy(csv->header, csv->text, bytes + 1);
    csv->names = csv->fields;
    return apply_header(csv, err);
}

/* Names the encoding of a text with zero bytes: every other byte of UTF-16 is zero. */
static const char *find_utf16(const char *text, size_t bytes)
{
    const bool marked =
        bytes >= 2 && (memcmp(text, "\xff\xfe", 2) == 0 || memcmp(text, "\xfe\xff", 2) == 0);
    const bool low = bytes >= 4 && text[0] && !text[1] && text[2] && !text[3];
    const bool high = bytes >= 4 && !text[0] && text[1] && !text[2] && text[3];
    return marked ? "UTF-16" : low ? "UTF-16LE" : high ? "UTF-16BE" : NULL;
}

static enum status refuse_zero(const struct csv *csv, struct err *err)
{
    const char *encoding = csv->has_header ? NULL : find_utf16(csv->text, csv->used);
    return encoding ? refuse_csv(csv, err, FAULT_BAD_ENCODING, 0,
                                 "the text is UTF-16, make it UTF-8: iconv -f %s -t UTF-8 %s",
                                 encoding, csv->name)
                    : refuse_csv(csv, err, FAULT_BAD_ENCODING, 0,
                                 "a zero byte, this is not a text file");
}

/* Does the text before the header's end have returns without line feeds? */
static bool ends_in_returns(const struct csv *csv)
{
    return !csv->has_header && csv->used > 1 &&
           memchr(csv->text, '\r', csv->used - 1) != NULL && !memchr(csv->text, '"', csv->used);
}

static enum status refuse_returns(const struct csv *csv, struct err *err)
{
    return refuse_csv(csv, err, FAULT_BAD_ENCODING, 0,
                      "lines end in a carriage return alone, line feeds are needed: tr '\\r' "
                      "'\\n' < %s",
                      csv->name);
}

/* Parses one complete record in csv->text[used]. */
static enum status parse_record(struct csv *csv, struct err *err)
{
    if (memchr(csv->text, '\0', csv->used)) {
        return refuse_zero(csv, err);
    }
    if (ends_in_returns(csv)) {
        return refuse_returns(csv, err);
    }
    if (csv->used > 0 && csv->text[csv->used - 1] == '\r') {
        csv->used--;
    }
    csv->text[csv->used] = '\0';
    const size_t blanks = strspn(csv->text, " \t");
    if (csv->text[blanks] == '\0') {
        return STATUS_OK;
    }
    if (csv->text[blanks] == '#') {
        if (!csv->has_header) {
            store_remark(csv, csv->text + blanks + 1, csv->used - blanks - 1);
        }
        return STATUS_OK;
    }
    if (!csv->has_header) {
        return handle_first(csv, err);
    }
    const enum status st = split_record(csv, err);
    return st == STATUS_OK ? emit_row(csv, err) : st;
}

/* Does the record end inside quotes so far? A quote opens only at the start of a field. */
static bool inside_quotes(struct csv *csv)
{
    for (; csv->scanned < csv->used; csv->scanned++) {
        const char c = csv->text[csv->scanned];
        if (csv->quote == CSV_QUOTED) {
            csv->quote = c == '"' ? CSV_AFTER_QUOTE : CSV_QUOTED;
        } else if (c == '"' && csv->quote != CSV_PLAIN) {
            csv->quote = CSV_QUOTED;
        } else if (c == ',') {
            csv->quote = CSV_AT_START;
        } else if (csv->quote != CSV_AT_START || !is_blank(c)) {
            csv->quote = CSV_PLAIN;
        }
    }
    return csv->quote == CSV_QUOTED;
}

static enum status append_bytes(struct csv *csv, const char *bytes, size_t n, struct err *err)
{
    if (n > CSV_LINE_MAX - csv->used) {
        if (ends_in_returns(csv)) {
            return refuse_returns(csv, err);
        }
        return refuse_csv(csv, err, FAULT_TOO_LONG, 0, "the line is longer than %d bytes%s",
                          CSV_LINE_MAX, csv->line_breaks ? "; is a quote not closed?" : "");
    }
    memcpy(csv->text + csv->used, bytes, n);
    csv->used += n;
    csv->text[csv->used] = '\0';
    if (!csv->begun && csv->used >= 3) {
        csv->begun = true;
        const size_t mark = utf8_mark(csv->text, csv->used);
        csv->used -= mark;
        memmove(csv->text, csv->text + mark, csv->used + 1);
    }
    return STATUS_OK;
}

static enum status end_record(struct csv *csv, struct err *err)
{
    csv->begun = true;
    const enum status st = parse_record(csv, err);
    csv->line += 1 + csv->line_breaks;
    csv->line_breaks = 0;
    csv->used = csv->scanned = 0;
    csv->quote = CSV_AT_START;
    return st;
}

/* Is it a '#' line? Such lines may contain single quotes. */
static bool is_remark(const struct csv *csv)
{
    const size_t blanks = strspn(csv->text, " \t");
    return csv->text[blanks] == '#';
}

static enum status end_line(struct csv *csv, struct err *err)
{
    if (memchr(csv->text + csv->scanned, '"', csv->used - csv->scanned) ||
        csv->quote == CSV_QUOTED) {
        if (!is_remark(csv) && inside_quotes(csv)) {
            csv->line_breaks++;
            return append_bytes(csv, "\n", 1, err);
        }
    }
    return end_record(csv, err);
}

static void begin_table(struct csv *csv, const struct csv_input *input)
{
    memset(csv, 0, offsetof(struct csv, text));
    csv->name = input->name;
    csv->on_header = input->header;
    csv->on_row = input->row;
    csv->context = input->context;
    csv->line = 1;
    csv->text[0] = csv->header[0] = '\0';
    csv->fields.count = csv->names.count = 0;
}

static enum status parse_piece(struct csv *csv, const char *bytes, size_t n, struct err *err)
{
    enum status st = STATUS_OK;
    while (n > 0 && st == STATUS_OK) {
        const char *end = memchr(bytes, '\n', n);
        const size_t part = end ? (size_t)(end - bytes) : n;
        st = append_bytes(csv, bytes, part, err);
        if (st == STATUS_OK && end) {
            st = end_line(csv, err);
        }
        bytes += part + (end ? 1 : 0);
        n -= part + (end ? 1 : 0);
    }
    return st;
}

static enum status end_table(struct csv *csv, struct err *err)
{
    enum status st = STATUS_OK;
    if (csv->used > 0) {
        st = !is_remark(csv) && inside_quotes(csv)
                 ? refuse_csv(csv, err, FAULT_BAD_SYNTAX, 0,
                              "a quote is opened in this line and not closed")
                 : end_record(csv, err);
    }
    if (st == STATUS_OK && !csv->has_header) {
        st = refuse_csv(csv, err, FAULT_MISSING_HEADER, 0,
                        "no header line, the first line must name the columns");
    }
    return st;
}

enum status csv_read(struct csv *csv, const struct csv_input *input, struct err *err)
{
    begin_table(csv, input);
    for (;;) {
        const char *bytes = NULL;
        size_t n = 0;
        enum status st = input->next(input->source, &bytes, &n, err);
        if (st == STATUS_OK && n == 0) {
            return end_table(csv, err);
        }
        st = st == STATUS_OK ? parse_piece(csv, bytes, n, err) : st;
        if (st != STATUS_OK) {
            return st;
        }
    }
}
