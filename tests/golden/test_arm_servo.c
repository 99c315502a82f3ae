/* An arm's joints against those that another program simulated: moves through lagging servos,
 * and six controllers each on its own; a real arm's own set points, where the data are at hand.
 */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "base/numbers/constants.h"
#include "twin/arm/arm_move.h"
#include "twin/arm/arm_servo.h"

static struct arm_geometry ur5;
static const double HOME[6] = {0.0, -PI / 2.0, 0.0, -PI / 2.0, 0.0, 0.0};
static const double WORK[6] = {0.0, -PI / 2.0, -PI / 2.0, -PI / 2.0, PI / 2.0, 0.0};
static const double WORK2[6] = {0.3, -1.2, -1.7, -1.8, 1.5707963, 0.4};

static json_t *load_golden(const char *name)
{
    char path[512];
    json_error_t error;
    (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/arm/%s", name);
    json_t *document = json_load_file(path, 0, &error);
    if (!document) {
        (void)printf("%s:%d: %s\n", path, error.line, error.text);
    }
    CU_ASSERT_FATAL(document != NULL);
    return document;
}

static double number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return value ? json_number_value(value) : -1.0;
}

static double tool_distance(const double a[6], const double b[6])
{
    const struct rigid ta = arm_forward(&ur5, a);
    const struct rigid tb = arm_forward(&ur5, b);
    return hypot(hypot(ta.at_m[0] - tb.at_m[0], ta.at_m[1] - tb.at_m[1]),
                 ta.at_m[2] - tb.at_m[2]);
}

static struct arm_servo_params make_servos(enum arm_controller controller, double lag_s,
                                           double known_lag_s, double period_s)
{
    struct arm_servo_params p = {.controller = controller,
                                 .period_s = period_s,
                                 .gain_per_s = 10.0,
                                 .tracking_per_s = 20.0,
                                 .stop_rad = 2e-4,
                                 .near_rad = 2e-3,
                                 .speed_min_radps = 0.02,
                                 .motor_lag_s = 0.2};
    for (size_t j = 0; j < 6; j++) {
        p.lag_s[j] = lag_s;
        p.known_lag_s[j] = known_lag_s;
        p.gain[j] = 1.0;
        p.speed_max_radps[j] = PI;
    }
    return p;
}

static void read_joints(const struct arm_servo *s, double q[6])
{
    for (size_t j = 0; j < 6; j++) {
        q[j] = s->joint[j].q_rad;
    }
}

/* --- moves through servos ---------------------------------------------------------------- */

struct tracking {
    double joint_max_rad, joint_square, tcp_max_m, tcp_square, path_m, end_m;
    double count, settle_s;
};

static void record_sample(struct tracking *r, const struct arm_move *move, double t_s,
                          const double target[6], const double q[6])
{
    const double off_m = tool_distance(target, q);
    r->path_m = fmax(r->path_m, arm_move_off_path(move, &ur5, q));
    r->end_m = off_m;
    r->settle_s = off_m > 1e-4 ? t_s - move->duration_s : r->settle_s;
    for (size_t j = 0; j < 6 && t_s <= move->duration_s; j++) {
        const double e = fabs(target[j] - q[j]);
        r->joint_max_rad = fmax(r->joint_max_rad, e);
        r->joint_square += e * e;
    }
    if (t_s <= move->duration_s) {
        r->tcp_max_m = fmax(r->tcp_max_m, off_m);
        r->tcp_square += off_m * off_m;
        r->count += 1.0;
    }
}

static struct tracking track_move(struct arm_move *move, const struct arm_servo_params *p)
{
    struct tracking r = {.count = 0.0};
    struct arm_servo s;
    struct arm_set_point now;
    double q[6];
    const long every = lround(0.008 / p->period_s);
    const long steps = (long)ceil((move->duration_s + 1.0) / p->period_s);
    arm_servo_place(&s, move->from_q);
    CHECK("begins", arm_move_at(move, &ur5, 0.0, now.q, now.qd));
    for (long k = 1; k <= steps; k++) {
        const double t_s = (double)k * p->period_s;
        struct arm_set_point next;
        CHECK("goes on", arm_move_at(move, &ur5, t_s, next.q, next.qd));
        arm_servo_step(&s, p, &now, &next);
        now = next;
        if (k % every == 0) {
            read_joints(&s, q);
            record_sample(&r, move, t_s, next.q, q);
        }
    }
    return r;
}

/* To a hundredth, or a nanometre: the reference takes the ends of periods in another order of
 * rounding. */
static void test_tracking(void)
{
    json_t *rows = load_golden("tracking.json");
    size_t i;
    json_t *row;
    const struct rigid from = arm_forward(&ur5, WORK2);
    struct rigid goal = from;
    goal.at_m[0] += 0.1;
    goal.at_m[1] += 0.15;
    goal.at_m[2] -= 0.1;
    json_array_foreach(rows, i, row) {
        const char *name = json_string_value(json_object_get(row, "move"));
        const bool line = strcmp(name, "movel 206 mm") == 0;
        struct arm_move move;
        const struct arm_fault fault =
            line
                ? arm_plan_line(&ur5, WORK2, &goal, &arm_rates_default, &arm_bounds_none, &move)
                : arm_plan_joints(&ur5, HOME, WORK, &arm_rates_default, &arm_bounds_none,
                                  &move);
        CU_ASSERT_FATAL(fault.refusal == ARM_ACCEPTED);
        const struct arm_servo_params p =
            make_servos(ARM_CONTROLLER_PROFILE, number_of(row, "lag_s"),
                        number_of(row, "known_lag_s"), number_of(row, "period_s"));
        const struct tracking r = track_move(&move, &p);
        (void)printf("%-16s lag %.4f known %.4f every %.3f s: joints %.6f mrad, tool %.6f mm, "
                     "path %.6f mm\n",
                     name, p.lag_s[0], p.known_lag_s[0], p.period_s, 1e3 * r.joint_max_rad,
                     1e3 * r.tcp_max_m, 1e3 * r.path_m);
        CHECK_NEAR(name, move.duration_s, number_of(row, "T_s"), 0, 1e-9);
        CHECK_NEAR(name, 1e3 * r.joint_max_rad, number_of(row, "joint_max_mrad"), 0.01, 1e-6);
        CHECK_NEAR(name, 1e3 * sqrt(r.joint_square / (6.0 * r.count)),
                   number_of(row, "joint_rms_mrad"), 0.01, 1e-6);
        CHECK_NEAR(name, 1e3 * r.tcp_max_m, number_of(row, "tcp_max_mm"), 0.01, 1e-6);
        CHECK_NEAR(name, 1e3 * sqrt(r.tcp_square / r.count), number_of(row, "tcp_rms_mm"), 0.01,
                   1e-6);
        CHECK_NEAR(name, 1e3 * r.end_m, number_of(row, "end_mm"), 0.01, 1e-6);
        CHECK_NEAR(name, r.settle_s, number_of(row, "settle_s"), 0, 0.009);
        if (line) {
            CHECK_NEAR(name, 1e3 * r.path_m, number_of(row, "path_mm"), 0.01, 1e-6);
        }
    }
    json_decref(rows);
}

/* --- six controllers ---------------------------------------------------------------------- */

struct regulated {
    double settle_s[6], over_rad[6], iae, end_m, within_s, final_rad;
};

/* All joints to their targets at once, for 10 s. */
static struct regulated regulate_pose(const struct arm_servo_params *p, const double to[6])
{
    struct regulated r = {.iae = 0.0};
    struct arm_servo s;
    struct arm_set_point target = {.qd = {0.0}};
    double q[6];
    memcpy(target.q, to, sizeof target.q);
    arm_servo_place(&s, HOME);
    for (long k = 1; k <= lround(10.0 / p->period_s); k++) {
        const double t_s = (double)k * p->period_s;
        arm_servo_step(&s, p, &target, &target);
        read_joints(&s, q);
        r.final_rad = 0.0;
        for (size_t j = 0; j < 6; j++) {
            const double way = to[j] - HOME[j];
            const double e = to[j] - q[j];
            r.settle_s[j] = fabs(e) > 0.02 * fmax(fabs(way), 1e-9) ? t_s : r.settle_s[j];
            r.over_rad[j] = fmax(r.over_rad[j], way > 0.0 ? -e : way < 0.0 ? e : 0.0);
            r.iae += fabs(e) * p->period_s;
            r.final_rad = fmax(r.final_rad, fabs(e));
        }
        r.end_m = tool_distance(q, to);
        r.within_s = k % 4 == 0 && r.end_m > 1e-3 ? t_s : r.within_s;
    }
    return r;
}

static void test_controllers(void)
{
    json_t *rows = load_golden("controllers.json");
    size_t i;
    json_t *row;
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] += 1.0;
    to[5] += 0.5;
    json_array_foreach(rows, i, row) {
        const char *kind = json_string_value(json_object_get(row, "kind"));
        const bool fsm = strcmp(kind, "fsm") == 0;
        const double lag_s = number_of(row, "lag_s");
        char name[64];
        struct arm_servo_params p =
            make_servos(fsm ? ARM_CONTROLLER_FSM : ARM_CONTROLLER_P, lag_s, lag_s, 0.002);
        p.gain_per_s = number_of(row, "kc");
        p.stop_rad = 5e-4;
        p.speed_min_radps = number_of(row, "w_min");
        p.near_rad = fsm ? number_of(row, "near") : p.near_rad;
        const struct regulated r = regulate_pose(&p, to);
        (void)snprintf(name, sizeof name, "%s lag %.2f kc %g", kind, lag_s, p.gain_per_s);
        (void)printf("%-18s tool rests %.3f | %.3f mm, within 1 mm %.3f | %.3f s, IAE %.4f | "
                     "%.4f\n",
                     name, 1e3 * r.end_m, number_of(row, "tcp_end_mm"), r.within_s,
                     number_of(row, "tcp_within_1mm_s"), r.iae, number_of(row, "iae"));
        if (fsm && lag_s > 0.05) { /* theirs is let go while it moves */
            CHECK(name, 1e3 * r.end_m < 0.5);
            CHECK(name, r.within_s < 3.0);
            CHECK(name, r.iae < 1.02 * number_of(row, "iae"));
            continue;
        }
        CHECK_NEAR(name, 1e3 * r.end_m, number_of(row, "tcp_end_mm"), 1e-6, 1e-6);
        CHECK_NEAR(name, r.within_s, number_of(row, "tcp_within_1mm_s"), 0, 1e-9);
        CHECK_NEAR(name, 1e3 * r.final_rad, number_of(row, "final_mrad"), 1e-6, 1e-6);
        CHECK_NEAR(name, r.iae, number_of(row, "iae"), 1e-9, 0);
        for (size_t j = 0; j < 6; j++) {
            CHECK_NEAR(
                name, r.settle_s[j],
                json_number_value(json_array_get(json_object_get(row, "settle_2pct_s"), j)), 0,
                1e-9);
            CHECK_NEAR(
                name, 1e3 * r.over_rad[j],
                json_number_value(json_array_get(json_object_get(row, "overshoot_mrad"), j)), 0,
                0.0051);
        }
    }
    json_decref(rows);
}

/* With the windows of an arm it rests within half a millimetre, whatever the lag, the period
 * and the controller. */
static void test_rest(void)
{
    static const double lags_s[] = {0.0, 0.0007, 0.005, 0.02, 0.05, 0.1};
    static const double periods_s[] = {0.002, 0.008};
    double to[6];
    memcpy(to, WORK, sizeof to);
    to[0] += 1.0;
    to[5] += 0.5;
    for (int c = ARM_CONTROLLER_FSM; c < ARM_CONTROLLER_COUNT; c++) {
        for (size_t i = 0; i < COUNT(lags_s); i++) {
            for (size_t k = 0; k < COUNT(periods_s); k++) {
                char name[64];
                const struct arm_servo_params p =
                    make_servos((enum arm_controller)c, lags_s[i], lags_s[i], periods_s[k]);
                const struct regulated r = regulate_pose(&p, to);
                (void)snprintf(name, sizeof name, "%s lag %g every %g s",
                               arm_controller_name((enum arm_controller)c), lags_s[i],
                               periods_s[k]);
                (void)printf("%-34s rests %.4f mm, within 1 mm %.3f s\n", name, 1e3 * r.end_m,
                             r.within_s);
                CHECK(name, 1e3 * r.end_m <= 0.5);
                CHECK(name, r.within_s < 3.0);
            }
        }
    }
}

/* --- a real arm --------------------------------------------------------------------------- */

enum { TARGETS_MAX = 20000, MOVES = 12 };

static const char *data_file(const char *name)
{
    static char path[1024];
    const char *data = getenv("TANDEM_DATA");
    (void)snprintf(path, sizeof path, "%s/ur5_ntnu/%s",
                   data && *data ? data : TANDEM_SOURCE_DIR "/../shared/data", name);
    return path;
}

static size_t read_targets(double (*t_q)[7])
{
    char line[1024];
    size_t count = 0;
    FILE *file = fopen(data_file("m6_verify.csv"), "r");
    if (!file) {
        return 0;
    }
    (void)fgets(line, sizeof line, file);
    while (count < TARGETS_MAX && fgets(line, sizeof line, file)) {
        double *x = t_q[count++];
        CU_ASSERT_FATAL(sscanf(line, "%lf,%lf,%lf,%lf,%lf,%lf,%lf", &x[0], &x[1], &x[2], &x[3],
                               &x[4], &x[5], &x[6]) == 7);
    }
    (void)fclose(file);
    return count;
}

static double worst_of(struct arm_move *move, double (*t_q)[7], size_t first, size_t last,
                       double start_s)
{
    double worst = 0.0;
    for (size_t i = first; i <= last; i++) {
        double q[6];
        double qd[6];
        (void)arm_move_at(move, &ur5, t_q[i][0] - start_s, q, qd);
        for (size_t j = 0; j < 6; j++) {
            worst = fmax(worst, fabs(q[j] - t_q[i][1 + j]));
        }
    }
    return worst;
}

/* Each move from its row of moves.csv that is a whole one: the controller's own set points at
 * 125 Hz, the start found to half a millisecond. */
static void test_real_targets(void)
{
    double(*t_q)[7] = calloc(TARGETS_MAX, sizeof *t_q);
    CU_ASSERT_FATAL(t_q != NULL);
    const size_t count = read_targets(t_q);
    FILE *file = fopen(data_file("moves.csv"), "r");
    char line[1024];
    size_t moves = 0;
    if (count == 0 || !file) {
        (void)printf("SKIPPED: no %s; set TANDEM_DATA to the recordings\n",
                     data_file("m6_verify.csv"));
    }
    while (count > 0 && file && fgets(line, sizeof line, file)) {
        double start_s = 0.0;
        double lasts_s = 0.0;
        int composite = 0;
        if (sscanf(line, "Movement_No6%*[^,],%lf,%lf,%*f,%*f,%*f,%d", &start_s, &lasts_s,
                   &composite) != 3 ||
            composite) {
            continue;
        }
        size_t first = 0;
        while (first + 1 < count && t_q[first + 1][0] < start_s - 0.004) {
            first++;
        }
        size_t last = first;
        while (last + 1 < count && t_q[last][0] < start_s + lasts_s + 0.02) {
            last++;
        }
        const struct arm_rates rates = {
            .v_radps = PI / 3.0, .a_radps2 = 1.4, .v_mps = 1.0, .a_mps2 = 1.0};
        struct arm_move move;
        CU_ASSERT_FATAL(arm_plan_joints(&ur5, &t_q[first][1], &t_q[last][1], &rates,
                                        &arm_bounds_none, &move)
                            .refusal == ARM_ACCEPTED);
        double worst = 1.0;
        double best_s = 0.0;
        for (double early_s = -0.016; early_s <= 0.016; early_s += 0.0005) {
            const double w = worst_of(&move, t_q, first, last, start_s - early_s);
            best_s = w < worst ? early_s : best_s;
            worst = fmin(worst, w);
        }
        (void)printf(
            "move at %7.3f s: %.2f mrad, begun %.1f ms before its first sample, %.4f s "
            "long\n",
            start_s, 1e3 * worst, 1e3 * best_s, move.duration_s);
        CHECK("within a milliradian", worst <= 1e-3);
        moves++;
    }
    if (file) {
        (void)fclose(file);
        CHECK_INT("moves", moves, count > 0 ? MOVES : 0);
    }
    free(t_q);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (!arm_geometry_find("ur5", &ur5)) {
        return 1;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm servo", NULL, NULL);
    CU_add_test(suite, "tracking", test_tracking);
    CU_add_test(suite, "controllers", test_controllers);
    CU_add_test(suite, "rest", test_rest);
    CU_add_test(suite, "real targets", test_real_targets);
    return check_run();
}
