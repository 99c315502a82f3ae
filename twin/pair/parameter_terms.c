#include "twin/pair/parameter_terms.h"

#include <assert.h>

#include "identification/travel/profile_fit.h"
#include "identification/travel/travel_fit.h"

static_assert((int)TRAVEL_P <= (int)PARAMETER_TERMS_MAX &&
                  (int)PROFILE_P <= (int)PARAMETER_TERMS_MAX &&
                  (int)PROFILE_CLASSES <= (int)PARAMETER_GROUPS_MAX,
              "sets hold either");

static const struct parameter_terms by_size = {
    .count = TRAVEL_P,
    .names = &travel_term_names,
    .term = {[TRAVEL_INV_W] = {.rate = true, .needed = true},
             [TRAVEL_INV_V] = {.rate = true, .needed = true}}};

static const struct parameter_terms by_command = {
    .count = PROFILE_P,
    .names = &profile_term_names,
    .term = {[PROFILE_JOINT_T0] = {.group = PROFILE_JOINTS},
             [PROFILE_JOINT_SPEED] = {PROFILE_JOINTS, .rate = true, .needed = true},
             [PROFILE_JOINT_ACCELERATION] = {PROFILE_JOINTS, .rate = true},
             [PROFILE_LINE_T0] = {.group = PROFILE_LINES},
             [PROFILE_LINE_SPEED] = {PROFILE_LINES, .rate = true, .needed = true},
             [PROFILE_LINE_ACCELERATION] = {PROFILE_LINES, .rate = true}}};

const struct parameter_terms *parameter_terms_of(bool commanded)
{
    return commanded ? &by_command : &by_size;
}
