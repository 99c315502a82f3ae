/* twin/experiments/time_optimal.h - the quickest way of a joint with a lag to its target: full
 * speed on, full speed back, and rest.
 *
 * No controller with the same limit on the command can be quicker; it knows the lag and the
 * limit exactly, which is why it is a bound to compare with.
 *                                                        (docs/model/servo.md, eq. 16, 17)
 * Plain data. Pure: no I/O, no clock, no allocation.
 */
#ifndef TWIN_EXPERIMENTS_TIME_OPTIMAL_H
#define TWIN_EXPERIMENTS_TIME_OPTIMAL_H

struct time_optimal {
    double command; /* first; minus it after the switch */
    double switch_s, end_s;
};

/* For error = target - q, from speed w (before the gear, at most command_max), command_max > 0,
 * position_gain > 0, lag_s >= 0. */
void time_optimal_make(struct time_optimal *out, double command_max, double position_gain,
                       double lag_s, double error, double w);

/* Integral of the command from 0 to t_s. */
double time_optimal_travel(const struct time_optimal *plan, double t_s);

#endif
