/* config/team/team_values.h - structs that a team's option tables write to, where the core's
 * own do not fit; private to the files of config/team. */
#ifndef CONFIG_TEAM_TEAM_VALUES_H
#define CONFIG_TEAM_TEAM_VALUES_H

#include "config/team/team_build.h"

struct task_values {
    struct team_task_params params;
    int64_t mean_us, sd_us; /* 0: not given */
};

struct robot_values {
    struct team_robot_params params;
    char sequence[TEAM_NAME_MAX];
};

struct job_values {
    char part[TEAM_NAME_MAX], sequence[TEAM_NAME_MAX], home[TEAM_NAME_MAX];
    uint32_t count;
};

struct planned_values {
    char sequence[TEAM_NAME_MAX];
    struct team_planned params;
};

struct take_values {
    char from[TEAM_NAME_MAX];
    uint32_t none;
    int64_t retry_us; /* 0: not given */
};

struct meet_values {
    char name[TEAM_NAME_MAX], task[TEAM_NAME_MAX], to[TEAM_NAME_MAX];
    uint32_t robots;
};

struct repeat_values {
    uint32_t times; /* 0: endless */
};

extern const struct option_table team_options, team_resource_options, team_position_options,
    team_task_options, team_window_options, team_robot_options, team_job_options,
    team_planned_options, team_take_options, team_meet_options, team_together_options,
    team_repeat_options, team_if_options;

#endif
