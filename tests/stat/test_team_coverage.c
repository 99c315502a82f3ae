/* needs: full */
/* How often is the time that a team takes within the predicted P05..P95? Robots are calibrated
 * on moves of known truth, the team is predicted from that, and runs once in truth
 * (docs/model/teams.md, "Simulation"). TANDEM_RUNS: trials a row, default 60; more than 60 are
 * predicted from 1000 runs each. */
#include "tests/support/campaign.h"
#include "tests/support/team_cell.h"

#include <gsl/gsl_linalg.h>

#include "twin/team/step/team_predict.h"
#include "twin/team/step/team_statistics.h"

enum { TRIALS = 60, DRAWS = 300, DRAWS_MAX = 2000, MOVES_MAX = 200, ROBOTS = 2 };

static struct cell cell;
static size_t draws = DRAWS;

/* Turns, ways and both in turns, of any size, as a robot would be driven to learn. */
static void make_moves(struct random_source *random, const struct cell_truth *truth,
                       struct travel_move *moves, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        double row[TRAVEL_P];
        struct travel_move *m = &moves[i];
        m->rotation_rad = i % 3 != 1 ? random_between(random, 0.3, 3.1) : 0.0;
        m->displacement_m = i % 3 != 0 ? random_between(random, 0.2, 1.5) : 0.0;
        travel_row(m->rotation_rad, m->displacement_m, row);
        m->lap_s = truth->sd_s * random_normal(random);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            m->lap_s += row[j] * truth->beta[j];
        }
    }
}

/* The truth: parameters that are known, and noise. */
static struct travel_fit true_fit(const struct cell_truth *truth)
{
    struct travel_fit fit;
    travel_fit_start(&fit, TRAVEL_TURNS_AND_DRIVES);
    fit.n = 1000000000;
    fit.freedom = fit.n - TRAVEL_P;
    fit.residual_s_sd = fit.rmse_s = truth->sd_s;
    fit.ls = (struct robust_ls_fit){.n = fit.n, .p = TRAVEL_P, .rank = TRAVEL_P};
    memcpy(fit.ls.beta, truth->beta, sizeof truth->beta);
    return fit;
}

struct bench {
    struct team_prediction *tp;
    struct team_draw *draw;
    struct team_simulator *simulator;
    /* Draws new parameters for each move, which is wrong. */
    struct travel_fit fit[ROBOTS];
    double root[ROBOTS][TRAVEL_P * TRAVEL_P];
    struct random_source random;
};

static struct bench make_bench(void)
{
    struct bench b = {.tp = malloc(team_prediction_bytes(&cell.p)),
                      .simulator = malloc(team_simulator_bytes(&cell.p))};
    CU_ASSERT_FATAL(b.tp && b.simulator);
    b.tp = team_prediction_init(b.tp, &cell.p);
    b.simulator = team_simulator_init(b.simulator, &cell.p);
    b.draw = malloc(team_draw_bytes(&cell.p));
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.draw);
    b.draw = team_draw_init(b.draw, b.tp);
    for (uint16_t r = 0; r < ROBOTS; r++) {
        const struct team_pose origin = {0.0, 0.0, 0.0};
        team_predict_pose(b.tp, r, &origin);
    }
    return b;
}

static void free_bench(struct bench *b)
{
    free(b->tp);
    free(b->draw);
    free(b->simulator);
}

static void learn_robot(struct bench *b, uint16_t robot, const struct travel_fit *fit)
{
    double *root = b->root[robot];
    CU_ASSERT_EQUAL_FATAL(team_predict_moves(b->tp, robot, fit), STATUS_OK);
    b->fit[robot] = *fit;
    for (size_t i = 0; i < TRAVEL_P * TRAVEL_P; i++) {
        root[i] = fit->ls.covariance[i / TRAVEL_P][i % TRAVEL_P];
    }
    gsl_matrix_view view = gsl_matrix_view_array(root, TRAVEL_P, TRAVEL_P);
    (void)gsl_linalg_cholesky_decomp1(&view.matrix);
}

/* Draws each move as if a robot of its own made it. */
static bool ask_each(void *context, const struct team_effect *start, struct team_lap *lap)
{
    static const size_t legs[] = {0, 3, 1, 2, 4}; /* of a part; 3: PickPrt, 4: PlacePrt */
    struct bench *b = context;
    const size_t leg = legs[(start->n - 1) % COUNT(legs)];
    const struct travel_fit *fit = &b->fit[start->robot];
    double lap_s = leg == 3 ? 2.0 : 1.5;
    if (leg < 3) {
        double row[TRAVEL_P];
        double z[TRAVEL_P];
        const double t =
            sqrt((double)fit->freedom / random_chi_square(&b->random, (uint32_t)fit->freedom));
        travel_row(CELL_LEGS[leg][0], CELL_LEGS[leg][1], row);
        lap_s = fit->residual_s_sd * random_normal(&b->random);
        for (size_t j = 0; j < TRAVEL_P; j++) {
            z[j] = t * random_normal(&b->random);
            lap_s += row[j] * fit->ls.beta[j];
            for (size_t k = 0; k <= j; k++) {
                lap_s += row[j] * b->root[start->robot][j * TRAVEL_P + k] * z[k];
            }
        }
    } else {
        lap_s += 0.1 * random_normal(&b->random);
    }
    *lap = (struct team_lap){.answers = true, .lap_us = lab_us(fmax(lap_s, 0.0))};
    return true;
}

static double run_once(struct bench *b, bool each, uint64_t stream, uint64_t k)
{
    const struct team_scenario scenario = {.params = &cell.p,
                                           .ask = each ? ask_each : team_draw_lap,
                                           .context = each ? (void *)b : b->draw,
                                           .horizon_us = INT64_C(86400) * 1000000};
    const struct team_effects nobody = {NULL, NULL};
    struct team_run run;
    b->random = random_stream(stream, k);
    team_draw_begin(b->draw, stream, k);
    team_simulate(b->simulator, &scenario, &nobody, &run);
    CU_ASSERT_EQUAL_FATAL(run.end, TEAM_RUN_FINISHED);
    return lab_s(run.makespan_us);
}

static void predict_makespans(struct bench *b, bool each, uint64_t stream,
                              struct team_distribution *d)
{
    static double makespans_s[DRAWS_MAX];
    for (size_t k = 0; k < draws; k++) {
        makespans_s[k] = run_once(b, each, stream, k);
    }
    team_distribution_find(makespans_s, draws, d);
}

/* Trials within, and how wide P05..P95 is on average: parameters drawn once a run, and drawn
 * for each move. */
struct outcome {
    size_t inside[2];
    double width_s[2];
};

static struct outcome repeat_runs(size_t moves_count, enum travel_method method)
{
    struct outcome out = {0};
    struct bench guess = make_bench();
    struct bench truth = make_bench();
    struct random_source random = random_stream(campaign.seed, moves_count);
    for (uint16_t r = 0; r < ROBOTS; r++) {
        const struct travel_fit fit = true_fit(&CELL_FITS[r]);
        learn_robot(&truth, r, &fit);
    }
    for (size_t trial = 0; trial < campaign.runs; trial++) {
        for (uint16_t r = 0; r < ROBOTS; r++) {
            struct travel_move moves[MOVES_MAX];
            struct travel_fit fit;
            make_moves(&random, &CELL_FITS[r], moves, moves_count);
            CU_ASSERT_EQUAL_FATAL(
                travel_time_fit(moves, moves_count, TRAVEL_TURNS_AND_DRIVES, method, &fit),
                STATUS_OK);
            learn_robot(&guess, r, &fit);
        }
        const uint64_t stream = (uint64_t)campaign.seed * 1000003 + trial * 1009 + moves_count;
        const double took_s = run_once(&truth, false, stream + 1, UINT32_MAX);
        for (int each = 0; each < 2; each++) {
            struct team_distribution d;
            predict_makespans(&guess, each, stream, &d);
            out.inside[each] += d.p05.value <= took_s && took_s <= d.p95.value;
            out.width_s[each] += (d.p95.value - d.p05.value) / (double)campaign.runs;
        }
    }
    free_bench(&guess);
    free_bench(&truth);
    return out;
}

static void test_predicted_intervals_hold(void)
{
    static const size_t moves[] = {10, 20, 60, 200};
    cell_transport(&cell, ROBOTS, false);
    const size_t runs = campaign.runs;
    for (size_t i = 0; i < COUNT(moves); i++) {
        const struct outcome o = repeat_runs(moves[i], TRAVEL_OLS);
        char name[32];
        (void)snprintf(name, sizeof name, "%zu moves", moves[i]);
        campaign_row("predictions", runs, "%s", name);
        campaign_count("inside", o.inside[0], runs);
        campaign_value("width_s", o.width_s[0]);
        campaign_count("inside_each", o.inside[1], runs);
        campaign_value("width_each_s", o.width_s[1]);
        campaign_end();
        CHECK(name, campaign_is_enough(o.inside[0], runs, 0.85));
        CHECK(name, campaign_is_few(o.inside[0], runs, 0.95));
        /* After few moves the coverage, too, distinguishes the wrong method from the right
         * one. */
        CHECK("each move is too narrow", o.width_s[1] < o.width_s[0]);
        CHECK("and does not hold",
              moves[i] > 10 || !campaign_is_enough(o.inside[1], runs, 0.85));
    }
}

int main(void)
{
    CU_pSuite suite = campaign_open("team_coverage", 11, TRIALS, 0);
    draws = campaign.runs > TRIALS ? 1000 : DRAWS;
    CU_add_test(suite, "predicted intervals hold", test_predicted_intervals_hold);
    return check_run();
}
