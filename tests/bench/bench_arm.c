/* Measures an arm's kinematics, and a hundred arms at work at 125 Hz in one process: the median
 * of batches, JSON lines. */
#include "tests/bench/bench.h"

#include <gsl/gsl_errno.h>
#include <math.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/geometry/arm_inverse.h"
#include "twin/sim/robot/arm6.h"
#include "twin/sim/robot/robot_kinds.h"

enum { POSES = 1000, BATCHES = 31, ARMS = 100, PERIODS = 1000, TELLS = 12 };

static const double WORK[6] = {0.0, -PI / 2.0, -PI / 2.0, -PI / 2.0, PI / 2.0, 0.0};
static struct arm_geometry ur5;
static double q[POSES][6];
static struct rigid pose[POSES];
static double sum; /* of the results, so that the compiler keeps them */

static double forward_us(void)
{
    const double from_s = bench_cpu_s();
    for (size_t i = 0; i < POSES; i++) {
        pose[i] = arm_forward(&ur5, q[i]);
        sum += pose[i].at_m[0];
    }
    return (bench_cpu_s() - from_s) * 1e6 / POSES;
}

static double inverse_us(void)
{
    struct arm_solution all[ARM_BRANCHES];
    const double from_s = bench_cpu_s();
    for (size_t i = 0; i < POSES; i++) {
        sum += (double)arm_inverse(&ur5, &pose[i], 0.0, all);
    }
    return (bench_cpu_s() - from_s) * 1e6 / POSES;
}

static void bench_step(const char *what, double (*run)(void), double most_us)
{
    double batches[BATCHES];
    for (size_t i = 0; i < BATCHES; i++) {
        batches[i] = run();
    }
    const double median = bench_median(batches, BATCHES);
    (void)printf(
        "{\"bench\":\"arm\",\"what\":\"%s\",\"us\":%.3f,\"us_max\":%.3f,\"goal_us\":%g}\n",
        what, median, batches[BATCHES - 1], most_us);
}

static void receive_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    sum += (double)reply->value_count;
}

/* All arms on lines, back and forth, ten samples a second taken of each. */
static void bench_arms(void)
{
    const struct robot_kind *kind = &arm6_kind;
    char *memory = calloc(ARMS, kind->bytes);
    double periods_us[PERIODS];
    if (!memory) {
        bench_fail("out of memory");
    }
    for (size_t i = 0; i < ARMS; i++) {
        struct robot_setup setup = {.seed = i, .period_us = kind->period_us, .pose_count = 6};
        memcpy(setup.pose, WORK, sizeof WORK);
        kind->init(memory + i * kind->bytes, &setup);
    }
    for (size_t k = 0; k < PERIODS; k++) {
        const double from_s = bench_cpu_s();
        for (size_t i = 0; i < ARMS; i++) {
            char *arm = memory + i * kind->bytes;
            if ((k + i) % 200 == 0) {
                struct event_command line = {
                    .op = "movel",
                    .arm = {.present = 1U << EVENT_ARM_POSE,
                            .pose_count = 6,
                            .pose = {0.4, (k + i) % 400 == 0 ? -0.25 : -0.05, 0.4, -2.2214,
                                     2.2214, 0.0}}};
                robot_command(kind, arm, &line, receive_reply, NULL);
            }
            kind->step(arm, receive_reply, NULL);
            if ((k + i) % TELLS == 0) {
                struct robot_sample sample;
                kind->sample(arm, &sample);
                sum += sample.pose[0];
            }
        }
        periods_us[k] = (bench_cpu_s() - from_s) * 1e6;
    }
    double mean_us = 0.0;
    for (size_t k = 0; k < PERIODS; k++) {
        mean_us += periods_us[k] / PERIODS;
    }
    const double median_us = bench_median(periods_us, PERIODS);
    (void)printf(
        "{\"bench\":\"arm\",\"what\":\"%d arms on lines\",\"period_s\":%g,\"step_us\":%.3f,"
        "\"core_ratio\":%.4f,\"goal_ratio\":0.1,\"period_us_median\":%.1f,"
        "\"period_us_max\":%.1f,\"bytes\":%zu}\n",
        ARMS, (double)kind->period_us * 1e-6, mean_us / ARMS, mean_us / (double)kind->period_us,
        median_us, periods_us[PERIODS - 1], kind->bytes);
    free(memory);
}

int main(void)
{
    struct random_source random = {.state = 1};
    (void)gsl_set_error_handler_off();
    if (!arm_geometry_find("ur5", &ur5)) {
        return EXIT_FAILURE;
    }
    for (size_t i = 0; i < POSES; i++) {
        for (size_t k = 0; k < 6; k++) {
            q[i][k] = random_between(&random, -PI, PI);
        }
    }
    bench_step("forward", forward_us, 0.5);
    bench_step("all inverse solutions", inverse_us, 3.0);
    bench_arms();
    return isfinite(sum) ? EXIT_SUCCESS : EXIT_FAILURE;
}
