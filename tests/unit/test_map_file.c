#include "tests/support/check.h"

#include "config/options/option_file.h"
#include "config/labfile/map_file.h"

static void test_example(void)
{
    static struct world w;
    struct err_list errors = {0};
    CHECK_INT("example",
              option_file_load(&map_file, TANDEM_SOURCE_DIR "/config/missions/room.yaml", &w,
                               &errors),
              STATUS_OK);
    err_list_print(&errors, stdout);
    CHECK_INT("obstacles", w.obstacle_count, 5);
    CHECK_NEAR("bounds", w.bounds.y_max_m, 2.0, 0.0, 0.0);
    CHECK_NEAR("pillar", world_range(&w, 0.0, 0.1, 0.0, 9.0), 0.95, 0.0, 1e-12);
    CHECK("in the turned box", world_blocked(&w, -1.5 + 0.45, -1.0 + 0.14, 0.0));
    CHECK("next to it", !world_blocked(&w, -1.5 + 0.45, -1.0 - 0.25, 0.0));
    CHECK("visitor is not there", !world_blocked(&w, 0.2, -0.9, 0.0));
    w.t_s = 30.0;
    CHECK("visitor is there", world_blocked(&w, 0.2, -0.9, 0.0));
    w.mapped_only = true;
    CHECK("visitor is on no map", !world_blocked(&w, 0.2, -0.9, 0.0));
}

/* Faults have places, and all are reported at once. */
static void test_faults(void)
{
    static const struct {
        const char *row;
        const char *text;
        const char *want[4]; /* "line:column: beginning of the text" */
    } rows[] = {
        {"no map", "[1, 2]", {"1:1: object_expected"}},
        {"unknown key", "nmae: x\n", {"1:1: unknown_key"}},
        {"bounds", "bounds: {x_min_m: 1, x_max_m: 0, y_max_m: 2}\n", {"1:43: wrong_order"}},
        {"shape",
         "obstacles:\n  a: {shape: ball}\n",
         {"2:6: missing_key", "2:6: missing_key", "2:6: missing_key", "2:14: unknown_value"}},
        {"circle without radius", "obstacles:\n  a: {x_m: 1, y_m: 2}\n", {"2:6: missing_key"}},
        {"radius of a wall",
         "obstacles:\n  a: {shape: wall, radius_m: 1, points_m: [[0, 0], [1, 1]]}\n",
         {"2:30: not_applicable"}},
        {"two corners",
         "obstacles:\n  a: {shape: polygon, points_m: [[0, 0], [1, 1]]}\n",
         {"2:33: wrong_count"}},
        {"points",
         "obstacles:\n  a: {shape: wall, points_m: [[0, 0, 1], [1, x], [2, 1e9]]}\n",
         {"2:31: numbers_expected", "2:46: not_a_number", "2:54: out_of_range"}},
        {"no list", "obstacles:\n  a: {shape: wall, points_m: 3}\n", {"2:30: list_expected"}},
        {"time",
         "obstacles:\n  a: {x_m: 1, y_m: 2, radius_m: 1, appears_s: 5, leaves_s: 4}\n",
         {"2:60: wrong_order"}},
        {"negative radius",
         "obstacles:\n  a: {x_m: 1, y_m: 2, radius_m: -1}\n",
         {"2:33: out_of_range"}},
        {"two faults",
         "obstacles:\n  'a b': {}\n  c: {x_m: 0,5}\n",
         {"2:3: bad_name", "3:6: missing_key", "3:6: missing_key", "3:14: unknown_key"}},
        {"obstacles are no list", "obstacles: [1]\n", {"1:12: object_expected"}},
    };
    static struct world w;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct err_list errors = {0};
        CHECK_INT(rows[i].row,
                  option_file_parse(&map_file, rows[i].text, strlen(rows[i].text), "m.yaml", &w,
                                    &errors),
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

static void test_limits(void)
{
    static char text[WORLD_OBSTACLES_MAX * 64];
    static struct world w;
    struct err_list errors = {0};
    size_t n = (size_t)snprintf(text, sizeof text, "obstacles:\n");
    for (int i = 0; i <= WORLD_OBSTACLES_MAX; i++) {
        n += (size_t)snprintf(text + n, sizeof text - n,
                              "  o%d: {x_m: %d, y_m: 0, radius_m: 1}\n", i, i);
    }
    w.obstacle_count = 77;
    CHECK_INT("too many", option_file_parse(&map_file, text, n, "m.yaml", &w, &errors),
              STATUS_E_PARSE);
    CHECK_INT("one fault", errors.count, 1);
    CHECK_INT("its line", errors.items[0].line, WORLD_OBSTACLES_MAX + 2);
    CHECK_INT("untouched", w.obstacle_count, 77);
    CHECK_INT("empty file", option_file_parse(&map_file, "", 0, "m.yaml", &w, &errors),
              STATUS_OK);
    CHECK_INT("empty map", w.obstacle_count, 0);
    CHECK_INT("no file", option_file_load(&map_file, "/no/such/map.yaml", &w, &errors),
              STATUS_E_IO);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("map file", NULL, NULL);
    CU_add_test(suite, "example", test_example);
    CU_add_test(suite, "faults", test_faults);
    CU_add_test(suite, "limits", test_limits);
    return check_run();
}
