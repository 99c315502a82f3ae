/* config/team/team_build.h - a team being read: the inside of team_file, for its own files
 * alone. */
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
    TEAM_ARRAY_COUNT
};

struct team_word { /* an item of names */
    char text[TEAM_NAME_MAX];
};

struct team_list { /* all zero is empty */
    void *items;
    size_t count, capacity;
};

struct team_memory {
    struct team_list arrays[TEAM_ARRAY_COUNT];
};

/* A step as it is written. */
enum written_kind { WRITTEN_STEP, WRITTEN_SEQUENCE, WRITTEN_REPEAT, WRITTEN_IF };

struct written_step {
    enum written_kind kind;
    struct team_step step;    /* WRITTEN_STEP; its line, place and sequence are of all */
    uint32_t node;            /* in the tree */
    uint32_t next;            /* in its list; 0: the last */
    uint32_t first, other;    /* in its own lists: of a loop, then and else; 0: empty */
    uint32_t times;           /* of a loop; 0: for ever */
    uint16_t used;            /* WRITTEN_SEQUENCE: which */
    uint32_t parts, part_end; /* WRITTEN_IF: in lists */
};

struct written_sequence {
    uint32_t node, first; /* first: of its steps */
    bool used;            /* a step of another one */
    bool open, closed;    /* while circles are sought */
};

/* Durations as they are given; told apart by `robot` and `arg`, mean or sd < 0: not given. */
struct given_nominal {
    struct team_nominal nominal;
    uint32_t node;
};

struct team_build {
    struct option_reader *r;
    const char *shown; /* stands before keys in messages: "teams.cell." */
    struct team_memory memory;
    struct team_params params;  /* numbers and choices; arrays at the end */
    struct team_window window;  /* of tasks that say nothing else */
    struct team_list written;   /* struct written_step, from 1 on */
    struct team_list sequences; /* struct written_sequence, as in the team's sequences */
    struct team_list given;     /* struct given_nominal; those of all robots first */
    size_t given_first;         /* of those that are being read */
    char own_shown[OPTION_PREFIX_MAX + 16]; /* "teams.cell.robots.R1.positions" */
    unsigned place;                         /* of the last step written in its sequence */
    struct team_list robot_nodes;           /* uint32_t, as in the team's robots */
    struct team_list job_nodes;             /* the same of its jobs */
    struct team_list step_nodes;            /* the same of its steps laid flat */
    size_t known_tasks;                     /* of its tasks: under tasks, or with a duration */
    bool no_memory;
    union { /* what a full memory is written to */
        struct team_robot_params robot;
        struct team_task_params task;
        struct team_resource_params resource;
        struct written_step written;
        struct team_step step;
        struct team_job job;
        char bytes[512];
    } scrap;
};

/* One more item of `bytes`, all zero; memory that nobody reads when there is none left, which
 * is told once at the end. */
void *team_build_append(struct team_build *b, struct team_list *list, size_t bytes);

/* clang-format off */
#define TEAM_ADD(b, of, type)    ((type *)team_build_append((b), &(b)->memory.arrays[of], sizeof(type)))
#define TEAM_AT(b, of, type, i)  (&((type *)(b)->memory.arrays[of].items)[i])
#define TEAM_COUNT(b, of)        ((b)->memory.arrays[of].count)
/* clang-format on */

typedef void team_each(struct team_build *b, uint32_t node);

/* Each value of the map at node. Faults when it is no map; TREE_NONE, or without value: none.
 */
void team_build_map(struct team_build *b, uint32_t node, const char *key, team_each *read);
/* Each value of a list, or node itself when it is one scalar. */
void team_build_list(struct team_build *b, uint32_t node, const char *key, team_each *read);

/* Faults when a key that must be given was not. */
void team_build_require(struct team_build *b, const struct option_table *table,
                        const uint32_t *given, uint32_t node, const char *shown,
                        const char *key);

/* "teams.cell.robots.R1." */
void team_build_shown(const struct team_build *b, const char *section, uint32_t node,
                      char out[OPTION_PREFIX_MAX]);

/* Is the key of node, or its text, a name: 1 to 31 letters, digits, '_', '-' or '.'? Faults
 * else. */
bool team_build_key(struct team_build *b, uint32_t node, const char *what);
bool team_build_text(struct team_build *b, uint32_t node, const char *what);

/* The place of a name in names, added when it is new; TEAM_NONE when there are too many. */
uint16_t team_build_name(struct team_build *b, const char *text);

/* As edit_guess_try(), whatever the capitals of the name. */
void team_build_guess(struct edit_guess *guess, const char *text, const char *name);

/* The i-th name of a sort of things: of an array, or of what an array says of itself. */
typedef const char *team_nth(const struct team_build *b, size_t i);
/* The place of what the text of node (or text, when it is not NULL) names; TEAM_NONE with a
 * fault that says what there is. */
uint16_t team_build_find(struct team_build *b, uint32_t node, const char *text,
                         const char *what, size_t count, team_nth *nth);
const char *team_nth_resource(const struct team_build *b, size_t i);
const char *team_nth_robot(const struct team_build *b, size_t i);
const char *team_nth_sequence(const struct team_build *b, size_t i);
const char *team_nth_task(const struct team_build *b, size_t i);
const char *team_nth_buffer(const struct team_build *b, size_t i);
const char *team_nth_position(const struct team_build *b, size_t i);

/* tasks, windows, nominal_s, nominal_sd_s (team_tasks.c) */
uint16_t team_build_task(struct team_build *b, const char *name); /* added when it is new */
void team_build_task_row(struct team_build *b, uint32_t node);
void team_build_window(struct team_build *b, uint32_t node);
void team_build_check_window(struct team_build *b, const struct team_window *window,
                             uint32_t node, const char *shown);
/* Durations of a robot, TEAM_NONE: of all; mean and sd are maps in the file. */
void team_build_given(struct team_build *b, uint32_t mean, uint32_t sd, uint16_t robot);
void team_build_nominals(struct team_build *b);

/* sequences (team_steps.c, team_flat.c): their names, then their steps, then laid flat */
void team_build_sequence(struct team_build *b, uint32_t node);

/* The words of sequences that name no task, each with the function of team_steps.c that reads
 * it. */
#define TEAM_STEP_WORDS(X)                                                                     \
    X("IdPrt", read_take)                                                                      \
    X("Lock", read_lock)                                                                       \
    X("UnLock", read_unlock)                                                                   \
    X("Meet", read_meet)                                                                       \
    X("Together", read_together)                                                               \
    X("Repeat", read_repeat)                                                                   \
    X("If", read_if)
bool team_is_step_word(const char *name); /* team_tasks.c */
void team_build_steps(struct team_build *b);
void team_build_flat(struct team_build *b);

/* 1 to 31 of A-Z a-z 0-9 _ and -. */
bool team_is_id(const char *name);
/* What stands at node, as YAML: teams, or a single one; NULL without memory (team_print.c). */
char *team_file_text(const struct tree *tree, uint32_t node, bool single);

/* The discipline and what else must fit (team_check.c). */
void team_build_check(struct team_build *b, struct err_list *warnings);

#endif
