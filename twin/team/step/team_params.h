/* twin/team/step/team_params.h - the parameters of a team, from its file: robots, resources and
 * tasks.
 *
 * Plain data, made once (config/team/team_file.h) and borrowed by everything that runs, checks
 * or simulates the team. Things are referenced by their index in the array of their kind; texts
 * are for people. Sequences are flat: nested sequences, conditions and loops became steps and
 * jumps when the file was read, so a nested sequence behaves like its steps written out. Times
 * are whole microseconds. Pure. docs/model/teams.md.
 */
#ifndef TWIN_TEAM_STEP_TEAM_PARAMS_H
#define TWIN_TEAM_STEP_TEAM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/numbers/lab_time.h"
#include "base/text/names.h"
#include "logger/message/event.h"

enum {
    TEAMS_MAX = 64,
    TEAM_NAME_MAX = 32, /* bytes of any name with its NUL */
    TEAM_ROBOTS_MAX = 1024,
    TEAM_RESOURCES_MAX = 1024,
    TEAM_STEPS_MAX = 4096,       /* written steps of a team's sequences */
    TEAM_FLAT_STEPS_MAX = 65536, /* flat steps of all its sequences */
    TEAM_WANT_MAX = 16,          /* resources per Lock */
    TEAM_LOOPS_MAX = 4,          /* nesting of counted loops */
    TEAM_CAPACITY_MAX = 64,
    TEAM_JOBS_MAX = 1024, /* waiting jobs */
    TEAM_PLAN_TASKS_MAX = 64,
    TEAM_PLAN_ROBOTS_MAX = 8, /* of one task of a plan */
    TEAM_NONE = 0xffff        /* means no name, task, sequence … */
};

/* clang-format off */
/* How several resources are locked (docs/model/teams.md, "Locking rules"). */
#define TEAM_LOCKINGS(X)                                                                       \
    X(TEAM_ORDERED, "ordered") /* nested in the order of the file; several: one by one */      \
    X(TEAM_AT_ONCE, "at_once") /* no Lock while holding; several: when all are free */         \
    X(TEAM_FREE, "free")       /* as in the paper: deadlocks are reported, not excluded */

/* Fate of a resource when its owner fails or falls silent. */
#define TEAM_POLICIES(X)                                                                       \
    X(TEAM_HOLD, "hold")       /* occupied until a person frees it */                          \
    X(TEAM_RELEASE, "release") /* free after its delay */

#define TEAM_RESOURCE_KINDS(X)                                                                 \
    X(TEAM_ZONE, "zone") /* a place that a robot occupies */                                   \
    X(TEAM_TOOL, "tool") X(TEAM_LOGICAL, "logical")

#define TEAM_STEP_KINDS(X)                                                                     \
    X(TEAM_STEP_TAKE, "IdPrt") /* arg: buffer; takes the first part there that the robot handles */ \
    X(TEAM_STEP_TASK, "task")  /* an activity of the robot: task and arg */                    \
    X(TEAM_STEP_TOOL, "ChangeTool") /* a task after which the robot has tool `arg` */          \
    X(TEAM_STEP_LOCK, "Lock") /* locks resources */                                            \
    X(TEAM_STEP_UNLOCK, "UnLock") /* frees resources */                                        \
    X(TEAM_STEP_MEET, "Meet") /* wait until `robots` robots are at `meeting` */                \
    X(TEAM_STEP_TOGETHER, "Together") /* a meeting, then task and arg, by all at once */       \
    X(TEAM_STEP_GOTO, "goto") /* continue at step `to` */                                      \
    X(TEAM_STEP_UNLESS, "unless") /* continue at step `to` unless the part in hand is `arg` */ \
    X(TEAM_STEP_LOOP, "loop") /* jump to `to`, `times` - 1 times; then continue behind this step */ \
    X(TEAM_STEP_DONE, "done") /* task `task` without time or robot (IdPrt without buffers) */
/* clang-format on */

enum team_locking { TEAM_LOCKINGS(NAMES_VALUE) TEAM_LOCKING_COUNT };
enum team_policy { TEAM_POLICIES(NAMES_VALUE) TEAM_POLICY_COUNT };
enum team_resource_kind { TEAM_RESOURCE_KINDS(NAMES_VALUE) TEAM_RESOURCE_KIND_COUNT };
enum team_step_kind { TEAM_STEP_KINDS(NAMES_VALUE) TEAM_STEP_KIND_COUNT };

/* Time window for the end of an activity: from min on (earlier ends give an alarm), until max
 * (then it has failed). poll > 0: checked every poll from min on, as INTF of the paper
 * (REFERENCE 6.1). */
struct team_window {
    int64_t min_us, max_us,
        poll_us; /* max: LAB_TIME_MAX: unlimited; poll 0: ends at its reply */
};

struct team_resource_params {
    char name[TEAM_NAME_MAX];
    enum team_resource_kind kind;
    uint32_t capacity; /* 1 .. TEAM_CAPACITY_MAX: simultaneous owners */
    int64_t lease_us;  /* silence of an owner that ends its lease; 0: no lease */
    int64_t delay_us; /* time between a release by error, loss or a person and the next grant */
    enum team_policy on_error, on_lost;
};

struct team_position {
    uint16_t name;
    uint16_t robot; /* the robot it belongs to; TEAM_NONE: any, after the robot's own */
    bool safe;      /* outside every zone */
    double x_m, y_m, heading_rad; /* heading NAN: any */
};

/* Duration of an activity without measurements; sd: standard deviation, >= 0. */
struct team_nominal {
    uint16_t robot, task, arg; /* robot, arg TEAM_NONE: any */
    int64_t mean_us, sd_us;
};

struct team_task_params {
    char name[TEAM_NAME_MAX]; /* "Move", "PickPrt" … */
    bool to_position;         /* its arg is a position: turn, then distance, as needed */
    bool safe;             /* after it the robot is outside every zone, whatever the target */
    char op[EVENT_OP_MAX]; /* operation of the pair for other tasks; "": offline only */
    char payload[EVENT_RAW_MAX]; /* other members of the command, a JSON object; {arg} is
                                    replaced */
    struct team_window window;
};

struct team_step {
    enum team_step_kind kind;
    uint16_t task;     /* index in tasks; TASK TOOL TOGETHER DONE */
    uint16_t arg;      /* index in names; TEAM_NONE: none */
    uint16_t meeting;  /* index in names */
    uint16_t robots;   /* number of robots that meet */
    uint16_t sequence; /* the written sequence of this step in the file */
    uint16_t place;    /* position in that sequence, from 1; 0: not written */
    uint32_t line;     /* line of the file; 0: not written */
    uint32_t to;       /* index in steps */
    uint32_t times;    /* repetitions of a loop, >= 1 */
    uint32_t first_resource,
        resource_count; /* range in lists: as written, without duplicates */
    int64_t retry_us;   /* IdPrt: time until the next look; 0: the sequence ends */
};

struct team_sequence {
    char name[TEAM_NAME_MAX];
    uint32_t line;
    bool part; /* only a step of others: robots and jobs must not name it, because alone it
                * would leave resources locked or the like */
    uint32_t first, count; /* range in steps; its jumps stay within */
};

struct team_buffer {
    uint16_t name;
    uint32_t first_part, part_count; /* range in lists, of names, in the order of the buffer */
};

struct team_robot_params {
    char name[TEAM_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* id of the pair; "": offline only */
    uint16_t sequence;         /* TEAM_NONE: takes jobs, or has its own controller */
    uint32_t cycles;           /* repetitions of its sequence, >= 1 */
    uint32_t priority;         /* head starts */
    bool handles_all;
    uint32_t first_handled, handled_count; /* range in lists, of names of parts */
    int64_t start_us;                      /* after the team's start */
};

struct team_job {
    char id[EVENT_ID_MAX]; /* "" for jobs of the file */
    uint16_t part;         /* index in names */
    uint16_t sequence;
    uint16_t home; /* robot; TEAM_NONE: any */
};

/* A task to be planned: a sequence that robots do, after other tasks. */
struct team_planned {
    char name[TEAM_NAME_MAX];
    uint16_t sequence;
    uint16_t robots[TEAM_PLAN_ROBOTS_MAX];
    size_t robot_count;
    uint64_t after; /* set of indices in planned */
};

struct team_params {
    char name[EVENT_PAIR_MAX];
    uint64_t hash; /* of the text that it was read from; 0: none */
    enum team_locking locking;
    int64_t head_start_us; /* head start per step of priority */
    uint32_t help_backlog; /* waiting jobs of one home before others help, >= 1 */
    size_t robot_count, resource_count, task_count, sequence_count, step_count, buffer_count;
    size_t job_count, position_count, nominal_count, name_count, list_count, planned_count;
    const struct team_robot_params *robots;       /* their order breaks ties */
    const struct team_resource_params *resources; /* their order is the nesting order */
    const struct team_task_params *tasks;
    const struct team_sequence *sequences;
    const struct team_step *steps;
    const struct team_buffer *buffers;
    const struct team_job *jobs;
    const struct team_position *positions;
    const struct team_nominal *nominals; /* the first of the most specific ones is used */
    const char (*names)[TEAM_NAME_MAX];  /* args, parts, buffers, meetings, tools */
    const uint16_t *lists;               /* resources of steps; parts of robots and buffers */
    const struct team_planned *planned;  /* only shown, by `tandem team plan` */
};

ENUM_NAMES_DECLARED(team_locking);
ENUM_NAMES_DECLARED(team_policy);
ENUM_NAMES_DECLARED(team_step_kind);

/* Returns "" for TEAM_NONE. */
const char *team_name(const struct team_params *p, uint16_t name);
/* Writes "TASK ARG", or "TASK" without an arg; cut if too long. */
void team_task_text(const struct team_params *p, uint16_t task, uint16_t arg, char *text,
                    size_t size);
/* Find by name; TEAM_NONE: there is none. */
uint16_t team_find_robot(const struct team_params *p, const char *name);
uint16_t team_find_resource(const struct team_params *p, const char *name);
uint16_t team_find_sequence(const struct team_params *p, const char *name);
uint16_t team_find_name(const struct team_params *p, const char *name);
/* Finds the buffer of this name; buffer_count: there is none. */
size_t team_find_buffer(const struct team_params *p, uint16_t name);
/* Can the robot handle the part without a tool? */
bool team_handles(const struct team_params *p, uint16_t robot, uint16_t part);
/* Is the step an activity, which takes the robot some time? */
bool team_step_acts(const struct team_step *step);
/* Finds this robot's position of this name; NULL: none. */
const struct team_position *team_position(const struct team_params *p, uint16_t robot,
                                          uint16_t name);
/* Finds the nominal duration of this activity; NULL: none. */
const struct team_nominal *team_nominal(const struct team_params *p, uint16_t robot,
                                        uint16_t task, uint16_t arg);

#endif
