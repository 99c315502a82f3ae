/* Measures a message in the format of a mapping table against the same message in the native
 * protocol, in one run: a reply and a sample of telemetry in JSON, and positional text. The
 * median of the rounds' ratios; at most 2.0. */
#include "config/labfile/lab_file.h"
#include "config/mapping/mapping_file.h"
#include "logger/codec/codecs.h"
#include "logger/codec/mapping.h"
#include "logger/message/codec_native.h"
#include "service/replay/replay.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 31, MESSAGES = 20000 };

static const struct pair_of {
    const char *what, *native_topic, *native, *foreign_topic, *foreign, *row;
} pairs[] = {
    {"telemetry", "tandem/v1/r1/real/telemetry",
     "{\"t\":1763617674.512345,\"seq\":88,\"pose\":[1.5,-0.02,3.141592],\"nu\":[0.25,0,0.5]}",
     "ros/r1/real/odom",
     "{\"stamp\":1763617674.512345,\"n\":88,\"p\":[1500,-20,180],\"v\":[0.25,0,0.5]}",
     "mappings: [{topic: \"ros/{pair}/{side}/odom\", event: telemetry, fields: {t: {path: "
     "/stamp}, seq: {path: /n}, "
     "pose.0: {path: /p/0, unit: mm}, pose.1: {path: /p/1, unit: mm}, pose.2: {path: /p/2, "
     "unit: deg}, "
     "nu.0: {path: /v/0}, nu.1: {path: /v/1}, nu.2: {path: /v/2}}}]"},
    {"shadow", "tandem/v1/r1/real/telemetry",
     "{\"t\":1795149881.52,\"seq\":88,\"pose\":[1.5,-0.02,3.141592653]}", "shop/7/state/r1",
     "{\"version\":88,\"state\":{\"reported\":{\"at\":\"2026-11-20T04:44:41.52Z\",\"pos\":["
     "1500,-20],\"heading\":180}}}",
     "mappings: [{topic: \"shop/+/state/{pair}\", side: real, event: telemetry, fields: {t: "
     "{path: /state/reported/at, "
     "unit: iso8601}, seq: {path: /version}, pose.0: {path: /state/reported/pos/0, unit: mm}, "
     "pose.1: {path: /state/reported/pos/1, unit: mm}, pose.2: {path: /state/reported/heading, "
     "unit: deg}}}]"},
    {"ros", "tandem/v1/r1/virtual/reply",
     "{\"id\":\"c4\",\"t\":12.5,\"status\":\"done\",\"values\":{\"x_m\":1.25}}",
     "ros/r1/cmd_done",
     "{\"header\":{\"stamp\":{\"sec\":12,\"nanosec\":500000000},\"frame_id\":\"c4\"},"
     "\"result\":{\"success\":true},"
     "\"pose\":{\"position\":{\"x\":1.25}}}",
     "mappings: [{topic: \"ros/{pair}/cmd_done\", event: reply, side: virtual, format: json, "
     "fields: {"
     "id: {path: /header/frame_id}, t: {path: /header/stamp/sec, plus: {path: "
     "/header/stamp/nanosec, unit: ns, "
     "optional: true}}, status: {path: /result/success, map: {\"true\": done, \"false\": "
     "error}}, "
     "values.x_m: {path: /pose/position/x}}}]"},
    {"long_telemetry", "tandem/v1/r1/real/telemetry",
     "{\"t\":1763617674.512345,\"seq\":88,\"pose\":[1.5,-0.02,3.141592],\"nu\":[0.25,0,0.5]}",
     "ros/r1/real/odom",
     "{\"header\":{\"stamp\":{\"sec\":1763617674,\"nanosec\":512345000},\"frame_id\":\"odom\"},"
     "\"pose\":{\"x\":1.5,"
     "\"y\":-0.02,\"theta\":3.141592},\"twist\":{\"x\":0.25,\"y\":0,\"theta\":0.5}}",
     "mappings: [{topic: \"ros/{pair}/{side}/odom\", event: telemetry, fields: {t: {path: "
     "/header/stamp/sec, plus: "
     "{path: /header/stamp/nanosec, unit: ns}}, pose.0: {path: /pose/x}, pose.1: {path: "
     "/pose/y}, "
     "pose.2: {path: /pose/theta}, nu.0: {path: /twist/x}, nu.1: {path: /twist/y}, nu.2: "
     "{path: /twist/theta}}}]"},
    {"reply", "tandem/v1/r1/real/reply",
     "{\"id\":\"c17\",\"t\":1763617674.512345,\"t_start\":1763617672.1,\"status\":\"done\","
     "\"values\":{\"x_m\":0.512,"
     "\"y_m\":1.25}}",
     "shop/r1/real/answer",
     "{\"order\":\"c17\",\"at\":1763617674.512345,\"from\":1763617672.1,\"result\":\"OK\","
     "\"place\":{\"x\":512,\"y\":1250}}",
     "mappings: [{topic: \"shop/{pair}/{side}/answer\", event: reply, fields: {id: {path: "
     "/order}, t: {path: /at}, "
     "t_start: {path: /from}, status: {path: /result, map: {OK: done, BLOCKED: blocked}}, "
     "values.x_m: {path: /place/x, unit: mm}, values.y_m: {path: /place/y, unit: mm}}}]"},
    {"text_reply", "tandem/v1/r1/real/reply",
     "{\"t\":20.5,\"t_start\":18.25,\"status\":\"done\",\"values\":{\"x_m\":0.512,\"y_m\":1.25}"
     "}",
     "shop/r1/real/answer", "D 512 1250 18250 20500\n",
     "mappings: [{topic: \"shop/{pair}/{side}/answer\", event: reply, format: text, fields: "
     "{t_start: {at: 4, unit: ms}, "
     "t: {at: 5, unit: ms}, status: {at: 1, map: {D: done}}, values.x_m: {at: 2, unit: mm}, "
     "values.y_m: {at: 3, unit: mm}}}]"},
};

static size_t taken;

static void count_event(void *context, const struct event *event)
{
    (void)context;
    if (event->kind == EVENT_MALFORMED) {
        bench_fail(event->malformed.detail);
    }
    taken++;
}

static struct message message_of(const char *topic, const char *payload)
{
    struct message m = {
        .payload = payload, .stored_bytes = strlen(payload), .payload_bytes = strlen(payload)};
    (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
    return m;
}

static struct mapping_table *read_row(const char *yaml)
{
    char path[] = "/tmp/bench_mapping.XXXXXX";
    struct err_list errors = {0};
    const int fd = mkstemp(path);
    if (fd < 0 || write(fd, yaml, strlen(yaml)) != (ssize_t)strlen(yaml)) {
        bench_fail("a file for the table");
    }
    (void)close(fd);
    struct mapping_table *table = mapping_table_load(path, false, &errors);
    (void)remove(path);
    if (!table) {
        bench_fail(errors.items[0].text);
    }
    return table;
}

static double time_native(const struct message *m)
{
    const double from_s = bench_cpu_s();
    for (int i = 0; i < MESSAGES; i++) {
        (void)codec_native.decode("tandem/v1", m, count_event, NULL);
    }
    return bench_cpu_s() - from_s;
}

static double time_mapped(const struct mapping *mapping, const struct message *m, bool reported)
{
    const double from_s = bench_cpu_s();
    const struct mapping_receiver to = {.pair = "r1", .republished = reported};
    for (int i = 0; i < MESSAGES; i++) {
        (void)mapping_decode(mapping, &to, m, count_event, NULL);
    }
    return bench_cpu_s() - from_s;
}

/* ---- many pairs: whose message is it? ---- */

enum { TOPICS = 1000 };

/* A lab with this number of pairs, and messages of some of them. */
struct crowd {
    struct pair_params *params;
    struct lab_params lab_params;
    struct lab *lab;
    struct codec_set set;
    struct message messages[TOPICS];
};

static void start_crowd(struct crowd *c, size_t count, const struct mapping *mapping,
                        const char *topic, const char *payload)
{
    *c = (struct crowd){.params = calloc(count, sizeof *c->params)};
    for (size_t i = 0; i < count; i++) {
        char id[EVENT_PAIR_MAX];
        (void)snprintf(id, sizeof id, "r%zu", i + 1);
        lab_pair_defaults(&c->params[i], id);
        (void)snprintf(c->params[i].codec, sizeof c->params[i].codec, "%s",
                       mapping ? "mapping" : "native");
        c->params[i].speaks.mapping = mapping;
        (void)snprintf(c->params[i].speaks.pair, sizeof c->params[i].speaks.pair, "%s", id);
    }
    c->lab_params =
        (struct lab_params){.pair_count = count, .pairs = c->params, .prefix = "tandem/v1"};
    c->lab = lab_memory_create(&c->lab_params);
    if (!c->lab) {
        bench_fail("no memory");
    }
    lab_codecs(c->lab, &c->set);
    const char *mark = strstr(topic, "r1");
    for (size_t k = 0; k < TOPICS; k++) {
        char name[MESSAGE_TOPIC_MAX];
        (void)snprintf(name, sizeof name, "%.*sr%zu%s", (int)(mark - topic), topic,
                       k * 7919 % count + 1, mark + 2);
        c->messages[k] = message_of(name, payload);
    }
}

static void end_crowd(struct crowd *c)
{
    lab_memory_destroy(c->lab);
    free(c->params);
}

static double time_crowd(const struct crowd *c)
{
    const double from_s = bench_cpu_s();
    for (int i = 0; i < MESSAGES; i++) {
        (void)codec_decode(&c->set, "tandem/v1", &c->messages[i % TOPICS], count_event, NULL);
    }
    return bench_cpu_s() - from_s;
}

static void measure_crowds(void)
{
    static const size_t counts[] = {1, 1000, 10000};
    static struct crowd mapped;
    static struct crowd native;
    struct mapping_table *table = read_row(pairs[0].row);
    for (size_t k = 0; k < COUNT(counts); k++) {
        double ratio[ROUNDS], native_s[ROUNDS];
        start_crowd(&mapped, counts[k], &table->mapping, pairs[0].foreign_topic,
                    pairs[0].foreign);
        start_crowd(&native, counts[k], NULL, pairs[0].native_topic, pairs[0].native);
        for (int i = -1; i < ROUNDS; i++) {
            const int at = i < 0 ? 0 : i;
            native_s[at] = time_crowd(&native);
            ratio[at] = time_crowd(&mapped) / native_s[at];
        }
        (void)printf("{\"bench\":\"mapping\",\"message\":\"%s\",\"pairs\":%zu,\"native_ns\":%."
                     "0f,\"ratio\":%.2f,"
                     "\"limit\":2.0}\n",
                     pairs[0].what, counts[k], 1e9 * bench_median(native_s, ROUNDS) / MESSAGES,
                     bench_median(ratio, ROUNDS));
        end_crowd(&mapped);
        end_crowd(&native);
    }
    mapping_table_free(table);
}

int main(int argc, char **argv)
{
    if (argc == 1 || strcmp(argv[1], "pairs") == 0) {
        measure_crowds();
    }
    for (size_t k = 0; k < COUNT(pairs); k++) {
        if (argc > 1 && strcmp(argv[1], pairs[k].what) != 0) {
            continue;
        }
        const struct message native = message_of(pairs[k].native_topic, pairs[k].native);
        const struct message foreign = message_of(pairs[k].foreign_topic, pairs[k].foreign);
        struct mapping_table *table = read_row(pairs[k].row);
        double ratio[ROUNDS], reported[ROUNDS], native_s[ROUNDS];
        for (int i = -1; i < ROUNDS; i++) { /* the first is not counted */
            const int at = i < 0 ? 0 : i;
            native_s[at] = time_native(&native);
            ratio[at] = time_mapped(&table->mapping, &foreign, false) / native_s[at];
            reported[at] = time_mapped(&table->mapping, &foreign, true) / native_s[at];
        }
        (void)printf("{\"bench\":\"mapping\",\"message\":\"%s\",\"native_ns\":%.0f,\"ratio\":%."
                     "2f,\"ratio_link\":%.2f,"
                     "\"limit\":2.0}\n",
                     pairs[k].what, 1e9 * bench_median(native_s, ROUNDS) / MESSAGES,
                     bench_median(ratio, ROUNDS), bench_median(reported, ROUNDS));
        mapping_table_free(table);
    }
    return taken > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
