/* service/arm/controller.h - the two text interfaces of a controller of Universal Robots beside
 * RTDE: the primary interface (port 30001), which starts programs and reports their errors, and
 * the dashboard (29999), which says who may start them.
 *
 * Both reconnect by themselves and never block, but for the look-up of the name. Use it from
 * one thread. Sources: UR, "Remote control via TCP/IP" and "Dashboard server"; docs/ur_drive.md
 * says what was checked.
 */
#ifndef SERVICE_ARM_CONTROLLER_H
#define SERVICE_ARM_CONTROLLER_H

#include "service/arm/drive.h"

enum {
    CONTROLLER_PRIMARY_PORT = 30001,
    CONTROLLER_DASHBOARD_PORT = 29999,
    CONTROLLER_PROGRAM_MAX = 8192,
    CONTROLLER_INPUT_MAX = 16384
};

struct controller_socket {
    int fd; /* -1: none */
    int port;
    bool connecting;
    int64_t retry_us; /* monotonic */
    size_t out_count, in_count;
    char out[CONTROLLER_PROGRAM_MAX];
    uint8_t in[CONTROLLER_INPUT_MAX];
};

struct controller {
    const char *host; /* borrowed */
    struct controller_socket primary, dashboard;
    int64_t asked_us;
    bool awaits;   /* an answer about the control */
    bool no_modes; /* an older controller, without local and remote mode */
    enum drive_control control;
    /* A sentence of the controller for people: an error of the program, or the answer to an
     * unlock. */
    void (*text)(void *context, const char *text);
    void *context;
};

void controller_open(struct controller *c, const char *host, int primary_port,
                     int dashboard_port, void (*text)(void *context, const char *text),
                     void *context);

/* Connects, sends, receives what is there; returns at once. */
void controller_run(struct controller *c);

/* Starts the resident program with this mark, in place of any other. False: the connection is
 * not up, or the last program is still being sent. */
bool controller_upload(struct controller *c, uint32_t mark);

/* Unlocks a protective stop, as an operator has ordered. */
void controller_unlock(struct controller *c);

/* Closes both and opens them again. */
void controller_again(struct controller *c);
void controller_close(struct controller *c);

/* ur_resident.script, made by cmake/embed.cmake; terminated. */
extern const unsigned char ur_resident[];

#endif
