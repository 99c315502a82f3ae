/* service/mqtt/play_command.c - `tandem play`: republishes recorded messages with their
 * original pauses. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "logger/message/message.h"
#include "logger/storage/journal_reader.h"
#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/session.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/progress.h"
#include "service/tool/stop_signal.h"

enum {
    CONNECT_US = 15 * 1000 * 1000,
    ACKNOWLEDGE_MS = 60000,
    STOP_MS = 3000,
    RETRY_US = 2 * 1000, /* pause when the client's buffer is full */
    SHOWN_FAULTS_MAX = 10
};

struct play {
    struct mqtt_client_options broker;
    double speed; /* 0: without pauses */
    int qos;      /* -1: as recorded */
    const char *from, *to;
    bool retain; /* keep the retain flag of recorded messages */
    bool json;   /* print the counts as JSON */

    struct session session;
    struct journal_reader *reader;
    const char *where; /* the recording's name, for errors */
    char scratch[MESSAGE_PAYLOAD_MAX + 1];
    int64_t first_us, begin_us; /* stamp and our time of the first message */
    uint64_t lines, blank, sent, skipped, malformed, cut, refused;
    bool whole; /* no line was too long */
};

/* Replaces the prefix; false when the result is too long. A topic without the prefix stays. */
static bool map_topic(const struct play *p, const char *topic, char out[MESSAGE_TOPIC_MAX])
{
    const size_t n = p->from ? strlen(p->from) : 0;
    int bytes = 0;
    if (n > 0 && strncmp(topic, p->from, n) == 0 && (topic[n] == '/' || topic[n] == '\0')) {
        bytes = snprintf(out, MESSAGE_TOPIC_MAX, "%s%s", p->to, topic + n);
    } else {
        bytes = snprintf(out, MESSAGE_TOPIC_MAX, "%s", topic);
    }
    return bytes > 0 && bytes < MESSAGE_TOPIC_MAX;
}

/* Waits until the message's time has come. Returns false on a stop signal. */
static bool wait_for_pace(struct play *p, int64_t t_us)
{
    if (p->first_us == LAB_TIME_NONE) {
        p->first_us = t_us;
        p->begin_us = lab_clock_monotonic_us();
    }
    if (!(p->speed > 0.0)) {
        return !stop_signal_raised();
    }
    const int64_t due_us =
        p->begin_us + (int64_t)llround((double)(t_us - p->first_us) / p->speed);
    return session_sleep(due_us);
}

/* Publishes one message and waits while the client's buffer is full. */
static void send_message(struct play *p, const struct message *m, const char *topic)
{
    const int qos = p->qos >= 0 ? p->qos : m->qos;
    const bool retained = p->retain && m->retained;
    enum status status = STATUS_E_FULL;
    while (status == STATUS_E_FULL && !stop_signal_raised()) {
        status = mqtt_client_publish(p->session.client, topic, m->payload, m->stored_bytes, qos,
                                     retained);
        if (status == STATUS_E_FULL) {
            lab_clock_sleep_until_us(lab_clock_monotonic_us() + RETRY_US);
        }
    }
    if (status == STATUS_OK) {
        p->sent++;
    } else {
        p->refused++;
    }
}

static bool play_line(struct play *p, const struct journal_line *line)
{
    struct message m;
    struct err err = {0};
    char topic[MESSAGE_TOPIC_MAX];
    p->lines++;
    const enum status status =
        line->overlong ? err_set_at(&err, STATUS_E_PARSE, FAULT_TOO_LONG, "", 0, 1,
                                    "a line of more than %d bytes: not sent", MESSAGE_LINE_MAX)
                       : message_parse(line->text, line->bytes, p->scratch, &m, &err);
    p->whole = p->whole && !line->overlong;
    if (status == STATUS_E_EMPTY) {
        p->blank++;
        return true;
    }
    if (status != STATUS_OK) {
        if (p->malformed++ < SHOWN_FAULTS_MAX) {
            complain("%s:%" PRIu64 ":%u: %s", line->path, line->number, err.column, err.text);
        }
    } else if (strstr(m.topic, "/$lab/") || strstr(m.topic, "/heartbeat/") ||
               m.topic[0] == '$') { /* the daemon's own lines, and heartbeats */
        p->skipped++;
    } else if (m.stored_bytes < m.payload_bytes || !map_topic(p, m.topic, topic)) {
        p->cut++;
    } else if (wait_for_pace(p, m.t_us)) {
        send_message(p, &m, topic);
    } else {
        return false;
    }
    return true;
}

static bool play_all(struct play *p)
{
    struct progress progress;
    struct journal_reader_stats stats;
    struct journal_line line;
    bool whole = true;
    progress_start(&progress, "play");
    for (;;) {
        struct err err = {0};
        const enum status status = journal_reader_next(p->reader, &line, &err);
        if (status == STATUS_E_EMPTY) {
            break;
        }
        if (status != STATUS_OK) {
            complain_err(&err);
            whole = false;
            continue;
        }
        if (!play_line(p, &line)) {
            break;
        }
        if (progress.shown) {
            journal_reader_stats(p->reader, &stats);
            progress_step(&progress, stats.bytes, stats.total_bytes);
        }
    }
    progress_end(&progress);
    return whole && !stop_signal_raised();
}

static void write_counts(const void *play, struct json_writer *w)
{
    const struct play *p = play;
    JSON_WRITE(w, JSON_OF(p, lines, sent, skipped, malformed, cut, refused),
               JSON("acknowledged", p->session.state.acknowledged));
}

static void print_counts(const struct play *p)
{
    (void)printf("play: %" PRIu64 " lines, %" PRIu64 " sent, %" PRIu64 " acknowledged, %" PRIu64
                 " skipped, %" PRIu64 " malformed, %" PRIu64 " cut, %" PRIu64 " refused\n",
                 p->lines, p->sent, p->session.state.acknowledged, p->skipped, p->malformed,
                 p->cut, p->refused);
}

static int run_play(struct play *p)
{
    const struct mqtt_client_state *state = &p->session.state;
    struct mqtt_client_options client = broker_arguments_options(&p->broker, "play");
    client.unique_id = true;
    if (!session_open(&p->session, client)) {
        return EXIT_FAILED;
    }
    if (fabs(p->speed - 1.0) > 0.0) {
        complain(
            "play: note: at another speed the robots' stamps no longer agree with arrivals: "
            "laps and verdicts differ from the recorded ones; tandem replay gives those");
    }
    const bool connected = session_await(&p->session, lab_clock_monotonic_us() + CONNECT_US);
    bool whole = connected && play_all(p) && p->whole;
    if (whole && p->lines == p->blank + p->malformed) {
        complain("%s: %s: what mosquitto_sub -F %%J printed, or a journal of the daemon, was "
                 "expected",
                 p->where,
                 p->malformed ? "not one line of it is a message" : "nothing is in it");
        whole = false;
    }
    if (connected && !mqtt_client_wait_sent(p->session.client,
                                            stop_signal_raised() ? STOP_MS : ACKNOWLEDGE_MS)) {
        complain("play: the broker did not acknowledge everything");
        whole = false;
    }
    session_close(&p->session, STOP_MS);
    if (!connected) {
        complain("%s", state->error);
    }
    if (p->json) {
        json_file_print(stdout, write_counts, p);
    } else {
        print_counts(p);
    }
    return whole && p->refused == 0 && state->failed == 0 ? EXIT_FINE : EXIT_FAILED;
}

static int start_play(struct play *p, const char *const *paths)
{
    struct err err = {0};
    int exit_status = EXIT_FAILED;
    size_t count = 0;
    while (paths[count]) {
        count++;
    }
    p->where = count == 1 ? paths[0] : "the recording";
    if (journal_reader_open_files(paths, count, &p->reader, &err) == STATUS_OK) {
        exit_status = run_play(p);
    } else {
        complain_err(&err);
    }
    journal_reader_close(p->reader);
    return exit_status;
}

static const char description[] =
    "  FILE is a journal, a recording by `mosquitto_sub -F %J` (or %j), or - for standard\n"
    "  input; a directory means the journal in it. Several files are merged by time.\n"
    "  Payloads are published unchanged, with their time stamps. With another speed than 1\n"
    "  they no longer agree with arrivals, so laps and verdicts are not the recorded ones.\n"
    "  Heartbeats and the daemon's own journal lines are skipped.\n";

int command_play(int argc, char **argv)
{
    struct play p = {.broker = broker_arguments_defaults(),
                     .speed = 1.0,
                     .qos = -1,
                     .first_us = LAB_TIME_NONE,
                     .whole = true};
    /* clang-format off */
    const struct argument rows[] = {
        {"speed", 's', ARGUMENT_REAL, &p.speed, 0, 1e9, "X", "X times as fast as recorded (1); 0: without pauses"},
        {"qos", 'q', ARGUMENT_INTEGER, &p.qos, 0, 2, "N", "of all messages (as recorded)"},
        {"prefix-from", 0, ARGUMENT_TEXT, &p.from, 0, 0, "A", "replace this beginning of the topics"},
        {"prefix-to", 0, ARGUMENT_TEXT, &p.to, 0, 0, "B", "by this one"},
        {"retain", 0, ARGUMENT_FLAG, &p.retain, 0, 0, NULL, "keep the retain flags (messages are sent unretained)"},
        {"json", 0, ARGUMENT_FLAG, &p.json, 0, 0, NULL, "print the counts as one JSON document"},
    };
    /* clang-format on */
    struct broker_group broker;
    broker_arguments_group(&p.broker, &broker);
    const struct arguments arguments = {
        .command = "play",
        .operands = "FILE...",
        .description = description,
        .examples = "  tandem play --speed 10 --prefix-from tandem/v1 --prefix-to again/v1 "
                    "journal/\n",
        .exit_status = "not everything reached the broker",
        ARGUMENT_ROWS(rows),
        .more = &broker.group};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    if ((p.from != NULL) != (p.to != NULL) || (p.from && (!p.from[0] || !p.to[0]))) {
        return complain_exit(EXIT_USAGE, "--prefix-from and --prefix-to belong together");
    }
    return start_play(&p, (const char *const *)argv + 1);
}
