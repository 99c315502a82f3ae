/* twin/report/team_report.h - effects and state of a team as JSON.
 *
 * One table of members serves traces, messages and HTTP, in the order of the golden traces
 * (docs/model/teams.md). Only times differ: traces have `t_ms`, `took_ms` …, the others `t`,
 * `run_s` … in seconds. Pure.
 */
#ifndef TWIN_REPORT_TEAM_REPORT_H
#define TWIN_REPORT_TEAM_REPORT_H

#include "logger/message/json_write.h"
#include "twin/team/step/team.h"

enum team_time { TEAM_TIME_S, TEAM_TIME_MS };

/* Writes an object; key: NULL at the top. */
void team_report_effect(struct json_writer *w, const char *key, const struct team_params *p,
                        const struct team_effect *effect, enum team_time time);

/* Writes {"part":…,"seq":…,"home":…}, preceded by "id" if the job has one. */
void team_report_job(struct json_writer *w, const char *key, const struct team_params *p,
                     const struct team_job *job);

/* Writes members into the open object, as in retained messages and GET /teams/{id}:
 * {"resources": {name: {"owner","fence","since","queue"}}, */
void team_report_resources(struct json_writer *w, const struct team_params *p,
                           const struct team *team);
/* "robots": {name: {"task","arg","since","state","online"}}} */
void team_report_robots(struct json_writer *w, const struct team_params *p,
                        const struct team *team);

#endif
