/* Moves of five real robots (iRobot Create under a camera system), if the data are available:
 * in $TANDEM_DATA, else next to the source tree. The data cannot be shipped. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/travel/travel_held_out.h"
#include "tests/support/moves_file.h"

enum { ROBOTS = 5 };

static struct moves_file absolute = {.lap = "duration_s",
                                     .rotation = "rotation_abs_rad",
                                     .displacement = "displacement_m",
                                     .rotation_factor = 1.0,
                                     .displacement_factor = 1.0};
static struct moves_file net = {.lap = "duration_s",
                                .rotation = "rotation_net_rad",
                                .displacement = "displacement_m",
                                .rotation_factor = 1.0,
                                .displacement_factor = 1.0};
static size_t starts[ROBOTS + 1];

static int load_moves(struct moves_file *file, size_t *start)
{
    for (int robot = 1; robot <= ROBOTS; robot++) {
        char name[64];
        (void)snprintf(name, sizeof name, "mrclam_d6/robot%d_moves.csv", robot);
        start[robot - 1] = file->count;
        if (!moves_file_find(file, name)) {
            return 0;
        }
    }
    start[ROBOTS] = file->count;
    return 1;
}

static int has_reason(const struct travel_fit *fit, const char *text)
{
    for (size_t k = 0; k < fit->estimate.reason_count; k++) {
        if (strstr(fit->estimate.reasons[k], text)) {
            return 1;
        }
    }
    return 0;
}

static void test_pooled(void)
{
    struct travel_fit fit;
    CU_ASSERT_EQUAL_FATAL(travel_time_fit(absolute.moves, absolute.count,
                                          TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, &fit),
                          STATUS_OK);
    CHECK_INT("pooled", fit.n, 401);
    CHECK_NEAR("pooled", fit.beta[TRAVEL_INV_W], 3.154, 0.0, 5e-4);
    CHECK_NEAR("pooled", fit.beta[TRAVEL_INV_V], 12.349, 0.0, 5e-4);
    CHECK_NEAR("pooled", fit.rmse_s, 2.20, 0.0, 5e-3);
    CHECK_NEAR("pooled", fit.r2, 0.990, 0.0, 5e-4);
    /* Every move turns and drives: the delays come as one sum. */
    CHECK_INT("pooled", fit.estimate.rank, 3);
    CHECK("pooled", !fit.estimate.identifiable[TRAVEL_T0] && isnan(fit.beta[TRAVEL_T0]));
    CHECK_INT("pooled", fit.estimate.combination_count, 1);
    CHECK_TEXT("pooled", fit.estimate.combinations[0].name, "t0_s + ta_s + tr_s");
    CHECK_NEAR("pooled", fit.estimate.combinations[0].value, 0.191, 0.0, 5e-4);
    CHECK("pooled", fit.beta_lo[TRAVEL_INV_W] < 3.154 && 3.154 < fit.beta_hi[TRAVEL_INV_W]);
    CHECK("pooled", !has_reason(&fit, "unphysical"));
    CHECK_INT("pooled", fit.estimate.advice_count >= 2, 1);
    CHECK_TEXT("pooled", fit.estimate.advice[0], "turn on the spot, without driving");
    CHECK_TEXT("pooled", fit.estimate.advice[1], "drive a straight move, without turning");
    CHECK_NEAR("pooled", travel_time_predict(&fit, 1.0, 1.0),
               fit.estimate.combinations[0].value + fit.beta[TRAVEL_INV_W] +
                   fit.beta[TRAVEL_INV_V],
               1e-12, 0.0);
    CHECK("pooled", isnan(travel_time_predict(&fit, 1.0, 0.0)));
}

/* One fit of all and one of each robot; counts the robots with a speed below zero. */
static size_t fit_parts(const struct moves_file *file, struct travel_fit *whole)
{
    size_t negative = 0;
    CU_ASSERT_EQUAL_FATAL(
        travel_time_fit(file->moves, file->count, TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, whole),
        STATUS_OK);
    for (int robot = 0; robot < ROBOTS; robot++) {
        struct travel_fit part;
        CU_ASSERT_EQUAL_FATAL(travel_time_fit(file->moves + starts[robot],
                                              starts[robot + 1] - starts[robot],
                                              TRAVEL_TURNS_AND_DRIVES, TRAVEL_OLS, &part),
                              STATUS_OK);
        travel_time_check_part(whole, "a robot", &part);
        if (part.beta[TRAVEL_INV_W] < 0.0) {
            negative++;
            CHECK_INT("a robot", part.estimate.verdict, ESTIMATE_FAIL);
            CHECK("a robot", has_reason(&part, "unphysical sign"));
        }
    }
    return negative;
}

static void test_net_rotation(void)
{
    struct travel_fit whole;
    CHECK_INT("abs", fit_parts(&absolute, &whole), 0);
    CHECK("abs", !has_reason(&whole, "unphysical sign"));
    CHECK_INT("net", fit_parts(&net, &whole), 1);
    CHECK("net", has_reason(&whole, "unphysical sign in a robot"));
    CHECK("net", whole.estimate.verdict != ESTIMATE_PASS);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    if (!load_moves(&absolute, starts) || !load_moves(&net, starts)) {
        return EXIT_SUCCESS;
    }
    CU_pSuite suite = CU_add_suite("mrclam", NULL, NULL);
    CU_add_test(suite, "pooled", test_pooled);
    CU_add_test(suite, "net rotation", test_net_rotation);
    return check_run();
}
