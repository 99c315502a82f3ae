/* twin/pair/parameter_adjust.h - from how long a simulator's moves take to what it is told.
 *
 * Travel times are totals: a simulator that sets its speeds and waits to the real robot's keeps
 * what it needs besides, to start, to stop, to slip. Two fits tell what is missing,
 *
 *     relative   speed factor = factor before * real / virtual
 *                delay added  = added before + real - virtual
 *     absolute   speed told   = told before * real / virtual
 *                delay told   = told before + real - virtual
 *
 * where "before" is what the simulator had acknowledged while the virtual robot's moves were
 * made. Factors and what is added are against the simulator's own start values, so that a set
 * means the same however often, and after whatever other set, it is applied.
 * docs/model/parameters.md. Pure, plain data without pointers.
 */
#ifndef TWIN_PAIR_PARAMETER_ADJUST_H
#define TWIN_PAIR_PARAMETER_ADJUST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/names.h"
#include "identification/travel/travel_fit.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"

/* What of travel times the simulator acknowledged to have applied; all zero: nothing, it runs
 * on its own. */
struct parameter_force {
    uint8_t applied;  /* bit j: term j is as told; else it is the simulator's own */
    uint8_t relative; /* bit j: told is a factor, or added; else it is the value itself */
    uint8_t judged;   /* enum parameter_judged */
    double told[TRAVEL_P];
    double aimed[TRAVEL_P], aimed_se[TRAVEL_P]; /* the real robot's, that it was made for */
};

/* Does the virtual robot take the times that what is in force asks for? */
enum parameter_judged {
    PARAMETERS_UNJUDGED, /* it has not made the moves yet that tell */
    PARAMETERS_AS_ASKED,
    PARAMETERS_MISSED /* a term is not what it was to be, beyond chance */
};

/* How far the simulator has come with what it was told. */
enum simulator_state {
    SIMULATOR_OWN,      /* nothing is in force: it runs on its own parameters */
    SIMULATOR_TOLD,     /* a set that it has not acknowledged */
    SIMULATOR_SETTLING, /* it has; whether its moves take the times will be seen */
    SIMULATOR_AS_ASKED, /* they do */
    SIMULATOR_MISSES,   /* they do not: another set is due */
    SIMULATOR_STATES
};

/* What is known of the virtual robot as it runs now. */
struct parameter_virtual {
    bool adjustable;       /* its speeds are known, and nothing in force is absolute */
    bool told;             /* there is a fit, and it determines every term in force */
    bool missed;           /* a term in force is not what it was to be, beyond chance */
    double does[TRAVEL_P]; /* NaN: not known */
    double se[TRAVEL_P];   /* of does, widened where few moves tell it; NaN: not known */
};

/* What a set asks for: both NaN where it is not known. */
struct parameter_told {
    double value[TRAVEL_P];  /* absolute: what the term shall be set to */
    double adjust[TRAVEL_P]; /* relative: factor of a speed, seconds added to a delay */
};

/* fit: of the virtual robot's moves under what is in force; NULL: there is none. */
void parameters_judge_virtual(const struct parameter_force *force, const struct travel_fit *fit,
                              struct parameter_virtual *out);

/* Does it do otherwise than real[TRAVEL_P] in a term, beyond chance, or is that not known? */
bool parameters_virtual_differs(const struct parameter_virtual *virtual,
                                const double real[TRAVEL_P], const double real_se[TRAVEL_P]);

/* What makes the virtual robot take the times of real[TRAVEL_P]. */
void parameters_adjust(const struct parameter_force *force,
                       const struct parameter_virtual *virtual, const double real[TRAVEL_P],
                       struct parameter_told *out);

/* The simulator took of the set that asks for this what `ack` names; the rest is as it was.
 * Returns whether that is something else than before. */
bool parameters_take(struct parameter_force *force, const struct parameter_told *told,
                     const double real[TRAVEL_P], const double real_se[TRAVEL_P],
                     const struct event_ack *ack, bool relative);

/* {"t0_s":{"add":-0.1},"linear_speed_mps":{"factor":1.2}}; nothing when nothing is known. */
void parameters_write_adjust(struct json_writer *w, const struct parameter_told *told);

extern const struct names simulator_state_names;
const char *simulator_state_name(enum simulator_state state);

#endif
