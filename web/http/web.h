/* web/http/web.h - the interface from the daemon to the HTTP server: immutable snapshots, and
 * submit functions with bounded queues.
 */
#ifndef WEB_HTTP_WEB_H
#define WEB_HTTP_WEB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/errors/err.h"
#include "twin/lab.h"

struct body;        /* web/http/body.h */
struct json_writer; /* logger/message/json_write.h */

/* Health of the daemon. If any part is false, /readyz answers 503 with its text. */
struct view_health {
    bool restored; /* checkpoint and journal tail were read */
    bool broker;   /* connected and subscribed */
    bool journal;  /* the last append worked */
    bool store;    /* the last commit worked */
    char broker_text[160], journal_text[160], store_text[160];
};

enum { HEALTH_PART_COUNT = 4 };

/* A condition of readiness. */
struct health_part {
    const char *name; /* "restored" "broker" "journal" "store" */
    bool ok;
    const char *text; /* what is wrong; "" when nothing */
};

void health_parts(const struct view_health *health, struct health_part out[HEALTH_PART_COUNT]);

/* Are all parts true? */
bool health_is_ready(const struct view_health *health);

/* An immutable snapshot of the daemon, borrowed between acquire and release. */
struct view {
    int64_t t_us;       /* lab time of the snapshot */
    int64_t started_us; /* lab time of the daemon's start */
    const char *lab_name;
    const char *prefix;
    size_t pair_count;
    const struct pair_params *params; /* [pair_count] */
    const struct pair *const *pairs;  /* [pair_count] */
    /* [pair_count] heads of their dynamics, without samples; NULL: dynamics are off for this
     * pair. The array is NULL when they are off for all. */
    const struct pair_dynamics *const *dynamics;
    /* [pair_count] NULL: the pair does not follow. The array is NULL when none does. */
    const struct pair_following *const *following;
    /* [pair_count] NULL: the pair takes no missions. The array is NULL when none does. */
    const struct pair_missions *const *missions;
    /* [pair_count] head and odds of their maps; NULL: it makes none. The array is NULL when
     * none does. */
    const struct live_map *const *maps;
    size_t team_count;
    const struct team_params *teams;           /* [team_count] */
    const struct team_live *const *live_teams; /* [team_count] their live states */
    /* Gets the batch fits of a pair's window: computed on first use, cached until its moves
     * change.
     */
    void (*fits)(const struct view *view, size_t pair, struct pair_fits *out);
    /* Finds the index of a pair by id, -1: none. NULL: params are searched. */
    long (*find)(const struct view *view, const char *id);
    struct lab_counts counts;
    struct view_health health;
};

/* Find the index of a pair by id, [bytes]; pair_count: none. */
size_t view_find_pair(const struct view *view, const char *id, size_t bytes);

/* A team_live_read_pair: context is the address of a const struct view *. */
const struct pair *view_read_pair(void *context, uint32_t pair, const struct pair_params **p);

/* Get a pair's following state. NULL: the pair does not follow. */
const struct pair_following *view_following(const struct view *view, size_t pair);

/* Bounds of connections that fit into the process's limit of descriptors. */
struct web_room {
    unsigned descriptors;            /* the limit */
    unsigned connections, listeners; /* places */
    unsigned beyond;                 /* connections without a place */
    unsigned sockets;                /* total, including those that are being closed */
};

enum { WEB_MACHINES_MAX = 8192 };

/* A recording to replay. Borrowed. */
struct web_replay {
    const char *name; /* name of the recording */
    /* only this pair; for a table: the pair of its moves. "": as in the recording */
    const char *pair;
    bool refit; /* ignore what a journal says about fits */
};

/* State of a daemon's job. Borrowed while it is shown. */
struct web_job {
    uint64_t id;
    const char *kind;  /* "upload", "lab" */
    const char *model; /* "usv3" …, "replay" */
    const char *pair;  /* "" if it concerns no pair */
    const char *file;  /* name of an uploaded file; NULL or "": none */
    const char *state; /* "queued" "running" "done" "failed" "cancelled" */
    bool cancelling;   /* running, but cancelled */
    double progress;   /* ratio, 0 .. 1 */
    const char *stage;
    int64_t queued_us, began_us, ended_us; /* lab time; LAB_TIME_NONE: not yet */
    const struct err *err;                 /* NULL: it has not failed */
    const char *result;                    /* [result_bytes] JSON; NULL: none */
    size_t result_bytes;
};

/* Called under a lock, so it must not call the source. */
typedef void web_show_job(void *context, const struct web_job *job);

/* Writes metrics in the Prometheus text format; see web/http/metrics.h. */
struct metrics;

/* The daemon of a pair that is not in the lab, but in the same database. */
struct web_owner {
    char lab[64];
    char address[256];   /* "http://…" or "https://…" without a path */
    const char *unreachable; /* why readers cannot be sent there; NULL: they can */
    bool running;        /* its daemon */
};

/* Functions that the daemon provides. Any server thread may call each. */
struct web_source {
    void *context;
    const char *version; /* of the program */
    const char *lab;     /* the lab file without secrets, as YAML; NULL: not available */
    /* Waits briefly until everything received so far is in the newest view, and with `stored`
     * also in the store. NULL: it always is. */
    void (*catch_up)(void *context, bool stored);
    void *snapshots; /* passed to these two instead of context */
    const struct view *(*acquire)(void *snapshots);
    void (*release)(void *snapshots, const struct view *view);
    /* Publishes payload (one JSON object, valid command) as a command of this pair; the daemon
     * then receives it like any command. STATUS_E_FULL: too many in flight; STATUS_E_IO: not
     * connected. */
    enum status (*command)(void *context, const char *pair, const char *payload, size_t bytes,
                           struct err *err);
    /* Copies the machine states that a robot publishes, JSON; returns their bytes, 0 for
     * none. */
    size_t (*machines)(void *context, size_t pair, enum side side, char out[WEB_MACHINES_MAX]);
    /* Returns the map of the pair's world, JSON (service/sim/mission/maps.h), [*bytes];
     * NULL: none. Lives as long as the source. */
    const char *(*map)(void *context, size_t pair, size_t *bytes);
    /* Returns the SVG of a lab's machine, [*bytes]; NULL: no machine of this name. Lives as
     * long as the source. The function may be NULL: there are no machines. */
    const char *(*picture)(void *context, const char *machine, size_t *bytes);
    /* Submits a request about parameter sets or following, {"pair","action","by", …}, to the
     * journal and thus to the lab. STATUS_E_IO: starting or stopping. */
    enum status (*request)(void *context, const char *payload, size_t bytes, struct err *err);
    /* Submits a request to fit this side's dynamics again as a journal line; *job is the fit's
     * number. STATUS_E_EMPTY: the lab did not begin one within a second; STATUS_E_IO: starting
     * or stopping. */
    enum status (*refit)(void *context, size_t pair, enum side side, uint64_t *job,
                         struct err *err);
    /* ---- Jobs, and uploads that are fitted, replayed or simulated. ----------------------- */
    void *jobs; /* passed to these instead of context */
    /* Checks that it can be done; query: the part behind '?', as received. STATUS_E_ARG:
     * err->where names the faulty parameter. */
    enum status (*check_identify)(void *jobs, const char *query, struct err *err);
    /* Claims room for one more upload. The claim ends with release_upload(), or goes with the
     * recording to identify() and ends with its job. */
    bool (*claim_upload)(void *jobs);
    void (*release_upload)(void *jobs);
    /* Hands over the recording text[bytes], from malloc(), with its claim: the source owns both
     * on STATUS_OK only. STATUS_E_ARG as above; STATUS_E_FULL: try later; STATUS_E_NOMEM;
     * STATUS_E_IO: starting or stopping. */
    enum status (*identify)(void *jobs, const char *query, char *text, size_t bytes,
                            uint64_t *job, struct err *err);
    /* The same two for a file with a team to simulate. */
    enum status (*check_simulate)(void *jobs, const char *query, struct err *err);
    enum status (*simulate)(void *jobs, const char *query, char *text, size_t bytes,
                            uint64_t *job, struct err *err);
    /* Writes the plan of a team as JSON, with the durations that this view knows. It takes up
     * to a tenth of a second. query: as above. STATUS_E_ARG: err->where names the faulty
     * parameter; STATUS_E_EMPTY: there is no plan, or a duration is missing; STATUS_E_NOMEM. */
    enum status (*plan)(const struct view *view, size_t team, const char *query,
                        struct body *out, struct err *err);
    /* The same two for a journal or a table of moves to replay. */
    enum status (*check_replay)(void *jobs, const struct web_replay *what, struct err *err);
    enum status (*replay)(void *jobs, const struct web_replay *what, char *text, size_t bytes,
                          uint64_t *job, struct err *err);
    /* STATUS_E_EMPTY: no such job; STATUS_E_STALE: it has ended. */
    enum status (*cancel_job)(void *jobs, uint64_t job);
    enum status (*read_job)(void *jobs, uint64_t job, web_show_job *show, void *show_context);
    void (*list_jobs)(void *jobs, web_show_job *show, void *show_context);
    /* Adds the process's own metrics (ingest, journal, store, broker, threads). */
    void (*metrics)(void *context, struct metrics *metrics);
    int64_t (*now)(void *context); /* lab time */
    struct event_hub *events;      /* event stream; NULL: none */
    struct rays *rays;             /* of lidars; NULL: none */
    void *captures; /* passed to these three, which may be NULL: there are no captures */
    void (*list_captures)(void *captures, struct json_writer *w);
    /* Reads a capture as MCAP or as journal lines. STATUS_E_EMPTY: there is none with this id,
     * or it is still open; STATUS_E_FULL: too large for one answer; STATUS_E_NOMEM … */
    enum status (*read_capture)(void *captures, const char *id, bool mcap, struct body *out);
    enum status (*remove_capture)(void *captures, const char *id);
    /* Reports a refused request: its client and the reason. NULL: not wanted. */
    void (*refused)(void *context, const char *text);
    /* Finds whose a pair is that the lab does not have. NULL: nobody else's. */
    bool (*find_owner)(void *context, const char *pair, struct web_owner *out);
    /* Writes the pairs of all others, as items of an array. NULL: nobody else's. */
    void (*list_others)(void *context, struct json_writer *w);
};

#endif
