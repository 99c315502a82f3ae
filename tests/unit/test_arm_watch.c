/* Moves recognised in an arm's set points: ends within a period, path, speed and acceleration,
 * and motions that must not count as a whole move. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "twin/arm/arm_watch.h"

static struct arm_geometry ur5;
static struct arm_watch watch; /* some 400 kB */

static const double WORK[6] = {0.3, -1.2, -1.7, -1.8, 1.5707963, 0.4};

enum { FOUND_MAX = 8 };

struct seen {
    size_t count;
    struct arm_watched move[FOUND_MAX];
};

/* State at a time of the script. */
struct script {
    const char *row;
    double offset_s; /* of the samples against the start */
    double hz;
    double scaling, from_s;   /* speeds are scaled from there on: time goes slower */
    double missing_s, gone_s; /* samples from .. to are not there */
    double stop_s;            /* a safety function stops it at once; 0: not */
};

static void step_watch(struct seen *seen, const struct arm_watch_sample *s)
{
    struct arm_watched m;
    if (arm_watch_step(&watch, s, &m) && seen->count < FOUND_MAX) {
        seen->move[seen->count++] = m;
    }
}

static struct arm_watch_sample sample_at(struct arm_move *m, double t_s, double move_s,
                                         double scaling)
{
    struct arm_watch_sample s = {.t_s = t_s, .scaling = scaling};
    CU_ASSERT_FATAL(arm_move_at(m, &ur5, move_s, s.q_rad, s.qd_radps));
    const struct rigid tool = arm_forward(&ur5, s.q_rad);
    rigid_to_pose(&tool, s.pose);
    for (int j = 0; j < 6; j++) {
        s.qd_radps[j] *= scaling;
    }
    return s;
}

static const double BEGINS_S = 200.0;

static void run_script(const struct script *c, struct arm_move *m, struct seen *seen)
{
    const double period_s = 1.0 / c->hz;
    double slow_s = 0.0; /* that the move is behind */
    *seen = (struct seen){0};
    watch = (struct arm_watch){.period_s = period_s};
    memcpy(m->last_q, m->from_q, sizeof m->last_q);
    for (double t = BEGINS_S - 0.5 + c->offset_s; t < BEGINS_S + 2.5 * m->duration_s + 1.0;
         t += period_s) {
        const double since_s = t - BEGINS_S;
        const bool scaled = c->scaling > 0.0 && since_s >= c->from_s;
        slow_s = scaled ? (since_s - c->from_s) * (1.0 - c->scaling) : 0.0;
        double move_s = since_s - slow_s;
        const bool stopped = c->stop_s > 0.0 && since_s >= c->stop_s;
        move_s = stopped ? c->stop_s : move_s;
        struct arm_watch_sample s = sample_at(m, t, move_s, scaled ? c->scaling : 1.0);
        if (stopped) {
            memset(s.qd_radps, 0, sizeof s.qd_radps);
            s.stopped = true;
        }
        if (!(since_s >= c->missing_s && since_s < c->gone_s)) {
            step_watch(seen, &s);
        }
    }
}

static struct arm_move plan_joints(const double to[6], double v, double a)
{
    struct arm_rates rates = arm_rates_default;
    struct arm_move m;
    rates.v_radps = v;
    rates.a_radps2 = a;
    const struct arm_fault f = arm_plan_joints(&ur5, WORK, to, &rates, &arm_bounds_none, &m);
    CU_ASSERT_EQUAL_FATAL(f.refusal, ARM_ACCEPTED);
    return m;
}

static struct arm_move plan_line(const double shift[6], double v, double a)
{
    struct arm_rates rates = arm_rates_default;
    struct arm_move m;
    struct rigid to = arm_forward(&ur5, WORK);
    const struct rigid turn = rotation_exp(shift + 3);
    rates.v_mps = v;
    rates.a_mps2 = a;
    struct rigid turned = rigid_multiply(&to, &turn);
    for (int i = 0; i < 3; i++) {
        turned.at_m[i] += shift[i];
    }
    to = turned;
    const struct arm_fault f = arm_plan_line(&ur5, WORK, &to, &rates, &arm_bounds_none, &m);
    CU_ASSERT_EQUAL_FATAL(f.refusal, ARM_ACCEPTED);
    return m;
}

static void check_whole(const char *row, const struct seen *seen, const struct arm_move *m,
                        double period_s)
{
    CHECK_INT(row, seen->count, 1);
    if (seen->count != 1) {
        return;
    }
    const struct arm_watched *w = &seen->move[0];
    CHECK_TEXT(row, w->lacks ? w->lacks : "", "");
    CHECK_INT(row, w->end, ARM_WATCHED_DONE);
    CHECK_NEAR(row, w->t_start_s, BEGINS_S, 0.0, 0.25 * period_s);
    CHECK_NEAR(row, w->t_end_s, BEGINS_S + m->duration_s, 0.0, 0.25 * period_s);
    CHECK_INT(row, w->path, m->path == ARM_LINE ? ARM_WATCHED_LINE : ARM_WATCHED_JOINTS);
    CHECK_NEAR(row, w->speed, m->speed, 0.01, 0.0);
    CHECK_NEAR(row, w->acceleration, m->acceleration, 0.03, 0.0);
    CHECK_NEAR(row, w->size_rad, m->size_rad, 0.0, 1e-6);
    for (int j = 0; j < 6; j++) {
        CHECK_NEAR(row, w->to_q[j], m->to_q[j], 0.0, 1e-6);
    }
}

static void test_whole_moves(void)
{
    static const struct {
        const char *row;
        bool line;
        double by[6], v, a;
    } rows[] = {
        {"long", false, {1.5, 0.2, -0.3, 0.1, 0.4, -0.8}, 1.05, 1.4},
        {"short", false, {0.1, 0.05, 0, 0, 0, -0.02}, 1.05, 1.4},
        {"fast", false, {1.2, 0, 0, 0, 0, 0}, 3.0, 20.0},
        {"slow", false, {0.2, -0.1, 0.1, 0, 0, 0}, 0.05, 0.2},
        {"tiny", false, {0.004, 0, 0, 0, 0.002, 0}, 1.05, 1.4},
        {"line", true, {0.15, 0.1, 0.05, 0, 0, 0}, 0.25, 1.2},
        {"line that turns", true, {0.1, -0.1, 0.05, 0.2, 0.1, -0.3}, 0.25, 1.2},
        {"turn alone", true, {0, 0, 0, 0.3, -0.2, 0.4}, 0.25, 1.2},
        {"short line", true, {0.02, 0, 0, 0, 0, 0}, 0.25, 1.2},
    };
    static const double rates[] = {125.0, 500.0, 60.0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        double to[6];
        for (int j = 0; j < 6; j++) {
            to[j] = WORK[j] + rows[i].by[j];
        }
        struct arm_move m = rows[i].line ? plan_line(rows[i].by, rows[i].v, rows[i].a)
                                         : plan_joints(to, rows[i].v, rows[i].a);
        for (size_t k = 0; k < COUNT(rates); k++) {
            for (double offset = 0.0; offset < 1.0; offset += 0.23) {
                struct seen seen;
                const struct script c = {.hz = rates[k], .offset_s = offset / rates[k]};
                /* Fewer than a dozen samples determine no trapezoid. */
                if (m.duration_s * rates[k] > 12.0) {
                    run_script(&c, &m, &seen);
                    check_whole(rows[i].row, &seen, &m, 1.0 / rates[k]);
                }
            }
        }
    }
}

static void test_lacks(void)
{
    static const struct script rows[] = {
        {"speeds were scaled", 0.001, 125, .scaling = 0.5, .from_s = -1.0},
        {"speeds were scaled", 0.001, 125, .scaling = 0.9, .from_s = 0.8},
        {"speeds were scaled", 0.001, 125, .scaling = 0.98, .from_s = -1.0},
        {"samples are missing", 0.001, 125, .missing_s = 0.5, .gone_s = 0.6},
        {"samples are missing", 0.001, 125, .missing_s = -0.1, .gone_s = 0.1},
        {"stopped by a safety function", 0.001, 125, .stop_s = 0.9},
        {"its beginning was not seen", 0.001, 125, .missing_s = -10.0, .gone_s = 0.3},
    };
    const double to[6] = {1.8, -1.0, -2.0, -1.7, 1.2, 0.0};
    struct arm_move m = plan_joints(to, 1.05, 1.4);
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct seen seen;
        run_script(&rows[i], &m, &seen);
        CHECK_INT(rows[i].row, seen.count, 1);
        CHECK_TEXT(rows[i].row, seen.move[0].lacks, rows[i].row);
    }
    /* An arc, and a wobble of the joints, are neither line. */
    struct arm_move arc;
    const struct rigid from = arm_forward(&ur5, WORK);
    struct rigid end = from;
    const double via[3] = {from.at_m[0] + 0.05, from.at_m[1] + 0.05, from.at_m[2]};
    end.at_m[0] += 0.1;
    const struct arm_fault f =
        arm_plan_arc(&ur5, WORK, via, &end, 0.0, &arm_rates_default, &arm_bounds_none, &arc);
    CU_ASSERT_EQUAL_FATAL(f.refusal, ARM_ACCEPTED);
    struct seen seen;
    const struct script c = {.hz = 125};
    run_script(&c, &arc, &seen);
    CHECK_INT("arc", seen.count, 1);
    CHECK_TEXT("arc", seen.move[0].lacks, "neither a line of joint angles nor of the tool");
}

/* A pause that the slider does not show, and a move at even speed: no trapezoids. */
static void test_shapes(void)
{
    const double to[6] = {1.8, -1.0, -2.0, -1.7, 1.2, 0.0};
    struct arm_move m = plan_joints(to, 1.05, 1.4);
    for (int shape = 0; shape < 2; shape++) {
        struct seen seen = {0};
        watch = (struct arm_watch){.period_s = 0.008};
        memcpy(m.last_q, m.from_q, sizeof m.last_q);
        for (double t = -0.5; t < 6.0; t += 0.008) {
            /* Slower in the middle, or from the first sample on as fast as ever. */
            const double slow_s = t < 0.9 ? 0.0 : fmin(0.4 * (t - 0.9), 0.2);
            struct arm_watch_sample s = sample_at(&m, t, t - slow_s, 1.0);
            const double share = fmin(fmax(t / m.duration_s, 0.0), 1.0);
            for (int j = 0; j < 6 && shape == 1; j++) {
                const double way = m.to_q[j] - m.from_q[j];
                s.q_rad[j] = m.from_q[j] + share * way;
                s.qd_radps[j] = share > 0.0 && share < 1.0 ? way / m.duration_s : 0.0;
            }
            step_watch(&seen, &s);
        }
        CHECK_INT("shape", seen.count, 1);
        CHECK("shape", seen.move[0].lacks != NULL);
    }
}

/* A move that comes while one is running: the target speed falls at once, and the next begins
 * from rest there. */
static void test_cut(void)
{
    const double first[6] = {1.8, -1.0, -2.0, -1.7, 1.2, 0.0};
    struct arm_move a = plan_joints(first, 1.05, 1.4);
    struct arm_move b;
    struct seen seen = {0};
    double q[6];
    double qd[6];
    const double cut_s = 0.9;
    CU_ASSERT_FATAL(arm_move_at(&a, &ur5, cut_s, q, qd));
    const struct arm_fault f =
        arm_plan_joints(&ur5, q, WORK, &arm_rates_default, &arm_bounds_none, &b);
    CU_ASSERT_EQUAL_FATAL(f.refusal, ARM_ACCEPTED);
    watch = (struct arm_watch){.period_s = 0.008};
    for (double t = -0.5; t < 6.0; t += 0.008) {
        const struct arm_watch_sample s =
            t < cut_s ? sample_at(&a, t, t, 1.0) : sample_at(&b, t, t - cut_s, 1.0);
        step_watch(&seen, &s);
    }
    CHECK_INT("both", seen.count, 2);
    CHECK_INT("cut", seen.move[0].end, ARM_WATCHED_CUT);
    CHECK_TEXT("cut", seen.move[0].lacks, "cut off by the next move");
    CHECK_NEAR("cut", seen.move[0].t_end_s, cut_s, 0.0, 0.008);
    CHECK_INT("next", seen.move[1].end, ARM_WATCHED_DONE);
    CHECK_NEAR("next", seen.move[1].t_start_s, cut_s, 0.0, 0.008);
    CHECK_NEAR("next", seen.move[1].t_end_s, cut_s + b.duration_s, 0.0, 0.002);
    CHECK_TEXT("next", seen.move[1].lacks ? seen.move[1].lacks : "", "");
}

/* Longer than the stored history; a clock that goes back; numbers that are not finite. */
static void test_odd_samples(void)
{
    const double to[6] = {2.3, -1.2, -1.7, -1.8, 1.5707963, 0.4};
    struct arm_move m = plan_joints(to, 0.02, 1.4);
    struct seen seen;
    const struct script c = {.hz = 125};
    run_script(&c, &m, &seen);
    CHECK_NEAR("long", m.duration_s, 100.0, 0.0, 1.0);
    check_whole("long", &seen, &m, 0.008);
    seen = (struct seen){0};
    watch = (struct arm_watch){.period_s = 0.008};
    for (int k = 0; k < 100; k++) {
        struct arm_watch_sample s = sample_at(&m, 10.0 - k, 1.0, 1.0);
        step_watch(&seen, &s);
        s.q_rad[k % 6] = (double)NAN;
        step_watch(&seen, &s);
        s = sample_at(&m, (double)INFINITY, 1.0, 1.0);
        step_watch(&seen, &s);
    }
    CHECK_INT("none", seen.count, 0);
    arm_watch_forget(&watch);
    struct arm_watch_sample s = sample_at(&m, 1.0, 0.0, 1.0);
    step_watch(&seen, &s);
    CHECK_INT("still none", seen.count, 0);
}

int main(void)
{
    if (!arm_geometry_find("ur5", &ur5) || CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("arm_watch", NULL, NULL);
    CU_ADD_TEST(suite, test_whole_moves);
    CU_ADD_TEST(suite, test_lacks);
    CU_ADD_TEST(suite, test_shapes);
    CU_ADD_TEST(suite, test_cut);
    CU_ADD_TEST(suite, test_odd_samples);
    return check_run();
}
