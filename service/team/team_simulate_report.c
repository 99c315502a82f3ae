#include "service/team/team_simulate_report.h"

#include <math.h>
#include <string.h>

#include "service/tool/gnuplot.h"
#include "service/tool/json_file.h"

/* ---- figures ---- */

static const char *const figure_names[] = {"mean", "sd", "p05", "p50", "p95"};
enum { FIGURES = COUNT(figure_names) };

static void list_figures(const struct team_distribution *d, struct team_figure out[FIGURES])
{
    const struct team_figure all[FIGURES] = {d->mean, d->sd, d->p05, d->p50, d->p95};
    memcpy(out, all, sizeof all);
}

static double compute_ratio(double a, double b)
{
    return b > 0.0 ? a / b : (double)NAN;
}

/* Shares of a robot's time, ratios of the makespan. */
struct shares {
    double busy, waiting, idle;
};

static struct shares find_shares(const struct team_study *study, size_t robot)
{
    const struct team_robot_sums *r = team_statistics_robot(study->runs->statistics, robot);
    const int64_t all_us = team_statistics_makespans_us(study->runs->statistics);
    const int64_t idle_us = all_us - r->busy_us - r->waiting_us;
    return (struct shares){compute_ratio((double)r->busy_us, (double)all_us),
                           compute_ratio((double)r->waiting_us, (double)all_us),
                           compute_ratio(fmax((double)idle_us, 0.0), (double)all_us)};
}

struct use {
    double share, mean_wait_s, longest_mean_s;
};

static struct use find_use(const struct team_study *study, size_t resource)
{
    const struct team_params *p = team_prediction_params(study->tp);
    const struct team_resource_sums *r =
        team_statistics_resource(study->runs->statistics, resource);
    const double all_us = (double)team_statistics_makespans_us(study->runs->statistics);
    return (struct use){
        compute_ratio((double)r->held_us, all_us * (double)p->resources[resource].capacity),
        compute_ratio(lab_s(r->waited_us), (double)r->grants),
        compute_ratio(lab_s(r->longest_sum_us), (double)study->run_count)};
}

/* Returns the seconds per run that a robot waited behind another one. */
static double find_behind(const struct team_study *study, size_t robot, size_t other)
{
    return compute_ratio(
        lab_s(team_statistics_behind_us(study->runs->statistics, robot, other)),
        (double)study->run_count);
}

/* Laps of an activity in all runs, and measured ones if any. */
struct laps {
    uint64_t n;
    double mean_s, sd_s;
    const char *law;
    const struct team_laps *measured; /* NULL: none */
};

static struct laps find_laps(const struct team_study *study, size_t robot, size_t kind)
{
    const struct team_activity_sums *a =
        team_statistics_activity(study->runs->statistics, robot, kind);
    const double n = (double)a->n;
    const double mean_ms = compute_ratio((double)a->sum_ms, n);
    const double variance_ms2 = compute_ratio((double)a->square_ms2, n) - mean_ms * mean_ms;
    enum team_law_kind law = TEAM_LAW_NONE;
    for (enum team_law_kind k = TEAM_LAW_MEASURED; k < TEAM_LAW_NONE; k++) {
        law = a->law[k] > (law == TEAM_LAW_NONE ? 0 : a->law[law]) ? k : law;
    }
    const struct team_measured *m = study->measured;
    return (struct laps){a->n, mean_ms * 1e-3, sqrt(fmax(variance_ms2, 0.0)) * 1e-3,
                         team_law_kind_name(law),
                         m ? team_measured_laps(m, robot, kind) : NULL};
}

static const char *name_activity(const struct team_study *study, size_t kind, char out[80])
{
    const struct team_params *p = team_prediction_params(study->tp);
    const struct team_activity a = team_activity(study->tp, kind);
    const char *arg = team_name(p, a.arg);
    (void)snprintf(out, 80, "%s%s%s", p->tasks[a.task].name, arg[0] ? " " : "", arg);
    return out;
}

/* Returns the i-th recorded run that has as many activities as the run without randomness;
 * NULL: no more. */
static const struct team_measured_run *find_run(const struct team_study *study, size_t *i)
{
    const struct team_measured *m = study->measured;
    const size_t shown_count =
        m && m->run_count < TEAM_MEASURED_RUNS ? m->run_count : TEAM_MEASURED_RUNS;
    while (m && *i < shown_count) {
        const struct team_measured_run *run = &m->runs[(*i)++];
        if (run->activities == study->runs->expected.activities) {
            return run;
        }
    }
    return NULL;
}

static bool is_inside(const struct team_study *study, const struct team_measured_run *run)
{
    const double run_s = lab_s(run->makespan_us);
    return study->runs->makespan_s.p05.value <= run_s &&
           run_s <= study->runs->makespan_s.p95.value;
}

/* ---- for people ---- */

enum { WAITS_SHOWN = 20 };

static void print_makespan(const struct team_study *study, FILE *out)
{
    struct team_figure f[FIGURES];
    const struct team_distribution *d = &study->runs->makespan_s;
    list_figures(d, f);
    (void)fprintf(out, "\n%-22s %10s %10s %10s %10s %10s\n%-22s", "makespan, s", "mean", "sd",
                  "P05", "P50", "P95", "");
    for (size_t i = 0; i < FIGURES; i++) {
        csv_tables_cell(out, 10, 3, 'f', f[i].value);
    }
    (void)fprintf(out, "\n%-22s", "  error for this number of runs");
    for (size_t i = 0; i < FIGURES; i++) {
        csv_tables_cell(out, 10, 3, 'f', f[i].error);
    }
    (void)fprintf(out, "\n  without chance, all as estimated: %.3f s%s\n",
                  lab_s(study->runs->expected.makespan_us),
                  study->runs->expected.end == TEAM_RUN_FINISHED ? ""
                                                                 : ", and it does not finish");
}

/* Lists durations that come from the file rather than a recording: they weaken the interval. */
static void print_guesses(const struct team_study *study, FILE *out)
{
    const size_t kinds = team_activity_count(study->tp);
    size_t all = 0;
    size_t guessed = 0;
    for (size_t i = 0; i < team_prediction_params(study->tp)->robot_count * kinds; i++) {
        const struct laps l = find_laps(study, i / kinds, i % kinds);
        all += l.n > 0;
        guessed += l.n > 0 && strcmp(l.law, team_law_kind_name(TEAM_LAW_NOMINAL)) == 0;
    }
    if (guessed > 0) {
        (void)fprintf(out,
                      "  which is of little use: %zu of %zu durations come from the file, "
                      "because fewer than six laps of each were recorded\n",
                      guessed, all);
    }
}

static void print_measured(const struct team_study *study, FILE *out)
{
    size_t inside = 0;
    size_t count = 0;
    size_t at = 0;
    for (const struct team_measured_run *run = find_run(study, &at); run;
         run = find_run(study, &at)) {
        (void)fprintf(out, "%s %.3f s", count == 0 ? "  as recorded:" : ",",
                      lab_s(run->makespan_us));
        inside += is_inside(study, run);
        count++;
    }
    if (count > 0) {
        (void)fprintf(out, "; %zu of %zu within P05 .. P95\n", inside, count);
        print_guesses(study, out);
    }
    if (study->measured && study->measured->run_count > count) {
        (void)fprintf(out, "  %zu more runs of the recording are other work\n",
                      study->measured->run_count - count);
    }
}

static void print_ends(const struct team_study *study, FILE *out)
{
    for (enum team_run_end e = TEAM_RUN_STUCK; e < TEAM_RUN_END_COUNT; e++) {
        const uint64_t n = team_statistics_ends(study->runs->statistics, e);
        if (n > 0) {
            (void)fprintf(out, "  %llu runs did not finish: %s\n", (unsigned long long)n,
                          team_run_end_name(e));
        }
    }
    for (enum team_alarm a = TEAM_ALARM_DEADLOCK; a < TEAM_ALARM_COUNT; a++) {
        const uint64_t n = team_statistics_alarms(study->runs->statistics, a);
        if (n > 0) {
            (void)fprintf(out, "  alarm %s in %llu runs\n", team_alarm_name(a),
                          (unsigned long long)n);
        }
    }
}

static void print_robots(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fprintf(out, "\n%-22s %10s %10s %10s %10s\n", "robot", "busy, %", "waits, %",
                  "idle, %", "tasks a run");
    for (size_t i = 0; i < p->robot_count; i++) {
        const struct shares s = find_shares(study, i);
        const struct team_robot_sums *r = team_statistics_robot(study->runs->statistics, i);
        (void)fprintf(out, "%-22s", p->robots[i].name);
        csv_tables_cell(out, 10, 1, 'f', 100.0 * s.busy);
        csv_tables_cell(out, 10, 1, 'f', 100.0 * s.waiting);
        csv_tables_cell(out, 10, 1, 'f', 100.0 * s.idle);
        csv_tables_cell(out, 10, 1, 'f',
                        compute_ratio((double)r->activities, (double)study->run_count));
        (void)fputc('\n', out);
    }
}

static void print_resources(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    if (p->resource_count > 0) {
        (void)fprintf(out, "\n%-22s %10s %10s %10s %12s %12s\n", "resource", "used, %",
                      "grants", "wait, s", "longest, s", "of all, s");
    }
    for (size_t i = 0; i < p->resource_count; i++) {
        const struct use u = find_use(study, i);
        const struct team_resource_sums *r =
            team_statistics_resource(study->runs->statistics, i);
        (void)fprintf(out, "%-22s", p->resources[i].name);
        csv_tables_cell(out, 10, 1, 'f', 100.0 * u.share);
        csv_tables_cell(out, 10, 1, 'f',
                        compute_ratio((double)r->grants, (double)study->run_count));
        csv_tables_cell(out, 10, 3, 'f', u.mean_wait_s);
        csv_tables_cell(out, 12, 3, 'f', u.longest_mean_s);
        csv_tables_cell(out, 12, 3, 'f', lab_s(r->longest_us));
        (void)fputc('\n', out);
    }
}

/* Prints the longest waits of a big team. */
static void print_waits(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    double above_s = INFINITY;
    for (size_t shown = 0; shown < WAITS_SHOWN; shown++) {
        size_t robot = 0;
        size_t other = 0;
        double most_s = 0.0;
        for (size_t k = 0; k < p->robot_count * p->robot_count; k++) {
            const double s = find_behind(study, k / p->robot_count, k % p->robot_count);
            if (s < above_s && s > most_s) {
                most_s = s;
                robot = k / p->robot_count;
                other = k % p->robot_count;
            }
        }
        if (!(most_s > 0.0)) {
            return;
        }
        if (shown == 0) {
            (void)fprintf(out, "\n%-22s %-22s %10s\n", "who waits", "for whom", "s a run");
        }
        (void)fprintf(out, "%-22s %-22s", p->robots[robot].name, p->robots[other].name);
        csv_tables_cell(out, 10, 3, 'f', most_s);
        (void)fputc('\n', out);
        above_s = most_s;
    }
}

static void print_activities(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fprintf(out, "\n%-22s %-22s %10s %10s %10s%s\n", "robot", "task", "mean, s", "sd, s",
                  "from", study->measured ? "   measured   mean, s      sd, s" : "");
    for (size_t r = 0; r < p->robot_count; r++) {
        for (size_t k = 0; k < team_activity_count(study->tp); k++) {
            char name[80];
            const struct laps l = find_laps(study, r, k);
            if (l.n == 0) {
                continue;
            }
            (void)fprintf(out, "%-22s %-22s", p->robots[r].name, name_activity(study, k, name));
            csv_tables_cell(out, 10, 3, 'f', l.mean_s);
            csv_tables_cell(out, 10, 3, 'f', l.sd_s);
            (void)fprintf(out, " %10s", l.law);
            if (l.measured) {
                (void)fprintf(out, " %10zu", l.measured->n);
                csv_tables_cell(out, 10, 3, 'f', l.measured->mean_s);
                csv_tables_cell(out, 10, 3, 'f', team_laps_sd(l.measured));
            }
            (void)fputc('\n', out);
        }
    }
}

static void print_fits(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    for (size_t i = 0; study->measured && i < p->robot_count; i++) {
        const struct team_measured_robot *m = &study->measured->robots[i];
        const struct estimate *e = &m->fit.estimate;
        if (!m->fitted || m->fit.n == 0) {
            (void)fprintf(out, "  %s: no moves of its pair in the recording\n",
                          p->robots[i].name);
            continue;
        }
        (void)fprintf(out, "  %s: travel times %s, %zu moves, residuals %.3g s%s%s\n",
                      p->robots[i].name, estimate_verdict_name(e->verdict), m->fit.n,
                      m->fit.residual_s_sd, e->reason_count > 0 ? "; " : "",
                      e->reason_count > 0 ? e->reasons[0] : "");
    }
}

void team_study_print(const struct team_study *study, FILE *out)
{
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fprintf(
        out, "team %s: %zu robot%s, %zu resource%s; %zu runs, seed %llu, %s%s\n", p->name,
        p->robot_count, p->robot_count == 1 ? "" : "s", p->resource_count,
        p->resource_count == 1 ? "" : "s", study->run_count, (unsigned long long)study->seed,
        study->from ? "times measured in " : "nominal times", study->from ? study->from : "");
    print_fits(study, out);
    print_makespan(study, out);
    print_measured(study, out);
    print_ends(study, out);
    print_robots(study, out);
    print_resources(study, out);
    print_waits(study, out);
    print_activities(study, out);
}

/* ---- JSON ---- */

static void write_figures(struct json_writer *w, const char *key,
                          const struct team_distribution *d)
{
    struct team_figure f[FIGURES];
    list_figures(d, f);
    json_write_object(w, key);
    for (size_t i = 0; i < FIGURES; i++) {
        json_write_object(w, figure_names[i]);
        json_write_real(w, "value", f[i].value);
        json_write_real(w, "error", f[i].error);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_ends(struct json_writer *w, const struct team_statistics *s)
{
    uint64_t ends[TEAM_RUN_END_COUNT];
    uint64_t alarms[TEAM_ALARM_COUNT];
    for (enum team_run_end e = TEAM_RUN_FINISHED; e < TEAM_RUN_END_COUNT; e++) {
        ends[e] = team_statistics_ends(s, e);
    }
    for (enum team_alarm a = TEAM_ALARM_DEADLOCK; a < TEAM_ALARM_COUNT; a++) {
        alarms[a] = team_statistics_alarms(s, a);
    }
    json_write_counts(w, "ends", &team_run_end_names, ends);
    json_write_counts(w, "alarms", &team_alarm_names, alarms);
}

static void write_robots(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = team_prediction_params(study->tp);
    json_write_array(w, "robots");
    for (size_t i = 0; i < p->robot_count; i++) {
        const struct shares s = find_shares(study, i);
        const struct team_robot_sums *r = team_statistics_robot(study->runs->statistics, i);
        json_write_object(w, NULL);
        json_write_text(w, "robot", p->robots[i].name);
        json_write_real(w, "busy_ratio", s.busy);
        json_write_real(w, "waiting_ratio", s.waiting);
        json_write_real(w, "idle_ratio", s.idle);
        json_write_real(w, "tasks_per_run",
                        compute_ratio((double)r->activities, (double)study->run_count));
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_resources(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = team_prediction_params(study->tp);
    json_write_array(w, "resources");
    for (size_t i = 0; i < p->resource_count; i++) {
        const struct use u = find_use(study, i);
        const struct team_resource_sums *r =
            team_statistics_resource(study->runs->statistics, i);
        json_write_object(w, NULL);
        json_write_text(w, "resource", p->resources[i].name);
        json_write_int(w, "capacity", p->resources[i].capacity);
        json_write_real(w, "used_ratio", u.share);
        json_write_real(w, "grants_per_run",
                        compute_ratio((double)r->grants, (double)study->run_count));
        json_write_real(w, "wait_mean_s", u.mean_wait_s);
        json_write_real(w, "wait_longest_mean_s", u.longest_mean_s);
        json_write_seconds(w, "wait_longest_s", r->longest_us);
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_waits(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = team_prediction_params(study->tp);
    json_write_array(w, "waits");
    for (size_t k = 0; k < p->robot_count * p->robot_count; k++) {
        const double s = find_behind(study, k / p->robot_count, k % p->robot_count);
        if (s > 0.0) {
            json_write_object(w, NULL);
            json_write_text(w, "robot", p->robots[k / p->robot_count].name);
            json_write_text(w, "for", p->robots[k % p->robot_count].name);
            json_write_real(w, "per_run_s", s);
            json_write_close(w);
        }
    }
    json_write_close(w);
}

static void write_activities(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = team_prediction_params(study->tp);
    json_write_array(w, "activities");
    for (size_t i = 0; i < p->robot_count * team_activity_count(study->tp); i++) {
        const size_t robot = i / team_activity_count(study->tp);
        const size_t kind = i % team_activity_count(study->tp);
        const struct team_activity a = team_activity(study->tp, kind);
        const struct laps l = find_laps(study, robot, kind);
        if (l.n == 0) {
            continue;
        }
        json_write_object(w, NULL);
        json_write_text(w, "robot", p->robots[robot].name);
        json_write_text(w, "task", p->tasks[a.task].name);
        json_write_text(w, "arg", a.arg == TEAM_NONE ? NULL : team_name(p, a.arg));
        json_write_text(w, "from", l.law);
        json_write_real(w, "mean_s", l.mean_s);
        json_write_real(w, "sd_s", l.sd_s);
        if (l.measured) {
            json_write_object(w, "measured");
            json_write_int(w, "n", (int64_t)l.measured->n);
            json_write_real(w, "mean_s", l.measured->mean_s);
            json_write_real(w, "sd_s", team_laps_sd(l.measured));
            json_write_close(w);
        }
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_fits(struct json_writer *w, const struct team_study *study)
{
    const struct team_params *p = team_prediction_params(study->tp);
    json_write_array(w, "travel_times");
    for (size_t i = 0; study->measured && i < p->robot_count; i++) {
        const struct team_measured_robot *m = &study->measured->robots[i];
        if (m->fitted) {
            json_write_object(w, NULL);
            json_write_text(w, "robot", p->robots[i].name);
            json_write_text(w, "verdict", estimate_verdict_name(m->fit.estimate.verdict));
            json_write_int(w, "moves", (int64_t)m->fit.n);
            json_write_real(w, "residual_s_sd", m->fit.residual_s_sd);
            json_write_close(w);
        }
    }
    json_write_close(w);
}

static void write_measured(struct json_writer *w, const struct team_study *study)
{
    size_t at = 0;
    json_write_array(w, "recorded");
    for (const struct team_measured_run *run = find_run(study, &at); run;
         run = find_run(study, &at)) {
        json_write_object(w, NULL);
        json_write_seconds(w, "t", run->start_us);
        json_write_seconds(w, "makespan_s", run->makespan_us);
        json_write_bool(w, "inside", is_inside(study, run));
        json_write_close(w);
    }
    json_write_close(w);
}

static void write_study(const void *what, struct json_writer *w)
{
    const struct team_study *study = what;
    const struct team_runs *runs = study->runs;
    json_write_text(w, "team", team_prediction_params(study->tp)->name);
    json_write_int(w, "runs", (int64_t)study->run_count);
    json_write_int(w, "seed", (int64_t)study->seed);
    json_write_text(w, "from", study->from);
    json_write_object(w, "expected");
    json_write_seconds(w, "makespan_s", runs->expected.makespan_us);
    json_write_text(w, "end", team_run_end_name(runs->expected.end));
    json_write_close(w);
    json_write_int(w, "finished", (int64_t)runs->makespan_s.n);
    write_figures(w, "makespan_s", &runs->makespan_s);
    write_ends(w, runs->statistics);
    write_robots(w, study);
    write_resources(w, study);
    write_waits(w, study);
    write_activities(w, study);
    write_fits(w, study);
    write_measured(w, study);
}

void team_study_json(const struct team_study *study, FILE *out)
{
    json_file_print(out, write_study, study);
}

/* ---- tables ---- */

static void write_makespan_table(const void *what, FILE *out)
{
    const struct team_study *study = what;
    (void)fputs("makespan_s\n", out);
    for (size_t i = 0; i < study->runs->makespan_s.n; i++) {
        csv_tables_number(out, study->runs->makespans_s[i], true);
    }
}

static void write_robot_table(const void *what, FILE *out)
{
    const struct team_study *study = what;
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fputs("robot,busy_ratio,waiting_ratio,idle_ratio,tasks_per_run\n", out);
    for (size_t i = 0; i < p->robot_count; i++) {
        const struct shares s = find_shares(study, i);
        const struct team_robot_sums *r = team_statistics_robot(study->runs->statistics, i);
        (void)fprintf(out, "%s,", p->robots[i].name);
        csv_tables_number(out, s.busy, false);
        csv_tables_number(out, s.waiting, false);
        csv_tables_number(out, s.idle, false);
        csv_tables_number(out, compute_ratio((double)r->activities, (double)study->run_count),
                          true);
    }
}

static void write_resource_table(const void *what, FILE *out)
{
    const struct team_study *study = what;
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fputs("resource,capacity,used_ratio,grants_per_run,wait_mean_s,wait_longest_mean_s,"
                "wait_longest_s\n",
                out);
    for (size_t i = 0; i < p->resource_count; i++) {
        const struct use u = find_use(study, i);
        const struct team_resource_sums *r =
            team_statistics_resource(study->runs->statistics, i);
        (void)fprintf(out, "%s,%u,", p->resources[i].name, p->resources[i].capacity);
        csv_tables_number(out, u.share, false);
        csv_tables_number(out, compute_ratio((double)r->grants, (double)study->run_count),
                          false);
        csv_tables_number(out, u.mean_wait_s, false);
        csv_tables_number(out, u.longest_mean_s, false);
        csv_tables_number(out, lab_s(r->longest_us), true);
    }
}

static void write_wait_table(const void *what, FILE *out)
{
    const struct team_study *study = what;
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fputs("robot,for,per_run_s\n", out);
    for (size_t k = 0; k < p->robot_count * p->robot_count; k++) {
        const double s = find_behind(study, k / p->robot_count, k % p->robot_count);
        if (s > 0.0) {
            (void)fprintf(out, "%s,%s,", p->robots[k / p->robot_count].name,
                          p->robots[k % p->robot_count].name);
            csv_tables_number(out, s, true);
        }
    }
}

static void write_activity_table(const void *what, FILE *out)
{
    const struct team_study *study = what;
    const struct team_params *p = team_prediction_params(study->tp);
    (void)fputs("robot,task,arg,from,mean_s,sd_s,measured_n,measured_mean_s,measured_sd_s\n",
                out);
    for (size_t i = 0; i < p->robot_count * team_activity_count(study->tp); i++) {
        const size_t robot = i / team_activity_count(study->tp);
        const size_t kind = i % team_activity_count(study->tp);
        const struct team_activity a = team_activity(study->tp, kind);
        const struct laps l = find_laps(study, robot, kind);
        if (l.n > 0) {
            (void)fprintf(out, "%s,%s,%s,%s,", p->robots[robot].name, p->tasks[a.task].name,
                          team_name(p, a.arg), l.law);
            csv_tables_number(out, l.mean_s, false);
            csv_tables_number(out, l.sd_s, false);
            csv_tables_number(out, l.measured ? (double)l.measured->n : 0.0, false);
            csv_tables_number(out, l.measured ? l.measured->mean_s : (double)NAN, false);
            csv_tables_number(out, l.measured ? team_laps_sd(l.measured) : (double)NAN, true);
        }
    }
}

const struct csv_table team_study_tables[TEAM_STUDY_TABLES] = {
    {"makespans.csv", write_makespan_table},
    {"robots.csv", write_robot_table},
    {"resources.csv", write_resource_table},
    {"waits.csv", write_wait_table},
    {"activities.csv", write_activity_table}};

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
    const struct team_params *p = team_prediction_params(study->tp);
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
            const struct shares s = find_shares(study, i);
            const double ends[] = {0.0, s.busy, s.busy + s.waiting, 1.0};
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
    const struct team_params *p = team_prediction_params(study->tp);
    const size_t bars = p->robot_count < BARS_MAX ? p->robot_count : BARS_MAX;
    const size_t height = HEAD + ROW + GAP + bars * BAR + FOOT;
    char title[128];
    (void)snprintf(title, sizeof title, "%s: %zu runs, P05 %.1f s, P50 %.1f s, P95 %.1f s",
                   p->name[0] ? p->name : "team", study->run_count,
                   study->runs->makespan_s.p05.value, study->runs->makespan_s.p50.value,
                   study->runs->makespan_s.p95.value);
    gnuplot_start(to, WIDTH, height);
    gnuplot_panels(to, title, " font 'sans-serif,11'");
    draw_makespans(to, study, (double)height);
    draw_shares(to, study, bars, (double)height);
}
