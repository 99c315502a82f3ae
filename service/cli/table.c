#include "service/cli/table.h"

#include <math.h>
#include <stdlib.h>

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
        return err_set(err, STATUS_E_FULL, name, line, 0,
                       "more than %zu rows, cut the recording into pieces", table->rows_max);
    }
    if (table->count == table->room && !make_room(table)) {
        return err_set(err, STATUS_E_NOMEM, name, line, 0, "no memory for more than %zu rows",
                       table->count);
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

static enum status find_columns(void *context, const struct csv *csv, struct err *err)
{
    struct table *table = context;
    enum status st = table->on_header ? table->on_header(table->context, csv, err) : STATUS_OK;
    for (size_t c = 0; c < table->channels && st == STATUS_OK; c++) {
        struct table_channel *channel = &table->channel[c];
        if (!channel->absent) {
            st = csv_product_find(csv, find_name(channel, csv), &channel->from, err);
        }
    }
    return st;
}

static enum status take_values(void *context, const struct csv *csv, struct err *err)
{
    struct table *table = context;
    enum status st = table_expect(table, csv->name, csv->line, err);
    for (size_t c = 0; c < table->channels && st == STATUS_OK; c++) {
        const struct table_channel *channel = &table->channel[c];
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
    const struct csv_lines lines = {find_columns, take_values, ask_on, table};
    return csv_file_read(source, &lines, mark, err);
}

void table_free(struct table *table)
{
    for (size_t c = 0; c < table->channels; c++) {
        free(table->channel[c].values);
        table->channel[c].values = NULL;
    }
}
