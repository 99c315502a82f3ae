/* needs: a minute, full */
/* Four moves of the differential-drive robot, a thousand robots: how far from the goal do they
 * end (docs/model/diffdrive.md)? `reference_` is what was computed independently, with another
 * generator; 0: it has none. TANDEM_RUNS: robots, default 200. */
#include "tests/support/campaign.h"

#include "base/numbers/constants.h"
#include "twin/sim/robot/diffdrive.h"
#include "twin/sim/robot/robot_kinds.h"

#define MISMATCH    0.05 /* standard deviation of a motor's gain */
#define SETTLE_S    0.6
#define GIVE_UP_S   60.0
#define RATIO_FLOOR 0.3 /* mm, below: one encoder count is 0.14 mm, the table rounds to 0.1 */

enum { RUNS_MAX = 1000, MOVES = 4 };

static const struct {
    double right_rad, way_m;
} moves[MOVES] = {{0.0, 1.0}, {PI / 2.0, 0.6}, {-PI / 4.0, 0.8}, {3.0 * PI / 4.0, 1.0}};

struct setting {
    const char *name;
    double controller, carry, kp, ki, kd, inverse_share, pd_base, taper_m, predictive,
        tolerance_deg;
};

/* clang-format off */
#define ONOFF    {"on-off",                     DIFFDRIVE_ONOFF,        DIFFDRIVE_CARRY_NOTHING, 0, 0, 0, 0.5, 80, 0, 0, 3}
#define INVERSE2 {"inverse map, twice too far", DIFFDRIVE_INVERSE_MAP,  DIFFDRIVE_CARRY_NOTHING, 0, 0, 0, 1.0, 80, 0, 0, 3}
#define INVERSE  {"inverse map",                DIFFDRIVE_INVERSE_MAP,  DIFFDRIVE_CARRY_NOTHING, 0, 0, 0, 0.5, 80, 0, 0, 3}
#define P        {"P",                          DIFFDRIVE_PROPORTIONAL, DIFFDRIVE_CARRY_NOTHING, 0, 0, 0, 0.5, 80, 0, 0, 3}
#define P_CARRY  {"P, angle carried over",      DIFFDRIVE_PROPORTIONAL, DIFFDRIVE_CARRY_ANGLE,   0, 0, 0, 0.5, 80, 0, 0, 3}
#define PD_PAPER {"PD 150/0.001",               DIFFDRIVE_PD, DIFFDRIVE_CARRY_NOTHING, 150, 0, 0.001, 0.5, 80, 0, 0, 3}
#define PD_SLOW  {"PD 150/0.001, base 40",      DIFFDRIVE_PD, DIFFDRIVE_CARRY_NOTHING, 150, 0, 0.001, 0.5, 40, 0, 0, 3}
#define PD_300   {"PD 300/15",                  DIFFDRIVE_PD, DIFFDRIVE_CARRY_NOTHING, 300, 0, 15, 0.5, 80, 0, 0, 3}
#define PID      {"PID, nothing carried over",  DIFFDRIVE_PID, DIFFDRIVE_CARRY_NOTHING, 300, 300, 15, 0.5, 80, 0.08, 1, 1}
#define PID_POSE {"PID, pose carried over",     DIFFDRIVE_PID, DIFFDRIVE_CARRY_POSE, 300, 300, 15, 0.5, 80, 0.08, 1, 1}

/* The reference's figures; 0: it gives none. A PID with the pose carried over corrects the
 * errors of earlier moves, so the error of a single move against its own start means
 * nothing. */
static const struct row {
    struct setting setting;
    int period_ms;
    double p50_mm, p95_mm, heading_deg_p95, chained_mm_p50, chained_mm_p95, time_s;
} rows[] = {
    {ONOFF,    25, 173.2, 584.7, 52.49, 671.5, 2191.1, 15.97},
    {INVERSE2, 25, 5.1, 7.2, 5.62, 88.1, 185.0, 22.68},
    {INVERSE,  25, 5.1, 7.2, 5.49, 84.3, 167.8, 22.58},
    {P,        25, 11.1, 14.8, 19.36, 306.7, 806.1, 16.22},
    {P_CARRY,  25, 67.8, 264.0, 14.30, 13.2, 26.2, 16.07},
    {PD_PAPER, 25, 5.3, 7.5, 8.21, 121.0, 354.6, 22.25},
    {PD_SLOW,  25, 2.1, 3.3, 7.82, 112.4, 340.2, 40.39},
    {PD_300,   25, 5.2, 7.4, 4.55, 68.0, 206.2, 22.25},
    {PID,      25, 0.8, 1.7, 2.43, 37.0, 80.2, 16.20},
    {PID_POSE, 25, 0, 0, 3.12, 0.8, 1.7, 16.20},
    {INVERSE,  12, 4.0, 5.3, 4.10, 63.5, 121.8, 22.60},
    {P,        12, 9.9, 13.7, 19.22, 310.9, 797.9, 16.16},
    {PID,      12, 0.6, 1.2, 2.44, 36.7, 77.5, 16.26},
    {PID_POSE, 12, 0, 0, 2.95, 0.5, 1.1, 16.26},
    {INVERSE,  31, 5.6, 8.3, 5.97, 94.9, 182.8, 22.57},
    {P,        31, 11.7, 15.7, 19.40, 309.7, 799.2, 16.28},
    {PID,      31, 1.0, 2.2, 2.48, 37.4, 82.1, 16.18},
    {PID_POSE, 31, 0, 0, 3.15, 0.9, 2.1, 16.18},
};
/* clang-format on */

struct errors {
    double move_mm[RUNS_MAX * MOVES], heading_deg[RUNS_MAX * MOVES];
    double chained_mm[RUNS_MAX], time_s[RUNS_MAX];
    unsigned unfinished;
};

static struct robot_reply last;
static unsigned replies;

static void record_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    last = *reply;
    replies++;
}

static void set_parameter(double *values, const char *name, double value)
{
    const int index = robot_parameter_find(&diffdrive_kind, name);
    CU_ASSERT_FATAL(index >= 0);
    CHECK(name, robot_value_fits(&diffdrive_parameters[index], value));
    values[index] = value;
}

static void begin_robot(struct diffdrive *d, const struct row *row, unsigned seed, unsigned run)
{
    const struct setting *s = &row->setting;
    struct random_source random = {.state = (uint64_t)seed << 32 | run};
    double values[ROBOT_PARAMETERS_MAX];
    robot_presets(&diffdrive_kind, values);
    set_parameter(values, "controller", s->controller);
    set_parameter(values, "carry", s->carry);
    set_parameter(values, "kp", s->kp);
    set_parameter(values, "ki", s->ki);
    set_parameter(values, "kd", s->kd);
    set_parameter(values, "inverse_share", s->inverse_share);
    set_parameter(values, "pd_base", s->pd_base);
    set_parameter(values, "taper_m", s->taper_m);
    set_parameter(values, "predictive_stop", s->predictive);
    set_parameter(values, "angle_tolerance_rad", s->tolerance_deg * PI / 180.0);
    set_parameter(values, "gain_left_ratio", 1.0 + MISMATCH * random_normal(&random));
    set_parameter(values, "gain_right_ratio", 1.0 + MISMATCH * random_normal(&random));
    const struct robot_setup setup = {.parameters = values,
                                      .seed = (uint64_t)seed << 40 | (uint64_t)run << 8 | 1,
                                      .period_us = (int64_t)row->period_ms * 1000};
    diffdrive_kind.init(d, &setup);
}

/* One go, and until the robot stands still; returns how long the go took. */
static double run_move(struct diffdrive *d, int k, struct errors *e)
{
    const struct event_command go = {
        .op = "go", .rotation_rad = -moves[k].right_rad, .displacement_m = moves[k].way_m};
    const unsigned before = replies;
    const int64_t since_us = d->now_us;
    CHECK("room", diffdrive_kind.command(d, &go));
    while (replies == before && (double)(d->now_us - since_us) < GIVE_UP_S * 1e6) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    CHECK_INT("one reply", replies, before + 1);
    e->unfinished += last.status != REPLY_DONE;
    for (int64_t rest_us = lab_us(SETTLE_S); rest_us > 0; rest_us -= d->period_us) {
        diffdrive_kind.step(d, record_reply, NULL);
    }
    return lab_s(last.end_us - last.start_us);
}

static void run_robot(const struct row *row, unsigned seed, unsigned run, struct errors *e)
{
    static struct diffdrive d;
    double ideal[3] = {0.0, 0.0, 0.0};
    begin_robot(&d, row, seed, run);
    e->time_s[run] = 0.0;
    for (int k = 0; k < MOVES; k++) {
        const double heading_rad = d.plant.pose[2] - moves[k].right_rad;
        const double goal_x_m = d.plant.pose[0] + moves[k].way_m * cos(heading_rad);
        const double goal_y_m = d.plant.pose[1] + moves[k].way_m * sin(heading_rad);
        ideal[2] -= moves[k].right_rad;
        ideal[0] += moves[k].way_m * cos(ideal[2]);
        ideal[1] += moves[k].way_m * sin(ideal[2]);
        e->time_s[run] += run_move(&d, k, e);
        const size_t i = (size_t)run * MOVES + (size_t)k;
        e->move_mm[i] = 1e3 * hypot(d.plant.pose[0] - goal_x_m, d.plant.pose[1] - goal_y_m);
        e->heading_deg[i] = fabs(robot_wrap_rad(d.plant.pose[2] - heading_rad)) * 180.0 / PI;
    }
    e->chained_mm[run] = 1e3 * hypot(d.plant.pose[0] - ideal[0], d.plant.pose[1] - ideal[1]);
    CHECK_INT("no fault", d.faults, 0);
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a;
    const double y = *(const double *)b;
    return (x > y) - (x < y);
}

static double find_percentile(double *values, size_t n, double share)
{
    qsort(values, n, sizeof *values, by_size);
    return values[(size_t)(share * (double)(n - 1) + 0.5)];
}

static void compare_values(const char *name, const char *what, double got, double want)
{
    char row[128];
    (void)snprintf(row, sizeof row, "%s: %s", name, what);
    if (want > 0.0) {
        CHECK_NEAR(row, got, want, 0.25, RATIO_FLOOR);
    }
}

static void test_moves(void)
{
    static struct errors e;
    const size_t runs = campaign.runs;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        const char *name = row->setting.name;
        e.unfinished = 0;
        for (unsigned run = 0; run < runs; run++) {
            run_robot(row, campaign.seed, run, &e);
        }
        const double got[] = {find_percentile(e.move_mm, runs * MOVES, 0.5),
                              find_percentile(e.move_mm, runs * MOVES, 0.95),
                              find_percentile(e.heading_deg, runs * MOVES, 0.95),
                              find_percentile(e.chained_mm, runs, 0.5),
                              find_percentile(e.chained_mm, runs, 0.95),
                              find_percentile(e.time_s, runs, 0.5)};
        const double want[] = {row->p50_mm,         row->p95_mm,         row->heading_deg_p95,
                               row->chained_mm_p50, row->chained_mm_p95, row->time_s};
        static const char *const what[] = {"move_p50_mm",     "move_p95_mm",
                                           "heading_p95_deg", "chained_p50_mm",
                                           "chained_p95_mm",  "time_p50_s"};
        campaign_row("moves", runs, "%s, %d ms", name, row->period_ms);
        for (size_t k = 0; k < COUNT(got); k++) {
            char reference[48];
            (void)snprintf(reference, sizeof reference, "reference_%s", what[k]);
            campaign_value(what[k], got[k]);
            campaign_value(reference, want[k]);
            compare_values(name, what[k], got[k], want[k]);
        }
        campaign_count("unfinished", e.unfinished, runs * MOVES);
        campaign_end();
        if ((int)row->setting.controller == DIFFDRIVE_PID && row->period_ms == 25) {
            const bool carries = (int)row->setting.carry == DIFFDRIVE_CARRY_POSE;
            CHECK(name, carries ? got[4] <= 2.0 : got[1] <= 2.0);
        }
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("diffdrive", 5, 200, RUNS_MAX);
    CU_ADD_TEST(suite, test_moves);
    return check_run();
}
