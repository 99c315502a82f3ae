/* service/sim/check/check.c - `tandem robot --check`: talks to the robot and prints the
 * result. */
#include "service/sim/check/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"
#include "service/mqtt/session.h"
#include "service/mqtt/topic_list.h"
#include "service/sim/check/check_parts.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

NAMES(check_state_names, CHECK_STATE_COUNT, "right", "missing", "wrong", "untried");

enum {
    STOP_MS = 2000,
    CONNECT_S = 10,
    LISTEN_US = 700 * 1000,  /* time for retained messages and duplicates */
    GAP_US = 150 * 1000,     /* pause between commands while the robot moves */
    SETTLE_US = 500 * 1000,  /* pause after a halt before the pose is queried */
    ANSWER_US = 2000 * 1000, /* wait for echoes and acknowledgements */
    PLACE_US = 35000 * 1000  /* wait until a vehicle has reported its position */
};

struct check {
    const struct check_options *o;
    struct session session;
    char command_topic[MESSAGE_TOPIC_MAX];
    struct topic_list *topics;
    struct check_received *received;
    char set[4096]; /* the retained parameter set, restored at the end */
    size_t set_bytes;
    int qos; /* QoS of the message that is being read */
};

/* sending */

static bool publish_text(struct check *c, const char *topic, const char *text, size_t bytes,
                         int qos)
{
    return mqtt_client_publish(c->session.client, topic, text, bytes, qos, false) ==
               STATUS_OK ||
           complain("robot: the link's buffer is full");
}

/* Sends what the codec publishes of its own accord. */
static void send_whole(void *context, const char *pair, const char *topic, const char *payload,
                       size_t bytes)
{
    (void)pair;
    (void)publish_text(context, topic, payload, bytes, 1);
}

/* Publishes in the robot's own format; false where its protocol has no such message, or not
 * yet. */
static bool publish_foreign(struct check *c, enum codec_kind kind, const char *text,
                            size_t bytes, int qos)
{
    struct codec_message message;
    char topic[MESSAGE_TOPIC_MAX];
    const struct codec_pair *to = c->o->foreign;
    const struct codec_out out = {.kind = kind,
                                  .pair = to->id,
                                  .side = c->o->side,
                                  .payload = text,
                                  .bytes = bytes,
                                  .t_us = lab_clock_now_us(),
                                  .to = to};
    if (!codec_encode(to->codec, &out, &message)) {
        return false;
    }
    const int n = snprintf(topic, sizeof topic, "%s/%s", to->prefix, message.topic);
    return n > 0 && (message.whole || (size_t)n < sizeof topic) &&
           publish_text(c, message.whole ? message.topic : topic, message.payload,
                        message.bytes, qos);
}

/* ---- receiving ----------------------------------------------------------------------- */

static struct check_asked *find_asked(struct check_received *h, const struct event_reply *r)
{
    struct check_asked *found = NULL;
    for (size_t i = 0; i < TALK_COUNT; i++) {
        struct check_asked *a = &h->asked[i];
        const bool owed = a->sent_us != LAB_TIME_NONE && a->count == 0;
        if (r->id[0] ? strcmp(a->id, r->id) == 0 : owed) {
            found = a;
            /* a reply without id answers the oldest open command, else the newest */
            if (r->status != REPLY_IGNORED) {
                break;
            }
        }
    }
    return found;
}

static void record_reply(struct check *c, const struct event *e)
{
    struct check_asked *a = find_asked(c->received, &e->reply);
    if (!a) {
        c->received->strangers++;
        memcpy(c->received->stranger, e->reply.id, sizeof c->received->stranger);
    } else if (a->count++ < CHECK_REPLIES) {
        a->replies[a->count - 1] = (struct check_reply){e->t_us, c->qos, e->reply};
    }
}

static void record_sample(struct check_received *h, const struct event *e)
{
    const struct event_telemetry *t = &e->telemetry;
    if (t->boot[0]) {
        memcpy(h->boot, t->boot, sizeof h->boot);
    }
    if (h->sample_count < CHECK_SAMPLES) {
        h->samples[h->sample_count++] = (struct check_sample){e->t_us, *t};
    }
}

static void record_echo(struct check_received *h, const struct event *e)
{
    if (e->echo.probe >= 1 && e->echo.probe <= CHECK_PROBES) {
        struct check_probe *p = &h->probes[e->echo.probe - 1];
        if (p->count++ == 0) {
            p->at_us = e->t_us;
            p->echo = e->echo;
        }
    }
}

static void record_malformed(struct check_received *h, const struct event_malformed *m,
                             bool foreign)
{
    const size_t k = names_value(&check_word_names, m->what);
    const size_t word = strcmp(m->what, "ack") == 0        ? WORD_ACK
                        : k == CHECK_WORD_COUNT && foreign ? WORD_REPLY
                                                           : k;
    if (word < CHECK_WORD_COUNT && h->malformed[word]++ == 0) {
        (void)snprintf(h->fault[word], sizeof h->fault[word], "%s%s%s", foreign ? m->what : "",
                       foreign ? ": " : "", m->detail);
    }
}

/* A native topic determines whether a message is retained; in a foreign protocol its content
 * does. */
static bool is_old(struct check_received *h, const struct event *e)
{
    static const uint8_t words[EVENT_KIND_COUNT] = {[EVENT_REPLY] = WORD_REPLY + 1,
                                                    [EVENT_TELEMETRY] = WORD_TELEMETRY + 1,
                                                    [EVENT_ECHO] = WORD_ECHO + 1,
                                                    [EVENT_ACK] = WORD_ACK + 1};
    if (e->retained && words[e->kind] > 0) {
        h->retained[words[e->kind] - 1]++;
    }
    return e->retained && words[e->kind] > 0;
}

static void record_event(void *context, const struct event *e)
{
    struct check *c = context;
    struct check_received *h = c->received;
    if ((c->o->foreign && e->side != c->o->side) || is_old(h, e)) {
        return;
    }
    if (e->kind == EVENT_REPLY) {
        record_reply(c, e);
    } else if (e->kind == EVENT_TELEMETRY) {
        record_sample(h, e);
    } else if (e->kind == EVENT_ECHO) {
        record_echo(h, e);
    } else if (e->kind == EVENT_CONNECTION) {
        h->has_connection = true;
        h->connection_retained = h->connection_retained || e->retained;
        h->connection = e->connection;
    } else if (e->kind == EVENT_ACK) {
        struct check_ack *a = e->ack.version == CHECK_SET_VERSION ? &h->set : &h->restored;
        a->count++;
        a->ack = e->ack;
    } else if (e->kind == EVENT_MALFORMED) {
        record_malformed(h, &e->malformed, c->o->foreign != NULL);
    }
}

/* Decodes by the codec; returns whether that knows the topic. */
static bool decode_foreign(struct check *c, const struct message *m)
{
    static char room[MESSAGE_PAYLOAD_MAX];
    const struct codec_sink sink = {.emit = record_event,
                                    .context = c,
                                    .send = send_whole,
                                    .send_context = c,
                                    .room = room,
                                    .room_bytes = sizeof room};
    c->qos = m->qos;
    return c->o->foreign && c->o->foreign->codec->receive(c->o->foreign, m, &sink);
}

static void receive_message(void *context, const struct message *m)
{
    struct check *c = context;
    if (decode_foreign(c, m)) {
        return;
    }
    const size_t n = strlen(m->topic);
    size_t word = 0;
    while (word < CHECK_WORD_COUNT) {
        const char *name = check_word_names.text[word];
        if (n > strlen(name) && strcmp(m->topic + n - strlen(name), name) == 0) {
            break;
        }
        word++;
    }
    if (word == CHECK_WORD_COUNT) { /* the parameter set in force */
        if (m->retained && m->stored_bytes < sizeof c->set) {
            memcpy(c->set, m->payload, m->stored_bytes);
            c->set_bytes = m->stored_bytes;
        }
        return;
    }
    if (m->retained && word != WORD_CONNECTION) {
        c->received->retained[word]++;
        return;
    }
    c->received->loud[word]++;
    c->qos = m->qos;
    (void)codec_native.decode(c->o->broker.prefix, m, record_event, c);
}

/* ---- talking ------------------------------------------------------------------------- */

static bool is_answered(const struct check *c, enum check_talk last)
{
    for (size_t i = 0; i <= last; i++) {
        const struct check_asked *a = &c->received->asked[i];
        if (a->sent_us != LAB_TIME_NONE && a->count == 0) {
            return false;
        }
    }
    return true;
}

/* Listens for this time, or until all commands up to this one are answered. */
static void listen_for(struct check *c, int64_t for_us, enum check_talk last)
{
    const int64_t until_us = lab_clock_monotonic_us() + for_us;
    while (!stop_signal_raised() && lab_clock_monotonic_us() < until_us &&
           (last == TALK_COUNT || !is_answered(c, last))) {
        const int64_t slice_us = lab_clock_monotonic_us() + GAP_US;
        session_wait(&c->session, slice_us < until_us ? slice_us : until_us);
        session_drain(&c->session, receive_message, c);
    }
}

/* Some codecs can only command after the robot has reported its position. */
static bool command_foreign(struct check *c, struct check_asked *a,
                            const struct event_command *command)
{
    char text[EVENT_RAW_MAX];
    struct json_writer w;
    const int64_t until_us = lab_clock_monotonic_us() + PLACE_US;
    bool sent = false;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write(&w, EVENT_COMMAND, command);
    if (!json_write_end(&w)) {
        return false;
    }
    do {
        a->sent_us = lab_clock_now_us();
        sent = publish_foreign(c, CODEC_COMMAND, text, w.used, 1);
        if (!sent) {
            listen_for(c, GAP_US, TALK_COUNT);
        }
    } while (!sent && c->o->foreign->codec->state_bytes > 0 && !stop_signal_raised() &&
             lab_clock_monotonic_us() < until_us && a == &c->received->asked[TALK_WHERE]);
    return sent;
}

static void send_command(struct check *c, enum check_talk talk, const char *op,
                         double rotation_rad, double displacement_m)
{
    struct event_command command = {.source_us = lab_clock_now_us(),
                                    .seq = -1,
                                    .rotation_rad = rotation_rad,
                                    .displacement_m = displacement_m};
    struct check_asked *a = &c->received->asked[talk];
    (void)snprintf(command.op, sizeof command.op, "%s", op);
    (void)snprintf(command.id, sizeof command.id, "check-%lld-%d",
                   (long long)(command.source_us / 1000000), (int)talk);
    memcpy(a->id, command.id, sizeof a->id);
    a->sent_us = command.source_us;
    a->count = 0;
    if (!(c->o->foreign ? command_foreign(c, a, &command)
                        : session_command(&c->session, c->command_topic, &command))) {
        a->sent_us = LAB_TIME_NONE;
    }
}

/* Sends a command and waits for the answer. */
static void send_and_wait(struct check *c, enum check_talk talk, const char *op,
                          double rotation_rad, double displacement_m)
{
    send_command(c, talk, op, rotation_rad, displacement_m);
    listen_for(c, lab_us(c->o->timeout_s), talk);
}

static bool publish_word(struct check *c, enum codec_kind kind, const char *word,
                         const char *text, size_t bytes, int qos)
{
    char rest[32];
    char topic[MESSAGE_TOPIC_MAX];
    if (c->o->foreign) {
        return publish_foreign(c, kind, text, bytes, qos);
    }
    (void)snprintf(rest, sizeof rest, "%s/%s", side_name(c->o->side), word);
    session_topic(topic, c->o->broker.prefix, c->o->pair, rest);
    return publish_text(c, topic, text, bytes, qos);
}

static void probe_clock(struct check *c, size_t index)
{
    char text[128];
    struct json_writer w;
    struct check_probe *p = &c->received->probes[index];
    const int64_t until_us = lab_clock_monotonic_us() + ANSWER_US;
    p->sent_us = lab_clock_now_us();
    json_write_start(&w, text, sizeof text, NULL, NULL);
    native_write_probe(&w, (int64_t)index + 1, p->sent_us);
    if (!check_has(c->o->foreign, "echo") || !json_write_end(&w) ||
        !publish_word(c, CODEC_PROBE, "probe", text, w.used, 0)) {
        return;
    }
    while (p->count == 0 && !stop_signal_raised() && lab_clock_monotonic_us() < until_us) {
        listen_for(c, GAP_US, TALK_COUNT);
    }
}

static void send_set(struct check *c, const char *text, const struct check_ack *awaited)
{
    const int64_t until_us = lab_clock_monotonic_us() + ANSWER_US;
    if (!publish_word(c, CODEC_PARAMETERS, "parameters", text, strlen(text), 1)) {
        return;
    }
    while (awaited->count == 0 && !stop_signal_raised() &&
           lab_clock_monotonic_us() < until_us) {
        listen_for(c, GAP_US, TALK_COUNT);
    }
}

/* Sends a set with an unknown parameter, then restores the set in force, or the robot's own. */
static void try_parameters(struct check *c)
{
    char text[1024];
    (void)snprintf(
        text, sizeof text,
        "{\"version\":%d,\"model\":\"travel_time\",\"values\":{\"t0_s\":0.05,\"ta_s\":0,"
        "\"tr_s\":0,\"angular_speed_radps\":1,\"linear_speed_mps\":0.2,"
        "\"" CHECK_NO_PARAMETER "\":1},\"adjust\":{\"t0_s\":{\"add\":0},\"ta_s\":{\"add\":0},"
        "\"tr_s\":{\"add\":0},\"angular_speed_radps\":{\"factor\":1},"
        "\"linear_speed_mps\":{\"factor\":1}}}",
        CHECK_SET_VERSION);
    send_set(c, text, &c->received->set);
    if (c->set_bytes > 0) {
        c->set[c->set_bytes] = '\0';
        send_set(c, c->set, &c->received->restored);
    } else {
        send_set(c, "{\"version\":0,\"model\":\"travel_time\",\"values\":{}}",
                 &c->received->restored);
    }
}

static void hold_conversation(struct check *c)
{
    const double turn_rad = c->o->rotation_rad;
    const double drive_m = c->o->displacement_m;
    listen_for(c, LISTEN_US, TALK_COUNT);
    probe_clock(c, 0);
    send_and_wait(c, TALK_WHERE, "go", 0.0, 0.0);
    if (c->o->foreign && c->received->asked[TALK_WHERE].count == 0) {
        /* The first answer may have made the codec ask who sends it. */
        send_and_wait(c, TALK_WHERE, "go", 0.0, 0.0);
    }
    if (c->received->asked[TALK_WHERE].count > 0) {
        send_and_wait(c, TALK_GO, "go", turn_rad, drive_m);
        send_command(c, TALK_LONG, "go", -2.0 * turn_rad, drive_m);
        listen_for(c, GAP_US, TALK_COUNT);
        send_command(c, TALK_SECOND, "go", turn_rad, 0.0);
        listen_for(c, GAP_US, TALK_COUNT);
        send_and_wait(c, TALK_HALT, "halt", 0.0, 0.0);
        listen_for(c, SETTLE_US, TALK_COUNT);
        send_and_wait(c, TALK_AFTER, "go", 0.0, 0.0);
        send_and_wait(c, TALK_IDLE, "halt", 0.0, 0.0);
        send_and_wait(c, TALK_WORD, "tandem_check", 0.0, 0.0);
    }
    probe_clock(c, 1);
    if (c->o->side == SIDE_VIRTUAL && check_has(c->o->foreign, "parameters")) {
        try_parameters(c);
    }
    listen_for(c, LISTEN_US, TALK_COUNT);
}

/* ---- the page -----------------------------------------------------------------------------
 */

struct page {
    const struct check_options *o;
    const struct check_findings *findings;
};

static size_t count_state(const struct check_findings *f, enum check_state state)
{
    size_t count = 0;
    for (size_t i = 0; i < f->count; i++) {
        count += f->finding[i].state == state;
    }
    return count;
}

static void write_page(const void *what, struct json_writer *w)
{
    const struct page *p = what;
    JSON_WRITE(w, JSON("pair", p->o->pair), JSON("side", side_name(p->o->side)));
    for (size_t s = 0; s < CHECK_STATE_COUNT; s++) {
        json_write_int(w, names_text(&check_state_names, s),
                       (int64_t)count_state(p->findings, (enum check_state)s));
    }
    JSON_LIST(w, "findings", size_t i = 0; i < p->findings->count; i++) {
        const struct check_finding *f = &p->findings->finding[i];
        JSON_WRITE_OBJECT(w, NULL, JSON("what", f->what),
                          JSON("state", names_text(&check_state_names, f->state)),
                          JSON("detail", f->detail), JSON("rule", f->rule),
                          JSON("document", f->document), JSON_OPTIONAL("term", f->term));
    }
}

static void print_page(const struct page *p)
{
    for (size_t i = 0; i < p->findings->count; i++) {
        const struct check_finding *f = &p->findings->finding[i];
        (void)printf("%-8s %s%s%s%s: %s\n", names_text(&check_state_names, f->state), f->what,
                     f->term[0] ? " (" : "", f->term, f->term[0] ? ")" : "", f->detail);
        if (f->state != CHECK_RIGHT) {
            (void)printf("         %s: %s\n", f->document, f->rule);
        }
    }
    (void)printf("%s/%s: %zu right, %zu missing, %zu wrong, %zu untried\n", p->o->pair,
                 side_name(p->o->side), count_state(p->findings, CHECK_RIGHT),
                 count_state(p->findings, CHECK_MISSING), count_state(p->findings, CHECK_WRONG),
                 count_state(p->findings, CHECK_UNTRIED));
}

/* ---- the run ------------------------------------------------------------------------- */

static void list_topics(const struct check *c)
{
    const struct check_options *o = c->o;
    struct codec_place place;
    for (size_t i = 0; (!o->foreign || o->foreign->codec->fallback) && i <= CHECK_WORD_COUNT;
         i++) {
        char rest[64];
        (void)snprintf(rest, sizeof rest, "%s/%s/%s", o->pair, side_name(o->side),
                       i < CHECK_WORD_COUNT ? check_word_names.text[i] : "parameters");
        topic_list_add(c->topics, o->broker.prefix, rest, i == WORD_TELEMETRY ? 0 : 1);
    }
    for (size_t k = 0; o->foreign && o->foreign->codec->place(o->foreign->options, k, &place);
         k++) {
        if (!place.silent && (place.side == o->side || place.side == SIDE_COUNT)) {
            topic_list_add(c->topics, "", place.filter, place.qos);
        }
    }
}

/* Opens an own connection, which receives retained messages first. */
static bool open_session(struct check *c, const char *name)
{
    char id[128];
    (void)snprintf(id, sizeof id, "%s-%s-%s", name, c->o->pair, side_name(c->o->side));
    struct mqtt_client_options client = c->o->broker;
    client.client_id = id;
    client.topics = c->topics->topic;
    client.topic_count = c->topics->count;
    return session_open(&c->session, client) &&
           session_await(&c->session, lab_clock_monotonic_us() + CONNECT_S * INT64_C(1000000));
}

static int judge_and_report(const struct check *c)
{
    static struct check_findings findings;
    const struct page page = {c->o, &findings};
    check_judge(c->o, c->received, &findings);
    if (c->o->foreign) {
        check_translate(c->o->foreign, &findings);
    }
    if (c->o->json) {
        json_file_print(stdout, write_page, &page);
    } else {
        print_page(&page);
    }
    return count_state(&findings, CHECK_WRONG) > 0 ? EXIT_AS_ASKED : EXIT_FINE;
}

int check_robot(const struct check_options *options)
{
    struct check c = {.o = options,
                      .received = calloc(1, sizeof *c.received),
                      .topics = calloc(1, sizeof *c.topics)};
    if (!c.received || !c.topics) {
        free(c.received);
        free(c.topics);
        return EXIT_FAILED;
    }
    list_topics(&c);
    for (size_t i = 0; i < TALK_COUNT; i++) {
        c.received->asked[i].sent_us = LAB_TIME_NONE;
    }
    for (size_t i = 0; i < CHECK_PROBES; i++) {
        c.received->probes[i].at_us = LAB_TIME_NONE;
    }
    char rest[32];
    (void)snprintf(rest, sizeof rest, "%s%scommand",
                   options->link ? side_name(options->side) : "", options->link ? "/" : "");
    session_topic(c.command_topic, options->broker.prefix, options->pair, rest);
    bool fine = open_session(&c, "check");
    if (fine) {
        hold_conversation(&c);
    }
    session_close(&c.session, STOP_MS);
    fine = session_was_connected(&c.session) && fine && !stop_signal_raised();
    /* A new connection receives the retained messages again. */
    c.session = (struct session){0};
    if (fine && open_session(&c, "check-again")) {
        listen_for(&c, LISTEN_US, TALK_COUNT);
    }
    session_close(&c.session, STOP_MS);
    const int exit_status = fine ? judge_and_report(&c) : EXIT_FAILED;
    free(c.received);
    free(c.topics);
    return exit_status;
}
