/* The smallest change that makes a simulated arm's laps the real arm's. */
#include "twin/pair/parameter_laps.h"

#include <math.h>

#include "tests/support/check.h"

enum { MOVES = 3 };

/* The first move alone is long. */
static const struct profile_move moves[MOVES] = {{PROFILE_JOINTS, 0.2, 0.5, 1.0},
                                                 {PROFILE_JOINTS, 2.0, 3.0, 1.0},
                                                 {PROFILE_JOINTS, 2.5, 6.0, 1.0}};
static const double real_q[PROFILE_TERMS] = {0.05, -0.10, -0.22};

static struct parameter_sent adjust_laps(const struct parameter_force *force,
                                         double virtual_t0_s)
{
    static struct profile_fit fit;
    struct parameter_virtual virtual = {.law = {virtual_t0_s, 1.0, 1.0}};
    struct parameter_sent sent;
    double value[PROFILE_P];
    fit = (struct profile_fit){.law[PROFILE_JOINTS] = {.n = MOVES, .residual_s_sd = 1e-3}};
    for (size_t j = 0; j < PROFILE_P; j++) {
        value[j] = j < PROFILE_TERMS ? 1.0 : (double)NAN;
        sent.value[j] = sent.adjust[j] = 1.0;
        virtual.law[j] = j < PROFILE_TERMS ? virtual.law[j] : (double)NAN;
    }
    for (size_t j = 0; j < PROFILE_TERMS; j++) {
        fit.law[PROFILE_JOINTS].q[j] = real_q[j];
    }
    const struct laps_fitted real = {moves, MOVES, &fit};
    CU_ASSERT_EQUAL_FATAL(parameter_laps_adjust(&real, force, &virtual, value, &sent),
                          STATUS_OK);
    return sent;
}

static void test_every_move_counts(void)
{
    const struct parameter_force force = {0};
    const struct parameter_sent sent = adjust_laps(&force, 0.02);
    const double q[PROFILE_TERMS] = {0.02 + sent.adjust[0], log(sent.adjust[1]),
                                     log(sent.adjust[2])};
    double row[PROFILE_TERMS];
    for (size_t k = 0; k < MOVES; k++) {
        CHECK_NEAR("lap", profile_lap_s(q, &moves[k], row),
                   profile_lap_s(real_q, &moves[k], row), 0.0, 1e-3);
    }
}

/* A simulator that needs 80 ms more by itself cannot be made to wait less than nothing. */
static void test_delay_not_negative(void)
{
    const struct parameter_force force = {.applied = 7, .sent = {0.02, 1.0, 1.0}};
    const struct parameter_sent sent = adjust_laps(&force, 0.10);
    CHECK_NEAR("no wait", sent.value[PROFILE_T0], 0.0, 0.0, 1e-5);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("parameter laps", NULL, NULL);
    CU_add_test(suite, "every move counts", test_every_move_counts);
    CU_add_test(suite, "delay not negative", test_delay_not_negative);
    return check_run();
}
