#include "service/team/team_measured.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/replay/replay_read.h"
#include "twin/team/live/team_live_predict.h"

/* State of reading a recording. */
struct reading {
    struct team_measured *measured;
    const struct team_params *p;
    const struct lab_file *lab;
    uint16_t *robot_of; /* [pairs] TEAM_NONE: not a robot of the team */
    /* index of the lab's team with this name; the number of teams: none */
    size_t team;
    size_t at_work; /* number of its robots at work */
    bool *works;    /* [its robots] */
    struct team_measured_run run;
};

/* ---- entries ---- */

/* Does the entry belong to this kind of activity? The team's own commands name it; others match
 * by op. */
static bool is_for(const struct reading *r, const struct entry *e, size_t kind, bool moved)
{
    const struct team_activity a = r->measured->tp->activity[kind];
    const struct team_task_params *task = &r->p->tasks[a.task];
    const char *arg = team_name(r->p, a.arg);
    if (e->team[0]) {
        const size_t bytes = strlen(task->name);
        return strcmp(e->team, r->p->name) == 0 && strncmp(e->task, task->name, bytes) == 0 &&
               (arg[0] ? e->task[bytes] == ' ' && strcmp(e->task + bytes + 1, arg) == 0
                       : e->task[bytes] == '\0');
    }
    return !task->to_position && task->op[0] && strcmp(task->op, e->op) == 0 && !moved;
}

static void add_entry(struct reading *r, uint16_t robot, const struct entry *e)
{
    const enum side s = r->measured->side;
    const size_t kinds = r->measured->tp->kind_count;
    const bool moved = fabs(e->rotation_rad) > 0.0 || fabs(e->displacement_m) > 0.0;
    if (!team_live_lap_counts(e, s)) {
        return;
    }
    for (size_t k = 0; k < kinds; k++) {
        const size_t at = robot * kinds + k;
        const bool to = r->p->tasks[r->measured->tp->activity[k].task].to_position;
        if (!is_for(r, e, k, moved)) {
            continue;
        }
        if (!to) {
            team_laps_add(&r->measured->laps[at].side, lab_s(e->lap_us[s]));
        } else if (fabs(e->displacement_m) > 0.0) {
            team_laps_add(&r->measured->laps[at].turns, fabs(e->rotation_rad));
            team_laps_add(&r->measured->laps[at].distances, e->displacement_m);
        }
    }
}

/* ---- the team at work ---- */

/* The lab's team has the same name, but may differ from the given one, so activities are found
 * by name. */
static struct team_laps *find_activity(const struct reading *r, const struct team_effect *e)
{
    const struct team_params *theirs = &r->lab->teams.teams[r->team];
    const size_t kinds = r->measured->tp->kind_count;
    const uint16_t robot = team_find_robot(r->p, theirs->robots[e->robot].name);
    for (size_t k = 0; k < kinds && robot != TEAM_NONE; k++) {
        const struct team_activity a = r->measured->tp->activity[k];
        if (strcmp(r->p->tasks[a.task].name, theirs->tasks[e->step->task].name) == 0 &&
            strcmp(team_name(r->p, a.arg), team_name(theirs, e->step->arg)) == 0) {
            return &r->measured->laps[robot * kinds + k].activity;
        }
    }
    return NULL;
}

static void set_at_work(struct reading *r, const struct team_effect *e, bool works)
{
    if (r->works[e->robot] != works) {
        r->works[e->robot] = works;
        r->at_work += works ? 1 : (size_t)-1;
    }
}

/* A run begins when no robot was at work before this instant. */
static void begin_work(struct reading *r, const struct team_effect *e)
{
    const int64_t ended_us = r->run.start_us + r->run.makespan_us;
    if (r->at_work == 0 && (r->run.activities == 0 || e->t_us > ended_us)) {
        r->run = (struct team_measured_run){.start_us = e->t_us};
        r->measured->run_count++;
    }
    set_at_work(r, e, true);
    r->run.activities += e->kind == TEAM_START;
}

static void add_team_effect(struct reading *r, const struct team_effect *e)
{
    if (e->kind == TEAM_START || e->kind == TEAM_WAIT) {
        begin_work(r, e);
    } else if (e->kind == TEAM_DONE && e->timed) {
        struct team_laps *laps = find_activity(r, e);
        if (laps) {
            team_laps_add(laps, lab_s(e->took_us));
        }
    } else if (e->kind == TEAM_FINISH || e->kind == TEAM_ERROR || e->kind == TEAM_HALT) {
        set_at_work(r, e, false);
    }
    /* The Lock at the beginning of a run is done before any activity has started. */
    if (((e->kind == TEAM_DONE && e->timed) || e->kind == TEAM_FINISH) &&
        r->measured->run_count > 0) {
        r->run.makespan_us = e->t_us - r->run.start_us;
        r->measured->runs[(r->measured->run_count - 1) % TEAM_MEASURED_RUNS] = r->run;
    }
}

static void add_effect(void *context, const struct effect *effect)
{
    struct reading *r = context;
    if (effect->kind == EFFECT_ENTRY && r->robot_of[effect->pair] != TEAM_NONE) {
        add_entry(r, r->robot_of[effect->pair], effect->entry);
    } else if (effect->kind == EFFECT_TEAM && effect->pair == r->lab->pair_count + r->team) {
        add_team_effect(r, effect->team.effect);
    }
}

/* ---- the journal ---- */

/* Reads a robot's place from its last reply to the team, if it gave one. */
static void find_place(const struct reading *r, const struct lab *lab, size_t robot,
                       struct team_pose *at)
{
    if (r->team == r->lab->teams.team_count) {
        return;
    }
    const struct team_params *theirs = &r->lab->teams.teams[r->team];
    const uint16_t same = team_find_robot(theirs, r->p->robots[robot].name);
    if (same != TEAM_NONE) {
        const struct team_live_robot *c = team_live_robot(lab_team(lab, r->team), theirs, same);
        if (c->posed) {
            *at = (struct team_pose){c->pose[0], c->pose[1], c->pose[2]};
        }
    }
}

/* Predicts a robot from what the lab knows about it now. */
static void look_at_robot(const struct reading *r, const struct replay *replay, size_t robot,
                          size_t pair)
{
    struct team_measured_robot *out = &r->measured->robots[robot];
    struct team_prediction *tp = r->measured->tp;
    const struct pair *state = lab_pair(replay->lab, pair);
    const struct pair_params *p = &r->lab->pairs[pair];
    struct team_pose at = {(double)NAN, (double)NAN, (double)NAN};
    struct pair_fits fits;
    out->known = state->version > 0;
    for (size_t i = 0; i < SIDE_COUNT && isnan(at.x_m); i++) {
        const struct pair_side *side = &state->side[(r->measured->side + i) % SIDE_COUNT];
        if (side->pose_count >= 3) {
            at = (struct team_pose){side->pose[0], side->pose[1], side->pose[2]};
        }
    }
    find_place(r, replay->lab, robot, &at);
    team_predict_pose(tp, (uint16_t)robot, &at);
    team_live_predict_pair(tp, (uint16_t)robot, state, p, r->measured->side);
    pair_fit_window(state, p, &fits);
    out->fitted = !fits.commanded && fits.known[r->measured->side];
    if (out->fitted) {
        out->fit = fits.fit[r->measured->side];
    }
}

static enum status read_journal(struct reading *r, const char *path, struct err *err)
{
    const struct effects effects = {add_effect, r};
    const struct replay_input input = {.paths = &path, .count = 1};
    struct replay *replay = NULL;
    if (replay_create(r->lab, &effects, &replay) != STATUS_OK) {
        return err_no_memory(err, path, "out of memory");
    }
    const enum status status = replay_read_files(replay, r->lab, &input, err);
    for (size_t i = 0; i < r->lab->pair_count && status == STATUS_OK; i++) {
        if (r->robot_of[i] != TEAM_NONE) {
            look_at_robot(r, replay, r->robot_of[i], i);
        }
    }
    replay_destroy(replay);
    return status;
}

/* ---- the lab ---- */

/* Makes a lab with the team's pairs only. */
static enum status make_lab(const struct team_params *p, struct lab_file *lab, struct err *err)
{
    char *text = NULL;
    size_t bytes = 0;
    struct err_list errors = {0};
    FILE *out = open_memstream(&text, &bytes);
    if (!out) {
        return err_no_memory(err, "team", "out of memory");
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
               : err_set(err, status,
                         errors.count > 0 ? errors.items[0].fault : FAULT_NO_MEMORY, p->name,
                         "%s", errors.count > 0 ? errors.items[0].text : "out of memory");
}

static void find_robots(struct reading *r)
{
    const struct team_params *p = r->p;
    r->team = 0;
    while (r->team < r->lab->teams.team_count &&
           strcmp(r->lab->teams.teams[r->team].name, p->name) != 0) {
        r->team++;
    }
    for (size_t i = 0; i < r->lab->pair_count; i++) {
        r->robot_of[i] = TEAM_NONE;
        for (size_t k = 0; k < p->robot_count; k++) {
            if (strcmp(p->robots[k].pair, r->lab->pairs[i].id) == 0) {
                r->robot_of[i] = (uint16_t)k;
            }
        }
    }
}

/* The team's laps end when the real robot of a pair is there. Laps of virtual robots without a
 * real one end on their own. */
static void apply_laps(const struct team_measured *m, uint16_t robot)
{
    for (size_t k = 0; k < m->tp->kind_count; k++) {
        const struct team_measured_laps *all = &m->laps[robot * m->tp->kind_count + k];
        const bool own = m->side == SIDE_REAL && all->activity.n > TEAM_LAW_FREEDOM_MIN;
        const struct team_laps *laps = own ? &all->activity : &all->side;
        struct team_activity a = m->tp->activity[k];
        a.robot = robot;
        const enum status status =
            team_predict_measured(m->tp, &a, laps->n, laps->mean_s, team_laps_sd(laps),
                                  team_laps_of_one_move(&all->turns, &all->distances));
        (void)status; /* too few: the next law is used */
    }
}

static enum status read_with_lab(const struct lab_file *lab, const char *path,
                                 struct team_measured *out, struct err *err)
{
    const struct team_params *p = out->tp->params;
    const size_t kinds = out->tp->kind_count;
    struct reading r = {.measured = out, .p = p, .lab = lab};
    enum status status = STATUS_E_NOMEM;
    r.robot_of = calloc(lab->pair_count + 1, sizeof *r.robot_of);
    r.works = calloc(TEAM_ROBOTS_MAX, sizeof *r.works);
    out->robots = calloc(p->robot_count + 1, sizeof *out->robots);
    out->laps = calloc(p->robot_count * kinds + 1, sizeof *out->laps);
    out->runs = calloc(TEAM_MEASURED_RUNS, sizeof *out->runs);
    if (r.robot_of && r.works && out->robots && out->laps && out->runs) {
        find_robots(&r);
        status = read_journal(&r, path, err);
        for (size_t i = 0; i < p->robot_count; i++) {
            apply_laps(out, (uint16_t)i);
        }
    } else {
        (void)err_set(err, status, FAULT_NO_MEMORY, path, "out of memory");
    }
    free(r.robot_of);
    free(r.works);
    return status;
}

enum status team_measured_read(struct team_prediction *tp, const struct lab_file *lab,
                               const char *path, enum side side, struct team_measured *out,
                               struct err *err)
{
    const struct team_params *p = tp->params;
    struct team_measured measured = {.tp = tp, .side = side};
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
        status = err_set(err, STATUS_E_EMPTY, FAULT_NO_DATA, path,
                         "no message is for a pair of team %s", p->name);
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
    free(m->laps);
    free(m->runs);
    *m = (struct team_measured){0};
}

/* ---- prediction ---- */

const struct team_laps *team_measured_laps(const struct team_measured *m, size_t robot,
                                           size_t kind)
{
    const struct team_measured_laps *laps = &m->laps[robot * m->tp->kind_count + kind];
    return laps->activity.n > 0 ? &laps->activity : laps->side.n > 0 ? &laps->side : NULL;
}
