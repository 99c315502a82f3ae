/* service/wire/rtde_client.h - a client's side of RTDE: requests a recipe, then receives data
 * frames. No I/O, no clock.
 *
 * Optional fields that the controller does not have are left out of the next request. A
 * controller that does not know version 2 is asked in version 1.
 */
#ifndef SERVICE_WIRE_RTDE_CLIENT_H
#define SERVICE_WIRE_RTDE_CLIENT_H

#include "service/wire/rtde.h"

enum { RTDE_NAMES_MAX = 40, RTDE_TEXT_MAX = 256, RTDE_CLIENT_INPUTS = 3 };

/* The request of a client. */
struct rtde_request {
    const char *const *names; /* [count] of output_table */
    size_t count;             /* <= RTDE_NAMES_MAX */
    size_t required;          /* the first ones are required */
    double hz;                /* in version 1 it is 125 */
    /* Names of input_table that are sent together, "a,b", [input_count]; all are required, and
     * version 2. */
    const char *const *inputs;
    size_t input_count; /* <= RTDE_CLIENT_INPUTS */
};

enum rtde_stage {
    RTDE_ASKS_VERSION,
    RTDE_ASKS_OUTPUTS,
    RTDE_ASKS_INPUTS,
    RTDE_ASKS_START,
    RTDE_RUNS
};

struct rtde_client {
    const struct rtde_request *request; /* borrowed */
    enum rtde_stage stage;
    int version;
    bool lacks[RTDE_NAMES_MAX]; /* this field is missing */
    struct rtde_recipe recipe;
    size_t inputs_known;
    uint8_t input_id[RTDE_CLIENT_INPUTS];
    struct rtde_recipe inputs[RTDE_CLIENT_INPUTS];
    struct rtde_outputs values; /* from the last data frame; fields never sent are zero */
    uint64_t texts;             /* messages from the controller so far */
    char text[RTDE_TEXT_MAX];   /* the last message, or why it failed; printable */
};

enum rtde_outcome {
    RTDE_NOTHING,      /* continue */
    RTDE_VALUES,       /* a data frame: values are new */
    RTDE_TEXT_MESSAGE, /* a message for people, in text */
    RTDE_FAILED        /* the conversation ended: text has the reason */
};

/* Begin: appends the first request to out. */
void rtde_client_begin(struct rtde_client *c, const struct rtde_request *request,
                       struct rtde_out *out);

/* Handle a frame of the controller; appends the next request to out. */
enum rtde_outcome rtde_client_receive(struct rtde_client *c, const struct rtde_frame *frame,
                                      struct rtde_out *out);

/* Append the values of request->inputs[inputs]. */
void rtde_client_send(const struct rtde_client *c, size_t inputs,
                      const struct rtde_inputs *values, struct rtde_out *out);

/* Does this controller send the field of this name? */
bool rtde_client_has(const struct rtde_client *c, const char *name);

#endif
