/* service/replay/replay_run.h - a replay in progress, and the destination of its records. They
 * are printed as they come, or spooled to be grouped by pair, so that memory does not grow with
 * the recording. The spool is then written as one JSON document, whole or as much as a page
 * shows. */
#ifndef SERVICE_REPLAY_REPLAY_RUN_H
#define SERVICE_REPLAY_REPLAY_RUN_H

#include <stdio.h>

#include "logger/storage/store.h"
#include "service/replay/replay.h"
#include "service/replay/spool.h"
#include "web/http/query.h"

struct replay_options {
    const char *lab_path;
    bool json;
    bool refit, strict;
    const char *csv_dir;
    const char *column_words; /* of a table of moves; NULL: not given */
    /* The only pair whose records are kept, and that of a table of moves; NULL: not given */
    const char *pair;
    const struct query *only; /* verdicts and times of the records that are kept; NULL: all */
    bool colour;              /* of verdicts */
    double speed;             /* 0: as fast as possible */
    double pause_max_days;    /* lines stamped farther ahead are skipped */
};

/* The run in progress, with the destination of its records. */
struct replay_run {
    struct replay_options options;
    const struct lab_file *file; /* borrowed */
    struct replay *replay;
    struct spool *spool;      /* NULL when records are printed as they come */
    enum status spool_status; /* the first failure: after it nothing is spooled */
    struct err err;           /* its reason */
    uint64_t alarms_left_out; /* by a choice of verdicts: it asks for moves */
};

/* Are the records of this pair or team kept? */
bool replay_keeps_pair(const struct replay_run *run, const char *name);

/* Receives the effects of the run: spools records, or prints them. */
void replay_write_effect(void *context, const struct effect *effect);

/* Prepare to group records. Call it before the first record, and after run->file is set.
 * run->err has the reason of a failure. */
MUST_USE enum status replay_open_spool(struct replay_run *run);
void replay_close_spool(struct replay_run *run); /* also allowed if none was opened */

/* All of it for files: opens the spool, creates the replay, and reads as replay_read_files()
 * does. Fails if any record is missing. run->file is set. Free it in any case. */
MUST_USE enum status replay_run_files(struct replay_run *run, const char *const *paths,
                                      size_t count);
void replay_run_free(struct replay_run *run);

/* Visit the records of a kind by pair and team, each in its order. Errors as above. */
MUST_USE enum status replay_each(struct replay_run *run, enum store_kind kind,
                                 spool_row_fn *row, void *context);

/* The same for one pair, by its index in the lab file, or team, behind the pairs; newest: at
 * most this many of the last ones, 0: all. And the number of its records. */
void replay_each_of(struct replay_run *run, enum store_kind kind, size_t index, uint64_t newest,
                    spool_row_fn *row, void *context);
uint64_t replay_count_of(const struct replay_run *run, enum store_kind kind, size_t index);

/* Bounds of a partial document: the newest records over all pairs that occur. Other pairs, and
 * events, are left out. */
struct replay_extract {
    size_t entries_max, alarms_max, changes_max; /* >= 1 */
    size_t lag_points_max; /* points of each pair's lag over all its entries; >= 2 */
};

/* Write the document after the last record. extract: NULL writes everything. With one, each
 * pair also has "lag", [[t, lag_s], …]: the least and the largest lag of each interval of its
 * entries. Errors of writing show when the file is closed. */
void replay_document(struct replay_run *run, const struct replay_extract *extract, FILE *out);

#endif
