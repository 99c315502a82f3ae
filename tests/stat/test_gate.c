/* short: TANDEM_RUNS=60 */
/* How often tandem gate is wrong, and how soon it decides, if it is read after every command:
 * margin 5 ms, differences with a standard deviation of 20 ms, at most 400 commands
 * (docs/compare.md). */
#include "tests/support/campaign.h"

#include "base/numbers/random.h"
#include "identification/numeric/bet.h"

#include <gsl/gsl_sort.h>

enum { LONG = 800, N = 400, STEP = 10, FIXED = LONG / STEP };

static const double MARGIN = .005, SD = .02, CLIP = .04, ALPHA = .05;

enum law { GAUSS, T3, LATE, LAPS, AR3, AR5, MISSIONS };

static const char *const laws[] = {
    "Gauss",          "Student t3",     "5 % late replies", "amounts of two lags",
    "correlated 0.3", "correlated 0.5", "missions of ten"};

static double rises[LONG];
static double lap_shift; /* of the lag, so that its amount rises by `rise` */

static double draw_lag(struct random_source *random, double shift)
{
    return fabs(.02 + .015 * random_normal(random) + shift);
}

static double draw_late(struct random_source *random)
{
    return random_uniform(random) < .05 ? random_between(random, .1, .5) : 0.0;
}

/* Fills rises[n] with this mean. */
static void draw_rises(struct random_source *random, enum law law, size_t n, double rise)
{
    const double rho = law == AR3 ? .3 : .5;
    double error = 0.0;
    for (size_t i = 0; i < n; i++) {
        const double z = SD * random_normal(random);
        if (law == T3) {
            error = z / sqrt(random_chi_square(random, 3) / 3.0) / sqrt(3.0);
        } else if (law == LATE) {
            error = z + draw_late(random) - draw_late(random);
        } else if (law == AR3 || law == AR5) {
            error = i == 0 ? z : rho * error + sqrt(1.0 - rho * rho) * z;
        } else if (law == MISSIONS) {
            error = i % 10 == 0 ? .008 * random_normal(random) : error;
        } else {
            error = z;
        }
        rises[i] = law == LAPS       ? draw_lag(random, lap_shift) - draw_lag(random, 0.0)
                   : law == MISSIONS ? rise + error + z
                                     : rise + error;
    }
}

/* Finds the shift of the lag at which its cut amount rises by this much. */
static void find_lap_shift(double rise)
{
    double low = 0.0;
    double high = .03;
    for (unsigned step = 0; step < 20 && rise > 0.0; step++) {
        struct random_source random = random_stream(7, 7);
        double sum = 0.0;
        lap_shift = (low + high) / 2.0;
        for (unsigned i = 0; i < 20000; i++) {
            const double x = draw_lag(&random, lap_shift) - draw_lag(&random, 0.0);
            sum += fmin(fmax(x - rise, -CLIP), CLIP);
        }
        if (sum < 0.0) {
            low = lap_shift;
        } else {
            high = lap_shift;
        }
    }
    lap_shift = rise > 0.0 ? lap_shift : 0.0;
}

/* The units of a law: commands, or means of blocks. */
struct row {
    enum law law;
    size_t block;
    bool promised; /* wrong answers at the margin: 6.5 % at most */
};

static size_t make_units(const struct row *row, size_t n)
{
    for (size_t k = 0; k < n / row->block; k++) {
        double sum = 0.0;
        for (size_t i = 0; i < row->block; i++) {
            sum += rises[k * row->block + i];
        }
        rises[k] = sum / (double)row->block;
    }
    return n / row->block;
}

/* Returns the command at which the bet passes; n + 1: it does not. */
static size_t find_pass(const struct row *row, size_t n, size_t units)
{
    struct bet bet;
    bet_start(&bet, MARGIN, CLIP / sqrt((double)row->block), 1, row->block == 1);
    for (size_t i = 0; i < units; i++) {
        if (bet_add(&bet, rises[i], NULL) >= log(1.0 / ALPHA)) {
            return (i + 1) * row->block;
        }
    }
    return n + 1;
}

static size_t find_fail(const struct row *row, size_t n, size_t units)
{
    struct bet late[LONG / 32 + 1];
    struct bet_fail fail;
    bet_fail_start(&fail, MARGIN, CLIP / sqrt((double)row->block), row->block == 1, late);
    for (size_t i = 0; i < units; i++) {
        bet_fail_add(&fail, rises[i]);
        if (fail.log_e >= log(1.0 / ALPHA)) {
            return (i + 1) * row->block;
        }
    }
    return n + 1;
}

/* One-sided t tests of the same cut values, each at one number of commands, all of one draw. */
static void count_fixed(const struct row *row, size_t units, size_t rejected[FIXED])
{
    const double clip = CLIP / sqrt((double)row->block);
    double sum = 0.0;
    double squares = 0.0;
    for (size_t i = 0; i < units; i++) {
        const double x = fmin(fmax(rises[i] - MARGIN, -clip), clip);
        const double n = (double)(i + 1);
        sum += x;
        squares += x * x;
        if ((i + 1) * row->block % STEP == 0 && i > 1) {
            const double sd = sqrt((squares - sum * sum / n) / (n - 1.0));
            rejected[(i + 1) * row->block / STEP - 1] +=
                -sum / n / sd * sqrt(n) > gsl_cdf_tdist_Pinv(1.0 - ALPHA, n - 1.0);
        }
    }
}

/* Mean number of commands to pass with this probability, over that of the fixed test. */
static double find_ratio(double *first, const size_t rejected[FIXED], double power)
{
    double sum = 0.0;
    const size_t runs = campaign.runs;
    gsl_sort(first, 1, runs);
    const double last = first[(size_t)ceil(power * (double)runs) - 1];
    size_t n = 0;
    for (size_t i = 0; i < runs; i++) {
        sum += fmin(first[i], last);
    }
    while (n < FIXED && (double)rejected[n] < power * (double)runs) {
        n++;
    }
    return last > LONG || n == FIXED ? (double)NAN
                                     : sum / (double)runs / (double)((n + 1) * STEP);
}

struct counts {
    size_t wrong_pass, wrong_fail, equal_fail, pass[3], fail[3];
};

static void draw_row(const struct row *row, struct random_source *random, double *first,
                     struct counts *c, size_t rejected[FIXED], size_t run)
{
    static const size_t limits[] = {100, 200, 400};
    find_lap_shift(0.0);
    draw_rises(random, row->law, LONG, 0.0);
    const size_t all = make_units(row, LONG);
    const size_t passed = find_pass(row, LONG, all);
    count_fixed(row, all, rejected);
    first[run] = (double)passed;
    c->equal_fail += find_fail(row, N, N / row->block) <= N;
    lap_shift = row->law == LAPS ? first[campaign.runs] : 0.0;
    draw_rises(random, row->law, N, MARGIN);
    const size_t at_margin = make_units(row, N);
    c->wrong_pass += find_pass(row, N, at_margin) <= N;
    c->wrong_fail += find_fail(row, N, at_margin) <= N;
    lap_shift = row->law == LAPS ? first[campaign.runs + 1] : 0.0;
    draw_rises(random, row->law, N, 2.0 * MARGIN);
    const size_t failed = find_fail(row, N, make_units(row, N));
    for (size_t k = 0; k < COUNT(limits); k++) {
        c->pass[k] += passed <= limits[k];
        c->fail[k] += failed <= limits[k];
    }
}

static void check_row(const struct row *row, const struct counts *c, double ratio)
{
    CHECK(laws[row->law], campaign_is_few(c->equal_fail, campaign.runs, .02));
    if (row->promised) {
        CHECK(laws[row->law], campaign_is_few(c->wrong_pass, campaign.runs, .065));
        CHECK(laws[row->law], campaign_is_few(c->wrong_fail, campaign.runs, .065));
    }
    if (row->law == GAUSS) {
        CHECK("equal versions pass by 200", campaign_is_enough(c->pass[1], campaign.runs, .8));
        CHECK("half of the fixed test", ratio <= .5 + campaign_slack(.1));
    }
}

static void test_metric(void)
{
    static const struct row rows[] = {
        {GAUSS, 1, true},     {T3, 1, true},       {LATE, 1, true}, {LAPS, 1, true},
        {AR3, 1, true},       {AR3, 10, true},     {AR5, 1, false}, {AR5, 10, true},
        {MISSIONS, 1, false}, {MISSIONS, 10, true}};
    double *first = malloc((campaign.runs + 2) * sizeof *first);
    CHECK("memory", first != NULL);
    find_lap_shift(MARGIN);
    first[campaign.runs] = lap_shift;
    find_lap_shift(2.0 * MARGIN);
    first[campaign.runs + 1] = lap_shift;
    for (size_t k = 0; k < COUNT(rows); k++) {
        struct random_source random = random_stream(campaign.seed, k);
        struct counts c = {0};
        size_t rejected[FIXED] = {0};
        for (size_t run = 0; run < campaign.runs; run++) {
            draw_row(&rows[k], &random, first, &c, rejected, run);
        }
        const double ratio = find_ratio(first, rejected, .99);
        campaign_row("read_always", campaign.runs, "%s, %s", laws[rows[k].law],
                     rows[k].block == 1 ? "commands" : "blocks of 10");
        campaign_count("wrong_pass", c.wrong_pass, campaign.runs);
        campaign_count("wrong_fail", c.wrong_fail, campaign.runs);
        campaign_count("equal_fail", c.equal_fail, campaign.runs);
        campaign_count("pass_100", c.pass[0], campaign.runs);
        campaign_count("pass_200", c.pass[1], campaign.runs);
        campaign_count("pass_400", c.pass[2], campaign.runs);
        campaign_count("fail_100", c.fail[0], campaign.runs);
        campaign_count("fail_200", c.fail[1], campaign.runs);
        campaign_count("fail_400", c.fail[2], campaign.runs);
        campaign_end();
        (void)printf("  mean commands to pass over the fixed test of power 0.99: %.2f\n",
                     ratio);
        check_row(&rows[k], &c, ratio);
    }
    free(first);
}

/* Twenty metrics at the margin: some fail, among 300 commands. */
static void test_merged(void)
{
    enum { METRICS = 20, COMMANDS = 300 };
    static double log_e[METRICS];
    struct bet_fail fail[METRICS];
    static struct bet late[METRICS][COMMANDS / 32 + 1];
    struct random_source random = random_stream(campaign.seed, 99);
    const size_t runs = campaign.runs / 4 > 0 ? campaign.runs / 4 : 1;
    size_t alone = 0;
    size_t merged = 0;
    for (size_t run = 0; run < runs; run++) {
        bool any_alone = false;
        bool any_merged = false;
        for (size_t m = 0; m < METRICS; m++) {
            bet_fail_start(&fail[m], MARGIN, CLIP, true, late[m]);
        }
        for (size_t i = 0; i < COMMANDS; i++) {
            double most = -HUGE_VAL;
            for (size_t m = 0; m < METRICS; m++) {
                bet_fail_add(&fail[m], MARGIN + SD * random_normal(&random));
                log_e[m] = fail[m].log_e;
                most = fmax(most, log_e[m]);
            }
            any_alone = any_alone || most >= log(1.0 / ALPHA);
            any_merged = any_merged || most >= bet_merge(log_e, METRICS, ALPHA);
        }
        alone += any_alone;
        merged += any_merged;
    }
    campaign_row("merged", runs, "twenty metrics at the margin");
    campaign_count("each_alone", alone, runs);
    campaign_count("merged", merged, runs);
    campaign_end();
    CHECK("merged", campaign_is_few(merged, runs, ALPHA));
}

int main(void)
{
    CU_pSuite suite = campaign_open("gate", 20261129, 1000, 0);
    CU_ADD_TEST(suite, test_metric);
    CU_ADD_TEST(suite, test_merged);
    return check_run();
}
