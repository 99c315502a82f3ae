/* service/arm/drive.h - commands a real arm through a program that runs on its controller
 * (ur_resident.script): which move is next, what became of it, and when nothing may move. No
 * I/O, no clock.
 *
 * The owner passes on commands and samples, carries out what the flags ask for and clears them:
 * `upload` (the program, with `mark`), `connect` (all connections again), and the `send` of
 * each group of inputs. Replies wait in `replies`. docs/ur_drive.md.
 */
#ifndef SERVICE_ARM_DRIVE_H
#define SERVICE_ARM_DRIVE_H

#include "service/wire/rtde.h"
#include "twin/arm/arm_request.h"

enum { DRIVE_WAITING_MAX = 16, DRIVE_REPLIES_MAX = 2 * DRIVE_WAITING_MAX };

/* Groups of inputs that are sent together, in the order of drive_input_names. */
enum drive_inputs { DRIVE_MOVE, DRIVE_NUMBER, DRIVE_BEAT, DRIVE_INPUTS_COUNT };
extern const char *const drive_input_names[DRIVE_INPUTS_COUNT];

/* Who may start programs on the controller, by its dashboard. */
enum drive_control { DRIVE_CONTROL_UNKNOWN, DRIVE_CONTROL_LOCAL, DRIVE_CONTROL_REMOTE };

struct drive_reply {
    char id[EVENT_ID_MAX];
    enum reply_status status;
    double t_start_s, t_end_s; /* the controller's clock */
    bool calibrate;
    char detail[ARM_DETAIL_MAX];
};

struct drive_task {
    char id[EVENT_ID_MAX];
    enum arm_op op;
    struct event_arm request;
};

/* A sample of the controller. */
struct drive_sample {
    int64_t now_us; /* monotonic */
    double t_s;     /* the controller's clock */
    int32_t taken, ended, result, mark, beat;
    const char *stop; /* why the robot may not move; NULL: it may */
    bool protective;  /* by a protective stop */
    double scaling;   /* of speeds; 0: paused */
    double q[ARM_JOINTS], qd[ARM_JOINTS], tool[6]; /* set points; offset of the tool */
};

enum drive_state {
    DRIVE_OFF,      /* no connection, or the robot may not move */
    DRIVE_STARTING, /* uploaded; the program's echo is awaited */
    DRIVE_READY,
    DRIVE_MOVING,   /* a move was sent */
    DRIVE_STOPPING, /* and stopped and answered; its end is awaited */
    DRIVE_LATCHED,  /* stopped, or another program runs: an `unlock` is needed */
};

struct drive {
    struct arm_geometry arm;
    struct arm_bounds bounds;
    uint32_t mark; /* of the last upload, > 0 */
    enum drive_state state;
    enum drive_control control;
    char why[ARM_DETAIL_MAX]; /* while it is not ready: for replies and the log */
    struct drive_sample last; /* now_us 0: none yet */
    const char *last_stop;    /* static: why it was stopped last */
    int64_t stopped_us, uploaded_us, beat_us; /* monotonic */
    int32_t beat_seen;
    double alive_s; /* the controller's clock: the last new echo of a beat */

    struct drive_task waiting[DRIVE_WAITING_MAX];
    size_t count;
    /* the move that was sent */
    char id[EVENT_ID_MAX];
    enum arm_op op;
    int32_t number;
    double planned_s, run_s; /* its duration; how long it ran, at full speed */
    double stop_limit_s;     /* of run_s, while stopping */
    bool taken, seen, scaled, stopping;
    double t_start_s, t_end_s;
    const char *error, *why_stopped; /* static: it ends as an error; or halted, because */
    /* halt or stopj, answered when the arm is at rest */
    char stop_id[EVENT_ID_MAX];
    double stop_start_s;
    bool stop_waits;

    struct rtde_inputs inputs;
    bool send[DRIVE_INPUTS_COUNT], upload, unlock, connect;
    struct drive_reply replies[DRIVE_REPLIES_MAX];
    size_t reply_count;
};

/* number: of the last move, any; differs from one run to the next. */
void drive_begin(struct drive *d, const struct arm_geometry *arm, int32_t number);

/* A command arrived. It is begun, put in the queue, or answered. */
void drive_command(struct drive *d, const struct event_command *command, int64_t now_us);

/* Every sample of the controller. */
void drive_step(struct drive *d, const struct drive_sample *s);

/* Does a move wait, because the speed slider is at 0? */
bool drive_is_paused(const struct drive *d);

/* The connection to the controller is lost; a watchdog has ended the program. */
void drive_lost(struct drive *d, const char *why);

/* Passes on the dashboard's answer; a change to local mode ends everything. */
void drive_set_control(struct drive *d, enum drive_control control);

/* Stops the move and drops what waits, because nobody in the lab can stop the arm now. why:
 * static. */
void drive_stop(struct drive *d, const char *why);

/* A move or a stop has no reply yet. */
bool drive_is_busy(const struct drive *d);

#endif
