/* identification/servo/servo_search.h - internals of the servo fit: the coordinates, their
 * start values and the search.
 *
 * Private to identification/servo. Pure: no I/O, no clock; allocates through GSL.
 */
#ifndef IDENTIFICATION_SERVO_SERVO_SEARCH_H
#define IDENTIFICATION_SERVO_SERVO_SEARCH_H

#include <stdbool.h>

#include "identification/servo/servo_simulation.h"

/* Coordinates of the search. Logarithms of times and limits, else rad and s. */
enum servo_term {
    TERM_GAIN, /* log of the position gain, 1/s */
    TERM_LAG,  /* log of the motor's lag 1 / (2 zeta wn), s */
    TERM_DEAD_BAND,
    TERM_DROOP,
    TERM_DELAY,
    TERM_DROOP_SIN,
    TERM_DROOP_COS,
    TERM_PLAY,
    TERM_TORQUE, /* log of the speed that a torque limit allows, rad/s */
    TERM_SPEED,  /* log of the profile's limits */
    TERM_ACCELERATION,
    TERM_SCALE,
    TERM_FRICTION_LOAD,
    TERM_FRICTION_REST,
    TERM_FRICTION_PLACE,                                  /* the first of SERVO_PLACES */
    TERM_SENSOR_LAG = TERM_FRICTION_PLACE + SERVO_PLACES, /* s */
    TERMS,
    TERMS_PLAIN = TERM_DROOP_SIN /* terms of every fit */
};

struct servo_point {
    double x[TERMS];
    bool free[TERMS];
    double sse; /* of the weighted residuals, rad^2 */
};

/* A set, the rows that count, and memory for simulations. */
struct servo_problem {
    const struct servo_set *set;
    double *weight;        /* [n] 1: the row counts, 0: it does not */
    double count;          /* sum of the weights */
    double *shown;         /* [n] simulated positions */
    double *spare;         /* [n] */
    double *kept;          /* [n] weights of all rows that count */
    double *column[TERMS]; /* [n] each */
    double lo[TERMS], hi[TERMS];
    double substep_s;   /* of limits: coarse to compare starts, fine for a result */
    double difference;  /* of the Jacobian, in usual ones */
    double gain_enough; /* chi squared: a smaller gain ends the search */
    uint64_t steps, steps_max;
    size_t iterations;
    gsl_vector *memory;
};

/* Linear start: the relation of the command to the velocity. */
struct servo_start {
    double gain_per_s, droop_rad, delay_s;
    double speed_radps; /* speed that 1 % of the rows exceed */
    double r2;          /* share of the motion that is explained */
    /* Without the claim that the position follows the command one to one: their ratio, and the
     * share. */
    double scale, scaled_r2;
};

/* Returns STATUS_E_NOMEM with a zeroed problem, else STATUS_OK. All rows with a position count
 * that are not at the start of a run. */
MUST_USE enum status servo_problem_init(struct servo_problem *problem,
                                        const struct servo_set *set);
void servo_problem_free(struct servo_problem *problem);

void servo_start_find(struct servo_problem *problem, struct servo_start *start);

/* Substeps of limits, s: where starts are compared, and for results. */
enum servo_accuracy { SERVO_COARSE, SERVO_FINE };
void servo_accuracy_set(struct servo_problem *problem, enum servo_accuracy accuracy);

struct servo_law servo_point_law(const struct servo_point *point);

/* Simulate a law or a point and compute its sse; problem->shown gets the positions. */
double servo_law_evaluate(struct servo_problem *problem, const struct servo_law *law);
void servo_point_evaluate(struct servo_problem *problem, struct servo_point *point);

/* Searches the least squares from a point, up to a limit of iterations. Returns whether it
 * converged. */
bool servo_search_run(struct servo_problem *problem, struct servo_point *point,
                      size_t iterations_max);

/* Returns chi squared that one Gauss-Newton step from a point would gain. */
double servo_search_promise(struct servo_problem *problem, const struct servo_point *point);

/* Computes the free columns of the Jacobian at a point, with these ratios of the usual
 * differences; both sides of the point where bounds allow it. */
void servo_search_differentiate(struct servo_problem *problem, const struct servo_point *point,
                                double ratio);

/* Let only rows count for which chosen[k] >= limit, or those below; and all rows again. */
void servo_weights_select(struct servo_problem *problem, const double *chosen, double limit,
                          bool above);
void servo_weights_restore(struct servo_problem *problem);

/* Did the search stop at its limit of steps? */
bool servo_problem_is_exhausted(const struct servo_problem *problem);

#endif
