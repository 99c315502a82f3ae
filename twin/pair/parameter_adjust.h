/* twin/pair/parameter_adjust.h - computes what a simulator must be sent so that its moves take
 * as long as the real robot's.
 *
 * Travel times are totals: a simulator that uses the real robot's speeds and delays still needs
 * its own additional time to start, stop and slip. Two fits give the correction:
 *
 *   relative   speed factor = factor before * real / virtual
 *              delay added  = added before + real - virtual
 *   absolute   speed sent   = sent before * real / virtual
 *              delay sent   = sent before + real - virtual
 *
 * "before" is what the simulator had acknowledged while the virtual robot made its moves.
 * Factors and additions refer to the simulator's own start values, so that a set has the same
 * meaning however often, and after whatever other set, it is applied. docs/model/parameters.md.
 * Pure, plain data without pointers.
 */
#ifndef TWIN_PAIR_PARAMETER_ADJUST_H
#define TWIN_PAIR_PARAMETER_ADJUST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "logger/message/json_write.h"
#include "twin/pair/parameter_terms.h"

/* Travel-time terms that the simulator acknowledged as applied; all zero: none, it uses its
 * own. */
struct parameter_force {
    uint8_t applied;  /* bit j: term j is as sent; else it is the simulator's own */
    uint8_t relative; /* bit j: term j is a factor or an addition; else a value */
    uint8_t judged;   /* enum parameter_judged */
    double sent[PARAMETER_TERMS_MAX];
    double aimed[PARAMETER_TERMS_MAX],
        aimed_se[PARAMETER_TERMS_MAX]; /* standard error of the real robot's value that was
                                          aimed at */
};

/* Does the virtual robot take the times that the sets in force request? */
enum parameter_judged {
    PARAMETERS_UNJUDGED, /* its moves do not show it yet */
    PARAMETERS_AS_ASKED,
    PARAMETERS_MISSED /* a term differs from its target, beyond chance */
};

/* Progress of the simulator with the sets that it was sent. */
enum simulator_state {
    SIMULATOR_OWN,      /* no set is in force: it uses its own parameters */
    SIMULATOR_SENT,     /* a set that it has not acknowledged */
    SIMULATOR_SETTLING, /* acknowledged; its moves will show the times */
    SIMULATOR_AS_ASKED, /* its moves take the requested times */
    SIMULATOR_MISSES,   /* they do not: another set is due */
    SIMULATOR_STATES
};

/* Result of comparing the laps of a group's moves with given terms. */
enum laps_match {
    LAPS_UNTESTED, /* too few moves, or a term is unknown: terms are compared one by one */
    LAPS_MATCHED,
    LAPS_OTHERS /* different beyond chance, and by a relevant amount */
};

/* The virtual robot at present; terms as the pair's, [count]. */
struct parameter_virtual {
    /* Bit g: its speeds of group g are known, and no term of it in force is absolute. */
    uint8_t adjustable;
    bool sent;   /* a fit exists and determines every term in force */
    bool missed; /* a term in force differs from its target, beyond chance */
    double does[PARAMETER_TERMS_MAX]; /* present values; NaN: unknown */
    double
        se[PARAMETER_TERMS_MAX]; /* of does, widened if few moves determine it; NaN: unknown */
    /* Arms: terms that give its laps, even if its moves cannot separate them; NaN: too few
     * moves. */
    double law[PARAMETER_TERMS_MAX];
};

/* The request of a set: both NaN if unknown. */
struct parameter_sent {
    double value[PARAMETER_TERMS_MAX]; /* absolute: the term's new value */
    double
        adjust[PARAMETER_TERMS_MAX]; /* relative: factor of a speed, seconds added to a delay */
};

/* Judges the virtual robot by does and se [count], widened if few moves determine them, from
 * its moves under the sets in force; does NULL: no fit. kept, by group: result of its laps
 * against the target. Sets all but out->law. */
void parameters_judge_virtual(const struct parameter_terms *terms,
                              const struct parameter_force *force, const double *does,
                              const double *se,
                              const enum laps_match match[PARAMETER_GROUPS_MAX],
                              struct parameter_virtual *out);

/* Does it differ from real[count] in a term, beyond chance, or is that unknown? */
bool parameters_virtual_differs(const struct parameter_terms *terms,
                                const struct parameter_virtual *virtual, const double *real,
                                const double *real_se);

/* Computes the request that makes the virtual robot take the times of real[count]. */
void parameters_adjust(const struct parameter_terms *terms, const struct parameter_force *force,
                       const struct parameter_virtual *virtual, const double *real,
                       struct parameter_sent *out);

/* Is every known term of the real robot requested as a change of the simulator's own? */
bool parameters_all_relative(const struct parameter_terms *terms,
                             const struct parameter_sent *sent, const double *real);

/* Applies the simulator's answer: it applied the terms in `ack`; the others stay. Returns
 * whether anything changed. */
bool parameters_apply_ack(const struct parameter_terms *terms, struct parameter_force *force,
                          const struct parameter_sent *sent, const double *real,
                          const double *real_se, const struct event_ack *ack, bool relative);

/* Writes {"t0_s":{"add":-0.1},"linear_speed_mps":{"factor":1.2}}; nothing if nothing is
 * known. */
void parameters_write_adjust(struct json_writer *w, const struct parameter_terms *terms,
                             const struct parameter_sent *sent);

ENUM_NAMES_DECLARED(simulator_state);

#endif
