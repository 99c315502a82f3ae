/* tests/sim/daemon/simulation.h - the parts of the seeded simulation of the whole daemon.
 *
 * One process, one thread: the daemon's threads are coroutines (schedule.c), its clocks, files
 * and broker are simulated (schedule.c, disk.c, broker.c, paho.c), and everything that happens
 * is drawn from one seed. Each run of the daemon is a fork, so that a crash is an exit. What
 * must outlive a run lies in the world, which all processes share.
 */
#ifndef TESTS_SIM_DAEMON_SIMULATION_H
#define TESTS_SIM_DAEMON_SIMULATION_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/status.h"
#include "base/numbers/random.h"

enum {
    SECOND_US = 1000000,
    PAIRS = 3, /* two in link mode, one in observe mode */
    LINK_PAIRS = 2,
    SIDES = 2,
    ROBOTS = PAIRS * SIDES,
    COMMANDS_MAX = 65536,
    NUMBERS_MAX = 32768, /* entries of a pair */
    QUEUE_MAX = 1024,
    WAITING_MAX = 64, /* commands that a robot has, or the broker has for it */
    FILTERS_MAX = 48,
    TOPIC_MAX = 96,
    PAYLOAD_MAX = 320,
    FILES_MAX = 256,
    NAMES_MAX = 128,
    CHANGES_MAX = 128,
    UNSYNCED_MAX = 8192,
    FAULT_TEXT_MAX = 4096
};

/* Faults that are planted to show that the simulation finds them. */
enum plant {
    PLANT_NONE,
    PLANT_EARLY_ACK,  /* a message is acknowledged before the journal has it */
    PLANT_NUMBER,     /* now and then an entry has the number of the entry before */
    PLANT_NO_SYNC,    /* the journal's sync before a checkpoint does nothing */
    PLANT_CHECKPOINT, /* a checkpoint is written though the store lacks its rows */
    PLANT_SENT_TWICE, /* a command is sent again after the link came back */
    PLANT_COMMIT,     /* a failed commit counts as no commit */
    PLANT_LEAK,       /* memory is not given back; a build with ASan sees it */
    PLANT_COUNT
};

/* Faults, and the check of numbers, that --without switches off. */
enum { WITHOUT_NUMBERS = 1, WITHOUT_POWER = 2, WITHOUT_CLOCK = 4, WITHOUT_FULL_START = 8 };

struct options {
    uint64_t seed;
    double hours;
    unsigned count;
    enum plant plant;
    unsigned without;
    bool verbose;
};

/* How a run of the daemon ends: the exit status of its process. */
enum { RUN_STOPPED = 0, RUN_NOT_STARTED = 80, RUN_KILLED, RUN_POWER_CUT, RUN_INCOMPLETE };

/* A command, from its controller to its entry. */
struct command {
    uint8_t pair;
    bool accepted;            /* by the broker, for the daemon's session */
    bool handed;              /* the daemon has it in its journal */
    bool forgotten;           /* by the broker, and the daemon had not received it */
    bool lost_power;          /* received by the daemon, and not synced when the power failed */
    uint8_t published[SIDES]; /* times the daemon published it to a robot; a power cut undoes
                                 unsynced changes */
    bool known[SIDES];        /* by the robot */
    uint16_t entries;         /* in the store at the end */
    uint32_t n, n_published;  /* of its entry; 0: none, or a power cut took it back */
    uint32_t seq;
    int64_t sent_us, handed_us;
};

struct sim_message {
    char topic[TOPIC_MAX], payload[PAYLOAD_MAX];
    uint16_t bytes, mid;
    int32_t command; /* -1: none */
    uint8_t qos;
    bool retained, dup, sent;
};

/* State that the broker saves to its disk, and restores after it was killed. */
struct broker_memory {
    bool session;
    uint32_t filter_count;
    char filters[FILTERS_MAX][TOPIC_MAX];
    uint16_t last_mid;
    uint32_t robot_count[ROBOTS];
    int32_t robot_queue[ROBOTS][WAITING_MAX];
    char retained[ROBOTS][PAYLOAD_MAX]; /* connections of robots */
    uint32_t count;
    struct sim_message queue[QUEUE_MAX]; /* for the daemon's session */
};

struct broker {
    struct broker_memory now, saved;
    bool up;
    int64_t up_us, save_us; /* when it comes back, when it saves next */
};

struct robot {
    bool alive;
    int64_t at_us; /* when its next step is */
    int32_t doing; /* -1: nothing */
    int64_t began_us;
    uint32_t waiting_count, boots;
    int32_t waiting[WAITING_MAX];
    struct sim_message again; /* a reply that is published again */
    int64_t again_us, sample_us;
    uint32_t samples;
    double clock_s, clock_drift; /* ahead of the true time, and seconds a second */
};

struct controller {
    int64_t at_us;
    uint32_t seq, burst;
    int32_t again; /* a command that is published again; -1: none */
    int64_t again_us;
    double mean_s;
};

/* Probabilities that a seed draws. */
struct temper {
    double preempt; /* the thread changes at a call */
    double life_s;  /* mean length of a run of the daemon */
    double fault_s; /* mean time between faults */
    double power;   /* share of crashes that are power cuts */
    double lap_s;
    double fsync_s, checkpoint_s;
    double wall_drift; /* of the wall clock: seconds a second */
    bool clock, disk, broker, link, robots;
};

struct disk_file {
    bool used;
    uint64_t inode;
    int64_t dirty_from, dirty_to; /* from >= to: clean */
    int64_t lost_from, lost_to;   /* was dirty when a sync failed, and is on no disk */
};

struct disk_name {
    char path[TOPIC_MAX]; /* below the data directory; "": free */
    int32_t live, stable; /* files; -1: none */
};

/* An unsynced change of a directory: file appears at to, the name from vanishes. */
struct disk_change {
    int32_t from, to, file;
};

struct disk {
    struct disk_file files[FILES_MAX];
    struct disk_name names[NAMES_MAX];
    struct disk_change changes[CHANGES_MAX];
    uint32_t change_count;
    int64_t full_until_us, failing_until_us, slow_until_us, fault_us;
};

/* Events of a command since the last sync of the journal. */
enum unsynced_kind {
    UNSYNCED_HANDED,
    UNSYNCED_SENT_REAL,
    UNSYNCED_SENT_VIRTUAL,
    UNSYNCED_ENTRY
};
struct unsynced {
    uint32_t command;
    enum unsynced_kind kind;
    int64_t t_us;
};

/* owner: the command + 1; 0: none. */
struct number {
    uint32_t n, owner;
};

struct simulated_lab {
    struct options options;
    struct random_source random;
    struct temper temper;
    uint64_t trace, events, steps;
    int64_t t_us;         /* the true time, from 0 */
    int64_t end_us;       /* of the history; after it no faults */
    int64_t suspended_us; /* in all */
    int64_t wall_us;      /* the wall clock is this much ahead of t_us */
    int64_t frozen_until_us;
    bool suspends;
    int64_t run_us, stop_us, kill_us; /* of this run */
    int64_t stopping_us;              /* when it began to stop */
    bool kill_cuts_power;
    bool kill_waits;     /* for the next checkpoint after kill_us */
    uint64_t kill_steps; /* after kill_us */
    int64_t fault_us;
    struct broker broker;
    struct disk disk;
    struct robot robots[ROBOTS];
    struct controller controllers[PAIRS];
    struct command commands[COMMANDS_MAX];
    uint32_t command_count;
    struct unsynced unsynced[UNSYNCED_MAX];
    uint32_t unsynced_count;
    int64_t synced_us;                         /* what the journal had then is on the disk */
    struct number numbers[PAIRS][NUMBERS_MAX]; /* that were published, in the place n %
                                                  NUMBERS_MAX or behind it */
    uint32_t failures;
    uint64_t runs, kills, power_cuts, refused_starts, cuts, broker_kills, entries, clock_steps;
    char place[256]; /* the directory of this simulation */
};

extern struct simulated_lab *world;

/* ---- draws ---- */
double draw(double low, double high);
double draw_mean(double mean); /* exponential */
bool chance(double share);
uint32_t draw_index(uint32_t count);

/* A violation, or an event of the scenario (printed with --verbose). */
void sim_fail(const char *format, ...) PRINTF_LIKE(1, 2);
void sim_log(const char *format, ...) PRINTF_LIKE(1, 2);
void sim_trace(const char *what, const void *bytes, size_t n);

/* ---- schedule.c: threads and clocks ---- */
void schedule_start(void);
/* A thread of the simulation's own. */
void schedule_spawn(void *(*run)(void *), void *context);
void schedule_point(void); /* another thread may run, the process may die */
void schedule_sleep_until(int64_t t_us);
/* Wait for schedule_wake() of the same key, or until t_us. */
void schedule_wait(const void *key, int64_t t_us);
void schedule_wake(const void *key);
bool schedule_is_doomed(void); /* the process dies after kill_steps more calls */
bool schedule_runs(void);      /* is this the process of a daemon? */
int schedule_current(void);

/* ---- disk.c ---- */
void disk_register_vfs(void);
void disk_make(void);
void disk_cut_power(void);
/* The next run does not know what a failed sync lost, so such a run keeps it
 * (docs/reliability.md). */
void disk_end_run(void);
void disk_remove(void);
bool disk_is_full(void);
bool disk_journal_is_dirty(void); /* a power cut may take a part of it */
bool disk_was_faulty(int64_t within_us);

/* ---- broker.c ---- */
void broker_make(void);
void broker_publish(const char *topic, const char *payload, int qos, bool retained,
                    int32_t command);
int64_t broker_next_us(void);
void broker_run(void);
void broker_stop(bool killed, bool forgets, int64_t down_us);
void broker_daemon_gone(void);
bool broker_has_room(void);
uint32_t broker_waiting(void); /* for the daemon, and for robots */
bool broker_topic_fits(const char *filter, const char *topic);
bool broker_commands_pair(const char *topic);           /* to the daemon, none of its own */
bool broker_receive_robot(int robot, int32_t *command); /* the next one for this robot */
/* The daemon's packets, as they arrive. */
bool broker_connected(int link, bool clean); /* whether there was a session */
void broker_subscribed(int link, const char *filter, int qos);
void broker_unsubscribed(const char *filter);
void broker_acknowledged(uint16_t mid);
void broker_pump(void);

/* ---- paho.c: connections of the daemon; broker.c calls these ---- */
enum { LINK_MAIN, LINK_TELEMETRY, LINKS };
void link_run(void); /* packets that arrive */
int64_t link_next_us(void);
void link_cut(int link, int64_t noticed_us);
void link_hang(int link, int64_t until_us);
void link_mute(int link, int64_t until_us);
bool link_is_up(int link);
/* A filter of a connection without a session; its filters are forgotten with it. */
void link_listen(int link, const char *filter);
bool link_hears(int link, const char *topic);
/* Broker to daemon. */
void link_deliver(int link, const struct sim_message *message);

/* ---- actors.c: controllers, robots, faults ---- */
void actors_make(void);
int64_t actors_next_us(void);
void actors_run(void);
void actors_command_arrives(int robot); /* at the broker, for this robot */
bool actors_are_done(void);

/* ---- ledger.c: what must hold ---- */
void ledger_hand_over(int32_t command); /* the daemon has received it */
void ledger_sync(int64_t began_us);     /* the whole journal, as it was then, is on the disk */
void ledger_daemon_publishes(const char *topic, const char *payload, int64_t sent_us);
void ledger_fail_power(void);
void ledger_judge(const char *lab_path); /* in a process of its own */

/* ---- simulate.c ---- */
int64_t world_next_us(void);
void world_run_due(void);

static inline int64_t min_us(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

#endif
