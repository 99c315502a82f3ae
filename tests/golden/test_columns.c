/* Statistics of columns of small recordings, against an independent program (numpy). */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "identification/data/channel_match.h"
#include "identification/data/column_rate.h"
#include "identification/data/column_steps.h"
#include "identification/data/command_levels.h"

enum { ROWS_MAX = 4000, COLUMNS_MAX = 6 };

static double column[COLUMNS_MAX][ROWS_MAX];
static double scratch[COLUMN_STEPS_ROOM + 2 * ROWS_MAX];
static size_t rows;

/* Reads the numbers of a table; an empty field is NaN. */
static void read_table(const char *name)
{
    char path[512];
    char line[512];
    (void)snprintf(path, sizeof path, "%s/tests/golden/columns/%s.csv", TANDEM_SOURCE_DIR,
                   name);
    FILE *in = fopen(path, "r");
    CU_ASSERT_FATAL(in != NULL && fgets(line, sizeof line, in) != NULL);
    rows = 0;
    while (rows < ROWS_MAX && fgets(line, sizeof line, in)) {
        size_t c = 0;
        for (char *at = line; at && c < COLUMNS_MAX; c++) {
            char *end = NULL;
            const double value = strtod(at, &end);
            column[c][rows] = end > at ? value : (double)NAN;
            at = strchr(at, ',');
            at = at ? at + 1 : NULL;
        }
        rows++;
    }
    (void)fclose(in);
}

static void test_rates(void)
{
    static const struct {
        const char *row;
        double t, position, velocity, factor, se;
        enum column_rate_verdict verdict;
    } cases[] = {
        {"as is", 1.0, 1.0, 1.0, 0.99973, 1.13414e-4, COLUMN_RATE_AGREES},
        {"degrees", 1.0, 57.29578, 1.0, 57.2803, 6.49816e-3, COLUMN_RATE_FACTOR},
        {"mirrored", 1.0, -1.0, 1.0, -0.99973, 1.13414e-4, COLUMN_RATE_FACTOR},
        {"times x 10", 10.0, 1.0, 1.0, 0.099973, 1.13414e-5, COLUMN_RATE_FACTOR},
        {"times x 1000", 1000.0, 1.0, 1.0, 9.9973e-4, 1.13414e-7, COLUMN_RATE_FACTOR},
        {"velocity x 2", 1.0, 1.0, 2.0, 0.499865, 5.67071e-5, COLUMN_RATE_FACTOR},
    };
    read_table("joint"); /* t_s, effort, position, velocity */
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct column_rate rate;
        double x[3][ROWS_MAX];
        for (size_t k = 0; k < rows; k++) {
            x[0][k] = cases[i].t * column[0][k];
            x[1][k] = cases[i].position * column[2][k];
            x[2][k] = cases[i].velocity * column[3][k];
        }
        column_rate_find(x[0], x[1], x[2], rows, scratch, &rate);
        CHECK_NEAR(cases[i].row, rate.factor, cases[i].factor, 0.01, 0.0);
        CHECK_NEAR(cases[i].row, rate.se, cases[i].se, 0.01, 0.0);
        CHECK_NEAR(cases[i].row, fabs(rate.correlation), 1.0, 0.01, 0.0);
        CHECK_INT(cases[i].row, rate.window, 30);
        CHECK_INT(cases[i].row, column_rate_judge(&rate), cases[i].verdict);
    }
}

static void test_steps(void)
{
    struct column_steps steps;
    struct column_wrap wrap;
    read_table("stale");
    column_steps_find(column[2], rows, scratch, &steps);
    CHECK_NEAR("stale", steps.repeat_ratio, 0.749371, 0.01, 0.0);
    CHECK_NEAR("stale", steps.hold_rows, 4.0, 0.0, 0.0);
    CHECK_INT("stale", steps.stale_rows, 4);
    read_table("wrapped");
    column_wrap_find(column[2], rows, scratch, &wrap);
    CHECK_NEAR("wrapped", wrap.turn, 360.0, 0.0, 0.0);
    CHECK_INT("wrapped", wrap.first + 1, 180);
    CHECK_INT("wrapped", wrap.count, 2);
}

static void test_levels(void)
{
    static const struct {
        const char *name;
        size_t levels, magnitudes;
    } cases[] = {
        {"constant_deadband", 1, 1}, {"one_size", 3, 1}, {"day1", 13, 8}, {"stale", 13, 8}};
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct command_levels levels;
        read_table(cases[i].name);
        command_levels_find(column[1], rows, scratch, &levels);
        CHECK_INT(cases[i].name, levels.levels, cases[i].levels);
        CHECK_INT(cases[i].name, levels.magnitudes, cases[i].magnitudes);
    }
}

static void test_exchange(void)
{
    static const double r2[2][2] = {{0.0124299, 0.995215}, {0.996434, 0.00931079}};
    struct channel_match match;
    size_t axis = 0;
    read_table("swapped"); /* t_s, two commands, two velocities */
    const struct data_set set = {.axes = 2,
                                 .n = rows,
                                 .dt_s = column[0][1] - column[0][0],
                                 .t_s = column[0],
                                 .tau = {column[1], column[2]},
                                 .nu = {column[3], column[4]},
                                 .run_count = 1,
                                 .run_start = {0, rows}};
    CHECK_INT("match", channel_match_find(&set, &match), STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        CHECK_NEAR("R2", match.r2[i / 2][i % 2], r2[i / 2][i % 2], 0.01, 0.0);
    }
    CHECK_NEAR("gain", match.gain[0][1], 0.936569, 0.01, 0.0);
    CHECK_NEAR("gain", match.gain[1][0], 0.928012, 0.01, 0.0);
    CHECK_NEAR("named", match.named_r2, 0.0108703, 0.01, 0.0);
    CHECK_NEAR("best", match.best_r2, 0.995824, 0.01, 0.0);
    CHECK_NEAR("mixture", match.mixture_r2, 0.99615, 0.01, 0.0);
    CHECK_INT("exchanged", channel_match_judge(&match, 2, true, true, &axis),
              CHANNEL_MATCH_EXCHANGED);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("columns", NULL, NULL);
    CU_add_test(suite, "rates", test_rates);
    CU_add_test(suite, "steps", test_steps);
    CU_add_test(suite, "levels", test_levels);
    CU_add_test(suite, "exchange", test_exchange);
    return check_run();
}
