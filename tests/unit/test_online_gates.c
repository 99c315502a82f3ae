/* Samples that the online filter skips, and why; its behaviour with an invalid start. */
#include "tests/support/check.h"

#include "identification/model/models.h"
#include "identification/online/online_filter.h"
#include "tests/support/usv_truth.h"

static const double *truth;
static struct online_params p;
static struct online_filter f;

static struct online_start good_start(void)
{
    struct online_start start = {.theta = {0.0}};
    for (size_t j = 0; j < USV3_PARAMETERS; j++) {
        start.theta[j] = truth[j];
        start.se[j] = 0.1 * truth[j];
    }
    for (size_t j = USV3_PARAMETERS; j < DYNAMICS_P_MAX; j++) {
        start.se[j] = 1.0;
    }
    for (size_t i = 0; i < USV3_AXES; i++) {
        start.noise_sd[i] = 0.01;
        start.walk_sd[i] = 0.002;
    }
    return start;
}

static void begin_filter(void)
{
    const struct online_start start = good_start();
    p = online_params_defaults();
    online_filter_reset(&f, &usv3_model, &p);
    CU_ASSERT_FATAL(online_filter_start(&f, &usv3_model, &start));
}

static enum online_gate step_filter(double t_s, double u, double tau_u, size_t tau_count)
{
    const struct online_sample s = {.t_us = (int64_t)(1e6 * t_s),
                                    .lab_us = (int64_t)(1e6 * t_s),
                                    .nu_count = 3,
                                    .tau_count = tau_count,
                                    .nu = {u, 0.0, 0.0},
                                    .tau = {tau_u, 0.0, 0.0}};
    bool drifted = true;
    const uint64_t drifts = f.drifts;
    struct online_drift drift;
    const enum online_gate gate = online_filter_step(&f, &usv3_model, &p, &s, &drifted, &drift);
    CU_ASSERT(drifted == (f.drifts > drifts));
    return gate;
}

static void test_gates(void)
{
    static const struct {
        const char *row;
        double t_s, u, tau_u;
        size_t tau_count;
        enum online_gate gate;
    } rows[] = {
        {"the first", 0.0, 0.001, 0.0, 3, ONLINE_GAP},
        {"at rest", 0.1, 0.002, 0.0, 3, ONLINE_NOT_EXCITED},
        {"again", 0.1, 0.002, 0.0, 3, ONLINE_DUPLICATE},
        {"older", 0.05, 0.002, 0.0, 3, ONLINE_OUT_OF_ORDER},
        {"far off", 0.2, 4.0, 0.0, 3, ONLINE_OUTLIER},
        {"back", 0.3, 0.0, 0.0, 3, ONLINE_NOT_EXCITED},
        {"no number", 0.4, NAN, 0.0, 3, ONLINE_INCOMPLETE},
        {"effort no number", 0.4, 0.0, INFINITY, 3, ONLINE_INCOMPLETE},
        {"no effort", 0.4, 0.001, 0.0, 0, ONLINE_NO_EFFORT},
        {"after no effort", 0.5, 0.001, 0.0, 3, ONLINE_GAP},
        {"late", 9.0, 0.001, 0.0, 3, ONLINE_GAP},
        {"fastest", 9.1, 0.0125, 0.0, 3, ONLINE_NOT_EXCITED},
        {"two axes of efforts", 9.2, 0.001, 0.0, 2, ONLINE_NO_EFFORT},
    };
    uint64_t counts[ONLINE_GATE_COUNT] = {0};
    begin_filter();
    for (size_t r = 0; r < COUNT(rows); r++) {
        CHECK_TEXT(rows[r].row,
                   online_gate_name(
                       step_filter(rows[r].t_s, rows[r].u, rows[r].tau_u, rows[r].tau_count)),
                   online_gate_name(rows[r].gate));
        counts[rows[r].gate]++;
    }
    for (enum online_gate g = ONLINE_USED; g < ONLINE_GATE_COUNT; g++) {
        CHECK_INT(online_gate_name(g), f.gate[g], counts[g]);
    }
    /* At rest nothing is learnt. */
    for (size_t j = 0; j < USV3_PARAMETERS; j++) {
        CHECK_NEAR("unmoved", f.theta[j], truth[j], 1e-12, 0.0);
        CHECK_NEAR("as sure as before", online_filter_se(&f, j), 0.1 * truth[j], 1e-12, 0.0);
    }
    online_filter_pass_over(&f, ONLINE_STALE);
    CHECK_INT("told", f.gate[ONLINE_STALE], 1);
}

/* A velocity that stays at the end of its range. */
static void test_stuck(void)
{
    begin_filter();
    (void)step_filter(0.0, 0.0, 50.0, 3);
    (void)step_filter(0.1, 0.039, 50.0, 3);
    (void)step_filter(0.2, 0.078, 50.0, 3);
    CHECK_TEXT("stuck", online_gate_name(step_filter(0.3, 0.078, 50.0, 3)), "saturated");
    CHECK_TEXT("free again", online_gate_name(step_filter(0.4, 0.077, 0.0, 3)), "gap");
}

/* A lasting step of the velocity is believed after a while. */
static void test_moved(void)
{
    begin_filter();
    for (int k = 0; k < 30; k++) {
        (void)step_filter(0.1 * k, k < 5 ? 0.0 : 3.0 + 1e-4 * k, k < 5 ? 0.0 : 429.0, 3);
    }
    CHECK_INT("outliers", f.gate[ONLINE_OUTLIER], 10);
    CHECK("velocity", fabs(f.nu[0] - 3.0) < 0.1);
    CHECK("still running", f.running);
}

static void test_starts(void)
{
    struct online_start start = good_start();
    p = online_params_defaults();
    p.biases = true;
    online_filter_reset(&f, &usv3_model, &p);
    CHECK_TEXT("before", online_gate_name(step_filter(0.0, 0.0, 0.0, 3)), "waiting");
    CHECK("no error", isnan(online_filter_se(&f, 0)));
    start.theta[0] = -1.0;
    CHECK("negative mass", !online_filter_start(&f, &usv3_model, &start));
    start = good_start();
    start.theta[10] = NAN;
    CHECK("no bias", !online_filter_start(&f, &usv3_model, &start));
    start = good_start();
    start.se[3] = 0.0;
    CHECK("no error", !online_filter_start(&f, &usv3_model, &start));
    start = good_start();
    start.noise_sd[2] = 0.0;
    CHECK("no noise", !online_filter_start(&f, &usv3_model, &start));
    CHECK("not running", !f.running);
    start = good_start();
    CHECK("good", online_filter_start(&f, &usv3_model, &start));
    CHECK_INT("with biases", f.p, 12);
}

/* Damping below zero is not believed, whatever is measured. */
static void test_positive(void)
{
    uint64_t state = 7;
    double nu[3] = {0.0, 0.0, 0.0};
    double pose[3] = {0.0, 0.0, 0.0};
    double odd[USV3_PARAMETERS];
    memcpy(odd, truth, sizeof odd);
    odd[3] = -20.0;
    odd[4] = 60.0;
    begin_filter();
    for (int k = 0; k < 3000; k++) {
        const double tau[3] = {60.0 * sin(0.01 * k) * cos(0.003 * k), 0.0, 0.0};
        (void)step_filter(0.1 * k, nu[0] + 0.01 * usv_normal(&state), tau[0], 3);
        model_step(&usv3_model, odd, nu, pose, tau, NULL, 0.1);
        CU_ASSERT(f.theta[3] >= 0.0);
    }
    CHECK("learnt", f.gate[ONLINE_USED] > 1000);
    CHECK("pushed down", f.theta[3] < 0.5 * truth[3]);
    CHECK("running", f.running);
}

/* Every model can be followed: from 20 % off towards the truth, and never away. */
static void test_every_model(void)
{
    for (size_t m = 0; model_at(m); m++) {
        const struct model *model = model_at(m);
        const size_t n = model->axis_count;
        struct online_start start = {.theta = {0.0}};
        double theta[MODEL_PARAMETERS_MAX];
        double nu[MODEL_AXES_MAX] = {0.0};
        double pose[MODEL_AXES_MAX] = {0.0};
        double tau[MODEL_AXES_MAX] = {0.0};
        double before = 0.0;
        double after = 0.0;
        uint64_t state = 5;
        const double most = model->by_effort ? 4.0 : 2.0; /* friction absorbs 0.4 of them */
        p = online_params_defaults();
        online_filter_reset(&f, model, &p);
        for (size_t j = 0; j < model->parameter_count; j++) {
            theta[j] = model->parameters[j].sign == MODEL_POSITIVE ? 1.0 : 0.4;
            start.theta[j] = 0.8 * theta[j];
            start.se[j] = 0.3;
        }
        for (size_t i = 0; i < n; i++) {
            start.noise_sd[i] = 0.005;
            start.walk_sd[i] = 0.002;
        }
        CHECK(model->name, online_filter_start(&f, model, &start));
        for (int k = 0; k < 6000; k++) {
            struct online_sample s = {.t_us = (int64_t)k * 50000,
                                      .lab_us = (int64_t)k * 50000,
                                      .nu_count = n,
                                      .tau_count = n,
                                      .pose_count = model_pose_count(model)};
            bool drifted = false;
            struct online_drift drift;
            for (size_t i = 0; i < n; i++) {
                tau[i] = k % 20 ? tau[i] : most * (2.0 * usv_uniform(&state) - 1.0);
                s.nu[i] = nu[i] + 0.005 * usv_normal(&state);
            }
            memcpy(s.tau, tau, sizeof tau);
            memcpy(s.pose, pose, sizeof pose);
            (void)online_filter_step(&f, model, &p, &s, &drifted, &drift);
            for (int fine = 0; fine < 5; fine++) {
                model_step(model, theta, nu, pose, tau, NULL, 0.01);
            }
        }
        for (size_t j = 0; j < model->parameter_count; j++) {
            before += fabs(start.theta[j] - theta[j]);
            after += fabs(f.theta[j] - theta[j]);
        }
        (void)printf("%s: off by %.3f, after %llu samples %.3f\n", model->name, before,
                     (unsigned long long)f.gate[ONLINE_USED], after);
        CHECK(model->name, f.running && f.gate[ONLINE_USED] > 1000);
        CHECK(model->name, after < 0.5 * before);
    }
}

/* A vessel without noise, whose efforts act 50 ms later than recorded: the assumed noise is far
 * too small, and the filter finds that out instead of dropping half of the samples. A few wild
 * samples of a right filter do not widen it. */
static void test_noise_free(void)
{
    static const struct {
        const char *row;
        double assumed; /* noise, ratio of that of the golden recordings */
        size_t wild;    /* every n-th sample is; 0: none */
        double outliers_min, outliers_max, widened_max;
    } rows[] = {
        {"noise-free", 0.03, 0, 0.01, 0.08, 1e4},
        {"wild samples", 1.0, 50, 0.019, 0.03, 3.0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct usv_record record;
        struct online_start start = good_start();
        uint64_t state = 3;
        for (size_t a = 0; a < USV3_AXES; a++) {
            for (size_t k = 0; k < USV_SAMPLES; k++) {
                const double fresh = 40.0 * (2.0 * usv_uniform(&state) - 1.0);
                record.tau[a][k] = k % 12 == 0 ? fresh : record.tau[a][k - 1];
            }
            start.noise_sd[a] = rows[i].assumed * usv_noise_sd[a];
            start.walk_sd[a] = 0.1 * start.noise_sd[a];
        }
        usv_drive(&record, truth, rows[i].wild > 0 ? 0.0 : 0.05, NULL);
        p = online_params_defaults();
        online_filter_reset(&f, &usv3_model, &p);
        CU_ASSERT_FATAL(online_filter_start(&f, &usv3_model, &start));
        for (size_t k = 0; k < USV_SAMPLES; k++) {
            struct online_sample s = {.t_us = (int64_t)k * 100000,
                                      .lab_us = (int64_t)k * 100000,
                                      .nu_count = USV3_AXES,
                                      .tau_count = USV3_AXES};
            struct online_drift drift;
            bool drifted = false;
            for (size_t a = 0; a < USV3_AXES; a++) {
                const bool wild = rows[i].wild > 0 && k % rows[i].wild == 7;
                s.nu[a] = record.truth[a][k] + (wild ? 3.0 : 0.0) +
                          (rows[i].wild > 0 ? usv_noise_sd[a] * usv_normal(&state) : 0.0);
                s.tau[a] = record.tau[a][k];
            }
            (void)online_filter_step(&f, &usv3_model, &p, &s, &drifted, &drift);
        }
        const double outliers = (double)f.gate[ONLINE_OUTLIER] / USV_SAMPLES;
        CHECK(rows[i].row,
              outliers >= rows[i].outliers_min && outliers <= rows[i].outliers_max);
        CHECK(rows[i].row, f.noise_var[0] <= rows[i].widened_max * f.noise_var_start[0]);
        (void)printf("%s: %.1f %% outliers, noise variance times %.3g\n", rows[i].row,
                     100.0 * outliers, f.noise_var[0] / f.noise_var_start[0]);
    }
}

int main(void)
{
    truth = usv3_vessel_find("wamv")->theta;
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("online_gates", NULL, NULL);
    CU_add_test(suite, "gates", test_gates);
    CU_add_test(suite, "stuck", test_stuck);
    CU_add_test(suite, "moved", test_moved);
    CU_add_test(suite, "starts", test_starts);
    CU_add_test(suite, "positive", test_positive);
    CU_add_test(suite, "every model", test_every_model);
    CU_add_test(suite, "noise-free", test_noise_free);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    const CU_ErrorCode ran = CU_basic_run_tests();
    const unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    return ran == CUE_SUCCESS && failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
