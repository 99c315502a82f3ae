#include "service/team/team_measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/cli/progress.h"
#include "service/replay/replay.h"

/* The reading in progress. */
struct reading {
    struct team_measured *measured;
    const struct lab_file *lab;
    uint16_t *robot_of;      /* [pairs] TEAM_NONE: of no robot of the team */
    struct team_laps *extra; /* [robots] lap less motion */
};

double team_laps_sd(const struct team_laps *laps)
{
    return laps->n > 1 ? sqrt(laps->squares_s2 / (double)(laps->n - 1)) : (double)NAN;
}

static void add_lap(struct team_laps *laps, double lap_s)
{
    const double off_s = lap_s - laps->mean_s;
    laps->n++;
    laps->mean_s += off_s / (double)laps->n;
    laps->squares_s2 += off_s * (lap_s - laps->mean_s);
}

/* ---- entries ---- */

/* A reply that tells how long such a thing takes. */
static bool is_clean(const struct entry *e, enum side s)
{
    return e->answered[s] && e->status[s] == REPLY_DONE && !e->uncalibrated[s] &&
           e->lap_us[s] != LAB_TIME_NONE && e->interrupted_us <= 0 &&
           e->ambiguous == ENTRY_SURE;
}

static void take_entry(struct reading *r, uint16_t robot, const struct entry *e)
{
    const struct team_params *p = r->measured->params;
    const enum side s = r->measured->side;
    r->measured->robots[robot].entries++;
    if (!is_clean(e, s)) {
        return;
    }
    if (e->motion_us[s] != LAB_TIME_NONE &&
        (fabs(e->rotation_rad) > 0.0 || fabs(e->displacement_m) > 0.0)) {
        add_lap(&r->extra[robot], lab_s(e->lap_us[s] - e->motion_us[s]));
    }
    for (size_t t = 0; t < p->task_count; t++) {
        if (!p->tasks[t].to_position && p->tasks[t].op[0] &&
            strcmp(p->tasks[t].op, e->op) == 0) {
            add_lap(&r->measured->tasks[robot * p->task_count + t], lab_s(e->lap_us[s]));
        }
    }
}

static void take_effect(void *context, const struct effect *effect)
{
    struct reading *r = context;
    if (effect->kind == EFFECT_ENTRY && r->robot_of[effect->pair] != TEAM_NONE) {
        take_entry(r, r->robot_of[effect->pair], effect->entry);
    }
}

/* ---- the journal ---- */

static enum status read_lines(struct replay *replay, struct journal_reader *reader,
                              struct err *err)
{
    struct progress progress;
    struct journal_line line;
    struct journal_reader_stats stats;
    enum status status = STATUS_OK;
    progress_start(&progress, "replay");
    for (uint64_t count = 1;; count++) {
        status = journal_reader_next(reader, &line, err);
        if (status != STATUS_OK) {
            break;
        }
        /* Lines that are no messages are counted there; replay tells of them. */
        (void)replay_line(replay, &line, NULL);
        if (count % 4096 == 0 && progress.shown) {
            journal_reader_stats(reader, &stats);
            progress_step(&progress, stats.bytes, stats.total_bytes);
        }
    }
    replay_end(replay);
    progress_end(&progress);
    return status == STATUS_E_EMPTY ? STATUS_OK : status;
}

/* What the lab knows of a robot now. */
static void look_at_robot(const struct reading *r, const struct replay *replay, size_t robot,
                          size_t pair)
{
    struct team_measured_robot *out = &r->measured->robots[robot];
    const struct pair *state = lab_pair(replay->lab, pair);
    struct pair_fits fits;
    out->known = state->version > 0;
    for (size_t i = 0; i < SIDE_COUNT && isnan(out->at.x_m); i++) {
        const struct pair_side *side = &state->side[(r->measured->side + i) % SIDE_COUNT];
        if (side->pose_count >= 3) {
            out->at = (struct team_pose){side->pose[0], side->pose[1], side->pose[2]};
        }
    }
    pair_fit_window(state, &r->lab->pairs[pair], &fits);
    out->fitted = !fits.commanded && fits.known[r->measured->side];
    if (out->fitted) {
        out->fit = fits.fit[r->measured->side];
    }
    out->extra_s = r->extra[robot].n > 0 ? r->extra[robot].mean_s : 0.0;
}

static enum status read_journal(struct reading *r, const char *path, struct err *err)
{
    const struct effects effects = {take_effect, r};
    struct journal_reader *reader = NULL;
    struct replay *replay = NULL;
    enum status status = journal_reader_open_files(&path, 1, &reader, err);
    if (status == STATUS_OK && replay_create(r->lab, &effects, &replay) != STATUS_OK) {
        status = err_set(err, STATUS_E_NOMEM, path, 0, 0, "out of memory");
    }
    if (status == STATUS_OK) {
        status = read_lines(replay, reader, err);
    }
    if (status == STATUS_OK) {
        status = replay_judge(replay, path, err);
    }
    for (size_t i = 0; i < r->lab->pair_count && status == STATUS_OK; i++) {
        if (r->robot_of[i] != TEAM_NONE) {
            look_at_robot(r, replay, r->robot_of[i], i);
        }
    }
    journal_reader_close(reader);
    replay_destroy(replay);
    return status;
}

/* ---- the lab ---- */

/* A lab of the team's pairs alone. */
static enum status make_lab(const struct team_params *p, struct lab_file *lab, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    struct err_list errors = {0};
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return err_set(err, STATUS_E_NOMEM, "team", 0, 0, "out of memory");
    }
    (void)fputs("pairs:\n", out);
    for (size_t i = 0; i < p->robot_count; i++) {
        if (p->robots[i].pair[0]) {
            (void)fprintf(out, "  %s: {}\n", p->robots[i].pair);
        }
    }
    const bool written = fclose(out) == 0;
    const enum status status =
        written ? lab_file_parse(text, bytes, p->name, lab, &errors) : STATUS_E_NOMEM;
    free(text);
    return status == STATUS_OK
               ? STATUS_OK
               : err_set(err, status, p->name, 0, 0, "%s",
                         errors.count > 0 ? errors.items[0].text : "out of memory");
}

static void find_robots(struct reading *r)
{
    const struct team_params *p = r->measured->params;
    for (size_t i = 0; i < r->lab->pair_count; i++) {
        r->robot_of[i] = TEAM_NONE;
        for (size_t k = 0; k < p->robot_count; k++) {
            if (strcmp(p->robots[k].pair, r->lab->pairs[i].id) == 0) {
                r->robot_of[i] = (uint16_t)k;
            }
        }
    }
}

static enum status read_with_lab(const struct lab_file *lab, const char *path,
                                 struct team_measured *out, struct err *err)
{
    const struct team_params *p = out->params;
    struct reading r = {.measured = out, .lab = lab};
    enum status status = STATUS_E_NOMEM;
    r.robot_of = calloc(lab->pair_count + 1, sizeof *r.robot_of);
    r.extra = calloc(p->robot_count + 1, sizeof *r.extra);
    out->robots = calloc(p->robot_count + 1, sizeof *out->robots);
    out->tasks = calloc(p->robot_count * p->task_count + 1, sizeof *out->tasks);
    if (r.robot_of && r.extra && out->robots && out->tasks) {
        for (size_t i = 0; i < p->robot_count; i++) {
            out->robots[i].at = (struct team_pose){(double)NAN, (double)NAN, (double)NAN};
        }
        find_robots(&r);
        status = read_journal(&r, path, err);
    } else {
        (void)err_set(err, status, path, 0, 0, "out of memory");
    }
    free(r.robot_of);
    free(r.extra);
    return status;
}

enum status team_measured_read(const struct team_params *p, const struct lab_file *lab,
                               const char *path, enum side side, struct team_measured *out,
                               struct err *err)
{
    struct team_measured measured = {.params = p, .side = side};
    struct lab_file own = {0};
    enum status status = lab ? STATUS_OK : make_lab(p, &own, err);
    if (status == STATUS_OK) {
        status = read_with_lab(lab ? lab : &own, path, &measured, err);
    }
    bool any = false;
    for (size_t i = 0; status == STATUS_OK && i < p->robot_count; i++) {
        any = any || measured.robots[i].known;
    }
    if (status == STATUS_OK && !any) {
        status = err_set(err, STATUS_E_EMPTY, path, 0, 0, "no message is for a pair of team %s",
                         p->name);
    }
    lab_file_free(&own);
    if (status != STATUS_OK) {
        team_measured_free(&measured);
        return status;
    }
    *out = measured;
    return STATUS_OK;
}

void team_measured_free(struct team_measured *m)
{
    free(m->robots);
    free(m->tasks);
    *m = (struct team_measured){0};
}

/* ---- prediction ---- */

/* Laps of a task's operation are those of all its steps, whatever their arg. */
static enum status apply_tasks(const struct team_measured *m, struct team_prediction *tp,
                               size_t robot)
{
    for (size_t k = 0; k < team_activity_count(tp); k++) {
        struct team_activity a = team_activity(tp, k);
        const struct team_laps *laps = &m->tasks[robot * m->params->task_count + a.task];
        a.robot = (uint16_t)robot;
        if (laps->n > TEAM_LAW_FREEDOM_MIN) {
            const enum status status =
                team_predict_measured(tp, &a, laps->n, laps->mean_s, team_laps_sd(laps));
            if (status != STATUS_OK) {
                return status;
            }
        }
    }
    return STATUS_OK;
}

enum status team_measured_apply(const struct team_measured *m, struct team_prediction *tp)
{
    for (size_t i = 0; i < m->params->robot_count; i++) {
        const struct team_measured_robot *robot = &m->robots[i];
        if (robot->fitted) {
            const enum status status =
                team_predict_moves(tp, (uint16_t)i, &robot->fit, robot->extra_s);
            if (status != STATUS_OK && status != STATUS_E_EMPTY) {
                return status;
            }
        }
        team_predict_pose(tp, (uint16_t)i, &robot->at);
        const enum status status = apply_tasks(m, tp, i);
        if (status != STATUS_OK) {
            return status;
        }
    }
    return STATUS_OK;
}
