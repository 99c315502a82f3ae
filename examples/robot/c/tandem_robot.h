/* tandem_robot.h - a robot's side of Tandem's protocol (docs/protocol.md) in C99, for anything
 * down to an ATmega328P: no allocation, no stdio, no JSON library, any transport.
 *
 * It answers each command once, keeps a second go and a halt apart, stamps, echoes probes. You
 * give four functions, call tandem_receive() with what came on PAIR/command and
 * PAIR/SIDE/probe, tandem_end() when a move has ended, tandem_sample() as often as you like,
 * and keep `pose` as it is. One robot, one command at a time; all calls from one thread, none
 * from `send`.
 *
 *     static const struct tandem_body body = {.send = publish, .now = clock, .begin = move,
 * .stop = brake}; static struct tandem_robot robot; robot.has = &body; tandem_online(&robot);
 * after each connection tandem_receive(&robot, "command", payload, bytes, now); if (arrived)
 * tandem_end(&robot, "done"); tandem_sample(&robot, now, nu, 2, NULL, 0);
 */
#ifndef TANDEM_ROBOT_H
#define TANDEM_ROBOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifndef TANDEM_ROOM
#define TANDEM_ROOM                                                                            \
    256 /* bytes of the longest payload out; what does not fit is not sent, and counted */
#endif

enum {
    TANDEM_ID_MAX = 50, /* with its quotes and NUL */
    TANDEM_OP_MAX = 16
};

/* The robot's own clock, from any origin; us below 1000000. */
struct tandem_time {
    uint32_t s, us;
};

struct tandem_command {
    char id[TANDEM_ID_MAX]; /* as it stood, a text with its quotes; "" when there was none */
    char op[TANDEM_OP_MAX];
    float rotation_rad, displacement_m; /* 0 when absent */
    bool moves;                         /* one of them is not 0 */
};

/* Functions of the robot: constant, so that they can be in flash. */
struct tandem_body {
    /* Publish payload[bytes], which is terminated, too, on PAIR/SIDE/word; false: it could not
     * be. */
    bool (*send)(void *context, const char *word, const char *payload, uint16_t bytes,
                 uint8_t qos, bool retained);
    struct tandem_time (*now)(void *context);
    /* Begin what it says, anything but a halt or a go of nothing; false: it cannot be done, and
     * is answered `error`. */
    bool (*begin)(void *context, const struct tandem_command *command);
    void (*stop)(void *context); /* at once, whatever the robot does */
    void *context;
    const char *boot;    /* at most 23 bytes, different after each start; "": not sent */
    const char *version; /* of the robot's program, at most 23 bytes; NULL: not sent */
};

/* Members used most come first: 8-bit processors reach 63 bytes at once. */
struct tandem_robot { /* all zero but for `has`: at rest */
    const struct tandem_body *has;
    float pose[3]; /* x_m, y_m, psi_rad: where it is */
    uint16_t used;
    struct { /* values of the payload in progress; its form selects them */
        const char *id, *status;
        const struct tandem_time *t;
        const float *nu, *tau;
        uint8_t nu_count, tau_count;
    } said;
    uint16_t dropped; /* messages that were no command, found no room, held no number, or could
                         not be sent */
    uint32_t seq;     /* of samples */
    bool busy;        /* with `command`, since `started` */
    struct tandem_time started;
    struct tandem_command command;
    char room[TANDEM_ROOM];
};

/* Handle a message on PAIR/command or PAIR/SIDE/command ("command") or on PAIR/SIDE/probe
 * ("probe"); payload[bytes] need not be terminated. Other words are ignored. */
void tandem_receive(struct tandem_robot *r, const char *word, const char *payload,
                    uint16_t bytes, struct tandem_time received);

/* The command in work has ended: "done", "blocked", "error" (docs/protocol.md). Nothing when
 * there is none. */
void tandem_end(struct tandem_robot *r, const char *status);

/* A sample as it was at t: body velocity (ahead, turn; or three), efforts (as many, or none),
 * and the pose. */
void tandem_sample(struct tandem_robot *r, struct tandem_time t, const float *nu,
                   uint8_t nu_count, const float *tau, uint8_t tau_count);

/* The retained "online"; leave TANDEM_OFFLINE as the last will, retained, on
 * PAIR/SIDE/connection. */
void tandem_online(struct tandem_robot *r);
#define TANDEM_OFFLINE "{\"state\":\"offline\"}"

/* Milliseconds since the start as a time. */
struct tandem_time tandem_ms(uint32_t ms);

#endif
