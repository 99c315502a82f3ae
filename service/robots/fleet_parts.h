/* service/robots/fleet_parts.h - what the sources of the fleet share; nobody else includes it.
 */
#ifndef SERVICE_ROBOTS_FLEET_PARTS_H
#define SERVICE_ROBOTS_FLEET_PARTS_H

#include <stdint.h>

#include "base/random.h"
#include "logger/message/json_write.h"
#include "logger/message/message.h"
#include "service/robots/fleet_options.h"
#include "service/robots/session.h"

enum {
    FLEET_INBOX_MAX = 4096,
    FLEET_PAYLOAD_MAX = 4096,
    FLEET_OUTBOX_MIN = 1024, /* messages that wait for their transport … */
    FLEET_OUTBOX_EACH = 16,  /* … and so many more for each robot */
    FLEET_PARAMETERS_BYTES = 8192,
    FLEET_TOPICS_MAX = 8
};

enum incoming_kind { IN_COMMAND, IN_PROBE, IN_EFFORT, IN_PARAMETERS };

/* One message from the broker, for all robots that it concerns. */
struct incoming {
    enum incoming_kind kind;
    uint32_t pair;
    bool sides[SIDE_COUNT];
    int64_t arrival_us;
    struct event_command command;
    int64_t probe, sent_us;
    double tau[EVENT_AXES_MAX];
    size_t tau_count;
    char *text; /* [text_bytes] of IN_PARAMETERS; owned */
    size_t text_bytes;
};

enum outgoing_kind { OUT_REPLY, OUT_TELEMETRY, OUT_ECHO, OUT_ACK, OUT_COUNT };

struct outgoing {
    int64_t due_us;
    uint64_t number; /* breaks ties: the order in which they were said */
    uint32_t robot;
    enum outgoing_kind kind;
    size_t bytes;
    char payload[FLEET_PAYLOAD_MAX];
};

struct fleet_robot {
    uint32_t pair;
    enum side side;
    void *memory;
    double parameters[ROBOT_PARAMETERS_MAX]; /* its own, before anybody promoted others */
    char boot[EVENT_BOOT_MAX];
    struct random_source random;
    int64_t last_due_us;  /* one connection keeps its order */
    int64_t telemetry_us; /* robot time of the next sample */
    int64_t telemetry_seq;
    int64_t machines_us;    /* lab time, not before */
    uint64_t machines_mark; /* of what was published last */
    int64_t reboot_us;      /* lab time of the next one */
    int64_t down_until_us;  /* while it restarts; 0: it is up */
    int64_t clock_lost_us;  /* its clock stood still meanwhile */
    uint32_t boots;
};

struct fleet_counts {
    uint64_t commands, replies, echoes, lost, duplicated, dropped, malformed, reboots, applied,
        refused;
};

struct fleet {
    struct fleet_options options;
    struct session session; /* its queue: struct incoming */
    size_t robot_count;
    struct fleet_robot *robots;
    char (*pairs)[EVENT_PAIR_MAX]; /* [pair_count] */
    int64_t start_us;              /* lab time, and the robots' time then */

    /* The moving thread's own: */
    struct efsm_executive executive;
    int64_t period_us;       /* of a step, robots' time */
    int64_t sim_us;          /* robots' time at the beginning of the step in work */
    uint32_t speaking;       /* the robot that is being stepped */
    struct outgoing *slots;  /* [outbox_max] */
    uint32_t *heap, *unused; /* indices of slots: by time; free */
    size_t outbox_max, outbox_count;
    uint64_t outbox_number;
    uint64_t connections; /* seen so far */
    struct fleet_counts counts;
};

/* Lab time at which robots' time was or will be t_us. */
int64_t fleet_lab_us(const struct fleet *f, int64_t t_us);

/* A robot's own clock at a lab time. */
int64_t fleet_clock_us(const struct fleet *f, const struct fleet_robot *r, int64_t lab_us);

/* "<prefix>/<pair>/<side>/<word>" */
void fleet_topic(const struct fleet *f, const struct fleet_robot *r, const char *word,
                 char out[MESSAGE_TOPIC_MAX]);

#endif
