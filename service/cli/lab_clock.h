/* service/cli/lab_clock.h - lab time: read once from the wall clock, advanced by the monotonic
 * one.
 *
 * So it never jumps within a process, whatever is done to the wall clock meanwhile.
 */
#ifndef SERVICE_CLI_LAB_CLOCK_H
#define SERVICE_CLI_LAB_CLOCK_H

#include <stdint.h>

/* Microseconds since the Unix epoch. Any thread; the first call fixes the origin. */
int64_t lab_clock_now_us(void);

/* The monotonic clock alone, for intervals that no record shows. Any thread. */
int64_t lab_clock_monotonic_us(void);

/* Sleep until lab_clock_monotonic_us() reaches until_us, or a signal arrives. */
void lab_clock_sleep_until_us(int64_t until_us);

#endif
