#include "service/wire/rtde_client.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"

enum { NAMES_BYTES = 2048 };

static enum rtde_outcome fail_talk(struct rtde_client *c, const char *why)
{
    (void)snprintf(c->text, sizeof c->text, "%s", why);
    return RTDE_FAILED;
}

static void request_version(const struct rtde_client *c, struct rtde_out *out)
{
    uint8_t payload[2];
    rtde_write_u16(payload, (uint16_t)c->version);
    rtde_frame_write(out, RTDE_VERSION, payload, sizeof payload);
}

static void request_outputs(struct rtde_client *c, struct rtde_out *out)
{
    uint8_t payload[8 + NAMES_BYTES];
    size_t used = 0;
    c->stage = RTDE_ASKS_OUTPUTS;
    if (c->version == 2) {
        rtde_write_double(payload, c->request->hz);
        used = 8;
    }
    bool first = true;
    for (size_t i = 0; i < c->request->count; i++) {
        const size_t bytes = strlen(c->request->names[i]);
        if (c->lacks[i] || bytes + 1 > sizeof payload - used) {
            continue;
        }
        if (!first) {
            payload[used++] = ',';
        }
        memcpy(payload + used, c->request->names[i], bytes);
        used += bytes;
        first = false;
    }
    rtde_frame_write(out, RTDE_OUTPUTS, payload, used);
}

void rtde_client_begin(struct rtde_client *c, const struct rtde_request *request,
                       struct rtde_out *out)
{
    *c = (struct rtde_client){.request = request, .version = RTDE_VERSION_MAX};
    request_version(c, out);
}

static enum rtde_outcome receive_version(struct rtde_client *c, const struct rtde_frame *frame,
                                         struct rtde_out *out)
{
    if (c->stage != RTDE_ASKS_VERSION || frame->bytes != 1) {
        return fail_talk(c, "an answer about versions was not expected, or has another length");
    }
    if (frame->payload[0] == 0 && c->version == 1) {
        return fail_talk(c, "the controller speaks neither version 2 nor 1 of RTDE");
    }
    if (frame->payload[0] == 0 && c->request->input_count > 0) {
        return fail_talk(c, "commands need version 2 of RTDE, which the controller lacks");
    }
    if (frame->payload[0] == 0) {
        c->version = 1;
        request_version(c, out);
    } else {
        request_outputs(c, out);
    }
    return RTDE_NOTHING;
}

/* Finds the next of the types in *text, up to end; false when there is none. */
static bool next_type(const char **text, const char *end, const char **word, size_t *bytes)
{
    if (*text > end) {
        return false;
    }
    const char *comma = *text < end ? memchr(*text, ',', (size_t)(end - *text)) : NULL;
    *word = *text;
    *bytes = (size_t)((comma ? comma : end) - *text);
    *text = (comma ? comma : end) + 1;
    return true;
}

static enum rtde_outcome fail_field(struct rtde_client *c, size_t i, const char *why)
{
    (void)snprintf(c->text, sizeof c->text, "%s: %s", c->request->names[i], why);
    return RTDE_FAILED;
}

/* Compares the answered types with ours. RTDE_NOTHING: *lacking says whether one is missing. */
static enum rtde_outcome read_types(struct rtde_client *c, const char *types, const char *end,
                                    bool *lacking)
{
    const char *word = NULL;
    size_t bytes = 0;
    *lacking = false;
    c->recipe = (struct rtde_recipe){0};
    for (size_t i = 0; i < c->request->count; i++) {
        if (c->lacks[i]) {
            continue;
        }
        struct rtde_item item;
        const char *name = c->request->names[i];
        if (!next_type(&types, end, &word, &bytes) ||
            !rtde_find(&rtde_output_table, name, strlen(name), &item)) {
            return fail_talk(c, "the controller answers with too few types");
        }
        if (bytes == 9 && memcmp(word, "NOT_FOUND", 9) == 0) {
            if (i < c->request->required) {
                return fail_field(c, i, "this controller does not have it");
            }
            c->lacks[i] = true;
            *lacking = true;
        } else if (strlen(rtde_type_names[item.type]) != bytes ||
                   memcmp(word, rtde_type_names[item.type], bytes) != 0) {
            return fail_field(c, i, "the controller sends it in another type");
        } else {
            rtde_recipe_add(&c->recipe, &item);
        }
    }
    return next_type(&types, end, &word, &bytes)
               ? fail_talk(c, "the controller answers with too many types")
               : RTDE_NOTHING;
}

/* Requests the next inputs, or the start. */
static void request_next(struct rtde_client *c, struct rtde_out *out)
{
    if (c->inputs_known < c->request->input_count) {
        const char *names = c->request->inputs[c->inputs_known];
        c->stage = RTDE_ASKS_INPUTS;
        rtde_frame_write(out, RTDE_INPUTS, names, strlen(names));
    } else {
        c->stage = RTDE_ASKS_START;
        rtde_frame_write(out, RTDE_START, NULL, 0);
    }
}

static enum rtde_outcome receive_outputs(struct rtde_client *c, const struct rtde_frame *frame,
                                         struct rtde_out *out)
{
    const size_t numbered = c->version == 2;
    bool lacking = false;
    if (c->stage != RTDE_ASKS_OUTPUTS || frame->bytes < numbered) {
        return fail_talk(c, "an answer about outputs was not expected, or has no types");
    }
    const char *types = (const char *)frame->payload + numbered;
    const enum rtde_outcome outcome =
        read_types(c, types, (const char *)frame->payload + frame->bytes, &lacking);
    if (outcome == RTDE_NOTHING && lacking) {
        request_outputs(c, out);
    } else if (outcome == RTDE_NOTHING) {
        request_next(c, out);
    }
    return outcome;
}

static enum rtde_outcome receive_inputs(struct rtde_client *c, const struct rtde_frame *frame,
                                        struct rtde_out *out)
{
    char types[NAMES_BYTES];
    const size_t k = c->inputs_known;
    if (c->stage != RTDE_ASKS_INPUTS || frame->bytes < 1) {
        return fail_talk(c, "an answer about inputs was not expected, or has no types");
    }
    const char *names = c->request->inputs[k];
    if (!rtde_recipe_read(&rtde_input_table, names, strlen(names), &c->inputs[k], types,
                          sizeof types)) {
        return fail_talk(c, "inputs that no controller has");
    }
    const char *answer = (const char *)frame->payload + 1;
    const size_t bytes = frame->bytes - 1;
    if (memmem(answer, bytes, "IN_USE", 6)) {
        return fail_talk(c, "IN_USE: another program writes the input registers 24 to 39 of "
                            "this controller; end it first");
    }
    if (bytes != strlen(types) || memcmp(answer, types, bytes) != 0) {
        return fail_talk(c, "the controller lacks inputs, or has them in other types");
    }
    c->input_id[k] = frame->payload[0];
    c->inputs_known++;
    request_next(c, out);
    return RTDE_NOTHING;
}

static enum rtde_outcome receive_start(struct rtde_client *c, const struct rtde_frame *frame)
{
    if (c->stage != RTDE_ASKS_START || frame->bytes != 1 || frame->payload[0] == 0) {
        return fail_talk(c, "the controller does not start sending");
    }
    c->stage = RTDE_RUNS;
    return RTDE_NOTHING;
}

static enum rtde_outcome receive_data(struct rtde_client *c, const struct rtde_frame *frame)
{
    const size_t numbered = c->version == 2;
    if (c->stage < RTDE_ASKS_START) {
        return RTDE_NOTHING; /* belongs to another recipe */
    }
    if (frame->bytes != numbered + c->recipe.bytes) {
        return fail_talk(c, "values of another length than the recipe's");
    }
    rtde_unpack(&c->recipe, frame->payload + numbered, &c->values);
    return RTDE_VALUES;
}

/* Version 2 has length, text, length, source, level; version 1 level and text. */
static enum rtde_outcome receive_text(struct rtde_client *c, const struct rtde_frame *frame)
{
    size_t bytes = frame->bytes > 0 ? frame->bytes - 1 : 0;
    if (c->version == 2 && frame->bytes > 0 && frame->payload[0] < bytes) {
        bytes = frame->payload[0];
    }
    bytes = bytes < sizeof c->text - 1 ? bytes : sizeof c->text - 1;
    for (size_t i = 0; i < bytes; i++) {
        const uint8_t byte = frame->payload[1 + i];
        c->text[i] = byte >= ' ' && byte <= '~' ? (char)byte : '?';
    }
    c->text[bytes] = '\0';
    c->texts++;
    return RTDE_TEXT_MESSAGE;
}

enum rtde_outcome rtde_client_receive(struct rtde_client *c, const struct rtde_frame *frame,
                                      struct rtde_out *out)
{
    switch (frame->type) {
    case RTDE_VERSION:
        return receive_version(c, frame, out);
    case RTDE_OUTPUTS:
        return receive_outputs(c, frame, out);
    case RTDE_INPUTS:
        return receive_inputs(c, frame, out);
    case RTDE_START:
        return receive_start(c, frame);
    case RTDE_DATA:
        return receive_data(c, frame);
    case RTDE_TEXT:
        return receive_text(c, frame);
    case RTDE_PAUSE:
        return fail_talk(c, "the controller paused");
    default:
        return RTDE_NOTHING; /* from a later version */
    }
}

void rtde_client_send(const struct rtde_client *c, size_t inputs,
                      const struct rtde_inputs *values, struct rtde_out *out)
{
    uint8_t payload[RTDE_FRAME_MAX - RTDE_HEADER];
    assert(inputs < c->inputs_known);
    payload[0] = c->input_id[inputs];
    rtde_pack(&c->inputs[inputs], values, payload + 1);
    rtde_frame_write(out, RTDE_DATA, payload, 1 + c->inputs[inputs].bytes);
}

bool rtde_client_has(const struct rtde_client *c, const char *name)
{
    for (size_t i = 0; i < c->request->count; i++) {
        if (strcmp(c->request->names[i], name) == 0) {
            return !c->lacks[i];
        }
    }
    return false;
}
