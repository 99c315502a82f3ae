/* identification/fit/estimate.h - result of every fit: parameters, their errors, and a verdict.
 *
 * Fits of travel times, dynamics and odometry embed it and fill it by their own rules. Code
 * that prints a fit needs only this form. Plain data, stored in checkpoints.
 */
#ifndef IDENTIFICATION_FIT_ESTIMATE_H
#define IDENTIFICATION_FIT_ESTIMATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/text/names.h"

enum {
    ESTIMATE_P_MAX = 26, /* parameters, constant efforts and a delay; or the links of an arm */
    ESTIMATE_NAME_MAX = 64,
    ESTIMATE_SYMBOL_MAX = 12,
    ESTIMATE_NULLS_MAX = 4,
    ESTIMATE_COMBINATIONS_MAX = 8,
    ESTIMATE_TEXT_MAX = 200,
    ESTIMATE_TEXTS_MAX = 16,
    /* Fewer degrees of freedom do not determine the errors, so that no interval is given. */
    ESTIMATE_FREEDOM_MIN = 5
};

enum estimate_verdict { ESTIMATE_PASS, ESTIMATE_MARGINAL, ESTIMATE_FAIL, ESTIMATE_VERDICTS };

enum reason_code {
#define REASON(name, code, meaning, advice) name,
#include "identification/fit/reason.def"
#undef REASON
    REASON_CODES
};

const char *reason_code_name(enum reason_code code); /* "too_few" … */

/* A combination that the data determine although they do not determine its parameters. */
struct estimate_combination {
    /* "hull_kg + 2 load_kg", "t0_s + 1.57 / angular_speed_radps" */
    char name[ESTIMATE_TEXT_MAX];
    double value, se; /* in the unit of the first parameter; NaN: unknown */
};

/* NaN marks an unknown value. */
struct estimate {
    size_t p;
    char name[ESTIMATE_P_MAX][ESTIMATE_NAME_MAX];     /* "surge_mass_kg" */
    char symbol[ESTIMATE_P_MAX][ESTIMATE_SYMBOL_MAX]; /* "d1", for narrow columns */
    double value[ESTIMATE_P_MAX];    /* NaN if it is part of a null direction */
    double se[ESTIMATE_P_MAX];       /* standard error behind lo and hi */
    double se_white[ESTIMATE_P_MAX]; /* standard error for independent residuals */
    double lo[ESTIMATE_P_MAX], hi[ESTIMATE_P_MAX]; /* 95 % interval; NaN: too few data */
    /* 95 % interval that also holds if an effect acts which the data do not exclude; NaN: not
     * computed. lo and hi hold only if the model is right. */
    double lo_open[ESTIMATE_P_MAX], hi_open[ESTIMATE_P_MAX];
    double covariance[ESTIMATE_P_MAX][ESTIMATE_P_MAX]; /* se^2 on the diagonal */
    bool identifiable[ESTIMATE_P_MAX]; /* determined, and accurate enough to be useful */
    size_t rank;
    double condition; /* of the columns scaled to unit length; infinite if the rank is short */
    size_t null_count;
    char nulls[ESTIMATE_NULLS_MAX][ESTIMATE_TEXT_MAX]; /* "a, b in the ratio 1 : -0.5" */
    size_t combination_count;
    struct estimate_combination combinations[ESTIMATE_COMBINATIONS_MAX];
    enum estimate_verdict verdict;
    size_t reason_count;
    char reasons[ESTIMATE_TEXTS_MAX][ESTIMATE_TEXT_MAX]; /* worst first */
    enum reason_code reason_codes[ESTIMATE_TEXTS_MAX];   /* their kinds */
    /* best verdict with each reason */
    enum estimate_verdict reason_verdicts[ESTIMATE_TEXTS_MAX];
    size_t advice_count;
    char advice[ESTIMATE_TEXTS_MAX][ESTIMATE_TEXT_MAX]; /* "run a zig-zag at two speeds" */
};

ENUM_NAMES_DECLARED(estimate_verdict); /* "PASS" … */

/* Sets p parameters (<= ESTIMATE_P_MAX) to unknown; PASS until a reason lowers it.
 * estimate_name() sets their names. */
void estimate_start(struct estimate *estimate, size_t p);
void estimate_name(struct estimate *estimate, size_t i, const char *name, const char *symbol);

/* Returns the number of standard errors from an estimate to the ends of its 95 % interval:
 * Student's t for the degrees of freedom of the errors, INFINITY if they are known. NaN
 * below ESTIMATE_FREEDOM_MIN. */
double estimate_reach(double freedom);

/* Sets a value, its error and its interval. */
void estimate_set(struct estimate *estimate, size_t i, double value, double se, double freedom);

/* Adds a reason or an advice, cut to its maximum length; dropped if the list already has it.
 * A reason lowers the verdict to at_best. It is inserted after those that are as bad. A full
 * list of reasons loses its last one, so that the reason of the verdict always remains; a
 * full list of advice drops the new one. */
void estimate_reason(struct estimate *estimate, enum reason_code code,
                     enum estimate_verdict at_best, const char *format, ...) PRINTF_LIKE(4, 5);
/* The same at the head of the list, for a reason that explains the others. */
void estimate_reason_first(struct estimate *estimate, enum reason_code code,
                           enum estimate_verdict at_best, const char *format, ...)
    PRINTF_LIKE(4, 5);
void estimate_advise(struct estimate *estimate, const char *format, ...) PRINTF_LIKE(2, 3);

/* Adds a note: a reason that lowers no verdict. It stands behind all that do. */
void estimate_note(struct estimate *estimate, enum reason_code code, const char *format, ...)
    PRINTF_LIKE(3, 4);
/* Returns the index of the first note in reasons; reason_count if there is none. */
size_t estimate_first_note(const struct estimate *estimate);
bool estimate_has_reason(const struct estimate *estimate, enum reason_code code);

/* Removes reasons that lower the verdict and whose code is not in codes (bits 1 << enum
 * reason_code); the verdict becomes that of the others. Returns true if it removed any. */
bool estimate_retain_reasons(struct estimate *estimate, uint64_t codes);

/* Call it after all judgements: MARGINAL and FAIL always come with advice; if there is none,
 * it is the usual one for the worst reason. */
void estimate_advise_worst(struct estimate *estimate);

/* Returns the correlation of two parameters' errors; NaN if one is unknown. */
double estimate_correlation(const struct estimate *estimate, size_t i, size_t j);

#endif
