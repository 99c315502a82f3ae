/* tests/unit/test_rays.c - the stored rays of lidars. */
#include "tests/support/check.h"

#include <jansson.h>

#include "web/http/rays.h"

static struct rays *rays;
static struct pair_side state;

static void add_ray(size_t pair, enum side side, int k, const char *name, enum value_kind kind,
                    double range_m)
{
    struct event event = {.kind = EVENT_REPLY,
                          .side = side,
                          .t_us = INT64_C(1000000) * k,
                          .reply.value_count = 2};
    struct event_value *values = event.reply.values;
    (void)snprintf(values[0].name, sizeof values[0].name, "angle_rad");
    values[0].kind = VALUE_NUMBER;
    values[0].number = 0.25;
    (void)snprintf(values[1].name, sizeof values[1].name, "%s", name);
    values[1].kind = kind;
    values[1].number = range_m;
    rays_add(rays, pair, &event, &state);
}

/* To be given to json_decref(). */
static json_t *read_rays(size_t pair, const char *side)
{
    static char text[1 << 16];
    struct json_writer w;
    json_write_start(&w, text, sizeof text, NULL, NULL);
    json_write_object(&w, NULL);
    rays_write(rays, &w, pair);
    json_write_close(&w);
    CHECK("whole", json_write_end(&w));
    json_t *document = json_loadb(text, w.used, 0, NULL);
    json_t *found = json_incref(json_object_get(json_object_get(document, "rays"), side));
    json_decref(document);
    return found;
}

static double read_number(json_t *list, size_t k, size_t column)
{
    return json_number_value(json_array_get(json_array_get(list, k), column));
}

static void test_rays(void)
{
    CU_ASSERT_FATAL(rays_create(2, &rays) == STATUS_OK);
    add_ray(0, SIDE_REAL, 1, "range_m", VALUE_NUMBER, 1.0); /* no pose yet */
    state.pose_count = 3;
    state.pose[0] = 2.0;
    state.pose[2] = 0.5;
    add_ray(0, SIDE_REAL, 2, "range", VALUE_NUMBER, 1.0);
    add_ray(0, SIDE_REAL, 3, "range_m", VALUE_TEXT, 1.0);
    add_ray(0, SIDE_REAL, 4, "range_m", VALUE_NUMBER, (double)NAN);
    add_ray(0, SIDE_REAL, 5, "range_m", VALUE_NUMBER, -1.0); /* nothing seen */
    add_ray(0, SIDE_REAL, 6, "range_m", VALUE_NUMBER, 1e300);
    json_t *none = read_rays(0, "real");
    CHECK_INT("no ray", json_array_size(none), 0);
    json_decref(none);

    for (int k = 0; k < RAYS_MAX + 5; k++) {
        add_ray(0, SIDE_VIRTUAL, k, "range_m", VALUE_NUMBER, 0.01 * k);
    }
    static const double last[] = {RAYS_MAX + 4, 0.25, 0.01 * (RAYS_MAX + 4), 2.0, 0.0, 0.5};
    json_t *list = read_rays(0, "virtual");
    json_t *other = read_rays(1, "virtual");
    CHECK_INT("bounded", json_array_size(list), RAYS_MAX);
    CHECK_NEAR("oldest", read_number(list, 0, 0), 5.0, 0.0, 0.0);
    for (size_t i = 0; i < COUNT(last); i++) {
        CHECK_NEAR("newest", read_number(list, RAYS_MAX - 1, i), last[i], 0.0, 1e-4);
    }
    CHECK_INT("other pair", json_array_size(other), 0);
    json_decref(list);
    json_decref(other);
    rays_destroy(rays);

    rays = NULL;
    json_t *nothing = read_rays(0, "real");
    CHECK("an empty list without a daemon", json_is_array(nothing));
    json_decref(nothing);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("rays", NULL, NULL);
    CU_add_test(suite, "rays", test_rays);
    return check_run();
}
