/* Next moves against choices that another program made: with goals and a mission, from no
 * knowledge to much, in rooms. */
#include "tests/support/check.h"

#include <jansson.h>

#include "identification/travel/next_move.h"

static char row[64];

static void read_numbers(const json_t *list, double *out)
{
    for (size_t i = 0; i < json_array_size(list); i++) {
        out[i] = json_number_value(json_array_get(list, i));
    }
}

static double number_or_nan(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static void read_aim(const json_t *call, struct next_move_aim *aim)
{
    const json_t *mission = json_object_get(call, "mission");
    const json_t *goal = json_object_get(call, "goal");
    const json_t *room = json_object_get(call, "room");
    const json_t *move;
    size_t i;
    *aim = (struct next_move_aim){.speed_ratio = number_or_nan(goal, "speed_ratio"),
                                  .delay_s = number_or_nan(goal, "delay_s"),
                                  .mission = mission != NULL,
                                  .half_s = number_or_nan(mission, "half_s"),
                                  .bounded = json_is_array(room)};
    json_array_foreach(json_object_get(mission, "moves"), i, move)
    {
        double size[2];
        double x[TRAVEL_P];
        read_numbers(move, size);
        travel_row(size[0], size[1], x);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            aim->mission_row[j] += x[j];
        }
    }
    read_numbers(json_object_get(call, "turn"), aim->turn_rad);
    read_numbers(json_object_get(call, "drive"), aim->drive_m);
    read_numbers(room, aim->room_m[0]);
}

static void read_known(const json_t *call, struct next_move_known *known)
{
    const json_t *rows = json_object_get(call, "info");
    for (size_t j = 0; j < TRAVEL_P; j++) {
        read_numbers(json_array_get(rows, j), known->information + TRAVEL_P * j);
    }
    known->lap_s_sd = json_number_value(json_object_get(call, "sd"));
    read_numbers(json_object_get(call, "beta"), known->beta);
    known->n = (size_t)json_integer_value(json_object_get(call, "n"));
}

static void check_errors(const char *what, const double got[TRAVEL_P], const json_t *want)
{
    char name[96];
    (void)snprintf(name, sizeof name, "%s %s", row, what);
    for (size_t j = 0; j < TRAVEL_P && want; j++) {
        CHECK_NEAR(name, got[j], json_number_value(json_array_get(want, j)), 1e-9, 1e-12);
    }
}

static void check_case(const json_t *call, const json_t *answer)
{
    static const char *const states[] = {"move", "reached", "no_room"};
    struct next_move_aim aim;
    struct next_move_known known;
    struct next_move got = {0};
    double pose[3];
    read_aim(call, &aim);
    read_known(call, &known);
    read_numbers(json_object_get(call, "pose"), pose);
    const size_t counter = (size_t)json_integer_value(json_object_get(call, "counter"));
    const enum next_move_state state = next_move_find(&aim, &known, pose, counter, &got);
    CHECK_TEXT(row, states[state], json_string_value(json_object_get(answer, "state")));
    check_errors("se", got.se, json_object_get(answer, "se"));
    if (state == NEXT_MOVE_FOUND) {
        check_errors("se_after", got.se_after, json_object_get(answer, "se_after"));
        CHECK_NEAR(row, got.rotation_rad, number_or_nan(answer, "rotation_rad"), 1e-9, 1e-12);
        CHECK_NEAR(row, got.displacement_m, number_or_nan(answer, "displacement_m"), 1e-9,
                   1e-12);
        CHECK_NEAR(row, got.gain, number_or_nan(answer, "gain"), 1e-9, 1e-12);
        CHECK_INT(row, got.why == NEXT_MOVE_MIDDLE,
                  json_is_true(json_object_get(answer, "middle")));
    }
}

static void test_choices(void)
{
    json_error_t error;
    json_t *cases = json_load_file("tests/golden/forecast/next_move.json", 0, &error);
    const json_t *one;
    size_t i;
    CU_ASSERT_PTR_NOT_NULL_FATAL(cases);
    CHECK_INT("cases", json_array_size(cases), 60);
    json_array_foreach(cases, i, one)
    {
        (void)snprintf(row, sizeof row, "case %zu", i);
        check_case(json_object_get(one, "call"), json_object_get(one, "answer"));
    }
    json_decref(cases);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("next move", NULL, NULL);
    (void)CU_add_test(suite, "choices", test_choices);
    return check_run();
}
