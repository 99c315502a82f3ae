/* short: TANDEM_WITHOUT=courses */
/* A simulated arm follows a real one whose telemetry is late: its position, its turns, and the
 * reports when something is wrong with either. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "config/labfile/lab_file.h"
#include "identification/model/models.h"
#include "twin/arm/arm_move.h"
#include "twin/following/pair_following.h"

enum { AXES = 6, TICK_US = 8000, LATE_MAX = 64 };

static const double TICK_S = 1e-6 * TICK_US;
static const int64_t BEGIN_US = INT64_C(1700000000000000);

/* Faults of a case. */
enum wrong {
    NOTHING,
    VIRTUAL_STICKS,   /* its third joint */
    VIRTUAL_REVERSED, /* likewise */
    REAL_STICKS,      /* its third joint, while its set points move on */
};

struct course {
    const char *name;
    enum shadow_method method;
    enum wrong wrong;
    double late_s, every_s, loss_ratio;
    double lag_s, known_lag_s; /* of the virtual arm's joints */
    double noise;              /* rad, rad/s */
    double rms_m;              /* at most, from the tenth second on */
    bool missed;               /* of the target of 10 mm */
    bool reported;             /* the real arm reports the rate of its set points */
};

/* clang-format off */
static const struct course courses[] = {
    /* name, method, wrong, late, every, lost, lag, known, noise, at most, missed, reported */
    {"at once", SHADOW_RAMP, NOTHING, 0.0, 0.008, 0.0, 0.02, 0.02, 0.0, 0.2e-3, false, false},
    {"100 ms late", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, 4e-3, false, false},
    {"100 ms late, reported", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, 3.5e-3, false, true},
    {"measured speeds", SHADOW_RAW, NOTHING, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, 20e-3, true, false},
    {"25 Hz", SHADOW_RAMP, NOTHING, 0.1, 0.04, 0.0, 0.02, 0.02, 0.0, 7e-3, false, false},
    {"three of ten samples lost", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.3, 0.02, 0.02, 0.0, 4.5e-3, false, false},
    {"noise", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.02, 0.02, 2e-4, 4e-3, false, false},
    {"a slow arm", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.1, 0.1, 0.0, 4e-3, false, false},
    {"a lag a tenth off", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.1, 0.09, 0.0, 4.5e-3, false, false},
    {"no lag worth a period", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 6e-4, 6e-4, 0.0, 4e-3, false, false},
    {"a lag five times as long", SHADOW_RAMP, NOTHING, 0.1, 0.008, 0.0, 0.1, 0.02, 0.0, INFINITY, true, false},
    {"virtual joint sticks", SHADOW_RAMP, VIRTUAL_STICKS, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, INFINITY, true, false},
    {"virtual joint reversed", SHADOW_RAMP, VIRTUAL_REVERSED, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, INFINITY, true, false},
    {"real joint sticks", SHADOW_RAMP, REAL_STICKS, 0.1, 0.008, 0.0, 0.02, 0.02, 0.0, INFINITY, true, false},
};
/* clang-format on */

/* Commanded places of the real arm, round again; joint 6 turns by more than half a turn. */
static const double places[][AXES] = {{-1.57, -1.57, 0.0, -1.57, -1.57, 0.0},
                                      {-1.57, -0.17, 1.05, -2.62, -2.09, 3.14},
                                      {-3.49, -0.17, 1.57, -2.62, -2.09, 4.80},
                                      {-4.36, -1.57, 0.5, -1.22, -0.52, 4.80}};

struct published {
    double q[AXES], qd[AXES], u[AXES], u_dot[AXES];
};

struct scenario {
    const struct course *course;
    struct following f;
    struct following_params p;
    struct arm_move move;
    size_t to;
    double move_s;
    struct published published[LATE_MAX]; /* ring, by ticks */
    double q[SIDE_COUNT][AXES], qd[SIDE_COUNT][AXES], u[AXES];
    double last_u[AXES];
    struct random_source random;
    double due_s;
    bool deaf;
    double square_m2, n; /* of the tools' distance, as they are at one time */
    double effort;       /* largest */
    unsigned changes;
};

static struct following_params make_params(const struct course *c)
{
    static struct pair_following x;
    struct following_params out;
    struct err err = {0};
    struct pair_following_params following;
    struct pair_following_params *const p = &following;
    lab_following_defaults(p);
    (void)snprintf(p->model, sizeof p->model, "arm6");
    (void)snprintf(p->arm, sizeof p->arm, "ur5");
    (void)snprintf(p->real, sizeof p->real, "ur5");
    (void)snprintf(p->vessel, sizeof p->vessel, "ur5");
    char *at = p->simulated;
    for (int i = 1; i <= AXES; i++) {
        at += snprintf(at, 40, "%sa%d=%g,b%d=1", i > 1 ? "," : "", i, c->known_lag_s, i);
    }
    p->rate_hz = 1.0 / TICK_S;
    p->method = (uint8_t)c->method;
    p->bandwidth_radps = 20.0;
    p->target_m = 0.010;
    p->window_us = 20000000;
    CHECK_INT(c->name, following_text_parse(p, &err), STATUS_OK);
    CHECK_TEXT(c->name, err.text, "");
    pair_following_init(&x, p);
    pair_following_setup(&x, p, &out);
    CHECK(c->name, out.fidelity.has_arm);
    CHECK_NEAR("held at its place", out.follower.gains.pose_per_s2, 100.0, 1e-12, 0.0);
    return out;
}

/* Moves of the real arm, half a second of rest after each. */
static void command_arm(struct scenario *s, double q[AXES], double qd[AXES])
{
    if (s->move_s > s->move.duration_s + 0.5) {
        const size_t from = s->to;
        s->to = (s->to + 1) % COUNT(places);
        s->move_s = 0.0;
        CHECK_INT("a move",
                  arm_plan_joints(&s->p.fidelity.arm, places[from], places[s->to],
                                  &arm_rates_default, &arm_bounds_none, &s->move)
                      .refusal,
                  ARM_ACCEPTED);
    }
    CHECK("on its way", arm_move_at(&s->move, &s->p.fidelity.arm, s->move_s, q, qd));
    s->move_s += TICK_S;
}

static void set_command(struct scenario *s, int tick)
{
    struct published *published = &s->published[tick % LATE_MAX];
    double q[AXES];
    command_arm(s, q, published->u);
    for (size_t i = 0; i < AXES; i++) {
        published->u_dot[i] = (published->u[i] - s->last_u[i]) / TICK_S;
        s->last_u[i] = published->u[i];
        /* Set points as a controller has them: exactly where they are to be after a period. */
        s->qd[SIDE_REAL][i] = published->u[i];
    }
    memcpy(s->q[SIDE_REAL], q, sizeof q);
    if (s->course->wrong == REAL_STICKS && tick > 1250) {
        s->q[SIDE_REAL][2] = 0.3;
        s->qd[SIDE_REAL][2] = 0.0;
    }
    memcpy(published->q, s->q[SIDE_REAL], sizeof published->q);
    memcpy(published->qd, s->qd[SIDE_REAL], sizeof published->qd);
    for (size_t i = 0; i < AXES; i++) {
        published->q[i] += s->course->noise * random_normal(&s->random);
        published->qd[i] += s->course->noise * random_normal(&s->random);
    }
}

static void feed_telemetry(struct scenario *s, int tick, int64_t now_us)
{
    const struct course *c = s->course;
    const int late = (int)lround(c->late_s / TICK_S);
    const struct published *published = &s->published[(tick + LATE_MAX - late) % LATE_MAX];
    const double t_s = (tick - late) * TICK_S;
    if (tick >= late && t_s >= s->due_s - 1e-9) {
        s->due_s += c->every_s;
        if (!s->deaf && random_uniform(&s->random) >= c->loss_ratio &&
            following_real(&s->f, &s->p, now_us - late * TICK_US, now_us, published->qd,
                           published->u, published->q) == SHADOW_ACCEPTED &&
            c->reported) {
            shadow_set_rate(&s->f.real, &s->p.real, published->u_dot);
        }
    }
    (void)following_simulated(&s->f, &s->p, now_us, now_us, s->qd[SIDE_VIRTUAL],
                              s->q[SIDE_VIRTUAL]);
}

static void move_virtual(struct scenario *s)
{
    double theta[MODEL_PARAMETERS_MAX];
    for (size_t i = 0; i < AXES; i++) {
        const bool third = i == 2;
        theta[i] = s->course->lag_s;
        theta[AXES + i] = 1.0;
        s->effort = fmax(s->effort, fabs(s->u[i]));
        s->u[i] *= third && s->course->wrong == VIRTUAL_REVERSED ? -1.0 : 1.0;
    }
    const double stuck = s->q[SIDE_VIRTUAL][2];
    model_step(s->p.follower.model, theta, s->qd[SIDE_VIRTUAL], s->q[SIDE_VIRTUAL], s->u, NULL,
               TICK_S);
    if (s->course->wrong == VIRTUAL_STICKS) {
        s->q[SIDE_VIRTUAL][2] = stuck;
        s->qd[SIDE_VIRTUAL][2] = 0.0;
    }
}

static void tick_scenario(struct scenario *s, int tick)
{
    const int64_t now_us = BEGIN_US + (int64_t)tick * TICK_US;
    unsigned changes = 0;
    set_command(s, tick);
    feed_telemetry(s, tick, now_us);
    if (following_tick(&s->f, &s->p, now_us, &changes)) {
        memcpy(s->u, s->f.output.tau, sizeof s->u);
    }
    s->changes |= changes;
    if (tick * TICK_S >= 10.0) {
        const struct rigid a = arm_forward(&s->p.fidelity.arm, s->q[SIDE_REAL]);
        const struct rigid b = arm_forward(&s->p.fidelity.arm, s->q[SIDE_VIRTUAL]);
        for (size_t i = 0; i < 3; i++) {
            s->square_m2 += (a.at_m[i] - b.at_m[i]) * (a.at_m[i] - b.at_m[i]);
        }
        s->n += 1.0;
    }
    move_virtual(s);
}

static void begin_scenario(struct scenario *s, const struct course *c)
{
    *s = (struct scenario){
        .course = c, .p = make_params(c), .random = {.state = 7}, .move_s = INFINITY};
    memcpy(s->q[SIDE_REAL], places[0], sizeof places[0]);
    following_init(&s->f, 0);
    following_want(&s->f, true);
}

static struct fidelity_report run_course(struct scenario *s, const struct course *c,
                                         double seconds)
{
    struct fidelity_report report;
    const int ticks = (int)lround(seconds / TICK_S);
    begin_scenario(s, c);
    for (int tick = 0; tick < ticks; tick++) {
        tick_scenario(s, tick);
    }
    CHECK_INT(c->name, s->f.machine.state, FOLLOWING_TRACKING);
    CHECK_INT(c->name, s->f.held, 0);
    fidelity_read(&s->f.fidelity, &s->p.fidelity, BEGIN_US + (int64_t)ticks * TICK_US, &report);
    return report;
}

static size_t worst_joint(const struct fidelity_report *r)
{
    size_t worst = 0;
    for (size_t i = 1; i < AXES; i++) {
        worst = r->rmse[AXES + i] > r->rmse[AXES + worst] ? i : worst;
    }
    return worst + 1;
}

static void test_courses(void)
{
    for (size_t i = 0; i < COUNT(courses); i++) {
        static struct scenario s;
        const struct course *c = &courses[i];
        const struct fidelity_report r = run_course(&s, c, 60.0);
        const double rms_m = sqrt(s.square_m2 / s.n);
        (void)printf(
            "%-36s tools %.2f mm apart, as reported %.2f (most %.1f), within %.3f, joint "
            "%zu by %.4f rad%s\n",
            c->name, 1e3 * rms_m, 1e3 * r.tool_rmse_m, 1e3 * r.tool_max_m, r.within_ratio,
            worst_joint(&r), r.rmse[AXES + worst_joint(&r) - 1], s.f.missed ? ", missed" : "");
        CHECK(c->name, rms_m <= c->rms_m);
        CHECK_INT(c->name, s.f.missed, c->missed);
        CHECK(c->name, s.effort <= 3.1416);
        if (c->wrong != NOTHING) {
            CHECK_INT(c->name, worst_joint(&r), 3);
            CHECK(c->name, r.tool_rmse_m > 0.01);
        } else {
            /* Averages over 20 s agree with the measured ones; reported values are not far
             * below the truth.
             */
            CHECK_NEAR(c->name, r.tool_rmse_m, rms_m, 0.5, 1e-3);
        }
    }
}

/* It moves to the real one's reported position, turns included, from anywhere; nothing is
 * aligned away. */
static void test_turns(void)
{
    static struct scenario s;
    begin_scenario(&s, &courses[0]);
    s.q[SIDE_VIRTUAL][5] = -3.0;
    s.q[SIDE_VIRTUAL][0] = 2.0;
    for (int tick = 0; tick < 1250; tick++) {
        tick_scenario(&s, tick);
    }
    for (size_t i = 0; i < AXES; i++) {
        CHECK_NEAR("joint", s.q[SIDE_VIRTUAL][i], s.q[SIDE_REAL][i], 0.0, 0.01);
    }
    CHECK("joints are no places in a plane", !following_in_plane(s.p.follower.model));
    CHECK_NEAR("a turn more is another pose",
               follower_pose_step(s.p.follower.model, 5, 0.0, 4.8), 4.8, 0.0, 0.0);
}

/* Without telemetry it comes to rest; with telemetry again, it reaches the real one. */
static void test_silence(void)
{
    static struct scenario s;
    begin_scenario(&s, &courses[0]);
    for (int tick = 0; tick < 3000; tick++) {
        s.deaf = tick > 1300 && tick < 1800;
        tick_scenario(&s, tick);
        if (tick == 1799) {
            CHECK_INT("at rest", s.f.machine.state, FOLLOWING_STOPPED);
            CHECK("told", s.changes & FOLLOWING_CHANGE_STALE);
            for (size_t i = 0; i < AXES; i++) {
                CHECK_NEAR("rests", s.qd[SIDE_VIRTUAL][i], 0.0, 0.0, 0.01);
            }
        }
    }
    CHECK_INT("again", s.f.machine.state, FOLLOWING_TRACKING);
    for (size_t i = 0; i < AXES; i++) {
        CHECK_NEAR("joint", s.q[SIDE_VIRTUAL][i], s.q[SIDE_REAL][i], 0.0, 0.01);
    }
}

static void test_text(void)
{
    struct pair_following_params following;
    struct pair_following_params *const p = &following;
    struct err err = {0};
    lab_following_defaults(p);
    (void)snprintf(p->model, sizeof p->model, "arm6");
    (void)snprintf(p->arm, sizeof p->arm, "ur6");
    CHECK_INT("lengths", following_text_parse(p, &err), STATUS_E_RANGE);
    CHECK_TEXT("which there are", fault_name(err.fault), "unknown_name");
    err = (struct err){0};
    (void)snprintf(p->arm, sizeof p->arm, "ur5");
    (void)snprintf(p->vessel, sizeof p->vessel, "wamv");
    CHECK_INT("joints", following_text_parse(p, &err), STATUS_E_RANGE);
    CHECK_TEXT("the joints' owner", fault_name(err.fault), "unknown_name");
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("an arm follows another", NULL, NULL);
    CU_add_test(suite, "courses", test_courses);
    CU_add_test(suite, "turns", test_turns);
    CU_add_test(suite, "silence", test_silence);
    CU_add_test(suite, "lab file", test_text);
    return check_run();
}
