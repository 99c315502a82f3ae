/* short: 'TANDEM_WITHOUT=makespans are those of the table' */
/* Prediction of a team: laws and draws, the driver against an independent recursion, makespans
 * against closed forms and against the reference's table. threads */
#include "tests/support/team_cell.h"

#include <gsl/gsl_errno.h>

#include "service/team/team_runs.h"

static struct cell cell;
static const int64_t SECOND_US = 1000000;
static const int64_t DAY_US = INT64_C(86400) * 1000000;

/* ---- helpers ---- */

/* A fit that is known to be so, with independent normal errors. */
static struct travel_fit known_fit(const struct cell_truth *truth)
{
    struct travel_fit fit;
    travel_fit_start(&fit, TRAVEL_TURNS_AND_DRIVES);
    fit.n = 1000000000;
    fit.freedom = fit.n - TRAVEL_P;
    fit.residual_s_sd = fit.rmse_s = truth->sd_s;
    fit.ls = (struct robust_ls_fit){.n = fit.n, .p = TRAVEL_P, .rank = TRAVEL_P};
    for (size_t j = 0; j < TRAVEL_P; j++) {
        fit.ls.beta[j] = truth->beta[j];
        fit.ls.covariance[j][j] = truth->se[j] * truth->se[j];
        fit.ls.column_norm[j] = 1.0;
    }
    return fit;
}

static struct team_prediction *make_prediction(const struct cell *c)
{
    void *memory = malloc(team_prediction_bytes(&c->p));
    CU_ASSERT_PTR_NOT_NULL_FATAL(memory);
    return team_prediction_init(memory, &c->p);
}

/* The cell of tests/support/team_cell.h; R3 is like R1. sure: its parameters are known. */
static struct team_prediction *make_transport(size_t robots, bool brief_hold, bool sure)
{
    cell_transport(&cell, robots, brief_hold);
    struct team_prediction *tp = make_prediction(&cell);
    for (size_t r = 0; r < robots; r++) {
        struct cell_truth truth = CELL_FITS[r % 2];
        if (sure) {
            memset(truth.se, 0, sizeof truth.se);
        }
        const struct travel_fit fit = known_fit(&truth);
        const struct team_pose origin = {0.0, 0.0, 0.0};
        CHECK_INT("fit", team_predict_moves(tp, (uint16_t)r, &fit), STATUS_OK);
        team_predict_pose(tp, (uint16_t)r, &origin);
    }
    return tp;
}

static void make_runs(struct team_prediction *tp, size_t runs, unsigned threads, uint64_t seed,
                      struct team_runs *out)
{
    const struct team_runs_options options = {
        .runs = runs, .threads = threads, .seed = seed, .horizon_us = DAY_US};
    struct err_list errors = {0};
    CU_ASSERT_EQUAL_FATAL(team_runs_make(tp, &options, out, &errors), STATUS_OK);
    CHECK_INT("runs", out->makespan_s.n, runs);
}

/* ---- commanded laps, and their sum without the core ---- */

enum { LAPS_MAX = 64, ROBOTS_MAX = 3 };

struct received {
    struct team_draw *draw;
    int64_t lap_us[ROBOTS_MAX][LAPS_MAX];
    size_t count[ROBOTS_MAX];
};

static bool ask_and_record(void *context, const struct team_effect *start, struct team_lap *lap)
{
    struct received *h = context;
    const bool known = team_draw_lap(h->draw, start, lap);
    h->lap_us[start->robot][h->count[start->robot]++] = lap->lap_us;
    return known;
}

/* First come, first served, the first robot on ties; of five activities a part the first
 * `hold` are done with the place. */
static int64_t makespan_by_recursion(const struct received *h, size_t robots, size_t hold)
{
    int64_t request_us[ROBOTS_MAX] = {0};
    size_t parts[ROBOTS_MAX] = {0};
    int64_t free_us = 0;
    int64_t makespan_us = 0;
    for (size_t turn = 0; turn < 10 * robots; turn++) {
        size_t who = robots;
        for (size_t r = 0; r < robots; r++) {
            if (parts[r] < 10 && (who == robots || request_us[r] < request_us[who])) {
                who = r;
            }
        }
        int64_t t_us = request_us[who] > free_us ? request_us[who] : free_us;
        for (size_t k = 0; k < 5; k++) {
            t_us += h->lap_us[who][5 * parts[who] + k];
            free_us = k + 1 == hold ? t_us : free_us;
        }
        request_us[who] = t_us;
        parts[who]++;
        makespan_us = t_us > makespan_us ? t_us : makespan_us;
    }
    return makespan_us;
}

static void test_driver_agrees_with_a_recursion(void)
{
    static const struct {
        const char *name;
        size_t robots, hold;
        bool brief_hold, sure;
    } rows[] = {{"alone", 1, 3, false, false},
                {"two", 2, 3, false, false},
                {"three", 3, 1, true, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_prediction *tp =
            make_transport(rows[i].robots, rows[i].brief_hold, rows[i].sure);
        struct received received = {.draw =
                                        team_draw_init(malloc(team_draw_bytes(&cell.p)), tp)};
        struct team_simulator *s =
            team_simulator_init(malloc(team_simulator_bytes(&cell.p)), &cell.p);
        const struct team_scenario scenario = {.params = &cell.p,
                                               .ask = ask_and_record,
                                               .context = &received,
                                               .horizon_us = DAY_US};
        for (uint64_t k = 0; k < 100; k++) {
            struct team_run run;
            const struct team_effects nobody = {NULL, NULL};
            memset(received.count, 0, sizeof received.count);
            team_draw_begin(received.draw, 7, k);
            team_simulate(s, &scenario, &nobody, &run);
            CHECK_INT(rows[i].name, run.end, TEAM_RUN_FINISHED);
            CHECK_INT(rows[i].name, run.activities, 50 * rows[i].robots);
            CHECK_INT(rows[i].name, run.makespan_us,
                      makespan_by_recursion(&received, rows[i].robots, rows[i].hold));
        }
        free(s);
        free(received.draw);
        free(tp);
    }
}

/* ---- the table ---- */

enum { RUNS = 20000 };

/* In standard errors of both. */
static void check_figure(const char *row, struct team_figure got, double want, double error)
{
    CHECK_NEAR(row, got.value, want, 0.0, 3.0 * hypot(got.error, error));
}

static void test_makespans_are_those_of_the_table(void)
{
    /* From 500 000 runs of a recursion in another language, parameters drawn once a run. */
    static const struct {
        const char *name;
        size_t robots;
        bool brief_hold, sure;
        struct team_figure mean, sd, p05, p50, p95;
    } rows[] = {{"two robots",
                 2,
                 false,
                 false,
                 {316.441, 0.003},
                 {2.345, 0.0023},
                 {312.577, 0.007},
                 {316.446, 0.004},
                 {320.295, 0.007}},
                {"two robots, noise alone",
                 2,
                 false,
                 true,
                 {316.443, 0.001},
                 {0.603, 0.0006},
                 {315.450, 0.002},
                 {316.443, 0.001},
                 {317.434, 0.002}},
                {"three robots",
                 3,
                 true,
                 false,
                 {273.905, 0.004},
                 {3.152, 0.0032},
                 {268.672, 0.009},
                 {273.870, 0.006},
                 {279.172, 0.009}}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_prediction *tp =
            make_transport(rows[i].robots, rows[i].brief_hold, rows[i].sure);
        struct team_runs runs;
        make_runs(tp, RUNS, 2, 1, &runs);
        const struct team_distribution *d = &runs.makespan_s;
        check_figure(rows[i].name, d->mean, rows[i].mean.value, rows[i].mean.error);
        check_figure(rows[i].name, d->sd, rows[i].sd.value, rows[i].sd.error);
        check_figure(rows[i].name, d->p05, rows[i].p05.value, rows[i].p05.error);
        check_figure(rows[i].name, d->p50, rows[i].p50.value, rows[i].p50.error);
        check_figure(rows[i].name, d->p95, rows[i].p95.value, rows[i].p95.error);
        team_runs_free(&runs);
        free(tp);
    }
}

/* One robot waits for no other: its time is a sum, of known mean and variance. Parameters drawn
 * for each move would have a deviation of less than half of it. */
static void test_one_robot_has_a_closed_form(void)
{
    const struct cell_truth *f = &CELL_FITS[0];
    double sum[TRAVEL_P] = {0.0};
    double each = 0.0; /* variance of parameters that are drawn for each move */
    for (size_t leg = 0; leg < 3; leg++) {
        double row[TRAVEL_P];
        travel_row(CELL_LEGS[leg][0], CELL_LEGS[leg][1], row);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            sum[j] += 10.0 * row[j];
            each += 10.0 * row[j] * row[j] * f->se[j] * f->se[j];
        }
    }
    double mean = 10.0 * (2.0 + 1.5);
    double once = 0.0;
    const double noise = 10.0 * (3.0 * f->sd_s * f->sd_s + 2.0 * 0.1 * 0.1);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        mean += sum[j] * f->beta[j];
        once += sum[j] * sum[j] * f->se[j] * f->se[j];
    }
    CHECK_NEAR("the table", mean, 247.533, 0.0, 0.0006);
    CHECK_NEAR("the table", sqrt(noise + once), 2.369, 0.0, 0.0006);
    struct team_prediction *tp = make_transport(1, false, false);
    struct team_runs runs;
    make_runs(tp, RUNS, 2, 2, &runs);
    const struct team_distribution *d = &runs.makespan_s;
    const double sd = sqrt(noise + once);
    CHECK_NEAR("expected", lab_s(runs.expected.makespan_us), mean, 0.0, 1e-4);
    check_figure("mean", d->mean, mean, 0.0);
    check_figure("sd", d->sd, sd, 0.0);
    check_figure("P05", d->p05, mean - 1.6448536 * sd, 0.0);
    check_figure("P50", d->p50, mean, 0.0);
    check_figure("P95", d->p95, mean + 1.6448536 * sd, 0.0);
    CHECK("drawn for each move it would be another one",
          d->sd.value - 30.0 * d->sd.error > sqrt(noise + each));
    team_runs_free(&runs);
    free(tp);
}

/* ---- the same on any number of threads ---- */

static void test_threads_change_nothing(void)
{
    static const unsigned threads[] = {2, 7};
    struct team_prediction *tp = make_transport(3, true, false);
    struct team_runs one;
    make_runs(tp, 999, 1, 3, &one);
    for (size_t i = 0; i < COUNT(threads); i++) {
        struct team_runs many;
        make_runs(tp, 999, threads[i], 3, &many);
        CHECK_INT("makespans",
                  memcmp(one.makespans_s, many.makespans_s, 999 * sizeof *one.makespans_s), 0);
        CHECK_INT("figures", memcmp(&one.makespan_s, &many.makespan_s, sizeof one.makespan_s),
                  0);
        for (size_t r = 0; r < 3; r++) {
            const struct team_robot_sums *a = &one.statistics->robot[r];
            CHECK_INT("robots", memcmp(a, &many.statistics->robot[r], sizeof *a), 0);
            for (size_t k = 0; k < tp->kind_count; k++) {
                const size_t at = r * tp->kind_count + k;
                const struct team_activity_sums *b = &one.statistics->activity[at];
                CHECK_INT("activities", memcmp(b, &many.statistics->activity[at], sizeof *b),
                          0);
            }
            for (size_t o = 0; o < 3; o++) {
                CHECK_INT("behind", one.statistics->behind_us[r * 3 + o],
                          many.statistics->behind_us[r * 3 + o]);
            }
        }
        const struct team_resource_sums *a = &one.statistics->resource[0];
        CHECK_INT("resource", memcmp(a, &many.statistics->resource[0], sizeof *a), 0);
        team_runs_free(&many);
    }
    struct team_runs other;
    make_runs(tp, 999, 1, 4, &other);
    CHECK("another seed",
          memcmp(one.makespans_s, other.makespans_s, 999 * sizeof(double)) != 0);
    team_runs_free(&other);
    team_runs_free(&one);
    free(tp);
}

/* ---- shares ---- */

/* Two robots that need the place for 3 s of 4 s each: known to the microsecond. */
static void test_shares_add_up(void)
{
    cell_start(&cell, "cell", TEAM_ORDERED);
    const uint16_t place = cell_resource(&cell, "IB", 1);
    const uint16_t sequence = cell_sequence(&cell, "s");
    cell_hold(&cell, TEAM_STEP_LOCK, place);
    cell_do(&cell, "Pick", NULL);
    cell_hold(&cell, TEAM_STEP_UNLOCK, place);
    cell_do(&cell, "Place", NULL);
    (void)cell_robot(&cell, "R1", sequence, 1);
    (void)cell_robot(&cell, "R2", sequence, 2);
    cell_nominal(&cell, TEAM_NONE, "Pick", NULL, 3.0, 0.0);
    cell_nominal(&cell, TEAM_NONE, "Place", NULL, 1.0, 0.0);
    struct team_prediction *tp = make_prediction(&cell);
    struct team_runs runs;
    make_runs(tp, 5, 2, 1, &runs);
    const struct team_statistics *s = runs.statistics;
    CHECK_INT("makespan", runs.expected.makespan_us, 11000000);
    CHECK_NEAR("P95", runs.makespan_s.p95.value, 11.0, 0.0, 0.0);
    CHECK_NEAR("its error", runs.makespan_s.p95.error, 0.0, 0.0, 0.0);
    CHECK_INT("makespans", s->spans_us, 5 * 11000000);
    CHECK_INT("R1 busy", s->robot[0].busy_us, 5 * 4000000);
    CHECK_INT("R1 waits", s->robot[0].waiting_us, 0);
    CHECK_INT("R2 busy", s->robot[1].busy_us, 5 * 8000000);
    CHECK_INT("R2 waits", s->robot[1].waiting_us, 5 * 3000000);
    CHECK_INT("R2 behind R1", s->behind_us[2], 5 * 3000000);
    CHECK_INT("R1 behind R2", s->behind_us[1], 0);
    CHECK_INT("held", s->resource[0].held_us, 5 * 9000000);
    CHECK_INT("grants", s->resource[0].grants, 15);
    CHECK_INT("waits", s->resource[0].waits, 5);
    CHECK_INT("longest", s->resource[0].longest_us, 3000000);
    CHECK_INT("longest summed", s->resource[0].longest_sum_us, 5 * 3000000);
    CHECK_INT("finished", s->ends[TEAM_RUN_FINISHED], 5);
    team_runs_free(&runs);
    free(tp);
}

/* R1 comes to the meeting after 2 s, R2 after 5 s; then R1 carries for 4 s and R2 for 6 s. */
static void test_meetings_are_waits(void)
{
    cell_start(&cell, "cell", TEAM_ORDERED);
    const uint16_t sequence = cell_sequence(&cell, "s");
    cell_do(&cell, "Come", NULL);
    cell_meet(&cell, TEAM_STEP_TOGETHER, "lift", 2, "Carry");
    (void)cell_robot(&cell, "R1", sequence, 1);
    (void)cell_robot(&cell, "R2", sequence, 1);
    cell_nominal(&cell, 0, "Come", NULL, 2.0, 0.0);
    cell_nominal(&cell, 1, "Come", NULL, 5.0, 0.0);
    cell_nominal(&cell, 0, "Carry", NULL, 4.0, 0.0);
    cell_nominal(&cell, 1, "Carry", NULL, 6.0, 0.0);
    struct team_prediction *tp = make_prediction(&cell);
    struct team_runs runs;
    make_runs(tp, 1, 1, 1, &runs);
    const struct team_statistics *s = runs.statistics;
    CHECK_INT("makespan", runs.expected.makespan_us, 11000000);
    CHECK_INT("R1 busy", s->robot[0].busy_us, 6000000);
    CHECK_INT("R1 waits", s->robot[0].waiting_us, 5000000);
    CHECK_INT("R2 busy", s->robot[1].busy_us, 11000000);
    CHECK_INT("R2 waits", s->robot[1].waiting_us, 0);
    CHECK_INT("R1 behind R2", s->behind_us[1], 5000000);
    CHECK_INT("R2 behind R1", s->behind_us[2], 0);
    team_runs_free(&runs);
    free(tp);
}

/* ---- runs that do not come to an end ---- */

static void make_some(struct team_prediction *tp, size_t count, int64_t horizon_us,
                      struct team_runs *out)
{
    const struct team_runs_options options = {
        .runs = count, .threads = 1, .seed = 1, .horizon_us = horizon_us};
    struct err_list errors = {0};
    CU_ASSERT_EQUAL_FATAL(team_runs_make(tp, &options, out, &errors), STATUS_OK);
}

static void test_runs_that_do_not_finish(void)
{
    cell_start(&cell, "cell", TEAM_FREE);
    const uint16_t a = cell_resource(&cell, "A", 1);
    const uint16_t b = cell_resource(&cell, "B", 1);
    for (size_t r = 0; r < 2; r++) {
        const uint16_t sequence = cell_sequence(&cell, r ? "ba" : "ab");
        cell_hold(&cell, TEAM_STEP_LOCK, r ? b : a);
        cell_do(&cell, "Go", NULL);
        cell_hold(&cell, TEAM_STEP_LOCK, r ? a : b);
        cell_do(&cell, "Go", NULL);
        cell_hold(&cell, TEAM_STEP_UNLOCK, a);
        cell_hold(&cell, TEAM_STEP_UNLOCK, b);
        (void)cell_robot(&cell, r ? "R2" : "R1", sequence, 1);
    }
    cell_nominal(&cell, TEAM_NONE, "Go", NULL, 1.0, 0.0);
    struct team_prediction *tp = make_prediction(&cell);
    struct team_runs runs;
    make_some(tp, 3, DAY_US, &runs);
    CHECK_INT("stuck", runs.expected.end, TEAM_RUN_STUCK);
    CHECK_INT("none", runs.makespan_s.n, 0);
    CHECK("no mean", isnan(runs.makespan_s.mean.value));
    CHECK_INT("stuck", runs.statistics->ends[TEAM_RUN_STUCK], 3);
    CHECK_INT("told", runs.statistics->alarms[TEAM_ALARM_DEADLOCK], 3);
    const struct team_statistics *s = runs.statistics;
    CHECK_INT("up to the horizon", s->spans_us, 3 * DAY_US);
    for (size_t i = 0; i < 2; i++) { /* from the first lap on each waits for the other */
        CHECK_INT("busy", s->robot[i].busy_us, 3 * SECOND_US);
        CHECK_INT("waits", s->robot[i].waiting_us, 3 * (DAY_US - SECOND_US));
        CHECK_INT("behind", s->behind_us[i == 0 ? 1 : 2], 3 * (DAY_US - SECOND_US));
        CHECK_INT("unserved", s->resource[i].unserved, 3);
        CHECK_INT("longest", s->resource[i].longest_us, DAY_US - SECOND_US);
    }
    team_runs_free(&runs);
    make_some(tp, 2, SECOND_US / 2, &runs); /* amid the first lap */
    CHECK_INT("horizon", runs.statistics->ends[TEAM_RUN_HORIZON], 2);
    CHECK_INT("spans", runs.statistics->spans_us, SECOND_US);
    CHECK_INT("busy", runs.statistics->robot[0].busy_us, SECOND_US);
    CHECK_INT("held", runs.statistics->resource[1].held_us, SECOND_US);
    team_runs_free(&runs);
    free(tp);
}

static void test_endless_runs_end(void)
{
    static const struct {
        const char *name;
        double lap_s;
        enum team_run_end end;
    } rows[] = {{"in no time", 0.0, TEAM_RUN_ENDLESS}, {"for ever", 3600.0, TEAM_RUN_HORIZON}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        cell_start(&cell, "cell", TEAM_ORDERED);
        const uint16_t sequence = cell_sequence(&cell, "s");
        cell_do(&cell, "Go", NULL);
        cell_step(&cell, TEAM_STEP_GOTO)->to = 0;
        (void)cell_robot(&cell, "R1", sequence, 1);
        cell_nominal(&cell, TEAM_NONE, "Go", NULL, rows[i].lap_s, 0.0);
        struct team_prediction *tp = make_prediction(&cell);
        struct team_runs runs;
        make_some(tp, 1, DAY_US, &runs);
        CHECK_INT(rows[i].name, runs.expected.end, rows[i].end);
        team_runs_free(&runs);
        free(tp);
    }
}

/* All activities with unknown time are named at once. */
static void test_unknown_times_are_named(void)
{
    cell_transport(&cell, 2, false);
    cell.p.nominal_count = 1;
    cell.nominals[0].robot = 1; /* PickPrt of R2 */
    struct team_prediction *tp = make_prediction(&cell);
    const struct travel_fit fit = known_fit(&CELL_FITS[0]);
    const struct team_pose origin = {0.0, 0.0, 0.0};
    CHECK_INT("R1 moves", team_predict_moves(tp, 0, &fit), STATUS_OK);
    team_predict_pose(tp, 0, &origin);
    const struct team_runs_options options = {
        .runs = 1, .threads = 1, .seed = 1, .horizon_us = DAY_US};
    struct err_list errors = {0};
    struct team_runs runs;
    CHECK_INT("refused", team_runs_make(tp, &options, &runs, &errors), STATUS_E_EMPTY);
    /* PickPrt and PlacePrt of R1; thirty moves and PlacePrt of R2, cut to what a list holds. */
    CHECK_INT("all", errors.count + errors.more, 33);
    CHECK_TEXT("whose", errors.items[0].where, "R1");
    CHECK("what", strstr(errors.items[0].text, "PickPrt") != NULL);
    free(tp);
}

/* ---- laws ---- */

/* Six laps of which the mean is known that badly: Student's with five degrees of freedom, for
 * the mean and for the noise together. */
static void test_few_laps_are_students(void)
{
    enum { N = 6 };
    cell_start(&cell, "cell", TEAM_ORDERED);
    (void)cell_sequence(&cell, "s");
    cell_do(&cell, "Pick", NULL);
    (void)cell_robot(&cell, "R1", 0, 1);
    struct team_prediction *tp = make_prediction(&cell);
    const struct team_activity pick = {0, cell_task(&cell, "Pick"), TEAM_NONE};
    CHECK_INT("too few", team_predict_measured(tp, &pick, 5, 100.0, 1.0, true), STATUS_E_EMPTY);
    CHECK_INT("none", team_predict_measured(tp, &pick, N, (double)NAN, 1.0, true),
              STATUS_E_RANGE);
    CHECK_INT("enough", team_predict_measured(tp, &pick, N, 100.0, 1.0, true), STATUS_OK);
    struct team_runs runs;
    make_runs(tp, RUNS, 1, 5, &runs);
    const double t95 = 2.0150484; /* of Student with five degrees of freedom */
    check_figure("P95", runs.makespan_s.p95, 100.0 + t95 * sqrt(1.0 + 1.0 / N), 0.0);
    check_figure("P05", runs.makespan_s.p05, 100.0 - t95 * sqrt(1.0 + 1.0 / N), 0.0);
    team_runs_free(&runs);
    free(tp);
}

/* Laps never end before they begin. */
static void test_laps_are_not_negative(void)
{
    cell_start(&cell, "cell", TEAM_ORDERED);
    (void)cell_sequence(&cell, "s");
    cell_do(&cell, "Pick", NULL);
    (void)cell_robot(&cell, "R1", 0, 1);
    cell_nominal(&cell, TEAM_NONE, "Pick", NULL, 0.1, 10.0);
    struct team_prediction *tp = make_prediction(&cell);
    struct team_runs runs;
    make_runs(tp, 1000, 1, 5, &runs);
    CHECK_NEAR("P05", runs.makespan_s.p05.value, 0.0, 0.0, 0.0);
    CHECK("P95", runs.makespan_s.p95.value > 10.0);
    team_runs_free(&runs);
    free(tp);
}

/* Ten percent faster: what depends on the way and the turn shrinks, delays do not. */
static void test_faster_moves(void)
{
    struct team_prediction *tp = make_transport(1, false, false);
    const struct team_runs_options options = {.horizon_us = DAY_US};
    const struct team_effects nobody = {NULL, NULL};
    struct err_list errors = {0};
    struct team_run usual;
    struct team_run faster;
    bool guessed = true;
    CHECK_INT("1", team_runs_expect(tp, &options, &nobody, &usual, &guessed, &errors), 0);
    team_predict_speed(tp, 0, 1.1);
    CHECK_INT("2", team_runs_expect(tp, &options, &nobody, &faster, &guessed, &errors), 0);
    CHECK("times of the file", guessed);
    const double moving_s = 10.0 * ((1.57 + 3.14 + 1.57) / 1.2 + 3.0 / 0.2);
    CHECK_NEAR("less", lab_s(usual.makespan_us - faster.makespan_us),
               moving_s * (1.0 - 1.0 / 1.1), 0.0, 1e-4);
    free(tp);
}

/* A change of one robot leaves the chances of the other as they are. */
static void test_streams_are_each_robots_own(void)
{
    struct team_prediction *tp = make_transport(2, false, false);
    struct team_draw *draw = team_draw_init(malloc(team_draw_bytes(&cell.p)), tp);
    const struct team_effect pick = {
        .kind = TEAM_START, .robot = 1, .step = &cell.steps[2], .n = 1};
    struct team_lap first;
    struct team_lap again;
    team_draw_begin(draw, 9, 4);
    CHECK("drawn", team_draw_lap(draw, &pick, &first));
    CHECK_INT("nominal", draw->law, TEAM_LAW_NOMINAL);
    const struct travel_fit fit = known_fit(&CELL_FITS[1]);
    CHECK_INT("another fit", team_predict_moves(tp, 0, &fit), STATUS_OK);
    team_draw_begin(draw, 9, 4);
    CHECK("drawn", team_draw_lap(draw, &pick, &again));
    CHECK_INT("the same", again.lap_us, first.lap_us);
    /* No robot draws in one run what it, or another one, draws in another. */
    enum { RUNS_SEEN = 20 };
    int64_t seen_us[2 * RUNS_SEEN];
    for (size_t i = 0; i < COUNT(seen_us); i++) {
        struct team_effect start = pick;
        start.robot = (uint16_t)(i % 2);
        team_draw_begin(draw, 9, i / 2);
        CHECK("drawn", team_draw_lap(draw, &start, &again));
        seen_us[i] = again.lap_us;
        for (size_t k = 0; k < i; k++) {
            CHECK("each its own", seen_us[k] != seen_us[i]);
        }
    }
    free(draw);
    free(tp);
}

/* Moves that all turned and drove alike give predictions for such moves, and for no others. */
static void test_moves_without_fit(void)
{
    struct travel_move moves[12];
    struct travel_fit fit;
    for (size_t i = 0; i < COUNT(moves); i++) {
        moves[i] = (struct travel_move){1.0, 0.5, 4.0 + 0.01 * (double)(i % 3)};
    }
    CHECK_INT("fit",
              travel_time_fit(moves, COUNT(moves), TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, &fit),
              STATUS_OK);
    static const struct {
        const char *name;
        double x_m, y_m, heading_rad;
        bool known;
    } rows[] = {{"alike", 0.5 * 0.5403023058681398, 0.5 * 0.8414709848078965, 0.0, true},
                {"further", 1.0, 1.0, 0.0, false},
                {"straight on", 0.5, 0.0, 0.0, false},
                {"from an unknown place", 0.5, 0.0, (double)NAN, false}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        cell_start(&cell, "cell", TEAM_ORDERED);
        (void)cell_sequence(&cell, "s");
        cell_do(&cell, "Move", "there");
        cell_position(&cell, "there", rows[i].x_m, rows[i].y_m);
        (void)cell_robot(&cell, "R1", 0, 1);
        struct team_prediction *tp = make_prediction(&cell);
        const struct team_pose origin = {0.0, 0.0, rows[i].heading_rad};
        const struct team_runs_options options = {.horizon_us = DAY_US};
        const struct team_effects nobody = {NULL, NULL};
        struct err_list errors = {0};
        struct team_run run;
        bool guessed = true;
        CHECK_INT("moves", team_predict_moves(tp, 0, &fit), STATUS_OK);
        team_predict_pose(tp, 0, &origin);
        CHECK_INT(rows[i].name,
                  team_runs_expect(tp, &options, &nobody, &run, &guessed, &errors),
                  rows[i].known ? STATUS_OK : STATUS_E_EMPTY);
        CHECK(rows[i].name, !rows[i].known || fabs(lab_s(run.makespan_us) - 4.01) < 0.001);
        CHECK(rows[i].name, !guessed);
        free(tp);
    }
    struct team_prediction *tp = make_prediction(&cell);
    CHECK_INT("few", travel_time_fit(moves, 4, TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, &fit),
              STATUS_OK);
    CHECK_INT("few", team_predict_moves(tp, 0, &fit), STATUS_E_EMPTY);
    free(tp);
}

/* Lets forecasts learn moves of a robot whose speeds walk; beta: the terms of its last move. */
static void learn_moves(struct random_source *random, size_t count, double walk,
                        double beta[TRAVEL_P], struct forecast *f, struct forecast_move *past)
{
    forecast_init(f);
    for (size_t k = 0; k < count; k++) {
        struct forecast_move *m = &past[k];
        struct forecast_made made = {0};
        struct forecast_outcome outcome[FORECAST_SIDES] = {{FORECAST_DONE, 0.0},
                                                           {FORECAST_NOT_ASKED, 0.0}};
        double x[TRAVEL_P];
        m->turn = k % 3 != 1 ? random_between(random, 0.3, 3.3) : 0.0;
        m->drive = k % 3 != 0 ? random_between(random, 0.2, 1.5) : 0.0;
        travel_row(m->turn, m->drive, x);
        outcome[0].lap_s = 0.02 * random_normal(random);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            beta[j] += j >= TRAVEL_INV_W ? walk * random_normal(random) : 0.0;
            outcome[0].lap_s += beta[j] * x[j];
        }
        forecast_predict(f, m->turn, m->drive, 1, &made, NULL);
        const unsigned started = forecast_learn(f, &made, m->turn, m->drive, outcome, m->lap_s);
        forecast_start(f, started, past, k + 1);
    }
}

/* A pair that has moved often gives its forecasts; the errors of a run's moves have a common
 * part. */
static void test_forecasts_give_the_laps(void)
{
    static const struct {
        const char *name;
        size_t moves;
        double walk, least_s, most_s; /* of the speeds; and of the width of P05 .. P95 */
        bool known;
    } rows[] = {{"noise alone", 120, 0.0, 0.1, 0.4, true},
                {"speeds that walk", 120, 0.004, 0.4, 4.0, true},
                {"few scores", 30, 0.0, 0.0, 0.0, false},
                {"few sequences", 36, 0.0, 0.0, 0.0, false}};
    const struct team_runs_options options = {
        .runs = 2000, .threads = 1, .seed = 3, .horizon_us = DAY_US};
    cell_start(&cell, "cell", TEAM_ORDERED);
    (void)cell_sequence(&cell, "s");
    cell_do(&cell, "Move", "there");
    cell_do(&cell, "Move", "back");
    cell_position(&cell, "there", 0.5, 0.0);
    cell_position(&cell, "back", 0.0, 0.0);
    (void)cell_robot(&cell, "R1", 0, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct random_source random = random_stream(5, i);
        struct forecast forecast;
        struct forecast_move past[FORECAST_WINDOW_MAX];
        double beta[TRAVEL_P] = {0.1, 0.05, 0.05, 1.0, 2.0};
        struct team_prediction *tp = make_prediction(&cell);
        const struct team_pose origin = {0.0, 0.0, 0.0};
        const struct forecast_past all = {&forecast, past, rows[i].moves};
        struct err_list errors = {0};
        struct team_runs runs;
        learn_moves(&random, rows[i].moves, rows[i].walk, beta, &forecast, past);
        team_predict_pose(tp, 0, &origin);
        team_predict_forecasts(tp, 0, &all, FORECAST_REAL_LAP);
        CHECK_INT(rows[i].name, team_runs_make(tp, &options, &runs, &errors),
                  rows[i].known ? STATUS_OK : STATUS_E_EMPTY);
        if (rows[i].known) {
            const double width_s = runs.makespan_s.p95.value - runs.makespan_s.p05.value;
            const double turn_s = beta[1] + 3.14159265358979 * beta[3];
            const double truth_s = 8.0 * (beta[0] + beta[2] + 0.5 * beta[4]) + 7.0 * turn_s;
            CHECK(rows[i].name, width_s > rows[i].least_s && width_s < rows[i].most_s);
            CHECK(rows[i].name, fabs(runs.makespan_s.p50.value - truth_s) < width_s);
            team_runs_free(&runs);
        }
        free(tp);
    }
}

/* ---- legs ---- */

static void test_legs(void)
{
    static const struct {
        const char *name;
        struct team_pose from;
        double to[3]; /* x_m, y_m, heading_rad */
        size_t count;
        struct team_leg legs[TEAM_LEGS_MAX];
        double heading_rad;
    } rows[] = {
        {"ahead", {0, 0, 0}, {2, 0, NAN}, 1, {{0, 2}}, 0},
        {"left", {1, 1, 0}, {1, 3, NAN}, 1, {{1.5707963267948966, 2}}, 1.5707963267948966},
        {"the short way round", {0, 0, 3}, {-1, -0.1, NAN}, 1, {{0.2413, 1.00499}}, -3.0419},
        {"and turn", {0, 0, 0}, {2, 0, 1}, 2, {{0, 2}, {1, 0}}, 1},
        {"there already", {2, 0, 1}, {2, 0, 1}, 0, {{0, 0}}, 1},
        {"only turn", {2, 0, 0}, {2, 0, 1}, 1, {{1, 0}}, 1}};
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct team_pose pose = rows[i].from;
        const struct team_position to = {
            .x_m = rows[i].to[0], .y_m = rows[i].to[1], .heading_rad = rows[i].to[2]};
        struct team_leg legs[TEAM_LEGS_MAX];
        CHECK_INT(rows[i].name, team_legs(&pose, &to, legs), rows[i].count);
        for (size_t k = 0; k < rows[i].count; k++) {
            CHECK_NEAR(rows[i].name, legs[k].rotation_rad, rows[i].legs[k].rotation_rad, 0,
                       1e-4);
            CHECK_NEAR(rows[i].name, legs[k].displacement_m, rows[i].legs[k].displacement_m, 0,
                       1e-4);
        }
        CHECK_NEAR(rows[i].name, pose.heading_rad, rows[i].heading_rad, 0, 1e-4);
        CHECK_NEAR(rows[i].name, pose.x_m, to.x_m, 0, 0);
    }
    struct team_pose nowhere = {NAN, NAN, NAN};
    const struct team_position to = {.x_m = 2.0, .heading_rad = (double)NAN};
    struct team_leg legs[TEAM_LEGS_MAX];
    CHECK_INT("from nowhere", team_legs(&nowhere, &to, legs), 1);
    CHECK("not known", isnan(legs[0].rotation_rad) && isnan(legs[0].displacement_m));
    CHECK_NEAR("there", nowhere.x_m, 2.0, 0, 0);
}

/* ---- random numbers ---- */

static void test_streams_and_chi_square(void)
{
    enum { N = 20000 };
    struct random_source a = random_stream(1, 0);
    struct random_source b = random_stream(1, 1);
    double sum = 0.0;
    for (size_t i = 0; i < N; i++) {
        sum += random_normal(&a) * random_normal(&b);
    }
    CHECK_NEAR("apart", sum / N, 0.0, 0.0, 4.0 / sqrt(N));
    static const uint32_t freedoms[] = {1, 2, 5, 31, 32, 33, 195};
    for (size_t i = 0; i < COUNT(freedoms); i++) {
        char row[16];
        double mean = 0.0;
        double square = 0.0;
        (void)snprintf(row, sizeof row, "chi2(%u)", freedoms[i]);
        for (size_t k = 0; k < N; k++) {
            const double x = random_chi_square(&a, freedoms[i]);
            mean += x / N;
            square += x * x / N;
        }
        const double f = freedoms[i];
        CHECK_NEAR(row, mean, f, 0.0, 4.0 * sqrt(2.0 * f / N));
        /* The tolerance comes from the variance's own: 8 f^2 + 48 f over N. */
        CHECK_NEAR(row, square - mean * mean, 2.0 * f, 0.0,
                   4.0 * sqrt((8.0 * f * f + 48.0 * f) / N));
    }
}

static void test_distribution(void)
{
    double values[101];
    struct team_distribution d;
    for (size_t i = 0; i < COUNT(values); i++) {
        values[i] = (double)((37 * i) % 101);
    }
    team_distribution_find(values, COUNT(values), &d);
    CHECK_NEAR("mean", d.mean.value, 50.0, 0, 1e-12);
    CHECK_NEAR("its error", d.mean.error, sqrt(101.0 * 102.0 / 12.0 / 101.0), 0, 1e-12);
    CHECK_NEAR("sd", d.sd.value, sqrt(101.0 * 102.0 / 12.0), 0, 1e-12);
    CHECK_NEAR("P05", d.p05.value, 5.0, 0, 1e-12);
    CHECK_NEAR("P50", d.p50.value, 50.0, 0, 1e-12);
    CHECK_NEAR("P95", d.p95.value, 95.0, 0, 1e-12);
    CHECK_NEAR("error of P50", d.p50.error, sqrt(101.0) / 2.0, 0, 1e-9);
    CHECK_NEAR("error of P95", d.p95.error, sqrt(101.0 * 0.05 * 0.95), 0, 1e-9);
    team_distribution_find(values, 1, &d);
    CHECK("of one", isnan(d.sd.value) && isnan(d.mean.error));
    CHECK_NEAR("of one", d.p05.value, 0.0, 0, 0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team_predict", NULL, NULL);
    CU_add_test(suite, "legs", test_legs);
    CU_add_test(suite, "streams and chi-square", test_streams_and_chi_square);
    CU_add_test(suite, "distribution", test_distribution);
    CU_add_test(suite, "the driver agrees with a recursion",
                test_driver_agrees_with_a_recursion);
    CU_add_test(suite, "makespans are those of the table",
                test_makespans_are_those_of_the_table);
    CU_add_test(suite, "one robot has a closed form", test_one_robot_has_a_closed_form);
    CU_add_test(suite, "threads change nothing", test_threads_change_nothing);
    CU_add_test(suite, "shares add up", test_shares_add_up);
    CU_add_test(suite, "meetings are waits", test_meetings_are_waits);
    CU_add_test(suite, "runs that do not finish", test_runs_that_do_not_finish);
    CU_add_test(suite, "endless runs end", test_endless_runs_end);
    CU_add_test(suite, "unknown times are named", test_unknown_times_are_named);
    CU_add_test(suite, "few laps are Student's", test_few_laps_are_students);
    CU_add_test(suite, "laps are not negative", test_laps_are_not_negative);
    CU_add_test(suite, "faster moves", test_faster_moves);
    CU_add_test(suite, "streams are each robot's own", test_streams_are_each_robots_own);
    CU_add_test(suite, "moves without a fit", test_moves_without_fit);
    CU_add_test(suite, "forecasts give the laps", test_forecasts_give_the_laps);
    return check_run();
}
