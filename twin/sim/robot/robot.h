/* twin/sim/robot/robot.h - a simulated robot, of whatever kind: one file and one row in a
 * table.
 *
 * A robot lives in memory of its owner and in its own time, which advances by one period with
 * each step. It is told commands, efforts and parameters; it tells replies through a sink.
 * Equal setup, inputs and seed give equal bytes. Units are SI, angles counter-clockwise.
 * Pure: no I/O, no clock, no allocation, its own seeded random numbers.
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
    ROBOT_PARAMETERS_MAX = 128, /* rows of one kind's table */
    ROBOT_VALUES_MAX = 16,      /* of one reply */
    ROBOT_MORE_MAX = 6,         /* lists of a sample that only some kinds tell */
    ROBOT_DETAIL_MAX = 128,
    ROBOT_MACHINES_MAX = 4,
    ROBOT_REASON_MAX = 128
};

struct world;   /* twin/sim/robot/world.h: a map with obstacles */
struct machine; /* twin/machine/machine.h: a machine that somebody wrote */

/* One parameter. Its value is a double; of a parameter with choices, the index of a word. */
struct robot_parameter {
    const char *name; /* with its unit, as everywhere: "linear_speed_mps" */
    const char *unit; /* "m/s"; "" of a number without one */
    double preset, min, max;
    const char *help;
    const char *const *choices; /* NULL: a number; else max + 1 words */
};

/* How a robot begins. */
struct robot_setup {
    const double *parameters;  /* [parameter_count], within min and max; NULL: the presets */
    const struct world *world; /* borrowed for the robot's life; NULL: an empty plane */
    const struct machine *machine; /* likewise, in place of the kind's own; NULL */
    uint64_t seed;
    int64_t start_us;  /* robot time of the first step's beginning */
    int64_t period_us; /* of one step, > 0 */
    /* x_m, y_m, psi_rad in the world; of an arm the angles of its joints. pose_count 0: where
     * the kind begins by itself */
    double pose[EVENT_AXES_MAX];
    size_t pose_count;
};

struct robot_value {
    const char *name; /* static, with its unit */
    double number;    /* finite */
};

/* An answer. Each command gets exactly one. */
struct robot_reply {
    char id[EVENT_ID_MAX]; /* of the command; "" when it had none */
    enum reply_status status;
    int64_t start_us, end_us; /* robot time: when the work began, when it ended */
    size_t value_count;
    struct robot_value values[ROBOT_VALUES_MAX];
    char detail[ROBOT_DETAIL_MAX]; /* for people: why it was ignored …; "" when all is well */
};

typedef void robot_sink(void *context, const struct robot_reply *reply);

/* A list that only some kinds tell; one number stands alone. */
struct robot_list {
    const char *name; /* static, with its unit */
    size_t count;     /* 1 .. EVENT_AXES_MAX */
    double number[EVENT_AXES_MAX];
};

/* What telemetry tells. nu is the body velocity, pose the ground truth. */
struct robot_sample {
    int64_t t_us; /* robot time */
    size_t nu_count, tau_count, pose_count;
    double nu[EVENT_AXES_MAX], tau[EVENT_AXES_MAX], pose[EVENT_AXES_MAX];
    size_t more_count;
    struct robot_list more[ROBOT_MORE_MAX];
};

/* A state machine at work in a robot; borrowed from its memory. */
struct robot_machine {
    const struct efsm_table *table;
    const struct efsm *m;
    const struct efsm_stats *stats;
};

/* What a kind tells a machine that works in place of its own, and what it hears from it. */
struct robot_port {
    const char *name;
    enum expression_type type;
    bool input; /* of the machine */
    const char *help;
};

struct robot_kind {
    const char *name;
    const char *purpose; /* one sentence for the help */
    size_t pose_count;   /* numbers of the pose where it begins; 0: three, in the plane */
    size_t bytes;        /* of memory, aligned as malloc() does; plain data without
                            pointers but for the setup's world */
    int64_t period_us;   /* the step it is made for */
    const struct robot_parameter *parameters;
    size_t parameter_count; /* <= ROBOT_PARAMETERS_MAX */
    size_t parameters_at;   /* of the memory: their values, doubles in the order of the rows */
    const char *operations; /* what it obeys, for the help: "go, lidar, resume, halt" */

    void (*init)(void *memory, const struct robot_setup *setup);
    /* Take one command. False when no more can wait: nothing was stored, no reply will come
     * (robot_command() replies in its stead). */
    bool (*command)(void *memory, const struct event_command *command);
    /* A direct effort, held until the next one. NULL: the kind takes none. STATUS_E_RANGE when
     * count is not what the kind expects. */
    enum status (*effort)(void *memory, const double *tau, size_t count);
    /* It stands there now: where it comes to rest. STATUS_E_STALE while it is in work,
     * STATUS_E_RANGE where an obstacle stands; NULL: it cannot be put anywhere. */
    enum status (*place)(void *memory, const double pose[3]);
    /* A parameter was another one before; NULL: nothing follows from that. */
    void (*changed)(void *memory, size_t index, double before);
    /* One period: replies that fall due go to sink. */
    void (*step)(void *memory, robot_sink *sink, void *context);
    void (*sample)(const void *memory, struct robot_sample *sample);
    /* Fills out[], returns how many; NULL: no machines. */
    size_t (*machines)(const void *memory, struct robot_machine out[ROBOT_MACHINES_MAX]);
    const struct robot_port *ports; /* NULL: no machine can work in place of its own */
    size_t port_count;
};

extern const struct robot_kind *const robot_kinds[];
extern const size_t robot_kind_count;

/* NULL when there is no such kind. */
const struct robot_kind *robot_kind_find(const char *name);

/* May the machine work in such a robot? False, and why: it has no ports, an input is none of
 * them (E-PORT), or of another type, or nothing that it tells is one. */
bool robot_accepts_machine(const struct robot_kind *kind, const struct machine *machine,
                           char *reason, size_t size);

/* Index of a parameter, or -1. */
int robot_parameter_find(const struct robot_kind *kind, const char *name);

/* Index of a word among a parameter's choices, or -1. */
int robot_choice_find(const struct robot_parameter *parameter, const char *word);

/* The value that every parameter has when nobody says otherwise. */
void robot_presets(const struct robot_kind *kind, double parameters[ROBOT_PARAMETERS_MAX]);

/* May the parameter have this value (finite, in range, a whole index of a choice)? */
bool robot_value_fits(const struct robot_parameter *parameter, double value);

/* For a kind's init(): all memory zero, then the setup's parameters or the presets. */
void robot_begin(const struct robot_kind *kind, void *memory, const struct robot_setup *setup);

/* A parameter of a living robot. What is set takes effect at the next step; value is within the
 * row's range. */
double robot_get_parameter(const struct robot_kind *kind, const void *memory, size_t index);
void robot_set_parameter(const struct robot_kind *kind, void *memory, size_t index,
                         double value);

/* Set a parameter of a living robot by its name. When refused: STATUS_E_RANGE, and reason says
 * in words what would be right. */
MUST_USE enum status robot_set(const struct robot_kind *kind, void *memory, const char *name,
                               double value, char reason[ROBOT_REASON_MAX]);

/* One more number of a reply, to a thousandth: millimetres, milliradians. */
void robot_reply_add(struct robot_reply *reply, const char *name, double value);

/* Where it is, as every kind tells it. */
void robot_reply_pose(struct robot_reply *reply, double x_m, double y_m, double psi_rad);

/* A number to whole units of 1 / per_unit, never "-0". */
double robot_round(double value, double per_unit);

/* An angle as -pi < angle <= pi. */
double robot_wrap_rad(double angle_rad);

/* kind->command(); a command for which there is no room is answered with an error at once. */
void robot_command(const struct robot_kind *kind, void *memory,
                   const struct event_command *command, robot_sink *sink, void *context);

#endif
