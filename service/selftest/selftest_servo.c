#include "service/selftest/selftest_robots.h"

#include <math.h>

#include "base/errors/status.h"
#include "base/numbers/constants.h"

enum { ROWS = 1500, HELD_MAX = 64 };

static const double PERIOD_S = 0.02, STEP_S = 2e-4, DELAY_S = 0.045;
static const double NATURAL = 18.0, RATIO = 1.1, DEAD_BAND = 0.012, DROOP = -0.02;
static const double REACH_RAD = 0.6;
static const double ENCODER_RAD = 2.0 * PI / 4096.0;

static double factor_of(const struct selftest_scenario *w, size_t column)
{
    return w->factor[column] > 0.0 ? w->factor[column] : 1.0;
}

/* The command: held values of any size; of two values if the scenario clips them. */
struct command {
    double value, until_s;
};

static void draw_command(const struct selftest_scenario *w, struct command *c, double t_s,
                         struct random_source *draws)
{
    while (t_s >= c->until_s) {
        const double reach = REACH_RAD * (w->gentle > 0.0 ? w->gentle : 1.0);
        const double drawn = random_between(draws, -reach, reach);
        c->value = w->clip > 0.0 ? copysign(w->clip * reach, drawn) : drawn;
        c->until_s += random_between(draws, 0.16, 1.2);
    }
}

/* Motor and loop, by small steps of its own: the test does not trust the fit's simulation. */
struct servo {
    double q, w, shown, seen;
};

static void move_servo(const struct selftest_scenario *s, struct servo *m, double command,
                       double share)
{
    const double worth = 1.0 + s->off + (share >= 0.5 ? s->at_half : 0.0) +
                         (share >= 0.4 && share < 0.6 ? s->dips : 0.0);
    const double stiffness = worth * NATURAL * NATURAL;
    const double damping = 2.0 * RATIO * NATURAL;
    const double felt = (command < 0.0 ? 1.0 + s->backed : 1.0) * command;
    const double at = m->q + 0.5 * STEP_S * m->w;
    const double pull = stiffness * (felt - at) - NATURAL * NATURAL * DROOP;
    const double lasts = (1.0 - exp(-damping * STEP_S)) / damping;
    const double freely = m->w + lasts * (pull - damping * m->w);
    const double before = m->w;
    const double dead =
        (DEAD_BAND + s->by_load * fabs(felt - at)) * (1.0 + s->by_place * sin(3.0 * at));
    m->w = copysign(fmax(fabs(freely) - lasts * NATURAL * NATURAL * dead, 0.0), freely);
    m->q += 0.5 * STEP_S * (before + m->w);
    m->shown = fmin(fmax(m->shown, m->q - s->play_rad / 2.0), m->q + s->play_rad / 2.0);
    m->seen +=
        (m->shown - m->seen) * (s->sensor_s > 0.0 ? 1.0 - exp(-STEP_S / s->sensor_s) : 1.0);
}

void selftest_write_servo(const struct selftest_scenario *scenario, struct random_source *draws,
                          FILE *to)
{
    struct command command = {.until_s = 0.0};
    double held[HELD_MAX] = {0.0}; /* the last commands and their times */
    double since_s[HELD_MAX];
    struct servo m = {.q = 0.0};
    double t_s = 0.0;
    size_t steps = 0;
    for (size_t i = 0; i < HELD_MAX; i++) {
        since_s[i] = -HUGE_VAL;
    }
    (void)fputs("t_s,command_rad,position_rad\n", to);
    for (size_t k = 0; k < ROWS; k++) {
        const double off = k > 0 ? scenario->jitter * random_between(draws, -1.2, 1.2) : 0.0;
        t_s = PERIOD_S * ((double)k + fmax(fmin(off, 0.45), -0.45));
        for (; (double)steps * STEP_S < t_s; steps++) {
            double acts = held[(k + HELD_MAX - 1) % HELD_MAX];
            for (size_t i = 1; i <= HELD_MAX && i <= k; i++) {
                acts = held[(k - i) % HELD_MAX];
                if (since_s[(k - i) % HELD_MAX] + DELAY_S <= (double)steps * STEP_S) {
                    break;
                }
            }
            move_servo(scenario, &m, acts, (double)k / ROWS);
        }
        draw_command(scenario, &command, t_s, draws);
        held[k % HELD_MAX] = command.value;
        since_s[k % HELD_MAX] = t_s;
        (void)fprintf(to, "%.7g,%.7g,%.7g\n",
                      scenario->counted ? (double)k : factor_of(scenario, 0) * t_s,
                      factor_of(scenario, 1) * command.value,
                      factor_of(scenario, 2) * ENCODER_RAD * round(m.seen / ENCODER_RAD));
    }
}

double selftest_servo_truth(size_t i, const char **name)
{
    static const struct {
        const char *name;
        double value;
    } truth[] = {{"natural_frequency_radps", NATURAL},
                 {"damping_ratio", RATIO},
                 {"position_gain_per_s", NATURAL / (2.0 * RATIO)},
                 {"dead_band_rad", DEAD_BAND},
                 {"droop_rad", DROOP}};
    *name = i < COUNT(truth) ? truth[i].name : NULL;
    return i < COUNT(truth) ? truth[i].value : 0.0;
}
