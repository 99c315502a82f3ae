/* Parameter files of robots: good ones, and every fault with its place. */
#include "tests/support/check.h"

#include "service/sim/robot/robot_file.h"
#include "twin/sim/robot/robot_kinds.h"

static struct robot_file file = {.kind = &diffdrive_kind};

static enum status parse_text(const char *text, struct err_list *errors)
{
    for (size_t s = 0; s < SIDE_COUNT; s++) {
        robot_presets(&diffdrive_kind, file.values[s]);
    }
    memset(errors, 0, sizeof *errors);
    return option_file_parse(&robot_file, text, strlen(text), "p.yaml", &file, errors);
}

static double get_value(enum side side, const char *name)
{
    return file.values[side][robot_parameter_find(&diffdrive_kind, name)];
}

static void test_good(void)
{
    struct err_list errors;
    CHECK_INT(
        "good",
        parse_text("linear_speed_mps: 0.2\ncontroller: pd\nreal:\n  gain_left_ratio: 1.04\n"
                   "virtual: {linear_speed_mps: 0.3, controller: onoff}\n",
                   &errors),
        STATUS_OK);
    CHECK_INT("good", errors.count, 0);
    CHECK_NEAR("both", get_value(SIDE_REAL, "linear_speed_mps"), 0.2, 0, 0);
    CHECK_NEAR("virtual", get_value(SIDE_VIRTUAL, "linear_speed_mps"), 0.3, 0, 0);
    CHECK_NEAR("real", get_value(SIDE_REAL, "gain_left_ratio"), 1.04, 0, 0);
    CHECK_NEAR("not virtual", get_value(SIDE_VIRTUAL, "gain_left_ratio"), 1.0, 0, 0);
    CHECK_NEAR("word", get_value(SIDE_REAL, "controller"), 3.0, 0, 0);
    CHECK_NEAR("word", get_value(SIDE_VIRTUAL, "controller"), 0.0, 0, 0);
    CHECK_NEAR("as it was", get_value(SIDE_REAL, "track_m"), 0.16, 0, 0);
    CHECK_INT("empty", parse_text("", &errors), STATUS_OK);
}

static void test_faults(void)
{
    static const struct {
        const char *row, *text;
        unsigned line, column;
        const char *code;
    } cases[] = {
        {"unknown", "liner_speed_mps: 0.2\n", 1, 1, "unknown_key"},
        {"range", "kp: 1\nlinear_speed_mps: -0.2\n", 2, 19, "out_of_range"},
        {"word", "controller: magic\n", 1, 13, "unknown_value"},
        {"no number", "track_m: wide\n", 1, 10, "not_a_number"},
        {"in a side", "real:\n  kd: [1]\n", 2, 7, "value_expected"},
        {"side in a side", "real: {virtual: {kp: 1}}\n", 1, 8, "unknown_key"},
        {"no map", "- kp\n", 1, 1, "object_expected"},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct err_list errors;
        CHECK_INT(cases[i].row, parse_text(cases[i].text, &errors), STATUS_E_PARSE);
        CHECK_INT(cases[i].row, errors.count, 1);
        CHECK_INT(cases[i].row, errors.items[0].line, cases[i].line);
        CHECK_INT(cases[i].row, errors.items[0].column, cases[i].column);
        CHECK_TEXT(cases[i].row, fault_name(errors.items[0].fault), cases[i].code);
        CHECK_NEAR(cases[i].row, get_value(SIDE_REAL, "kp"), 300.0, 0, 0); /* nothing written */
    }
}

static void test_all_at_once(void)
{
    struct err_list errors;
    CHECK_INT("three", parse_text("kp: x\ncolour: red\nvirtual:\n  kd: -1\n  ki: 5\n", &errors),
              STATUS_E_PARSE);
    CHECK_INT("three", errors.count, 3);
    CHECK_INT("no file", option_file_load(&robot_file, "/nonexistent.yaml", &file, &errors),
              STATUS_E_IO);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("robot file", NULL, NULL);
    CU_ADD_TEST(suite, test_good);
    CU_ADD_TEST(suite, test_faults);
    CU_ADD_TEST(suite, test_all_at_once);
    return check_run();
}
