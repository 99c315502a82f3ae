#include "service/tool/stop_signal.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_bool raised; /* lock-free, so it is safe in a handler and between threads */

static void raise_flag(int number)
{
    (void)number;
    atomic_store(&raised, true);
}

void stop_signal_install(void)
{
    struct sigaction action = {.sa_handler = raise_flag};
    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    action.sa_handler = SIG_IGN;
    (void)sigaction(SIGPIPE, &action, NULL);
}

bool stop_signal_raised(void)
{
    return atomic_load(&raised);
}
