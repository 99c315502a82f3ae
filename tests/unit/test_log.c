/* tests/unit/test_log.c - forms, levels and rate limits of log lines; docs/events.md. */
#include "tests/support/check.h"

#include <fcntl.h>
#include <unistd.h>

#include <jansson.h>

#include "service/tool/log.h"

static int pipe_fd[2];

static void begin_log(enum log_format format, enum log_level level)
{
    CU_ASSERT_FATAL(pipe2(pipe_fd, O_CLOEXEC | O_NONBLOCK) == 0);
    log_start(format, level, pipe_fd[1]);
}

static char text[65536];

/* Reads the lines written since begin(). */
static void end_log(void)
{
    const ssize_t n = read(pipe_fd[0], text, sizeof text - 1);
    text[n > 0 ? n : 0] = '\0';
    (void)close(pipe_fd[0]);
    (void)close(pipe_fd[1]);
}

static void test_plain(void)
{
    begin_log(LOG_PLAIN, LOG_LEVEL_INFO);
    log_write(LOG_ALARM, "r1", "timeout %s", "real");
    log_write(LOG_SERVING, NULL, "two\nlines\x1b[2J");
    end_log();
    CHECK("time first", strncmp(text, "20", 2) == 0 && text[26] == 'Z');
    CHECK("pair", strstr(text, "Z warn alarm r1: timeout real\n") != NULL);
    CHECK("no control characters", strstr(text, " info serving: two?lines?[2J\n") != NULL);
}

static void test_level_changes(void)
{
    begin_log(LOG_PLAIN, LOG_LEVEL_INFO);
    log_write(LOG_ENTRY, "r1", "not yet");
    log_set_level(LOG_LEVEL_DEBUG);
    log_write(LOG_ENTRY, "r1", "now");
    log_set_level(LOG_LEVEL_ERROR);
    log_write(LOG_SERVING, NULL, "no more");
    end_log();
    CHECK("debug", strstr(text, " debug entry r1: now\n") != NULL);
    CHECK("that alone", strchr(text, '\n') == strrchr(text, '\n'));
}

static void test_json(void)
{
    begin_log(LOG_JSON, LOG_LEVEL_DEBUG);
    log_write(LOG_ENTRY, "r1", "say \"%s\"", "SYNC");
    end_log();
    json_t *line = json_loads(text, 0, NULL);
    CU_ASSERT_FATAL(line != NULL);
    CHECK_TEXT("event", json_string_value(json_object_get(line, "event")), "entry");
    CHECK_TEXT("level", json_string_value(json_object_get(line, "level")), "debug");
    CHECK_TEXT("pair", json_string_value(json_object_get(line, "pair")), "r1");
    CHECK_TEXT("text", json_string_value(json_object_get(line, "text")), "say \"SYNC\"");
    CHECK("wall time", json_is_string(json_object_get(line, "t_wall")));
    CHECK("monotonic time", json_integer_value(json_object_get(line, "t_mono_ns")) > 0);
    json_decref(line);
}

static void test_levels(void)
{
    static const struct {
        const char *name;
        enum log_level level;
        int lines;
    } rows[] = {{"error", LOG_LEVEL_ERROR, 1},
                {"warn", LOG_LEVEL_WARN, 2},
                {"info", LOG_LEVEL_INFO, 3},
                {"debug", LOG_LEVEL_DEBUG, 4}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        begin_log(LOG_PLAIN, rows[i].level);
        CHECK_INT(rows[i].name, log_on(LOG_ENTRY), rows[i].level == LOG_LEVEL_DEBUG);
        log_write(LOG_STOP_INCOMPLETE, NULL, "1");
        log_write(LOG_RELOAD, NULL, "2");
        log_write(LOG_STARTING, NULL, "3");
        log_write(LOG_ENTRY, NULL, "4");
        end_log();
        int lines = 0;
        for (const char *c = text; *c; c++) {
            lines += *c == '\n';
        }
        CHECK_INT(rows[i].name, lines, rows[i].lines);
    }
}

static void test_rate(void)
{
    begin_log(LOG_PLAIN, LOG_LEVEL_INFO);
    const uint64_t before = log_suppressed();
    for (int i = 0; i < 1000; i++) {
        log_write(LOG_MALFORMED, NULL, "%d", i);
    }
    log_flush();
    log_flush();
    end_log();
    const uint64_t suppressed = log_suppressed() - before;
    /* Two a second, and the loop may see a second begin. */
    CHECK("most are", suppressed >= 996 && suppressed <= 998);
    char closing[64];
    (void)snprintf(closing, sizeof closing, "malformed: suppressed (%llu more)\n",
                   (unsigned long long)suppressed);
    CHECK("reported once",
          strstr(text, "suppressed (") != NULL &&
              strstr(strstr(text, "suppressed (") + 1, "suppressed (") == NULL);
    CHECK("and counted", suppressed != 998 || strstr(text, closing) != NULL);
}

/* docs/events.md is this table. TANDEM_BLESS=1 writes it again. */
static void test_docs(void)
{
    static char want[32768];
    size_t used = (size_t)snprintf(
        want, sizeof want,
        "# Events\n\n`tandem serve` writes these lines to stderr, one line per event. `error`: "
        "someone must act;\n`warn`: someone should look; `info`: lifecycle; `debug`: "
        "everything else. The rate is the largest\nnumber of lines a second of this event; "
        "suppressed ones are counted in its next line.\n\n"
        "| event | level | rate | meaning |\n|---|---|---|---|\n");
    for (int i = 0; i < LOG_EVENT_COUNT; i++) {
        char rate[16] = "";
        if (log_rows[i].rate_per_s) {
            (void)snprintf(rate, sizeof rate, "%u", log_rows[i].rate_per_s);
        }
        used += (size_t)snprintf(want + used, sizeof want - used, "| `%s` | %s | %s | %s |\n",
                                 log_rows[i].name, log_level_name(log_rows[i].level), rate,
                                 log_rows[i].meaning);
    }
    const char *bless = getenv("TANDEM_BLESS");
    if (bless && *bless) {
        FILE *out = fopen(TANDEM_SOURCE_DIR "/docs/events.md", "we");
        CU_ASSERT_FATAL(out != NULL);
        (void)fputs(want, out);
        (void)fclose(out);
    }
    FILE *in = fopen(TANDEM_SOURCE_DIR "/docs/events.md", "re");
    CU_ASSERT_FATAL(in != NULL);
    const size_t n = fread(text, 1, sizeof text - 1, in);
    (void)fclose(in);
    text[n] = '\0';
    CHECK("docs/events.md is up to date (TANDEM_BLESS=1 writes it)", strcmp(text, want) == 0);
}

static void test_names(void)
{
    for (int i = 0; i < LOG_EVENT_COUNT; i++) {
        for (int k = 0; k < i; k++) {
            CHECK(log_rows[i].name, strcmp(log_rows[i].name, log_rows[k].name) != 0);
        }
        CHECK(log_rows[i].name, log_rows[i].meaning[strlen(log_rows[i].meaning) - 1] == '.');
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("log", NULL, NULL);
    CU_add_test(suite, "plain", test_plain);
    CU_add_test(suite, "json", test_json);
    CU_add_test(suite, "level changes", test_level_changes);
    CU_add_test(suite, "levels", test_levels);
    CU_add_test(suite, "rate", test_rate);
    CU_add_test(suite, "docs", test_docs);
    CU_add_test(suite, "names", test_names);
    return check_run();
}
