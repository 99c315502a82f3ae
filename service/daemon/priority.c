#include "service/daemon/priority.h"

#include <pthread.h>
#include <sched.h>

bool priority_raise(void)
{
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) == 0;
}

void priority_lower(void)
{
    const struct sched_param none = {0};
    (void)pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
}
