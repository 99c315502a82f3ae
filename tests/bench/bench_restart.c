/* Measures a start without a checkpoint, which reads the whole journal back: with an empty
 * store, and again with a complete one; against `tandem replay --json` of the same journal. All
 * by CPU time, over all threads of the daemon.
 *
 * bench_restart [LINES [PAIRS]]
 */
#include "logger/storage/journal_files.h"
#include "tests/bench/recording.h"
#include "tests/bench/tools.h"
#include "tests/support/broker.h"
#include "tests/support/daemon.h"

#include <sys/stat.h>

enum { PAIRS_MAX = 10000, READY_MS = 600000 };

static char lab_lines[PAIRS_MAX * 16];

static void write_lab_lines(uint32_t pairs)
{
    size_t used = (size_t)snprintf(lab_lines, sizeof lab_lines, "pairs:\n");
    for (uint32_t i = 1; i <= pairs; i++) {
        used += (size_t)snprintf(lab_lines + used, sizeof lab_lines - used, "  r%u: {}\n", i);
    }
}

static void write_journal(const struct daemon_run *d, uint32_t pairs, long lines)
{
    static char line[MESSAGE_LINE_MAX];
    struct recording r;
    (void)mkdir(daemon_path(d, "journal"), 0700);
    recording_start(&r, pairs, 0, 40000 / pairs);
    char *path = journal_file_path(daemon_path(d, "journal"), r.t_us);
    FILE *out = path ? fopen(path, "we") : NULL;
    if (!out) {
        bench_fail("cannot write");
    }
    for (long i = 0; i < lines; i++) {
        struct message m;
        recording_next(&r, (uint32_t)i % pairs, &m);
        const size_t bytes = message_format(&m, line, sizeof line);
        if (fwrite(line, 1, bytes, out) != bytes) {
            bench_fail("disk full");
        }
    }
    (void)fclose(out);
    free(path);
    recording_end(&r);
}

/* CPU time until everything is read back. */
static double start_once(struct daemon_run *d, double *seconds)
{
    (void)unlink(daemon_path(d, "checkpoint"));
    if (!daemon_start_run(d) || !daemon_wait_log(d, "lines of the journal in", READY_MS)) {
        bench_fail("the daemon did not start");
    }
    const double cpu_s = tool_cpu_s(d->pid);
    if (!daemon_wait_ready(d, 200, READY_MS)) {
        bench_fail("the daemon is not ready");
    }
    *seconds = daemon_metric(d, "tandem_lab_restore_seconds");
    (void)daemon_end(d, SIGTERM);
    return cpu_s;
}

int main(int argc, char **argv)
{
    struct broker broker;
    struct daemon_run d;
    double first_s = 0.0;
    double again_s = 0.0;
    const long lines = argc > 1 ? strtol(argv[1], NULL, 10) : 3000000;
    const long pairs = argc > 2 ? strtol(argv[2], NULL, 10) : 100;
    if (lines < 3000 || pairs < 1 || pairs > PAIRS_MAX || broker_skip()) {
        bench_fail("no mosquitto, or a number that makes no sense");
    }
    write_lab_lines((uint32_t)pairs);
    if (!broker_init(&broker) || !broker_start(&broker) ||
        !daemon_init(&d, broker.port, lab_lines)) {
        bench_fail("the broker did not start");
    }
    write_journal(&d, (uint32_t)pairs, lines);
    const double first_cpu_s = start_once(&d, &first_s);
    const double again_cpu_s = start_once(&d, &again_s);
    const char *const replay[] = {TANDEM_PROGRAM,
                                  "replay",
                                  "--json",
                                  "-c",
                                  daemon_path(&d, "lab.yaml"),
                                  daemon_path(&d, "journal"),
                                  NULL};
    const struct bench_run floor = bench_program(replay);
    (void)printf("{\"bench\":\"restart\",\"lines\":%ld,\"pairs\":%ld,\"lines_per_cpu_s\":%.0f,"
                 "\"cpu_s\":%.2f,\"seconds\":%.2f,\"empty_store_cpu_s\":%.2f,"
                 "\"empty_store_seconds\":%.2f,\"floor\":\"tandem replay --json\","
                 "\"floor_s\":%.2f,\"ratio\":%.2f}\n",
                 lines, pairs, (double)lines / again_cpu_s, again_cpu_s, again_s, first_cpu_s,
                 first_s, floor.cpu_s, again_cpu_s / floor.cpu_s);
    daemon_finish(&d);
    broker_finish(&broker, NULL);
    return EXIT_SUCCESS;
}
