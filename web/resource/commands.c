/* web/resource/commands.c - POST of a command to a pair: checks it as the codec does, adds
 * an id if it has none, and publishes it. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/codec_native.h"
#include "web/resource/handlers.h"

/* The codec checks first: a command that it would reject on the way back from the broker must
 * not be sent. */
static void decode_command(const struct web_request *request, const char *payload, size_t bytes,
                           struct event *event)
{
    struct message message = {
        .t_us = 0, .payload = payload, .stored_bytes = bytes, .payload_bytes = bytes};
    event->kind = EVENT_KIND_COUNT;
    (void)snprintf(message.topic, sizeof message.topic, "%s/%s/command", request->view->prefix,
                   request->id);
    (void)codec_native.decode(request->view->prefix, &message, codec_copy_event, event);
}

static bool has_id(const char *text, size_t bytes)
{
    json_error_t error;
    json_t *body = json_loadb(text, bytes, 0, &error);
    const bool has = json_object_get(body, "id") != NULL;
    json_decref(body);
    return has;
}

/* Adds an id: {"op":…} becomes {"id":"http-…","op":…}, and the rest of the body stays
 * unchanged. Returns the bytes, or 0 when they do not fit. */
static size_t add_id(const struct web_request *request, const char *text, size_t bytes,
                     char id[EVENT_ID_MAX], char out[EVENT_RAW_MAX])
{
    struct web_context *context = request->context;
    const uint64_t n = atomic_fetch_add(&context->next_command, 1) + 1;
    (void)snprintf(id, EVENT_ID_MAX, "http-%" PRId64 "-%" PRIu64,
                   context->source->now(context->source->context), n);
    const int head = snprintf(out, EVENT_RAW_MAX, "{\"id\":\"%s\",", id);
    /* An accepted command has an "op", so a member follows the comma. */
    if (head < 0 || (size_t)head + bytes - 1 > EVENT_RAW_MAX) {
        return 0;
    }
    memcpy(out + head, text + 1, bytes - 1);
    return (size_t)head + bytes - 1;
}

static void send_command(const struct web_request *request, const char *payload, size_t bytes,
                         const char *id, struct web_response *response)
{
    const struct web_source *source = request->context->source;
    struct err err = {0};
    const enum status status =
        source->command(source->context, request->id, payload, bytes, &err);
    if (status == STATUS_OK) {
        JSON_WRITE_OBJECT(web_json(response), NULL, JSON("id", id), JSON("pair", request->id));
        response->status = 202;
    } else if (status == STATUS_E_FULL) {
        web_problem_later(request, response, PROBLEM_TOO_MANY_COMMANDS, 1, &err,
                          "too many commands are on their way; try later");
    } else if (status == STATUS_E_IO) {
        web_problem_later(request, response, PROBLEM_NO_BROKER, 1, &err,
                          "no connection to the broker");
    } else {
        web_problem(request, response, PROBLEM_INTERNAL, NULL,
                    err.text[0] ? err.text : "the command could not be sent");
    }
}

void post_command(const struct web_request *request, struct web_response *response)
{
    struct event event;
    decode_command(request, request->body, request->body_bytes, &event);
    if (event.kind != EVENT_COMMAND) {
        web_problem_malformed(request, response, &event);
        return;
    }
    /* The body is an object, so skip white space around it. */
    const char *text = memchr(request->body, '{', request->body_bytes);
    const char *end = memrchr(request->body, '}', request->body_bytes);
    const size_t bytes = (size_t)(end - text) + 1;
    if (event.command.id[0]) {
        send_command(request, text, bytes, event.command.id, response);
        return;
    }
    if (has_id(text, bytes)) {
        web_problem(request, response, PROBLEM_BAD_BODY, NULL,
                    "command: an empty \"id\"; leave it out to get one");
        return;
    }
    char payload[EVENT_RAW_MAX];
    char id[EVENT_ID_MAX];
    const size_t n = add_id(request, text, bytes, id, payload);
    if (n == 0) {
        web_problem(request, response, PROBLEM_BODY_TOO_LARGE, NULL,
                    "with its generated \"id\" the command is longer than 256 bytes");
        return;
    }
    send_command(request, payload, n, id, response);
}
