#include "service/team/team_simulate_report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/text/text.h"
#include "service/tool/document_page.h"
#include "service/tool/gnuplot.h"
#include "service/tool/json_file.h"

static double compute_ratio(double a, double b)
{
    return b > 0.0 ? a / b : (double)NAN;
}

static double per_run(const struct team_study *study, double sum)
{
    return compute_ratio(sum, (double)study->run_count);
}

/* ---- JSON ---- */

static void write_figures(struct json_writer *w, const char *key,
                          const struct team_distribution *d)
{
    const struct team_figure f[] = {d->mean, d->sd, d->p05, d->p50, d->p95};
    static const char *const names[] = {"mean", "sd", "p05", "p50", "p95"};
    JSON_MAP(w, key, size_t i = 0; i < COUNT(f); i++) {
        JSON_WRITE_OBJECT(w, names[i], JSON("value", f[i].value), JSON("error", f[i].error));
    }
}

static void write_robots(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = study->tp->params;
    const double all_us = (double)study->runs->statistics->spans_us;
    JSON_LIST(w, "robots", size_t i = 0; i < p->robot_count; i++) {
        const struct team_robot_sums *r = &study->runs->statistics->robot[i];
        const double idle_us = fmax(all_us - (double)r->busy_us - (double)r->waiting_us, 0.0);
        JSON_WRITE_OBJECT(w, NULL, JSON("robot", p->robots[i].name),
                          JSON("busy_ratio", compute_ratio((double)r->busy_us, all_us)),
                          JSON("waiting_ratio", compute_ratio((double)r->waiting_us, all_us)),
                          JSON("idle_ratio", compute_ratio(idle_us, all_us)),
                          JSON("tasks_per_run", per_run(study, (double)r->activities)));
    }
}

static void write_resources(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = study->tp->params;
    const double all_us = (double)study->runs->statistics->spans_us;
    JSON_LIST(w, "resources", size_t i = 0; i < p->resource_count; i++) {
        const struct team_resource_sums *r = &study->runs->statistics->resource[i];
        const double capacity = p->resources[i].capacity;
        JSON_WRITE_OBJECT(
            w, NULL, JSON("resource", p->resources[i].name), JSON("capacity", capacity),
            JSON("used_ratio", compute_ratio((double)r->held_us, all_us * capacity)),
            JSON("grants_per_run", per_run(study, (double)r->grants)),
            JSON("wait_mean_s",
                 compute_ratio(lab_s(r->waited_us), (double)(r->grants + r->unserved))),
            JSON("wait_longest_mean_s", per_run(study, lab_s(r->longest_sum_us))),
            JSON_SECONDS("wait_longest_s", r->longest_us));
    }
}

static void write_waits(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = study->tp->params;
    JSON_LIST(w, "waits", size_t k = 0; k < p->robot_count * p->robot_count; k++) {
        const double s = per_run(study, lab_s(study->runs->statistics->behind_us[k]));
        if (s > 0.0) {
            JSON_WRITE_OBJECT(w, NULL, JSON("robot", p->robots[k / p->robot_count].name),
                              JSON("for", p->robots[k % p->robot_count].name),
                              JSON("per_run_s", s));
        }
    }
}

static const char *name_law(const struct team_activity_sums *a)
{
    enum team_law_kind law = TEAM_LAW_NONE;
    for (enum team_law_kind k = TEAM_LAW_MEASURED; k < TEAM_LAW_NONE; k++) {
        law = a->law[k] > (law == TEAM_LAW_NONE ? 0 : a->law[law]) ? k : law;
    }
    return team_law_kind_name(law);
}

/* Laps of an activity in all runs, and measured ones if any. */
static void write_activity(struct json_writer *w, const struct team_study *study, size_t robot,
                           size_t kind)
{
    const struct team_params *p = study->tp->params;
    const struct team_activity a = study->tp->activity[kind];
    const struct team_activity_sums *sums =
        &study->runs->statistics->activity[robot * study->tp->kind_count + kind];
    const struct team_laps *measured =
        study->measured ? team_measured_laps(study->measured, robot, kind) : NULL;
    const double mean_ms = compute_ratio((double)sums->sum_ms, (double)sums->n);
    const double variance_ms2 =
        compute_ratio((double)sums->square_ms2, (double)sums->n) - mean_ms * mean_ms;
    JSON_WRITE_OBJECT(w, NULL, JSON("robot", p->robots[robot].name),
                      JSON("task", p->tasks[a.task].name),
                      JSON("arg", a.arg == TEAM_NONE ? NULL : team_name(p, a.arg)),
                      JSON("from", name_law(sums)), JSON("mean_s", mean_ms * 1e-3),
                      JSON("sd_s", sqrt(fmax(variance_ms2, 0.0)) * 1e-3),
                      JSON_IF(measured, JSON_OBJECT("measured", JSON_WHOLE("n", measured->n),
                                                    JSON("mean_s", measured->mean_s),
                                                    JSON("sd_s", team_laps_sd(measured)))));
}

static void write_activities(struct json_writer *w, const struct team_study *study)
{
    const size_t kinds = study->tp->kind_count;
    const size_t count = study->tp->params->robot_count * kinds;
    JSON_LIST(w, "activities", size_t i = 0; i < count; i++) {
        if (study->runs->statistics->activity[i].n > 0) {
            write_activity(w, study, i / kinds, i % kinds);
        }
    }
}

static void write_fits(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = study->tp->params;
    JSON_LIST(w, "travel_times", size_t i = 0; study->measured && i < p->robot_count; i++) {
        const struct team_measured_robot *m = &study->measured->robots[i];
        if (m->fitted) {
            JSON_WRITE_OBJECT(w, NULL, JSON("robot", p->robots[i].name),
                              JSON("verdict", estimate_verdict_name(m->fit.estimate.verdict)),
                              JSON_WHOLE("moves", m->fit.n),
                              JSON("residual_s_sd", m->fit.residual_s_sd));
        }
    }
}

/* Recorded runs with as many activities as the run without randomness. */
static void write_recorded(struct json_writer *w, const struct team_study *study)
{
    const struct team_measured *m = study->measured;
    const struct team_distribution *d = &study->runs->makespan_s;
    JSON_LIST(w, "recorded", size_t i = 0; m && i < m->run_count && i < TEAM_MEASURED_RUNS;
              i++) {
        const struct team_measured_run *run = &m->runs[i];
        const double run_s = lab_s(run->makespan_us);
        if (run->activities == study->runs->expected.activities) {
            JSON_WRITE_OBJECT(
                w, NULL, JSON_SECONDS("t", run->start_us),
                JSON_SECONDS("makespan_s", run->makespan_us),
                JSON_IF(d->n > 0,
                        JSON_BOOL("inside", d->p05.value <= run_s && run_s <= d->p95.value)));
        }
    }
}

static void write_study(const void *what, struct json_writer *w)
{
    const struct team_study *study = what;
    const struct team_runs *runs = study->runs;
    JSON_WRITE(w, JSON("team", study->tp->params->name), JSON_WHOLE("runs", study->run_count),
               JSON_WHOLE("seed", study->seed), JSON("from", study->from),
               JSON_OBJECT("expected",
                           JSON_SECONDS("makespan_s", runs->expected.end == TEAM_RUN_FINISHED
                                                          ? runs->expected.makespan_us
                                                          : LAB_TIME_NONE),
                           JSON("end", team_run_end_name(runs->expected.end))),
               JSON_WHOLE("finished", runs->makespan_s.n),
               JSON_WHOLE("not_finished", study->run_count - runs->makespan_s.n));
    write_figures(w, "makespan_s", &runs->makespan_s);
    JSON_WRITE(w, JSON_COUNTS("ends", &team_run_end_names, runs->statistics->ends),
               JSON_COUNTS("alarms", &team_alarm_names, runs->statistics->alarms));
    write_robots(w, study);
    write_resources(w, study);
    write_waits(w, study);
    write_activities(w, study);
    write_fits(w, study);
    write_recorded(w, study);
}

void team_study_json(const struct team_study *study, FILE *out)
{
    json_file_print(out, write_study, study);
}

json_t *team_study_document(const struct team_study *study)
{
    return json_file_document(write_study, study);
}

/* ---- for people ---- */

/* Durations that come from the file rather than a recording weaken the interval. */
static void print_guesses(const struct team_study *study, FILE *out)
{
    const json_t *activities = json_object_get(study->document, "activities");
    const char *nominal = team_law_kind_name(TEAM_LAW_NOMINAL);
    size_t guessed = 0;
    size_t i;
    const json_t *activity;
    json_array_foreach(activities, i, activity) {
        guessed += strcmp(json_file_text(activity, "from"), nominal) == 0;
    }
    if (guessed > 0) {
        (void)fprintf(out,
                      "  %zu of %zu durations come from the file, because fewer than six laps "
                      "of each were recorded: the interval is of little use\n",
                      guessed, json_array_size(activities));
    }
}

/* Prints what the recording lacks. */
static void print_lacks(const struct team_study *study, FILE *out)
{
    const struct team_measured *measured = study->measured;
    const size_t count = json_array_size(json_object_get(study->document, "recorded"));
    const struct team_params *p = study->tp->params;
    for (size_t i = 0; i < p->robot_count; i++) {
        const struct team_measured_robot *m = &measured->robots[i];
        const struct estimate *e = &m->fit.estimate;
        const bool known = m->fitted && m->fit.n > 0;
        if (!known || e->reason_count > 0) {
            (void)fprintf(out, "  %s: %s\n", p->robots[i].name,
                          known ? e->reasons[0] : "no moves of its pair in the recording");
        }
    }
    if (count > 0) {
        print_guesses(study, out);
    }
    if (measured->run_count > count) {
        (void)fprintf(out, "  %zu more runs of the recording are other work\n",
                      measured->run_count - count);
    }
}

bool team_study_show(const struct team_study *study, bool json)
{
    if (study->measured && !json) {
        print_lacks(study, stdout);
    }
    return document_page_show(json, write_study, study);
}

/* ---- CSV ---- */

static void write_makespans_csv(const void *what, FILE *out)
{
    const struct team_study *study = what;
    (void)fputs("makespan_s\n", out);
    for (size_t i = 0; i < study->runs->makespan_s.n; i++) {
        csv_tables_number(out, study->runs->makespans_s[i], true);
    }
}

static void write_robots_csv(const void *what, FILE *out)
{
    const struct team_study *study = what;
    csv_tables_rows(json_object_get(study->document, "robots"),
                    "robot busy_ratio waiting_ratio idle_ratio tasks_per_run", out);
}

static void write_resources_csv(const void *what, FILE *out)
{
    const struct team_study *study = what;
    csv_tables_rows(json_object_get(study->document, "resources"),
                    "resource capacity used_ratio grants_per_run wait_mean_s "
                    "wait_longest_mean_s wait_longest_s",
                    out);
}

static void write_waits_csv(const void *what, FILE *out)
{
    const struct team_study *study = what;
    csv_tables_rows(json_object_get(study->document, "waits"), "robot for per_run_s", out);
}

static void write_activities_csv(const void *what, FILE *out)
{
    const struct team_study *study = what;
    csv_tables_rows(json_object_get(study->document, "activities"),
                    "robot task arg from mean_s sd_s measured.n# measured.mean_s measured.sd_s",
                    out);
}

const struct csv_table team_study_tables[TEAM_STUDY_TABLES] = {
    {"makespans.csv", write_makespans_csv},
    {"robots.csv", write_robots_csv},
    {"resources.csv", write_resources_csv},
    {"waits.csv", write_waits_csv},
    {"activities.csv", write_activities_csv}};

/* ---- the plot ------------------------------------------------------------------------ */

enum {
    WIDTH = 900,
    HEAD = 50,
    FOOT = 60,
    LEFT = 90,
    RIGHT = 30,
    ROW = 300,
    BAR = 24,
    GAP = 90
};
enum { BINS = 60, BARS_MAX = 40 };

/* A histogram of makespans with bins of 1/60 of their range. */
static void draw_makespans(FILE *to, const struct team_study *study, double height)
{
    const struct team_distribution *d = &study->runs->makespan_s;
    const double *values = study->runs->makespans_s;
    const double low = d->n > 0 ? values[0] : 0.0;
    const double range = d->n > 0 ? values[d->n - 1] - low : 0.0;
    const double width = range > 0.0 ? range / BINS : 1.0;
    gnuplot_place(to, (double)LEFT / WIDTH, 1.0 - (double)RIGHT / WIDTH, HEAD / height,
                  (HEAD + ROW) / height);
    gnuplot_side(to, "runs", 0.08);
    (void)fprintf(to,
                  "set xlabel 'makespan, s'\nset yrange [0:*]\nset xrange [%.9g:%.9g]\n"
                  "unset arrow\n",
                  low - width, low + range + width);
    const double marks[] = {d->p05.value, d->p50.value, d->p95.value};
    for (size_t i = 0; i < COUNT(marks) && d->n > 0; i++) {
        (void)fprintf(
            to, "set arrow from %.9g, graph 0 to %.9g, graph 1 nohead lc '#c0392b' dt %d\n",
            marks[i], marks[i], i == 1 ? 1 : 2);
    }
    (void)fprintf(to,
                  "plot '-' using 1:2 with boxes fs solid 0.6 noborder lc '#4477aa' notitle\n");
    for (size_t bin = 0, i = 0; bin <= BINS; bin++) {
        size_t count = 0;
        for (; i < d->n && values[i] < low + width * (double)(bin + 1); i++) {
            count++;
        }
        (void)fprintf(to, "%.9g %zu\n", low + width * ((double)bin + 0.5), count);
    }
    (void)fputs("e\nunset arrow\n", to);
}

static void draw_shares(FILE *to, const struct team_study *study, size_t bars, double height)
{
    const struct team_params *p = study->tp->params;
    static const char *const colours[] = {"#4477aa", "#ee9966", "#dddddd"};
    static const char *const words[] = {"busy", "waits", "idle"};
    gnuplot_place(to, (double)LEFT / WIDTH, 1.0 - (double)RIGHT / WIDTH,
                  (HEAD + ROW + GAP) / height,
                  (double)(HEAD + ROW + GAP) / height + (double)bars * BAR / height);
    (void)fputs("unset label 2\nset xlabel 'share of the time, %'\nset xrange [0:100]\nset key "
                "outside top right horizontal\n",
                to);
    (void)fprintf(to, "set yrange [%.1f:-0.5]\nset ytics (", (double)bars - 0.5);
    for (size_t i = 0; i < bars; i++) {
        (void)fputs(i > 0 ? ", " : "", to);
        gnuplot_quoted(to, p->robots[i].name);
        (void)fprintf(to, " %zu", i);
    }
    (void)fputs(")\nplot ", to);
    for (size_t k = 0; k < COUNT(words); k++) {
        (void)fprintf(to,
                      "%s'-' using 1:2:3:4:5:6 with boxxyerror fs solid 0.8 noborder lc '%s' "
                      "title '%s'",
                      k > 0 ? ", " : "", colours[k], words[k]);
    }
    (void)fputc('\n', to);
    for (size_t k = 0; k < COUNT(words); k++) {
        for (size_t i = 0; i < bars; i++) {
            const json_t *r = json_array_get(json_object_get(study->document, "robots"), i);
            const double busy = json_file_real(r, "busy_ratio");
            const double ends[] = {0.0, busy, busy + json_file_real(r, "waiting_ratio"), 1.0};
            (void)fprintf(to, "%.6g %zu %.6g %.6g %.2f %.2f\n", 100.0 * ends[k], i,
                          100.0 * ends[k], 100.0 * ends[k + 1], (double)i - 0.4,
                          (double)i + 0.4);
        }
        (void)fputs("e\n", to);
    }
}

void team_study_script(FILE *to, const void *what)
{
    const struct team_study *study = what;
    const struct team_params *p = study->tp->params;
    const size_t bars = p->robot_count < BARS_MAX ? p->robot_count : BARS_MAX;
    const size_t height = HEAD + ROW + GAP + bars * BAR + FOOT;
    char title[128];
    const struct team_distribution *d = &study->runs->makespan_s;
    (void)snprintf(title, sizeof title, "%s: %zu runs", p->name[0] ? p->name : "team",
                   study->run_count);
    if (d->n > 0) {
        text_append(title, sizeof title, ", P05 %.1f s, P50 %.1f s, P95 %.1f s", d->p05.value,
                    d->p50.value, d->p95.value);
    }
    if (d->n < study->run_count) {
        text_append(title, sizeof title, ", %zu did not finish", study->run_count - d->n);
    }
    gnuplot_start(to, WIDTH, height);
    gnuplot_panels(to, title, " font 'sans-serif,11'");
    draw_makespans(to, study, (double)height);
    draw_shares(to, study, bars, (double)height);
}
