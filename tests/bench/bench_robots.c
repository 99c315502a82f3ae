/* Measures one step of a robot's period, with all its machines and its body, driving in an
 * empty plane: the median of batches, one JSON line a kind. */
#include "tests/bench/bench.h"

#include "twin/sim/robot/robot_kinds.h"

enum { ROBOTS = 200, STEPS = 400, BATCHES = 31 };

static unsigned replies;

static void ignore_reply(void *context, const struct robot_reply *reply)
{
    (void)context;
    (void)reply;
    replies++;
}

static void begin_robots(const struct robot_kind *kind, char *memory)
{
    for (size_t i = 0; i < ROBOTS; i++) {
        const struct robot_setup setup = {.seed = i, .period_us = kind->period_us};
        kind->init(memory + i * kind->bytes, &setup);
    }
}

/* Seconds of CPU for STEPS periods of all robots, which always have something to do. */
static double run_robots(const struct robot_kind *kind, char *memory)
{
    const struct event_command go = {.op = "go", .rotation_rad = 1.0, .displacement_m = 0.4};
    const double from_s = bench_cpu_s();
    for (size_t k = 0; k < STEPS; k++) {
        for (size_t i = 0; i < ROBOTS; i++) {
            if (k % 100 == 0) {
                robot_command(kind, memory + i * kind->bytes, &go, ignore_reply, NULL);
            }
            kind->step(memory + i * kind->bytes, ignore_reply, NULL);
        }
    }
    return bench_cpu_s() - from_s;
}

static void bench_kind(const struct robot_kind *kind)
{
    double batches_us[BATCHES];
    char *memory = calloc(ROBOTS, kind->bytes);
    if (!memory) {
        bench_fail("out of memory");
    }
    begin_robots(kind, memory);
    (void)run_robots(kind, memory);
    for (size_t i = 0; i < BATCHES; i++) {
        batches_us[i] = run_robots(kind, memory) * 1e6 / (ROBOTS * STEPS);
    }
    const double median_us = bench_median(batches_us, BATCHES);
    const double longest_us = batches_us[BATCHES - 1];
    (void)printf("{\"bench\":\"robots\",\"kind\":\"%s\",\"period_s\":%g,\"step_us\":%.3f,"
                 "\"step_us_max\":%.3f,\"bytes\":%zu,\"robots_per_core\":%.0f}\n",
                 kind->name, (double)kind->period_us * 1e-6, median_us, longest_us, kind->bytes,
                 (double)kind->period_us / median_us);
    free(memory);
}

int main(void)
{
    for (size_t i = 0; i < robot_kind_count; i++) {
        bench_kind(robot_kinds[i]);
    }
    return EXIT_SUCCESS;
}
