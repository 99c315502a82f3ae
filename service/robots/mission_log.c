#include "service/robots/mission_log.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "logger/message/json_write.h"
#include "service/cli/json_file.h"

enum { JSON_BUFFER_BYTES = 4096, LAP_TEXT_MAX = 16 };

void mission_log_free(struct mission_log *log)
{
    if (log) {
        free(log->legs);
        free(log->notes);
        *log = (struct mission_log){0};
    }
}

/* The next of an array of at most max items, which is made with its first; NULL, and counted,
 * when there is no room. */
static void *add_item(struct mission_log *log, void **items, size_t *count, size_t size,
                      size_t max)
{
    if (!*items) {
        *items = calloc(max, size); /* untouched memory costs nothing */
    }
    if (!*items || *count == max) {
        log->left_out++;
        return NULL;
    }
    return (char *)*items + (*count)++ * size;
}

static void add_leg(struct mission_log *log, const struct mission_effect *effect)
{
    void *items = log->legs;
    struct mission_leg *leg =
        add_item(log, &items, &log->leg_count, sizeof log->legs[0], MISSION_LOG_LEGS_MAX);
    log->legs = items;
    if (!leg) {
        return;
    }
    *leg = (struct mission_leg){
        .command = effect->command,
        .step = effect->step,
        .sent_us = effect->t_us,
        .reply_us = LAB_TIME_NONE,
        .angle_rad = nan(""),
        .range_m = nan(""),
        .pose = {nan(""), nan(""), nan("")},
        .entry = {.real_lap_s = nan(""), .virtual_lap_s = nan(""), .lag_s = nan("")}};
}

static void add_note(struct mission_log *log, const struct mission_effect *effect)
{
    void *items = log->notes;
    struct mission_note *note =
        add_item(log, &items, &log->note_count, sizeof log->notes[0], MISSION_LOG_NOTES_MAX);
    log->notes = items;
    if (log->show) {
        (void)printf("L%u %-7s %s\n", effect->layer, mission_level_name(effect->level),
                     effect->text);
        (void)fflush(stdout);
    }
    if (!note) {
        return;
    }
    *note = (struct mission_note){.t_us = effect->t_us,
                                  .step = effect->step,
                                  .layer = effect->layer,
                                  .level = effect->level};
    (void)snprintf(note->text, sizeof note->text, "%s", effect->text);
}

void mission_log_effect(struct mission_log *log, const struct mission_effect *effect)
{
    if (effect->kind == MISSION_COMMAND) {
        add_leg(log, effect);
    } else if (effect->kind == MISSION_MESSAGE) {
        add_note(log, effect);
    }
}

/* Newest first: replies and entries are about the last ones. */
static struct mission_leg *find_leg(struct mission_log *log, const char *id)
{
    for (size_t i = log->leg_count; i > 0; i--) {
        if (strcmp(log->legs[i - 1].command.id, id) == 0) {
            return &log->legs[i - 1];
        }
    }
    return NULL;
}

static void show_leg(const struct mission_leg *leg)
{
    const struct event_command *c = &leg->command;
    (void)printf("%-14s %-6s", c->id, c->op);
    if (strcmp(c->op, "go") == 0) {
        (void)printf(" %+.3f rad %.3f m", c->rotation_rad, c->displacement_m);
    }
    (void)printf("  %s in %.3f s", reply_status_name(leg->status),
                 lab_s(leg->reply_us - leg->sent_us));
    if (isfinite(leg->angle_rad) && isfinite(leg->range_m)) {
        (void)printf("  %+.3f rad: %.3f m", leg->angle_rad, leg->range_m);
    } else if (strcmp(c->op, "go") == 0) {
        (void)printf("  at %.3f %.3f, %.3f rad", leg->pose[0], leg->pose[1], leg->pose[2]);
    }
    (void)printf("%s%s\n", leg->detail[0] ? "  " : "", leg->detail);
    (void)fflush(stdout);
}

void mission_log_answer(struct mission_log *log, const struct mission_answer *answer,
                        int64_t t_us, const double pose[3])
{
    struct mission_leg *leg = find_leg(log, answer->reply.id);
    if (!leg || leg->reply_us != LAB_TIME_NONE) {
        return;
    }
    leg->reply_us = t_us;
    leg->status = answer->reply.status;
    memcpy(leg->from, answer->from, sizeof leg->from);
    memcpy(leg->detail, answer->detail, sizeof leg->detail);
    leg->angle_rad = mission_reply_value(&answer->reply, "angle_rad");
    leg->range_m = mission_reply_value(&answer->reply, "range_m");
    memcpy(leg->pose, pose, sizeof leg->pose);
    if (log->show) {
        show_leg(leg);
    }
}

void mission_log_entry(struct mission_log *log, const struct mission_entry *entry)
{
    struct mission_leg *leg = find_leg(log, entry->id);
    if (!leg) {
        return;
    }
    leg->compared = true;
    leg->entry = *entry;
}

bool mission_log_is_complete(const struct mission_log *log)
{
    for (size_t i = 0; i < log->leg_count; i++) {
        if (log->legs[i].reply_us != LAB_TIME_NONE && !log->legs[i].compared) {
            return false;
        }
    }
    return true;
}

/* --- the report ----------------------------------------------------------------------- */

static const char *lap_text(double lap_s, char text[LAP_TEXT_MAX])
{
    if (!isfinite(lap_s)) {
        return "-";
    }
    (void)snprintf(text, LAP_TEXT_MAX, "%.3f", lap_s);
    return text;
}

static void print_leg(const struct mission_leg *leg)
{
    char laps[3][LAP_TEXT_MAX];
    (void)printf(
        "%4u  %-14s %-6s %8.3f %8.3f  %-8s %9s %9s %9s  %s\n", leg->step, leg->command.id,
        leg->command.op, leg->command.rotation_rad, leg->command.displacement_m,
        leg->reply_us == LAB_TIME_NONE ? "-" : reply_status_name(leg->status),
        lap_text(leg->entry.real_lap_s, laps[0]), lap_text(leg->entry.virtual_lap_s, laps[1]),
        lap_text(leg->entry.lag_s, laps[2]), leg->compared ? leg->entry.verdict : "-");
}

void mission_log_print(const struct mission_log *log, const struct mission_head *head)
{
    (void)printf("\n%4s  %-14s %-6s %8s %8s  %-8s %9s %9s %9s  %s\n", "step", "command", "op",
                 "turn rad", "way m", "reply", "real s", "virtual s", "lag s", "verdict");
    for (size_t i = 0; i < log->leg_count; i++) {
        print_leg(&log->legs[i]);
    }
    (void)printf("\nmission %s on %s: %s, %zu commands in %.1f s", head->name, head->pair,
                 head->verdict, log->leg_count, lab_s(head->end_us - head->start_us));
    if (head->mission->obstacles_found > 0) {
        (void)printf(", %u obstacle%s found", (unsigned)head->mission->obstacles_found,
                     head->mission->obstacles_found == 1 ? "" : "s");
    }
    if (log->left_out > 0) {
        (void)printf(", %zu records left out", log->left_out);
    }
    (void)putchar('\n');
}

static void write_leg(struct json_writer *w, const struct mission_leg *leg)
{
    const bool answered = leg->reply_us != LAB_TIME_NONE;
    json_write_object(w, NULL);
    json_write_text(w, "id", leg->command.id);
    json_write_int(w, "step", leg->step);
    json_write_text(w, "op", leg->command.op);
    json_write_real(w, "rotation_rad", leg->command.rotation_rad);
    json_write_real(w, "displacement_m", leg->command.displacement_m);
    json_write_seconds(w, "t", leg->sent_us);
    json_write_text(w, "status", answered ? reply_status_name(leg->status) : NULL);
    json_write_seconds(w, "reply_s", answered ? leg->reply_us - leg->sent_us : LAB_TIME_NONE);
    json_write_text(w, "from", leg->from[0] ? leg->from : NULL);
    if (leg->detail[0]) {
        json_write_text(w, "detail", leg->detail);
    }
    if (isfinite(leg->angle_rad)) {
        json_write_real(w, "angle_rad", leg->angle_rad);
    }
    if (isfinite(leg->range_m)) {
        json_write_real(w, "range_m", leg->range_m);
    }
    json_write_array(w, "pose");
    for (size_t i = 0; i < 3; i++) {
        json_write_real(w, NULL, leg->pose[i]);
    }
    json_write_close(w);
    json_write_real(w, "real_lap_s", leg->entry.real_lap_s);
    json_write_real(w, "virtual_lap_s", leg->entry.virtual_lap_s);
    json_write_real(w, "lag_s", leg->entry.lag_s);
    json_write_text(w, "verdict", leg->compared ? leg->entry.verdict : NULL);
    json_write_close(w);
}

static void write_note(struct json_writer *w, const struct mission_note *note)
{
    json_write_object(w, NULL);
    json_write_seconds(w, "t", note->t_us);
    json_write_int(w, "step", note->step);
    json_write_int(w, "layer", note->layer);
    json_write_text(w, "level", mission_level_name(note->level));
    json_write_text(w, "text", note->text);
    json_write_close(w);
}

/* How often each state was entered. */
static void write_machine(struct json_writer *w, const struct efsm_table *table,
                          const struct efsm *m, const struct efsm_stats *stats)
{
    json_write_object(w, table->name);
    json_write_text(w, "state", efsm_state_name(table, m->state));
    json_write_object(w, "visits");
    for (size_t i = 0; i < table->state_count; i++) {
        json_write_int(w, table->states[i].name, stats->visits[i]);
    }
    json_write_close(w);
    json_write_close(w);
}

void mission_log_write_json(const struct mission_log *log, const struct mission_head *head)
{
    char buffer[JSON_BUFFER_BYTES];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, stdout);
    json_write_object(&w, NULL);
    json_write_text(&w, "mission", head->name);
    json_write_text(&w, "pair", head->pair);
    json_write_text(&w, "verdict", head->verdict);
    json_write_seconds(&w, "t", head->start_us);
    json_write_seconds(&w, "duration_s", head->end_us - head->start_us);
    json_write_int(&w, "steps", (int64_t)head->mission->plan->step_count);
    json_write_int(&w, "obstacles_found", head->mission->obstacles_found);
    json_write_int(&w, "replies_of_others", head->mission->stray_count);
    json_write_int(&w, "commands_of_others", (int64_t)head->foreign_count);
    json_write_int(&w, "left_out", (int64_t)log->left_out);
    json_write_array(&w, "legs");
    for (size_t i = 0; i < log->leg_count; i++) {
        write_leg(&w, &log->legs[i]);
    }
    json_write_close(&w);
    json_write_array(&w, "messages");
    for (size_t i = 0; i < log->note_count; i++) {
        write_note(&w, &log->notes[i]);
    }
    json_write_close(&w);
    json_write_object(&w, "machines");
    write_machine(&w, &l1_table, &head->mission->l1, &head->mission->l1_stats);
    write_machine(&w, &l2_table, &head->mission->l2, &head->mission->l2_stats);
    json_write_close(&w);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)putchar('\n');
}
