/* Measures `tandem replay --json` on long recordings: telemetry and moves, of one pair and of
 * many, each short and long, to show that the peak of memory does not grow; against programs
 * that only read the lines (jq, and those of tests/bench/peers). Sparse recordings have a
 * sample or a move a second, as those of labs have. Then only the document of many pairs,
 * against one pair with as many entries.
 *
 * bench_replay [LINES [RUNS]]
 */
#include "tests/bench/recording.h"

enum { MANY = 10000, RUNS_MAX = 15, LONG_FACTOR = 5 };

struct mix {
    const char *name;
    uint32_t pairs, telemetry_percent;
    int64_t round_us; /* time between two messages of a pair */
};

static long lines_wanted = 400000;
static int runs = 5;
static char lab[160], path[160];

static void write_lab(uint32_t pairs)
{
    FILE *out = fopen(lab, "we");
    if (!out) {
        bench_fail("cannot write");
    }
    (void)fputs("pairs:\n", out);
    for (uint32_t i = 1; i <= pairs; i++) {
        (void)fprintf(out, "  r%u: {}\n", i);
    }
    (void)fclose(out);
}

static double write_recording(const struct mix *mix, long lines)
{
    static char line[MESSAGE_LINE_MAX];
    struct recording r;
    double bytes_written = 0.0;
    FILE *out = fopen(path, "we");
    if (!out) {
        bench_fail("cannot write");
    }
    recording_start(&r, mix->pairs, mix->telemetry_percent, mix->round_us / mix->pairs);
    for (long i = 0; i < lines; i++) {
        struct message m;
        recording_next(&r, (uint32_t)i % mix->pairs, &m);
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

/* ---- readers of the recording ---- */

enum who { OURS, JQ, NODE, PYTHON, SIMDJSON, WHO_COUNT };

struct reader {
    const char *name;
    const char *argv[BENCH_ARGS_MAX];
    const char *needs; /* a file; NULL: our own program */
};

static struct reader reader_of(enum who who)
{
    static char simdjson[512];
    (void)snprintf(simdjson, sizeof simdjson, "%s", TANDEM_PROGRAM);
    char *slash = strrchr(simdjson, '/');
    const size_t used = slash ? (size_t)(slash - simdjson) : 0;
    (void)snprintf(simdjson + used, sizeof simdjson - used, "/tests/bench/lines_simdjson");
    const struct reader readers[WHO_COUNT] = {
        [OURS] = {"tandem", {TANDEM_PROGRAM, "replay", "--json", "-c", lab, path}, NULL},
        [JQ] = {"jq", {"jq", "-c", ".", path}, "/usr/bin/jq"},
        [NODE] = {"node",
                  {"node", TANDEM_SOURCE_DIR "/tests/bench/peers/lines.js", path},
                  "/usr/bin/node"},
        [PYTHON] = {"python",
                    {"/usr/bin/python3", TANDEM_SOURCE_DIR "/tests/bench/peers/lines.py", path},
                    "/usr/bin/python3"},
        [SIMDJSON] = {"simdjson", {simdjson, path}, simdjson},
    };
    return readers[who];
}

struct timing {
    double cpu_s[RUNS_MAX], rss_mib;
};

/* In turns, so that what else the machine does meets all of them. */
static void time_all(struct timing timing[WHO_COUNT], unsigned wanted)
{
    for (int run = 0; run < runs; run++) {
        for (enum who who = OURS; who < WHO_COUNT; who++) {
            const struct reader reader = reader_of(who);
            if (!(wanted & 1U << who) || (reader.needs && access(reader.needs, R_OK) != 0)) {
                continue;
            }
            const struct bench_run took = bench_program(reader.argv);
            struct timing *t = &timing[who];
            t->cpu_s[run] = took.cpu_s;
            t->rss_mib = took.rss_mib > t->rss_mib ? took.rss_mib : t->rss_mib;
        }
    }
}

static double median_ratio(const double *above, const double *below)
{
    double ratio[RUNS_MAX];
    for (int i = 0; i < runs; i++) {
        ratio[i] = above[i] / below[i];
    }
    return bench_median(ratio, (size_t)runs);
}

static void print_peers(struct timing timing[WHO_COUNT], double lines)
{
    for (enum who who = JQ; who < WHO_COUNT; who++) {
        if (timing[who].cpu_s[0] > 0.0) {
            const double ratio = median_ratio(timing[OURS].cpu_s, timing[who].cpu_s);
            (void)printf(",\"%s_lines_per_cpu_s\":%.0f,\"ratio_to_%s\":%.3f",
                         reader_of(who).name,
                         lines / bench_median(timing[who].cpu_s, (size_t)runs),
                         reader_of(who).name, ratio);
        }
    }
}

static void bench_mix(const struct mix *mix)
{
    static struct timing timing[WHO_COUNT], longer[WHO_COUNT];
    memset(timing, 0, sizeof timing);
    memset(longer, 0, sizeof longer);
    write_lab(mix->pairs);
    const double bytes = write_recording(mix, lines_wanted);
    time_all(timing, ~0U);
    (void)write_recording(mix, LONG_FACTOR * lines_wanted);
    time_all(longer, 1U << OURS);
    (void)printf(
        "{\"bench\":\"replay\",\"mix\":\"%s\",\"pairs\":%u,\"lines\":%ld,\"line_bytes\":%.0f,"
        "\"runs\":%d,\"events_per_cpu_s\":%.0f,\"rss_MiB\":%.1f,\"long_lines\":%ld,\"long_"
        "events_per_cpu_s\":%.0f,"
        "\"long_rss_MiB\":%.1f",
        mix->name, mix->pairs, lines_wanted, bytes / (double)lines_wanted, runs,
        (double)lines_wanted / bench_median(timing[OURS].cpu_s, (size_t)runs),
        timing[OURS].rss_mib, LONG_FACTOR * lines_wanted,
        LONG_FACTOR * (double)lines_wanted / bench_median(longer[OURS].cpu_s, (size_t)runs),
        longer[OURS].rss_mib);
    print_peers(timing, (double)lines_wanted);
    (void)puts("}");
    (void)fflush(stdout);
}

/* Measures a document of many pairs, and one of a single pair with as many moves. */
static void bench_document(uint32_t pairs, long moves)
{
    static struct timing many[WHO_COUNT], one[WHO_COUNT];
    memset(many, 0, sizeof many);
    memset(one, 0, sizeof one);
    write_lab(pairs);
    (void)write_recording(&(struct mix){"moves", pairs, 0, 40000}, 3 * moves * pairs);
    time_all(many, 1U << OURS);
    write_lab(1);
    (void)write_recording(&(struct mix){"moves", 1, 0, 40000}, 3 * moves * pairs);
    time_all(one, 1U << OURS);
    (void)printf("{\"bench\":\"replay_document\",\"pairs\":%u,\"entries\":%ld,\"runs\":%d,"
                 "\"cpu_s\":%.3f,\"rss_MiB\":%.1f,\"floor\":\"one pair with as many entries\","
                 "\"floor_s\":%.3f,\"ratio\":%.2f}\n",
                 pairs, moves * pairs, runs, bench_median(many[OURS].cpu_s, (size_t)runs),
                 many[OURS].rss_mib, bench_median(one[OURS].cpu_s, (size_t)runs),
                 median_ratio(many[OURS].cpu_s, one[OURS].cpu_s));
    (void)fflush(stdout);
}

int main(int argc, char **argv)
{
    static const struct mix mixes[] = {
        {"telemetry", 1, 100, 40000},
        {"telemetry", MANY, 100, 40000},
        {"moves", 1, 0, 40000},
        {"moves", MANY, 0, 40000},
        {"sparse telemetry", 1, 100, 1000000},
        {"sparse moves", 1, 0, 333333},
    };
    char dir[] = "/tmp/bench_replay.XXXXXX";
    lines_wanted = argc > 1 ? strtol(argv[1], NULL, 10) : lines_wanted;
    runs = argc > 2 ? (int)strtol(argv[2], NULL, 10) : runs;
    if (!mkdtemp(dir) || lines_wanted < 1000 || runs < 1 || runs > RUNS_MAX) {
        bench_fail("no directory, fewer than 1000 lines, or not 1 to 15 runs");
    }
    (void)snprintf(lab, sizeof lab, "%s/lab.yaml", dir);
    (void)snprintf(path, sizeof path, "%s/recording.jsonl", dir);
    for (size_t i = 0; i < COUNT(mixes); i++) {
        bench_mix(&mixes[i]);
    }
    bench_document(3000, 20);
    bench_document(MANY, 20);
    (void)unlink(path);
    (void)unlink(lab);
    (void)rmdir(dir);
    return EXIT_SUCCESS;
}
