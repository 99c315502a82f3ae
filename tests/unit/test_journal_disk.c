/* The journal on disks that fail: full, broken, or torn in the middle of a line. */
#include "tests/support/check.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "logger/storage/journal.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"
#include "tests/support/journal_fixture.h"

struct chaos {
    int calls;
    int fail_from, fail_to; /* calls that fail */
    int error;
    bool torn;       /* a failing write leaves its first half, */
    bool no_newline; /* or all but the last byte */
};

static ssize_t chaos_write(void *context, int fd, const void *bytes, size_t n)
{
    struct chaos *chaos = context;
    const int call = chaos->calls++;
    if (call < chaos->fail_from || call >= chaos->fail_to) {
        return write(fd, bytes, n);
    }
    if (chaos->no_newline && call == chaos->fail_from) {
        return write(fd, bytes, n - 1);
    }
    if (chaos->torn && n > 1) {
        return write(fd, bytes, n / 2);
    }
    errno = chaos->error;
    return -1;
}

static int chaos_fsync(void *context, int fd)
{
    struct chaos *chaos = context;
    const int call = chaos->calls++;
    if (call < chaos->fail_from || call >= chaos->fail_to) {
        return fsync(fd);
    }
    errno = chaos->error;
    return -1;
}

/* Afterwards the journal has exactly the lines that it accepted, in order. */
static void check_survivors(const char *row, const bool *accepted, int count)
{
    struct journal_reader *r = open_dir_reader(beginning);
    struct journal_line line;
    int next = 0;
    while (journal_reader_next(r, &line, NULL) == STATUS_OK) {
        const int n = line_number(&line);
        if (n < 0) {
            continue; /* a closed piece */
        }
        while (next < count && !accepted[next] && next < n) {
            next++;
        }
        CHECK_INT(row, n, next);
        CHECK(row, n < count && accepted[n]);
        next = n + 1;
    }
    while (next < count && !accepted[next]) {
        next++;
    }
    CHECK_INT(row, next, count);
    journal_reader_close(r);
}

static void nth_write_fails(void)
{
    static const int errors[] = {ENOSPC, EIO, EROFS, EDQUOT, EINTR};
    for (size_t e = 0; e < COUNT(errors); e++) {
        for (int torn = 0; torn < 2; torn++) {
            for (int from = 0; from < 12; from++) {
                char row[64];
                (void)snprintf(row, sizeof row, "errno %d torn %d from %d", errors[e], torn,
                               from);
                fresh_dir();
                struct chaos chaos = {
                    .fail_from = from, .fail_to = from + 5, .error = errors[e], .torn = torn};
                const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
                struct journal_params params = params_of(&io);
                params.retry_us = 0;
                params.rotate_bytes = 400;
                struct journal *j = open_or_die(&params);
                bool accepted[40];
                uint64_t lost = 0;
                for (unsigned n = 0; n < 40; n++) {
                    accepted[n] = append(j, n, T0_US + n) == STATUS_OK;
                    lost += !accepted[n];
                    CHECK_INT(row, journal_sync(j, LAB_TIME_MAX), STATUS_OK);
                }
                struct journal_stats stats;
                journal_stats(j, &stats);
                CHECK(row, accepted[39]);
                CHECK(row, !stats.failing);
                CHECK_INT(row, stats.lost_lines, lost);
                CHECK_INT(row, stats.lines, 40 - lost);
                CHECK(row, torn || lost > 0);
                journal_close(j);
                check_survivors(row, accepted, 40);
            }
        }
    }
}

static void full_disk(void)
{
    fresh_dir();
    struct chaos chaos = {.fail_from = 10, .fail_to = 1 << 30, .error = ENOSPC};
    const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
    const struct journal_params params = params_of(&io);
    struct journal *j = open_or_die(&params);
    int64_t t_us = T0_US;
    unsigned n = 0;
    for (; n < 10; n++) {
        CHECK_INT("fits", append(j, n, t_us++), STATUS_OK);
    }
    for (int i = 0; i < 10000; i++, t_us += 1000) {
        CHECK_INT("full", append(j, 10, t_us), STATUS_E_IO);
    }
    /* 10 s of a full disk at ten tries a second. */
    CHECK("tried now and then", chaos.calls >= 110 && chaos.calls <= 111);
    struct journal_stats stats;
    journal_stats(j, &stats);
    CHECK("failing", stats.failing);
    CHECK_INT("lost", stats.lost_lines, 10000);
    CHECK_TEXT("gives the reason", stats.error,
               "cannot write the journal: No space left on device");
    CHECK_INT("no flood of files", count_files(), 1);
    chaos.fail_to = 0;
    CHECK_INT("not yet", append(j, 10, t_us - 1), STATUS_E_IO);
    t_us += 100000;
    CHECK_INT("space again", append(j, 10, t_us), STATUS_OK);
    journal_stats(j, &stats);
    CHECK("healthy", !stats.failing);
    /* A clock that was set back must not make it wait. */
    chaos.fail_to = 1 << 30;
    CHECK_INT("full", append(j, 11, t_us), STATUS_E_IO);
    chaos.fail_to = 0;
    CHECK_INT("clock set back", append(j, 11, t_us - 3600 * S_US), STATUS_OK);
    journal_close(j);
    expect_numbers("the rest is whole", 12);
}

/* A broken file is left for a new one, but a broken disk does not fill with empty files. */
static void broken_disk(void)
{
    fresh_dir();
    struct chaos chaos = {.fail_from = 3, .fail_to = 1 << 30, .error = EIO};
    const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
    struct journal_params params = params_of(&io);
    params.retry_us = 0;
    struct journal *j = open_or_die(&params);
    for (unsigned n = 0; n < 3; n++) {
        CHECK_INT("works", append(j, n, T0_US + n), STATUS_OK);
    }
    for (int i = 0; i < 100; i++) {
        CHECK_INT("broken", append(j, 3, T0_US + 3 + i), STATUS_E_IO);
    }
    CHECK_INT("one more file", count_files(), 2);
    chaos.fail_to = 0;
    CHECK_INT("works", append(j, 3, T0_US + 200), STATUS_OK);
    journal_close(j);
    expect_numbers("all", 4);
}

static void fsync_fails(void)
{
    fresh_dir();
    struct chaos chaos = {.fail_from = 0, .fail_to = 1, .error = EIO};
    const struct journal_io io = {&chaos, NULL, chaos_fsync, NULL};
    const struct journal_params params = params_of(&io);
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
    CHECK_INT("fails", journal_sync(j, T0_US), STATUS_E_IO);
    struct journal_stats stats;
    journal_stats(j, &stats);
    CHECK("sync failing", stats.sync_failing && !stats.failing);
    CHECK_INT("nothing is sure", stats.synced.offset, 0);
    CHECK_TEXT("gives the reason", stats.error, "cannot sync the journal: Input/output error");
    CHECK_INT("ingestion goes on", append(j, 1, T0_US + 1), STATUS_OK);
    CHECK_INT("again", journal_sync(j, T0_US + S_US), STATUS_OK);
    journal_stats(j, &stats);
    CHECK("healthy", !stats.sync_failing && stats.synced.offset == journal_end(j).offset);
    journal_close(j);
}

/* Linux marks pages as clean after a failed sync: the next sync writes nothing. */
enum { DISK_BYTES = 4096 };
struct forgetful {
    bool fails;
    bool dirty[DISK_BYTES];
    char disk[DISK_BYTES]; /* what a power cut would leave */
};

static ssize_t dirty_write(void *context, int fd, const void *bytes, size_t n)
{
    struct forgetful *f = context;
    const ssize_t wrote = write(fd, bytes, n);
    const off_t end = lseek(fd, 0, SEEK_CUR);
    for (off_t at = end - wrote; at < end && at < DISK_BYTES; at++) {
        f->dirty[at] = true;
    }
    return wrote;
}

static int forgetful_fsync(void *context, int fd)
{
    struct forgetful *f = context;
    for (off_t at = 0; at < DISK_BYTES && !f->fails; at++) {
        if (f->dirty[at]) {
            CHECK("read", pread(fd, f->disk + at, 1, at) >= 0);
        }
    }
    memset(f->dirty, 0, sizeof f->dirty);
    errno = EIO;
    return f->fails ? -1 : 0;
}

static void failed_sync_drops_pages(void)
{
    fresh_dir();
    static struct forgetful forgetful;
    const struct journal_io io = {&forgetful, dirty_write, forgetful_fsync, NULL};
    const struct journal_params params = params_of(&io);
    struct journal *j = open_or_die(&params);
    for (unsigned n = 0; n < 9; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        forgetful.fails = n % 3 == 1;
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX),
                  forgetful.fails ? STATUS_E_IO : STATUS_OK);
    }
    CHECK("nothing is a hole", memchr(forgetful.disk, '\0', journal_end(j).offset) == NULL);
    journal_close(j);
    expect_numbers("none is twice", 9);
}

/* The sync of a file that is full fails: its lines are written and synced again. */
static void sync_fails_at_rotation(void)
{
    fresh_dir();
    static struct forgetful forgetful;
    const struct journal_io io = {&forgetful, dirty_write, forgetful_fsync, NULL};
    struct journal_params params = params_of(&io);
    struct journal_stats stats;
    params.rotate_bytes = 1;
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 1000000, T0_US), STATUS_OK);
    const uint64_t end = journal_end(j).offset; /* the next file is shorter */
    forgetful.fails = true;
    CHECK_INT("append", append(j, 1, T0_US + 1), STATUS_OK);
    forgetful.fails = false;
    CHECK_INT("files", count_files(), 2);
    CHECK("shorter", journal_end(j).offset < end);
    journal_stats(j, &stats);
    CHECK_INT("counted", stats.sync_errors, 1);
    CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    CHECK("nothing is a hole", memchr(forgetful.disk, '\0', end) == NULL);
    journal_close(j);
}

/* A disk on which a line comes while a sync waits, and the sync may fail then. */
struct busy_disk {
    struct journal *journal;
    unsigned next; /* the number of that line; 0: none comes */
    bool fails;
};

static int busy_fsync(void *context, int fd)
{
    struct busy_disk *disk = context;
    if (disk->next > 0) {
        CHECK_INT("meanwhile", append(disk->journal, disk->next, T0_US + disk->next * S_US),
                  STATUS_OK);
        disk->next = 0;
    }
    errno = EIO;
    return disk->fails ? -1 : fdatasync(fd);
}

/* A power cut would lose lines from the oldest unsynced one on. */
static void unsynced_age(void)
{
    static const struct {
        const char *row;
        unsigned line;  /* appended, n seconds after the start; 0: none */
        bool syncs;     /* then it is synced, */
        unsigned later; /* and this line comes meanwhile; 0: none */
        bool fails;
        long oldest; /* line that is not synced; -1: there is none */
    } rows[] = {
        {"nothing yet", 0, false, 0, false, -1},
        {"one line", 1, false, 0, false, 1},
        {"the oldest counts", 2, false, 0, false, 1},
        {"synced", 0, true, 0, false, -1},
        {"another", 3, false, 0, false, 3},
        {"a sync that fails covers nothing", 0, true, 0, true, 3},
        {"neither what came meanwhile", 0, true, 4, true, 3},
        {"synced again", 0, true, 0, false, -1},
        {"what came meanwhile is not covered", 5, true, 6, false, 6},
        {"nor after a failure", 0, true, 7, true, 6},
        {"all", 0, true, 0, false, -1},
    };
    fresh_dir();
    struct busy_disk disk = {0};
    const struct journal_io io = {&disk, NULL, busy_fsync, NULL};
    const struct journal_params params = params_of(&io);
    disk.journal = open_or_die(&params);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct journal_stats stats;
        if (rows[i].line > 0) {
            CHECK_INT(rows[i].row,
                      append(disk.journal, rows[i].line, T0_US + rows[i].line * S_US),
                      STATUS_OK);
        }
        disk.next = rows[i].later;
        disk.fails = rows[i].fails;
        if (rows[i].syncs) {
            CHECK_INT(rows[i].row, journal_sync(disk.journal, LAB_TIME_MAX),
                      rows[i].fails ? STATUS_E_IO : STATUS_OK);
        }
        journal_stats(disk.journal, &stats);
        CHECK_INT(rows[i].row, stats.unsynced_us,
                  rows[i].oldest < 0 ? LAB_TIME_NONE : T0_US + rows[i].oldest * S_US);
    }
    journal_close(disk.journal);
}

/* A short write whose rest fits is no failure. */
static void short_write(void)
{
    for (int from = 0; from < 5; from++) {
        fresh_dir();
        struct chaos chaos = {.fail_from = from, .fail_to = from + 1, .torn = true};
        const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
        const struct journal_params params = params_of(&io);
        struct journal *j = open_or_die(&params);
        for (unsigned n = 0; n < 5; n++) {
            CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        }
        struct journal_stats stats;
        journal_stats(j, &stats);
        CHECK_INT("in two pieces", chaos.calls, 6);
        CHECK("no failure", stats.errors == 0 && stats.torn == 0 && !stats.failing);
        journal_close(j);
        expect_numbers("whole", 5);
    }
}

/* The writer leaves a file that ends in a piece: the tail reader hands the piece out when it is
 * sure that nothing follows. */
static void torn_end_of_file(void)
{
    fresh_dir();
    struct chaos chaos = {.fail_from = 1, .fail_to = 5, .error = EIO, .torn = true};
    const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
    struct journal_params params = params_of(&io);
    params.rotate_us = 10 * S_US;
    struct journal *j = open_or_die(&params);
    struct journal_reader *r = open_dir_reader(beginning);
    struct journal_line line;
    CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
    CHECK_INT("torn", append(j, 1, T0_US + 1), STATUS_E_IO);
    CHECK_INT("whole", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK_INT("not yet", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    CHECK_INT("new file", append(j, 2, T0_US + 20 * S_US), STATUS_OK);
    CHECK_INT("files", count_files(), 2);
    CHECK_INT("the piece", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("torn", line.torn && line.bytes > 20 && memcmp(line.text, "{\"tst\":", 7) == 0);
    CHECK_INT("new file", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("whole", !line.torn && line_number(&line) == 2 && line.start.offset == 0);
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    journal_reader_close(r);
    journal_close(j);
}

/* A line that lacks its newline alone was refused: closing it must not make it whole. */
static void refused_line_stays_refused(void)
{
    fresh_dir();
    struct chaos chaos = {.fail_from = 1, .fail_to = 3, .error = ENOSPC, .no_newline = true};
    const struct journal_io io = {&chaos, chaos_write, NULL, NULL};
    struct journal_params params = params_of(&io);
    params.retry_us = 0;
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
    CHECK_INT("refused", append(j, 1, T0_US + 1), STATUS_E_IO);
    CHECK_INT("room again", append(j, 2, T0_US + S_US), STATUS_OK);
    journal_close(j);
    struct journal_reader *r = open_dir_reader(beginning);
    struct journal_line line;
    CHECK_INT("first", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK_INT("the refused one", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("is no line of the journal", line.bytes > 0 && line.text[line.bytes - 1] == '#');
    CHECK_INT("next", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK_INT("whole", line_number(&line), 2);
    journal_reader_close(r);
}

/* A process died inside a write: the piece is closed and becomes no line, the journal
 * continues. */
static void torn_before_restart(void)
{
    static const char *const pieces[] = {"{\"tst\":\"2026-11-", "x", "{\"n\":-1}"};
    for (size_t i = 0; i < COUNT(pieces); i++) {
        fresh_dir();
        const struct journal_params params = params_of(NULL);
        struct journal *j = open_or_die(&params);
        CHECK_INT("append", append(j, 0, T0_US), STATUS_OK);
        journal_close(j);
        char path[256];
        char name[JOURNAL_NAME_MAX];
        journal_file_name(T0_US, name);
        (void)snprintf(path, sizeof path, "%s/%s", dir, name);
        const int fd = open(path, O_WRONLY | O_APPEND);
        CHECK("tear", write(fd, pieces[i], strlen(pieces[i])) == (ssize_t)strlen(pieces[i]));
        (void)close(fd);

        struct journal_reader *r = open_dir_reader(beginning);
        struct journal_line line;
        CHECK_INT("first", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_INT("a piece may yet be completed", journal_reader_next(r, &line, NULL),
                  STATUS_E_EMPTY);
        j = open_or_die(&params);
        CHECK_INT("append", append(j, 1, T0_US + 1), STATUS_OK);
        struct journal_stats stats;
        journal_stats(j, &stats);
        CHECK_INT("closed", stats.torn, 1);
        journal_close(j);
        CHECK_INT("the piece", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK("is no line of the journal",
              line.bytes == strlen(pieces[i]) + 1 &&
                  memcmp(line.text, pieces[i], line.bytes - 1) == 0 &&
                  line.text[line.bytes - 1] == '#');
        CHECK_INT("next", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_INT("whole", line_number(&line), 1);
        journal_reader_close(r);
    }
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_journal")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("journal disk", NULL, NULL);
    CU_add_test(suite, "n-th write fails", nth_write_fails);
    CU_add_test(suite, "full disk", full_disk);
    CU_add_test(suite, "broken disk", broken_disk);
    CU_add_test(suite, "fsync fails", fsync_fails);
    CU_add_test(suite, "sync fails at rotation", sync_fails_at_rotation);
    CU_add_test(suite, "failed sync drops pages", failed_sync_drops_pages);
    CU_add_test(suite, "unsynced age", unsynced_age);
    CU_add_test(suite, "short write", short_write);
    CU_add_test(suite, "torn end of a file", torn_end_of_file);
    CU_add_test(suite, "refused line stays refused", refused_line_stays_refused);
    CU_add_test(suite, "torn before a restart", torn_before_restart);
    const int result = check_run();
    fresh_dir();
    (void)rmdir(base);
    return result;
}
