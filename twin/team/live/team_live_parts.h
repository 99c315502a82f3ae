/* twin/team/live/team_live_parts.h - what the files of the crew share: team_live.c takes events
 * in and effects out, team_live_command.c commands the pairs, team_live_apply_request.c answers
 * requests. Private to twin/team/live. */
#ifndef TWIN_TEAM_LIVE_TEAM_LIVE_PARTS_H
#define TWIN_TEAM_LIVE_TEAM_LIVE_PARTS_H

#include <string.h>

#include "base/text/names.h"
#include "twin/team/live/team_live.h"

static inline size_t team_live_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static inline size_t team_live_answers_max(const struct team_params *p)
{
    return TEAM_LIVE_ANSWERS + 2 * p->robot_count;
}

/* Where the parts of the block begin. */
static inline size_t team_live_robots_at(void)
{
    return team_live_align(sizeof(struct team_live));
}

static inline size_t team_live_answers_at(const struct team_params *p)
{
    return team_live_robots_at() +
           team_live_align(p->robot_count * sizeof(struct team_live_robot));
}

static inline size_t team_live_core_at(const struct team_params *p)
{
    return team_live_answers_at(p) +
           team_live_align(team_live_answers_max(p) * sizeof(struct team_live_answer));
}

static inline struct team_live_robot *team_live_robots(struct team_live *live)
{
    return (void *)((char *)live + team_live_robots_at());
}

static inline struct team_live_answer *team_live_answers(struct team_live *live,
                                                         const struct team_params *p)
{
    return (void *)((char *)live + team_live_answers_at(p));
}

static inline struct team *team_live_core(struct team_live *live, const struct team_params *p)
{
    return (void *)((char *)live + team_live_core_at(p));
}

/* ---- team_live.c ---- */

/* Into the bag of this instant. */
void team_live_add_event(const struct team_live_run *run, const struct team_event *event);
/* Something is to be sent to this robot by team_live_flush(). */
void team_live_mark_due(const struct team_live_run *run, uint16_t robot);

/* ---- team_live_command.c ---- */

/* TEAM_START, TEAM_HALT and TEAM_ERROR of a robot. */
void team_live_begin_activity(const struct team_live_run *run,
                              const struct team_effect *effect);
void team_live_halt_robot(const struct team_live_run *run, const struct team_effect *effect);
void team_live_end_activity(const struct team_live_run *run, const struct team_effect *effect);
/* The broker has the command of this id, to that robot of the pair. */
void team_live_confirm_command(struct team_live_robot *r, const char *id, enum side side);
/* Send what is due to this robot. */
void team_live_send(const struct team_live_run *run, uint16_t robot);

/* ---- team_live_apply_request.c ---- */

/* An effect that may answer a request. */
void team_live_update_answer(const struct team_live_run *run, const struct team_effect *effect);

/* ---- team_live_course.c ---- */

/* An effect of the team, as part of what it does now. */
void team_live_update_course(const struct team_live_run *run, const struct team_effect *effect);
/* The entry of a command for activity n. */
void team_live_add_entry(const struct team_live_run *run, uint16_t robot, uint32_t n,
                         const struct entry *entry);
/* Tell the result of a course that has ended. */
void team_live_end_course(const struct team_live_run *run);

/* ---- team_live_job.c ---- */

/* An effect of the team, as part of a job. */
void team_live_update_job(const struct team_live_run *run, const struct team_effect *effect);
/* Something happened to it that nobody foretells: what is in work is not as was foretold. */
void team_live_disturb_jobs(const struct team_live_run *run);
/* How long a job or a course took is known: count it, and tell it. */
void team_live_emit_result(const struct team_live_run *run,
                           const struct team_live_result *result,
                           const struct team_live_job *job, struct team_live_judged *judged);

/* ---- team_live_forecast.c ---- */

/* An effect of the team: what was foretold of a robot that goes another way is forgotten. */
void team_live_update_forecast(const struct team_live_run *run,
                               const struct team_effect *effect);
/* What was foretold of it has come. */
void team_live_apply_forecast(const struct team_live_run *run,
                              const struct team_forecast *forecast);
/* Where something has begun in this step, it is to be foretold. */
void team_live_request_forecast(const struct team_live_run *run);

/* ---- team_live_laps.c ---- */

/* An activity has ended, or the entry of a command for one: how long it took. */
void team_live_learn_effect(const struct team_live_run *run, const struct team_effect *effect);
void team_live_learn_entry(const struct team_live_run *run, uint16_t robot,
                           const struct team_live_command *sent, const struct entry *entry);

/* ---- team_live_record_alarm.c ---- */

/* Record an alarm of the team, unless its kind comes too often. */
void team_live_record_alarm(const struct team_live_run *run, const struct team_effect *effect);

#endif
