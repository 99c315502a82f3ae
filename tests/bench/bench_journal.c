/* Measures the journal against floors in the same run: appending a line against a bare write(2)
 * of it, reading lines against read(2) of the same file. Prints one JSON line. */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "logger/message/message.h"
#include "logger/storage/journal.h"
#include "logger/storage/journal_files.h"
#include "logger/storage/journal_reader.h"

enum { ROUNDS = 7, LINES = 200000, READ_BYTES = 1 << 20 };

static const int64_t start_us = INT64_C(1795154155599953);

static double now_ns(void)
{
    struct timespec now;
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static void fail_with(const char *what)
{
    (void)fprintf(stderr, "bench_journal: %s\n", what);
    exit(EXIT_FAILURE);
}

static size_t make_line(char *out, size_t capacity, unsigned n)
{
    char payload[128];
    struct message m = {.t_us = start_us + n * INT64_C(1000), .qos = 1, .payload = payload};
    (void)snprintf(m.topic, sizeof m.topic, "tandem/v1/r%u/real/telemetry", n % 8);
    m.stored_bytes = m.payload_bytes = (size_t)snprintf(
        payload, sizeof payload, "{\"t\":1795154155.%06u,\"seq\":%u,\"nu\":[0.25,0,-0.1]}",
        n % 1000000, n);
    return message_format(&m, out, capacity);
}

static double bare_write_ns(const char *path)
{
    char line[512];
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
    if (fd < 0) {
        fail_with("cannot write");
    }
    const size_t bytes = make_line(line, sizeof line, 1);
    const double from_ns = now_ns();
    for (unsigned n = 0; n < LINES; n++) {
        if (write(fd, line, bytes) != (ssize_t)bytes) {
            fail_with("short write");
        }
    }
    const double ns = (now_ns() - from_ns) / LINES;
    (void)close(fd);
    (void)unlink(path);
    return ns;
}

static double append_ns(struct journal *journal)
{
    char line[512];
    const size_t bytes = make_line(line, sizeof line, 1);
    const double from_ns = now_ns();
    for (unsigned n = 0; n < LINES; n++) {
        if (journal_append(journal, line, bytes, start_us + n, NULL) != STATUS_OK) {
            fail_with("cannot append");
        }
    }
    return (now_ns() - from_ns) / LINES;
}

static double bare_read_mbps(const char *path, char *buffer)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    double total = 0.0;
    const double from_ns = now_ns();
    for (ssize_t n = 0; (n = read(fd, buffer, READ_BYTES)) > 0;) {
        total += (double)n;
    }
    const double ns = now_ns() - from_ns;
    (void)close(fd);
    return total / ns * 1e3;
}

static double read_mbps(const char *const *paths, size_t n, double *lines)
{
    struct journal_reader *reader = NULL;
    struct journal_reader_stats stats;
    struct journal_line line;
    const double from_ns = now_ns();
    if (journal_reader_open_files(paths, n, &reader, NULL) != STATUS_OK) {
        fail_with("cannot read");
    }
    while (journal_reader_next(reader, &line, NULL) == STATUS_OK) {
    }
    const double ns = now_ns() - from_ns;
    journal_reader_stats(reader, &stats);
    journal_reader_close(reader);
    *lines = (double)stats.lines;
    return (double)stats.bytes / ns * 1e3;
}

static double smaller_of(double a, double b)
{
    return a < b ? a : b;
}

static double larger_of(double a, double b)
{
    return a > b ? a : b;
}

/* Two recordings of the same time, to be merged line by line. */
static void write_pair(const char *a, const char *b)
{
    FILE *out[2] = {fopen(a, "we"), fopen(b, "we")};
    if (!out[0] || !out[1]) {
        fail_with("cannot write");
    }
    for (unsigned n = 0; n < LINES; n++) {
        char line[512];
        (void)fwrite(line, 1, make_line(line, sizeof line, n), out[n % 2]);
    }
    (void)fclose(out[0]);
    (void)fclose(out[1]);
}

int main(void)
{
    char dir[] = "/tmp/bench_journal.XXXXXX";
    char path[3][128];
    char name[JOURNAL_NAME_MAX];
    static char buffer[READ_BYTES];
    if (!mkdtemp(dir)) {
        fail_with("no directory");
    }
    for (size_t i = 0; i < 3; i++) {
        (void)snprintf(path[i], sizeof path[i], "%s/%zu.jsonl", dir, i);
    }
    struct journal_params params;
    journal_params_init(&params);
    params.directory = dir;
    params.rotate_bytes = UINT64_C(1) << 40;
    struct journal *journal = NULL;
    if (journal_open(&params, &journal, NULL) != STATUS_OK) {
        fail_with("cannot open");
    }
    double bare = 1e18;
    double append = 1e18;
    for (int i = 0; i < ROUNDS; i++) {
        bare = smaller_of(bare, bare_write_ns(path[0]));
        append = smaller_of(append, append_ns(journal));
    }
    journal_close(journal);

    journal_file_name(start_us, name);
    (void)snprintf(path[0], sizeof path[0], "%s/%s", dir, name);
    write_pair(path[1], path[2]);
    const char *one[] = {path[0]};
    const char *two[] = {path[1], path[2]};
    double read_floor = 0.0;
    double read_one = 0.0;
    double read_two = 0.0;
    double lines = 0.0;
    for (int i = 0; i < ROUNDS; i++) {
        read_floor = larger_of(read_floor, bare_read_mbps(path[0], buffer));
        read_two = larger_of(read_two, read_mbps(two, 2, &lines));
        read_one = larger_of(read_one, read_mbps(one, 1, &lines));
    }
    for (size_t i = 0; i < 3; i++) {
        (void)unlink(path[i]);
    }
    (void)rmdir(dir);
    (void)printf("{\"bench\":\"journal\",\"append_ns\":%.0f,\"write_ns\":%.0f,"
                 "\"append_ratio\":%.3f,\"read_MBps\":%.0f,\"read_floor_MBps\":%.0f,"
                 "\"read_ratio\":%.3f,\"merge_MBps\":%.0f,\"lines\":%.0f}\n",
                 append, bare, append / bare, read_one, read_floor, read_floor / read_one,
                 read_two, lines);
    return EXIT_SUCCESS;
}
