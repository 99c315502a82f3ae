/* base/numbers/threshold.h - the rows of the tables of thresholds.
 *
 * A limit that decides a verdict, a reason or an alarm is a row of ROOM_thresholds.def: its
 * name, value and unit, where the value comes from, and the test that fails without it. A
 * source file that uses a name includes the table (tests/arch/thresholds.py).
 */
#ifndef BASE_NUMBERS_THRESHOLD_H
#define BASE_NUMBERS_THRESHOLD_H

#define THRESHOLD(name, value, unit, source, test)       static const double name = (value);
#define THRESHOLD_COUNT(name, value, unit, source, test) enum { name = (value) };

#endif
