/* twin/report/team_live_report.h - what a team at work in the lab says, as JSON
 * (docs/protocol/team.md). Pure. */
#ifndef TWIN_REPORT_TEAM_LIVE_REPORT_H
#define TWIN_REPORT_TEAM_LIVE_REPORT_H

#include "logger/message/json_write.h"
#include "twin/team/live/team_live.h"

enum {
    TEAM_LIVE_EFFECT_MAX = 128 * 1024, /* bytes of an effect that names all robots */
    TEAM_LIVE_RESPONSE_MAX = 8 * 1024,
    TEAM_LIVE_STATE_MAX = 1024 * 1024
};

/* The answer to a request: {"id","robot","grant","fences","lease_expiry","behind","detail"},
 * what there is of it. */
void team_live_report_response(struct json_writer *w, const struct team_params *p,
                               const struct team_live_answer *answer);

/* {"number","t","activities","makespan_real_s","makespan_virtual_s","predicted","inside",
 * "disturbed"}, of a job (NULL: of a course) with what the job is; key: NULL at the top. null
 * before the first one has begun. */
void team_live_report_result(struct json_writer *w, const char *key,
                             const struct team_params *p, const struct team_live_result *result,
                             const struct team_live_job *job);

/* Members of the object that is open: "waiting" and "jobs", the newest first. */
void team_live_report_jobs(struct json_writer *w, const struct team_live *live,
                           const struct team_params *p);
/* What is known of the job of this id, or, as a number, the number: {"state", …}. False,
 * nothing written: it is not known (any more). */
bool team_live_report_job(struct json_writer *w, const struct team_live *live,
                          const struct team_params *p, const char *id);
/* {"robots": {name: {"task","robot","activity"}}, "resources": {name: [state of each unit]}} */
void team_live_report_machines(struct json_writer *w, const struct team_live *live,
                               const struct team_params *p);

/* How it stands, and what of it was foretold: {"resources","robots","run"}. */
void team_live_report_state(struct json_writer *w, const char *key,
                            const struct team_live *live, const struct team_params *p);

/* {"team","t","finished","fence","jobs_waiting","counts","alarm_counts","state"}: how it stands
 * at t_us. */
void team_live_report(struct json_writer *w, const char *key, const struct team_live *live,
                      const struct team_params *p, int64_t t_us);
/* Members of the object that is open: its name, and how many of what it has. */
void team_live_report_summary(struct json_writer *w, const struct team_live *live,
                              const struct team_params *p);

#endif
