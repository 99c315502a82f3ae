/* service/engine/ownership.h - who owns a partition: the protocol of the fence row as one step.
 *
 * Several instances share one database; one of them owns the partition, the others follow. The
 * step decides which statement to run next, whether MQTT is connected, and what may be sent.
 * It needs no clock, no connection and no randomness: the caller supplies them. Pure.
 *
 *   FOLLOWING --row unchanged for take_us, or released--> TAKING --caught up--> OWNING
 *   TAKING --own journal is ahead--> REFILLING --appended--> ASKING --> TAKING
 *   TAKING, REFILLING, OWNING, HANDING_OVER --any doubt--> ASKING --still mine--> back
 *   ASKING --not mine--> LOST --lab rolled back--> FOLLOWING
 *   OWNING --yield--> HANDING_OVER --row released--> LOST
 *   any --lines differ--> STOPPED, until a restart
 *
 * Promises, whatever the network, the clock's owner and the database do:
 *  - A write is accepted from one instance at a time.
 *  - ownership_may_send() holds for at most one instance, if safe_us < take_us and the clocks
 *    run equally fast. It is false safe_us after the start of the last write that succeeded.
 *  - A line is reported as durable once, in order, and only if the database stored it.
 *  - If the database went back to an older state, the owner raises an alarm, and appends the
 *    missing lines from its own file journal before it goes on.
 */
#ifndef SERVICE_ENGINE_OWNERSHIP_H
#define SERVICE_ENGINE_OWNERSHIP_H

#include "base/errors/status.h"
#include "base/numbers/lab_time.h"
#include "logger/fence/fence.h"

enum ownership_state {
    OWNERSHIP_FOLLOWING,
    OWNERSHIP_TAKING,       /* has the lease, reads the lines that it lacks */
    OWNERSHIP_REFILLING,    /* has the lease, appends lines that the database lacks */
    OWNERSHIP_OWNING,       /* takes messages, sends effects */
    OWNERSHIP_ASKING,       /* finds out whether the lease and the last lines are there */
    OWNERSHIP_LOST,         /* waits until the lab is back at the last durable line */
    OWNERSHIP_HANDING_OVER, /* takes no more messages, writes those that wait, then yields */
    OWNERSHIP_STOPPED,      /* somebody must look: lines differ */
    OWNERSHIP_STATE_COUNT
};

ENUM_NAMES_DECLARED(ownership_state);

enum ownership_alarm {
    OWNERSHIP_QUIET,
    OWNERSHIP_TAKEN_FROM_US, /* another instance has a higher epoch */
    OWNERSHIP_WENT_BACK,     /* the database is in an older state than it was */
    OWNERSHIP_LINES_DIFFER,  /* database and own journal have other lines at one place */
    OWNERSHIP_NOT_DURABLE,   /* commits do not wait for a standby */
    OWNERSHIP_NO_FOLLOWER,   /* a hand-over was refused: no follower has caught up */
    OWNERSHIP_ALARM_COUNT
};

ENUM_NAMES_DECLARED(ownership_alarm);

/* Times by CLOCK_BOOTTIME, which goes on while the process or the machine stands still. */
struct ownership_params {
    int64_t renew_us;  /* an idle owner writes after this time; > 0 */
    int64_t safe_us;   /* effects may be sent for this time after the start of a write; > renew_us */
    int64_t take_us;   /* a follower takes a row that did not change for it; > safe_us */
    int64_t follow_us; /* between two reads of a follower, two tries after a failure; > 0 */
};

enum ownership_event_kind {
    OWNERSHIP_TICK,        /* time has passed, or lines came */
    OWNERSHIP_RESULT,      /* of the statement that was requested */
    OWNERSHIP_ROLLED_BACK, /* the lab is at line own_n, in state LOST */
    OWNERSHIP_HAND_OVER,   /* somebody asked for it */
};

struct ownership_event {
    enum ownership_event_kind kind;
    int64_t boot_us; /* CLOCK_BOOTTIME */
    int64_t lab_us;  /* lab time */
    size_t waiting;  /* lines that wait to be written, those in doubt included */
    int64_t own_n;   /* lines of the own file journal; after FOLLOW: with those read */
    /* A token that was never used before; the step may use it. */
    struct fence_lease fresh;
    struct fence_result result; /* RESULT */
    int64_t follower_n;         /* HAND_OVER: lines of the follower that is furthest */
};

/* The caller carries these out in this order. */
struct ownership_actions {
    bool close_mqtt;              /* at once, without acknowledging */
    bool roll_back;               /* lab to the last durable line, then ROLLED_BACK */
    size_t durable;               /* lines of the last write: to own journal, lab, publisher */
    bool open_mqtt;               /* with all client ids of the partition */
    enum ownership_alarm alarm;   /* raised now */
    struct fence_request request; /* run it, and report its RESULT; FENCE_NONE: nothing */
};

struct ownership { /* Plain data. Others read `state`, `epoch`, `n`, `durable` only. */
    enum ownership_state state;
    enum ownership_state resume; /* ASKING: the state before */
    struct fence_lease lease;    /* mine, if this instance owns, takes or asks */
    struct fence_lease asked;    /* ASKING: the one that ASK sets */
    struct fence_lease yielded;  /* the row was released here with it: others come first */
    int64_t epoch;               /* mine, or the newest seen */
    int64_t n;                   /* durable lines, as far as known */
    bool durable;                /* the last answer said that commits wait for a standby */
    bool was_owner;              /* nobody else has taken since this instance owned */
    bool yielding;               /* HANDING_OVER: the row may be released already */
    int64_t t_us;                /* lab time of the row's last write */
    int64_t success_us;          /* start of the last write that succeeded */
    int64_t success_lab_us;      /* the lab time that it wrote */
    size_t doubt;                /* ASKING: lines of the write in doubt */
    enum fence_source doubt_source;
    struct fence_row watched; /* FOLLOWING: the row as it is since watched_us */
    int64_t watched_us;
    int64_t reading_us; /* FOLLOWING: since then no read failed, LAB_TIME_MAX: it did */
    int64_t read_us;    /* FOLLOWING: the last successful read */
    struct fence_request request; /* that runs, or ran last */
    bool running;                 /* its result has not come */
    bool hurry;                   /* the next need not wait follow_us */
    int64_t started_us;           /* when it started */
};

/* Begins as a follower. own_n: lines of the own file journal. STATUS_E_ARG: a parameter is out
 * of its range. */
MUST_USE enum status ownership_init(struct ownership *ownership,
                                    const struct ownership_params *params, int64_t own_n);

void ownership_step(struct ownership *ownership, const struct ownership_params *params,
                    const struct ownership_event *event, struct ownership_actions *actions);

/* The WRITE that was just requested gets fewer lines: those that fit into one statement. */
void ownership_shorten(struct ownership *ownership, size_t lines);

/* May an effect be sent now? deadline_us: the deadline in lab time that caused it;
 * LAB_TIME_NONE: a durable line caused it. Ask before each effect. */
bool ownership_may_send(const struct ownership *ownership,
                        const struct ownership_params *params, int64_t boot_us,
                        int64_t deadline_us);

/* May MQTT connect, or connect again? */
bool ownership_may_connect(const struct ownership *ownership,
                           const struct ownership_params *params, int64_t boot_us);

#endif
