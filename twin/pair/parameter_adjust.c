#include "twin/pair/parameter_adjust.h"

#include <math.h>

#include "base/hash.h"

/* A difference of so many standard errors is no chance. */
static const double MISS_Z = 3.0;

static bool is_speed(enum travel_term j)
{
    return j >= TRAVEL_INV_W;
}

static bool has_bit(uint8_t bits, enum travel_term j)
{
    return ((unsigned)bits >> (unsigned)j & 1U) != 0;
}

static bool misses_aim(const struct parameter_force *force, const struct travel_fit *fit)
{
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const double sd = hypot(fit->estimate.se[j], force->aimed_se[j]);
        if (has_bit(force->applied, j) && sd > 0.0 &&
            fabs(fit->estimate.value[j] - force->aimed[j]) > MISS_Z * sd) {
            return true;
        }
    }
    return false;
}

void parameters_judge_virtual(const struct parameter_force *force, const struct travel_fit *fit,
                              struct parameter_virtual *out)
{
    out->missed = fit && misses_aim(force, fit);
    for (enum travel_term j = TRAVEL_T0; j < TRAVEL_P; j++) {
        const double measured = fit ? fit->estimate.value[j] : nan("");
        /* What does as it was told needs no second noise. */
        const bool as_told = has_bit(force->applied, j) && (!out->missed || isnan(measured));
        out->does[j] = as_told ? force->aimed[j] : measured;
    }
    out->adjustable = force->applied == (force->applied & force->relative) &&
                      out->does[TRAVEL_INV_W] > 0.0 && out->does[TRAVEL_INV_V] > 0.0;
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
