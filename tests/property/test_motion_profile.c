/* Profiles under random limits, starts and targets, also replaced while they run: no limit is
 * ever exceeded, nothing jumps, each ends at rest exactly on its target, and none is slower
 * than it must be. */
#include "tests/support/check.h"

#include "twin/control/motion_profile.h"
#include "twin/sim/robot/robot.h"

enum { RUNS = 3000, TARGETS = 5, SAMPLES = 60 };

static struct random_source dice;

static double draw_uniform(double lo, double hi)
{
    return lo + (hi - lo) * random_uniform(&dice);
}

/* Between 10^lo and 10^hi, evenly by decades. */
static double draw_decades(double lo, double hi)
{
    return pow(10.0, draw_uniform(lo, hi));
}

static struct motion_limits any_limits(void)
{
    struct motion_limits l = {draw_decades(-1.0, 1.5), draw_decades(-1.0, 2.5),
                              draw_decades(-1.0, 2.5), draw_decades(0.0, 4.0)};
    if (draw_uniform(0.0, 1.0) < 0.3) {
        l.jerk = HUGE_VAL;
    }
    if (draw_uniform(0.0, 1.0) < 0.3) {
        l.deceleration = l.acceleration;
    }
    return l;
}

static void check_motion(const struct motion_limits *l, const struct motion *m)
{
    const double some = 1.0 + 1e-7;
    const double at_rest = 1e-6 * l->speed;
    CHECK("speed", fabs(m->v) <= l->speed * some);
    if (m->v * m->a > at_rest * fabs(m->a)) {
        CHECK("acceleration", fabs(m->a) <= l->acceleration * some);
    } else if (m->v * m->a < -at_rest * fabs(m->a)) {
        CHECK("deceleration", fabs(m->a) <= l->deceleration * some);
    } else {
        CHECK("either", fabs(m->a) <= fmax(l->acceleration, l->deceleration) * some);
    }
}

/* The end of each piece is the start of the next, and jerk stays within its limit. */
static void check_pieces(const struct motion_profile *p, const struct motion_limits *l,
                         const struct motion *start)
{
    const double scale = fabs(start->q) + fabs(p->target) + l->speed * p->duration_s;
    const double slack = 1e-11 * scale + 1e-300;
    struct motion at = *start;
    for (size_t i = 0; i < p->count; i++) {
        const struct motion_piece *piece = &p->piece[i];
        const double t = piece->duration_s;
        CHECK("lasts", t > 0.0);
        CHECK_NEAR("position goes on", piece->start.q, at.q, 0.0, slack);
        CHECK_NEAR("speed goes on", piece->start.v, at.v, 0.0, 1e-9 * l->speed);
        if (isfinite(l->jerk)) {
            CHECK_NEAR("acceleration goes on", piece->start.a, at.a, 0.0,
                       1e-7 * fmax(l->acceleration, l->deceleration));
            CHECK("jerk", fabs(piece->jerk) <= l->jerk);
        } else {
            CHECK("no jerk within a piece", !(fabs(piece->jerk) > 0.0));
        }
        at.q = piece->start.q +
               t * (piece->start.v + t * (piece->start.a / 2.0 + t * piece->jerk / 6.0));
        at.v = piece->start.v + t * (piece->start.a + t * piece->jerk / 2.0);
        at.a = piece->start.a + t * piece->jerk;
    }
    CHECK_NEAR("lands", at.q, p->target, 0.0, slack);
    CHECK_NEAR("at rest", at.v, 0.0, 0.0, 1e-9 * l->speed);
    if (isfinite(l->jerk)) {
        CHECK_NEAR("for good", at.a, 0.0, 0.0, 1e-7 * fmax(l->acceleration, l->deceleration));
    }
}

static void check_rest(const struct motion_profile *p)
{
    struct motion m;
    motion_profile_at(p, p->duration_s * (1.0 + 1e-9) + 1e-12, &m);
    CHECK("exactly there",
          !(m.q < p->target) && !(m.q > p->target) && !(fabs(m.v) > 0.0) && !(fabs(m.a) > 0.0));
}

static void test_random(void)
{
    for (int run = 0; run < RUNS; run++) {
        const struct motion_limits l = any_limits();
        struct motion_profile p;
        struct motion m = {draw_uniform(-5.0, 5.0), draw_uniform(-1.0, 1.0) * l.speed, 0.0};
        if (draw_uniform(0.0, 1.0) < 0.5) {
            m.v = 0.0;
        }
        for (int k = 0; k < TARGETS; k++) {
            const double span = draw_decades(-4.0, 1.5);
            const double target = draw_uniform(0.0, 1.0) < 0.1 && k > 0
                                      ? p.target
                                      : m.q + draw_uniform(-span, span);
            motion_profile_make(&p, &l, &m, target);
            check_pieces(&p, &l, &m);
            check_rest(&p);
            for (int i = 0; i < SAMPLES; i++) {
                struct motion at;
                motion_profile_at(&p, p.duration_s * i / SAMPLES, &at);
                check_motion(&l, &at);
            }
            motion_profile_at(&p, p.duration_s * draw_uniform(0.0, 1.1), &m);
        }
        if (CU_get_number_of_failures() > 20) {
            (void)printf("run %d\n", run);
            return;
        }
    }
}

/* From rest to rest the shortest times are known in closed form. */
static double shortest_s(const struct motion_limits *l, double distance)
{
    const double a = l->acceleration; /* = deceleration */
    if (!isfinite(l->jerk)) {
        return distance >= l->speed * l->speed / a ? distance / l->speed + l->speed / a
                                                   : 2.0 * sqrt(distance / a);
    }
    const double ramp = a / l->jerk;
    const double to_speed =
        l->speed >= a * ramp ? l->speed / a + ramp : 2.0 * sqrt(l->speed / l->jerk);
    if (distance >= l->speed * to_speed) {
        return distance / l->speed + to_speed;
    }
    if (distance >= 2.0 * a * ramp * ramp) {
        return ramp + sqrt(ramp * ramp + 4.0 * distance / a);
    }
    return 4.0 * cbrt(distance / (2.0 * l->jerk));
}

static void test_quickest(void)
{
    for (int run = 0; run < RUNS; run++) {
        struct motion_limits l = any_limits();
        l.deceleration = l.acceleration;
        struct motion_profile p;
        const struct motion start = {draw_uniform(-1.0, 1.0), 0.0, 0.0};
        const double distance = draw_decades(-4.0, 1.5);
        motion_profile_make(&p, &l, &start, start.q - distance);
        CHECK_NEAR("duration", p.duration_s, shortest_s(&l, distance), 1e-6, 0.0);
        double before = start.q;
        for (int i = 1; i <= SAMPLES; i++) {
            struct motion m;
            motion_profile_at(&p, p.duration_s * i / SAMPLES, &m);
            CHECK("straight on", m.q <= before + 1e-12);
            before = m.q;
        }
    }
}

/* It turns round with both its limits: a fourth of a second to stop, 0.125 beyond, back over
 * 0.625 with an acceleration of 1 and a deceleration of 4, at most at 1. */
static void test_turn(void)
{
    const struct motion_limits l = {1.0, 1.0, 4.0, HUGE_VAL};
    const struct motion start = {0.0, 1.0, 0.0};
    struct motion_profile p;
    motion_profile_make(&p, &l, &start, -0.5);
    CHECK_NEAR("duration", p.duration_s, 0.25 + 1.25, 1e-9, 0.0);
}

/* Replanned to the same target, the profile stays the same. */
static void test_same_again(void)
{
    for (int run = 0; run < RUNS; run++) {
        const struct motion_limits l = any_limits();
        const struct motion start = {0.0, 0.0, 0.0};
        struct motion_profile p;
        struct motion_profile again;
        struct motion m;
        const double target = draw_decades(-2.0, 1.5);
        motion_profile_make(&p, &l, &start, target);
        const double t_s = p.duration_s * draw_uniform(0.05, 0.95);
        motion_profile_at(&p, t_s, &m);
        motion_profile_make(&again, &l, &m, target);
        CHECK_NEAR("remaining distance", again.duration_s, p.duration_s - t_s, 1e-3,
                   1e-3 * p.duration_s);
    }
}

/* A start that breaks the limits comes back within them, and lands all the same. */
static void test_beyond_limits(void)
{
    for (int run = 0; run < RUNS; run++) {
        const struct motion_limits l = any_limits();
        struct motion_profile p;
        const struct motion start = {0.0, draw_uniform(-3.0, 3.0) * l.speed,
                                     isfinite(l.jerk) ? draw_uniform(-3.0, 3.0) * l.acceleration
                                                      : 0.0};
        motion_profile_make(&p, &l, &start, draw_uniform(-30.0, 30.0));
        struct motion m = {0};
        if (p.count > 0) {
            const struct motion_piece *last = &p.piece[p.count - 1];
            const double t = last->duration_s;
            m.q = last->start.q +
                  t * (last->start.v + t * (last->start.a / 2.0 + t * last->jerk / 6.0));
        }
        CHECK_NEAR("lands", m.q, p.target, 1e-9,
                   1e-9 * (fabs(start.v) + l.speed) * p.duration_s);
        check_rest(&p);
    }
}

static void test_limits_check(void)
{
    const struct motion_limits good = {1.0, 2.0, 3.0, HUGE_VAL};
    struct err err = {0};
    CHECK_INT("good", motion_limits_check(&good, &err), STATUS_OK);
    struct motion_limits l = good;
    l.speed = 0.0;
    CHECK_INT("speed", motion_limits_check(&l, &err), STATUS_E_RANGE);
    CHECK_TEXT("is named", err.where, "speed");
    l = good;
    l.acceleration = HUGE_VAL;
    CHECK_INT("acceleration", motion_limits_check(&l, NULL), STATUS_E_RANGE);
    l = good;
    l.deceleration = -1.0;
    CHECK_INT("deceleration", motion_limits_check(&l, NULL), STATUS_E_RANGE);
    l = good;
    l.jerk = nan("");
    CHECK_INT("jerk", motion_limits_check(&l, NULL), STATUS_E_RANGE);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("motion profiles", NULL, NULL);
    dice.state = check_seed(1);
    CU_add_test(suite, "random", test_random);
    CU_add_test(suite, "quickest", test_quickest);
    CU_add_test(suite, "turn", test_turn);
    CU_add_test(suite, "same again", test_same_again);
    CU_add_test(suite, "beyond limits", test_beyond_limits);
    CU_add_test(suite, "check", test_limits_check);
    return check_run();
}
