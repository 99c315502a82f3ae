/* One simulated robot on MQTT. Paho's thread decodes and queues; the main thread moves the
 * robot, and hands messages to the client when their transport delay is over. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <jansson.h>

#include "logger/codec.h"
#include "service/arguments.h"
#include "service/commands.h"
#include "service/lab_clock.h"
#include "service/mqtt_client.h"
#include "service/noise.h"
#include "service/stop_signal.h"
#include "twin/base/hash.h"
#include "twin/robots/kinematic.h"

enum {
    INBOX_MAX = 256,
    OUTBOX_MAX = 1024,
    PAYLOAD_MAX = 768,
    WAIT_MAX_US = 50 * 1000, /* a signal is noticed this soon */
    STOP_MS = 2000
};

struct robot_options {
    struct broker_arguments broker;
    const char *pair;
    const char *side;
    const char *mode; /* "observe" or "link" */
    struct kinematic_params motion;
    double delay_s, jitter_s, noise_s, clock_offset_s, clock_drift_ppm, loss_ratio,
        duplicate_ratio, telemetry_hz, for_s;
    int seed;
};

struct incoming {
    bool is_probe;
    struct event_command command;
    int64_t probe, sent_us, arrival_us;
};

enum outgoing_kind { OUT_REPLY, OUT_TELEMETRY, OUT_ECHO, OUT_COUNT };

struct outgoing {
    enum outgoing_kind kind;
    int64_t due_us;
    size_t bytes;
    char payload[PAYLOAD_MAX];
};

struct robot {
    struct robot_options options;
    struct mqtt_client *client;
    int64_t start_us;
    char boot[EVENT_BOOT_MAX];
    char command_topic[MESSAGE_TOPIC_MAX];
    char decode_topic[MESSAGE_TOPIC_MAX]; /* what the codec knows that topic as */
    char probe_topic[MESSAGE_TOPIC_MAX];
    char out_topics[OUT_COUNT][MESSAGE_TOPIC_MAX];
    char presence_topic[MESSAGE_TOPIC_MAX];

    pthread_mutex_t mutex;
    pthread_cond_t arrived; /* on the monotonic clock */
    struct incoming inbox[INBOX_MAX];
    size_t inbox_first, inbox_count;
    uint64_t overflow, malformed;

    /* The main thread's own: */
    struct kinematic kinematic;
    struct noise noise;
    struct outgoing outbox[OUTBOX_MAX];
    size_t outbox_first, outbox_count;
    int64_t last_due_us; /* one connection keeps its order */
    int64_t telemetry_us, telemetry_seq;
    uint64_t commands, replies, echoes, lost, duplicated, dropped;
};

/* The robot's own clock at a lab time. */
static int64_t robot_clock_us(const struct robot *r, int64_t lab_time_us)
{
    const double since_us = (double)(lab_time_us - r->start_us);
    return lab_time_us + (int64_t)llround(r->options.clock_offset_s * 1e6 +
                                          since_us * r->options.clock_drift_ppm * 1e-6);
}

/* --- Paho's thread -------------------------------------------------------------------------
 */

static void push(struct robot *r, const struct incoming *in)
{
    (void)pthread_mutex_lock(&r->mutex);
    if (r->inbox_count == INBOX_MAX) {
        r->overflow++;
    } else {
        r->inbox[(r->inbox_first + r->inbox_count++) % INBOX_MAX] = *in;
        (void)pthread_cond_signal(&r->arrived);
    }
    (void)pthread_mutex_unlock(&r->mutex);
}

static void take_event(void *context, const struct event *event)
{
    struct robot *r = context;
    if (event->kind == EVENT_COMMAND) {
        struct incoming in = {.command = event->command, .arrival_us = event->t_us};
        in.command.raw = NULL;
        push(r, &in);
    } else {
        (void)pthread_mutex_lock(&r->mutex);
        r->malformed++;
        (void)pthread_mutex_unlock(&r->mutex);
        (void)fprintf(stderr, "tandem: robot %s/%s: %s\n", r->options.pair, r->options.side,
                      event->malformed.detail);
    }
}

static void take_probe(struct robot *r, const char *payload, size_t bytes, int64_t now_us)
{
    json_int_t probe = 0;
    double sent_s = 0.0;
    json_t *document = json_loadb(payload, bytes, 0, NULL);
    if (document &&
        json_unpack(document, "{s:I, s:F}", "probe", &probe, "sent", &sent_s) == 0) {
        push(r, &(struct incoming){.is_probe = true,
                                   .probe = probe,
                                   .sent_us = lab_us(sent_s),
                                   .arrival_us = now_us});
    }
    json_decref(document);
}

static void take_message(void *context, const char *topic, const void *payload, size_t bytes,
                         int qos, bool retained, bool dup)
{
    struct robot *r = context;
    const int64_t now_us = lab_clock_now_us();
    if (retained) {
        return; /* an old command must not move a robot */
    }
    if (strcmp(topic, r->probe_topic) == 0) {
        take_probe(r, payload, bytes, now_us);
        return;
    }
    struct message message = {.t_us = now_us,
                              .qos = qos,
                              .dup = dup,
                              .payload = payload,
                              .kept_bytes =
                                  bytes < MESSAGE_PAYLOAD_MAX ? bytes : MESSAGE_PAYLOAD_MAX,
                              .payload_bytes = bytes};
    (void)snprintf(message.topic, sizeof message.topic, "%s", r->decode_topic);
    (void)codec_find("native")->decode(r->options.broker.prefix, &message, take_event, r);
}

/* --- the main thread -----------------------------------------------------------------------
 */

/* Begin a message; it leaves when its transport delay is over. NULL when the outbox is full. */
static struct outgoing *begin_message(struct robot *r, enum outgoing_kind kind, int64_t now_us,
                                      struct json_writer *w)
{
    if (r->outbox_count == OUTBOX_MAX) {
        r->dropped++;
        return NULL;
    }
    struct outgoing *out = &r->outbox[(r->outbox_first + r->outbox_count) % OUTBOX_MAX];
    double delay_s = r->options.delay_s;
    if (r->options.jitter_s > 0.0) {
        delay_s += noise_exponential(&r->noise, r->options.jitter_s);
    }
    out->kind = kind;
    out->due_us = now_us + lab_us(delay_s);
    out->due_us = out->due_us > r->last_due_us ? out->due_us : r->last_due_us;
    json_write_start(w, out->payload, sizeof out->payload, NULL, NULL);
    return out;
}

static void end_message(struct robot *r, struct outgoing *out, struct json_writer *w)
{
    if (json_write_end(w)) {
        out->bytes = w->used;
        r->last_due_us = out->due_us;
        r->outbox_count++;
    } else {
        r->dropped++;
    }
}

static void tell_done(struct robot *r, const struct kinematic_done *done)
{
    struct event_reply reply = {.status = done->status,
                                .source_us = robot_clock_us(r, done->end_us),
                                .source_start_us = robot_clock_us(r, done->start_us),
                                .value_count = done->value_count};
    (void)snprintf(reply.id, sizeof reply.id, "%s", done->id);
    memcpy(reply.values, done->values, sizeof done->values);
    if (noise_uniform(&r->noise, 0.0, 1.0) < r->options.loss_ratio) {
        r->lost++;
        return;
    }
    const bool twice = noise_uniform(&r->noise, 0.0, 1.0) < r->options.duplicate_ratio;
    for (int i = 0; i < (twice ? 2 : 1); i++) {
        struct json_writer w;
        struct outgoing *out = begin_message(r, OUT_REPLY, done->end_us, &w);
        if (out) {
            codec_write_reply(&w, &reply);
            end_message(r, out, &w);
        }
    }
    r->duplicated += twice;
    r->replies++;
}

static void tell_telemetry(struct robot *r, int64_t now_us)
{
    struct event_telemetry t = {.source_us = robot_clock_us(r, now_us),
                                .seq = r->telemetry_seq++,
                                .nu_count = KINEMATIC_AXES,
                                .pose_count = KINEMATIC_AXES};
    (void)snprintf(t.boot, sizeof t.boot, "%s", r->boot);
    kinematic_sample(&r->kinematic, now_us, t.nu, t.pose);
    struct json_writer w;
    struct outgoing *out = begin_message(r, OUT_TELEMETRY, now_us, &w);
    if (out) {
        codec_write_telemetry(&w, &t);
        end_message(r, out, &w);
    }
}

static void tell_echo(struct robot *r, const struct incoming *in, int64_t now_us)
{
    const struct event_echo echo = {.probe = in->probe,
                                    .sent_us = in->sent_us,
                                    .source_received_us = robot_clock_us(r, in->arrival_us),
                                    .source_us = robot_clock_us(r, now_us)};
    struct json_writer w;
    struct outgoing *out = begin_message(r, OUT_ECHO, now_us, &w);
    if (out) {
        codec_write_echo(&w, &echo);
        end_message(r, out, &w);
        r->echoes++;
    }
}

static bool pop(struct robot *r, struct incoming *in)
{
    (void)pthread_mutex_lock(&r->mutex);
    const bool some = r->inbox_count > 0;
    if (some) {
        *in = r->inbox[r->inbox_first];
        r->inbox_first = (r->inbox_first + 1) % INBOX_MAX;
        r->inbox_count--;
    }
    (void)pthread_mutex_unlock(&r->mutex);
    return some;
}

static void drain_inbox(struct robot *r, int64_t now_us)
{
    struct incoming in;
    struct kinematic_done done;
    while (pop(r, &in)) {
        if (in.is_probe) {
            tell_echo(r, &in, now_us);
            continue;
        }
        /* What ended before this command came makes room in the queue. */
        while (kinematic_step(&r->kinematic, in.arrival_us, &done)) {
            tell_done(r, &done);
        }
        const double noise_s =
            r->options.noise_s > 0.0 ? noise_normal(&r->noise, r->options.noise_s) : 0.0;
        r->commands++;
        if (!kinematic_command(&r->kinematic, in.arrival_us, &in.command, noise_s)) {
            (void)fprintf(stderr, "tandem: robot %s/%s: command %s refused, %d wait already\n",
                          r->options.pair, r->options.side, in.command.id, KINEMATIC_QUEUE_MAX);
        }
    }
}

static void send_due(struct robot *r, int64_t now_us)
{
    while (r->outbox_count > 0 && r->outbox[r->outbox_first].due_us <= now_us) {
        const struct outgoing *out = &r->outbox[r->outbox_first];
        const int qos = out->kind == OUT_REPLY ? 1 : 0;
        if (mqtt_client_publish(r->client, r->out_topics[out->kind], out->payload, out->bytes,
                                qos, false) != STATUS_OK) {
            r->dropped++;
        }
        r->outbox_first = (r->outbox_first + 1) % OUTBOX_MAX;
        r->outbox_count--;
    }
}

/* Until something is due, a message arrives or WAIT_MAX_US are over. */
static void wait_for_work(struct robot *r)
{
    const int64_t now_us = lab_clock_now_us();
    int64_t next_us = now_us + WAIT_MAX_US;
    const int64_t end_us = kinematic_next_us(&r->kinematic);
    next_us = end_us < next_us ? end_us : next_us;
    if (r->outbox_count > 0 && r->outbox[r->outbox_first].due_us < next_us) {
        next_us = r->outbox[r->outbox_first].due_us;
    }
    if (r->options.telemetry_hz > 0.0 && r->telemetry_us < next_us) {
        next_us = r->telemetry_us;
    }
    if (next_us <= now_us) {
        return;
    }
    const int64_t until_us = lab_clock_monotonic_us() + next_us - now_us;
    const struct timespec t = {until_us / 1000000, until_us % 1000000 * 1000};
    (void)pthread_mutex_lock(&r->mutex);
    if (r->inbox_count == 0) {
        (void)pthread_cond_timedwait(&r->arrived, &r->mutex, &t);
    }
    (void)pthread_mutex_unlock(&r->mutex);
}

static void live(struct robot *r)
{
    const int64_t end_us =
        r->options.for_s > 0.0 ? r->start_us + lab_us(r->options.for_s) : LAB_TIME_MAX;
    while (!stop_signal_raised() && lab_clock_now_us() < end_us) {
        struct kinematic_done done;
        const int64_t now_us = lab_clock_now_us();
        drain_inbox(r, now_us);
        while (kinematic_step(&r->kinematic, now_us, &done)) {
            tell_done(r, &done);
        }
        if (r->options.telemetry_hz > 0.0 && now_us >= r->telemetry_us) {
            tell_telemetry(r, now_us);
            r->telemetry_us += lab_us(1.0 / r->options.telemetry_hz);
            r->telemetry_us = r->telemetry_us > now_us ? r->telemetry_us : now_us;
        }
        send_due(r, now_us);
        wait_for_work(r);
    }
}

/* --- beginning and end ---------------------------------------------------------------------
 */

static void name_topics(struct robot *r)
{
    static const char *const words[OUT_COUNT] = {"reply", "telemetry", "echo"};
    const struct robot_options *o = &r->options;
    char stem[MESSAGE_TOPIC_MAX / 2];
    (void)snprintf(stem, sizeof stem, "%s/%s", o->broker.prefix, o->pair);
    (void)snprintf(r->decode_topic, sizeof r->decode_topic, "%s/command", stem);
    if (strcmp(o->mode, "link") == 0) {
        (void)snprintf(r->command_topic, sizeof r->command_topic, "%s/%s/command", stem,
                       o->side);
    } else {
        (void)snprintf(r->command_topic, sizeof r->command_topic, "%s", r->decode_topic);
    }
    (void)snprintf(r->probe_topic, sizeof r->probe_topic, "%s/%s/probe", stem, o->side);
    (void)snprintf(r->presence_topic, sizeof r->presence_topic, "%s/%s/connection", stem,
                   o->side);
    for (size_t i = 0; i < OUT_COUNT; i++) {
        (void)snprintf(r->out_topics[i], sizeof r->out_topics[i], "%s/%s/%s", stem, o->side,
                       words[i]);
    }
}

static void write_presence(const struct robot *r, bool online, char text[128])
{
    struct event_connection connection = {.online = online, .source_us = LAB_TIME_NONE};
    struct json_writer w;
    (void)snprintf(connection.boot, sizeof connection.boot, "%s", r->boot);
    json_write_start(&w, text, 127, NULL, NULL);
    codec_write_connection(&w, &connection);
    (void)json_write_end(&w);
    text[w.used] = '\0';
}

static int run(struct robot *r)
{
    char id[128];
    char online[128];
    char offline[128];
    struct err err = {0};
    struct mqtt_client_state state;
    const struct mqtt_client_topic topics[] = {{r->command_topic, 1}, {r->probe_topic, 0}};
    write_presence(r, true, online);
    write_presence(r, false, offline);
    (void)snprintf(id, sizeof id, "robot-%s-%s", r->options.pair, r->options.side);
    struct mqtt_client_options client = broker_arguments_options(&r->options.broker, id);
    client.presence = r->presence_topic;
    client.online = online;
    client.offline = offline;
    client.topics = topics;
    client.topic_count = COUNT(topics);
    client.message = take_message;
    client.context = r;
    if (mqtt_client_create(&r->client, &client, &err) != STATUS_OK) {
        (void)fprintf(stderr, "tandem: %s: %s\n", err.where, err.text);
        return EXIT_FAILED;
    }
    live(r);
    mqtt_client_read_state(r->client, &state);
    mqtt_client_stop(r->client, STOP_MS);
    mqtt_client_destroy(r->client);
    (void)printf("robot %s/%s: %" PRIu64 " commands, %" PRIu64 " replies, %" PRIu64
                 " echoes, %" PRIu64 " lost, %" PRIu64 " duplicated, %" PRIu64
                 " dropped, %" PRIu64 " malformed\n",
                 r->options.pair, r->options.side, r->commands, r->replies, r->echoes, r->lost,
                 r->duplicated, r->dropped + r->overflow, r->malformed);
    if (state.connections == 0) {
        (void)fprintf(stderr, "tandem: %s\n",
                      state.error[0] ? state.error : "was never connected");
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

static int start(const struct robot_options *options)
{
    struct robot *r = calloc(1, sizeof *r);
    if (!r) {
        (void)fputs("tandem: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    r->options = *options;
    r->start_us = lab_clock_now_us();
    r->telemetry_us = r->start_us;
    r->noise.state = (uint64_t)options->seed;
    const uint64_t mark =
        hash_bytes(HASH_START, &r->start_us, sizeof r->start_us) ^ (uint64_t)getpid();
    (void)snprintf(r->boot, sizeof r->boot, "%08" PRIx32, (uint32_t)(mark ^ (mark >> 32)));
    kinematic_init(&r->kinematic, &options->motion);
    pthread_condattr_t monotonic;
    (void)pthread_condattr_init(&monotonic);
    (void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&r->arrived, &monotonic);
    (void)pthread_condattr_destroy(&monotonic);
    (void)pthread_mutex_init(&r->mutex, NULL);
    name_topics(r);
    stop_signal_install();
    const int exit_status = run(r);
    (void)pthread_cond_destroy(&r->arrived);
    (void)pthread_mutex_destroy(&r->mutex);
    free(r);
    return exit_status;
}

int command_robot(int argc, char **argv)
{
    struct robot_options o = {
        .broker = broker_arguments_defaults(),
        .pair = "r1",
        .side = "real",
        .mode = "observe",
        .motion = {.angular_speed_radps = 1.0, .linear_speed_mps = 0.2, .t0_s = 0.05},
        .seed = 1};
    /* clang-format off */
    const struct argument rows[] = {
        {"pair", 0, ARGUMENT_TEXT, &o.pair, 0, 0, "ID", "whose robot it is (r1)"},
        {"side", 0, ARGUMENT_TEXT, &o.side, 0, 0, "real|virtual", "which of the two (real)"},
        {"mode", 0, ARGUMENT_TEXT, &o.mode, 0, 0, "observe|link",
         "hear PAIR/command or PAIR/SIDE/command (observe)"},
        {"angular-speed", 0, ARGUMENT_REAL, &o.motion.angular_speed_radps, 1e-3, 1e3, "RAD/S", "while turning (1)"},
        {"linear-speed", 0, ARGUMENT_REAL, &o.motion.linear_speed_mps, 1e-3, 1e3, "M/S", "while driving (0.2)"},
        {"t0", 0, ARGUMENT_REAL, &o.motion.t0_s, 0, 3600, "S", "of every command (0.05)"},
        {"ta", 0, ARGUMENT_REAL, &o.motion.ta_s, 0, 3600, "S", "before each rotation (0)"},
        {"tr", 0, ARGUMENT_REAL, &o.motion.tr_s, 0, 3600, "S", "before each displacement (0)"},
        {"noise", 0, ARGUMENT_REAL, &o.noise_s, 0, 3600, "S", "standard deviation of a lap (0)"},
        {"delay", 0, ARGUMENT_REAL, &o.delay_s, 0, 3600, "S", "transport of what the robot says (0)"},
        {"jitter", 0, ARGUMENT_REAL, &o.jitter_s, 0, 3600, "S", "mean of the exponential part of it (0)"},
        {"clock-offset", 0, ARGUMENT_REAL, &o.clock_offset_s, -1e9, 1e9, "S", "of the robot's clock (0)"},
        {"clock-drift", 0, ARGUMENT_REAL, &o.clock_drift_ppm, -1e5, 1e5, "PPM", "of the robot's clock (0)"},
        {"loss", 0, ARGUMENT_REAL, &o.loss_ratio, 0, 1, "P", "share of replies that get lost (0)"},
        {"duplicate", 0, ARGUMENT_REAL, &o.duplicate_ratio, 0, 1, "P", "share of replies said twice (0)"},
        {"telemetry-rate", 0, ARGUMENT_REAL, &o.telemetry_hz, 0, 1000, "HZ", "samples of velocity and pose (0)"},
        {"seed", 0, ARGUMENT_INTEGER, &o.seed, 0, 2147483647, "N", "of noise, jitter and loss (1)"},
        {"for", 0, ARGUMENT_REAL, &o.for_s, 0, 1e9, "S", "end by itself (runs until a signal)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "robot",
        .purpose = "a simulated differential-drive robot on MQTT",
        .operands = "",
        .description = "  Takes commands (go, lidar, halt), does up to 16 of them one after "
                       "the other, and\n"
                       "  answers each when it is done, with start and end on its own clock "
                       "and its pose.\n"
                       "  A move takes t0 + [rotation](ta + |rotation|/angular speed) +\n"
                       "  [displacement](tr + |displacement|/linear speed). It also answers "
                       "clock probes,\n"
                       "  says online and offline, and publishes telemetry when asked to.\n",
        .examples = "  tandem robot --side real --linear-speed 0.18 --clock-offset 0.8\n"
                    "  tandem robot --side virtual --telemetry-rate 20\n",
        .exit_status = "there was never a connection to the broker",
        .rows = rows,
        .row_count = COUNT(rows),
        .broker = &o.broker};
    int first = 0;
    int exit_status = EXIT_USAGE;
    if (!arguments_parse(&arguments, argc, argv, &first, &exit_status)) {
        return exit_status;
    }
    if (strlen(o.broker.prefix) >= CODEC_PREFIX_MAX - EVENT_PAIR_MAX || !o.pair[0] ||
        strlen(o.pair) >= EVENT_PAIR_MAX || strpbrk(o.pair, "/+#")) {
        (void)fputs("tandem: --prefix and --pair: shorter ones without / + # in the pair were "
                    "expected\n",
                    stderr);
        return EXIT_USAGE;
    }
    return start(&o);
}
