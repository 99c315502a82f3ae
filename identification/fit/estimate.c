#include "identification/fit/estimate.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <gsl/gsl_cdf.h>

#include "base/numbers/constants.h"
#include "base/text/known_numbers.h"
#include "base/text/text.h"

ENUM_NAMES(estimate_verdict, ESTIMATE_VERDICTS, "PASS", "MARGINAL", "FAIL");

static const struct {
    const char *code, *usual_advice;
} reasons[REASON_CODES] = {
#define REASON(name, code, meaning, advice) {code, advice},
#include "identification/fit/reason.def"
#undef REASON
};

const char *reason_code_name(enum reason_code code)
{
    return reasons[code].code;
}

void estimate_start(struct estimate *estimate, size_t p)
{
    assert(p <= ESTIMATE_P_MAX);
    memset(estimate, 0, sizeof *estimate);
    estimate->p = p;
    estimate->condition = NAN;
    for (size_t i = 0; i < ESTIMATE_P_MAX; i++) {
        estimate->value[i] = estimate->se[i] = estimate->se_white[i] = NAN;
        estimate->lo[i] = estimate->hi[i] = NAN;
        estimate->lo_open[i] = estimate->hi_open[i] = NAN;
        for (size_t k = 0; k < ESTIMATE_P_MAX; k++) {
            estimate->covariance[i][k] = NAN;
        }
    }
}

void estimate_name(struct estimate *estimate, size_t i, const char *name, const char *symbol)
{
    (void)snprintf(estimate->name[i], ESTIMATE_NAME_MAX, "%s", name);
    (void)snprintf(estimate->symbol[i], ESTIMATE_SYMBOL_MAX, "%s", symbol);
}

double estimate_reach(double freedom)
{
    return !(freedom >= ESTIMATE_FREEDOM_MIN) ? (double)NAN
           : isinf(freedom)                   ? NORMAL_95
                                              : gsl_cdf_tdist_Pinv(0.975, freedom);
}

void estimate_set(struct estimate *estimate, size_t i, double value, double se, double freedom)
{
    const double reach = estimate_reach(freedom) * se;
    estimate->value[i] = value;
    estimate->se[i] = se;
    estimate->lo[i] = value - reach;
    estimate->hi[i] = value + reach;
}

static bool is_listed(char list[][ESTIMATE_TEXT_MAX], size_t count, const char *text)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(list[i], text) == 0) {
            return true;
        }
    }
    return false;
}

/* Inserts a reason at its place in the list; a full list loses its last one. */
static void insert_reason(struct estimate *e, size_t at, enum reason_code code,
                          enum estimate_verdict at_best, const char *text)
{
    if (at == ESTIMATE_TEXTS_MAX) {
        return;
    }
    e->reason_count -= e->reason_count == ESTIMATE_TEXTS_MAX ? 1 : 0;
    const size_t after = e->reason_count - at;
    (void)memmove(e->reasons[at + 1], e->reasons[at], after * sizeof e->reasons[0]);
    (void)memmove(&e->reason_verdicts[at + 1], &e->reason_verdicts[at],
                  after * sizeof e->reason_verdicts[0]);
    (void)memmove(&e->reason_codes[at + 1], &e->reason_codes[at],
                  after * sizeof e->reason_codes[0]);
    (void)snprintf(e->reasons[at], ESTIMATE_TEXT_MAX, "%s", text);
    e->reason_codes[at] = code;
    e->reason_verdicts[at] = at_best;
    e->reason_count++;
}

static PRINTF_LIKE(5, 0) void add_reason(struct estimate *e, enum reason_code code,
                                         enum estimate_verdict at_best, bool first,
                                         const char *format, va_list args)
{
    char text[ESTIMATE_TEXT_MAX];
    (void)vsnprintf(text, sizeof text, format, args);
    known_numbers_replace(text, sizeof text);
    e->verdict = at_best > e->verdict ? at_best : e->verdict;
    if (is_listed(e->reasons, e->reason_count, text)) {
        return;
    }
    size_t at = first ? 0 : e->reason_count;
    while (at > 0 && e->reason_verdicts[at - 1] < at_best) {
        at--;
    }
    insert_reason(e, at, code, at_best, text);
}

void estimate_reason(struct estimate *estimate, enum reason_code code,
                     enum estimate_verdict at_best, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(estimate, code, at_best, false, format, args);
    va_end(args);
}

void estimate_reason_first(struct estimate *estimate, enum reason_code code,
                           enum estimate_verdict at_best, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(estimate, code, at_best, true, format, args);
    va_end(args);
}

void estimate_note(struct estimate *estimate, enum reason_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    add_reason(estimate, code, ESTIMATE_PASS, false, format, args);
    va_end(args);
}

size_t estimate_first_note(const struct estimate *e)
{
    size_t first = 0;
    while (first < e->reason_count && e->reason_verdicts[first] != ESTIMATE_PASS) {
        first++;
    }
    return first;
}

bool estimate_retain_reasons(struct estimate *e, uint64_t codes)
{
    const size_t count = e->reason_count;
    size_t kept = 0;
    e->verdict = ESTIMATE_PASS;
    for (size_t k = 0; k < count; k++) {
        const enum estimate_verdict at_best = e->reason_verdicts[k];
        if (at_best == ESTIMATE_PASS || codes >> e->reason_codes[k] & 1U) {
            e->verdict = at_best > e->verdict ? at_best : e->verdict;
            (void)memmove(e->reasons[kept], e->reasons[k], sizeof e->reasons[0]);
            e->reason_codes[kept] = e->reason_codes[k];
            e->reason_verdicts[kept++] = at_best;
        }
    }
    e->reason_count = kept;
    return kept < count;
}

void estimate_advise(struct estimate *estimate, const char *format, ...)
{
    char text[ESTIMATE_TEXT_MAX];
    TEXT_FORMAT(text, sizeof text, format);
    if (!is_listed(estimate->advice, estimate->advice_count, text) &&
        estimate->advice_count < ESTIMATE_TEXTS_MAX) {
        (void)snprintf(estimate->advice[estimate->advice_count++], ESTIMATE_TEXT_MAX, "%s",
                       text);
    }
}

bool estimate_has_reason(const struct estimate *estimate, enum reason_code code)
{
    bool has = false;
    for (size_t i = 0; i < estimate->reason_count; i++) {
        has = has || estimate->reason_codes[i] == code;
    }
    return has;
}

void estimate_advise_worst(struct estimate *e)
{
    const char *usual = e->reason_count > 0 ? reasons[e->reason_codes[0]].usual_advice : NULL;
    if (e->verdict != ESTIMATE_PASS && e->advice_count == 0) {
        estimate_advise(e, "%s",
                        usual ? usual
                              : "look for the cause that the first reason names, and record "
                                "again without it: longer, with more varied motion");
    }
}

double estimate_correlation(const struct estimate *estimate, size_t i, size_t j)
{
    const double product = estimate->covariance[i][i] * estimate->covariance[j][j];
    return estimate->covariance[i][j] / sqrt(product);
}
