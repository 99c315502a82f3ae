/* service/selftest/selftest_servo.h - writes recordings of a position-commanded servo with
 * known loop, friction and delay.
 */
#ifndef SERVICE_SELFTEST_SELFTEST_SERVO_H
#define SERVICE_SELFTEST_SELFTEST_SERVO_H

#include <stdio.h>

#include "base/numbers/random.h"
#include "service/selftest/selftest_scenario.h"

/* Write rows of time, command and position. */
void selftest_write_servo(const struct selftest_scenario *scenario, struct random_source *draws,
                          FILE *to);

/* The truth of the i-th parameter; its name in *name, NULL after the last one. */
double selftest_servo_truth(size_t i, const char **name);

#endif
