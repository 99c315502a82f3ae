/* The triangle of a tall matrix, by whatever way its blocks went into it. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "identification/numeric/qr_accumulator.h"
#include "tests/support/check.h"

enum { ROWS = 1000, COLUMNS = 5 };

static double matrix[ROWS][COLUMNS];

static double draw_unit(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 33) / 1073741824.0 - 1.0;
}

static void draw_matrix(void)
{
    uint64_t state = 1;
    for (size_t k = 0; k < ROWS; k++) {
        for (size_t c = 0; c < COLUMNS; c++) {
            matrix[k][c] = draw_unit(&state);
        }
    }
}

static void add_rows(struct qr_accumulator *t, size_t rows)
{
    qr_start(t, COLUMNS);
    for (size_t k = 0; k < rows; k++) {
        qr_add(t, matrix[k]);
    }
    qr_flush(t);
}

static double squares_of(const double *x, size_t rows)
{
    long double sum = 0.0L;
    for (size_t k = 0; k < rows; k++) {
        long double error = 0.0L;
        for (size_t c = 0; c < COLUMNS; c++) {
            error += (long double)matrix[k][c] * (long double)x[c];
        }
        sum += error * error;
    }
    return (double)sum;
}

static void test_squares(void)
{
    static const struct {
        const char *row;
        double share[COLUMNS]; /* of its own in a column, the rest is column 0 */
        double scale;
    } rows[] = {
        {"apart", {1, 1, 1, 1, 1}, 1},          {"one parallel", {1, 0, 1, 1, 1}, 1},
        {"all parallel", {1, 0, 0, 0, 0}, 1},   {"nearly parallel", {1, 1e-7, 1, 1, 1}, 1},
        {"hardly not", {1, 1e-11, 1, 1, 1}, 1}, {"alike", {1, 1e-2, 1e-2, 1, 1}, 1},
        {"large", {1, 1, 1, 1, 1}, 1e120},      {"small", {1, 1, 1, 1, 1}, 1e-120},
        {"tiny", {1, 1, 1, 1, 1}, 1e-145},      {"nothing", {1, 1, 1, 1, 1}, 0},
    };
    static const double directions[][COLUMNS] = {
        {1, 0, 0, 0, 0}, {1, -1, 0, 0, 0}, {0, 1, -1, 0, 0}, {0.3, -1, 2, 0.1, 1}};
    static const size_t counts[] = {0, 1, 4, 5, 127, 128, 129, 256, 1000};
    for (size_t i = 0; i < COUNT(rows); i++) {
        draw_matrix();
        for (size_t k = 0; k < ROWS; k++) {
            for (size_t c = 0; c < COLUMNS; c++) {
                const double own = rows[i].share[c];
                matrix[k][c] =
                    c == 0 ? matrix[k][c]
                           : own * matrix[k][c] +
                                 (own < 1.0 ? (c % 2 ? 1.0 : -1.0) : 0.0) * matrix[k][0];
            }
        }
        for (size_t k = 0; k < ROWS; k++) {
            for (size_t c = 0; c < COLUMNS; c++) {
                matrix[k][c] *= rows[i].scale;
            }
        }
        for (size_t n = 0; n < COUNT(counts); n++) {
            struct qr_accumulator t;
            add_rows(&t, counts[n]);
            for (size_t d = 0; d < COUNT(directions); d++) {
                double whole = 0.0;
                for (size_t c = 0; c < COLUMNS; c++) {
                    double unit[COLUMNS] = {0.0};
                    unit[c] = fabs(directions[d][c]);
                    whole += squares_of(unit, counts[n]);
                }
                /* Reflections lose the digits of a double in the vectors, not in the squares.
                 */
                CHECK_NEAR(rows[i].row, qr_squares(&t, directions[d]),
                           squares_of(directions[d], counts[n]), 2e-4, 1e-26 * whole);
            }
        }
    }
}

/* With well separated columns all methods agree to the last digits. */
static void test_digits(void)
{
    struct qr_accumulator t;
    const double x[COLUMNS] = {1, -2, 0.5, 3, -1};
    draw_matrix();
    add_rows(&t, ROWS);
    CHECK_NEAR("digits", qr_squares(&t, x), squares_of(x, ROWS), 1e-13, 0.0);
    for (size_t i = 0; i < COLUMNS; i++) {
        for (size_t j = 0; j < i; j++) {
            CHECK_NEAR("below the diagonal", t.r[i][j], 0.0, 0.0, 0.0);
        }
    }
}

static void test_not_finite(void)
{
    static const double bad[] = {NAN, INFINITY, 1e200};
    for (size_t i = 0; i < COUNT(bad); i++) {
        struct qr_accumulator t;
        const double x[COLUMNS] = {1, 1, 1, 1, 1};
        draw_matrix();
        matrix[200][2] = bad[i];
        add_rows(&t, ROWS);
        CU_ASSERT_FALSE(isfinite(qr_squares(&t, x)));
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("qr_accumulator", NULL, NULL);
    CU_add_test(suite, "squares", test_squares);
    CU_add_test(suite, "digits", test_digits);
    CU_add_test(suite, "not finite", test_not_finite);
    return check_run();
}
