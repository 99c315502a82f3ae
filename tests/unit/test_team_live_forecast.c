/* Predictions of a working team: requested at its begin, computed, reported, compared with the
 * result; jobs; late predictions and other paths; the journal line. */
#include "tests/support/team_live_forecast.h"

#include <gsl/gsl_errno.h>

static struct rig rig;

/* Each activity takes its own time, with some scatter. */
static bool steady_lap(struct rig *r, uint16_t robot, const struct team_step *step, int64_t *us,
                       const char **status)
{
    static unsigned n;
    (void)r, (void)status;
    *us = 1000000 * (2 + (int64_t)step->task + robot) + 20000 * (int64_t)(n++ % 5);
    return true;
}

static void open_team(bool guesses)
{
    static struct team_nominal nominals[8];
    rig_init_text(&rig, FORECAST_TEAM);
    for (uint16_t k = 0; guesses && k < rig.spec.p.task_count; k++) {
        nominals[k] = (struct team_nominal){.robot = TEAM_NONE,
                                            .task = k,
                                            .arg = TEAM_NONE,
                                            .mean_us = 40000000,
                                            .sd_us = 100000 * k};
        rig.spec.p.nominals = nominals;
        rig.spec.p.nominal_count = k + 1U;
    }
    rig.lap = steady_lap;
    rig_open_lab(&rig);
    rig_queue(&rig, RIG_T0_US, "$lab/request",
              "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s\"}");
    rig_run_until(&rig, RIG_T0_US + 1000);
}

static void open_jobs(void)
{
    open_team(false);
}

static const struct team_live *get_live(void)
{
    return lab_team(rig.lab, 0);
}

/* Courses of four jobs, until laps of each kind are known. */
static void learn_courses(size_t courses)
{
    for (size_t k = 0; k < courses; k++) {
        rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 4);
        rig_run_forecasts(&rig);
    }
}

static void check_replay(void)
{
    static struct rig again;
    again = rig;
    again.plain = true;
    again.log = malloc(RIG_TEXT);
    again.trace = malloc(RIG_TEXT);
    again.log_used = again.trace_used = 0;
    CU_ASSERT_FATAL(again.log && again.trace);
    rig_open_lab(&again);
    for (size_t k = 0; k < rig.journal_count; k++) {
        rig_step(&again, &rig.journal[k]);
    }
    rig_tick(&again, lab_time(rig.lab));
    CHECK("the journal agrees", strcmp(again.log, rig.log) == 0);
    free(again.lab);
    free(again.log);
    free(again.trace);
}

static void test_jobs_and_courses(void)
{
    open_jobs();
    learn_courses(1);
    CHECK("nothing was known",
          strstr(get_live()->forecast.detail, "nothing says how long R1 takes for"));
    CHECK("not predicted",
          !get_live()->result.has_forecast && get_live()->judged_courses.predicted == 0);
    learn_courses(4);
    const struct team_live_result *last = &get_live()->result;
    CHECK_INT("courses", last->number, 5);
    CHECK("predicted", last->has_forecast && !last->disturbed);
    CHECK_NEAR("near what came", lab_s(last->predicted.p50_us), lab_s(last->real_us), 0.02, 0);
    CHECK("in order", last->predicted.p05_us <= last->predicted.p50_us &&
                          last->predicted.p50_us <= last->predicted.p95_us);
    CHECK_INT("jobs", get_live()->jobs_begun, 20);
    CHECK("jobs were judged",
          get_live()->judged_jobs.predicted >= 8 &&
              get_live()->judged_jobs.inside <= get_live()->judged_jobs.predicted);
    const struct team_live_job *job = team_live_find_job(get_live(), 20);
    CU_ASSERT_FATAL(job != NULL);
    CHECK("the last one", job->over && job->result.has_forecast && job->result.activities == 4);
    CHECK("with the twins", job->result.virtual_us != LAB_TIME_NONE &&
                                llabs(job->result.virtual_us - job->result.real_us) < 100000);
    CHECK("an older one", team_live_find_job(get_live(), 1) &&
                              !team_live_find_job(get_live(), 0) &&
                              !team_live_find_job(get_live(), 21));
    CHECK_INT("reported, and again with the twins' times", rig.jobs_reported, 40);
    CHECK("as JSON",
          strstr(rig.log, "\"predicted\":{\"p05_s\":") && strstr(rig.log, "\"inside\":true"));
    check_replay();
    rig_close(&rig);
}

/* Bars ahead: when they begin, in their order, and no more than are to come. */
static void test_bars_ahead(void)
{
    open_jobs();
    learn_courses(4);
    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 2);
    while (get_live()->forecast.asked == get_live()->forecast.received && rig_go_on(&rig)) {
    }
    CHECK("wanted", rig_forecast(&rig, 0));
    rig_run_until(&rig, lab_time(rig.lab) + FORECAST_AFTER_US);
    CHECK_INT("of two jobs", get_live()->forecast.bar_count, 8);
    for (uint16_t r = 0; r < 2; r++) {
        struct team_robot_view view;
        team_robot(team_live_team(get_live(), &rig.spec.p), r, &view);
        const uint32_t next = view.phase == TEAM_PHASE_ACTIVE ? view.n : view.n + 1;
        int64_t before_us = 0;
        for (uint32_t n = next; n < next + 4; n++) {
            const struct team_live_bar *bar = team_live_find_bar(get_live(), r, n);
            CU_ASSERT_FATAL(bar != NULL);
            CHECK("one after the other", bar->from_us >= before_us);
            CHECK("from, to", bar->from_us < bar->p05_us && bar->p05_us <= bar->p95_us);
            before_us = bar->p05_us;
        }
        CHECK("no more", !team_live_find_bar(get_live(), r, next + 4));
    }
    rig_run_forecasts(&rig);
    CHECK_INT("none is left", get_live()->forecast.bar_count, 0);
    rig_close(&rig);
}

/* An abort, a job that comes later, a forecast that comes too late or was not asked for. */
static void test_another_way(void)
{
    open_jobs();
    learn_courses(5);
    const struct team_live_judged before = get_live()->judged_courses;
    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 2);
    rig_run(&rig, 3);
    CHECK("wanted", rig_forecast(&rig, 0));
    rig_run_until(&rig, lab_time(rig.lab) + 1000000);
    CHECK("predicted", get_live()->course.has_forecast);
    const int64_t abort_us = lab_time(rig.lab) + 1000;
    rig_queue(&rig, abort_us, "$lab/request",
              "{\"team\":\"cell\",\"op\":\"abort\",\"robot\":\"R1\",\"id\":\"a1\"}");
    rig_queue(&rig, abort_us + 5000000, "$lab/request",
              "{\"team\":\"cell\",\"op\":\"reset\",\"robot\":\"R1\",\"id\":\"a2\"}");
    rig_run_until(&rig, abort_us + 1000);
    CHECK("its bars are forgotten", get_live()->forecast.bar_count <= 5);
    rig_run_forecasts(&rig);
    CHECK("it went another way",
          get_live()->result.disturbed && get_live()->result.has_forecast);
    CHECK_INT("neither inside nor not", team_live_result_inside(&get_live()->result), -1);
    CHECK_INT("not counted", get_live()->judged_courses.predicted, before.predicted);

    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 1);
    rig_run(&rig, 2);
    CHECK("wanted", rig_forecast(&rig, 0));
    rig_send_jobs(&rig, lab_time(rig.lab) + 2000000, 1);
    rig_run_forecasts(&rig);
    CHECK("a job came later", get_live()->result.has_forecast && get_live()->result.disturbed);
    CHECK("but the job itself is judged",
          team_live_result_inside(
              &team_live_find_job(get_live(), get_live()->jobs_begun)->result) >= 0);

    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 1);
    rig_run(&rig, 2);
    const int64_t began_us = lab_time(rig.lab);
    rig_run_until(&rig, began_us + 3000000);
    CHECK("made three seconds later", rig_forecast(&rig, 0));
    rig_run_forecasts(&rig);
    CHECK("is none of its beginning", !get_live()->result.has_forecast);
    rig_close(&rig);
}

/* Lines that are no forecast, or belong to another request. */
static void test_lines(void)
{
    static const struct {
        const char *row, *payload;
        bool fine;
    } rows[] = {
        {"no number", "{\"team\":\"cell\",\"t\":1}", false},
        {"number 0", "{\"team\":\"cell\",\"t\":1,\"number\":0}", false},
        {"not in order", "{\"team\":\"cell\",\"t\":1,\"number\":1,\"end\":[3,2,4]}", false},
        {"two of three", "{\"team\":\"cell\",\"t\":1,\"number\":1,\"end\":[3,4]}", false},
        {"four", "{\"team\":\"cell\",\"t\":1,\"number\":1,\"end\":[3,4,5,6]}", false},
        {"a robot's number", "{\"team\":\"cell\",\"t\":1,\"number\":1,\"jobs\":[[1,1,1,2,3]]}",
         false},
        {"a bar without task",
         "{\"team\":\"cell\",\"t\":1,\"number\":1,\"bars\":[[\"R1\",1,2,3,4]]}", false},
        {"a time that is none",
         "{\"team\":\"cell\",\"t\":1,\"number\":1,\"bars\":[[\"R1\",1,\"Pick\",1e300,3,4]]}",
         false},
        {"no request", "{\"team\":\"cell\",\"t\":1,\"number\":9,\"end\":[1,2,3]}", true},
        {"strangers",
         "{\"team\":\"cell\",\"t\":1000,\"number\":1,\"runs\":200,\"jobs\":[[\"R9\",1,1,2,3]],"
         "\"bars\":[[\"R9\",1,\"Pick\",1,2,3],[\"R1\",1,\"Fly\",1,2,3]],\"detail\":\"why\"}",
         true},
    };
    open_jobs();
    rig_send_jobs(&rig, RIG_T0_US + 1000000, 1);
    rig_run(&rig, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t malformed = get_live()->counts.malformed;
        const int64_t t_us = lab_time(rig.lab) + 1;
        rig_queue(&rig, t_us, "$lab/forecast", rows[i].payload);
        rig_run_until(&rig, t_us);
        CHECK_INT(rows[i].row, get_live()->counts.malformed, malformed + !rows[i].fine);
        CHECK_INT(rows[i].row, get_live()->forecast.received, i + 1 == COUNT(rows));
        CHECK(rows[i].row,
              !get_live()->course.has_forecast && get_live()->forecast.bar_count == 0);
    }
    CHECK_TEXT("and why", get_live()->forecast.detail, "why");
    rig_close(&rig);
}

/* Durations of the file are guesses: no interval, not judged; learnt times replace them while
 * the course runs. */
static void test_guesses(void)
{
    open_team(true);
    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 2);
    rig_run_forecasts(&rig);
    const struct team_live_result *last = &get_live()->result;
    CHECK("a guess", last->has_forecast && last->predicted.p50_us > 100 * 1000000);
    CHECK_INT("without interval", last->predicted.p05_us, last->predicted.p95_us);
    CHECK_INT("not judged", team_live_result_inside(last), -1);
    CHECK_INT("no course counts", get_live()->judged_courses.predicted, 0);
    CHECK_INT("no job counts", get_live()->judged_jobs.predicted, 0);
    CHECK("null in JSON", strstr(rig.log, "\"predicted\":{\"p05_s\":null,\"p50_s\":") != NULL);

    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 20);
    rig_run_forecasts(&rig);
    CHECK("predicted again", last->has_forecast && last->late_us > 1000000);
    CHECK("with an interval", last->predicted.p05_us < last->predicted.p95_us);
    CHECK_NEAR("near what came", lab_s(last->predicted.p50_us), lab_s(last->real_us), 0.05, 0);
    CHECK_INT("late, so not judged", team_live_result_inside(last), -1);
    CHECK("says so", strstr(rig.log, "\"after_s\":") != NULL);
    CHECK("later jobs count", get_live()->judged_jobs.predicted > 0);

    rig_send_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 4);
    rig_run_forecasts(&rig);
    CHECK_INT("the next course is judged", get_live()->judged_courses.predicted, 1);
    rig_close(&rig);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("team forecast", NULL, NULL);
    CU_add_test(suite, "jobs and courses", test_jobs_and_courses);
    CU_add_test(suite, "bars ahead", test_bars_ahead);
    CU_add_test(suite, "another way", test_another_way);
    CU_add_test(suite, "guesses of the file", test_guesses);
    CU_add_test(suite, "lines", test_lines);
    return check_run();
}
