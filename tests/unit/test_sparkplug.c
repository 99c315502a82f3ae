/* tests/unit/test_sparkplug.c - Sparkplug B: bytes of the official encoder (npm
 * sparkplug-payload; tests/golden/ sparkplug_in.js has its input) to their meaning, and the
 * state over messages. */
#include "tests/support/check.h"

#include <jansson.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/codec/sparkplug_rows.h"

struct received {
    struct sparkplug_node node;
    struct sparkplug_device device[2];
    char text[8192]; /* the emitted records, a line each */
    const char *name;
};

static void append_line(struct received *h, const char *format, ...) PRINTF_LIKE(2, 3);
static void append_line(struct received *h, const char *format, ...)
{
    const size_t used = strlen(h->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(h->text + used, sizeof h->text - used, format, args);
    va_end(args);
}

static void add_values(struct received *h, const struct sparkplug_metrics *metrics)
{
    for (size_t k = 0; k < metrics->count; k++) {
        const struct sparkplug_metric *m = &metrics->metric[k];
        append_line(h, "%s\"%.*s\": ", k > 0 ? ", " : "", (int)m->name.bytes, m->name.at);
        switch (m->value.kind) {
        case SPARKPLUG_REAL:
            append_line(h, "%.15g", m->value.real);
            break;
        case SPARKPLUG_WHOLE:
            append_line(h, "%lld", (long long)m->value.whole);
            break;
        case SPARKPLUG_TRUTH:
            append_line(h, "%s", m->value.whole ? "true" : "false");
            break;
        case SPARKPLUG_TEXT:
            append_line(h, "\"%.*s\"", (int)m->value.text.bytes, m->value.text.at);
            break;
        case SPARKPLUG_NULL:
        case SPARKPLUG_NONE:
            append_line(h, "null");
        }
    }
}

/* Prints in the format of the reference. */
static void print_reference(void *context, const struct sparkplug_event *e)
{
    struct received *h = context;
    switch (e->what) {
    case SPARKPLUG_MALFORMED:
        append_line(h, "{\"event\": \"malformed\", \"detail\": \"%s\"}\n", e->fault);
        return;
    case SPARKPLUG_UNBORN:
        append_line(h, "{\"event\": \"rebirth\"}\n");
        return;
    case SPARKPLUG_STALE:
        append_line(h, "{\"event\": \"stale\", \"bdSeq\": %llu}\n",
                    (unsigned long long)e->bd_seq);
        return;
    case SPARKPLUG_MISSING:
        append_line(h, "{\"event\": \"missing\", \"n\": %zu, \"rebirth\": true}\n", e->count);
        return;
    case SPARKPLUG_ONLINE:
    case SPARKPLUG_OFFLINE:
        append_line(h, "{\"event\": \"connection\", \"device\": \"%s\", \"state\": \"%s\"}\n",
                    h->name, e->what == SPARKPLUG_ONLINE ? "online" : "offline");
        return;
    case SPARKPLUG_UNKNOWN:
        append_line(
            h,
            "{\"event\": \"malformed\", \"device\": \"%s\", \"what\": \"metric\", \"detail\": "
            "\"alias %llu was not in "
            "a birth message\"}\n",
            h->name, (unsigned long long)e->alias);
        return;
    case SPARKPLUG_TOO_MANY:
        append_line(h, "{\"event\": \"too many\", \"n\": %zu}\n", e->count);
        return;
    case SPARKPLUG_VALUES:
        append_line(h,
                    "{\"event\": \"values\", \"device\": \"%s\", \"t\": %.13g, \"values\": {",
                    h->name, (double)e->stamp_ms / 1000.0);
        add_values(h, e->metrics);
        append_line(h, "}}\n");
    }
}

static void decode_payload(struct received *h, const char *topic, const char *payload,
                           size_t bytes)
{
    struct sparkplug_topic t;
    const struct sparkplug_place place = {{h->name, strlen(h->name)}, &h->device[0]};
    CU_ASSERT_FATAL(sparkplug_topic_read(topic, &t));
    char *copy = malloc(bytes + 1); /* so that the sanitizer sees reads beyond it */
    CU_ASSERT_FATAL(copy != NULL);
    memcpy(copy, payload, bytes);
    char *exact = realloc(copy, bytes > 0 ? bytes : 1);
    sparkplug_decode(&h->node, &place, 1, &t, exact ? exact : copy, bytes, print_reference, h);
    free(exact ? exact : copy);
}

static size_t from_hex(const char *hex, char *out)
{
    size_t n = 0;
    for (unsigned byte = 0; sscanf(hex + 2 * n, "%2x", &byte) == 1; n++) {
        out[n] = (char)byte;
    }
    return n;
}

static char *read_golden(const char *name)
{
    static char text[8192];
    FILE *in = fopen(name, "rb");
    CU_ASSERT_FATAL(in != NULL);
    text[fread(text, 1, sizeof text - 1, in)] = '\0';
    (void)fclose(in);
    return text;
}

/* The messages of the golden file, one after the other. */
static size_t read_messages(char topic[16][128], char payload[16][512], size_t bytes[16])
{
    size_t n = 0;
    for (char *line =
             strtok(read_golden(TANDEM_SOURCE_DIR "/tests/golden/sparkplug_in.jsonl"), "\n");
         line && n < 16; line = strtok(NULL, "\n")) {
        json_t *m = json_loads(line, 0, NULL);
        (void)snprintf(topic[n], 128, "%s", json_string_value(json_object_get(m, "topic")));
        bytes[n] = from_hex(json_string_value(json_object_get(m, "hex")), payload[n]);
        n++;
        json_decref(m);
    }
    return n;
}

static void test_golden(void)
{
    static struct received h = {.name = "arm-real"};
    char topic[16][128];
    char payload[16][512];
    size_t bytes[16];
    const size_t n = read_messages(topic, payload, bytes);
    CHECK_INT("messages", n, 8);
    for (size_t k = 0; k < n; k++) {
        decode_payload(&h, topic[k], payload[k], bytes[k]);
    }
    const char *want = read_golden(TANDEM_SOURCE_DIR "/tests/golden/sparkplug_events.jsonl");
    CHECK_INT("bytes", strlen(h.text), strlen(want));
    CHECK("byte for byte", strcmp(h.text, want) == 0);
    if (strcmp(h.text, want) != 0) {
        (void)fputs(h.text, stderr);
    }
}

/* Every beginning of every message, and every message with one bit turned: nothing is read
 * beyond the end, and a cut message is malformed or a shorter one. */
static void test_damaged(void)
{
    static struct received h;
    char topic[16][128];
    char payload[16][512];
    size_t bytes[16];
    const size_t n = read_messages(topic, payload, bytes);
    unsigned malformed = 0;
    for (size_t k = 0; k < n; k++) {
        for (size_t cut = 0; cut < bytes[k]; cut++) {
            h = (struct received){.name = "arm-real", .node = {.born = true}};
            decode_payload(&h, topic[k], payload[k], cut);
            malformed += strstr(h.text, "malformed") != NULL;
        }
        for (size_t bit = 0; bit < 8 * bytes[k]; bit++) {
            payload[k][bit / 8] ^= (char)(1U << bit % 8);
            h = (struct received){.name = "arm-real", .node = {.born = true}};
            decode_payload(&h, topic[k], payload[k], bytes[k]);
            payload[k][bit / 8] ^= (char)(1U << bit % 8);
        }
    }
    CHECK("cut ones are reported", malformed > 200);
}

static void test_topics(void)
{
    static const struct {
        const char *topic, *device;
        int kind; /* -1: none */
    } rows[] = {
        {"spBv1.0/lab/NBIRTH/cell1", "", SPARKPLUG_NBIRTH},
        {"spBv1.0/lab/DDATA/cell1/arm", "arm", SPARKPLUG_DDATA},
        {"spBv1.0/lab/NCMD/cell1", "", SPARKPLUG_NCMD},
        {"spBv1.0/lab/DDATA/cell1", "", -1},
        {"spBv1.0/lab/NDATA/cell1/arm", "", -1},
        {"spBv1.0/lab/DDATA/cell1/", "", -1},
        {"spBv1.0/lab/DDATA/cell1/arm/x", "", -1},
        {"spBv1.0/lab/DATA/cell1/arm", "", -1},
        {"spBv1.0/STATE/host", "", -1},
        {"spAv1.0/lab/DDATA/cell1/arm", "", -1},
        {"", "", -1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct sparkplug_topic topic = {.kind = SPARKPLUG_KIND_COUNT};
        CHECK_INT(rows[i].topic, sparkplug_topic_read(rows[i].topic, &topic),
                  rows[i].kind >= 0);
        if (rows[i].kind >= 0) {
            CHECK_INT(rows[i].topic, topic.kind, rows[i].kind);
            CHECK(rows[i].topic, topic.device.bytes == strlen(rows[i].device));
            CHECK(rows[i].topic, topic.group.bytes == 3 &&
                                     strncmp(topic.node.at, "cell1", topic.node.bytes) == 0);
        }
    }
}

/* A message by hand: "1803" is seq 3; m(bytes) a metric of them. */
static void receive_hex(struct received *h, const char *topic, const char *hex)
{
    char payload[512];
    decode_payload(h, topic, payload, from_hex(hex, payload));
}

#define BORN_AS(seq) "120b0a0562645365712008580718" seq /* metric bdSeq: 7 */
#define DBIRTH_AB                                                                              \
    "12100a0161"                                                                               \
    "1001"                                                                                     \
    "200a"                                                                                     \
    "690000000000000040"                                                                       \
    "12090a0162"                                                                               \
    "1002"                                                                                     \
    "2003"                                                                                     \
    "5005"                                                                                     \
    "1801"

static void test_life(void)
{
    static const struct {
        const char *row, *topic, *hex, *reported;
    } rows[] = {
        {"before a birth", "spBv1.0/g/DDATA/n/d", "1809", "{\"event\": \"rebirth\"}\n"},
        {"death before a birth", "spBv1.0/g/NDEATH/n", BORN_AS("00"),
         "{\"event\": \"stale\", \"bdSeq\": 7}\n"},
        {"birth", "spBv1.0/g/NBIRTH/n", BORN_AS("00"), ""},
        {"its device's", "spBv1.0/g/DBIRTH/n/d", DBIRTH_AB,
         "{\"event\": \"connection\", \"device\": \"d\", \"state\": \"online\"}\n"
         "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, \"values\": {\"a\": 2, "
         "\"b\": 5}}\n"},
        {"another device counts", "spBv1.0/g/DDATA/n/e", "1802", ""},
        {"a sign by the type of the birth", "spBv1.0/g/DDATA/n/d", "1208100250ffffffff0f1803",
         "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, \"values\": {\"b\": "
         "-1}}\n"},
        {"by name", "spBv1.0/g/DDATA/n/d",
         "12050a0162500618"
         "04",
         "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, \"values\": {\"b\": 6}}\n"},
        {"a null", "spBv1.0/g/DDATA/n/d", "1204100238011805",
         "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, \"values\": {\"b\": "
         "null}}\n"},
        {"old ones are passed over", "spBv1.0/g/DDATA/n/d", "12061002280150091806", ""},
        {"a command does not count", "spBv1.0/g/DCMD/n/d", "120410025001",
         "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, \"values\": {\"b\": 1}}\n"},
        {"missing", "spBv1.0/g/NDATA/n", "1809",
         "{\"event\": \"missing\", \"n\": 2, \"rebirth\": true}\n"},
        {"back", "spBv1.0/g/NDATA/n", "1808",
         "{\"event\": \"missing\", \"n\": 254, \"rebirth\": true}\n"},
        {"an absent count is 0", "spBv1.0/g/NDATA/n", "0801",
         "{\"event\": \"missing\", \"n\": 247, \"rebirth\": true}\n"},
        {"another's death", "spBv1.0/g/NDEATH/n", "120b0a056264536571200858061800",
         "{\"event\": \"stale\", \"bdSeq\": 6}\n"},
        {"born again", "spBv1.0/g/NBIRTH/n", BORN_AS("00"), ""},
        {"and forgotten", "spBv1.0/g/DDATA/n/d",
         "12041002500118"
         "01",
         "{\"event\": \"malformed\", \"device\": \"d\", \"what\": \"metric\", \"detail\": "
         "\"alias 2 was not in a birth "
         "message\"}\n"},
        {"a count beyond", "spBv1.0/g/NDATA/n", "188002",
         "{\"event\": \"malformed\", \"detail\": \"a seq of 0 to 255 was expected\"}\n"},
        {"no metric", "spBv1.0/g/NDATA/n", "10011802",
         "{\"event\": \"malformed\", \"detail\": \"the payload has a field that is none of "
         "Sparkplug B's\"}\n"},
        {"no double", "spBv1.0/g/DDATA/n/d", "120368011802",
         "{\"event\": \"malformed\", \"detail\": \"a metric has a field that is none of "
         "Sparkplug B's\"}\n"},
        {"a group", "spBv1.0/g/DDATA/n/d", "0b",
         "{\"event\": \"malformed\", \"detail\": \"this is no payload of Sparkplug B: there is "
         "no such wire type\"}\n"},
        {"its own death", "spBv1.0/g/NDEATH/n", BORN_AS("00"),
         "{\"event\": \"connection\", \"device\": \"d\", \"state\": \"offline\"}\n"},
        {"after it", "spBv1.0/g/DDATA/n/d", "1801", "{\"event\": \"rebirth\"}\n"},
    };
    static struct received h = {.name = "d"};
    for (size_t i = 0; i < COUNT(rows); i++) {
        h.text[0] = '\0';
        receive_hex(&h, rows[i].topic, rows[i].hex);
        CHECK_TEXT(rows[i].row, h.text, rows[i].reported);
    }
}

/* 600 messages in a row: the count comes round, also if the encoder leaves out a seq of 0.
 * Those in between[2] are lost. */
static void count_round(const char *birth, bool leaves_out, const unsigned between[2],
                        const char *reported)
{
    static struct received h;
    h = (struct received){.name = "d"};
    receive_hex(&h, "spBv1.0/g/NBIRTH/n", birth);
    for (unsigned seq = 1; seq < 600; seq++) {
        char hex[8];
        (void)snprintf(hex, sizeof hex, seq % 256 < 128 ? "18%02x" : "18%02x01",
                       (seq % 256 & 127) | (seq & 128));
        if (seq < between[0] || seq > between[1]) {
            receive_hex(&h, "spBv1.0/g/NDATA/n", leaves_out && seq % 256 == 0 ? "0801" : hex);
        }
    }
    CHECK_TEXT("missing", h.text, reported);
}

static void test_round(void)
{
    static const unsigned none[] = {600, 600}, before[] = {255, 255}, zero[] = {256, 256},
                          around[] = {510, 513};
    static const char one[] = "{\"event\": \"missing\", \"n\": 1, \"rebirth\": true}\n";
    static const char four[] = "{\"event\": \"missing\", \"n\": 4, \"rebirth\": true}\n";
    count_round(BORN_AS("00"), false, none, "");
    count_round(BORN_AS("00"), true, none, "");
    count_round("120b0a05626453657120085807", true, none, "");
    count_round(BORN_AS("00"), true, before, one);
    count_round(BORN_AS("00"), true, zero, one);
    count_round(BORN_AS("00"), true, around, four);

    static struct received h = {.name = "d"};
    receive_hex(&h, "spBv1.0/g/NBIRTH/n", "0801");
    receive_hex(&h, "spBv1.0/g/NDATA/n", "0801");
    receive_hex(&h, "spBv1.0/g/NDATA/n", "0801");
    CHECK_TEXT("a node that never counts", h.text, "");
}

/* Alias 0 is left out by encoders of proto3: it is the only metric without one, if there is
 * one. */
static void test_alias_0(void)
{
    static const struct {
        const char *row, *birth, *data, *values; /* NULL: unknown */
    } rows[] = {
        {"left out", "12070a01612003500512090a01621001200350061801", "120250071802",
         "{\"a\": 7}"},
        {"given in the birth", "12090a016110002003500512090a01621001200350061801",
         "120250071802", "{\"a\": 7}"},
        {"given in data", "12070a01612003500512090a01621001200350061801", "1204100050071802",
         NULL},
        {"two without", "12070a01612003500512070a0162200350061801", "120250071802", NULL},
        {"all have one", "12090a016110022003500512090a01621001200350061801", "120250071802",
         NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct received h;
        char want[128];
        h = (struct received){.name = "d"};
        receive_hex(&h, "spBv1.0/g/NBIRTH/n", BORN_AS("00"));
        receive_hex(&h, "spBv1.0/g/DBIRTH/n/d", rows[i].birth);
        h.text[0] = '\0';
        receive_hex(&h, "spBv1.0/g/DDATA/n/d", rows[i].data);
        (void)snprintf(want, sizeof want,
                       rows[i].values
                           ? "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, "
                             "\"values\": %s}\n"
                           : "{\"event\": \"malformed\"%s",
                       rows[i].values ? rows[i].values : "");
        CHECK(rows[i].row, strncmp(h.text, want, strlen(want)) == 0);
    }
}

/* The same number of each type, with and without its sign extended. */
static void test_whole_numbers(void)
{
    static const struct {
        unsigned type;
        const char *value; /* field 10 (int) or 11 (long) */
        const char *want;
    } rows[] = {
        {1, "50fd01", "-3"},
        {1, "50fdffffff0f", "-3"},
        {1, "507f", "127"},
        {2, "50d4fd03", "-300"},
        {2, "50d4fdffff0f", "-300"},
        {2, "58d4fdffffffffffffff01", "-300"},
        {2, "50ffff01", "32767"},
        {2, "50808002", "-32768"},
        {3, "50d4fdffff0f", "-300"},
        {3, "58d4fdffff0f", "-300"},
        {3, "50ffffffff07", "2147483647"},
        {4, "58d4fdffffffffffffff01", "-300"},
        {4, "58ffffffffffffffff7f", "9223372036854775807"},
        {4, "5880808080808080808001", "-9223372036854775808"},
        {5, "50ff01", "255"},
        {6, "50d4fd03", "65236"},
        {7, "50d4fdffffffffffffff01", "4294966996"},
        {8, "58d4fdffffffffffffff01", "1.84467440737096e+19"},
        {13, "58d4fdffff0f", "4294966996"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct received h;
        char hex[64], want[128];
        h = (struct received){.name = "d", .node = {.born = true}};
        (void)snprintf(hex, sizeof hex, "12%02zx0a016920%02x%s", 5 + strlen(rows[i].value) / 2,
                       rows[i].type, rows[i].value);
        (void)snprintf(want, sizeof want,
                       "{\"event\": \"values\", \"device\": \"d\", \"t\": -0.001, "
                       "\"values\": {\"i\": %s}}\n",
                       rows[i].want);
        receive_hex(&h, "spBv1.0/g/DCMD/n/d", hex);
        CHECK_TEXT(rows[i].value, h.text, want);
    }
}

/* A device's held values: data by exception, and more metrics than there is room for. */
static void test_held(void)
{
    static struct received h = {.name = "d"};
    receive_hex(&h, "spBv1.0/g/NBIRTH/n", BORN_AS("00"));
    receive_hex(&h, "spBv1.0/g/DBIRTH/n/d", DBIRTH_AB);
    receive_hex(&h, "spBv1.0/g/DDATA/n/d",
                "120410025007"
                "1802");
    receive_hex(&h, "spBv1.0/g/DCMD/n/d", "120410025009");
    CHECK_NEAR("a", sparkplug_held(&h.device[0], (struct sparkplug_text){"a", 1}).real, 2.0,
               0.0, 0.0);
    CHECK_INT("b", sparkplug_held(&h.device[0], (struct sparkplug_text){"b", 1}).whole, 7);
    CHECK_INT("none", sparkplug_held(&h.device[0], (struct sparkplug_text){"ab", 2}).kind,
              SPARKPLUG_NONE);
    receive_hex(&h, "spBv1.0/g/DDATA/n/d", "1204100238011803");
    CHECK_INT("null", sparkplug_held(&h.device[0], (struct sparkplug_text){"b", 1}).kind,
              SPARKPLUG_NULL);

    static char payload[20000];
    size_t used = 0;
    for (unsigned k = 0; k < 300; k++) {
        const unsigned char metric[] = {0x12,
                                        12,
                                        0x0a,
                                        4,
                                        'm',
                                        (unsigned char)('0' + k / 100),
                                        (unsigned char)('0' + k / 10 % 10),
                                        (unsigned char)('0' + k % 10),
                                        0x10,
                                        (unsigned char)((k & 127) | 128),
                                        (unsigned char)(k >> 7),
                                        0x20,
                                        3,
                                        0};
        memcpy(payload + used, metric, 13);
        payload[used + 1] = 11;
        used += 13;
    }
    memcpy(payload + used, "\x18\x04", 2);
    h.text[0] = '\0';
    decode_payload(&h, "spBv1.0/g/DBIRTH/n/d", payload, used + 2);
    CHECK("told", strstr(h.text, "{\"event\": \"too many\", \"n\": 44}") != NULL);
    CHECK_INT("kept", h.device[0].count, SPARKPLUG_METRICS_MAX);
    h.text[0] = '\0';
    receive_hex(&h, "spBv1.0/g/DDATA/n/d", "120510ab0250091805"); /* alias 299 */
    CHECK_TEXT("not reported again and again", h.text, "");
}

static void test_written(void)
{
    static struct received h = {.name = "d"};
    char out[256];
    struct sparkplug_writer w;
    const struct sparkplug_value truth = {.kind = SPARKPLUG_TRUTH, .whole = 1};
    const struct sparkplug_value real = {.kind = SPARKPLUG_REAL, .real = -0.25};
    const struct sparkplug_value whole = {.kind = SPARKPLUG_WHOLE, .whole = -3};
    const struct sparkplug_value text = {.kind = SPARKPLUG_TEXT, .text = {"go", 2}};
    sparkplug_begin(&w, out, sizeof out, 1795149880123456);
    sparkplug_append(&w, "Node Control/Rebirth", &truth);
    sparkplug_append(&w, "v", &real);
    sparkplug_append(&w, "n", &whole);
    sparkplug_append(&w, "op", &text);
    CHECK("room", !w.failed);
    decode_payload(&h, "spBv1.0/g/DCMD/n/d", out, w.used);
    CHECK_TEXT("read back", h.text,
               "{\"event\": \"values\", \"device\": \"d\", \"t\": 1795149880.123, \"values\": "
               "{\"Node Control/Rebirth\": "
               "true, \"v\": -0.25, \"n\": -3, \"op\": \"go\"}}\n");
    for (size_t room = 0; room < w.used; room++) {
        struct sparkplug_writer less;
        sparkplug_begin(&less, out, room, 1795149880123456);
        sparkplug_append(&less, "Node Control/Rebirth", &truth);
        sparkplug_append(&less, "v", &real);
        sparkplug_append(&less, "n", &whole);
        sparkplug_append(&less, "op", &text);
        CHECK("lack of room is reported", less.failed && less.used <= room);
    }
}

/* ---- the codec of a pair ---- */

#define ROW(kind)                                                                              \
    "{topic: \"spBv1.0/g/" kind "/n/{side}\", sides: {a: real, b: virtual}, format: "          \
    "sparkplug, "
static const char lab_text[] =
    "pairs:\n  r1:\n    codec: sparkplug\n    real: g/n/a\n    virtual: g/n/b\n    mapping:\n  "
    "    mappings:\n"
    "        - " ROW(
        "DDATA") "event: telemetry, fields: {t: {stamp: p/x}, pose.0: {metric: p/x, held: "
                 "true}, "
                 "pose.1: {metric: \"p~y\", held: true, unit: mm}}}\n"
                 "        - " ROW(
                     "DDATA") "event: reply, fields: {id: {metric: id}, status: {metric: st, "
                              "held: true, map: {COMPLETE: "
                              "done}}, values.x: {metric: p/x, optional: true}, t: {path: "
                              "/timestamp, unit: ms}}}\n"
                              "        - {topic: spBv1.0/g/DCMD/n/a, event: command, format: "
                              "sparkplug, fields: {op: go, id: {metric: id}}}\n"
                              "        - {topic: spBv1.0/g/DCMD/n/b, event: command, format: "
                              "sparkplug, fields: {op: go, id: {metric: id}}}\n"
                              "      send:\n"
                              "        - {event: command, topic: \"spBv1.0/g/TO/n/{side}\", "
                              "json: {go/m: \"{displacement_m}\", id: \"{id}\", on: "
                              "true}}\n";

struct sink {
    char text[4096];
    bool says_null;
};

static void add_to(struct sink *sink, const char *format, ...) PRINTF_LIKE(2, 3);
static void add_to(struct sink *sink, const char *format, ...)
{
    const size_t used = strlen(sink->text);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(sink->text + used, sizeof sink->text - used, format, args);
    va_end(args);
}

static void print_event(void *context, const struct event *e)
{
    struct sink *sink = context;
    add_to(sink, "%s %s", event_kind_name(e->kind),
           e->side < SIDE_COUNT ? side_name(e->side) : "-");
    if (e->kind == EVENT_TELEMETRY) {
        add_to(sink, " %lld %g %g", (long long)e->telemetry.source_us, e->telemetry.pose[0],
               e->telemetry.pose[1]);
    } else if (e->kind == EVENT_REPLY) {
        add_to(sink, " %s %s %zu", e->reply.id, reply_status_name(e->reply.status),
               e->reply.value_count);
    } else if (e->kind == EVENT_COMMAND) {
        add_to(sink, " %s", e->command.id);
    } else if (e->kind == EVENT_CONNECTION) {
        add_to(sink, " %s", e->connection.online ? "online" : e->connection.reason);
    } else if (e->kind == EVENT_NOTE) {
        add_to(sink, " %s %lld", note_kind_name(e->note.kind), (long long)e->note.count);
    } else if (e->kind == EVENT_MALFORMED) {
        add_to(sink, " %s: %s", e->malformed.what, fault_name(e->malformed.fault));
        sink->says_null = strstr(e->malformed.detail, "null") != NULL;
    }
    add_to(sink, "\n");
}

static void record_rebirth(void *context, const char *pair, const char *topic,
                           const char *payload, size_t bytes)
{
    static const char asked[] = "Node Control/Rebirth";
    CHECK("pair", strcmp(pair, "r1") == 0 && bytes > sizeof asked);
    bool found = false;
    for (size_t i = 0; i + sizeof asked - 1 <= bytes; i++) {
        found = found || memcmp(payload + i, asked, sizeof asked - 1) == 0;
    }
    add_to(context, "sent %s %d\n", topic, found);
}

static void read_lab(const char *text, struct lab_file *lab, struct err_list *errors,
                     enum status want)
{
    *errors = (struct err_list){.count = 0};
    CHECK_INT(text, lab_file_parse(text, strlen(text), "lab", lab, errors), want);
}

static struct sparkplug_value one_text(const char *text)
{
    return (struct sparkplug_value){.kind = SPARKPLUG_TEXT, .text = {text, strlen(text)}};
}

/* A payload of a few metrics by name: "p/x" and "p~y" numbers, others texts. */
static size_t write_metrics(char out[512], int64_t t_us, const char *const *names,
                            const char *const *values)
{
    struct sparkplug_writer w;
    sparkplug_begin(&w, out, 500, t_us);
    for (size_t k = 0; names[k]; k++) {
        const struct sparkplug_value number = {.kind = SPARKPLUG_REAL, .real = atof(values[k])};
        const struct sparkplug_value text = one_text(values[k]);
        sparkplug_append(&w, names[k], names[k][0] == 'p' ? &number : &text);
    }
    return w.used;
}

static void test_codec(void)
{
    static const struct {
        const char *topic;
        int64_t t_s;
        const char *names[5], *values[5];
        const char *reported;
    } rows[] = {
        {"DDATA/n/a", 1, {"p/x"}, {"1"}, "note real rebirth 0\nsent spBv1.0/g/NCMD/n 1\n"},
        {"DDATA/n/a", 2, {"p/x"}, {"1"}, ""},
        {"DDATA/n/c", 7, {NULL}, {NULL}, "note real rebirth 0\nsent spBv1.0/g/NCMD/n 1\n"},
        {"NBIRTH/n", 8, {NULL}, {NULL}, ""},
        {"DBIRTH/n/a",
         8,
         {"p/x", "p~y", "st", "id"},
         {"1", "2000", "COMPLETE", "m0"},
         "connection real online\n"},
        {"DBIRTH/n/b",
         8,
         {"p/x", "p~y", "st"},
         {"3", "4000", "LOST"},
         "connection virtual online\n"},
        {"DDATA/n/a", 9, {"p~y"}, {"2500"}, "telemetry real 9000000 1 2.5\n"},
        {"DDATA/n/a", 9, {"id"}, {"m1"}, "reply real m1 done 0\n"},
        {"DDATA/n/a",
         9,
         {"id", "p/x"},
         {"m2", "1.5"},
         "telemetry real 9000000 1.5 2.5\nreply real m2 done 1\n"},
        {"DDATA/n/b", 9, {"id"}, {"m1"}, "malformed virtual reply: unexpected_value\n"},
        {"DDATA/n/b", 9, {"st"}, {"COMPLETE"}, ""},
        {"DCMD/n/b", 9, {"id"}, {"m3"}, "command virtual m3\n"},
        {"DCMD/n/a", 9, {"id"}, {"m3"}, "command real m3\n"},
        {"NDATA/n", 9, {"p/x"}, {"1"}, ""},
        {"DDEATH/n/b", 10, {NULL}, {NULL}, "connection virtual DDEATH\n"},
    };
    static struct lab_file lab;
    static char room[MESSAGE_PAYLOAD_MAX];
    struct err_list errors;
    struct sink reported = {.text = ""};
    read_lab(lab_text, &lab, &errors, STATUS_OK);
    CHECK_TEXT("no fault", errors.count > 0 ? errors.items[0].text : "", "");
    void *state = calloc(1, codec_sparkplug.state_bytes);
    CU_ASSERT_FATAL(state != NULL && errors.count == 0);
    const struct codec_pair pair = {.codec = &codec_sparkplug,
                                    .prefix = "tandem/v1",
                                    .id = "r1",
                                    .options = &lab.pairs[0].speaks,
                                    .state = state};
    const struct codec_sink sink = {print_event, &reported, record_rebirth,
                                    &reported,   room,      sizeof room};
    for (size_t i = 0; i < COUNT(rows); i++) {
        char payload[512];
        struct message m = {.t_us = rows[i].t_s * 1000000, .payload = payload};
        (void)snprintf(m.topic, sizeof m.topic, "spBv1.0/g/%s", rows[i].topic);
        m.stored_bytes = m.payload_bytes =
            write_metrics(payload, m.t_us, rows[i].names, rows[i].values);
        reported.text[0] = '\0';
        CHECK(rows[i].topic, codec_sparkplug.receive(&pair, &m, &sink));
        CHECK_TEXT(rows[i].topic, reported.text, rows[i].reported);
        m.retained = true;
        reported.text[0] = '\0';
        CHECK("retained",
              codec_sparkplug.receive(&pair, &m, &sink) && reported.text[0] == '\0');
    }
    struct message twice = {.topic = "spBv1.0/g/NDATA/n",
                            .payload = "\x18\x01",
                            .stored_bytes = 2,
                            .payload_bytes = 2,
                            .t_us = 20000000};
    reported.text[0] = '\0';
    CHECK("seq 1", codec_sparkplug.receive(&pair, &twice, &sink));
    twice.dup = true;
    CHECK("delivered twice", codec_sparkplug.receive(&pair, &twice, &sink));
    CHECK_TEXT("nothing is missing", reported.text, "");
    twice.dup = false;
    struct message null = {.topic = "spBv1.0/g/DDATA/n/a",
                           .payload = "\x08\x01\x12\x07\x0a\x03p~y\x38\x01\x18\x02",
                           .stored_bytes = 13,
                           .payload_bytes = 13,
                           .t_us = 20000000};
    CHECK("a null", codec_sparkplug.receive(&pair, &null, &sink));
    CHECK_TEXT("a held null", reported.text, "malformed real telemetry: unexpected_value\n");
    CHECK("is called null", reported.says_null);
    reported.text[0] = '\0';
    CHECK("254 later", codec_sparkplug.receive(&pair, &twice, &sink));
    CHECK("all between are missing", strstr(reported.text, "note real missing 254\n") != NULL);
    struct message other = {.topic = "spBv1.0/g/NBIRTH/another", .payload = "", .t_us = 1};
    CHECK("another node", !codec_sparkplug.receive(&pair, &other, &sink));

    static const char go[] = "{\"id\":\"m9\",\"op\":\"go\",\"displacement_m\":0.25}";
    const struct codec_out out = {.kind = CODEC_COMMAND,
                                  .pair = "r1",
                                  .side = SIDE_VIRTUAL,
                                  .payload = go,
                                  .bytes = sizeof go - 1,
                                  .t_us = 1795149880123456,
                                  .to = &pair};
    struct codec_message sent;
    static struct received h = {.name = "b"};
    CHECK("encoded", codec_encode(&codec_sparkplug, &out, &sent) && sent.whole);
    CHECK_TEXT("to", sent.topic, "spBv1.0/g/TO/n/virtual");
    decode_payload(&h, "spBv1.0/g/DCMD/n/b", sent.payload, sent.bytes);
    CHECK_TEXT("metrics", h.text,
               "{\"event\": \"values\", \"device\": \"b\", \"t\": 1795149880.123, \"values\": "
               "{\"go/m\": 0.25, \"id\": "
               "\"m9\", \"on\": true}}\n");
    free(state);
    lab_file_free(&lab);
}

static void test_refused(void)
{
    static const struct {
        const char *text, *code;
    } rows[] = {
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/+/a, virtual: g/n/b}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a/x, virtual: g/n/b}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/n//, virtual: g/n/b}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g/n/a}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, virtual: g/n/a}}", "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g/n/b, mapping: {mappings: "
         "[{topic: t, side: real, event: "
         "connection, format: text, fields: {state: {at: 1}}}]}}}",
         "inconsistent"},
        {"pairs: {r1: {codec: mapping, mapping: {mappings: [{topic: t, side: real, event: "
         "telemetry, format: sparkplug, "
         "fields: {t: {stamp: x}}}]}}}",
         "inconsistent"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g/n/b, mapping: {mappings: "
         "[{topic: t, side: real, event: "
         "telemetry, format: sparkplug, fields: {t: {stamp: x, held: true}}}]}}}",
         "not_applicable"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g/n/b, mapping: {mappings: "
         "[{topic: t, side: real, event: "
         "telemetry, format: sparkplug, fields: {t: {at: 1}}}]}}}",
         "not_applicable"},
        {"pairs: {r1: {codec: sparkplug, real: g/n/a, virtual: g/n/b, mapping: {mappings: "
         "[{topic: t, side: real, event: "
         "telemetry, format: sparkplug, fields: {pose.0: {metric: x, held: often}}}]}}}",
         "boolean_expected"},
        {"pairs: {r1: {codec: mapping, mapping: {mappings: [{topic: t, side: real, event: "
         "telemetry, fields: {t: {metric: "
         "x}}}]}}}",
         "unknown_key"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct lab_file lab;
        struct err_list errors;
        bool found = false;
        read_lab(rows[i].text, &lab, &errors, STATUS_E_PARSE);
        for (size_t k = 0; k < errors.count; k++) {
            found = found || strcmp(fault_name(errors.items[k].fault), rows[i].code) == 0;
        }
        CHECK(rows[i].text, found);
        if (!found && errors.count > 0) {
            (void)fprintf(stderr, "%s\n", errors.items[0].text);
        }
        lab_file_free(&lab);
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("sparkplug", NULL, NULL);
    CU_add_test(suite, "golden", test_golden);
    CU_add_test(suite, "damaged", test_damaged);
    CU_add_test(suite, "topics", test_topics);
    CU_add_test(suite, "births, data, deaths", test_life);
    CU_add_test(suite, "the count comes round", test_round);
    CU_add_test(suite, "alias 0", test_alias_0);
    CU_add_test(suite, "whole numbers of each type", test_whole_numbers);
    CU_add_test(suite, "held values", test_held);
    CU_add_test(suite, "what goes out", test_written);
    CU_add_test(suite, "the codec of a pair", test_codec);
    CU_add_test(suite, "what a lab file refuses", test_refused);
    return check_run();
}
