/* Shifts by ranks: paired and independent samples, ties, equal values, correlation of
 * neighbours. Expected values come from an independent program (numpy, scipy). */
#include "tests/support/check.h"

#include "identification/numeric/rank_shift.h"

#include <gsl/gsl_sort.h>

enum { MANY = 4000 };

static double sorted[MANY], ranks[MANY];
static size_t order[MANY];
static const struct rank_room room = {sorted, ranks, order};

static double draw_kind(const char *kind, size_t i)
{
    const double x = (double)i;
    return strcmp(kind, "waves") == 0   ? sin(x * 1.7) * .1 + .02 + (i % 7 == 0 ? .5 : 0)
           : strcmp(kind, "ties") == 0  ? ((double)(i * 5 % 7) - 2) * .25
           : strcmp(kind, "equal") == 0 ? .25
           : strcmp(kind, "ramp") == 0  ? .01 * x - .3 + .05 * sin(x * 2.9)
                                        : cos(x * 2.3) * .1 - .01;
}

static const struct {
    const char *kind;
    size_t n;
    double confidence, value, lo, hi, inflation;
} paired[] = {
    {"waves", 6, 0.95, 0.08463002318810492, -0.07258146823277324, 0.52, 1.0},
    {"waves", 6, 0.999, 0.08463002318810492, -HUGE_VAL, HUGE_VAL, 1.0},
    {"waves", 11, 0.95, 0.074586359700783, -0.006453705459855935, 0.27901750001932285, 1.0},
    {"waves", 25, 0.95, 0.06415141075141963, 0.023506317239594725, 0.18499203932122704, 1.0},
    {"waves", 26, 0.95, 0.05853182331133241, 0.016602833096289432, 0.17160575255682714, 1.0},
    {"waves", 80, 0.95, 0.04994972465956356, 0.023672660098633926, 0.0869455517579175, 1.0},
    {"waves", 80, 0.999, 0.04994972465956356, 0.012241140963168584, 0.11574438341818746, 1.0},
    {"ties", 25, 0.95, 0.25, 0.0, 0.5, 1.0},
    {"ties", 26, 0.95, 0.25, 0.0, 0.5, 1.0},
    {"ties", 80, 0.95, 0.25, 0.125, 0.375, 1.0},
    {"equal", 6, 0.95, 0.25, 0.25, 0.25, 1.0},
    {"equal", 80, 0.95, 0.25, 0.25, 0.25, 1.0},
    {"ramp", 12, 0.95, -0.2406989725549267, -0.3005707148742177, -0.17459751483565034,
     1.9052059052059054},
    {"ramp", 26, 0.95, -0.17157318397945293, -0.2371661027738134, -0.10506467013848021,
     2.723339907955293},
    {"ramp", 80, 0.95, 0.0917367452324185, -0.029538878900132723, 0.2190775758266708,
     4.028522181200188},
};

static void check_end(const char *row, double got, double want)
{
    if (isinf(want)) {
        CHECK(row, isinf(got) && signbit(got) == signbit(want));
    } else {
        CHECK_NEAR(row, got, want, 0, 1e-12);
    }
}

static void test_paired(void)
{
    double d[MANY];
    char row[64];
    for (size_t k = 0; k < COUNT(paired); k++) {
        const size_t n = paired[k].n;
        struct rank_shift got;
        struct rank_shift mirror;
        (void)snprintf(row, sizeof row, "%s %zu", paired[k].kind, n);
        for (size_t i = 0; i < n; i++) {
            d[i] = draw_kind(paired[k].kind, i);
        }
        rank_shift_paired(d, n, paired[k].confidence, &room, &got);
        CHECK_NEAR(row, got.value, paired[k].value, 0, 1e-12);
        check_end(row, got.lo, paired[k].lo);
        check_end(row, got.hi, paired[k].hi);
        CHECK_NEAR(row, got.inflation, paired[k].inflation, 0, 1e-12);
        for (size_t i = 0; i < n; i++) {
            d[i] = -d[i];
        }
        rank_shift_paired(d, n, paired[k].confidence, &room, &mirror);
        CHECK("the mirror is exact", !(fabs(mirror.value + got.value) > 0.0) &&
                                         (isinf(got.lo) || !(fabs(mirror.hi + got.lo) > 0.0)));
    }
}

/* Fewer than 12 differences say nothing of correlation. */
static void test_neighbours(void)
{
    double d[12];
    struct rank_shift got;
    for (size_t i = 0; i < 12; i++) {
        d[i] = draw_kind("ramp", i);
    }
    rank_shift_paired(d, 11, 0.95, &room, &got);
    CHECK_NEAR("of 11", got.inflation, 1.0, 0, 0);
    rank_shift_paired(d, 12, 0.95, &room, &got);
    CHECK_NEAR("of 12", got.inflation, 1.9052059052059054, 0, 1e-12);
}

/* Bisection on the value finds what sorting all averages finds, of any number. */
static void test_order_statistics(void)
{
    enum { N = 300 };
    static double d[N], walsh[N * (N + 1) / 2];
    struct rank_shift got;
    size_t count = 0;
    for (size_t i = 0; i < N; i++) {
        d[i] = draw_kind(i % 3 == 0 ? "ties" : "waves", i) * 1e-3;
        for (size_t j = 0; j <= i; j++) {
            walsh[count++] = (d[i] + d[j]) / 2.0;
        }
    }
    gsl_sort(walsh, 1, count);
    rank_shift_paired(d, N, 0.95, &room, &got);
    const double sd = sqrt(got.inflation * N * (N + 1.0) * (2.0 * N + 1.0) / 24.0);
    const size_t k = (size_t)rint(N * (N + 1.0) / 4.0 - 1.9599639845400545 * sd);
    CHECK_NEAR("middle", got.value, (walsh[count / 2 - 1] + walsh[count / 2]) / 2.0, 0, 0);
    CHECK_NEAR("lower end", got.lo, walsh[k - 1], 0, 0);
    CHECK_NEAR("upper end", got.hi, walsh[count - k], 0, 0);
}

static const struct {
    const char *a;
    size_t n_a;
    const char *b;
    size_t n_b;
    double value, lo, hi, p, p_lo, p_hi;
} unpaired[] = {
    {"waves", 6, "other", 9, -0.06629586365617386, -0.22665084318566323, 0.04388458607798372,
     0.25925925925925924, 0.05923689427065346, 0.6604953745378725},
    {"waves", 80, "other", 26, -0.047694104625685074, -0.09724864376310359,
     -0.017603202077240407, 0.31538461538461543, 0.21464707160497015, 0.4370875599963331},
    {"ties", 26, "ties", 33, 0.09999999999999998, -0.15000000000000002, 0.35,
     0.5722610722610723, 0.41722384441872495, 0.7142967575443534},
    {"equal", 25, "equal", 6, 0.0, 0.0, 0.0, 0.5, 0.5, 0.5},
    {"equal", 12, "other", 12, -0.2490668824493003, -0.31328330203333976, -0.17842748998746427,
     0.0, 0.0, 0.0},
};

static void test_unpaired(void)
{
    double a[80];
    double b[80];
    for (size_t k = 0; k < COUNT(unpaired); k++) {
        struct rank_shift got;
        struct rank_superiority p;
        for (size_t i = 0; i < unpaired[k].n_a; i++) {
            a[i] = draw_kind(unpaired[k].a, i);
        }
        for (size_t i = 0; i < unpaired[k].n_b; i++) {
            b[i] = draw_kind(unpaired[k].b, i) + (strcmp(unpaired[k].b, "ties") == 0 ? .1 : 0);
        }
        gsl_sort(a, 1, unpaired[k].n_a);
        gsl_sort(b, 1, unpaired[k].n_b);
        rank_shift_unpaired(a, unpaired[k].n_a, b, unpaired[k].n_b, 0.95, &got);
        rank_superiority_find(a, unpaired[k].n_a, b, unpaired[k].n_b, 0.95, &p);
        CHECK_NEAR(unpaired[k].a, got.value, unpaired[k].value, 0, 1e-12);
        CHECK_NEAR(unpaired[k].a, got.lo, unpaired[k].lo, 0, 1e-12);
        CHECK_NEAR(unpaired[k].a, got.hi, unpaired[k].hi, 0, 1e-12);
        CHECK_NEAR(unpaired[k].a, p.value, unpaired[k].p, 0, 1e-12);
        CHECK_NEAR(unpaired[k].a, p.lo, unpaired[k].p_lo, 0, 2e-9);
        CHECK_NEAR(unpaired[k].a, p.hi, unpaired[k].p_hi, 0, 2e-9);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("rank_shift", NULL, NULL);
    CU_ADD_TEST(suite, test_paired);
    CU_ADD_TEST(suite, test_neighbours);
    CU_ADD_TEST(suite, test_order_statistics);
    CU_ADD_TEST(suite, test_unpaired);
    return check_run();
}
