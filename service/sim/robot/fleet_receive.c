/* service/sim/robot/fleet_receive.c - decodes received messages and passes them to the
 * robots. */
#include <stdio.h>
#include <string.h>

#include <jansson.h>

#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "service/sim/robot/fleet_parts.h"
#include "service/tool/commands.h"

enum { PARAMETERS_BYTES = 8192 };

/* A message to robots of a pair, decoded. */
struct received {
    struct fleet *f;
    uint32_t pair;
    bool sides[SIDE_COUNT];
    const struct message *message;
    bool whole; /* for a command: it could be parsed */
    struct event_command command;
    struct event_echo probe; /* source_received_us is lab time */
    double tau[EVENT_AXES_MAX];
    size_t tau_count;
};

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
        add_topic(f, out, side_name(SIDE_VIRTUAL), "pose", 1);
    }
}

/* --- message kinds -------------------------------------------------------------------- */

static bool complain_of(const struct received *h, const char *what)
{
    h->f->counts.malformed++;
    return complain("robot %s: %s", h->f->pairs[h->pair], what);
}

static void store_command(void *context, const struct event *event)
{
    struct received *h = context;
    h->whole = event->kind == EVENT_COMMAND || complain_of(h, event->malformed.detail);
    if (h->whole) {
        h->command = event->command;
        h->command.raw = NULL;
    }
}

static bool read_command(struct received *h)
{
    struct message copy = *h->message;
    const char *prefix = h->f->options.broker.prefix;
    /* In link mode the codec does not know the robots' own command topic. */
    session_topic(copy.topic, prefix, h->f->pairs[h->pair], "command");
    (void)codec_native.decode(prefix, &copy, store_command, h);
    return h->whole;
}

/* In link mode an id stands for one command. A repeated one is not executed again, because its
 * answer is on its way or was given. */
static bool is_repeat(const struct fleet *f, struct fleet_robot *r, const char *id)
{
    const uint64_t hash = hash_text(id);
    if (!f->options.link || !id[0]) {
        return false;
    }
    for (size_t k = 0; k < FLEET_RECENT; k++) {
        if (r->recent[k] == hash) {
            return true;
        }
    }
    r->recent[r->recent_count++ % FLEET_RECENT] = hash;
    return false;
}

static void apply_command(struct fleet *f, struct fleet_robot *r, const struct received *h)
{
    if (is_repeat(f, r, h->command.id)) {
        return;
    }
    f->counts.commands++;
    robot_command(f->options.kind, r->memory, &h->command, fleet_publish_reply, f);
}

static bool read_probe(struct received *h)
{
    json_int_t probe = 0;
    double sent_s = 0.0;
    json_t *document = json_loadb(h->message->payload, h->message->stored_bytes, 0, NULL);
    const bool whole =
        document && json_unpack(document, "{s:I, s:F}", "probe", &probe, "sent", &sent_s) == 0;
    json_decref(document);
    h->probe = (struct event_echo){
        .probe = probe, .sent_us = lab_us(sent_s), .source_received_us = h->message->t_us};
    return whole || complain_of(h, "probe: \"probe\" and \"sent\" were expected");
}

static void apply_probe(struct fleet *f, struct fleet_robot *r, const struct received *h)
{
    fleet_publish_echo(f, r, &h->probe);
}

static bool read_effort(struct received *h)
{
    json_t *document = json_loadb(h->message->payload, h->message->stored_bytes, 0, NULL);
    const json_t *tau = json_object_get(document, "tau");
    h->tau_count = json_array_size(tau);
    bool whole = h->tau_count > 0 && h->tau_count <= EVENT_AXES_MAX;
    for (size_t i = 0; whole && i < h->tau_count; i++) {
        whole = json_is_number(json_array_get(tau, i));
        h->tau[i] = json_number_value(json_array_get(tau, i));
    }
    json_decref(document);
    return whole || complain_of(h, "control: \"tau\" with 1 to 6 numbers was expected");
}

static void apply_effort(struct fleet *f, struct fleet_robot *r, const struct received *h)
{
    if (f->options.kind->effort(r->memory, h->tau, h->tau_count) != STATUS_OK) {
        f->counts.malformed++;
    }
}

/* An empty message deletes the retained set. */
static bool read_parameters(struct received *h)
{
    const size_t bytes = h->message->payload_bytes;
    return bytes > 0 && (bytes <= PARAMETERS_BYTES ||
                         complain_of(h, "parameters: at most 8192 bytes were expected"));
}

static void apply_parameters(struct fleet *f, struct fleet_robot *r, const struct received *h)
{
    fleet_apply_parameters(f, r, h->message);
}

static bool read_pose(struct received *h)
{
    const size_t bytes = h->message->payload_bytes;
    return bytes > 0 && bytes == h->message->stored_bytes;
}

static void apply_pose(struct fleet *f, struct fleet_robot *r, const struct received *h)
{
    fleet_apply_pose(f, r, h->message);
}

static const struct {
    const char *word;
    bool (*read)(struct received *h); /* false, with a message, for an invalid one */
    void (*apply)(struct fleet *f, struct fleet_robot *r, const struct received *h);
} words[] = {{"command", read_command, apply_command},
             {"probe", read_probe, apply_probe},
             {"control", read_effort, apply_effort},
             {"pose", read_pose, apply_pose},
             {"parameters", read_parameters, apply_parameters}};

/* --- receivers ------------------------------------------------------------------------ */

/* Finds the pair of this name, [bytes], by its number. */
static bool find_pair(const struct fleet *f, const char *id, size_t bytes, uint32_t *pair)
{
    const size_t count = (size_t)f->options.pair_count;
    unsigned long number = 0;
    for (size_t k = f->stem; k < bytes && id[k] >= '0' && id[k] <= '9'; k++) {
        number = 10 * number + (unsigned long)(id[k] - '0');
    }
    const size_t i = count == 1 ? 0 : number - f->first_number;
    const bool ours =
        i < count && strlen(f->pairs[i]) == bytes && memcmp(id, f->pairs[i], bytes) == 0;
    *pair = ours ? (uint32_t)i : *pair;
    return ours;
}

/* Finds the pair of "<prefix>/<pair>/<rest>" and returns the rest; NULL for an unknown pair. */
static const char *split_topic(const struct fleet *f, const char *topic, uint32_t *pair)
{
    const char *prefix = f->options.broker.prefix;
    const size_t n = strlen(prefix);
    const char *id = topic + n + 1;
    const char *slash =
        strncmp(topic, prefix, n) == 0 && topic[n] == '/' ? strchr(id, '/') : NULL;
    return slash && find_pair(f, id, (size_t)(slash - id), pair) ? slash + 1 : NULL;
}

void fleet_receive(void *context, const struct message *message)
{
    struct fleet *f = context;
    struct received h = {.f = f, .message = message};
    const size_t each = f->robot_count / (size_t)f->options.pair_count;
    size_t word = 0;
    const char *rest = split_topic(f, message->topic, &h.pair);
    memcpy(h.sides, f->options.sides, sizeof h.sides);
    for (enum side s = SIDE_REAL; rest && s < SIDE_COUNT; s++) {
        const size_t n = strlen(side_name(s));
        if (strncmp(rest, side_name(s), n) == 0 && rest[n] == '/') {
            rest += n + 1;
            h.sides[s == SIDE_REAL ? SIDE_VIRTUAL : SIDE_REAL] = false;
            break;
        }
    }
    while (rest && word < COUNT(words) && strcmp(rest, words[word].word) != 0) {
        word++;
    }
    /* A retained, and thus old, command must not move a robot. */
    if (!rest || word == COUNT(words) ||
        (message->retained && strcmp(rest, "parameters") != 0) || !words[word].read(&h)) {
        return;
    }
    for (size_t k = 0; k < each; k++) {
        struct fleet_robot *r = &f->robots[h.pair * each + k];
        if (h.sides[r->side] && r->down_until_us != 0) {
            f->counts.lost++;
        } else if (h.sides[r->side]) {
            f->speaking = r;
            words[word].apply(f, r, &h);
        }
    }
}
