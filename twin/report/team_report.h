/* twin/report/team_report.h - what a team does, and how it stands, as JSON.
 *
 * One table of members for traces, messages and HTTP, in the order of the golden traces
 * (docs/model/teams.md); only times differ: in traces `t_ms`, `took_ms` …, else `t`, `run_s`
 * … in seconds. Pure.
 */
#ifndef TWIN_REPORT_TEAM_REPORT_H
#define TWIN_REPORT_TEAM_REPORT_H

#include "logger/message/json_write.h"
#include "twin/team/step/team.h"

enum team_time { TEAM_TIME_S, TEAM_TIME_MS };

/* An object; key: NULL at the top. */
void team_report_effect(struct json_writer *w, const char *key, const struct team_params *p,
                        const struct team_effect *effect, enum team_time time);

/* {"part":…,"seq":…,"home":…}, with "id" before them where it has one. */
void team_report_job(struct json_writer *w, const char *key, const struct team_params *p,
                     const struct team_job *job);

/* Members of the object that is open: of a resource owner, fence, since, queue, and owners
 * where it has several units; of a robot task, arg, since, state, online. Nothing: null. */
void team_report_resource(struct json_writer *w, const struct team_params *p,
                          const struct team *team, uint16_t resource);
void team_report_robot(struct json_writer *w, const struct team_params *p,
                       const struct team *team, uint16_t robot);
/* Members of the object that is open, as in retained messages and in GET /teams/{id}:
 * {"resources": {name: {"owner","fence","since","queue"}}, */
void team_report_resources(struct json_writer *w, const struct team_params *p,
                           const struct team *team);
/* "robots": {name: {"task","arg","since","state","online"}}} */
void team_report_robots(struct json_writer *w, const struct team_params *p,
                        const struct team *team);

#endif
