/* twin/team/check/team_static_check.h - what is wrong with a team's sequences before anybody
 * has moved.
 *
 * Every step is looked at on every way that leads to it: through loops, both sides of a
 * condition, sequences within sequences, and round again by Repeat. A condition on the part in
 * hand goes the same way each time until another part is taken, so that a Lock in one `If` and
 * its UnLock in another are seen to belong together. Pure; docs/model/teams_theory.md, "Static
 * check".
 */
#ifndef TWIN_TEAM_CHECK_TEAM_STATIC_CHECK_H
#define TWIN_TEAM_CHECK_TEAM_STATIC_CHECK_H

#include "base/errors/err.h"
#include "twin/team/step/team_params.h"

enum {
    TEAM_HELD_MAX = 64,             /* resources that one robot may hold at once */
    TEAM_PATH_STATES_MAX = 1 << 20, /* steps x (parts of conditions + 1) of one sequence */
    TEAM_FAULT_TEXT_MAX = 256,      /* bytes of a fault as text */
    TEAM_NO_STEP = TEAM_FLAT_STEPS_MAX
};

/* Faults refuse a team, warnings are told. */
enum team_fault_kind {
    TEAM_FAULT_ORDER = FAULT_LOCK_ORDER,   /* `step`: of what goes before `other`'s */
    TEAM_FAULT_NESTED = FAULT_NESTED_LOCK, /* Lock `step` while Lock `other` holds */
    TEAM_FAULT_MEETING = FAULT_MEETING_WHILE_HOLDING, /* a warning if locking is free */
    TEAM_FAULT_DOUBLE_LOCK = FAULT_DOUBLE_LOCK,       /* Lock `step` of what `other` holds */
    TEAM_FAULT_NOT_OWNER = FAULT_NOT_OWNER,           /* UnLock `step` of what is not held */
    TEAM_FAULT_NEVER_RELEASED = FAULT_NEVER_RELEASED, /* Lock `step`; still held at `other` */
    TEAM_FAULT_ZERO_TIME = FAULT_ZERO_TIME_LOOP,      /* from `step` to `other` and back */
    TEAM_FAULT_TOO_LARGE = FAULT_TOO_LARGE,           /* more than the limits above */
    TEAM_FAULT_NOT_LEFT = FAULT_PLACE_NOT_LEFT,       /* warning: UnLock `step` after `other` */
    TEAM_FAULT_NOT_REACHED = FAULT_NEVER_REACHED,     /* warning: `step` */
    TEAM_FAULT_DEADLOCK = FAULT_POSSIBLE_DEADLOCK     /* warning: Lock `step` within a cycle */
};

struct team_fault {
    enum team_fault_kind kind;
    bool warning;
    uint16_t sequence;    /* that a robot or job runs, or was asked about */
    uint32_t step, other; /* in steps; TEAM_NO_STEP: none */
    uint16_t resource;    /* that is wanted, freed or kept; TEAM_NONE: none */
    uint16_t held;        /* that is held meanwhile; TEAM_NONE: none */
};

struct team_faults {
    void (*emit)(void *context, const struct team_fault *fault);
    void *context;
};

/* Bytes of memory that the functions below need, aligned for any type. */
size_t team_static_check_bytes(const struct team_params *p);

/* Every fault and warning of the sequences that are no part, in their order, and (locking free)
 * of what they may do to each other. The same written step can be named more than once where a
 * sequence is a step of others. Returns how many faults there were, warnings aside. */
size_t team_static_check(const struct team_params *p, void *memory,
                         const struct team_faults *to);

/* The same of one sequence as if it were run by itself, whatever its `part` says. */
size_t team_static_check_sequence(const struct team_params *p, uint16_t sequence, void *memory,
                                  const struct team_faults *to);

/* "Lock of A (step 4 of cycle, line 12) while …": what is wrong, both steps, what would be
 * right. Always terminated. */
void team_fault_text(const struct team_params *p, const struct team_fault *fault,
                     char out[TEAM_FAULT_TEXT_MAX]);

#endif
