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
#define NAME                               OPTION_NAME, "", "", NO_RANGE
#define NAMED                              .shape = OPTION_NAMED, .names = OPTION_DOTTED_ID

static const struct option_row part_value = {
    .type = OPTION_NAME, .unit = "", .fallback = "", .choices = "", .size = TEAM_NAME_MAX};
static const struct option_items part_items = {
    .shape = OPTION_LIST_OR_ONE, .value = &part_value, .bytes = TEAM_NAME_MAX, .what = "parts", .example = "[a, b]",
    .add = team_add_part};
static const struct option_items asked_items = {
    .shape = OPTION_LIST_OR_ONE, .value = &part_value, .bytes = TEAM_NAME_MAX, .least = 1, .most = TEAM_WANT_MAX,
    .what = "parts", .fault = FAULT_WRONG_COUNT, .add = team_add_part};
static const struct option_row mean_value = {
    .type = OPTION_REAL, .unit = "s", .fallback = "", .min = 0.001, .max = 1e9, .choices = "", .size = sizeof(double)};
static const struct option_row sd_value = {
    .type = OPTION_REAL, .unit = "s", .fallback = "", .max = 1e9, .choices = "", .size = sizeof(double)};
static const struct option_items mean_items = {
    .shape = OPTION_NAMED, .value = &mean_value, .bytes = sizeof(double), .what = "seconds", .example = "{Move IB: 6}",
    .add = team_add_mean};
static const struct option_items sd_items = {
    .shape = OPTION_NAMED, .value = &sd_value, .bytes = sizeof(double), .what = "seconds", .example = "{Move IB: 0.5}",
    .add = team_add_sd};
static const struct option_row buffer_value = {"", OPTION_EACH(part_items), ""};
static const struct option_items buffer_items = {
    NAMED, .value = &buffer_value, .bytes = sizeof(struct team_buffer),
    .what = "lists of parts", .start = team_start_buffer, .add = team_add_buffer};
static const struct option_items payload_items = {
    .shape = OPTION_NAMED, .example = "{force_n: 5, at: \"{arg}\"}",
    .add = team_add_member};
static const struct option_items sequence_items = {
    NAMED, .what = "lists of steps", .reference = "#/$defs/team_steps",
    .add = team_add_sequence};

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
const struct option_table team_resource_options = {resource_rows, COUNT(resource_rows)};
static const struct option_items resource_items = {
    NAMED, .table = &team_resource_options, .bytes = sizeof(struct team_resource_params),
    .what = "resources", .add = team_add_resource};

static const struct option_row position_rows[] = {
    {"x_m", REAL("m", "", -PLACE_LIMIT_M, PLACE_LIMIT_M), OPTION_AT(struct team_position, x_m), "Where; required."},
    {"y_m", REAL("m", "", -PLACE_LIMIT_M, PLACE_LIMIT_M), OPTION_AT(struct team_position, y_m), "Where; required."},
    {"heading_rad", REAL("rad", "", -7.0, 7.0), OPTION_AT(struct team_position, heading_rad),
     "From the x axis counter-clockwise; without it any will do."},
    {"safe", TRUTH("false"), OPTION_AT(struct team_position, safe),
     "It lies outside every zone: an UnLock may follow."},
};
const struct option_table team_position_options = {position_rows, COUNT(position_rows)};
static const struct option_items position_items = {
    NAMED, .table = &team_position_options, .bytes = sizeof(struct team_position),
    .required = "x_m y_m", .what = "positions", .start = team_start_position, .add = team_add_position};
static const struct option_items own_position_items = {
    NAMED, .table = &team_position_options, .bytes = sizeof(struct team_position),
    .what = "positions", .start = team_start_own_position, .add = team_add_own_position};

static const struct option_row task_rows[] = {
    {"to", CHOICE("none", "none|position"), OPTION_AT(struct task_values, params.to_position),
     "position: its value is one, the robot turns and drives there."},
    {"op", TEXT(NO_RANGE), OPTION_AT(struct task_values, params.op),
     "Operation of the command to the pair; without it the task is for simulations only."},
    {"payload", OPTION_EACH(payload_items), "Other members of that command; {arg} in a text is the task's value."},
    {"safe", TRUTH("false"), OPTION_AT(struct task_values, params.safe),
     "After it the robot is outside every zone: an UnLock may follow."},
    {"nominal_s", TIME("", 0.001, LONG_S), OPTION_AT(struct task_values, mean_us),
     "Duration without measurements, if nominal_s of the robot or team has none."},
    {"nominal_sd_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct task_values, sd_us), "Standard deviation of that."},
};
const struct option_table team_task_options = {task_rows, COUNT(task_rows)};
static const struct option_items task_items = {
    NAMED, .table = &team_task_options, .bytes = sizeof(struct task_values),
    .what = "tasks", .add = team_add_task};

static const struct option_row window_rows[] = {
    {"min_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct team_window, min_us), "As under window."},
    {"max_s", TIME("", 0.001, LONG_S), OPTION_AT(struct team_window, max_us), "As under window."},
    {"poll_s", TIME("0", 0.0, DAY_S), OPTION_AT(struct team_window, poll_us), "As under window."},
};
const struct option_table team_window_options = {window_rows, COUNT(window_rows)};
static const struct option_items window_items = {
    NAMED, .table = &team_window_options, .bytes = sizeof(struct team_window),
    .later = true, .what = "windows", .start = team_start_window, .add = team_add_window};

static const struct option_row robot_rows[] = {
    {"pair", TEXT(NO_RANGE), OPTION_AT(struct robot_values, params.pair),
     "Pair that does its tasks, in link mode; without it the robot is of simulations only."},
    {"sequence", TEXT(NO_RANGE), OPTION_AT(struct robot_values, sequence),
     "Its sequence; without one it takes jobs, or locks and unlocks by itself."},
    {"cycles", WHOLE("1", 1.0, 4294967295.0), OPTION_AT(struct robot_values, params.cycles),
     "Repetitions of its sequence."},
    {"handles", OPTION_EACH(part_items), "List of the parts that it can handle; without it, all."},
    {"positions", OPTION_EACH(own_position_items),
     "Positions of its own, by name; keys that they lack are the team's."},
    {"priority", WHOLE("0", 0.0, 1000.0), OPTION_AT(struct robot_values, params.priority),
     "Steps of priority_head_start_s."},
    {"start_s", TIME("0", 0.0, LONG_S), OPTION_AT(struct robot_values, params.start_us),
     "When it begins, after the team's start."},
    {"nominal_s", OPTION_EACH(mean_items), "Durations of its tasks without measurements, by \"Move\" or \"Move IB\"."},
    {"nominal_sd_s", OPTION_EACH(sd_items), "Standard deviation of these."},
};
const struct option_table team_robot_options = {robot_rows, COUNT(robot_rows)};
static const struct option_items robot_items = {
    NAMED, .table = &team_robot_options, .bytes = sizeof(struct robot_values),
    .what = "robots", .start = team_start_robot, .add = team_add_robot};

static const struct option_row job_rows[] = {
    {"part", NAME, OPTION_AT(struct job_values, part), "Part of the job; required."},
    {"seq", TEXT(NOT_EMPTY), OPTION_AT(struct job_values, sequence), "The sequence that does it; required."},
    {"home", TEXT(NOT_EMPTY), OPTION_AT(struct job_values, home),
     "Robot that takes it before others do; without it anybody does."},
    {"count", WHOLE("1", 1.0, TEAM_JOBS_MAX), OPTION_AT(struct job_values, count), "Number of equal jobs."},
};
const struct option_table team_job_options = {job_rows, COUNT(job_rows)};
static const struct option_items job_items = {
    .shape = OPTION_LIST, .table = &team_job_options, .required = "part seq", .bytes = sizeof(struct job_values),
    .later = true, .what = "jobs", .example = "[{part: a, seq: carry}]", .add = team_add_job};

static const struct option_items planned_robot_items = {
    .shape = OPTION_LIST_OR_ONE, .value = &part_value, .bytes = TEAM_NAME_MAX, .least = 1, .most = TEAM_PLAN_ROBOTS_MAX,
    .what = "robots", .example = "[R1, R2]", .fault = FAULT_WRONG_COUNT, .add = team_add_planned_robot};
static const struct option_items earlier_items = {
    .shape = OPTION_LIST_OR_ONE, .value = &part_value, .bytes = TEAM_NAME_MAX, .what = "tasks of the plan",
    .example = "[fetch]", .add = team_add_earlier};
static const struct option_row planned_rows[] = {
    {"seq", TEXT(NOT_EMPTY), OPTION_AT(struct planned_values, sequence), "The sequence that does it; required."},
    {"robots", OPTION_EACH(planned_robot_items), "Its robots, which do the sequence at the same time; required."},
    {"after", OPTION_EACH(earlier_items), "Tasks of the plan that must have ended."},
};
const struct option_table team_planned_options = {planned_rows, COUNT(planned_rows)};
static const struct option_items planned_items = {
    NAMED, .table = &team_planned_options, .required = "seq robots", .bytes = sizeof(struct planned_values),
    .later = true, .what = "tasks of a plan", .add = team_add_planned};

/* Sections are read in this order, as later ones name what is in earlier ones. */
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
    {"resources", OPTION_EACH(resource_items), "Places and tools that robots share; their order is that of nesting."},
    {"positions", OPTION_EACH(position_items), "Where tasks go to."},
    {"tasks", OPTION_EACH(task_items), "Commands for the pair of a robot; a task of a sequence need not be here."},
    {"buffers", OPTION_EACH(buffer_items), "Lists of parts, by the name of their buffer."},
    {"sequences", OPTION_EACH(sequence_items), "Lists of steps, by name; a sequence may be a step of another."},
    {"nominal_s", OPTION_EACH(mean_items),
     "Durations of tasks without measurements, by \"Move\" or \"Move IB\", for all robots."},
    {"nominal_sd_s", OPTION_EACH(sd_items), "Standard deviation of these."},
    {"robots", OPTION_EACH(robot_items), "The robots; their order breaks ties. Required."},
    {"windows", OPTION_EACH(window_items), "Time windows of single tasks; keys that they lack are those of window."},
    {"jobs", OPTION_EACH(job_items), "List of jobs that wait at the start."},
    {"plan", OPTION_EACH(planned_items), "Tasks for `tandem team plan`, which shows an order; nothing runs it."},
};
const struct option_table team_options = {team_rows, COUNT(team_rows)};

static const struct option_row take_rows[] = {
    {"from", TEXT(NOT_EMPTY), OPTION_AT(struct take_values, from), "The buffer; required."},
    {"none", CHOICE("end", "end"), OPTION_AT(struct take_values, none),
     "Without a part that the robot handles its sequence ends."},
    {"retry_s", TIME("", 0.001, DAY_S), OPTION_AT(struct take_values, retry_us),
     "Look again after this time instead."},
};
const struct option_table team_take_options = {take_rows, COUNT(take_rows)};

static const struct option_row meet_rows[] = {
    {"name", NAME, OPTION_AT(struct meet_values, name), "Name of the meeting; required."},
    {"robots", WHOLE("", 2.0, TEAM_ROBOTS_MAX), OPTION_AT(struct meet_values, robots),
     "How many must be there; required."},
};
const struct option_table team_meet_options = {meet_rows, COUNT(meet_rows)};

static const struct option_row together_rows[] = {
    {"name", NAME, OPTION_AT(struct meet_values, name), "Name of the meeting; required."},
    {"robots", WHOLE("", 2.0, TEAM_ROBOTS_MAX), OPTION_AT(struct meet_values, robots),
     "How many must be there; required."},
    {"task", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, task), "Task that they do together; required."},
    {"to", TEXT(NOT_EMPTY), OPTION_AT(struct meet_values, to), "That task's value."},
};
const struct option_table team_together_options = {together_rows, COUNT(together_rows)};

static const struct option_row repeat_rows[] = {
    {"times", WHOLE("", 1.0, 1000000.0), OPTION_AT(struct repeat_values, times),
     "Number of repetitions; for ever by default."},
    {"steps", BY_HAND, "Steps that are repeated; required."},
};
const struct option_table team_repeat_options = {repeat_rows, COUNT(repeat_rows)};

static const struct option_row if_rows[] = {
    {"part", OPTION_EACH(asked_items), "Part in hand to test for, or a list of parts; required."},
    {"then", BY_HAND, "Steps when it is."},
    {"else", BY_HAND, "Steps when it is not."},
};
const struct option_table team_if_options = {if_rows, COUNT(if_rows)};
/* clang-format on */

static const struct team_section sections[] = {
    {"team", "Under `teams`, by the team's name; or under `team` of a file of its own.",
     &team_options},
    {"resources", "By their names.", &team_resource_options},
    {"positions", "By their names.", &team_position_options},
    {"tasks", "By their names.", &team_task_options},
    {"windows", "By the names of tasks.", &team_window_options},
    {"robots", "By their names.", &team_robot_options},
    {"jobs", "Each of the list.", &team_job_options},
    {"plan", "By the names of its tasks.", &team_planned_options},
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
