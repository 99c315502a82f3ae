/* Recordings with every fault there is, to data sets; and fits of data that determine
 * nothing. */
#include "tests/support/check.h"

#include <dlfcn.h>

#include <gsl/gsl_errno.h>
#include <gsl/gsl_vector.h>
#include <gsl/gsl_vector_ulong.h>

#include "identification/data/data_set.h"
#include "identification/dynamics/dynamics_check.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/model/usv3.h"
#include "tests/support/gsl_memory.h"

enum { N = 1200, AXES = 3 };

/* ---- recordings --------------------------------------------------------------------------
 */

struct recording {
    double t[2 * N], nu[AXES][2 * N], tau[AXES][2 * N];
    struct data_raw raw;
};

static void point_recording(struct recording *r, size_t n)
{
    r->raw = (struct data_raw){.axes = AXES, .n = n, .t_s = r->t, .part_count = 1};
    r->raw.part_start[1] = n;
    for (size_t a = 0; a < AXES; a++) {
        r->raw.nu[a] = r->nu[a];
        r->raw.tau[a] = r->tau[a];
    }
}

/* A vessel under steps and swings of its thrusters; 10 Hz. */
static void simulate_drive(struct recording *r)
{
    const double *theta = usv3_vessels[0].theta;
    double nu[AXES] = {0.0};
    double pose[AXES] = {0.0};
    for (size_t k = 0; k < N; k++) {
        const double t = 0.1 * (double)k;
        const double tau[AXES] = {80.0 * sin(0.31 * t) + 60.0, 0.0,
                                  (k / 70) % 2 == 0 ? 45.0 * sin(0.53 * t) : -40.0};
        r->t[k] = t;
        for (size_t a = 0; a < AXES; a++) {
            r->nu[a][k] = nu[a];
            r->tau[a][k] = tau[a];
        }
        model_step(&usv3_model, theta, nu, pose, tau, NULL, 0.1);
    }
    point_recording(r, N);
}

static void remove_rows(struct recording *r, size_t from, size_t count)
{
    const size_t tail = r->raw.n - from - count;
    memmove(r->t + from, r->t + from + count, tail * sizeof(double));
    for (size_t a = 0; a < AXES; a++) {
        memmove(r->nu[a] + from, r->nu[a] + from + count, tail * sizeof(double));
        memmove(r->tau[a] + from, r->tau[a] + from + count, tail * sizeof(double));
    }
    point_recording(r, r->raw.n - count);
}

static void as_is(struct recording *r)
{
    (void)r;
}

static void make_empty(struct recording *r)
{
    point_recording(r, 0);
}

static void one_row(struct recording *r)
{
    point_recording(r, 1);
}

static void all_nan(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->nu[1][k] = NAN;
    }
}

static void some_nan(struct recording *r)
{
    r->nu[0][100] = NAN;
    r->tau[2][400] = INFINITY;
    r->t[700] = NAN;
}

static void no_time(struct recording *r)
{
    memset(r->t, 0, sizeof r->t);
}

static void in_ms(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->t[k] *= 1e3;
    }
}

static void add_duplicates(struct recording *r)
{
    r->t[50] = r->t[49];
    r->t[60] = r->t[59];
}

static void out_of_order(struct recording *r)
{
    r->t[200] -= 0.25;
    r->t[201] -= 0.25;
}

static void clock_set_back(struct recording *r)
{
    for (size_t k = N / 2; k < N; k++) {
        r->t[k] -= 40.0;
    }
}

static void add_spike(struct recording *r)
{
    r->t[300] = 1e9;
}

static void reverse_time(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->t[k] = -0.1 * (double)k;
    }
}

static void add_gap(struct recording *r)
{
    remove_rows(r, 500, 100);
}

static void small_gaps(struct recording *r)
{
    remove_rows(r, 500, 2);
    remove_rows(r, 800, 1);
}

static void add_jitter(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->t[k] += 0.03 * sin(12.9898 * (double)k);
    }
}

static void rounded_stamps(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->t[k] = round(r->t[k] * 200.0 + 0.3 * sin((double)k)) / 200.0;
    }
}

static void tear_recording(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        const size_t piece = k / 5;
        r->t[k] += (double)piece;
    }
}

/* A change of the recording, and the expected data summary. */
static const struct row {
    const char *name;
    void (*harm)(struct recording *r);
    enum status status;
    const char *code; /* of the error */
    size_t used, runs, incomplete, duplicates, back_steps, gaps, bridged;
    bool resampled;
} rows[] = {
    /* clang-format off */
    {"as it is", as_is, STATUS_OK, "", N, 1, 0, 0, 0, 0, 0, false},
    {"empty", make_empty, STATUS_E_EMPTY, "too_few", 0, 0, 0, 0, 0, 0, 0, false},
    {"one row", one_row, STATUS_E_EMPTY, "too_few", 0, 0, 0, 0, 0, 0, 0, false},
    {"all NaN", all_nan, STATUS_E_EMPTY, "too_few", 0, 0, N, 0, 0, 0, 0, false},
    {"some NaN", some_nan, STATUS_OK, "", N - 1, 2, 3, 0, 0, 0, 0, true},
    {"no time", no_time, STATUS_E_EMPTY, "time_not_rising", 0, 0, 0, 0, 0, 0, 0, false},
    {"milliseconds", in_ms, STATUS_E_RANGE, "wrong_unit", 0, 0, 0, 0, 0, 0, 0, false},
    {"duplicates", add_duplicates, STATUS_OK, "", N, 1, 0, 2, 0, 0, 0, true},
    {"out of order", out_of_order, STATUS_OK, "", N, 1, 0, 0, 1, 1, 1, true},
    {"clock set back", clock_set_back, STATUS_OK, "", N, 2, 0, 0, 1, 0, 0, false},
    {"one stamp far off", add_spike, STATUS_OK, "", N - 1, 2, 0, 0, 1, 1, 0, false},
    {"backwards", reverse_time, STATUS_E_EMPTY, "time_not_rising", 0, 0, 0, 0, 0, 0, 0, false},
    {"gap", add_gap, STATUS_OK, "", N - 100, 2, 0, 0, 0, 1, 0, false},
    {"small gaps", small_gaps, STATUS_OK, "", N, 1, 0, 0, 0, 1, 1, true},
    {"jitter", add_jitter, STATUS_OK, "", N, 1, 0, 0, 0, 0, 0, false},
    {"rounded stamps", rounded_stamps, STATUS_OK, "", N, 1, 0, 0, 0, 0, 0, false},
    {"torn to pieces", tear_recording, STATUS_E_EMPTY, "too_few", 0, 0, 0, 0, 0, 239, 0, false},
    /* clang-format on */
};

/* A row is lost where an effort changes, so the time of the change is unknown. If that is rare
 * the recording is cut there; else the change may have been at either end, and halfway is right
 * on average. */
static void test_jumps(void)
{
    static const struct {
        const char *row;
        size_t every, offset; /* rows lost */
        size_t missing, jumps, runs;
    } cases[] = {
        {"between edges", 200, 15, 6, 0, 1},
        {"some edges", 140, 140, 8, 8, 9},
        {"all edges", 70, 70, 17, 17, 1},
    };
    static struct recording r;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct data_table table;
        struct data_summary summary;
        struct err err = {0};
        double before[COUNT(cases) * 8];
        double after[COUNT(cases) * 8];
        size_t lost = 0;
        simulate_drive(&r);
        for (size_t k = 0; k < N; k++) {
            r.tau[2][k] = (k / 70) % 2 == 0 ? 45.0 : -40.0;
        }
        for (size_t k = cases[i].offset +
                        cases[i].every * ((N - 1 - cases[i].offset) / cases[i].every);
             lost < cases[i].missing; k -= cases[i].every) {
            before[lost] = r.tau[2][k - 1];
            after[lost++] = r.tau[2][k + 1];
            remove_rows(&r, k, 1);
        }
        CU_ASSERT_EQUAL_FATAL(data_table_make(&r.raw, &table, &summary, &err), STATUS_OK);
        CHECK_INT(cases[i].row, summary.missing, cases[i].missing);
        CHECK_INT(cases[i].row, summary.jumps, cases[i].jumps);
        CHECK_INT(cases[i].row, summary.runs, cases[i].runs);
        for (size_t k = 0; k < lost && summary.runs == 1; k++) {
            const size_t at = cases[i].offset + cases[i].every * (lost - 1 - k);
            CHECK_NEAR(cases[i].row, table.set.tau[2][at], 0.5 * (before[k] + after[k]), 1e-6,
                       1e-6);
        }
        data_table_free(&table);
    }
}

static void test_summaries(void)
{
    static struct recording r;
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct row *row = &rows[i];
        struct data_table table;
        struct data_summary summary;
        struct err err = {0};
        simulate_drive(&r);
        row->harm(&r);
        CHECK_INT(row->name, data_table_make(&r.raw, &table, &summary, &err), row->status);
        CHECK_INT(row->name, summary.incomplete, row->incomplete);
        CHECK_INT(row->name, summary.duplicates, row->duplicates);
        CHECK_INT(row->name, summary.back_steps, row->back_steps);
        CHECK_INT(row->name, summary.gaps, row->gaps);
        CHECK_INT(row->name, summary.bridged, row->bridged);
        if (row->status != STATUS_OK) {
            CHECK_TEXT(row->name, fault_name(err.fault), row->code);
            continue;
        }
        CHECK_INT(row->name, summary.runs, row->runs);
        CHECK_INT(row->name, summary.resampled, row->resampled);
        CHECK_NEAR(row->name, summary.dt_s, 0.1, 0.05, 0.0);
        if (row->used > 0) {
            CHECK_INT(row->name, summary.used, row->used);
        }
        for (size_t run = 0; run < table.set.run_count; run++) {
            for (size_t k = table.set.run_start[run] + 1; k < table.set.run_start[run + 1];
                 k++) {
                /* Rows keep the timer's stamps, and inserted rows fill the gaps. */
                CHECK_NEAR(row->name, table.set.t_s[k] - table.set.t_s[k - 1], summary.dt_s,
                           row->harm == add_jitter ? 0.3 : 0.11, 0.0);
            }
        }
        data_table_free(&table);
    }
}

/* Whatever was repaired, the fit is about the same. */
static void test_repaired(void)
{
    static struct recording r;
    const double *truth = usv3_vessels[0].theta;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct data_table table;
        struct data_summary summary;
        struct dynamics_fit fit;
        const struct dynamics_options options = dynamics_options_defaults();
        simulate_drive(&r);
        rows[i].harm(&r);
        if (data_table_make(&r.raw, &table, &summary, NULL) != STATUS_OK) {
            continue;
        }
        CHECK_INT(
            rows[i].name,
            dynamics_linear_fit(&usv3_model, &table.set, DYNAMICS_WEAK_IV, &options, &fit),
            STATUS_OK);
        for (size_t k = 0; k < 3; k++) {
            CHECK_NEAR(rows[i].name, fit.estimate.value[k], truth[k], 0.02, 0.0);
        }
        data_table_free(&table);
    }
}

static void test_channels(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    unsigned long long state = 1;
    simulate_drive(&r);
    for (size_t k = 0; k < N; k++) {
        double sum = 0.0;
        for (int i = 0; i < 12; i++) {
            state = state * 6364136223846793005ULL + 1442695040888963407ULL;
            sum += (double)(state >> 11) / 9007199254740992.0 - 0.5;
        }
        r.nu[0][k] += 0.03 * sum;
        r.nu[2][k] = round(r.nu[2][k] * 50.0) / 50.0;
        r.tau[0][k] = fmin(r.tau[0][k], 120.0);
    }
    CHECK_INT("channels", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK_NEAR("noise", summary.nu[0].noise_sd, 0.03, 0.15, 0.0);
    CHECK_NEAR("noise of the set", table.set.noise_sd[0], summary.nu[0].noise_sd, 0.0, 0.0);
    CHECK_NEAR("no step", summary.nu[0].quantum, 0.0, 0.0, 0.0);
    CHECK_NEAR("step", summary.nu[2].quantum, 0.02, 1e-6, 0.0);
    CHECK("saturated", summary.tau[0].saturation_ratio > 0.1);
    CHECK_NEAR("limit", summary.tau[0].max, 120.0, 0.0, 0.0);
    data_table_free(&table);
}

/* Data in order that do not determine everything. */
static void make_still(struct recording *r)
{
    memset(r->nu, 0, sizeof r->nu);
    memset(r->tau, 0, sizeof r->tau);
}

static void make_straight(struct recording *r)
{
    memset(r->nu[1], 0, sizeof r->nu[1]);
    memset(r->nu[2], 0, sizeof r->nu[2]);
    memset(r->tau[2], 0, sizeof r->tau[2]);
}

static void make_short(struct recording *r)
{
    point_recording(r, 8);
}

static void make_reversed(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->tau[0][k] = -r->tau[0][k];
        r->tau[2][k] = -r->tau[2][k];
    }
}

static void make_huge(struct recording *r)
{
    for (size_t k = 0; k < N; k++) {
        r->nu[0][k] = k % 2 == 0 ? 1e200 : -1e200;
    }
}

static void test_one_sided(void)
{
    static const struct {
        const char *name;
        void (*harm)(struct recording *r);
        const char *reason, *advice;
        int rank;
    } cases[] = {
        {"still", make_still, "0 of 9 parameters are identifiable", "is not excited", 0},
        {"straight", make_straight, "yaw inertia (yaw_inertia_kgm2) is not identifiable",
         "zig-zag", -1},
        {"short", make_short, "0 equations for 9 parameters", "record longer", 0},
        {"reversed", make_reversed, "negative", NULL, 9},
    };
    static struct recording r;
    for (size_t i = 0; i < COUNT(cases); i++) {
        for (int method = DYNAMICS_OLS_CENTRAL; method <= DYNAMICS_WEAK_IV; method++) {
            struct data_table table;
            struct data_summary summary;
            struct dynamics_fit fit;
            const struct dynamics_options options = dynamics_options_defaults();
            simulate_drive(&r);
            cases[i].harm(&r);
            CHECK_INT(cases[i].name, data_table_make(&r.raw, &table, &summary, NULL),
                      STATUS_OK);
            CHECK_INT(cases[i].name,
                      dynamics_linear_fit(&usv3_model, &table.set, (enum dynamics_method)method,
                                          &options, &fit),
                      STATUS_OK);
            data_table_free(&table);
            if (i == 2 && method < DYNAMICS_WEAK) {
                continue; /* derivatives need fewer samples */
            }
            bool published = false;
            bool advised = !cases[i].advice;
            for (size_t k = 0; k < fit.estimate.reason_count; k++) {
                published = published || strstr(fit.estimate.reasons[k], cases[i].reason);
            }
            for (size_t k = 0; k < fit.estimate.advice_count; k++) {
                advised = advised || strstr(fit.estimate.advice[k], cases[i].advice);
            }
            CHECK(cases[i].name, published);
            CHECK(cases[i].name, advised);
            CHECK_INT(cases[i].name, fit.estimate.verdict, ESTIMATE_FAIL);
            if (cases[i].rank >= 0) {
                CHECK_INT(cases[i].name, fit.estimate.rank, cases[i].rank);
            }
        }
    }
}

static void test_overflow(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    struct dynamics_fit fit;
    const struct dynamics_options options = dynamics_options_defaults();
    simulate_drive(&r);
    make_huge(&r);
    CHECK_INT("huge", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK_INT("huge",
              dynamics_linear_fit(&usv3_model, &table.set, DYNAMICS_WEAK, &options, &fit),
              STATUS_E_MATH);
    data_table_free(&table);
}

/* Two masses that only their sum would show: a direction with names. */
static void pair_rows(const struct model *model, const double *pose, const double *nu,
                      const double *nu_dot, double *phi)
{
    (void)model;
    (void)pose;
    phi[0] = nu_dot[0];
    phi[1] = 2.0 * nu_dot[0];
    phi[2] = nu[0];
}

static void test_null_direction(void)
{
    static const struct model_axis axes[] = {{"v_mps", "force_n", "x_m", "speed", "force"}};
    static const struct model_parameter parameters[] = {
        {"hull_kg", "a", "kg", MODEL_POSITIVE, "", "hull"},
        {"load_kg", "b", "kg", MODEL_POSITIVE, "", "load"},
        {"drag_kgps", "c", "kg/s", MODEL_NOT_NEGATIVE, "", "drag"},
    };
    static const struct model model = {.name = "pair",
                                       .axes = axes,
                                       .axis_count = 1,
                                       .parameters = parameters,
                                       .parameter_count = 3,
                                       .rows = pair_rows};
    static double t[400];
    static double v[400];
    static double force[400];
    struct dynamics_fit fit;
    struct data_set set = {.axes = 1, .n = 400, .dt_s = 0.05, .t_s = t, .run_count = 1};
    const struct dynamics_options options = dynamics_options_defaults();
    set.run_start[1] = 400;
    set.nu[0] = v;
    set.tau[0] = force;
    for (size_t k = 0; k < 400; k++) {
        t[k] = 0.05 * (double)k;
        force[k] = (k / 40) % 2 == 0 ? 10.0 : -4.0;
        if (k + 1 < 400) {
            v[k + 1] = v[k] * exp(-0.05 * 0.5) + force[k] / 3.0 * (1.0 - exp(-0.05 * 0.5));
        }
    }
    CHECK_INT("pair", dynamics_linear_fit(&model, &set, DYNAMICS_WEAK, &options, &fit),
              STATUS_OK);
    CHECK_INT("pair", fit.estimate.rank, 2);
    CHECK_INT("pair", fit.estimate.null_count, 1);
    CHECK_TEXT("pair", fit.estimate.nulls[0], "hull_kg, load_kg in the ratio 1 : -0.5");
    CHECK("pair", isnan(fit.estimate.value[0]) && isnan(fit.estimate.value[1]));
    /* 6 kg answer the force, however they share them. */
    CHECK_INT("pair", fit.estimate.combination_count, 1);
    CHECK_TEXT("pair", fit.estimate.combinations[0].name, "hull_kg + 2 load_kg");
    CHECK_NEAR("pair", fit.estimate.combinations[0].value, 6.0, 1e-3, 0.0);
    CHECK("pair",
          fit.estimate.combinations[0].se > 0.0 && fit.estimate.combinations[0].se < 0.1);
    CHECK_NEAR("pair", fit.estimate.value[2], 3.0, 1e-3, 0.0);
    CHECK("pair", fit.estimate.identifiable[2] && !fit.estimate.identifiable[0]);
}

static void test_biases(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    struct dynamics_fit fit;
    struct dynamics_options options = dynamics_options_defaults();
    simulate_drive(&r);
    for (size_t k = 0; k < N; k++) {
        r.tau[0][k] += 7.0;
        r.tau[1][k] -= 3.0;
    }
    options.biases = true;
    CHECK_INT("biases", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    for (int method = DYNAMICS_OLS_CENTRAL; method <= DYNAMICS_WEAK_IV; method++) {
        CHECK_INT("biases",
                  dynamics_linear_fit(&usv3_model, &table.set, (enum dynamics_method)method,
                                      &options, &fit),
                  STATUS_OK);
        CHECK_INT("biases", fit.estimate.p, 12);
        CHECK_NEAR("surge", fit.estimate.value[9], 7.0, 0.15, 0.0);
        CHECK_NEAR("sway", fit.estimate.value[10], -3.0, 0.15, 0.0);
    }
    options.sg_window = 4;
    CHECK_INT("even window",
              dynamics_linear_fit(&usv3_model, &table.set, DYNAMICS_OLS_SG, &options, &fit),
              STATUS_E_ARG);
    data_table_free(&table);
}

/* Output error needs a start: without one the report says so. */
static void test_estimate(void)
{
    static struct recording r;
    struct data_table table;
    struct data_summary summary;
    struct dynamics_fit fit;
    const struct dynamics_options options = dynamics_options_defaults();
    for (int straight = 0; straight <= 1; straight++) {
        simulate_drive(&r);
        if (straight) {
            make_straight(&r);
        }
        CHECK_INT("estimate", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
        CHECK_INT(
            "estimate",
            dynamics_estimate(&usv3_model, &table.set, DYNAMICS_OUTPUT_ERROR, &options, &fit),
            STATUS_OK);
        CHECK_INT("method", fit.method, straight ? DYNAMICS_WEAK_IV : DYNAMICS_OUTPUT_ERROR);
        CHECK("delay", straight || fabs(fit.delay_s) < 1e-3);
        CHECK_INT("pem",
                  dynamics_estimate(&usv3_model, &table.set, DYNAMICS_PEM, &options, &fit),
                  STATUS_OK);
        CHECK_INT("pem", fit.method, straight ? DYNAMICS_WEAK_IV : DYNAMICS_PEM);
        data_table_free(&table);
    }
}

static enum status all_of_it(const struct recording *r, struct data_table *table,
                             struct dynamics_fit *fit, struct dynamics_check *check)
{
    struct data_summary summary;
    struct err err = {0};
    const struct dynamics_options options = dynamics_options_defaults();
    enum status st = data_table_make(&r->raw, table, &summary, &err);
    if (st != STATUS_OK) {
        CHECK_TEXT("said", fault_name(err.fault), "no_memory");
        return st;
    }
    st = dynamics_linear_fit(&usv3_model, &table->set, DYNAMICS_WEAK_IV, &options, fit);
    return st == STATUS_OK ? dynamics_check_run(&usv3_model, fit, &table->set, check) : st;
}

static void test_no_memory(void)
{
    static struct recording r;
    enum status st = STATUS_E_NOMEM;
    long n = 0;
    simulate_drive(&r);
    for (; n < 100 && st == STATUS_E_NOMEM; n++) {
        struct data_table table = {.memory = NULL};
        struct dynamics_fit fit;
        struct dynamics_check check;
        allocations_left = n;
        st = all_of_it(&r, &table, &fit, &check);
        allocations_left = -1;
        CHECK("no memory", st == STATUS_OK || st == STATUS_E_NOMEM);
        data_table_free(&table);
    }
    CHECK_INT("no memory", st, STATUS_OK);
    CHECK_INT("allocations", n - 1, 25);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("data_set", NULL, NULL);
    CU_add_test(suite, "cards", test_summaries);
    CU_add_test(suite, "jumps", test_jumps);
    CU_add_test(suite, "repaired", test_repaired);
    CU_add_test(suite, "channels", test_channels);
    CU_add_test(suite, "one-sided", test_one_sided);
    CU_add_test(suite, "overflow", test_overflow);
    CU_add_test(suite, "null direction", test_null_direction);
    CU_add_test(suite, "biases", test_biases);
    CU_add_test(suite, "estimate", test_estimate);
    CU_add_test(suite, "no memory", test_no_memory);
    return check_run();
}
