/* The last minutes of a pair that follows: spaced, bounded, nothing while it does not drive. */
#include "tests/support/check.h"

#include <jansson.h>

#include "tests/support/web_fixture.h"
#include "web/stream/motion_history.h"

static struct fixture fixture;
static struct pair_rings *history;

/* To be given to json_decref(). */
static json_t *read_history(size_t pair)
{
    static char text[1 << 17];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    motion_history_write(history, &w, &fixture.view, pair);
    json_write_close(&w);
    CHECK("whole", json_write_end(&w));
    return json_loadb(text, w.used, 0, NULL);
}

/* A snapshot with these velocities. */
static void look_at(double t_s, bool driving, double reference, double error)
{
    fixture.view.t_us = fixture_us(t_s);
    fixture.following->f.driving = driving;
    fixture.following->f.target.nu[0] = reference;
    fixture.following->f.output.error[0] = error;
    motion_history_look(history, &fixture.view);
}

static double read_number(const json_t *list, size_t k)
{
    return json_number_value(json_array_get(list, k));
}

static void test_history(void)
{
    CU_ASSERT_EQUAL_FATAL(motion_history_create(&history), STATUS_OK);
    json_t *found = read_history(0);
    CHECK_INT("nothing yet", json_array_size(json_object_get(found, "t")), 0);
    json_decref(found);
    look_at(1.0, false, 9.0, 0.0);
    look_at(2.0, true, 0.5, 0.25);
    look_at(2.2, true, 9.0, 0.0); /* too soon */
    look_at(2.5, true, 0.75, 0.25);
    look_at(3.5, false, 9.0, 0.0);
    found = read_history(0);
    const json_t *velocity = json_object_get(json_object_get(found, "velocities"), "u_mps");
    const json_t *reference = json_object_get(velocity, "reference");
    const json_t *actual = json_object_get(velocity, "actual");
    CHECK_INT("two", json_array_size(json_object_get(found, "t")), 2);
    CHECK_NEAR("time", read_number(json_object_get(found, "t"), 0), FIXTURE_START_S + 2.0, 0,
               0);
    CHECK_NEAR("reference", read_number(reference, 1), 0.75, 0, 0);
    CHECK_NEAR("actual", read_number(actual, 1), 0.5, 0, 0);
    json_decref(found);
    for (int k = 0; k < MOTION_POINTS_MAX + 5; k++) {
        look_at(10.0 + k, true, k, 0.0);
    }
    found = read_history(0);
    const json_t *t = json_object_get(found, "t");
    CHECK_INT("bounded", json_array_size(t), MOTION_POINTS_MAX);
    CHECK_NEAR("the newest ones", read_number(t, 0), FIXTURE_START_S + 15.0, 0, 0);
    json_decref(found);
    pair_rings_destroy(history);
    pair_rings_destroy(NULL);
}

int main(void)
{
    fixture_open(&fixture, 2);
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("motion history", NULL, NULL);
    CU_add_test(suite, "history", test_history);
    const int result = check_run();
    fixture_close(&fixture);
    return result;
}
