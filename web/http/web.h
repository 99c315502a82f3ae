/* web/http/web.h - what the daemon lends the HTTP server: a published immutable snapshot and
 * submit functions with bounded queues.
 */
#ifndef WEB_HTTP_WEB_H
#define WEB_HTTP_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "twin/lab.h"

/* Is the daemon fit to serve? A false one makes /readyz answer 503 with its text. */
struct view_health {
    bool restored; /* checkpoint and journal tail are in */
    bool broker;   /* connected and subscribed */
    bool journal;  /* the last append worked */
    bool store;    /* the last commit worked */
    char broker_text[160], journal_text[160], store_text[160];
};

enum { HEALTH_PART_COUNT = 4 };

/* What makes the daemon ready, part by part. */
struct health_part {
    const char *name; /* "restored" "broker" "journal" "store" */
    bool ok;
    const char *text; /* what is wrong; "" when nothing is said */
};

void health_parts(const struct view_health *health, struct health_part out[HEALTH_PART_COUNT]);

/* Are all of them right? */
bool health_is_ready(const struct view_health *health);

/* An immutable snapshot of the daemon. Borrowed between acquire and release. */
struct view {
    int64_t t_us;       /* lab time it was taken */
    int64_t started_us; /* lab time of the daemon's start */
    const char *lab_name;
    const char *prefix;
    size_t pair_count;
    const struct pair_params *params; /* [pair_count] */
    const struct pair *const *pairs;  /* [pair_count] */
    /* [pair_count] the heads of their dynamics, without samples; NULL: not followed. The array
     * itself is NULL when no pair's are. */
    const struct pair_dynamics *const *dynamics;
    /* [pair_count] NULL: of a pair that does not follow. The array is NULL when none does. */
    const struct pair_following *const *following;
    size_t team_count;
    const struct team_params *teams;           /* [team_count] */
    const struct team_live *const *live_teams; /* [team_count] how they stand */
    /* The batch fits of a pair's window: made when first asked for, kept until its moves
     * change.
     */
    void (*fits)(const struct view *view, size_t pair, struct pair_fits *out);
    /* The index of the pair of this id, -1: none. NULL: params are gone through. */
    long (*find)(const struct view *view, const char *id);
    struct lab_counts counts;
    struct view_health health;
};

/* The index of the pair of this id, [bytes]; pair_count: the lab has none. */
size_t view_find_pair(const struct view *view, const char *id, size_t bytes);

/* NULL: the pair is not one that follows. */
const struct pair_following *view_following(const struct view *view, size_t pair);

/* How many connections the process's limit of descriptors leaves room for. */
struct web_room {
    unsigned descriptors;            /* the limit */
    unsigned connections, listeners; /* places */
    unsigned beyond;                 /* connections kept without a place */
    unsigned sockets;                /* in all, those being closed included */
};

enum { WEB_MACHINES_MAX = 8192 };

/* A recording that is to be replayed. Borrowed. */
struct web_replay {
    const char *name; /* of the recording */
    const char *pair; /* of this pair only; of a table: whose moves. "": all, as it says */
    bool refit;       /* what a journal says of fits is passed over */
};

/* A job of the daemon, as it stands. Borrowed while it is shown. */
struct web_job {
    uint64_t id;
    const char *kind;  /* "upload", "lab" */
    const char *model; /* "usv3" …, "replay" */
    const char *pair;  /* "" where it is about none */
    const char *state; /* "queued" "running" "done" "failed" "cancelled" */
    bool cancelling;   /* running, but told to end */
    double progress;   /* 0 .. 1 */
    const char *stage;
    int64_t queued_us, began_us, ended_us; /* lab time; LAB_TIME_NONE: not yet */
    const struct err *err;                 /* NULL: it has not failed */
    const char *result;                    /* [result_bytes] JSON; NULL: none */
    size_t result_bytes;
};

/* Called under a lock: does not call the source. */
typedef void web_show_job(void *context, const struct web_job *job);

/* Writes metrics in the Prometheus text format; see web/http/metrics.h. */
struct metrics;

/* What the daemon lends the server. Every function may be called from any server thread. */
struct web_source {
    void *context;
    /* Wait some moments for what has been received until now to be in the newest view, and if
     * stored is set in the store, too. NULL: it always is. */
    void (*catch_up)(void *context, bool stored);
    void *snapshots; /* given to these two in place of context */
    const struct view *(*acquire)(void *snapshots);
    void (*release)(void *snapshots, const struct view *view);
    /* Publish payload (one JSON object, valid command) as a command of this pair; the daemon
     * then receives it as it receives every command. STATUS_E_FULL: too many in flight;
     * STATUS_E_IO: not connected. */
    enum status (*command)(void *context, const char *pair, const char *payload, size_t bytes,
                           struct err *err);
    /* The machine states that a robot publishes of itself, JSON; returns its bytes, 0 for none.
     */
    size_t (*machines)(void *context, size_t pair, enum side side, char out[WEB_MACHINES_MAX]);
    /* The map of the pair's world, JSON (service/sim/mission/map_file.h), [*bytes]; NULL: it
     * has none. Lives as long as the source. */
    const char *(*map)(void *context, size_t pair, size_t *bytes);
    /* What a machine of the lab looks like, SVG, [*bytes]; NULL: it has none of this name.
     * Lives as long as the source. The function may be NULL: there are none. */
    const char *(*picture)(void *context, const char *machine, size_t *bytes);
    /* A wish about parameter sets or following, {"pair","action","by", …}: goes into
     * the journal and then to the lab. STATUS_E_IO: starting or stopping. */
    enum status (*request)(void *context, const char *payload, size_t bytes, struct err *err);
    /* Ask the lab to fit the dynamics of this side anew, as one more line of the journal; *job
     * is the fit's. STATUS_E_EMPTY: it did not begin one within a second; STATUS_E_IO: starting
     * or stopping. */
    enum status (*refit)(void *context, size_t pair, enum side side, uint64_t *job,
                         struct err *err);
    /* ---- uploaded recordings, fitted or replayed, and jobs ---- */
    void *jobs; /* given to these in place of context */
    /* Can it be done? query is what stands behind the '?', as it came. STATUS_E_ARG: err->where
     * names the parameter at fault. */
    enum status (*check_identify)(void *jobs, const char *query, struct err *err);
    /* Is there room for one more recording? A claim ends with release_upload(), or goes with
     * the recording to identify() and ends with its job. */
    bool (*claim_upload)(void *jobs);
    void (*release_upload)(void *jobs);
    /* Hand over the recording text[bytes], from malloc(), and its claim: the source's on
     * STATUS_OK only.
     * STATUS_E_ARG as above; STATUS_E_FULL: try later; STATUS_E_NOMEM; STATUS_E_IO: starting or
     * stopping. */
    enum status (*identify)(void *jobs, const char *query, char *text, size_t bytes,
                            uint64_t *job, struct err *err);
    /* The same two for a file with a team that is to be simulated. */
    enum status (*check_simulate)(void *jobs, const char *query, struct err *err);
    enum status (*simulate)(void *jobs, const char *query, char *text, size_t bytes,
                            uint64_t *job, struct err *err);
    /* The same two for a journal or a table of moves that is to run through the lab's code. */
    enum status (*check_replay)(void *jobs, const struct web_replay *what, struct err *err);
    enum status (*replay)(void *jobs, const struct web_replay *what, char *text, size_t bytes,
                          uint64_t *job, struct err *err);
    /* STATUS_E_EMPTY: no such job; STATUS_E_STALE: it has ended. */
    enum status (*cancel_job)(void *jobs, uint64_t job);
    enum status (*read_job)(void *jobs, uint64_t job, web_show_job *show, void *show_context);
    void (*list_jobs)(void *jobs, web_show_job *show, void *show_context);
    /* Add the process's own metrics (ingest, journal, store, broker, threads). */
    void (*metrics)(void *context, struct metrics *metrics);
    int64_t (*now)(void *context); /* lab time */
    struct event_hub *events;      /* what is published; NULL: nothing */
    /* A request was refused: whose, and why. NULL: nobody wants to know. */
    void (*refused)(void *context, const char *text);
};

#endif
