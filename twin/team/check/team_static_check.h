/* twin/team/check/team_static_check.h - faults in a team's sequences, found before any robot
 * moves.
 *
 * Every step is checked on every path that leads to it: through loops, both sides of a
 * condition, nested sequences, and repetitions by Repeat. A condition on the part in hand has
 * the same result until another part is taken, so that a Lock in one `If` matches its UnLock in
 * another. Pure; docs/model/teams_theory.md, "Static check".
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

/* Faults refuse a team; warnings are only reported. */
enum team_fault_kind {
    TEAM_FAULT_ORDER = FAULT_LOCK_ORDER,   /* `step`: Lock of a predecessor of `other`'s */
    TEAM_FAULT_NESTED = FAULT_NESTED_LOCK, /* Lock `step` while Lock `other` holds */
    TEAM_FAULT_MEETING = FAULT_MEETING_WHILE_HOLDING, /* a warning if locking is free */
    TEAM_FAULT_DOUBLE_LOCK = FAULT_DOUBLE_LOCK,       /* Lock `step` of what `other` holds */
    TEAM_FAULT_NOT_OWNER = FAULT_NOT_OWNER,           /* UnLock `step` of what is not held */
    TEAM_FAULT_NEVER_RELEASED = FAULT_NEVER_RELEASED, /* Lock `step`; held at `other` */
    TEAM_FAULT_ZERO_TIME = FAULT_ZERO_TIME_LOOP,      /* from `step` to `other` and back */
    TEAM_FAULT_TOO_LARGE = FAULT_TOO_LARGE,           /* more than the limits above */
    TEAM_FAULT_NOT_LEFT = FAULT_PLACE_NOT_LEFT,       /* warning: UnLock `step` after `other` */
    TEAM_FAULT_NOT_REACHED = FAULT_NEVER_REACHED,     /* warning: `step` */
    TEAM_FAULT_DEADLOCK = FAULT_POSSIBLE_DEADLOCK     /* warning: Lock `step` within a cycle */
};

struct team_fault {
    enum team_fault_kind kind;
    bool warning;
    uint16_t sequence;    /* run by a robot or job, or checked by itself */
    uint32_t step, other; /* indices of steps; TEAM_NO_STEP: none */
    uint16_t resource;    /* requested, freed or retained; TEAM_NONE: none */
    uint16_t held;        /* held meanwhile; TEAM_NONE: none */
};

struct team_faults {
    void (*emit)(void *context, const struct team_fault *fault);
    void *context;
};

/* Size of the memory for the functions below, aligned for any type. */
size_t team_static_check_bytes(const struct team_params *p);

/* Emits every fault and warning of the sequences that are not parts, in their order, and (free
 * locking) of possible deadlocks between them. The same written step can occur more than once
 * if its sequence is a step of others. Returns the number of faults, without warnings. */
size_t team_static_check(const struct team_params *p, void *memory,
                         const struct team_faults *to);

/* Checks one sequence as if it ran by itself, whatever its `part` says. */
size_t team_static_check_sequence(const struct team_params *p, uint16_t sequence, void *memory,
                                  const struct team_faults *to);

/* Writes "Lock of A (step 4 of cycle, line 12) while …": what is wrong, both steps, what would
 * be right. Always terminated. */
void team_fault_text(const struct team_params *p, const struct team_fault *fault,
                     char out[TEAM_FAULT_TEXT_MAX]);

#endif
