/* L1 in its simplest form: sends moves one after the other, each when the one before is
 * answered. Paho's thread notes replies; the main thread sends and waits. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/random.h"
#include "logger/message/codec_native.h"
#include "service/cli/commands.h"
#include "service/cli/lab_clock.h"
#include "service/cli/stop_signal.h"
#include "service/mqtt/broker_arguments.h"
#include "service/robots/session.h"

enum { STOP_MS = 3000, CONNECT_WAIT_MS = 100, REPLIES_MAX = 256 };

struct drive_options {
    struct mqtt_client_options broker;
    const char *pair;
    const char *mode;
    double interval_s, timeout_s, for_s, turn_min_rad, turn_max_rad, drive_min_m, drive_max_m;
    int count;
    int seed;
    bool quiet;
};

/* A reply that arrived. */
struct arrival {
    char id[EVENT_ID_MAX];
    enum side side;
    int64_t t_us;
};

struct drive {
    struct drive_options options;
    struct session session;
    struct random_source random;
    bool link;
    char command_topic[MESSAGE_TOPIC_MAX];
    char reply_topic[MESSAGE_TOPIC_MAX];             /* L1's own; link mode */
    char side_topics[SIDE_COUNT][MESSAGE_TOPIC_MAX]; /* observe mode */
    int64_t
        lap_us[SIDE_COUNT]; /* LAB_TIME_NONE: not yet; in link mode [SIDE_REAL] is the reply */
    uint64_t sent, answered, timed_out;
};

static void take_reply(void *context, const struct event *event)
{
    struct drive *d = context;
    struct arrival arrival = {.side = event->side, .t_us = event->t_us};
    if (event->kind == EVENT_REPLY) {
        (void)snprintf(arrival.id, sizeof arrival.id, "%s", event->reply.id);
        (void)session_push(&d->session, &arrival);
    }
}

static void take_message(void *context, const char *topic, const void *payload, size_t bytes,
                         int qos, bool retained, bool dup)
{
    struct drive *d = context;
    if (retained || bytes > MESSAGE_PAYLOAD_MAX) {
        return;
    }
    struct message message = {.t_us = lab_clock_now_us(),
                              .qos = qos,
                              .dup = dup,
                              .payload = payload,
                              .kept_bytes = bytes,
                              .payload_bytes = bytes};
    /* L1's own reply has the form of a robot's. */
    (void)snprintf(message.topic, sizeof message.topic, "%s",
                   strcmp(topic, d->reply_topic) == 0 ? d->side_topics[SIDE_REAL] : topic);
    (void)codec_native.decode(d->options.broker.prefix, &message, take_reply, d);
}

static double draw_size(struct random_source *random, double min, double max)
{
    return rint(random_between(random, min, max) * 1000.0) / 1000.0;
}

/* Moves of all three classes, so that every parameter of the travel time can be told apart. */
static void draw_move(struct drive *d, struct event_command *command)
{
    const struct drive_options *o = &d->options;
    const double kind = random_between(&d->random, 0.0, 3.0);
    const double sign = random_between(&d->random, -1.0, 1.0) < 0.0 ? -1.0 : 1.0;
    const double turn_rad = sign * draw_size(&d->random, o->turn_min_rad, o->turn_max_rad);
    const double drive_m = draw_size(&d->random, o->drive_min_m, o->drive_max_m);
    (void)snprintf(command->op, sizeof command->op, "go");
    command->rotation_rad = kind < 2.0 ? turn_rad : 0.0;
    command->displacement_m = kind >= 1.0 ? drive_m : 0.0;
}

static bool send_move(struct drive *d, const struct event_command *command)
{
    char payload[EVENT_RAW_MAX];
    struct json_writer w;
    struct arrival late; /* of commands before */
    while (session_pop(&d->session, &late)) {
    }
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    native_write(&w, EVENT_COMMAND, command);
    (void)json_write_end(&w);
    d->lap_us[SIDE_REAL] = LAB_TIME_NONE;
    d->lap_us[SIDE_VIRTUAL] = LAB_TIME_NONE;
    return mqtt_client_publish(d->session.client, d->command_topic, payload, w.used, 1,
                               false) == STATUS_OK;
}

static bool is_answered(const struct drive *d)
{
    return d->lap_us[SIDE_REAL] != LAB_TIME_NONE &&
           (d->link || d->lap_us[SIDE_VIRTUAL] != LAB_TIME_NONE);
}

/* Wait for the replies. Goes on after a stop signal: a command that is out shall be closed. */
static bool wait_for_replies(struct drive *d, const struct event_command *command)
{
    const int64_t limit_us = lab_clock_monotonic_us() + lab_us(d->options.timeout_s);
    while (!is_answered(d) && lab_clock_monotonic_us() < limit_us) {
        struct arrival arrival;
        session_wait(&d->session, limit_us);
        while (session_pop(&d->session, &arrival)) {
            int64_t *lap_us = &d->lap_us[arrival.side];
            if (strcmp(arrival.id, command->id) == 0 && *lap_us == LAB_TIME_NONE) {
                *lap_us = arrival.t_us - command->source_us;
            }
        }
    }
    return is_answered(d);
}

static void pause_between(const struct drive *d, int64_t end_us)
{
    int64_t until_us = lab_clock_monotonic_us() + lab_us(d->options.interval_s);
    until_us = until_us < end_us ? until_us : end_us;
    (void)session_sleep(until_us);
}

static void show_reply(const struct drive *d, const struct event_command *command)
{
    (void)printf("%s  %+.3f rad  %.3f m ", command->id, command->rotation_rad,
                 command->displacement_m);
    for (int side = 0; side < (d->link ? 1 : SIDE_COUNT); side++) {
        const char *name = d->link ? "reply" : side_name((enum side)side);
        if (d->lap_us[side] == LAB_TIME_NONE) {
            (void)printf("  %s -", name);
        } else {
            (void)printf("  %s %.3f s", name, lab_s(d->lap_us[side]));
        }
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

static void drive_all(struct drive *d)
{
    const struct drive_options *o = &d->options;
    const int64_t end_us =
        o->for_s > 0.0 ? lab_clock_monotonic_us() + lab_us(o->for_s) : LAB_TIME_MAX;
    const int64_t run = lab_clock_now_us() / 1000000;
    while (!stop_signal_raised() && lab_clock_monotonic_us() < end_us &&
           !mqtt_client_wait_subscribed(d->session.client, CONNECT_WAIT_MS)) {
    }
    for (int n = 1; !stop_signal_raised() && lab_clock_monotonic_us() < end_us &&
                    (o->count == 0 || n <= o->count);
         n++) {
        struct event_command command = {.source_us = lab_clock_now_us()};
        (void)snprintf(command.id, sizeof command.id, "c%" PRIx64 "-%d", run, n);
        draw_move(d, &command);
        if (!send_move(d, &command)) {
            (void)fputs("tandem: drive: the link's buffer is full\n", stderr);
            pause_between(d, end_us);
            continue;
        }
        d->sent++;
        if (wait_for_replies(d, &command)) {
            d->answered++;
        } else {
            d->timed_out++;
        }
        if (!o->quiet) {
            show_reply(d, &command);
        }
        pause_between(d, end_us);
    }
}

static int run_drive(struct drive *d)
{
    char id[128];
    const struct mqtt_client_topic topics[] = {
        {d->link ? d->reply_topic : d->side_topics[SIDE_REAL], 1},
        {d->side_topics[SIDE_VIRTUAL], 1}};
    (void)snprintf(id, sizeof id, "drive-%s", d->options.pair);
    struct mqtt_client_options client = broker_arguments_options(&d->options.broker, id);
    client.topics = topics;
    client.topic_count = d->link ? 1 : 2;
    client.message = take_message;
    client.context = d;
    if (!session_open(&d->session, &client)) {
        return EXIT_FAILED;
    }
    drive_all(d);
    session_close(&d->session, STOP_MS);
    (void)printf("drive %s: %" PRIu64 " commands, %" PRIu64 " answered, %" PRIu64
                 " timed out\n",
                 d->options.pair, d->sent, d->answered, d->timed_out);
    return session_was_connected(&d->session) ? EXIT_FINE : EXIT_FAILED;
}

static int start_drive(const struct drive_options *options)
{
    struct drive d = {.options = *options};
    char stem[MESSAGE_TOPIC_MAX / 2];
    int exit_status = EXIT_FAILED;
    d.link = strcmp(options->mode, "link") == 0;
    d.random.state = (uint64_t)options->seed;
    (void)snprintf(stem, sizeof stem, "%s/%s", options->broker.prefix, options->pair);
    (void)snprintf(d.command_topic, sizeof d.command_topic, "%s/command", stem);
    (void)snprintf(d.reply_topic, sizeof d.reply_topic, "%s/reply", stem);
    for (enum side side = SIDE_REAL; side < SIDE_COUNT; side++) {
        (void)snprintf(d.side_topics[side], sizeof d.side_topics[side], "%s/%s/reply", stem,
                       side_name(side));
    }
    if (session_init(&d.session, sizeof(struct arrival), REPLIES_MAX) == STATUS_OK) {
        stop_signal_install();
        exit_status = run_drive(&d);
    } else {
        (void)fputs("tandem: out of memory\n", stderr);
    }
    session_finish(&d.session);
    return exit_status;
}

int command_drive(int argc, char **argv)
{
    struct drive_options o = {.broker = broker_arguments_defaults(),
                              .pair = "r1",
                              .mode = "observe",
                              .interval_s = 0.2,
                              .timeout_s = 10.0,
                              .turn_min_rad = 0.3,
                              .turn_max_rad = 3.0,
                              .drive_min_m = 0.1,
                              .drive_max_m = 1.0,
                              .seed = 1};
    /* clang-format off */
    const struct argument rows[] = {
        {"pair", 0, ARGUMENT_TEXT, &o.pair, 0, 0, "ID", "whom to command (r1)"},
        {"mode", 0, ARGUMENT_TEXT, &o.mode, 0, 0, "observe|link",
         "wait for both robots' replies, or for the merged one (observe)"},
        {"interval", 0, ARGUMENT_REAL, &o.interval_s, 0, 3600, "S", "pause after the replies (0.2)"},
        {"timeout", 0, ARGUMENT_REAL, &o.timeout_s, 0.001, 86400, "S", "go on without replies after it (10)"},
        {"turn-min", 0, ARGUMENT_REAL, &o.turn_min_rad, 0.001, 1000, "RAD", "smallest rotation (0.3)"},
        {"turn-max", 0, ARGUMENT_REAL, &o.turn_max_rad, 0.001, 1000, "RAD", "largest rotation (3)"},
        {"drive-min", 0, ARGUMENT_REAL, &o.drive_min_m, 0.001, 1000, "M", "smallest displacement (0.1)"},
        {"drive-max", 0, ARGUMENT_REAL, &o.drive_max_m, 0.001, 1000, "M", "largest displacement (1)"},
        {"seed", 0, ARGUMENT_INTEGER, &o.seed, 0, 2147483647, "N", "of the random moves (1)"},
        {"count", 'n', ARGUMENT_INTEGER, &o.count, 1, 2147483647, "N", "end after so many commands"},
        {"for", 0, ARGUMENT_REAL, &o.for_s, 0, 1e9, "S", "end after this time (runs until a signal)"},
        {"quiet", 'q', ARGUMENT_FLAG, &o.quiet, 0, 0, NULL, "print the last line only"},
    };
    /* clang-format on */
    struct broker_group broker;
    broker_arguments_group(&o.broker, &broker);
    const struct arguments arguments = {
        .command = "drive",
        .operands = "",
        .description = "  Sends moves to PAIR/command: rotations, displacements, and both, of "
                       "random size.\n"
                       "  The next one follows when the last one is answered or its time is "
                       "over. After a\n"
                       "  signal the command that is out is still waited for.\n",
        .examples = "  tandem drive --pair r1 --count 100 --interval 0\n",
        .exit_status = "there was never a connection to the broker",
        .rows = rows,
        .row_count = COUNT(rows),
        .more = &broker.group};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_TAKEN) {
        return exit_status;
    }
    if (!session_names_fit(o.broker.prefix, o.pair, 0)) {
        return EXIT_USAGE;
    }
    if (o.turn_max_rad < o.turn_min_rad || o.drive_max_m < o.drive_min_m) {
        (void)fputs(
            "tandem: --turn-max and --drive-max: at least the smallest size was expected\n",
            stderr);
        return EXIT_USAGE;
    }
    return start_drive(&o);
}
