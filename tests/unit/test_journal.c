/* The journal's writer: its files, their names, rotation and retention. */
#include "tests/support/check.h"

#include <unistd.h>

#include "logger/storage/journal.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"
#include "tests/support/journal_fixture.h"

/* --- names ---------------------------------------------------------------------------- */

static void test_file_names(void)
{
    char name[JOURNAL_NAME_MAX];
    journal_file_name(T0_US, name);
    CHECK_TEXT("name", name, "journal-20261120T055555.599953Z.jsonl");
    CHECK_INT("back", journal_file_start_us(name), T0_US);
    journal_file_name(0, name);
    CHECK_INT("epoch", journal_file_start_us(name), 0);
    journal_file_name(-5, name);
    CHECK_INT("before the epoch", journal_file_start_us(name), 0);
    static const char *const strangers[] = {
        "",
        ".",
        "journal-.jsonl",
        "journal-20261120T055555.599953Z.jsonl.gz",
        "journal-20261120T055555.599953Z.json",
        "Journal-20261120T055555.599953Z.jsonl",
        "journal-20261120T055555.59995 Z.jsonl",
        "journal-20261120 055555.599953Z.jsonl",
        "journal-20261320T055555.599953Z.jsonl",
        "journal-20260230T055555.599953Z.jsonl",
    };
    for (size_t i = 0; i < COUNT(strangers); i++) {
        CHECK_INT(strangers[i], journal_file_start_us(strangers[i]), LAB_TIME_NONE);
    }
}

/* --- writing -------------------------------------------------------------------------- */

static void write_and_read(void)
{
    fresh_dir();
    const struct journal_params params = params_of(NULL);
    struct journal *j = open_or_die(&params);
    CHECK_INT("no file yet", count_files(), 0);
    struct journal_position after = journal_end(j);
    CHECK_INT("end", after.file, 0);
    CHECK_INT("no newline", journal_append(j, "x", 1, T0_US, NULL), STATUS_E_ARG);
    CHECK_INT("nothing", journal_append(j, "", 0, T0_US, NULL), STATUS_E_ARG);
    char line[256];
    uint64_t bytes = 0;
    for (unsigned n = 0; n < 100; n++) {
        const size_t size = make_line(line, sizeof line, n);
        bytes += size;
        CHECK_INT("append", journal_append(j, line, size, T0_US + n, &after), STATUS_OK);
        CHECK_INT("file", after.file, T0_US);
        CHECK_INT("offset", after.offset, bytes);
    }
    struct journal_stats stats;
    CHECK_INT("sync", journal_sync(j, T0_US), STATUS_OK);
    journal_stats(j, &stats);
    CHECK_INT("lines", stats.lines, 100);
    CHECK_INT("bytes", stats.bytes, bytes);
    CHECK_INT("synced", stats.synced.offset, bytes);
    CHECK("healthy", !stats.failing && !stats.sync_failing && stats.error[0] == '\0');
    const uint64_t syncs = stats.syncs;
    CHECK_INT("append", append(j, 100, T0_US), STATUS_OK);
    CHECK_INT("too soon", journal_sync(j, T0_US + S_US - 1), STATUS_OK);
    journal_stats(j, &stats);
    CHECK_INT("not yet", stats.syncs, syncs);
    CHECK_INT("due", journal_sync(j, T0_US + S_US), STATUS_OK);
    journal_stats(j, &stats);
    CHECK("synced again", stats.syncs > syncs);
    CHECK_INT("nothing new", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    journal_close(j);
    expect_numbers("all", 101);

    /* A second run continues in the same file. */
    j = open_or_die(&params);
    CHECK_INT("append", append(j, 101, T0_US + S_US), STATUS_OK);
    journal_close(j);
    CHECK_INT("one file", count_files(), 1);
    expect_numbers("after a restart", 102);
}

static void one_writer(void)
{
    fresh_dir();
    const struct journal_params params = params_of(NULL);
    struct journal *j = open_or_die(&params);
    struct journal *second = NULL;
    struct err err = {0};
    CHECK_INT("locked", journal_open(&params, &second, &err), STATUS_E_IO);
    CHECK_TEXT("reports it", fault_name(err.fault), "in_use");
    journal_close(j);
    j = open_or_die(&params);
    journal_close(j);
}

static void bad_params(void)
{
    struct journal *j = NULL;
    struct journal_params params = params_of(NULL);
    params.directory = "/nowhere/at/all";
    struct err err = {0};
    CHECK_INT("parent missing", journal_open(&params, &j, &err), STATUS_E_IO);
    CHECK_TEXT("gives the reason", fault_name(err.fault), "file_unwritable");
    params.directory = "/dev/null";
    CHECK_INT("no directory", journal_open(&params, &j, NULL), STATUS_E_IO);
    params.directory = "";
    CHECK_INT("empty", journal_open(&params, &j, NULL), STATUS_E_ARG);
    params = params_of(NULL);
    params.rotate_bytes = 0;
    CHECK_INT("size 0", journal_open(&params, &j, NULL), STATUS_E_ARG);
    params = params_of(NULL);
    params.fsync_us = -1;
    CHECK_INT("interval", journal_open(&params, &j, NULL), STATUS_E_ARG);
    CHECK("untouched", j == NULL);
    journal_close(NULL);
}

static void test_rotation(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 1000;
    struct journal *j = open_or_die(&params);
    for (unsigned n = 0; n < 100; n++) {
        CHECK_INT("append", append(j, n, T0_US), STATUS_OK); /* all at the same time */
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    }
    struct journal_stats stats;
    journal_stats(j, &stats);
    CHECK("by size", stats.rotations >= 6);
    CHECK_INT("files", count_files(), stats.rotations + 1);
    expect_numbers("across files", 100);
    journal_close(j);

    /* A run with an earlier clock still appends to the existing lines. */
    params.rotate_us = 10 * S_US;
    params.rotate_bytes = 1 << 20;
    j = open_or_die(&params);
    CHECK_INT("earlier", append(j, 100, T0_US - 1000 * S_US), STATUS_OK);
    CHECK_INT("same file", count_files(), stats.rotations + 1);
    CHECK_INT("aged", append(j, 101, T0_US + 20 * S_US), STATUS_OK);
    CHECK_INT("new file", count_files(), stats.rotations + 2);
    CHECK_INT("young", append(j, 102, T0_US + 29 * S_US), STATUS_OK);
    CHECK_INT("same file", count_files(), stats.rotations + 2);
    journal_close(j);
    expect_numbers("still in order", 103);
}

/* Without a syncing thread, rotation stops instead of opening more and more files. */
static void rotation_waits_for_sync(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 10;
    struct journal *j = open_or_die(&params);
    for (unsigned n = 0; n < 40; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
    }
    CHECK_INT("files", count_files(), 9);
    CHECK_INT("sync", journal_sync(j, T0_US), STATUS_OK);
    CHECK_INT("append", append(j, 40, T0_US + 40), STATUS_OK);
    CHECK_INT("files", count_files(), 10);
    journal_close(j);
    expect_numbers("all there", 41);
}

/* The bytes of a line as a power cut leaves them that never were on the disk. */
static void make_hole(struct journal_position line, struct journal_position after)
{
    static const char zeros[256];
    char *path = journal_file_path(dir, line.file);
    const int fd = open(path, O_WRONLY);
    const size_t bytes = (size_t)(after.offset - line.offset);
    CHECK_INT("hole", pwrite(fd, zeros, bytes, (off_t)line.offset), bytes);
    (void)close(fd);
    free(path);
}

/* Lines after a hole among the last ones were never synced: they do not count, and later lines
 * replace them. An older hole is damage of synced lines. */
static void test_hole(void)
{
    enum { LINES = 2000, PAUSE = LINES / 2, LATER_US = 60000000 };
    static struct journal_position at[LINES + 1];
    static const struct {
        const char *name;
        int hole;
        int left;
    } rows[] = {{"the last line", LINES - 1, LINES - 1},
                {"among the last ones", LINES - 900, LINES - 900},
                {"a minute earlier", 5, LINES},
                {"the very first", 0, LINES}};
    for (size_t r = 0; r < COUNT(rows); r++) {
        fresh_dir();
        const struct journal_params params = params_of(NULL);
        struct journal *j = open_or_die(&params);
        for (unsigned n = 0; n < LINES; n++) {
            const unsigned us = n + (n < PAUSE ? 0 : LATER_US);
            CHECK_INT("append", append(j, us, T0_US + us), STATUS_OK);
            at[n + 1] = journal_end(j);
        }
        at[0] = (struct journal_position){at[1].file, 0};
        journal_close(j);
        make_hole(at[rows[r].hole], at[rows[r].hole + 1]);
        j = open_or_die(&params);
        struct journal_stats stats;
        journal_stats(j, &stats);
        CHECK_INT(rows[r].name, journal_end(j).offset, at[rows[r].left].offset);
        CHECK_INT(rows[r].name, stats.cut_bytes, at[LINES].offset - at[rows[r].left].offset);
        journal_close(j);
        j = open_or_die(&params);
        CHECK_INT("once", journal_end(j).offset, at[rows[r].left].offset);
        journal_close(j);
    }
}

static void test_retention(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 1000;
    params.retain_bytes = 3500;
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
    const struct journal_position retained = journal_end(j);
    journal_retain_from(j, retained);
    for (unsigned n = 1; n < 100; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    }
    struct journal_stats stats;
    journal_stats(j, &stats);
    CHECK_INT("a checkpoint needs them all", stats.removed_files, 0);
    expect_numbers("all", 100);

    journal_retain_from(j, journal_end(j));
    for (unsigned n = 100; n < 120; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    }
    journal_stats(j, &stats);
    CHECK("removed", stats.removed_files >= 5);
    CHECK("left", count_files() <= 5 && count_files() >= 2);
    struct journal_reader *r = NULL;
    struct err err = {0};
    CHECK_INT("gone", journal_reader_open_directory(dir, retained, &r, &err), STATUS_E_STALE);
    CHECK_TEXT("reports it", fault_name(err.fault), "position_lost");

    /* Never the current file, however small the limit. */
    journal_close(j);
    params.retain_bytes = 1;
    j = open_or_die(&params);
    CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    CHECK_INT("one is left", count_files(), 1);
    journal_close(j);
}

/* The present file is unlinked, its directory removed with its contents, or moved away: written
 * lines stay under the same name, and writing continues in a new file. */
static void test_removed(void)
{
    static const struct {
        const char *row;
        bool file, directory, moved;
    } rows[] = {{"file", true, false, false},
                {"directory", true, true, false},
                {"moved directory", false, false, true}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        fresh_dir();
        const struct journal_params params = params_of(NULL);
        struct journal *j = open_or_die(&params);
        CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
        CHECK_INT("nothing to do", journal_watch(j), STATUS_OK);
        char path[256];
        char aside[256];
        char name[JOURNAL_NAME_MAX];
        journal_file_name(T0_US, name);
        (void)snprintf(path, sizeof path, "%s/%s", dir, name);
        (void)snprintf(aside, sizeof aside, "%s.aside", dir);
        CHECK_INT(rows[i].row, rows[i].file ? unlink(path) : 0, 0);
        CHECK_INT(rows[i].row, rows[i].directory ? rmdir(dir) : 0, 0);
        CHECK_INT(rows[i].row, rows[i].moved ? rename(dir, aside) : 0, 0);
        CHECK_INT("between", append(j, 1, T0_US + 1), STATUS_OK);
        CHECK_INT(rows[i].row, journal_watch(j), STATUS_OK);
        CHECK_INT("goes on", append(j, 2, T0_US + 2), STATUS_OK);
        CHECK_INT("once", journal_watch(j), STATUS_OK);
        struct journal_stats stats;
        journal_stats(j, &stats);
        CHECK_INT("noticed", stats.vanished, 1);
        CHECK_INT("put back", stats.rewritten, 1);
        CHECK("healthy", !stats.failing && !stats.sync_failing && stats.lost_lines == 0);
        CHECK_INT("two files", count_files(), 2);
        struct journal *second = NULL;
        CHECK_INT("locked", journal_open(&params, &second, NULL), STATUS_E_IO);
        journal_close(j);
        expect_numbers(rows[i].row, 3);
        (void)snprintf(path, sizeof path, "%s/%s", aside, name);
        (void)unlink(path);
        (void)rmdir(aside);
    }
}

/* If no new file can be begun, nothing is accepted, and that is reported; then it continues. */
static void test_removed_for_good(void)
{
    fresh_dir();
    const struct journal_params params = params_of(NULL);
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
    char path[256];
    char name[JOURNAL_NAME_MAX];
    journal_file_name(T0_US, name);
    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    CHECK_INT("unlink", unlink(path), 0);
    CHECK_INT("rmdir", rmdir(dir), 0);
    const int fd = open(dir, O_WRONLY | O_CREAT, 0600); /* a file in its place */
    CHECK("file", fd >= 0);
    (void)close(fd);
    CHECK_INT("not repaired", journal_watch(j), STATUS_E_IO);
    CHECK_INT("refused", append(j, 1, T0_US + 1), STATUS_E_IO);
    struct journal_stats stats;
    journal_stats(j, &stats);
    CHECK("told", stats.failing && stats.sync_failing && stats.error[0] != '\0');
    CHECK_INT("unlink", unlink(dir), 0);
    CHECK_INT("mended", journal_watch(j), STATUS_OK);
    CHECK_INT("goes on", append(j, 1, T0_US + 1000000), STATUS_OK);
    journal_stats(j, &stats);
    CHECK("healthy", !stats.failing && !stats.sync_failing);
    journal_close(j);
    expect_numbers("all", 2);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_journal")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("journal", NULL, NULL);
    CU_add_test(suite, "names", test_file_names);
    CU_add_test(suite, "write and read", write_and_read);
    CU_add_test(suite, "one writer", one_writer);
    CU_add_test(suite, "bad parameters", bad_params);
    CU_add_test(suite, "rotation", test_rotation);
    CU_add_test(suite, "rotation waits for sync", rotation_waits_for_sync);
    CU_add_test(suite, "hole", test_hole);
    CU_add_test(suite, "retention", test_retention);
    CU_add_test(suite, "removed", test_removed);
    CU_add_test(suite, "removed for good", test_removed_for_good);
    const int result = check_run();
    fresh_dir();
    (void)rmdir(base);
    return result;
}
