/* service/sim/robot/fleet_parts.h - shared by the sources of the fleet and private to them. */
#ifndef SERVICE_SIM_ROBOT_FLEET_PARTS_H
#define SERVICE_SIM_ROBOT_FLEET_PARTS_H

#include <sys/queue.h>

#include "service/mqtt/session.h"
#include "service/sim/robot/fleet.h"

enum {
    FLEET_OUTGOING_MIN = 1024, /* messages in transport … */
    FLEET_OUTGOING_EACH = 16,  /* … and this many more for each robot */
    FLEET_TOPICS_MAX = 10,
    FLEET_PRESENCE_MAX = 256
};

/* A published message during its transport delay. */
struct outgoing {
    TAILQ_ENTRY(outgoing) link;
    int64_t due_us;
    const struct fleet_robot *robot;
    const char *word; /* last level of its topic, after the robot's name */
    int qos;
    size_t bytes;
    char payload[];
};

enum { FLEET_RECENT = 16 };

struct fleet_robot {
    uint32_t pair;
    enum side side;
    void *memory;
    double parameters[ROBOT_PARAMETERS_MAX]; /* its own values before any promotion */
    char boot[EVENT_BOOT_MAX];
    struct random_source random;
    /* transport time of the last message: one connection keeps its order */
    int64_t last_due_us;
    int64_t telemetry_us; /* robot time of the next sample */
    int64_t telemetry_seq;
    int64_t machines_us;    /* lab time of the next publication at the earliest */
    uint64_t machines_mark; /* fingerprint of the last publication */
    int64_t reboot_us;      /* lab time of the next restart */
    int64_t down_until_us;  /* end of the restart; 0: running */
    int64_t clock_lost_us;  /* its clock stood still during restarts */
    uint32_t boots;
    char answered[EVENT_ID_MAX];   /* the last command that it answered */
    uint64_t recent[FLEET_RECENT]; /* link mode: ring of hashed ids of its last commands */
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
    size_t stem;                     /* length of their names before the number, */
    unsigned long first_number;      /* and the number of the first */
    int64_t start_us;                /* lab time of the start, and robots' time then */
    struct efsm_executive executive; /* its period is one phase */
    int64_t period_us;               /* robots' time of a step */
    /* phases of a period: pair i moves in phase i % phases, which begins at */
    uint32_t phases;
    int64_t sim_us;               /* robots' time */
    uint32_t phase;               /* the phase that runs, or the next one */
    uint32_t greeted;             /* robots announced to the broker, of robot_count */
    struct fleet_robot *speaking; /* the robot that is being stepped */
    /* sorted by time, then in order of publication */
    TAILQ_HEAD(outgoing_queue, outgoing) outgoing_queue;
    size_t outgoing_count;
    uint64_t connections; /* connections seen so far */
    struct fleet_counts counts;
    struct fleet_modbus *modbus; /* NULL: no arm speaks it */
    struct fleet_rtde *rtde;     /* NULL: no arm speaks it */
    struct fleet_ur *ur;         /* NULL: no arm takes programs */
};

/* The number of whole periods in this many phases, the current one included. */
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

/* List the subscribed topics; *out must not move. */
void fleet_list_topics(const struct fleet *f, struct fleet_topics *out);

/* Pass a message to the robots; context is the fleet. */
void fleet_receive(void *context, const struct message *message);

/* --- fleet_publish.c ------------------------------------------------------------------------
 */

/* Lab time at which the next message leaves; LAB_TIME_MAX: none waits. */
int64_t fleet_outgoing_due_us(const struct fleet *f);
void fleet_send_due(struct fleet *f, int64_t now_us);

/* A robot's sink; context is the fleet, and the robot is the one being stepped. */
robot_sink fleet_publish_reply;
void fleet_publish_telemetry(struct fleet *f, struct fleet_robot *r);
/* Publish an echo. The robot's clock is not applied yet: source_received_us is lab time. */
void fleet_publish_echo(struct fleet *f, struct fleet_robot *r, const struct event_echo *probe);
/* Publish the machines if they changed and enough time has passed. */
void fleet_publish_machines(struct fleet *f, struct fleet_robot *r, int64_t now_us);
void fleet_publish_presence(struct fleet *f, const struct fleet_robot *r, bool online);
void fleet_write_presence(const struct fleet *f, const struct fleet_robot *r, bool online,
                          char text[FLEET_PRESENCE_MAX]);

/* Format "<prefix>/<pair>/<side>/<word>". */
void fleet_topic(const struct fleet *f, const struct fleet_robot *r, const char *word,
                 char out[MESSAGE_TOPIC_MAX]);

/* Set the robot's pose from a message, and publish whether that was possible. */
void fleet_apply_pose(struct fleet *f, struct fleet_robot *r, const struct message *message);

/* Apply the parameter set in a message, and publish what was applied and what refused. */
void fleet_apply_parameters(struct fleet *f, struct fleet_robot *r,
                            const struct message *message);

/* --- fleet_servers.c --------------------------------------------------------------------- */

/* Print the address of a server of the arm. */
void fleet_print_server(const char *name, const char *where, bool writes);
/* Print why the server does not listen; returns false. */
bool fleet_refuse_server(const char *option, const struct err *err);
/* Print, at the end of its counts, how many clients it refused or closed. */
void fleet_print_clients(const struct tcp_counts *c);

/* --- fleet_modbus.c ---------------------------------------------------------------------- */

/* Listen and print the address; false after a message on stderr. Nothing to do is no error. */
bool fleet_modbus_start(struct fleet *f);
void fleet_modbus_stop(struct fleet *f);

/* Before a period: pass clients' requests to the arm. After it: update the registers. */
void fleet_modbus_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply);
void fleet_modbus_show(struct fleet *f, const struct fleet_robot *r);

/* Write it among the robot's machines; nothing without Modbus. */
void fleet_modbus_write(const struct fleet *f, struct json_writer *w);

/* Does this reply answer a Modbus command? Then registers show it, and MQTT does not. */
bool fleet_modbus_answer(struct fleet *f, const struct robot_reply *reply);

/* --- fleet_rtde.c ------------------------------------------------------------------------ */

/* The same for RTDE. */
bool fleet_rtde_start(struct fleet *f);
void fleet_rtde_stop(struct fleet *f);
void fleet_rtde_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply);
void fleet_rtde_show(struct fleet *f, const struct fleet_robot *r);

/* --- fleet_ur.c -------------------------------------------------------------------------- */

/* The same for programs of a bridge, which come with RTDE's inputs. */
bool fleet_ur_start(struct fleet *f);
void fleet_ur_stop(struct fleet *f);
void fleet_ur_apply(struct fleet *f, struct fleet_robot *r, robot_sink *reply,
                    const struct rtde_inputs *in, int64_t now_us);
bool fleet_ur_answer(struct fleet *f, const struct robot_reply *reply);

/* The output integers 24 to 28 of the program; NULL: there was none yet. */
struct fleet_ur_registers {
    int32_t taken, ended, result, mark, beat;
};
const struct fleet_ur_registers *fleet_ur_registers(const struct fleet *f);

#endif
