/* Telemetry from a journal: the rows that come out, and the counts on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <CUnit/Basic.h>

#include "base/numbers/hash.h"
#include "service/identify/dynamics_journal.h"
#include "tests/support/check.h"
#include "tests/support/scratch.h"

enum { ROWS_MAX = 16, FIELDS = 3 };

struct table {
    double row[ROWS_MAX][1 + FIELDS];
    bool new_part[ROWS_MAX];
    size_t count;
};

static enum status add_row(void *context, const double *row, bool new_part, struct err *err)
{
    struct table *table = context;
    if (table->count == ROWS_MAX) {
        return err_set(err, STATUS_E_FULL, FAULT_TOO_MANY, "test", "full");
    }
    memcpy(table->row[table->count], row, sizeof table->row[0]);
    table->new_part[table->count++] = new_part;
    return STATUS_OK;
}

static const struct journal_field fields[FIELDS] = {
    {JOURNAL_NU, 1, false}, {JOURNAL_TAU, 0, false}, {JOURNAL_POSE, 2, false}};

static struct dynamics_journal wanted_of(const char *pair, enum side side, struct table *table)
{
    return (struct dynamics_journal){.pair = pair,
                                     .side = side,
                                     .field_count = FIELDS,
                                     .fields = fields,
                                     .add_row = add_row,
                                     .context = table};
}

static enum status read_text(const struct dynamics_journal *wanted, const char *text,
                             struct dynamics_journal_summary *summary, struct err *err)
{
    struct file_mark mark;
    const struct csv_source input = {.path = "text", .text = text, .bytes = strlen(text)};
    const enum status st = dynamics_journal_read(wanted, &input, 1, &mark, summary, err);
    if (st == STATUS_OK) {
        CHECK_INT("mark", mark.bytes, strlen(text));
        CHECK_INT("mark", mark.hash == hash_text(text), true);
    }
    return st;
}

#define LINE(second, topic, payload)                                                           \
    "{\"tst\":\"2026-11-20T10:00:0" second "Z\",\"topic\":\"" topic                            \
    "\",\"qos\":0,\"retain\":0,\"payloadlen\":2,\"payload\":" payload "}\n"
#define REAL    "lab/one/r1/real/telemetry"
#define VIRTUAL "lab/one/r1/virtual/telemetry"
#define CONTROL "lab/one/r1/virtual/control"

/* The robot's clock, an array, an absent value, another pair, torn and faulty lines. */
static void test_rows(void)
{
    static const char text[] =
        LINE("0.5", REAL, "{\"t\":100.0,\"seq\":1,\"nu\":[1,2],\"tau\":[5],\"pose\":[7,8,9]}")
            LINE("0.6", "lab/one/r1/command",
                 "{\"op\":\"go\"}") LINE("0.7", VIRTUAL, "{\"t\":1.0,\"nu\":[9,9],\"tau\":[9]}")
                LINE("0.8", REAL,
                     "[{\"t\":100.1,\"seq\":2,\"nu\":[1,3],\"tau\":[6]},"
                     "{\"t\":100.4,\"seq\":5,\"nu\":[1],\"tau\":[7]}]")
                    LINE("0.9", REAL, "{\"seq\":5,\"nu\":[1,4],\"tau\":[8]}")
                        LINE("1.0", REAL,
                             "{\"t\":\"late\",\"nu\":[1,4]}") "no message\n\n"
                                                              "{\"tst\":\"2026-11-20T10:00:01";
    struct table table = {.count = 0};
    const struct dynamics_journal wanted = wanted_of(NULL, SIDE_REAL, &table);
    struct dynamics_journal_summary summary;
    struct err err = {0};
    CU_ASSERT_EQUAL_FATAL(read_text(&wanted, text, &summary, &err), STATUS_OK);
    CHECK_INT("rows", table.count, 4);
    CHECK_INT("pair", strcmp(summary.pair, "r1"), 0);
    CHECK_NEAR("from the first on", table.row[0][0], 0.0, 0, 0);
    CHECK_NEAR("nu[1]", table.row[0][1], 2.0, 0, 0);
    CHECK_NEAR("tau[0]", table.row[0][2], 5.0, 0, 0);
    CHECK_NEAR("pose[2]", table.row[0][3], 9.0, 0, 0);
    CHECK_NEAR("array", table.row[2][0], 0.4, 1e-12, 0);
    CHECK_INT("absent", isnan(table.row[2][1]) && isnan(table.row[1][3]), true);
    CHECK_INT("no time", isnan(table.row[3][0]), true);
    CHECK_INT("samples", summary.samples, 4);
    CHECK_INT("others", summary.others, 2);
    CHECK_INT("unreadable", summary.unreadable, 2);
    CHECK_INT("malformed", summary.malformed, 1);
    CHECK_INT("gaps", summary.sequence_gaps, 1);
    CHECK_INT("lost", summary.lost, 2);
    CHECK_INT("repeated", summary.repeated, 1);
    CHECK_INT("clock", summary.stamped[JOURNAL_SOURCE], 4);
    CHECK_INT("control", summary.controlled, 0);
}

/* A boot mark that changes begins a part with its own clock; without "t" arrival counts. */
static void test_restart(void)
{
    static const char text[] =
        LINE("0.0", REAL, "{\"boot\":\"a\",\"seq\":8,\"t\":50,\"nu\":[0,1],\"tau\":[1]}")
            LINE("1.0", REAL, "{\"boot\":\"a\",\"seq\":9,\"t\":51,\"nu\":[0,1],\"tau\":[1]}")
                LINE("2.0", REAL, "{\"boot\":\"b\",\"seq\":0,\"nu\":[0,1],\"tau\":[1]}") LINE(
                    "2.5", REAL, "{\"boot\":\"b\",\"seq\":1,\"t\":3,\"nu\":[0,1],\"tau\":[1]}");
    struct table table = {.count = 0};
    struct dynamics_journal wanted = wanted_of("r1", SIDE_REAL, &table);
    struct dynamics_journal_summary summary;
    struct err err = {0};
    wanted.field_count = 2; /* no pose */
    CU_ASSERT_EQUAL_FATAL(read_text(&wanted, text, &summary, &err), STATUS_OK);
    CHECK_INT("rows", table.count, 4);
    CHECK_INT("restarts", summary.restarts, 1);
    CHECK_INT("gaps", summary.sequence_gaps, 0);
    CHECK_INT("repeated", summary.repeated, 0);
    for (size_t i = 0; i < 4; i++) {
        CHECK_INT("part", table.new_part[i], i == 2);
    }
    CHECK_NEAR("arrival", table.row[3][0] - table.row[2][0], 0.5, 1e-6, 0);
    CHECK_INT("arrival", summary.stamped[JOURNAL_ARRIVAL], 2);
}

/* Simulated time before the robot's; efforts of virtual/control where telemetry has none, and
 * for the virtual side only. */
static void test_control(void)
{
    static const char text[] = LINE("0.0", VIRTUAL, "{\"t\":1,\"sim_t\":10,\"nu\":[0,1]}")
        LINE("0.1", CONTROL, "{\"t\":1.1,\"tau\":[4.5,0,1]}")
            LINE("0.2", VIRTUAL, "{\"t\":2,\"sim_t\":12,\"nu\":[0,1]}")
                LINE("0.3", VIRTUAL, "{\"t\":3,\"sim_t\":14,\"nu\":[0,1],\"tau\":[3]}")
                    LINE("0.4", CONTROL, "{\"tau\":7}")
                        LINE("0.5", REAL, "{\"t\":3,\"nu\":[0,1]}");
    struct table table = {.count = 0};
    struct dynamics_journal wanted = wanted_of("r1", SIDE_VIRTUAL, &table);
    struct dynamics_journal_summary summary;
    struct err err = {0};
    wanted.field_count = 2;
    CU_ASSERT_EQUAL_FATAL(read_text(&wanted, text, &summary, &err), STATUS_OK);
    CHECK_INT("rows", table.count, 3);
    CHECK_INT("before", isnan(table.row[0][2]), true);
    CHECK_NEAR("held", table.row[1][2], 4.5, 0, 0);
    CHECK_NEAR("own", table.row[2][2], 3.0, 0, 0);
    CHECK_NEAR("simulated time", table.row[2][0], 4.0, 1e-12, 0);
    CHECK_INT("controlled", summary.controlled, 1);
    CHECK_INT("malformed", summary.malformed, 1);
    table.count = 0;
    wanted.side = SIDE_REAL;
    CHECK_INT("seen", summary.seen, 3);
    CU_ASSERT_EQUAL_FATAL(read_text(&wanted, text, &summary, &err), STATUS_OK);
    CHECK_INT("not the real robot's", summary.seen, 1);
    CHECK_INT("not the real robot's", isnan(table.row[0][2]), true);
}

static bool refuse_progress(void *context, uint64_t done, uint64_t total)
{
    (void)context;
    return done == 0 && total == 0;
}

static void test_errors(void)
{
    static const struct {
        const char *row, *text, *pair, *code;
        enum status status;
    } rows[] = {
        {"empty", "", NULL, "no_data", STATUS_E_EMPTY},
        {"other side", LINE("0.0", VIRTUAL, "{\"nu\":[1]}"), "r1", "no_data", STATUS_E_EMPTY},
        {"two pairs",
         LINE("0.0", "a/r1/real/telemetry", "{\"nu\":[1]}")
             LINE("0.1", "a/r2/real/telemetry", "{\"nu\":[1]}"),
         NULL, "ambiguous_pair", STATUS_E_ARG},
        {"not these topics", LINE("0.0", "/real/telemetry", "{\"nu\":[1]}"), NULL, "no_data",
         STATUS_E_EMPTY},
    };
    struct dynamics_journal_summary summary;
    struct table table = {.count = 0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err err = {0};
        const struct dynamics_journal wanted = wanted_of(rows[i].pair, SIDE_REAL, &table);
        CHECK_INT(rows[i].row, read_text(&wanted, rows[i].text, &summary, &err),
                  rows[i].status);
        CHECK_TEXT(rows[i].row, fault_name(err.fault), rows[i].code);
    }
    static const char one[] =
        LINE("0.0", REAL, "{\"nu\":[1]}") LINE("0.1", REAL, "{\"nu\":[1]}");
    struct err err = {0};
    struct dynamics_journal wanted = wanted_of("r1", SIDE_REAL, &table);
    table.count = ROWS_MAX;
    CHECK_INT("taker", read_text(&wanted, one, &summary, &err), STATUS_E_FULL);
    table.count = 0;
    wanted.go_on = refuse_progress;
    CHECK_INT("cancelled", read_text(&wanted, one, &summary, &err), STATUS_E_STALE);
}

/* Two files by time, and what was read of each. */
static void test_files(void)
{
    static const char *const texts[2] = {LINE("0.0", REAL, "{\"nu\":[0,1],\"tau\":[1]}")
                                             LINE("0.4", REAL, "{\"nu\":[0,3],\"tau\":[1]}"),
                                         LINE("0.2", REAL, "{\"nu\":[0,2],\"tau\":[1]}")};
    char directory[SCRATCH_MAX];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(scratch_template(directory, "dynamics")));
    char paths[2][32 + SCRATCH_MAX];
    const struct csv_source both[2] = {{.path = paths[0]}, {.path = paths[1]}};
    for (size_t i = 0; i < 2; i++) {
        (void)snprintf(paths[i], sizeof paths[i], "%s/%zu.jsonl", directory, i);
        FILE *out = fopen(paths[i], "w");
        CU_ASSERT_PTR_NOT_NULL_FATAL(out);
        (void)fputs(texts[i], out);
        (void)fclose(out);
    }
    struct table table = {.count = 0};
    struct dynamics_journal wanted = wanted_of(NULL, SIDE_REAL, &table);
    struct dynamics_journal_summary summary;
    struct file_mark marks[2];
    struct err err = {0};
    wanted.field_count = 2;
    CHECK_INT("files", dynamics_journal_read(&wanted, both, 2, marks, &summary, &err),
              STATUS_OK);
    CHECK_INT("files", table.count, 3);
    for (size_t i = 0; i < table.count; i++) {
        CHECK_NEAR("order", table.row[i][1], 1.0 + (double)i, 0, 0);
        CHECK_NEAR("time", table.row[i][0], 0.2 * (double)i, 1e-9, 0);
    }
    for (size_t i = 0; i < 2; i++) {
        CHECK_INT("bytes", marks[i].bytes, strlen(texts[i]));
        CHECK_INT("hash", marks[i].hash == hash_text(texts[i]), true);
        (void)unlink(paths[i]);
    }
    (void)rmdir(directory);
    CHECK_INT("no file", dynamics_journal_read(&wanted, both, 2, marks, &summary, &err),
              STATUS_E_IO);
}

static void test_fields(void)
{
    struct journal_field field = {JOURNAL_NU, 0, false};
    CHECK_INT("pose", journal_field_from_name("pose[5]", &field), true);
    CHECK_INT("pose", field.vector == JOURNAL_POSE && field.index == 5, true);
    static const char *const none[] = {"nu", "nu[6]", "nu[-1]", "nu[10]", "tau[0", "u", ""};
    for (size_t i = 0; i < COUNT(none); i++) {
        CHECK_INT(none[i], journal_field_from_name(none[i], &field), false);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("dynamics_journal", NULL, NULL);
    CU_add_test(suite, "rows", test_rows);
    CU_add_test(suite, "restart", test_restart);
    CU_add_test(suite, "control", test_control);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "files", test_files);
    CU_add_test(suite, "fields", test_fields);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
