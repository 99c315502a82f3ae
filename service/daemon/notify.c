#include "service/daemon/notify.h"

#include <stdarg.h>
#include <stdio.h>

#include <systemd/sd-daemon.h>

#include "service/cli/lab_clock.h"

enum { STATUS_BYTES_MAX = 512 };

void notify_tell(const char *state)
{
    const int told = sd_notify(0, state);
    (void)told;
}

void notify_reloading(void)
{
    char state[64];
    (void)snprintf(state, sizeof state, "RELOADING=1\nMONOTONIC_USEC=%lld",
                   (long long)lab_clock_monotonic_us());
    notify_tell(state);
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
    notify_tell(state);
}

int64_t notify_alive_us(void)
{
    uint64_t allowed_us = 0;
    return sd_watchdog_enabled(0, &allowed_us) > 0 ? (int64_t)(allowed_us / 2) : 0;
}
