/* service/daemon/daemon_parts.h - what a daemon consists of. Private to service/daemon*.c. */
#ifndef SERVICE_DAEMON_DAEMON_PARTS_H
#define SERVICE_DAEMON_DAEMON_PARTS_H

#include <stdatomic.h>

#include "logger/storage/journal.h"
#include "logger/storage/store_queue.h"
#include "service/daemon/fits.h"
#include "service/daemon/gateway.h"
#include "service/daemon/inbox.h"
#include "service/daemon/keeper.h"
#include "service/daemon/lab_thread.h"
#include "service/daemon/outbox.h"
#include "service/daemon/restore.h"
#include "service/daemon/views.h"
#include "service/jobs/uploads.h"
#include "service/jobs/worker.h"
#include "service/robots/maps.h"
#include "web/http/event_hub.h"
#include "web/http/metrics.h"
#include "web/http/web.h"

/* In the order in which they are started; NULL: not yet, or not any more. */
struct daemon {
    const struct lab_file *file;
    struct lab_params params;
    struct lab *lab;
    uint64_t fingerprint;
    struct journal *journal;
    struct restore restore;
    struct store *store;
    struct store_queue *queue;
    int wake_fd;
    struct inbox *inbox;
    struct views *views;
    struct robot_states *states;
    struct worker *worker;
    struct fits *fits;
    struct uploads *uploads;
    struct maps *maps;
    struct event_hub *events; /* NULL without HTTP */
    struct web *web;
    struct gateway *gateway;
    struct keeper *keeper;
    struct outbox *outbox;
    struct lab_thread *thread;
    int64_t started_us;
    _Atomic bool running; /* all of the above stand; the server's threads may use them */
};

/* daemon_metrics.c: the process's own. Any thread, while it runs. */
void daemon_write_metrics(struct daemon *daemon, struct metrics *metrics);

#endif
