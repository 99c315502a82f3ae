#include "service/tool/table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/number.h"

/* --- quantities ------------------------------------------------------------------------ */

/* Recognises words that loggers write for a missing value. */
static bool is_missing(const char *text)
{
    static const char *const words[] = {"", "nan", "NaN", "NAN", "null", "NA", "inf", "-inf"};
    const char first = text[0] == '-' ? text[1] : text[0];
    if ((first >= '0' && first <= '9') || first == '.') {
        return false;
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(text, words[i]) == 0) {
            return true;
        }
    }
    return false;
}

/* Parses a number, or finds a column. */
static enum status parse_factor(const struct csv *csv, const char *name,
                                struct csv_product *product, struct err *err)
{
    double number = 0.0;
    const char *end = number_scan(name, name + strlen(name), &number);
    if (csv_find(csv, name) < 0 && end != name && *end == '\0' && isfinite(number)) {
        product->scale *= number;
        return STATUS_OK;
    }
    if (product->count == CSV_PRODUCT_MAX) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_TOO_MANY, csv->name, csv->line, 0,
                          "more than %d columns in one product", (int)CSV_PRODUCT_MAX);
    }
    return csv_require(csv, name, &product->column[product->count++], err);
}

/* Parses a whole product, without its sign and unit. */
static enum status parse_factors(const struct csv *csv, const char *text,
                                 struct csv_product *product, struct err *err)
{
    if (csv_find(csv, text) >= 0 || !strchr(text, '*')) {
        product->count = 1;
        return csv_require(csv, text, &product->column[0], err);
    }
    for (const char *at = text; at;) {
        char name[CSV_NAME_MAX];
        const char *star = strchr(at, '*');
        const size_t n = star ? (size_t)(star - at) : strlen(at);
        memcpy(name, at, n);
        name[n] = '\0';
        const enum status st = parse_factor(csv, name, product, err);
        if (st != STATUS_OK) {
            return st;
        }
        at = star ? star + 1 : NULL;
    }
    return product->count > 0 ? STATUS_OK
                              : err_set_at(err, STATUS_E_PARSE, FAULT_MISSING_COLUMN, csv->name,
                                           csv->line, 0, "there is no column in '%s'", text);
}

enum status csv_product_find(const struct csv *csv, const char *text, enum unit_kind measured,
                             struct csv_product *product, struct err *err)
{
    char name[CSV_NAME_MAX];
    const struct unit *unit = NULL;
    enum status st = csv_unit_split(csv, text, measured, name, &unit, err);
    if (st != STATUS_OK) {
        return st;
    }
    const bool turned = name[0] == '-' && csv_find(csv, name) < 0;
    *product = (struct csv_product){.scale = turned ? -1.0 : 1.0};
    st = parse_factors(csv, name + turned, product, err);
    const bool alone = !turned && csv_find(csv, name) >= 0;
    product->stamp = unit && measured == UNIT_STAMP && alone ? unit : NULL;
    if (st == STATUS_OK && unit && unit->kind == UNIT_STAMP && !alone) {
        return err_set_at(err, STATUS_E_PARSE, FAULT_NOT_APPLICABLE, csv->name, csv->line, 0,
                          "'%s': an ISO 8601 time is a column of its own, no product", text);
    }
    product->scale *= unit && !product->stamp ? unit->factor : 1.0;
    return st;
}

/* Splits a number into integer and fraction: in nanoseconds since 1970 a double only resolves
 * 256 ns.
 */
static enum status split_number(const struct csv *csv, size_t column, int64_t *whole,
                                double *rest, struct err *err)
{
    double number = 0.0;
    const enum status st = csv_number(csv, column, &number, err);
    if (st != STATUS_OK) {
        return st;
    }
    if (!(fabs(number) < (double)(INT64_MAX / 2))) {
        return csv_error(csv, column, err, FAULT_TIME_EXPECTED,
                         "a time of fewer digits was expected");
    }
    const char *text = csv_text(csv, column);
    const size_t digits = strspn(text, "+-0123456789");
    if (text[digits + strspn(text + digits, ".0123456789")] != '\0') { /* an exponent */
        *whole = (int64_t)number;
        *rest = number - (double)*whole;
        return STATUS_OK;
    }
    *whole = strtoll(text, NULL, 10);
    *rest = 0.0;
    (void)number_scan(text + digits, text + strlen(text), rest);
    *rest = text[0] == '-' ? -*rest : *rest;
    return STATUS_OK;
}

static enum status read_stamp(const struct csv *csv, struct csv_product *product, double *value,
                              struct err *err)
{
    const bool is_text = product->stamp->kind == UNIT_STAMP;
    const size_t column = product->column[0];
    int64_t whole = 0;
    double rest = 0.0;
    const enum status st = is_text ? csv_stamp(csv, column, &whole, err)
                                   : split_number(csv, column, &whole, &rest, err);
    if (st != STATUS_OK) {
        return st;
    }
    product->origin = product->begun ? product->origin : whole;
    product->begun = true;
    *value =
        ((double)(whole - product->origin) + rest) * (is_text ? 1e-6 : product->stamp->factor);
    return STATUS_OK;
}

enum status csv_product_value(const struct csv *csv, struct csv_product *product, bool strict,
                              double *value, struct err *err)
{
    double all = product->scale;
    for (size_t i = 0; i < product->count; i++) {
        double factor = (double)NAN;
        if (strict || !is_missing(csv_text(csv, product->column[i]))) {
            const enum status st = product->stamp
                                       ? read_stamp(csv, product, &factor, err)
                                       : csv_number(csv, product->column[i], &factor, err);
            if (st != STATUS_OK) {
                return st;
            }
        }
        all *= factor;
    }
    *value = all + 0.0; /* removes the sign of zeros */
    return STATUS_OK;
}

/* --- tables --------------------------------------------------------------------------- */

static bool make_room(struct table *table)
{
    const size_t room = table->room ? 2 * table->room : 4096;
    for (size_t c = 0; c < table->channels; c++) {
        struct table_channel *channel = &table->channel[c];
        if (channel->absent) {
            continue;
        }
        double *more = realloc(channel->values, room * sizeof *more);
        if (!more) {
            return false;
        }
        channel->values = more;
    }
    table->room = room;
    return true;
}

enum status table_expect(struct table *table, const char *name, unsigned line, struct err *err)
{
    if (table->count == table->rows_max) {
        return err_set_at(err, STATUS_E_FULL, FAULT_TOO_MANY, name, line, 0,
                          "more than %zu rows, cut the recording into pieces", table->rows_max);
    }
    if (table->count == table->room && !make_room(table)) {
        return err_set_at(err, STATUS_E_NOMEM, FAULT_NO_MEMORY, name, line, 0,
                          "no memory for more than %zu rows", table->count);
    }
    return STATUS_OK;
}

static const char *find_name(const struct table_channel *channel, const struct csv *csv)
{
    const char *const *name = channel->names;
    if (channel->given) {
        return channel->given;
    }
    while (*name && csv_find(csv, *name) < 0) {
        name++;
    }
    return *name ? *name : channel->names[channel->names[1] ? 1 : 0];
}

bool table_offers(const struct table *table, const struct csv *csv, size_t channel)
{
    const struct table_channel *c = &table->channel[channel];
    return c->given || csv_find(csv, find_name(c, csv)) >= 0;
}

/* Deduces the measured quantity from a channel's names. */
static enum unit_kind channel_kind(const struct table_channel *channel)
{
    enum unit_kind kind = UNIT_UNKNOWN;
    for (const char *const *name = channel->names; *name && kind == UNIT_UNKNOWN; name++) {
        kind = unit_of_name(*name);
    }
    return kind;
}

static enum status find_columns(void *context, const struct csv *csv, struct err *err)
{
    struct table *table = context;
    enum status st = table->on_header ? table->on_header(table->context, csv, err) : STATUS_OK;
    for (size_t c = 0; c < table->channels && st == STATUS_OK; c++) {
        struct table_channel *channel = &table->channel[c];
        if (!channel->absent) {
            st = csv_product_find(csv, find_name(channel, csv), channel_kind(channel),
                                  &channel->from, err);
        }
    }
    return st;
}

static enum status read_values(void *context, const struct csv *csv, struct err *err)
{
    struct table *table = context;
    enum status st = table_expect(table, csv->name, csv->line, err);
    for (size_t c = 0; c < table->channels && st == STATUS_OK; c++) {
        struct table_channel *channel = &table->channel[c];
        if (!channel->absent) {
            st = csv_product_value(csv, &channel->from, table->strict,
                                   &channel->values[table->count], err);
        }
    }
    if (st == STATUS_OK && table->on_row) {
        st = table->on_row(table->context, csv, err);
    }
    table->count += st == STATUS_OK ? 1 : 0;
    return st;
}

static bool ask_on(void *context, uint64_t done, uint64_t total)
{
    const struct table *table = context;
    return !table->go_on || table->go_on(table->context, done, total);
}

enum status table_read(struct table *table, const struct csv_source *source,
                       struct file_mark *mark, struct err *err)
{
    const struct csv_lines lines = {find_columns, read_values, ask_on, table};
    return csv_file_read(source, &lines, mark, err);
}

void table_free(struct table *table)
{
    for (size_t c = 0; c < table->channels; c++) {
        free(table->channel[c].values);
        table->channel[c].values = NULL;
    }
}
