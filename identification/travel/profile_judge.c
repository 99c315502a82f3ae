#include "identification/travel/profile_judge.h"

#include <math.h>

#include <gsl/gsl_vector.h>

#include "identification/fit/fit_thresholds.def"
#include "identification/fit/plausible.h"
#include "identification/travel/travel_judge.h"
#include "identification/travel/travel_thresholds.def"

static const double FLOOR_S = 1e-4;

/* Names of the classes, and the moves that determine the missing terms. */
static const struct {
    const char *moves, *longer, *shorter;
} words[PROFILE_CLASSES] = {
    {"moves of joints",
     "turn joints further, so that they reach full speed, by different angles",
     "make moves of joints too short to reach full speed as well (below v^2 / a, 0.79 rad at "
     "1.05 rad/s and 1.4 rad/s^2)"},
    {"lines", "make longer lines, on which the tool reaches full speed, of different lengths",
     "make lines too short to reach full speed as well (below v^2 / a, 52 mm at 0.25 m/s and "
     "1.2 m/s^2)"},
};

/* The laps of such a class were not fitted. */
static bool has_equal_laps(const struct profile_law *law)
{
    return law->n >= PROFILE_TERMS && law->slopes.p == 0;
}

static void judge_count(struct profile_fit *fit)
{
    struct estimate *e = &fit->estimate;
    travel_judge_usable(e, fit->n, fit->refused);
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        const struct profile_law *law = &fit->law[k];
        if (has_equal_laps(law)) {
            travel_judge_equal_laps(e, words[k].moves, law->n, law->q[PROFILE_T0]);
        } else if (law->n > 0) {
            travel_judge_freedom(e, words[k].moves, law->n, "", PROFILE_TERMS, law->freedom);
        }
    }
}

static const char *term_name(size_t kind, size_t term)
{
    return profile_term_name((enum profile_term)(kind * PROFILE_TERMS + term));
}

/* Reports terms that the moves of a class do not determine, with moves that would. */
static void judge_determined(struct profile_fit *fit, size_t kind)
{
    struct estimate *e = &fit->estimate;
    const bool *known = &e->identifiable[kind * PROFILE_TERMS];
    if (fit->law[kind].n < PROFILE_TERMS || has_equal_laps(&fit->law[kind])) {
        return;
    }
    if (!known[PROFILE_SPEED]) {
        const bool any =
            e->identifiable[PROFILE_SPEED] || e->identifiable[PROFILE_TERMS + PROFILE_SPEED];
        estimate_reason(e, REASON_NOT_DETERMINED, any ? ESTIMATE_MARGINAL : ESTIMATE_FAIL,
                        "these %s do not determine %s", words[kind].moves,
                        term_name(kind, PROFILE_SPEED));
        estimate_advise(e, "%s", words[kind].longer);
    }
    if (!known[PROFILE_ACCELERATION] || !known[PROFILE_T0]) {
        estimate_reason(e, REASON_NOT_DETERMINED, ESTIMATE_MARGINAL,
                        "these %s do not distinguish %s from %s", words[kind].moves,
                        term_name(kind, PROFILE_T0), term_name(kind, PROFILE_ACCELERATION));
        estimate_advise(e, "%s", words[kind].shorter);
    }
}

static void judge_terms(struct profile_fit *fit, size_t kind)
{
    struct estimate *e = &fit->estimate;
    const size_t t0 = kind * PROFILE_TERMS;
    for (size_t j = PROFILE_SPEED; j < PROFILE_TERMS; j++) {
        const size_t i = t0 + j;
        if (e->identifiable[i]) {
            travel_judge_width(e, e->name[i], e->value[i], 0.5 * (e->hi[i] - e->lo[i]),
                               j == PROFILE_SPEED ? words[kind].longer : words[kind].shorter);
        }
    }
    if (e->identifiable[t0]) {
        travel_judge_delay(e, e->name[t0], e->value[t0], e->se[t0]);
    }
}

static void judge_residuals(struct profile_fit *fit)
{
    /* Outliers, such as late replies, do not decide it. */
    if (fit->outliers == 0) {
        travel_judge_r2(&fit->estimate, fit->r2);
    }
    travel_judge_outliers(&fit->estimate, fit->outliers, fit->n, "moves that were interrupted");
}

/* Runs the tests of travel times on the times by this law: moves of joints stand in for
 * rotations, moves on lines for displacements. */
static void judge_law(struct profile_fit *fit, const struct travel_law *law)
{
    static const struct travel_law_words law_words = {
        {"moves of joints", "lines"},
        {"s", "s"},
        {"the time of moves of joints", "the time of lines"},
        false,
        {{"shorter moves of joints", "longer moves of joints"},
         {"shorter lines", "longer lines"},
         {"early in the table", "late in the table"}},
    };
    struct estimate *e = &fit->estimate;
    if (!law->tested) {
        estimate_reason(e, REASON_TOO_FEW, ESTIMATE_MARGINAL,
                        "%zu moves are too few to test whether they follow the law", fit->n);
        estimate_advise(e, "make more moves, a dozen at least");
        return;
    }
    const enum travel_effect effect = travel_law_effect(law, fit->residual_s_sd);
    travel_judge_changes(e, law, effect, fit->n, &law_words);
    travel_judge_short(e, law, effect, &law_words);
    if (travel_law_bends(law)) {
        estimate_reason(e, REASON_LAPS_BEND, ESTIMATE_MARGINAL,
                        "laps bend with the size of the move otherwise than by one "
                        "acceleration (chance %.2g)",
                        law->bend_p);
    }
    travel_judge_causes(e, law, &law_words);
}

/* x is [n x TRAVEL_P], followed by y and residual, [n] each. */
static enum status test_law(const struct profile_move *moves, size_t n, double *memory,
                            struct profile_fit *fit)
{
    struct travel_law law;
    struct travel_accelerating accelerating;
    double *x = memory;
    double *y = memory + TRAVEL_P * fit->n;
    double *residual = y + fit->n;
    size_t row = 0;
    for (size_t i = 0; i < n; i++) {
        const double lap_s =
            profile_move_usable(&moves[i]) ? profile_time_predict(fit, &moves[i]) : (double)NAN;
        if (!isfinite(lap_s)) {
            continue;
        }
        const double s = lap_s - fit->law[moves[i].kind].q[PROFILE_T0];
        const bool joints = moves[i].kind == PROFILE_JOINTS;
        travel_row(joints ? s : 0.0, joints ? 0.0 : s, x + row * TRAVEL_P);
        y[row] = moves[i].lap_s;
        residual[row++] = moves[i].lap_s - lap_s;
    }
    const struct robust_ls_problem problem = {
        .x = x, .y = y, .n = row, .p = TRAVEL_P, .floor = FLOOR_S};
    const enum status st = row > 0 ? travel_law_test(&problem, residual, fit->residual_s_sd,
                                                     NULL, &law, &accelerating)
                                   : STATUS_OK;
    if (st == STATUS_OK && row > 0) {
        judge_law(fit, &law);
    }
    return st;
}

enum status profile_judge(const struct profile_move *moves, size_t n, struct profile_fit *fit)
{
    judge_count(fit);
    if (fit->n == 0) {
        return STATUS_OK;
    }
    for (size_t k = 0; k < PROFILE_CLASSES; k++) {
        judge_determined(fit, k);
        judge_terms(fit, k);
    }
    judge_residuals(fit);
    gsl_vector *memory = gsl_vector_alloc(fit->n * (TRAVEL_P + 2));
    const enum status st = memory ? test_law(moves, n, memory->data, fit) : STATUS_E_NOMEM;
    gsl_vector_free(memory);
    return st;
}

void profile_judge_units(struct profile_fit *fit)
{
    struct estimate *e = &fit->estimate;
    for (size_t i = 0; i < PROFILE_P; i++) {
        const double value = e->value[i];
        if (i % PROFILE_TERMS == PROFILE_T0) {
            if (value > DELAY_S_MAX) {
                plausible_doubt(e, "%s = %.3g s: looks like milliseconds",
                                profile_term_name((enum profile_term)i), value);
            }
        } else if (value > RATIO_MAX || value < 1.0 / RATIO_MAX) {
            plausible_doubt(e,
                            "%s = %.3g: no robot is that far from its command; are laps, sizes "
                            "and speeds in s, rad, m, rad/s and m/s?",
                            profile_term_name((enum profile_term)i), value);
        }
    }
}

void profile_check_part(struct profile_fit *whole, const char *name,
                        const struct profile_fit *part)
{
    const struct estimate *w = &whole->estimate;
    const struct estimate *p = &part->estimate;
    for (size_t i = 0; i < PROFILE_P; i++) {
        const struct travel_values values = {w->value[i], w->se[i], p->value[i], p->se[i],
                                             true};
        if (i % PROFILE_TERMS != PROFILE_T0 && travel_values_differ(&values, APART_SE)) {
            travel_report_part(&whole->estimate, name, p, i);
        }
    }
}

static double predict_lap(const void *fit, const void *moves, size_t i, double *lap_s)
{
    const struct profile_move *move = (const struct profile_move *)moves + i;
    *lap_s = move->lap_s;
    return profile_move_usable(move) ? profile_time_predict(fit, move) : (double)NAN;
}

enum status profile_hold_out(struct profile_fit *fit, const struct profile_move *moves,
                             size_t n, struct travel_held_out *held)
{
    const enum status st = travel_held_out_score(predict_lap, fit, moves, n, held);
    if (st == STATUS_OK) {
        (void)travel_held_out_judge(&fit->estimate, fit->n, fit->residual_s_sd, held);
    }
    return st;
}
