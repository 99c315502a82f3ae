/* The span of a design, and what more columns explain, against a decomposition of both. */
#include "tests/support/check.h"

#include <math.h>

#include "identification/numeric/column_space.h"
#include "identification/numeric/dot.h"
#include "identification/numeric/robust_ls.h"
#include "tests/support/travel_truth.h"

enum { N = 60, P = 4, ADDED = 3, WIDE = P + ADDED };

/* Subtracts from residual [n] its part in the column space. */
static void remove_space(const struct column_space *space, double *residual)
{
    for (size_t k = 0; k < space->rank; k++) {
        const double *q = space->q + k * space->n;
        const double within = dot_product(q, residual, space->n);
        for (size_t i = 0; i < space->n; i++) {
            residual[i] -= within * q[i];
        }
    }
}

/* alike: how far the last column of the design is from the sum of two others. */
static void draw_design(uint64_t *state, double alike, double *x, double *z, double *y)
{
    for (size_t i = 0; i < N; i++) {
        x[i * P] = 1.0;
        x[i * P + 1] = truth_normal(state);
        x[i * P + 2] = 1000.0 * truth_normal(state);
        x[i * P + 3] = x[i * P + 1] + 1e-3 * x[i * P + 2] + alike * truth_normal(state);
        for (size_t j = 0; j < ADDED; j++) {
            z[i * ADDED + j] = truth_normal(state) + x[i * P + 1];
        }
        y[i] = 3.0 + x[i * P + 1] - 0.01 * x[i * P + 2] + 0.1 * z[i * ADDED] +
               0.2 * truth_normal(state);
    }
}

static void add_rows(const struct column_space *space, const double *use, const double *z,
                     const double *e, struct column_space_added *added)
{
    *added = (struct column_space_added){.count = ADDED};
    for (size_t i = 0; i < N; i++) {
        double row[ADDED];
        for (size_t j = 0; j < ADDED; j++) {
            row[j] = use[i] * z[i * ADDED + j];
        }
        column_space_add_row(space, i, row, e[i], added);
    }
}

static double rss_of(const struct robust_ls_fit *fit)
{
    return fit->sd * fit->sd * (double)(fit->n - fit->rank);
}

static void fit_counted(const double *x, const double *z, const double *y, const double *use,
                        size_t columns, struct robust_ls_fit *fit)
{
    double wide[N * WIDE];
    double left[N];
    size_t n = 0;
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < columns && use[i] > 0.0; j++) {
            wide[n * columns + j] = j < P ? x[i * P + j] : z[i * ADDED + j - P];
        }
        left[n] = y[i];
        n += use[i] > 0.0;
    }
    const struct robust_ls_problem problem = {wide, left, n, columns, 1e-12, NULL};
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_OLS, NULL, NULL, fit), STATUS_OK);
}

static void test_gain(void)
{
    static const double alikes[] = {1.0, 1e-2, 1e-4, 0.0};
    uint64_t state = 5;
    for (size_t a = 0; a < COUNT(alikes); a++) {
        double x[N * P];
        double z[N * ADDED];
        double y[N];
        double use[N];
        double e[N];
        double q[P * N];
        double coefficient[ADDED];
        struct robust_ls_fit plain;
        struct robust_ls_fit wide;
        struct column_space space;
        struct column_space_added added;
        size_t rank;
        draw_design(&state, alikes[a], x, z, y);
        for (size_t i = 0; i < N; i++) {
            use[i] = i % 7 == 3 ? 0.0 : 1.0;
            e[i] = use[i] * y[i];
        }
        column_space_find(x, use, N, P, q, &space);
        CHECK_INT("rank", space.rank, alikes[a] > 0.0 ? P : P - 1);
        for (size_t j = 0; j < space.rank; j++) {
            for (size_t k = 0; k < space.rank; k++) {
                CHECK_NEAR("orthonormal", dot_product(q + j * N, q + k * N, N),
                           j == k ? 1.0 : 0.0, 0.0, 1e-14);
            }
            for (size_t i = 0; i < N; i++) {
                double turned = 0.0;
                for (size_t k = 0; k < P; k++) {
                    turned += use[i] * x[i * P + k] * space.turn[k][j];
                }
                CHECK_NEAR("turn", turned, q[j * N + i], 0.0, 1e-9);
            }
        }
        remove_space(&space, e);
        add_rows(&space, use, z, e, &added);
        const double gain = column_space_gain(&space, &added, &rank, coefficient);
        fit_counted(x, z, y, use, P, &plain);
        fit_counted(x, z, y, use, WIDE, &wide);
        CHECK_INT("added", rank, ADDED);
        CHECK_NEAR("rss", dot_product(e, e, N), rss_of(&plain), 1e-10, 0.0);
        CHECK_NEAR("gain", gain, rss_of(&plain) - rss_of(&wide), 1e-8, 0.0);
        for (size_t j = 0; j < ADDED; j++) {
            CHECK_NEAR("coefficient", coefficient[j], wide.beta[P + j], 1e-7, 0.0);
        }
    }
}

/* A column that is empty, one of the design's own, two alike. */
static void test_rank(void)
{
    uint64_t state = 11;
    double x[N * P];
    double z[N * ADDED];
    double y[N];
    double use[N];
    double q[P * N];
    struct column_space space;
    draw_design(&state, 1.0, x, z, y);
    for (size_t i = 0; i < N; i++) {
        use[i] = 1.0;
    }
    column_space_find(x, NULL, N, P, q, &space);
    remove_space(&space, y);
    for (int which = 0; which < 3; which++) {
        double coefficient[ADDED];
        struct column_space_added added;
        size_t rank;
        for (size_t i = 0; i < N; i++) {
            z[i * ADDED + 1] = which == 0   ? 0.0
                               : which == 1 ? 2.0 * x[i * P + 2] - x[i * P]
                                            : z[i * ADDED] + x[i * P + 1];
        }
        add_rows(&space, use, z, y, &added);
        const double gain = column_space_gain(&space, &added, &rank, coefficient);
        CHECK_INT("rank", rank, ADDED - 1);
        CHECK("gain", gain > 0.0 && gain < dot_product(y, y, N));
        CHECK_NEAR("undetermined", coefficient[1], 0.0, 0.0, 0.0);
        CHECK("determined", (fabs(coefficient[2]) > 0.0) == (which < 2));
    }
}

/* Numbers that are none, and a design of nothing. */
static void test_odd(void)
{
    double x[N * P] = {0.0};
    double q[P * N];
    double m[1][COLUMN_SPACE_P_MAX] = {{(double)NAN}};
    double b[1] = {1.0};
    struct column_space space;
    column_space_find(x, NULL, N, P, q, &space);
    CHECK_INT("empty", space.rank, 0);
    x[0] = (double)NAN;
    column_space_find(x, NULL, N, P, q, &space);
    CHECK_INT("no number", space.rank, 0);
    CHECK("no number", !column_space_cholesky(m, b, 1));
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("span", NULL, NULL);
    CU_add_test(suite, "gain", test_gain);
    CU_add_test(suite, "rank", test_rank);
    CU_add_test(suite, "odd", test_odd);
    return check_run();
}
