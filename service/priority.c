#include "service/priority.h"

#include <sched.h>

void priority_mutex_init(pthread_mutex_t *mutex)
{
    pthread_mutexattr_t attributes;
    (void)pthread_mutexattr_init(&attributes);
    /* Where there is no such protocol it is a plain lock. */
    (void)pthread_mutexattr_setprotocol(&attributes, PTHREAD_PRIO_INHERIT);
    (void)pthread_mutex_init(mutex, &attributes);
    (void)pthread_mutexattr_destroy(&attributes);
}

bool priority_raise(void)
{
    const struct sched_param lowest = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};
    return pthread_setschedparam(pthread_self(), SCHED_FIFO, &lowest) == 0;
}
