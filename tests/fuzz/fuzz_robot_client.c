/* The client of examples/robot/c: any bytes as a command or a probe. It stays within them, says
 * nothing that Tandem would not read as what it is meant for, and takes for a command what
 * Tandem takes for one, as the same.
 *
 * Known differences: the client resolves no escapes, and reads numbers to a millionth, below
 * 2147. */
#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "examples/robot/c/tandem_robot.h"
#include "logger/message/codec_native.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
    struct event received, published;
    size_t replies, begun;
    struct tandem_command command;
} fuzz;

static void fuzz_store(void *context, const struct event *e)
{
    *(struct event *)context = *e;
}

static void fuzz_decode(const char *topic, const char *payload, size_t bytes, struct event *out)
{
    struct message m = {.payload = payload, .stored_bytes = bytes, .payload_bytes = bytes};
    (void)snprintf(m.topic, sizeof m.topic, "t/p/%s", topic);
    out->kind = EVENT_KIND_COUNT;
    (void)codec_native.decode("t", &m, fuzz_store, out);
}

static bool fuzz_send(void *context, const char *word, const char *payload, uint16_t bytes,
                      uint8_t qos, bool retained)
{
    char topic[32];
    (void)context, (void)qos, (void)retained;
    assert(strlen(payload) <= bytes && bytes < TANDEM_ROOM);
    (void)snprintf(topic, sizeof topic, "real/%s", word);
    fuzz_decode(topic, payload, bytes, &fuzz.published);
    fuzz.replies++;
    return true;
}

static struct tandem_time fuzz_now(void *context)
{
    (void)context;
    return tandem_ms(UINT32_MAX);
}

static bool fuzz_begin(void *context, const struct tandem_command *command)
{
    (void)context;
    fuzz.begun++;
    fuzz.command = *command;
    return true;
}

static void fuzz_stop(void *context)
{
    (void)context;
}

static const struct tandem_body body = {
    .send = fuzz_send, .now = fuzz_now, .begin = fuzz_begin, .stop = fuzz_stop, .boot = ""};

static bool fuzz_is_alike(double ours, double theirs)
{
    return fabs(ours - theirs) <= 2e-6 + 1e-6 * fabs(theirs);
}

static void fuzz_command(const char *payload, size_t bytes)
{
    struct tandem_robot robot = {.has = &body};
    memset(&fuzz, 0, sizeof fuzz);
    fuzz_decode("command", payload, bytes, &fuzz.received);
    tandem_receive(&robot, "command", payload, (uint16_t)bytes, tandem_ms(0));
    const struct event_command *c = &fuzz.received.command;
    assert(fuzz.replies + fuzz.begun + robot.dropped == 1);
    if (fuzz.received.kind != EVENT_COMMAND || memchr(payload, '\\', bytes) ||
        !(fabs(c->rotation_rad) < 2147.0) || !(fabs(c->displacement_m) < 2147.0)) {
        return;
    }
    assert(robot.dropped == 0);
    if (fuzz.begun) {
        assert(strcmp(fuzz.command.op, c->op) == 0);
        if (strcmp(c->op, "go") == 0) {
            assert(fuzz_is_alike((double)fuzz.command.rotation_rad, c->rotation_rad));
            assert(fuzz_is_alike((double)fuzz.command.displacement_m, c->displacement_m));
        }
        tandem_end(&robot, "done");
    }
    assert(fuzz.replies == 1 && fuzz.published.kind == EVENT_REPLY &&
           strcmp(fuzz.published.reply.id, c->id) == 0);
}

static void fuzz_probe(const char *payload, size_t bytes)
{
    struct tandem_robot robot = {.has = &body};
    memset(&fuzz, 0, sizeof fuzz);
    tandem_receive(&robot, "probe", payload, (uint16_t)bytes, tandem_ms(0));
    assert(fuzz.replies + robot.dropped == 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *exact = malloc(size > 0 ? size : 1);
    if (exact && size <= UINT16_MAX) {
        memcpy(exact, data, size);
        fuzz_command(exact, size);
        fuzz_probe(exact, size);
    }
    free(exact);
    return 0;
}
