/* short: TANDEM_RUNS=200 */
/* How often the intervals of tandem compare hold the truth: shifts of paired commands under
 * several laws of noise, unpaired recordings without a difference, shares (docs/compare.md). */
#include "tests/support/campaign.h"

#include "base/numbers/random.h"
#include "identification/numeric/rank_shift.h"
#include "identification/numeric/same_moves.h"
#include "identification/numeric/share.h"

enum { N_MAX = 200 };

static double d[N_MAX], sorted[N_MAX], ranks[N_MAX];
static size_t order[N_MAX];
static const struct rank_room room = {sorted, ranks, order};

enum law { GAUSS, T3, LATE, AR3, AR5, AR8 };

static const struct {
    const char *name;
    double rho;
} laws[] = {{"Gauss", 0},           {"Student t3", 0},      {"5 % late replies", 0},
            {"correlated 0.3", .3}, {"correlated 0.5", .5}, {"correlated 0.8", .8}};

/* One value of noise of 50 ms, after the previous one. */
static double draw_noise(struct random_source *random, enum law law, double previous)
{
    const double z = random_normal(random);
    const double rho = laws[law].rho;
    if (law == T3) {
        return .05 * z / sqrt(random_chi_square(random, 3) / 3.0);
    }
    if (law == LATE) {
        const double late =
            random_uniform(random) < .05 ? random_between(random, .3, 3.0) : 0.0;
        return (exp(.8 * z) - exp(.32)) * .05 / 1.6 + late;
    }
    return rho > 0.0 ? rho * previous + sqrt(1.0 - rho * rho) * .05 * z : .05 * z;
}

/* Differences of two recordings whose lags differ by shift. */
static void draw_differences(struct random_source *random, enum law law, size_t n, double shift)
{
    double a = draw_noise(random, law, 0.0);
    double b = draw_noise(random, law, 0.0);
    for (size_t i = 0; i < n; i++) {
        d[i] = shift + b - a;
        a = draw_noise(random, law, a);
        b = draw_noise(random, law, b);
    }
}

static void test_paired(void)
{
    static const size_t sizes[] = {20, 60, 200};
    for (enum law law = GAUSS; law <= AR8; law++) {
        for (size_t s = 0; s < COUNT(sizes); s++) {
            struct random_source random = random_stream(campaign.seed, law * 10 + s);
            size_t held = 0;
            double width = 0.0;
            for (size_t run = 0; run < campaign.runs; run++) {
                struct rank_shift got;
                const double shift = run % 2 ? .03 : 0.0;
                draw_differences(&random, law, sizes[s], shift);
                rank_shift_paired(d, sizes[s], .95, &room, &got);
                held += got.lo <= shift && shift <= got.hi;
                width += got.hi - got.lo;
            }
            campaign_row("paired", campaign.runs, "%s, %zu commands", laws[law].name, sizes[s]);
            campaign_count("covered", held, campaign.runs);
            campaign_value("width_ms", 1000.0 * width / (double)campaign.runs);
            campaign_end();
            if (law <= LATE && sizes[s] == 60) {
                CHECK(laws[law].name, campaign_is_enough(held, campaign.runs, .935));
                CHECK(laws[law].name, campaign_is_few(held, campaign.runs, .975));
            } else {
                CHECK(laws[law].name, campaign_is_enough(held, campaign.runs,
                                                         law == AR8   ? .65
                                                         : law == AR5 ? .82
                                                                      : .89));
            }
        }
    }
}

struct recording {
    double rotation[N_MAX], displacement[N_MAX], time[N_MAX];
};

static struct moves_sample draw_recording(struct random_source *random, struct recording *r,
                                          size_t n, double scale, double spread, enum law law)
{
    for (size_t i = 0; i < n; i++) {
        const double kind = random_uniform(random);
        const double a = random_between(random, .26, 3.14) * scale;
        const double m = random_between(random, .05, 1.5) * scale;
        r->rotation[i] = kind < 1.0 / 3.0 ? 0.0 : a;
        r->displacement[i] = kind > 2.0 / 3.0 ? 0.0 : m;
        r->time[i] = .02 + .03 * r->rotation[i] - .05 * r->displacement[i] +
                     spread * draw_noise(random, law, 0.0);
    }
    return (struct moves_sample){r->rotation, r->displacement, r->time, n};
}

/* Equal robots: the same moves, another spread of replies, moves 60 % shorter. */
static void test_unpaired(void)
{
    static const struct {
        const char *name;
        size_t n_a, n_b;
        double scale, spread;
    } rows[] = {{"equal", 60, 60, 1.0, 1.0},
                {"spread threefold", 20, 100, 1.0, 3.0},
                {"shorter moves", 60, 60, 0.4, 1.0}};
    static struct recording in_a, in_b;
    for (size_t k = 0; k < COUNT(rows); k++) {
        /* Late replies of another spread differ in their mean, too. */
        const enum law last = rows[k].spread > 1.0 ? T3 : LATE;
        for (enum law law = GAUSS; law <= last; law++) {
            struct random_source random = random_stream(campaign.seed, 1000 + k * 10 + law);
            size_t alarms = 0;
            for (size_t run = 0; run < campaign.runs; run++) {
                double value = 0;
                double lo = 0;
                double hi = 0;
                const struct moves_sample a =
                    draw_recording(&random, &in_a, rows[k].n_a, 1.0, rows[k].spread, law);
                const struct moves_sample b =
                    draw_recording(&random, &in_b, rows[k].n_b, rows[k].scale, 1.0, law);
                alarms += same_moves_difference(&a, &b, .95, &value, &lo, &hi) &&
                          (lo > 0.0 || hi < 0.0);
            }
            campaign_row("unpaired", campaign.runs, "%s, %s", rows[k].name, laws[law].name);
            campaign_count("false_alarm", alarms, campaign.runs);
            campaign_end();
            CHECK(rows[k].name, campaign_is_few(alarms, campaign.runs, .05));
        }
    }
}

/* Shares of SYNC of 0.98 and 0.95, or both 0.9, which agree more often than by chance. */
static void test_shares(void)
{
    static const struct {
        double a, b, common; /* common: a command has one draw for both, so often */
    } rows[] = {{.9, .9, .0}, {.9, .9, .8}, {.98, .95, .5}, {.5, .6, .5}};
    static const size_t sizes[] = {20, 60, 200};
    for (size_t k = 0; k < COUNT(rows); k++) {
        for (size_t s = 0; s < COUNT(sizes); s++) {
            struct random_source random = random_stream(campaign.seed, 2000 + k * 10 + s);
            size_t held = 0;
            for (size_t run = 0; run < campaign.runs; run++) {
                struct share_pairs cells = {0};
                for (size_t i = 0; i < sizes[s]; i++) {
                    const double u = random_uniform(&random);
                    const bool one = random_uniform(&random) < rows[k].common;
                    const bool in_a = u < rows[k].a;
                    const bool in_b = (one ? u : random_uniform(&random)) < rows[k].b;
                    cells.both += in_a && in_b;
                    cells.only_a += in_a && !in_b;
                    cells.only_b += !in_a && in_b;
                    cells.neither += !in_a && !in_b;
                }
                const struct share got = share_paired_difference(&cells, .95);
                const double truth = rows[k].b - rows[k].a;
                held += got.lo <= truth && truth <= got.hi;
            }
            campaign_row("share", campaign.runs, "%g and %g, agreement %g, %zu commands",
                         rows[k].a, rows[k].b, rows[k].common, sizes[s]);
            campaign_count("covered", held, campaign.runs);
            campaign_end();
            CHECK("share", campaign_is_enough(held, campaign.runs, .935));
        }
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("compare", 20261129, 2000, 0);
    CU_ADD_TEST(suite, test_paired);
    CU_ADD_TEST(suite, test_unpaired);
    CU_ADD_TEST(suite, test_shares);
    return check_run();
}
