/* needs: full */
/* How often fits in sequence find and name a change of a vessel's parameters, under unmeasured
 * forces and without, and how often they report one where there is none (docs/model/online.md).
 * Fits of windows of 200 s each 300 s, as the lab would make them; the vessel changes between
 * the second and the third. TANDEM_RUNS: draws (default 2, one of them under forces: d4 x 2);
 * TANDEM_SHOW prints each fit. */
#include "tests/support/campaign.h"

#include "base/numbers/random.h"
#include "identification/dynamics/dynamics_change.h"
#include "identification/dynamics/dynamics_estimate.h"
#include "tests/support/usv_truth.h"

enum { N = USV3_AXES, P = USV3_PARAMETERS, HZ = 10, DRIVE_S = 1000, ALL = DRIVE_S * HZ };
enum { WINDOW_S = 200, FITS = 4, BEFORE = 2 };
static const int fit_s[FITS] = {100, 400, 700, 1000};
static const double LEVEL = 0.5 * 300.0 / 86400.0; /* as twin/dynamics has it */

static const double truth[P] = {60.0, 75.0, 24.5, 18.0, 22.0, 30.0, 40.0, 19.0, 10.0};
static const double noise_sd[N] = {0.02, 0.01, 0.008};
static const double force_sd[N] = {3.0, 3.0, 1.5};
static const double effort_low[N] = {-25.0, -25.0, -18.0};
static const double effort_high[N] = {55.0, 25.0, 18.0};

static double t_s[ALL], tau[N][ALL], measured[N][ALL];
static uint64_t state;

/* Changes of the vessel: its parameters, and the share of its efforts that arrives. */
struct vessel {
    double theta[P];
    double gain[N];
};

static const struct row {
    const char *name;
    size_t parameter; /* P: none */
    double ratio;
    size_t second; /* that changes alike; P: none */
    size_t effort; /* of which this share arrives; N: none */
    double gain;
    bool with_forces;
    bool promised; /* to be found and named */
    size_t every;  /* draw, by hand */
} rows[] = {
    {"d4 x 2, forces", 3, 2.0, P, N, 1.0, true, true, 1},
    {"none, forces", P, 1.0, P, N, 1.0, true, false, 1},
    {"d4 x 1.5, forces", 3, 1.5, P, N, 1.0, true, false, 1},
    {"d4 x 1.2, forces", 3, 1.2, P, N, 1.0, true, false, 8},
    {"payload + 15 %, forces", DYNAMICS_PAYLOAD, 1.15, P, N, 1.0, true, false, 8},
    {"none", P, 1.0, P, N, 1.0, false, false, 1},
    {"d4 x 1.5", 3, 1.5, P, N, 1.0, false, true, 1},
    {"d4 and d8 x 1.5", 3, 1.5, 7, N, 1.0, false, true, 4},
    {"d1 x 1.3", 0, 1.3, P, N, 1.0, false, true, 4},
    {"d2 x 1.3", 1, 1.3, P, N, 1.0, false, true, 4},
    {"payload + 30 %", DYNAMICS_PAYLOAD, 1.3, P, N, 1.0, false, true, 4},
    {"surge effort x 0.8", DYNAMICS_EFFECT, 1.0, P, 0, 0.8, false, false, 20},
    {"yaw effort x 0.8", DYNAMICS_EFFECT + 2, 1.0, P, 2, 0.8, false, true, 20},
};

static struct vessel change_vessel(const struct row *row)
{
    struct vessel vessel = {.gain = {1.0, 1.0, 1.0}};
    for (size_t j = 0; j < P; j++) {
        const bool moves = j == row->parameter || j == row->second ||
                           (row->parameter == DYNAMICS_PAYLOAD && j < 3);
        vessel.theta[j] = truth[j] * (moves ? row->ratio : 1.0);
    }
    if (row->effort < N) {
        vessel.gain[row->effort] = row->gain;
    }
    return vessel;
}

/* The same efforts, noise and forces for every change. It comes at any time between the second
 * fit and the third, which is within the window of the third two times of three. Without forces
 * the filter reports a change within a minute and the window restarts there; then it comes
 * before that window. */
static void drive_vessel(const struct vessel *changed, bool with_forces, uint64_t seed)
{
    struct random_source when = {.state = ~seed};
    const double change_s =
        random_between(&when, fit_s[BEFORE - 1], fit_s[BEFORE] - (with_forces ? 0 : WINDOW_S));
    struct random_source source = {.state = seed};
    double nu[N] = {0.0};
    double pose[N] = {0.0};
    double force[N] = {0.0};
    double effort[N] = {0.0};
    int until[N] = {0};
    const double retained = exp(-1.0 / HZ);
    for (int k = 0; k < ALL; k++) {
        double acting[N];
        const bool is_new = k >= change_s * HZ;
        t_s[k] = (double)k / HZ;
        for (size_t i = 0; i < N; i++) {
            if (k >= until[i]) {
                until[i] = k + (int)random_between(&source, 2.0 * HZ, 6.5 * HZ);
                effort[i] = random_between(&source, effort_low[i], effort_high[i]);
            }
            force[i] = retained * force[i] +
                       sqrt(1.0 - retained * retained) * force_sd[i] * random_normal(&source);
            acting[i] =
                effort[i] * (is_new ? changed->gain[i] : 1.0) + (with_forces ? force[i] : 0.0);
            measured[i][k] = nu[i] + noise_sd[i] * random_normal(&source);
            tau[i][k] = effort[i];
        }
        for (int f = 0; f < 4; f++) {
            model_step(&usv3_model, is_new ? changed->theta : truth, nu, pose, acting, NULL,
                       0.25 / HZ);
        }
    }
}

/* Fits that the lab compares: output error if its residuals are white, else pem. */
static struct dynamics_reference fit_window(size_t i, bool with_forces)
{
    static struct dynamics_fit fit;
    const size_t from = fit_s[i] > WINDOW_S ? (size_t)(fit_s[i] - WINDOW_S) * HZ : 0;
    const struct dynamics_options options = dynamics_options_defaults();
    struct dynamics_reference out;
    struct data_set set = {.axes = N,
                           .n = (size_t)fit_s[i] * HZ - from,
                           .dt_s = 1.0 / HZ,
                           .t_s = t_s + from,
                           .run_count = 1};
    set.run_start[1] = set.n;
    for (size_t a = 0; a < N; a++) {
        set.nu[a] = measured[a] + from;
        set.tau[a] = tau[a] + from;
    }
    if (!with_forces) {
        CHECK("fit", dynamics_estimate(&usv3_model, &set, DYNAMICS_OUTPUT_ERROR, &options,
                                       &fit) == STATUS_OK);
    }
    if (with_forces || fit.hac_share > 0.0) {
        CHECK("fit",
              dynamics_estimate(&usv3_model, &set, DYNAMICS_PEM, &options, &fit) == STATUS_OK);
    }
    dynamics_reference_from_fit(&out, &fit);
    return out;
}

/* Counts of one row. found: by the first fit after the change, by the second; early: before
 * it. */
static struct tally {
    size_t draws, early, found[FITS - BEFORE], right, either, followed, more, held;
} tallies[COUNT(rows)];

/* The lab's memory of a robot's fits (twin/dynamics/pair_dynamics_drift.c). */
struct watch {
    struct dynamics_reference reference;
    signed char moved[DYNAMICS_DIRECTIONS];
    bool settling;
    bool doubted;
};

static bool reports_change(struct watch *w, const struct dynamics_reference *newer,
                           struct dynamics_change *change)
{
    CHECK("compared", dynamics_change_find(&usv3_model, &w->reference, newer,
                                           w->settling ? w->moved : NULL, LEVEL, 0.05, change));
    if (getenv("TANDEM_SHOW")) {
        for (size_t i = 0; i < change->count; i++) {
            (void)printf(" %zu (or %zu) by %+.2f, z %.1f", change->parameter[i],
                         change->rival[i], change->after[i] / change->before[i] - 1.0,
                         change->z[i]);
        }
        (void)printf("\n");
    }
    /* If several changed, the next fit decides. */
    if (change->count > 1 && !w->doubted) {
        w->doubted = true;
        return false;
    }
    w->doubted = false;
    if (change->count == 0 && !w->settling) {
        dynamics_reference_join(&w->reference, newer);
        return false;
    }
    w->reference = *newer;
    w->settling = change->count > 0;
    memset(w->moved, 0, sizeof w->moved);
    for (size_t i = 0; i < change->count; i++) {
        w->moved[change->parameter[i]] = change->after[i] > change->before[i] ? 1 : -1;
    }
    return change->count > 0;
}

static bool names_row(const struct row *row, const struct dynamics_change *change)
{
    bool first = false;
    bool second = row->second == P;
    for (size_t i = 0; i < change->count; i++) {
        first = first || change->parameter[i] == row->parameter;
        second = second || change->parameter[i] == row->second;
    }
    return first && second && change->count == (row->second == P ? 1 : 2);
}

/* Judges the report after each of the last fits. to_end: also after the first report, which
 * must be the only one.
 */
static void judge_draw(const struct row *row, struct watch watch, uint64_t seed, bool to_end,
                       struct tally *t)
{
    const struct vessel changed = change_vessel(row);
    struct dynamics_change change;
    size_t reported = 0;
    drive_vessel(&changed, row->with_forces, seed);
    t->draws++;
    for (size_t i = BEFORE; i < FITS && (reported == 0 || to_end); i++) {
        const struct dynamics_reference newer = fit_window(i, row->with_forces);
        t->held++;
        t->followed += reported;
        if (!reports_change(&watch, &newer, &change)) {
            continue;
        }
        if (reported++ == 0) {
            t->found[i - BEFORE]++;
            t->right += names_row(row, &change) ? 1 : 0;
            t->either += change.count == 1 && change.rival[0] == row->parameter ? 1 : 0;
        } else {
            t->more++;
        }
    }
}

/* The fits before a change are those of all rows. */
static void draw_worlds(size_t run, bool with_forces, bool all, uint64_t seed)
{
    const struct vessel same = change_vessel(&rows[1]);
    struct watch watch = {.settling = false};
    struct dynamics_change change;
    drive_vessel(&same, with_forces, seed);
    watch.reference = fit_window(0, with_forces);
    const struct dynamics_reference second = fit_window(1, with_forces);
    const bool early = reports_change(&watch, &second, &change);
    /* A change reported there is not the simulated one. */
    watch.settling = false;
    for (size_t r = 0; r < (all ? COUNT(rows) : 1); r++) {
        if (rows[r].with_forces == with_forces && run % rows[r].every == 0) {
            if (getenv("TANDEM_SHOW")) {
                (void)printf("%s\n", rows[r].name);
            }
            tallies[r].early += early;
            judge_draw(&rows[r], watch, seed, rows[r].parameter == P || run % 4 == 0,
                       &tallies[r]);
        }
    }
}

/* One false report a day of driving, with this number of fits. */
static const double FALSE_SHARE = 300.0 / 86400.0;

static void judge_row(const struct row *row, const struct tally *t)
{
    const size_t found = t->found[0] + t->found[1];
    campaign_row("changes", t->draws, "%s", row->name);
    campaign_count("before", t->early, t->draws);
    campaign_count("first_fit", t->found[0], t->draws);
    campaign_count("within_two", found, t->draws);
    campaign_count("right", t->right, found);
    campaign_count("as_rival", t->either, found);
    campaign_count("again", t->more, t->followed);
    campaign_count("of_fits", found + t->more, t->held);
    campaign_end();
    CHECK(row->name, campaign_is_few(t->early, t->draws, FALSE_SHARE));
    if (row->parameter == P) {
        CHECK(row->name, campaign_is_few(found + t->more, t->held, FALSE_SHARE));
    } else if (row->promised) {
        CHECK(row->name, campaign_is_enough(found, t->draws, 0.95));
        CHECK(row->name, campaign_is_enough(t->right, found, 0.95));
        CHECK(row->name, campaign_is_few(t->more, t->followed, 0.05));
    }
}

static void test_rows(void)
{
    const bool all = getenv("TANDEM_RUNS") != NULL;
    state = UINT64_C(0x9E3779B97F4A7C15) * campaign.seed;
    for (size_t run = 0; run < campaign.runs; run++) {
        state += UINT64_C(0xD1B54A32D192ED03);
        if (all || run == 0) {
            draw_worlds(run, true, all, state);
        }
        draw_worlds(run, false, true, state);
    }
    for (size_t r = 0; r < COUNT(rows); r++) {
        if (tallies[r].draws > 0) {
            judge_row(&rows[r], &tallies[r]);
        }
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("drift", 1, 2, 0);
    CU_add_test(suite, "changes", test_rows);
    return check_run();
}
