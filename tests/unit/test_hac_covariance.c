/* The covariance of a sum of moments against its definition, term by term. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>

#include "identification/numeric/hac_covariance.h"
#include "tests/support/check.h"

enum { P = 3, SQUARE = P * P, ALL = 700 };

static double moments[ALL][P];

static void draw_moments(void)
{
    uint64_t state = 9;
    for (size_t k = 0; k < ALL; k++) {
        for (size_t i = 0; i < P; i++) {
            state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            moments[k][i] = (double)(state >> 33) / 1073741824.0 - 1.0 +
                            (k > 0 ? 0.9 * moments[k - 1][i] : 0.0);
        }
    }
}

/* S = sum over lags of (1 - |lag| / (L + 1)) sum over k of b_k b_(k - lag)', of blocks b. */
static void compute_definition(size_t first, size_t end, size_t block, size_t lags, double *s)
{
    static double blocks[ALL][P];
    size_t n = 0;
    for (size_t k = first; k < end; k += block, n++) {
        for (size_t i = 0; i < P; i++) {
            blocks[n][i] = 0.0;
            for (size_t m = k; m < k + block && m < end; m++) {
                blocks[n][i] += moments[m][i];
            }
        }
    }
    for (size_t k = 0; k < n; k++) {
        for (size_t l = 0; l <= lags && l <= k; l++) {
            const double weight = 1.0 - (double)l / ((double)lags + 1.0);
            for (size_t i = 0; i < P; i++) {
                for (size_t j = 0; j < P; j++) {
                    const double there = blocks[k][i] * blocks[k - l][j];
                    const double back = blocks[k - l][i] * blocks[k][j];
                    s[i * P + j] += l == 0 ? there : weight * (there + back);
                }
            }
        }
    }
}

static void test_definition(void)
{
    static const struct {
        const char *row;
        size_t reach, cut; /* where a second run begins */
        size_t block, lags;
    } rows[] = {
        {"independent", 0, ALL, 1, 0},
        {"neighbours", 1, ALL, 1, 1},
        {"five", 5, ALL, 1, 5},
        {"two runs", 5, 300, 1, 5},
        {"a run of two", 9, 2, 1, 9},
        {"as many as fit", 64, ALL, 1, 64},
        {"blocks of two", 65, ALL, 2, 32},
        {"blocks and runs", 200, 333, 4, 50},
        {"longer than all", 9000, ALL, 141, 63},
    };
    draw_moments();
    for (size_t r = 0; r < COUNT(rows); r++) {
        struct hac_covariance m;
        double want[SQUARE] = {0.0};
        double plain[SQUARE] = {0.0};
        hac_start(&m, P, rows[r].reach, true);
        CHECK_INT(rows[r].row, m.block, rows[r].block);
        CHECK_INT(rows[r].row, m.lags, rows[r].lags);
        for (size_t k = 0; k < ALL; k++) {
            if (k == rows[r].cut) {
                hac_break(&m);
            }
            hac_add(&m, moments[k]);
            for (size_t i = 0; i < SQUARE; i++) {
                plain[i] += moments[k][i / P] * moments[k][i % P];
            }
        }
        hac_break(&m);
        compute_definition(0, rows[r].cut, rows[r].block, rows[r].lags, want);
        compute_definition(rows[r].cut, ALL, rows[r].block, rows[r].lags, want);
        for (size_t i = 0; i < SQUARE; i++) {
            CHECK_NEAR(rows[r].row, m.robust[i], want[i], 1e-10, 1e-9);
            CHECK_NEAR(rows[r].row, m.plain[i], plain[i], 1e-12, 1e-12);
        }
    }
}

/* A wild moment must not stay in the sums that follow it. */
static void test_forgets(void)
{
    struct hac_covariance m;
    const double wild[1] = {1e12};
    const double tame[1] = {1e-3};
    hac_start(&m, 1, 4, false);
    hac_add(&m, wild);
    for (size_t k = 0; k < 100; k++) {
        hac_add(&m, tame);
    }
    const double before = m.sum[0];
    CHECK_NEAR("sum of five", before, 5e-3, 1e-12, 0.0);
    hac_break(&m);
    CHECK_NEAR("not asked for", m.plain[0], 0.0, 0.0, 0.0);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("hac_covariance", NULL, NULL);
    CU_add_test(suite, "definition", test_definition);
    CU_add_test(suite, "forgets", test_forgets);
    return check_run();
}
