/* service/wire/rtde_session.h - a controller's side of a conversation over RTDE. No I/O, no
 * clock.
 *
 * One session a connection: version 1 until the client asks for 2, one recipe of outputs, up to
 * RTDE_INPUT_RECIPES of inputs. An input variable belongs to the first session that asks for
 * it, as on a controller.
 */
#ifndef SERVICE_WIRE_RTDE_SESSION_H
#define SERVICE_WIRE_RTDE_SESSION_H

#include "service/wire/rtde.h"

enum {
    RTDE_INPUT_RECIPES = 16,
    RTDE_OWNED_MAX = 2 + 2 * RTDE_INPUT_REGISTERS, /* variables of struct rtde_inputs */
    RTDE_HZ_MIN = 1
};

/* What the sessions of one controller share. */
struct rtde_shared {
    double hz_max;  /* of data frames */
    bool read_only; /* nobody may have inputs */
    struct rtde_inputs inputs;
    struct {
        const void *session; /* NULL: nobody */
        size_t at;           /* of struct rtde_inputs */
    } owned[RTDE_OWNED_MAX];
    uint64_t frames, malformed; /* that clients sent; of them what was none of the protocol */
};

struct rtde_session {
    int version; /* 0: none was asked for, which is 1 */
    bool running, has_outputs;
    double hz;     /* of data frames */
    double next_s; /* controller's time of the next one */
    struct rtde_recipe outputs;
    size_t input_count;
    struct rtde_recipe inputs[RTDE_INPUT_RECIPES]; /* recipe k + 1 */
};

/* A frame of the client: what it says goes to shared->inputs, the answer to out. */
void rtde_session_receive(struct rtde_session *s, struct rtde_shared *shared,
                          const struct rtde_frame *frame, struct rtde_out *out);

/* A data frame, where one is due at values->timestamp. */
void rtde_session_send(struct rtde_session *s, const struct rtde_outputs *values,
                       struct rtde_out *out);

/* The client goes; its variables are free again, with their last values. */
void rtde_session_leave(struct rtde_session *s, struct rtde_shared *shared);

#endif
