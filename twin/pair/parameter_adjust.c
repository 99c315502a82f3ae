#include "twin/pair/parameter_adjust.h"

#include <math.h>

#include "base/numbers/hash.h"
#include "twin/pair/pair_thresholds.def"

static bool has_bit(uint8_t bits, size_t j)
{
    return ((unsigned)bits >> j & 1U) != 0;
}

static bool is_apart(const struct parameter_term *term, double a, double a_se, double b,
                     double b_se)
{
    const double gap = fabs(a - b);
    return gap > DIFFERENCE_Z * hypot(a_se, b_se) &&
           gap > MISS_MIN * (term->rate ? fabs(b) : 1.0);
}

static bool misses_aim(const struct parameter_terms *terms, const struct parameter_force *force,
                       const struct parameter_virtual *virtual, uint8_t group)
{
    for (size_t j = 0; j < terms->count; j++) {
        if (terms->term[j].group == group && has_bit(force->applied, j) &&
            is_apart(&terms->term[j], virtual->does[j], virtual->se[j], force->aimed[j],
                     force->aimed_se[j])) {
            return true;
        }
    }
    return false;
}

static uint8_t adjustable_groups(const struct parameter_terms *terms,
                                 const struct parameter_force *force,
                                 const struct parameter_virtual *virtual)
{
    unsigned all = 0;
    unsigned without = 0;
    for (size_t j = 0; j < terms->count; j++) {
        const struct parameter_term *term = &terms->term[j];
        const bool absolute = has_bit(force->applied, j) && !has_bit(force->relative, j);
        const bool known = virtual->does[j] > 0.0 &&
                           virtual->se[j] <= SPEED_SE_RATIO_MAX * virtual->does[j];
        all |= 1U << term->group;
        without |= (unsigned)(absolute || (term->needed && !known)) << term->group;
    }
    return (uint8_t)(all & ~without);
}

void parameters_judge_virtual(const struct parameter_terms *terms,
                              const struct parameter_force *force, const double *does,
                              const double *se,
                              const enum laps_match match[PARAMETER_GROUPS_MAX],
                              struct parameter_virtual *out)
{
    bool missed[PARAMETER_GROUPS_MAX];
    out->sent = does != NULL;
    for (size_t j = 0; j < terms->count; j++) {
        out->does[j] = does ? does[j] : nan("");
        out->se[j] = does ? se[j] : nan("");
        out->sent = out->sent && (!has_bit(force->applied, j) || isfinite(out->se[j]));
    }
    out->missed = false;
    for (uint8_t g = 0; g < PARAMETER_GROUPS_MAX; g++) {
        missed[g] = match[g] == LAPS_UNTESTED ? misses_aim(terms, force, out, g)
                                              : match[g] == LAPS_OTHERS;
        out->missed = out->missed || missed[g];
    }
    for (size_t j = 0; j < terms->count; j++) {
        /* A term that already behaves as requested needs no further correction, which would
         * only add noise. */
        if (has_bit(force->applied, j) &&
            (!missed[terms->term[j].group] || isnan(out->does[j]))) {
            out->does[j] = force->aimed[j];
            out->se[j] = force->aimed_se[j];
        }
    }
    out->adjustable = adjustable_groups(terms, force, out);
}

bool parameters_virtual_differs(const struct parameter_terms *terms,
                                const struct parameter_virtual *virtual, const double *real,
                                const double *real_se)
{
    for (size_t j = 0; j < terms->count; j++) {
        const bool known = isfinite(virtual->se[j]);
        if (isfinite(real[j]) && (!known || is_apart(&terms->term[j], virtual->does[j],
                                                     virtual->se[j], real[j], real_se[j]))) {
            return true;
        }
    }
    return false;
}

/* If moves of one class cannot separate delays, the group's first delay is their sum. Sums of
 * different delays cannot be compared. */
static bool same_delays(const struct parameter_terms *terms, uint8_t group, const double *a,
                        const double *b)
{
    bool first = true;
    for (size_t j = 0; j < terms->count; j++) {
        if (terms->term[j].group != group || terms->term[j].rate) {
            continue;
        }
        if (isfinite(a[j]) != isfinite(b[j]) || (first && !isfinite(a[j]))) {
            return false;
        }
        first = false;
    }
    return true;
}

/* Corrects `before`, the value of a term that now behaves like `does` and must behave like the
 * real robot. */
static double correct_term(const struct parameter_term *term, double before, double does,
                           double real)
{
    return term->rate ? before * real / does : before + real - does;
}

void parameters_adjust(const struct parameter_terms *terms, const struct parameter_force *force,
                       const struct parameter_virtual *virtual, const double *real,
                       struct parameter_sent *out)
{
    for (size_t j = 0; j < terms->count; j++) {
        const struct parameter_term *term = &terms->term[j];
        const bool sent = has_bit(force->applied, j);
        const bool relative = has_bit(force->relative, j);
        const bool known = isfinite(real[j]) && isfinite(virtual->does[j]) &&
                           (term->rate || same_delays(terms, term->group, virtual->does, real));
        const double before = sent ? force->sent[j] : term->rate ? 1.0 : 0.0;
        const double after =
            known ? correct_term(term, before, virtual->does[j], real[j]) : before;
        const bool adjusts = has_bit(virtual->adjustable, term->group) && isfinite(real[j]);
        out->value[j] = sent && !relative && known ? after : real[j];
        out->adjust[j] = adjusts ? after : nan("");
    }
}

bool parameters_all_relative(const struct parameter_terms *terms,
                             const struct parameter_sent *sent, const double *real)
{
    for (size_t j = 0; j < terms->count; j++) {
        if (isfinite(real[j]) && !isfinite(sent->adjust[j])) {
            return false;
        }
    }
    return true;
}

static bool names_term(const struct event_ack *ack, const char *name)
{
    const uint64_t hash = hash_text(name);
    for (size_t k = 0; k < ack->applied && k < EVENT_APPLIED_MAX; k++) {
        if (ack->applied_hash[k] == hash) {
            return true;
        }
    }
    return false;
}

bool parameters_apply_ack(const struct parameter_terms *terms, struct parameter_force *force,
                          const struct parameter_sent *sent, const double *real,
                          const double *real_se, const struct event_ack *ack, bool relative)
{
    bool other = false;
    for (size_t j = 0; j < terms->count; j++) {
        if (!isfinite(sent->value[j]) || !names_term(ack, parameter_term_name(terms, j))) {
            continue;
        }
        const uint8_t bit = (uint8_t)(1U << j);
        const bool adjusted = relative && isfinite(sent->adjust[j]);
        /* A simulator cannot wait for a negative time. */
        const double value = terms->term[j].rate ? sent->value[j] : fmax(sent->value[j], 0.0);
        const double now = adjusted ? sent->adjust[j] : value;
        other = other || !has_bit(force->applied, j) ||
                has_bit(force->relative, j) != adjusted || fabs(force->sent[j] - now) > 0.0;
        force->applied |= bit;
        force->relative = (uint8_t)(adjusted ? force->relative | bit : force->relative & ~bit);
        force->sent[j] = now;
        force->aimed[j] = real[j];
        force->aimed_se[j] = real_se[j];
    }
    if (other) {
        force->judged = PARAMETERS_UNJUDGED;
    }
    return other;
}

void parameters_write_adjust(struct json_writer *w, const struct parameter_terms *terms,
                             const struct parameter_sent *sent)
{
    bool any = false;
    for (size_t j = 0; j < terms->count; j++) {
        if (!isfinite(sent->adjust[j])) {
            continue;
        }
        if (!any) {
            json_write_object(w, "adjust");
        }
        any = true;
        JSON_WRITE_OBJECT(w, parameter_term_name(terms, j),
                          JSON(terms->term[j].rate ? "factor" : "add", sent->adjust[j]));
    }
    if (any) {
        json_write_close(w);
    }
}

ENUM_NAMES(simulator_state, SIMULATOR_STATES, "own", "sent", "settling", "as_asked", "misses");
