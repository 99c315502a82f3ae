/* service/wire/rtde_link.h - a connection to a controller's RTDE interface that comes back by
 * itself.
 *
 * One socket, which never blocks but for the look-up of a name; what has come is handed on as
 * it comes. A controller that is silent for RTDE_LINK_SILENT_US is left, and tried again, first
 * soon, then every RTDE_LINK_RETRY_US. Of one thread.
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

/* Who listens. Called from within rtde_link_run() alone. */
struct rtde_listener {
    void *context;
    void (*values)(void *context, const struct rtde_outputs *values);
    void (*text)(void *context, const char *text); /* the controller says something to people */
    /* The link is up: values follow; or down, or not to be had: why. Each time anew. */
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
    char why[RTDE_LINK_WHY_MAX]; /* it is down */
};

void rtde_link_open(struct rtde_link *l, const char *host, int port,
                    const struct rtde_request *request, const struct rtde_listener *listener);

/* Connect, ask and listen until lab_clock_monotonic_us() reaches until_us, or something came.
 */
void rtde_link_run(struct rtde_link *l, int64_t until_us);

void rtde_link_close(struct rtde_link *l);

#endif
