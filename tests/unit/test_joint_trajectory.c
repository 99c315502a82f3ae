/* short: TANDEM_WITHOUT=velocities */
/* Walks along a joint against finer ones: friction turns over within a hundredth of what the
 * velocity changes by from sample to sample, and a pendulum hangs on positions between rows. */
#include "tests/support/check.h"

#include "base/numbers/random.h"
#include "identification/data/trajectory.h"
#include "identification/model/models.h"

enum { SAMPLES = 1000, FINE = 1000, FORM = JOINT_FORMS - 1, P = JOINT_LOAD + 3 };
#define DT_S    0.01
#define DELAY_S 0.008
#define FINE_S  (DT_S / FINE) /* on which stamps and edges lie */

static const double truth[P] = {0.1, 0.25, 0.3, 0.05, 1.2, 0.2, 0.3};

struct recording {
    double t_s[SAMPLES], tau[SAMPLES], nu[SAMPLES], pose[SAMPLES];
    struct data_set set;
};

/* Steps of efforts, stamps that vary by some percent, and what the joint does, in steps so
 * short that nothing turns over within one. */
static void record_joint(const struct model *model, double jitter, struct recording *r)
{
    struct random_source random = {.state = 3};
    double nu = 0.0;
    double pose = 0.0;
    double until_s = 0.0;
    double held = 0.0;
    r->set = (struct data_set){.n = SAMPLES,
                               .axes = 1,
                               .dt_s = DT_S,
                               .run_count = 1,
                               .run_start = {0, SAMPLES},
                               .t_s = r->t_s};
    r->set.tau[0] = r->tau;
    r->set.nu[0] = r->nu;
    r->set.pose[0] = r->pose;
    for (size_t k = 0; k < SAMPLES; k++) {
        const double off = jitter * random_between(&random, -1.0, 1.0);
        r->t_s[k] = FINE_S * round(FINE * ((double)k + off));
        if (r->t_s[k] >= until_s) {
            held = random_between(&random, -3.0, 3.0);
            until_s += random_between(&random, 0.1, 0.5);
        }
        r->tau[k] = held;
    }
    size_t row = 0;
    for (size_t k = 0; k < SAMPLES; k++) {
        r->nu[k] = nu;
        r->pose[k] = pose;
        const double to_s = k + 1 < SAMPLES ? r->t_s[k + 1] : r->t_s[k] + DT_S;
        const int count = (int)lround((to_s - r->t_s[k]) / FINE_S);
        for (int f = 0; f < count; f++) {
            const double late_s = r->t_s[k] + ((double)f + 0.5) * FINE_S - DELAY_S;
            while (row < k && r->t_s[row + 1] <= late_s) {
                row++;
            }
            model_step(model, truth, &nu, &pose, &r->tau[row], NULL, FINE_S);
        }
    }
}

static void walk_joint(const struct model *model, const struct data_set *set,
                       const double *theta, double *to, double (*by)[P])
{
    const struct trajectory_rules rules = {.model = model,
                                           .set = set,
                                           .sensitive = by != NULL,
                                           .limit = {1e9},
                                           .step_s = trajectory_step_s(model, theta, set)};
    const double rest = 0.0;
    struct trajectory at;
    bool more = true;
    trajectory_begin(&at, &rules, 0, theta, DELAY_S, &rest);
    for (size_t k = 0; k < SAMPLES && more; k++) {
        to[k] = at.nu[0];
        for (size_t i = 0; by && i < P; i++) {
            by[k][i] = at.by[1 + i];
        }
        more = k + 1 < SAMPLES && trajectory_next(&at);
    }
}

/* Velocities are to be right to a fraction of the noise (3e-3 rad/s). Steps that follow
 * the fastest motion alone are off by 1e-2 rad/s where friction turns over in 0.001 rad/s, and
 * positions that go straight from row to row by 4e-4. */
static void test_velocities(void)
{
    static struct recording r;
    static double to[SAMPLES];
    static const double jitters[] = {0.0, 0.15};
    for (size_t width = 0; width < JOINT_WIDTHS; width++) {
        for (size_t j = 0; j < COUNT(jitters); j++) {
            const struct model *model = &joint_models[FORM][width];
            double most = 0.0;
            record_joint(model, jitters[j], &r);
            walk_joint(model, &r.set, truth, to, NULL);
            for (size_t k = 0; k < SAMPLES; k++) {
                most = fmax(most, fabs(to[k] - r.nu[k]));
            }
            CHECK_NEAR(model->name, most, 0.0, 0.0, 5e-5);
        }
    }
}

static void test_sensitivities(void)
{
    static struct recording r;
    static double up[SAMPLES], down[SAMPLES], by[SAMPLES][P];
    const struct model *model = &joint_models[FORM][2];
    record_joint(model, 0.0, &r);
    walk_joint(model, &r.set, truth, up, by);
    for (size_t i = 0; i < P; i++) {
        double theta[P];
        double apart = 0.0;
        double size = 0.0;
        const double step = 1e-4 * truth[i];
        memcpy(theta, truth, sizeof theta);
        theta[i] = truth[i] + step;
        walk_joint(model, &r.set, theta, up, NULL);
        theta[i] = truth[i] - step;
        walk_joint(model, &r.set, theta, down, NULL);
        for (size_t k = 0; k < SAMPLES; k++) {
            const double want = (up[k] - down[k]) / (2.0 * step);
            apart += (by[k][i] - want) * (by[k][i] - want);
            size += want * want;
        }
        CHECK_NEAR(model->parameters[i].name, sqrt(apart / size), 0.0, 0.0, 1e-3);
    }
}

int main(void)
{
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("joint trajectory", NULL, NULL);
    CU_add_test(suite, "velocities", test_velocities);
    CU_add_test(suite, "sensitivities", test_sensitivities);
    return check_run();
}
