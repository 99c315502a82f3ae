/* short: TANDEM_RUNS=1 */
/* How often is the time that a team took within the P05..P95 that was predicted when it began?
 * Labs of known truth: each learns from a few courses and is judged by the next ones
 * (docs/model/teams.md). TANDEM_RUNS: labs, default 40. */
#include "tests/support/campaign.h"
#include "tests/support/team_live_forecast.h"

#include "base/numbers/random.h"

enum { JOBS = 6, LEARNT = 4, JUDGED = 3 };

static struct random_source random_laps;
static double mean_s[2][8], sd_s[2][8];

static bool random_lap(struct rig *rig, uint16_t robot, const struct team_step *step,
                       int64_t *us, const char **status)
{
    const size_t kind = 2U * step->task + (step->arg % 2U);
    (void)rig, (void)status;
    CU_ASSERT_FATAL(kind < 8);
    *us = lab_us(
        fmax(mean_s[robot][kind] + sd_s[robot][kind] * random_normal(&random_laps), 0.01));
    return true;
}

static void forget_commands(struct rig *rig)
{
    rig->journal_count = rig->log_used = rig->trace_used = 0;
}

struct tally {
    unsigned courses, courses_inside, jobs, jobs_inside;
};

static void judge_lab(uint64_t seed, uint64_t number, struct tally *tally)
{
    static struct rig rig;
    random_laps = random_stream(seed, number);
    for (size_t r = 0; r < 2; r++) {
        for (size_t k = 0; k < 8; k++) {
            mean_s[r][k] = random_between(&random_laps, 2.0, 8.0);
            sd_s[r][k] = mean_s[r][k] * random_between(&random_laps, 0.01, 0.1);
        }
    }
    rig_init_text(&rig, FORECAST_TEAM);
    rig.lap = random_lap;
    rig_open_lab(&rig);
    rig_queue(&rig, RIG_T0_US, "$lab/request",
              "{\"team\":\"cell\",\"op\":\"start\",\"id\":\"s\"}");
    rig_run_until(&rig, RIG_T0_US + 1000);
    const struct team_live *live = lab_team(rig.lab, 0);
    struct team_live_judged courses = {0, 0}, jobs = {0, 0};
    for (size_t k = 0; k < LEARNT + JUDGED; k++) {
        if (k == LEARNT) {
            courses = live->judged_courses;
            jobs = live->judged_jobs;
        }
        rig_send_jobs(&rig, lab_time(rig.lab) + 10000000, JOBS);
        rig_run_forecasts(&rig);
        forget_commands(&rig);
    }
    CHECK_INT("each course was predicted", live->judged_courses.predicted - courses.predicted,
              JUDGED);
    CHECK_INT("each job was predicted", live->judged_jobs.predicted - jobs.predicted,
              JUDGED * JOBS);
    tally->courses += (unsigned)(live->judged_courses.predicted - courses.predicted);
    tally->courses_inside += (unsigned)(live->judged_courses.inside - courses.inside);
    tally->jobs += (unsigned)(live->judged_jobs.predicted - jobs.predicted);
    tally->jobs_inside += (unsigned)(live->judged_jobs.inside - jobs.inside);
    rig_close(&rig);
}

/* The probability of this count or fewer, and of this count or more, if the true share is
 * within 85 .. 95 %. */
static void check_share(const char *row, unsigned inside, unsigned n)
{
    campaign_row("predictions", campaign.runs, "%s", row);
    campaign_count("inside", inside, n);
    campaign_end();
    CHECK(row, campaign_is_enough(inside, n, 0.85));
    CHECK(row, campaign_is_few(inside, n, 0.95));
}

static void test_prediction_holds(void)
{
    struct tally tally = {0, 0, 0, 0};
    for (size_t k = 0; k < campaign.runs; k++) {
        judge_lab(campaign.seed, k, &tally);
    }
    check_share("courses", tally.courses_inside, tally.courses);
    check_share("jobs", tally.jobs_inside, tally.jobs);
}

int main(void)
{
    CU_pSuite suite = campaign_open("team_live_coverage", 7, 40, 0);
    CU_add_test(suite, "what was predicted holds", test_prediction_holds);
    return check_run();
}
