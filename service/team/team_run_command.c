/* service/team/team_run_command.c - `tandem team run`: starts a team in a lab, and prints its
 * events until it has ended. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "service/mqtt/broker_arguments.h"
#include "service/mqtt/session.h"
#include "service/team/team_command.h"
#include "service/team/team_settings.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    WAIT_SLICE_US = 50 * 1000, /* longest delay before a signal is noticed */
    STOP_MS = 3000,
    SESSION_S = 60,      /* time for which the broker keeps events while the link is down */
    ASK_US = 2000 * 1000 /* the request is repeated with the same id until an answer arrives */
};

struct team_following {
    const char *lab_path, *team;
    double connect_s, timeout_s;
    bool json, stops, waits;
    struct lab_file lab;
    const struct team_params *p;
    struct session session;
    char request_topic[MESSAGE_TOPIC_MAX], response_topic[MESSAGE_TOPIC_MAX],
        event_topic[MESSAGE_TOPIC_MAX];
    char id[EVENT_ID_MAX]; /* id of the start request */
    bool has_events, refused, stopped;
    uint8_t *open; /* [robot_count] activities begun and not ended */
    size_t open_count, ended_count, alarms, errors;
    int64_t start_us, end_us;
};

/* ---- output -------------------------------------------------------------------------- */

static void set_open(struct team_following *f, const char *name, bool open)
{
    const uint16_t i = team_find_robot(f->p, name);
    if (i == TEAM_NONE || (f->open[i] != 0) == open) {
        return;
    }
    f->open[i] = open;
    f->open_count += open ? 1 : (size_t)-1;
    f->ended_count += !open;
}

/* Members of an event that are printed, in this order, if present. */
static const struct {
    const char *key, *before, *behind;
} printed_members[] = {
    {"task", " ", ""},
    {"event", " ", ""},
    {"arg", " ", ""},
    {"resource", " ", ""},
    {"resources", " ", ""},
    {"name", " ", ""},
    {"meeting", " ", ""},
    {"robots", " of ", ""},
    {"part", " part ", ""},
    {"fence", " #", ""},
    {"current", ", now #", ""},
    {"behind", " behind ", ""},
    {"by", " by ", ""},
    {"missing", ", missing ", ""},
    {"holds", ", holds ", ""},
    {"owner", ", held: ", ""},
    {"cycle", " ", ""},
    {"policy", ", ", ""},
    {"because", " because of ", ""},
    {"job", " job ", ""},
    {"helps", ", helps ", ""},
    {"why", ": ", ""},
    {"waited_s", ", waited for ", " s"},
    {"took_s", ", ", " s"},
    {"min_s", ", at least ", " s"},
};

static void print_value(const json_t *value)
{
    if (json_is_string(value)) {
        (void)fputs(json_string_value(value), stdout);
    } else if (json_is_number(value)) {
        (void)printf("%.*f", json_is_real(value) ? 3 : 0, json_number_value(value));
    } else {
        char *text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
        (void)fputs(text ? text : "", stdout);
        free(text);
    }
}

/* Prints a list as its elements; nothing for an empty list, or for 0 s. */
static void print_member(const json_t *value, const char *before, const char *behind)
{
    const bool list = json_is_array(value);
    if (!value || json_is_null(value) || (list && json_array_size(value) == 0) ||
        (json_is_number(value) && !(json_number_value(value) > 0.0))) {
        return;
    }
    (void)fputs(before, stdout);
    for (size_t k = 0; k < (list ? json_array_size(value) : 1); k++) {
        (void)fputs(k > 0 ? ", " : "", stdout);
        print_value(list ? json_array_get(value, k) : value);
    }
    (void)fputs(behind, stdout);
}

static void print_event(const json_t *event)
{
    const char *alarm = json_file_text(event, "alarm");
    (void)printf("%10.3f s  %-8s %s%-8s", json_file_real(event, "t"),
                 json_file_text(event, "robot"), alarm[0] ? "ALARM " : "",
                 alarm[0] ? alarm : json_file_text(event, "type"));
    for (size_t k = 0; k < COUNT(printed_members); k++) {
        print_member(json_object_get(event, printed_members[k].key), printed_members[k].before,
                     printed_members[k].behind);
    }
    (void)printf("\n");
}

static void handle_team_event(struct team_following *f, json_t *event, const struct message *m)
{
    const char *type = json_file_text(event, "type");
    const char *robot = json_file_text(event, "robot");
    const double t_s = json_file_real(event, "t");
    if (f->json) {
        (void)printf("%.*s\n", (int)m->stored_bytes, m->payload);
    } else {
        (void)json_object_set_new(event, "t", json_real(t_s - lab_s(f->start_us)));
        print_event(event);
    }
    (void)fflush(stdout);
    f->has_events = true;
    f->alarms += strcmp(type, "alarm") == 0;
    f->errors += strcmp(type, "error") == 0;
    if (strcmp(type, "assign") == 0 || strcmp(type, "start") == 0) {
        set_open(f, robot, true);
    } else if (strcmp(type, "finish") == 0) {
        set_open(f, robot, true); /* a robot that had nothing to do has begun, too */
        set_open(f, robot, false);
        f->end_us = lab_us(t_s);
    }
}

static void receive_message(void *context, const struct message *m)
{
    struct team_following *f = context;
    json_t *document = m->stored_bytes == m->payload_bytes
                           ? json_loadb(m->payload, m->stored_bytes, 0, NULL)
                           : NULL;
    if (strcmp(m->topic, f->event_topic) == 0 && document) {
        handle_team_event(f, document, m);
    } else if (document && strcmp(json_file_text(document, "id"), f->id) == 0) {
        f->refused = true;
        complain("team run: %s", json_file_text(document, "detail"));
    }
    json_decref(document);
}

/* ---- running the command ------------------------------------------------------------- */

static bool ask_team(struct team_following *f, const char *op, const char *id)
{
    char text[128];
    const int bytes = snprintf(text, sizeof text, "{\"id\":\"%s\",\"op\":\"%s\"}", id, op);
    return mqtt_client_publish(f->session.client, f->request_topic, text, (size_t)bytes, 1,
                               false) == STATUS_OK;
}

/* Robots that have a sequence are expected to end it. */
static void expect_robots(struct team_following *f)
{
    for (size_t i = 0; i < f->p->robot_count; i++) {
        if (f->p->robots[i].sequence != TEAM_NONE) {
            set_open(f, f->p->robots[i].name, true);
        }
    }
}

static bool has_ended(const struct team_following *f)
{
    return f->refused || (f->has_events && f->open_count == 0 && f->ended_count > 0);
}

static void follow_team(struct team_following *f)
{
    const int64_t until_us = lab_clock_now_us() + lab_us(f->timeout_s);
    int64_t asked_us = LAB_TIME_NONE;
    f->start_us = lab_clock_now_us();
    (void)snprintf(f->id, sizeof f->id, "run-%" PRIx64, (uint64_t)f->start_us);
    expect_robots(f);
    while (!has_ended(f) && !stop_signal_raised() && lab_clock_now_us() < until_us) {
        const int64_t now_us = lab_clock_now_us();
        if (!f->has_events && !f->waits &&
            (asked_us == LAB_TIME_NONE || now_us - asked_us > ASK_US)) {
            (void)ask_team(f, "start", f->id);
            asked_us = now_us;
        }
        session_wait(&f->session, lab_clock_monotonic_us() + WAIT_SLICE_US);
        session_drain(&f->session, receive_message, f);
    }
    if (!has_ended(f) && f->stops) {
        char id[EVENT_ID_MAX];
        (void)snprintf(id, sizeof id, "stop-%" PRIx64, (uint64_t)f->start_us);
        (void)ask_team(f, "stop", id);
        f->stopped = mqtt_client_wait_sent(f->session.client, STOP_MS);
    }
}

static bool connect_broker(struct team_following *f)
{
    char id[64];
    const struct broker_options *broker = &f->lab.broker;
    const struct mqtt_client_topic topics[] = {{f->event_topic, 1}, {f->response_topic, 1}};
    session_topic(f->request_topic, broker->prefix, f->team, "request");
    session_topic(f->response_topic, broker->prefix, f->team, "response");
    session_topic(f->event_topic, broker->prefix, f->team, "event");
    (void)snprintf(id, sizeof id, "team-%.31s", f->team);
    struct mqtt_client_options options = broker_client_options(broker, id);
    options.unique_id = true;
    options.persistent = true;
    options.session_expiry_s = SESSION_S;
    options.topics = topics;
    options.topic_count = COUNT(topics);
    if (!session_open(&f->session, options)) {
        return false;
    }
    if (session_await(&f->session, lab_clock_monotonic_us() + lab_us(f->connect_s))) {
        return true;
    }
    return complain("team run: no broker at %s port %u within %g s", broker->host,
                    (unsigned)broker->port, f->connect_s);
}

static int run_team(struct team_following *f)
{
    f->open = calloc(f->p->robot_count + 1, 1);
    const bool connected = f->open && connect_broker(f);
    if (connected) {
        follow_team(f);
    }
    session_close(&f->session, STOP_MS);
    free(f->open);
    if (connected && !f->has_events && !f->refused) {
        complain("team run: no message of the team arrived: does tandem serve run with this "
                 "lab file?");
    } else if (connected && !f->json) {
        const bool ended = has_ended(f) && !f->refused;
        const int64_t took_us = (ended ? f->end_us : lab_clock_now_us()) - f->start_us;
        /* The daemon's machine may have another clock. */
        (void)printf("%s: %s after %.3f s, %zu alarms, %zu activities failed\n", f->team,
                     ended        ? "ended"
                     : f->refused ? "refused"
                                  : "not ended",
                     fmax(lab_s(took_us), 0.0), f->alarms, f->errors);
    }
    return !connected || !f->has_events || f->refused ? EXIT_FAILED
           : has_ended(f)                             ? EXIT_FINE
                                                      : EXIT_AS_ASKED;
}

static int parse_arguments(struct team_following *f, int argc, char **argv)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &f->lab_path, 0, 0, "FILE", "the lab file: broker, pairs and teams"},
        {"json", 0, ARGUMENT_FLAG, &f->json, 0, 0, NULL, "events as they come, one a line, and nothing else"},
        {"follow", 0, ARGUMENT_FLAG, &f->waits, 0, 0, NULL, "start nothing, only print"},
        {"stop", 0, ARGUMENT_FLAG, &f->stops, 0, 0, NULL, "halt the team after a signal or the time-out"},
        {"timeout", 0, ARGUMENT_REAL, &f->timeout_s, 0.1, 31536000, "S", "end when it has not ended by then (86400)"},
        {"connect-timeout", 0, ARGUMENT_REAL, &f->connect_s, 0.1, 86400, "S", "give up without a broker after it (10)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "team run",
        .purpose = "start a team in a lab and print what it does",
        .operands = "TEAM",
        .description =
            "  Starts the robots of a team that have a sequence, by a message to the daemon\n"
            "  (tandem serve), which must be running as well as the robots, and prints what "
            "the\n  team does until every robot has ended. See docs/model/teams.md, "
            "\"Execution\".\n",
        .examples = "  tandem team run -c config/examples/class3.yaml cell\n",
        .exit_status =
            "there is no broker, or the daemon knows no such team, or the team refuses",
        .exit_as_asked = "it had not ended after --timeout or a signal",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    f->team = argv[1];
    return ARGUMENTS_PARSED;
}

int team_run_command(int argc, char **argv)
{
    struct team_following *f = calloc(1, sizeof *f);
    if (!f) {
        return complain_exit(EXIT_FAILED, "team run: not enough memory");
    }
    f->connect_s = 10.0;
    f->timeout_s = 86400.0;
    int exit_status = parse_arguments(f, argc, argv);
    if (exit_status == ARGUMENTS_PARSED) {
        char names[TEAM_SETTINGS_NAMES_MAX];
        const bool loaded = lab_argument_load("team run", f->lab_path, &f->lab);
        f->p = loaded ? team_settings_choose(&f->lab.teams, f->team, names) : NULL;
        if (loaded && !f->p) {
            complain("%s: there is no team %s", f->lab_path, f->team);
        }
        exit_status = f->p ? run_team(f) : EXIT_USAGE;
    }
    lab_file_free(&f->lab);
    free(f);
    return exit_status;
}
