/* The registers of an arm against those that another program computed, and read back. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <jansson.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "service/wire/modbus_map.h"

static json_t *goldens;
static struct arm6_state arm; /* a UR5 */

static void read_six(const json_t *golden, const char *key, double out[6])
{
    for (size_t i = 0; i < 6; i++) {
        out[i] = json_number_value(json_array_get(json_object_get(golden, key), i));
    }
}

/* The golden's angles have eleven digits: those that were multiples of a quarter turn are so
 * again. */
static void restore_quarters(double q[6])
{
    for (size_t j = 0; j < 6; j++) {
        const double quarters = round(q[j] / (0.5 * PI));
        q[j] = fabs(q[j] - quarters * 0.5 * PI) < 1e-11 ? quarters * 0.5 * PI : q[j];
    }
}

/* Sets the tool's pose for these joints. */
static void place_tool(void)
{
    const struct rigid tool = arm_forward(&arm.arm, arm.q_rad);
    const struct arm_slope slope = arm_jacobian(&arm.arm, arm.q_rad);
    rigid_to_pose(&tool, arm.tcp);
    for (size_t i = 0; i < 6; i++) {
        arm.tcp_speed[i] = 0.0;
        for (size_t j = 0; j < 6; j++) {
            arm.tcp_speed[i] += slope.d[i][j] * arm.qd_radps[j];
        }
    }
}

/* Decodes as a client does. */
static double angle_of(const uint16_t *words, size_t j)
{
    return 1e-3 * words[270 + j] + 2.0 * PI * (int16_t)words[320 + j];
}

static void test_registers(void)
{
    static uint16_t words[MODBUS_REGISTERS];
    const struct modbus_program none = {0};
    size_t i = 0;
    json_t *golden = NULL;
    json_array_foreach(goldens, i, golden) {
        const char *name = json_string_value(json_object_get(golden, "name"));
        double decoded[6];
        const char *address = NULL;
        json_t *want = NULL;
        read_six(golden, "q_rad", arm.q_rad);
        read_six(golden, "qd_radps", arm.qd_radps);
        read_six(golden, "current_a", arm.current_a);
        read_six(golden, "decoded_q", decoded);
        restore_quarters(arm.q_rad);
        place_tool();
        modbus_map_show(&arm, &none, words);
        json_object_foreach(json_object_get(golden, "registers"), address, want) {
            char row[64];
            (void)snprintf(row, sizeof row, "%s, register %s", name, address);
            /* At a turn of pi the sign of the vector is free. */
            const uint16_t got = words[atoi(address)];
            const uint16_t turned = (uint16_t)-got;
            const bool vector = strncmp(address, "40", 2) == 0 && address[2] >= '3';
            const bool same =
                got == json_integer_value(want) ||
                (strcmp(name, "home") == 0 && vector && turned == json_integer_value(want));
            CHECK(row, same);
        }
        for (size_t j = 0; j < 6; j++) {
            CHECK_NEAR(name, angle_of(words, j), decoded[j], 0.0, 1e-9);
        }
    }
    CHECK_INT("all of them", i, 3);
}

/* Angles are read back within half a milliradian, the tool within 0.09 mm, set points within
 * half a microradian. */
static void test_read_back(void)
{
    struct random_source random = {.state = check_seed(1)};
    static uint16_t words[MODBUS_REGISTERS];
    const struct modbus_program none = {0};
    for (int k = 0; k < 20000; k++) {
        double vp[6];
        double apart_m = 0.0;
        for (size_t j = 0; j < 6; j++) {
            arm.q_rad[j] = 4.0 * PI * (random_uniform(&random) - 0.5);
            arm.q_sp_rad[j] = -arm.q_rad[j];
            arm.u_radps[j] = 0.5 * arm.q_rad[j];
        }
        place_tool();
        modbus_map_show(&arm, &none, words);
        modbus_map_numbers(&words[MODBUS_Q_VP], vp);
        for (size_t j = 0; j < 6; j++) {
            CHECK_NEAR("angle", angle_of(words, j), arm.q_rad[j], 0.0, 5.0001e-4);
            CHECK_NEAR("Q_VP", vp[j], arm.q_rad[j], 0.0, 5.0001e-7);
            CHECK("never negative", words[270 + j] <= 6283);
        }
        for (size_t i = 0; i < 3; i++) {
            apart_m = hypot(apart_m, 1e-4 * (int16_t)words[400 + i] - arm.tcp[i]);
        }
        CHECK("tool", apart_m < 8.7e-5);
        modbus_map_numbers(&words[MODBUS_Q_SP], vp);
        CHECK_NEAR("Q_SP", vp[3], arm.q_sp_rad[3], 0.0, 5.0001e-7);
        modbus_map_numbers(&words[MODBUS_Q_M], vp);
        CHECK_NEAR("Q_M", vp[5], arm.u_radps[5], 0.0, 5.0001e-7);
    }
}

/* Numbers that are none, and numbers too large for a word. */
static void test_odd_numbers(void)
{
    static uint16_t words[MODBUS_REGISTERS];
    const struct modbus_program none = {0};
    struct arm6_state odd = arm;
    odd.q_rad[0] = NAN;
    odd.qd_radps[0] = INFINITY;
    odd.qd_radps[1] = -1e300;
    odd.tcp[0] = 5.0;
    odd.q_sp_rad[5] = -INFINITY;
    odd.protective_stop = true;
    modbus_map_show(&odd, &none, words);
    CHECK_INT("NaN", words[270], 0);
    CHECK_INT("NaN", words[320], 0);
    CHECK_INT("too fast", words[280], 32767);
    CHECK_INT("too fast the other way", words[281], 32768);
    CHECK_INT("far", words[400], 32767);
    CHECK_INT("set point, high word", words[MODBUS_Q_SP + 10], 0x8000);
    CHECK_INT("set point, low word", words[MODBUS_Q_SP + 11], 0);
    CHECK_INT("protective stop", words[261], 1);
    CHECK_INT("should stop", words[265], 1);
}

int main(void)
{
    gsl_set_error_handler_off();
    goldens = json_load_file("tests/golden/arm/modbus.json", 0, NULL);
    if (!goldens || !arm_geometry_find("ur5", &arm.arm)) {
        (void)fprintf(stderr, "tests/golden/arm/modbus.json: not to be read\n");
        return EXIT_FAILURE;
    }
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("arm_modbus", NULL, NULL);
    CU_add_test(suite, "registers", test_registers);
    CU_add_test(suite, "read_back", test_read_back);
    CU_add_test(suite, "odd_numbers", test_odd_numbers);
    const int status = check_run();
    json_decref(goldens);
    return status;
}
