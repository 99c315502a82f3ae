/* twin/following/known_parameters.h - the best known parameters of both robots of a pair, and
 * their source, for following.
 *
 *   lab file --> fits that did not fail --> what the simulator acknowledged of a set
 *
 * A set counts as far as the simulator has applied it; refused parameters keep their previous
 * values. docs/model/following.md. Plain data without pointers. Pure.
 */
#ifndef TWIN_FOLLOWING_KNOWN_PARAMETERS_H
#define TWIN_FOLLOWING_KNOWN_PARAMETERS_H

#include <stddef.h>
#include <stdint.h>

#include "base/text/names.h"
#include "logger/message/event.h"
#include "twin/dynamics/pair_dynamics.h"

/* Later sources have precedence. */
enum following_source {
    FOLLOWING_NOWHERE,
    FOLLOWING_LAB_FILE,
    FOLLOWING_FIT,       /* the last batch fit of that side that did not fail */
    FOLLOWING_SET,       /* values acknowledged by the simulator (virtual robot only) */
    FOLLOWING_SET_PARTLY /* likewise; refused ones keep their previous value */
};

struct known_theta {
    uint64_t source; /* enum following_source, in a size that leaves no padding */
    double theta[MODEL_PARAMETERS_MAX];
};

struct known_parameters { /* Starts with known_parameters_init(). */
    struct known_theta side[SIDE_COUNT];
    /* The simulated robot: its own parameters; its parameters before the acknowledged set;
     * the version of that set, 0: none; and the applied parameters. */
    struct known_theta own, before;
    uint32_t set;
    uint32_t applied;   /* bits by index of the model's parameters */
    uint32_t own_job;   /* fit that found its own parameters; 0: none */
    uint32_t other_job; /* last fit of a simulated robot under a set; 0: none */
};

/* Starts with the lab file's parameters. */
void known_parameters_init(struct known_parameters *k, const struct pair_following_params *p);

/* Call it after fits. Here and below d is of this model, or NULL if the pair's dynamics are not
 * identified. */
void known_parameters_fit(struct known_parameters *k, const struct model *model,
                          const struct pair_dynamics *d);

/* Call it when the simulator has answered to the sets in force. */
void known_parameters_acknowledge(struct known_parameters *k, const struct model *model,
                                  const struct pair_dynamics *d, const struct event_ack *ack);

/* Call it when the simulated robot has restarted with its own parameters; the set is sent to it
 * again. */
void known_parameters_restart(struct known_parameters *k, const struct model *model);

/* Explains why no parameters of this side are known, and what would be right. */
void known_parameters_obstacle(const struct known_parameters *k, const struct pair_dynamics *d,
                               enum side side, char *text, size_t size);

extern const struct names following_source_names;
const char *
following_source_name(enum following_source source); /* "unknown", "lab_file", "fit" … */

#endif
