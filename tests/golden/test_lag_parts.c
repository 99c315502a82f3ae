/* Parts of lags against numbers that another program computed: forty entries in order, with a
 * slow network, waiting, motion or pace, and with measures that are not reported.
 */
#include "tests/support/check.h"

#include <jansson.h>

#include "base/numbers/lab_time.h"
#include "twin/pair/lag_parts.h"

static const char *const part_names[ENTRY_PARTS] = {"transport", "waiting", "motion", "pace"};
static const char *const explained[ENTRY_EXPLAINED_COUNT] = {
    NULL, "transport", "waiting", "motion", "pace", "not_explained"};

static double number_or_nan(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_number(value) ? json_number_value(value) : (double)NAN;
}

static struct lag_measures read_entry(const json_t *entry)
{
    struct lag_measures m = {.pace = number_or_nan(entry, "pace"),
                             .low_s = number_or_nan(entry, "lag_low_s"),
                             .high_s = number_or_nan(entry, "lag_high_s"),
                             .tolerance_us = 50000};
    for (enum side s = SIDE_REAL; s < SIDE_COUNT; s++) {
        const char *side = s == SIDE_REAL ? "real" : "virtual";
        char key[32];
        (void)snprintf(key, sizeof key, "%s_lap_s", side);
        m.lap_us[s] = lab_us(number_or_nan(entry, key));
        (void)snprintf(key, sizeof key, "%s_expected_s", side);
        m.expected_s[s] = number_or_nan(entry, key);
        (void)snprintf(key, sizeof key, "%s_transport_s", side);
        m.transport_s[s] = number_or_nan(entry, key);
        (void)snprintf(key, sizeof key, "%s_motion_s", side);
        m.motion_s[s] = number_or_nan(entry, key);
    }
    return m;
}

/* Usual values are floats: a part may round to the next microsecond. */
static void test_entries(void)
{
    struct lag_usual usual = {0};
    json_t *file =
        json_load_file(TANDEM_SOURCE_DIR "/tests/golden/forecast/parts.json", 0, NULL);
    CU_ASSERT_FATAL(json_array_size(file) == 40);
    for (size_t i = 0; i < json_array_size(file); i++) {
        const json_t *entry = json_object_get(json_array_get(file, i), "entry");
        const json_t *want = json_object_get(json_array_get(file, i), "answer");
        const struct lag_measures m = read_entry(entry);
        struct entry_parts got = {0};
        char row[24];
        (void)snprintf(row, sizeof row, "%zu", i);
        lag_parts_split(&usual, &m, &got);
        CHECK_NEAR(row, lab_s(got.excess_us), number_or_nan(want, "excess_s"), 0.0, 1e-9);
        int64_t sum_us = got.rest_us;
        for (size_t k = 0; k < ENTRY_PARTS; k++) {
            const json_t *part = json_object_get(json_object_get(want, "parts"), part_names[k]);
            CHECK_INT(row, got.part_us[k] != LAB_TIME_NONE, json_is_number(part));
            if (json_is_number(part)) {
                CHECK_NEAR(row, lab_s(got.part_us[k]), json_number_value(part), 0.0, 1.01e-6);
                sum_us += got.part_us[k];
            }
        }
        CHECK_INT(row, sum_us, got.excess_us);
        const char *name = json_string_value(json_object_get(want, "explained_by"));
        CHECK_TEXT(row, name ? explained[got.explained] : "", name ? name : "");
        CHECK_INT(row, got.explained == ENTRY_UNDECIDED, name == NULL);
    }
    json_decref(file);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("parts of a lag", NULL, NULL);
    CU_add_test(suite, "entries", test_entries);
    return check_run();
}
