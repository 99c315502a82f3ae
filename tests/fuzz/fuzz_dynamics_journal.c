/* Any bytes as a journal of telemetry: rows are counted, parts begin at restarts alone, and
 * what becomes of them as data for a fit is finite. The first byte chooses side, pair and
 * fields. */
#undef NDEBUG /* its checks are asserts, in every build */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "identification/data/data_set.h"
#include "service/identify/dynamics_journal.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { ROWS_MAX = 4096, FIELDS = 2 };

struct rows {
    double t_s[ROWS_MAX], nu[ROWS_MAX], tau[ROWS_MAX];
    size_t count;
    struct data_raw raw;
};

static enum status add_row(void *context, const double *row, bool new_part, struct err *err)
{
    struct rows *rows = context;
    assert(!new_part || rows->count > 0);
    if (rows->count == ROWS_MAX || (new_part && rows->raw.part_count == DATA_RUNS_MAX)) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, "fuzz", "full");
    }
    if (new_part) {
        rows->raw.part_start[rows->raw.part_count++] = rows->count;
    }
    rows->t_s[rows->count] = row[0];
    rows->nu[rows->count] = row[1];
    rows->tau[rows->count++] = row[2];
    return STATUS_OK;
}

static void check_table(struct rows *rows)
{
    struct data_table table;
    struct data_summary summary;
    struct err err = {0};
    rows->raw.part_start[rows->raw.part_count] = rows->count;
    rows->raw.axes = 1;
    rows->raw.n = rows->count;
    rows->raw.t_s = rows->t_s;
    rows->raw.nu[0] = rows->nu;
    rows->raw.tau[0] = rows->tau;
    const enum status st = data_table_make(&rows->raw, &table, &summary, &err);
    assert(st == STATUS_OK || err.text[0] != '\0');
    assert(summary.rows == rows->count);
    if (st != STATUS_OK) {
        return;
    }
    assert(table.set.run_count >= 1 && table.set.run_count <= DATA_RUNS_MAX);
    for (size_t k = 0; k < table.set.n; k++) {
        assert(isfinite(table.set.t_s[k]));
        assert(isfinite(table.set.nu[0][k]) && isfinite(table.set.tau[0][k]));
    }
    data_table_free(&table);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct rows rows;
    static bool begun;
    if (!begun) {
        (void)gsl_set_error_handler_off();
        begun = true;
    }
    if (size < 1) {
        return 0;
    }
    const struct journal_field fields[FIELDS] = {{JOURNAL_NU, data[0] % 3, false},
                                                 {JOURNAL_TAU, data[0] / 3 % 3, false}};
    const struct dynamics_journal wanted = {.pair = data[0] & 64 ? "r1" : NULL,
                                            .side = data[0] & 128 ? SIDE_VIRTUAL : SIDE_REAL,
                                            .field_count = FIELDS,
                                            .fields = fields,
                                            .add_row = add_row,
                                            .context = &rows};
    struct dynamics_journal_summary summary;
    struct file_mark mark;
    struct err err = {0};
    memset(&rows, 0, sizeof rows);
    rows.raw.part_count = 1;
    const struct csv_source input = {
        .path = "fuzz", .text = (const char *)data + 1, .bytes = size - 1};
    const enum status st = dynamics_journal_read(&wanted, &input, 1, &mark, &summary, &err);
    assert(st == STATUS_OK || err.text[0] != '\0');
    assert(mark.bytes == size - 1);
    if (st == STATUS_OK) {
        assert(summary.samples == rows.count && rows.count > 0);
        assert(summary.restarts >= rows.raw.part_count - 1);
        assert(summary.stamped[JOURNAL_ARRIVAL] + summary.stamped[JOURNAL_SOURCE] +
                   summary.stamped[JOURNAL_SIMULATED] ==
               summary.samples);
        assert(summary.unreadable + summary.others <= summary.lines);
        check_table(&rows);
    }
    return 0;
}
