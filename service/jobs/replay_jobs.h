/* service/jobs/replay_jobs.h - uploaded journals and tables of moves, run through the lab's
 * code. */
#ifndef SERVICE_JOBS_REPLAY_JOBS_H
#define SERVICE_JOBS_REPLAY_JOBS_H

#include "config/lab_file.h"
#include "service/jobs/uploads.h"

/* Any thread; as check_replay() and replay() of struct web_source. file is borrowed until the
 * job has ended: its pairs and their parameters are those of the replay. */
MUST_USE enum status replay_jobs_check(const struct lab_file *file,
                                       const struct web_replay *what, struct err *err);
MUST_USE enum status replay_jobs_submit(struct uploads *uploads, const struct lab_file *file,
                                        const struct web_replay *what, char *text, size_t bytes,
                                        uint64_t *job, struct err *err);

#endif
