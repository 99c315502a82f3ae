/* Models of which more is known than the effort, and whose efforts act through terms of their
 * own: computed by hand, and fitted to motion that no model of the product has made. */
#include "tests/support/check.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_vector.h>

#include "base/numbers/random.h"
#include "config/model/model_file.h"
#include "identification/data/data_view.h"
#include "identification/data/simulation.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/dynamics/dynamics_linear.h"
#include "identification/online/online_filter.h"
#include "twin/following/follower.h"

enum { N = 3000 };
static const double DT_S = 0.02;

static struct model_file *parse_text(const char *text)
{
    struct model_file *file = NULL;
    struct err_list errors = {0};
    const enum status st =
        option_file_parse(&model_file, text, strlen(text), "m", &file, &errors);
    if (st != STATUS_OK) {
        err_list_print(&errors, stdout);
    }
    CU_ASSERT_EQUAL_FATAL(st, STATUS_OK);
    return file;
}

static struct model_file *load_model(const char *name)
{
    struct model_file *file = NULL;
    struct err_list errors = {0};
    char path[256];
    (void)snprintf(path, sizeof path, "%s/config/models/%s.yaml", TANDEM_SOURCE_DIR, name);
    CU_ASSERT_EQUAL_FATAL(option_file_load(&model_file, path, &file, &errors), STATUS_OK);
    return file;
}

/* ---- by hand ---- */

static void test_quad(void)
{
    struct model_file *file = load_model("quad_z");
    const struct model *m = file->row.model;
    const double theta[] = {0.4, 6.0, 14.0};
    CHECK("curved", m->rows_under && m->known && !m->rows_many && !m->needs_pose);
    CHECK("weak forms hold", !m->varying_inertia);
    CHECK_TEXT("push", model_force_name(m, 0), "w_mps_push");
    for (int k = 0; k < 60; k++) {
        const double w = 0.2 * k - 6.0;
        const double p = 0.02 + 0.016 * k;
        const double rate = -9.81 - 0.4 * w + 6.0 * p + 14.0 * p * p;
        double phi[3];
        double still = 0.0;
        double driven = 0.0;
        double nu_dot = 0.0;
        double slope = 0.0;
        double left = 0.0;
        double applied = 0.0;
        double tau = k % 2 == 0 ? 0.0 : 0.5;
        m->rows_under(m, NULL, &w, &rate, &p, phi);
        CHECK_NEAR("cm", phi[0], w, 0.0, 0.0);
        CHECK_NEAR("k1m", phi[1], -p, 0.0, 0.0);
        CHECK_NEAR("k2m", phi[2], -p * p, 1e-15, 0.0);
        m->known(m, NULL, &w, &rate, &p, &still, &driven);
        CHECK_NEAR("known", still, -rate - 9.81, 1e-15, 1e-15);
        CHECK_NEAR("driven", driven, 0.0, 0.0, 0.0);
        m->forward(m, theta, NULL, &w, &p, &nu_dot);
        CHECK_NEAR("forward", nu_dot, rate, 1e-13, 1e-13);
        m->slope(m, theta, NULL, &w, &p, &slope);
        CHECK_NEAR("slope", slope, -0.4, 1e-15, 0.0);
        model_demand(m, theta, NULL, &w, &rate, &p, &left);
        CHECK_NEAR("nothing is left", left, 0.0, 0.0, 1e-12);
        model_force(m, theta, NULL, &w, &p, &applied);
        CHECK_NEAR("push", applied, 6.0 * p + 14.0 * p * p, 1e-14, 0.0);
        m->inverse(m, theta, NULL, &w, &rate, &tau);
        CHECK_NEAR("inverse", tau, p, 1e-10, 0.0);
    }
    model_file_free(file);
}

/* A boat with two propellers side by side whose thrust falls with the speed: 18 = 2 * 3 * 3. */
static const char boat[] =
    "model: boat\nvelocities: {u: m/s, r: rad/s}\nefforts: {a: 1/s, b: 1/s}\n"
    "parameters: {m: {sign: positive}, d: {}, I: {sign: positive}, e: {}, k: {}, h: {}}\n"
    "constants: {arm: 0.6}\n"
    "equations:\n"
    "- m*u' + d*abs(u)*u = k*(abs(a)*a + abs(b)*b) - h*(abs(a) + abs(b))*u\n"
    "- k*arm*(abs(b)*b - abs(a)*a) = I*r' + e*r\n";

static void test_boat(void)
{
    static const char fixed[] =
        "model: boat\nvelocities: {u: m/s, r: rad/s}\nefforts: {a: 1/s, b: 1/s}\n"
        "parameters: {d: {}, I: {sign: positive}, e: {}, k: {}, h: {}}\n"
        "constants: {arm: 0.6, m: 20}\n"
        "equations:\n"
        "- m*u' + d*abs(u)*u = k*(abs(a)*a + abs(b)*b) - h*(abs(a) + abs(b))*u\n"
        "- k*arm*(abs(b)*b - abs(a)*a) = I*r' + e*r\n";
    struct err_list errors = {0};
    struct model_file *file = NULL;
    CHECK_INT("loose",
              option_file_parse(&model_file, boat, sizeof boat - 1, "boat", &file, &errors),
              STATUS_E_PARSE);
    file = parse_text(fixed);
    const struct model *m = file->row.model;
    const double theta[] = {30.0, 4.0, 8.0, 0.02, 0.1};
    struct random_source random = random_stream(3, 1);
    for (int i = 0; i < 200; i++) {
        double nu[2];
        double tau[2];
        double rate[2];
        double found[2];
        double start[2];
        double slope[4];
        double inverse[4];
        for (int k = 0; k < 2; k++) {
            nu[k] = random_between(&random, -1.0, 1.0);
            tau[k] = random_between(&random, 5.0, 60.0);
            start[k] = tau[k] + random_between(&random, -5.0, 20.0);
        }
        const double a = tau[0];
        const double b = tau[1];
        m->forward(m, theta, NULL, nu, tau, rate);
        CHECK_NEAR(
            "u'", rate[0],
            (0.02 * (a * a + b * b) - 0.1 * (a + b) * nu[0] - 30.0 * fabs(nu[0]) * nu[0]) /
                20.0,
            1e-12, 1e-12);
        CHECK_NEAR("r'", rate[1], (0.02 * 0.6 * (b * b - a * a) - 8.0 * nu[1]) / 4.0, 1e-12,
                   1e-12);
        m->slope(m, theta, NULL, nu, tau, slope);
        CHECK_NEAR("du'/du", slope[0], -(0.1 * (a + b) + 60.0 * fabs(nu[0])) / 20.0, 1e-12,
                   0.0);
        CHECK_NEAR("dr'/dr", slope[3], -2.0, 1e-12, 0.0);
        model_mobility(m, theta, NULL, nu, inverse);
        CHECK_NEAR("1/m", inverse[0], 0.05, 1e-14, 0.0);
        CHECK_NEAR("1/I", inverse[3], 0.25, 1e-14, 0.0);
        memcpy(found, start, sizeof found);
        m->inverse(m, theta, NULL, nu, rate, found);
        CHECK_NEAR("a", found[0], a, 1e-8, 0.0);
        CHECK_NEAR("b", found[1], b, 1e-8, 0.0);
    }
    model_file_free(file);
}

/* Neither the order of terms nor the side of an equation matters. */
static void test_turned(void)
{
    static const char *const texts[] = {"m*w' + c*w + m*g = u",     "u = m*w' + c*w + m*g",
                                        "u - m*g = m*w' + c*w",     "m*w' = u - m*g - c*w",
                                        "c*w + m*(w' + g) - u = 0", "0 = u - c*w - m*(w' + g)"};
    for (size_t i = 0; i < COUNT(texts); i++) {
        char text[512];
        (void)snprintf(
            text, sizeof text,
            "model: m\nvelocities: {w: m/s}\nefforts: {u: N}\nconstants: {g: 9.81, m: "
            "2}\nparameters: {c: {}}\nequations: [\"%s\"]\n",
            texts[i]);
        struct model_file *file = parse_text(text);
        const struct model *m = file->row.model;
        const double c = 0.7;
        const double w = 1.3;
        const double u = 25.0;
        const double rate = (25.0 - 0.7 * 1.3 - 2.0 * 9.81) / 2.0;
        double phi = 0.0;
        double known = 0.0;
        double out = 0.0;
        CHECK(texts[i], m->known && !m->rows_under && !m->generalised_forces);
        m->rows(m, NULL, &w, &rate, &phi);
        CHECK_NEAR(texts[i], phi, w, 0.0, 0.0);
        model_known(m, NULL, &w, &rate, &u, &known);
        CHECK_NEAR(texts[i], known, u - 2.0 * (rate + 9.81), 0.0, 1e-13);
        m->forward(m, &c, NULL, &w, &u, &out);
        CHECK_NEAR(texts[i], out, rate, 1e-13, 0.0);
        m->inverse(m, &c, NULL, &w, &rate, &out);
        CHECK_NEAR(texts[i], out, u, 1e-13, 0.0);
        model_mobility(m, &c, NULL, &w, &out);
        CHECK_NEAR(texts[i], out, 0.5, 1e-15, 0.0);
        model_file_free(file);
    }
}

/* ---- fits ---- */

struct recording {
    double t[N], w[N], z[N], p[N];
    struct data_raw raw;
};

static double draw_normal(struct random_source *draws)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++) {
        sum += random_between(draws, 0.0, 1.0);
    }
    return sum;
}

/* w' = F(p) - 9.81 - c w in closed form, p held and late; the height is not asked for. */
static void record_run(struct recording *r, uint64_t seed, double sd, double delay_s,
                       double power)
{
    struct random_source draws = random_stream(seed, 2);
    double w = 0.2;
    size_t until = 0;
    const size_t whole = (size_t)floor(delay_s / DT_S);
    const double part_s = delay_s - DT_S * (double)whole;
    for (size_t k = 0; k < N; k++) {
        if (k >= until) {
            r->p[k] = random_between(&draws, 0.2, 1.0);
            until = k + (size_t)random_between(&draws, 10.0, 60.0);
        } else {
            r->p[k] = r->p[k - 1];
        }
    }
    for (size_t k = 0; k < N; k++) {
        const double held[] = {r->p[k > whole ? k - whole - 1 : 0],
                               r->p[k >= whole ? k - whole : 0]};
        const double h_s[] = {part_s, DT_S - part_s};
        r->t[k] = DT_S * (double)k;
        r->w[k] = w + sd * draw_normal(&draws);
        for (int i = 0; i < 2; i++) {
            const double steady = (6.0 * held[i] + 14.0 * pow(held[i], power) - 9.81) / 0.4;
            w = steady + (w - steady) * exp(-0.4 * h_s[i]);
        }
    }
    r->raw = (struct data_raw){.axes = 1, .n = N, .t_s = r->t, .part_count = 1};
    r->raw.part_start[1] = N;
    r->raw.nu[0] = r->w;
    r->raw.tau[0] = r->p;
}

static const double truth[] = {0.4, 6.0, 14.0};

static void check_truth(const char *row, const struct dynamics_fit *fit, double share)
{
    for (size_t i = 0; i < 3; i++) {
        const double error = fabs(fit->estimate.value[i] - truth[i]);
        const double se = sqrt(fit->estimate.covariance[i][i]);
        if (!(error <= 4.0 * se + 1e-9) || !(se <= share * truth[i])) {
            (void)printf("%s: %zu is %g +- %g\n", row, i, fit->estimate.value[i], se);
        }
        CHECK(row, error <= 4.0 * se + 1e-9);
        CHECK(row, se <= share * truth[i]);
    }
}

static void test_every_method(void)
{
    static struct recording r;
    struct model_file *file = load_model("quad_z");
    struct data_table table;
    struct data_summary summary;
    struct dynamics_options options = dynamics_options_defaults();
    options.delay_max_s = 0.0;
    record_run(&r, 1, 0.02, 0.0, 2.0);
    CHECK_INT("table", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    for (int method = DYNAMICS_WEAK; method < DYNAMICS_METHOD_COUNT; method++) {
        const char *name = dynamics_method_name((enum dynamics_method)method);
        struct dynamics_fit fit;
        CHECK_INT(name,
                  dynamics_estimate(file->row.model, &table.set, (enum dynamics_method)method,
                                    &options, &fit),
                  STATUS_OK);
        CHECK_INT(name, fit.method, method);
        check_truth(name, &fit, 0.05);
    }
    data_table_free(&table);
    model_file_free(file);
}

/* Without noise only the steps of a derivative are lost; a period in which two efforts act
 * belongs to neither, nor to their mean. */
static void test_late(void)
{
    static struct recording r;
    static double late[N];
    static double computed[N];
    double *nu[1] = {computed};
    struct model_file *file = load_model("quad_z");
    const double delays_s[] = {0.0, 0.01, 0.05};
    for (size_t d = 0; d < COUNT(delays_s); d++) {
        char row[32];
        struct data_table table;
        struct data_summary summary;
        struct dynamics_fit fit;
        struct dynamics_options options = dynamics_options_defaults();
        (void)snprintf(row, sizeof row, "late by %g s", delays_s[d]);
        record_run(&r, 2, 0.0, delays_s[d], 2.0);
        CHECK_INT(row, data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
        struct data_set set = table.set;
        data_view_delay(&set, delays_s[d], late);
        CHECK_INT(row,
                  dynamics_linear_fit(file->row.model, &set, DYNAMICS_WEAK, &options, &fit),
                  STATUS_OK);
        for (size_t i = 0; i < 3; i++) {
            CHECK_NEAR(row, fit.estimate.value[i], truth[i], 5e-4, 0.0);
        }
        CHECK(row, simulation_run(file->row.model, truth, 0, &set, false, nu));
        for (size_t k = 0; k < table.set.n; k++) {
            CHECK_NEAR(row, computed[k], table.set.nu[0][k], 1e-7, 1e-7);
        }
        options.delay_max_s = 0.1;
        CHECK_INT(row,
                  dynamics_estimate(file->row.model, &table.set, DYNAMICS_OUTPUT_ERROR,
                                    &options, &fit),
                  STATUS_OK);
        CHECK_NEAR(row, fit.delay_s, delays_s[d], 0.0, 1e-5);
        for (size_t i = 0; i < 3; i++) {
            CHECK_NEAR(row, fit.estimate.value[i], truth[i], 1e-5, 0.0);
        }
        data_table_free(&table);
    }
    model_file_free(file);
}

/* A force in addition to the efforts, of the equation's unit: the missing gravity. */
static void test_bias(void)
{
    static const char text[] =
        "model: q\nvelocities: {w: m/s}\nefforts: {p: \"1\"}\nconstants: {g: 9}\n"
        "parameters: {c: {}, k: {}, s: {}}\nequations: [\"w' + g + c*w = k*p + s*p^2\"]\n";
    static struct recording r;
    struct model_file *file = parse_text(text);
    struct data_table table;
    struct data_summary summary;
    struct dynamics_options options = dynamics_options_defaults();
    char name[64];
    options.delay_max_s = 0.0;
    options.biases = true;
    record_run(&r, 5, 0.005, 0.0, 2.0);
    CHECK_INT("table", data_table_make(&r.raw, &table, &summary, NULL), STATUS_OK);
    CHECK_TEXT("name", dynamics_parameter_name(file->row.model, 3, name, sizeof name),
               "w_push_bias");
    for (int method = DYNAMICS_WEAK_IV; method < DYNAMICS_METHOD_COUNT; method++) {
        const char *row = dynamics_method_name((enum dynamics_method)method);
        struct dynamics_fit fit;
        CHECK_INT(row,
                  dynamics_estimate(file->row.model, &table.set, (enum dynamics_method)method,
                                    &options, &fit),
                  STATUS_OK);
        CHECK_INT(row, fit.method, method);
        check_truth(row, &fit, 0.1);
        const double se = sqrt(fit.estimate.covariance[3][3]);
        CHECK_NEAR(row, fit.estimate.value[3], 0.81, 0.0, 4.0 * se);
        CHECK(row, se < 0.1);
    }
    data_table_free(&table);
    model_file_free(file);
}

/* Sample by sample, from a start that is 20 % off. */
static void test_online(void)
{
    static struct recording r;
    struct model_file *file = load_model("quad_z");
    struct online_params params = online_params_defaults();
    struct online_filter filter;
    struct online_start start = {.noise_sd = {0.02}, .walk_sd = {0.02}};
    record_run(&r, 6, 0.02, 0.0, 2.0);
    for (size_t i = 0; i < 3; i++) {
        start.theta[i] = 0.8 * truth[i];
        start.se[i] = 0.3 * truth[i];
    }
    params.biases = false;
    online_filter_reset(&filter, file->row.model, &params);
    CHECK("start", online_filter_start(&filter, file->row.model, &start));
    for (size_t k = 0; k < N; k++) {
        const struct online_sample sample = {.t_us = llround(1e6 * r.t[k]),
                                             .lab_us = llround(1e6 * r.t[k]),
                                             .nu_count = 1,
                                             .tau_count = 1,
                                             .nu = {r.w[k]},
                                             .tau = {r.p[k]}};
        struct online_drift drift;
        bool drifted = false;
        (void)online_filter_step(&filter, file->row.model, &params, &sample, &drifted, &drift);
    }
    for (size_t i = 0; i < 3; i++) {
        const double se = online_filter_se(&filter, i);
        (void)printf("online %zu: %g +- %g\n", i, filter.theta[i], se);
        CHECK_NEAR("online", filter.theta[i], truth[i], 0.05, 0.0);
        CHECK("online", fabs(filter.theta[i] - truth[i]) <= 4.0 * se && se < 0.05 * truth[i]);
    }
    model_file_free(file);
}

/* ---- following ---- */

/* The law requests the throttle under which the model moves as required, from the first step
 * on, at the foot of a curve too, and stays at its end where no throttle does. */
static void test_follower(void)
{
    static const char square[] =
        "model: lift\nvelocities: {w: m/s}\nefforts: {p: \"1\"}\nconstants: {g: 9.81}\n"
        "parameters: {c: {}, k: {}}\nequations: [\"w' + g + c*w = k*p^2\"]\n";
    struct model_file *file = parse_text(square);
    struct follower_params p = {.model = file->row.model,
                                .theta = {0.4, 20.0},
                                .gains = {.bandwidth_radps = {2.0}, .observer_radps = 4.0},
                                .period_s = 0.02};
    struct follower f = {.running = false};
    struct follower_target target = {.nu = {0.5}};
    struct follower_output out;
    struct err err = {0};
    double w = 0.0;
    double z = 0.0;
    allocation_direct(&p.allocation, 1, NULL);
    CHECK_INT("check", follower_check(&p, &err), STATUS_OK);
    for (int k = 0; k < 500; k++) {
        CHECK("step", follower_step(&f, &p, &target, &w, &z, &out));
        model_step(p.model, p.theta, &w, &z, out.tau, NULL, p.period_s);
    }
    CHECK_NEAR("speed", w, 0.5, 0.0, 0.01);
    CHECK_NEAR("throttle", out.tau[0], sqrt((9.81 + 0.2) / 20.0), 0.0, 2e-3);
    target.nu[0] = -60.0; /* faster than it falls */
    for (int k = 0; k < 50; k++) {
        CHECK("falls", follower_step(&f, &p, &target, &w, &z, &out));
        CHECK("falls", fabs(out.tau[0]) < 0.1 || k < 3);
        model_step(p.model, p.theta, &w, &z, out.tau, NULL, p.period_s);
    }
    model_file_free(file);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("models of which more is known", NULL, NULL);
    CU_add_test(suite, "quad", test_quad);
    CU_add_test(suite, "boat", test_boat);
    CU_add_test(suite, "turned", test_turned);
    CU_add_test(suite, "every method", test_every_method);
    CU_add_test(suite, "late", test_late);
    CU_add_test(suite, "bias", test_bias);
    CU_add_test(suite, "online", test_online);
    CU_add_test(suite, "follower", test_follower);
    return check_run();
}
