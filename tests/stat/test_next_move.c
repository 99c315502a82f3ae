/* short: TANDEM_RUNS=10 */
/* How many moves a plan needs (docs/forecast.md), against the random moves of `tandem drive`,
 * whether it leaves its room, and whether it stops if the law of travel times does not hold.
 * TANDEM_RUNS: robots a row. */
#include "tests/support/campaign.h"

#include <gsl/gsl_statistics_double.h>

#include "base/numbers/constants.h"
#include "identification/travel/next_move.h"
#include "tests/support/travel_truth.h"

enum { MOVES_MAX = 400, LAW_MOVES = 36, LEFT_EVERY = 5, RUNS_MAX = 2000 };

static const double LAP[TRAVEL_P] = {0.06, 0.12, 0.16, 1.0 / 1.2, 1.0 / 0.5};
static const double SPEED[2] = {1.2, 0.5};
static const double ACCELERATION[2] = {2.0, 0.5};
static const double PAUSE_S = 0.2;

static uint64_t state;
static struct move_plan plan;
static bool left_known[MOVES_MAX]; /* after each move of the last plan */
static size_t left_range[MOVES_MAX][2];

/* ---- robots ---- */

struct robot {
    bool accelerates;
    double sd_s, pose[3];
};

/* How one robot was driven. */
struct run {
    size_t moves, outside;
    double seconds;
    enum move_plan_stop stop;
};

static double accelerated_s(double size, double speed, double acceleration)
{
    return size > speed * speed / acceleration ? size / speed + speed / acceleration
                                               : 2.0 * sqrt(size / acceleration);
}

static double lap_s(struct robot *robot, double rotation, double displacement)
{
    double x[TRAVEL_P];
    double lap = 0.0;
    travel_row(rotation, displacement, x);
    for (size_t j = 0; j < TRAVEL_P; j++) {
        lap += x[j] * LAP[j];
    }
    if (robot->accelerates) {
        lap = LAP[TRAVEL_T0] + accelerated_s(fabs(rotation), SPEED[0], ACCELERATION[0]) +
              accelerated_s(displacement, SPEED[1], ACCELERATION[1]);
    }
    robot->pose[2] += rotation;
    robot->pose[0] += displacement * cos(robot->pose[2]);
    robot->pose[1] += displacement * sin(robot->pose[2]);
    return lap + robot->sd_s * truth_normal(&state);
}

static bool is_inside(const struct next_move_aim *aim, const double pose[3])
{
    bool inside = true;
    for (size_t k = 0; k < 2 && aim->bounded; k++) {
        inside = inside && aim->room_m[0][k] - 1e-9 <= pose[k] &&
                 pose[k] <= aim->room_m[1][k] + 1e-9;
    }
    return inside;
}

/* The first guesses of the speeds are wrong by a quarter. */
static struct run follow_plan(const struct next_move_aim *aim, struct robot robot, size_t most)
{
    struct run run = {.stop = MOVE_PLAN_GOES_ON};
    struct next_move move;
    move_plan_start(&plan, aim, SPEED[0] * exp(0.25 * truth_normal(&state)),
                    SPEED[1] * exp(0.25 * truth_normal(&state)));
    while ((run.stop = move_plan_next(&plan, robot.pose, &move)) == MOVE_PLAN_GOES_ON &&
           run.moves < most) {
        const double lap = lap_s(&robot, move.rotation_rad, move.displacement_m);
        const struct travel_move done = {move.rotation_rad, move.displacement_m, lap};
        move_plan_add(&plan, &done, false);
        run.moves++;
        run.seconds += lap + PAUSE_S;
        run.outside += !is_inside(aim, robot.pose);
        left_known[run.moves - 1] =
            run.moves % LEFT_EVERY == 0 &&
            next_move_left_range(&plan.known,
                                 next_move_left(&plan.aim, &plan.known, plan.counter),
                                 left_range[run.moves - 1]);
    }
    return run;
}

/* The moves of `tandem drive`: three turn, three drive, three do both, of each a short, a
 * middle and a long one, in random order. It stops as soon as a plan would, with the spread of
 * laps known. */
static struct run drive_randomly(const struct next_move_aim *aim, struct robot robot)
{
    struct run run = {.stop = MOVE_PLAN_GOES_ON};
    struct next_move_known known;
    struct next_move unused;
    unsigned order[9];
    next_move_start(&known, SPEED[0], SPEED[1]);
    known.lap_s_sd = robot.sd_s;
    memcpy(known.beta, LAP, sizeof known.beta);
    while (run.moves < MOVES_MAX) {
        for (unsigned i = 0; run.moves % 9 == 0 && i < 9; i++) {
            const size_t at = truth_below(&state, i + 1);
            order[i] = order[at];
            order[at] = i;
        }
        const unsigned kind = order[run.moves % 9] % 3;
        const double third = order[run.moves % 9] / 3;
        const double rotation = kind == 1 ? 0.0 : 0.3 + 0.9 * (third + truth_uniform(&state));
        const double displacement =
            kind == 0 ? 0.0 : 0.1 + 0.3 * (third + truth_uniform(&state));
        run.seconds += lap_s(&robot, rotation, displacement) + PAUSE_S;
        next_move_add(&known, rotation, displacement);
        run.moves++;
        if (next_move_find(aim, &known, robot.pose, 0, &unused) == NEXT_MOVE_REACHED) {
            run.stop = MOVE_PLAN_REACHED;
            break;
        }
    }
    return run;
}

/* ---- tables ---- */

static int compare_numbers(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, size_t n)
{
    qsort(values, n, sizeof *values, compare_numbers);
    return gsl_stats_median_from_sorted_data(values, 1, n);
}

/* Compares a plan with random moves; returns the ratio of the medians of their moves. */
static double compare_moves(const char *name, const struct next_move_aim *aim)
{
    static double moves[2][RUNS_MAX];
    static double seconds[2][RUNS_MAX];
    size_t reached[2] = {0};
    size_t law = 0;
    size_t ranges = 0;
    size_t held = 0;
    size_t outside = 0;
    double median[2];
    for (size_t k = 0; k < campaign.runs; k++) {
        const struct robot robot = {.sd_s = 0.05};
        const struct run runs[2] = {follow_plan(aim, robot, MOVES_MAX),
                                    drive_randomly(aim, robot)};
        for (size_t i = 0; i < 2; i++) {
            moves[i][k] = (double)runs[i].moves;
            seconds[i][k] = runs[i].seconds;
            reached[i] += runs[i].stop == MOVE_PLAN_REACHED;
        }
        law += runs[0].stop == MOVE_PLAN_LAW;
        for (size_t i = 0; runs[0].stop == MOVE_PLAN_REACHED && i < runs[0].moves; i++) {
            const size_t more = runs[0].moves - 1 - i;
            ranges += left_known[i];
            held += left_known[i] && left_range[i][0] <= more && more <= left_range[i][1];
        }
        outside += runs[0].outside;
    }
    campaign_row("moves", campaign.runs, "%s", name);
    for (size_t i = 0; i < 2; i++) {
        median[i] = median_of(moves[i], campaign.runs);
        campaign_value(i ? "drive_moves" : "plan_moves", median[i]);
        campaign_value(i ? "drive_s" : "plan_s", median_of(seconds[i], campaign.runs));
        campaign_count(i ? "drive_reached" : "plan_reached", reached[i], campaign.runs);
    }
    campaign_count("law", law, campaign.runs);
    campaign_value("outside", (double)outside);
    campaign_count("left_held", held, ranges);
    campaign_end();
    CHECK_INT(name, reached[0] + law, campaign.runs);
    CHECK(name, campaign_is_few(law, campaign.runs, 0.05));
    CHECK_INT(name, outside, 0);
    /* 0.9 within three standard deviations of chance: a short run has 50 ranges */
    CHECK(name, (double)held >= 0.9 * (double)ranges - 3.0 * sqrt(0.09 * (double)ranges));
    return median[1] / median[0];
}

static void test_goal(void)
{
    struct next_move_aim aim;
    next_move_aim_start(&aim, 0.02);
    CHECK("goal", compare_moves("speeds to 2 %", &aim) >= 3.0);
}

static void test_room(void)
{
    static const double room_m[2][2] = {{-1.2, -1.0}, {1.2, 1.0}};
    struct next_move_aim aim;
    next_move_aim_start(&aim, 0.02);
    aim.bounded = true;
    memcpy(aim.room_m, room_m, sizeof room_m);
    CHECK("room", compare_moves("speeds to 2 %, 2.4 m x 2 m", &aim) >= 2.0);
}

static void test_mission(void)
{
    static const double moves[][2] = {{PI / 2.0, 0.5}, {PI / 2.0, 0.5}, {PI / 2.0, 0.5},
                                      {PI / 2.0, 0.5}, {0.0, 0.3},      {0.0, 0.3},
                                      {PI / 4.0, 0.0}, {PI / 4.0, 0.0}, {PI / 4.0, 0.0}};
    struct next_move_aim aim;
    next_move_aim_start(&aim, (double)NAN);
    aim.mission = true;
    aim.half_s = 0.15;
    for (size_t i = 0; i < sizeof moves / sizeof *moves; i++) {
        double x[TRAVEL_P];
        travel_row(moves[i][0], moves[i][1], x);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            aim.mission_row[j] += x[j];
        }
    }
    CHECK("mission", compare_moves("mission of nine moves to 0.15 s", &aim) >= 1.0);
}

/* Counts the plans of 36 moves that the law's check stops. */
static size_t count_stops(const char *name, bool accelerates)
{
    struct next_move_aim aim;
    size_t stops = 0;
    next_move_aim_start(&aim, 0.001);
    for (size_t k = 0; k < campaign.runs; k++) {
        const struct robot robot = {.accelerates = accelerates, .sd_s = 0.03};
        stops += follow_plan(&aim, robot, LAW_MOVES).stop == MOVE_PLAN_LAW;
    }
    campaign_row("law", campaign.runs, "%s", name);
    campaign_count("stopped", stops, campaign.runs);
    campaign_end();
    return stops;
}

static void test_law(void)
{
    const size_t right = count_stops("constant speeds", false);
    const size_t wrong = count_stops("accelerates by 2 rad/s2, 0.5 m/s2", true);
    CHECK("right", campaign_is_few(right, campaign.runs, 0.05));
    CHECK("wrong", campaign_is_enough(wrong, campaign.runs, 0.95));
}

int main(void)
{
    CU_pSuite suite = campaign_open("next_move", 1, 40, RUNS_MAX);
    state = 0x9e3779b97f4a7c15U * (campaign.seed + 1);
    (void)CU_add_test(suite, "goal", test_goal);
    (void)CU_add_test(suite, "room", test_room);
    (void)CU_add_test(suite, "mission", test_mission);
    (void)CU_add_test(suite, "law", test_law);
    return check_run();
}
