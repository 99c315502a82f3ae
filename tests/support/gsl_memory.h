/* tests/support/gsl_memory.h - GSL's memory runs out where a test wants it. */
#ifndef TESTS_SUPPORT_GSL_MEMORY_H
#define TESTS_SUPPORT_GSL_MEMORY_H

extern _Atomic long allocations_left; /* before GSL's allocations fail; -1: they never do */

#endif
