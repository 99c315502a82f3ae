/* config/team/team_build.h - a team while it is read; private to the files of config/team. */
#ifndef CONFIG_TEAM_TEAM_BUILD_H
#define CONFIG_TEAM_TEAM_BUILD_H

#include "base/text/edit_distance.h"
#include "config/options/option_file.h"
#include "twin/team/step/team_params.h"

/* The arrays that grow while a team is read. */
enum team_array {
    TEAM_OF_ROBOTS,
    TEAM_OF_RESOURCES,
    TEAM_OF_TASKS,
    TEAM_OF_SEQUENCES,
    TEAM_OF_STEPS,
    TEAM_OF_BUFFERS,
    TEAM_OF_JOBS,
    TEAM_OF_POSITIONS,
    TEAM_OF_NOMINALS,
    TEAM_OF_NAMES,
    TEAM_OF_LISTS,
    TEAM_OF_PLANNED,
    TEAM_OF_WRITTEN, /* from here on needed while it is read; struct written_step, from 1 on */
    TEAM_OF_WRITTEN_SEQUENCES, /* struct written_sequence, as in the team's sequences */
    TEAM_OF_GIVEN,             /* struct given_nominal; those of all robots come first */
    TEAM_OF_ROBOT_NODES,       /* uint32_t, as in the team's robots */
    TEAM_OF_JOB_NODES,         /* the same for its jobs */
    TEAM_OF_PLANNED_NODES,     /* the same for its planned tasks */
    TEAM_OF_EARLIER,           /* struct earlier_task */
    TEAM_OF_STEP_NODES,        /* the same for its flattened steps */
    TEAM_ARRAY_COUNT
};

struct team_word { /* an item of `names` */
    char text[TEAM_NAME_MAX];
};

struct team_list { /* all zero is empty */
    void *items;
    size_t count, capacity;
};

struct team_memory {
    struct team_list arrays[TEAM_ARRAY_COUNT];
};

/* A step as written. */
enum written_kind { WRITTEN_STEP, WRITTEN_SEQUENCE, WRITTEN_REPEAT, WRITTEN_IF };

struct written_step {
    enum written_kind kind;
    /* WRITTEN_STEP; its line, place and sequence are set for every kind */
    struct team_step step;
    uint32_t node; /* node in the tree */
    uint32_t next; /* next step of its list; 0: the last */
    /* first step of its own lists: of a loop, of then and else; 0: empty */
    uint32_t first, other;
    uint32_t times;           /* count of a loop; 0: endless */
    uint16_t used;            /* WRITTEN_SEQUENCE: its index */
    uint32_t parts, part_end; /* WRITTEN_IF: range of parts */
};

struct written_sequence {
    uint32_t node, first; /* first: its first step */
    bool used;            /* another sequence uses it */
    bool open, closed;    /* marks of the search for circles */
};

/* Durations as given, keyed by `robot` and `arg`; mean or sd < 0: not given. */
struct given_nominal {
    struct team_nominal nominal;
    uint32_t node;
};

/* "after: task" of a planned task. */
struct earlier_task {
    char name[TEAM_NAME_MAX];
    uint32_t node;
    size_t task; /* the one that comes after it */
};

struct team_build {
    struct option_reader *r;
    const char *shown; /* prefix of keys in messages: "teams.cell." */
    struct team_memory memory;
    struct team_params params; /* numbers and choices; arrays are attached at the end */
    struct team_window window; /* default window of tasks */
    size_t given_first;        /* first index for the robot that is being read */
    uint16_t given_robot;      /* that robot; TEAM_NONE: durations of all robots */
    unsigned place;            /* place of the last step in its sequence */
    /* number of known tasks: listed under tasks, or with a duration */
    size_t known_tasks;
    bool no_memory;
    union { /* written to when memory is exhausted, and never read */
        struct team_robot_params robot;
        struct team_task_params task;
        struct team_resource_params resource;
        struct written_step written;
        struct team_step step;
        struct team_job job;
        struct team_planned planned;
        char bytes[512];
    } scrap;
};

/* Append an item of `bytes`, all zero. Without memory it returns a dummy that nobody reads; the
 * end of reading reports that once. */
void *team_build_append(struct team_build *b, enum team_array of, size_t bytes);

/* clang-format off */
#define TEAM_ADD(b, of, type)    ((type *)team_build_append((b), (of), sizeof(type)))
#define TEAM_AT(b, of, type, i)  (&((type *)(b)->memory.arrays[of].items)[i])
#define TEAM_COUNT(b, of)        ((b)->memory.arrays[of].count)
/* clang-format on */

/* Is the text of node a name of 1 to 31 letters, digits, '_', '-' or '.'? A fault otherwise. */
bool team_build_text(struct team_build *b, uint32_t node, const char *what);

/* The index of a name in names, which it joins when new; TEAM_NONE when there are too many. */
uint16_t team_build_name(struct team_build *b, const char *text);

/* Like edit_guess_try(), but ignores capitals. */
void team_build_guess(struct edit_guess *guess, const char *text, const char *name);

/* The name of the i-th robot, resource, task, sequence, buffer or position. */
const char *team_nth(const struct team_build *b, enum team_array of, size_t i);
/* Find the thing that the text of node (or text, unless NULL) names. TEAM_NONE with a fault
 * that lists what exists. */
uint16_t team_build_find(struct team_build *b, uint32_t node, const char *text,
                         const char *what, enum team_array of);
/* The same for the text of a key, or with key "" for the name of the item itself. */
uint16_t team_build_find_at(const struct option_reading *reading, const char *key,
                            const char *text, enum team_array of);

/* Items of a team's sections, for team_options.c: they go into its arrays. */
typedef void team_item(const struct option_reading *item, void *value, void *owner);
team_item team_add_resource, team_start_position, team_add_position, team_start_own_position,
    team_add_own_position, team_add_part, team_start_buffer, team_add_buffer, team_start_robot,
    team_add_robot, team_add_job, team_add_planned_robot, team_add_earlier, team_add_planned;
team_item team_add_task, team_add_member, team_start_window, team_add_window, team_add_mean,
    team_add_sd;
team_item team_add_sequence;

/* team_tasks.c */
uint16_t team_build_task(struct team_build *b, const char *name); /* added when new */
void team_build_check_window(const struct option_reading *reading, const char *key,
                             const struct team_window *window);
void team_build_nominals(struct team_build *b);

/* The sequences were read by their names; then come steps (team_steps.c), then flattening
 * (team_flat.c). */
/* The keywords of sequences, each with the kind of its step and the function of team_steps.c
 * that reads it. Any other word names a task. */
#define TEAM_STEP_WORDS(X)                                                                     \
    X("IdPrt", TEAM_STEP_TAKE, read_take)                                                      \
    X("Lock", TEAM_STEP_LOCK, read_resources)                                                  \
    X("UnLock", TEAM_STEP_UNLOCK, read_resources)                                              \
    X("Meet", TEAM_STEP_MEET, read_meeting)                                                    \
    X("Together", TEAM_STEP_TOGETHER, read_meeting)                                            \
    X("Repeat", TEAM_STEP_GOTO, read_repeat)                                                   \
    X("If", TEAM_STEP_UNLESS, read_if)
bool team_is_step_word(const char *name); /* team_tasks.c */
void team_build_steps(struct team_build *b);
void team_build_flat(struct team_build *b);

/* Look up the tasks that others come after; a circle is a fault (team_planned.c). */
void team_build_plan(struct team_build *b);

/* The YAML text of node: teams, or a single one; NULL without memory (team_print.c). */
char *team_file_text(const struct tree *tree, uint32_t node, bool single);

/* Run the static check and other consistency checks (team_check.c). */
void team_build_check(struct team_build *b, struct err_list *warnings);

#endif
