/* Any messages of the vehicles of a pair, one after the other, through the codec that keeps a
 * state, into a lab: emitted records keep to their limits, sent messages are JSON, and a
 * replay, which sends nothing, emits the same. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers/hash.h"
#include "config/labfile/lab_file.h"
#include "logger/codec/vda5050_parts.h"
#include "logger/message/json_scan.h"
#include "twin/lab.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { LABS = 2 };

static struct lab *fuzz_lab[LABS];
static struct codec_set fuzz_set[LABS];
static struct pair_params fuzz_pairs[3];
static char fuzz_room[MESSAGE_PAYLOAD_MAX];

static void fuzz_json(const char *text, size_t bytes)
{
    struct json_scan s;
    json_scan_start(&s, text, bytes, 32);
    assert(json_scan_skip(&s, NULL, NULL) && json_scan_finish(&s));
}

/* Hash of everything that a lab reported or sent, so far. */
static uint64_t fuzz_hashes[LABS];
static size_t fuzz_at; /* the lab at work */

static void fuzz_hash(const void *bytes, size_t count)
{
    fuzz_hashes[fuzz_at] = hash_bytes(fuzz_hashes[fuzz_at], bytes, count);
}

static void fuzz_effect(void *context, const struct effect *effect)
{
    (void)context;
    fuzz_hash(&effect->kind, sizeof effect->kind);
    fuzz_hash(&effect->t_us, sizeof effect->t_us);
    if ((effect->kind == EFFECT_COMMAND || effect->kind == EFFECT_RESPONSE) &&
        effect->message) {
        fuzz_json(effect->message->payload, effect->message->bytes);
        fuzz_hash(effect->message->payload, effect->message->bytes);
    }
}

static void fuzz_event(void *context, const struct event *e)
{
    const struct effects fx = {.emit = fuzz_effect};
    assert(e->kind < EVENT_KIND_COUNT && e->side <= SIDE_COUNT);
    fuzz_hash(&e->kind, sizeof e->kind);
    fuzz_hash(&e->side, sizeof e->side);
    if (e->kind == EVENT_REPLY) {
        assert(memchr(e->reply.id, '\0', EVENT_ID_MAX) &&
               memchr(e->reply.detail, '\0', EVENT_DETAIL_MAX));
        assert(e->reply.status < REPLY_STATUS_COUNT);
        fuzz_hash(e->reply.id, strlen(e->reply.id));
        fuzz_hash(&e->reply.source_start_us, sizeof e->reply.source_start_us);
    } else if (e->kind == EVENT_COMMAND) {
        assert(memchr(e->command.id, '\0', EVENT_ID_MAX) &&
               memchr(e->command.op, '\0', EVENT_OP_MAX));
    } else if (e->kind == EVENT_FAULT) {
        assert(e->fault.kind < FAULT_KIND_COUNT &&
               memchr(e->fault.about, '\0', sizeof e->fault.about));
    } else if (e->kind == EVENT_MALFORMED) {
        assert(e->malformed.detail[0] &&
               memchr(e->malformed.detail, '\0', sizeof e->malformed.detail));
    }
    lab_step(context, e, &fx);
}

static void fuzz_send(void *context, const char *pair, const char *topic, const char *payload,
                      size_t bytes)
{
    (void)context;
    assert(pair && (strstr(topic, "/m/b/") || strstr(topic, "/m/a/responses")));
    fuzz_json(payload, bytes);
}

static void fuzz_begin(void)
{
    static void *memory[LABS];
    static struct lab_file file;
    static const char yaml[] =
        "pairs: {p: {codec: vda5050, real: m/c, virtual: m/d}, l: {codec: vda5050, real: m/a, "
        "virtual: m/b, mode: link}, k: {mode: link}}\n"
        "teams: {t: {resources: {A: {}, B: {}, T: {kind: tool, lease_s: 0.01, on_lost: "
        "release}}, sequences: {s: [Wait]}, "
        "robots: {L: {pair: l}, N: {pair: k}}}}\n";
    struct err_list errors = {0};
    if (!file.pairs) {
        const enum status status = lab_file_parse(yaml, sizeof yaml - 1, "lab", &file, &errors);
        assert(status == STATUS_OK);
        (void)status;
    }
    const struct lab_params parsed = lab_file_params(&file);
    for (size_t i = 0; i < COUNT(fuzz_pairs); i++) {
        fuzz_pairs[i] = parsed.pairs[i];
        struct codec_options *o = &fuzz_pairs[i].speaks;
        if (i == 2) {
            continue;
        }
        (void)snprintf(o->address[SIDE_REAL], CODEC_ADDRESS_MAX, "m/a");
        (void)snprintf(o->address[SIDE_VIRTUAL], CODEC_ADDRESS_MAX, "m/b");
        struct vda_options *own = (void *)&o->own[codec_own_at(&codec_vda5050)];
        (void)snprintf(own->interface, sizeof own->interface, "u");
        own->mirror = true;
    }
    struct lab_params p = parsed;
    p.pairs = fuzz_pairs;
    p.prefix = "t";
    p.remember_max = DELIVERY_MIN; /* less to clear for each input */
    for (size_t i = 0; i < LABS; i++) {
        memory[i] = memory[i] ? memory[i] : malloc(lab_bytes(&p));
        assert(memory[i]);
        fuzz_lab[i] = lab_init(memory[i], &p);
        lab_codecs(fuzz_lab[i], &fuzz_set[i]);
        fuzz_hashes[i] = HASH_START;
    }
    /* One sends, the other is a replay. */
    fuzz_set[0].sink = (struct codec_sink){
        .send = fuzz_send, .room = fuzz_room, .room_bytes = sizeof fuzz_room};
}

/* A line: the vehicle, the kind by a letter, the payload. */
static void fuzz_line(const char *line, size_t bytes, int64_t t_us)
{
    static const char *const kinds[] = {"state", "visualization",  "connection",
                                        "order", "instantActions", "factsheet"};
    static const char letters[] = "svcoif";
    const char *letter = bytes >= 2 ? strchr(letters, line[1]) : NULL;
    struct message m = {.t_us = t_us,
                        .payload = line + 2,
                        .stored_bytes = bytes - 2,
                        .payload_bytes = bytes - 2};
    if (!letter || !*letter || bytes - 2 > MESSAGE_PAYLOAD_MAX) {
        return;
    }
    (void)snprintf(m.topic, sizeof m.topic,
                   line[0] == 'C'   ? "t/l/command"
                   : line[0] == 'T' ? "t/t/request"
                                    : "u/v2/m/%c/%s",
                   line[0] == 'a' ? 'a' : 'b', kinds[letter - letters]);
    m.retained = line[0] == 'B';
    for (size_t i = 0; i < LABS; i++) {
        fuzz_at = i;
        (void)codec_decode(&fuzz_set[i], "t", &m, fuzz_event, fuzz_lab[i]);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *at = (const char *)data;
    const char *const end = at + size;
    int64_t t_us = 1000000;
    fuzz_begin();
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        stop = stop ? stop : end;
        fuzz_line(at, (size_t)(stop - at), t_us += 1000);
        at = stop + (stop < end);
    }
    assert(fuzz_hashes[0] == fuzz_hashes[1]);
    return 0;
}
