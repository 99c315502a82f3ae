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
    const char *sent = t_us >= v->since_us ? v->now : v->before;
    return sent[0] ? sent : p->version[side];
}

void pair_version_apply(const struct pair_run *run)
{
    const struct event_connection *c = &run->event->connection;
    const enum side s = run->event->side;
    struct pair_version *v = &run->pair->side[s].version;
    char detail[PARAMETERS_DETAIL_MAX];
    if (strcmp(v->now, c->version) == 0) {
        return;
    }
    memcpy(v->before, v->now, sizeof v->before);
    memcpy(v->now, c->version, sizeof v->now);
    v->since_us = run->t_us;
    if (v->before[0]) {
        const char *now = pair_version_at(run->pair, run->p, s, run->t_us);
        (void)snprintf(detail, sizeof detail, "%s, before %s", now[0] ? now : "unknown",
                       v->before);
        pair_emit_change(run, &(struct parameter_change){.action = PARAMETERS_VERSION_CHANGED,
                                                         .by = side_name(s),
                                                         .detail = detail,
                                                         .previous_version = v->before});
    }
}
