/* twin/pair/parameter_terms.h - of which terms a parameter set of travel times consists, and
 * what a simulator can be told of each.
 *
 * Of robots that are told how far to go, delays and speeds (travel_fit.h); of arms, which are
 * told how fast as well, delays and shares of what was commanded (profile_fit.h). Pure, tables.
 */
#ifndef TWIN_PAIR_PARAMETER_TERMS_H
#define TWIN_PAIR_PARAMETER_TERMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"

enum { PARAMETER_TERMS_MAX = 6, PARAMETER_GROUPS_MAX = 2 };

struct parameter_term {
    uint8_t group; /* what is not known of one does not keep another from being told */
    bool rate;   /* of a speed or an acceleration: takes a factor; else s, takes what to add */
    bool needed; /* no change of its group is told while the simulator's own is not known */
};

struct parameter_terms {
    size_t count;
    const struct names *names; /* as sets, messages and simulators have them */
    /* The first delay of a group is the sum of its delays where these are not told apart. */
    struct parameter_term term[PARAMETER_TERMS_MAX];
};

/* commanded: of arms. */
const struct parameter_terms *parameter_terms_of(bool commanded);

static inline const char *parameter_term_name(const struct parameter_terms *terms, size_t j)
{
    return names_text(terms->names, j);
}

#endif
