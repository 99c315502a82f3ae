#include "twin/pair/parameter_adjust.h"

#include <math.h>

#include "base/hash.h"

/* A difference of so many standard errors is no chance. */
static const double MISS_Z = 3.0;
/* Nor does a smaller one matter: seconds of a delay, share of a speed. */
static const double MISS_MIN = 1e-3;

static bool is_speed(enum travel_term j)
{
    return j >= TRAVEL_INV_W;
}

static bool has_bit(uint8_t bits, enum travel_term j)
{
    return ((unsigned)bits >> (unsigned)j & 1U) != 0;
}

/* The error that a normal quantile makes the fit's own interval of: wider than se where few
 * moves tell the noise. NaN where too few do. */
static double widened_se(const struct travel_fit *fit, enum travel_term j)
{
    return (fit->estimate.hi[j] - fit->estimate.lo[j]) / 2.0 / estimate_reach(INFINITY);
}

static bool is_apart(enum travel_term j, double a, double a_se, double b, double b_se)
{
    const double gap = fabs(a - b);
    return gap > MISS_Z * hypot(a_se, b_se) && gap > MISS_MIN * (is_speed(j) ? fabs(b) : 1.0);
}

static bool misses_aim(const struct parameter_force *force,
                       const struct parameter_virtual *virtual)
{
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (has_bit(force->applied, j) && is_apart(j, virtual->does[j], virtual->se[j],
                                                   force->aimed[j], force->aimed_se[j])) {
            return true;
        }
    }
    return false;
}

void parameters_judge_virtual(const struct parameter_force *force, const struct travel_fit *fit,
                              struct parameter_virtual *out)
{
    out->told = fit != NULL;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        out->does[j] = fit ? fit->estimate.value[j] : nan("");
        out->se[j] = fit ? widened_se(fit, j) : nan("");
        out->told = out->told && (!has_bit(force->applied, j) || isfinite(out->se[j]));
    }
    out->missed = misses_aim(force, out);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        /* What does as it was told needs no second noise. */
        if (has_bit(force->applied, j) && (!out->missed || isnan(out->does[j]))) {
            out->does[j] = force->aimed[j];
            out->se[j] = force->aimed_se[j];
        }
    }
    out->adjustable = force->applied == (force->applied & force->relative) &&
                      out->does[TRAVEL_INV_W] > 0.0 && out->does[TRAVEL_INV_V] > 0.0;
}

bool parameters_virtual_differs(const struct parameter_virtual *virtual,
                                const double real[TRAVEL_P], const double real_se[TRAVEL_P])
{
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const bool known = isfinite(virtual->se[j]);
        if (isfinite(real[j]) &&
            (!known || is_apart(j, virtual->does[j], virtual->se[j], real[j], real_se[j]))) {
            return true;
        }
    }
    return false;
}

/* Where moves of one class do not tell delays apart, t0_s is the sum of them: two sums of
 * different delays say nothing about each other. */
static bool same_delays(const double a[TRAVEL_P], const double b[TRAVEL_P])
{
    return isfinite(a[TRAVEL_T0]) && isfinite(b[TRAVEL_T0]) &&
           isfinite(a[TRAVEL_TA]) == isfinite(b[TRAVEL_TA]) &&
           isfinite(a[TRAVEL_TR]) == isfinite(b[TRAVEL_TR]);
}

/* `before`, of a term that does so and shall do as the real robot. */
static double correct_term(enum travel_term j, double before, double does, double real)
{
    return is_speed(j) ? before * real / does : before + real - does;
}

void parameters_adjust(const struct parameter_force *force,
                       const struct parameter_virtual *virtual, const double real[TRAVEL_P],
                       struct parameter_told *out)
{
    const bool delays = same_delays(virtual->does, real);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const bool told = has_bit(force->applied, j);
        const bool relative = has_bit(force->relative, j);
        const bool known =
            isfinite(real[j]) && isfinite(virtual->does[j]) && (is_speed(j) || delays);
        const double before = told ? force->told[j] : is_speed(j) ? 1.0 : 0.0;
        const double after =
            known ? correct_term(j, before, virtual->does[j], real[j]) : before;
        out->value[j] = told && !relative && known ? after : real[j];
        out->adjust[j] = virtual->adjustable && isfinite(real[j]) ? after : nan("");
    }
}

static bool names_term(const struct event_ack *ack, enum travel_term j)
{
    const uint64_t hash = hash_text(travel_term_name(j));
    for (size_t k = 0; k < ack->applied && k < EVENT_APPLIED_MAX; k++) {
        if (ack->applied_hash[k] == hash) {
            return true;
        }
    }
    return false;
}

bool parameters_take(struct parameter_force *force, const struct parameter_told *told,
                     const double real[TRAVEL_P], const double real_se[TRAVEL_P],
                     const struct event_ack *ack, bool relative)
{
    bool other = false;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (!isfinite(told->value[j]) || !names_term(ack, j)) {
            continue;
        }
        const uint8_t bit = (uint8_t)(1U << (unsigned)j);
        const bool adjusted = relative && isfinite(told->adjust[j]);
        /* No simulator waits less than not at all. */
        const double value = is_speed(j) ? told->value[j] : fmax(told->value[j], 0.0);
        const double now = adjusted ? told->adjust[j] : value;
        other = other || !has_bit(force->applied, j) ||
                has_bit(force->relative, j) != adjusted || fabs(force->told[j] - now) > 0.0;
        force->applied |= bit;
        force->relative = (uint8_t)(adjusted ? force->relative | bit : force->relative & ~bit);
        force->told[j] = now;
        force->aimed[j] = real[j];
        force->aimed_se[j] = real_se[j];
    }
    if (other) {
        force->judged = PARAMETERS_UNJUDGED;
    }
    return other;
}

void parameters_write_adjust(struct json_writer *w, const struct parameter_told *told)
{
    bool any = false;
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        if (!isfinite(told->adjust[j])) {
            continue;
        }
        if (!any) {
            json_write_object(w, "adjust");
        }
        any = true;
        json_write_object(w, travel_term_name(j));
        json_write_real(w, is_speed(j) ? "factor" : "add", told->adjust[j]);
        json_write_close(w);
    }
    if (any) {
        json_write_close(w);
    }
}

ENUM_NAMES(simulator_state, SIMULATOR_STATES, "own", "told", "settling", "as_asked", "misses");
