/* service/sim/mission/moves_run.c - `tandem mission` of an arm: sends its moves one after
 * another on the pair's command topic, and reports each with laps and verdict. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/text/utf8.h"
#include "logger/message/codec_native.h"
#include "service/sim/mission/mission_files.h"
#include "service/sim/mission/moves_file.h"
#include "service/tool/commands.h"
#include "service/tool/csv_tables.h"
#include "service/tool/json_file.h"
#include "service/tool/lab_clock.h"
#include "service/tool/stop_signal.h"

enum {
    LEGS_MAX = ARM_STEPS_MAX + 3, /* with the first question and a halt */
    DETAIL_MAX = 160,
    VERDICT_MAX = 16,
    STOP_MS = 3000,
    LINGER_US = 10 * 1000 * 1000 /* wait for the verdicts at the end */
};

/* One command and its results. */
struct leg {
    char id[EVENT_ID_MAX], op[EVENT_OP_MAX];
    unsigned step;
    int64_t sent_us, reply_us; /* LAB_TIME_NONE: no reply */
    enum reply_status status;
    char detail[DETAIL_MAX], verdict[VERDICT_MAX];
    bool compared; /* its entry arrived */
    double real_lap_s, virtual_lap_s, lag_s;
};

struct moves_run {
    struct moves_file file;
    const struct mission_arguments *arguments;
    const struct lab_file *lab;
    const char *pair;
    struct session session;
    char command_topic[MESSAGE_TOPIC_MAX], reply_topic[MESSAGE_TOPIC_MAX];
    char entry_topic[MESSAGE_TOPIC_MAX], daemon_topic[MESSAGE_TOPIC_MAX];
    struct arm_mission mission;
    const json_t *document; /* the current message */
    bool ended;
    enum l2_verdict verdict;
    int64_t start_us, end_us;
    uint64_t malformed;
    char error[MISSION_TEXT_MAX]; /* why it failed */
    size_t leg_count;
    struct leg legs[LEGS_MAX];
};

static const char *pair_of(void *run)
{
    return ((struct moves_run *)run)->file.pair;
}

/* --- the plan ------------------------------------------------------------------------- */

static const char *step_word(const struct arm_step *step)
{
    return step->kind == ARM_STEP_WAIT ? "wait" : names_text(&arm_op_names, step->op);
}

static void write_plan(const void *what, struct json_writer *w)
{
    const struct moves_run *r = what;
    const struct arm_mission_plan *plan = &r->file.plan;
    JSON_WRITE(w, JSON("mission", r->file.name), JSON("arm", plan->arm.name));
    JSON_LIST(w, "steps", size_t i = 0; i < plan->count; i++) {
        JSON_WRITE_OBJECT(w, NULL, JSON("op", step_word(&plan->steps[i])),
                          JSON("duration_s", r->file.planned_s[i]));
    }
}

static bool print_plan(void *run, const struct mission_arguments *a)
{
    const struct moves_run *r = run;
    const struct arm_mission_plan *plan = &r->file.plan;
    double sum_s = 0.0;
    if (a->json) {
        json_file_print(stdout, write_plan, r);
        return true;
    }
    (void)printf("%4s  %-12s %10s\n", "step", "op", "duration s");
    for (size_t i = 0; i < plan->count; i++) {
        (void)printf("%4zu  %-12s", i + 1, step_word(&plan->steps[i]));
        csv_tables_cell(stdout, 11, 3, 'f', r->file.planned_s[i]);
        (void)putchar('\n');
        sum_s += r->file.planned_s[i];
    }
    (void)printf("\nmoves %s of %s: %zu steps", r->file.name, plan->arm.name, plan->count);
    if (isfinite(sum_s)) {
        (void)printf(", %.1f s\n", sum_s);
    } else {
        (void)printf("; a duration needs start_q_rad, where the arm is before the first\n");
    }
    return true;
}

/* --- effects -------------------------------------------------------------------------- */

static void send_command(struct moves_run *r, const struct mission_effect *effect)
{
    const struct event_command *c = &effect->command;
    if (r->leg_count < LEGS_MAX) {
        struct leg *leg = &r->legs[r->leg_count++];
        *leg = (struct leg){.step = effect->step,
                            .sent_us = effect->t_us,
                            .reply_us = LAB_TIME_NONE,
                            .real_lap_s = nan(""),
                            .virtual_lap_s = nan(""),
                            .lag_s = nan("")};
        memcpy(leg->id, c->id, sizeof leg->id);
        memcpy(leg->op, c->op, sizeof leg->op);
    }
    if (!session_command(&r->session, r->command_topic, c)) {
        complain("mission: a command found no room on its way to the broker");
    }
}

static void apply_effect(void *context, const struct mission_effect *effect)
{
    struct moves_run *r = context;
    if (effect->kind == MISSION_COMMAND) {
        send_command(r, effect);
    } else if (effect->kind == MISSION_MESSAGE && effect->level == MISSION_ERROR &&
               !r->error[0]) {
        (void)snprintf(r->error, sizeof r->error, "%s", effect->text);
    } else if (effect->kind == MISSION_END) {
        r->ended = true;
        r->verdict = effect->verdict;
        r->end_us = effect->t_us;
    }
}

static struct leg *find_leg(struct moves_run *r, const char *id)
{
    for (size_t i = r->leg_count; i > 0; i--) {
        if (strcmp(r->legs[i - 1].id, id) == 0) {
            return &r->legs[i - 1];
        }
    }
    return NULL;
}

static void copy_text(const json_t *object, const char *key, char *out, size_t size)
{
    (void)snprintf(out, size, "%s", json_file_text(object, key));
    (void)utf8_tame(out); /* terminal escape sequences must not pass */
}

/* --- messages in ---------------------------------------------------------------------- */

static void receive_reply(void *context, const struct event *event)
{
    struct moves_run *r = context;
    struct leg *leg = event->kind == EVENT_REPLY ? find_leg(r, event->reply.id) : NULL;
    if (event->kind != EVENT_REPLY) {
        r->malformed++;
        return;
    }
    if (leg && leg->reply_us == LAB_TIME_NONE) {
        leg->reply_us = event->t_us;
        leg->status = event->reply.status;
        copy_text(r->document, "detail", leg->detail, sizeof leg->detail);
        if (!r->arguments->json && !r->arguments->quiet) {
            (void)printf("step %-3u %-12s %s in %.3f s%s%s\n", leg->step, leg->op,
                         reply_status_name(leg->status), lab_s(leg->reply_us - leg->sent_us),
                         leg->detail[0] ? "  " : "", leg->detail);
            (void)fflush(stdout);
        }
    }
    arm_mission_reply(&r->mission, &event->reply, lab_clock_now_us(), apply_effect, r);
}

static void record_entry(struct moves_run *r)
{
    struct leg *leg = find_leg(r, json_file_text(r->document, "id"));
    if (leg) {
        leg->compared = true;
        copy_text(r->document, "verdict", leg->verdict, sizeof leg->verdict);
        leg->real_lap_s = json_file_real(r->document, "real_lap_s");
        leg->virtual_lap_s = json_file_real(r->document, "virtual_lap_s");
        leg->lag_s = json_file_real(r->document, "lag_s");
    }
}

static void receive_message(void *context, const struct message *m)
{
    struct moves_run *r = context;
    struct message reply = *m;
    if (m->retained || strcmp(m->topic, r->daemon_topic) == 0) {
        return;
    }
    json_t *document = json_loadb(m->payload, m->stored_bytes, 0, NULL);
    r->document = document;
    if (!document) {
        r->malformed++;
    } else if (strcmp(m->topic, r->entry_topic) == 0) {
        record_entry(r);
    } else { /* the codec decodes it as a robot's message */
        session_topic(reply.topic, r->lab->broker.prefix, r->pair, "real/reply");
        (void)codec_native.decode(r->lab->broker.prefix, &reply, receive_reply, r);
    }
    json_decref(document);
}

/* --- running -------------------------------------------------------------------------- */

static void live_mission(struct moves_run *r)
{
    r->start_us = r->end_us = lab_clock_now_us();
    arm_mission_start(&r->mission, r->start_us, apply_effect, r);
    while (!r->ended) {
        mission_wait(&r->session, arm_mission_next_us(&r->mission));
        session_drain(&r->session, receive_message, r);
        arm_mission_tick(&r->mission, lab_clock_now_us(), apply_effect, r);
        if (stop_signal_raised()) {
            arm_mission_quit(&r->mission, lab_clock_now_us(), apply_effect, r);
        }
    }
}

static bool is_complete(const struct moves_run *r)
{
    for (size_t i = 0; i < r->leg_count; i++) {
        if (r->legs[i].reply_us != LAB_TIME_NONE && !r->legs[i].compared) {
            return false;
        }
    }
    return true;
}

static void wait_for_entries(struct moves_run *r)
{
    const int64_t until_us = lab_clock_now_us() + LINGER_US;
    while (!is_complete(r) && !stop_signal_raised() && lab_clock_now_us() < until_us) {
        mission_wait(&r->session, until_us);
        session_drain(&r->session, receive_message, r);
    }
}

static const char *verdict_word(const struct moves_run *r)
{
    return r->verdict == L2_VERDICT_DONE   ? "done"
           : r->verdict == L2_VERDICT_QUIT ? "quit"
                                           : "failed";
}

static void write_report(const void *what, struct json_writer *w)
{
    const struct moves_run *r = what;
    JSON_WRITE(w, JSON("mission", r->file.name), JSON("pair", r->pair),
               JSON("verdict", verdict_word(r)), JSON_IF(r->error[0], JSON("reason", r->error)),
               JSON_SECONDS("t", r->start_us),
               JSON_SECONDS("duration_s", r->end_us - r->start_us),
               JSON("steps", r->file.plan.count));
    JSON_LIST(w, "legs", size_t i = 0; i < r->leg_count; i++) {
        const struct leg *leg = &r->legs[i];
        const bool answered = leg->reply_us != LAB_TIME_NONE;
        JSON_WRITE_OBJECT(
            w, NULL, JSON("id", leg->id), JSON("step", leg->step), JSON("op", leg->op),
            JSON("status", answered ? reply_status_name(leg->status) : NULL),
            JSON_SECONDS("reply_s", answered ? leg->reply_us - leg->sent_us : LAB_TIME_NONE),
            JSON_IF(leg->detail[0], JSON("detail", leg->detail)),
            JSON("real_lap_s", leg->real_lap_s), JSON("virtual_lap_s", leg->virtual_lap_s),
            JSON("lag_s", leg->lag_s), JSON("verdict", leg->compared ? leg->verdict : NULL));
    }
}

static void print_report(const struct moves_run *r)
{
    (void)printf("\n%4s  %-12s %-8s %9s %9s %9s  %s\n", "step", "op", "reply", "real s",
                 "virtual s", "lag s", "verdict");
    for (size_t i = 0; i < r->leg_count; i++) {
        const struct leg *leg = &r->legs[i];
        (void)printf("%4u  %-12s %-8s", leg->step, leg->op,
                     leg->reply_us == LAB_TIME_NONE ? "-" : reply_status_name(leg->status));
        csv_tables_cell(stdout, 9, 3, 'f', leg->real_lap_s);
        csv_tables_cell(stdout, 9, 3, 'f', leg->virtual_lap_s);
        csv_tables_cell(stdout, 9, 3, 'f', leg->lag_s);
        (void)printf("  %s\n", leg->compared ? leg->verdict : "-");
    }
    (void)printf("\nmoves %s on %s: %s, %zu commands in %.1f s\n", r->file.name, r->pair,
                 verdict_word(r), r->leg_count, lab_s(r->end_us - r->start_us));
}

/* The robot's own words, if its reply ended the mission. */
static void explain_failure(const struct moves_run *r)
{
    const struct leg *last = r->leg_count > 0 ? &r->legs[r->leg_count - 1] : NULL;
    const bool said = last && last->detail[0] && last->status != REPLY_DONE;
    complain("mission: %s%s%s", r->error[0] ? r->error : verdict_word(r), said ? ": " : "",
             said ? last->detail : "");
}

static bool carry_out(void *run, const struct mission_arguments *a, const struct lab_file *lab,
                      const char *pair)
{
    struct moves_run *r = run;
    char name[MISSION_RUN_MAX];
    const char *prefix = lab->broker.prefix;
    const struct mqtt_client_topic topics[] = {
        {r->reply_topic, 1}, {r->entry_topic, 1}, {r->daemon_topic, 1}};
    r->arguments = a;
    r->lab = lab;
    r->pair = pair;
    (void)snprintf(r->daemon_topic, sizeof r->daemon_topic, "%s/connection", prefix);
    session_topic(r->command_topic, prefix, pair, "command");
    session_topic(r->reply_topic, prefix, pair, "reply");
    session_topic(r->entry_topic, prefix, pair, "entry");
    (void)snprintf(name, sizeof name, "m%" PRIx64, (uint64_t)lab_clock_now_us());
    arm_mission_init(&r->mission, &r->file.plan, name);
    const bool connected =
        mission_connect(&r->session, lab, pair, topics, COUNT(topics), a->connect_s) &&
        mission_find_daemon(&r->session, lab, a->lab_path, r->daemon_topic);
    if (connected) {
        live_mission(r);
        wait_for_entries(r);
    }
    session_close(&r->session, STOP_MS);
    if (!connected) {
        return false;
    }
    if (a->json) {
        json_file_print(stdout, write_report, r);
    } else {
        print_report(r);
    }
    if (r->verdict != L2_VERDICT_DONE) {
        explain_failure(r);
    }
    return r->verdict == L2_VERDICT_DONE;
}

const struct mission_file_row mission_file_moves = {.kind = MISSION_FILE_ARM,
                                                    .name = "arm",
                                                    .bytes = sizeof(struct moves_run),
                                                    .file = &moves_file,
                                                    .needs_link = true,
                                                    .pair = pair_of,
                                                    .print_plan = print_plan,
                                                    .carry_out = carry_out};
