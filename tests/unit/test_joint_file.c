#include "tests/support/check.h"

#include "service/sim/experiment/experiment_file.h"

static enum status parse_text(const char *text, struct joint_file *file,
                              struct err_list *errors)
{
    *errors = (struct err_list){0};
    return option_file_parse(&joint_file, text, strlen(text), "x.yaml", file, errors);
}

static void test_values(void)
{
    struct joint_file file;
    struct err_list errors;
    CHECK_INT(
        "reads",
        parse_text("kind: joint\nname: mine\nset_point_rad: -3\n"
                   "joint: {lag_s: [0.2, 0], position_gain: 0.5, method: euler}\n"
                   "command: {max_radps: 4, min_radps: 0.2}\ncontrollers: [fsm, profile]\n"
                   "control: {period_s: 0.01, near_rad: 0.3, margin_rad: 0.05}\n"
                   "profile: {jerk_radps3: 0, speed_radps: 1.5}\n"
                   "paper: {fsm: {ise: 7}}\n",
                   &file, &errors),
        STATUS_OK);
    CHECK_TEXT("name", file.name, "mine");
    CHECK_INT("lags", file.lag_count, 2);
    CHECK_NEAR("window of the first", file.slow_rad[0], 0.5 * 0.2 * 3.8 + 0.05, 1e-12, 0.0);
    CHECK_NEAR("of the second", file.slow_rad[1], 0.3, 0.0, 0.0);
    CHECK("which run", !file.runs[POSITION_P] && file.runs[POSITION_FSM] &&
                           file.runs[POSITION_PROFILE] && !file.runs[POSITION_TIME_OPTIMAL]);
    CHECK("trapezoid", !isfinite(file.trial.control.limits.jerk));
    CHECK_NEAR("published", file.paper[POSITION_FSM].ise, 7.0, 0.0, 0.0);
    CHECK("not published", isnan(file.paper[POSITION_FSM].iae));
    struct joint_trial_params trial;
    joint_file_trial(&file, 0, POSITION_FSM, &trial);
    CHECK_NEAR("lag of the joint", trial.joint.lag_s, 0.2, 0.0, 0.0);
    CHECK_NEAR("in its usual form", trial.control.lag_s, 0.2, 0.0, 0.0);
    CHECK_NEAR("gain of the joint", trial.joint.position_gain, 0.5, 0.0, 0.0);
    CHECK_INT("kind", trial.control.kind, POSITION_FSM);
    CHECK_INT("method", trial.method, SERVO_EULER);
    struct joint_trial_result r;
    joint_trial_run(&trial, NULL, NULL, &r);
    CHECK("downwards, too", fabs(r.final_error) < 0.3 && r.overshoot < 0.3);
}

/* IAE over 20 s from 0 to 25 rad, lag 0.1 s, with these lines of the file. */
static double find_iae(const char *more, enum position_kind kind)
{
    char text[256];
    struct joint_file file;
    struct err_list errors;
    struct joint_trial_params trial;
    struct joint_trial_result r;
    (void)snprintf(text, sizeof text, "kind: joint\njoint: {lag_s: [0.1]}\n%s", more);
    CU_ASSERT_EQUAL_FATAL(parse_text(text, &file, &errors), STATUS_OK);
    joint_file_trial(&file, 0, kind, &trial);
    joint_trial_run(&trial, NULL, NULL, &r);
    CHECK_NEAR("there", r.final_error, 0.0, 0.0, 0.11);
    return r.integral.iae;
}

/* A motor under a PID tuned to the lag is a joint with the lag; what the motor cannot give
 * makes it slower. */
static void test_motor(void)
{
    for (int k = 0; k < POSITION_KIND_COUNT; k++) {
        const enum position_kind kind = (enum position_kind)k;
        const double plain = find_iae("", kind);
        CHECK_NEAR(position_kind_name(kind), find_iae("motor: {lag_s: 0.5}\n", kind), plain,
                   0.005, 0.0);
        CHECK_NEAR("no limit", find_iae("motor: {lag_s: 0.5, max_radps: 60}\n", kind),
                   find_iae("motor: {lag_s: 0.5}\n", kind), 0.02, 0.0);
        CHECK("weak", find_iae("motor: {lag_s: 0.5, max_radps: 11}\n", kind) > 1.05 * plain);
    }
}

/* A load makes a controller without an integral stop short, by the speed for the load over the
 * gain. */
static void test_load(void)
{
    struct joint_file file;
    struct err_list errors;
    struct joint_trial_params trial;
    struct joint_trial_result r;
    CHECK_INT("reads",
              parse_text("joint: {lag_s: [0.1], load_nm: 2, load_gain_radpsnm: 0.5}\n"
                         "control: {gain_per_s: 4, stop_rad: 0}\ncommand: {min_radps: 0}\n",
                         &file, &errors),
              STATUS_OK);
    joint_file_trial(&file, 0, POSITION_P, &trial);
    CHECK_NEAR("load", trial.load, 2.0, 0.0, 0.0);
    CHECK_NEAR("gain", trial.joint.load_gain, 0.5, 0.0, 0.0);
    joint_trial_run(&trial, NULL, NULL, &r);
    CHECK_NEAR("left", r.final_error, 2.0 * 0.5 / 4.0, 0.01, 0.0);
}

static void test_faults(void)
{
    static const struct {
        const char *text, *code;
        unsigned line;
    } rows[] = {
        {"kind: joint\n", "missing_key", 1},
        {"kind: joint\njoint: {lag_s: 0.1}\n", "list_expected", 2},
        {"kind: joint\njoint: {lag_s: []}\n", "list_expected", 2},
        {"kind: joint\njoint: {lag_s: [0.1, -1]}\n", "out_of_range", 2},
        {"kind: joint\njoint: {lag_s: [x]}\n", "not_a_number", 2},
        {"kind: joint\njoint: {lag_s: [[1]]}\n", "not_a_number", 2},
        {"joint: {lag_s: [0.1, 0]}\nmotor: {lag_s: 0.5}\n", "out_of_range", 2},
        {"joint: {lag_s: [0.1]}\nmotor: {lag_s: -1}\n", "out_of_range", 2},
        {"joint: {lag_s: [0.1], load_nm: 1}\n", "not_applicable", 1},
        {"joint: {lag_s: [0.1], load_gain_radpsnm: 1}\n", "not_applicable", 1},
        {"joint: {lag_s: [0.1]}\ncontrollers: [q]\n", "unknown_value", 2},
        {"joint: {lag_s: [0.1]}\ncontrollers: p\n", "list_expected", 2},
        {"joint: {lag_s: [0.1]}\npaper: {q: {ise: 1}}\n", "unknown_key", 2},
        {"joint: {lag_s: [0.1]}\npaper: {p: {mse: 1}}\n", "unknown_key", 2},
        {"joint: {lag_s: [0.1]}\ncontrol: {slow_rad: [1, 2]}\n", "wrong_count", 2},
        {"joint: {lag_s: [0.1]}\ncontrol: {slow_rad: [0.1]}\n", "out_of_range", 2},
        {"joint: {lag_s: [0.1]}\ncontrol: {slow_rad: ['1']}\n", "not_a_number", 2},
        {"joint: {lag_s: [0.1]}\nsample_s: 0.0015\n", "inconsistent", 2},
        {"joint: {lag_s: [0.1]}\ncommand: {min_radps: 11}\n", "out_of_range", 1},
        {"kind: follow\njoint: {lag_s: [0.1]}\n", "unknown_value", 1},
        {"joint: {lag_s: [0.1]\n", "bad_syntax", 2},
        {"", "empty_file", 1},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct joint_file file = {.lag_count = 77};
        struct err_list errors;
        CHECK_INT(rows[i].text, parse_text(rows[i].text, &file, &errors), STATUS_E_PARSE);
        CHECK_INT(rows[i].text, errors.count, 1);
        CHECK_TEXT(rows[i].text, fault_name(errors.items[0].fault), rows[i].code);
        CHECK_INT(rows[i].text, errors.items[0].line, rows[i].line);
        CHECK_INT("nothing is written", file.lag_count, 77);
    }
}

static enum status load_experiment(const char *path, struct any_experiment *file)
{
    struct err_list errors = {0};
    return option_file_load(&any_experiment_file, path, file, &errors);
}

static void test_kind(void)
{
    static struct any_experiment file;
    const char *folder = TANDEM_SOURCE_DIR "/config/experiments";
    char path[512];
    (void)snprintf(path, sizeof path, "%s/joint.yaml", folder);
    CHECK_INT("joint", load_experiment(path, &file), STATUS_OK);
    CHECK("joint", file.kind == EXPERIMENT_JOINT && file.of_joint.lag_count > 0);
    memset(&file, 0, sizeof file);
    (void)snprintf(path, sizeof path, "%s/table7.yaml", folder);
    CHECK_INT("follow", load_experiment(path, &file), STATUS_OK);
    CHECK("follow", file.kind == EXPERIMENT_FOLLOW && file.follow.runs > 0);
    CHECK_INT("not there", load_experiment("/nowhere.yaml", &file), STATUS_E_IO);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("joint experiments", NULL, NULL);
    CU_add_test(suite, "motor", test_motor);
    CU_add_test(suite, "load", test_load);
    CU_add_test(suite, "values", test_values);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "kind", test_kind);
    return check_run();
}
