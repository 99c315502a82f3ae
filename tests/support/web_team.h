/* tests/support/web_team.h - a team for the web fixture: R1 requests by itself, R2 has a
 * sequence; the team applies requests over HTTP at once, as the lab would. */
#ifndef TESTS_SUPPORT_WEB_TEAM_H
#define TESTS_SUPPORT_WEB_TEAM_H

#include <stdlib.h>

#include "logger/codec/codecs.h"
#include "twin/team/live/team_live.h"

static const struct team_resource_params web_team_resources[] = {{.name = "IB", .capacity = 1}};
static const struct team_task_params web_team_tasks[] = {
    {.name = "Go", .op = "work", .window = {.max_us = LAB_TIME_MAX}}};
static const struct team_step web_team_steps[] = {
    {.kind = TEAM_STEP_LOCK, .task = TEAM_NONE, .arg = TEAM_NONE, .resource_count = 1},
    {.kind = TEAM_STEP_TASK, .task = 0, .arg = TEAM_NONE},
    {.kind = TEAM_STEP_UNLOCK, .task = TEAM_NONE, .arg = TEAM_NONE, .resource_count = 1}};
static const struct team_sequence web_team_sequences[] = {{.name = "s", .count = 3}};
static const char web_team_names[][TEAM_NAME_MAX] = {"a"};
static const uint16_t web_team_lists[] = {0};
static const struct team_robot_params web_team_robots[] = {
    {.name = "R1", .sequence = TEAM_NONE, .handles_all = true},
    {.name = "R2", .sequence = 0, .cycles = 1, .handles_all = true}};
static const struct team_nominal web_team_nominals[] = {
    {.robot = TEAM_NONE, .task = 0, .arg = TEAM_NONE, .mean_us = 5000000}};
static const struct team_planned web_team_planned[] = {
    {.name = "first", .sequence = 0, .robots = {0}, .robot_count = 1},
    {.name = "second", .sequence = 0, .robots = {1}, .robot_count = 1, .after = 1}};
static const struct team_params web_team_params = {.name = "cell",
                                                   .help_backlog = 1,
                                                   .robot_count = 2,
                                                   .resource_count = 1,
                                                   .task_count = 1,
                                                   .sequence_count = 1,
                                                   .step_count = 3,
                                                   .name_count = 1,
                                                   .list_count = 1,
                                                   .nominal_count = 1,
                                                   .planned_count = 2,
                                                   .nominals = web_team_nominals,
                                                   .planned = web_team_planned,
                                                   .robots = web_team_robots,
                                                   .resources = web_team_resources,
                                                   .tasks = web_team_tasks,
                                                   .sequences = web_team_sequences,
                                                   .steps = web_team_steps,
                                                   .names = web_team_names,
                                                   .lists = web_team_lists};

static inline struct team_live *web_team_make(void)
{
    struct team_live *live =
        aligned_alloc(64, (team_live_state_bytes(&web_team_params) + 63) / 64 * 64);
    if (!live) {
        abort();
    }
    team_live_init(live, &web_team_params, 0, 0);
    return live;
}

static inline void web_team_emit(void *context, const struct effect *effect)
{
    (void)context;
    (void)effect;
}

struct web_team_asked {
    struct team_live *live;
    int64_t t_us;
};

static inline void web_team_apply(void *context, const struct event *event)
{
    const struct web_team_asked *a = context;
    const struct effects fx = {web_team_emit, NULL};
    const struct team_live_run run = {
        .live = a->live, .p = &web_team_params, .fx = &fx, .t_us = a->t_us};
    team_live_apply_request(&run, event);
    team_live_flush(&run);
    while (a->live->deadline_us <= run.t_us) {
        team_live_fire(&run);
        team_live_flush(&run);
    }
}

/* One line of the daemon's own, at t_us. */
static inline void web_team_ask(struct team_live *live, int64_t t_us, const char *payload,
                                size_t bytes)
{
    struct message m = {.topic = "t/$lab/request",
                        .payload = payload,
                        .stored_bytes = bytes,
                        .payload_bytes = bytes};
    struct web_team_asked asked = {live, t_us};
    (void)codec_decode(NULL, "t", &m, web_team_apply, &asked);
}

#endif
