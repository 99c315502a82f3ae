/* service/tool/lab_clock.h - lab time: read once from the wall clock, then advanced by the
 * clock since boot.
 *
 * So it never goes back within a process, even if the wall clock is set. It includes the time
 * while the machine sleeps: a suspend is a silence like any other.
 */
#ifndef SERVICE_TOOL_LAB_CLOCK_H
#define SERVICE_TOOL_LAB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Microseconds since the Unix epoch. Any thread; the first call fixes the origin. */
int64_t lab_clock_now_us(void);

/* Since that call: by how much the wall clock was set (> 0: forwards), and how long the machine
 * was suspended. False: this thread lost the processor between the readings; call again.
 */
bool lab_clock_compare(int64_t *stepped_us, int64_t *slept_us);

/* The monotonic clock, for intervals that no record shows; it stands still while the machine
 * sleeps. Any thread. */
int64_t lab_clock_monotonic_us(void);

/* This thread's processor time, without the time that it waited for the processor. */
int64_t lab_clock_thread_ns(void);

/* Sleep until lab_clock_monotonic_us() reaches until_us, or a signal arrives. */
void lab_clock_sleep_until_us(int64_t until_us);

#endif
