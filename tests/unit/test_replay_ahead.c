/* needs: threads */
/* Recordings read by several threads, and the documents made by them, equal those of one
 * thread. */
#include "tests/support/check.h"

#include <unistd.h>

#include "service/replay/replay_ahead.h"
#include "service/replay/replay_run.h"
#include "tests/support/scratch.h"

enum { PAIRS = 12, LINES = 6000, MANY = 150, MOVES = 14 };

static char path[3][64]; /* two that are read together, and the moves of many pairs */
static struct lab_file lab;

/* ---- recordings: most lines are plain, some are odd in one of many ways ---- */

static void write_head(FILE *out, int64_t t_us, const char *rest)
{
    char time[28];
    message_format_time(t_us, time);
    (void)fprintf(out, "{\"tst\":\"%s\",\"topic\":\"tandem/v1/r%d/%s\",\"qos\":1,\"retain\":0,",
                  time, rand() % (PAIRS + 1), rest);
}

static void write_odd(FILE *out, int64_t t_us)
{
    static const char *const payloads[] = {
        "\"payload\":\"{\\\"op\\\":\\\"go\\\",\\\"displacement_m\\\":1}\"}\n",
        "\"payload\":{\"op\":7}}\n",
        "\"payload\":{\"op\":\"go\"}\n",
        "\"payload\":{\"op\":\"go\"},\"x\":[1,{}]}\r\n",
        "\"payload\":[1,2}\n",
        "\"payload\":null}\n",
        "\n \n",
    };
    switch (rand() % 4) {
    case 0:
        (void)fprintf(out, "no JSON at all\n");
        break;
    case 1:
        write_head(out, t_us, "real/telemetry");
        (void)fprintf(out, "\"payload\":[{\"seq\":%d},{\"seq\":%d},{\"nu\":\"x\"}]}\n",
                      rand() % 9, rand() % 99);
        break;
    case 2:
        write_head(out, t_us + (rand() % 20 == 0 ? INT64_C(9000000000000) : 0), "no/topic");
        (void)fputs("\"payload\":{}}\n", out);
        break;
    default:
        write_head(out, t_us, "command");
        (void)fputs(payloads[(size_t)rand() % COUNT(payloads)], out);
    }
}

static void write_line(FILE *out, int64_t t_us, int k)
{
    switch (rand() % 5) {
    case 0:
        write_head(out, t_us, "command");
        (void)fprintf(out,
                      "\"payload\":{\"id\":\"c%d\",\"op\":\"go\",\"rotation_rad\":%.4f}}\n",
                      k / 20, (double)(rand() % 60000) / 1e4 - 3.0);
        break;
    case 1:
    case 2:
        write_head(out, t_us, rand() % 2 ? "real/reply" : "virtual/reply");
        (void)fprintf(
            out, "\"payload\":{\"id\":\"c%d\",\"status\":\"done\",\"values\":{\"x\":%d}}}\n",
            k / 20, rand() % 2);
        break;
    case 3:
        write_head(out, t_us, rand() % 2 ? "real/telemetry" : "virtual/telemetry");
        (void)fprintf(out, "\"payload\":{\"t\":%.3f,\"seq\":%d,\"nu\":[%d,2,3]}}\n",
                      (double)t_us * 1e-6, k, rand() % 9);
        break;
    default:
        if (rand() % 4 == 0) {
            write_odd(out, t_us);
        }
    }
}

static void write_recording(const char *to, int64_t t_us)
{
    FILE *out = fopen(to, "w");
    if (!out) {
        exit(EXIT_FAILURE);
    }
    for (int k = 0; k < LINES; k++) {
        t_us += rand() % 40000;
        write_line(out, t_us, k);
        if (k == LINES / 2) { /* longer than any line may be */
            (void)fprintf(out, "%0*d\n", MESSAGE_LINE_MAX + 1000, 0);
        }
        if (k % 1000 == 999) { /* long ones, so that batches end for their bytes */
            write_head(out, t_us, "real/telemetry");
            (void)fprintf(out, "\"payload\":{\"seq\":1,\"fill\":\"%0*d\"}}\n", 60000, 0);
        }
    }
    (void)fputs("{\"tst\":\"2026-11-20T0", out); /* torn */
    (void)fclose(out);
}

/* From rest to rest, one after the other; each pair in its turn. */
static void write_move(FILE *out, int64_t t_us, int pair, int k)
{
    static const char *const topics[] = {"command", "real/reply", "virtual/reply"};
    const int turn = rand() % 3000;
    for (size_t i = 0; i < COUNT(topics); i++) {
        char time[28];
        message_format_time(t_us, time);
        (void)fprintf(out,
                      "{\"tst\":\"%s\",\"topic\":\"tandem/v1/r%d/%s\",\"qos\":1,\"retain\":0,"
                      "\"payload\":{\"id\":\"m%d\",",
                      time, pair, topics[i], k);
        (void)(i == 0 ? fprintf(out, "\"op\":\"go\",\"rotation_rad\":%d.%03d}}\n", turn / 1000,
                                turn % 1000)
                      : fprintf(out, "\"status\":\"done\"}}\n"));
        t_us += i == 0 ? 1000 * turn + rand() % 50000 : rand() % 50000;
    }
}

static void write_moves(const char *to)
{
    FILE *out = fopen(to, "w");
    if (!out) {
        exit(EXIT_FAILURE);
    }
    for (int k = 0; k < MANY * MOVES; k++) {
        write_move(out, INT64_C(1763617674000000) + (int64_t)k * 5000000, k % MANY, k);
    }
    (void)fclose(out);
}

/* ---- replays ---- */

struct reported {
    char *text; /* faults, then the document */
    size_t bytes;
};

static enum status next_line(struct replay_ahead *ahead, struct journal_reader *reader,
                             struct journal_line *line, const struct event **event,
                             struct err *err)
{
    *event = NULL;
    return ahead ? replay_ahead_next(ahead, line, event, err)
                 : journal_reader_next(reader, line, err);
}

static size_t read_lines(struct replay_run *run, struct journal_reader *reader,
                         struct replay_ahead *ahead, FILE *out)
{
    struct journal_line line;
    const struct event *event = NULL;
    size_t ahead_count = 0;
    struct err err = {0};
    for (enum status got = STATUS_OK; got != STATUS_E_EMPTY; err = (struct err){0}) {
        got = next_line(ahead, reader, &line, &event, &err);
        ahead_count += got == STATUS_OK && event;
        if (got == STATUS_OK && (event ? replay_event(run->replay, event, &err)
                                       : replay_line(run->replay, &line, &err)) != STATUS_OK) {
            (void)fprintf(out, "%s:%llu:%u: %s\n", line.path, (unsigned long long)line.number,
                          err.column, err.text);
        }
    }
    return ahead_count;
}

static struct reported replay_by(unsigned count, const char *const *paths, size_t *ahead_count)
{
    struct reported reported = {NULL, 0};
    struct replay_run run = {.file = &lab};
    const struct effects effects = {replay_write_effect, &run};
    struct journal_reader *reader = NULL;
    struct replay_ahead *ahead = NULL;
    FILE *out = open_memstream(&reported.text, &reported.bytes);
    CU_ASSERT_FATAL(out != NULL);
    if (count > 1) {
        CU_ASSERT_EQUAL_FATAL(threads_create(count, &run.threads), STATUS_OK);
    }
    CU_ASSERT_EQUAL_FATAL(replay_open_spool(&run), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(replay_create(&lab, &effects, &run.replay), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(journal_reader_open_files(paths, paths[1] ? 2 : 1, &reader, NULL),
                          STATUS_OK);
    if (run.threads) {
        CU_ASSERT_EQUAL_FATAL(replay_ahead_create(run.replay, reader, run.threads, &ahead),
                              STATUS_OK);
    }
    *ahead_count = read_lines(&run, reader, ahead, out);
    replay_ahead_destroy(ahead);
    replay_end(run.replay);
    CHECK_INT("records", replay_end_spool(&run), STATUS_OK);
    replay_document(&run, NULL, out);
    (void)fclose(out);
    journal_reader_close(reader);
    replay_close_spool(&run);
    replay_destroy(run.replay);
    threads_destroy(run.threads);
    return reported;
}

/* Says: what must be in it, for the comparison to be of something. */
static void compare_threads(const char *what, const char *const *paths, bool plain,
                            const char *says)
{
    static const unsigned threads[] = {2, 3, 8};
    size_t ahead_count = 0;
    const struct reported one = replay_by(1, paths, &ahead_count);
    CHECK(what, strstr(one.text, "\"verdict\":\"SYNC\"") && strstr(one.text, says));
    for (size_t i = 0; i < COUNT(threads); i++) {
        char row[64];
        const struct reported other = replay_by(threads[i], paths, &ahead_count);
        (void)snprintf(row, sizeof row, "%s, %u threads", what, threads[i]);
        CHECK_INT(row, other.bytes, one.bytes);
        CHECK(row, other.bytes == one.bytes && memcmp(other.text, one.text, one.bytes) == 0);
        CHECK(row, plain ? ahead_count > LINES : ahead_count == 0);
        free(other.text);
    }
    free(one.text);
}

static void load_lab(int pairs, const char *more)
{
    char text[4096] = "pairs:\n";
    struct err_list errors = {0};
    for (int i = 0; i < pairs; i++) {
        const size_t used = strlen(text);
        (void)snprintf(text + used, sizeof text - used, "  r%d: {%s}\n", i,
                       i == 3   ? "record: all"
                       : i == 5 ? "probe_interval_s: 1"
                                : "");
    }
    (void)strcat(text, more);
    CU_ASSERT_EQUAL_FATAL(lab_file_parse(text, strlen(text), "lab", &lab, &errors), STATUS_OK);
}

static void test_threads(void)
{
    const char *const paths[] = {path[0], path[1]};
    load_lab(PAIRS, "");
    compare_threads("native", paths, true, "column");
    lab_file_free(&lab);
}

/* Fits of many pairs. */
static void test_many(void)
{
    const char *const paths[] = {path[2], NULL};
    load_lab(MANY, "");
    compare_threads("many pairs", paths, true, "\"method\":\"");
    lab_file_free(&lab);
}

/* A codec with a state receives each line in its order. */
static void test_foreign(void)
{
    const char *const paths[] = {path[0], path[1]};
    load_lab(PAIRS, "  v1: {codec: vda5050, real: acme/amr-01, virtual: acme/amr-02}\n");
    compare_threads("next to another codec", paths, false, "column");
    lab_file_free(&lab);
}

/* Idle threads end, too. */
static void test_unread(void)
{
    const char *const paths[] = {path[0]};
    struct replay_run run = {.file = &lab};
    const struct effects effects = {replay_write_effect, &run};
    struct journal_reader *reader = NULL;
    struct replay_ahead *ahead = NULL;
    struct journal_line line;
    const struct event *event = NULL;
    load_lab(PAIRS, "");
    CU_ASSERT_EQUAL_FATAL(threads_create(4, &run.threads), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(replay_open_spool(&run), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(replay_create(&lab, &effects, &run.replay), STATUS_OK);
    for (int lines = 0; lines < 3; lines++) {
        CU_ASSERT_EQUAL_FATAL(journal_reader_open_files(paths, 1, &reader, NULL), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(replay_ahead_create(run.replay, reader, run.threads, &ahead),
                              STATUS_OK);
        for (int k = 0; k < lines; k++) {
            CHECK_INT("a line", replay_ahead_next(ahead, &line, &event, NULL), STATUS_OK);
        }
        replay_ahead_destroy(ahead);
        journal_reader_close(reader);
    }
    replay_close_spool(&run);
    replay_destroy(run.replay);
    threads_destroy(run.threads);
    lab_file_free(&lab);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    srand(check_seed(11));
    for (size_t i = 0; i < COUNT(path); i++) {
        const int fd = mkstemp(scratch_template(path[i], "replay_ahead"));
        if (fd < 0) {
            return EXIT_FAILURE;
        }
        (void)close(fd);
    }
    write_recording(path[0], INT64_C(1763617674000000));
    write_recording(path[1], INT64_C(1763617704000000));
    write_moves(path[2]);
    CU_pSuite suite = CU_add_suite("replay_ahead", NULL, NULL);
    CU_add_test(suite, "threads", test_threads);
    CU_add_test(suite, "many", test_many);
    CU_add_test(suite, "foreign", test_foreign);
    CU_add_test(suite, "unread", test_unread);
    const int exit_status = check_run();
    for (size_t i = 0; i < COUNT(path); i++) {
        (void)unlink(path[i]);
    }
    return exit_status;
}
