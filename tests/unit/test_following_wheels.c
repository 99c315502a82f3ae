/* short: 'TANDEM_WITHOUT=stays where the real one is' */
/* A simulated robot on wheels follows a real one, with wrong parameters of both: it stays at
 * the real one's place for any time. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "identification/model/models.h"
#include "twin/following/pair_following.h"

enum { AXES = 2, POSE = 3, TICK_US = 10000, SAMPLE_TICKS = 2 };

/* A lab robot, 0.5 m/s; others are that many times as large and as fast. */
static const double ROBOT[] = {0.25, 0.18, 0.03, 1.05, 0.15, 1.08};

struct course {
    const char *name;
    double size;     /* of the robots and their way */
    double speed;    /* of the command, m/s at size 1; below 0: backwards */
    double mismatch; /* of all that is known of both */
    double offset_m; /* the simulated robot is moved so far when they have begun, at size 1 */
    double latency_s;
    double noise; /* of pose and velocity, at size 1 */
    enum shadow_method method;
    double seconds;
    double within_m; /* from a minute on, at size 1 */
};

/* Scales a robot: lengths grow, times stay. */
static void scale_robot(double size, double mismatch, double *theta)
{
    memcpy(theta, ROBOT, sizeof ROBOT);
    theta[2] *= size; /* s m/rad^2 */
    theta[4] /= size; /* s/m */
    for (size_t k = 0; k < COUNT(ROBOT); k++) {
        theta[k] *= 1.0 + (k % 2 ? -mismatch : mismatch);
    }
}

static struct following_params make_params(const struct course *c)
{
    struct following_params p = {.follower = {.model = model_find("diffdrive")}};
    struct follower_gains *gains = &p.follower.gains;
    *gains = (struct follower_gains){.bandwidth_radps = {5.0, 5.0},
                                     .rejection = FOLLOWER_OBSERVER,
                                     .observer_radps = 8.0,
                                     .pose_per_s2 = -1.0,
                                     .slow_mps = 0.05 * c->size,
                                     .blend_s = 0.5};
    p.follower.period_s = 1e-6 * TICK_US;
    allocation_direct(&p.follower.allocation, AXES, (double[AXES]){2.0 * c->size, 8.0});
    follower_gains_complete(&p.follower);
    scale_robot(c->size, c->mismatch, p.follower.theta);
    shadow_params_default(&p.real);
    p.real.model = p.follower.model;
    p.real.axes = AXES;
    p.real.method = c->method;
    memcpy(p.real.theta, p.follower.theta, sizeof p.real.theta);
    p.simulated = p.real;
    p.simulated.method = SHADOW_MODEL;
    p.simulated.drift_per_s = 1e4;
    p.simulated.blend_s = 0.0;
    p.fidelity = (struct fidelity_params){
        .model = p.follower.model, .window_us = 60000000, .target_m = 0.05, .target_us = 50000};
    return p;
}

/* Straight on, bends, turns on the spot and rests, over and over. */
static void command_force(const struct course *c, double t_s, double applied[AXES])
{
    const int part = (int)(t_s / 5.0) % 6;
    static const double ahead[] = {1.0, 1.0, 0.5, 0.0, 1.0, 0.0};
    static const double turn[] = {0.0, 0.8, -1.0, 1.2, 0.1, 0.0};
    applied[0] = ahead[part] * c->speed * c->size;
    applied[1] = turn[part];
}

/* Telemetry of a robot that was under way for a while. */
struct published {
    double nu[AXES], tau[AXES], pose[POSE];
};

enum { LATE_MAX = 64 };

struct scenario {
    const struct course *course;
    struct following f;
    struct following_params p;
    struct published published[LATE_MAX]; /* ring, by ticks */
    double nu[SIDE_COUNT][AXES], pose[SIDE_COUNT][POSE], tau[AXES];
    struct random_source random;
    double apart_m; /* largest */
    double last_m;
    bool deaf; /* to the real one */
};

static void add_noise(struct scenario *s, double *values, size_t n)
{
    const double sd = s->course->noise * s->course->size;
    for (size_t i = 0; i < n; i++) {
        values[i] += sd > 0.0 ? sd * random_normal(&s->random) : 0.0;
    }
}

static void feed_telemetry(struct scenario *s, int tick, int64_t now_us)
{
    const int late = (int)lround(s->course->latency_s / (1e-6 * TICK_US));
    struct published real = s->published[(tick + LATE_MAX - late) % LATE_MAX];
    struct published simulated;
    add_noise(s, real.nu, AXES);
    add_noise(s, real.pose, POSE);
    if (tick >= late && !s->deaf) {
        following_real(&s->f, &s->p, now_us - late * TICK_US, now_us, real.nu, real.tau,
                       real.pose);
    }
    memcpy(simulated.nu, s->nu[SIDE_VIRTUAL], sizeof simulated.nu);
    memcpy(simulated.pose, s->pose[SIDE_VIRTUAL], sizeof simulated.pose);
    following_simulated(&s->f, &s->p, now_us, now_us, simulated.nu, simulated.pose);
}

static void measure_distance(struct scenario *s, double t_s)
{
    double there[MODEL_AXES_MAX] = {0};
    following_align(&s->f, s->p.follower.model, s->pose[SIDE_REAL], there);
    s->last_m = hypot(there[0] - s->pose[SIDE_VIRTUAL][0], there[1] - s->pose[SIDE_VIRTUAL][1]);
    s->apart_m = t_s > 60.0 ? fmax(s->apart_m, s->last_m) : 0.0;
}

static void tick_scenario(struct scenario *s, int tick)
{
    const struct course *c = s->course;
    const int64_t now_us = INT64_C(1700000000000000) + (int64_t)tick * TICK_US;
    struct published *published = &s->published[tick % LATE_MAX];
    double theta[COUNT(ROBOT)];
    unsigned changes = 0;
    scale_robot(c->size, 0.0, theta);
    command_force(c, 1e-6 * TICK_US * tick, published->tau);
    memcpy(published->nu, s->nu[SIDE_REAL], sizeof published->nu);
    memcpy(published->pose, s->pose[SIDE_REAL], sizeof published->pose);
    if (tick == 1000) {
        s->pose[SIDE_VIRTUAL][1] += c->offset_m * c->size;
    }
    if (tick % SAMPLE_TICKS == 0) {
        feed_telemetry(s, tick, now_us);
    }
    if (following_tick(&s->f, &s->p, now_us, &changes)) {
        memcpy(s->tau, s->f.output.tau, sizeof s->tau);
    }
    measure_distance(s, 1e-6 * TICK_US * tick);
    model_step(s->p.follower.model, theta, s->nu[SIDE_REAL], s->pose[SIDE_REAL], published->tau,
               NULL, 1e-6 * TICK_US);
    model_step(s->p.follower.model, theta, s->nu[SIDE_VIRTUAL], s->pose[SIDE_VIRTUAL], s->tau,
               NULL, 1e-6 * TICK_US);
}

/* Returns its last fidelity report. */
static struct fidelity_report run_course(const struct course *c, double pose_per_s2,
                                         double *apart_m)
{
    static struct scenario s;
    struct fidelity_report report;
    const int ticks = (int)lround(c->seconds / (1e-6 * TICK_US));
    s = (struct scenario){.course = c, .p = make_params(c), .random = {.state = 7}};
    if (pose_per_s2 >= 0.0) {
        s.p.follower.gains.pose_per_s2 = pose_per_s2;
    }
    following_init(&s.f, 0);
    following_want(&s.f, true);
    s.pose[SIDE_VIRTUAL][0] = 5.0; /* somewhere else, and turned */
    s.pose[SIDE_VIRTUAL][2] = 2.5;
    for (int tick = 0; tick < ticks; tick++) {
        tick_scenario(&s, tick);
    }
    CHECK_INT("tracking", s.f.machine.state, FOLLOWING_TRACKING);
    CHECK_INT("no period held", s.f.held, 0);
    fidelity_read(&s.f.fidelity, &s.p.fidelity, INT64_C(1700000000000000) + ticks * TICK_US,
                  &report);
    *apart_m = s.apart_m;
    return report;
}

static const struct course courses[] = {
    {"ten minutes, all known 3 % wrongly", 1.0, 0.5, 0.03, 0.0, 0.0, 0.0, SHADOW_MODEL, 600.0,
     0.02},
    {"with noise", 1.0, 0.5, 0.03, 0.0, 0.0, 0.003, SHADOW_MODEL, 600.0, 0.03},
    {"100 ms late", 1.0, 0.5, 0.03, 0.0, 0.1, 0.0, SHADOW_MODEL, 600.0, 0.06},
    {"backwards", 1.0, -0.5, 0.03, 0.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"slowly", 1.0, 0.05, 0.03, 0.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"a toy", 0.1, 0.5, 0.03, 0.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"a truck", 20.0, 0.5, 0.03, 0.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"moved aside", 1.0, 0.5, 0.03, 0.5, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"moved away", 1.0, 0.5, 0.03, -4.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"moved away, backwards", 1.0, -0.5, 0.03, 4.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.02},
    {"a fifth wrong", 1.0, 0.5, 0.2, 0.0, 0.0, 0.0, SHADOW_MODEL, 300.0, 0.15},
    {"by samples alone", 1.0, 0.5, 0.03, 0.0, 0.0, 0.0, SHADOW_RAW, 300.0, 0.2},
};

static void test_stays_where_the_real_one_is(void)
{
    for (size_t i = 0; i < COUNT(courses); i++) {
        const struct course *c = &courses[i];
        double apart_m = 0.0;
        const struct fidelity_report r = run_course(c, -1.0, &apart_m);
        (void)printf(
            "%-36s largest %.4f m of %g, rmse v %.4f w %.4f x %.4f y %.4f theta %.4f\n",
            c->name, apart_m / c->size, c->within_m, r.rmse[0], r.rmse[1], r.rmse[2], r.rmse[3],
            r.rmse[4]);
        CHECK(c->name, apart_m < c->within_m * c->size);
        CHECK_INT("velocities, place and heading", r.states, 5);
        CHECK("heading", r.rmse[4] < 0.2);
    }
}

/* Without pose feedback the error is metres, so this test can fail. */
static void test_drifts_away_otherwise(void)
{
    double apart_m = 0.0;
    (void)run_course(&courses[1], 0.0, &apart_m);
    (void)printf("without pose feedback %.2f m\n", apart_m);
    CHECK("drifts", apart_m > 0.5);
}

/* Telemetry is missing for less than the ramp-down takes, on a straight: it continues at the
 * held velocity, and its place with it; and it comes to the real one's place when telemetry is
 * back. */
static void test_silence(void)
{
    static struct scenario s;
    const struct course *c = &courses[0];
    s = (struct scenario){.course = c, .p = make_params(c), .random = {.state = 7}};
    following_init(&s.f, 0);
    following_want(&s.f, true);
    for (int tick = 0; tick < 12390; tick++) {
        s.deaf = tick >= 12300; /* the first part of a round, 3 s after it began */
        tick_scenario(&s, tick);
    }
    CHECK_INT("held", s.f.machine.state, FOLLOWING_HOLDING);
    CHECK_NEAR("goes on with it", s.last_m, 0.0, 0.0, 0.02);
    for (int tick = 12390; tick < 12800; tick++) {
        s.deaf = tick < 12800;
        tick_scenario(&s, tick);
    }
    CHECK_INT("at rest", s.f.machine.state, FOLLOWING_STOPPED);
    CHECK("while the real one drives on", s.last_m > 0.5);
    for (int tick = 12800; tick < 15000; tick++) {
        s.deaf = false;
        tick_scenario(&s, tick);
    }
    CHECK_NEAR("with it again", s.last_m, 0.0, 0.0, 0.02);
}

static void test_gains(void)
{
    struct following_params p = make_params(&courses[0]);
    struct err err = {0};
    CHECK_NEAR("critically damped", p.follower.gains.pose_per_s2, 6.25, 0.0, 1e-12);
    CHECK_INT("well", follower_check(&p.follower, &err), STATUS_OK);
    p.follower.gains.pose_per_s2 = 26.0;
    CHECK_INT("swings", follower_check(&p.follower, &err), STATUS_E_RANGE);
    CHECK_TEXT("names its limit", fault_name(err.fault), "out_of_range");
    CHECK(err.text, strstr(err.text, "25") != NULL);
    p.follower.model = model_find("usv3");
    p.follower.gains.pose_per_s2 = -1.0;
    follower_gains_complete(&p.follower);
    CHECK_NEAR("a vessel has none unless asked", p.follower.gains.pose_per_s2, 0.0, 0.0, 0.0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("following on wheels", NULL, NULL);
    CU_add_test(suite, "stays where the real one is", test_stays_where_the_real_one_is);
    CU_add_test(suite, "drifts away otherwise", test_drifts_away_otherwise);
    CU_add_test(suite, "silence", test_silence);
    CU_add_test(suite, "gains", test_gains);
    return check_run();
}
