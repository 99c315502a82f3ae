/* service/wire/rtde_session.h - a controller's side of RTDE. No I/O, no clock.
 *
 * Each connection has a session: version 1 until the client requests 2, one recipe of outputs,
 * up to RTDE_INPUT_RECIPES of inputs. As on a controller, an input variable belongs to the
 * first session that requests it.
 */
#ifndef SERVICE_WIRE_RTDE_SESSION_H
#define SERVICE_WIRE_RTDE_SESSION_H

#include "service/wire/rtde.h"

enum {
    RTDE_INPUT_RECIPES = 16,
    /* variables of struct rtde_inputs */
    RTDE_OWNED_MAX = 15 + RTDE_BIT_REGISTERS + 2 * RTDE_REGISTERS,
    RTDE_HZ_MIN = 1
};

/* State shared by the sessions of one controller. */
struct rtde_shared {
    double hz_max;  /* Hz, limit of data frames */
    bool read_only; /* nobody may have inputs */
    struct rtde_inputs inputs;
    struct {
        const void *session; /* owner; NULL: free */
        size_t at;           /* offset in struct rtde_inputs */
    } owned[RTDE_OWNED_MAX];
    uint64_t frames, malformed; /* frames from clients, and those that violate the protocol */
};

struct rtde_session {
    int version; /* 0: not requested, which means 1 */
    bool running, has_outputs;
    double hz;     /* Hz of data frames */
    double next_s; /* controller's time of the next one */
    struct rtde_recipe outputs;
    size_t input_count;
    struct rtde_recipe inputs[RTDE_INPUT_RECIPES]; /* recipe k + 1 */
};

/* Handle a client's frame: its values go to shared->inputs, the answer to out. */
void rtde_session_receive(struct rtde_session *s, struct rtde_shared *shared,
                          const struct rtde_frame *frame, struct rtde_out *out);

/* Append a data frame if one is due at values->timestamp. */
void rtde_session_send(struct rtde_session *s, const struct rtde_outputs *values,
                       struct rtde_out *out);

/* The client disconnects; its variables become free and keep their last values. */
void rtde_session_leave(struct rtde_session *s, struct rtde_shared *shared);

#endif
