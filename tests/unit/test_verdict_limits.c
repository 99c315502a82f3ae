/* Both sides of limits: fits without a fault, with one number just inside its limit and just
 * outside. A wrong recording mostly has several reasons, so that it does not show whether one
 * of them works. */
#include "base/numbers/constants.h"
#include "base/numbers/random.h"
#include "identification/arm/arm_friction_parts.h"
#include "identification/arm/arm_kinematics_parts.h"
#include "identification/data/data_view.h"
#include "identification/data/outlier_samples.h"
#include "identification/dynamics/dynamics_agreement.h"
#include "identification/dynamics/dynamics_estimate_parts.h"
#include "identification/dynamics/dynamics_verdict.h"
#include "identification/dynamics/unmodelled_term.h"
#include "identification/model/models.h"
#include "identification/odometry/odometry_parts.h"
#include "identification/travel/travel_held_out.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_time.h"
#include "tests/support/check.h"

enum { P = ESTIMATE_PASS, M = ESTIMATE_MARGINAL, F = ESTIMATE_FAIL };

/* A number at *number, or a count at *count, on both sides of a limit, and the verdicts there.
 */
struct limit {
    const char *name;
    double *number;
    size_t *count;
    double inside, outside;
    int verdict_inside, verdict_outside;
};

static void set_limit(const struct limit *limit, bool outside)
{
    const double value = outside ? limit->outside : limit->inside;
    if (limit->count) {
        *limit->count = (size_t)value;
    } else {
        *limit->number = value;
    }
}

static void check_limits(const struct limit *limits, size_t n, void (*start)(void),
                         int (*judge)(void))
{
    for (size_t i = 0; i < n; i++) {
        start();
        set_limit(&limits[i], false);
        CHECK_INT(limits[i].name, judge(), limits[i].verdict_inside);
        start();
        set_limit(&limits[i], true);
        CHECK_INT(limits[i].name, judge(), limits[i].verdict_outside);
    }
}

/* All parameters 1 +- 0.01. */
static void set_known(struct estimate *e)
{
    for (size_t i = 0; i < e->p; i++) {
        estimate_set(e, i, 1.0, 0.01, HUGE_VAL);
        e->covariance[i][i] = 1e-4;
        e->identifiable[i] = true;
    }
    e->rank = e->p;
    e->condition = 1.0;
}

/* ---- friction of an arm's joints ---- */

static struct arm_friction_fit friction;
static struct arm_friction_joint *const joint = &friction.joint[0];
static struct arm_friction_thirds thirds;
static struct arm_friction_summary rows;

static void start_friction(void)
{
    arm_friction_fit_start(&friction);
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        struct arm_friction_joint *each = &friction.joint[j];
        set_known(&each->estimate);
        each->own = each->held_out = (struct arm_friction_check){1000, 1.0, 0.99};
        each->speed_max_radps = each->current_max_a = each->angle_max_rad = 1.0;
        each->rate_ratio = each->rate_r2 = 1.0;
        each->missing =
            (struct arm_friction_unmodelled){"a term", j == 1 ? 0 : ARM_JOINTS, 0.0};
    }
    thirds = (struct arm_friction_thirds){.count = 3, .current_sd_a = 1.0};
    for (size_t i = 0; i < ARM_FRICTION_P_MAX; i++) {
        thirds.effect_a[i] = 0.01;
        for (size_t k = 0; k < ARM_FRICTION_PARTS; k++) {
            thirds.each[i][k] = (struct estimate_of_one){1.0, 0.01, HUGE_VAL};
        }
    }
    rows = (struct arm_friction_summary){.rows = 1000};
}

static int judge_friction(void)
{
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        arm_friction_judge_joint(&friction.joint[j], j, &thirds, true);
    }
    arm_friction_judge_whole(&friction, &rows);
    arm_friction_judge_held_out(&friction);
    return (int)friction.whole.verdict;
}

static void test_friction(void)
{
    const struct limit limits[] = {
        {"SPEED_MIN_RADPS", &joint->speed_max_radps, NULL, 0.051, 0.049, P, F},
        {"RATE_R2_MIN", &joint->rate_r2, NULL, 0.951, 0.949, P, F},
        {"RATE_OFF_MAX", &joint->rate_ratio, NULL, 1.029, 1.031, P, F},
        {"SE_RATIO_MAX", &joint->estimate.se[0], NULL, 0.49, 0.51, P, M},
        {"R2_MARGINAL", &joint->own.r2, NULL, 0.71, 0.69, P, M},
        {"R2_FAIL", &joint->own.r2, NULL, 0.21, 0.19, M, F},
        {"MISSING_OWN", &joint->missing.share, NULL, 0.19, 0.21, P, M},
        {"MISSING_OTHER", &joint[1].missing.share, NULL, 0.24, 0.26, P, M},
        {"OTHER_FAIL", &joint[1].missing.share, NULL, 0.59, 0.61, M, F},
        {"CURRENT_A_MAX", &joint->current_max_a, NULL, 79.0, 81.0, P, M},
        {"CURRENT_MARGINAL", &joint->held_out.rmse_a, NULL, 1.29, 1.31, P, M},
        {"HELD_OUT_FAIL", &joint->held_out.rmse_a, NULL, 2.9, 3.1, M, F},
        {"LOST_RATIO_MARGINAL", NULL, &rows.incomplete, 199, 201, P, M},
        {"UNEVEN_MAX", &rows.uneven_ratio, NULL, 0.29, 0.31, P, M},
    };
    check_limits(limits, COUNT(limits), start_friction, judge_friction);
}

/* An error of a third of the value, or a third of the recording that differs by a tenth: the
 * effect on the current decides as well. */
static void start_uncertain(void)
{
    start_friction();
    joint->estimate.se[1] = 0.3;
    thirds.effect_a[1] = 1.0;
}

static void start_apart(void)
{
    start_friction();
    thirds.effect_a[1] = 10.0;
    thirds.each[1][2].value = 1.1;
}

static void test_friction_effects(void)
{
    const struct limit uncertain[] = {
        {"SE_RATIO_MARGINAL", &joint->estimate.se[1], NULL, 0.24, 0.26, P, M},
        {"SE_EFFECT", &thirds.effect_a[1], NULL, 0.16, 0.17, P, M},
    };
    /* The spread beyond the errors is 0.0566. Chi squared of two degrees of freedom has a
     * chance of 1e-3 / 24 at 20.17, where a third is off by 0.055. */
    const struct limit apart[] = {
        {"PARTS_EFFECT", &thirds.effect_a[1], NULL, 0.52, 0.54, P, M},
        {"PARTS_CHANCE", &thirds.each[1][2].value, NULL, 1.0545, 1.0555, P, M},
    };
    check_limits(uncertain, COUNT(uncertain), start_uncertain, judge_friction);
    check_limits(apart, COUNT(apart), start_apart, judge_friction);
}

/* ---- links of an arm ---- */

static struct arm_kinematics_fit links;
static double *const flange = &links.correction[6 * (ARM_JOINTS - 1)];

static void start_links(void)
{
    arm_kinematics_fit_start(&links);
    set_known(&links.estimate);
    links.n = 1000;
    links.converged = true;
    links.explained[0] = '\0';
    links.tool_m = 0.0;
    links.noise_m = links.room_se_m = links.tool_se_m = 1e-4;
    links.held_out = (struct arm_kinematics_check){.n = 1000, .rms_m = 1e-4};
    links.outliers = 0;
    memset(links.correction, 0, sizeof links.correction);
}

static void start_few_poses(void)
{
    start_links();
    links.n = 60;
}

static int judge_links(void)
{
    arm_kinematics_judge(&links, true);
    arm_kinematics_judge_held_out(&links);
    return (int)links.estimate.verdict;
}

static void test_links(void)
{
    /* Held out, sqrt(3 + 1) times 1e-4 m are expected. */
    const struct limit limits[] = {
        {"LINK_M_MAX", &links.correction[0], NULL, 0.0099, 0.0101, P, M},
        {"LINK_RAD_MAX", &links.correction[3], NULL, 0.029, 0.031, P, M},
        {"FLANGE_M_MAX", &flange[2], NULL, 0.0019, 0.0021, P, M},
        {"FLANGE_RAD_MAX", &flange[3], NULL, 0.019, 0.021, P, M},
        {"POSES_CONDITION", &links.estimate.condition, NULL, 990, 1010, P, M},
        {"TOOL_SE_M_MARGINAL", &links.room_se_m, NULL, 4.9e-4, 5.1e-4, P, M},
        {"NOISE_M_MARGINAL", &links.noise_m, NULL, 0.0019, 0.0021, P, M},
        {"NOISE_M_FAIL", &links.noise_m, NULL, 0.0099, 0.0101, M, F},
        {"RHO_MAX", &links.neighbour_rho, NULL, 0.149, 0.151, P, M},
        {"OUTLIER_RATIO_MARGINAL", NULL, &links.outliers, 49, 51, P, M},
        {"HELD_OUT_FAIL", &links.held_out.rms_m, NULL, 5.9e-4, 6.1e-4, M, F},
    };
    /* 4 / sqrt(360) = 0.211 happens by chance in 60 poses. */
    const struct limit few[] = {{"RHO_SD", &links.neighbour_rho, NULL, 0.209, 0.213, P, M}};
    check_limits(limits, COUNT(limits), start_links, judge_links);
    check_limits(few, COUNT(few), start_few_poses, judge_links);
}

/* ---- travel times ---- */

static struct estimate law;
static double laps_sd;
static struct travel_held_out held;

/* 1000 held-out moves as the fit's own, with a standard deviation of 1 s. */
static void start_held_out(void)
{
    estimate_start(&law, 3);
    set_known(&law);
    laps_sd = 1.0;
    held = (struct travel_held_out){.n = 1000, .median_s = 1.0 / 1.4826};
}

/* 16 moves: the mean is off by chance by up to a standard deviation. */
static void start_few_moves(void)
{
    start_held_out();
    held.n = 16;
}

static int judge_held_out(void)
{
    (void)travel_held_out_judge(&law, 1000000, laps_sd, &held);
    return (int)law.verdict;
}

static void test_held_out_moves(void)
{
    const struct limit limits[] = {
        {"HELD_OUT_MARGINAL", &held.median_s, NULL, 1.24 / 1.4826, 1.26 / 1.4826, P, M},
        {"HELD_OUT_FAIL", &held.median_s, NULL, 2.9 / 1.4826, 3.1 / 1.4826, M, F},
        {"OFF_SHARE", &held.mean_s, NULL, 0.29, 0.31, P, M},
    };
    const struct limit few[] = {
        {"OFF_SE", &held.mean_s, NULL, 0.99, 1.01, P, M},
        /* Its median counts as 5.92 values: the chi-squared limit of 0.2 % is 20.7. */
        {"HELD_OUT_CHANCE", &held.median_s, NULL, 1.84 / 1.4826, 1.90 / 1.4826, P, M},
    };
    check_limits(limits, COUNT(limits), start_held_out, judge_held_out);
    check_limits(few, COUNT(few), start_few_moves, judge_held_out);
}

static struct travel_fit travel, part;
static struct travel_evidence evidence;
enum { MOVES = 100 };
static size_t turns, backwards;
static double design[MOVES * TRAVEL_P];

static void start_travel(void)
{
    travel_fit_start(&travel, TRAVEL_TURNS_AND_DRIVES);
    set_known(&travel.estimate);
    travel.n = MOVES;
    travel.freedom = MOVES - TRAVEL_P;
    travel.method = TRAVEL_TUKEY;
    for (size_t j = 0; j < TRAVEL_P; j++) {
        travel.beta[j] = evidence.plain[j] = 1.0;
        travel.beta_se[j] = 0.01;
        travel.beta_lo[j] = 0.98;
        travel.beta_hi[j] = 1.02;
        evidence.plain_se[j] = 0.02;
    }
    evidence.x = design;
    evidence.r2_weighted = 0.99;
    evidence.law = (struct travel_law){.tested = true,
                                       .trend_p = 1.0,
                                       .side_p = 1.0,
                                       .step_p = 1.0,
                                       .spread_p = 1.0,
                                       .bend_p = 1.0,
                                       .aside_p = 1.0,
                                       .after_p = 1.0,
                                       .kinds_ratio = 1.0};
    part = travel;
    part.beta_se[TRAVEL_INV_V] = 0.02;
    turns = MOVES;
    backwards = 30;
}

static int judge_travel(void)
{
    travel_judge(&travel, &evidence);
    return (int)travel.estimate.verdict;
}

static int judge_part(void)
{
    travel_time_check_part(&travel, "a part", &part);
    return (int)travel.estimate.verdict;
}

static int judge_units(void)
{
    struct travel_move moves[MOVES];
    for (size_t i = 0; i < MOVES; i++) {
        moves[i] = (struct travel_move){i < turns ? 1.0 : 0.0, i < backwards ? -1.0 : 1.0, 3.0};
    }
    travel_judge_units(&travel, moves, MOVES);
    return (int)travel.estimate.verdict;
}

static void start_precise(void)
{
    start_travel();
    part.beta_se[TRAVEL_INV_V] = 0.001;
    evidence.plain_se[TRAVEL_INV_V] = 0.001;
}

static void test_travel(void)
{
    const struct limit limits[] = {
        {"REFUSED_RATIO_MAX", NULL, &travel.refused, 11, 12, P, M},
        {"LAPS_R2_MARGINAL", &evidence.r2_weighted, NULL, 0.51, 0.49, P, M},
        {"R2_FAIL", &evidence.r2_weighted, NULL, 0.21, 0.19, M, F},
        /* 3 sqrt(0.02^2 - 0.01^2) = 0.052 */
        {"BEND_CHANCE", &evidence.law.bend_p, NULL, 0.0011, 0.0009, P, M},
        {"ASIDE_SE", &evidence.plain[TRAVEL_INV_V], NULL, 1.051, 1.053, P, M},
    };
    const struct limit precise[] = {
        {"MATTERS", &evidence.plain[TRAVEL_INV_V], NULL, 1.029, 1.031, P, M}};
    const struct limit units[] = {{"SIGNED_MIN", NULL, &turns, 9, 10, P, M},
                                  {"SIGNED_RATIO", NULL, &backwards, 20, 21, P, M}};
    /* 3.5 sqrt(0.02^2 - 0.01^2) = 0.0606 */
    const struct limit parts[] = {
        {"APART_SE", &part.beta[TRAVEL_INV_V], NULL, 1.060, 1.061, P, M}};
    const struct limit precise_parts[] = {
        {"MATTERS", &part.beta[TRAVEL_INV_V], NULL, 1.029, 1.031, P, M}};
    check_limits(limits, COUNT(limits), start_travel, judge_travel);
    check_limits(precise, COUNT(precise), start_precise, judge_travel);
    check_limits(units, COUNT(units), start_travel, judge_units);
    check_limits(parts, COUNT(parts), start_travel, judge_part);
    check_limits(precise_parts, COUNT(precise_parts), start_precise, judge_part);
}

/* Two late replies, far out, do not hide that the robot slows down by 15 %. */
static void test_late_replies(void)
{
    struct travel_move moves[MOVES];
    struct random_source draws = {.state = 3};
    for (size_t i = 0; i < MOVES; i++) {
        const double turn = i % 3 == 1 ? 0.0 : 0.3 + 0.5 * (double)(i % 5);
        const double drive = i % 3 == 0 ? 0.0 : 0.2 * (double)(1 + i % 4);
        const double slower = 1.0 + 0.15 * (double)i / MOVES;
        moves[i] = (struct travel_move){turn, drive, 0.3 + slower * (turn + drive / 0.5)};
        moves[i].lap_s += 0.02 * random_normal(&draws) + (i == 40 || i == 70 ? 5.0 : 0.0);
    }
    CU_ASSERT_EQUAL_FATAL(
        travel_time_fit(moves, MOVES, TRAVEL_TURNS_AND_DRIVES, TRAVEL_TUKEY, &travel),
        STATUS_OK);
    CHECK_INT("FAR_SD", travel.estimate.verdict, M);
}

/* ---- dynamics ---- */

static const struct model *const model = &first_order_model;
static struct dynamics_fit fit;
static struct dynamics_check own, other;
static struct data_summary summary;

static void start_dynamics(void)
{
    const struct residual_summary residual = {.n = 1000, .rmse = 1.0, .r2 = 0.9, .white = true};
    dynamics_fit_start(&fit, model, DYNAMICS_PEM, false);
    set_known(&fit.estimate);
    fit.rows = 1000;
    fit.force_sd[0] = 0.1;
    own = (struct dynamics_check){.simulated = true};
    own.axis[0].run = own.axis[0].one_step = residual;
    own.force_rms[0] = 1.0;
    other = own;
    summary.tau[0].sd = 1.0;
}

static int judge_held_out_motion(void)
{
    dynamics_judge_held_out(&fit, model, &own, &other);
    return (int)fit.estimate.verdict;
}

static int judge_forces(void)
{
    dynamics_judge_forces(&fit, model, &summary, &own);
    return (int)fit.estimate.verdict;
}

static int judge_fit(void)
{
    dynamics_judge(&fit, model, NULL);
    return (int)fit.estimate.verdict;
}

/* A simulation that is far off, whose effort is not. */
static void start_far_off(void)
{
    start_dynamics();
    own.effort_r2 = 0.9;
    own.axis[0].run.r2 = 0.1;
    other.axis[0].one_step.rmse = 2.0;
}

static void test_dynamics(void)
{
    struct residual_summary *const theirs = &other.axis[0].one_step;
    const struct limit limits[] = {
        {"HELD_OUT_MARGINAL", &theirs->rmse, NULL, 1.24, 1.26, P, M},
        {"HELD_OUT_FAIL", &theirs->rmse, NULL, 2.9, 3.1, M, F},
        {"BIAS_RATIO", &theirs->mean, NULL, 0.29, 0.31, P, M},
    };
    const struct limit far_off[] = {
        {"R2_MARGINAL", &own.axis[0].run.r2, NULL, 0.69, 0.71, P, M},
        {"R2_MARGINAL", &own.effort_r2, NULL, 0.71, 0.69, P, M},
    };
    const struct limit forces[] = {
        {"FORCE_RATIO_MAX", &fit.force_sd[0], NULL, 0.24, 0.26, P, M}};
    const struct limit whole[] = {
        {"CONDITION_MARGINAL", &fit.estimate.condition, NULL, 299, 301, P, M},
        {"SE_RATIO_MAX", &fit.estimate.covariance[0][0], NULL, 0.249, 0.251, P, M},
    };
    check_limits(limits, COUNT(limits), start_dynamics, judge_held_out_motion);
    check_limits(far_off, COUNT(far_off), start_far_off, judge_held_out_motion);
    check_limits(forces, COUNT(forces), start_dynamics, judge_forces);
    check_limits(whole, COUNT(whole), start_dynamics, judge_fit);
}

/* A cut of the recording whose halves differ, one by recordings, and one more term. */
static void start_parts(void)
{
    start_dynamics();
    struct stability *s = &own.stability;
    *s = (struct stability){.tested = true, .constant_p = 1.0};
    s->shape[0].p = 1.0;
    s->episode[0].change = -0.1;
    s->term = (struct stability_term){
        .model = model, .count = 1, .value = {1.0}, .se = {0.1}, .shift = {0.3}, .p = 1.0};
    s->tests[0] = (struct stability_test){
        .parts = 2, .statistic = 100.0, .df = 1.0, .value = {1.0, 1.0}, .se = {0.01, 0.01}};
    s->count = 1;
}

static void start_term(void)
{
    start_parts();
    own.stability.term.p = 0.0;
}

static void start_uncertain_term(void)
{
    start_term();
    estimate_set(&fit.estimate, 0, 1.0, 0.1, HUGE_VAL);
}

static void start_episode(void)
{
    start_parts();
    own.stability.episode[0].errors = 6.0;
}

static int judge_parts(void)
{
    (void)dynamics_judge_parts(&fit, model, &summary, &own);
    return (int)fit.estimate.verdict;
}

static void test_parts(void)
{
    struct stability *const s = &own.stability;
    const struct limit halves[] = {
        {"STABILITY_MATTERS", &s->tests[0].value[1], NULL, 1.029, 1.031, P, M},
        {"FALSE_ALARMS", &s->term.p, NULL, 0.0051, 0.0049, P, M},
        {"EPISODE_ERRORS", &s->episode[0].errors, NULL, 5.49, 5.51, P, M},
    };
    const struct limit term[] = {
        {"TERM_ERRORS", &s->term.value[0], NULL, 0.29, 0.31, P, M},
        {"SHIFT_MATTERS", &s->term.shift[0], NULL, 0.0199, 0.0201, P, M},
    };
    /* Half of 1.96 standard errors of 0.1. */
    const struct limit uncertain[] = {
        {"TERM_REACH", &s->term.shift[0], NULL, 0.0975, 0.0985, P, M}};
    check_limits(halves, COUNT(halves), start_parts, judge_parts);
    check_limits(term, COUNT(term), start_term, judge_parts);
    check_limits(uncertain, COUNT(uncertain), start_uncertain_term, judge_parts);
    const struct limit episode[] = {
        {"STABILITY_MATTERS", &s->episode[0].change, NULL, 0.029, 0.031, P, M}};
    check_limits(episode, COUNT(episode), start_episode, judge_parts);
}

/* The reason that is given when halves and recordings differ. */
static enum reason_code explain_cut(double statistic)
{
    start_parts();
    struct stability_test *tests = own.stability.tests;
    tests[0].value[1] = 1.5;
    tests[1] = tests[0];
    tests[0].cut = STABILITY_RECORDINGS;
    tests[1].statistic = statistic;
    own.stability.count = 2;
    (void)judge_parts();
    return fit.estimate.reason_codes[0];
}

static const char *explain_effort(double mean)
{
    static char text[ESTIMATE_TEXT_MAX];
    start_dynamics();
    summary = (struct data_summary){.rows = 1000, .used = 1000, .runs = 1};
    summary.nu[0].signal_ratio = 100.0;
    summary.tau[0] = (struct data_channel){
        .mean = mean, .sd = 1.0, .min = -1.0, .max = 1.0, .saturation_ratio = 1.0};
    dynamics_check_judge(&fit, model, &summary, NULL, &own, NULL);
    CHECK("one reason", fit.estimate.reason_count <= 1);
    memcpy(text, fit.estimate.reasons[0], sizeof text); /* "" without one */
    return text;
}

static void test_causes(void)
{
    char text[ESTIMATE_TEXT_MAX];
    CHECK_INT("OF_CAUSE", explain_cut(149.0), REASON_PARTS_DIFFER);
    CHECK_INT("OF_CAUSE", explain_cut(151.0), REASON_CHANGES_WITH_TIME);
    (void)snprintf(text, sizeof text, "%s", explain_effort(0.0));
    CHECK("ONE_SIDED", strcmp(text, explain_effort(-0.59)) == 0);
    CHECK("ONE_SIDED", strcmp(text, explain_effort(-0.61)) != 0);
}

/* Estimates of two halves whose chance is 5 % if they are 0.2772 apart. */
static void test_halves_differ(void)
{
    for (int outside = 0; outside < 2; outside++) {
        struct stability_part parts[2] = {{.freedom = HUGE_VAL}, {.freedom = HUGE_VAL}};
        start_parts();
        for (size_t k = 0; k < COUNT(parts); k++) {
            parts[k].value[0] = k == 0 ? 1.0 : outside ? 1.278 : 1.276;
            parts[k].se[0] = 0.1;
        }
        stability_compare(&fit, STABILITY_HALVES, 0, parts, COUNT(parts), &own.stability);
        CHECK_INT("DIFFER", own.stability.in_time[0].sd > 0.0, outside);
    }
}

static void test_sticking(void)
{
    struct search_report report = {.white = false};
    start_dynamics();
    fit.method = DYNAMICS_OUTPUT_ERROR;
    fit.stop = DYNAMICS_STOP_CONVERGED;
    report.axis[0].correlation = 0.49;
    CHECK("STICKS_FROM", estimate_is_at_home(model, &fit, &report));
    report.axis[0].correlation = 0.51;
    CHECK("STICKS_FROM", !estimate_is_at_home(model, &fit, &report));
}

/* ---- a term that a joint's model lacks ---- */

static struct unmodelled_term missing;

static void start_missing(void)
{
    start_dynamics();
    missing = (struct unmodelled_term){.effort_r2 = 0.99};
}

static void start_friction_by_load(void)
{
    start_missing();
    missing.friction[0] = (struct unmodelled_friction){.model = &joint_models[2][2],
                                                       .at = 4,
                                                       .value = 0.1,
                                                       .se = 0.01,
                                                       .there = true,
                                                       .effort_r2 = 0.99};
}

static int judge_lacking(void)
{
    unmodelled_term_judge(&fit, &joint_models[0][2], &missing);
    return (int)fit.estimate.verdict;
}

static int count_texts(void)
{
    (void)judge_lacking();
    return (int)(fit.estimate.reason_count + fit.estimate.advice_count);
}

static void start_poor(void)
{
    start_missing();
    missing.effort_r2 = 0.9;
}

static void test_missing(void)
{
    const struct limit friction_by_load[] = {
        {"REACH_MAX", &missing.friction[0].reach, NULL, 0.39, 0.41, P, M},
        {"SHIFT_MAX", &missing.friction[0].shift, NULL, 0.049, 0.051, P, M},
        {"CONSTANT_RATIO", &missing.friction[0].size, NULL, 0.049, 0.051, P, M},
    };
    const struct limit verdict[] = {
        {"R2_MARGINAL", &missing.effort_r2, NULL, 0.71, 0.69, P, M}};
    const struct limit reported[] = {{"R2_GOOD", &missing.effort_r2, NULL, 0.951, 0.949, 0, 1}};
    const struct limit share[] = {{"SHARE_MIN", &missing.load_ratio, NULL, 0.099, 0.101, 1, 2}};
    check_limits(friction_by_load, COUNT(friction_by_load), start_friction_by_load,
                 judge_lacking);
    check_limits(verdict, COUNT(verdict), start_missing, judge_lacking);
    check_limits(reported, COUNT(reported), start_missing, count_texts);
    check_limits(share, COUNT(share), start_poor, count_texts);
}

/* ---- odometry ---- */

static struct odometry_fit wheels;
static struct odometry_summary path;

static void start_odometry(void)
{
    odometry_fit_start(&wheels);
    wheels.estimate.p = ODOMETRY_P;
    set_known(&wheels.estimate);
    wheels.n = 1000;
    wheels.converged = true;
    wheels.own.position_r2 = wheels.own.heading_r2 = 0.99;
    path = (struct odometry_summary){.rows = 1000, .turn_left_rad = 9.0, .turn_right_rad = 9.0};
}

static int judge_odometry(void)
{
    odometry_judge(&wheels, &path);
    return (int)wheels.estimate.verdict;
}

static void test_odometry(void)
{
    const struct limit limits[] = {
        {"LOST_RATIO_MARGINAL", NULL, &path.incomplete, 199, 201, P, M}};
    check_limits(limits, COUNT(limits), start_odometry, judge_odometry);
}

/* ---- rows ---- */

static void test_traces(void)
{
    /* The sum of squared correlations beyond chance: 0.099^2 and 0.101^2. */
    const struct residual_summary inside = {.n = 10000, .ljung_box = RESIDUAL_LAGS + 98.0};
    const struct residual_summary outside = {.n = 10000, .ljung_box = RESIDUAL_LAGS + 102.0};
    CHECK("TRACE", residual_has_trace(&inside));
    CHECK("TRACE", !residual_has_trace(&outside));
}

/* One sample is a step off: its neighbours predict it exactly, or with a spread. */
static bool is_replaced(double step, double noise_sd, double spread)
{
    enum { N = 41, AT = 20 };
    double nu[N] = {0.0};
    nu[AT - 1] = nu[AT + 1] = spread;
    nu[AT - 3] = nu[AT + 3] = -spread;
    nu[AT] = step;
    struct data_set set = {.axes = 1, .n = N, .dt_s = 1.0, .run_count = 1, .run_start = {0, N}};
    set.nu[0] = nu;
    set.noise_sd[0] = noise_sd;
    struct data_set clean;
    gsl_vector *memory;
    size_t outliers[MODEL_AXES_MAX];
    CU_ASSERT_EQUAL_FATAL(outlier_samples_replace(&set, &clean, &memory, outliers), STATUS_OK);
    const bool replaced = fabs(clean.nu[0][AT] - step) > 0.0;
    gsl_vector_free(memory);
    return replaced;
}

static void test_outliers(void)
{
    CHECK("NOISES", !is_replaced(4.9, 1.0, 0.0) && is_replaced(5.1, 1.0, 0.0));
    CHECK("DEVIATIONS", !is_replaced(3.9, 1e-3, 1.0) && is_replaced(4.1, 1e-3, 1.0));
}

/* Rows that lie near an even grid are on it: its period is then the mean, not the usual one. */
static void test_even(void)
{
    enum { N = 101 };
    static double t[N], nu[N], tau[N];
    static struct data_table table;
    for (int outside = 0; outside < 2; outside++) {
        /* One late row in the middle leaves both halves off the grid by half as much. */
        const double late = outside ? 0.21 : 0.19;
        struct data_raw raw = {.axes = 1, .n = N, .t_s = t, .part_count = 1};
        struct data_summary made;
        raw.part_start[1] = N;
        raw.nu[0] = nu;
        raw.tau[0] = tau;
        for (size_t k = 0; k < N; k++) {
            t[k] = (double)k + (k > N / 2 ? late : 0.0);
            nu[k] = tau[k] = sin(0.1 * (double)k);
        }
        CU_ASSERT_EQUAL_FATAL(data_table_make(&raw, &table, &made, NULL), STATUS_OK);
        CHECK_NEAR("EVEN_RATIO", made.dt_s, outside ? 1.0 : 1.0 + late / (N - 1), 1e-9, 0.0);
        data_table_free(&table);
    }
}

/* Rows of an arm's joints, with one longer time after the first half. */
static enum status make_rows(double period_s, size_t n, double gap_periods,
                             struct arm_friction_summary *made)
{
    enum { ROWS_MAX = 4000 };
    static double t[ROWS_MAX], moved[ROWS_MAX];
    struct arm_friction_set set;
    const size_t starts[] = {0, n};
    struct arm_friction_raw raw = {.n = n, .part_count = 1, .part_start = starts, .t_s = t};
    for (size_t k = 0; k < n; k++) {
        t[k] = period_s * ((double)k + (k > n / 2 ? gap_periods - 1.0 : 0.0));
    }
    for (size_t j = 0; j < ARM_JOINTS; j++) {
        raw.q_rad[j] = raw.qd_radps[j] = raw.current_a[j] = moved;
    }
    const enum status st = arm_friction_set_make(&raw, &set, made, NULL);
    arm_friction_set_free(&set);
    return st;
}

static void test_joint_rows(void)
{
    struct arm_friction_summary made;
    CHECK_INT("RUN_S_MIN", make_rows(0.01, 202, 1.0, &made), STATUS_OK);
    CHECK_INT("RUN_S_MIN", make_rows(0.01, 198, 1.0, &made), STATUS_E_PARSE);
    CHECK_INT("DT_S_MAX", make_rows(0.099, 200, 1.0, &made), STATUS_OK);
    CHECK_INT("DT_S_MAX", make_rows(0.101, 200, 1.0, &made), STATUS_E_PARSE);
    CHECK_INT("GAP_PERIODS", make_rows(0.01, 1000, 2.4, &made), STATUS_OK);
    CHECK_INT("GAP_PERIODS", made.gaps, 0);
    CHECK_INT("GAP_PERIODS", make_rows(0.01, 1000, 2.6, &made), STATUS_OK);
    CHECK_INT("GAP_PERIODS", made.gaps, 1);
    /* 3000 rows are too short for a run, which is another fault than a wrong unit. */
    CHECK_INT("DT_S_MIN", make_rows(1.01e-4, 3000, 1.0, &made), STATUS_E_PARSE);
    CHECK_INT("DT_S_MIN", made.short_rows, 3000);
    CHECK_INT("DT_S_MIN", make_rows(0.99e-4, 3000, 1.0, &made), STATUS_E_PARSE);
    CHECK_INT("DT_S_MIN", made.short_rows, 0);
}

/* The time of a slow motion is known only if the motion stands out of the noise. */
static void test_motion_time(void)
{
    enum { N = 1000 };
    static double nu[N];
    for (size_t k = 0; k < N; k++) {
        nu[k] = sqrt(2.0) * sin(0.02 * PI * (double)k);
    }
    struct data_set set = {.axes = 1, .n = N, .dt_s = 1.0, .run_count = 1, .run_start = {0, N}};
    set.nu[0] = nu;
    /* Variances: signal 1 - noise^2, which is 25 noise^2 at sqrt(1 / 26) = 0.196. */
    set.noise_sd[0] = 0.195;
    CHECK("SIGNAL_RATIO_MIN", motion_time_s(&set, 500.0) < 100.0);
    set.noise_sd[0] = 0.197;
    CHECK_NEAR("SIGNAL_RATIO_MIN", motion_time_s(&set, 500.0), 500.0, 0.0, 0.0);
}

int main(void)
{
    if (CU_initialize_registry() != CUE_SUCCESS) {
        return EXIT_FAILURE;
    }
    CU_pSuite suite = CU_add_suite("limits of verdicts", NULL, NULL);
    CU_add_test(suite, "friction of joints", test_friction);
    CU_add_test(suite, "effects of friction", test_friction_effects);
    CU_add_test(suite, "links of an arm", test_links);
    CU_add_test(suite, "held-out moves", test_held_out_moves);
    CU_add_test(suite, "travel times", test_travel);
    CU_add_test(suite, "late replies", test_late_replies);
    CU_add_test(suite, "dynamics", test_dynamics);
    CU_add_test(suite, "parts of a recording", test_parts);
    CU_add_test(suite, "causes", test_causes);
    CU_add_test(suite, "halves that differ", test_halves_differ);
    CU_add_test(suite, "sticking", test_sticking);
    CU_add_test(suite, "missing terms", test_missing);
    CU_add_test(suite, "odometry", test_odometry);
    CU_add_test(suite, "rows of joints", test_joint_rows);
    CU_add_test(suite, "traces", test_traces);
    CU_add_test(suite, "outliers", test_outliers);
    CU_add_test(suite, "even rows", test_even);
    CU_add_test(suite, "time of a motion", test_motion_time);
    return check_run();
}
