/* A residual names its cause, and right channels are not blamed. The test simulates the channel
 * itself, in steps of a millisecond. */
#include "tests/support/check.h"

#include <math.h>
#include <string.h>

#include <gsl/gsl_errno.h>

#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "identification/model/models.h"
#include "identification/simulation/channel_cause.h"
#include "identification/simulation/gain_scan.h"

enum { N = 1200, FINE = 50 };
static const double dt_s = 0.05;
static double t[N], command[N], velocity[N];

struct recording {
    const char *name;
    enum channel_effect effect; /* CHANNEL_EFFECTS: none */
    double size;                /* of the effect */
    double noise, memory;       /* sd, correlation of neighbours */
    double phase;               /* commands change up to this part of a row before their row */
    double varies_s;            /* delay between 0.02 s and this */
    enum channel_finding finding;
    double tolerance; /* of the size, relative; 0: not compared */
    bool joystick;    /* the command changes at every row */
    double sways;     /* the gain rises and falls by this ratio, in 10 s */
};

static const struct recording recordings[] = {
    {"white noise", CHANNEL_EFFECTS, 0.0, 0.5, 0.0, 0.0, 0.0, CHANNEL_WHITE, 0.0, false, 0.0},
    {"much noise", CHANNEL_EFFECTS, 0.0, 15.0, 0.0, 0.0, 0.0, CHANNEL_WHITE, 0.0, false, 0.0},
    {"coloured noise", CHANNEL_EFFECTS, 0.0, 0.5, 0.8, 0.0, 0.0, CHANNEL_SMALL, 0.0, false,
     0.0},
    {"commands between rows", CHANNEL_EFFECTS, 0.0, 0.5, 0.0, 1.0, 0.0, CHANNEL_ROW_PHASE, 0.0,
     false, 0.0},
    {"loud coloured noise", CHANNEL_EFFECTS, 0.0, 2.0, 0.8, 0.0, 0.0, CHANNEL_UNNAMED, 0.0,
     false, 0.0},
    {"second lag", CHANNEL_SECOND_LAG, 0.1, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.1, false,
     0.0},
    {"rate limit", CHANNEL_RATE_LIMIT, 200.0, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.15, false,
     0.0},
    {"other lag", CHANNEL_OTHER_LAG, 0.2, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.05, false, 0.0},
    {"play", CHANNEL_PLAY, 3.0, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.3, false, 0.0},
    {"clock", CHANNEL_DELAY_GROWS, 0.2, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.05, false, 0.0},
    {"gain falls", CHANNEL_GAIN_DRIFTS, -0.05, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.1, false,
     0.0},
    {"clipped", CHANNEL_CLIP, 48.0, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.05, false, 0.0},
    {"cubic", CHANNEL_GAIN_BY_SIZE, 0.003, 0.5, 0.0, 0.0, 0.0, CHANNEL_EFFECT, 0.1, false, 0.0},
    {"delays vary", CHANNEL_EFFECTS, 0.0, 0.5, 0.0, 0.0, 0.2, CHANNEL_DELAY_VARIES, 0.0, false,
     0.0},
    {"joystick", CHANNEL_EFFECTS, 0.0, 0.5, 0.0, 1.0, 0.0, CHANNEL_ROW_PHASE, 0.0, true, 0.0},
    {"gain sways", CHANNEL_EFFECTS, 0.0, 0.5, 0.0, 0.0, 0.0, CHANNEL_GAIN_VARIES, 0.0, false,
     0.05},
};

/* A robot, row by row: gain 1.6, lag 0.3 s, delay 0.08 s, in steps of a millisecond. */
static void record_channel(const struct recording *of, uint64_t seed)
{
    struct random_source draws = {.state = seed};
    const double h_s = dt_s / FINE;
    static double sent[N * FINE];
    double change_s = 0.0;
    double wanted = 0.0;
    double delay_s = 0.08;
    double limited = 0.0;
    double m = 0.0;
    double y = 0.0;
    double position = 0.0;
    double noise = 0.0;
    for (size_t k = 0; k < N; k++) {
        t[k] = dt_s * (double)k;
        if (t[k] >= change_s) {
            const double phase_s = of->phase * dt_s * random_between(&draws, 0.0, 1.0);
            wanted = of->joystick ? 0.9 * wanted + random_between(&draws, -30.0, 30.0)
                                  : random_between(&draws, -60.0, 60.0);
            change_s = of->joystick ? t[k] : t[k] + random_between(&draws, 0.5, 2.0);
            delay_s = of->varies_s > 0.0 ? random_between(&draws, 0.02, of->varies_s) : 0.08;
            delay_s +=
                of->effect == CHANNEL_DELAY_GROWS ? of->size * (t[k] / (dt_s * N) - 0.5) : 0.0;
            const double acts_s = fmax(t[k] - phase_s + delay_s, 0.0);
            for (size_t f = (size_t)(acts_s / h_s); f < N * FINE; f++) {
                sent[f] = wanted;
            }
        }
        command[k] = wanted;
    }
    for (size_t k = 0; k < N; k++) {
        noise = of->memory * noise +
                sqrt(1.0 - of->memory * of->memory) * of->noise * random_normal(&draws);
        const double stuck =
            of->effect == CHANNEL_PLAY && position > 0.0 && position < of->size;
        velocity[k] = (stuck > 0.0 ? 0.0 : y) + noise;
        for (size_t f = 0; f < FINE; f++) {
            double u = sent[k * FINE + f];
            const double most = of->size * h_s;
            limited += fmin(fmax(u - limited, -most), most);
            u = of->effect == CHANNEL_RATE_LIMIT ? limited : u;
            u = of->effect == CHANNEL_CLIP ? copysign(fmin(fabs(u), of->size), u) : u;
            u *= of->effect == CHANNEL_GAIN_BY_SIZE ? 1.0 + of->size * fabs(u) : 1.0;
            const double drift =
                of->effect == CHANNEL_GAIN_DRIFTS ? of->size * (t[k] / (dt_s * N) - 0.5) : 0.0;
            const double sways = of->sways * sin(0.2 * PI * t[k]);
            const double g = 1.6 * (1.0 + drift) * (1.0 + sways) * u;
            const bool slower = !(fabs(g) > fabs(m) && g * m >= 0.0);
            const double lag_s = of->effect == CHANNEL_OTHER_LAG && slower ? of->size : 0.3;
            m += (g - m) * (1.0 - exp(-h_s / lag_s));
            y = of->effect == CHANNEL_SECOND_LAG ? y + (m - y) * (1.0 - exp(-h_s / of->size))
                                                 : m;
            position = fmin(fmax(position + y * h_s, 0.0), of->size);
        }
    }
}

static struct data_set describe_set(void)
{
    struct data_set set = {
        .axes = 1, .n = N, .dt_s = dt_s, .t_s = t, .run_count = 1, .noise_sd = {0.5}};
    set.run_start[1] = N;
    set.nu[0] = velocity;
    set.tau[0] = command;
    return set;
}

static void test_findings(void)
{
    const struct model *model = &first_order_model;
    struct dynamics_options options = dynamics_options_for(model);
    options.skip_causes = true;
    for (size_t i = 0; i < COUNT(recordings); i++) {
        const struct recording *of = &recordings[i];
        const struct data_set set = describe_set();
        struct channel_causes causes;
        struct dynamics_fit fit;
        record_channel(of, 11 + i);
        CU_ASSERT_EQUAL_FATAL(
            dynamics_estimate(model, &set, DYNAMICS_OUTPUT_ERROR, &options, &fit), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(channel_causes_find(model, &set, &fit, &causes), STATUS_OK);
        CU_ASSERT_EQUAL_FATAL(causes.count, 1);
        const struct channel_cause *cause = &causes.axis[0];
        CHECK_INT(of->name, cause->finding, of->finding);
        if (of->finding == CHANNEL_EFFECT) {
            CHECK_INT(of->name, cause->with.effect, of->effect);
            CHECK_NEAR(of->name, cause->with.size, of->size, of->tolerance, 0.0);
            CHECK(of->name, cause->share >= 0.5 && cause->chi2 > 50.0);
        } else if (of->finding == CHANNEL_GAIN_VARIES) {
            CHECK_NEAR(of->name, cause->gain_varies, of->sways * sqrt(0.5), 0.2, 0.0);
        } else if (of->finding != CHANNEL_DELAY_VARIES) {
            CHECK_NEAR("gain", cause->base.gain, 1.6, 0.03, 0.0);
            CHECK_NEAR("lag", cause->base.lag_s, 0.3, 0.08, 0.0);
        }
    }
}

/* The mean or the difference of two rows looks like a lag of half a row: no reason. */
static void test_lag_of_a_row(void)
{
    const struct model *model = &first_order_model;
    for (size_t longer = 0; longer < 2; longer++) {
        struct dynamics_fit fit;
        struct channel_causes causes = {.count = 1};
        causes.axis[0] = (struct channel_cause){.finding = CHANNEL_EFFECT,
                                                .dt_s = dt_s,
                                                .with = {.effect = CHANNEL_SECOND_LAG,
                                                         .size = (longer ? 0.6 : 0.4) * dt_s,
                                                         .lag_s = 0.3}};
        dynamics_fit_start(&fit, model, DYNAMICS_OUTPUT_ERROR, false);
        channel_causes_judge(model, &causes, &fit);
        CHECK_INT("verdict", fit.estimate.verdict, longer ? ESTIMATE_MARGINAL : ESTIMATE_PASS);
        CHECK_INT("said", fit.estimate.reason_count, 1);
    }
}

/* With noise in proportion to the speed, errors are robust; with even noise they are not. */
static void test_growing_noise(void)
{
    const struct model *model = &first_order_model;
    const struct data_set set = describe_set();
    const struct dynamics_options options = dynamics_options_for(model);
    for (size_t grows = 0; grows < 2; grows++) {
        struct random_source draws = {.state = 21};
        struct dynamics_fit fit;
        record_channel(&recordings[0], 7);
        for (size_t k = 0; k < N && grows; k++) {
            velocity[k] += 0.03 * fabs(velocity[k]) * random_normal(&draws);
        }
        CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
        CHECK_INT("verdict", fit.estimate.verdict, ESTIMATE_PASS);
        CHECK("robust", (fabs(sqrt(fit.estimate.covariance[1][1]) / fit.se_hac[1] - 1.0) <
                         1e-9) == (grows == 1));
    }
}

/* Forces explain colour, too: with pem no residual of output error is blamed. */
static void test_gusts(void)
{
    const struct model *model = &first_order_model;
    const struct data_set set = describe_set();
    const struct dynamics_options options = dynamics_options_for(model);
    struct random_source draws = {.state = 5};
    struct dynamics_fit fit;
    double force = 0.0;
    double moved = 0.0;
    record_channel(&recordings[0], 9);
    for (size_t k = 0; k < N; k++) {
        velocity[k] += moved;
        force = exp(-dt_s) * force + 5.0 * sqrt(1.0 - exp(-2.0 * dt_s)) * random_normal(&draws);
        moved += (force - moved) * (1.0 - exp(-dt_s / 0.3));
    }
    CU_ASSERT_EQUAL_FATAL(dynamics_estimate_auto(model, &set, &options, &fit), STATUS_OK);
    CHECK_INT("method", fit.method, DYNAMICS_PEM);
    CHECK_INT("verdict", fit.estimate.verdict, ESTIMATE_PASS);
}

/* Four blocks of 64 whose sums are eight times those of the others, which alternate; the first
 * blocks have no effort. */
static void test_gain_scan(void)
{
    struct gain_scan scan = {.score = {0.0}};
    struct gain_episode episode;
    for (size_t b = 0; b < GAIN_SCAN_BLOCKS; b++) {
        const bool rests = b < 20;
        scan.squares[b] = rests ? 0.0 : 25.0;
        scan.score[b] = rests ? 0.0 : (b % 2 == 0 ? 5.0 : -5.0);
    }
    for (size_t b = 30; b < 34; b++) {
        scan.score[b] = -40.0;
    }
    gain_scan_find(&scan, &episode);
    CHECK_NEAR("from", episode.from, 30.0 / 64.0, 1e-9, 0.0);
    CHECK_NEAR("to", episode.to, 34.0 / 64.0, 1e-9, 0.0);
    CHECK_NEAR("change", episode.change, -1.6, 1e-9, 0.0);
    CHECK_NEAR("errors", episode.errors, 16.0 / 1.4826, 1e-9, 0.0);
    memset(scan.squares, 0, (GAIN_SCAN_BLOCKS / 2 + 1) * sizeof scan.squares[0]);
    gain_scan_find(&scan, &episode);
    CHECK_NEAR("too few blocks", episode.errors, 0.0, 0.0, 0.0);
}

int main(void)
{
    (void)gsl_set_error_handler_off();
    CU_initialize_registry();
    CU_pSuite suite = CU_add_suite("causes in a channel", NULL, NULL);
    CU_add_test(suite, "gain scan", test_gain_scan);
    CU_add_test(suite, "findings", test_findings);
    CU_add_test(suite, "lag of a row", test_lag_of_a_row);
    CU_add_test(suite, "growing noise", test_growing_noise);
    CU_add_test(suite, "gusts", test_gusts);
    return check_run();
}
