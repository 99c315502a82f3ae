/* identification/travel/travel_judge.h - verdict on a fit of travel times.
 *
 * The second half of travel_time.c: verdict, reasons, and advice for missing moves
 * (docs/model/travel_time.md, section 3). Pure.
 */
#ifndef IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H
#define IDENTIFICATION_TRAVEL_TRAVEL_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "identification/numeric/robust_ls.h"
#include "identification/travel/travel_fit.h"
#include "identification/travel/travel_law.h"

/* Evidence for the verdict that is not in the fit. */
struct travel_evidence {
    const double *x;                /* [fit->n x TRAVEL_P] design by rows; NULL when n is 0 */
    const struct robust_ls_fit *ls; /* NULL when n is 0 */
    double r2_weighted;             /* of the weighted moves; NaN if undefined */
    /* OLS: number of moves far from a robust fit to which the others are much closer, and
     * the scale of that fit. */
    size_t wild_count;
    double closer_s;
    struct travel_law law;
    /* AUTO with a robust result: 1/w and 1/v by plain least squares; otherwise NaN. */
    double plain[TRAVEL_P], plain_se[TRAVEL_P];
};

/* Fills verdict, reasons and advice of an otherwise complete fit. */
void travel_judge(struct travel_fit *fit, const struct travel_evidence *evidence);

/* Adds a reason for each number that seems to have another unit. moves: those that were
 * fitted. */
void travel_judge_units(struct travel_fit *fit, const struct travel_move *moves, size_t n);

/* Value i of a part of the moves, or of other moves, and the same value of the whole. */
struct travel_values {
    double whole, whole_se, part, part_se;
    bool is_nested; /* the part is contained in the whole */
};

/* Returns whether both values differ by more than this many of their errors, and so much that
 * it matters. Nested errors: the difference has the variance of the part minus that of the
 * whole. */
bool travel_values_differ(const struct travel_values *values, double errors);

/* ---- judgements that fits of commanded moves share ---- */

/* Judges how many moves were usable. */
void travel_judge_usable(struct estimate *e, size_t n, size_t refused);

/* Judges whether moves leave enough degrees of freedom. moves: what they are called; which: a
 * clause about those that count, or "". */
void travel_judge_freedom(struct estimate *e, const char *moves, size_t count,
                          const char *which, size_t terms, size_t freedom);

/* Judges a value by the half width of its interval. */
void travel_judge_width(struct estimate *e, const char *name, double value, double half,
                        const char *advice);

/* Judges a delay, whatever its name is, and the explained variance. */
void travel_judge_delay(struct estimate *e, const char *name, double value, double se);
void travel_judge_r2(struct estimate *e, double r2);

/* Judges outliers among n moves. usual: what they often are. */
void travel_judge_outliers(struct estimate *e, size_t outliers, size_t n, const char *usual);

/* Names for the results of the tests of a law, by rotation and displacement. */
struct travel_law_words {
    const char *moves[TRAVEL_SIZES], *unit[TRAVEL_SIZES];
    const char *changed[TRAVEL_SIZES];
    bool is_inverse; /* changed is a speed: its changes are those of an inverse */
    const char *causes[TRAVEL_CAUSES][2]; /* outliers with less, with more of a cause */
};

/* Judges changes with the order of n moves, and kinds of moves. effect: the one that the moves
 * have, TRAVEL_EFFECTS: none. */
void travel_judge_changes(struct estimate *e, const struct travel_law *law,
                          enum travel_effect effect, size_t n,
                          const struct travel_law_words *words);
/* Judges short moves that take longer than the law, or less. */
void travel_judge_short(struct estimate *e, const struct travel_law *law,
                        enum travel_effect effect, const struct travel_law_words *words);
/* Reports how large the effects may be that were not found. */
void travel_report_not_excluded(struct estimate *e, const struct travel_law *law,
                                const struct travel_law_words *words);
/* Judges outliers that share a cause: they are no outliers. */
void travel_judge_causes(struct estimate *e, const struct travel_law *law,
                         const struct travel_law_words *words);

/* Adds advice for a speed with an unphysical sign. */
void travel_advise_column(struct estimate *e, enum travel_term term);

extern const char *const travel_inverse_names[TRAVEL_P], *const travel_inverse_units[TRAVEL_P];

/* Reports laps that say nothing about the moves: the only reason, since no value is known. */
void travel_judge_equal_laps(struct estimate *e, const char *moves, size_t n, double lap_s);

#endif
