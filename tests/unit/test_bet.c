/* Bets on a rise: capital, restarts, bounds and merging. Expected values come from an
 * independent program in Python. */
#include "tests/support/check.h"

#include "identification/numeric/bet.h"

enum { MANY = 200 };

static double draw_kind(const char *kind, size_t i)
{
    const double x = (double)i;
    const double wave = sin(x * 1.7);
    return strcmp(kind, "equal") == 0   ? 0.0
           : strcmp(kind, "quiet") == 0 ? .002 * wave
           : strcmp(kind, "noisy") == 0 ? .02 * wave + (i % 19 == 5 ? .3 : 0)
           : strcmp(kind, "slow") == 0  ? .02 * sin(x * .2)
           : strcmp(kind, "worse") == 0 ? .01 * wave + .012
           : strcmp(kind, "turns") == 0 ? .01 * wave + (i >= 120 ? .03 : 0)
           : strcmp(kind, "near") == 0  ? .004 + .001 * wave
           : i % 13 == 4                ? 1.0
           : i % 37 == 9                ? -1.0
                                        : 0.0;
}

static const struct {
    const char *kind;
    size_t n;
    double margin, clip;
    bool serial;
    double pass, fail;
    size_t since;
    double inflation, rise, lo, hi;
    size_t more, passed; /* 0: not */
} rows[] = {
    {"equal", 60, 0.005, 0.04, true, 6.221102065231995, -1.5629731266868543, 33, 1.0, 0.0,
     -0.00234391600975923, 0.00234391600975923, 1, 30},
    {"quiet", 7, 0.005, 0.04, true, 0.5675080727102353, -0.32207308701032167, 1, 1.0,
     0.00011515280064756028, -0.03036311536329281, 0.030538287582365268, 44, 0},
    {"quiet", 40, 0.005, 0.04, true, 4.052227477402312, -1.1980379947101887, 33, 1.0,
     3.474373994882411e-05, -0.0036091658143320724, 0.003660896046619881, 1, 30},
    {"noisy", 80, 0.005, 0.04, true, -0.5216286200888853, -1.7315021547649994, 65, 1.0,
     0.0026313088823029292, -0.0019347792042378794, 0.008489751207295662, 10886, 0},
    {"slow", 100, 0.005, 0.04, true, -2.599056160998388, -1.5258872910963373, 97,
     9.000000000000002, 0.0004986490366927056, -0.01333148304317948, 0.018279961238561484, 1189,
     0},
    {"slow", 100, 0.005, 0.04, false, 5.146450013479596, -1.8922666814182132, 97, 1.0,
     0.0004986490366927056, 0.0023533964860304154, 0.0035942828190360255, 1, 60},
    {"worse", 64, 0.005, 0.04, true, -11.513010043694344, 7.977744765595761, 1, 1.0,
     0.012024814014258218, 0.009305199339836796, 0.01470899029065626, 0, 0},
    {"turns", 170, 0.005, 0.04, true, -18.28760395318027, 13.804534501609453, 129,
     9.000000000000002, 0.008824318529990632, -0.001413643548234131, 0.0016581334173927608, 0,
     34},
    {"share", 200, 0.05, 1.05, true, -2.2777721356833767, -1.296377468155121, 1, 1.0,
     0.04999999999999999, -0.007512477960694437, 0.11632393427305487, 0, 0},
    {"share", 33, 0.02, 1.02, true, -0.37149826717974893, 0.13140486881595603, 1, 1.0,
     0.061874999999999986, -0.3153737427674205, 0.46088352693664997, 0, 0},
    {"near", 90, 0.005, 0.04, true, 1.9510810539988181, -1.1835261008496838, 1, 1.0,
     0.004003286568520861, 0.002461340844698974, 0.0055407635442577905, 76, 0},
};

static struct bet_unit units[MANY];
static struct bet late[MANY];

static void test_known(void)
{
    for (size_t k = 0; k < COUNT(rows); k++) {
        const char *row = rows[k].kind;
        struct bet pass;
        struct bet_fail fail;
        size_t passed = 0;
        bet_start(&pass, rows[k].margin, rows[k].clip, 1, rows[k].serial);
        bet_fail_start(&fail, rows[k].margin, rows[k].clip, rows[k].serial, late);
        for (size_t i = 0; i < rows[k].n; i++) {
            const double log_e = bet_add(&pass, draw_kind(row, i), &units[i]);
            passed = passed == 0 && log_e >= log(20.0) ? i + 1 : passed;
            bet_fail_add(&fail, draw_kind(row, i));
        }
        CHECK("room", fail.late_count <= bet_late_max(rows[k].n));
        CHECK_NEAR(row, bet_log_e(&pass), rows[k].pass, 0, 1e-9);
        CHECK_NEAR(row, fail.log_e, rows[k].fail, 0, 1e-9);
        CHECK_INT(row, fail.since, rows[k].since);
        CHECK_NEAR(row, pass.inflation, rows[k].inflation, 0, 1e-9);
        const double rise = bet_rise(units, rows[k].n, rows[k].clip);
        CHECK_NEAR(row, rise, rows[k].rise, 0, 1e-12);
        CHECK_NEAR(row, bet_bound(units, rows[k].n, rows[k].clip, 0.05, -1), rows[k].lo, 0,
                   1e-9);
        CHECK_NEAR(row, bet_bound(units, rows[k].n, rows[k].clip, 0.05, 1), rows[k].hi, 0,
                   1e-9);
        CHECK_INT(row, bet_more(&pass, rise, 0.05), rows[k].more);
        CHECK_INT(row, passed, rows[k].passed);
    }
    CHECK("no unit", isnan(bet_bound(units, 0, 1.0, 0.05, 1)));
}

/* Nearly a margin worse: the number of units that are missing is not known. */
static void test_no_gain(void)
{
    struct bet bet;
    bet_start(&bet, 0.005, 0.04, 1, true);
    for (size_t i = 0; i < 40; i++) {
        (void)bet_add(&bet, draw_kind("noisy", i), NULL);
    }
    CHECK("some gain", bet_more(&bet, 0.0026, 0.05) > 0);
    CHECK_INT("hardly any", bet_more(&bet, 0.0049, 0.05), 0);
    CHECK_INT("none", bet_more(&bet, 0.0051, 0.05), 0);
}

/* Correlation needs eight units; a run of one sign is then believed. */
static void test_serial(void)
{
    struct bet bet;
    bet_start(&bet, 0.005, 0.04, 1, true);
    for (size_t i = 0; i < 8; i++) {
        (void)bet_add(&bet, i < 4 ? 0.02 : -0.02, NULL);
        CHECK(i < 7 ? "of seven" : "of eight",
              i < 7 ? !(bet.inflation > 1.0) : bet.inflation > 4.0);
    }
}

/* A value is rejected if every set that holds it has a mean of 1 / alpha or more. */
static void test_merge(void)
{
    const double alone[] = {log(20.0)};
    const double two[] = {log(39.5), log(1.0)};
    const double both[] = {log(25.0), log(21.0), log(19.0)};
    CHECK_NEAR("alone", bet_merge(alone, 1, 0.05), log(20.0), 1e-12, 0);
    CHECK_NEAR("another lowers the mean", bet_merge(two, 2, 0.05), log(39.0), 1e-12, 0);
    CHECK_NEAR("those above do not", bet_merge(both, 3, 0.05), log(21.0), 1e-12, 0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("bet", NULL, NULL);
    CU_ADD_TEST(suite, test_known);
    CU_ADD_TEST(suite, test_no_gain);
    CU_ADD_TEST(suite, test_serial);
    CU_ADD_TEST(suite, test_merge);
    return check_run();
}
