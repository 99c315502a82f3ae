/* needs: threads */
/* The journal's reader: lines, merging, and the tail of one being written; uses threads. */
#include "tests/support/check.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "logger/message/message.h"
#include "logger/storage/journal.h"
#include "logger/storage/journal_reader.h"
#include "tests/fuzz/fuzz_journal.c" // NOLINT(bugprone-suspicious-include)
#include "tests/support/journal_fixture.h"

/* --- reading -------------------------------------------------------------------------- */

static void read_lines(void)
{
    fresh_dir();
    char path[160];
    const char text[] = "one\n\n  two \nthree\0x\nlast";
    write_file("a.jsonl", text, sizeof text - 1, path);
    const char *paths[] = {path};
    struct journal_reader *r = open_file_reader(paths, 1);
    static const struct {
        const char *text;
        size_t bytes;
        uint64_t start, after;
        bool torn;
    } rows[] = {
        {"one", 3, 0, 4, false},        {"", 0, 4, 5, false},      {"  two ", 6, 5, 12, false},
        {"three\0x", 7, 12, 20, false}, {"last", 4, 20, 24, true},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct journal_line line;
        CHECK_INT(rows[i].text, journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_INT(rows[i].text, line.bytes, rows[i].bytes);
        CHECK(rows[i].text, memcmp(line.text, rows[i].text, rows[i].bytes) == 0);
        CHECK_INT(rows[i].text, line.start.offset, rows[i].start);
        CHECK_INT(rows[i].text, line.after.offset, rows[i].after);
        CHECK_INT(rows[i].text, line.number, i + 1);
        CHECK_INT(rows[i].text, line.torn, rows[i].torn);
        CHECK_TEXT(rows[i].text, line.path, path);
    }
    struct journal_line line;
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    struct journal_reader_stats stats;
    journal_reader_stats(r, &stats);
    CHECK_INT("lines", stats.lines, 5);
    CHECK_INT("torn", stats.torn, 1);
    CHECK_INT("bytes", stats.bytes, 24);
    CHECK_INT("total", stats.total_bytes, 24);
    journal_reader_close(r);
}

/* Lines around every limit, in one file; a last one that never ends. */
static void long_lines(void)
{
    fresh_dir();
    static const size_t sizes[] = {MESSAGE_LINE_MAX - 1,
                                   MESSAGE_LINE_MAX,
                                   MESSAGE_LINE_MAX + 1,
                                   (1 << 20) - 1,
                                   1 << 20,
                                   (1 << 20) + 1,
                                   5 << 20,
                                   10,
                                   3 << 20};
    size_t total = 0;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        total += sizes[i] + 1;
    }
    char *text = malloc(total);
    size_t at = 0;
    for (size_t i = 0; i < COUNT(sizes); i++) {
        memset(text + at, 'a' + (int)i, sizes[i]);
        at += sizes[i];
        text[at++] = '\n';
    }
    char path[160];
    write_file("long.jsonl", text, total - 1, path);
    const char *paths[] = {path};
    struct journal_reader *r = open_file_reader(paths, 1);
    struct journal_line line;
    CHECK_INT("max - 1", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("max - 1", line.bytes == sizes[0] && line.text[0] == 'a');
    CHECK_INT("max", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("max", line.bytes == sizes[1] && line.text[line.bytes - 1] == 'b');
    for (uint64_t k = 2; k < 7; k++) {
        CHECK_INT("too long", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK("too long", line.overlong && line.bytes == 0 && !line.torn);
        CHECK_INT("number of a long line", line.number, k + 1);
    }
    CHECK_INT("short", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("short", line.bytes == 10 && memcmp(line.text, "hhhhhhhhhh", 10) == 0);
    CHECK_INT("number counts long lines", line.number, 8);
    CHECK_INT("offset", line.after.offset, total - sizes[8] - 1);
    CHECK_INT("endless", journal_reader_next(r, &line, NULL), STATUS_OK);
    CHECK("endless", line.overlong && line.bytes == 0 && line.torn);
    CHECK_INT("number of an endless line", line.number, 9);
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    struct journal_reader_stats stats;
    journal_reader_stats(r, &stats);
    CHECK_INT("skipped", stats.overlong, 6);
    CHECK_INT("an endless line is not torn but long", stats.torn, 0);
    journal_reader_close(r);
    free(text);
}

static void test_positions(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 500;
    struct journal *j = open_or_die(&params);
    struct journal_position after[50];
    char text[256];
    for (unsigned n = 0; n < 50; n++) {
        CHECK_INT(
            "append",
            journal_append(j, text, make_line(text, sizeof text, n), T0_US + n, &after[n]),
            STATUS_OK);
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    }
    journal_close(j);
    for (int n = 0; n < 50; n++) {
        struct journal_reader *r = open_dir_reader(after[n]);
        struct journal_line line;
        if (n < 49) {
            CHECK_INT("next", journal_reader_next(r, &line, NULL), STATUS_OK);
            CHECK_INT("goes on behind", line_number(&line), n + 1);
            CHECK_INT("same place", line.after.offset, after[n + 1].offset);
            CHECK_INT("same file", line.after.file, after[n + 1].file);
        } else {
            CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
        }
        journal_reader_close(r);
    }
    struct journal_reader *r = NULL;
    struct err err = {0};
    struct journal_position wrong = {after[0].file, after[0].offset - 1};
    CHECK_INT("inside a line", journal_reader_open_directory(dir, wrong, &r, &err),
              STATUS_E_STALE);
    CHECK_TEXT("reports it", fault_name(err.fault), "position_lost");
    err = (struct err){0};
    wrong.offset = 1 << 20;
    CHECK_INT("behind the end", journal_reader_open_directory(dir, wrong, &r, &err),
              STATUS_E_STALE);
    CHECK_TEXT("reports it", fault_name(err.fault), "position_lost");
    CHECK_INT("no directory", journal_reader_open_directory("/nowhere", beginning, &r, NULL),
              STATUS_E_IO);
    CHECK("untouched", r == NULL);
}

static void test_refusals(void)
{
    fresh_dir();
    struct journal_reader *r = NULL;
    struct err err = {0};
    const char *missing[] = {"/nowhere/a.jsonl"};
    CHECK_INT("missing", journal_reader_open_files(missing, 1, &r, &err), STATUS_E_IO);
    CHECK_TEXT("where", err.where, "/nowhere/a.jsonl");
    CHECK_TEXT("why", fault_name(err.fault), "file_unreadable");
    CHECK_INT("none", journal_reader_open_files(NULL, 0, &r, NULL), STATUS_E_ARG);
    (void)mkdir(dir, 0700);
    const char *empty[] = {dir};
    err = (struct err){0};
    CHECK_INT("empty directory", journal_reader_open_files(empty, 1, &r, &err), STATUS_E_IO);
    CHECK_TEXT("names what it looks for", fault_name(err.fault), "file_missing");
    char path[160];
    write_file("a.jsonl.gz", "\x1f\x8b\x08\x00 and so on\n", 15, path);
    const char *compressed[] = {path};
    r = open_file_reader(compressed, 1);
    struct journal_line line;
    err = (struct err){0};
    CHECK_INT("compressed", journal_reader_next(r, &line, &err), STATUS_E_PARSE);
    CHECK_TEXT("gives advice", fault_name(err.fault), "compressed_file");
    CHECK_INT("given up", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    journal_reader_close(r);
    journal_reader_close(NULL);
}

/* --- merging -------------------------------------------------------------------------- */

static void write_stamped(const char *name, const int *seconds, size_t n, char path[160])
{
    char text[4096];
    size_t bytes = 0;
    for (size_t i = 0; i < n; i++) {
        char stamp[28];
        message_format_time(T0_US + seconds[i] * S_US, stamp);
        bytes += (size_t)snprintf(text + bytes, sizeof text - bytes,
                                  "{\"tst\":\"%s\",\"from\":\"%s\",\"n\":%d}\n", stamp, name,
                                  seconds[i]);
    }
    write_file(name, text, bytes, path);
}

static void expect_order(const char *row, const char *const *paths, size_t n, const char *want)
{
    struct journal_reader *r = open_file_reader(paths, n);
    char got[512] = "";
    struct journal_line line;
    while (journal_reader_next(r, &line, NULL) == STATUS_OK) {
        const size_t at = strlen(got);
        (void)snprintf(got + at, sizeof got - at, "%s%c%d", at ? " " : "",
                       line.path[strlen(line.path) - 1], line_number(&line));
    }
    CHECK_TEXT(row, got, want);
    journal_reader_close(r);
}

/* Lines of other writers: spaces, and members in another order. */
static void merging_foreign(void)
{
    static const char spaced[] =
        "{ \"tst\" : \"2026-11-20T00:00:01Z\", \"n\": 1}\n"
        "{\"payload\": {\"tst\": \"1999-01-01T00:00:00Z\", \"x\": \"\\\"tst\\\":\"}, "
        "\"kind\": \"tst\", \"n\": 3, \"tst\": \"2026-11-20T00:00:03Z\"}\n";
    static const char dense[] = "{\"tst\":\"2026-11-20T00:00:02Z\",\"n\":2}\n"
                                "{\"tst\":\"2026-11-20T00:00:04Z\",\"n\":4}\n";
    fresh_dir();
    char a[160];
    char b[160];
    write_file("a", spaced, sizeof spaced - 1, a);
    write_file("b", dense, sizeof dense - 1, b);
    const char *ba[] = {b, a};
    struct journal_reader *r = open_file_reader(ba, 2);
    struct journal_line line;
    for (uint64_t k = 0; k < 4; k++) {
        CHECK_INT("foreign", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_TEXT("foreign", line.path, k % 2 == 0 ? a : b);
        CHECK_INT("foreign", line.number, k / 2 + 1);
    }
    journal_reader_close(r);
}

static void test_merging(void)
{
    fresh_dir();
    char a[160];
    char b[160];
    char c[160];
    const int odd[] = {1, 3, 5, 7};
    const int even[] = {2, 4, 6, 7};
    const int late[] = {10, 12};
    write_stamped("a", odd, COUNT(odd), a);
    write_stamped("b", even, COUNT(even), b);
    write_stamped("c", late, COUNT(late), c);
    const char *abc[] = {a, b, c};
    const char *cba[] = {c, b, a};
    expect_order("interleaved", abc, 3, "a1 b2 a3 b4 a5 b6 a7 b7 c10 c12");
    expect_order("equal stamps: order of paths", cba, 3, "a1 b2 a3 b4 a5 b6 b7 a7 c10 c12");

    /* A stamp that goes back stays behind the line before it. */
    const int jumps[] = {1, 9, 2, 10};
    const int steady[] = {5, 9, 11};
    write_stamped("a", jumps, COUNT(jumps), a);
    write_stamped("b", steady, COUNT(steady), b);
    expect_order("clock set back", abc, 2, "a1 b5 a9 a2 b9 a10 b11");

    /* Three in a chain: each overlaps only its neighbour. */
    const int first[] = {1, 5};
    const int second[] = {4, 9};
    const int third[] = {8, 12};
    write_stamped("a", first, 2, a);
    write_stamped("b", second, 2, b);
    write_stamped("c", third, 2, c);
    expect_order("chain", cba, 3, "a1 b4 a5 c8 b9 c12");

    const int touching[] = {5, 6};
    write_stamped("b", touching, 2, b);
    const char *ba[] = {b, a};
    expect_order("touching", abc, 2, "a1 a5 b5 b6");
    expect_order("touching, other order", ba, 2, "a1 b5 a5 b6");

    /* Lines without a stamp stay where they are. */
    static const char text[] = "{\"n\":0}\n"
                               "{\"tst\":\"2026-11-20T05:55:58.599953Z\",\"n\":3}\n"
                               "{\"n\":0}\n{\"n\":8,\"tst\":\"2026-11-20T05:56:03.599953Z\"}";
    write_file("b", text, sizeof text - 1, b);
    write_stamped("a", first, 2, a);
    expect_order("no stamp", abc, 2, "a1 b0 b3 b0 a5 b8");

    write_file("b", "", 0, b);
    expect_order("an empty file", abc, 2, "a1 a5");
}

static void pipes_and_directories(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 300;
    struct journal *j = open_or_die(&params);
    for (unsigned n = 0; n < 30; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
    }
    journal_close(j);
    const char *paths[] = {dir};
    struct journal_reader *r = open_file_reader(paths, 1);
    struct journal_line line;
    for (int n = 0; n < 30; n++) {
        CHECK_INT("directory", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_INT("directory", line_number(&line), n);
    }
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    journal_reader_close(r);

    /* The standard input, merged with a file. */
    int ends[2];
    const int saved = dup(STDIN_FILENO);
    CHECK_INT("pipe", pipe(ends), 0);
    char text[256];
    const size_t bytes = make_line(text, sizeof text, 5);
    CHECK("feed", write(ends[1], text, bytes) == (ssize_t)bytes);
    (void)close(ends[1]);
    (void)dup2(ends[0], STDIN_FILENO);
    (void)close(ends[0]);
    char path[160];
    char both[512];
    size_t at = make_line(both, sizeof both, 4);
    at += make_line(both + at, sizeof both - at, 6);
    write_file("x", both, at, path);
    const char *mixed[] = {path, "-"};
    r = open_file_reader(mixed, 2);
    for (int n = 4; n < 7; n++) {
        CHECK_INT("stdin", journal_reader_next(r, &line, NULL), STATUS_OK);
        CHECK_INT("stdin", line_number(&line), n);
        CHECK_TEXT("stdin", line.path, n == 5 ? "-" : path);
    }
    CHECK_INT("end", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    journal_reader_close(r);
    (void)dup2(saved, STDIN_FILENO);
    (void)close(saved);
}

/* --- the tail of a journal that is being written ---------------------------------------- */

static void test_tail(void)
{
    fresh_dir();
    struct journal_params params = params_of(NULL);
    params.rotate_bytes = 400;
    struct journal *j = open_or_die(&params);
    struct journal_reader *r = open_dir_reader(beginning);
    struct journal_line line;
    CHECK_INT("nothing yet", journal_reader_next(r, &line, NULL), STATUS_E_EMPTY);
    int read_count = 0;
    for (unsigned n = 0; n < 60; n++) {
        CHECK_INT("append", append(j, n, T0_US + n), STATUS_OK);
        CHECK_INT("sync", journal_sync(j, LAB_TIME_MAX), STATUS_OK);
        /* Sometimes at once, sometimes after several files. */
        for (; n % 17 == 0 && journal_reader_next(r, &line, NULL) == STATUS_OK; read_count++) {
            CHECK_INT("in order", line_number(&line), read_count);
        }
    }
    for (; journal_reader_next(r, &line, NULL) == STATUS_OK; read_count++) {
        CHECK_INT("in order", line_number(&line), read_count);
    }
    CHECK_INT("all", read_count, 60);
    journal_reader_close(r);
    journal_close(j);
}

enum { RACE_LINES = 30000 };

static _Atomic bool race_over;

static void *race_sync(void *context)
{
    while (!atomic_load(&race_over)) {
        const enum status status = journal_sync(context, LAB_TIME_MAX);
        struct journal_stats stats;
        journal_stats(context, &stats);
        if (status != STATUS_OK) {
            break;
        }
        (void)usleep(500);
    }
    return NULL;
}

static void *race_read(void *context)
{
    struct journal_reader *r = open_dir_reader(beginning);
    int *read_count = context;
    while (*read_count < RACE_LINES) {
        struct journal_line line;
        const enum status status = journal_reader_next(r, &line, NULL);
        if (status == STATUS_E_EMPTY) {
            (void)usleep(200);
            continue;
        }
        if (status != STATUS_OK) {
            break;
        }
        if (line_number(&line) < 0) {
            continue; /* a closed piece */
        }
        if (line_number(&line) != *read_count) {
            break;
        }
        (*read_count)++;
    }
    journal_reader_close(r);
    return NULL;
}

/* Every now and then a write is torn or refused. */
static ssize_t race_write(void *context, int fd, const void *bytes, size_t n)
{
    int *calls = context;
    const int call = (*calls)++;
    if (call % 97 == 13 && n > 1) {
        (void)!write(fd, bytes, n / 2);
        errno = ENOSPC;
        return (ssize_t)(n / 2);
    }
    if (call % 97 == 14) {
        errno = ENOSPC;
        return -1;
    }
    return write(fd, bytes, n);
}

/* Two threads append under a lock, one syncs, one reads along through rotations. */
struct race {
    pthread_mutex_t lock;
    struct journal *journal;
    unsigned next;
};

static void *race_append(void *context)
{
    struct race *race = context;
    for (;;) {
        (void)pthread_mutex_lock(&race->lock);
        const unsigned n = race->next;
        if (n < RACE_LINES && append(race->journal, n, T0_US + n) == STATUS_OK) {
            race->next++;
        }
        (void)pthread_mutex_unlock(&race->lock);
        if (n >= RACE_LINES) {
            return NULL;
        }
    }
}

static void test_race(void)
{
    fresh_dir();
    int calls = 0;
    const struct journal_io io = {&calls, race_write, NULL, NULL};
    struct journal_params params = params_of(&io);
    params.rotate_bytes = 20000;
    params.retry_us = 0;
    struct race state = {.journal = open_or_die(&params)};
    (void)pthread_mutex_init(&state.lock, NULL);
    atomic_store(&race_over, false);
    int read_count = 0;
    pthread_t threads[4];
    CHECK_INT("thread", pthread_create(&threads[0], NULL, race_read, &read_count), 0);
    CHECK_INT("thread", pthread_create(&threads[1], NULL, race_sync, state.journal), 0);
    CHECK_INT("thread", pthread_create(&threads[2], NULL, race_append, &state), 0);
    CHECK_INT("thread", pthread_create(&threads[3], NULL, race_append, &state), 0);
    (void)pthread_join(threads[2], NULL);
    (void)pthread_join(threads[3], NULL);
    (void)pthread_join(threads[0], NULL);
    atomic_store(&race_over, true);
    (void)pthread_join(threads[1], NULL);
    CHECK_INT("every line, in order", read_count, RACE_LINES);
    struct journal_stats stats;
    journal_stats(state.journal, &stats);
    /* How often depends on the syncing thread; eight times it can do without. */
    CHECK("rotated", stats.rotations >= 8);
    CHECK("torn and closed", stats.torn > 50);
    journal_close(state.journal);
    (void)pthread_mutex_destroy(&state.lock);
}

/* Inputs that fuzzing found worth keeping. */
static void test_corpus(void)
{
    static const char folder[] = TANDEM_SOURCE_DIR "/tests/fuzz/corpus/journal";
    DIR *open_dir = opendir(folder);
    int files = 0;
    for (const struct dirent *entry; open_dir && (entry = readdir(open_dir)) != NULL;) {
        static uint8_t bytes[MESSAGE_LINE_MAX];
        const int fd = openat(dirfd(open_dir), entry->d_name, O_RDONLY);
        const ssize_t n = fd >= 0 ? read(fd, bytes, sizeof bytes) : -1;
        if (n >= 0) {
            (void)LLVMFuzzerTestOneInput(bytes, (size_t)n);
            files++;
        }
        if (fd >= 0) {
            (void)close(fd);
        }
    }
    if (open_dir) {
        (void)closedir(open_dir);
    }
    CHECK("corpus", files >= 15);
}

/* --- a process without descriptors ---------------------------------------------------- */

static void limit_descriptors(rlim_t most)
{
    struct rlimit limit;
    (void)getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = most > 0 ? most : limit.rlim_max;
    CHECK_INT("limit", setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void *free_descriptors(void *context)
{
    (void)context;
    (void)nanosleep(&(struct timespec){0, 300000000}, NULL);
    limit_descriptors(0);
    return NULL;
}

/* The reader waits until there is one: a file that cannot be opened for a moment is no reason
 * to leave out its lines. */
static void no_descriptor(void)
{
    struct journal_line line;
    struct err err = {0};
    pthread_t thread;
    fresh_dir();
    struct journal_params params = params_of(NULL);
    struct journal *j = open_or_die(&params);
    CHECK_INT("append", append(j, 1, INT64_C(1795153555599953)), STATUS_OK);
    struct journal_reader *r = open_dir_reader(beginning);
    limit_descriptors(3);
    CHECK_INT("thread", pthread_create(&thread, NULL, free_descriptors, NULL), 0);
    CHECK_INT("next", journal_reader_next(r, &line, &err), STATUS_OK);
    CHECK_INT("line", line_number(&line), 1);
    (void)pthread_join(thread, NULL);
    journal_reader_close(r);
    journal_close(j);
}

int main(void)
{
    if (!mkdtemp(scratch_template(base, "test_journal")) ||
        CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("journal reader", NULL, NULL);
    CU_add_test(suite, "lines", read_lines);
    CU_add_test(suite, "long lines", long_lines);
    CU_add_test(suite, "positions", test_positions);
    CU_add_test(suite, "refusals", test_refusals);
    CU_add_test(suite, "merging", test_merging);
    CU_add_test(suite, "merging of foreign lines", merging_foreign);
    CU_add_test(suite, "pipes and directories", pipes_and_directories);
    CU_add_test(suite, "corpus", test_corpus);
    CU_add_test(suite, "tail", test_tail);
    CU_add_test(suite, "race", test_race);
    CU_add_test(suite, "no descriptor", no_descriptor);
    const int result = check_run();
    fresh_dir();
    (void)rmdir(base);
    return result;
}
