/* What the fleet hears: Paho's thread takes messages apart and queues them. */
#include "service/robots/fleet_hear.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "logger/message/codec_native.h"
#include "service/cli/lab_clock.h"

static void add_topic(const struct fleet *f, struct fleet_topics *out, const char *side,
                      const char *word, int qos)
{
    char *filter = out->filters[out->count];
    (void)snprintf(filter, MESSAGE_TOPIC_MAX, "%s/%s/%s%s%s", f->options.broker.prefix,
                   f->options.pair_count == 1 ? f->pairs[0] : "+", side, side[0] ? "/" : "",
                   word);
    out->topics[out->count++] = (struct mqtt_client_topic){filter, qos};
}

void fleet_list_topics(const struct fleet *f, struct fleet_topics *out)
{
    const struct fleet_options *o = &f->options;
    out->count = 0;
    if (!o->link) {
        add_topic(f, out, "", "command", 1);
    }
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        if (o->sides[side] && o->link) {
            add_topic(f, out, side_name(side), "command", 1);
        }
        if (o->sides[side]) {
            add_topic(f, out, side_name(side), "probe", 0);
        }
        if (o->sides[side] && o->kind->effort) {
            add_topic(f, out, side_name(side), "control", 0);
        }
    }
    if (o->sides[SIDE_VIRTUAL]) {
        add_topic(f, out, side_name(SIDE_VIRTUAL), "parameters", 1);
    }
}

/* Takes over in->text. */
static void push_incoming(struct fleet *f, const struct incoming *in)
{
    if (!session_push(&f->session, in)) {
        free(in->text);
    }
}

static void complain_of(struct fleet *f, uint32_t pair, const char *what)
{
    f->session.malformed++;
    (void)fprintf(stderr, "tandem: robot %s: %s\n", f->pairs[pair], what);
}

/* What decoding one command needs to know. */
struct decoding {
    struct fleet *f;
    struct incoming *in;
};

static void take_event(void *context, const struct event *event)
{
    struct decoding *d = context;
    if (event->kind == EVENT_COMMAND) {
        d->in->command = event->command;
        d->in->command.raw = NULL;
        push_incoming(d->f, d->in);
    } else {
        complain_of(d->f, d->in->pair, event->malformed.detail);
    }
}

static void take_command(struct fleet *f, struct incoming *in, const struct message *message)
{
    struct message copy = *message;
    struct decoding decoding = {f, in};
    in->kind = IN_COMMAND;
    /* In link mode the codec does not know the robots' own command topic. */
    (void)snprintf(copy.topic, sizeof copy.topic, "%s/%s/command", f->options.broker.prefix,
                   f->pairs[in->pair]);
    (void)codec_native.decode(f->options.broker.prefix, &copy, take_event, &decoding);
}

static void take_probe(struct fleet *f, struct incoming *in, const struct message *message)
{
    json_int_t probe = 0;
    double sent_s = 0.0;
    json_t *document = json_loadb(message->payload, message->kept_bytes, 0, NULL);
    if (document &&
        json_unpack(document, "{s:I, s:F}", "probe", &probe, "sent", &sent_s) == 0) {
        in->kind = IN_PROBE;
        in->probe = probe;
        in->sent_us = lab_us(sent_s);
        push_incoming(f, in);
    } else {
        complain_of(f, in->pair, "probe: \"probe\" and \"sent\" were expected");
    }
    json_decref(document);
}

static void take_effort(struct fleet *f, struct incoming *in, const struct message *message)
{
    json_t *document = json_loadb(message->payload, message->kept_bytes, 0, NULL);
    const json_t *tau = json_object_get(document, "tau");
    const size_t count = json_array_size(tau);
    bool good = count > 0 && count <= EVENT_AXES_MAX;
    for (size_t i = 0; good && i < count; i++) {
        good = json_is_number(json_array_get(tau, i));
        in->tau[i] = json_number_value(json_array_get(tau, i));
    }
    if (good) {
        in->kind = IN_EFFORT;
        in->tau_count = count;
        push_incoming(f, in);
    } else {
        complain_of(f, in->pair, "control: \"tau\" with 1 to 6 numbers was expected");
    }
    json_decref(document);
}

static void take_parameters(struct fleet *f, struct incoming *in, const struct message *message)
{
    if (message->payload_bytes == 0) {
        return; /* the retained set was taken back */
    }
    if (message->payload_bytes > FLEET_PARAMETERS_BYTES) {
        complain_of(f, in->pair, "parameters: at most 8192 bytes were expected");
        return;
    }
    in->kind = IN_PARAMETERS;
    in->text_bytes = message->payload_bytes;
    in->text = malloc(in->text_bytes);
    if (in->text) {
        memcpy(in->text, message->payload, in->text_bytes);
        push_incoming(f, in);
    }
}

/* The pair of "<prefix>/<pair>/<rest>"; false when it is none of ours. */
static bool split_topic(const struct fleet *f, const char *topic, uint32_t *pair,
                        const char **rest)
{
    const char *prefix = f->options.broker.prefix;
    const size_t n = strlen(prefix);
    const char *id = topic + n + 1;
    const char *slash =
        strncmp(topic, prefix, n) == 0 && topic[n] == '/' ? strchr(id, '/') : NULL;
    for (int i = 0; slash && i < f->options.pair_count; i++) {
        const size_t bytes = strlen(f->pairs[i]);
        if (bytes == (size_t)(slash - id) && memcmp(id, f->pairs[i], bytes) == 0) {
            *pair = (uint32_t)i;
            *rest = slash + 1;
            return true;
        }
    }
    return false;
}

static const struct {
    const char *word;
    void (*take)(struct fleet *f, struct incoming *in, const struct message *message);
} words[] = {{"command", take_command},
             {"probe", take_probe},
             {"control", take_effort},
             {"parameters", take_parameters}};

void fleet_hear(void *context, const char *topic, const void *payload, size_t bytes, int qos,
                bool retained, bool dup)
{
    struct fleet *f = context;
    const char *rest = NULL;
    struct incoming in = {.arrival_us = lab_clock_now_us()};
    const struct message message = {
        .t_us = in.arrival_us,
        .qos = qos,
        .dup = dup,
        .payload = payload,
        .kept_bytes = bytes < MESSAGE_PAYLOAD_MAX ? bytes : MESSAGE_PAYLOAD_MAX,
        .payload_bytes = bytes};
    if (!split_topic(f, topic, &in.pair, &rest)) {
        return;
    }
    memcpy(in.sides, f->options.sides, sizeof in.sides);
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const size_t n = strlen(side_name(s));
        if (strncmp(rest, side_name(s), n) == 0 && rest[n] == '/') {
            rest += n + 1;
            in.sides[s == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL] = false;
            break;
        }
    }
    if (retained && strcmp(rest, "parameters") != 0) {
        return; /* an old command must not move a robot */
    }
    for (size_t i = 0; i < COUNT(words); i++) {
        if (strcmp(rest, words[i].word) == 0) {
            words[i].take(f, &in, &message);
        }
    }
}
