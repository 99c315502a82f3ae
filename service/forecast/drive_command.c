/* service/forecast/drive_command.c - `tandem drive`, the simplest L1: sends moves one after
 * another, each when the previous one is answered. They are random, or those of a plan. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/random.h"
#include "logger/codec/codecs.h"
#include "logger/message/codec_native.h"
#include "logger/message/json_scan.h"
#include "service/client/daemon_client.h"
#include "service/forecast/drive_history.h"
#include "service/forecast/drive_plan.h"
#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/session.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    STOP_MS = 3000,
    CONNECT_US = 10 * 1000 * 1000,
    POSE_US = 5 * 1000 * 1000,    /* time for a pose to arrive, */
    SETTLE_US = 60 * 1000 * 1000, /* and for a robot to come to rest */
    THIRDS = 3,
    ROUND = THIRDS * THIRDS,
    BEGIN_MOVES = 3, /* one of each kind */
    TOPICS_MAX = 6,
    RUN_MAX = 24
};

static const double TIMEOUT_S = 10.0;
/* Speeds that a plan guesses first, without a lab file. */
static const double GUESS_RADPS = 1.0;
static const double GUESS_MPS = 0.2;

struct drive {
    struct mqtt_client_options broker;
    const char *pair;
    double interval_s, timeout_s, for_s, turn_min_rad, turn_max_rad, drive_min_m, drive_max_m;
    int count;
    bool quiet, json;
    const char *lab_path; /* NULL: robots speak natively */
    struct lab_file lab;

    const char *url, *token_file; /* of the daemon; NULL: those of the lab file */

    struct session session;
    char run[RUN_MAX]; /* begins the ids of all commands of this driver, and of no other one */
    bool another;      /* somebody else commands the pair */
    struct random_source random;
    unsigned order[ROUND], left; /* order of the moves in this round */
    bool link;
    char command_topic[MESSAGE_TOPIC_MAX];
    size_t topic_count;
    struct mqtt_client_topic topics[TOPICS_MAX]; /* their filters are: */
    char filters[TOPICS_MAX][MESSAGE_TOPIC_MAX];
    struct event_command command; /* the command without an answer yet */
    /* LAB_TIME_NONE: no answer yet; link mode: [SIDE_REAL] only */
    int64_t lap_us[SIDE_COUNT];
    bool closed; /* its entry has arrived; only with a lab file */
    uint64_t sent, answered, entries;

    struct drive_plan_options options;
    struct drive_plan planned, *plan; /* plan NULL: random moves */
    int64_t end_us;                   /* of --for, monotonic */
    double guess_radps, guess_mps;
    bool open; /* the command is under way */
    /* The real robot's answer: what it was, its motion (LAB_TIME_NONE: not reported), and
     * whether a fit must not use it. */
    size_t status; /* enum reply_status, or REPLY_STATUS_COUNT: none */
    int64_t motion_us;
    bool unusable;
};

/* ---- answers ---- */

/* A second driver makes laps longer, and leaves the robot elsewhere. */
static void receive_command(struct drive *d, const char *id)
{
    if (strncmp(id, d->run, strlen(d->run)) == 0 || d->another) {
        return;
    }
    d->another = true;
    d->planned.another = true;
    if (!d->plan) {
        (void)complain("drive: somebody else commands %s, too: laps may have waited for "
                       "these moves",
                       d->pair);
    }
}

static void receive_event(void *context, const struct event *event)
{
    struct drive *d = context;
    const bool is_reply = event->kind == EVENT_REPLY;
    if (event->kind == EVENT_COMMAND) {
        receive_command(d, event->command.id);
    }
    if (is_reply && strcmp(event->reply.id, d->command.id) != 0) {
        return;
    }
    if (d->plan) {
        drive_plan_receive_pose(d->plan, event,
                                d->open                           ? DRIVE_MOVES
                                : d->status == REPLY_STATUS_COUNT ? DRIVE_UNSURE
                                                                  : DRIVE_STANDS);
    }
    if (is_reply && !d->lab_path && d->lap_us[event->side] == LAB_TIME_NONE) {
        d->lap_us[event->side] = event->t_us - d->command.source_us;
        d->status = event->side == SIDE_REAL ? event->reply.status : d->status;
        d->unusable = d->unusable || (event->side == SIDE_REAL && event->reply.uncalibrated);
    }
}

static bool scan_lap(struct json_scan *s, int64_t *lap_us)
{
    double lap_s = 0.0;
    if (json_scan_peek(s) == JSON_KIND_NULL) {
        return json_scan_null(s);
    }
    const bool number = json_scan_number(s, &lap_s);
    *lap_us = number ? lab_us(lap_s) : LAB_TIME_NONE;
    return number;
}

/* The daemon compares robots of any protocol: its entry has both laps, and says which of them
 * a fit may use. */
static void receive_entry(struct drive *d, const struct message *m)
{
    struct json_scan s;
    struct json_text key;
    struct json_text id = {0};
    struct json_text status = {0};
    struct json_text whose = {0}; /* "real", "virtual", "both", "command" */
    int64_t lap_us[SIDE_COUNT] = {LAB_TIME_NONE, LAB_TIME_NONE};
    int64_t motion_us = LAB_TIME_NONE;
    int64_t away_us = LAB_TIME_NONE;
    int64_t t_us = LAB_TIME_NONE;
    bool unusable = false;
    json_scan_start(&s, m->payload, m->stored_bytes, JSON_SCAN_DEPTH_MAX);
    if (!json_scan_enter(&s, JSON_KIND_OBJECT)) {
        return;
    }
    while (json_scan_next_member(&s, &key)) {
        (void)(json_text_is(&key, "id")              ? json_scan_text(&s, &id)
               : json_text_is(&key, "t")             ? scan_lap(&s, &t_us)
               : json_text_is(&key, "real_lap_s")    ? scan_lap(&s, &lap_us[SIDE_REAL])
               : json_text_is(&key, "virtual_lap_s") ? scan_lap(&s, &lap_us[SIDE_VIRTUAL])
               : json_text_is(&key, "real_motion_s") ? scan_lap(&s, &motion_us)
               : json_text_is(&key, "interrupted_s") ? scan_lap(&s, &away_us)
               : json_text_is(&key, "real_status")   ? json_scan_text(&s, &status)
               : json_text_is(&key, "ambiguous") || json_text_is(&key, "excluded")
                   ? json_scan_text(&s, &whose)
                   : json_scan_skip(&s, NULL, NULL));
        unusable = unusable || (whose.at && !json_text_is(&whose, "virtual"));
    }
    if (!s.error && id.at && json_text_is(&id, d->command.id)) {
        char name[EVENT_NAME_MAX] = "";
        memcpy(d->lap_us, lap_us, sizeof d->lap_us);
        if (status.at) {
            (void)json_text_copy(&status, name, sizeof name, false);
        }
        d->status = names_value(&reply_status_names, name);
        d->motion_us = motion_us;
        d->unusable = unusable || away_us != LAB_TIME_NONE;
        d->closed = true;
        d->planned.begun_us = d->entries < BEGIN_MOVES ? t_us : d->planned.begun_us;
        d->entries++;
    }
}

static void receive_message(void *context, const struct message *m)
{
    struct drive *d = context;
    struct message message = *m;
    if (m->retained) {
        return;
    }
    const char *word = strrchr(m->topic, '/');
    if (word && strcmp(word, "/entry") == 0) {
        receive_entry(d, m);
        return;
    }
    if (word && strcmp(word, "/alarm") == 0) {
        drive_plan_receive_alarm(d->plan, m->payload, m->stored_bytes);
        return;
    }
    if (d->link && !d->lab_path && word && strcmp(word, "/reply") == 0) {
        /* in link mode L1 gets one reply, in a robot's format */
        session_topic(message.topic, d->broker.prefix, d->pair, "real/reply");
    }
    (void)codec_native.decode(d->broker.prefix, &message, receive_event, d);
}

/* Draws from the short, middle or long third of the range. */
static double draw_size(struct random_source *random, double min, double max, unsigned third)
{
    const double from = min + (max - min) * (double)third / THIRDS;
    const double to = min + (max - min) * (double)(third + 1) / THIRDS;
    return rint(random_between(random, from, to) * 1000.0) / 1000.0;
}

/* A round has nine moves in random order: three turn, three drive, three do both. One of each
 * three is short, one middle, one long. So every parameter of the travel time can be
 * identified, and also whether laps depend on the size non-linearly. */
static void draw_move(struct drive *d, struct event_command *command)
{
    if (d->left == 0) {
        for (d->left = 0; d->left < ROUND; d->left++) {
            const unsigned at = (unsigned)random_between(&d->random, 0.0, d->left + 1.0);
            d->order[d->left] = d->order[at];
            d->order[at] = d->left;
        }
    }
    const unsigned kind = d->order[--d->left] % THIRDS;
    const unsigned third = d->order[d->left] / THIRDS;
    const double sign = random_between(&d->random, -1.0, 1.0) < 0.0 ? -1.0 : 1.0;
    const double turn_rad =
        sign * draw_size(&d->random, d->turn_min_rad, d->turn_max_rad, third);
    /* A short drive gets a middle turn, and so on. */
    const double drive_m = draw_size(&d->random, d->drive_min_m, d->drive_max_m,
                                     kind == 1 ? (third + 2) % THIRDS : third);
    (void)snprintf(command->op, sizeof command->op, "go");
    command->rotation_rad = kind < 2 ? turn_rad : 0.0;
    command->displacement_m = kind >= 1 ? drive_m : 0.0;
}

/* With a lab file entries have the laps of both robots in link mode, too. */
static bool has_one_lap(const struct drive *d)
{
    return d->link && !d->lab_path;
}

static bool is_answered(const struct drive *d)
{
    return d->lap_us[SIDE_REAL] != LAB_TIME_NONE &&
           (has_one_lap(d) || d->lap_us[SIDE_VIRTUAL] != LAB_TIME_NONE);
}

/* Waits for the replies. It continues after a stop signal, because an open command should be
 * closed. */
static void wait_for_replies(struct drive *d)
{
    const int64_t limit_us = lab_clock_monotonic_us() + lab_us(d->timeout_s);
    d->open = true;
    while (!d->closed && !is_answered(d) && lab_clock_monotonic_us() < limit_us) {
        session_wait(&d->session, limit_us);
        session_drain(&d->session, receive_message, d);
    }
    d->open = false;
    d->answered += is_answered(d);
}

/* ---- a plan ---- */

static void wait_for_pose(struct drive *d)
{
    const int64_t begun_us = lab_clock_monotonic_us();
    int64_t limit_us = begun_us + POSE_US;
    while (d->plan->moves.aim.bounded && !d->plan->has_pose && !stop_signal_raised() &&
           lab_clock_monotonic_us() < limit_us) {
        const int64_t rest_us = d->plan->rest_us;
        session_wait(&d->session, limit_us);
        session_drain(&d->session, receive_message, d);
        if (d->plan->rest_us != rest_us) { /* it moves */
            limit_us = lab_clock_monotonic_us() + POSE_US;
            limit_us = limit_us < begun_us + SETTLE_US ? limit_us : begun_us + SETTLE_US;
        }
    }
}

static void learn_move(struct drive *d)
{
    const bool done = d->status == REPLY_DONE && d->lap_us[SIDE_REAL] != LAB_TIME_NONE;
    const bool failed =
        d->status == REPLY_BLOCKED || d->status == REPLY_ERROR || !is_answered(d);
    const int64_t lap_us = d->motion_us != LAB_TIME_NONE ? d->motion_us : d->lap_us[SIDE_REAL];
    drive_plan_learn(d->plan, &d->command,
                     done && !d->unusable ? DRIVE_DONE
                     : failed             ? DRIVE_NOT_DONE
                                          : DRIVE_UNUSABLE,
                     lab_s(lap_us));
    wait_for_pose(d);
}

/* Chooses the next move, the n-th; false: the plan has ended. */
static bool plan_move(struct drive *d, int n)
{
    const bool goes_on = drive_plan_choose(d->plan, &d->command);
    if (goes_on && d->count > 0 && n > d->count) {
        d->plan->stop = DRIVE_COUNT;
        return false;
    }
    d->plan->has_pose = d->plan->has_pose && !goes_on; /* the move changes it */
    d->plan->rest_us = LAB_TIME_NONE;
    return goes_on;
}

static void write_reply(const void *drive, struct json_writer *w)
{
    const struct drive *d = drive;
    const bool one = has_one_lap(d);
    JSON_WRITE(w, JSON_OF(&d->command, id, rotation_rad, displacement_m),
               JSON_SECONDS(one ? "lap_s" : "real_lap_s", d->lap_us[SIDE_REAL]),
               JSON_IF(!one, JSON_SECONDS("virtual_lap_s", d->lap_us[SIDE_VIRTUAL])));
    if (d->plan) {
        drive_plan_write_move(d->plan, w);
    }
}

static void write_counts(const void *drive, struct json_writer *w)
{
    const struct drive *d = drive;
    JSON_WRITE(w, JSON_OF(d, pair), JSON("commands", d->sent), JSON_OF(d, answered),
               JSON("timed_out", d->sent - d->answered));
    if (d->plan) {
        drive_plan_write_end(d->plan, w);
    }
}

static void show_reply(const struct drive *d)
{
    if (d->json) {
        json_file_print(stdout, write_reply, d);
        (void)fflush(stdout);
        return;
    }
    (void)printf("%s  %+.3f rad  %.3f m ", d->command.id, d->command.rotation_rad,
                 d->command.displacement_m);
    for (int side = 0; side < (has_one_lap(d) ? 1 : SIDE_COUNT); side++) {
        const char *name = has_one_lap(d) ? "reply" : side_name((enum side)side);
        if (d->lap_us[side] == LAB_TIME_NONE) {
            (void)printf("  %s -", name);
        } else {
            (void)printf("  %s %.3f s", name, lab_s(d->lap_us[side]));
        }
    }
    if (d->plan) {
        drive_plan_print_move(d->plan);
    }
    (void)putchar('\n');
    (void)fflush(stdout);
}

/* Sends the command and waits for its answers. */
static void make_move(struct drive *d)
{
    d->lap_us[SIDE_REAL] = d->lap_us[SIDE_VIRTUAL] = d->motion_us = LAB_TIME_NONE;
    d->status = REPLY_STATUS_COUNT;
    d->closed = d->unusable = false;
    if (!session_command(&d->session, d->command_topic, &d->command)) {
        complain("drive: the link's buffer is full");
        return;
    }
    d->sent++;
    wait_for_replies(d);
    if (d->plan) {
        learn_move(d);
    }
    if (!d->quiet) {
        show_reply(d);
    }
}

static void drive_all(struct drive *d)
{
    bool going = true;
    for (int n = 1; going && (d->plan || d->count == 0 || n <= d->count); n++) {
        struct event_command *command = &d->command;
        *command = (struct event_command){0};
        if (!d->plan) {
            draw_move(d, command);
        } else if (!plan_move(d, n)) {
            return;
        }
        command->source_us = lab_clock_now_us();
        (void)snprintf(command->id, sizeof command->id, "%s%d", d->run, n);
        make_move(d);
        const int64_t next_us = lab_clock_monotonic_us() + lab_us(d->interval_s);
        going = session_sleep(next_us < d->end_us ? next_us : d->end_us) &&
                lab_clock_monotonic_us() < d->end_us;
    }
}

static void add_topic(struct drive *d, const char *word)
{
    char *filter = d->filters[d->topic_count];
    session_topic(filter, d->broker.prefix, d->pair, word);
    d->topics[d->topic_count++] = (struct mqtt_client_topic){filter, 1};
}

static void add_topics(struct drive *d)
{
    const bool bounded = d->plan && d->plan->moves.aim.bounded;
    session_topic(d->command_topic, d->broker.prefix, d->pair, "command");
    if (d->lab_path) {
        add_topic(d, "entry");
    } else if (d->link) {
        add_topic(d, "reply");
    } else {
        add_topic(d, "virtual/reply");
    }
    if ((!d->lab_path && !d->link) || (d->lab_path && bounded)) {
        add_topic(d, "real/reply");
    }
    if (bounded) {
        add_topic(d, "real/telemetry");
    }
    if (d->plan) {
        add_topic(d, "alarm");
    }
    add_topic(d, "command");
}

static void report_end(const struct drive *d)
{
    if (d->json) {
        json_file_print(stdout, write_counts, d);
    } else {
        (void)printf("drive %s: %" PRIu64 " commands, %" PRIu64 " answered, %" PRIu64
                     " timed out\n",
                     d->pair, d->sent, d->answered, d->sent - d->answered);
        if (d->plan) {
            drive_plan_print_end(d->plan);
        }
    }
    if (d->lab_path && d->sent > 0 && d->entries == 0) {
        complain("drive: no entry arrived: does 'tandem serve -c %s' run?", d->lab_path);
    }
}

static int run_drive(struct drive *d)
{
    char id[128];
    (void)snprintf(id, sizeof id, "drive-%s", d->pair);
    struct mqtt_client_options client = broker_arguments_options(&d->broker, id);
    client.unique_id = true; /* one with the same id would end the connection of the other */
    (void)snprintf(d->run, sizeof d->run, "c%" PRIx64 "-", (uint64_t)lab_clock_now_us());
    d->status = REPLY_STATUS_COUNT;
    d->planned.rest_us = LAB_TIME_NONE;
    add_topics(d);
    client.topics = d->topics;
    client.topic_count = d->topic_count;
    if (!session_open(&d->session, client)) {
        return EXIT_FAILED;
    }
    const int64_t patience_us = lab_clock_monotonic_us() + CONNECT_US;
    d->end_us = d->for_s > 0.0 ? lab_clock_monotonic_us() + lab_us(d->for_s) : LAB_TIME_MAX;
    const bool connected =
        session_await(&d->session, patience_us < d->end_us ? patience_us : d->end_us);
    bool ready = connected;
    if (connected && d->plan && d->plan->moves.aim.bounded) {
        wait_for_pose(d);
        ready = drive_plan_stands_inside(d->plan);
    }
    if (ready) {
        drive_all(d);
    }
    if (d->plan && d->plan->stop == DRIVE_GOES_ON) {
        d->plan->stop = stop_signal_raised() ? DRIVE_SIGNAL
                        : connected          ? DRIVE_TIME
                                             : DRIVE_NO_CONNECTION;
    }
    session_close(&d->session, STOP_MS);
    if (connected && !ready) {
        return EXIT_USAGE;
    }
    report_end(d);
    return !session_was_connected(&d->session)         ? EXIT_FAILED
           : d->plan && d->plan->stop != DRIVE_REACHED ? EXIT_AS_ASKED
                                                       : EXIT_FINE;
}

/* ---- the command ---- */

/* Broker, mode and patience are the lab's. */
static bool read_lab(struct drive *d, bool has_timeout)
{
    if (!lab_argument_load("drive", d->lab_path, &d->lab)) {
        return false;
    }
    const struct pair_params *p = lab_find_params(d->lab.pairs, d->lab.pair_count, d->pair);
    if (!p) {
        return complain("drive: the lab has no pair '%s'", d->pair);
    }
    d->link = p->mode == PAIR_LINK;
    if (!d->link && codec_find(p->codec)->receive) {
        return complain("drive: pairs.%s.mode: link was expected: robots whose codec is %s do "
                        "not read the commands of drive",
                        d->pair, p->codec);
    }
    if (d->options.plan && (pair_is_arm(p) || p->motion != TRAVEL_TURNS_AND_DRIVES)) {
        return complain("drive: --plan: a robot that turns and drives was expected, '%s' is an "
                        "arm or calibrates one of them only",
                        d->pair);
    }
    if (d->options.room && strcmp(p->codec, "native") != 0) {
        return complain("drive: --room: pairs.%s.codec: native was expected: poses of codec %s "
                        "are not read",
                        d->pair, p->codec);
    }
    d->guess_radps = p->kalman.nominal_w_radps;
    d->guess_mps = p->kalman.nominal_v_mps;
    d->broker = broker_client_options(&d->lab.broker, NULL);
    d->timeout_s = has_timeout ? d->timeout_s : lab_s(p->timeout_us) + 2.0;
    return true;
}

static int start_drive(struct drive *d, const char *mode, int seed)
{
    const bool has_timeout = d->timeout_s > 0.0;
    const char *ca_file = d->broker.ca_file; /* with a lab file it is not for the broker */
    int exit_status = EXIT_USAGE;
    if ((d->url || d->token_file) && !(d->lab_path && d->options.plan)) {
        (void)complain("drive: --url and --token-file: they need -c LAB.yaml and --plan");
        return exit_status;
    }
    if (d->url && !daemon_client_accepts(d->url, "drive")) {
        return exit_status;
    }
    if (d->turn_max_rad < d->turn_min_rad || d->drive_max_m < d->drive_min_m) {
        complain("--turn-max and --drive-max: at least the smallest size was expected");
        return exit_status;
    }
    bool ready = true;
    struct next_move_aim aim = {.turn_rad = {d->turn_min_rad, d->turn_max_rad},
                                .drive_m = {d->drive_min_m, d->drive_max_m}};
    if (!drive_plan_read(&d->options, &aim)) {
        return exit_status;
    }
    d->link = strcmp(mode, "link") == 0;
    d->timeout_s = has_timeout ? d->timeout_s : TIMEOUT_S;
    d->random.state = (uint64_t)seed;
    if ((!d->lab_path || read_lab(d, has_timeout)) &&
        session_names_fit(d->broker.prefix, d->pair, 0)) {
        d->plan = d->options.plan ? &d->planned : NULL;
        move_plan_start(&d->planned.moves, &aim, d->guess_radps, d->guess_mps);
        if (d->plan && d->lab_path && (d->lab.http.enabled || d->url || d->token_file)) {
            ready = drive_history_read(&(struct drive_daemon){.http = &d->lab.http,
                                                              .url = d->url,
                                                              .token_file = d->token_file,
                                                              .ca_file = ca_file},
                                       d->pair, &d->plan->moves);
        }
        exit_status = ready ? run_drive(d) : EXIT_USAGE;
    }
    lab_file_free(&d->lab);
    return exit_status;
}

static const char description[] =
    "  With -c LAB.yaml it uses the lab's broker and the pair's mode, and waits for the "
    "entries\n"
    "  of 'tandem serve': so it drives robots of every codec.\n"
    "  Sends random moves to PAIR/command. Of nine moves three are rotations, three are\n"
    "  displacements and three are both: one short, one medium, one long of each kind.\n"
    "  The next move follows when the last one was answered or timed out. After a signal\n"
    "  it waits for the answer to the running move, then ends.\n"
    "  With --plan it sends the moves that tell most about the real robot, until its speeds\n"
    "  (--goal), or the time of a mission, are known as well as wanted. It stops earlier if\n"
    "  the laps do not follow the law of travel times, after an alarm of drift, when no move\n"
    "  ends in the room, and when two moves in a row were blocked or failed.\n"
    "  With -c it begins with the moves that the daemon has, read once over HTTP or HTTPS\n"
    "  (--url, --token-file, --ca-file; the lab file's own by default). Moves of the time "
    "before\n"
    "  a change of the robot are left out. Nobody else may command the pair meanwhile.\n";

int command_drive(int argc, char **argv)
{
    const char *mode = "observe";
    int seed = 1;
    struct drive d = {.broker = broker_arguments_defaults(),
                      .pair = "r1",
                      .interval_s = 0.2,
                      .turn_min_rad = 0.3,
                      .turn_max_rad = 3.0,
                      .drive_min_m = 0.1,
                      .drive_max_m = 1.0,
                      .options = {.within_s = (double)NAN},
                      .guess_radps = GUESS_RADPS,
                      .guess_mps = GUESS_MPS};
    /* clang-format off */
    const struct argument rows[] = {
        {"lab", 'c', ARGUMENT_TEXT, &d.lab_path, 0, 0, "LAB.yaml", "the lab file of the pair"},
        {"pair", 0, ARGUMENT_TEXT, &d.pair, 0, 0, "ID", "pair to command (r1)"},
        {"mode", 0, ARGUMENT_TEXT, &mode, 0, 0, "observe|link",
         "wait for both robots' replies, or for the merged one (observe)"},
        {"interval", 0, ARGUMENT_REAL, &d.interval_s, 0, 3600, "S", "pause after the replies (0.2)"},
        {"timeout", 0, ARGUMENT_REAL, &d.timeout_s, 0.001, 86400, "S", "go on after it (10; -c: the lab's)"},
        {"turn-min", 0, ARGUMENT_REAL, &d.turn_min_rad, 0.001, 1000, "RAD", "smallest rotation (0.3)"},
        {"turn-max", 0, ARGUMENT_REAL, &d.turn_max_rad, 0.001, 1000, "RAD", "largest rotation (3)"},
        {"drive-min", 0, ARGUMENT_REAL, &d.drive_min_m, 0.001, 1000, "M", "smallest displacement (0.1)"},
        {"drive-max", 0, ARGUMENT_REAL, &d.drive_max_m, 0.001, 1000, "M", "largest displacement (1)"},
        {"seed", 0, ARGUMENT_INTEGER, &seed, 0, 2147483647, "N", "of the random moves (1)"},
        {"count", 'n', ARGUMENT_INTEGER, &d.count, 1, 2147483647, "N", "end after this many commands"},
        {"for", 0, ARGUMENT_REAL, &d.for_s, 0, 1e9, "S", "end after this time (runs until a signal)"},
        {"plan", 0, ARGUMENT_FLAG, &d.options.plan, 0, 0, NULL,
         "choose the moves that tell most, and stop when that suffices"},
        {"goal", 0, ARGUMENT_TEXT, &d.options.goal, 0, 0, "P%[,delay=20ms]",
         "half width of the speeds' 95 % intervals, and of the delays' (2%)"},
        {"mission", 0, ARGUMENT_TEXT, &d.options.mission, 0, 0, "FILE",
         "plan for the time of this mission, with --within"},
        {"within", 0, ARGUMENT_REAL, &d.options.within_s, 0.001, 86400, "S",
         "half width of its 95 % interval"},
        {"room", 0, ARGUMENT_TEXT, &d.options.room, 0, 0, "X0,Y0,X1,Y1",
         "corners of the rectangle that moves must end in, m"},
        {"url", 0, ARGUMENT_TEXT, &d.url, 0, 0, "URL", "of the daemon that has moves (-c: the lab's)"},
        {"token-file", 0, ARGUMENT_TEXT, &d.token_file, 0, 0, "FILE",
         "its first line is the daemon's token (the lab's)"},
        {"quiet", 'q', ARGUMENT_FLAG, &d.quiet, 0, 0, NULL, "print the last line only"},
        {"json", 0, ARGUMENT_FLAG, &d.json, 0, 0, NULL, "a JSON document for each move, and one of the counts"},
    };
    /* clang-format on */
    struct broker_group broker;
    broker_arguments_group(&d.broker, &broker);
    const struct arguments arguments = {
        .command = "drive",
        .operands = "",
        .description = description,
        .examples = "  tandem drive --pair r1 --count 100 --interval 0\n"
                    "  tandem drive -c lab.yaml --pair r1 --count 20\n"
                    "  tandem drive -c lab.yaml --plan --goal 2% --room -1,-1,1,1\n",
        .exit_status = "there was never a connection to the broker",
        .exit_as_asked = "--plan: it stopped before the goal was reached",
        ARGUMENT_ROWS(rows),
        .more = &broker.group};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    return start_drive(&d, mode, seed);
}
