/* Fragments for simulators: byte for byte those of tests/golden/fragment, whose numbers are
 * beside them; options, numbers that are unknown, and models without a fragment. */
#include "tests/support/check.h"

#include <jansson.h>

#include "identification/model/models.h"
#include "twin/report/pair_report.h"

static char text[16384];
static size_t used;

static void append_text(void *context, const char *more, size_t bytes)
{
    (void)context;
    CU_ASSERT_FATAL(used + bytes < sizeof text);
    memcpy(text + used, more, bytes);
    used += bytes;
    text[used] = '\0';
}

static const char *write_fragment(const struct model_fragment *fragment,
                                  enum fragment_format format)
{
    used = 0;
    model_fragment_write(fragment, format, append_text, NULL);
    return text;
}

static void add_number(struct fitted_numbers *numbers, const char *name, const json_t *value,
                       const json_t *interval, bool derived)
{
    struct fitted_number number = {
        .value = json_number_value(value), .se = NAN, .lo = NAN, .hi = NAN, .derived = derived};
    (void)snprintf(number.name, sizeof number.name, "%s", name);
    if (interval) {
        number.lo = json_number_value(json_array_get(interval, 0));
        number.hi = json_number_value(json_array_get(interval, 1));
    }
    fitted_numbers_add(numbers, &number);
}

/* Reads the numbers of a result of `tandem identify --json`. */
static json_t *read_numbers(const char *name, struct fitted_numbers *numbers)
{
    char path[256];
    json_error_t error;
    const char *key;
    json_t *value;
    (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/fragment/%s.json", name);
    json_t *result = json_load_file(path, 0, &error);
    CU_ASSERT_PTR_NOT_NULL_FATAL(result);
    numbers->count = 0;
    json_object_foreach(json_object_get(result, "values"), key, value) {
        add_number(numbers, key, value, json_object_get(json_object_get(result, "ci95"), key),
                   false);
    }
    json_object_foreach(json_object_get(result, "derived"), key, value) {
        add_number(numbers, key, json_object_get(value, "value"),
                   json_object_get(value, "ci95"), true);
    }
    const json_t *delay = json_object_get(result, "delay_s");
    if (delay) {
        add_number(numbers, "delay_s", json_object_get(delay, "value"),
                   json_object_get(delay, "ci95"), true);
    }
    return result;
}

static void read_golden(const char *name, const char *format, char *out, size_t size)
{
    char path[256];
    (void)snprintf(path, sizeof path, TANDEM_SOURCE_DIR "/tests/golden/fragment/%s.%s", name,
                   format);
    FILE *in = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(in);
    out[fread(out, 1, size - 1, in)] = '\0';
    (void)fclose(in);
}

static const struct {
    const char *name;
    enum fragment_format format;
} golden[] = {
    {"arm", FRAGMENT_URDF},   {"fo", FRAGMENT_MJCF},    {"joint", FRAGMENT_MJCF},
    {"joint", FRAGMENT_SDF},  {"joint", FRAGMENT_URDF}, {"odo", FRAGMENT_SDF},
    {"servo", FRAGMENT_MJCF}, {"usv", FRAGMENT_SDF},
};

static void test_golden(void)
{
    for (size_t i = 0; i < COUNT(golden); i++) {
        struct fitted_numbers numbers;
        char want[4096];
        json_t *result = read_numbers(golden[i].name, &numbers);
        const char *model = json_string_value(json_object_get(result, "model"));
        const struct model_fragment fragment = {.model = model, .numbers = &numbers};
        CHECK_INT(model, model_fragment_check(golden[i].format, model, NULL, NULL), STATUS_OK);
        read_golden(golden[i].name, fragment_format_name(golden[i].format), want, sizeof want);
        CHECK_TEXT(model, write_fragment(&fragment, golden[i].format), want);
        json_decref(result);
    }
}

/* The JSON fragment has the numbers of the result. */
static void test_json(void)
{
    static const char *const names[] = {"arm", "fo", "joint", "odo", "servo", "usv"};
    for (size_t i = 0; i < COUNT(names); i++) {
        struct fitted_numbers numbers;
        json_t *result = read_numbers(names[i], &numbers);
        const struct model_fragment fragment = {.model = names[i], .numbers = &numbers};
        json_t *written = json_loads(write_fragment(&fragment, FRAGMENT_JSON), 0, NULL);
        CU_ASSERT_PTR_NOT_NULL_FATAL(written);
        CHECK(names[i], json_equal(json_object_get(written, "values"),
                                   json_object_get(result, "values")));
        CHECK(names[i],
              json_equal(json_object_get(written, "ci95"), json_object_get(result, "ci95")));
        CHECK_INT(names[i], json_object_size(json_object_get(written, "derived")),
                  json_object_size(json_object_get(result, "derived")));
        CHECK(names[i], json_is_object(json_object_get(written, "delay_s")) ==
                            json_is_object(json_object_get(result, "delay_s")));
        json_decref(written);
        json_decref(result);
    }
}

static void test_options(void)
{
    struct fitted_numbers numbers;
    json_decref(read_numbers("joint", &numbers));
    struct model_fragment fragment = {.model = "joint_load",
                                      .verdict = ESTIMATE_MARGINAL,
                                      .reason = "a constant force: --biases",
                                      .numbers = &numbers,
                                      .options = {.joint = "elbow", .torque_per_unit = 2.0}};
    json_t *load = json_real(3.5);
    add_number(&numbers, "load", load, NULL, false);
    json_decref(load);
    const char *mjcf = write_fragment(&fragment, FRAGMENT_MJCF);
    CHECK("torque", strstr(mjcf, "<joint name=\"elbow\" type=\"hinge\" axis=\"0 0 1\" "
                                 "armature=\"0.0999861\"") &&
                        !strstr(mjcf, "efforts are taken"));
    CHECK("reason", strstr(mjcf, "verdict MARGINAL -->\n<!-- first reason: a constant force: "
                                 "biases -->"));
    CHECK("load", strstr(mjcf, "<!-- load 3.5, no interval, has no word here -->"));
    json_decref(read_numbers("usv", &numbers));
    fragment.model = "usv3";
    fragment.options = (struct fragment_options){.mass_kg = 50.0, .yaw_inertia_kgm2 = 20.0};
    const char *hull = write_fragment(&fragment, FRAGMENT_SDF);
    CHECK("mass", strstr(hull, "<xDotU>-10.1367<") && strstr(hull, "<nDotR>-5.00941<") &&
                      strstr(hull, "hull in this file: mass 50 kg, yaw inertia 20 kg m^2"));
    json_decref(read_numbers("fo", &numbers));
    fragment.model = "first_order";
    fragment.options = (struct fragment_options){.inertia_kgm2 = 0.02};
    CHECK("inertia", strstr(write_fragment(&fragment, FRAGMENT_MJCF), "gainprm=\"14.3461\""));
    json_decref(read_numbers("servo", &numbers));
    fragment.model = "position_servo";
    const char *servo = write_fragment(&fragment, FRAGMENT_URDF);
    CHECK("no limit", strstr(servo, "speed_limit_radps 1.69, 95 % 1.63 .. 1.75, has no word") &&
                          strstr(servo, "p 7.3728 N m/rad") &&
                          strstr(servo, "<dynamics damping=\"0.579072\""));
    CHECK("gazebo", strstr(write_fragment(&fragment, FRAGMENT_SDF), "<p_gain>7.3728</p_gain>"));
    json_t *limit = json_real(30.0);
    add_number(&numbers, "acceleration_limit_radps2", limit, NULL, false);
    json_decref(limit);
    CHECK("profile",
          !strstr(write_fragment(&fragment, FRAGMENT_MJCF), "forcerange") &&
              strstr(text, "acceleration_limit_radps2 30, no interval, has no word"));
    fragment.model = "first_order";
    numbers.count = 0;
    CHECK("unknown", strstr(write_fragment(&fragment, FRAGMENT_MJCF),
                            "<!-- no element: the recording does not determine gain -->") &&
                         !strstr(text, "nan"));
}

/* A set of a pair: values with intervals, derived ones without. */
static void test_set(void)
{
    const struct fragment_options options = {.mass_kg = 10.0};
    struct parameter_set set = {.version = 1, .count = 2, .n = 1000};
    while (strcmp(model_at(set.model)->name, "first_order") != 0) {
        set.model++;
    }
    set.model++;
    set.value[0] = 0.14;
    set.value[1] = 0.6;
    set.se[0] = set.se[1] = 0.001;
    used = 0;
    parameters_report_fragment(&set, FRAGMENT_MJCF, &options, append_text, NULL);
    CHECK("first_order",
          strstr(text, "dynprm=\"0.233333\"") && strstr(text, "<!-- gain no interval -->"));
    used = 0;
    parameters_report_fragment(&set, FRAGMENT_JSON, &options, append_text, NULL);
    CHECK("json", strstr(text, "\"values\":{\"command_per_acceleration\":0.14,") &&
                      strstr(text, "\"command_per_velocity\":[0.598"));
    set.model = 1;
    while (strcmp(model_at(set.model - 1U)->name, "usv3") != 0) {
        set.model++;
    }
    set.count = 9;
    for (size_t i = 0; i < set.count; i++) {
        set.value[i] = 20.0 + (double)i;
    }
    used = 0;
    parameters_report_fragment(&set, FRAGMENT_SDF, &options, append_text, NULL);
    CHECK("usv3", strstr(text, "<xDotU>-10</xDotU>") && strstr(text, "<nDotR>-22</nDotR>") &&
                      strstr(text, "verdict PASS"));
}

static void test_refusals(void)
{
    struct err err = {0};
    CHECK_INT("travel", model_fragment_check(FRAGMENT_MJCF, "travel_time", NULL, &err),
              STATUS_E_ARG);
    CHECK_TEXT("travel", err.text,
               "mjcf has no fragment for travel_time: mjcf joint, first_order, position_servo");
    CHECK_INT("dead band",
              model_fragment_check(FRAGMENT_MJCF, "first_order_deadband", NULL, &err),
              STATUS_E_ARG);
    CHECK_INT("urdf", model_fragment_check(FRAGMENT_URDF, "odometry", NULL, &err),
              STATUS_E_ARG);
    CHECK_INT("json", model_fragment_check(FRAGMENT_JSON, "travel_time", NULL, &err),
              STATUS_OK);
    err = (struct err){0};
    CHECK_INT("quotes", model_fragment_check(FRAGMENT_MJCF, "joint", "a\"b", &err),
              STATUS_E_ARG);
    CHECK_TEXT("quotes", err.where, "joint");
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return 1;
    }
    CU_pSuite suite = CU_add_suite("model_fragment", NULL, NULL);
    CU_add_test(suite, "golden", test_golden);
    CU_add_test(suite, "json", test_json);
    CU_add_test(suite, "options", test_options);
    CU_add_test(suite, "set of a pair", test_set);
    CU_add_test(suite, "refusals", test_refusals);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? 0 : 1;
}
