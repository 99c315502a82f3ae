/* Measures a fit of travel times to 128 moves, as in a pair's window, judgement included,
 * against one plain solution of the same rows by GSL. Prints a JSON line for each kind of
 * moves.
 */
#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>

#include "identification/travel/travel_time.h"
#include "tests/bench/bench.h"
#include "tests/support/travel_truth.h"

enum { MOVES = 128, TABLES = 100, ROUNDS = 21 };

static const struct kind {
    const char *name;
    double late;         /* share of replies that are late by 0.5 to 3 s */
    double acceleration; /* m/s^2 and rad/s^2; 0: speeds are reached at once */
} kinds[] = {{"the law holds", 0.0, 0.0},
             {"5 % of the replies late", 0.05, 0.0},
             {"the robot accelerates", 0.0, 0.8}};

static double time_of(double size, double speed, const struct kind *kind, double delay_s)
{
    if (!(size > 0.0)) {
        return 0.0;
    }
    if (!(kind->acceleration > 0.0)) {
        return delay_s + size / speed;
    }
    return size * kind->acceleration > speed * speed ? size / speed + speed / kind->acceleration
                                                     : 2.0 * sqrt(size / kind->acceleration);
}

static void draw_moves(const struct kind *kind, uint64_t *state, struct travel_move *moves)
{
    for (size_t i = 0; i < MOVES; i++) {
        const double turn = i % 3 == 1 ? 0.0 : 0.1 + 3.0 * bench_draw(state) / 2147483648.0;
        const double drive = i % 3 == 0 ? 0.0 : 0.05 + 1.15 * bench_draw(state) / 2147483648.0;
        const double late = bench_draw(state) / 2147483648.0;
        moves[i] = (struct travel_move){
            turn, drive,
            0.2 + time_of(turn, 1.2, kind, 0.1) + time_of(drive, 0.5, kind, 0.15) +
                0.03 * truth_normal(state) +
                (late < kind->late ? 0.5 + 2.5 * late / kind->late : 0.0)};
    }
}

static struct travel_move tables[TABLES][MOVES];

static double fits_s(void)
{
    struct travel_fit fit;
    const double start_s = bench_cpu_s();
    for (size_t t = 0; t < TABLES; t++) {
        if (travel_time_fit(tables[t], MOVES, TRAVEL_TURNS_AND_DRIVES, TRAVEL_AUTO, &fit) !=
            STATUS_OK) {
            bench_fail("a fit failed");
        }
    }
    return (bench_cpu_s() - start_s) / TABLES;
}

static double plain_s(gsl_multifit_linear_workspace *room, gsl_matrix *x, gsl_vector *y,
                      gsl_vector *beta, gsl_matrix *covariance)
{
    const double start_s = bench_cpu_s();
    for (size_t t = 0; t < TABLES; t++) {
        double chi2;
        size_t rank;
        for (size_t i = 0; i < MOVES; i++) {
            const struct travel_move *move = &tables[t][i];
            travel_row(move->rotation_rad, move->displacement_m, gsl_matrix_ptr(x, i, 0));
            gsl_vector_set(y, i, move->lap_s);
        }
        if (gsl_multifit_linear_tsvd(x, y, 1e-6, beta, covariance, &chi2, &rank, room)) {
            bench_fail("GSL");
        }
    }
    return (bench_cpu_s() - start_s) / TABLES;
}

int main(void)
{
    gsl_set_error_handler_off();
    gsl_multifit_linear_workspace *room = gsl_multifit_linear_alloc(MOVES, TRAVEL_P);
    gsl_matrix *x = gsl_matrix_alloc(MOVES, TRAVEL_P);
    gsl_matrix *covariance = gsl_matrix_alloc(TRAVEL_P, TRAVEL_P);
    gsl_vector *y = gsl_vector_alloc(MOVES);
    gsl_vector *beta = gsl_vector_alloc(TRAVEL_P);
    uint64_t state = 1;
    for (size_t k = 0; k < COUNT(kinds); k++) {
        double fit_s[ROUNDS];
        double one_s[ROUNDS];
        for (size_t t = 0; t < TABLES; t++) {
            draw_moves(&kinds[k], &state, tables[t]);
        }
        for (size_t r = 0; r < ROUNDS; r++) {
            fit_s[r] = fits_s();
            one_s[r] = plain_s(room, x, y, beta, covariance);
        }
        const double fit_us = 1e6 * bench_median(fit_s, ROUNDS);
        const double one_us = 1e6 * bench_median(one_s, ROUNDS);
        printf("{\"bench\":\"travel\",\"moves\":%d,\"of\":\"%s\",\"fit_us\":%.1f,"
               "\"plain_us\":%.1f,\"ratio\":%.2f}\n",
               MOVES, kinds[k].name, fit_us, one_us, fit_us / one_us);
    }
    gsl_vector_free(beta);
    gsl_vector_free(y);
    gsl_matrix_free(covariance);
    gsl_matrix_free(x);
    gsl_multifit_linear_free(room);
    return 0;
}
