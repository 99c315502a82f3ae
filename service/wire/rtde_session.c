#include "service/wire/rtde_session.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/errors/status.h"

/* Version that the controller claims: a CB3 of 2021. */
static const uint32_t controller[4] = {3, 15, 0, 100};

static const double HZ_PRESET = 125.0; /* rate of version 1, which cannot request one */

enum { TYPES_MAX = RTDE_ITEMS_MAX * 16, LEVEL_ERROR = 1 };

static void answer_flag(struct rtde_out *out, uint8_t type, bool accepted)
{
    const uint8_t payload = accepted;
    rtde_frame_write(out, type, &payload, sizeof payload);
}

/* Formats a message for people: version 2 is u8 length, text, u8 length, source, u8 level; 1 is
 * level and text.
 */
static void answer_text(const struct rtde_session *s, struct rtde_out *out, const char *text)
{
    static const char source[] = "tandem";
    char payload[2 + 128 + sizeof source + 1];
    const size_t bytes = strlen(text) < 128 ? strlen(text) : 128;
    const size_t name = sizeof source - 1;
    size_t n = 0;
    payload[n++] = s->version == 2 ? (char)bytes : LEVEL_ERROR;
    memcpy(payload + n, text, bytes);
    n += bytes;
    if (s->version == 2) {
        payload[n++] = (char)name;
        memcpy(payload + n, source, name);
        n += name;
        payload[n++] = LEVEL_ERROR;
    }
    rtde_frame_write(out, RTDE_TEXT, payload, n);
}

static void refuse_frame(struct rtde_session *s, struct rtde_shared *shared,
                         struct rtde_out *out, const char *why)
{
    shared->malformed++;
    answer_text(s, out, why);
}

static void receive_version(struct rtde_session *s, struct rtde_shared *shared,
                            const struct rtde_frame *frame, struct rtde_out *out)
{
    if (frame->bytes != 2) {
        refuse_frame(s, shared, out, "a version of two bytes was expected");
        return;
    }
    const int version = rtde_get_u16(frame->payload);
    const bool known = version >= 1 && version <= RTDE_VERSION_MAX;
    s->version = known ? version : s->version;
    answer_flag(out, RTDE_VERSION, known);
}

static void answer_controller(struct rtde_out *out)
{
    uint8_t payload[sizeof controller];
    for (size_t i = 0; i < COUNT(controller); i++) {
        rtde_write_u32(payload + 4 * i, controller[i]);
    }
    rtde_frame_write(out, RTDE_CONTROLLER, payload, sizeof payload);
}

/* If `numbered`, payload[0] is the recipe; its types follow. */
static void answer_types(struct rtde_out *out, uint8_t type, bool numbered, size_t recipe,
                         const char *types)
{
    uint8_t payload[1 + TYPES_MAX];
    const size_t bytes = strlen(types);
    payload[0] = (uint8_t)recipe;
    memcpy(payload + numbered, types, bytes);
    rtde_frame_write(out, type, payload, numbered + bytes);
}

static void receive_outputs(struct rtde_session *s, struct rtde_shared *shared,
                            const struct rtde_frame *frame, struct rtde_out *out)
{
    char types[TYPES_MAX];
    const size_t names = s->version == 2 ? 8 : 0;
    if (frame->bytes < names) {
        refuse_frame(s, shared, out, "a rate of eight bytes and names were expected");
        return;
    }
    const double hz = names > 0 ? rtde_get_double(frame->payload) : HZ_PRESET;
    /* A rate outside the range, or NaN, becomes the nearer end. */
    s->hz = fmax(RTDE_HZ_MIN, fmin(hz, shared->hz_max));
    s->has_outputs = rtde_recipe_read(&rtde_output_table, (const char *)frame->payload + names,
                                      frame->bytes - names, &s->outputs, types, sizeof types) &&
                     s->outputs.bytes < RTDE_FRAME_MAX - RTDE_HEADER;
    s->running = s->running && s->has_outputs;
    answer_types(out, RTDE_OUTPUTS, s->version == 2, s->has_outputs, types);
}

/* Assigns the variable to the session; false when another session, or this one, has it. */
static bool own_variable(struct rtde_session *s, struct rtde_shared *shared, size_t at)
{
    size_t room = RTDE_OWNED_MAX;
    for (size_t i = 0; i < RTDE_OWNED_MAX; i++) {
        if (shared->owned[i].session && shared->owned[i].at == at) {
            return false;
        }
        room = shared->owned[i].session ? room : i;
    }
    assert(room < RTDE_OWNED_MAX); /* there is one for each variable */
    shared->owned[room].session = s;
    shared->owned[room].at = at;
    return true;
}

static void disown_variable(struct rtde_session *s, struct rtde_shared *shared, size_t at)
{
    for (size_t i = 0; i < RTDE_OWNED_MAX; i++) {
        if (shared->owned[i].session == s && shared->owned[i].at == at) {
            shared->owned[i].session = NULL;
        }
    }
}

/* Assigns all of its variables, or none. *types shows which are in use. */
static bool own_recipe(struct rtde_session *s, struct rtde_shared *shared,
                       const struct rtde_recipe *recipe, char *types, size_t room)
{
    bool owned[RTDE_ITEMS_MAX];
    bool all = true;
    size_t used = 0;
    for (size_t i = 0; i < recipe->count; i++) {
        owned[i] = own_variable(s, shared, recipe->item[i].at);
        all = all && owned[i];
    }
    for (size_t i = 0; i < recipe->count && !all; i++) {
        const char *word = owned[i] ? rtde_type_names[recipe->item[i].type] : "IN_USE";
        used += (size_t)snprintf(types + used, room - used, "%s%s", i > 0 ? "," : "", word);
        if (owned[i]) {
            disown_variable(s, shared, recipe->item[i].at);
        }
    }
    return all;
}

static void receive_inputs(struct rtde_session *s, struct rtde_shared *shared,
                           const struct rtde_frame *frame, struct rtde_out *out)
{
    char types[TYPES_MAX];
    if (shared->read_only || s->input_count == RTDE_INPUT_RECIPES) {
        answer_text(s, out,
                    shared->read_only ? "this robot takes no inputs from beyond its machine"
                                      : "too many recipes of inputs");
        answer_types(out, RTDE_INPUTS, true, 0, "");
        return;
    }
    struct rtde_recipe *recipe = &s->inputs[s->input_count];
    const bool recipe_accepted =
        rtde_recipe_read(&rtde_input_table, (const char *)frame->payload, frame->bytes, recipe,
                         types, sizeof types) &&
        own_recipe(s, shared, recipe, types, sizeof types);
    s->input_count += recipe_accepted;
    answer_types(out, RTDE_INPUTS, true, recipe_accepted ? s->input_count : 0, types);
}

static void receive_data(struct rtde_session *s, struct rtde_shared *shared,
                         const struct rtde_frame *frame, struct rtde_out *out)
{
    const size_t number = frame->bytes > 0 ? frame->payload[0] : 0;
    if (number < 1 || number > s->input_count) {
        refuse_frame(s, shared, out, "there is no such recipe of inputs");
    } else if (frame->bytes - 1 != s->inputs[number - 1].bytes) {
        refuse_frame(s, shared, out, "values of another length were expected");
    } else {
        rtde_unpack(&s->inputs[number - 1], frame->payload + 1, &shared->inputs);
    }
}

void rtde_session_receive(struct rtde_session *s, struct rtde_shared *shared,
                          const struct rtde_frame *frame, struct rtde_out *out)
{
    shared->frames++;
    switch (frame->type) {
    case RTDE_VERSION:
        receive_version(s, shared, frame, out);
        break;
    case RTDE_CONTROLLER:
        answer_controller(out);
        break;
    case RTDE_OUTPUTS:
        receive_outputs(s, shared, frame, out);
        break;
    case RTDE_INPUTS:
        receive_inputs(s, shared, frame, out);
        break;
    case RTDE_START:
        s->running = s->has_outputs || s->input_count > 0;
        s->next_s = -INFINITY;
        answer_flag(out, RTDE_START, s->running);
        break;
    case RTDE_PAUSE:
        s->running = false;
        answer_flag(out, RTDE_PAUSE, true);
        break;
    case RTDE_DATA:
        receive_data(s, shared, frame, out);
        break;
    case RTDE_TEXT: /* for the controller's log */
        break;
    default:
        refuse_frame(s, shared, out, "there are no such frames");
    }
}

void rtde_session_send(struct rtde_session *s, const struct rtde_outputs *values,
                       struct rtde_out *out)
{
    uint8_t payload[RTDE_FRAME_MAX];
    const double period_s = 1.0 / s->hz;
    /* Half a period early is on time, because rates need not divide each other. */
    if (!s->running || !s->has_outputs || values->timestamp < s->next_s - 0.5 / s->hz + 1e-6) {
        return;
    }
    const size_t numbered = s->version == 2;
    s->next_s = isfinite(s->next_s) && values->timestamp < s->next_s + period_s
                    ? s->next_s + period_s
                    : values->timestamp + period_s;
    payload[0] = 1;
    rtde_pack(&s->outputs, values, payload + numbered);
    rtde_frame_write(out, RTDE_DATA, payload, numbered + s->outputs.bytes);
}

void rtde_session_leave(struct rtde_session *s, struct rtde_shared *shared)
{
    for (size_t i = 0; i < RTDE_OWNED_MAX; i++) {
        if (shared->owned[i].session == s) {
            shared->owned[i].session = NULL;
        }
    }
}
