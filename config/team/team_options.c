/* config/team/team_options.c - the keys of a team, one row each. */
#include "config/team/team_file.h"
#include "config/team/team_values.h"

/* clang-format off */
#define NO_RANGE      OPTION_NO_RANGE
#define NOT_EMPTY     1.0, 0.0, ""

/* Shorthands for a row's value: kind, unit, default, range, choices. */
#define TEXT(range)                        OPTION_TEXT, "", "", range
#define TRUTH(fallback)                    OPTION_BOOL, "", fallback, NO_RANGE
#define CHOICE(fallback, choices)          OPTION_CHOICE, "", fallback, 0.0, 0.0, choices
#define WHOLE(fallback, least, most)       OPTION_INTEGER, "", fallback, least, most, ""
#define REAL(unit, fallback, least, most)  OPTION_REAL, unit, fallback, least, most, ""
#define TIME(fallback, least, most)        OPTION_TIME, "s", fallback, least, most, ""
#define BY_HAND                            OPTION_MAP, "", "", OPTION_BY_HAND

#define DAY_S         86400.0
#define LONG_S        31536000.0
#define PLACE_LIMIT_M 1000000.0

static const struct option_row team_rows[] = {
    {"locking", CHOICE("ordered", "ordered|at_once|free"), OPTION_AT(struct team_build, params.locking),
     "How several resources are locked: nested in the order of the file, all in one Lock, or in any order "
     "(deadlocks are only reported)."},
    {"priority_head_start_s", TIME("3", 0.0, DAY_S), OPTION_AT(struct team_build, params.head_start_us),
     "Head start per step of a robot's priority: it counts as having asked this much earlier."},
    {"help_backlog", WHOLE("1", 1.0, TEAM_JOBS_MAX), OPTION_AT(struct team_build, params.help_backlog),
     "Jobs of one home that wait before other robots help."},
    {"window.min_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct team_build, window.min_us),
     "A task that ends earlier is an alarm; with poll_s, when it is first looked at."},
    {"window.max_s", TIME("", 0.001, LONG_S), OPTION_AT(struct team_build, window.max_us),
     "A task that has not ended by then has failed; without it none does."},
    {"window.poll_s", TIME("0", 0.0, DAY_S), OPTION_AT(struct team_build, window.poll_us),
     "Tasks are looked at this often, from min_s on; 0: they end by their replies."},
    {"windows", BY_HAND, "Time windows of single tasks; keys that they lack are those of window."},
    {"resources", BY_HAND, "Places and tools that robots share; their order is that of nesting."},
    {"positions", BY_HAND, "Where tasks go to."},
    {"tasks", BY_HAND, "Commands for the pair of a robot; a task of a sequence need not be here."},
    {"nominal_s", BY_HAND, "Durations of tasks without measurements, by \"Move\" or \"Move IB\", for all robots."},
    {"nominal_sd_s", BY_HAND, "Standard deviation of these."},
    {"buffers", BY_HAND, "Lists of parts, by the name of their buffer."},
    {"robots", BY_HAND, "The robots; their order breaks ties. Required."},
    {"sequences", BY_HAND, "Lists of steps, by name; a sequence may be a step of another."},
    {"jobs", BY_HAND, "List of jobs that wait at the start."},
};

static const struct option_row resource_rows[] = {
    {"kind", CHOICE("zone", "zone|tool|logical"), OPTION_AT(struct team_resource_params, kind),
     "A place in the plane, a tool, or a virtual resource."},
    {"capacity", WHOLE("1", 1.0, TEAM_CAPACITY_MAX), OPTION_AT(struct team_resource_params, capacity),
     "How many robots may hold it at once."},
    {"lease_s", TIME("0", 0.0, DAY_S), OPTION_AT(struct team_resource_params, lease_us),
     "Silence of its owner that ends the lease; 0: never."},
    {"on_lost", CHOICE("hold", "hold|release"), OPTION_AT(struct team_resource_params, on_lost),
     "Then it stays occupied until a person frees it, or is free after delay_s."},
    {"on_error", CHOICE("hold", "hold|release"), OPTION_AT(struct team_resource_params, on_error),
     "The same when its owner fails."},
    {"delay_s", TIME("0", 0.0, DAY_S), OPTION_AT(struct team_resource_params, delay_us),
     "Time from its release by error, loss or a person to its next grant."},
};

static const struct option_row position_rows[] = {
    {"x_m", REAL("m", "", -PLACE_LIMIT_M, PLACE_LIMIT_M), OPTION_AT(struct team_position, x_m), "Where; required."},
    {"y_m", REAL("m", "", -PLACE_LIMIT_M, PLACE_LIMIT_M), OPTION_AT(struct team_position, y_m), "Where; required."},
    {"heading_rad", REAL("rad", "", -7.0, 7.0), OPTION_AT(struct team_position, heading_rad),
     "From the x axis counter-clockwise; without it any will do."},
    {"safe", TRUTH("false"), OPTION_AT(struct team_position, safe),
     "It lies outside every zone: an UnLock may follow."},
};

static const struct option_row task_rows[] = {
    {"to", CHOICE("none", "none|position"), OPTION_AT(struct task_values, params.to_position),
     "position: its value is one, the robot turns and drives there."},
    {"op", TEXT(NO_RANGE), OPTION_AT(struct task_values, params.op),
     "Operation of the command to the pair; without it the task is for simulations only."},
    {"payload", BY_HAND, "Other members of that command; {arg} in a text is the task's value."},
    {"safe", TRUTH("false"), OPTION_AT(struct task_values, params.safe),
     "After it the robot is outside every zone: an UnLock may follow."},
    {"nominal_s", TIME("", 0.001, LONG_S), OPTION_AT(struct task_values, mean_us),
     "Duration without measurements, if nominal_s of the robot or team has none."},
    {"nominal_sd_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct task_values, sd_us), "Standard deviation of that."},
};

static const struct option_row window_rows[] = {
    {"min_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct team_window, min_us), "As under window."},
    {"max_s", TIME("", 0.001, LONG_S), OPTION_AT(struct team_window, max_us), "As under window."},
    {"poll_s", TIME("0", 0.0, DAY_S), OPTION_AT(struct team_window, poll_us), "As under window."},
};

static const struct option_row robot_rows[] = {
    {"pair", TEXT(NO_RANGE), OPTION_AT(struct robot_values, params.pair),
     "Pair that does its tasks, in link mode; without it the robot is of simulations only."},
    {"sequence", TEXT(NO_RANGE), OPTION_AT(struct robot_values, sequence),
     "Its sequence; without one it takes jobs, or locks and unlocks by itself."},
    {"cycles", WHOLE("1", 1.0, 4294967295.0), OPTION_AT(struct robot_values, params.cycles),
     "Repetitions of its sequence."},
    {"handles", BY_HAND, "List of the parts that it can handle; without it, all."},
    {"positions", BY_HAND, "Positions of its own, by name; keys that they lack are the team's."},
    {"priority", WHOLE("0", 0.0, 1000.0), OPTION_AT(struct robot_values, params.priority),
     "Steps of priority_head_start_s."},
    {"start_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct robot_values, params.start_us),
     "When it begins, after the team's start."},
    {"nominal_s", BY_HAND, "Durations of its tasks without measurements, by \"Move\" or \"Move IB\"."},
    {"nominal_sd_s", BY_HAND, "Standard deviation of these."},
};

static const struct option_row job_rows[] = {
    {"part", TEXT(NOT_EMPTY), OPTION_AT(struct job_values, part), "Part of the job; required."},
    {"seq", TEXT(NOT_EMPTY), OPTION_AT(struct job_values, sequence), "The sequence that does it; required."},
    {"home", TEXT(NOT_EMPTY), OPTION_AT(struct job_values, home),
     "Robot that takes it before others do; without it anybody does."},
    {"count", WHOLE("1", 1.0, TEAM_JOBS_MAX), OPTION_AT(struct job_values, count), "Number of equal jobs."},
};

static const struct option_row take_rows[] = {
    {"from", TEXT(NOT_EMPTY), OPTION_AT(struct take_values, from), "The buffer; required."},
    {"none", CHOICE("end", "end"), OPTION_AT(struct take_values, none),
     "Without a part that the robot handles its sequence ends."},
    {"retry_s", TIME("", 0.001, DAY_S), OPTION_AT(struct take_values, retry_us),
     "Look again after this time instead."},
};

static const struct option_row meet_rows[] = {
    {"name", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, name), "Name of the meeting; required."},
    {"robots", WHOLE("", 2.0, TEAM_ROBOTS_MAX), OPTION_AT(struct meet_values, robots),
     "How many must be there; required."},
};

static const struct option_row together_rows[] = {
    {"name", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, name), "Name of the meeting; required."},
    {"robots", WHOLE("", 2.0, TEAM_ROBOTS_MAX), OPTION_AT(struct meet_values, robots),
     "How many must be there; required."},
    {"task", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, task), "Task that they do together; required."},
    {"to", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, to), "That task's value."},
};

static const struct option_row repeat_rows[] = {
    {"times", WHOLE("", 1.0, 1000000.0), OPTION_AT(struct repeat_values, times),
     "Number of repetitions; for ever by default."},
    {"steps", BY_HAND, "Steps that are repeated; required."},
};

static const struct option_row if_rows[] = {
    {"part", BY_HAND, "Part in hand to test for, or a list of parts; required."},
    {"then", BY_HAND, "Steps when it is."},
    {"else", BY_HAND, "Steps when it is not."},
};
/* clang-format on */

#define TABLE(name)                                                                            \
    const struct option_table team_##name##_options = {name##_rows, COUNT(name##_rows)}
const struct option_table team_options = {team_rows, COUNT(team_rows)};
TABLE(resource);
TABLE(position);
TABLE(task);
TABLE(window);
TABLE(robot);
TABLE(job);
TABLE(take);
TABLE(meet);
TABLE(together);
TABLE(repeat);
TABLE(if);

static const struct team_section sections[] = {
    {"team", "Under `teams`, by the team's name; or under `team` of a file of its own.",
     &team_options},
    {"resources", "By their names.", &team_resource_options},
    {"positions", "By their names.", &team_position_options},
    {"tasks", "By their names.", &team_task_options},
    {"windows", "By the names of tasks.", &team_window_options},
    {"robots", "By their names.", &team_robot_options},
    {"jobs", "Each of the list.", &team_job_options},
    {"IdPrt", "A step: `IdPrt: IB`, or `IdPrt: {…}` with these.", &team_take_options},
    {"Meet", "A step.", &team_meet_options},
    {"Together", "A step.", &team_together_options},
    {"Repeat",
     "A step: `Repeat` (the sequence from its first step), or `Repeat: {…}` with these.",
     &team_repeat_options},
    {"If", "A step.", &team_if_options},
};

const struct team_section *team_section(size_t i)
{
    return i < COUNT(sections) ? &sections[i] : NULL;
}

/* The choices above are spelled out, so they must match the enums. */
_Static_assert(TEAM_LOCKING_COUNT == 3 && TEAM_FREE == 2, "lockings");
_Static_assert(TEAM_POLICY_COUNT == 2 && TEAM_RELEASE == 1, "policies");
_Static_assert(TEAM_RESOURCE_KIND_COUNT == 3 && TEAM_LOGICAL == 2, "kinds of resources");
