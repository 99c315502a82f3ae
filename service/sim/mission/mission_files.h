/* service/sim/mission/mission_files.h - the kinds of mission files that need no daemon, one row
 * each, and what all share: the pair, the connection, the daemon's presence.
 */
#ifndef SERVICE_SIM_MISSION_MISSION_FILES_H
#define SERVICE_SIM_MISSION_MISSION_FILES_H

#include "config/labfile/lab_file.h"
#include "service/mqtt/session.h"
#include "service/sim/mission/mission_file.h"

struct mission_arguments {
    const char *lab_path, *mission_path, *pair; /* pair: NULL when not given */
    double connect_s;
    bool json, quiet, plan; /* plan: print it, without a broker */
};

/* One kind of file: how it is read, planned and carried out. */
struct mission_file_row {
    enum mission_file_kind kind;
    const char *name;
    size_t bytes;                   /* of its run, all zero at first */
    const struct option_file *file; /* fills the run, which begins with this struct */
    bool needs_link;                /* its commands go through the daemon */
    const char *(*pair)(void *run); /* the pair of the file; "" when not given */
    /* Print the plan; false after a message on stderr: it cannot be carried out. */
    bool (*print_plan)(void *run, const struct mission_arguments *a);
    /* Carry it out on this pair and report; false: failed. */
    bool (*carry_out)(void *run, const struct mission_arguments *a, const struct lab_file *lab,
                      const char *pair);
};

extern const struct mission_file_row mission_file_course;

/* Chooses the pair: from the command line (asked, or NULL), the mission, or the lab's only one.
 * False after a message on stderr. */
bool mission_choose_pair(const struct lab_file *lab, const char *lab_path, const char *asked,
                         const char *in_file, bool needs_link, const char **id);

/* Connects and subscribes; false after a message on stderr. */
bool mission_connect(struct session *session, const struct lab_file *lab, const char *pair,
                     const struct mqtt_client_topic *topics, size_t count, double connect_s);

/* In link mode commands reach the robot only through the daemon, so one must be running. The
 * session is subscribed to daemon_topic. False after a message on stderr, or a stop signal. */
bool mission_find_daemon(struct session *session, const struct lab_file *lab,
                         const char *lab_path, const char *daemon_topic);

/* Waits until a message arrives, until_us in lab time, or the next check of signals. */
void mission_wait(struct session *session, int64_t until_us);

#endif
