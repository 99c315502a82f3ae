/* service/mqtt/record_command.c - `tandem record`: writes a lab's messages to a file, a line
 * each, until stopped. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "config/labfile/lab_file.h"
#include "logger/codec/codecs.h"
#include "logger/message/message.h"
#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/session.h"
#include "service/mqtt/topic_list.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    STOP_MS = 3000,
    SLICE_US = 50 * 1000,
    FLUSH_US = 1000 * 1000,
    CONNECT_US = 10 * 1000 * 1000
};

struct record {
    const char *lab_path, *path;
    double for_s;
    bool json; /* print the counts as JSON on stdout */
    struct lab_file lab;
    struct session session;
    FILE *out;
    uint64_t written, cut;
    struct topic_list topics;
    char line[MESSAGE_LINE_MAX];
};

static void write_message(void *context, const struct message *m)
{
    struct record *r = context;
    if (strstr(m->topic, "/heartbeat/")) {
        return; /* a program's heartbeat to itself */
    }
    const size_t bytes = message_format(m, r->line, sizeof r->line);
    r->written += fwrite(r->line, 1, bytes, r->out) == bytes;
    r->cut += m->stored_bytes < m->payload_bytes;
}

/* Never overwrites another recording. */
static bool open_output(struct record *r)
{
    const bool to_stdout = strcmp(r->path, "-") == 0;
    const int fd = to_stdout ? STDOUT_FILENO
                             : open(r->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0640);
    r->out = fd < 0 ? NULL : to_stdout ? stdout : fdopen(fd, "w");
    return r->out || complain("%s: cannot be made: %s", r->path, strerrordesc_np(errno));
}

static bool listen_all(struct record *r)
{
    const int64_t end_us =
        r->for_s > 0.0 ? lab_clock_monotonic_us() + lab_us(r->for_s) : LAB_TIME_MAX;
    int64_t flush_us = 0;
    const int64_t patience_us = lab_clock_monotonic_us() + CONNECT_US;
    const bool subscribed =
        session_await(&r->session, patience_us < end_us ? patience_us : end_us);
    if (subscribed) {
        (void)fprintf(stderr, "record: listening, until a signal%s\n",
                      r->for_s > 0.0 ? " or its time is over" : "");
    }
    while (subscribed && !stop_signal_raised() && lab_clock_monotonic_us() < end_us &&
           !ferror(r->out)) {
        session_wait(&r->session, lab_clock_monotonic_us() + SLICE_US);
        session_drain(&r->session, write_message, r);
        if (lab_clock_monotonic_us() >= flush_us) {
            (void)fflush(r->out);
            flush_us = lab_clock_monotonic_us() + FLUSH_US;
        }
    }
    session_drain(&r->session, write_message, r);
    return subscribed;
}

/* Lists everything below the prefix, and the topics of robots with foreign protocols. */
static void list_topics(struct record *r)
{
    const char *prefix = r->lab.broker.prefix;
    const size_t length = strlen(prefix);
    topic_list_add(&r->topics, prefix, "#", 1);
    for (size_t i = 0; i < r->lab.pair_count; i++) {
        const struct codec *codec = codec_find(r->lab.pairs[i].codec);
        struct codec_place place;
        for (size_t k = 0; codec->place && codec->place(&r->lab.pairs[i].speaks, k, &place);
             k++) {
            const bool below =
                strncmp(place.filter, prefix, length) == 0 && place.filter[length] == '/';
            if (!place.silent && !below) {
                topic_list_add(&r->topics, "", place.filter, place.qos);
            }
        }
    }
}

static void write_counts(const void *record, struct json_writer *w)
{
    const struct record *r = record;
    JSON_WRITE(w, JSON("messages", r->written), JSON_OF(r, cut),
               JSON("without_room", r->session.overflow));
}

static void print_counts(const struct record *r)
{
    if (r->json) {
        json_file_print(stdout, write_counts, r);
        return;
    }
    (void)fprintf(stderr,
                  "record: %" PRIu64 " messages, %" PRIu64 " too long and cut, %" PRIu64
                  " found no room\n",
                  r->written, r->cut, r->session.overflow);
}

static int run_record(struct record *r)
{
    struct mqtt_client_options options = broker_client_options(&r->lab.broker, "record");
    options.unique_id = true;
    list_topics(r);
    options.topics = r->topics.topic;
    options.topic_count = r->topics.count;
    if (!open_output(r) || !session_open(&r->session, options)) {
        return EXIT_FAILED;
    }
    const bool listened = listen_all(r);
    session_close(&r->session, STOP_MS);
    bool whole = listened && r->session.overflow == 0 && !ferror(r->out);
    if (fclose(r->out) != 0 || (listened && ferror(stdout))) {
        whole = false;
    }
    if (!whole && listened && r->session.overflow == 0) {
        complain("%s: cannot be written", r->path);
    }
    if (!listened && session_was_connected(&r->session)) {
        complain("record: %s",
                 r->session.state.error[0] ? r->session.state.error : "not subscribed");
    }
    print_counts(r);
    return whole ? EXIT_FINE : EXIT_FAILED;
}

static const char description[] =
    "  Writes every message below the lab's prefix to FILE, one per line, as\n"
    "  `mosquitto_sub -F %J` does, until a signal comes. It includes topics of robots with\n"
    "  other protocols, and payloads that are not JSON. It skips heartbeats, which programs\n"
    "  send to themselves. FILE must not exist; - is standard output. tandem replay, play and\n"
    "  identify read the file. The broker sends retained messages first.\n";

static int parse_words(struct record *r, int argc, char **argv)
{
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &r->lab_path, 0, 0, "LAB.yaml",
         "the lab file: broker and prefix (needed)"},
        {"for", 0, ARGUMENT_REAL, &r->for_s, 0, 1e9, "S",
         "end after this time (runs until a signal)"},
        {"json", 0, ARGUMENT_FLAG, &r->json, 0, 0, NULL,
         "print the counts as one JSON document, on standard output"},
    };
    const struct arguments arguments = {
        .command = "record",
        .operands = "FILE",
        .description = description,
        .examples = "  tandem record -c lab.yaml day.jsonl\n"
                    "  tandem replay -c lab.yaml day.jsonl\n",
        .exit_status = "no broker, the file cannot be written, or messages found no room",
        ARGUMENT_ROWS(rows)};
    const int code = arguments_parse(&arguments, argc, argv);
    r->path = argv[1];
    if (code == ARGUMENTS_PARSED && r->json && strcmp(r->path, "-") == 0) {
        return complain_exit(EXIT_USAGE,
                             "record: --json needs a FILE that is not standard output");
    }
    return code;
}

int command_record(int argc, char **argv)
{
    struct record *r = calloc(1, sizeof *r);
    if (!r) {
        return complain_exit(EXIT_FAILED, "record: no memory");
    }
    int code = parse_words(r, argc, argv);
    if (code == ARGUMENTS_PARSED && !lab_argument_load("record", r->lab_path, &r->lab)) {
        code = EXIT_USAGE;
    }
    code = code == ARGUMENTS_PARSED ? run_record(r) : code;
    lab_file_free(&r->lab);
    free(r);
    return code;
}
