/* base/numbers/constants.h - numerical constants that all rooms share. */
#ifndef BASE_NUMBERS_CONSTANTS_H
#define BASE_NUMBERS_CONSTANTS_H

#define PI          3.14159265358979323846
#define RAD_PER_DEG (PI / 180.0)
/* 95 % of a normal distribution lie within this number of standard deviations. */
#define NORMAL_95 1.959963984540054

#endif
