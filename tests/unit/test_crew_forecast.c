/* What a team at work will do, foretold when it begins: asked for, made, told, held against
 * what came; jobs; what was foretold too late, or of another way; its line in the journal. */
#include "tests/support/crew_foretell.h"

#include <gsl/gsl_errno.h>

static struct rig rig;

/* Each takes its own time, a little more or less each time. */
static bool steady_lap(struct rig *r, uint16_t robot, const struct team_step *step, int64_t *us,
                       const char **status)
{
    static unsigned n;
    (void)r, (void)status;
    *us = 1000000 * (2 + (int64_t)step->task + robot) + 20000 * (int64_t)(n++ % 5);
    return true;
}

static void open_jobs(void)
{
    rig_init_text(&rig, FORETELL_TEAM);
    rig.lap = steady_lap;
    rig_open_lab(&rig);
    rig_say(&rig, RIG_T0_US, "$lab/request",
            "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s\"}");
    rig_run_until(&rig, RIG_T0_US + 1000);
}

static const struct crew *crew(void)
{
    return lab_team(rig.lab, 0);
}

/* Courses of four jobs, until laps of each kind are known. */
static void learn(size_t courses)
{
    for (size_t k = 0; k < courses; k++) {
        foretell_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 4);
        foretell_run(&rig);
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
        rig_take(&again, &rig.journal[k]);
    }
    rig_tick(&again, lab_time(rig.lab));
    CHECK("the journal says the same", strcmp(again.log, rig.log) == 0);
    free(again.lab);
    free(again.log);
    free(again.trace);
}

static void test_jobs_and_courses(void)
{
    open_jobs();
    learn(1);
    CHECK("nothing was known",
          strstr(crew()->forecast.detail, "nothing says how long R1 takes for"));
    CHECK("not foretold", !crew()->result.foretold && crew()->judged_courses.foretold == 0);
    learn(4);
    const struct crew_result *last = &crew()->result;
    CHECK_INT("courses", last->number, 5);
    CHECK("foretold", last->foretold && !last->disturbed);
    CHECK_NEAR("near what came", lab_s(last->predicted.p50_us), lab_s(last->real_us), 0.02, 0);
    CHECK("in order", last->predicted.p05_us <= last->predicted.p50_us &&
                          last->predicted.p50_us <= last->predicted.p95_us);
    CHECK_INT("jobs", crew()->jobs_begun, 20);
    CHECK("jobs were judged", crew()->judged_jobs.foretold >= 8 &&
                                  crew()->judged_jobs.inside <= crew()->judged_jobs.foretold);
    const struct crew_job *job = crew_find_job(crew(), 20);
    CU_ASSERT_FATAL(job != NULL);
    CHECK("the last one", job->over && job->result.foretold && job->result.activities == 4);
    CHECK("with the twins", job->result.virtual_us != LAB_TIME_NONE &&
                                llabs(job->result.virtual_us - job->result.real_us) < 100000);
    CHECK("an older one",
          crew_find_job(crew(), 1) && !crew_find_job(crew(), 0) && !crew_find_job(crew(), 21));
    CHECK_INT("told, and again with the twins' times", rig.jobs_told, 40);
    CHECK("as JSON",
          strstr(rig.log, "\"predicted\":{\"p05_s\":") && strstr(rig.log, "\"inside\":true"));
    check_replay();
    rig_close(&rig);
}

/* Bars ahead: when they begin, in their order, and no more than are to come. */
static void test_bars_ahead(void)
{
    open_jobs();
    learn(4);
    foretell_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 2);
    while (crew()->forecast.asked == crew()->forecast.told && rig_go_on(&rig)) {
    }
    CHECK("wanted", foretell(&rig, 0));
    rig_run_until(&rig, lab_time(rig.lab) + FORETOLD_AFTER_US);
    CHECK_INT("of two jobs", crew()->forecast.bar_count, 8);
    for (uint16_t r = 0; r < 2; r++) {
        struct team_robot_view view;
        team_robot(crew_team(crew(), &rig.spec.p), r, &view);
        const uint32_t next = view.phase == TEAM_PHASE_ACTIVE ? view.n : view.n + 1;
        int64_t before_us = 0;
        for (uint32_t n = next; n < next + 4; n++) {
            const struct crew_bar *bar = crew_find_bar(crew(), r, n);
            CU_ASSERT_FATAL(bar != NULL);
            CHECK("one after the other", bar->from_us >= before_us);
            CHECK("from, to", bar->from_us < bar->p05_us && bar->p05_us <= bar->p95_us);
            before_us = bar->p05_us;
        }
        CHECK("no more", !crew_find_bar(crew(), r, next + 4));
    }
    foretell_run(&rig);
    CHECK_INT("none is left", crew()->forecast.bar_count, 0);
    rig_close(&rig);
}

/* An abort, a job that comes later, a forecast that comes too late or was not asked for. */
static void test_another_way(void)
{
    open_jobs();
    learn(5);
    const struct crew_judged before = crew()->judged_courses;
    foretell_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 2);
    rig_run(&rig, 3);
    CHECK("wanted", foretell(&rig, 0));
    rig_run_until(&rig, lab_time(rig.lab) + 1000000);
    CHECK("foretold", crew()->course.foretold);
    const int64_t abort_us = lab_time(rig.lab) + 1000;
    rig_say(&rig, abort_us, "$lab/request",
            "{\"team\":\"cell\",\"op\":\"abort\",\"robot\":\"R1\",\"id\":\"a1\"}");
    rig_say(&rig, abort_us + 5000000, "$lab/request",
            "{\"team\":\"cell\",\"op\":\"reset\",\"robot\":\"R1\",\"id\":\"a2\"}");
    rig_run_until(&rig, abort_us + 1000);
    CHECK("its bars are forgotten", crew()->forecast.bar_count <= 5);
    foretell_run(&rig);
    CHECK("it went another way", crew()->result.disturbed && crew()->result.foretold);
    CHECK_INT("neither inside nor not", crew_result_inside(&crew()->result), -1);
    CHECK_INT("not counted", crew()->judged_courses.foretold, before.foretold);

    foretell_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 1);
    rig_run(&rig, 2);
    CHECK("wanted", foretell(&rig, 0));
    foretell_jobs(&rig, lab_time(rig.lab) + 2000000, 1);
    foretell_run(&rig);
    CHECK("a job came later", crew()->result.foretold && crew()->result.disturbed);
    CHECK("but the job itself is judged",
          crew_result_inside(&crew_find_job(crew(), crew()->jobs_begun)->result) >= 0);

    foretell_jobs(&rig, lab_time(rig.lab) + RIG_T0_US / 100, 1);
    rig_run(&rig, 2);
    const int64_t began_us = lab_time(rig.lab);
    rig_run_until(&rig, began_us + 3000000);
    CHECK("made three seconds later", foretell(&rig, 0));
    foretell_run(&rig);
    CHECK("is none of its beginning", !crew()->result.foretold);
    rig_close(&rig);
}

/* What is no forecast, or of another wish. */
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
        {"nobody asked", "{\"team\":\"cell\",\"t\":1,\"number\":9,\"end\":[1,2,3]}", true},
        {"strangers",
         "{\"team\":\"cell\",\"t\":1000,\"number\":1,\"runs\":200,\"jobs\":[[\"R9\",1,1,2,3]],"
         "\"bars\":[[\"R9\",1,\"Pick\",1,2,3],[\"R1\",1,\"Fly\",1,2,3]],\"detail\":\"why\"}",
         true},
    };
    open_jobs();
    foretell_jobs(&rig, RIG_T0_US + 1000000, 1);
    rig_run(&rig, 4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        const uint64_t malformed = crew()->counts.malformed;
        const int64_t t_us = lab_time(rig.lab) + 1;
        rig_say(&rig, t_us, "$lab/forecast", rows[i].payload);
        rig_run_until(&rig, t_us);
        CHECK_INT(rows[i].row, crew()->counts.malformed, malformed + !rows[i].fine);
        CHECK_INT(rows[i].row, crew()->forecast.told, i + 1 == COUNT(rows));
        CHECK(rows[i].row, !crew()->course.foretold && crew()->forecast.bar_count == 0);
    }
    CHECK_TEXT("and why", crew()->forecast.detail, "why");
    rig_close(&rig);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("crew forecast", NULL, NULL);
    CU_add_test(suite, "jobs and courses", test_jobs_and_courses);
    CU_add_test(suite, "bars ahead", test_bars_ahead);
    CU_add_test(suite, "another way", test_another_way);
    CU_add_test(suite, "lines", test_lines);
    return check_run();
}
