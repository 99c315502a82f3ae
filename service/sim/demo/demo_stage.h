/* service/sim/demo/demo_stage.h - what every demo stands on: a broker and the daemon of its own
 * on free loopback ports, a directory, and programs as children that end with it.
 *
 * Who wants a demo: prepare, write lab.yaml, serve, start robots and whoever drives them; in
 * the end stop, and conclude. What goes wrong is told on stderr. Main thread only.
 */
#ifndef SERVICE_SIM_DEMO_DEMO_STAGE_H
#define SERVICE_SIM_DEMO_DEMO_STAGE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/errors/status.h"
#include "service/tool/child.h"

enum { DEMO_CHILDREN_MAX = 24, DEMO_TOKEN_BYTES = 16 };

struct demo_stage {        /* start with zeros and what was asked for */
    const char *asked_dir; /* NULL: a new one in /tmp */
    bool retain;           /* that new one */
    int port, http_port;   /* 0: free ones */

    char dir[PATH_MAX];
    char program[PATH_MAX];               /* this one */
    char token[2 * DEMO_TOKEN_BYTES + 1]; /* of the daemon's HTTP */
    struct child children[DEMO_CHILDREN_MAX];
    size_t child_count; /* the broker, the daemon, and those that were started after them */
    bool failed;
};

/* "what: why" on stderr; false, for those who end with it. */
bool demo_stage_complain(const char *what, const char *why);

/* Ports, the directory, the token and the broker's settings. */
bool demo_stage_prepare(struct demo_stage *stage);

/* A file in the directory, readable by nobody else. */
bool demo_stage_write(const struct demo_stage *stage, const char *name, const char *format, ...)
    PRINTF_LIKE(3, 4);

/* Start the broker, and the daemon on the directory's lab.yaml, and wait until both answer. */
bool demo_stage_serve(struct demo_stage *stage);

/* Start this program with the words of a command line, separated by single spaces; name: of its
 * log. NULL where it cannot be. */
struct child *demo_stage_start(struct demo_stage *stage, const char *name, const char *format,
                               ...) PRINTF_LIKE(3, 4);

/* False, with a word and its log, as soon as a child has ended unasked. */
bool demo_stage_runs(struct demo_stage *stage);

/* Until is_there(context), for a while; false also after a signal. */
bool demo_stage_wait(struct demo_stage *stage, const char *what,
                     bool (*is_there)(void *context), void *context);

/* Ask the daemon over HTTP, with the token; does it answer 2xx? target: "PUT /api/v1/…". */
bool demo_stage_ask(const struct demo_stage *stage, const char *target, const char *body);

/* Tell one to end, and wait for it. */
void demo_stage_stop(struct demo_stage *stage, struct child *child);

/* All that still run: the daemon first, so that it does not report the others as gone, and the
 * broker last. */
void demo_stage_end(struct demo_stage *stage);

/* Remove the directory, or say where it is kept; the exit status. */
int demo_stage_conclude(struct demo_stage *stage);

#endif
