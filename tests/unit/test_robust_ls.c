/* Least squares: published numbers, rank, robustness, and memory that runs out. */
#include "tests/support/check.h"

#include <float.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>

#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_time.h"
#include "tests/support/gsl_memory.h"
#include "tests/support/travel_truth.h"

/* ---- NIST StRD, Longley: seven columns, the hardest of the linear sets --------------------
 */

enum { LONGLEY_N = 16, LONGLEY_P = 7 };

static const double longley[LONGLEY_N][LONGLEY_P] = {
    {60323, 83.0, 234289, 2356, 1590, 107608, 1947},
    {61122, 88.5, 259426, 2325, 1456, 108632, 1948},
    {60171, 88.2, 258054, 3682, 1616, 109773, 1949},
    {61187, 89.5, 284599, 3351, 1650, 110929, 1950},
    {63221, 96.2, 328975, 2099, 3099, 112075, 1951},
    {63639, 98.1, 346999, 1932, 3594, 113270, 1952},
    {64989, 99.0, 365385, 1870, 3547, 115094, 1953},
    {63761, 100.0, 363112, 3578, 3350, 116219, 1954},
    {66019, 101.2, 397469, 2904, 3048, 117388, 1955},
    {67857, 104.6, 419180, 2822, 2857, 118734, 1956},
    {68169, 108.4, 442769, 2936, 2798, 120445, 1957},
    {66513, 110.8, 444546, 4681, 2637, 121950, 1958},
    {68655, 112.6, 482704, 3813, 2552, 123366, 1959},
    {69564, 114.2, 502601, 3931, 2514, 125368, 1960},
    {69331, 115.7, 518173, 4806, 2572, 127852, 1961},
    {70551, 116.9, 554894, 4007, 2827, 130081, 1962},
};

static void test_longley(void)
{
    static const double value[LONGLEY_P] = {
        -3482258.63459582, 15.0618722713733,    -0.0358191792925910, -2.02022980381683,
        -1.03322686717359, -0.0511041056535807, 1829.15146461355};
    static const double se[LONGLEY_P] = {
        890420.383607373,  84.9149257747669,  0.0334910077722432, 0.488399681651699,
        0.214274163161675, 0.226073200069370, 455.478499142212};
    double x[LONGLEY_N * LONGLEY_P];
    double y[LONGLEY_N];
    for (size_t i = 0; i < LONGLEY_N; i++) {
        y[i] = longley[i][0];
        x[i * LONGLEY_P] = 1.0;
        for (size_t j = 1; j < LONGLEY_P; j++) {
            x[i * LONGLEY_P + j] = longley[i][j];
        }
    }
    const struct robust_ls_problem problem = {x, y, LONGLEY_N, LONGLEY_P, 1e-6, NULL};
    struct robust_ls_fit fit;
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_OLS, NULL, NULL, &fit), STATUS_OK);
    CHECK_INT("longley", fit.rank, 7);
    CHECK_NEAR("longley", fit.sd, 304.854073561965, 1e-10, 0.0);
    for (size_t j = 0; j < LONGLEY_P; j++) {
        double unit[LONGLEY_P] = {0.0};
        unit[j] = 1.0;
        CHECK_NEAR("longley", fit.beta[j], value[j], 1e-9, 0.0);
        CHECK_NEAR("longley", robust_ls_se(&fit, unit), se[j], 1e-9, 0.0);
        CHECK("longley", robust_ls_estimable(&fit, unit));
    }
}

/* ---- rank -------------------------------------------------------------------------------- */

/* y = 2 + 3 a with b = 2 a and an empty column: only 2, and 3 as a sum, are there. */
static void test_rank(void)
{
    enum { N = 200, P = 4 };
    double x[N * P];
    double y[N];
    for (size_t i = 0; i < N; i++) {
        const double a = 0.1 + 0.01 * (double)i;
        const double row[P] = {1.0, a, 2.0 * a, 0.0};
        memcpy(x + i * P, row, sizeof row);
        y[i] = 2.0 + 3.0 * a + (i % 2 ? 0.01 : -0.01);
    }
    const struct robust_ls_problem problem = {x, y, N, P, 1e-9, NULL};
    static const struct {
        const char *row;
        double c[P];
        int estimable;
        double value;
    } rows[] = {
        {"constant", {1, 0, 0, 0}, 1, 2.0},     {"a alone", {0, 1, 0, 0}, 0, 0.0},
        {"b alone", {0, 0, 1, 0}, 0, 0.0},      {"a + 2 b", {0, 1, 2, 0}, 1, 3.0},
        {"10 a + 20 b", {0, 10, 20, 0}, 1, 30}, {"a + b", {0, 1, 1, 0}, 0, 0.0},
        {"empty", {0, 0, 0, 1}, 0, 0.0},        {"nothing", {0, 0, 0, 0}, 1, 0.0},
    };
    for (int method = ROBUST_LS_OLS; method <= ROBUST_LS_TUKEY; method++) {
        struct robust_ls_fit fit;
        CU_ASSERT_EQUAL_FATAL(
            robust_ls_run(&problem, (enum robust_ls_method)method, NULL, NULL, &fit),
            STATUS_OK);
        CHECK_INT("rank", fit.rank, 2);
        CHECK("rank", isfinite(fit.condition) && fit.condition >= 1.0);
        for (size_t i = 0; i < COUNT(rows); i++) {
            CHECK_INT(rows[i].row, robust_ls_estimable(&fit, rows[i].c), rows[i].estimable);
            if (rows[i].estimable) {
                CHECK_NEAR(rows[i].row, robust_ls_value(&fit, rows[i].c), rows[i].value, 0.0,
                           0.01 + 1e-3 * rows[i].value);
                CHECK("se", isfinite(robust_ls_se(&fit, rows[i].c)));
            }
        }
    }
}

static void test_arguments(void)
{
    const double x[9] = {1.0};
    const double y[1] = {1.0};
    struct robust_ls_fit fit = {.n = 77};
    const struct robust_ls_problem rows[] = {
        {x, y, 0, 1, 1e-9, NULL}, {x, y, 1, 0, 1e-9, NULL}, {x, y, 1, 9, 1e-9, NULL},
        {x, y, 1, 1, 0.0, NULL},  {x, y, 1, 1, -1.0, NULL},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        CHECK_INT("arguments", robust_ls_run(&rows[i], ROBUST_LS_OLS, NULL, NULL, &fit),
                  STATUS_E_ARG);
        CHECK_INT("arguments", fit.n, 77);
    }
    const double huge[2] = {DBL_MAX, DBL_MAX};
    const struct robust_ls_problem overflow = {huge, huge, 2, 1, 1e-9, NULL};
    CHECK_INT("overflow", robust_ls_run(&overflow, ROBUST_LS_OLS, NULL, NULL, &fit),
              STATUS_E_MATH);
    CHECK_INT("overflow", fit.n, 77);
}

/* Weights and residuals belong to the rows; one wild row does not move a robust fit. */
static void test_weights(void)
{
    enum { N = 41 };
    double x[N * 2];
    double y[N];
    double e[N];
    double w[N];
    uint64_t state = 7;
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = 1.0;
        x[2 * i + 1] = (double)i;
        y[i] = 1.0 + 0.5 * (double)i + 0.01 * truth_normal(&state);
    }
    y[40] += 100.0;
    const struct robust_ls_problem problem = {x, y, N, 2, 1e-9, NULL};
    struct robust_ls_fit fit;
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_TUKEY, e, w, &fit), STATUS_OK);
    CHECK("tukey", fit.converged);
    CHECK_NEAR("tukey", fit.beta[1], 0.5, 0.0, 0.001);
    CHECK_NEAR("tukey", e[40], 100.0, 1e-2, 0.0);
    CHECK_NEAR("tukey", w[40], 0.0, 0.0, 0.0);
    CHECK("tukey", w[0] > 0.5);
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_HUBER, e, w, &fit), STATUS_OK);
    CHECK_NEAR("huber", fit.beta[1], 0.5, 0.0, 0.002);
    CHECK("huber", w[40] > 0.0 && w[40] < 0.01);
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_OLS, e, w, &fit), STATUS_OK);
    CHECK("ols", fabs(fit.beta[1] - 0.5) > 0.1);
    CHECK_NEAR("ols", w[40], 1.0, 0.0, 0.0);
}

/* A column that only wild rows have: the biweight would throw it out, Huber's weights stay. */
static void test_lost_column(void)
{
    enum { N = 60 };
    double x[N * 2];
    double y[N];
    uint64_t state = 3;
    for (size_t i = 0; i < N; i++) {
        x[2 * i] = 1.0;
        x[2 * i + 1] = i < 2 ? 1.0 : 0.0;
        y[i] = 1.0 + 0.001 * truth_normal(&state);
    }
    y[0] += 50.0;
    y[1] -= 50.0;
    const struct robust_ls_problem problem = {x, y, N, 2, 1e-9, NULL};
    struct robust_ls_fit fit;
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_TUKEY, NULL, NULL, &fit),
                          STATUS_OK);
    CHECK_INT("lost", fit.rank, 2);
    CHECK_INT("lost", fit.method, ROBUST_LS_HUBER);
    CHECK_NEAR("lost", fit.beta[0], 1.0, 0.0, 0.01);
}

/* Blocks must not show: n around multiples of the block size, against the closed form. */
static void test_blocks(void)
{
    double x[2 * 200];
    double y[200];
    for (size_t n = 2; n <= 200; n++) {
        double sx = 0.0;
        double sy = 0.0;
        double sxx = 0.0;
        double sxy = 0.0;
        for (size_t i = 0; i < n; i++) {
            const double t = (double)(i % 17);
            x[2 * i] = 1.0;
            x[2 * i + 1] = t;
            y[i] = 0.3 * t + ((i * i) % 11 < 5 ? 1.0 : -1.0);
            sx += t;
            sy += y[i];
            sxx += t * t;
            sxy += t * y[i];
        }
        const double count = (double)n;
        const struct robust_ls_problem problem = {x, y, n, 2, 1e-9, NULL};
        struct robust_ls_fit fit;
        CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_OLS, NULL, NULL, &fit),
                              STATUS_OK);
        CHECK_NEAR("blocks", fit.beta[1], (count * sxy - sx * sy) / (count * sxx - sx * sx),
                   1e-10, 1e-12);
    }
}

/* Rows that stray together at the far end, up to a quarter. */
static void test_majority(void)
{
    enum { ROWS = 50 };
    for (size_t far_off = 0; far_off <= 12; far_off += 4) {
        double x[ROWS * 2];
        double y[ROWS];
        double weight[ROWS];
        struct robust_ls_fit fit;
        for (size_t i = 0; i < ROWS; i++) {
            const bool off = i < far_off;
            x[2 * i] = 1.0;
            x[2 * i + 1] = off ? 3.0 + 0.03 * (double)i : 0.02 * (double)i;
            y[i] = 1.0 + 2.0 * x[2 * i + 1] + (off ? 4.0 + 0.1 * (double)i : 0.0) +
                   0.01 * sin(40.0 * (double)i);
        }
        const struct robust_ls_problem problem = {
            .x = x, .y = y, .n = ROWS, .p = 2, .floor = 1e-4};
        CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_TUKEY, NULL, weight, &fit),
                              STATUS_OK);
        CHECK_NEAR("majority", fit.beta[0], 1.0, 0.0, 0.01);
        CHECK_NEAR("majority", fit.beta[1], 2.0, 0.0, 0.02);
        CHECK_INT("majority", fit.method, ROBUST_LS_TUKEY);
        for (size_t i = 0; i < ROWS; i++) {
            CHECK("majority", i < far_off ? weight[i] < 1e-9 : weight[i] > 0.1);
        }
    }
}

/* Rows far away that agree with each other draw least absolute deviations to them: only
 * solutions through few rows show the line that most rows keep. */
static void test_far_rows(void)
{
    enum { ROWS = 50, FAR = 12 };
    double x[ROWS * 2];
    double y[ROWS];
    struct robust_ls_fit fit;
    for (size_t i = 0; i < ROWS; i++) {
        const bool far = i < FAR;
        x[2 * i] = 1.0;
        x[2 * i + 1] = far ? 30.0 + 0.01 * (double)i : 0.02 * (double)i;
        y[i] = far ? -20.0 : 1.0 + 2.0 * x[2 * i + 1] + 0.01 * sin(40.0 * (double)i);
    }
    const struct robust_ls_problem problem = {.x = x, .y = y, .n = ROWS, .p = 2, .floor = 1e-4};
    CU_ASSERT_EQUAL_FATAL(robust_ls_run(&problem, ROBUST_LS_TUKEY, NULL, NULL, &fit),
                          STATUS_OK);
    CHECK_NEAR("level", fit.beta[0], 1.0, 0.0, 0.01);
    CHECK_NEAR("slope", fit.beta[1], 2.0, 0.0, 0.02);
}

/* The standard error of a mean, by Huber's formula (Robust Statistics, 1981, section 7.6) and
 * the psi functions as their authors wrote them. */
static void test_standard_error(void)
{
    enum { N = 24 };
    double x[N];
    double y[N];
    double e[N];
    uint64_t state = 5;
    for (size_t i = 0; i < N; i++) {
        x[i] = 1.0;
        y[i] = 3.0 + truth_normal(&state) + (i % 6 == 0 ? 4.0 : 0.0);
    }
    const struct robust_ls_problem problem = {x, y, N, 1, 1e-9, NULL};
    for (int method = ROBUST_LS_HUBER; method <= ROBUST_LS_TUKEY; method++) {
        const char *row = method == ROBUST_LS_HUBER ? "huber" : "tukey";
        struct robust_ls_fit fit;
        double psi2 = 0.0;
        double mean = 0.0;
        double square = 0.0;
        CU_ASSERT_EQUAL_FATAL(
            robust_ls_run(&problem, (enum robust_ls_method)method, e, NULL, &fit), STATUS_OK);
        CHECK_INT(row, fit.method, method);
        for (size_t i = 0; i < N; i++) {
            const double z = e[i] / fit.sd;
            const double u2 = z * z / (4.685 * 4.685);
            const double huber = fmax(-1.345, fmin(1.345, z));
            const double tukey = u2 < 1.0 ? z * (1.0 - u2) * (1.0 - u2) : 0.0;
            const double slope = method == ROBUST_LS_HUBER ? (fabs(z) <= 1.345 ? 1.0 : 0.0)
                                 : u2 < 1.0                ? (1.0 - u2) * (1.0 - 5.0 * u2)
                                                           : 0.0;
            const double psi = method == ROBUST_LS_HUBER ? huber : tukey;
            psi2 += psi * psi / (N - 1);
            mean += slope / N;
            square += slope * slope / N;
        }
        const double k = 1.0 + (square - mean * mean) / (mean * mean) / N;
        const double unit = 1.0;
        CHECK(row, mean > 0.5 && mean < 0.9);
        CHECK_NEAR(row, robust_ls_se(&fit, &unit), k * fit.sd * sqrt(psi2 / N) / mean, 1e-9,
                   0.0);
    }
}

static void test_no_memory(void)
{
    struct travel_move moves[30];
    uint64_t state = 11;
    truth_moves(&state, MIX_ALL, TRUTH_BLUETOOTH, 0.05, moves, COUNT(moves));
    for (int method = TRAVEL_OLS; method < TRAVEL_METHOD_COUNT; method++) {
        long n = 0;
        enum status st = STATUS_E_NOMEM;
        struct travel_fit fit;
        for (; n < 200 && st == STATUS_E_NOMEM; n++) {
            memset(&fit, 0x5a, sizeof fit);
            struct travel_fit before = fit;
            allocations_left = n;
            st = travel_time_fit(moves, COUNT(moves), TRAVEL_TURNS_AND_DRIVES,
                                 (enum travel_method)method, &fit);
            allocations_left = -1;
            if (st != STATUS_OK) {
                CHECK_INT("no memory", st, STATUS_E_NOMEM);
                CHECK("no memory", truth_same(&fit, &before, sizeof fit));
            }
        }
        CHECK_INT("no memory", st, STATUS_OK);
        CHECK("no memory", n > 3); /* of the moves, of each of two estimators */
    }
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("robust_ls", NULL, NULL);
    CU_add_test(suite, "longley", test_longley);
    CU_add_test(suite, "rank", test_rank);
    CU_add_test(suite, "arguments", test_arguments);
    CU_add_test(suite, "weights", test_weights);
    CU_add_test(suite, "lost column", test_lost_column);
    CU_add_test(suite, "blocks", test_blocks);
    CU_add_test(suite, "majority", test_majority);
    CU_add_test(suite, "far rows", test_far_rows);
    CU_add_test(suite, "standard error", test_standard_error);
    CU_add_test(suite, "no memory", test_no_memory);
    return check_run();
}
