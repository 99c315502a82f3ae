#include "service/identify/identify_head.h"

enum status identify_fail(enum status st, const char *where, const char *what, struct err *err)
{
    return st == STATUS_OK ? st
                           : err_set(err, st, FAULT_FIT_FAILED, where, "the %s failed: %s",
                                     what, status_name(st));
}

/* Ratio of the total work that reading takes. */
static const double READING_SHARE = 0.7;

static bool report_reading(void *context, uint64_t done, uint64_t total)
{
    return identify_go_on(&((const struct table_rows *)context)->request->caller, READING_SHARE,
                          done, total);
}

enum status table_rows_load(const struct identify_request *request,
                            const struct table_form *form, bool held_out,
                            struct identify_head *head, struct err *err)
{
    struct table_rows rows = {.request = request,
                              .part_count =
                                  held_out ? request->validate_count : request->file_count};
    struct table *table = &rows.table;
    table->channels = form->channels;
    table->rows_max = form->rows_max;
    table->go_on = report_reading;
    table->context = &rows;
    for (size_t c = 0; c < form->channels; c++) {
        table->channel[c].names = form->names + c * form->each;
        table->channel[c].given = column_map_find(&request->columns, *table->channel[c].names);
    }
    enum status st = identify_read_tables(table, held_out ? request->validate : request->files,
                                          rows.part_count, rows.part_start,
                                          held_out ? &head->held_out_files : &head->files, err);
    st = st == STATUS_OK ? form->make(&rows, held_out, head, err) : st;
    table_free(table);
    return st;
}
