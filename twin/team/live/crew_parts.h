/* twin/team/live/crew_parts.h - what the files of the crew share: crew.c takes events in and effects
 * out, crew_command.c commands the pairs, crew_request.c answers requests. Private to
 * twin/team/live. */
#ifndef TWIN_TEAM_LIVE_CREW_PARTS_H
#define TWIN_TEAM_LIVE_CREW_PARTS_H

#include <string.h>

#include "base/text/names.h"
#include "twin/team/live/crew.h"

static inline size_t crew_align(size_t bytes)
{
    return (bytes + 63) / 64 * 64;
}

static inline size_t crew_answers_max(const struct team_params *p)
{
    return CREW_ANSWERS + 2 * p->robot_count;
}

/* Where the parts of the block begin. */
static inline size_t crew_robots_at(void)
{
    return crew_align(sizeof(struct crew));
}

static inline size_t crew_answers_at(const struct team_params *p)
{
    return crew_robots_at() + crew_align(p->robot_count * sizeof(struct crew_robot));
}

static inline size_t crew_core_at(const struct team_params *p)
{
    return crew_answers_at(p) + crew_align(crew_answers_max(p) * sizeof(struct crew_answer));
}

static inline struct crew_robot *crew_robots(struct crew *crew)
{
    return (void *)((char *)crew + crew_robots_at());
}

static inline struct crew_answer *crew_answers(struct crew *crew, const struct team_params *p)
{
    return (void *)((char *)crew + crew_answers_at(p));
}

static inline struct team *crew_core(struct crew *crew, const struct team_params *p)
{
    return (void *)((char *)crew + crew_core_at(p));
}

/* ---- crew.c ---- */

/* Into the bag of this instant. */
void crew_put(const struct crew_run *run, const struct team_event *event);
/* Something is to be sent to this robot by crew_flush(). */
void crew_call(const struct crew_run *run, uint16_t robot);

/* ---- crew_command.c ---- */

/* TEAM_START, TEAM_HALT and TEAM_ERROR of a robot. */
void crew_begin(const struct crew_run *run, const struct team_effect *effect);
void crew_halt(const struct crew_run *run, const struct team_effect *effect);
void crew_end(const struct crew_run *run, const struct team_effect *effect);
/* The broker has the command of this id, to that robot of the pair. */
void crew_note_arrival(struct crew_robot *r, const char *id, enum side side);
/* Send what is due to this robot. */
void crew_send(const struct crew_run *run, uint16_t robot);

/* ---- crew_request.c ---- */

/* An effect that may answer a request. */
void crew_answer_effect(const struct crew_run *run, const struct team_effect *effect);

/* ---- crew_course.c ---- */

/* An effect of the team, as part of what it does now. */
void crew_course_effect(const struct crew_run *run, const struct team_effect *effect);
/* The entry of a command for activity n. */
void crew_course_entry(const struct crew_run *run, uint16_t robot, uint32_t n,
                       const struct entry *entry);
/* Tell the result of a course that has ended. */
void crew_course_end(const struct crew_run *run);

/* ---- crew_job.c ---- */

/* An effect of the team, as part of a job. */
void crew_job_effect(const struct crew_run *run, const struct team_effect *effect);
/* Something happened to it that nobody foretells: what is in work is not as was foretold. */
void crew_jobs_disturbed(const struct crew_run *run);
/* How long a job or a course took is known: count it, and tell it. */
void crew_tell_result(const struct crew_run *run, const struct crew_result *result,
                      const struct crew_job *job, struct crew_judged *judged);

/* ---- crew_forecast.c ---- */

/* An effect of the team: what was foretold of a robot that goes another way is forgotten. */
void crew_forecast_effect(const struct crew_run *run, const struct team_effect *effect);
/* What was foretold of it has come. */
void crew_take_forecast(const struct crew_run *run, const struct team_forecast *forecast);
/* Where something has begun in this step, it is to be foretold. */
void crew_forecast_ask(const struct crew_run *run);

/* ---- crew_learn.c ---- */

/* An activity has ended, or the entry of a command for one: how long it took. */
void crew_learn_effect(const struct crew_run *run, const struct team_effect *effect);
void crew_learn_entry(const struct crew_run *run, uint16_t robot,
                      const struct crew_command *sent, const struct entry *entry);

/* ---- crew_alarm.c ---- */

/* Record an alarm of the team, unless its kind comes too often. */
void crew_alarm(const struct crew_run *run, const struct team_effect *effect);

#endif
