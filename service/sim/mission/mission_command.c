/* service/sim/mission/mission_command.c - `tandem mission`: sends a mission to the daemon,
 * which carries it out, and follows it. Each leg is reported: replies as they come, then laps
 * and verdicts from the daemon's entries, as lines, table and JSON. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/utf8.h"
#include "config/options/option_file.h"
#include "service/sim/mission/mission_dispatch.h"
#include "service/sim/mission/mission_message.h"
#include "service/sim/mission/moves_file.h"
#include "service/tool/arguments.h"
#include "service/tool/commands.h"
#include "service/tool/csv_tables.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_argument.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    LEGS_MAX = 20000,
    LOG_ENTRIES_MAX = 5000,
    FROM_MAX = 12,
    VERDICT_MAX = 16,
    DETAIL_MAX = 128,
    STOP_MS = 3000,
    STATE_MAX = 16,
    WAIT_SLICE_US = 50 * 1000,          /* longest delay before a signal is noticed */
    AGAIN_US = 5 * 1000 * 1000,         /* without an answer the mission is sent again, */
    TIMES_MAX = 4,                      /* at most as often */
    QUIT_PATIENCE_US = 10 * 1000 * 1000 /* after a signal, wait for the robot's answer */
};

/* One command and its results. */
struct leg {
    struct event_command command;
    unsigned step; /* 0: asks for the pose; above the count: the way home */
    int64_t sent_us;
    int64_t reply_us; /* LAB_TIME_NONE: no reply */
    char status[STATE_MAX];
    char from[FROM_MAX]; /* "real", "virtual", "tandem" */
    char detail[DETAIL_MAX];
    double angle_rad, range_m; /* for a ray, else NaN */
    double pose[3];            /* pose after it */
    bool compared;             /* set when its entry arrived: */
    char verdict[VERDICT_MAX];
    bool inconsistent;
    double real_lap_s, virtual_lap_s, lag_s; /* missing values are NaN */
};

/* An acknowledgement, a warning or an error of L1 or L2. */
struct log_entry {
    int64_t t_us;
    unsigned step, layer;
    char level[STATE_MAX];
    char text[MISSION_TEXT_MAX];
};

struct mission_run {
    const char *lab_path, *mission_path, *pair; /* the pair's id; at first as requested */
    const char *id;                             /* of the mission; NULL: a new one */
    double connect_s, linger_s;
    bool json, quiet, plan;
    struct lab_file lab;
    bool of_arm;              /* moves is used, else file */
    struct mission_file file; /* of wheels */
    struct moves_file moves;
    struct session session;
    char new_id[EVENT_ID_MAX];
    char mission_topic[MESSAGE_TOPIC_MAX];
    char status_topic[MESSAGE_TOPIC_MAX];
    char command_topic[MESSAGE_TOPIC_MAX];
    char entry_topic[MESSAGE_TOPIC_MAX];
    char daemon_topic[MESSAGE_TOPIC_MAX];

    char state[STATE_MAX]; /* of the mission, as last reported; "": not yet */
    bool ended, refused;
    char code[32], detail[MISSION_TEXT_MAX];
    double obstacles_found, replies_of_others; /* counts, as reported */
    json_t *machines;                          /* owned; NULL: none reported */
    int64_t start_us, end_us, quit_us;         /* quit_us 0: not quit */
    unsigned times;                            /* how often it was sent */
    uint64_t foreign;                          /* commands to the pair from others */
    uint64_t malformed;

    size_t leg_count, log_count, omitted; /* omitted: legs and log entries without room */
    struct leg legs[LEGS_MAX];            /* untouched memory costs nothing */
    struct log_entry log_entries[LOG_ENTRIES_MAX];
};

/* --- what happened -------------------------------------------------------------------- */

static void copy_text(const json_t *object, const char *key, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", json_file_text(object, key));
    (void)utf8_tame(out); /* terminal escape sequences must not pass */
}

static double read_count(const json_t *object, const char *key)
{
    const double value = json_file_real(object, key);
    return isfinite(value) ? value : 0.0;
}

static unsigned step_of(const json_t *status)
{
    return (unsigned)read_count(status, "step");
}

static void add_leg(struct mission_run *r, const json_t *status, const json_t *command)
{
    if (r->leg_count == LEGS_MAX) {
        r->omitted++;
        return;
    }
    struct leg *leg = &r->legs[r->leg_count++];
    *leg = (struct leg){.step = step_of(status),
                        .sent_us = lab_us(json_file_real(status, "t")),
                        .reply_us = LAB_TIME_NONE,
                        .angle_rad = nan(""),
                        .range_m = nan(""),
                        .pose = {nan(""), nan(""), nan("")},
                        .real_lap_s = nan(""),
                        .virtual_lap_s = nan(""),
                        .lag_s = nan("")};
    copy_text(command, "id", leg->command.id, sizeof leg->command.id);
    copy_text(command, "op", leg->command.op, sizeof leg->command.op);
    leg->command.rotation_rad = read_count(command, "rotation_rad");
    leg->command.displacement_m = read_count(command, "displacement_m");
}

static void add_log_entry(struct mission_run *r, const json_t *status, const json_t *message)
{
    struct log_entry entry = {.t_us = lab_us(json_file_real(status, "t")),
                              .step = step_of(status),
                              .layer = (unsigned)read_count(message, "layer")};
    copy_text(message, "level", entry.level, sizeof entry.level);
    copy_text(message, "text", entry.text, sizeof entry.text);
    if (!r->json && !r->quiet) {
        (void)printf("L%u %-7s %s\n", entry.layer, entry.level, entry.text);
        (void)fflush(stdout);
    }
    if (r->log_count == LOG_ENTRIES_MAX) {
        r->omitted++;
        return;
    }
    r->log_entries[r->log_count++] = entry;
}

/* Searches the newest first, because replies and entries concern the last ones. */
static struct leg *find_leg(struct mission_run *r, const char *id)
{
    for (size_t i = r->leg_count; i > 0; i--) {
        if (strcmp(r->legs[i - 1].command.id, id) == 0) {
            return &r->legs[i - 1];
        }
    }
    return NULL;
}

static void show_leg(const struct leg *leg)
{
    const struct event_command *c = &leg->command;
    (void)printf("%-14s %-11s", c->id, c->op);
    if (strcmp(c->op, "go") == 0) {
        (void)printf(" %+.3f rad %.3f m", c->rotation_rad, c->displacement_m);
    }
    (void)printf("  %s in %.3f s", leg->status, lab_s(leg->reply_us - leg->sent_us));
    if (isfinite(leg->angle_rad) && isfinite(leg->range_m)) {
        (void)printf("  %+.3f rad: %.3f m", leg->angle_rad, leg->range_m);
    } else if (strcmp(c->op, "go") == 0) {
        (void)printf("  at %.3f %.3f, %.3f rad", leg->pose[0], leg->pose[1], leg->pose[2]);
    }
    (void)printf("%s%s\n", leg->detail[0] ? "  " : "", leg->detail);
    (void)fflush(stdout);
}

static void record_answer(struct mission_run *r, const json_t *status, const json_t *reply)
{
    struct leg *leg = find_leg(r, json_file_text(reply, "id"));
    const json_t *values = json_object_get(reply, "values");
    const json_t *pose = json_object_get(status, "pose");
    if (!leg || leg->reply_us != LAB_TIME_NONE) {
        return;
    }
    leg->reply_us = lab_us(json_file_real(status, "t"));
    copy_text(reply, "status", leg->status, sizeof leg->status);
    copy_text(reply, "from", leg->from, sizeof leg->from);
    copy_text(reply, "detail", leg->detail, sizeof leg->detail);
    leg->angle_rad = json_file_real(values, "angle_rad");
    leg->range_m = json_file_real(values, "range_m");
    for (size_t i = 0; i < COUNT(leg->pose) && i < json_array_size(pose); i++) {
        leg->pose[i] = json_number_value(json_array_get(pose, i));
    }
    if (!r->json && !r->quiet) {
        show_leg(leg);
    }
}

static void record_entry(struct mission_run *r, const json_t *entry)
{
    struct leg *leg = find_leg(r, json_file_text(entry, "id"));
    if (leg) {
        leg->compared = true;
        copy_text(entry, "verdict", leg->verdict, sizeof leg->verdict);
        leg->inconsistent = json_is_false(json_object_get(entry, "consistent"));
        leg->real_lap_s = json_file_real(entry, "real_lap_s");
        leg->virtual_lap_s = json_file_real(entry, "virtual_lap_s");
        leg->lag_s = json_file_real(entry, "lag_s");
    }
}

/* Has every answered leg its entry? */
static bool is_complete(const struct mission_run *r)
{
    for (size_t i = 0; i < r->leg_count; i++) {
        if (r->legs[i].reply_us != LAB_TIME_NONE && !r->legs[i].compared) {
            return false;
        }
    }
    return true;
}

/* --- the report ----------------------------------------------------------------------- */

static const char *mission_name(const struct mission_run *r)
{
    return r->of_arm ? r->moves.name : r->file.name;
}

static const char *verdict_word(const struct mission_run *r)
{
    return r->ended ? r->state : "unanswered";
}

static void print_leg(const struct leg *leg, bool of_arm)
{
    (void)printf("%4u  %-14s %-11s", leg->step, leg->command.id, leg->command.op);
    if (!of_arm) {
        (void)printf(" %8.3f %8.3f", leg->command.rotation_rad, leg->command.displacement_m);
    }
    (void)printf("  %-8s", leg->reply_us == LAB_TIME_NONE ? "-" : leg->status);
    csv_tables_cell(stdout, 9, 3, 'f', leg->real_lap_s);
    csv_tables_cell(stdout, 9, 3, 'f', leg->virtual_lap_s);
    csv_tables_cell(stdout, 9, 3, 'f', leg->lag_s);
    (void)printf("  %s%s\n", leg->compared ? leg->verdict : "-",
                 leg->inconsistent ? ", inconsistent" : "");
}

static void print_mission(const struct mission_run *r)
{
    (void)printf("\n%4s  %-14s %-11s%s  %-8s %9s %9s %9s  %s\n", "step", "command", "op",
                 r->of_arm ? "" : " turn rad    way m", "reply", "real s", "virtual s", "lag s",
                 "verdict");
    for (size_t i = 0; i < r->leg_count; i++) {
        print_leg(&r->legs[i], r->of_arm);
    }
    (void)printf("\nmission %s on %s: %s, %zu commands in %.1f s", mission_name(r), r->pair,
                 verdict_word(r), r->leg_count, lab_s(r->end_us - r->start_us));
    if (r->obstacles_found > 0.0) {
        (void)printf(", %.0f obstacle%s found", r->obstacles_found,
                     r->obstacles_found > 1.0 ? "s" : "");
    }
    if (r->omitted > 0) {
        (void)printf(", %zu records omitted", r->omitted);
    }
    (void)putchar('\n');
}

static void write_leg(struct json_writer *w, const struct leg *leg)
{
    const bool answered = leg->reply_us != LAB_TIME_NONE;
    JSON_OPEN(w, NULL, JSON("id", leg->command.id), JSON("step", leg->step),
              JSON("op", leg->command.op), JSON("rotation_rad", leg->command.rotation_rad),
              JSON("displacement_m", leg->command.displacement_m),
              JSON_SECONDS("t", leg->sent_us), JSON("status", answered ? leg->status : NULL),
              JSON_SECONDS("reply_s", answered ? leg->reply_us - leg->sent_us : LAB_TIME_NONE),
              JSON("from", leg->from[0] ? leg->from : NULL),
              JSON_OPTIONAL("detail", leg->detail),
              JSON_IF(isfinite(leg->angle_rad), JSON("angle_rad", leg->angle_rad)),
              JSON_IF(isfinite(leg->range_m), JSON("range_m", leg->range_m)));
    json_write_axes(w, "pose", leg->pose, 3);
    JSON_WRITE(w, JSON("real_lap_s", leg->real_lap_s),
               JSON("virtual_lap_s", leg->virtual_lap_s), JSON("lag_s", leg->lag_s),
               JSON("verdict", leg->compared ? leg->verdict : NULL),
               JSON_IF(leg->inconsistent, JSON_BOOL("consistent", false)));
    json_write_close(w);
}

static void write_log_entry(struct json_writer *w, const struct log_entry *log_entry)
{
    JSON_WRITE_OBJECT(w, NULL, JSON_SECONDS("t", log_entry->t_us),
                      JSON("step", log_entry->step), JSON("layer", log_entry->layer),
                      JSON("level", log_entry->level), JSON("text", log_entry->text));
}

static void write_members(const void *what, struct json_writer *w)
{
    const struct mission_run *r = what;
    JSON_WRITE(w, JSON("mission", mission_name(r)), JSON("pair", r->pair), JSON("id", r->id),
               JSON("verdict", verdict_word(r)), JSON_IF(r->code[0], JSON("code", r->code)),
               JSON_IF(r->detail[0], JSON("detail", r->detail)), JSON_SECONDS("t", r->start_us),
               JSON_SECONDS("duration_s", r->end_us - r->start_us),
               JSON("steps", r->of_arm ? r->moves.plan.count : r->file.plan.step_count),
               JSON("obstacles_found", r->obstacles_found),
               JSON("replies_of_others", r->replies_of_others),
               JSON("commands_of_others", r->foreign), JSON("omitted", r->omitted));
    JSON_LIST(w, "legs", size_t i = 0; i < r->leg_count; i++) {
        write_leg(w, &r->legs[i]);
    }
    JSON_LIST(w, "messages", size_t i = 0; i < r->log_count; i++) {
        write_log_entry(w, &r->log_entries[i]);
    }
    char *machines = r->machines ? json_dumps(r->machines, JSON_COMPACT) : NULL;
    json_write_raw(w, "machines", machines, machines ? strlen(machines) : 0);
    free(machines);
}

static void report_mission(struct mission_run *r)
{
    if (r->json) {
        json_file_print(stdout, write_members, r);
    } else {
        print_mission(r);
    }
    if (r->foreign > 0) {
        complain("mission: another client sent %s %" PRIu64 " command%s", r->pair, r->foreign,
                 r->foreign == 1 ? "" : "s");
    }
    if (r->session.overflow > 0 || r->malformed > 0) {
        complain("mission: %" PRIu64 " messages found no room, %" PRIu64 " could not be read",
                 r->session.overflow, r->malformed);
    }
}

/* The last command's reply may have the robot's own words. */
static void explain_failure(const struct mission_run *r)
{
    const struct leg *last = r->leg_count > 0 ? &r->legs[r->leg_count - 1] : NULL;
    const bool said = last && last->detail[0] && strcmp(last->status, "done") != 0;
    if (strcmp(r->state, "failed") == 0) {
        complain("mission: %s%s%s (%s)", r->detail, said ? ": " : "", said ? last->detail : "",
                 r->code);
    }
}

/* --- messages ------------------------------------------------------------------------- */

static bool send_text(struct mission_run *r, const char *text, size_t bytes)
{
    return bytes > 0 && mqtt_client_publish(r->session.client, r->mission_topic, text, bytes, 1,
                                            false) == STATUS_OK;
}

/* The same bytes with the same id are one mission, so it may be sent again. */
static void send_mission(struct mission_run *r)
{
    char *text = malloc(MISSION_JSON_MAX);
    const size_t bytes = !text ? 0
                         : r->of_arm
                             ? moves_message_write(&r->moves, r->id, text, MISSION_JSON_MAX)
                             : mission_message_write(&r->file, r->id, text, MISSION_JSON_MAX);
    r->times++;
    if (!send_text(r, text, bytes)) {
        complain("mission: it found no room on its way to the broker");
    }
    free(text);
}

static void send_cancel(struct mission_run *r)
{
    char text[8 * EVENT_ID_MAX];
    const size_t bytes =
        JSON_FORMAT(text, sizeof text, JSON("id", r->id), JSON_BOOL("cancel", true));
    if (!send_text(r, text, bytes)) {
        complain("mission: its end found no room on its way to the broker");
    }
}

static void receive_status(struct mission_run *r, const json_t *status)
{
    json_t *const machines = json_object_get(status, "machines");
    const json_t *const command = json_object_get(status, "command");
    const json_t *const reply = json_object_get(status, "reply");
    const json_t *const message = json_object_get(status, "message");
    if (strcmp(json_file_text(status, "id"), r->id) != 0) {
        return;
    }
    copy_text(status, "state", r->state, sizeof r->state);
    copy_text(status, "code", r->code, sizeof r->code);
    copy_text(status, "detail", r->detail, sizeof r->detail);
    if (machines) {
        json_decref(r->machines);
        r->machines = json_incref(machines);
        r->obstacles_found = read_count(status, "obstacles_found");
        r->replies_of_others = read_count(status, "replies_of_others");
    }
    if (command) {
        add_leg(r, status, command);
    } else if (reply) {
        record_answer(r, status, reply);
    } else if (message) {
        add_log_entry(r, status, message);
    }
    r->refused = strcmp(r->state, "refused") == 0;
    r->ended = strcmp(r->state, "queued") != 0 && strcmp(r->state, "running") != 0;
    r->end_us = lab_us(json_file_real(status, "t"));
}

static void receive_message(void *context, const struct message *m)
{
    struct mission_run *r = context;
    if (m->retained || strcmp(m->topic, r->daemon_topic) == 0) {
        return;
    }
    json_t *document = m->stored_bytes == m->payload_bytes
                           ? json_loadb(m->payload, m->stored_bytes, 0, NULL)
                           : NULL;
    if (!document) {
        r->malformed++;
    } else if (strcmp(m->topic, r->entry_topic) == 0) {
        record_entry(r, document);
    } else if (strcmp(m->topic, r->command_topic) == 0) {
        r->foreign++; /* the mission's own commands are not on this topic */
    } else {
        receive_status(r, document);
    }
    json_decref(document);
}

/* --- running the mission -------------------------------------------------------------- */

static void wait_until(struct mission_run *r, int64_t until_us)
{
    mission_wait(&r->session, until_us);
    session_drain(&r->session, receive_message, r);
}

static void follow_mission(struct mission_run *r)
{
    r->start_us = lab_clock_now_us();
    r->end_us = r->start_us;
    while (!r->ended) {
        const int64_t now_us = lab_clock_now_us();
        const bool unanswered = !r->state[0];
        if (unanswered && now_us >= r->start_us + r->times * (int64_t)AGAIN_US) {
            if (r->times == TIMES_MAX) {
                complain("mission: the daemon does not answer at %s", r->status_topic);
                return;
            }
            send_mission(r);
        }
        if (stop_signal_raised() && r->quit_us == 0) {
            r->quit_us = now_us;
            send_cancel(r);
        }
        if (r->quit_us > 0 && now_us - r->quit_us > QUIT_PATIENCE_US) {
            r->end_us = now_us;
            return;
        }
        wait_until(r, now_us + WAIT_SLICE_US);
    }
}

/* The virtual robot may lag: entries come when both sides have finished. */
static void wait_for_entries(struct mission_run *r)
{
    const int64_t until_us = lab_clock_now_us() + lab_us(r->linger_s);
    session_drain(&r->session, receive_message, r);
    while (!is_complete(r) && !stop_signal_raised() && lab_clock_now_us() < until_us) {
        wait_until(r, until_us);
    }
}

static bool connect_broker(struct mission_run *r)
{
    const char *prefix = r->lab.broker.prefix;
    const struct mqtt_client_topic topics[] = {
        {r->status_topic, 1}, {r->entry_topic, 1}, {r->command_topic, 1}, {r->daemon_topic, 1}};
    (void)snprintf(r->daemon_topic, sizeof r->daemon_topic, "%s/connection", prefix);
    session_topic(r->command_topic, prefix, r->pair, "command");
    session_topic(r->mission_topic, prefix, r->pair, "mission");
    session_topic(r->status_topic, prefix, r->pair, "mission/status");
    session_topic(r->entry_topic, prefix, r->pair, "entry");
    return mission_connect(&r->session, &r->lab, r->pair, topics, COUNT(topics),
                           r->connect_s) &&
           mission_find_daemon(&r->session, &r->lab, r->lab_path, r->daemon_topic);
}

static int run_mission(struct mission_run *r)
{
    if (!r->id) {
        (void)snprintf(r->new_id, sizeof r->new_id, "m%" PRIx64, (uint64_t)lab_clock_now_us());
        r->id = r->new_id;
    }
    const bool connected = connect_broker(r);
    if (connected) {
        follow_mission(r);
        wait_for_entries(r);
    }
    session_close(&r->session, STOP_MS);
    if (connected && r->refused) {
        complain("mission: %s refused: %s (%s)", r->pair, r->detail, r->code);
    } else if (connected) {
        report_mission(r);
        explain_failure(r);
    }
    return connected && strcmp(r->state, "done") == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* The daemon carries missions out for pairs that take some. */
static bool takes_missions(const struct mission_run *r)
{
    for (size_t i = 0; i < r->lab.pair_count; i++) {
        if (strcmp(r->lab.pairs[i].id, r->pair) == 0 && r->lab.pairs[i].missions_max == 0) {
            return complain("%s: pair %s takes no missions, give it missions_max: 4",
                            r->lab_path, r->pair);
        }
    }
    return true;
}

/* Both files are read in any case, so that the faults of both are reported at once. */
static bool load_files(struct mission_run *r)
{
    const struct option_file *const file = r->of_arm ? &moves_file : &mission_file;
    void *const values = r->of_arm ? (void *)&r->moves : &r->file;
    const char *const in_file = r->of_arm ? r->moves.pair : r->file.pair;
    struct err_list errors = {0};
    const bool lab = r->plan || lab_argument_load("mission", r->lab_path, &r->lab);
    const bool mission = option_file_load(file, r->mission_path, values, &errors) == STATUS_OK;
    err_list_print(&errors, stderr);
    return lab && mission &&
           (r->plan ||
            (mission_choose_pair(&r->lab, r->lab_path, r->pair, in_file, true, &r->pair) &&
             takes_missions(r)));
}

static const char description[] =
    "  Sends a mission to the daemon (tandem serve), which carries it out on a pair in link\n"
    "  mode, and follows it: prints each command with laps and verdict. The pair needs\n"
    "  missions_max in the lab file. A signal cancels the mission: the robot halts. Killed,\n"
    "  it leaves the mission running. See docs/protocol/mission.md.\n"
    "  A file of kind arm is a list of moves. One of kind vessel is a course, driven by "
    "efforts\n"
    "  from the vessel's telemetry, in any mode and without a daemon (docs/model/course.md).\n";

static int parse_arguments(struct mission_run *r, int argc, char **argv)
{
    /* clang-format off */
    const struct argument rows[] = {
        {"config", 'c', ARGUMENT_TEXT, &r->lab_path, 0, 0, "FILE", "the lab file: broker and pairs"},
        {"pair", 0, ARGUMENT_TEXT, &r->pair, 0, 0, "ID", "pair to command (the mission's, or the only one)"},
        {"id", 0, ARGUMENT_TEXT, &r->id, 0, 0, "ID", "of the mission; the same again only follows it (a new one)"},
        {"json", 0, ARGUMENT_FLAG, &r->json, 0, 0, NULL, "one document on stdout and nothing else"},
        {"plan", 0, ARGUMENT_FLAG, &r->plan, 0, 0, NULL, "vessels and arms: print the checked plan, without a broker"},
        {"quiet", 'q', ARGUMENT_FLAG, &r->quiet, 0, 0, NULL, "print the report only"},
        {"connect-timeout", 0, ARGUMENT_REAL, &r->connect_s, 0.1, 86400, "S", "give up without a broker after it (10)"},
        {"linger", 0, ARGUMENT_REAL, &r->linger_s, 0, 86400, "S", "seconds to wait for verdicts at the end (10)"},
    };
    /* clang-format on */
    const struct arguments arguments = {
        .command = "mission",
        .operands = "MISSION.yaml",
        .description = description,
        .examples = "  tandem mission -c lab.yaml config/missions/path.yaml\n",
        .exit_status =
            "the mission failed, was refused or cancelled, or there is no broker or no daemon",
        ARGUMENT_ROWS(rows)};
    const int exit_status = arguments_parse(&arguments, argc, argv);
    if (exit_status != ARGUMENTS_PARSED) {
        return exit_status;
    }
    r->mission_path = argv[1];
    return ARGUMENTS_PARSED;
}

static int run_kind(struct mission_run *r)
{
    const enum mission_file_kind kind = mission_file_kind_of(r->mission_path);
    const struct mission_arguments a = {r->lab_path, r->mission_path, r->pair, r->connect_s,
                                        r->json,     r->quiet,        r->plan};
    r->of_arm = kind == MISSION_FILE_ARM;
    if (kind == MISSION_FILE_VESSEL) {
        return mission_file_run(&mission_file_course, &a);
    }
    if (r->plan && !r->of_arm) {
        struct err_list errors = {0};
        if (option_file_load(&mission_file, r->mission_path, &r->file, &errors) != STATUS_OK) {
            err_list_print(&errors, stderr);
            return EXIT_USAGE;
        }
        complain(
            "mission: --plan is for vessels and arms: the way of a robot on wheels depends "
            "on what it meets");
        return EXIT_USAGE;
    }
    if (!load_files(r)) {
        return EXIT_USAGE;
    }
    if (r->plan) {
        moves_plan_print(&r->moves, r->json);
        return EXIT_FINE;
    }
    return run_mission(r);
}

int command_mission(int argc, char **argv)
{
    int exit_status = EXIT_FAILED;
    struct mission_run *r = calloc(1, sizeof *r);
    if (!r) {
        complain("mission: not enough memory");
        return exit_status;
    }
    r->connect_s = 10.0;
    r->linger_s = 10.0;
    exit_status = parse_arguments(r, argc, argv);
    if (exit_status == ARGUMENTS_PARSED) {
        exit_status = run_kind(r);
    }
    json_decref(r->machines);
    lab_file_free(&r->lab);
    free(r);
    return exit_status;
}
