#include "service/arm/bridge.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/numbers/hash.h"
#include "logger/message/codec_native.h"
#include "service/arm/bridge_messages.h"
#include "service/arm/controller.h"
#include "service/mqtt/session.h"
#include "service/tool/commands.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"
#include "service/wire/rtde_link.h"

enum {
    STOP_MS = 2000,
    SLICE_US = 20 * 1000,
    /* moves waiting to be repeated; then the oldest is dropped */
    MOVES_MAX = 64,
    COMMANDED_MAX = 16,            /* commands without a move; then the oldest is dropped */
    SETTLE_US = 500 * 1000,        /* time for joints to come to rest after their set points */
    PATIENCE_US = 3 * 1000 * 1000, /* extra time for the virtual robot, beyond the move's own */
    PAYLOAD_MAX = 4096
};

/* s: a restarted controller restarts its clock; one that was only unreachable does not. */
static const double CLOCK_OFF_S = 60.0;

static const char *const requested_fields[] = {
    "timestamp",      "target_q",          "target_qd",       "actual_q",
    "actual_qd",      "actual_TCP_pose",   "target_TCP_pose", "safety_mode",
    "actual_current", "runtime_state",     "speed_scaling",   "target_speed_fraction",
    "robot_mode",     "robot_status_bits", "target_qdd"};
enum { REQUIRED = 8 };

/* A program on the controller speaks through the registers (drive.h). */
static const char *const driven_fields[] = {"timestamp",
                                            "target_q",
                                            "target_qd",
                                            "actual_q",
                                            "actual_qd",
                                            "actual_TCP_pose",
                                            "target_TCP_pose",
                                            "safety_mode",
                                            "robot_mode",
                                            "speed_scaling",
                                            "target_speed_fraction",
                                            "output_int_register_24",
                                            "output_int_register_25",
                                            "output_int_register_26",
                                            "output_int_register_27",
                                            "output_int_register_28",
                                            "actual_current",
                                            "runtime_state",
                                            "robot_status_bits",
                                            "target_qdd",
                                            "tcp_offset"};
enum { DRIVEN_REQUIRED = 16 };
/* Commands of the last minutes; a repeated id is not carried out again. */
enum { RECENT_MAX = 64 };
enum { BROKER_AWAY_US = 1000 * 1000 };

enum repeat { REPEAT_NONE, REPEAT_MOVING, REPEAT_ANSWERED };

struct commanded {
    char id[EVENT_ID_MAX];
    int64_t t_us; /* monotonic */
};

struct bridge {
    struct bridge_options options;
    struct rtde_request recipe_request;
    struct rtde_listener listener;
    struct rtde_link link;
    struct session session;
    struct arm_watch *watch;

    /* state of the robot */
    char boot[EVENT_BOOT_MAX];
    double clock_s; /* s, monotonic time minus the controller's */
    bool clock_known, online;
    bool listening;        /* to commands: the broker has confirmed the subscription */
    bool asked, announced; /* asked: connection tried; announced: the broker has `online` */
    char reason[EVENT_ID_MAX];
    double last_s;      /* s, controller's timestamp */
    double telemetry_s; /* s, time of the next sample */
    int64_t seq;
    uint64_t mqtt_connections;

    /* Ring of moves that wait; the first one is being repeated. */
    struct bridge_move moves[MOVES_MAX];
    size_t first, count;
    enum repeat repeat;
    /* to this move; to the last one, or not known yet */
    bool virtual_answered, virtual_answers;
    int64_t begun_us, limit_us;
    uint64_t run, number;

    /* Ring of commands that wait for their move. */
    struct commanded commanded[COMMANDED_MAX];
    size_t commanded_first, commanded_count;

    /* with --drive */
    struct drive drive;
    struct controller controller;
    uint64_t recent[RECENT_MAX]; /* hashes of ids */
    size_t recent_count;
    int64_t broker_us; /* the broker was there */

    struct {
        uint64_t telemetry, moves, left_out, commands, replies, dropped, unasked, reboots;
    } counts;
};

/* ---- publishing ---------------------------------------------------------------------- */

static bool publish_word(struct bridge *b, const char *word, int qos, bool retained,
                         struct json_writer *w)
{
    char topic[MESSAGE_TOPIC_MAX];
    session_topic(topic, b->options.broker.prefix, b->options.pair, word);
    if (!json_write_end(w)) {
        b->counts.dropped++;
        return false;
    }
    const enum status status =
        qos == 0
            ? mqtt_client_publish_now(b->session.client, topic, w->text, w->used)
            : mqtt_client_publish(b->session.client, topic, w->text, w->used, qos, retained);
    b->counts.dropped += status != STATUS_OK && qos > 0;
    return status == STATUS_OK;
}

static void publish_connection(struct bridge *b)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    if (!b->listening) { /* who reads `online` may send a command at once, and it would be lost
                          */
        b->announced = true;
        return;
    }
    json_write_start(&w, text, sizeof text, NULL, NULL);
    bridge_write_connection(&w, b->online, b->boot, b->online ? "" : b->reason);
    b->announced = publish_word(b, "real/connection", 1, true, &w);
}

static void set_online(struct bridge *b, bool online, const char *reason)
{
    b->asked = true;
    if (b->announced && b->online == online && (online || strcmp(b->reason, reason) == 0)) {
        return;
    }
    b->online = online;
    (void)snprintf(b->reason, sizeof b->reason, "%s", reason);
    (void)fprintf(stderr, "bridge: %s%s%s\n", online ? "online" : "offline", online ? "" : ": ",
                  online ? "" : reason);
    publish_connection(b);
}

static void publish_telemetry(struct bridge *b, const struct rtde_outputs *v)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    const double period_s = 1.0 / b->options.telemetry_hz;
    if (!(b->options.telemetry_hz > 0.0) || v->timestamp < b->telemetry_s - 1e-6) {
        return;
    }
    b->telemetry_s = v->timestamp < b->telemetry_s + period_s ? b->telemetry_s + period_s
                                                              : v->timestamp + period_s;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    bridge_write_telemetry(&w, v, rtde_client_has(&b->link.client, "target_qdd"),
                           drive_is_paused(&b->drive), b->seq++, b->boot);
    b->counts.telemetry += publish_word(b, "real/telemetry", 0, false, &w);
}

static void publish_reply(struct bridge *b, const struct bridge_move *m, int64_t held_us)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    bridge_write_reply(&w, m, held_us);
    b->counts.replies += publish_word(b, "real/reply", 1, false, &w);
}

/* ---- repeating moves ----------------------------------------------------------------- */

static int64_t duration_us(const struct bridge_move *m)
{
    return llround((m->seen.t_end_s - m->seen.t_start_s) * 1e6);
}

static void pop_move(struct bridge *b)
{
    b->first = (b->first + 1) % MOVES_MAX;
    b->count--;
    b->repeat = REPEAT_NONE;
}

static void begin_repeat(struct bridge *b, struct bridge_move *m, int64_t now_us)
{
    char text[PAYLOAD_MAX];
    struct json_writer w;
    (void)snprintf(m->id, sizeof m->id, "ur-%" PRIx64 "-%" PRIu64, b->run, ++b->number);
    json_write_start(&w, text, sizeof text, NULL, NULL);
    bridge_write_command(&w, m, lab_clock_now_us());
    b->counts.commands += publish_word(b, "command", 1, false, &w);
    b->repeat = REPEAT_MOVING;
    b->virtual_answered = false;
    b->begun_us = now_us;
    b->limit_us = now_us + 2 * duration_us(m) + PATIENCE_US;
}

/* Handles the move that is being repeated, then starts the next. */
static void repeat_moves(struct bridge *b)
{
    const int64_t now_us = lab_clock_monotonic_us();
    struct bridge_move *m = &b->moves[b->first];
    if (b->count == 0) {
        return;
    }
    if (b->repeat == REPEAT_NONE) {
        begin_repeat(b, m, now_us);
    } else if (b->repeat == REPEAT_MOVING && now_us >= b->begun_us + duration_us(m)) {
        publish_reply(b, m, now_us - m->end_us);
        b->repeat = REPEAT_ANSWERED;
    } else if (b->repeat == REPEAT_ANSWERED &&
               (b->virtual_answered || !b->virtual_answers || now_us >= b->limit_us)) {
        b->virtual_answers = b->virtual_answered;
        pop_move(b);
    }
}

/* Returns the time of the next work; LAB_TIME_MAX: none. */
static int64_t next_due_us(const struct bridge *b)
{
    if (b->count == 0) {
        return LAB_TIME_MAX;
    }
    return b->repeat == REPEAT_NONE     ? 0
           : b->repeat == REPEAT_MOVING ? b->begun_us + duration_us(&b->moves[b->first])
           : b->virtual_answers         ? b->limit_us
                                        : 0;
}

static struct bridge_move *queue_move(struct bridge *b)
{
    if (b->count == MOVES_MAX) {
        /* The first move is being repeated, so the second one is dropped. */
        const size_t second = (b->first + 1) % MOVES_MAX;
        b->moves[second] = b->moves[b->first];
        b->first = second;
        b->count--;
        b->counts.dropped++;
        (void)fprintf(stderr,
                      "bridge: more than %d moves wait to be repeated: one was dropped\n",
                      MOVES_MAX);
    }
    return &b->moves[(b->first + b->count++) % MOVES_MAX];
}

/* ---- moves commanded by the lab's controller ----------------------------------------- */

static void forget_old(struct bridge *b, int64_t now_us)
{
    while (b->commanded_count > 0 &&
           now_us - b->commanded[b->commanded_first].t_us > lab_us(b->options.timeout_s)) {
        b->commanded_first = (b->commanded_first + 1) % COMMANDED_MAX;
        b->commanded_count--;
    }
}

static void record_command(struct bridge *b, const struct event_command *command)
{
    static const char *const moves[] = {"move", "speed", "go"};
    bool is_move = false;
    for (size_t i = 0; i < COUNT(moves); i++) {
        is_move = is_move || strncmp(command->op, moves[i], strlen(moves[i])) == 0;
    }
    if (!is_move) {
        return;
    }
    if (b->commanded_count == COMMANDED_MAX) {
        b->commanded_first = (b->commanded_first + 1) % COMMANDED_MAX;
        b->commanded_count--;
        b->counts.dropped++;
    }
    struct commanded *h =
        &b->commanded[(b->commanded_first + b->commanded_count++) % COMMANDED_MAX];
    (void)snprintf(h->id, sizeof h->id, "%s", command->id);
    h->t_us = lab_clock_monotonic_us();
    b->counts.commands++;
}

static void answer_commanded(struct bridge *b, struct bridge_move *m)
{
    forget_old(b, m->end_us);
    if (b->commanded_count == 0) {
        b->counts.unasked++;
        return;
    }
    (void)snprintf(m->id, sizeof m->id, "%s", b->commanded[b->commanded_first].id);
    b->commanded_first = (b->commanded_first + 1) % COMMANDED_MAX;
    b->commanded_count--;
    publish_reply(b, m, 0);
}

/* ---- moves that the bridge has the robot make ------------------------------------------- */

/* Carries out what the drive asks for. */
static void serve_drive(struct bridge *b)
{
    struct drive *d = &b->drive;
    char text[PAYLOAD_MAX];
    for (size_t i = 0; i < DRIVE_INPUTS_COUNT; i++) {
        if (d->send[i]) {
            (void)rtde_link_send(&b->link, i, &d->inputs);
            d->send[i] = false;
        }
    }
    if (d->upload) {
        d->upload = !controller_upload(&b->controller, d->mark);
    }
    if (d->unlock) {
        controller_unlock(&b->controller);
        d->unlock = false;
    }
    if (d->connect) {
        d->connect = false;
        controller_again(&b->controller);
        rtde_link_again(&b->link, "the robot is in remote control again: connecting anew");
    }
    for (size_t i = 0; i < d->reply_count; i++) {
        struct json_writer w;
        json_write_start(&w, text, sizeof text, NULL, NULL);
        bridge_write_drive_reply(&w, &d->replies[i], &b->link.client.values);
        b->counts.replies += publish_word(b, "real/reply", 1, false, &w);
    }
    d->reply_count = 0;
}

static void step_drive(struct bridge *b, const struct rtde_outputs *v)
{
    const int32_t *echo = v->out.input_int_register + RTDE_PROGRAM_FIRST;
    struct drive_sample s = {.now_us = lab_clock_monotonic_us(),
                             .t_s = v->timestamp,
                             .taken = echo[0],
                             .ended = echo[1],
                             .result = echo[2],
                             .mark = echo[3],
                             .beat = echo[4],
                             .stop = rtde_safety_stop(v->safety_mode),
                             .protective = v->safety_mode == RTDE_SAFETY_PROTECTIVE_STOP,
                             .scaling = fmin(v->speed_scaling, v->target_speed_fraction)};
    if (!s.stop && v->robot_mode != RTDE_ROBOT_RUNNING) {
        s.stop = rtde_robot_mode_text(v->robot_mode);
    }
    memcpy(s.q, v->target_q, sizeof s.q);
    memcpy(s.qd, v->target_qd, sizeof s.qd);
    memcpy(s.tool, v->tcp_offset, sizeof s.tool);
    drive_step(&b->drive, &s);
    serve_drive(b);
}

static bool is_repeat(struct bridge *b, const char *id)
{
    const uint64_t hash = hash_text(id);
    for (size_t i = 0; i < RECENT_MAX && id[0]; i++) {
        if (b->recent[i] == hash) {
            return true;
        }
    }
    b->recent[b->recent_count++ % RECENT_MAX] = hash;
    return false;
}

/* Everything of the drive that does not come with a sample. */
static void run_drive(struct bridge *b, bool broker)
{
    const int64_t now_us = lab_clock_monotonic_us();
    b->broker_us = broker ? now_us : b->broker_us;
    if (now_us - b->broker_us > BROKER_AWAY_US) {
        drive_stop(&b->drive, "the broker is away");
    }
    controller_run(&b->controller);
    drive_set_control(&b->drive, b->controller.control);
    serve_drive(b);
}

/* ---- receiving ----------------------------------------------------------------------- */

static void handle_event(void *context, const struct event *e)
{
    struct bridge *b = context;
    if (e->kind == EVENT_COMMAND && b->options.drive) {
        if (!b->options.link || !is_repeat(b, e->command.id)) {
            b->counts.commands++;
            drive_command(&b->drive, &e->command, lab_clock_monotonic_us());
            serve_drive(b);
        }
    } else if (e->kind == EVENT_MALFORMED && b->options.drive) {
        b->counts.dropped++;
        (void)fprintf(stderr, "bridge: command: %s\n", e->malformed.detail);
    } else if (e->kind == EVENT_COMMAND && b->options.commanded) {
        record_command(b, &e->command);
    } else if (e->kind == EVENT_REPLY && e->side == SIDE_VIRTUAL && b->count > 0 &&
               b->repeat != REPEAT_NONE && strcmp(e->reply.id, b->moves[b->first].id) == 0) {
        b->virtual_answered = true;
        b->virtual_answers = true;
    }
}

static void receive_message(void *context, const struct message *m)
{
    struct bridge *b = context;
    struct message copy = *m;
    if (b->options.drive) { /* the codec does not know the robots' own command topic */
        session_topic(copy.topic, b->options.broker.prefix, b->options.pair, "command");
    }
    if (!m->retained) {
        (void)codec_native.decode(b->options.broker.prefix, &copy, handle_event, b);
    }
}

/* ---- the robot ----------------------------------------------------------------------------
 */

static void check_clock(struct bridge *b, double timestamp)
{
    const double clock_s = 1e-6 * (double)lab_clock_monotonic_us() - timestamp;
    const bool same =
        b->clock_known && timestamp >= b->last_s && fabs(clock_s - b->clock_s) < CLOCK_OFF_S;
    if (!same) {
        b->counts.reboots += b->clock_known;
        const double since_s = 1e-6 * (double)lab_clock_now_us() - timestamp;
        /* The controller's start time mostly survives a restart of the bridge, so it names the
         * boot, in units of 10 s. Reboots that the bridge has seen are counted as well. */
        const double slot = fabs(since_s) < 1e15 ? since_s / 10.0 : 0.0;
        const int used = snprintf(b->boot, sizeof b->boot, "ur-%.0f", slot);
        if (b->counts.reboots > 0) {
            (void)snprintf(b->boot + used, sizeof b->boot - (size_t)used, ".%" PRIu64,
                           b->counts.reboots);
        }
        arm_watch_forget(b->watch);
        b->telemetry_s = timestamp;
        b->announced = false;
    }
    b->clock_known = true;
    b->clock_s = clock_s;
    b->last_s = timestamp;
}

static const char *why_not_ready(const struct bridge *b, const struct rtde_outputs *v,
                                 char text[EVENT_ID_MAX])
{
    const char *stop = rtde_safety_stop(v->safety_mode);
    if (stop || !rtde_client_has(&b->link.client, "robot_mode") ||
        v->robot_mode == RTDE_ROBOT_RUNNING) {
        return stop;
    }
    (void)snprintf(text, EVENT_ID_MAX, "%s (robot mode %d)",
                   rtde_robot_mode_text(v->robot_mode), (int)v->robot_mode);
    return text;
}

/* Speed as a ratio of the program's: the slider or the limiter, whichever differs more from
 * 1. */
static double scaling_of(const struct bridge *b, const struct rtde_outputs *v)
{
    const double limiter =
        rtde_client_has(&b->link.client, "speed_scaling") ? v->speed_scaling : 1.0;
    const double slider = rtde_client_has(&b->link.client, "target_speed_fraction")
                              ? v->target_speed_fraction
                              : 1.0;
    return fabs(limiter - 1.0) > fabs(slider - 1.0) ? limiter : slider;
}

static void copy_rest(struct bridge_move *m, const struct rtde_outputs *v)
{
    memcpy(m->rest_q, v->actual_q, sizeof m->rest_q);
    memcpy(m->rest_pose, v->actual_TCP_pose, sizeof m->rest_pose);
}

/* Updates the newest move's joints while they come to rest. */
static void update_rest(struct bridge *b, const struct rtde_outputs *v)
{
    struct bridge_move *m = &b->moves[(b->first + b->count + MOVES_MAX - 1) % MOVES_MAX];
    if (b->count > 0 && !b->watch->moving && lab_clock_monotonic_us() - m->end_us < SETTLE_US) {
        copy_rest(m, v);
    }
}

static void watch_moves(struct bridge *b, const struct rtde_outputs *v)
{
    struct arm_watch_sample s = {.t_s = v->timestamp,
                                 .scaling = scaling_of(b, v),
                                 .stopped = rtde_safety_stop(v->safety_mode) != NULL};
    struct arm_watched seen;
    memcpy(s.q_rad, v->target_q, sizeof s.q_rad);
    memcpy(s.qd_radps, v->target_qd, sizeof s.qd_radps);
    memcpy(s.pose, v->target_TCP_pose, sizeof s.pose);
    if (!arm_watch_step(b->watch, &s, &seen)) {
        update_rest(b, v);
        return;
    }
    struct bridge_move m = {.seen = seen,
                            .end_us = lab_clock_monotonic_us() -
                                      llround(1e6 * (v->timestamp - seen.t_end_s))};
    copy_rest(&m, v);
    b->counts.moves++;
    b->counts.left_out += seen.lacks != NULL;
    if (b->options.commanded) {
        answer_commanded(b, &m);
    } else {
        *queue_move(b) = m;
    }
}

static void receive_values(void *context, const struct rtde_outputs *v)
{
    struct bridge *b = context;
    char text[EVENT_ID_MAX];
    if (!isfinite(v->timestamp)) {
        return;
    }
    check_clock(b, v->timestamp);
    if (b->options.drive) {
        step_drive(b, v);
    }
    const char *why = why_not_ready(b, v, text);
    if (!why && b->drive.why[0]) { /* in short: up to its colon */
        why = text;
        (void)snprintf(text, sizeof text, "%.*s", (int)strcspn(b->drive.why, ":"),
                       b->drive.why);
    }
    set_online(b, why == NULL, why ? why : "");
    publish_telemetry(b, v);
    if (!b->options.drive) {
        watch_moves(b, v);
    }
}

static void print_text(void *context, const char *text)
{
    (void)context;
    (void)fprintf(stderr, "bridge: message of the controller: %s\n", text);
}

static void handle_change(void *context, bool up, const char *why)
{
    struct bridge *b = context;
    arm_watch_forget(b->watch);
    if (up) {
        (void)fprintf(stderr, "bridge: connected to %s:%d, RTDE version %d\n", b->options.host,
                      b->options.port, b->link.client.version);
    } else {
        (void)fprintf(stderr, "bridge: %s:%d: %s\n", b->options.host, b->options.port, why);
        if (b->options.drive) {
            drive_lost(&b->drive, why);
            serve_drive(b);
        }
        set_online(b, false,
                   strncmp(why, "IN_USE", 6) == 0 ? "IN_USE: another client has the registers"
                                                  : "no RTDE from the controller");
    }
}

/* ---- start and end ------------------------------------------------------------------- */

/* The broker may have published our last will, so each connection announces the state again. */
static void republish_connection(struct bridge *b, const struct mqtt_client_state *state)
{
    b->listening = state->subscribed;
    if (b->listening && state->connections != b->mqtt_connections) {
        b->mqtt_connections = state->connections;
        if (b->asked) {
            publish_connection(b);
        }
    }
}

static void run_loop(struct bridge *b)
{
    const int64_t end_us = b->options.for_s > 0.0
                               ? lab_clock_monotonic_us() + lab_us(b->options.for_s)
                               : LAB_TIME_MAX;
    while (!stop_signal_raised() && lab_clock_monotonic_us() < end_us) {
        const int64_t slice_us = lab_clock_monotonic_us() + SLICE_US;
        const int64_t due_us = next_due_us(b);
        rtde_link_run(&b->link, due_us < slice_us ? due_us : slice_us);
        session_drain(&b->session, receive_message, b);
        struct mqtt_client_state state;
        mqtt_client_read_state(b->session.client, &state);
        repeat_moves(b);
        republish_connection(b, &state);
        if (b->options.drive) {
            run_drive(b, state.connected);
        }
    }
}

/* At the end a move is stopped, and answered, before the connection closes. */
static void stop_drive(struct bridge *b)
{
    const int64_t until_us = lab_clock_monotonic_us() + STOP_MS * 1000;
    drive_stop(&b->drive, "the bridge ends");
    while (drive_is_busy(&b->drive) && lab_clock_monotonic_us() < until_us) {
        serve_drive(b);
        rtde_link_run(&b->link, until_us);
    }
    if (drive_is_busy(&b->drive)) {
        drive_lost(&b->drive, "the bridge ended before the arm was at rest");
    }
    serve_drive(b);
}

static void print_summary(const struct bridge *b)
{
    (void)printf("bridge %s: %" PRIu64 " connections to the controller, %" PRIu64
                 " frames, %" PRIu64 " telemetry, %" PRIu64 " samples missing\n",
                 b->options.pair, b->link.connections, b->link.frames, b->counts.telemetry,
                 b->watch->gaps);
    (void)printf("bridge %s: %" PRIu64 " moves, %" PRIu64
                 " of them not for calibration, %" PRIu64 " commands, %" PRIu64
                 " replies, %" PRIu64 " moves without a command, %" PRIu64 " dropped\n",
                 b->options.pair, b->counts.moves, b->counts.left_out, b->counts.commands,
                 b->counts.replies, b->counts.unasked, b->counts.dropped + b->session.overflow);
}

static int run_session(struct bridge *b)
{
    char id[2 * EVENT_PAIR_MAX];
    char presence[MESSAGE_TOPIC_MAX];
    char filters[2][MESSAGE_TOPIC_MAX];
    const struct mqtt_client_topic commanded[] = {{filters[0], 1}, {filters[1], 1}};
    const char *prefix = b->options.broker.prefix;
    (void)snprintf(id, sizeof id, "bridge-%s", b->options.pair);
    struct mqtt_client_options client = broker_arguments_options(&b->options.broker, id);
    session_topic(presence, prefix, b->options.pair, "real/connection");
    /* The topic is real/command in link mode and command in observe mode. */
    session_topic(filters[0], prefix, b->options.pair,
                  b->options.drive && b->options.link ? "real/command"
                  : b->options.commanded              ? "command"
                                                      : "virtual/reply");
    session_topic(filters[1], prefix, b->options.pair, "real/command");
    client.presence = presence;
    client.offline = "{\"state\":\"offline\",\"reason\":\"the bridge has gone\"}";
    client.topics = commanded;
    client.topic_count = b->options.commanded && !b->options.drive ? 2 : 1;
    if (!session_open(&b->session, client)) {
        return EXIT_FAILED;
    }
    rtde_link_open(&b->link, b->options.host, b->options.port, &b->recipe_request,
                   &b->listener);
    if (b->options.drive) {
        controller_open(&b->controller, b->options.host, b->options.primary_port,
                        b->options.dashboard_port, print_text, b);
    }
    run_loop(b);
    if (b->options.drive) {
        stop_drive(b);
        controller_close(&b->controller);
    }
    rtde_link_close(&b->link);
    session_close(&b->session, STOP_MS);
    print_summary(b);
    const bool reached = session_was_connected(&b->session);
    return reached && b->link.connections > 0 ? EXIT_FINE : EXIT_FAILED;
}

static void begin_drive(struct bridge *b)
{
    struct arm_geometry arm;
    const int64_t now_us = lab_clock_now_us();
    b->recipe_request.names = driven_fields;
    b->recipe_request.count = COUNT(driven_fields);
    b->recipe_request.required = DRIVEN_REQUIRED;
    b->recipe_request.inputs = drive_input_names;
    b->recipe_request.input_count = DRIVE_INPUTS_COUNT;
    (void)arm_geometry_find(b->options.arm, &arm);
    /* Numbers of another run do not come again for an hour of moves. */
    drive_begin(&b->drive, &arm, 1 + (int32_t)(now_us / 1000000 % 1000000000));
    b->drive.bounds.floor_m = b->options.floor_m;
    b->drive.bounds.clearance_m = isfinite(b->options.floor_m) ? 0.0 : -(double)INFINITY;
    b->broker_us = lab_clock_monotonic_us();
    (void)fputs(
        "bridge: --drive moves a real arm. It is not a safety function: the robot's own "
        "must be set up, and somebody must be able to stop it.\n",
        stderr);
}

int bridge_run(const struct bridge_options *options)
{
    struct bridge *b = calloc(1, sizeof *b);
    int exit_status = EXIT_FAILED;
    if (b) {
        b->watch = calloc(1, sizeof *b->watch);
    }
    if (b && b->watch) {
        b->options = *options;
        b->recipe_request = (struct rtde_request){.names = requested_fields,
                                                  .count = COUNT(requested_fields),
                                                  .required = REQUIRED,
                                                  .hz = options->rate_hz};
        if (options->drive) {
            begin_drive(b);
        }
        b->listener = (struct rtde_listener){b, receive_values, print_text, handle_change};
        b->watch->period_s = 1.0 / options->rate_hz;
        b->run = (uint64_t)(lab_clock_now_us() / 1000000);
        b->virtual_answers = true;
        exit_status = run_session(b);
    } else {
        complain("out of memory");
    }
    if (b) {
        free(b->watch);
    }
    free(b);
    return exit_status;
}
