/* tests/support/gsl_memory.c - see gsl_memory.h. The program's own definitions come before the
 * library's. */
#include "tests/support/gsl_memory.h"

#include <dlfcn.h>

#include <gsl/gsl_matrix.h>
#include <gsl/gsl_vector.h>
#include <gsl/gsl_vector_ulong.h>

_Atomic long allocations_left = -1; /* GSL is called by several threads in some tests */

static int refuse_allocation(void)
{
    if (allocations_left == 0) {
        return 1;
    }
    if (allocations_left > 0) {
        allocations_left--;
    }
    return 0;
}

gsl_vector *gsl_vector_alloc(const size_t n)
{
    union {
        void *object;
        gsl_vector *(*function)(size_t);
    } next = {.object = dlsym(RTLD_NEXT, "gsl_vector_alloc")};
    return refuse_allocation() ? NULL : next.function(n);
}

gsl_matrix *gsl_matrix_alloc(const size_t n1, const size_t n2)
{
    union {
        void *object;
        gsl_matrix *(*function)(size_t, size_t);
    } next = {.object = dlsym(RTLD_NEXT, "gsl_matrix_alloc")};
    return refuse_allocation() ? NULL : next.function(n1, n2);
}

gsl_vector_ulong *gsl_vector_ulong_alloc(const size_t n)
{
    union {
        void *object;
        gsl_vector_ulong *(*function)(size_t);
    } next = {.object = dlsym(RTLD_NEXT, "gsl_vector_ulong_alloc")};
    return refuse_allocation() ? NULL : next.function(n);
}
