/* Measures an event in a lab of 10 000 pairs at random against a lab of one pair in the same
 * run: journal line to codec to lab_step(), as the daemon and replay do it. Two mixes. Bytes a
 * pair, parameters included. */
#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "service/replay/replay.h"
#include "tests/bench/recording.h"
#include "twin/lab.h"

enum {
    MANY = 10000,
    WARM_PER_PAIR = 600, /* messages until every clock map is full: a minute at 10 Hz */
    CHUNK = 20000,       /* lines made, untimed, before they are timed */
    CHUNKS = 9,          /* timed; medians of them */
    LINE_BYTES = 512
};

struct bench_lab {
    struct pair_params *params;
    struct lab_params lab_params;
    struct lab *lab;
    struct recording recording;
    struct effects effects;
    uint64_t effect_count;
};

static char scratch[MESSAGE_PAYLOAD_MAX + 1];
static char chunk[CHUNK][LINE_BYTES];
static uint16_t chunk_bytes[CHUNK];

static void count_effect(void *context, const struct effect *effect)
{
    struct bench_lab *b = context;
    b->effect_count += effect->kind == EFFECT_ENTRY;
}

static void lab_start(struct bench_lab *b, uint32_t pairs, uint32_t telemetry_percent)
{
    *b = (struct bench_lab){.params = calloc(pairs, sizeof *b->params)};
    for (uint32_t i = 0; i < pairs; i++) {
        char id[EVENT_PAIR_MAX];
        (void)snprintf(id, sizeof id, "r%u", i + 1);
        lab_pair_defaults(&b->params[i], id);
    }
    b->lab_params = (struct lab_params){.pair_count = pairs, .pairs = b->params};
    b->lab = lab_memory_create(&b->lab_params);
    if (!b->lab) {
        bench_fail("no memory");
    }
    /* Every pair sends telemetry ten times a second. */
    recording_start(&b->recording, pairs, telemetry_percent, 100000 / pairs);
    b->effects = (struct effects){count_effect, b};
}

static void lab_end(struct bench_lab *b)
{
    recording_end(&b->recording);
    lab_memory_destroy(b->lab);
    free(b->params);
}

static void make_chunk(struct bench_lab *b)
{
    struct message m;
    for (size_t i = 0; i < CHUNK; i++) {
        const uint32_t pair = bench_draw(&b->recording.draws) % b->recording.pair_count;
        recording_next(&b->recording, pair, &m);
        chunk_bytes[i] = (uint16_t)message_format(&m, chunk[i], LINE_BYTES);
        if (chunk_bytes[i] == 0) {
            bench_fail("a line is too long");
        }
    }
}

static void step_event(void *context, const struct event *event)
{
    struct bench_lab *b = context;
    lab_step(b->lab, event, &b->effects);
}

static void no_step(void *context, const struct event *event)
{
    (void)context;
    (void)event;
}

/* CPU nanoseconds an event: all of it, or without the lab. */
static double run_chunk(struct bench_lab *b, bool with_lab)
{
    const double from_s = bench_cpu_s();
    for (size_t i = 0; i < CHUNK; i++) {
        struct message m;
        if (message_parse(chunk[i], chunk_bytes[i], scratch, &m, NULL) != STATUS_OK) {
            bench_fail("a line does not parse");
        }
        if (with_lab) {
            (void)codec_decode(NULL, "tandem/v1", &m, step_event, b);
        } else {
            (void)codec_decode(NULL, "tandem/v1", &m, no_step, b);
        }
    }
    return (bench_cpu_s() - from_s) * 1e9 / CHUNK;
}

struct cost {
    double whole_ns, step_ns;
};

static struct cost measure_chunks(struct bench_lab *b)
{
    double whole[CHUNKS];
    double decode[CHUNKS];
    for (size_t i = 0; i < CHUNKS; i++) {
        make_chunk(b);
        decode[i] = run_chunk(b, false);
        whole[i] = run_chunk(b, true);
    }
    struct cost cost = {.whole_ns = bench_median(whole, CHUNKS)};
    cost.step_ns = cost.whole_ns - bench_median(decode, CHUNKS);
    return cost;
}

static void warm_up(struct bench_lab *b)
{
    for (size_t n = 0; n < (size_t)b->recording.pair_count * WARM_PER_PAIR; n += CHUNK) {
        make_chunk(b);
        (void)run_chunk(b, true);
    }
}

static double rss_bytes(void)
{
    long pages = 0;
    FILE *in = fopen("/proc/self/statm", "re");
    if (!in || fscanf(in, "%*s %ld", &pages) != 1) {
        bench_fail("/proc/self/statm");
    }
    (void)fclose(in);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void bench_mix(const char *name, uint32_t telemetry_percent)
{
    static struct bench_lab one;
    static struct bench_lab many;
    const double before = rss_bytes();
    lab_start(&many, MANY, telemetry_percent);
    lab_start(&one, 1, telemetry_percent);
    warm_up(&one);
    warm_up(&many);
    const struct cost alone = measure_chunks(&one);
    const struct cost among = measure_chunks(&many);
    const double rss = rss_bytes() - before;
    (void)printf("{\"bench\":\"pairs\",\"mix\":\"%s\",\"pairs\":%d,\"bytes_per_pair\":%zu,"
                 "\"rss_bytes_per_pair\":%.0f,\"ns_per_event\":%.0f,\"one_pair_ns\":%.0f,"
                 "\"ratio\":%.2f,\"step_ns\":%.0f,\"one_pair_step_ns\":%.0f,"
                 "\"step_ratio\":%.2f,\"entries\":%llu}\n",
                 name, MANY, lab_bytes(&many.lab_params) / MANY + sizeof *many.params,
                 rss / MANY, among.whole_ns, alone.whole_ns, among.whole_ns / alone.whole_ns,
                 among.step_ns, alone.step_ns, among.step_ns / alone.step_ns,
                 (unsigned long long)many.effect_count);
    (void)fflush(stdout);
    lab_end(&many);
    lab_end(&one);
}

/* bench_pairs [PERCENT]: only the mix with this share of telemetry. */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        uint32_t telemetry_percent;
    } mixes[] = {{"telemetry", 100}, {"telemetry 90 %", 90}, {"moves", 0}};
    for (size_t i = 0; i < COUNT(mixes); i++) {
        if (argc < 2 || strtoul(argv[1], NULL, 10) == mixes[i].telemetry_percent) {
            bench_mix(mixes[i].name, mixes[i].telemetry_percent);
        }
    }
    return EXIT_SUCCESS;
}
