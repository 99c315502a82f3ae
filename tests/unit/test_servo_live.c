/* A simulated position servo, and its fit from telemetry: the robot moves as the equations say,
 * obeys go and halt, and applies new parameters; the live fit is that of a recording. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/random.h"
#include "identification/model/models.h"
#include "identification/servo/servo_fit.h"
#include "tests/support/servo_file.h"
#include "twin/dynamics/dynamics_task.h"
#include "twin/sim/robot/robot_kinds.h"

enum { ROWS = 1500, EACH = 4 /* steps of the robot */ };

static const double A = 0.0031, B = 0.12, DEAD_BAND = 0.012, DROOP = -0.02, DELAY_S = 0.045;

struct bench {
    void *memory;
    size_t replies;
    struct robot_reply last;
};

static struct servo_file file;
static int64_t t_us[ROWS];
static float values[ROWS][3];

static void record_reply(void *context, const struct robot_reply *reply)
{
    struct bench *b = context;
    b->replies++;
    b->last = *reply;
}

static void set_parameter(struct bench *b, const char *name, double value)
{
    char reason[ROBOT_REASON_MAX] = "";
    CHECK_INT(name, robot_set(&position_servo_kind, b->memory, name, value, reason), STATUS_OK);
}

static struct bench begin_bench(void)
{
    struct bench b = {.memory = malloc(position_servo_kind.bytes)};
    const struct robot_setup setup = {
        .seed = 3, .period_us = position_servo_kind.period_us, .pose = {0.1}, .pose_count = 1};
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.memory);
    position_servo_kind.init(b.memory, &setup);
    set_parameter(&b, "error_per_acceleration_s2", A);
    set_parameter(&b, "error_per_velocity_s", B);
    set_parameter(&b, "dead_band_rad", DEAD_BAND);
    set_parameter(&b, "droop_rad", DROOP);
    set_parameter(&b, "delay_s", DELAY_S);
    return b;
}

static struct robot_sample run_steps(struct bench *b, int steps)
{
    struct robot_sample sample;
    for (int i = 0; i < steps; i++) {
        position_servo_kind.step(b->memory, record_reply, b);
    }
    position_servo_kind.sample(b->memory, &sample);
    return sample;
}

/* Records telemetry in `file` and as samples of a window; commands are steps of any size, or
 * two values. Stiffness of the newer half is multiplied. */
static void record_telemetry(double newer, bool two_values)
{
    struct bench b = begin_bench();
    struct random_source draws = {.state = 9};
    int until = 0;
    double command = 0.1;
    set_parameter(&b, "encoder_step_rad", 2.0 * M_PI / 4096.0);
    set_parameter(&b, "noise_radps", 0.02);
    file.n = ROWS;
    for (int k = 0; k < ROWS; k++) {
        if (k == until) {
            const double drawn = random_between(&draws, -0.6, 0.6);
            command = two_values ? copysign(0.3, drawn) : drawn;
            until += (int)random_between(&draws, 8.0, 60.0);
            CHECK_INT("effort", position_servo_kind.effort(b.memory, &command, 1), STATUS_OK);
        }
        if (k == ROWS / 2) {
            set_parameter(&b, "error_per_acceleration_s2", A / newer);
            set_parameter(&b, "error_per_velocity_s", B / newer);
        }
        const struct robot_sample s = run_steps(&b, EACH);
        file.t_s[k] = (double)s.t_us * 1e-6;
        file.command_rad[k] = (float)s.tau[0];
        file.position_rad[k] = (float)s.pose[0];
        t_us[k] = s.t_us;
        values[k][0] = (float)s.nu[0];
        values[k][1] = (float)s.tau[0];
        values[k][2] = (float)s.pose[0];
    }
    free(b.memory);
}

static enum status run_task(struct dynamics_result *out, struct err *err)
{
    const struct dynamics_task task = {.model = &position_servo_model,
                                       .plausible = true,
                                       .has_pose = true,
                                       .method = DYNAMICS_METHOD_COUNT,
                                       .n = ROWS,
                                       .t_us = t_us,
                                       .values = values[0]};
    return dynamics_task_run(&task, out, err);
}

/* The robot is the law of the fits, row by row. */
static void test_motion(void)
{
    static double shown[ROWS], speed[ROWS];
    struct servo_summary summary;
    struct servo_set set;
    struct bench b = begin_bench();
    file.n = 200;
    for (size_t k = 0; k < file.n; k++) {
        const double command = 0.1 + (k > 20 ? 0.5 : 0.0) - (k > 90 ? 0.8 : 0.0);
        (void)position_servo_kind.effort(b.memory, &command, 1);
        struct robot_sample s;
        position_servo_kind.sample(b.memory, &s);
        file.t_s[k] = (double)s.t_us * 1e-6;
        file.command_rad[k] = command;
        file.position_rad[k] = s.pose[0];
        (void)run_steps(&b, EACH);
    }
    const struct servo_law law = {.stiffness = 1.0 / A,
                                  .damping = B / A,
                                  .dead_band_rad = DEAD_BAND,
                                  .droop_rad = DROOP,
                                  .scale = 1.0,
                                  .delay_s = DELAY_S,
                                  .error_max_rad = HUGE_VAL,
                                  .speed_radps = HUGE_VAL,
                                  .acceleration_radps2 = HUGE_VAL};
    CU_ASSERT_EQUAL_FATAL(servo_file_set(&file, &set, &summary, NULL), STATUS_OK);
    (void)servo_simulate(&set, &law, shown, speed);
    for (size_t k = 0; k < set.n; k++) {
        CHECK_NEAR("position", file.position_rad[k], shown[k], 0.0, 1e-9);
    }
    CHECK("speed", speed[30] > 0.5 && speed[100] < -0.5 && fabs(speed[199]) < 1e-3);
    servo_set_free(&set);
    free(b.memory);
}

static struct event_command make_command(const char *id, const char *op, double rotation_rad)
{
    struct event_command c = {.rotation_rad = rotation_rad};
    (void)snprintf(c.id, sizeof c.id, "%s", id);
    (void)snprintf(c.op, sizeof c.op, "%s", op);
    return c;
}

static void test_commands(void)
{
    struct bench b = begin_bench();
    const struct event_command commands[] = {
        make_command("a", "go", 0.5), make_command("b", "go", -0.2),
        make_command("c", "halt", 0.0), make_command("d", "dance", 0.0)};
    const double two[] = {0.1, 0.2};
    const double none = NAN;
    robot_command(&position_servo_kind, b.memory, &commands[0], record_reply, &b);
    struct robot_sample s = run_steps(&b, 300);
    CHECK_INT("one reply", b.replies, 1);
    CHECK_INT("done", b.last.status, REPLY_DONE);
    CHECK_NEAR("there", s.pose[0], 0.6 - DROOP, 0.0, DEAD_BAND + 2e-3);
    CHECK_NEAR("value", b.last.values[0].number, s.pose[0], 0.0, 2e-3);
    const double lasts_s = (double)(b.last.end_us - b.last.start_us) * 1e-6;
    CHECK("lap", lasts_s > 0.3 && lasts_s < 1.0);
    robot_command(&position_servo_kind, b.memory, &commands[1], record_reply, &b);
    (void)run_steps(&b, 20);
    CHECK_INT("moves", b.replies, 1);
    robot_command(&position_servo_kind, b.memory, &commands[2], record_reply, &b);
    (void)run_steps(&b, 1);
    CHECK_INT("both", b.replies, 3);
    CHECK_INT("the halt", b.last.status, REPLY_DONE);
    robot_command(&position_servo_kind, b.memory, &commands[3], record_reply, &b);
    (void)run_steps(&b, 1);
    CHECK_INT("ignored", b.last.status, REPLY_IGNORED);
    /* A commanded position ends a go; wrong ones are refused. */
    robot_command(&position_servo_kind, b.memory, &commands[0], record_reply, &b);
    CHECK_INT("two", position_servo_kind.effort(b.memory, two, 2), STATUS_E_RANGE);
    CHECK_INT("none", position_servo_kind.effort(b.memory, &none, 1), STATUS_E_RANGE);
    CHECK_INT("one", position_servo_kind.effort(b.memory, two, 1), STATUS_OK);
    s = run_steps(&b, 400);
    CHECK_INT("halted", b.last.status, REPLY_HALTED);
    CHECK_NEAR("obeys", s.pose[0], 0.1 - DROOP, 0.0, DEAD_BAND + 2e-3);
    free(b.memory);
}

/* A profile limits the speed. */
static void test_profile(void)
{
    struct bench b = begin_bench();
    const double far = 3.0;
    double most = 0.0;
    set_parameter(&b, "speed_limit_radps", 0.8);
    set_parameter(&b, "acceleration_limit_radps2", 10.0);
    (void)position_servo_kind.effort(b.memory, &far, 1);
    for (int k = 0; k < 600; k++) {
        most = fmax(most, run_steps(&b, 1).nu[0]);
    }
    CHECK_NEAR("limit", most, 0.8, 0.02, 0.0);
    free(b.memory);
}

static void test_live_fit(void)
{
    static struct dynamics_result live;
    struct err err = {0};
    record_telemetry(1.0, false);
    CHECK_INT(err.text, run_task(&live, &err), STATUS_OK);
    const struct servo_fit fit = servo_file_fit(&file);
    const struct estimate *e = &live.fit.estimate;
    const double *v = fit.estimate.value;
    const double natural = v[SERVO_NATURAL_FREQUENCY];
    CHECK_INT("verdict", live.checks.verdict, ESTIMATE_PASS);
    CHECK_NEAR("a", e->value[0], 1.0 / (natural * natural), 1e-12, 0.0);
    CHECK_NEAR("a", e->value[0], A, 0.01, 0.0);
    CHECK_NEAR("b", e->value[1], B, 0.01, 0.0);
    CHECK_NEAR("d", e->value[2], DEAD_BAND, 0.05, 0.0);
    CHECK_NEAR("g", e->value[3], DROOP, 0.02, 0.0);
    CHECK_NEAR("d", e->value[2], v[SERVO_DEAD_BAND], 1e-9, 0.0);
    CHECK_NEAR("delay", live.fit.delay_s, v[SERVO_DELAY], 1e-12, 0.0);
    CHECK("open", e->lo_open[0] <= e->lo[0] && e->hi_open[0] >= e->hi[0]);
    CHECK_NEAR("open", e->hi_open[1], 1.0 / fit.estimate.lo_open[SERVO_POSITION_GAIN], 1e-9,
               0.0);
    CHECK_INT("reference", live.honest.count, 1);
    CHECK("predicts", live.held_out_r2[0] > 0.99);
    (void)printf("velocities are off by %.3g rad/s\n", live.run_rmse[0]);
    CHECK("velocities", live.run_rmse[0] < 0.06 && live.trace.n == DYNAMICS_TRACE_MAX);
    /* The model derives the values of the fit, with their errors. */
    for (size_t i = 0; i < position_servo_model.derived_count; i++) {
        struct dynamics_derived derived;
        dynamics_derive(&live.fit, &position_servo_model, i, &derived);
        CHECK_NEAR(position_servo_model.derived[i].name, derived.value, v[i], 1e-9, 0.0);
        CHECK_NEAR(position_servo_model.derived[i].name, derived.se, fit.estimate.se[i], 1e-3,
                   0.0);
    }
}

static void test_wrong(void)
{
    static struct dynamics_result live;
    struct err err = {0};
    record_telemetry(0.7, false);
    CHECK_INT(err.text, run_task(&live, &err), STATUS_OK);
    CHECK_INT("softer", live.checks.verdict, ESTIMATE_MARGINAL);
    CHECK_INT("newer differ", live.checks.check[CHECK_HELD_OUT].verdict, ESTIMATE_MARGINAL);
    record_telemetry(1.0, true);
    CHECK_INT(err.text, run_task(&live, &err), STATUS_OK);
    CHECK_INT("two values", live.checks.check[CHECK_FIT].verdict, ESTIMATE_MARGINAL);
    for (size_t k = 0; k < ROWS; k++) {
        values[k][1] = 0.1F;
    }
    CHECK_INT(err.text, run_task(&live, &err), STATUS_OK);
    CHECK_INT("no command", live.checks.verdict, ESTIMATE_FAIL);
    CHECK("nothing known", isnan(live.fit.estimate.value[0]) && live.honest.count == 0);
    CHECK_INT("still", live.fit.stop, DYNAMICS_STOP_STILL);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("servo live", NULL, NULL);
    CU_add_test(suite, "motion", test_motion);
    CU_add_test(suite, "commands", test_commands);
    CU_add_test(suite, "profile", test_profile);
    CU_add_test(suite, "live fit", test_live_fit);
    CU_add_test(suite, "wrong", test_wrong);
    return check_run();
}
