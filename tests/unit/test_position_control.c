#include "tests/support/check.h"

#include "twin/control/position_control.h"
#include "twin/control/position_fsm.h"
#include "twin/control/servo_joint.h"
#include "twin/sim/robot/robot.h"

static struct random_source dice;

static double draw_uniform(double lo, double hi)
{
    return lo + (hi - lo) * random_uniform(&dice);
}

static struct position_params make_params(enum position_kind kind, double lag_s)
{
    struct position_params p = {
        .kind = kind,
        .period_s = 0.001,
        .command_max = 10.0,
        .command_min = 0.1,
        .gain_per_s = 1.0,
        .stop = 0.05,
        .near_by = 0.2,
        .tracking_per_s = 20.0,
        .lag_s = lag_s,
        .position_gain = 1.0,
        .limits = {10.0, 200.0, 200.0, 1e4},
    };
    p.slow = position_slow_window(&p, 0.1);
    return p;
}

/* --- the machine ---------------------------------------------------------------------------
 */

static struct position_fsm_in make_input(double error)
{
    return (struct position_fsm_in){.error = error,
                                    .slow = 1.0,
                                    .near_by = 0.2,
                                    .rest = 0.1,
                                    .fast_command = 10.0,
                                    .slow_command = 0.1,
                                    .near_command = error};
}

/* Within the window it is not let go as long as it coasts. */
static void test_machine_coasts(void)
{
    struct efsm m;
    struct position_fsm_in in = make_input(0.15);
    efsm_reset(&position_fsm_table, &m, 0);
    in = make_input(0.3);
    (void)position_fsm_step(&m, &in, 0);
    in = make_input(0.01);
    in.coast = 0.5;
    CHECK_NEAR("coasts", position_fsm_step(&m, &in, 0), 0.01, 0.0, 1e-12);
    CHECK_INT("coasts", m.state, POSITION_FSM_NEAR);
    in.coast = -0.11;
    (void)position_fsm_step(&m, &in, 0);
    CHECK_INT("coasts back", m.state, POSITION_FSM_NEAR);
    in.coast = 0.09;
    CHECK_NEAR("slow enough", position_fsm_step(&m, &in, 0), 0.0, 0.0, 0.0);
    CHECK_INT("slow enough", m.state, POSITION_FSM_REST);
}

static void test_machine_script(void)
{
    static const struct {
        const char *row;
        double error;
        enum position_fsm_state state;
        double command;
    } script[] = {
        {"rests", 0.15, POSITION_FSM_REST, 0.0},
        {"far up", 25.0, POSITION_FSM_FAST_UP, 10.0},
        {"still", 1.0, POSITION_FSM_FAST_UP, 10.0},
        {"slows down", 0.99, POSITION_FSM_SLOW_UP, 0.1},
        {"set point moved away", 3.0, POSITION_FSM_FAST_UP, 10.0},
        {"slows down again", 0.5, POSITION_FSM_SLOW_UP, 0.1},
        {"last bit", 0.19, POSITION_FSM_NEAR, 0.19},
        {"set point moved back", -0.6, POSITION_FSM_NEAR, -0.6},
        {"further", -1.1, POSITION_FSM_FAST_DOWN, -10.0},
        {"sign changes from fast", 2.0, POSITION_FSM_FAST_UP, 10.0},
        {"sign changes to a little", -0.5, POSITION_FSM_SLOW_DOWN, -0.1},
        {"sign changes from slow", 0.5, POSITION_FSM_SLOW_UP, 0.1},
        {"and to much", -5.0, POSITION_FSM_FAST_DOWN, -10.0},
        {"jumps over to the last bit", -0.12, POSITION_FSM_NEAR, -0.12},
        {"there", -0.09, POSITION_FSM_REST, 0.0},
        {"from rest a little", -0.3, POSITION_FSM_SLOW_DOWN, -0.1},
        {"from slow to there", 0.0, POSITION_FSM_REST, 0.0},
        {"from rest far", -1.5, POSITION_FSM_FAST_DOWN, -10.0},
        {"from fast to there", 0.05, POSITION_FSM_REST, 0.0},
    };
    struct efsm m;
    efsm_reset(&position_fsm_table, &m, 0);
    for (size_t i = 0; i < COUNT(script); i++) {
        const struct position_fsm_in in = make_input(script[i].error);
        CHECK_NEAR(script[i].row, position_fsm_step(&m, &in, 0), script[i].command, 0.0, 1e-12);
        CHECK_INT(script[i].row, m.state, script[i].state);
    }
}

/* A state guarantees a band of the error, whatever came before. */
static bool is_in_band(uint8_t state, double e)
{
    switch (state) {
    case POSITION_FSM_REST:
        return fabs(e) <= 0.2;
    case POSITION_FSM_FAST_UP:
        return e >= 1.0;
    case POSITION_FSM_SLOW_UP:
        return e > 0.2 && e <= 1.0;
    case POSITION_FSM_FAST_DOWN:
        return e <= -1.0;
    case POSITION_FSM_SLOW_DOWN:
        return e < -0.2 && e >= -1.0;
    case POSITION_FSM_NEAR:
        return fabs(e) >= 0.1 && fabs(e) <= 1.0;
    default:
        return false; /* a fault */
    }
}

static void test_machine_random(void)
{
    static const double edges[] = {0.1, 0.2, 1.0, 0.0};
    unsigned visits[POSITION_FSM_STATE_COUNT] = {0};
    struct efsm up;
    struct efsm down;
    efsm_reset(&position_fsm_table, &up, 0);
    efsm_reset(&position_fsm_table, &down, 0);
    for (int i = 0; i < 50000; i++) {
        const double size = draw_uniform(0.0, 1.0) < 0.3 ? edges[(int)draw_uniform(0.0, 4.0)]
                                                         : pow(10.0, draw_uniform(-2.0, 1.0));
        const double e = draw_uniform(0.0, 1.0) < 0.5 ? size : -size;
        const struct position_fsm_in in = make_input(e);
        const struct position_fsm_in mirrored = make_input(-e);
        const double u = position_fsm_step(&up, &in, i);
        CHECK_NEAR("mirrored", position_fsm_step(&down, &mirrored, i), -u, 0.0, 0.0);
        CHECK("the state fits the error", is_in_band(up.state, e));
        visits[up.state < POSITION_FSM_STATE_COUNT ? up.state : 0]++;
    }
    for (int k = 0; k < POSITION_FSM_STATE_COUNT; k++) {
        CHECK("every state", visits[k] > 100);
    }
}

/* --- one by one ----------------------------------------------------------------------------
 */

static void test_proportional(void)
{
    static const struct {
        double error, command;
    } rows[] = {{25.0, 10.0},  {-25.0, -10.0}, {4.0, 4.0},   {-4.0, -4.0}, {0.07, 0.1},
                {-0.07, -0.1}, {0.05, 0.0},    {-0.05, 0.0}, {0.0, 0.0}};
    const struct position_params p = make_params(POSITION_P, 0.1);
    struct position_control c = {0};
    for (size_t i = 0; i < COUNT(rows); i++) {
        double u = 99.0;
        CHECK("sound", position_step(&c, &p, rows[i].error, 0.0, 0.0, &u));
        CHECK_NEAR("command", u, rows[i].command, 1e-12, 1e-12);
    }
}

static void test_time_optimal(void)
{
    for (int i = 0; i < 2000; i++) {
        const double lag_s = i % 5 == 0 ? 0.0 : pow(10.0, draw_uniform(-3.0, 1.0));
        const double w = lag_s > 0.0 ? draw_uniform(-10.0, 10.0) : 0.0;
        const double error = draw_uniform(-1.0, 1.0) * pow(10.0, draw_uniform(-3.0, 2.0));
        const struct servo_joint_params p = {lag_s, 1.0, 0.7, 0.0, HUGE_VAL};
        struct time_optimal plan;
        struct servo_joint j = {0.0, w};
        time_optimal_make(&plan, 10.0, 0.7, lag_s, error, w);
        CHECK("in order", plan.switch_s >= 0.0 && plan.end_s >= plan.switch_s);
        servo_joint_step(&j, &p, SERVO_EXACT, plan.switch_s, plan.command, 0.0);
        servo_joint_step(&j, &p, SERVO_EXACT, plan.end_s - plan.switch_s, -plan.command, 0.0);
        CHECK_NEAR("there", j.q_rad, error, 1e-9, 1e-9 * (1.0 + 7.0 * lag_s));
        CHECK_NEAR("at rest", lag_s > 0.0 ? j.w_radps : 0.0, 0.0, 0.0, 1e-7);
    }
    struct time_optimal plan;
    time_optimal_make(&plan, 10.0, 1.0, 0.1, 25.0, 0.0);
    CHECK_NEAR("as in the reference", plan.end_s, 2.639, 0.0, 5e-4);
    CHECK_NEAR("travel", time_optimal_travel(&plan, 1e9), 25.0, 1e-12, 0.0);
}

/* Set points that move, also before they are reached: the joint never gets a command beyond the
 * limit, and ends within what the controller promises. */
static void test_moving_set_points(void)
{
    static const double left[POSITION_KIND_COUNT] = {0.0501, 0.2, 1e-6, 1e-6};
    static const double lags[] = {0.0, 0.05, 0.1, 0.2};
    for (int kind = 0; kind < POSITION_KIND_COUNT; kind++) {
        for (size_t k = 0; k < COUNT(lags); k++) {
            const struct position_params p = make_params((enum position_kind)kind, lags[k]);
            const struct servo_joint_params joint = {lags[k], 1.0, 1.0, 0.0, HUGE_VAL};
            struct position_control c = {0};
            struct servo_joint j = {0};
            double target = 0.0;
            for (int leg = 0; leg < 12; leg++) {
                const int steps = leg < 11 ? (int)draw_uniform(1.0, 3000.0) : 20000;
                target = draw_uniform(-20.0, 20.0);
                for (int i = 0; i < steps; i++) {
                    double u = 0.0;
                    CHECK("sound", position_step(&c, &p, target, j.q_rad, j.w_radps, &u));
                    CHECK("limit", fabs(u) <= 10.0);
                    servo_joint_step(&j, &joint, SERVO_EXACT, 0.001, u, 0.0);
                }
            }
            CHECK_NEAR(position_kind_name((enum position_kind)kind), j.q_rad, target, 0.0,
                       left[kind]);
        }
    }
}

static void test_profile_is_smooth(void)
{
    struct position_params p = make_params(POSITION_PROFILE, 0.1);
    const struct servo_joint_params joint = {0.1, 1.0, 1.0, 0.0, HUGE_VAL};
    p.limits = (struct motion_limits){6.0, 20.0, 30.0, 300.0};
    struct position_control c = {0};
    struct servo_joint j = {0};
    double before = 0.0;
    for (int i = 0; i < 8000; i++) {
        double u = 0.0;
        CHECK("sound", position_step(&c, &p,
                                     i < 1200   ? 12.0
                                     : i < 1900 ? 20.0
                                                : 3.0,
                                     j.q_rad, j.w_radps, &u));
        /* u = v + lag a, so that u' = a + lag jerk. */
        CHECK("no jump of the command",
              fabs(u - before) <= 0.001 * (30.0 + 0.1 * 300.0) + 1e-6);
        before = u;
        servo_joint_step(&j, &joint, SERVO_EXACT, 0.001, u, 0.0);
        CHECK("speed of the joint", fabs(j.w_radps) <= 6.0 + 1e-3);
        struct motion planned;
        motion_profile_at(&c.profile, c.elapsed_s, &planned);
        CHECK_NEAR("along the profile", j.q_rad, planned.q, 0.0, 1e-3);
    }
    CHECK_NEAR("there", j.q_rad, 3.0, 0.0, 1e-9);
}

/* The joint is slower or quicker than it is thought to be: it still gets there. */
static void test_wrong_lag(void)
{
    static const double true_lags[] = {0.07, 0.13};
    for (size_t k = 0; k < COUNT(true_lags); k++) {
        const struct position_params p = make_params(POSITION_PROFILE, 0.1);
        const struct servo_joint_params joint = {true_lags[k], 1.0, 1.0, 0.0, HUGE_VAL};
        struct position_control c = {0};
        struct servo_joint j = {0};
        double highest = 0.0;
        for (int i = 0; i < 6000; i++) {
            double u = 0.0;
            (void)position_step(&c, &p, 25.0, j.q_rad, j.w_radps, &u);
            servo_joint_step(&j, &joint, SERVO_EXACT, 0.001, u, 0.0);
            highest = fmax(highest, j.q_rad);
        }
        CHECK_NEAR("there", j.q_rad, 25.0, 0.0, 1e-4);
        CHECK("hardly beyond", highest < 25.2);
    }
}

static void test_no_number(void)
{
    for (int kind = 0; kind < POSITION_KIND_COUNT; kind++) {
        const struct position_params p = make_params((enum position_kind)kind, 0.1);
        struct position_control c = {0};
        double u = 0.0;
        double held = 0.0;
        CHECK("sound", position_step(&c, &p, 25.0, 0.0, 0.0, &u));
        const struct position_control before = c;
        CHECK("position", !position_step(&c, &p, 25.0, nan(""), 0.0, &held));
        CHECK_NEAR("held", held, u, 0.0, 0.0);
        CHECK("target", !position_step(&c, &p, HUGE_VAL, 0.0, 0.0, &held));
        CHECK("speed", !position_step(&c, &p, 25.0, 0.0, nan(""), &held));
        CHECK("nothing of it stays", memcmp(&before, &c, sizeof c) == 0);
    }
}

static void test_windows_and_limits(void)
{
    struct position_params p = make_params(POSITION_FSM, 0.1);
    CHECK_NEAR("coasting and margin", position_slow_window(&p, 0.1), 1.09, 1e-12, 0.0);
    p.lag_s = 0.0;
    CHECK_NEAR("never below the last bit", position_slow_window(&p, 0.1), 0.2, 0.0, 0.0);
    p = make_params(POSITION_PROFILE, 0.2);
    p.limits.speed = 100.0;
    CHECK_NEAR("what it can do", position_profile_limits(&p).speed, 10.0, 1e-12, 0.0);
    CHECK_NEAR("and can brake", position_profile_limits(&p).deceleration, 50.0, 1e-12, 0.0);
    CHECK_NEAR("start as you like", position_profile_limits(&p).acceleration, 200.0, 0.0, 0.0);
}

static void test_check(void)
{
    struct err err = {0};
    for (int kind = 0; kind < POSITION_KIND_COUNT; kind++) {
        const struct position_params good = make_params((enum position_kind)kind, 0.1);
        CHECK_INT("good", position_check(&good, &err), STATUS_OK);
        struct position_params p = good;
        p.period_s = 0.0;
        CHECK_INT("period", position_check(&p, NULL), STATUS_E_RANGE);
        p = good;
        p.command_min = 11.0;
        CHECK_INT("commands", position_check(&p, NULL), STATUS_E_RANGE);
        p = good;
        p.lag_s = nan("");
        CHECK_INT("lag", position_check(&p, NULL), STATUS_E_RANGE);
        p = good;
        p.gain_per_s = 0.0;
        p.tracking_per_s = 0.0;
        CHECK_INT("gain", position_check(&p, NULL), STATUS_E_RANGE);
    }
    struct position_params p = make_params(POSITION_FSM, 0.1);
    p.slow = 0.1;
    CHECK_INT("windows", position_check(&p, &err), STATUS_E_RANGE);
    CHECK_TEXT("are named", err.where, "near_by, slow, rest");
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("position control", NULL, NULL);
    dice.state = check_seed(1);
    CU_add_test(suite, "machine, script", test_machine_script);
    CU_add_test(suite, "machine, random", test_machine_random);
    CU_add_test(suite, "machine coasts", test_machine_coasts);
    CU_add_test(suite, "proportional", test_proportional);
    CU_add_test(suite, "time-optimal", test_time_optimal);
    CU_add_test(suite, "moving set points", test_moving_set_points);
    CU_add_test(suite, "smooth profile", test_profile_is_smooth);
    CU_add_test(suite, "wrong lag", test_wrong_lag);
    CU_add_test(suite, "no number", test_no_number);
    CU_add_test(suite, "windows and limits", test_windows_and_limits);
    CU_add_test(suite, "check", test_check);
    return check_run();
}
