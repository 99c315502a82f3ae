/* short: TANDEM_RUNS=1 TANDEM_WITHOUT=noise */
/* The course of an effort between two rows, for servos with dry friction and velocity channels
 * in a control loop: held until the next row, or computed in between. How often `auto` detects
 * which it was, at 100 Hz (docs/model/identification.md, "Between rows"). TANDEM_RUNS: draws of
 * each, default 4. */
#include "tests/support/campaign.h"

#include "base/numbers/random.h"
#include "identification/dynamics/input_interpolation.h"
#include "identification/model/models.h"

enum { N = 3000, STEPS = 1200, FINE = 20, TONES = 4 };
static const double DT_S = 0.01;
static const double NOISE_SD[] = {0.002, 0.01};
/* The servo: kg m^2, N m s, N m; the channel: s, and its gain. */
static const double INERTIA = 0.02, VISCOUS = 0.05, COULOMB = 0.05;
static const double LAG_S = 0.26, GAIN = 1.05, QUICK_S = 0.06;
static const double REST = 1e-4;

static double t_s[N], effort[N], velocity[N];

struct loop {
    bool joint;
    double rate[TONES], phase[TONES]; /* of the reference */
    double position, velocity;
};

static double control_loop(const struct loop *l, double t)
{
    double reference = 0.0;
    double speed = 0.0;
    for (size_t i = 0; i < TONES; i++) {
        reference += 0.5 * sin(l->rate[i] * t + l->phase[i]);
        speed += 0.5 * l->rate[i] * cos(l->rate[i] * t + l->phase[i]);
    }
    return l->joint ? 3.0 * (reference - l->position) + 0.15 * (speed - l->velocity)
                    : 2.0 * (reference - l->position) + speed;
}

/* Friction holds what stands until the effort exceeds it, and stops what turns round below it.
 */
static void move_joint(struct loop *l, double tau, double h_s)
{
    const double applied = tau - VISCOUS * l->velocity;
    const bool held = fabs(applied) < COULOMB;
    const double way = fabs(l->velocity) > REST ? l->velocity : applied;
    const double next =
        l->velocity + h_s * (applied - (way > 0.0 ? COULOMB : -COULOMB)) / INERTIA;
    const bool stops = held && (fabs(l->velocity) < REST || l->velocity * next < 0.0);
    l->velocity = stops ? 0.0 : next;
}

static void record_loop(bool joint, bool held, double noise_sd, uint64_t seed)
{
    struct random_source draws = {.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
    struct loop l = {.joint = joint};
    const double h_s = DT_S / FINE;
    double tau = 0.0;
    for (size_t i = 0; i < TONES; i++) {
        l.rate[i] = random_between(&draws, 0.3, 3.0);
        l.phase[i] = random_between(&draws, 0.0, 6.28);
    }
    for (size_t k = 0; k < N * FINE; k++) {
        if (k % FINE == 0 || !held) {
            tau = control_loop(&l, (double)k * h_s);
        }
        if (k % FINE == 0) {
            t_s[k / FINE] = (double)k * h_s;
            effort[k / FINE] = tau;
            velocity[k / FINE] = l.velocity + noise_sd * random_normal(&draws);
        }
        if (joint) {
            move_joint(&l, tau, h_s);
        } else {
            l.velocity += h_s * (GAIN * tau - l.velocity) / LAG_S;
        }
        l.position += h_s * l.velocity;
    }
}

/* Commands that step, of a channel that nothing controls: their mean acts, or they are held. */
static void record_steps(bool held, double noise_sd, uint64_t seed)
{
    struct random_source draws = {.state = seed * UINT64_C(0x9E3779B97F4A7C15)};
    const double h_s = DT_S / FINE;
    double v = 0.0;
    for (size_t k = 0, left = 0; k < STEPS; k++, left--) {
        if (left == 0) {
            left = 15 + (size_t)random_between(&draws, 0.0, 85.0);
            effort[k] = random_between(&draws, -1.0, 1.0);
        } else {
            effort[k] = effort[k - 1];
        }
        t_s[k] = (double)k * DT_S;
    }
    for (size_t k = 0; k < STEPS; k++) {
        velocity[k] = v + noise_sd * random_normal(&draws);
        const double next = k + 1 < STEPS && !held ? effort[k + 1] : effort[k];
        for (size_t i = 0; i < FINE; i++) {
            v += h_s * (GAIN * 0.5 * (effort[k] + next) - v) / QUICK_S;
        }
    }
}

static enum input_interpolation choose_hold(const char *name, size_t n)
{
    const struct model *model = model_find(name);
    const struct dynamics_options options = dynamics_options_for(model);
    const struct data_raw raw = {.axes = 1,
                                 .n = n,
                                 .t_s = t_s,
                                 .part_count = 1,
                                 .part_start = {0, n},
                                 .nu = {velocity},
                                 .tau = {effort}};
    struct data_table table;
    struct data_summary summary;
    struct interpolation_choice choice;
    CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, &table, &summary, NULL), STATUS_OK);
    CU_ASSERT_EQUAL_FATAL(
        input_interpolation_choose(model, &table, &options, INPUT_INTERPOLATION_AUTO, &choice),
        STATUS_OK);
    CHECK(name, choice.compared);
    data_table_free(&table);
    return choice.hold;
}

static void test_auto(void)
{
    static const char *const models[] = {"first_order", "joint"};
    const size_t runs = campaign.runs;
    for (size_t row = 0; row < 8; row++) {
        const bool joint = row & 1;
        const bool held = row & 2;
        size_t right = 0;
        for (size_t run = 0; run < runs; run++) {
            record_loop(joint, held, NOISE_SD[row / 4], run + 1);
            right += choose_hold(models[joint], N) ==
                     (held ? INPUT_INTERPOLATION_ZOH : INPUT_INTERPOLATION_LINEAR);
        }
        campaign_row("controlled", runs, "%s, %s, noise %g", models[joint],
                     held ? "held" : "computed on", NOISE_SD[row / 4]);
        campaign_count("right", right, runs);
        campaign_end();
        CHECK(models[joint], right * 20 >= runs * 19);
    }
}

/* Noise of a twentieth of the velocity does not count as late commands. */
static void test_noise(void)
{
    enum { RUNS = 60 };
    for (size_t held = 0; held < 2; held++) {
        size_t right = 0;
        for (size_t run = 0; run < RUNS; run++) {
            record_steps(held, 0.05, run + 1);
            right += choose_hold("first_order", STEPS) ==
                     (held ? INPUT_INTERPOLATION_ZOH : INPUT_INTERPOLATION_LINEAR);
        }
        campaign_row("steps", RUNS, "%s, noise 0.05", held ? "held" : "their mean");
        campaign_count("right", right, RUNS);
        campaign_end();
        CHECK(held ? "held" : "mean", right >= RUNS - 1);
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("input_interpolation", 1, 4, 0);
    CU_add_test(suite, "auto", test_auto);
    CU_add_test(suite, "noise", test_noise);
    return check_run();
}
