/* Any bytes as one journal line, and any bytes as a payload: an accepted message can be
 * written, its written form reads back as the same message, to the byte, and the codec accepts
 * it. */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/message/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char line_text[3][MESSAGE_LINE_MAX];
static char scratch[3][MESSAGE_PAYLOAD_MAX + 1];

static void fuzz_count(void *context, const struct event *event)
{
    size_t *count = context;
    assert(event->kind < EVENT_KIND_COUNT);
    (*count)++;
}

static void fuzz_decode(const struct message *m)
{
    size_t count = 0;
    const size_t published = codec_decode(NULL, "tandem/v1", m, fuzz_count, &count);
    assert(published == count);
}

static bool fuzz_is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* White space around JSON goes, and line breaks between its tokens become blanks; nothing else
 * changes. */
static void fuzz_same_payload(const struct message *m, const struct message *again)
{
    const char *at = m->payload;
    const char *const end = m->payload + m->stored_bytes;
    assert(again->stored_bytes <= m->stored_bytes);
    assert(again->payload_bytes - again->stored_bytes == m->payload_bytes - m->stored_bytes);
    if (again->stored_bytes < m->stored_bytes) {
        while (at < end && fuzz_is_space(*at)) {
            at++;
        }
    }
    for (size_t i = 0; i < again->stored_bytes; i++, at++) {
        assert(at < end);
        assert(again->payload[i] == *at ||
               (again->payload[i] == ' ' && (*at == '\n' || *at == '\r')));
    }
    for (; at < end; at++) {
        assert(fuzz_is_space(*at));
    }
}

/* Write it to out and read it again. */
static size_t fuzz_through(const struct message *m, char *out, char *text,
                           struct message *again)
{
    const size_t bytes = message_format(m, out, MESSAGE_LINE_MAX);
    assert(bytes > 1 && out[bytes - 1] == '\n' && !memchr(out, '\n', bytes - 1));
    const enum status status = message_parse(out, bytes, text, again, NULL);
    assert(status == STATUS_OK);
    assert(strcmp(again->topic, m->topic) == 0);
    assert(again->qos == m->qos && again->dup == m->dup && again->retained == m->retained);
    assert(again->packet_id == m->packet_id);
    fuzz_same_payload(m, again);
    return bytes;
}

/* A line of ours is written exactly as it was read. */
static void fuzz_round_trip(const struct message *m)
{
    struct message first;
    struct message second;
    (void)fuzz_through(m, line_text[0], scratch[1], &first);
    const size_t bytes = fuzz_through(&first, line_text[1], scratch[2], &second);
    assert(message_format(&second, line_text[2], sizeof line_text[2]) == bytes);
    assert(memcmp(line_text[1], line_text[2], bytes) == 0);
    fuzz_decode(&first);
}

static void fuzz_line(const char *text, size_t size)
{
    struct message m;
    struct err err = {0};
    const enum status status = message_parse(text, size, scratch[0], &m, &err);
    if (status != STATUS_OK) {
        assert(status == STATUS_E_EMPTY || err.text[0] != '\0');
        return;
    }
    fuzz_decode(&m);
    fuzz_round_trip(&m);
}

static void fuzz_payload(const char *text, size_t size)
{
    const struct message m = {.t_us = INT64_C(1763617674000000),
                              .topic = "tandem/v1/r1/real/reply",
                              .qos = 1,
                              .payload = text,
                              .stored_bytes = size,
                              .payload_bytes = size};
    fuzz_round_trip(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size > MESSAGE_PAYLOAD_MAX) {
        return 0;
    }
    fuzz_line((const char *)data, size);
    fuzz_payload((const char *)data, size);
    return 0;
}
