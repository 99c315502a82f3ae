/* twin/team/live/team_live_parts.h - shared by the files of team_live: team_live.c applies
 * events and emits effects, team_live_command.c commands the pairs, team_live_request.c answers
 * requests. Private to twin/team/live.
 */
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

/* Offsets of the parts of the block. */
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

/* Adds an event to the bag of this instant. */
void team_live_add_event(const struct team_live_run *run, const struct team_event *event);
/* Adds an event of a robot; n: its activity, 0: the running one. */
void team_live_signal(const struct team_live_run *run, enum team_event_kind kind,
                      uint16_t robot, uint32_t n);
/* Marks that team_live_flush() must send something to this robot. */
void team_live_mark_due(const struct team_live_run *run, uint16_t robot);

/* ---- team_live_command.c ---- */

/* Applies TEAM_START, TEAM_HALT and TEAM_ERROR of a robot. */
void team_live_begin_activity(const struct team_live_run *run,
                              const struct team_effect *effect);
void team_live_halt_robot(const struct team_live_run *run, const struct team_effect *effect);
void team_live_end_activity(const struct team_live_run *run, const struct team_effect *effect);
/* Records that the broker has this command for that robot of the pair. */
void team_live_confirm_command(struct team_live_robot *r, const char *id, enum side side);
/* Sends what is due to this robot. */
void team_live_send(const struct team_live_run *run, uint16_t robot);

/* ---- team_live_apply_request.c ---- */

/* Updates the answers that this effect concerns. */
void team_live_update_answer(const struct team_live_run *run, const struct team_effect *effect);

/* ---- team_live_course.c ---- */

/* Adds an effect of the team to its job. */
void team_live_update_job(const struct team_live_run *run, const struct team_effect *effect);
/* Adds an effect of the team to the present course. */
void team_live_update_course(const struct team_live_run *run, const struct team_effect *effect);
/* Adds the entry of a command for activity n. */
void team_live_add_entry(const struct team_live_run *run, uint16_t robot, uint32_t n,
                         const struct entry *entry);
/* Emits the result of a course that has ended. */
void team_live_end_course(const struct team_live_run *run);

/* ---- team_live_forecast.c ---- */

/* Drops the predictions of a robot that deviates from them. */
void team_live_update_forecast(const struct team_live_run *run,
                               const struct team_effect *effect);
/* Applies a new forecast. */
void team_live_apply_forecast(const struct team_live_run *run,
                              const struct team_forecast *forecast);
/* Requests a forecast if something has begun in this step. */
void team_live_request_forecast(const struct team_live_run *run);

/* ---- team_live_laps.c ---- */

/* Learns the duration of an activity from its end, or from the entry of its command. */
void team_live_learn_effect(const struct team_live_run *run, const struct team_effect *effect);
void team_live_learn_entry(const struct team_live_run *run, uint16_t robot,
                           const struct team_live_command *sent, const struct entry *entry);

/* ---- team_live_record_alarm.c ---- */

/* Records an alarm of the team, unless its kind is too frequent. */
void team_live_record_alarm(const struct team_live_run *run, const struct team_effect *effect);

#endif
