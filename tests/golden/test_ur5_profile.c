/* Move times of a real UR5 by the law with accelerations, if the data are available: in
 * $TANDEM_DATA, else next to the source tree. The data cannot be shipped. All 24 moves are in;
 * six of them were interrupted by the next command, and so are two in one. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/travel/profile_time.h"
#include "tests/support/moves_file.h"

enum { MOVES = 24, INTERRUPTED = 6 };

/* Programmed, and what a move of the two lengths takes by it. */
static const double V_RADPS = 1.0472;
static const double A_RADPS2 = 1.4;

static struct moves_file file = {.lap = "duration_target_s",
                                 .rotation = "dq_max_rad",
                                 .displacement = "dq_max_rad", /* not read */
                                 .rotation_factor = 1.0,
                                 .displacement_factor = 0.0};
static struct profile_move moves[MOVES];

static bool load_moves(void)
{
    if (!moves_file_find(&file, "ur5_ntnu/moves.csv")) {
        return false;
    }
    for (size_t i = 0; i < MOVES; i++) {
        const struct travel_move *m = &file.moves[i];
        moves[i] = (struct profile_move){PROFILE_JOINTS, V_RADPS / m->rotation_rad,
                                         A_RADPS2 / m->rotation_rad, m->lap_s};
    }
    return true;
}

static void test_all(void)
{
    CU_ASSERT_EQUAL_FATAL(file.count, MOVES);
    for (enum travel_method method = TRAVEL_TUKEY; method <= TRAVEL_AUTO; method++) {
        struct profile_fit fit;
        CU_ASSERT_EQUAL_FATAL(profile_time_fit(moves, MOVES, method, &fit), STATUS_OK);
        const struct estimate *e = &fit.estimate;
        (void)printf("\nspeed %.4f (%.4f) rad/s, acceleration %.3f (%.3f) rad/s^2, t0 %.4f "
                     "(%.4f) s, sd %.4f s, %zu outliers, %s\n",
                     V_RADPS * e->value[PROFILE_SPEED], V_RADPS * e->se[PROFILE_SPEED],
                     A_RADPS2 * e->value[PROFILE_ACCELERATION],
                     A_RADPS2 * e->se[PROFILE_ACCELERATION], e->value[PROFILE_T0],
                     e->se[PROFILE_T0], fit.residual_s_sd, fit.outliers,
                     estimate_verdict_name(e->verdict));
        CHECK_INT("all", fit.method, TRAVEL_TUKEY);
        CHECK_NEAR("speed", e->value[PROFILE_SPEED], 1.0, 0.01, 0.0);
        CHECK_NEAR("acceleration", e->value[PROFILE_ACCELERATION], 1.0, 0.1, 0.0);
        CHECK("intervals hold what was programmed",
              e->lo[PROFILE_SPEED] < 1.0 && 1.0 < e->hi[PROFILE_SPEED] &&
                  e->lo[PROFILE_ACCELERATION] < 1.0 && 1.0 < e->hi[PROFILE_ACCELERATION]);
        CHECK_INT("outliers", fit.outliers, INTERRUPTED);
        CHECK_INT("verdict", e->verdict, ESTIMATE_MARGINAL);
        double worst_s = 0.0;
        for (size_t i = 0; i < MOVES; i++) {
            const bool is_short = moves[i].speed * moves[i].speed > moves[i].acceleration;
            const double off_s = fabs(profile_time_predict(&fit, &moves[i]) - moves[i].lap_s);
            worst_s = is_short ? fmax(worst_s, off_s) : worst_s;
            CHECK("interrupted", (off_s > 0.05) == (i % 6 == 0 || i % 6 == 5) || i >= 18);
        }
        (void)printf("short moves: off by %.4f s at most\n", worst_s);
        CHECK("short moves", worst_s < 0.003);
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    if (!load_moves()) {
        return EXIT_SUCCESS;
    }
    CU_pSuite suite = CU_add_suite("ur5 profile", NULL, NULL);
    CU_add_test(suite, "all moves", test_all);
    return check_run();
}
