/* service/daemon/restore.h - the lab as it was when the last daemon ended, however it ended:
 * its checkpoint, and from where on the journal has to be read again.
 */
#ifndef SERVICE_DAEMON_RESTORE_H
#define SERVICE_DAEMON_RESTORE_H

#include <stdbool.h>
#include <stdint.h>

#include "logger/storage/journal.h"
#include "twin/lab.h"

struct restore {
    struct journal_position from; /* the journal's tail begins here */
    bool from_checkpoint;         /* false: the whole journal is the tail */
    int64_t last_us; /* the latest stamp known; LAB_TIME_NONE: no journal, no checkpoint */
};

/* Load the checkpoint at path into lab when it fits the lab (fingerprint) and its place is
 * still in the journal; else leave the lab as it is and begin with the journal's first line.
 * A checkpoint that cannot be used is told in the log. Cold path: allocates.
 *
 * STATUS_E_IO, STATUS_E_NOMEM: the journal cannot be read. */
MUST_USE enum status restore_lab(struct lab *lab, uint64_t fingerprint, const char *path,
                                 const char *journal_directory, struct restore *out,
                                 struct err *err);

#endif
