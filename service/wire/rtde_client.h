/* service/wire/rtde_client.h - a client's side of a conversation over RTDE: asks for a recipe,
 * then takes data frames. No I/O, no clock.
 *
 * Fields that this controller does not have are left out and asked for no more, when they are
 * not required; a controller that does not know version 2 is asked in version 1.
 */
#ifndef SERVICE_WIRE_RTDE_CLIENT_H
#define SERVICE_WIRE_RTDE_CLIENT_H

#include "service/wire/rtde.h"

enum { RTDE_NAMES_MAX = 40, RTDE_TEXT_MAX = 256 };

/* What a client asks for. */
struct rtde_request {
    const char *const *names; /* [count] of output_table */
    size_t count;             /* <= RTDE_NAMES_MAX */
    size_t required;          /* of them, the first ones */
    double hz;                /* in version 1 it is 125 */
};

enum rtde_stage { RTDE_ASKS_VERSION, RTDE_ASKS_OUTPUTS, RTDE_ASKS_START, RTDE_RUNS };

struct rtde_client {
    const struct rtde_request *request; /* borrowed */
    enum rtde_stage stage;
    int version;
    bool lacks[RTDE_NAMES_MAX]; /* this field is not there */
    struct rtde_recipe recipe;
    struct rtde_outputs values; /* of the last data frame; what was never told is zero */
    uint64_t texts;             /* messages of the controller's so far */
    char text[RTDE_TEXT_MAX];   /* the last one, or why it does not go on; printable */
};

enum rtde_outcome {
    RTDE_NOTHING,      /* go on */
    RTDE_VALUES,       /* a data frame: values are new */
    RTDE_TEXT_MESSAGE, /* a message for people: text */
    RTDE_FAILED        /* the conversation cannot go on: text says why */
};

/* Begin: the first request goes to out. */
void rtde_client_begin(struct rtde_client *c, const struct rtde_request *request,
                       struct rtde_out *out);

/* A frame of the controller; what to ask next goes to out. */
enum rtde_outcome rtde_client_receive(struct rtde_client *c, const struct rtde_frame *frame,
                                      struct rtde_out *out);

/* Does this controller tell the field of this name? */
bool rtde_client_has(const struct rtde_client *c, const char *name);

#endif
