/* Sums of products at all lags against their definition. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "identification/numeric/residual_test.h"
#include "tests/support/check.h"

enum { ALL = 5000 };

static double x[ALL];
static double y[ALL];

static double subtract_mean(double value, double mean)
{
    return isnan(value) ? 0.0 : value - mean;
}

static void test_definition(void)
{
    static const struct {
        const char *row;
        size_t first, end, lags;
        double x_mean, y_mean;
    } rows[] = {
        {"nothing", 7, 7, 20, 0, 0},
        {"one", 7, 8, 20, 0, 0},
        {"fewer than lags", 3, 15, 20, 1, 2},
        {"no lag", 0, 1000, 0, 0.5, 0.25},
        {"a piece", 0, 1024, 20, 0.5, 0.5},
        {"a piece and one", 1, 1026, 20, 0, 0},
        {"a piece and few", 1, 1030, 32, 3, 0},
        {"all", 0, ALL, 32, 0.5, 0.5},
        {"from inside", 1111, 4999, 20, 0, 1},
    };
    uint64_t state = 3;
    for (size_t k = 0; k < ALL; k++) {
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        x[k] = k % 500 == 7 ? (double)NAN : (double)(state >> 40) / 16777216.0;
        state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        y[k] = k % 777 == 9 ? (double)NAN : (double)(state >> 40) / 16777216.0;
    }
    for (size_t r = 0; r < COUNT(rows); r++) {
        const struct lag_series first = {x, rows[r].x_mean};
        const struct lag_series second = {y, rows[r].y_mean};
        double sums[LAG_PRODUCTS_MAX + 1] = {0.0};
        sums[0] = 5.0; /* existing sums are kept */
        lag_products_add(&first, &second, rows[r].first, rows[r].end, rows[r].lags, sums);
        for (size_t l = 0; l <= rows[r].lags; l++) {
            long double want = l == 0 ? 5.0L : 0.0L;
            for (size_t k = rows[r].first + l; k < rows[r].end; k++) {
                want += (long double)subtract_mean(x[k], rows[r].x_mean) *
                        (long double)subtract_mean(y[k - l], rows[r].y_mean);
            }
            CHECK_NEAR(rows[r].row, sums[l], (double)want, 1e-12, 1e-10);
        }
    }
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("lag_products", NULL, NULL);
    CU_add_test(suite, "definition", test_definition);
    return check_run();
}
