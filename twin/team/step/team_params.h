/* twin/team/step/team_params.h - a team: its robots, resources and tasks, as its file gives them.
 *
 * Plain data, made once (config/team/team_file.h) and borrowed by everything that runs, checks
 * or simulates the team. What names a thing here is its place in the array of its kind; texts
 * are for people. Sequences lie flat: sequences within sequences, conditions and loops were
 * turned into steps and jumps when the file was read, so that a nested sequence does what its
 * steps written one below the other do. Times are whole microseconds. Pure.
 * docs/model/teams.md.
 */
#ifndef TWIN_TEAM_STEP_TEAM_PARAMS_H
#define TWIN_TEAM_STEP_TEAM_PARAMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/numbers/lab_time.h"
#include "base/text/names.h"
#include "base/errors/status.h"
#include "logger/message/event.h"

enum {
    TEAMS_MAX = 64,
    TEAM_NAME_MAX = 32, /* bytes of any name with its NUL */
    TEAM_ROBOTS_MAX = 1024,
    TEAM_RESOURCES_MAX = 1024,
    TEAM_STEPS_MAX = 4096,       /* of a team's sequences, as written */
    TEAM_FLAT_STEPS_MAX = 65536, /* of all its sequences, laid flat */
    TEAM_WANT_MAX = 16,          /* resources of one Lock */
    TEAM_LOOPS_MAX = 4,          /* counted loops within each other */
    TEAM_CAPACITY_MAX = 64,
    TEAM_JOBS_MAX = 1024, /* that wait */
    TEAM_NONE = 0xffff    /* no name, task, sequence … */
};

/* clang-format off */
/* How several resources are taken (docs/model/teams.md, "Locking rules"). */
#define TEAM_LOCKINGS(X)                                                                       \
    X(TEAM_ORDERED, "ordered") /* nested in the order of the file; several: one by one */      \
    X(TEAM_AT_ONCE, "at_once") /* no Lock while holding; several: when all are free */         \
    X(TEAM_FREE, "free")       /* the paper's: deadlocks are told, not excluded */

/* What becomes of a resource whose owner failed or fell silent. */
#define TEAM_POLICIES(X)                                                                       \
    X(TEAM_HOLD, "hold")       /* stays occupied until a person frees it */                    \
    X(TEAM_RELEASE, "release") /* free after its delay */

#define TEAM_RESOURCE_KINDS(X)                                                                 \
    X(TEAM_ZONE, "zone") /* a place that a robot stands in */                                  \
    X(TEAM_TOOL, "tool") X(TEAM_LOGICAL, "logical")

#define TEAM_STEP_KINDS(X)                                                                     \
    X(TEAM_STEP_TAKE, "IdPrt") /* arg: buffer; the first part there that the robot handles */  \
    X(TEAM_STEP_TASK, "task")  /* an activity of the robot: task and arg */                    \
    X(TEAM_STEP_TOOL, "ChangeTool") /* a task after which the robot has tool `arg` */          \
    X(TEAM_STEP_LOCK, "Lock") /* resources */                                                  \
    X(TEAM_STEP_UNLOCK, "UnLock") /* resources */                                              \
    X(TEAM_STEP_MEET, "Meet") /* wait until `robots` robots are at `meeting` */                \
    X(TEAM_STEP_TOGETHER, "Together") /* a meeting, then task and arg, by all at once */       \
    X(TEAM_STEP_GOTO, "goto") /* on at step `to` */                                            \
    X(TEAM_STEP_UNLESS, "unless") /* on at step `to` unless the part in hand is `arg` */       \
    X(TEAM_STEP_LOOP, "loop") /* on at step `to`, `times` - 1 times; then behind this step */  \
    X(TEAM_STEP_DONE, "done") /* task `task` that takes no time and no robot (IdPrt of a       \
                               * sequence without buffers) */
/* clang-format on */

enum team_locking { TEAM_LOCKINGS(NAMES_VALUE) TEAM_LOCKING_COUNT };
enum team_policy { TEAM_POLICIES(NAMES_VALUE) TEAM_POLICY_COUNT };
enum team_resource_kind { TEAM_RESOURCE_KINDS(NAMES_VALUE) TEAM_RESOURCE_KIND_COUNT };
enum team_step_kind { TEAM_STEP_KINDS(NAMES_VALUE) TEAM_STEP_KIND_COUNT };

/* When an activity may end: from min on (told otherwise), until max (then it has failed).
 * poll > 0: looked at every poll from min on, as the paper's INTF does (REFERENCE 6.1). */
struct team_window {
    int64_t min_us, max_us, poll_us; /* max: LAB_TIME_MAX for any; poll 0: at its reply */
};

struct team_resource_params {
    char name[TEAM_NAME_MAX];
    enum team_resource_kind kind;
    uint32_t capacity; /* 1 .. TEAM_CAPACITY_MAX: how many may hold it at once */
    int64_t lease_us;  /* silence of an owner that ends its lease; 0: none does */
    int64_t delay_us;  /* from its being freed by error, loss or a person to its next grant */
    enum team_policy on_error, on_lost;
};

struct team_position {
    uint16_t name;
    uint16_t robot; /* whose own it is; TEAM_NONE: of every one, these come first */
    bool safe;      /* outside every zone */
    double x_m, y_m, heading_rad; /* heading NAN: any */
};

/* How long an activity takes where nothing was measured; sd: standard deviation, >= 0. */
struct team_nominal {
    uint16_t robot, task, arg; /* robot, arg TEAM_NONE: of every one */
    int64_t mean_us, sd_us;
};

struct team_task_params {
    char name[TEAM_NAME_MAX]; /* "Move", "PickPrt" … */
    bool to_position;         /* its arg is a position: turn, then way, as far as it is */
    bool safe;                /* after it, wherever to, the robot stands outside every zone */
    char op[EVENT_OP_MAX];    /* what the pair is told else; "" : offline only */
    char payload[EVENT_RAW_MAX]; /* other members of the command, JSON object; {arg} replaced */
    struct team_window window;
};

struct team_step {
    enum team_step_kind kind;
    uint16_t task;     /* in tasks; TASK TOOL TOGETHER DONE */
    uint16_t arg;      /* in names; TEAM_NONE: none */
    uint16_t meeting;  /* in names */
    uint16_t robots;   /* that meet */
    uint16_t sequence; /* as written: where this step stands in the file */
    uint16_t place;    /* the how many-th step written in that sequence, from 1; 0: of none */
    uint32_t line;     /* of the file; 0: of none */
    uint32_t to;       /* in steps */
    uint32_t times;    /* of a loop, >= 1 */
    uint32_t first_resource, resource_count; /* in lists: as written, no two alike */
    int64_t retry_us; /* of IdPrt: look again after; 0: the sequence ends */
};

struct team_sequence {
    char name[TEAM_NAME_MAX];
    uint32_t line;
    bool part; /* only a step of others: alone it would leave what it locks held, or the like;
                * no robot and no job may name it */
    uint32_t first, count; /* in steps; its jumps stay within */
};

struct team_buffer {
    uint16_t name;
    uint32_t first_part, part_count; /* in lists, of names; in the order in which they lie */
};

struct team_robot_params {
    char name[TEAM_NAME_MAX];
    char pair[EVENT_PAIR_MAX]; /* "" : offline only */
    uint16_t sequence;         /* TEAM_NONE: takes jobs, or asks by itself */
    uint32_t cycles;           /* of its sequence, >= 1 */
    uint32_t priority;         /* head starts */
    bool handles_all;
    uint32_t first_handled, handled_count; /* in lists, of names of parts */
    int64_t start_us;                      /* after the team's start */
};

struct team_job {
    char id[EVENT_ID_MAX]; /* "" of the file's own */
    uint16_t part;         /* in names */
    uint16_t sequence;
    uint16_t home; /* robot; TEAM_NONE: anybody's */
};

struct team_params {
    char name[EVENT_PAIR_MAX];
    enum team_locking locking;
    int64_t head_start_us; /* of one step of priority */
    uint32_t help_backlog; /* jobs of one home that wait before others help, >= 1 */
    bool may_fail;         /* false: waits behind a robot in Error are not looked for */
    size_t robot_count, resource_count, task_count, sequence_count, step_count, buffer_count;
    size_t job_count, position_count, nominal_count, name_count, list_count;
    const struct team_robot_params *robots;       /* their order breaks ties */
    const struct team_resource_params *resources; /* their order is that of nesting */
    const struct team_task_params *tasks;
    const struct team_sequence *sequences;
    const struct team_step *steps;
    const struct team_buffer *buffers;
    const struct team_job *jobs;
    const struct team_position *positions;
    const struct team_nominal *nominals; /* the most specific of the first ones counts */
    const char (*names)[TEAM_NAME_MAX];  /* args, parts, buffers, meetings, tools */
    const uint16_t *lists;               /* resources of steps; parts of robots and buffers */
};

extern const struct names team_locking_names;
const char *team_locking_name(enum team_locking locking);
extern const struct names team_policy_names;
const char *team_policy_name(enum team_policy policy);
extern const struct names team_resource_kind_names;
const char *team_resource_kind_name(enum team_resource_kind kind);
extern const struct names team_step_kind_names;
const char *team_step_kind_name(enum team_step_kind kind);

/* "" for TEAM_NONE. */
const char *team_name(const struct team_params *p, uint16_t name);
/* Where this robot goes to for a position of this name; NULL: there is none. */
const struct team_position *team_position(const struct team_params *p, uint16_t robot,
                                          uint16_t name);
/* The nominal of this activity; NULL: none. */
const struct team_nominal *team_nominal(const struct team_params *p, uint16_t robot,
                                        uint16_t task, uint16_t arg);

#endif
