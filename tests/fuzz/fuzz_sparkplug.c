/* Any messages of a Sparkplug node and two of its devices, one after the other: each is a byte
 * of its kind, one of its sender, two of its length, and its payload. Emitted texts point into
 * the message or the device, their count is right, and each is found again. */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/codec/sparkplug.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct reported {
    const struct sparkplug_place *places;
    unsigned order;
};

static void check_event(void *context, const struct sparkplug_event *e)
{
    struct reported *reported = context;
    assert((e->what == SPARKPLUG_MALFORMED) == (e->fault != NULL));
    assert((e->what == SPARKPLUG_VALUES) == (e->metrics != NULL));
    assert(e->place < 2 || e->place == SIZE_MAX);
    assert(reported->order <= 20);
    reported->order++;
    if (e->what != SPARKPLUG_VALUES) {
        return;
    }
    assert(e->metrics->count > 0 && e->metrics->count <= SPARKPLUG_METRICS_MAX);
    for (size_t k = 0; k < e->metrics->count; k++) {
        const struct sparkplug_metric *m = &e->metrics->metric[k];
        char sum = 0;
        for (size_t i = 0; i < m->name.bytes; i++) {
            sum = (char)(sum + m->name.at[i]);
        }
        for (size_t i = 0; m->value.kind == SPARKPLUG_TEXT && i < m->value.text.bytes; i++) {
            sum = (char)(sum + m->value.text.at[i]);
        }
        assert(sum == sum && sparkplug_find(e->metrics, m->name));
        (void)sparkplug_held(reported->places[e->place].device, m->name);
    }
}

static const char lab_text[] =
    "pairs:\n  r1:\n    codec: sparkplug\n    real: g/n/d\n    virtual: g/n\n    mapping:\n    "
    "  mappings:\n"
    "        - {topic: \"spBv1.0/g/DDATA/n/{x}\", side: real, event: telemetry, format: "
    "sparkplug, fields: {"
    "t: {stamp: Pose/x}, pose.0: {metric: Pose/x, held: true}, pose.1: {metric: Pose/y, held: "
    "true}}}\n"
    "        - {topic: \"spBv1.0/g/+/n/#\", side: virtual, event: reply, format: sparkplug, "
    "fields: {"
    "id: {metric: Reply/id}, status: {metric: Reply/status, map: {COMPLETE: done}}, values.x: "
    "{metric: Pose/x, "
    "optional: true}, t: {path: /timestamp, unit: ms, optional: true}}}\n"
    "        - {topic: \"spBv1.0/g/DCMD/n/d\", event: command, format: sparkplug, fields: {op: "
    "go, "
    "displacement_m: {metric: Pose/x}}}\n";

static void check_emitted(void *context, const struct event *event)
{
    (void)context;
    assert(strcmp(event->pair, "r1") == 0 && event->kind < EVENT_KIND_COUNT);
    assert(event->kind != EVENT_MALFORMED || event->malformed.detail[0]);
    assert(event->kind == EVENT_NOTE || event->side < SIDE_COUNT);
}

static void check_sent(void *context, const char *pair, const char *topic, const char *payload,
                       size_t bytes)
{
    (void)context;
    assert(strcmp(pair, "r1") == 0 && strcmp(topic, "spBv1.0/g/NCMD/n") == 0 && payload &&
           bytes > 0);
}

static void receive_all(const uint8_t *data, size_t size)
{
    static struct lab_file lab;
    static void *state;
    static char room[MESSAGE_PAYLOAD_MAX];
    const struct codec_sink sink = {
        .emit = check_emitted, .send = check_sent, .room = room, .room_bytes = sizeof room};
    if (!state) {
        struct err_list errors = {.count = 0};
        assert(lab_file_parse(lab_text, sizeof lab_text - 1, "lab", &lab, &errors) ==
               STATUS_OK);
        state = malloc(codec_sparkplug.state_bytes);
        assert(state);
    }
    memset(state, 0, codec_sparkplug.state_bytes);
    const struct codec_pair pair = {.codec = &codec_sparkplug,
                                    .prefix = "",
                                    .id = "r1",
                                    .options = &lab.pairs[0].speaks,
                                    .state = state};
    for (int64_t t_us = 1; size >= 4; t_us += 1000000) {
        static const char *const rest[] = {"/d", "", "/e"};
        struct message m = {.t_us = t_us};
        const size_t published = (size_t)data[2] << 8 | data[3];
        const size_t n = published < size - 4 ? published : size - 4;
        (void)snprintf(
            m.topic, sizeof m.topic, "spBv1.0/g/%s/n%s",
            sparkplug_kind_name((enum sparkplug_kind)(data[0] % SPARKPLUG_KIND_COUNT)),
            rest[data[1] % 3]);
        m.payload = (const char *)data + 4;
        m.stored_bytes = m.payload_bytes = n;
        (void)codec_sparkplug.receive(&pair, &m, &sink);
        data += 4 + n;
        size -= 4 + n;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    receive_all(data, size);
    static const struct sparkplug_text devices[] = {{"d", 1}, {"", 0}, {"e", 1}};
    static struct sparkplug_device device[2];
    struct sparkplug_node node = {.born = false};
    const struct sparkplug_place places[2] = {{devices[0], &device[0]},
                                              {devices[1], &device[1]}};
    memset(device, 0, sizeof device);
    while (size >= 4) {
        const struct sparkplug_topic topic = {
            .kind = (enum sparkplug_kind)(data[0] % SPARKPLUG_KIND_COUNT),
            .device = devices[data[1] % 3]};
        const size_t published = (size_t)data[2] << 8 | data[3];
        const size_t n = published < size - 4 ? published : size - 4;
        struct reported reported = {places, 0};
        sparkplug_decode(&node, places, 2, &topic, (const char *)data + 4, n, check_event,
                         &reported);
        for (size_t k = 0; k < 2; k++) {
            assert(device[k].count <= SPARKPLUG_METRICS_MAX &&
                   device[k].names_used <= SPARKPLUG_NAMES_MAX);
        }
        data += 4 + n;
        size -= 4 + n;
    }
    return 0;
}
