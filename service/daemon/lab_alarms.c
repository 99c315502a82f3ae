/* service/daemon/lab_alarms.c - a short queue of alarms that concern the daemon itself, such
 * as a full disk. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "service/daemon/daemon_parts.h"

void lab_alarm_raise(struct daemon *d, enum alarm_code code, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    (void)pthread_mutex_lock(&d->lock);
    if (d->lab_alarms.count < LAB_ALARMS_MAX) {
        struct alarm *alarm = &d->lab_alarms.alarm[d->lab_alarms.count++];
        *alarm = (struct alarm){
            .type = alarm_code_type(code), .code = alarm_code_name(code), .side = SIDE_COUNT};
        (void)vsnprintf(alarm->detail, sizeof alarm->detail, format, arguments);
    }
    (void)pthread_mutex_unlock(&d->lock);
    va_end(arguments);
}

bool lab_alarm_next(struct daemon *d, struct alarm *alarm)
{
    struct lab_alarms *a = &d->lab_alarms;
    (void)pthread_mutex_lock(&d->lock);
    const bool any = a->count > 0;
    if (any) {
        *alarm = a->alarm[0];
        a->count--;
        memmove(&a->alarm[0], &a->alarm[1], a->count * sizeof a->alarm[0]);
    }
    (void)pthread_mutex_unlock(&d->lock);
    return any;
}
