/* identification/numeric/limits.h - how large small matrices are. */
#ifndef IDENTIFICATION_NUMERIC_LIMITS_H
#define IDENTIFICATION_NUMERIC_LIMITS_H

/* Unknowns of a fit, and the right side. */
enum { NUMERIC_COLUMNS_MAX = 30 };

#endif
