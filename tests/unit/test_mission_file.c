#include "tests/support/check.h"

#include <unistd.h>

#include "service/sim/mission/course_file.h"
#include "service/sim/mission/mission_file.h"
#include "tests/support/scratch.h"

static void test_examples(void)
{
    static struct mission_file f;
    struct err_list errors = {0};
    CHECK_INT("goal",
              option_file_load(&mission_file, TANDEM_SOURCE_DIR "/config/missions/goal.yaml",
                               &f, &errors),
              STATUS_OK);
    CHECK_TEXT("pair", f.pair, "r1");
    CHECK_INT("steps", f.plan.step_count, 3);
    CHECK_INT("goal", f.plan.steps[2].kind, L2_STEP_GOAL);
    CHECK_NEAR("point", f.plan.points[f.plan.steps[2].first].y_m, 1.2, 0.0, 0.0);
    CHECK_INT("map", f.plan.map.obstacle_count, 5);
    CHECK_INT("returns", f.plan.returns, MISSION_RETURN_ALWAYS);
    CHECK("asks for its start", f.plan.locates);
    CHECK_INT("patience", f.plan.patience_us, 60000000);
    CHECK_INT("path",
              option_file_load(&mission_file, TANDEM_SOURCE_DIR "/config/missions/path.yaml",
                               &f, &errors),
              STATUS_OK);
    CHECK("asks for its start", f.plan.locates);
    CHECK_INT("points", f.plan.steps[0].count, 3);
    CHECK_INT("sweep",
              option_file_load(&mission_file, TANDEM_SOURCE_DIR "/config/missions/sweep.yaml",
                               &f, &errors),
              STATUS_OK);
    CHECK_TEXT("no pair", f.pair, "");
    CHECK_INT("default", f.plan.returns, MISSION_RETURN_ON_FAILURE);
    CHECK_NEAR("default", f.plan.clearance_m, 0.3, 0.0, 0.0);
    CHECK_INT("faults", errors.count, 0);
}

static void test_start(void)
{
    static const char text[] = "start: {x_m: 1, heading_rad: -1}\npose: reckoned\n"
                               "map: {bounds: {x_max_m: 2, y_max_m: 2}}\n"
                               "steps: [{goal_m: [1, 1]}, {path_m: [[1, 1.5]]}]\n";
    static struct mission_file f;
    struct err_list errors = {0};
    CHECK_INT("fine",
              option_file_parse(&mission_file, text, strlen(text), "m.yaml", &f, &errors),
              STATUS_OK);
    CHECK("known", !f.plan.locates);
    CHECK("reckoned", f.plan.reckoned);
    CHECK_NEAR("heading", f.plan.start[2], -1.0, 0.0, 0.0);
    CHECK_NEAR("map", f.plan.map.bounds.y_max_m, 2.0, 0.0, 0.0);
}

static void test_faults(void)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want[4]; /* "line:column: beginning of the text" */
    } rows[] = {
        {"empty", "", {"1:1: empty_file"}},
        {"no steps", "name: x\n", {"1:1: missing_key"}},
        {"no list", "steps: {sweep: true}\n", {"1:8: list_expected"}},
        {"empty list", "steps: []\n", {"1:8: list_expected"}},
        {"unknown step",
         "steps: [{walk: 3}]\n",
         {"1:9: conflicting_keys", "1:10: unknown_key"}},
        {"empty step", "steps:\n  -\n", {"2:4: conflicting_keys"}},
        {"two in one", "steps: [{sweep: true, goal_m: [1, 2]}]\n", {"1:9: conflicting_keys"}},
        {"no sweep", "steps: [{sweep: false}]\n", {"1:17: boolean_expected"}},
        {"goal", "steps: [{goal_m: 3}]\n", {"1:18: numbers_expected"}},
        {"goal in a list", "steps: [{goal_m: [[1, 2]]}]\n", {"1:18: numbers_expected"}},
        {"goal of words", "steps: [{goal_m: [a, 2]}]\n", {"1:19: not_a_number"}},
        {"path", "steps: [{path_m: [1, 2]}]\n", {"1:19: numbers_expected"}},
        {"no points", "steps: [{path_m: []}]\n", {"1:18: wrong_count"}},
        {"pair", "pair: a/b\nsteps: [{sweep: true}]\n", {"1:7: bad_name"}},
        {"choice", "return: often\nsteps: [{sweep: true}]\n", {"1:9: unknown_value"}},
        {"no such map",
         "map: nowhere.yaml\nsteps: [{sweep: true}]\n",
         {"0:0: file_unreadable", "1:6: bad_path"}},
        {"map inline",
         "map: {obstacles: {a: {x_m: 1, y_m: 1}}}\nsteps: [{sweep: true}]\n",
         {"1:22: missing_key"}},
        {"goal in an obstacle",
         "map: {obstacles: {a: {x_m: 1, y_m: 1, radius_m: 0.5}}}\n"
         "steps:\n- goal_m: [1.6, 1]\n- path_m: [[1.6, 1], [1.2, 1]]\n",
         {"3:11: in_obstacle", "4:11: in_obstacle"}},
        {"more than one",
         "clearance_m: -1\npatience_s: x\nsteps: [{sweep: maybe}]\n",
         {"1:14: out_of_range", "2:13: not_a_number", "3:17: boolean_expected"}},
    };
    static struct mission_file f;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err_list errors = {0};
        CHECK_INT(rows[i].row,
                  option_file_parse(&mission_file, rows[i].text, strlen(rows[i].text), "m.yaml",
                                    &f, &errors),
                  STATUS_E_PARSE);
        for (size_t k = 0; k < COUNT(rows[i].want) && rows[i].want[k]; k++) {
            char got[512] = "(none)";
            if (k < errors.count) {
                (void)snprintf(got, sizeof got, "%u:%u: %s", errors.items[k].line,
                               errors.items[k].column, fault_name(errors.items[k].fault));
            }
            CHECK_TEXT(rows[i].row, got, rows[i].want[k]);
        }
    }
}

/* A map of cells may be that of a pair with wheels; a course needs circles. */
static void test_ros_map(void)
{
    static struct mission_file wheels;
    static struct course_file vessel;
    static const char map[] = "image: hall.pgm\n";
    char path[256], text[512];
    struct err_list errors = {0};
    const int file = mkstemp(scratch_template(path, "ros_map"));
    CU_ASSERT_FATAL(file >= 0 && write(file, map, sizeof map - 1) == sizeof map - 1);
    (void)close(file);
    (void)snprintf(text, sizeof text, "map: %s\nsteps: [{sweep: true}]\n", path);
    CHECK_INT("wheels",
              option_file_parse(&mission_file, text, strlen(text), "m.yaml", &wheels, &errors),
              STATUS_E_PARSE);
    CHECK("wheels", strstr(errors.items[0].text, "make it the map of the pair"));
    errors = (struct err_list){0};
    (void)snprintf(text, sizeof text, "kind: vessel\nmap: %s\ncourse_m: [[60, 0]]\n", path);
    CHECK_INT("vessel",
              option_file_parse(&course_file, text, strlen(text), "m.yaml", &vessel, &errors),
              STATUS_E_PARSE);
    CHECK("vessel", strstr(errors.items[0].text, "give a map of circles"));
    (void)unlink(path);
}

static void test_limits(void)
{
    static char text[MISSION_STEPS_MAX * 64];
    static struct mission_file f;
    struct err_list errors = {0};
    size_t n = (size_t)snprintf(text, sizeof text, "steps:\n");
    for (int i = 0; i <= MISSION_STEPS_MAX; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n, "- sweep: true\n");
    }
    CHECK_INT("too many steps",
              option_file_parse(&mission_file, text, n, "m.yaml", &f, &errors), STATUS_E_PARSE);
    CHECK_INT("one fault", errors.count, 1);
    n -= strlen("- sweep: true\n");
    CHECK_INT("just so many", option_file_parse(&mission_file, text, n, "m.yaml", &f, &errors),
              STATUS_OK);
    CHECK_INT("no file", option_file_load(&mission_file, "/no/such.yaml", &f, &errors),
              STATUS_E_IO);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("mission file", NULL, NULL);
    CU_add_test(suite, "examples", test_examples);
    CU_add_test(suite, "start", test_start);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "maps of ROS", test_ros_map);
    CU_add_test(suite, "limits", test_limits);
    return check_run();
}
