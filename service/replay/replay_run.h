/* service/replay/replay_run.h - a replay in progress, and where its records go: printed as they
 * come, or to a temporary store where they are to be grouped by pair, so that memory does not
 * grow with the recording. */
#ifndef SERVICE_REPLAY_REPLAY_RUN_H
#define SERVICE_REPLAY_REPLAY_RUN_H

#include "logger/storage/store.h"
#include "service/replay/replay.h"

struct replay_options {
    const char *lab_path;
    bool json;
    const char *csv_dir;
    double speed;          /* 0: as fast as it goes */
    double pause_max_days; /* lines stamped farther ahead are not taken in */
};

/* The run in progress: where its records go. */
struct replay_run {
    struct replay_options options;
    const struct lab_file *file; /* borrowed */
    struct replay *replay;
    struct store *spool; /* NULL when records are printed as they come */
    unsigned batched;    /* rows in the open batch */
    enum status spool_status;
    struct err err;
};

/* Takes the effects of the run: spools records, or prints them. */
void replay_take_effect(void *context, const struct effect *effect);

/* All records are in, and to be read back. The reason of a failure is in run->err. */
MUST_USE enum status replay_end_spool(struct replay_run *run);

#endif
