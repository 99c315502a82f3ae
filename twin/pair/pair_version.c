/* twin/pair/pair_version.c - versions of the robots' programs: the present one, and its
 * changes.
 */
#include <stdio.h>
#include <string.h>

#include "twin/pair/pair_run.h"

const char *pair_version_at(const struct pair *pair, const struct pair_params *p,
                            enum side side, int64_t t_us)
{
    const struct pair_version *v = &pair->side[side].version;
    return t_us < v->since_us ? v->before
           : v->sent[0]       ? v->sent
           : v->is_stated     ? v->stated
                              : p->version[side];
}

bool pair_version_is_recorded(const struct pair *pair, const struct pair_params *p,
                              enum side side)
{
    return strcmp(pair->side[side].version.stated, p->version[side]) == 0;
}

/* Replaces what was sent, or stated. The first known version is no change, and neither is the
 * first stated one: it was that of the lab file before, which may be another one in a replay.
 */
static void replace_version(const struct pair_run *run, char *text)
{
    const enum side s = run->event->side;
    struct pair_version *v = &run->pair->side[s].version;
    char before[EVENT_VERSION_MAX];
    char detail[PARAMETERS_DETAIL_MAX];
    (void)snprintf(before, sizeof before, "%s",
                   pair_version_at(run->pair, run->p, s, LAB_TIME_MAX));
    const bool is_first = text == v->stated && !v->is_stated;
    memcpy(text, run->event->connection.version, EVENT_VERSION_MAX);
    v->is_stated = v->is_stated || is_first;
    const char *now = pair_version_at(run->pair, run->p, s, LAB_TIME_MAX);
    if (is_first || strcmp(now, before) == 0) {
        return;
    }
    memcpy(v->before, before, sizeof v->before);
    v->since_us = run->t_us;
    if (before[0]) {
        (void)snprintf(detail, sizeof detail, "%s, before %s", now[0] ? now : "unknown",
                       before);
        pair_emit_change(run, &(struct parameter_change){.action = PARAMETERS_VERSION_CHANGED,
                                                         .by = side_name(s),
                                                         .detail = detail,
                                                         .previous_version = before});
    }
}

void pair_version_receive(const struct pair_run *run)
{
    replace_version(run, run->pair->side[run->event->side].version.sent);
}

void pair_version_apply(const struct pair_run *run)
{
    replace_version(run, run->pair->side[run->event->side].version.stated);
}
