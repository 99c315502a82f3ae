#include "service/sim/demo/demo_arms.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/numbers/constants.h"
#include "service/tool/lab_clock.h"

const double demo_arms_speed_ratios[SIDE_COUNT] = {0.85, 1.0};

const char demo_arms_parameters[] =
    "# Made by tandem demo. The simulated arm moves as commanded after 10 ms, the real one "
    "starts later "
    "and "
    "is slower.\n"
    "arm: ur5\n"
    "real: {speed_ratio: 0.85, acceleration_ratio: 0.8, t0_s: 0.05, noise_s: 0.002}\n"
    "virtual: {t0_s: 0.01, noise_s: 0.002}\n";

/* m, position of the tool in the start pose, from which all moves go out and return. */
static const double tool_m[3] = {0.4869, -0.10915, 0.431859};
static const double tilt_rad = 2.221441469; /* rad, rotation vector about x and y */

/* Half of the distances are too short to reach full speed. */
static double draw_distance(struct demo_arms *a, double most)
{
    const double shrink = random_uniform(&a->random) < 0.5 ? 0.15 : 1.0;
    return shrink * most * (0.2 + 0.8 * random_uniform(&a->random));
}

static void write_joints(char *payload, size_t size, uint64_t n, double q1_rad)
{
    (void)snprintf(payload, size,
                   "{\"id\":\"m%" PRIu64 "\",\"op\":\"movej\",\"v_radps\":2,\"a_radps2\":8,"
                   "\"q_rad\":[%.4f,%.6f,%.6f,%.6f,%.6f,0]}",
                   n, q1_rad, -PI / 2, -PI / 2, -PI / 2, PI / 2);
}

static void write_line(char *payload, size_t size, uint64_t n, double up_m)
{
    (void)snprintf(payload, size,
                   "{\"id\":\"m%" PRIu64 "\",\"op\":\"movel\",\"v_mps\":0.4,\"a_mps2\":4,"
                   "\"pose\":[%.4f,%.5f,%.6f,%.9f,%.9f,0]}",
                   n, tool_m[0], tool_m[1], tool_m[2] + up_m, -tilt_rad, tilt_rad);
}

void demo_arms_write(struct demo_arms *a, char *payload, size_t size)
{
    const uint64_t n = a->sent;
    /* two joint moves out and back, then two lines up and down */
    if (n % 4 < 2) {
        const double turn_rad = n % 4 == 0 ? draw_distance(a, n % 8 == 0 ? 1.5 : -1.5) : 0.0;
        write_joints(payload, size, n + 1, turn_rad);
    } else {
        write_line(payload, size, n + 1, n % 4 == 2 ? draw_distance(a, 0.25) : 0.0);
    }
}

void demo_arms_drive(struct demo_arms *a, uint64_t entries, double interval_s,
                     struct mqtt_client *client)
{
    char payload[DEMO_ARMS_PAYLOAD];
    const int64_t now_us = lab_clock_monotonic_us();
    if (entries < a->sent) {
        a->next_us = now_us + lab_us(interval_s);
    }
    if (entries < a->sent || now_us < a->next_us) {
        return;
    }
    demo_arms_write(a, payload, sizeof payload);
    /* A refused publish is tried again at once. */
    a->sent += mqtt_client_publish(client, "tandem/v1/r1/command", payload, strlen(payload), 1,
                                   false) == STATUS_OK;
}
