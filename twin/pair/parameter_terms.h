/* twin/pair/parameter_terms.h - the terms of a travel-time parameter set, and how each can be
 * sent to a simulator.
 *
 * Robots whose commands have a size have delays and speeds (travel_fit.h). Arms, whose commands
 * also have speeds, have delays and ratios to the commanded values (profile_fit.h). Pure,
 * tables.
 */
#ifndef TWIN_PAIR_PARAMETER_TERMS_H
#define TWIN_PAIR_PARAMETER_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"

enum { PARAMETER_TERMS_MAX = 6, PARAMETER_GROUPS_MAX = 2 };

struct parameter_term {
    uint8_t group; /* an unknown term of one group does not block another group */
    bool rate;     /* a speed or acceleration, changed by a factor; else s, by addition */
    bool needed;   /* unless the simulator's own is known, its group is not changed */
};

struct parameter_terms {
    size_t count;
    const struct names *names; /* names in sets, messages and simulators */
    /* If the delays of a group cannot be separated, the first one is their sum. */
    struct parameter_term term[PARAMETER_TERMS_MAX];
};

/* commanded: terms of arms. */
const struct parameter_terms *parameter_terms_of(bool commanded);

static inline const char *parameter_term_name(const struct parameter_terms *terms, size_t j)
{
    return names_text(terms->names, j);
}

#endif
