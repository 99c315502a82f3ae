/* service/sim/robot/fleet_parts.h - what the sources of the fleet share; nobody else includes
 * it.
 */
#ifndef SERVICE_SIM_ROBOT_FLEET_PARTS_H
#define SERVICE_SIM_ROBOT_FLEET_PARTS_H

#include <sys/queue.h>

#include "service/mqtt/session.h"
#include "service/sim/robot/fleet.h"

enum {
    FLEET_OUTGOING_MIN = 1024, /* messages that wait for their transport … */
    FLEET_OUTGOING_EACH = 16,  /* … and so many more for each robot */
    FLEET_TOPICS_MAX = 10,
    FLEET_PRESENCE_MAX = 128
};

/* A message that was said and waits until its transport is over. */
struct outgoing {
    TAILQ_ENTRY(outgoing) link;
    int64_t due_us;
    const struct fleet_robot *robot;
    const char *word; /* its topic behind the robot's name */
    int qos;
    size_t bytes;
    char payload[];
};

enum { FLEET_RECENT = 16 };

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
    char answered[EVENT_ID_MAX];   /* the command that it answered last */
    uint64_t recent[FLEET_RECENT]; /* link mode: hashes of the ids of its last commands; ring */
    uint32_t recent_count;
};

struct fleet_counts {
    uint64_t commands, replies, echoes, lost, duplicated, dropped, malformed, reboots, applied,
        refused;
};

struct fleet {
    struct fleet_options options;
    struct session session;
    size_t robot_count;
    struct fleet_robot *robots;
    char (*pairs)[EVENT_PAIR_MAX];   /* [pair_count] */
    size_t stem;                     /* bytes of their names before the number, */
    unsigned long first_number;      /* and that of the first */
    int64_t start_us;                /* lab time, and the robots' time then */
    struct efsm_executive executive; /* its period is that of a phase */
    int64_t period_us;               /* of a step, robots' time */
    uint32_t phases;  /* of a period: pair i moves in phase i % phases of it, which begins at */
    int64_t sim_us;   /* robots' time */
    uint32_t phase;   /* the one in work, or the next one */
    uint32_t greeted; /* robots of whom the broker has heard, of robot_count */
    struct fleet_robot *speaking;                        /* the one that is being stepped */
    TAILQ_HEAD(outgoing_queue, outgoing) outgoing_queue; /* by time, then as they were said */
    size_t outgoing_count;
    uint64_t connections; /* seen so far */
    struct fleet_counts counts;
    struct fleet_modbus *modbus; /* NULL: nobody speaks it */
    struct fleet_rtde *rtde;     /* likewise */
};

/* So many phases are so many whole periods, the one in work among them. */
static inline uint64_t fleet_whole(const struct fleet *f, uint64_t phases)
{
    return (phases + f->phases - 1) / f->phases;
}

/* --- fleet_receive.c ------------------------------------------------------------------------
 */

struct fleet_topics {
    size_t count;
    struct mqtt_client_topic topics[FLEET_TOPICS_MAX];
    char filters[FLEET_TOPICS_MAX][MESSAGE_TOPIC_MAX];
};

/* What it subscribes to; *out stays where it is. */
void fleet_list_topics(const struct fleet *f, struct fleet_topics *out);

/* The robots obey a message; context is the fleet. */
void fleet_receive(void *context, const struct message *message);

/* --- fleet_publish.c ------------------------------------------------------------------------
 */

/* Lab time at which the next message leaves; LAB_TIME_MAX: none waits. */
int64_t fleet_outgoing_due_us(const struct fleet *f);
void fleet_send_due(struct fleet *f, int64_t now_us);

/* A robot's sink; context is the fleet, in which it is the one that speaks. */
robot_sink fleet_publish_reply;
void fleet_publish_telemetry(struct fleet *f, struct fleet_robot *r);
/* Of *probe the robot's clock is not known yet: source_received_us is lab time. */
void fleet_publish_echo(struct fleet *f, struct fleet_robot *r, const struct event_echo *probe);
/* Publish the machines when they changed and the last time is long enough ago. */
void fleet_publish_machines(struct fleet *f, struct fleet_robot *r, int64_t now_us);
void fleet_publish_presence(struct fleet *f, const struct fleet_robot *r, bool online);
void fleet_write_presence(const struct fleet_robot *r, bool online,
                          char text[FLEET_PRESENCE_MAX]);

/* "<prefix>/<pair>/<side>/<word>" */
void fleet_topic(const struct fleet *f, const struct fleet_robot *r, const char *word,
                 char out[MESSAGE_TOPIC_MAX]);

/* Put it where the message says and say whether that was possible. */
void fleet_apply_pose(struct fleet *f, struct fleet_robot *r, const struct message *message);

/* Apply the parameter set in a message and say what was applied and what refused. */
void fleet_apply_parameters(struct fleet *f, struct fleet_robot *r,
                            const struct message *message);

/* --- fleet_servers.c --------------------------------------------------------------------- */

/* Print where a server of the arm listens. */
void fleet_print_server(const char *name, const char *where, bool writes);
/* Print why it does not listen; returns false. */
bool fleet_refuse_server(const char *option, const struct err *err);
/* Print, at the end of its counts, which clients it turned away or closed. */
void fleet_print_clients(const struct tcp_counts *c);

/* --- fleet_modbus.c ---------------------------------------------------------------------- */

/* Listen, and say where; false after a message on stderr. Nothing to do is fine. */
bool fleet_modbus_start(struct fleet *f);
void fleet_modbus_stop(struct fleet *f);

/* Before a period: the arm is told what clients asked for. After it: clients see what it shows.
 */
void fleet_modbus_obey(struct fleet *f, struct fleet_robot *r, robot_sink *reply);
void fleet_modbus_show(struct fleet *f, const struct fleet_robot *r);

/* What it says among the robot's machines; nothing where nobody speaks it. */
void fleet_modbus_write(const struct fleet *f, struct json_writer *w);

/* Is this the answer to what came by Modbus? Registers tell it, MQTT does not. */
bool fleet_modbus_answer(struct fleet *f, const struct robot_reply *reply);

/* --- fleet_rtde.c ------------------------------------------------------------------------ */

/* The same of RTDE. */
bool fleet_rtde_start(struct fleet *f);
void fleet_rtde_stop(struct fleet *f);
void fleet_rtde_obey(struct fleet *f, struct fleet_robot *r);
void fleet_rtde_show(struct fleet *f, const struct fleet_robot *r);

#endif
