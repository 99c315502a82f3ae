#include "tests/support/check.h"

#include "identification/model/usv3.h"
#include "twin/following/fidelity.h"

enum { AXES = USV3_AXES };

#define S INT64_C(1000000)

static const struct fidelity_params params = {.model = &usv3_model,
                                              .window_us = 60 * S,
                                              .target_m = 0.05,
                                              .target_us = 50000,
                                              .target_ratio = 0.95};

/* The same motion, `late` behind and moved aside: known errors. */
static void set_motion(double t, double *nu, double *pose)
{
    nu[0] = sin(t);
    nu[1] = 0.0;
    nu[2] = 0.2;
    pose[0] = 0.5 * t; /* half a metre a second, straight */
    pose[1] = 0.0;
    pose[2] = remainder(0.2 * t, 6.28318530717958647693);
}

static void run_fidelity(struct fidelity *f, double late_s, double aside_m, int64_t from,
                         int64_t until)
{
    for (int64_t t = from; t < until; t += 10000) {
        double nu[AXES];
        double pose[AXES];
        set_motion(1e-6 * (double)t - late_s, nu, pose);
        pose[1] += aside_m;
        nu[0] += 0.01;
        fidelity_virtual(f, &params, t, nu, pose);
        if (t % 20000 == 0) { /* at other times and with other stamps */
            set_motion(1e-6 * (double)(t - 3000), nu, pose);
            fidelity_real(f, &params, t - 3000, nu, pose);
        }
    }
}

static void test_known_errors(void)
{
    static struct fidelity f;
    struct fidelity_report r;
    f = (struct fidelity){0};
    run_fidelity(&f, 0.0, 0.03, 100 * S, 200 * S);
    fidelity_read(&f, &params, 200 * S, &r);
    CHECK("the window only", r.n > 2900 && r.n <= 3000);
    CHECK_NEAR("u", r.rmse[0], 0.01, 1e-3, 1e-5);
    CHECK_NEAR("u, absolute", r.mae[0], 0.01, 1e-3, 1e-5);
    CHECK_NEAR("R2 of u", r.r2[0], 1.0 - 1e-4 / 0.5, 1e-5, 1e-5);
    CHECK_NEAR("y", r.rmse[4], 0.03, 1e-9, 0.0);
    CHECK("psi, across the turn", r.rmse[5] < 1e-9);
    CHECK("R2 where nothing moves", isnan(r.r2[2]));
    CHECK_NEAR("within 5 cm", r.within_ratio, 1.0, 0.0, 0.0);
}

static void test_place_and_time(void)
{
    static const struct {
        double late_s, aside_m, within;
    } rows[] = {
        {0.0, 0.0, 1.0},  {0.0, 0.049, 1.0}, {0.0, 0.051, 0.0},
        {0.14, 0.0, 1.0}, /* 7 cm behind, of which 50 ms are 2.5 cm */
        {0.16, 0.0, 0.0}, {-0.14, 0.0, 1.0}, {0.049, 0.049, 1.0},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        static struct fidelity f;
        struct fidelity_report r;
        f = (struct fidelity){0};
        run_fidelity(&f, rows[i].late_s, rows[i].aside_m, 100 * S, 130 * S);
        fidelity_read(&f, &params, 130 * S, &r);
        CHECK("judged", r.judged > 1000);
        /* The first samples see half of the window. */
        CHECK_NEAR("within", r.within_ratio, rows[i].within, 0.0, 3e-3);
    }
}

static void test_unpaired(void)
{
    static struct fidelity f;
    struct fidelity_report r;
    const double nu[AXES] = {0};
    f = (struct fidelity){0};
    for (int64_t t = 0; t < 10 * S; t += 20000) {
        fidelity_real(&f, &params, t, nu, NULL);
    }
    CHECK_INT("a bounded number waits", f.waiting_count, FIDELITY_WAITING);
    CHECK("the others are counted", f.unpaired > 400);
    run_fidelity(&f, 0.0, 0.0, 20 * S, 30 * S);
    fidelity_read(&f, &params, 30 * S, &r);
    CHECK("then they pair", r.n > 400);
    run_fidelity(&f, 0.0, 0.0, 5 * S, 6 * S); /* time was set back */
    fidelity_read(&f, &params, 6 * S, &r);
    CHECK("and after time ran back", r.n > 40);
    fidelity_read(&f, &params, 1000 * S, &r);
    CHECK("nothing lately", r.n == 0 && isnan(r.rmse[0]) && isnan(r.within_ratio));
}

static void test_tracking(void)
{
    struct tracking t = {0};
    CHECK("nothing",
          isnan(tracking_rmse(&t)) && isnan(tracking_mae(&t)) && isnan(tracking_r2(&t)));
    tracking_add(&t, 1.0, NAN);
    tracking_add(&t, 1.0, 2.0);
    CHECK("no spread", isnan(tracking_r2(&t)));
    tracking_add(&t, 3.0, 3.0);
    CHECK_NEAR("rmse", tracking_rmse(&t), sqrt(0.5), 1e-15, 0.0);
    CHECK_NEAR("mae", tracking_mae(&t), 0.5, 1e-15, 0.0);
    CHECK_NEAR("r2", tracking_r2(&t), 1.0 - 1.0 / 2.0, 1e-15, 0.0);
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("fidelity", NULL, NULL);
    CU_add_test(suite, "known errors", test_known_errors);
    CU_add_test(suite, "place and time", test_place_and_time);
    CU_add_test(suite, "unpaired", test_unpaired);
    CU_add_test(suite, "tracking", test_tracking);
    return check_run();
}
