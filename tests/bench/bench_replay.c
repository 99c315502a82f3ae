/* What `tandem replay --json` makes of long recordings, against `jq -c .` on the same file: two
 * mixes of four pairs and one of many, each short and long, so that the peak of memory can be
 * seen not to grow. */
#include "tests/bench/recording.h"

enum { FEW = 4, MANY = 10000, ROUND_US = 40000 };
enum { SHORT_LINES = 200000, LONG_LINES = 2000000, RUNS = 3 };

static void write_lab(const char *path, uint32_t pairs)
{
    FILE *out = fopen(path, "we");
    if (!out) {
        bench_fail("cannot write");
    }
    (void)fputs("pairs:\n", out);
    for (uint32_t i = 1; i <= pairs; i++) {
        (void)fprintf(out, "  r%u: {}\n", i);
    }
    (void)fclose(out);
}

static double write_recording(const char *path, uint32_t pairs, uint32_t telemetry_percent,
                              long lines)
{
    static char line[MESSAGE_LINE_MAX];
    struct recording r;
    double bytes_written = 0.0;
    FILE *out = fopen(path, "we");
    if (!out) {
        bench_fail("cannot write");
    }
    recording_start(&r, pairs, telemetry_percent, ROUND_US / pairs);
    for (long i = 0; i < lines; i++) {
        struct message m;
        recording_next(&r, (uint32_t)i % pairs, &m);
        const size_t bytes = message_format(&m, line, sizeof line);
        bytes_written += (double)bytes;
        if (fwrite(line, 1, bytes, out) != bytes) {
            bench_fail("disk full");
        }
    }
    recording_end(&r);
    (void)fclose(out);
    return bytes_written;
}

static struct bench_run median_run(const char *const argv[])
{
    double wall_s[RUNS];
    double cpu_s[RUNS];
    struct bench_run out = {0};
    for (int i = 0; i < RUNS; i++) {
        const struct bench_run run = bench_program(argv);
        wall_s[i] = run.wall_s;
        cpu_s[i] = run.cpu_s;
        out.rss_mib = run.rss_mib > out.rss_mib ? run.rss_mib : out.rss_mib;
    }
    out.wall_s = bench_median(wall_s, RUNS);
    out.cpu_s = bench_median(cpu_s, RUNS);
    return out;
}

static void bench_mix(char *dir, const char *name, uint32_t pairs, uint32_t telemetry_percent)
{
    char lab[160];
    char path[160];
    (void)snprintf(lab, sizeof lab, "%s/lab.yaml", dir);
    (void)snprintf(path, sizeof path, "%s/recording.jsonl", dir);
    const char *const replay[] = {TANDEM_PROGRAM, "replay", "--json", "-c", lab, path, NULL};
    const char *const jq[] = {"jq", "-c", ".", path, NULL};
    write_lab(lab, pairs);
    const double bytes = write_recording(path, pairs, telemetry_percent, SHORT_LINES);
    const struct bench_run first = median_run(replay);
    const struct bench_run other = median_run(jq);
    (void)write_recording(path, pairs, telemetry_percent, LONG_LINES);
    const struct bench_run last = median_run(replay);
    (void)unlink(path);
    (void)unlink(lab);
    (void)printf(
        "{\"bench\":\"replay\",\"mix\":\"%s\",\"pairs\":%u,\"lines\":%d,\"line_bytes\":%.0f,"
        "\"events_per_cpu_s\":%.0f,\"events_per_s\":%.0f,\"floor\":\"jq -c .\","
        "\"floor_events_per_cpu_s\":%.0f,\"ratio\":%.3f,\"short_lines\":%d,"
        "\"short_events_per_cpu_s\":%.0f,\"short_rss_MiB\":%.1f,\"rss_MiB\":%.1f}\n",
        name, pairs, LONG_LINES, bytes / SHORT_LINES, LONG_LINES / last.cpu_s,
        LONG_LINES / last.wall_s, SHORT_LINES / other.cpu_s, first.cpu_s / other.cpu_s,
        SHORT_LINES, SHORT_LINES / first.cpu_s, first.rss_mib, last.rss_mib);
    (void)fflush(stdout);
}

int main(void)
{
    char dir[] = "/tmp/bench_replay.XXXXXX";
    if (!mkdtemp(dir)) {
        bench_fail("no directory");
    }
    bench_mix(dir, "telemetry", FEW, 90);
    bench_mix(dir, "moves", FEW, 0);
    bench_mix(dir, "moves of many pairs", MANY, 0);
    (void)rmdir(dir);
    return EXIT_SUCCESS;
}
