#include "service/daemon/notify.h"

#include <stdarg.h>
#include <stdio.h>

#include <systemd/sd-daemon.h>

#include "service/cli/lab_clock.h"

enum { STATUS_BYTES_MAX = 512 };

/* Nobody is left to tell when the supervisor does not listen. */
static void tell_supervisor(const char *state)
{
    const int told = sd_notify(0, state);
    (void)told;
}

void notify_ready(void)
{
    tell_supervisor("READY=1");
}

void notify_reloading(void)
{
    char state[64];
    (void)snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
                   (long long)lab_clock_monotonic_us());
    tell_supervisor(state);
}

void notify_stopping(void)
{
    tell_supervisor("STOPPING=1\nSTATUS=stopping");
}

void notify_status(const char *format, ...)
{
    static const char key[] = "STATUS=";
    char state[STATUS_BYTES_MAX] = "STATUS=";
    va_list arguments;
    va_start(arguments, format);
    (void)vsnprintf(state + sizeof key - 1, sizeof state - sizeof key + 1, format, arguments);
    va_end(arguments);
    /* A second line would be a message of its own. */
    for (char *c = state; *c; c++) {
        if (*c == '\n') {
            *c = ' ';
        }
    }
    tell_supervisor(state);
}

int64_t notify_alive_us(void)
{
    uint64_t allowed_us = 0;
    return sd_watchdog_enabled(0, &allowed_us) > 0 ? (int64_t)(allowed_us / 2) : 0;
}

void notify_alive(void)
{
    tell_supervisor("WATCHDOG=1");
}
