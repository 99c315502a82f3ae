/* twin/sim/robot/robot.h - the interface of a simulated robot of any kind: one file and one row
 * in a table.
 *
 * A robot lives in its owner's memory and has its own time, which advances by one period per
 * step. It receives commands, efforts and parameters; replies go to a sink. Equal setup, inputs
 * and seed give equal bytes. Units are SI, angles counter-clockwise. Pure: no I/O, no clock, no
 * allocation, own seeded random numbers.
 */
#ifndef TWIN_SIM_ROBOT_ROBOT_H
#define TWIN_SIM_ROBOT_ROBOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/expression/expression.h"
#include "base/numbers/random.h"
#include "logger/message/event.h"
#include "twin/efsm/efsm.h"

enum {
    ROBOT_PARAMETERS_MAX = 128, /* rows per kind */
    ROBOT_VALUES_MAX = 16,      /* values per reply */
    ROBOT_MORE_MAX = 6,         /* additional lists of a sample that only some kinds have */
    ROBOT_DETAIL_MAX = 128,
    ROBOT_MACHINES_MAX = 4,
    ROBOT_REASON_MAX = 128
};

struct world;   /* twin/sim/robot/world.h: a map with obstacles */
struct machine; /* twin/machine/machine.h: a user's machine */

/* One parameter. Its value is a double; for a parameter with choices, the index of a word. */
struct robot_parameter {
    const char *name; /* name with unit, as everywhere: "linear_speed_mps" */
    const char *unit; /* "m/s"; "" for a number without unit */
    double preset, min, max;
    const char *help;
    const char *const *choices; /* NULL: a number; else max + 1 words */
};

/* Initial setup of a robot. */
struct robot_setup {
    const double *parameters;  /* [parameter_count], within min and max; NULL: the presets */
    const struct world *world; /* borrowed for the robot's life; NULL: an empty plane */
    const struct machine *machine; /* likewise, in place of the kind's own; may be NULL */
    uint64_t seed;
    int64_t start_us;  /* robot time at the begin of the first step */
    int64_t period_us; /* duration of a step, > 0 */
    /* x_m, y_m, psi_rad in the world; for an arm the joint angles. pose_count 0: the kind's
     * default pose */
    double pose[EVENT_AXES_MAX];
    size_t pose_count;
};

struct robot_value {
    const char *name; /* static, with its unit */
    double number;    /* finite */
};

/* The answer to a command; each command gets exactly one. */
struct robot_reply {
    char id[EVENT_ID_MAX]; /* id of the command; "" if it had none */
    enum reply_status status;
    int64_t start_us, end_us; /* robot time: begin and end of the work */
    size_t value_count;
    struct robot_value values[ROBOT_VALUES_MAX];
    char detail[ROBOT_DETAIL_MAX]; /* for people: why it was ignored …; "" if all is well */
};

typedef void robot_sink(void *context, const struct robot_reply *reply);

/* An additional list; a single number is a list of one. */
struct robot_list {
    const char *name; /* static, with its unit */
    size_t count;     /* 1 .. EVENT_AXES_MAX */
    double number[EVENT_AXES_MAX];
};

/* A telemetry sample. nu is the body velocity, pose the ground truth. */
struct robot_sample {
    int64_t t_us; /* robot time */
    size_t nu_count, tau_count, pose_count;
    double nu[EVENT_AXES_MAX], tau[EVENT_AXES_MAX], pose[EVENT_AXES_MAX];
    size_t more_count;
    struct robot_list more[ROBOT_MORE_MAX];
};

/* A running state machine of a robot; borrowed from its memory. */
struct robot_machine {
    const struct efsm_table *table;
    const struct efsm *m;
    const struct efsm_stats *stats;
};

/* A port: an input or output of a user's machine in this kind. */
struct robot_port {
    const char *name;
    enum expression_type type;
    bool input; /* input of the machine */
    const char *help;
};

struct robot_kind {
    const char *name;
    const char *purpose; /* one sentence for the help */
    size_t pose_count;   /* numbers of the default pose; 0: three, in the plane */
    size_t bytes; /* of memory, aligned as by malloc(); plain data without pointers except the
                     setup's world */
    int64_t period_us; /* default duration of a step */
    const struct robot_parameter *parameters;
    size_t parameter_count; /* <= ROBOT_PARAMETERS_MAX */
    size_t parameters_at;   /* offset of their values, doubles in the order of the rows */
    const char *operations; /* supported operations, for the help: "go, lidar, resume, halt" */

    void (*init)(void *memory, const struct robot_setup *setup);
    /* Accepts one command. False if no more can wait: nothing was stored, no reply will come
     * (robot_command() replies instead). */
    bool (*command)(void *memory, const struct event_command *command);
    /* Accepts a direct effort, held until the next one. NULL: not supported. STATUS_E_RANGE if
     * count is wrong for the kind. */
    enum status (*effort)(void *memory, const double *tau, size_t count);
    /* Sets the pose where it comes to rest. STATUS_E_STALE while it works, STATUS_E_RANGE
     * within an obstacle; NULL: not supported. */
    enum status (*place)(void *memory, const double pose[3]);
    /* Called after a parameter has changed from `before`; may be NULL. */
    void (*changed)(void *memory, size_t index, double before);
    /* Runs one period; due replies go to sink. */
    void (*step)(void *memory, robot_sink *sink, void *context);
    void (*sample)(const void *memory, struct robot_sample *sample);
    /* Fills out[], returns the number; NULL: no machines. */
    size_t (*machines)(const void *memory, struct robot_machine out[ROBOT_MACHINES_MAX]);
    const struct robot_port *ports; /* NULL: no user's machine can replace its own */
    size_t port_count;
};

extern const struct robot_kind *const robot_kinds[];
extern const size_t robot_kind_count;

/* Returns NULL if there is no such kind. */
const struct robot_kind *robot_kind_find(const char *name);

/* Can the machine run in such a robot? False with the reason: it has no ports, an input is not
 * a port (E-PORT) or has another type, or no output is a port. */
bool robot_accepts_machine(const struct robot_kind *kind, const struct machine *machine,
                           char *reason, size_t size);

/* Returns the index of a parameter, or -1. */
int robot_parameter_find(const struct robot_kind *kind, const char *name);

/* Returns the index of a word among a parameter's choices, or -1. */
int robot_choice_find(const struct robot_parameter *parameter, const char *word);

/* Sets the default of every parameter. */
void robot_presets(const struct robot_kind *kind, double parameters[ROBOT_PARAMETERS_MAX]);

/* Is the value allowed (finite, in range, a whole index of a choice)? */
bool robot_value_fits(const struct robot_parameter *parameter, double value);

/* For a kind's init(): clears all memory, then sets the setup's parameters or the presets. */
void robot_begin(const struct robot_kind *kind, void *memory, const struct robot_setup *setup);

/* Get and set a parameter of a running robot. A change takes effect at the next step; value
 * must be within the row's range. */
double robot_get_parameter(const struct robot_kind *kind, const void *memory, size_t index);
void robot_set_parameter(const struct robot_kind *kind, void *memory, size_t index,
                         double value);

/* Sets a parameter of a running robot by its name. If refused: STATUS_E_RANGE, and reason says
 * what would be right. */
MUST_USE enum status robot_set(const struct robot_kind *kind, void *memory, const char *name,
                               double value, char reason[ROBOT_REASON_MAX]);

/* Adds a number to a reply, rounded to a thousandth: millimetres, milliradians. */
void robot_reply_add(struct robot_reply *reply, const char *name, double value);

/* Adds the pose in the common form of all kinds. */
void robot_reply_pose(struct robot_reply *reply, double x_m, double y_m, double psi_rad);

/* Rounds to whole units of 1 / per_unit, never "-0". */
double robot_round(double value, double per_unit);

/* Wraps an angle to -pi < angle <= pi. */
double robot_wrap_rad(double angle_rad);

/* Calls kind->command(); a command without room is answered with an error at once. */
void robot_command(const struct robot_kind *kind, void *memory,
                   const struct event_command *command, robot_sink *sink, void *context);

#endif
