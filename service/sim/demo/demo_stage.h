/* service/sim/demo/demo_stage.h - the base of every demo: an own broker and daemon on free
 * loopback ports, a directory, and programs as children that end with it.
 *
 * Usage: prepare, write lab.yaml, serve, start robots and drivers; at the end stop and
 * conclude. Errors go to stderr. Main thread only.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_STAGE_H
#define SERVICE_SIM_DEMO_DEMO_STAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "service/mqtt/session.h"
#include "service/tool/child.h"

enum { DEMO_CHILDREN_MAX = 24, DEMO_TOKEN_BYTES = 16 };

struct demo_stage {        /* begin with zeros and the requested options */
    const char *asked_dir; /* NULL: a new directory in /tmp */
    bool retain;           /* keep that new directory */
    int port, http_port;   /* 0: free ones */

    char dir[PATH_MAX];
    char program[PATH_MAX];               /* path of this program */
    char token[2 * DEMO_TOKEN_BYTES + 1]; /* token of the daemon's HTTP server */
    struct child children[DEMO_CHILDREN_MAX];
    size_t child_count; /* the broker, the daemon, and children started after them */
    bool failed;
};

/* Print "what: why" on stderr; returns false, for the caller's return. */
bool demo_stage_complain(const char *what, const char *why);

/* Set up ports, the directory, the token and the broker's settings. */
bool demo_stage_prepare(struct demo_stage *stage);

/* Write a file in the directory that only its owner can read. */
bool demo_stage_write(const struct demo_stage *stage, const char *name, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Start the broker, and the daemon on the directory's lab.yaml, and wait until both answer. */
bool demo_stage_serve(struct demo_stage *stage);

/* Start this program with the words of a command line, separated by single spaces; name: of its
 * log. NULL on failure. */
struct child *demo_stage_start(struct demo_stage *stage, const char *name, const char *format,
                               ...) PRINTF_LIKE(3, 4);

/* False, after a message with its log, once a child has ended unexpectedly. */
bool demo_stage_runs(struct demo_stage *stage);

/* Wait for is_there(context) for a while; false also after a signal. */
bool demo_stage_wait(struct demo_stage *stage, const char *what,
                     bool (*is_there)(void *context), void *context);

/* Connect to the broker and subscribe; false with a message. */
bool demo_stage_listen(const struct demo_stage *stage, const struct mqtt_client_topic *topics,
                       size_t count, struct session *session);

/* Send a request to the daemon with the token; true for an answer 2xx. target: "PUT
 * /api/v1/…". */
bool demo_stage_ask(const struct demo_stage *stage, const char *target, const char *body);

/* Stop one child and wait for its end. */
void demo_stage_stop(struct demo_stage *stage, struct child *child);

/* Stop all children: the daemon first, so that it does not report the others as gone, and the
 * broker last. */
void demo_stage_end(struct demo_stage *stage);

/* Remove the directory, or print where it is kept; returns the exit status. */
int demo_stage_conclude(struct demo_stage *stage);

#endif
