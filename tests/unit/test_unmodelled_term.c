/* A joint with something that its model does not have: it is named, and nothing else is. And
 * the width of its friction is found. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/dynamics/input_interpolation.h"
#include "identification/dynamics/model_choice.h"
#include "identification/dynamics/unmodelled_term.h"
#include "identification/model/models.h"

enum { N = 4000 };

static const double truth[4] = {0.4, 1.0, 0.3, 0.1};

struct extra {
    double load, drag, spring; /* friction by effort, by w |w|, effort by position */
};

static double t[N], tau[N], nu[N], pose[N];

/* 40 s at 100 Hz; the effort for a given motion. */
static void record_run(const struct model *model, const struct extra *extra,
                       struct data_set *set)
{
    for (size_t k = 0; k < N; k++) {
        t[k] = 0.01 * (double)k;
        const double a = 0.9 * t[k];
        const double b = 2.3 * t[k] + 0.4;
        const double nu_dot = 1.5 * 0.9 * cos(a) + 0.8 * 2.3 * cos(b);
        double computed = 0.0;
        nu[k] = 1.5 * sin(a) + 0.8 * sin(b);
        pose[k] = -1.5 / 0.9 * cos(a) - 0.8 / 2.3 * cos(b);
        model->inverse(model, truth, &pose[k], &nu[k], &nu_dot, &computed);
        const double load = 3.0 * sin(0.37 * t[k]);
        tau[k] = computed + extra->drag * nu[k] * fabs(nu[k]) + extra->spring * pose[k] +
                 extra->load * fabs(load) * tanh(nu[k] / 0.01);
    }
    *set = (struct data_set){.axes = 1, .n = N, .dt_s = 0.01, .t_s = t, .run_count = 1};
    set->run_start[1] = N;
    set->nu[0] = nu;
    set->tau[0] = tau;
    set->pose[0] = pose;
}

static void find_term(const struct extra *extra, struct dynamics_fit *fit,
                      struct unmodelled_term *missing)
{
    struct data_set set;
    const struct dynamics_options options = dynamics_options_for(&joint_models[0][2]);
    record_run(&joint_models[0][2], extra, &set);
    CHECK_INT("fit",
              dynamics_linear_fit(&joint_models[0][2], &set, DYNAMICS_WEAK, &options, fit),
              STATUS_OK);
    unmodelled_term_find(&joint_models[0][2], fit, &set, missing);
    unmodelled_term_judge(fit, &joint_models[0][2], missing);
}

static bool gives_advice(const struct dynamics_fit *fit, const char *words)
{
    for (size_t i = 0; i < fit->estimate.advice_count; i++) {
        if (strstr(fit->estimate.advice[i], words)) {
            return true;
        }
    }
    return false;
}

/* Friction by the commanded effort of the joint itself (held, so half a sample off), with the
 * model's other terms. */
static void test_friction(void)
{
    const double gear[5] = {0.4, 1.0, 0.3, 0.1, 0.15};
    struct data_set set;
    struct dynamics_fit fit;
    struct unmodelled_term missing;
    for (size_t form = 0; form < 3; form += 2) { /* joint, joint_geared */
        const struct model *model = &joint_models[form][2];
        const struct dynamics_options options = dynamics_options_for(model);
        record_run(&joint_models[0][2], &(struct extra){0.0, 0.0, 0.0}, &set);
        for (size_t k = 0; k < N; k++) {
            const double a = 0.9 * t[k];
            const double b = 2.3 * t[k] + 0.4;
            const double nu_dot = 1.5 * 0.9 * cos(a) + 0.8 * 2.3 * cos(b);
            joint_models[2][2].inverse(&joint_models[2][2], gear, NULL, &nu[k], &nu_dot,
                                       &tau[k]);
        }
        CHECK_INT("fit", dynamics_linear_fit(model, &set, DYNAMICS_WEAK, &options, &fit),
                  STATUS_OK);
        unmodelled_term_find(model, &fit, &set, &missing);
        CHECK_INT("try", unmodelled_term_try(model, &fit, &set, &options, &missing), STATUS_OK);
        unmodelled_term_judge(&fit, model, &missing);
        if (form == 0) {
            CHECK_NEAR("mu", missing.friction[0].value, 0.15, 0.2, 0.0);
            CHECK_TEXT("offered", missing.friction[0].model->name, "joint_geared");
            CHECK("not PASS", fit.estimate.verdict != ESTIMATE_PASS);
            CHECK("said", gives_advice(&fit, "joint_geared"));
        } else {
            CHECK_NEAR("mu", fit.estimate.value[4], 0.15, 0.2, 0.0);
            CHECK("not offered", !missing.friction[0].model && !gives_advice(&fit, "--model"));
        }
    }
}

/* Efforts in steps carry a joint past its Stribeck friction within some samples, which windows
 * do not see: simulation does. Without such friction the report names none. */
static void test_quick(void)
{
    const struct model *model = &joint_models[0][2];
    const struct model *robot = &joint_models[4][2];
    const struct dynamics_options options = dynamics_options_for(model);
    for (size_t seed = 1; seed <= 8; seed++) {
        const bool has = seed % 2 == 0;
        const double theta[5] = {0.1, 0.25, 0.3, 0.05, has ? 0.3 : 0.0};
        struct random_source draws = {.state = seed};
        struct dynamics_fit fit;
        struct unmodelled_term missing;
        double w[MODEL_AXES_MAX] = {0.0};
        double q[MODEL_AXES_MAX] = {0.0};
        double effort = 0.0;
        struct data_set set = {
            .axes = 1, .n = N / 2, .dt_s = 0.01, .t_s = t, .run_count = 1, .noise_sd = {0.003}};
        set.run_start[1] = set.n;
        set.nu[0] = nu;
        set.tau[0] = tau;
        for (size_t k = 0; k < set.n; k++) {
            effort = k % 80 == 0 ? random_between(&draws, -3.0, 3.0) : effort;
            t[k] = 0.01 * (double)k;
            nu[k] = w[0] + 0.003 * random_normal(&draws);
            tau[k] = effort;
            for (size_t f = 0; f < 20; f++) {
                model_step(robot, theta, w, q, &effort, NULL, 0.0005);
            }
        }
        CHECK_INT("fit", dynamics_linear_fit(model, &set, DYNAMICS_WEAK, &options, &fit),
                  STATUS_OK);
        unmodelled_term_find(model, &fit, &set, &missing);
        CHECK_INT("try", unmodelled_term_try(model, &fit, &set, &options, &missing), STATUS_OK);
        unmodelled_term_judge(&fit, model, &missing);
        CHECK_INT("verdict", fit.estimate.verdict, has ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
        CHECK("advice", gives_advice(&fit, "joint_stribeck") == has);
        CHECK_NEAR("value", missing.friction[1].value, theta[4], 0.0, 0.05);
    }
}

/* A term that acts all the time, with an effort that is never switched. */
struct steady {
    const char *name;
    double by_place, by_load, dips; /* effort by sin(3 q); by |tau|; ratio of a gain */
    double noise_sd;
    size_t every; /* rows from one switch to the next; 0: none */
    enum effort_residual_cause cause;
    double least, most; /* ratio; NaN: not computed */
};

static void record_steady(const struct steady *row, struct data_set *set)
{
    struct random_source draws = {.state = 4};
    record_run(&joint_models[0][2], &(struct extra){0.0, 0.0, 0.0}, set);
    for (size_t k = 0; k < N; k++) {
        const bool dips = k >= 2 * N / 5 && k < 3 * N / 5;
        tau[k] += row->by_place * sin(3.0 * pose[k]);
        tau[k] += row->by_load * fabs(tau[k]) * (nu[k] > 0.0 ? 1.0 : -1.0);
        tau[k] *= dips ? 1.0 + row->dips : 1.0;
        nu[k] += row->noise_sd * random_normal(&draws);
    }
    for (size_t k = 0; k < N && row->every > 0; k++) {
        tau[k] += k / row->every % 2 == 0 ? 1.0 : -1.0;
    }
    set->noise_sd[0] = row->noise_sd;
}

static void test_steady(void)
{
    const struct model *model = &joint_models[0][2];
    static const struct steady rows[] = {
        {"right", 0.0, 0.0, 0.0, 0.0, 0, EFFORT_RESIDUAL_CAUSES, 0.0, 0.002},
        {"noise", 0.0, 0.0, 0.0, 0.01, 0, EFFORT_RESIDUAL_CAUSES, 0.0, 0.0},
        {"a trace", 0.014, 0.0, 0.0, 0.0, 0, EFFORT_RESIDUAL_CAUSES, 0.006, 0.009},
        {"place", 0.03, 0.0, 0.0, 0.0, 0, EFFORT_RESIDUAL_PLACE, 0.012, 0.019},
        {"place, noise", 0.06, 0.0, 0.0, 0.003, 0, EFFORT_RESIDUAL_PLACE, 0.02, 0.04},
        {"load", 0.0, 0.1, 0.0, 0.0, 0, EFFORT_RESIDUAL_LOAD, 0.02, 0.2},
        {"dips", 0.0, 0.0, -0.1, 0.0, 0, EFFORT_RESIDUAL_TIME, 0.02, 0.05},
        {"switched all the time", 0.03, 0.0, 0.0, 0.0, 10, EFFORT_RESIDUAL_CAUSES, NAN, NAN},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        const struct steady *row = &rows[i];
        struct data_set set;
        struct dynamics_fit fit;
        struct effort_residual found;
        dynamics_fit_start(&fit, model, DYNAMICS_WEAK, false);
        memcpy(fit.estimate.value, truth, sizeof truth);
        record_steady(row, &set);
        CHECK_INT(row->name, effort_residual_find(model, &fit, &set, &found), STATUS_OK);
        (void)printf("steady, %s: %zu rows, ratio %.4f, seen from %.4f, cause %d, share %.2f\n",
                     row->name, found.rows, found.ratio, found.seen_ratio, (int)found.cause,
                     found.share);
        CHECK_INT(row->name, found.cause, row->cause);
        CHECK(row->name, isnan(row->least)
                             ? isnan(found.ratio)
                             : found.ratio >= row->least && found.ratio <= row->most);
        fit.estimate.verdict = ESTIMATE_PASS;
        effort_residual_judge(&fit, model, &found);
        CHECK_INT(row->name, fit.estimate.verdict,
                  row->least > 0.01 ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
    }
    /* Noise hides what is smaller. */
    struct data_set set;
    struct dynamics_fit fit;
    struct effort_residual found;
    const struct steady loud = {.name = "loud", .noise_sd = 0.1};
    dynamics_fit_start(&fit, model, DYNAMICS_WEAK, false);
    memcpy(fit.estimate.value, truth, sizeof truth);
    record_steady(&loud, &set);
    CHECK_INT("loud", effort_residual_find(model, &fit, &set, &found), STATUS_OK);
    CHECK_NEAR("loud", found.seen_ratio, 0.295, 0.2, 0.0);
    fit.estimate.value[0] = (double)NAN;
    CHECK_INT("unknown", effort_residual_find(model, &fit, &set, &found), STATUS_OK);
    CHECK("unknown", isnan(found.ratio));
}

/* A joint that sticks as its dry friction says breaks away where a simulation does; one that
 * holds twice as much does not. */
static void test_breakaway(void)
{
    const struct model *model = &joint_models[0][1];
    const struct dynamics_options options = dynamics_options_for(model);
    for (uint64_t seed = 1; seed <= 4; seed++) {
        const bool more = seed % 2 == 0;
        struct random_source draws = {.state = seed};
        struct dynamics_fit fit;
        double w = 0.0;
        double acts = 0.0; /* behind a lag of 10 ms */
        double effort = 0.0;
        struct data_set set = {
            .axes = 1, .n = N / 2, .dt_s = 0.01, .t_s = t, .run_count = 1, .noise_sd = {0.003}};
        set.run_start[1] = set.n;
        set.nu[0] = nu;
        set.tau[0] = tau;
        for (size_t k = 0; k < set.n; k++) {
            t[k] = 0.01 * (double)k;
            nu[k] = w + 0.003 * random_normal(&draws);
            effort = k % 80 == 0 ? random_between(&draws, -1.0, 1.0) : effort;
            tau[k] = effort;
            for (size_t f = 0; f < 50; f++) {
                acts += (effort - acts) * (1.0 - exp(-2e-4 / 0.01));
                const double freely = w + 2e-4 * (acts - 0.25 * w - 0.05) / 0.1;
                const double dry = 0.3 + (more ? 0.3 * exp(-w * w / 0.01) : 0.0);
                w = copysign(fmax(fabs(freely) - 2e-4 * dry / 0.1, 0.0), freely);
            }
        }
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
        CHECK("rests are left out", estimate_has_reason(&fit.estimate, REASON_AT_REST));
        CHECK_INT("verdict", fit.estimate.verdict, more ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
    }
}

static void test_found(void)
{
    struct dynamics_fit fit;
    struct unmodelled_term missing;
    find_term(&(struct extra){0.0, 0.0, 0.0}, &fit, &missing);
    CHECK("nothing", missing.effort_r2 > 0.99 && fit.estimate.advice_count == 0);
    find_term(&(struct extra){0.0, 0.0, 0.8}, &fit, &missing);
    CHECK("spring", missing.place_ratio > 0.1 && missing.effort_r2 < 0.95);
    (void)printf("spring: effort R2 %.3f, shares %.2f %.2f %.2f\n", missing.effort_r2,
                 missing.load_ratio, missing.drag_ratio, missing.place_ratio);
    CHECK("spring", gives_advice(&fit, "position"));
    find_term(&(struct extra){0.0, 1.0, 0.0}, &fit, &missing);
    CHECK("drag is mostly viscous", missing.effort_r2 > 0.8);
    fit.estimate.value[JOINT_INERTIA] = (double)NAN;
    struct data_set set;
    record_run(&joint_models[0][2], &(struct extra){0.0, 0.0, 0.0}, &set);
    unmodelled_term_find(&joint_models[0][2], &fit, &set, &missing);
    CHECK("unknown", isnan(missing.effort_r2));
}

/* An effort that changes between rows acts as their mean, on request or by the residuals. */
static void test_hold(void)
{
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    double left[INPUT_INTERPOLATION_COUNT];
    for (size_t asked = 0; asked < INPUT_INTERPOLATION_COUNT; asked++) {
        struct data_table table;
        struct interpolation_choice choice;
        struct dynamics_fit fit;
        record_run(model, &(struct extra){0.0, 0.0, 0.0}, &table.set);
        table.memory = gsl_vector_alloc(N);
        CU_ASSERT_FATAL(table.memory != NULL);
        memcpy(table.memory->data, tau, sizeof tau);
        table.set.tau[0] = table.memory->data;
        CHECK_INT("take",
                  input_interpolation_choose(model, &table, &options,
                                             (enum input_interpolation)asked, &choice),
                  STATUS_OK);
        CHECK_INT("chosen", choice.hold,
                  asked == INPUT_INTERPOLATION_ZOH ? INPUT_INTERPOLATION_ZOH
                                                   : INPUT_INTERPOLATION_LINEAR);
        CHECK_INT("fit", dynamics_linear_fit(model, &table.set, DYNAMICS_WEAK, &options, &fit),
                  STATUS_OK);
        input_interpolation_report(&fit, &choice);
        CHECK_INT("told", fit.estimate.reason_count, asked == INPUT_INTERPOLATION_AUTO ? 1 : 0);
        left[asked] = fabs(fit.estimate.value[JOINT_COULOMB] - truth[JOINT_COULOMB]);
        data_table_free(&table);
    }
    CHECK("nearer", left[INPUT_INTERPOLATION_LINEAR] < 0.5 * left[INPUT_INTERPOLATION_ZOH]);
    CHECK_NEAR("the same", left[INPUT_INTERPOLATION_AUTO], left[INPUT_INTERPOLATION_LINEAR],
               0.0, 0.0);
}

/* A joint that its own motion drives is not physical, and no simulation explains it. Weak forms
 * then decide. */
static void test_hold_by_weak_forms(void)
{
    const double driven[] = {0.4, -3.0, 0.3, 0.1};
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    struct interpolation_choice choice;
    struct data_table table;
    record_run(model, &(struct extra){0.0, 0.0, 0.0}, &table.set);
    table.memory = gsl_vector_alloc(N);
    CU_ASSERT_FATAL(table.memory != NULL);
    for (size_t k = 0; k < N; k++) {
        const double nu_dot = 1.5 * 0.9 * cos(0.9 * t[k]) + 0.8 * 2.3 * cos(2.3 * t[k] + 0.4);
        model->inverse(model, driven, NULL, &nu[k], &nu_dot, &table.memory->data[k]);
    }
    table.set.tau[0] = table.memory->data;
    CHECK_INT(
        "weak",
        input_interpolation_choose(model, &table, &options, INPUT_INTERPOLATION_AUTO, &choice),
        STATUS_OK);
    CHECK_INT("weak", choice.hold, INPUT_INTERPOLATION_LINEAR);
    data_table_free(&table);
}

/* Both forms explain the motion under a slow effort equally well. A held one would act half a
 * period before it was given. */
static void test_sooner(void)
{
    enum { ROWS = 2000 };
    const double theta[] = {0.8, 1.0, 0.0};
    const struct model *model = &first_order_model;
    const struct dynamics_options options = dynamics_options_for(model);
    struct random_source draws = {.state = 5};
    struct interpolation_choice choice;
    struct data_table table;
    double w[MODEL_AXES_MAX] = {0.0};
    table.memory = gsl_vector_alloc(ROWS);
    CU_ASSERT_FATAL(table.memory != NULL);
    for (size_t k = 0; k < ROWS; k++) {
        const double next[MODEL_AXES_MAX] = {sin(0.05 * ((double)k + 0.5))};
        t[k] = 0.1 * (double)k;
        table.memory->data[k] = sin(0.05 * (double)k);
        nu[k] = w[0] + 0.002 * random_normal(&draws);
        model_step(model, theta, w, NULL, next, NULL, 0.1);
    }
    table.set = (struct data_set){.axes = 1, .n = ROWS, .dt_s = 0.1, .t_s = t, .run_count = 1};
    table.set.run_start[1] = ROWS;
    table.set.nu[0] = nu;
    table.set.tau[0] = table.memory->data;
    table.set.noise_sd[0] = 0.002;
    CHECK_INT(
        "sooner",
        input_interpolation_choose(model, &table, &options, INPUT_INTERPOLATION_AUTO, &choice),
        STATUS_OK);
    CHECK_INT("sooner", choice.hold, INPUT_INTERPOLATION_LINEAR);
    data_table_free(&table);
}

/* A joint that rests half of the time, under efforts beyond the model's friction: they say
 * nothing about motion and are left out. */
static void test_rests(void)
{
    const struct model *model = &joint_models[0][2];
    const struct dynamics_options options = dynamics_options_for(model);
    struct random_source draws = {.state = 3};
    struct dynamics_fit fit;
    struct data_set set;
    record_run(model, &(struct extra){0.0, 0.0, 0.0}, &set);
    for (size_t k = 0; k < N; k++) {
        const double phase = PI / 4.0 * fmod(t[k], 4.0);
        const double way = fmod(t[k], 16.0) < 8.0 ? 1.5 : -1.5;
        const bool rests = fmod(t[k], 8.0) >= 4.0;
        const double nu_dot = rests ? 0.0 : way * PI / 4.0 * sin(2.0 * phase);
        nu[k] = rests ? 0.0 : way * sin(phase) * sin(phase);
        model->inverse(model, truth, NULL, &nu[k], &nu_dot, &tau[k]);
        tau[k] = rests ? 0.9 * sin(5.0 * t[k]) : tau[k];
        nu[k] += 0.0005 * random_normal(&draws);
    }
    set.pose[0] = NULL;
    set.noise_sd[0] = 0.0005;
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
    CHECK("left out", fit.n < N / 2 + 100);
    CHECK_NEAR("inertia", fit.estimate.value[JOINT_INERTIA], truth[JOINT_INERTIA], 0.05, 0.0);
}

/* The first of variants that explain the same is chosen if they have no velocities. */
static void test_alike(void)
{
    const struct dynamics_options options = dynamics_options_for(&joint_models[0][2]);
    const struct model_variant alike[] = {{.model = &joint_models[0][2]},
                                          {.model = &joint_models[0][2]}};
    struct data_set set;
    size_t chosen = 1;
    record_run(&joint_models[0][2], &(struct extra){0.0, 0.0, 0.0}, &set);
    CHECK_INT("alike", model_choose(alike, COUNT(alike), &set, &options, &chosen), STATUS_OK);
    CHECK_INT("alike", chosen, 0);
}

/* Returns which width is chosen if the velocity has this noise, and a ratio of its speed. */
static size_t choose_width(size_t true_width, double noise, double grows)
{
    const struct dynamics_options options = dynamics_options_for(&joint_models[0][2]);
    struct random_source draws = {.state = 5};
    struct data_set set;
    double squares = 0.0;
    size_t chosen = 0;
    record_run(joint_row.variants[true_width].model, &(struct extra){0.0, 0.0, 0.0}, &set);
    for (size_t k = 0; k < N; k++) {
        const double sd = noise + grows * fabs(nu[k]);
        squares += sd * sd / N;
        nu[k] += sd * random_normal(&draws);
    }
    set.noise_sd[0] = noise > 0.0 ? sqrt(squares) : set.noise_sd[0];
    CHECK_INT(
        "width",
        model_choose(joint_row.variants, joint_row.variant_count, &set, &options, &chosen),
        STATUS_OK);
    return chosen;
}

static void test_width(void)
{
    for (size_t i = 0; i < joint_row.variant_count; i++) {
        const size_t chosen = choose_width(i, 0.0, 0.0);
        /* Narrow ones look alike at these speeds. */
        CHECK("width", i < 3 ? chosen <= 3 : chosen == i);
        CHECK_INT("noise", choose_width(i, 0.03, 0.0), 4);
    }
    /* Noise that grows with the speed hides no width: near rest it is small. */
    CHECK("noise that grows", choose_width(2, 0.001, 0.05) < 4);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("missing term", NULL, NULL);
    CU_add_test(suite, "steady", test_steady);
    CU_add_test(suite, "breakaway", test_breakaway);
    CU_add_test(suite, "found", test_found);
    CU_add_test(suite, "quick", test_quick);
    CU_add_test(suite, "friction", test_friction);
    CU_add_test(suite, "hold", test_hold);
    CU_add_test(suite, "hold by weak forms", test_hold_by_weak_forms);
    CU_add_test(suite, "sooner", test_sooner);
    CU_add_test(suite, "rests", test_rests);
    CU_add_test(suite, "alike", test_alike);
    CU_add_test(suite, "width", test_width);
    return check_run();
}
