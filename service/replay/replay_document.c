/* service/replay/replay_document.c - the spool and the final state of a replay as one JSON
 * document. */
#include "service/replay/replay_run.h"

#include <math.h>

#include "service/tool/json_file.h"
#include "twin/report/following_report.h"
#include "twin/report/forecast_report.h"
#include "twin/report/map_report.h"
#include "twin/report/pair_dynamics_report.h"
#include "twin/report/pair_report.h"
#include "twin/report/team_live_report.h"

/* ---- records ------------------------------------------------------------------------------
 */

static bool write_row(void *context, const struct spool_row *row)
{
    json_write_raw(context, NULL, row->json, row->json_bytes);
    return true;
}

/* max: 0 writes all. */
static void write_records(struct replay_run *run, struct json_writer *w, const char *key,
                          enum store_kind kind, size_t index, size_t max)
{
    json_write_array(w, key);
    replay_each_of(run, kind, index, max, write_row, w);
    json_write_close(w);
}

/* ---- lag over time ------------------------------------------------------------------------
 */

struct lag_point {
    int64_t t_us;
    double lag_s;
};

/* The current interval: one of `stretches` over `total` entries. */
struct lag_stretches {
    struct json_writer *w;
    size_t total, stretches;
    size_t seen, stretch;
    bool has;
    struct lag_point least, greatest;
};

static void write_point(struct json_writer *w, const struct lag_point *point)
{
    json_write_array(w, NULL);
    JSON_WRITE(w, JSON_SECONDS(NULL, point->t_us), JSON(NULL, point->lag_s));
    json_write_close(w);
}

static void end_stretch(struct lag_stretches *s)
{
    if (s->has) {
        const bool falls = s->greatest.t_us < s->least.t_us;
        write_point(s->w, falls ? &s->greatest : &s->least);
        if (s->least.t_us != s->greatest.t_us) {
            write_point(s->w, falls ? &s->least : &s->greatest);
        }
    }
    s->has = false;
}

static bool add_lag(void *context, const struct spool_row *row)
{
    struct lag_stretches *s = context;
    const size_t stretch = s->seen * s->stretches / s->total;
    if (stretch != s->stretch) {
        end_stretch(s);
        s->stretch = stretch;
    }
    s->seen++;
    if (isfinite(row->lag_s)) {
        const struct lag_point point = {row->t_us, row->lag_s};
        s->least = !s->has || point.lag_s < s->least.lag_s ? point : s->least;
        s->greatest = !s->has || point.lag_s > s->greatest.lag_s ? point : s->greatest;
        s->has = true;
    }
    return true;
}

static void write_lag(struct replay_run *run, struct json_writer *w, size_t index,
                      size_t points_max)
{
    struct lag_stretches series = {.w = w,
                                   .total = replay_count_of(run, STORE_ENTRIES, index),
                                   .stretches = points_max / 2};
    json_write_array(w, "lag");
    replay_each_of(run, STORE_ENTRIES, index, 0, add_lag, &series);
    end_stretch(&series);
    json_write_close(w);
}

/* ---- pairs and teams ----------------------------------------------------------------------
 */

static void write_state(struct json_writer *w, const struct lab *lab, size_t i,
                        const struct pair_params *p)
{
    const struct pair *pair = lab_pair(lab, i);
    struct pair_fits fits;
    pair_fit_window(pair, p, &fits);
    JSON_WRITE(w, JSON_COUNTS("counts", &verdict_names, pair->counts.verdict),
               JSON_COUNTS("consistency", &consistency_names, pair->counts.consistency),
               JSON_COUNTS("alarm_counts", &alarm_type_names, pair->counts.alarm));
    pair_report_travel_time(w, "travel_time", &fits);
    pair_report_tracked(w, "tracked", pair, p);
    forecast_report_state(w, "forecast", pair, p);
    pair_report_clock(w, "clock", pair);
    if (lab_dynamics(lab, i)) {
        pair_dynamics_report(w, "dynamics", lab_dynamics(lab, i), p);
    }
    if (lab_missions(lab, i)) {
        json_write_object(w, "missions");
        pair_missions_write_all(w, lab_missions(lab, i), p);
        json_write_close(w);
    }
    if (lab_map(lab, i)) {
        json_write_object(w, "map");
        map_report(w, lab_map(lab, i), &p->live_map);
        json_write_close(w);
    }
    if (lab_following(lab, i)) {
        following_report(w, "following", lab_following(lab, i), p);
        fidelity_report_write(w, "fidelity", lab_following(lab, i), p);
    }
}

/* each: counts of one pair; all zero for the total. */
static void write_pair(struct replay_run *run, struct json_writer *w, size_t i,
                       const struct replay_extract *each)
{
    const struct lab *lab = run->replay->lab;
    const struct pair_params *p = &run->file->pairs[i];
    json_write_object(w, p->id);
    write_records(run, w, "entries", STORE_ENTRIES, i, each->entries_max);
    write_records(run, w, "alarms", STORE_ALARMS, i, each->alarms_max);
    if (p->record == PAIR_ALL && each->entries_max == 0) {
        write_records(run, w, "log", STORE_LOG, i, 0);
    }
    /* The pair's dynamics have their own member. */
    pair_report_parameters(w, "parameters", lab_pair(lab, i), p, NULL);
    write_records(run, w, "changes", STORE_CHANGES, i, each->changes_max);
    write_state(w, lab, i, p);
    if (each->lag_points_max > 0) {
        write_lag(run, w, i, each->lag_points_max);
    }
    json_write_close(w);
}

static size_t share_of(size_t max, size_t pairs)
{
    return pairs > 0 && max > pairs ? max / pairs : 1;
}

/* All pairs; in an extract those that occur. */
static void write_pairs(struct replay_run *run, struct json_writer *w,
                        const struct replay_extract *extract)
{
    const struct lab *lab = run->replay->lab;
    struct replay_extract each = {0};
    size_t count = 0;
    for (size_t i = 0; i < run->file->pair_count; i++) {
        count += lab_pair(lab, i)->version > 0;
    }
    if (extract) {
        each = (struct replay_extract){.entries_max = share_of(extract->entries_max, count),
                                       .alarms_max = share_of(extract->alarms_max, count),
                                       .changes_max = share_of(extract->changes_max, count),
                                       .lag_points_max =
                                           1 + share_of(extract->lag_points_max, count)};
    }
    JSON_MAP(w, "pairs", size_t i = 0; i < run->file->pair_count; i++) {
        if (replay_keeps_pair(run, run->file->pairs[i].id) &&
            (!extract || lab_pair(lab, i)->version > 0)) {
            write_pair(run, w, i, &each);
        }
    }
}

/* Writes each team's final state, its alarms and its bars (no bars in an extract). */
static void write_teams(struct replay_run *run, struct json_writer *w,
                        const struct replay_extract *extract)
{
    const struct lab *lab = run->replay->lab;
    JSON_MAP(w, "teams", size_t i = 0; i < lab_team_count(lab); i++) {
        const struct team_params *p = lab_team_params(lab, i);
        const size_t index = run->file->pair_count + i;
        if (!replay_keeps_pair(run, p->name)) {
            continue;
        }
        json_write_object(w, p->name);
        team_live_report(w, "end", lab_team(lab, i), p, lab_time(lab));
        write_records(run, w, "alarms", STORE_ALARMS, index, extract ? extract->alarms_max : 0);
        if (!extract) {
            write_records(run, w, "bars", STORE_BARS, index, 0);
        }
        json_write_close(w);
    }
}

static void write_journal_counts(struct json_writer *w, const struct replay *replay)
{
    const struct replay_counts *c = &replay->counts;
    const struct lab_counts *l = lab_counts(replay->lab);
    JSON_WRITE_OBJECT(w, "journal", JSON("lines", c->lines), JSON("events", c->events),
                      JSON("malformed", c->malformed), JSON("other", c->other),
                      JSON("torn", c->torn), JSON("overlong", c->overlong),
                      JSON("ahead", c->ahead), JSON("unknown_pair", l->unknown_pair),
                      JSON("redelivered", l->redelivered), JSON("ambiguous", l->ambiguous),
                      JSON("forgotten_early", l->forgotten_early),
                      JSON("retained", l->retained), JSON("out_of_order", l->out_of_order));
}

void replay_document(struct replay_run *run, const struct replay_extract *extract, FILE *out)
{
    char buffer[65536];
    struct json_writer w;
    json_write_start(&w, buffer, sizeof buffer, json_file_flush, out);
    json_write_object(&w, NULL);
    write_pairs(run, &w, extract);
    if (lab_team_count(run->replay->lab) > 0) {
        write_teams(run, &w, extract);
    }
    write_journal_counts(&w, run->replay);
    json_write_close(&w);
    (void)json_write_end(&w);
    (void)fputc('\n', out);
}
