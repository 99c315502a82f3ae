/* Efforts of a vessel that change between rows: the time of each is found, and given to it. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_statistics_double.h>

#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "identification/model/usv3.h"

enum { N = 1200, AXES = 3, FINE = 100 };
static const double dt_s = 0.1;
static const double theta[] = {180, 250, 60, 40, 20, 80, 60, 50, 30};
static const double delay_s = 0.1;
static const double effort_max[AXES] = {120.0, 80.0, 50.0};
static const double noise_sd[AXES] = {0.005, 0.005, 0.004};

static struct {
    double t_s[N], nu[AXES][N], tau[AXES][N], acts_s[AXES][N];
} rows;

struct recording {
    const char *name;
    double early, late; /* a change acts within this many rows before its row, and after it */
    double gain;        /* of the efforts from half time on */
    bool within_row, vary;
};

static const struct recording recordings[] = {
    {"at rows", 0.0, 0.0, 1.0, false, false},
    {"between rows", 1.0, 0.0, 1.0, true, false},
    {"delays within five rows", 1.0, 4.0, 1.0, false, true},
    {"gain falls", 0.0, 0.0, 0.85, false, false},
};

static void draw_efforts(const struct recording *of, struct random_source *draws)
{
    for (size_t a = 0; a < AXES; a++) {
        double until_s = 0.0;
        for (size_t k = 0; k < N; k++) {
            const bool changes = k == 0 || dt_s * (double)k > until_s;
            until_s += changes ? random_between(draws, 2.0, 8.0) : 0.0;
            rows.tau[a][k] = changes ? random_between(draws, -effort_max[a], effort_max[a])
                                     : rows.tau[a][k - 1];
            rows.acts_s[a][k] =
                dt_s * ((double)k - (changes ? of->early * random_uniform(draws) : 0.0) +
                        (changes ? of->late * random_uniform(draws) : 0.0));
        }
    }
}

/* Rates of the vessel, and a step of Euler. */
static void step_vessel(double nu[AXES], const double tau[AXES], double h_s)
{
    const double *d = theta;
    const double rate[AXES] = {
        (tau[0] + d[1] * nu[1] * nu[2] - d[3] * nu[0] - d[4] * fabs(nu[0]) * nu[0]) / d[0],
        (tau[1] - d[0] * nu[0] * nu[2] - d[5] * nu[1] - d[6] * fabs(nu[1]) * nu[1]) / d[1],
        (tau[2] - (d[1] - d[0]) * nu[0] * nu[1] - d[7] * nu[2] - d[8] * fabs(nu[2]) * nu[2]) /
            d[2]};
    for (size_t a = 0; a < AXES; a++) {
        nu[a] += h_s * rate[a];
    }
}

static struct data_table record_vessel(const struct recording *of, uint64_t seed)
{
    struct random_source draws = {.state = seed};
    struct data_table table = {.set = {.axes = AXES, .n = N, .dt_s = dt_s, .run_count = 1}};
    struct data_set *set = &table.set;
    double nu[AXES] = {0.0};
    size_t next[AXES] = {0};
    double acts[AXES] = {0.0};
    draw_efforts(of, &draws);
    for (size_t k = 0; k < N; k++) {
        rows.t_s[k] = dt_s * (double)k;
        for (size_t a = 0; a < AXES; a++) {
            rows.nu[a][k] = nu[a] + noise_sd[a] * random_normal(&draws);
        }
        for (size_t f = 0; f < FINE; f++) {
            const double now_s = dt_s * ((double)k + (double)f / FINE);
            for (size_t a = 0; a < AXES; a++) {
                while (next[a] < N && rows.acts_s[a][next[a]] + delay_s <= now_s) {
                    acts[a] = rows.tau[a][next[a]++] * (k > N / 2 ? of->gain : 1.0);
                }
            }
            step_vessel(nu, acts, dt_s / FINE);
        }
    }
    table.memory = gsl_vector_alloc(sizeof rows / sizeof(double));
    memcpy(table.memory->data, &rows, sizeof rows);
    set->run_start[1] = N;
    set->t_s = table.memory->data;
    set->phase_s[1] = dt_s;
    for (size_t a = 0; a < AXES; a++) {
        set->nu[a] = table.memory->data + N * (1 + a);
        set->tau[a] = table.memory->data + N * (1 + AXES + a);
        set->noise_sd[a] = noise_sd[a];
    }
    return table;
}

static void test_findings(void)
{
    const struct model *model = &usv3_model;
    const struct dynamics_options options = dynamics_options_for(model);
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *of = &recordings[i];
        struct data_table table = record_vessel(of, 8 + i);
        struct input_phases phases;
        struct dynamics_fit fit;
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate(model, &table.set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
            STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate_phases(model, &options, &fit, true, &table, &phases), STATUS_OK);
        CHECK_INT(of->name, phases.within_row, of->within_row);
        CHECK_INT(of->name, phases.vary, of->vary);
        CHECK_INT(of->name, table.set.commands.count > 0, of->within_row);
        input_phases_judge(&phases, &fit);
        CHECK_INT(of->name, estimate_has_reason(&fit.estimate, REASON_CAUSE), of->vary);
        if (of->vary) {
            CHECK_NEAR("spread", phases.spread_s, (of->early + of->late) * dt_s / sqrt(12.0),
                       0.3, 0.0);
        }
        if (of->within_row) {
            CHECK("coloured", fit.hac_share > 0.0);
            CHECK_NEAR(of->name, phases.ratio, 1.0, 0.25, 0.0);
            CU_ASSERT_EQUAL_FATAL(
                dynamics_estimate(model, &table.set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
                STATUS_OK);
            CHECK("white", fit.hac_share <= 0.0);
            const double se = fit.estimate.se[0];
            input_phases_widen(&phases, model, &table.set, &fit);
            CHECK_NEAR("mass", fit.estimate.value[0], theta[0], 0.01, 0.0);
            CHECK("unknown times cost", fit.estimate.se[0] > 1.2 * se);
        }
        data_table_free(&table);
    }
}

/* The efforts change at the times that were found, in their order; rows have their means. */
static void test_times(void)
{
    enum { ROWS = 6 };
    static const double shift_s[2 * ROWS] = {0, 0, -0.25, 0, 0, 0, 0, 0, 0.25, -1.0, 0, 0};
    gsl_vector *memory = gsl_vector_alloc((1 + 2) * ROWS);
    struct data_table table = {
        .set = {.axes = 2, .n = ROWS, .dt_s = 1.0, .run_count = 1, .run_start = {0, ROWS}},
        .memory = memory};
    static const double tau[2][ROWS] = {{0, 0, 4, 4, 4, 4}, {1, 1, 2, 3, 3, 3}};
    for (size_t k = 0; k < ROWS; k++) {
        memory->data[k] = (double)k;
        memory->data[ROWS + k] = tau[0][k];
        memory->data[2 * ROWS + k] = tau[1][k];
    }
    table.set.t_s = memory->data;
    table.set.tau[0] = memory->data + ROWS;
    table.set.tau[1] = memory->data + 2 * ROWS;
    CU_ASSERT_EQUAL_FATAL(input_phases_apply(&table, shift_s), STATUS_OK);
    const struct data_commands *c = &table.set.commands;
    static const double times[] = {0.0, 1.75, 2.25, 2.25};
    static const double first[] = {0, 4, 4, 4};
    static const double second[] = {1, 1, 2, 3};
    CU_ASSERT_EQUAL_FATAL(c->count, 4);
    for (size_t i = 0; i < c->count; i++) {
        CHECK_NEAR("time", c->t_s[i], times[i], 0.0, 1e-12);
        CHECK_NEAR("first", c->tau[0][i], first[i], 0.0, 0.0);
        CHECK_NEAR("second", c->tau[1][i], second[i], 0.0, 0.0);
    }
    CHECK_NEAR("mean", table.set.tau[0][1], 1.0, 0.0, 1e-12);
    CHECK_NEAR("mean", table.set.tau[1][2], 2.5, 0.0, 1e-12);
    CHECK_NEAR("held", table.set.tau[1][5], 3.0, 0.0, 0.0);
    data_table_free(&table);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("times of efforts", NULL, NULL);
    CU_add_test(suite, "findings", test_findings);
    CU_add_test(suite, "times", test_times);
    return check_run();
}
