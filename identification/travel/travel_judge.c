#include "identification/travel/travel_judge.h"

#include <math.h>
#include <stdio.h>

#include "base/numbers/constants.h"
#include "identification/fit/fit_thresholds.def"
#include "identification/fit/plausible.h"
#include "identification/travel/travel_thresholds.def"

/* Squared share of a row outside what is determined, as in robust_ls.c but coarser: advice
 * is only for moves that clearly help. */
static const double NEW_DIRECTION = 1e-4;

/* Classes of moves in a session, and their typical size. */
struct classes {
    size_t turns, drives, both;
    double rotation_rad, displacement_m; /* root mean square; 1 if there are none */
};

static struct classes count_classes(const struct travel_fit *fit, const double *x)
{
    struct classes c = {.turns = 0};
    double a2 = 0.0;
    double r2 = 0.0;
    for (size_t i = 0; i < fit->n; i++) {
        const double *row = x + i * TRAVEL_P;
        const bool turns = row[TRAVEL_INV_W] > 0.0;
        const bool drives = row[TRAVEL_INV_V] > 0.0;
        c.turns += turns && !drives;
        c.drives += drives && !turns;
        c.both += turns && drives;
        a2 += row[TRAVEL_INV_W] * row[TRAVEL_INV_W];
        r2 += row[TRAVEL_INV_V] * row[TRAVEL_INV_V];
    }
    const size_t with_rotation = c.turns + c.both;
    const size_t with_displacement = c.drives + c.both;
    c.rotation_rad = with_rotation ? sqrt(a2 / (double)with_rotation) : 1.0;
    c.displacement_m = with_displacement ? sqrt(r2 / (double)with_displacement) : 1.0;
    return c;
}

/* Projection on what is not determined, for columns scaled to norm 1 (1 for empty ones). */
struct blind {
    double projection[TRAVEL_P][TRAVEL_P];
    double norm[TRAVEL_P];
};

static struct blind blind_of(const struct robust_ls_fit *ls)
{
    struct blind blind;
    for (size_t i = 0; i < TRAVEL_P; i++) {
        blind.norm[i] = ls && ls->column_norm[i] > 0.0 ? ls->column_norm[i] : 1.0;
        for (size_t j = 0; j < TRAVEL_P; j++) {
            const double unit = i == j ? 1.0 : 0.0;
            blind.projection[i][j] = ls ? ls->null_projection[i][j] : unit;
        }
    }
    return blind;
}

/* Returns whether a move determines something new. If so, removes that from the projection. */
static bool look_at_move(struct blind *blind, enum travel_motion motion, double rotation_rad,
                         double displacement_m)
{
    double row[TRAVEL_P];
    double outside[TRAVEL_P] = {0.0};
    double length2 = 0.0;
    double outside2 = 0.0;

    travel_motion_row(motion, rotation_rad, displacement_m, row);
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t j = 0; j < TRAVEL_P; j++) {
            outside[i] += blind->projection[i][j] * row[j] / blind->norm[j];
        }
        length2 += row[i] / blind->norm[i] * (row[i] / blind->norm[i]);
        outside2 += outside[i] * outside[i];
    }
    if (!(outside2 > NEW_DIRECTION * length2)) {
        return false;
    }
    for (size_t i = 0; i < TRAVEL_P; i++) {
        for (size_t j = 0; j < TRAVEL_P; j++) {
            blind->projection[i][j] -= outside[i] * outside[j] / outside2;
        }
    }
    return true;
}

/* An advice of up to two moves, in units of the typical rotation and displacement. The sizes
 * are unusual on purpose, so that they are new in any session. */
struct remedy {
    double size[2][2];
    size_t count;
    const char *first; /* text for a session without such moves */
    const char *again;
};

/* The order in which they are offered. Single moves of the three kinds together determine
 * everything, so one of them always helps if something is missing. */
enum { TWO_TURNS, TWO_DRIVES, TURN, DRIVE, BOTH, REMEDY_COUNT };

/* clang-format off */
static const struct remedy remedies[REMEDY_COUNT] = {
    [TWO_TURNS]  = {{{0.739, 0.0}, {1.871, 0.0}}, 2, "turn on the spot by two different angles",
                    "turn on the spot by two more angles"},
    [TWO_DRIVES] = {{{0.0, 0.739}, {0.0, 1.871}}, 2, "drive two straight moves of different length",
                    "drive two more straight moves of different length"},
    [TURN]       = {{{0.739, 0.0}}, 1, "turn on the spot, without driving",
                    "turn on the spot by another angle"},
    [DRIVE]      = {{{0.0, 0.739}}, 1, "drive a straight move, without turning",
                    "drive a straight move of another length"},
    [BOTH]       = {{{0.739, 1.283}}, 1, "turn and drive in one move",
                    "turn and drive in one move, by another angle and another length"},
};
/* clang-format on */

/* Returns whether a machine with this motion can make such moves. */
static bool is_possible(const struct remedy *remedy, enum travel_motion motion)
{
    const bool turns = remedy->size[0][0] > 0.0;
    const bool drives = remedy->size[0][1] > 0.0;
    return (!turns || travel_motion_has(motion, TRAVEL_INV_W)) &&
           (!drives || travel_motion_has(motion, TRAVEL_INV_V));
}

static size_t gain_of(const struct remedy *remedy, enum travel_motion motion,
                      const struct classes *c, struct blind *blind)
{
    size_t gain = 0;
    for (size_t k = 0; k < remedy->count; k++) {
        gain += look_at_move(blind, motion, remedy->size[k][0] * c->rotation_rad,
                             remedy->size[k][1] * c->displacement_m);
    }
    return gain;
}

static size_t terms_of(enum travel_motion motion)
{
    return motion == TRAVEL_TURNS_AND_DRIVES ? TRAVEL_P : 2;
}

/* Names moves until every term is determined: each time the first advice whose moves all
 * help. */
static void advise_moves(struct travel_fit *fit, const struct classes *c, struct blind blind)
{
    size_t rank = fit->estimate.rank;
    for (size_t i = 0; i < REMEDY_COUNT && rank < terms_of(fit->motion); i++) {
        struct blind after = blind;
        if (is_possible(&remedies[i], fit->motion) &&
            gain_of(&remedies[i], fit->motion, c, &after) == remedies[i].count) {
            const size_t had = i == TURN || i == TWO_TURNS     ? c->turns
                               : i == DRIVE || i == TWO_DRIVES ? c->drives
                                                               : c->both;
            estimate_advise(&fit->estimate, "%s",
                            had > 0 ? remedies[i].again : remedies[i].first);
            rank += remedies[i].count;
            blind = after;
        }
    }
}

static void list_terms(const struct travel_fit *fit, char text[ESTIMATE_TEXT_MAX])
{
    size_t used = 0;
    text[0] = '\0';
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (!fit->estimate.identifiable[j] && travel_motion_has(fit->motion, j) &&
            used < ESTIMATE_TEXT_MAX) {
            const int wrote = snprintf(text + used, ESTIMATE_TEXT_MAX - used, "%s%s",
                                       used > 0 ? ", " : "", travel_term_name(j));
            used += wrote > 0 ? (size_t)wrote : 0;
        }
    }
}

static void judge_rank(struct travel_fit *fit, const struct travel_evidence *evidence)
{
    if (fit->estimate.rank == terms_of(fit->motion)) {
        return;
    }
    const bool any_speed =
        fit->estimate.identifiable[TRAVEL_INV_W] || fit->estimate.identifiable[TRAVEL_INV_V];
    char terms[ESTIMATE_TEXT_MAX];
    list_terms(fit, terms);
    estimate_reason(&fit->estimate, REASON_NOT_DETERMINED,
                    any_speed ? ESTIMATE_MARGINAL : ESTIMATE_FAIL,
                    "these moves do not determine %s%s", terms,
                    fit->estimate.combination_count > 0 ? " one by one, see combinations" : "");
    const struct classes c = count_classes(fit, evidence->x);
    advise_moves(fit, &c, blind_of(evidence->ls));
}

void travel_judge_usable(struct estimate *e, size_t n, size_t refused)
{
    const size_t total = n + refused;
    if (n == 0) {
        estimate_reason(e, REASON_TOO_FEW, ESTIMATE_FAIL, "no usable move");
    }
    if (refused > 0) {
        const bool many = (double)refused > REFUSED_RATIO_MAX * (double)total;
        estimate_reason(e, REASON_ROWS_UNUSABLE, many ? ESTIMATE_MARGINAL : ESTIMATE_PASS,
                        "%zu of %zu moves were refused: not a finite, sensible number, or a "
                        "lap that is not above zero",
                        refused, total);
    }
}

void travel_judge_equal_laps(struct estimate *e, const char *moves, size_t n, double lap_s)
{
    estimate_reason(e, REASON_LAPS_EQUAL, ESTIMATE_FAIL,
                    "all %zu %s took %.4g s, whatever their size: they show no speed", n, moves,
                    lap_s);
    estimate_advise(e, "check that a lap ends with the move, not when the command is accepted");
}

void travel_judge_freedom(struct estimate *e, const char *moves, size_t count,
                          const char *which, size_t terms, size_t freedom)
{
    if (freedom < ESTIMATE_FREEDOM_MIN) {
        estimate_reason(e, REASON_TOO_FEW, freedom == 0 ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "too few %s: %zu%s for %zu terms, %s", moves, count, which, terms,
                        freedom == 0 ? "no degrees of freedom are left to estimate the errors"
                                     : "an interval needs five degrees of freedom");
        estimate_advise(e, "make at least %zu more %s", ESTIMATE_FREEDOM_MIN - freedom, moves);
    }
}

static void judge_count(struct travel_fit *fit)
{
    travel_judge_usable(&fit->estimate, fit->n, fit->refused);
    if (fit->n > 0) {
        const size_t used = fit->freedom + fit->estimate.rank;
        travel_judge_freedom(&fit->estimate, "moves", used,
                             used < fit->n ? " that do not lie far out" : "",
                             fit->estimate.rank, fit->freedom);
    }
}

const char *const travel_inverse_names[TRAVEL_P] = {
    [TRAVEL_INV_W] = "1 / angular_speed_radps", [TRAVEL_INV_V] = "1 / linear_speed_mps"};
const char *const travel_inverse_units[TRAVEL_P] = {
    [TRAVEL_INV_W] = "s/rad", [TRAVEL_INV_V] = "s/m"};

void travel_advise_column(struct estimate *e, enum travel_term term)
{
    estimate_advise(e,
                    "check that the %s column is what the robot %s in a move, not a sum in "
                    "which back and forth cancel",
                    term == TRAVEL_INV_W ? "rotation" : "displacement",
                    term == TRAVEL_INV_W ? "turns" : "drives");
}

void travel_judge_width(struct estimate *e, const char *name, double value, double half,
                        const char *advice)
{
    if (half > HALF_WIDTH_RATIO_MAX * value) {
        estimate_reason(e, REASON_IMPRECISE, ESTIMATE_MARGINAL, "%s is known to +-%.0f %% only",
                        name, 100.0 * half / value);
        estimate_advise(e, "%s", advice);
    }
}

static void judge_speed(struct travel_fit *fit, enum travel_term term)
{
    const double b = fit->beta[term];
    const double half = 0.5 * (fit->beta_hi[term] - fit->beta_lo[term]);
    const char *more = term == TRAVEL_INV_W ? "make more moves with more different rotations"
                                            : "make more moves with more different lengths";
    if (!fit->estimate.identifiable[term]) {
        return;
    }
    if (!(b > 0.0)) {
        char interval[64] = "";
        if (isfinite(half)) {
            (void)snprintf(interval, sizeof interval, " (95 %%: %.3g to %.3g)",
                           fit->beta_lo[term], fit->beta_hi[term]);
        }
        estimate_reason(&fit->estimate, REASON_BELOW_ZERO, ESTIMATE_FAIL,
                        "unphysical sign: %s = %.3g %s%s, a speed below zero",
                        travel_inverse_names[term], b, travel_inverse_units[term], interval);
        travel_advise_column(&fit->estimate, term);
    } else if (fit->beta_lo[term] <= 0.0) {
        estimate_reason(
            &fit->estimate, REASON_BELOW_ZERO, ESTIMATE_MARGINAL,
            "sign not supported: %s = %.3g %s, but its 95 %% interval begins at %.3g",
            travel_inverse_names[term], b, travel_inverse_units[term], fit->beta_lo[term]);
        estimate_advise(&fit->estimate, "%s", more);
    } else {
        travel_judge_width(&fit->estimate, travel_term_name(term), b, half, more);
    }
}

void travel_judge_delay(struct estimate *e, const char *name, double value, double se)
{
    if (value < -NEGATIVE_SE * se && value < -NEGATIVE_S) {
        estimate_reason(e, REASON_BELOW_ZERO, ESTIMATE_MARGINAL,
                        "unphysical sign: %s = %.3g s (se %.2g), a delay below zero", name,
                        value, se);
    }
}

static void judge_signs(struct travel_fit *fit)
{
    judge_speed(fit, TRAVEL_INV_W);
    judge_speed(fit, TRAVEL_INV_V);
    for (size_t j = 0; j < TRAVEL_INV_W; j++) {
        if (fit->estimate.identifiable[j]) {
            travel_judge_delay(&fit->estimate, travel_term_name((enum travel_term)j),
                               fit->beta[j], fit->beta_se[j]);
        }
    }
    for (size_t k = 0; k < fit->estimate.combination_count; k++) {
        const struct estimate_combination *c = &fit->estimate.combinations[k];
        travel_judge_delay(&fit->estimate, c->name, c->value, c->se);
    }
}

void travel_judge_r2(struct estimate *e, double r2)
{
    if (e->rank > 1 && r2 < LAPS_R2_MARGINAL) {
        estimate_reason(e, REASON_POOR_FIT, r2 < R2_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "poor fit: the model explains %.0f %% of the variance of the laps",
                        100.0 * fmax(r2, 0.0));
    }
}

void travel_judge_outliers(struct estimate *e, size_t outliers, size_t n, const char *usual)
{
    const double ratio = n ? (double)outliers / (double)n : 0.0;
    if (travel_law_many(outliers, n)) {
        estimate_reason(e, REASON_OUTLIERS,
                        ratio > OUTLIER_RATIO_FAIL ? ESTIMATE_FAIL : ESTIMATE_MARGINAL,
                        "%.0f %% of the laps are outliers, beyond 4 sd", 100.0 * ratio);
        estimate_advise(e, "look at the laps beyond 4 sd: %s, or a reply that was late", usual);
    }
}

static void judge_residuals(struct travel_fit *fit, const struct travel_evidence *evidence)
{
    travel_judge_r2(&fit->estimate, evidence->r2_weighted);
    travel_judge_outliers(&fit->estimate, fit->outliers, fit->n, "several moves in one");
    if (fit->method == TRAVEL_OLS && evidence->wild_count > 0) {
        estimate_reason(&fit->estimate, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                        "%zu of %zu moves deviate from a law that the others follow within "
                        "%.2g s, and bias ols: several moves in one?",
                        evidence->wild_count, fit->n, evidence->closer_s);
        estimate_advise(&fit->estimate, "use method tukey or auto");
    }
}

/* Wide ranges: a tanker turns by 0.2 degrees per second and a turret ten times per second. A
 * crawler moves a centimetre per second and a racing car 60 m/s. A robot starts within a
 * quarter of a minute. */
static const struct plausible_range plausible[] = {
    {"angular_speed_radps", 0.003, 60.0, PLAUSIBLE_TIME, PLAUSIBLE_ANGLE, 0.0},
    {"linear_speed_mps", 0.003, 60.0, PLAUSIBLE_TIME, PLAUSIBLE_LENGTH, 0.0},
    {"t0_s", 0.0, 15.0, 0, PLAUSIBLE_TIME, 0.0},
};

void travel_judge_units(struct travel_fit *fit, const struct travel_move *moves, size_t n)
{
    double largest = 0.0;
    size_t back[2] = {0, 0}; /* number of negative rotations and displacements */
    size_t count[2] = {0, 0};
    for (size_t i = 0; i < n; i++) {
        if (travel_move_usable(&moves[i])) {
            largest = fmax(largest, fabs(moves[i].rotation_rad));
            count[0] += fabs(moves[i].rotation_rad) > 0.0 ? 1 : 0;
            count[1] += fabs(moves[i].displacement_m) > 0.0 ? 1 : 0;
            back[0] += moves[i].rotation_rad < 0.0 ? 1 : 0;
            back[1] += moves[i].displacement_m < 0.0 ? 1 : 0;
        }
    }
    struct estimate *e = &fit->estimate;
    (void)plausible_judge(e, &plausible[0], e->value[TRAVEL_INV_W], "rad/s");
    (void)plausible_judge(e, &plausible[1], e->value[TRAVEL_INV_V], "m/s");
    (void)plausible_judge(e, &plausible[2], e->value[TRAVEL_T0], "s");
    if (fit->motion != TRAVEL_TURNS_AND_DRIVES) {
        return;
    }
    if (largest > ROTATION_MAX) {
        plausible_doubt(e,
                        "a rotation of %.3g rad is %.0f turns in one move: looks like degrees",
                        largest, largest / (2.0 * PI));
    }
    if (back[0] == 0 && count[0] >= SIGNED_MIN &&
        (double)back[1] > SIGNED_RATIO * (double)count[1]) {
        plausible_doubt(e,
                        "displacements have both signs and rotations have not: are the columns "
                        "exchanged?");
    }
}

bool travel_values_differ(const struct travel_values *values, double errors)
{
    const double p = values->part_se * values->part_se;
    const double w = values->whole_se * values->whole_se;
    const double variance = values->is_nested ? fmax(p - w, 0.25 * p) : p + w;
    const double apart = fabs(values->part - values->whole);
    return apart > errors * sqrt(variance) && apart > MATTERS * fabs(values->whole);
}

/* A robust fit may reject moves that belong to the law. It then differs from plain least
 * squares by more than the additional noise of the latter (Hausman's test). */
static void judge_aside(struct travel_fit *fit, const struct travel_evidence *evidence)
{
    for (enum travel_term j = TRAVEL_INV_W; j <= TRAVEL_INV_V; j++) {
        const struct travel_values values = {fit->beta[j], fit->beta_se[j], evidence->plain[j],
                                             evidence->plain_se[j], true};
        if (travel_values_differ(&values, ASIDE_SE)) {
            estimate_reason(&fit->estimate, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                            "%s gives %s = %.4g, ols %.4g: moves that it rejects are later the "
                            "larger they are, and may be part of the law",
                            travel_method_name(fit->method), travel_term_name(j),
                            1.0 / fit->beta[j], 1.0 / evidence->plain[j]);
            estimate_advise(
                &fit->estimate,
                "look at the late moves: if they happen in use as well, choose method ols");
        }
    }
}

/* A move in this share of the range between the shortest and the longest counts as one of
 * them. */
static const double MIDDLE = 0.15;

/* Returns what changed more, and its change in percent: a share of 1/v is the inverse share
 * of v. */
static const char *find_changed(const struct travel_law_words *words,
                                const double share[TRAVEL_SIZES], double *percent)
{
    const size_t k = fabs(share[0]) > fabs(share[1]) ? 0 : 1;
    *percent = 100.0 * (words->is_inverse ? 1.0 / (1.0 + share[k]) - 1.0 : share[k]);
    return words->changed[k];
}

static bool judge_order(struct estimate *e, const struct travel_law *law,
                        enum travel_effect effect, size_t n,
                        const struct travel_law_words *words)
{
    const bool with_time = effect >= TRAVEL_LAPS_WITH_TIME && effect < TRAVEL_EFFECTS;
    double percent;
    if (travel_law_steps(law) && !(law->trend_p < law->step_p)) {
        const char *name = find_changed(words, law->step, &percent);
        estimate_reason(e, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                        "speeds change on the way: %s by %+.0f %% from move %zu of %zu on",
                        name, percent, law->step_at + 1, n);
    } else if (effect == TRAVEL_LAPS_WITH_TIME && !travel_law_drifts(law)) {
        estimate_reason(e, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                        "laps change gradually: by %+.2g s from the first move to the last",
                        law->alternative[effect].value);
    } else if (with_time || travel_law_drifts(law)) {
        const char *name = find_changed(words, law->trend, &percent);
        estimate_reason(e, REASON_CHANGES_WITH_TIME, ESTIMATE_MARGINAL,
                        "speeds change gradually: %s by %+.0f %% from the first move to "
                        "the last",
                        name, percent);
    } else {
        return false;
    }
    estimate_advise(e, "fit the moves before and after the change apart, and look for its "
                       "cause: battery, load, floor, another robot");
    return true;
}

static void judge_waits(struct estimate *e, const struct travel_law *law)
{
    estimate_reason(e, REASON_DELAY_VARIES, ESTIMATE_MARGINAL,
                    "laps depend on the move before (%+.2g s per second of it): commands that "
                    "come before it has ended?",
                    law->after.value);
    estimate_advise(e, "send each command when the former move has ended, or record when moves "
                       "begin and end");
}

/* Returns whether the effect is one of short moves, and of which size they are. */
static bool is_short(enum travel_effect effect, size_t *k)
{
    *k = effect < TRAVEL_SHORT_DRIVES ? 0 : 1;
    return effect < TRAVEL_LAPS_WITH_TIME;
}

void travel_judge_short(struct estimate *e, const struct travel_law *law,
                        enum travel_effect effect, const struct travel_law_words *words)
{
    size_t k;
    if (!is_short(effect, &k)) {
        return;
    }
    const struct travel_alternative *a = &law->alternative[effect];
    estimate_reason(e, REASON_LAPS_BEND, ESTIMATE_MARGINAL,
                    "laps bend: short %s (below %.2g %s) take up to %.2g s %s than this law "
                    "(chance %.2g): %s",
                    words->moves[k], a->below, words->unit[k], a->found_s,
                    a->value > 0.0 ? "longer" : "less", a->p,
                    a->value > 0.0 ? "slow approach to the goal?" : "the robot accelerates?");
    estimate_advise(e,
                    "make more %s of short and of middle size: what happens near the goal, or "
                    "whether the robot accelerates, shows there",
                    words->moves[k]);
}

void travel_report_not_excluded(struct estimate *e, const struct travel_law *law,
                                const struct travel_law_words *words)
{
    size_t k;
    const enum travel_effect most = travel_law_not_excluded(law);
    const struct travel_alternative *a = &law->alternative[most < TRAVEL_EFFECTS ? most : 0];
    const double percent = 100.0 * a->limit_ratio;
    if (most == TRAVEL_EFFECTS || percent < 0.5) {
        return; /* it would be printed as 0 % */
    }
    if (is_short(most, &k)) {
        estimate_note(e, REASON_NOT_EXCLUDED,
                      "up to %.2g s (%.0f %%) of short %s are not excluded", a->limit_s,
                      percent, words->moves[k]);
        return;
    }
    estimate_note(e, REASON_NOT_EXCLUDED,
                  "a drift of up to %.2g s (%.0f %%) of %s is not excluded", a->limit_s,
                  percent,
                  most == TRAVEL_LAPS_WITH_TIME ? "all moves"
                                                : words->moves[most - TRAVEL_TURNS_WITH_TIME]);
}

void travel_judge_causes(struct estimate *e, const struct travel_law *law,
                         const struct travel_law_words *words)
{
    if (travel_law_leaves_a_kind(law) && law->aside_grows) {
        estimate_reason(e, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                        "the %zu outliers share a cause: %s are the later the larger they are",
                        law->aside, words->moves[law->aside_cause]);
        estimate_advise(e, "look for what slows single %s: obstacles, people, a floor",
                        words->moves[law->aside_cause]);
    } else if (travel_law_leaves_a_kind(law)) {
        estimate_reason(e, REASON_OUTLIERS, ESTIMATE_MARGINAL,
                        "the %zu outliers share a cause: they are %s, more than by chance",
                        law->aside, words->causes[law->aside_cause][law->aside_more ? 1 : 0]);
        estimate_advise(e, "find what these moves have in common: they may be part of the law");
    }
}

static const struct travel_law_words law_words = {
    {"turns", "drives"},
    {"rad", "m"},
    {"angular_speed_radps", "linear_speed_mps"},
    true,
    {{"smaller rotations", "larger rotations"},
     {"shorter drives", "longer drives"},
     {"early in the table", "late in the table"}},
};

static void judge_bend(struct travel_fit *fit, const struct travel_law *law,
                       enum travel_effect effect)
{
    if (!fit->accelerating.known) {
        travel_judge_short(&fit->estimate, law, effect, &law_words);
        if (travel_law_bends(law)) {
            estimate_reason(&fit->estimate, REASON_LAPS_BEND, ESTIMATE_MARGINAL,
                            "laps bend with the size of the move, as those of a robot that "
                            "accelerates (chance %.2g)",
                            law->bend_p);
            estimate_advise(&fit->estimate, "make more moves of short and of middle size: "
                                            "whether the robot accelerates shows there");
        }
        return;
    }
    estimate_reason(&fit->estimate, REASON_LAPS_BEND, ESTIMATE_MARGINAL,
                    "the robot accelerates: laps bend with the size of the move; the residual "
                    "is %.2g s with accelerations, %.2g s with this law",
                    fit->accelerating.residual_s_sd, fit->residual_s_sd);
    estimate_advise(&fit->estimate,
                    "use the law with accelerations, and make moves of middle size too: from "
                    "the shortest to the longest alone nothing bends");
}

/* If there are only short and long moves, the sizes in between are missing to show whether
 * laps bend. */
static void advise_middle(struct travel_fit *fit, const struct travel_evidence *evidence)
{
    static const char *const words[] = {"turns", "drives"};
    for (size_t k = 0; k < COUNT(words); k++) {
        const double *size = evidence->x + (k == 0 ? TRAVEL_INV_W : TRAVEL_INV_V);
        double least = INFINITY;
        double most = 0.0;
        bool between = false;
        for (size_t i = 0; i < fit->n; i++) {
            const double at = size[i * TRAVEL_P];
            least = at > 0.0 ? fmin(least, at) : least;
            most = fmax(most, at);
        }
        for (size_t i = 0; i < fit->n; i++) {
            const double share = (size[i * TRAVEL_P] - least) / (most - least);
            between = between || (share > MIDDLE && share < 1.0 - MIDDLE);
        }
        if (most > 2.0 * least && !between) {
            estimate_advise(&fit->estimate,
                            "make %s of middle size too, of about %.2g %s: from the shortest "
                            "to the longest alone nothing bends",
                            words[k], 0.5 * (least + most), k == 0 ? "rad" : "m");
        }
    }
}

/* Reports the slower moves of a spread, and whether they are those in one direction. */
static void report_slower(struct estimate *e, const struct travel_law *law,
                          const struct travel_law_words *words)
{
    const size_t k = law->spread_size;
    char list[ESTIMATE_TEXT_MAX / 2] = "";
    size_t used = 0;
    for (size_t i = 0; i < law->slower_count && i < TRAVEL_SLOWER_MAX; i++) {
        used += (size_t)snprintf(list + used, sizeof list - used, "%s%zu", i > 0 ? ", " : "",
                                 law->slower[i] + 1);
    }
    if (law->side_p < SIDE_CHANCE) {
        estimate_note(e, REASON_PARTS_DIFFER,
                      "%s in the %s direction take %.0f %% longer than in the other",
                      words->moves[k], law->side > 0.0 ? "positive" : "negative",
                      100.0 * fabs(law->side));
    }
    if (law->slower_count > TRAVEL_SLOWER_MAX) {
        estimate_note(e, REASON_PARTS_DIFFER, "slower %s: moves %s and %zu more",
                      words->moves[k], list, law->slower_count - TRAVEL_SLOWER_MAX);
    } else {
        estimate_note(e, REASON_PARTS_DIFFER, "slower %s: moves %s", words->moves[k], list);
    }
}

void travel_judge_changes(struct estimate *e, const struct travel_law *law,
                          enum travel_effect effect, size_t n,
                          const struct travel_law_words *words)
{
    /* A change with time also increases the spread, so it is judged first. */
    if (judge_order(e, law, effect, n, words)) {
        return;
    }
    if (travel_law_waits(law)) {
        judge_waits(e, law);
        return;
    }
    if (travel_law_mixes(law, n)) {
        double percent;
        const char *name = find_changed(words, law->kinds, &percent);
        /* it explains outliers, too */
        estimate_reason_first(
            e, REASON_PARTS_DIFFER, ESTIMATE_MARGINAL,
            "moves of two kinds: %s differs by %.0f %% between %zu moves and the "
            "other %zu",
            name, fabs(percent), law->second_kind, n - law->second_kind);
        report_slower(e, law, words);
    } else if (travel_law_spreads(law)) {
        const size_t k = law->spread_size;
        estimate_reason_first(
            e, REASON_PARTS_DIFFER, ESTIMATE_MARGINAL,
            "the spread grows with the distance: %s have several speeds (floors, "
            "loads, sides); %s varies by %.0f %% from move to move",
            words->moves[k], words->changed[k], 100.0 * law->variation[k]);
        report_slower(e, law, words);
    } else {
        return;
    }
    estimate_advise(e, "look whether these are moves of several robots, loads or floors, and "
                       "fit each for itself");
}

void travel_judge(struct travel_fit *fit, const struct travel_evidence *evidence)
{
    judge_count(fit);
    judge_rank(fit, evidence);
    judge_signs(fit);
    judge_residuals(fit, evidence);
    judge_aside(fit, evidence);
    const enum travel_effect effect = travel_law_effect(&evidence->law, fit->residual_s_sd);
    judge_bend(fit, &evidence->law, effect);
    travel_judge_causes(&fit->estimate, &evidence->law, &law_words);
    if (evidence->law.tested) {
        advise_middle(fit, evidence);
    }
    travel_judge_changes(&fit->estimate, &evidence->law, effect, fit->n, &law_words);
    travel_report_not_excluded(&fit->estimate, &evidence->law, &law_words);
    const enum travel_effect most = travel_law_not_excluded(&evidence->law);
    if (most < TRAVEL_EFFECTS) {
        const struct travel_alternative *a = &evidence->law.alternative[most];
        fit->not_excluded =
            (struct travel_not_excluded){most, a->below, a->limit_s, a->limit_ratio};
    }
}
