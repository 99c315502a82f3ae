#include "service/identify/identify_rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROWS_MAX = 20000000 };

static bool make_room(struct identify_rows *rows)
{
    const size_t room = rows->room ? 2 * rows->room : 4096;
    for (size_t c = 0; c < rows->channels; c++) {
        if (rows->absent[c]) {
            continue;
        }
        double *more = realloc(rows->values[c], room * sizeof *more);
        if (!more) {
            return false;
        }
        rows->values[c] = more;
    }
    rows->room = room;
    return true;
}

enum status identify_rows_expect(struct identify_rows *rows, const char *name, unsigned line,
                                 struct err *err)
{
    if (rows->count == ROWS_MAX) {
        return err_set(err, STATUS_E_FULL, name, line, 0,
                       "more than %d rows, cut the recording into pieces", (int)ROWS_MAX);
    }
    if (rows->count == rows->room && !make_room(rows)) {
        return err_set(err, STATUS_E_NOMEM, name, line, 0, "no memory for more than %zu rows",
                       rows->count);
    }
    return STATUS_OK;
}

bool identify_rows_go_on(const struct identify_rows *rows, uint64_t done, uint64_t total)
{
    const struct identify_request *request = rows->request;
    const double part = total > 0 ? (double)done / (double)total : 0.0;
    return request->go_on(request->context, "reading", rows->share * part);
}

static bool go_on(void *context, uint64_t done, uint64_t total)
{
    return identify_rows_go_on(context, done, total);
}

static enum status read_table(struct identify_rows *rows, const struct identify_lines *lines,
                              const struct identify_input *input, struct identify_file *file,
                              struct err *err)
{
    struct csv_source source = {
        .path = input->path, .text = input->text, .bytes = input->bytes};
    if (rows->request->go_on) {
        source.go_on = go_on;
        source.context = rows;
    }
    csv_start(&rows->csv, input->path, lines->header, lines->row, lines->context);
    file->name = identify_base_name(input->path);
    return csv_file_read_marked(&source, &rows->csv, &file->mark, err);
}

enum status identify_rows_read(struct identify_rows *rows, const struct identify_lines *lines,
                               const struct identify_input *inputs, size_t count,
                               size_t *part_start, struct identify_file *files, struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        part_start[i] = rows->count;
        const enum status st = read_table(rows, lines, &inputs[i], &files[i], err);
        if (st != STATUS_OK) {
            return st;
        }
    }
    return STATUS_OK;
}

void identify_rows_free(struct identify_rows *rows)
{
    for (size_t c = 0; c < rows->channels; c++) {
        free(rows->values[c]);
        rows->values[c] = NULL;
    }
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
