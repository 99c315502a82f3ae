/* service/wire/rtde_link.h - a connection to a controller's RTDE interface that reconnects by
 * itself.
 *
 * It is one socket, which only blocks for name look-up, and passes on data as it comes. A
 * controller that is silent for RTDE_LINK_SILENT_US is disconnected. Reconnection is first
 * tried soon, then every RTDE_LINK_RETRY_US. Use it from one thread.
 */
#ifndef SERVICE_WIRE_RTDE_LINK_H
#define SERVICE_WIRE_RTDE_LINK_H

#include "service/wire/rtde_client.h"

enum {
    RTDE_LINK_SILENT_US = 2 * 1000 * 1000,
    RTDE_LINK_FIRST_RETRY_US = 250 * 1000,
    RTDE_LINK_RETRY_US = 4 * 1000 * 1000,
    RTDE_LINK_WHY_MAX = RTDE_TEXT_MAX
};

/* Callbacks, called within rtde_link_run() only. */
struct rtde_listener {
    void *context;
    void (*values)(void *context, const struct rtde_outputs *values);
    void (*text)(void *context, const char *text); /* the controller has a message for people */
    /* The link is up, and values follow; or it is down, and why has the reason. Called at each
     * change. */
    void (*changed)(void *context, bool up, const char *why);
};

struct rtde_link {
    const char *host; /* borrowed, as the next two */
    int port;
    const struct rtde_request *request;
    const struct rtde_listener *listener;

    int socket; /* -1: none */
    bool connecting, up;
    struct rtde_client client;
    size_t in_count, out_count;
    uint8_t in[2 * RTDE_FRAME_MAX], out[2 * RTDE_FRAME_MAX];
    int64_t received_us, retry_us, wait_us; /* on the monotonic clock */
    uint64_t connections, frames;
    char why[RTDE_LINK_WHY_MAX]; /* reason why it is down */
};

void rtde_link_open(struct rtde_link *l, const char *host, int port,
                    const struct rtde_request *request, const struct rtde_listener *listener);

/* Connect, request and listen until lab_clock_monotonic_us() reaches until_us, or something was
 * received.
 */
void rtde_link_run(struct rtde_link *l, int64_t until_us);

/* Send the values of request->inputs[inputs] at once. False when the link is not up. */
bool rtde_link_send(struct rtde_link *l, size_t inputs, const struct rtde_inputs *values);

/* Close the connection and open it again, because the controller may no longer heed it. */
void rtde_link_again(struct rtde_link *l, const char *why);

void rtde_link_close(struct rtde_link *l);

#endif
