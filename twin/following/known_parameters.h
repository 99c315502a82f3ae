/* twin/following/known_parameters.h - where the parameters of both robots of a pair are known
 * from, for following.
 *
 *     lab file --> fits that did not fail --> what the simulator acknowledged of a set
 *
 * A set counts as far as the simulator says that it applied it; of the rest it kept what it
 * had. docs/model/following.md. Plain data without pointers. Pure.
 */
#ifndef TWIN_FOLLOWING_KNOWN_PARAMETERS_H
#define TWIN_FOLLOWING_KNOWN_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/dynamics/pair_dynamics.h"

/* Later ones go before. */
enum following_source {
    FOLLOWING_NOWHERE,
    FOLLOWING_LAB_FILE,
    FOLLOWING_FIT,       /* the last batch fit of that side that did not fail */
    FOLLOWING_SET,       /* what the simulator acknowledged (virtual robot only) */
    FOLLOWING_SET_PARTLY /* likewise; of what it refused it kept what it had */
};

struct known_theta {
    uint64_t source; /* enum following_source; of a size that leaves no gap */
    double theta[MODEL_PARAMETERS_MAX];
};

struct known_parameters { /* known_parameters_init() */
    struct known_theta side[SIDE_COUNT];
    /* Of the simulated robot: its own parameters; those that it had when it was told the set
     * that it has acknowledged; which one that was, 0: none; and what of it it applied. */
    struct known_theta own, before;
    uint32_t set;
    uint32_t applied;   /* bits, by the model's parameters */
    uint32_t own_job;   /* the fit that told its own; 0: none did */
    uint32_t other_job; /* the last fit of a simulated robot that ran by a set; 0 */
};

/* As the lab file has them. */
void known_parameters_init(struct known_parameters *k, const struct pair_following_params *p);

/* Fits may have come. d, here and below, is of this model, or NULL: the dynamics of the pair
 * are not followed. */
void known_parameters_fit(struct known_parameters *k, const struct model *model,
                          const struct pair_dynamics *d);

/* The simulator has answered to what is in force. */
void known_parameters_acknowledge(struct known_parameters *k, const struct model *model,
                                  const struct pair_dynamics *d, const struct event_ack *ack);

/* The simulated robot began anew, by its own parameters; it is told the set again. */
void known_parameters_restart(struct known_parameters *k, const struct model *model);

/* Why nothing is known of this side, and what would be right. */
void known_parameters_obstacle(const struct known_parameters *k, const struct pair_dynamics *d,
                               enum side side, char *text, size_t size);

extern const struct names following_source_names;
const char *
following_source_name(enum following_source source); /* "unknown", "lab_file", "fit" … */

#endif
