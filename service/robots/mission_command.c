/* L1 and L2 on a live pair: Paho's thread notes replies and entries, the main thread runs the
 * mission's machines and sends what they command. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "config/lab_file.h"
#include "config/option_file.h"
#include "logger/message/codec_native.h"
#include "service/cli/arguments.h"
#include "service/cli/commands.h"
#include "service/cli/lab_clock.h"
#include "service/cli/stop_signal.h"
#include "service/mqtt/broker_arguments.h"
#include "service/robots/mission_file.h"
#include "service/robots/mission_log.h"
#include "service/robots/session.h"

enum {
    INBOX_MAX = 256,
    WAIT_SLICE_US = 50 * 1000, /* a signal is noticed this soon */
    CONNECT_SLICE_MS = 100,
    STOP_MS = 3000,
    SESSION_S = 60, /* the broker keeps replies for so long while the link is down */
    QUIT_PATIENCE_US = 10 * 1000 * 1000 /* after a signal, for the robot's answer */
};

struct mission_options {
    const char *lab_path, *mission_path, *pair;
    double connect_s, linger_s;
    bool json, quiet;
};

struct incoming {
    bool is_entry;
    int64_t t_us;
    struct mission_answer answer;
    struct mission_entry entry;
};

struct mission_run {
    struct mission_options options;
    struct lab_file lab;
    struct mission_file file;
    char pair[EVENT_PAIR_MAX];
    struct session session;
    char command_topic[MESSAGE_TOPIC_MAX];
    char reply_topic[MESSAGE_TOPIC_MAX];
    char entry_topic[MESSAGE_TOPIC_MAX];
    char decode_topic[MESSAGE_TOPIC_MAX]; /* what the codec knows the reply as */

    atomic_uint_least64_t foreign; /* commands to the pair that are not ours */

    /* The main thread's own: */
    struct mission mission;
    struct mission_log log;
    const struct incoming *answered; /* what the mission is being told */
    bool ended;
    enum l2_verdict verdict;
    int64_t start_us, end_us, quit_us; /* quit_us 0: not quit */
};

/* --- Paho's thread -------------------------------------------------------------------- */

static void copy_text(const json_t *object, const char *key, char *out, size_t size)
{
    const char *text = json_string_value(json_object_get(object, key));
    (void)snprintf(out, size, "%s", text ? text : "");
}

static double real_or_nan(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : nan("");
}

struct reply_taker {
    struct mission_run *run;
    const json_t *document;
};

static void take_reply(void *context, const struct event *event)
{
    const struct reply_taker *taker = context;
    if (event->kind != EVENT_REPLY) {
        taker->run->session.malformed++;
        return;
    }
    struct incoming in = {.t_us = event->t_us, .answer.reply = event->reply};
    in.answer.reply.raw = NULL;
    copy_text(taker->document, "from", in.answer.from, sizeof in.answer.from);
    copy_text(taker->document, "detail", in.answer.detail, sizeof in.answer.detail);
    (void)session_push(&taker->run->session, &in);
}

static void take_entry(struct mission_run *r, const json_t *document, int64_t now_us)
{
    struct incoming in = {.is_entry = true, .t_us = now_us};
    copy_text(document, "id", in.entry.id, sizeof in.entry.id);
    copy_text(document, "verdict", in.entry.verdict, sizeof in.entry.verdict);
    in.entry.real_lap_s = real_or_nan(document, "real_lap_s");
    in.entry.virtual_lap_s = real_or_nan(document, "virtual_lap_s");
    in.entry.lag_s = real_or_nan(document, "lag_s");
    (void)session_push(&r->session, &in);
}

/* Two who command one robot are in each other's way: that explains much. */
static void take_command(struct mission_run *r, const json_t *document)
{
    const char *id = json_string_value(json_object_get(document, "id"));
    if (!id || strncmp(id, r->mission.run, strlen(r->mission.run)) != 0) {
        r->foreign++;
    }
}

static void take_message(void *context, const char *topic, const void *payload, size_t bytes,
                         int qos, bool retained, bool dup)
{
    struct mission_run *r = context;
    const int64_t now_us = lab_clock_now_us();
    if (retained) {
        return;
    }
    json_t *document =
        bytes <= MESSAGE_PAYLOAD_MAX ? json_loadb(payload, bytes, 0, NULL) : NULL;
    if (!document) {
        r->session.malformed++;
        return;
    }
    if (strcmp(topic, r->entry_topic) == 0) {
        take_entry(r, document, now_us);
    } else if (strcmp(topic, r->command_topic) == 0) {
        take_command(r, document);
    } else {
        struct message message = {.t_us = now_us,
                                  .qos = qos,
                                  .dup = dup,
                                  .payload = payload,
                                  .kept_bytes = bytes,
                                  .payload_bytes = bytes};
        struct reply_taker taker = {r, document};
        (void)snprintf(message.topic, sizeof message.topic, "%s", r->decode_topic);
        (void)codec_native.decode(r->lab.broker.prefix, &message, take_reply, &taker);
    }
    json_decref(document);
}

/* --- the main thread ------------------------------------------------------------------ */

static void send_command(struct mission_run *r, const struct event_command *command)
{
    char payload[EVENT_RAW_MAX];
    struct json_writer w;
    json_write_start(&w, payload, sizeof payload, NULL, NULL);
    native_write(&w, EVENT_COMMAND, command);
    if (!json_write_end(&w) || mqtt_client_publish(r->session.client, r->command_topic, payload,
                                                   w.used, 1, false) != STATUS_OK) {
        (void)fputs("tandem: mission: a command found no room on its way to the broker\n",
                    stderr);
    }
}

static void take_effect(void *context, const struct mission_effect *effect)
{
    struct mission_run *r = context;
    mission_log_effect(&r->log, effect);
    if (effect->kind == MISSION_COMMAND) {
        send_command(r, &effect->command);
    } else if (effect->kind == MISSION_ANSWER) {
        mission_log_answer(&r->log, &r->answered->answer, r->answered->t_us, effect->pose);
    } else if (effect->kind == MISSION_END) {
        r->ended = true;
        r->verdict = effect->verdict;
        r->end_us = effect->t_us;
    }
}

static void drain_inbox(struct mission_run *r)
{
    struct incoming in;
    while (session_pop(&r->session, &in)) {
        if (in.is_entry) {
            mission_log_entry(&r->log, &in.entry);
            continue;
        }
        r->answered = &in;
        mission_reply(&r->mission, &in.answer.reply, lab_clock_now_us(), take_effect, r);
    }
}

/* Until something arrives, until_us on lab time or the next look at signals. */
static void wait_until(struct mission_run *r, int64_t until_us)
{
    const int64_t wait_us = until_us - lab_clock_now_us();
    session_wait(&r->session, lab_clock_monotonic_us() +
                                  (wait_us < WAIT_SLICE_US ? wait_us : WAIT_SLICE_US));
}

static void live_mission(struct mission_run *r)
{
    r->start_us = lab_clock_now_us();
    r->end_us = r->start_us;
    mission_start(&r->mission, r->start_us, take_effect, r);
    while (!r->ended) {
        wait_until(r, mission_next_us(&r->mission));
        drain_inbox(r);
        const int64_t now_us = lab_clock_now_us();
        if (!r->ended && now_us >= mission_next_us(&r->mission)) {
            mission_tick(&r->mission, now_us, take_effect, r);
        }
        if (!r->ended && stop_signal_raised() && r->quit_us == 0) {
            r->quit_us = now_us;
            mission_quit(&r->mission, now_us, take_effect, r);
        }
        if (!r->ended && r->quit_us > 0 && now_us - r->quit_us > QUIT_PATIENCE_US) {
            r->end_us = now_us;
            return;
        }
    }
}

/* The virtual robot may lag: entries come when both sides are through. */
static void wait_for_entries(struct mission_run *r)
{
    const int64_t until_us = lab_clock_now_us() + lab_us(r->options.linger_s);
    drain_inbox(r);
    while (!mission_log_is_complete(&r->log) && !stop_signal_raised() &&
           lab_clock_now_us() < until_us) {
        wait_until(r, until_us);
        drain_inbox(r);
    }
}

static const char *verdict_word(const struct mission_run *r)
{
    if (!r->ended) {
        return "unanswered";
    }
    switch (r->verdict) {
    case L2_VERDICT_DONE:
        return "done";
    case L2_VERDICT_QUIT:
        return "quit";
    case L2_VERDICT_FAILED:
    case L2_VERDICT_NONE:
    default:
        return "failed";
    }
}

static void report_mission(struct mission_run *r)
{
    const struct mission_head head = {.name = r->file.name,
                                      .pair = r->pair,
                                      .verdict = verdict_word(r),
                                      .start_us = r->start_us,
                                      .end_us = r->end_us,
                                      .foreign_count = r->foreign,
                                      .mission = &r->mission};
    if (r->options.json) {
        mission_log_write_json(&r->log, &head);
    } else {
        mission_log_print(&r->log, &head);
    }
    const uint64_t foreign = r->foreign;
    const uint64_t malformed = r->session.malformed;
    if (foreign > 0) {
        (void)fprintf(stderr, "tandem: mission: somebody else sent %s %" PRIu64 " command%s\n",
                      r->pair, foreign, foreign == 1 ? "" : "s");
    }
    if (r->session.overflow > 0 || malformed > 0) {
        (void)fprintf(stderr,
                      "tandem: mission: %" PRIu64 " messages found no room, %" PRIu64
                      " could not be read\n",
                      r->session.overflow, malformed);
    }
}

/* --- beginning and end ---------------------------------------------------------------- */

static bool connect_broker(struct mission_run *r)
{
    char id[64];
    const struct mqtt_client_topic topics[] = {
        {r->reply_topic, 1}, {r->entry_topic, 1}, {r->command_topic, 1}};
    (void)snprintf(id, sizeof id, "mission-%s-%ld", r->pair, (long)getpid());
    struct mqtt_client_options options = broker_client_options(&r->lab.broker, id);
    options.persistent = true;
    options.session_expiry_s = SESSION_S;
    options.topics = topics;
    options.topic_count = COUNT(topics);
    options.message = take_message;
    options.context = r;
    if (!session_open(&r->session, &options)) {
        return false;
    }
    const int64_t until_us = lab_clock_monotonic_us() + lab_us(r->options.connect_s);
    while (!mqtt_client_wait_subscribed(r->session.client, CONNECT_SLICE_MS)) {
        if (stop_signal_raised() || lab_clock_monotonic_us() >= until_us) {
            struct mqtt_client_state state;
            mqtt_client_read_state(r->session.client, &state);
            (void)fprintf(stderr, "tandem: mission: no broker at %s port %u within %g s%s%s\n",
                          r->lab.broker.host, (unsigned)r->lab.broker.port,
                          r->options.connect_s, state.error[0] ? ": " : "", state.error);
            return false;
        }
    }
    return true;
}

static int run_mission(struct mission_run *r)
{
    char name[MISSION_RUN_MAX];
    (void)snprintf(name, sizeof name, "m%" PRIx64, (uint64_t)(lab_clock_now_us() / 1000000));
    mission_init(&r->mission, &r->file.plan, name, lab_clock_now_us());
    r->log.show = !r->options.json && !r->options.quiet;
    const bool connected = connect_broker(r);
    if (connected) {
        live_mission(r);
        wait_for_entries(r);
    }
    session_close(&r->session, STOP_MS);
    if (connected) {
        report_mission(r);
    }
    return connected && r->ended && r->verdict == L2_VERDICT_DONE ? EXIT_FINE : EXIT_FAILED;
}

static void name_topics(struct mission_run *r)
{
    char stem[LAB_PREFIX_MAX + EVENT_PAIR_MAX];
    (void)snprintf(stem, sizeof stem, "%s/%s", r->lab.broker.prefix, r->pair);
    (void)snprintf(r->command_topic, sizeof r->command_topic, "%s/command", stem);
    (void)snprintf(r->reply_topic, sizeof r->reply_topic, "%s/reply", stem);
    (void)snprintf(r->entry_topic, sizeof r->entry_topic, "%s/entry", stem);
    (void)snprintf(r->decode_topic, sizeof r->decode_topic, "%s/real/reply", stem);
}

/* Which pair: of the command line, of the mission, or the lab's only one; in link mode. */
static bool choose_pair(struct mission_run *r)
{
    const char *id = r->options.pair ? r->options.pair : r->file.pair;
    if (!id[0] && r->lab.pair_count == 1) {
        id = r->lab.pairs[0].id;
    }
    for (size_t i = 0; i < r->lab.pair_count; i++) {
        if (strcmp(r->lab.pairs[i].id, id) != 0) {
            continue;
        }
        if (r->lab.pairs[i].mode != PAIR_LINK) {
            (void)fprintf(stderr,
                          "tandem: %s: pair %s is in mode observe, a mission needs "
                          "mode link\n",
                          r->options.lab_path, id);
            return false;
        }
        (void)snprintf(r->pair, sizeof r->pair, "%s", id);
        return true;
    }
    (void)fprintf(stderr, "tandem: %s: %s%s%s\n", r->options.lab_path,
                  id[0] ? "there is no pair " : "there are several pairs", id,
                  id[0] ? "" : ", name one with --pair or in the mission");
    return false;
}

/* Both files are read in any case, so that the faults of both are told at once. */
static bool load_files(struct mission_run *r)
{
    struct err_list lab_errors = {0};
    struct err_list mission_errors = {0};
    const bool lab = lab_file_load(r->options.lab_path, &r->lab, &lab_errors) == STATUS_OK;
    const bool mission = option_file_load(&mission_file, r->options.mission_path, &r->file,
                                          &mission_errors) == STATUS_OK;
    err_list_print(&lab_errors, stderr);
    err_list_print(&mission_errors, stderr);
    return lab && mission && choose_pair(r);
}

static int start_mission(const struct mission_options *options)
{
    struct mission_run *r = calloc(1, sizeof *r);
    if (!r) {
        (void)fputs("tandem: mission: not enough memory\n", stderr);
        return EXIT_FAILED;
    }
    r->options = *options;
    int exit_status = EXIT_USAGE;
    if (session_init(&r->session, sizeof(struct incoming), INBOX_MAX) != STATUS_OK) {
        (void)fputs("tandem: mission: not enough memory\n", stderr);
        exit_status = EXIT_FAILED;
    } else if (load_files(r)) {
        name_topics(r);
        stop_signal_install();
        exit_status = run_mission(r);
    }
    session_finish(&r->session);
    mission_log_free(&r->log);
    lab_file_free(&r->lab);
    free(r);
    return exit_status;
}

int command_mission(int argc, char **argv)
{
    struct mission_options o = {.connect_s = 10.0, .linger_s = 10.0};
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &o.lab_path, 0, 0, "FILE", "the lab file: broker and pairs"},
        {"pair", 0, ARGUMENT_TEXT, &o.pair, 0, 0, "ID", "whom to command (the mission's, or the only one)"},
        {"json", 0, ARGUMENT_FLAG, &o.json, 0, 0, NULL, "one document on stdout and nothing else"},
        {"quiet", 'q', ARGUMENT_FLAG, &o.quiet, 0, 0, NULL, "print the report only"},
        {"connect-timeout", 0, ARGUMENT_REAL, &o.connect_s, 0.1, 86400, "S", "give up without a broker after it (10)"},
        {"linger", 0, ARGUMENT_REAL, &o.linger_s, 0, 86400, "S", "at the end, wait so long for verdicts (10)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "mission",
        .operands = "MISSION.yaml",
        .description =
            "  Carries a mission out on a pair in link mode: sends its commands, takes the "
            "merged\n"
            "  replies, plans ways around the obstacles of its map, and reports each command "
            "with\n"
            "  laps and verdict. The daemon (tandem serve) and the robots must be running. "
            "After a\n"
            "  signal the robot is halted and the mission ends. See docs/model/missions.md.\n",
        .examples = "  tandem mission -c lab.yaml config/missions/path.yaml\n",
        .exit_status = "the mission failed or was quit, or there is no broker",
        .rows = rows,
        .row_count = COUNT(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_TAKEN) {
        return exit_status;
    }
    if (!o.lab_path || argv[2]) {
        (void)fputs("tandem: mission: -c LAB.yaml and one MISSION.yaml are wanted, see 'tandem "
                    "mission --help'\n",
                    stderr);
        return EXIT_USAGE;
    }
    o.mission_path = argv[1];
    return start_mission(&o);
}
