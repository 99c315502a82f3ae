/* twin/report/team_live_report.h - a team at work in the lab as JSON (docs/protocol/team.md).
 * Pure.
 */
#ifndef TWIN_REPORT_TEAM_LIVE_REPORT_H
#define TWIN_REPORT_TEAM_LIVE_REPORT_H

#include "logger/message/json_write.h"
#include "twin/team/live/team_live.h"

enum {
    TEAM_LIVE_EFFECT_MAX = 128 * 1024, /* bytes of an effect that lists all robots */
    TEAM_LIVE_RESPONSE_MAX = 8 * 1024,
    TEAM_LIVE_STATE_MAX = 1024 * 1024
};

/* Writes the answer to a request:
 * {"id","robot","grant","fences","lease_expiry","behind","detail"}, as far as present. */
void team_live_report_response(struct json_writer *w, const struct team_params *p,
                               const struct team_live_answer *answer);

/* Writes
 * {"number","t","activities","makespan_real_s","makespan_virtual_s","predicted","inside",
 * "disturbed"} of a job, with the job, or of a course (NULL); key: NULL at the top. null before
 * the first one has begun. */
void team_live_report_result(struct json_writer *w, const char *key,
                             const struct team_params *p, const struct team_live_result *result,
                             const struct team_live_job *job);

/* Writes members into the open object: "waiting" and "jobs", the newest first. */
void team_live_report_jobs(struct json_writer *w, const struct team_live *live,
                           const struct team_params *p);
/* Writes {"state", …} of the job with this id or, if it is a number, this number. False,
 * nothing written: unknown, or no longer retained. */
bool team_live_report_job(struct json_writer *w, const struct team_live *live,
                          const struct team_params *p, const char *id);
/* Writes {"robots": {name: {"task","robot","activity"}}, "resources": {name: [state of each
 * unit]}}. */
void team_live_report_machines(struct json_writer *w, const struct team_live *live,
                               const struct team_params *p);

/* Writes the state and its predictions: {"resources","robots","run"}. */
void team_live_report_state(struct json_writer *w, const char *key,
                            const struct team_live *live, const struct team_params *p);

/* Writes {"team","t","finished","fence","jobs_waiting","counts","alarm_counts","state"} at
 * t_us. */
void team_live_report(struct json_writer *w, const char *key, const struct team_live *live,
                      const struct team_params *p, int64_t t_us);
/* Writes members into the open object: its name, and the numbers of its parts. */
void team_live_report_summary(struct json_writer *w, const struct team_live *live,
                              const struct team_params *p);

#endif
