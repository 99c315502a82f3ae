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

#include "base/text/names.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"
#include "twin/pair/parameter_terms.h"

/* What of travel times the simulator acknowledged to have applied; all zero: nothing, it runs
 * on its own. */
struct parameter_force {
    uint8_t applied;  /* bit j: term j is as told; else it is the simulator's own */
    uint8_t relative; /* bit j: told is a factor, or added; else it is the value itself */
    uint8_t judged;   /* enum parameter_judged */
    double sent[PARAMETER_TERMS_MAX];
    double aimed[PARAMETER_TERMS_MAX],
        aimed_se[PARAMETER_TERMS_MAX]; /* the real robot's, that it was made for */
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
    SIMULATOR_SENT,     /* a set that it has not acknowledged */
    SIMULATOR_SETTLING, /* it has; whether its moves take the times will be seen */
    SIMULATOR_AS_ASKED, /* they do */
    SIMULATOR_MISSES,   /* they do not: another set is due */
    SIMULATOR_STATES
};

/* What the laps of a group's moves say of the terms that they were held against. */
enum laps_match {
    LAPS_UNTESTED, /* too few moves, or a term is not known: the terms are asked one by one */
    LAPS_MATCHED,
    LAPS_OTHERS /* beyond chance, and by more than matters */
};

/* What is known of the virtual robot as it runs now; terms as of the pair's, [count]. */
struct parameter_virtual {
    /* Bit g: its speeds of group g are known, and nothing in force of it is absolute. */
    uint8_t adjustable;
    bool sent;   /* there is a fit, and it determines every term in force */
    bool missed; /* a term in force is not what it was to be, beyond chance */
    double does[PARAMETER_TERMS_MAX]; /* NaN: not known */
    double
        se[PARAMETER_TERMS_MAX]; /* of does, widened where few moves tell it; NaN: not known */
    /* Of an arm: terms that make its laps, though its moves may not tell one from another; NaN:
     * there were too few. */
    double law[PARAMETER_TERMS_MAX];
};

/* What a set asks for: both NaN where it is not known. */
struct parameter_sent {
    double value[PARAMETER_TERMS_MAX]; /* absolute: what the term shall be set to */
    double
        adjust[PARAMETER_TERMS_MAX]; /* relative: factor of a speed, seconds added to a delay */
};

/* does, se [count], widened where few moves tell it: by the virtual robot's moves under what is
 * in force; does NULL: there is no fit of them. kept, by group: what their laps say of what was
 * aimed at. All but out->law. */
void parameters_judge_virtual(const struct parameter_terms *terms,
                              const struct parameter_force *force, const double *does,
                              const double *se,
                              const enum laps_match match[PARAMETER_GROUPS_MAX],
                              struct parameter_virtual *out);

/* Does it do otherwise than real[count] in a term, beyond chance, or is that not known? */
bool parameters_virtual_differs(const struct parameter_terms *terms,
                                const struct parameter_virtual *virtual, const double *real,
                                const double *real_se);

/* What makes the virtual robot take the times of real[count]. */
void parameters_adjust(const struct parameter_terms *terms, const struct parameter_force *force,
                       const struct parameter_virtual *virtual, const double *real,
                       struct parameter_sent *out);

/* Is every term that is known of the real robot told as a change of the simulator's own? */
bool parameters_all_relative(const struct parameter_terms *terms,
                             const struct parameter_sent *sent, const double *real);

/* The simulator took of the set that asks for this what `ack` names; the rest is as it was.
 * Returns whether that is something else than before. */
bool parameters_apply_ack(const struct parameter_terms *terms, struct parameter_force *force,
                          const struct parameter_sent *sent, const double *real,
                          const double *real_se, const struct event_ack *ack, bool relative);

/* {"t0_s":{"add":-0.1},"linear_speed_mps":{"factor":1.2}}; nothing when nothing is known. */
void parameters_write_adjust(struct json_writer *w, const struct parameter_terms *terms,
                             const struct parameter_sent *sent);

extern const struct names simulator_state_names;
const char *simulator_state_name(enum simulator_state state);

#endif
