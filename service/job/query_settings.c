#include "service/job/query_settings.h"

#include <stdio.h>
#include <string.h>

enum status query_settings_read(const struct query_value *v, struct query_settings *out)
{
    char *at = out->text;
    (void)snprintf(out->text, sizeof out->text, "%s", v->text);
    for (char *one = strsep(&at, ","); one; one = strsep(&at, ",")) {
        const char *dot = strchr(one, '.');
        if (out->count == QUERY_SETTINGS_MAX || !dot || !strchr(dot, '=')) {
            return query_refuse(v, FAULT_BAD_FORMAT,
                                "at most 64 of NAME.WHAT=VALUE, with commas between, were "
                                "expected");
        }
        out->texts[out->count++] = one;
    }
    return STATUS_OK;
}
