/* Any lab file with a table of a mapping, any message to its pair, any native payload out to
 * it: no crash, and the results keep their limits. The input is LAB \0 TOPIC \0 PAYLOAD;
 * without LAB a table that has every kind of row is used. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const char everything[] =
    "pairs:\n"
    "  r1:\n"
    "    codec: mapping\n"
    "    mapping:\n"
    "      mappings:\n"
    "        - {topic: \"j/{pair}/{side}/{who}\", sides: {bt: real}, event: reply, fields: "
    "{id: {topic: who}, status: {path: /s,\n"
    "           map: {OK: done, \"true\": error, \"null\": data}}, t: {path: /h/t/sec, plus: "
    "{path: /h/t/nsec, unit: ns,\n"
    "           optional: true}}, t_start: {path: /b, unit: iso8601, optional: true}, detail: "
    "{path: /d, optional: true},\n"
    "           values.a: {path: /v/0, optional: true}, values.b: {path: /v/1, unit: mm, "
    "optional: true},\n"
    "           values.all: {path: /v, map: {\"[]\": none}, optional: true}}}\n"
    "        - {topic: \"t/+/{pair}/#\", side: virtual, event: telemetry, format: text, only: "
    "\"T|[0-9]\", fields: {seq: {at: 2},\n"
    "           t: {at: 3, unit: ms, optional: true}, pose.0: {at: 4, optional: true}, pose.1: "
    "{at: 5, scale: -1e9, optional: true},\n"
    "           nu.0: {value: 3}, sim_t: {at: 6, offset: 1e10, optional: true}}}\n"
    "        - {topic: \"t/+/{pair}/#\", event: command, format: csv, separator: \";\", "
    "fields: {op: {at: 1}, id: {at: 2},\n"
    "           rotation_rad: {at: 3, unit: turn, optional: true}, t: {at: 4, unit: iso8601, "
    "optional: true}}}\n"
    "        - {topic: \"c/{pair}\", side: real, event: connection, format: text, columns: 2, "
    "fields: {state: {at: 1}, boot: {at: 2}}}\n"
    "        - {topic: \"s/{pair}\", side: real, event: telemetry, decimal: comma, fields: {t: "
    "{path: /t, unit: iso8601, zone: +02:00, optional: true}, pose.0: {path: "
    "\"v[id=a].v\"}, pose.1: {path: \"/v/[n=1]/v\", optional: true}}}\n"
    "        - {topic: \"m/{pair}\", event: command, fields: {op: go, target_x_m: {path: /x}, "
    "target_y_m: {path: /y, optional: true}}}\n"
    "      send:\n"
    "        - {event: command, op: go, topic: \"o/{pair}/{side}/{id}\", text: \"1 "
    "{rotation_rad} {displacement_m} {/x/0}\",\n"
    "           fields: {rotation_rad: {unit: deg, scale: -1, digits: 3}, displacement_m: "
    "{unit: cm, offset: 1}}}\n"
    "        - {event: command, topic: \"o/{pair}/{side}\", json: {op: \"{op}\", list: "
    "[\"{id}\", \"a {id} b\", \"{/x}\", 1, true, null]},\n"
    "           fields: {op: {map: {\"4\": halt, \"x\\\"y\": look}}}}\n";

static struct lab_file own;

static bool is_utf8(const char *text)
{
    uint32_t code = 0;
    size_t n = 1;
    for (size_t at = 0, bytes = strlen(text); at < bytes && n > 0; at += n) {
        n = utf8_next(text + at, bytes - at, &code);
    }
    return n > 0;
}

static void check_text(const char *text, size_t size)
{
    assert(memchr(text, '\0', size));
    assert(is_utf8(text));
}

static void check_axes(const double *axes, size_t count)
{
    assert(count <= EVENT_AXES_MAX);
    for (size_t k = 0; k < count; k++) {
        assert(isfinite(axes[k]));
    }
}

static void check_event(void *context, const struct event *e)
{
    size_t *count = context;
    (*count)++;
    assert(strcmp(e->pair, "r1") == 0 || e->pair[0]);
    assert(e->kind == EVENT_COMMAND || e->kind == EVENT_MALFORMED || e->side < SIDE_COUNT);
    if (e->kind == EVENT_COMMAND) {
        check_text(e->command.id, sizeof e->command.id);
        check_text(e->command.op, sizeof e->command.op);
        assert(isfinite(e->command.rotation_rad) && isfinite(e->command.displacement_m));
    } else if (e->kind == EVENT_REPLY) {
        check_text(e->reply.id, sizeof e->reply.id);
        check_text(e->reply.detail, sizeof e->reply.detail);
        assert(e->reply.status < REPLY_STATUS_COUNT &&
               e->reply.value_count <= EVENT_VALUES_MAX);
        for (size_t k = 0; k < e->reply.value_count; k++) {
            check_text(e->reply.values[k].name, EVENT_VALUE_NAME_MAX);
            assert(e->reply.values[k].kind != VALUE_NUMBER ||
                   isfinite(e->reply.values[k].number));
        }
        if (e->reply.raw) { /* one object of JSON */
            struct json_scan s;
            json_scan_start(&s, e->reply.raw, e->reply.raw_bytes, 8);
            assert(json_scan_peek(&s) == JSON_KIND_OBJECT && json_scan_skip(&s, NULL, NULL) &&
                   json_scan_finish(&s));
        }
    } else if (e->kind == EVENT_TELEMETRY) {
        check_axes(e->telemetry.pose, e->telemetry.pose_count);
        check_axes(e->telemetry.nu, e->telemetry.nu_count);
        check_axes(e->telemetry.tau, e->telemetry.tau_count);
        assert(e->telemetry.seq >= -1);
    } else if (e->kind == EVENT_CONNECTION) {
        check_text(e->connection.boot, sizeof e->connection.boot);
    } else {
        assert(e->kind == EVENT_MALFORMED && e->malformed.detail[0]);
        check_text(e->malformed.detail, sizeof e->malformed.detail);
        check_text(e->malformed.id, sizeof e->malformed.id);
    }
}

static void send_out(const struct codec_pair *pair, const char *payload, size_t bytes)
{
    static const enum codec_kind kinds[] = {CODEC_COMMAND, CODEC_PARAMETERS, CODEC_POSE,
                                            CODEC_CONTROL, CODEC_PROBE};
    struct codec_message m;
    for (size_t k = 0; k < 2 * COUNT(kinds); k++) {
        const struct codec_out out = {.kind = kinds[k / 2],
                                      .pair = pair->id,
                                      .side = k % 2 ? SIDE_VIRTUAL : SIDE_REAL,
                                      .payload = payload,
                                      .bytes = bytes,
                                      .to = pair};
        if (codec_mapping.encode(&out, &m)) {
            assert(memchr(m.topic, '\0', sizeof m.topic) &&
                   (!m.whole || m.bytes < sizeof m.room));
        }
    }
}

static void decode_message(const struct lab_file *lab, const char *topic, const char *payload,
                           size_t bytes)
{
    /* The journal's reader refuses a topic that is not UTF-8. */
    for (size_t i = 0; is_utf8(topic) && i < lab->pair_count; i++) {
        struct message m = {
            .t_us = 1, .payload = payload, .stored_bytes = bytes, .payload_bytes = bytes};
        size_t count = 0;
        const struct pair_params *p = &lab->pairs[i];
        const struct codec_sink sink = {.emit = check_event, .context = &count};
        struct mapping_pose poses[SIDE_COUNT] = {{0}};
        const struct codec_pair pair = {.codec = &codec_mapping,
                                        .prefix = "tandem/v1",
                                        .id = p->id,
                                        .options = &p->speaks,
                                        .state = poses};
        struct codec_place place;
        (void)snprintf(m.topic, sizeof m.topic, "%s", topic);
        for (int reported = 0; reported < 2 && p->speaks.mapping; reported++) {
            struct codec_pair of = pair;
            of.repeated = reported;
            (void)codec_mapping.receive(&of, &m, &sink);
            assert(count <= (size_t)reported + 1);
        }
        (void)codec_mapping.streams(&p->speaks, m.topic);
        for (size_t k = 0; codec_mapping.place(&p->speaks, k, &place); k++) {
            assert(memchr(place.filter, '\0', sizeof place.filter));
        }
        send_out(&pair, payload, bytes);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err_list errors = {0};
    struct lab_file lab = {0};
    char *text = malloc(size + 1);
    if (!text) {
        return 0;
    }
    memcpy(text, data, size);
    text[size] = '\0';
    if (own.pair_count == 0) {
        assert(lab_file_parse(everything, sizeof everything - 1, "own", &own, &errors) ==
               STATUS_OK);
    }
    const size_t lab_bytes = strlen(text);
    const char *topic = lab_bytes < size ? text + lab_bytes + 1 : "";
    const size_t topic_bytes = strlen(topic);
    const char *payload =
        lab_bytes + topic_bytes + 2 <= size ? topic + topic_bytes + 1 : text + size;
    const size_t bytes = (size_t)(text + size - payload);
    char *copy = malloc(bytes + 1); /* a table that is read after another one is found */
    char *whole = realloc(copy, bytes > 0 ? bytes : 1);
    memcpy(whole, payload, bytes);
    if (lab_bytes == 0) {
        decode_message(&own, topic, whole, bytes);
    } else if (lab_file_parse(text, lab_bytes, "lab", &lab, &errors) == STATUS_OK) {
        decode_message(&lab, topic, whole, bytes);
        lab_file_free(&lab);
    }
    free(whole);
    free(text);
    return 0;
}
