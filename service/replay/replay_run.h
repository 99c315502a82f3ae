/* service/replay/replay_run.h - a replay in progress, and where its records go: printed as they
 * come, or to a spool where they are to be grouped by pair, so that memory does not grow with
 * the recording; from there it is written as one JSON document, whole, or as much of it as a
 * page shows. */
#ifndef SERVICE_REPLAY_REPLAY_RUN_H
#define SERVICE_REPLAY_REPLAY_RUN_H

#include <stdio.h>

#include "logger/storage/store.h"
#include "service/replay/replay.h"
#include "service/replay/spool.h"
#include "service/replay/spool_queue.h"
#include "service/replay/threads.h"

struct replay_options {
    const char *lab_path;
    bool json;
    bool refit, strict;
    const char *csv_dir;
    const char *pair, *column_words; /* of a table of moves; NULL: not said */
    double speed;                    /* 0: as fast as it goes */
    int jobs;                        /* threads, 1.. */
    double pause_max_days;           /* lines stamped farther ahead are not taken in */
};

/* The run in progress: where its records go. */
struct replay_run {
    struct replay_options options;
    const struct lab_file *file; /* borrowed */
    struct replay *replay;
    struct threads *threads;   /* borrowed; NULL: the caller's is the only one */
    struct spool *spool;       /* NULL when records are printed as they come */
    struct spool_queue *queue; /* before it, by threads */
    enum status spool_status;  /* the first failure; of a queue, it knows */
    struct err err;
};

/* Takes the effects of the run: spools records, or prints them. */
void replay_write_effect(void *context, const struct effect *effect);

/* Records are to be grouped: before any comes, and after run->file and run->threads are known.
 * The reason of a failure is in run->err. */
MUST_USE enum status replay_open_spool(struct replay_run *run);
/* All have come: whether none is missing. Before they are read. As above. */
MUST_USE enum status replay_end_spool(struct replay_run *run);
void replay_close_spool(struct replay_run *run); /* where none was opened, too */

/* The records of a kind, by the names of pairs and teams, each in its order. As above. */
MUST_USE enum status replay_each(struct replay_run *run, enum store_kind kind,
                                 spool_row_fn *row, void *context);

/* What of the records is written: the newest ones, over all pairs that were heard of. Other
 * pairs, and events, are left out. */
struct replay_extract {
    size_t entries_max, alarms_max, changes_max; /* >= 1 */
    size_t lag_points_max; /* of each pair's lag over time, over all its entries; >= 2 */
};

/* All records are in. extract: NULL writes everything. With one, each pair also has
 * "lag", [[t, lag_s], …]: the least and the greatest lag of each stretch of its entries. The
 * reason of a failure is in run->err. */
MUST_USE enum status replay_document(struct replay_run *run,
                                     const struct replay_extract *extract, FILE *out);

#endif
